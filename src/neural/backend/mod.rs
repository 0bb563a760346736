//! What runs a graph: tract or an ONNX Runtime library, behind one interface, the crate `ort`.
//!
//! `ort` speaks to one of them for the life of the process: its table of functions is set once, by
//! the first model that is loaded. A later load that asks for the other is refused.

mod batches;
mod device;
mod engine;
mod library;
mod worker;

pub(crate) use engine::{EngineParts, ModelEngine};
pub(crate) use worker::WorkerOutput;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ort::environment::Environment;

use super::{Device, NeuralError, Runtime, TEXTS_A_CALL};

/// The release of tract that `ort-tract` 0.5.0 is built on.
const TRACT: &str = "tract 0.23";

/// The runtime of this process.
#[derive(Clone)]
pub(crate) struct Backend {
    /// Its name and version, for people and fingerprints.
    pub(crate) name: String,
    library: Option<PathBuf>,
    asked: Device,
    environment: Environment,
    /// The number of the GPU that graphs run on; none: the processor.
    cuda: Option<u32>,
    /// Why it is the processor where a GPU would have done.
    fallback: Option<String>,
}

static CHOSEN: Mutex<Option<Backend>> = Mutex::new(None);

impl Backend {
    /// The runtime that is asked for, started if it is the first.
    pub(crate) fn get(runtime: &Runtime) -> Result<Self, NeuralError> {
        let library = runtime.library.as_deref();
        let mut chosen = chosen();
        if let Some(backend) = &*chosen {
            let (set, device) = (backend.library.as_deref(), backend.asked);
            return if is_same(set, library) && device == runtime.device {
                Ok(backend.clone())
            } else {
                let (set, asked) = (place(set, device), place(library, runtime.device));
                Err(NeuralError::OtherRuntime { set, asked })
            };
        }
        let backend = Self::start(library, runtime.device)?;
        Ok(chosen.insert(backend).clone())
    }

    fn start(library: Option<&Path>, asked: Device) -> Result<Self, NeuralError> {
        let unusable = |problem| NeuralError::Device { device: asked, problem };
        if library.is_none() && matches!(asked, Device::Cuda(_)) {
            return Err(unusable(format!("{TRACT} runs models on the processor only")));
        }
        let (table, mut name) = match library {
            None => (ort_tract::api(), TRACT.to_owned()),
            Some(path) => {
                let (table, version) = library::open(path)?;
                (table, format!("ONNX Runtime {version}"))
            }
        };
        if !ort::set_api(table) {
            let set = "a runtime that failed to start".to_owned();
            return Err(NeuralError::OtherRuntime { set, asked: place(library, asked) });
        }
        let environment = ort::init().with_name("prospect").with_telemetry(false).build();
        let environment = environment.map_err(|error| NeuralError::Run {
            model: "every model".to_owned(),
            runtime: name.clone(),
            problem: error.to_string(),
        })?;
        let (cuda, fallback) = match (asked, library) {
            (Device::Cpu, _) => (None, None),
            (Device::Cuda(number), _) => {
                device::check(number, &environment).map_err(unusable)?;
                (Some(number), None)
            }
            (Device::Auto, None) => (None, Some(format!("{TRACT} knows no GPU"))),
            (Device::Auto, Some(_)) => match device::check(0, &environment) {
                Ok(()) => (Some(0), None),
                Err(problem) => (None, Some(problem)),
            },
        };
        if cuda.is_some() {
            name.push_str(" with CUDA");
        }
        let library = library.map(PathBuf::from);
        Ok(Self { name, library, asked, environment, cuda, fallback })
    }

    /// Whether the graph has a plan for each of a few lengths that texts are padded to.
    fn has_plans_by_length(&self) -> bool {
        self.library.is_none()
    }
}

/// What the models of this process run on, for people; none before the first model.
pub(crate) fn runs_on() -> Option<String> {
    let chosen = chosen();
    let Backend { name, cuda, fallback, .. } = chosen.as_ref()?;
    Some(match (cuda, fallback) {
        (Some(number), _) => format!("{name} on {}", Device::Cuda(*number)),
        (None, Some(why)) => format!("{name} on the processor ({why})"),
        (None, None) => format!("{name} on the processor"),
    })
}

/// Whether they run on a GPU.
pub(crate) fn runs_on_gpu() -> bool {
    chosen().as_ref().is_some_and(|backend| backend.cuda.is_some())
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
    let runtime = library.map_or_else(|| TRACT.to_owned(), |path| path.display().to_string());
    if device == Device::Cpu { runtime } else { format!("{runtime} on {device}") }
}
