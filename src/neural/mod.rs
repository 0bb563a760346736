//! Neural models over page text: how good a page is whatever is asked, and how well it answers a
//! query.
//!
//! A model is a directory (see `models/README.md`) that a [`ModelSource`] names, or the bundled one,
//! [`bundled()`]. It is loaded for a [`Runtime`], rten inside this binary or an ONNX Runtime library,
//! and then scores texts through [`QualityModel`], pairs through [`PairModel`], or turns texts into
//! vectors through [`Embedder`]. [`Cached`] and [`CachedPairs`] remember scores on disk.
//! Not here: which pages are scored, and what is done with the scores.
//!
//! How a score stays the same: every text is one run of its own, on one thread, so neither its
//! companions nor the number of threads can reach its bits. This costs nothing: at 256 tokens
//! neither runtime gains from batches (`benches/neural_throughput.rs`). A GPU does: there texts of like
//! length are run many at once, in batches whose shape depends on that length alone, to the same end.
//! The last digits may differ from one runtime, [`Device`] or kind of processor to another;
//! [`QualityModel::fingerprint`] names the runtime, and CUDA where it runs on that.
//!
//! Without the feature `neural` the same interface refuses to load anything.

#[cfg(not(feature = "neural"))]
mod absent;
#[cfg(feature = "neural")]
mod backend;
mod bundled;
mod cache;
#[cfg(feature = "neural")]
mod checks;
#[cfg(feature = "neural")]
mod classifier;
#[cfg(feature = "neural")]
mod embedding;
mod error;
#[cfg(feature = "neural")]
mod load;
#[cfg(feature = "neural")]
mod onnx;
#[cfg(feature = "neural")]
mod pair;
#[cfg(feature = "neural")]
mod probe;
#[cfg(feature = "neural")]
mod scores;
#[cfg(feature = "neural")]
mod settings;
mod source;
#[cfg(feature = "neural")]
mod t5;
pub(crate) mod text_length;
pub(crate) mod text_vectors;
#[cfg(feature = "neural")]
mod tokens;

#[cfg(not(feature = "neural"))]
use self::absent as load;
#[cfg(not(feature = "neural"))]
pub(crate) use absent::{runs_on, runs_on_gpu, texts_a_call};
#[cfg(feature = "neural")]
pub(crate) use backend::{runs_on, runs_on_gpu, texts_a_call};
pub use bundled::bundled;
pub(crate) use cache::{Cached, CachedPairs};
pub use error::NeuralError;
pub(crate) use load::load_embedder;
pub use source::{Device, ModelSource, Runtime};

/// Texts that a call should have on the processor: enough for all threads, few enough that what is scored is soon kept.
const TEXTS_A_CALL: usize = 256;

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

/// Turns texts into vectors, of length 1 where the model's settings normalise them.
pub(crate) trait Embedder: Send + Sync {
    /// Name of the model, for people.
    fn name(&self) -> &str;

    /// As for [`QualityModel::fingerprint`].
    fn fingerprint(&self) -> &str;

    /// Numbers in one vector.
    fn dimension(&self) -> usize;

    /// One vector of [`Embedder::dimension`] numbers for each of `texts`.
    ///
    /// # Errors
    /// The runtime fails, or a number is not finite.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError>;
}

/// Loads a model that scores texts: any kind but `sequence-pair`.
///
/// # Errors
/// A file is missing or is not what it should be, the runtime is not there or another one runs
/// already, or the graph does not pass a trial run.
pub fn load_quality(
    source: &ModelSource,
    runtime: &Runtime,
) -> Result<Box<dyn QualityModel>, NeuralError> {
    load::load_quality(source, runtime)
}

/// Loads a model that scores pages for a query: kind `sequence-pair`.
///
/// # Errors
/// As for [`load_quality`].
pub fn load_pairs(
    source: &ModelSource,
    runtime: &Runtime,
) -> Result<Box<dyn PairModel>, NeuralError> {
    load::load_pairs(source, runtime)
}

/// The text of a page that models read: as for search, title and text, or other parts, those that
/// are not empty with a space between.
pub(crate) fn document<S: AsRef<str>>(parts: &[S]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(AsRef::as_ref).filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}
