//! Neural models over page text: how good a page is whatever is asked, and how well it answers a
//! query.
//!
//! A model is a directory (see `models/README.md`) that [`Choice`] names, or the one that is
//! bundled. It is loaded for a [`Runtime`], tract inside this binary or an ONNX Runtime library, and
//! then scores batches of texts through [`QualityModel`] or pairs through [`PairModel`].
//! Not here: which pages are scored, and what is done with the scores.
//!
//! Without the feature `neural` the same interface refuses to load anything.

pub mod text_length;

/// Scores texts. Implementations score in parallel inside one call; a text's score depends neither
/// on the texts beside it nor on the number of threads.
pub trait QualityModel: Send + Sync {
    /// Name of the model, for people.
    fn name(&self) -> &str;

    /// Content hash, 32 hex digits, of everything a score depends on: files of the model, settings,
    /// runtime.
    fn fingerprint(&self) -> &str;

    /// Log-probability that each text is good, in (-inf, 0], one for each of `texts`.
    ///
    /// # Errors
    /// The runtime fails, or a score is not a number.
    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError>;
}

/// Scores pages for a query (cross-encoder).
pub trait PairModel: Send + Sync {
    /// Name of the model, for people.
    fn name(&self) -> &str;

    /// As for [`QualityModel::fingerprint`].
    fn fingerprint(&self) -> &str;

    /// Log-probability that each text answers `query`, in (-inf, 0]: the best of its passages.
    ///
    /// # Errors
    /// The runtime fails, or a score is not a number.
    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError>;
}

/// The text of a page that models read: as for search, title and text with a space between.
pub fn document(title: &str, text: &str) -> String {
    match (title.is_empty(), text.is_empty()) {
        (true, _) => text.to_owned(),
        (_, true) => title.to_owned(),
        _ => format!("{title} {text}"),
    }
}

/// A model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NeuralError {
    /// What went wrong.
    #[error("{0}")]
    Model(String),
}
