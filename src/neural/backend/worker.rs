//! One thread's way to run a graph, and one run of it.

use super::built_in::BuiltIn;
use super::session::LibrarySession;
use super::{Backend, batches};
use crate::contained::caught;
use crate::neural::NeuralError;
use crate::neural::tokens::TokenRow;

/// What every worker of a model shares.
pub(crate) struct SharedGraph {
    pub(crate) backend: Backend,
    /// Name of the model and of its file, for messages.
    pub(crate) model: String,
    pub(crate) file: String,
    /// Inputs by name, in the order of the graph.
    pub(crate) inputs: Vec<String>,
    /// The output that is read.
    pub(crate) output: &'static str,
    pub(crate) pad_id: i64,
    /// Lengths that rows are padded to, ascending; none: a row is run as it is.
    pub(crate) lengths: Vec<usize>,
}

/// One input of a graph.
pub(crate) struct GraphInput<'a> {
    pub(crate) name: &'a str,
    /// Rows, and numbers of each.
    pub(crate) shape: [usize; 2],
    pub(crate) numbers: InputNumbers,
}

/// The numbers of an input, row by row.
pub(crate) enum InputNumbers {
    Whole(Vec<i64>),
    Real(Vec<f32>),
}

/// The numbers a graph gives for some rows; the first size is how many they are.
#[derive(Debug, PartialEq)]
pub(crate) struct WorkerOutput {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A thread's graph, in the runtime that was asked for.
pub(crate) enum Worker {
    BuiltIn(BuiltIn),
    Library(LibrarySession),
}

impl Worker {
    /// Does something with this worker, on the thread where it runs graphs.
    pub(crate) fn on_thread<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::BuiltIn(graph) => graph.on_thread(job),
            Self::Library(_) => job(),
        }
    }

    /// Runs the graph over some rows at once, padded to one length.
    pub(crate) fn run(
        &self,
        graph: &SharedGraph,
        rows: &[&TokenRow],
    ) -> Result<WorkerOutput, NeuralError> {
        let longest = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let length = graph.padded(longest).unwrap_or(longest).max(1);
        let inputs = inputs(graph, rows, length);
        let found = caught(|| match self {
            Self::BuiltIn(built_in) => built_in.run(inputs, graph.output),
            Self::Library(session) => session.run(inputs, graph.output),
        });
        graph.checked(found.flatten().map_err(|problem| graph.fails(problem))?, rows)
    }
}

impl SharedGraph {
    /// The length that a row of `tokens` tokens is padded to, where there are such lengths.
    pub(crate) fn padded(&self, tokens: usize) -> Option<usize> {
        self.lengths.get(batches::padded(&self.lengths, tokens)).copied()
    }

    /// What was computed for `rows`, if it can be.
    fn checked(
        &self,
        output: WorkerOutput,
        rows: &[&TokenRow],
    ) -> Result<WorkerOutput, NeuralError> {
        let (name, values) = (self.output, &output.values);
        if let Some(at) = values.iter().position(|value: &f32| !value.is_finite()) {
            let (wrong, of_row) = (values[at], values.len() / rows.len().max(1));
            let tokens = rows.get(at / of_row.max(1)).map_or(0, |row| row.ids.len());
            return Err(self.refuse(format!(
                "the output {name} has {wrong} for a text of {tokens} tokens; expected numbers"
            )));
        }
        if let Some(problem) = wrong_rows(&output.shape, rows.len()) {
            return Err(self.refuse(format!("the output {name} {problem}")));
        }
        Ok(output)
    }

    fn fails(&self, problem: String) -> NeuralError {
        let (model, runtime) = (self.model.clone(), self.backend.name.clone());
        NeuralError::Run { model, runtime, problem }
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
fn inputs<'a>(graph: &'a SharedGraph, rows: &[&TokenRow], length: usize) -> Vec<GraphInput<'a>> {
    graph.inputs.iter().map(|name| input(graph, rows, length, name)).collect()
}

fn input<'a>(
    graph: &SharedGraph,
    rows: &[&TokenRow],
    length: usize,
    name: &'a str,
) -> GraphInput<'a> {
    let (shape, numbers) = match name {
        "attention_mask" => {
            padded(rows, 0, length, |row, numbers| numbers.extend(row.ids.iter().map(|_| 1)))
        }
        "token_type_ids" => padded(rows, 0, length, |row, numbers| {
            let second = row.second_part.unwrap_or(row.ids.len());
            numbers.extend((0..row.ids.len()).map(|at| i64::from(at >= second)));
        }),
        "text_length" => {
            let lengths = rows.iter().map(|row| row.text_length).collect();
            ([rows.len(), 1], InputNumbers::Real(lengths))
        }
        _ => padded(rows, graph.pad_id, length, |row, numbers| numbers.extend(&row.ids)),
    };
    GraphInput { name, shape, numbers }
}

/// An input of some rows, of which `add` adds the numbers, with `pad` behind them up to the length.
fn padded(
    rows: &[&TokenRow],
    pad: i64,
    length: usize,
    add: impl Fn(&TokenRow, &mut Vec<i64>),
) -> ([usize; 2], InputNumbers) {
    let mut numbers = Vec::with_capacity(rows.len() * length);
    for (at, row) in rows.iter().enumerate() {
        add(row, &mut numbers);
        numbers.resize((at + 1) * length, pad);
    }
    ([rows.len(), length], InputNumbers::Whole(numbers))
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
