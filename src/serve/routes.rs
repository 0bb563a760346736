//! What is asked and answered. Assets and the state of the store by GET; everything that takes a
//! scenario by POST, as JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Query, Request as HttpRequest, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router, middleware};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_http::timeout::TimeoutLayer;

use super::answers::AnswerPool;
use super::connections::Waits;
use super::guard::{Guard, watch};
use super::{Hint, ServeError, enough, page, views};
use crate::campaign::CampaignError;
use crate::campaign::questions::{Answered, Questions};
use crate::plan::export::{PlanFormat, PlannedBatch};
use crate::whatif::scenario::Scenario;

/// Bytes of a request's body.
const BODY: usize = 1 << 20;
/// Longest time for a body, from its head on.
const BODY_TIME: Duration = Duration::from_secs(20);
/// The field that names the token.
const TOKEN: &str = "x-prospect-token";
/// Longest time for a request, and for one that estimates all pairs again.
const PATIENCE: Duration = Duration::from_mins(1);
const SLOW_PATIENCE: Duration = Duration::from_mins(10);
/// Entries that scale and drop queries, exclude and boost hosts.
const CHANGES: usize = 1000;
/// Queries of a pick in a plan that is downloaded.
const QUERIES_PLANNED: usize = 5;
/// Queries that one scenario may add here.
const NEW_QUERIES: usize = 1000;

pub(super) type Shared = State<Arc<AnswerPool>>;
type Asked = Result<Json<Request>, JsonRejection>;

/// A question. What a view does not need is left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Request {
    /// The scenario.
    pub(super) scenario: Scenario,
    /// Text that URLs or queries hold.
    pub(super) search: String,
    /// First row.
    pub(super) offset: usize,
    /// Rows.
    pub(super) limit: usize,
    /// Only URLs that are picked.
    pub(super) picked_only: bool,
    /// "frequency" or "gain".
    pub(super) order: String,
    /// A URL.
    pub(super) url: String,
    /// A query.
    pub(super) qid: String,
}

pub(super) fn router(answers: Arc<AnswerPool>, guard: Guard) -> Router {
    Router::new()
        .route("/", asset("text/html; charset=utf-8", page::html()))
        .route("/app.js", asset("text/javascript; charset=utf-8", page::script()))
        .route("/app.css", asset("text/css; charset=utf-8", page::style()))
        .route("/api/state", get(state))
        .route("/api/sufficiency", get(enough::sufficiency))
        .route("/api/sufficiency/queries", get(enough::queries))
        .route("/api/whatif", post(whatif))
        .route("/api/frontier", post(frontier))
        .route("/api/queries", post(queries))
        .route("/api/url", post(url))
        .route("/api/query", post(query))
        .route("/api/plan", post(plan))
        .route("/api/commit", post(commit))
        .fallback(|| async { refusal(StatusCode::NOT_FOUND, "there is nothing here", "open /") })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, SLOW_PATIENCE))
        // What is not wanted needs no body.
        .layer(middleware::from_fn(whole))
        .layer(middleware::from_fn_with_state(guard, watch))
        .with_state(answers)
}

/// A file of the page.
fn asset(kind: &'static str, text: String) -> MethodRouter<Arc<AnswerPool>> {
    let text = Bytes::from(text);
    get(move || async move { ([(CONTENT_TYPE, HeaderValue::from_static(kind))], text) })
}

/// A request that is not answered, and the way out.
pub(super) fn refusal(status: StatusCode, error: &str, hint: &str) -> Response {
    (status, Json(json!({ "error": error, "hint": hint }))).into_response()
}

async fn state(State(answers): Shared) -> Response {
    let allow_write = answers.write_token.is_some();
    // On a thread that nobody's answer waits for.
    let pool = Arc::clone(&answers);
    let _ = tokio::task::spawn_blocking(move || pool.catch_up()).await;
    let found = answers.run(false, move |answers| {
        let carry_out = &answers.carry_out;
        Ok(answers.ask(|questions| views::state(questions, allow_write, carry_out)))
    });
    reply(found.await, answers.hint)
}

async fn whatif(State(answers): Shared, asked: Asked) -> Response {
    answered(&answers, asked, |answers, questions, request| {
        let answer = answers.answer(questions, &request.scenario)?;
        to_json(&questions.figures_of(&request.scenario, &answer))
    })
    .await
}

async fn frontier(State(answers): Shared, asked: Asked) -> Response {
    view(&answers, asked, |questions, answered, request| {
        Some(views::frontier(questions, answered, request))
    })
    .await
}

async fn queries(State(answers): Shared, asked: Asked) -> Response {
    view(&answers, asked, |questions, answered, request| {
        Some(views::queries(questions, answered, request))
    })
    .await
}

async fn url(State(answers): Shared, asked: Asked) -> Response {
    view(&answers, asked, views::url).await
}

async fn query(State(answers): Shared, asked: Asked) -> Response {
    view(&answers, asked, views::query).await
}

#[derive(Deserialize)]
struct Wanted {
    format: String,
}

async fn plan(
    State(answers): Shared,
    wanted: Result<Query<Wanted>, QueryRejection>,
    asked: Asked,
) -> Response {
    let format = wanted.ok().and_then(|Query(wanted)| PlanFormat::named(&wanted.format));
    let Some(format) = format else {
        return refusal(
            StatusCode::BAD_REQUEST,
            "there is no such format of plans",
            "formats are jsonl, tsv, urls, and the names of crawlers: scrapy, nutch, heritrix and others",
        );
    };
    let found = compute(&answers, asked, move |answers, questions, request| {
        let answered = answers.answer(questions, &request.scenario)?;
        let mut out = Vec::new();
        let (planned, _) = questions.planned(&answered.answer, QUERIES_PLANNED);
        let plan_id = questions.id_of(&answered)?;
        // Memory can be written to.
        let _ = format.write(&mut out, &PlannedBatch { plan_id: &plan_id, urls: &planned });
        Ok(out)
    });
    match found.await {
        Ok(bytes) => {
            let name = format!("attachment; filename=\"plan.{}\"", format.name);
            (
                [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CONTENT_DISPOSITION, name.as_str())],
                bytes,
            )
                .into_response()
        }
        Err(refused) => *refused,
    }
}

async fn commit(State(answers): Shared, fields: HeaderMap, asked: Asked) -> Response {
    let given = fields.get(TOKEN).map_or(&b""[..], HeaderValue::as_bytes);
    let why = match &answers.write_token {
        None => Some(ServeError::ReadOnly),
        Some(token) => (!is_same(token.as_bytes(), given)).then_some(ServeError::NoToken),
    };
    if let Some(why) = why {
        return refused(StatusCode::FORBIDDEN, &why, answers.hint);
    }
    let request = match checked(asked, answers.hint) {
        Ok(request) => request,
        Err(refused) => return *refused,
    };
    let slow = answers.is_slow(&request.scenario);
    let done = answers.run(slow, move |answers| {
        let answered = answers.ask(|questions| answers.answer(questions, &request.scenario))?;
        let plan_id = answers.change(|questions| questions.commit(&answered))?;
        Ok(json!({ "plan_id": plan_id, "urls": answered.answer.choice.batch.picks.len() }))
    });
    reply(done.await, answers.hint)
}

/// Whether two secrets are one, in a time that does not tell how much of them is.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differs == 0
}

/// Takes in the whole of a request before anybody works on it. While that lasts its connection may be closed for
/// others.
async fn whole(request: HttpRequest, next: Next) -> Response {
    let waits = request.extensions().get::<Waits>().cloned();
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(BODY_TIME, to_bytes(body, BODY)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let hint = "ask for fewer changes at a time";
            return refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the request is too long, or broke off",
                hint,
            );
        }
        Err(_) => {
            return refusal(StatusCode::REQUEST_TIMEOUT, "the request took too long", "ask again");
        }
    };
    let _working = waits.as_ref().map(Waits::working);
    next.run(HttpRequest::from_parts(head, body.into())).await
}

/// A view of an answer; none if what is asked for is not known.
async fn view(
    answers: &Arc<AnswerPool>,
    asked: Asked,
    view: impl FnOnce(&Questions, &Answered, &Request) -> Option<Value> + Send + 'static,
) -> Response {
    answered(answers, asked, move |answers, questions, request| {
        let answered = answers.answer(questions, &request.scenario)?;
        Ok(view(questions, &answered, request).unwrap_or(Value::Null))
    })
    .await
}

async fn answered(
    answers: &Arc<AnswerPool>,
    asked: Asked,
    act: impl FnOnce(&AnswerPool, &Questions, &Request) -> Result<Value, CampaignError> + Send + 'static,
) -> Response {
    match compute(answers, asked, act).await {
        Ok(Value::Null) => {
            refusal(StatusCode::NOT_FOUND, "it is not known", "look at the frontier or the queries")
        }
        Ok(value) => Json(value).into_response(),
        Err(refused) => *refused,
    }
}

/// Checks a request and computes what it asks for, in its turn and in time.
async fn compute<T: Send + 'static>(
    answers: &Arc<AnswerPool>,
    asked: Asked,
    act: impl FnOnce(&AnswerPool, &Questions, &Request) -> Result<T, CampaignError> + Send + 'static,
) -> Result<T, Box<Response>> {
    let request = checked(asked, answers.hint)?;
    let slow = answers.is_slow(&request.scenario);
    in_time(answers, slow, move |answers, questions| act(answers, questions, &request)).await
}

/// Asks the store, in its turn and in time.
pub(super) async fn in_time<T: Send + 'static>(
    answers: &Arc<AnswerPool>,
    slow: bool,
    act: impl FnOnce(&AnswerPool, &Questions) -> Result<T, CampaignError> + Send + 'static,
) -> Result<T, Box<Response>> {
    let running =
        answers.run(slow, move |answers| answers.ask(|questions| act(answers, questions)));
    let patience = if slow { SLOW_PATIENCE } else { PATIENCE };
    let found = tokio::time::timeout(patience, running).await.map_err(|_| Box::new(late()))?;
    match found {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(Box::new(failure(error, answers.hint))),
        None => Err(Box::new(broken())),
    }
}

fn checked(asked: Asked, hint: Hint) -> Result<Request, Box<Response>> {
    let Json(request) = asked.map_err(|error| {
        let hint = "docs/whatif.md tells what a scenario can say";
        Box::new(refusal(error.status(), &error.body_text(), hint))
    })?;
    let Scenario { add, queries, scale, drop, exclude_hosts, boost_hosts, .. } = &request.scenario;
    let changes = scale.len() + drop.len() + exclude_hosts.len() + boost_hosts.len();
    let new = add.len() + queries.as_ref().map_or(0, Vec::len);
    let limits = [
        (changes, CHANGES, "changes of queries and hosts"),
        (new, NEW_QUERIES, "queries of its own"),
    ];
    let Some((_, most, what)) = limits.into_iter().find(|(count, most, _)| count > most) else {
        return Ok(request);
    };
    let error = ServeError::TooMuch { most, what };
    Err(Box::new(refused(StatusCode::UNPROCESSABLE_ENTITY, &error, hint)))
}

fn reply<T: Serialize>(found: Option<Result<T, CampaignError>>, hint: Hint) -> Response {
    match found {
        Some(Ok(value)) => Json(value).into_response(),
        Some(Err(error)) => failure(error, hint),
        None => broken(),
    }
}

fn failure(error: CampaignError, hint: Hint) -> Response {
    let status = match &error {
        CampaignError::Answer(_) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refused(status, &error.into(), hint)
}

/// The same, where the way out may lie outside of the page.
fn refused(status: StatusCode, error: &ServeError, hint: Hint) -> Response {
    refusal(status, &error.to_string(), &hint(error).unwrap_or_default())
}

fn late() -> Response {
    let hint = "ask for fewer changes at a time";
    refusal(StatusCode::GATEWAY_TIMEOUT, "it took too long", hint)
}

fn broken() -> Response {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "the answer was lost", "ask again")
}

pub(super) fn to_json(value: &impl Serialize) -> Result<Value, CampaignError> {
    Ok(serde_json::to_value(value)?)
}
