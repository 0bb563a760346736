//! Where a model comes from and what runs it: the four files of a model, read but not understood.

#[cfg(feature = "neural")]
use std::borrow::Cow;
use std::path::PathBuf;

#[cfg(feature = "neural")]
use super::NeuralError;

/// Where a model's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSource {
    /// A directory with `model.onnx`, `tokenizer.json`, `model.toml` and, for an embedding,
    /// `head.json`.
    Directory(PathBuf),
    /// The same files inside this binary.
    Files {
        /// Names them in messages.
        name: &'static str,
        /// `model.onnx`.
        model: &'static [u8],
        /// `tokenizer.json`.
        tokenizer: &'static [u8],
        /// `model.toml`.
        settings: &'static str,
        /// `head.json`.
        head: Option<&'static [u8]>,
    },
}

/// What runs a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// An ONNX Runtime library; tract, inside this binary, where there is none. The first model that
    /// is loaded decides for the whole process.
    pub library: Option<PathBuf>,
    /// Texts that are scored side by side, at least 1; each has a session of its own.
    pub threads: usize,
}

#[cfg(feature = "neural")]
const MODEL: &str = "model.onnx";
#[cfg(feature = "neural")]
const TOKENIZER: &str = "tokenizer.json";
#[cfg(feature = "neural")]
const SETTINGS: &str = "model.toml";
#[cfg(feature = "neural")]
const HEAD: &str = "head.json";

/// A file of a model with the name by which messages call it.
#[cfg(feature = "neural")]
pub(super) struct ModelFile {
    pub(crate) name: String,
    pub(crate) bytes: Cow<'static, [u8]>,
}

/// The files of a model.
#[cfg(feature = "neural")]
pub(super) struct ModelFiles {
    pub(crate) settings: ModelFile,
    pub(crate) tokenizer: ModelFile,
    pub(crate) model: ModelFile,
    source: ModelSource,
}

#[cfg(feature = "neural")]
impl ModelFiles {
    /// Reads all but the head.
    pub(crate) fn read(source: &ModelSource) -> Result<Self, NeuralError> {
        Ok(Self {
            settings: part(source, SETTINGS)?,
            tokenizer: part(source, TOKENIZER)?,
            model: part(source, MODEL)?,
            source: source.clone(),
        })
    }

    /// `head.json`, which only a quality model over embeddings needs.
    pub(crate) fn head(&self) -> Result<ModelFile, NeuralError> {
        part(&self.source, HEAD)
    }
}

#[cfg(feature = "neural")]
fn part(source: &ModelSource, file: &'static str) -> Result<ModelFile, NeuralError> {
    match source {
        ModelSource::Directory(directory) => {
            let path = directory.join(file);
            let name = path.display().to_string();
            match std::fs::read(&path) {
                Ok(bytes) => Ok(ModelFile { name, bytes: bytes.into() }),
                Err(error) => Err(NeuralError::Read { path, error }),
            }
        }
        ModelSource::Files { name, model, tokenizer, settings, head } => {
            let name = format!("{file} of the bundled model {name}");
            let bytes = match file {
                MODEL => Some(*model),
                TOKENIZER => Some(*tokenizer),
                SETTINGS => Some(settings.as_bytes()),
                _ => *head,
            };
            match bytes {
                Some(bytes) => Ok(ModelFile { name, bytes: bytes.into() }),
                None => Err(NeuralError::Model { file: name, problem: "is not there".to_owned() }),
            }
        }
    }
}
