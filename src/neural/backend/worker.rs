//! One thread's sessions of a graph, and one run of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{Tensor, TensorElementType};

use super::{Backend, batches, device};
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
    /// Whether there is a session for each of them.
    pub(crate) is_specialised: bool,
}

/// The numbers a graph gives for some rows; the first size is how many they are.
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

    /// Runs the graph over some rows at once, padded to one length.
    pub(crate) fn run(&mut self, rows: &[&TokenRow]) -> Result<WorkerOutput, NeuralError> {
        let graph = Arc::clone(&self.graph);
        ending(&graph.file, || self.answer(&graph, rows))
    }

    fn answer(
        &mut self,
        graph: &SharedGraph,
        rows: &[&TokenRow],
    ) -> Result<WorkerOutput, NeuralError> {
        let longest = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let padded = graph.padded(longest);
        let length = padded.unwrap_or(longest).max(1);
        let inputs = inputs(graph, rows, length).map_err(|error| graph.fails(&error))?;
        let session = self.session(padded.filter(|_| graph.is_specialised))?;
        let outputs = session.run(inputs).map_err(|error| graph.fails(&error))?;
        graph.read(&outputs, rows)
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
    /// The length that a row of `tokens` tokens is padded to, where there are such lengths.
    pub(crate) fn padded(&self, tokens: usize) -> Option<usize> {
        self.lengths.get(batches::padded(&self.lengths, tokens)).copied()
    }

    /// The output that is read, of `rows`.
    fn read(
        &self,
        outputs: &SessionOutputs<'_>,
        rows: &[&TokenRow],
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
        if let Some(at) = values.iter().position(|value: &f32| !value.is_finite()) {
            let (wrong, of_row) = (values[at], values.len() / rows.len().max(1));
            let tokens = rows.get(at / of_row.max(1)).map_or(0, |row| row.ids.len());
            return Err(self.refuse(format!(
                "the output {name} has {wrong} for a text of {tokens} tokens; expected numbers"
            )));
        }
        let shape: Vec<usize> = shape.iter().map(|size| *size as usize).collect();
        if let Some(problem) = wrong_rows(&shape, rows.len()) {
            return Err(self.refuse(format!("the output {name} {problem}")));
        }
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
            if self.backend.cuda.is_some() {
                return self.fails(&problem);
            }
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
        if let Some(device) = self.backend.cuda {
            let builder_on = builder.with_execution_providers([device::provider(device)]);
            builder = builder_on.map_err(|e| e.to_string())?;
        }
        builder.commit_from_memory(bytes).map_err(|e| e.to_string())
    }

    fn fails(&self, error: &impl ToString) -> NeuralError {
        let (model, runtime) = (self.model.clone(), self.backend.name.clone());
        NeuralError::Run { model, runtime, problem: device::plain(&error.to_string()) }
    }

    /// The error that the file of this graph is not what it should be.
    pub(crate) fn refuse(&self, problem: String) -> NeuralError {
        NeuralError::Model { file: self.file.clone(), problem }
    }
}

/// What is wrong with the shape of what was computed for some rows at once. Of one row those who try a graph look
/// closer.
fn wrong_rows(shape: &[usize], rows: usize) -> Option<String> {
    let fits = rows == 1 || shape.first() == Some(&rows);
    (!fits).then(|| {
        format!("is {shape:?} for {rows} texts at once; expected {rows} as its first size, as for a graph with a \
                 free one")
    })
}

/// The inputs that the graph asks for, each `[rows, length]` but for `text_length`, `[rows, 1]`.
fn inputs<'a>(
    graph: &'a SharedGraph,
    rows: &[&TokenRow],
    length: usize,
) -> ort::Result<Vec<(&'a str, SessionInputValue<'static>)>> {
    let mut inputs = Vec::with_capacity(graph.inputs.len());
    for name in &graph.inputs {
        let value = match name.as_str() {
            "attention_mask" => {
                padded(rows, 0, length, |row, numbers| numbers.extend(row.ids.iter().map(|_| 1)))?
            }
            "token_type_ids" => padded(rows, 0, length, |row, numbers| {
                let second = row.second_part.unwrap_or(row.ids.len());
                numbers.extend((0..row.ids.len()).map(|at| i64::from(at >= second)));
            })?,
            "text_length" => {
                let lengths: Vec<f32> = rows.iter().map(|row| row.text_length).collect();
                Tensor::from_array(([rows.len(), 1], lengths))?.into()
            }
            _ => padded(rows, graph.pad_id, length, |row, numbers| numbers.extend(&row.ids))?,
        };
        inputs.push((name.as_str(), value));
    }
    Ok(inputs)
}

/// An input of some rows, of which `add` adds the numbers, with `pad` behind them up to the length.
fn padded(
    rows: &[&TokenRow],
    pad: i64,
    length: usize,
    add: impl Fn(&TokenRow, &mut Vec<i64>),
) -> ort::Result<SessionInputValue<'static>> {
    let mut numbers = Vec::with_capacity(rows.len() * length);
    for (at, row) in rows.iter().enumerate() {
        add(row, &mut numbers);
        numbers.resize((at + 1) * length, pad);
    }
    Ok(Tensor::from_array(([rows.len(), length], numbers))?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_answers_for_other_than_its_rows_is_refused() {
        assert_eq!(wrong_rows(&[64, 2], 64), None);
        assert_eq!(wrong_rows(&[3, 2], 1), None);
        let problem = wrong_rows(&[1, 128], 64).unwrap();
        assert!(problem.starts_with("is [1, 128] for 64 texts at once"), "{problem}");
        assert!(wrong_rows(&[], 2).is_some());
    }
}
