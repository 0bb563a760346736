//! What can be wrong with a model, its runtime or the cache of its scores.

use std::io;
use std::path::PathBuf;

use super::Device;

/// Why a model cannot be loaded or cannot score.
#[derive(Debug, thiserror::Error)]
pub enum NeuralError {
    /// The feature `neural` is off.
    #[error("this program was built without neural models")]
    NotBuilt,
    /// A file of a model cannot be read.
    #[error(
        "{}: {error}; a model is a directory with model.onnx, tokenizer.json and model.toml (see \
         models/README.md)", path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of a model is not what it should be.
    #[error("{file}: {problem}")]
    Model {
        /// The file, or its name in the bundled model.
        file: String,
        /// Expected and found.
        problem: String,
    },
    /// A sound model, but not for this.
    #[error("{file}: the model's kind is {found}; expected {expected}")]
    Kind {
        /// Its `model.toml`.
        file: String,
        /// The kind there.
        found: &'static str,
        /// Kinds that would do, and for what.
        expected: &'static str,
    },
    /// The library that was named cannot be used.
    #[error("{}: {problem}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The device that was named cannot be used.
    #[error("{device}: {problem}")]
    Device {
        /// The device.
        device: Device,
        /// Why.
        problem: String,
    },
    /// The process runs its models by something else already.
    #[error(
        "models of this process run by {set} already, asked for was {asked}; name one runtime for all of them"
    )]
    OtherRuntime {
        /// What the first load chose.
        set: String,
        /// What this load asks for.
        asked: String,
    },
    /// The runtime fails on a sound model.
    #[error("{model}: {runtime} fails: {problem}")]
    Run {
        /// Name of the model.
        model: String,
        /// The runtime with its version.
        runtime: String,
        /// What it says.
        problem: String,
    },
    /// The file of remembered scores cannot be read or written.
    #[error("{}: {error}; the cache of scores may be deleted, scores are then computed again", path.display())]
    Cache {
        /// The file or its directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}
