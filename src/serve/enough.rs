//! Whether the pages of the store are enough for its workload: what is found of all, and queries, page by page.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;

use super::answers::AnswerPool;
use super::routes::{Shared, in_time, refusal, to_json};
use super::views::ROWS;
use crate::campaign::CampaignError;
use crate::campaign::assessment::Decision;
use crate::campaign::assessment::view::Listed;
use crate::sufficiency::verdict::{QueryClass, StopReason, THETA};

/// A question. What is not said is as in the command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    /// Sufficiency that is enough.
    theta: f64,
    /// Only queries of a class.
    class: Option<QueryClass>,
    /// Text that queries hold.
    search: String,
    /// First row.
    offset: usize,
    /// Rows.
    limit: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self { theta: THETA, class: None, search: String::new(), offset: 0, limit: 0 }
    }
}

type Given = Result<Query<Asked>, QueryRejection>;

/// All that is found, and the queries that are asked for.
pub(super) async fn sufficiency(State(answers): Shared, asked: Given) -> Response {
    view(&answers, asked, |decision, listed| to_json(&decision.page(listed))).await
}

/// The queries that are asked for.
pub(super) async fn queries(State(answers): Shared, asked: Given) -> Response {
    view(&answers, asked, |decision, listed| to_json(&decision.list(listed))).await
}

async fn view(
    answers: &Arc<AnswerPool>,
    asked: Given,
    view: impl FnOnce(&Decision<'_>, &Listed) -> Result<Value, CampaignError> + Send + 'static,
) -> Response {
    let Asked { theta, class, search, offset, limit } = match checked(asked) {
        Ok(asked) => asked,
        Err(refused) => return *refused,
    };
    let listed = Listed { class, search, offset, limit: limit.min(ROWS) };
    let slow = !answers.is_assessed();
    let found = in_time(answers, slow, move |answers, questions| {
        let found = answers.assessment(questions)?;
        view(&found.decide(theta, &StopReason::DEFAULT), &listed)
    });
    match found.await {
        Ok(value) => Json(value).into_response(),
        Err(refused) => *refused,
    }
}

fn checked(asked: Given) -> Result<Asked, Box<Response>> {
    let Query(asked) = asked.map_err(|error| {
        let hint = "it takes theta, class, search, offset and limit";
        Box::new(refusal(error.status(), &error.body_text(), hint))
    })?;
    if asked.theta > 0.0 && asked.theta <= 1.0 {
        return Ok(asked);
    }
    let error = format!("theta is {}", asked.theta);
    let hint = "it lies above 0 and is at most 1";
    Err(Box::new(refusal(StatusCode::UNPROCESSABLE_ENTITY, &error, hint)))
}
