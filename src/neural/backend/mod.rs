//! What runs a graph: tract or an ONNX Runtime library, behind one interface, the crate `ort`.
//!
//! `ort` speaks to one of them for the life of the process: its table of functions is set once, by
//! the first model that is loaded. A later load that asks for the other is refused.

mod engine;
mod library;
mod worker;

pub(crate) use engine::{EngineParts, ModelEngine};
pub(crate) use worker::{Worker, WorkerOutput};

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::environment::Environment;

use super::{NeuralError, Runtime};

/// The release of tract that `ort-tract` 0.5.0 is built on.
const TRACT: &str = "tract 0.23";

/// The runtime of this process.
#[derive(Clone)]
pub(crate) struct Backend {
    /// Its name and version, for people and fingerprints.
    pub(crate) name: String,
    library: Option<PathBuf>,
    environment: Environment,
}

static CHOSEN: Mutex<Option<Backend>> = Mutex::new(None);

impl Backend {
    /// The runtime that is asked for, started if it is the first.
    pub(crate) fn get(runtime: &Runtime) -> Result<Self, NeuralError> {
        let asked = runtime.library.as_deref();
        let mut chosen = CHOSEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(backend) = &*chosen {
            let set = backend.library.as_deref();
            return if is_same(set, asked) {
                Ok(backend.clone())
            } else {
                Err(NeuralError::OtherRuntime { set: place(set), asked: place(asked) })
            };
        }
        let backend = Self::start(asked)?;
        Ok(chosen.insert(backend).clone())
    }

    fn start(library: Option<&Path>) -> Result<Self, NeuralError> {
        let (table, name) = match library {
            None => (ort_tract::api(), TRACT.to_owned()),
            Some(path) => {
                let (table, version) = library::open(path)?;
                (table, format!("ONNX Runtime {version}"))
            }
        };
        if !ort::set_api(table) {
            let set = "a runtime that failed to start".to_owned();
            return Err(NeuralError::OtherRuntime { set, asked: place(library) });
        }
        let environment = ort::init().with_name("prospect").with_telemetry(false).build();
        let environment = environment.map_err(|error| NeuralError::Run {
            model: "every model".to_owned(),
            runtime: name.clone(),
            problem: error.to_string(),
        })?;
        Ok(Self { name, library: library.map(PathBuf::from), environment })
    }

    /// Whether texts are padded to a few lengths, with a plan of the graph for each.
    fn is_planned_by_length(&self) -> bool {
        self.library.is_none()
    }
}

/// Whether two names of libraries are those of one file.
fn is_same(one: Option<&Path>, other: Option<&Path>) -> bool {
    let file = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    one.map(file) == other.map(file)
}

fn place(library: Option<&Path>) -> String {
    library.map_or_else(|| TRACT.to_owned(), |path| path.display().to_string())
}
