//! What runs a graph: rten, inside this binary, or an ONNX Runtime library that the user names.
//!
//! A process runs all its models by one of them on one device, which the first that is loaded chooses: scores of two
//! are not mixed, and a library is opened once for the life of the process. A later load that asks for another is refused.

mod batches;
mod built_in;
mod device;
mod engine;
mod library;
mod session;
mod worker;

pub(crate) use engine::{EngineParts, ModelEngine};
pub(crate) use worker::WorkerOutput;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ort::environment::Environment;

use super::{Device, NeuralError, Runtime, TEXTS_A_CALL};
use built_in::RTEN;
use session::LibrarySession;
use worker::Worker;

/// The runtime of this process.
#[derive(Clone)]
pub(crate) struct Backend {
    /// Its name and version, for people and fingerprints.
    pub(crate) name: String,
    asked: Device,
    /// None: the built-in one.
    library: Option<OpenLibrary>,
    /// Why it is the processor where a GPU would have done.
    fallback: Option<String>,
}

#[derive(Clone)]
struct OpenLibrary {
    path: PathBuf,
    environment: Environment,
    /// The number of the GPU that graphs run on; none: the processor.
    cuda: Option<u32>,
}

static CHOSEN: Mutex<Option<Backend>> = Mutex::new(None);

impl Backend {
    /// The runtime that is asked for, started if it is the first.
    pub(crate) fn get(runtime: &Runtime) -> Result<Self, NeuralError> {
        let library = runtime.library.as_deref();
        let mut chosen = chosen();
        if let Some(backend) = &*chosen {
            let set = backend.library.as_ref().map(|library| library.path.as_path());
            return if is_same(set, library) && backend.asked == runtime.device {
                Ok(backend.clone())
            } else {
                let (set, asked) = (place(set, backend.asked), place(library, runtime.device));
                Err(NeuralError::OtherRuntime { set, asked })
            };
        }
        let backend = match library {
            None => Self::built_in(runtime.device)?,
            Some(library) => Self::of_library(library, runtime.device)?,
        };
        Ok(chosen.insert(backend).clone())
    }

    fn built_in(asked: Device) -> Result<Self, NeuralError> {
        let fallback = match asked {
            Device::Cpu => None,
            Device::Auto => Some(format!("{RTEN} knows no GPU")),
            Device::Cuda(_) => {
                let problem = format!("{RTEN} runs models on the processor only");
                return Err(NeuralError::Device { device: asked, problem });
            }
        };
        Ok(Self { name: RTEN.to_owned(), asked, library: None, fallback })
    }

    fn of_library(path: &Path, asked: Device) -> Result<Self, NeuralError> {
        let (table, version) = library::open(path)?;
        let mut name = format!("ONNX Runtime {version}");
        if !ort::set_api(table) {
            let set = "a runtime that failed to start".to_owned();
            return Err(NeuralError::OtherRuntime { set, asked: place(Some(path), asked) });
        }
        let environment = ort::init().with_name("prospect").with_telemetry(false).build();
        let environment = environment.map_err(|error| NeuralError::Run {
            model: "every model".to_owned(),
            runtime: name.clone(),
            problem: error.to_string(),
        })?;
        let (cuda, fallback) = match asked {
            Device::Cpu => (None, None),
            Device::Cuda(number) => {
                device::check(number, &environment)
                    .map_err(|problem| NeuralError::Device { device: asked, problem })?;
                (Some(number), None)
            }
            Device::Auto => match device::check(0, &environment) {
                Ok(()) => (Some(0), None),
                Err(problem) => (None, Some(problem)),
            },
        };
        if cuda.is_some() {
            name.push_str(" with CUDA");
        }
        let library = Some(OpenLibrary { path: path.to_owned(), environment, cuda });
        Ok(Self { name, asked, library, fallback })
    }

    /// A worker for each of `count` threads.
    ///
    /// # Errors
    /// The runtime cannot read the graph; what it says. A library tells when a worker first runs.
    fn workers(&self, graph: Cow<'static, [u8]>, count: usize) -> Result<Vec<Worker>, String> {
        let Some(OpenLibrary { environment, cuda, .. }) = &self.library else {
            return Ok(built_in::threads(graph, count)?.into_iter().map(Worker::BuiltIn).collect());
        };
        let bytes = Arc::new(graph);
        let sessions = (0..count).map(|_| LibrarySession {
            bytes: Arc::clone(&bytes),
            environment: environment.clone(),
            cuda: *cuda,
            session: Mutex::new(None),
        });
        Ok(sessions.map(Worker::Library).collect())
    }

    /// The number of the GPU that graphs run on; none: the processor.
    fn cuda(&self) -> Option<u32> {
        self.library.as_ref()?.cuda
    }
}

/// What the models of this process run on, for people; none before the first model.
pub(crate) fn runs_on() -> Option<String> {
    let chosen = chosen();
    let backend = chosen.as_ref()?;
    let name = &backend.name;
    Some(match (backend.cuda(), &backend.fallback) {
        (Some(number), _) => format!("{name} on {}", Device::Cuda(number)),
        (None, Some(why)) => format!("{name} on the processor ({why})"),
        (None, None) => format!("{name} on the processor"),
    })
}

/// Whether they run on a GPU.
pub(crate) fn runs_on_gpu() -> bool {
    chosen().as_ref().is_some_and(|backend| backend.cuda().is_some())
}

/// Texts that a call should have to keep busy what models run on.
pub(crate) fn texts_a_call() -> usize {
    if runs_on_gpu() { 16 * TEXTS_A_CALL } else { TEXTS_A_CALL }
}

fn chosen() -> MutexGuard<'static, Option<Backend>> {
    CHOSEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether two names of libraries are those of one file.
fn is_same(one: Option<&Path>, other: Option<&Path>) -> bool {
    let file = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    one.map(file) == other.map(file)
}

fn place(library: Option<&Path>, device: Device) -> String {
    let runtime = library.map_or_else(|| RTEN.to_owned(), |path| path.display().to_string());
    if device == Device::Cpu { runtime } else { format!("{runtime} on {device}") }
}
