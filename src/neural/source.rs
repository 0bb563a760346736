//! Where a model comes from and what runs it: the four files of a model, read but not understood.

#[cfg(feature = "neural")]
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

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
    /// An ONNX Runtime library; rten, inside this binary, where there is none. The first model that
    /// is loaded decides for the whole process.
    pub library: Option<PathBuf>,
    /// Texts that are scored side by side on the processor, at least 1; in a library each has a session of its own.
    pub threads: usize,
    /// What the library runs models on; for the whole process, too.
    pub device: Device,
}

/// What runs a model: the processor, or a GPU that the ONNX Runtime library can use.
///
/// ```
/// use prospect::neural::Device;
///
/// assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
/// assert_eq!("cuda:1".parse::<Device>().unwrap().to_string(), "cuda:1");
/// assert!("gpu".parse::<Device>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The CUDA device of this number; without it nothing runs.
    Cuda(u32),
    /// The first CUDA device, or the processor where it cannot be used.
    Auto,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().map(Self::Cuda);
        let found = match text {
            "cpu" => Some(Self::Cpu),
            "auto" => Some(Self::Auto),
            "cuda" => Some(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(number),
        };
        found.ok_or_else(|| "expected cpu, cuda, cuda:N (the number of a GPU) or auto".to_owned())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Auto => f.write_str("auto"),
        }
    }
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
