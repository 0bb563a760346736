//! One thread's sessions of a graph, and one run of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{Tensor, TensorElementType};

use super::Backend;
use crate::contained::ending;
use crate::neural::NeuralError;
use crate::neural::onnx;
use crate::neural::tokens::TokenRow;

/// What every worker of a model shares.
pub(crate) struct SharedGraph {
    pub(crate) backend: Backend,
    /// Name of the model and of its file, for messages.
    pub(crate) model: String,
    pub(crate) file: String,
    pub(crate) bytes: Cow<'static, [u8]>,
    /// Inputs by name, in the order of the graph.
    pub(crate) inputs: Vec<String>,
    /// The output that is read.
    pub(crate) output: &'static str,
    pub(crate) pad_id: i64,
    /// Lengths that rows are padded to, ascending; none: a row is run as it is.
    pub(crate) lengths: Vec<usize>,
}

/// The numbers a graph gives for one row.
#[derive(Debug, PartialEq)]
pub(crate) struct WorkerOutput {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// The sessions of one thread: one, or one for each length of row that has come up.
pub(crate) struct Worker {
    graph: Arc<SharedGraph>,
    sessions: HashMap<usize, Session>,
}

impl Worker {
    pub(crate) fn new(graph: Arc<SharedGraph>) -> Self {
        Self { graph, sessions: HashMap::new() }
    }

    /// Runs the graph over one row.
    pub(crate) fn run(&mut self, row: &TokenRow) -> Result<WorkerOutput, NeuralError> {
        let graph = Arc::clone(&self.graph);
        ending(&graph.file, || self.answer(&graph, row))
    }

    fn answer(&mut self, graph: &SharedGraph, row: &TokenRow) -> Result<WorkerOutput, NeuralError> {
        let fits = |length: &&usize| **length >= row.ids.len();
        let planned = graph.lengths.iter().find(fits).copied();
        let length = planned.unwrap_or(row.ids.len()).max(1);
        let inputs = inputs(graph, row, length).map_err(|error| graph.fails(&error))?;
        let session = self.session(planned)?;
        let outputs = session.run(inputs).map_err(|error| graph.fails(&error))?;
        graph.read(&outputs, row.ids.len())
    }

    /// The session for rows of a planned length, or the one for all.
    fn session(&mut self, planned: Option<usize>) -> Result<&mut Session, NeuralError> {
        match self.sessions.entry(planned.unwrap_or(0)) {
            Entry::Occupied(session) => Ok(session.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(self.graph.session(planned)?)),
        }
    }
}

impl SharedGraph {
    /// The output that is read, for a text of `tokens` tokens.
    fn read(
        &self,
        outputs: &SessionOutputs<'_>,
        tokens: usize,
    ) -> Result<WorkerOutput, NeuralError> {
        let name = self.output;
        let Some(value) = outputs.get(name) else {
            return Err(self.refuse(format!("the output {name} was not computed")));
        };
        if value.dtype().tensor_type() != Some(TensorElementType::Float32) {
            let found = value.dtype();
            return Err(self.refuse(format!("the output {name} is {found}; expected float32")));
        }
        let (shape, values) = value.try_extract_tensor().map_err(|error| self.fails(&error))?;
        if let Some(wrong) = values.iter().find(|value: &&f32| !value.is_finite()) {
            return Err(self.refuse(format!(
                "the output {name} has {wrong} for a text of {tokens} tokens; expected numbers"
            )));
        }
        let shape = shape.iter().map(|size| *size as usize).collect();
        Ok(WorkerOutput { shape, values: values.to_vec() })
    }

    fn session(&self, planned: Option<usize>) -> Result<Session, NeuralError> {
        let specialised;
        let bytes = match planned {
            None => self.bytes.as_ref(),
            Some(length) => {
                specialised = onnx::specialised(&self.bytes, length)
                    .map_err(|_| self.refuse("expected an ONNX model".to_owned()))?;
                &specialised
            }
        };
        let built = self.build(bytes);
        built.map_err(|problem| {
            self.refuse(format!("{} cannot run this graph: {problem}", self.backend.name))
        })
    }

    fn build(&self, bytes: &[u8]) -> Result<Session, String> {
        // `ort` gives the builder back with the error; only the message is wanted.
        let builder = Session::builder(&self.backend.environment).map_err(|e| e.to_string())?;
        // tract optimises only where a level is set.
        let builder = builder.with_optimization_level(GraphOptimizationLevel::All);
        let builder = builder.map_err(|e| e.to_string())?.with_intra_threads(1);
        let builder = builder.map_err(|e| e.to_string())?.with_inter_threads(1);
        let mut builder = builder.map_err(|e| e.to_string())?;
        builder.commit_from_memory(bytes).map_err(|e| e.to_string())
    }

    fn fails(&self, error: &ort::Error) -> NeuralError {
        let (model, runtime) = (self.model.clone(), self.backend.name.clone());
        NeuralError::Run { model, runtime, problem: error.to_string() }
    }

    /// The error that the file of this graph is not what it should be.
    pub(crate) fn refuse(&self, problem: String) -> NeuralError {
        NeuralError::Model { file: self.file.clone(), problem }
    }
}

/// The inputs that the graph asks for, each `[1, length]`.
fn inputs<'a>(
    graph: &'a SharedGraph,
    row: &TokenRow,
    length: usize,
) -> ort::Result<Vec<(&'a str, SessionInputValue<'static>)>> {
    let mut inputs = Vec::with_capacity(graph.inputs.len());
    for name in &graph.inputs {
        let value = match name.as_str() {
            "attention_mask" => padded(row.ids.iter().map(|_| 1), 0, length)?,
            "token_type_ids" => {
                let second = row.second_part.unwrap_or(row.ids.len());
                padded((0..row.ids.len()).map(|at| i64::from(at >= second)), 0, length)?
            }
            "text_length" => Tensor::from_array(([1, 1], vec![row.text_length]))?.into(),
            _ => padded(row.ids.iter().copied(), graph.pad_id, length)?,
        };
        inputs.push((name.as_str(), value));
    }
    Ok(inputs)
}

/// An input of a row, with `pad` behind it up to the length.
fn padded(
    values: impl Iterator<Item = i64>,
    pad: i64,
    length: usize,
) -> ort::Result<SessionInputValue<'static>> {
    let mut values: Vec<i64> = values.collect();
    values.resize(length, pad);
    Ok(Tensor::from_array(([1, length], values))?.into())
}
