//! Reads a `summary.json`: its schema first, then its shape. What comes out can be indexed by
//! query kind and metric without a further look. Names in it are anyone's text; who shows them
//! escapes them.

use serde::Deserialize;

use crate::results::{PolicySummary, SCHEMA, Summary};

/// Why a text is no summary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// Not JSON, or JSON without what a summary has.
    #[error("it does not hold a summary: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON of another kind or version.
    #[error("its schema is {found:?}; expected {SCHEMA:?}")]
    Schema {
        /// What it says it is.
        found: String,
    },
    /// Lists that belong together differ in length or order.
    #[error("policy {policy:?} has the {what} {found:?}; expected {expected:?}")]
    Shape {
        /// The policy.
        policy: String,
        /// Query kinds or metrics.
        what: &'static str,
        /// What it has.
        found: Vec<String>,
        /// What the summary announces.
        expected: Vec<String>,
    },
    /// Nothing was simulated.
    #[error("it holds no {0}")]
    Empty(&'static str),
}

/// The summary in `text`.
///
/// # Errors
///
/// When it is not JSON, has another schema, or its parts do not fit together.
pub(crate) fn read(text: &str) -> Result<Summary, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        schema: String,
    }
    // Only the schema is asked for first: a summary of another version has other fields.
    let Head { schema } = serde_json::from_str(text)?;
    if schema != SCHEMA {
        return Err(ReadError::Schema { found: schema });
    }
    let summary: Summary = serde_json::from_str(text)?;
    for (what, empty) in [
        ("policies", summary.policies.is_empty()),
        ("query kinds", summary.kinds.is_empty()),
        ("metrics", summary.metrics.is_empty()),
    ] {
        // Crawls for one query each stand for themselves.
        if empty && summary.single_query.is_none() {
            return Err(ReadError::Empty(what));
        }
    }
    for policy in &summary.policies {
        check(policy, &summary)?;
    }
    Ok(summary)
}

fn check(policy: &PolicySummary, summary: &Summary) -> Result<(), ReadError> {
    let kinds = policy.kinds.iter().map(|kind| kind.kind.clone()).collect();
    same(policy, "query kinds", kinds, &summary.kinds)?;
    for kind in &policy.kinds {
        let metrics = kind.curves.iter().map(|curve| curve.metric.clone()).collect();
        same(policy, "metrics", metrics, &summary.metrics)?;
    }
    Ok(())
}

/// Whether `what` a policy has is what the summary names.
fn same(
    policy: &PolicySummary,
    what: &'static str,
    found: Vec<String>,
    expected: &[String],
) -> Result<(), ReadError> {
    if found == expected {
        return Ok(());
    }
    let (policy, expected) = (policy.name.clone(), expected.to_vec());
    Err(ReadError::Shape { policy, what, found, expected })
}
