//! Why a language model gives no answer. No error repeats a text of the reply, which may be anything.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::question::VARIANT_CHARS;

/// Why a language model cannot be asked, or was asked in vain.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LlmError {
    /// The endpoint's URL cannot be used. It is not repeated: a key may stand in it.
    #[error(
        "the URL of the language model {problem}; expected is one such as http://localhost:8080/v1"
    )]
    Url {
        /// Why.
        problem: &'static str,
    },
    /// The feature `llm-tls` is off.
    #[error(
        "the URL of the language model begins with https, and this program was built without the \
         feature llm-tls"
    )]
    NoTls,
    /// The key cannot be sent.
    #[error("the key of the language model has characters that a header cannot carry")]
    Key,
    /// The question has no JSON.
    #[error("the question cannot be written: {0}")]
    Question(#[from] serde_json::Error),
    /// As many requests were sent as may be.
    #[error("the budget of {most_calls} calls of the language model is spent")]
    BudgetSpent {
        /// The budget.
        most_calls: usize,
    },
    /// The reply was not there in time.
    #[error("the language model did not reply within {after:?}")]
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// The endpoint refused, failed, or would send us elsewhere.
    #[error("the language model's endpoint answers with status {code}; expected 200")]
    Status {
        /// Of HTTP.
        code: u16,
    },
    /// The endpoint cannot be reached, breaks off or does not speak HTTP.
    #[error("the connection to the language model failed: {problem}")]
    Connection {
        /// In a few words.
        problem: String,
    },
    /// The reply is not of the form asked for.
    #[error("the language model's reply {0}")]
    Reply(#[from] ReplyFault),
    /// The cache cannot be read or written.
    #[error("{}: {error}", path.display())]
    Cache {
        /// Its file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A line of the cache is not as it was written.
    #[error(
        "{}:{line}: the line is damaged; without it its question is asked again", path.display()
    )]
    CacheLine {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
}

impl LlmError {
    /// Whether the same request may go well a moment later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Connection { .. } => true,
            Self::Status { code } => matches!(code, 429 | 500..=599),
            _ => false,
        }
    }
}

/// What is wrong with a reply. Entries count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyFault {
    /// It goes on and on.
    #[error("is longer than {most_bytes} bytes")]
    TooLong {
        /// Bytes it may have.
        most_bytes: u64,
    },
    /// It is something else.
    #[error("is no chat completion with a text in choices[0].message.content")]
    NoCompletion,
    /// The text is something else than was asked for.
    #[error("has a text that is not one JSON document {expected} (line {line}, column {column})")]
    Form {
        /// Its form.
        expected: &'static str,
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// There are too many or too few.
    #[error("has {found} entries; expected {fewest} to {most}")]
    Entries {
        /// As many are there.
        found: usize,
        /// So many must be there.
        fewest: usize,
        /// So many may be there.
        most: usize,
    },
    /// A number that is none of ours.
    #[error("has a number outside of 0 to 1 as entry {entry}")]
    OutOfRange {
        /// Which.
        entry: usize,
    },
    /// A text that cannot be used.
    #[error("has a text as entry {entry} that {problem}")]
    Text {
        /// Which.
        entry: usize,
        /// Why.
        problem: TextProblem,
    },
}

/// Why a text of a reply cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TextProblem {
    /// Nothing but white space.
    #[error("is empty")]
    Empty,
    /// Longer than asked for.
    #[error("has more than {VARIANT_CHARS} characters")]
    TooLong,
    /// Characters that are no text.
    #[error("has control characters")]
    Control,
    /// It is the query.
    #[error("is the query itself")]
    Query,
    /// It is there already.
    #[error("repeats another entry")]
    Repeated,
    /// The endpoint gives away what it was given.
    #[error("repeats the key")]
    Secret,
}
