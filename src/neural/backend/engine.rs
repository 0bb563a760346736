//! A graph with its threads: every text is a job of one worker.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Backend;
use super::worker::{SharedGraph, Worker, WorkerOutput};
use crate::neural::NeuralError;
use crate::neural::checks::Signature;
use crate::neural::source::ModelFile;
use crate::neural::tokens::TokenRow;

/// Plans of one worker may hold this many bytes of weights; a graph with more has one plan for all
/// lengths, which tract runs at about 60 % of the speed.
const PLANNED_BYTES: usize = 128 << 20;

/// What an engine is made of.
pub(crate) struct EngineParts {
    /// Name of the model.
    pub(crate) model: String,
    /// Its `model.onnx`.
    pub(crate) graph: ModelFile,
    pub(crate) backend: Backend,
    pub(crate) threads: usize,
    pub(crate) max_tokens: usize,
    pub(crate) pad_id: i64,
}

impl EngineParts {
    /// Lengths that get a plan of their own.
    fn lengths(&self) -> Vec<usize> {
        let lengths = planned_lengths(self.max_tokens);
        let bytes = lengths.len() * self.graph.bytes.len();
        let is_planned = self.backend.is_planned_by_length() && bytes <= PLANNED_BYTES;
        if is_planned { lengths } else { Vec::new() }
    }
}

/// A checked graph, ready to run.
pub(crate) struct ModelEngine {
    graph: Arc<SharedGraph>,
    threads: ThreadPool,
    /// By number of the thread. A lock is only ever waited for while two calls overlap.
    workers: Vec<Mutex<Worker>>,
    max_tokens: usize,
}

impl ModelEngine {
    /// Checks the graph against what its kind needs and makes its threads.
    pub(crate) fn new(parts: EngineParts, signature: &Signature) -> Result<Self, NeuralError> {
        let lengths = parts.lengths();
        Self::planned(parts, signature, lengths)
    }

    fn planned(
        parts: EngineParts,
        signature: &Signature,
        lengths: Vec<usize>,
    ) -> Result<Self, NeuralError> {
        let checked = signature.check(&parts.graph)?;
        let graph = Arc::new(SharedGraph {
            lengths,
            backend: parts.backend,
            model: parts.model,
            file: parts.graph.name,
            bytes: parts.graph.bytes,
            inputs: checked.inputs,
            output: checked.output,
            pad_id: parts.pad_id,
        });
        let count = parts.threads.max(1);
        let threads = ThreadPoolBuilder::new().num_threads(count);
        let threads = threads.thread_name(|at| format!("neural-{at}")).build();
        let threads =
            threads.map_err(|error| graph.refuse(format!("no threads for it: {error}")))?;
        let workers = (0..count).map(|_| Mutex::new(Worker::new(Arc::clone(&graph)))).collect();
        Ok(Self { graph, threads, workers, max_tokens: parts.max_tokens })
    }

    /// Tokens of the longest row.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Whether the graph asks for `input`.
    pub(crate) fn has_input(&self, input: &str) -> bool {
        self.graph.inputs.iter().any(|name| name == input)
    }

    /// The output of the graph for one row, on the first worker.
    pub(crate) fn run(&self, row: &TokenRow) -> Result<WorkerOutput, NeuralError> {
        self.worker(0, |worker| worker.run(row))
    }

    /// Does `job` for each of `items`, side by side; results in the order of the items, the error of
    /// the first item that has one.
    pub(crate) fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        job: impl Fn(&mut Worker, &T) -> Result<R, NeuralError> + Sync,
    ) -> Result<Vec<R>, NeuralError> {
        let thread = || rayon::current_thread_index().unwrap_or(0);
        let one = |item: &T| self.worker(thread(), |worker| job(worker, item));
        let results: Vec<Result<R, NeuralError>> =
            self.threads.install(|| items.par_iter().with_max_len(1).map(one).collect());
        results.into_iter().collect()
    }

    fn worker<R>(&self, thread: usize, job: impl FnOnce(&mut Worker) -> R) -> R {
        let worker = &self.workers[thread % self.workers.len()];
        job(&mut worker.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The error that the file of this graph is not what it should be.
    pub(crate) fn refuse(&self, problem: String) -> NeuralError {
        self.graph.refuse(problem)
    }
}

/// Lengths that rows are padded to: 32 apart up to 128 tokens, then two between a power of two and the
/// next, so that at most a third of such a row is padding.
fn planned_lengths(max_tokens: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut length = 32;
    while length < max_tokens {
        lengths.push(length);
        length += if length < 128 { 32 } else { (1 << length.ilog2()) / 2 };
    }
    lengths.push(max_tokens);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::Runtime;

    const GRAPH: &[u8] = include_bytes!("../../../tests/models/classifier-two-labels/model.onnx");

    /// An engine for a model of the tests, with or without a plan for each length.
    fn engine(is_planned: bool) -> ModelEngine {
        let backend = Backend::get(&Runtime { library: None, threads: 1 }).unwrap();
        let graph = ModelFile { name: "model.onnx".to_owned(), bytes: GRAPH.into() };
        let (model, threads, max_tokens, pad_id) = ("small".to_owned(), 1, 48, 0);
        let parts = EngineParts { model, graph, backend, threads, max_tokens, pad_id };
        let lengths = if is_planned { parts.lengths() } else { Vec::new() };
        let signature = Signature { text_length: false, output: ("logits", 2), highest_id: 1 };
        ModelEngine::planned(parts, &signature, lengths).unwrap()
    }

    #[test]
    fn padding_to_a_planned_length_changes_nothing_but_the_last_digits() {
        let (planned, free) = (engine(true), engine(false));
        assert_eq!(
            (planned.graph.lengths.as_slice(), free.graph.lengths.len()),
            (&[32, 48][..], 0)
        );
        for tokens in 1..=48 {
            let ids = (0..tokens).map(|at| (at * 37) % 300).collect();
            let row = TokenRow { ids, ..TokenRow::default() };
            let (planned, free) = (planned.run(&row).unwrap(), free.run(&row).unwrap());
            assert_eq!(planned.shape, [1, 2]);
            for (padded, exact) in planned.values.iter().zip(&free.values) {
                assert!((padded - exact).abs() < 1e-5, "{tokens} tokens: {padded}, {exact}");
            }
        }
    }

    #[test]
    fn planned_lengths_are_few_and_end_at_the_limit() {
        assert_eq!(planned_lengths(20), [20]);
        assert_eq!(planned_lengths(256), [32, 64, 96, 128, 192, 256]);
        assert_eq!(planned_lengths(512), [32, 64, 96, 128, 192, 256, 384, 512]);
        assert_eq!(planned_lengths(4096).last(), Some(&4096));
        assert!(planned_lengths(4096).len() < 16);
    }
}
