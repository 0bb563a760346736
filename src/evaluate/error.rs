//! Why a run cannot be measured.

use crate::workload::WorkloadError;

/// Why a run or its judgements cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluateError {
    /// The file cannot be read, or a line of the judgements is malformed.
    #[error(transparent)]
    Input(#[from] WorkloadError),
    /// A line is not what it should be.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Found and expected.
        what: String,
    },
    /// The same document stands twice for a query.
    #[error("{file}:{line}: query {qid} has the document {docid} already in line {first}")]
    Duplicate {
        /// The file.
        file: String,
        /// Line of the second, from 1.
        line: usize,
        /// Line of the first, from 1.
        first: usize,
        /// Query.
        qid: String,
        /// Document.
        docid: String,
    },
    /// There is nothing in the file.
    #[error("{file} has no line")]
    Empty {
        /// The file.
        file: String,
    },
    /// No judged query has a page that counts.
    #[error("{file}: none of the {queries} judged queries has a relevant document")]
    NothingRelevant {
        /// The judgements.
        file: String,
        /// Queries in it.
        queries: usize,
    },
    /// A run and the judgements are about different queries.
    #[error(
        "{run}: no query has both results and a relevant document in {judgements}; the run has \
         for example query {run_qid}, the judgements {judged_qid}"
    )]
    NoCommonQuery {
        /// The run.
        run: String,
        /// The judgements.
        judgements: String,
        /// A query of the run.
        run_qid: String,
        /// A judged query.
        judged_qid: String,
    },
    /// A score that is to be written is none that can be ordered.
    #[error("query {qid}: the score of {docid} is {score:?}; a finite 32-bit number was expected")]
    Score {
        /// Query.
        qid: String,
        /// Document.
        docid: String,
        /// The score.
        score: f64,
    },
    /// A name that cannot stand in a file whose fields are separated by white space.
    #[error("{name:?} cannot stand in a run: it is empty or has white space")]
    Name {
        /// The qid, document id or tag.
        name: String,
    },
    /// The run cannot be written.
    #[error("the run cannot be written")]
    Write(#[from] std::io::Error),
}
