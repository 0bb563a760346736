//! What ends the work on quality, and where.

use std::io;
use std::path::PathBuf;

use crate::documents::{BadRow, DocumentError};
use crate::neural::NeuralError;

/// Scoring, analysing or pruning cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum QualityError {
    /// The documents cannot be read or written.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The model failed.
    #[error("the model failed on the batch that starts at {place}")]
    Model {
        /// The first document of the batch.
        place: String,
        /// What it said.
        source: NeuralError,
    },
    /// The model gave something that is no score.
    #[error("the model {model} gave {score} for {place}; a log-probability was expected")]
    Score {
        /// The model.
        model: String,
        /// What it gave.
        score: f64,
        /// The document.
        place: String,
    },
    /// A bad row, where none is accepted.
    #[error("{}: {}: {}", .0.place, .0.reason, .0.detail)]
    Strict(Box<BadRow>),
    /// The journal of a run cannot be read or written.
    #[error("{}: the scores so far cannot be {operation}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// `read` or `written`.
        operation: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// The journal is of another run.
    #[error("{}: the run to resume {what}", path.display())]
    OtherRun {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A file that should have scores has none.
    #[error("{file}: there is no column {column:?}; it has {}", columns.join(", "))]
    NoScores {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A share that is none.
    #[error("{0}")]
    Shares(String),
    /// There is nothing to cut.
    #[error("{file}: no document has a score in {column:?}")]
    Unscored {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
}
