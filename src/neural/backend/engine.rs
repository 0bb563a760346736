//! A graph with its threads: on the processor every row is a run of one worker, on a GPU many are one run.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Backend;
use super::batches::{self, LengthBuckets, RowBatch, RowPlace};
use super::worker::{SharedGraph, Worker, WorkerOutput};
use crate::neural::NeuralError;
use crate::neural::checks::Signature;
use crate::neural::source::ModelFile;
use crate::neural::tokens::TokenRow;

/// Plans of one worker may hold this many bytes of weights; a graph with more has one plan for all
/// lengths, which tract runs at about 60 % of the speed.
const PLANNED_BYTES: usize = 128 << 20;

/// Items whose rows are made while a device works on those before them.
const ITEMS_AHEAD: usize = 512;

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
    /// Lengths that rows are padded to.
    fn lengths(&self) -> Vec<usize> {
        let lengths = padded_lengths(self.max_tokens);
        let bytes = lengths.len() * self.graph.bytes.len();
        let is_planned = self.backend.has_plans_by_length() && bytes <= PLANNED_BYTES;
        if is_planned || self.backend.cuda.is_some() { lengths } else { Vec::new() }
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
        let (lengths, is_specialised) = (parts.lengths(), parts.backend.has_plans_by_length());
        Self::padding(parts, signature, lengths, is_specialised)
    }

    fn padding(
        parts: EngineParts,
        signature: &Signature,
        lengths: Vec<usize>,
        is_specialised: bool,
    ) -> Result<Self, NeuralError> {
        let checked = signature.check(&parts.graph)?;
        let graph = Arc::new(SharedGraph {
            lengths,
            is_specialised,
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

    /// The output of the graph for one row, on the first worker: where rows are run in batches, the first of a
    /// whole one, so that a graph that is tried is tried as it will be used.
    pub(crate) fn run(&self, row: &TokenRow) -> Result<WorkerOutput, NeuralError> {
        let is_batched = self.graph.backend.cuda.is_some();
        let padded = self.graph.padded(row.ids.len()).filter(|_| is_batched);
        let rows = padded.map_or(1, batches::size);
        let mut output = self.worker(0, |worker| worker.run(&vec![row; rows]))?;
        if rows > 1 {
            output.values.truncate(output.values.len() / rows);
            output.shape[0] = 1;
        }
        Ok(output)
    }

    /// What `read` makes of the output for each row that `rows` makes of each item, in the order of the items.
    ///
    /// # Errors
    /// That of the first item that has one; on a GPU an error of the graph may come before.
    pub(crate) fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        rows: impl Fn(&T) -> Result<Vec<TokenRow>, NeuralError> + Sync,
        read: impl Fn(&TokenRow, &[f32]) -> R + Sync,
    ) -> Result<Vec<Vec<R>>, NeuralError> {
        if self.graph.backend.cuda.is_some() {
            return self.threads.install(|| self.each_in_batches(items, &rows, &read));
        }
        let one = |item: &T| self.run_each(&rows(item)?, &read);
        let results: Vec<Result<Vec<R>, NeuralError>> =
            self.threads.install(|| items.par_iter().with_max_len(1).map(one).collect());
        results.into_iter().collect()
    }

    /// As [`Self::each`] where items have one row.
    pub(crate) fn each_row<T: Sync, R: Send>(
        &self,
        items: &[T],
        row: impl Fn(&T) -> Result<TokenRow, NeuralError> + Sync,
        read: impl Fn(&TokenRow, &[f32]) -> R + Sync,
    ) -> Result<Vec<R>, NeuralError> {
        let found = self.each(items, |item| Ok(vec![row(item)?]), read)?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What `read` makes of the output for each row, run one by one on the worker of this thread.
    fn run_each<R>(
        &self,
        rows: &[TokenRow],
        read: impl Fn(&TokenRow, &[f32]) -> R,
    ) -> Result<Vec<R>, NeuralError> {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let run = |row: &TokenRow| Ok(read(row, &self.worker(thread, |w| w.run(&[row]))?.values));
        rows.iter().map(run).collect()
    }

    /// As [`Self::each`], many rows at once: rows of the next items are made while a device runs.
    fn each_in_batches<T: Sync, R: Send>(
        &self,
        items: &[T],
        rows: &(impl Fn(&T) -> Result<Vec<TokenRow>, NeuralError> + Sync),
        read: &(impl Fn(&TokenRow, &[f32]) -> R + Sync),
    ) -> Result<Vec<Vec<R>>, NeuralError> {
        let mut buckets = LengthBuckets::new(&self.graph.lengths);
        let mut found: Vec<Vec<R>> = items.iter().map(|_| Vec::new()).collect();
        let mut answered = Vec::new();
        let mut parts = items.chunks(ITEMS_AHEAD);
        let made = |part: &[T]| rows_of(part, rows);
        let mut next = parts.next().map(made).transpose()?;
        while let Some(rows) = next {
            let full = buckets.add(rows);
            let part = parts.next();
            let (ran, following) =
                rayon::join(|| self.run_batches(full, read), || part.map(made).transpose());
            answered.extend(ran?);
            next = following?;
        }
        answered.extend(self.run_batches(buckets.rest(), read)?);
        answered.sort_by_key(|(place, _)| *place);
        for ((item, _), one) in answered {
            found[item].push(one);
        }
        Ok(found)
    }

    fn run_batches<R: Send>(
        &self,
        batches: Vec<RowBatch>,
        read: &(impl Fn(&TokenRow, &[f32]) -> R + Sync),
    ) -> Result<Vec<(RowPlace, R)>, NeuralError> {
        let mut found = Vec::new();
        for batch in batches {
            let output = self.worker(0, |worker| worker.run(&batch.filled()))?;
            let values =
                output.values.par_chunks_exact((output.values.len() / batch.size()).max(1));
            let read =
                batch.rows.par_iter().zip(values).map(|((at, row), one)| (*at, read(row, one)));
            found.par_extend(read);
        }
        Ok(found)
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

/// The rows of each of some items, made side by side; the error is that of the first item that has one.
fn rows_of<T: Sync>(
    items: &[T],
    rows: &(impl Fn(&T) -> Result<Vec<TokenRow>, NeuralError> + Sync),
) -> Result<Vec<Vec<TokenRow>>, NeuralError> {
    let made: Vec<Result<Vec<TokenRow>, NeuralError>> = items.par_iter().map(rows).collect();
    made.into_iter().collect()
}

/// Lengths that rows are padded to: 32 apart up to 128 tokens, then two between a power of two and the
/// next, so that at most a third of such a row is padding.
fn padded_lengths(max_tokens: usize) -> Vec<usize> {
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
    use crate::neural::{Device, Runtime};

    const GRAPH: &[u8] = include_bytes!("../../../tests/models/classifier-two-labels/model.onnx");

    /// An engine for a model of the tests, padding to `lengths`, with or without a plan for each.
    fn engine(lengths: &[usize], is_specialised: bool) -> ModelEngine {
        let backend =
            Backend::get(&Runtime { library: None, threads: 1, device: Device::Cpu }).unwrap();
        let graph = ModelFile { name: "model.onnx".to_owned(), bytes: GRAPH.into() };
        let (model, threads, max_tokens, pad_id) = ("small".to_owned(), 2, 48, 0);
        let parts = EngineParts { model, graph, backend, threads, max_tokens, pad_id };
        assert_eq!(parts.lengths(), [32, 48]);
        let signature = Signature { text_length: false, output: ("logits", 2), highest_id: 1 };
        ModelEngine::padding(parts, &signature, lengths.to_vec(), is_specialised).unwrap()
    }

    fn row(tokens: usize) -> TokenRow {
        let ids = (0..tokens as i64).map(|at| (at * 37 + 5 * tokens as i64) % 300).collect();
        TokenRow { ids, ..TokenRow::default() }
    }

    #[test]
    fn rows_in_batches_give_what_they_give_one_by_one() {
        let (batches, free) = (engine(&[32, 48], false), engine(&[], false));
        // Items of no, one and some rows; more rows of a length than a batch has.
        let items: Vec<Vec<usize>> = (0..1_200)
            .map(|item| (0..item % 3).map(|at| 1 + (item * 7 + at) % 48).collect())
            .collect();
        let rows = |item: &Vec<usize>| Ok(item.iter().map(|tokens| row(*tokens)).collect());
        let read = |row: &TokenRow, logits: &[f32]| (row.ids.len(), [logits[0], logits[1]]);
        let found = batches.threads.install(|| batches.each_in_batches(&items, &rows, &read));
        let expected = free.each(&items, rows, read).unwrap();
        for (found, expected) in found.unwrap().iter().zip(&expected) {
            assert_eq!(found.len(), expected.len());
            for ((tokens, found), (of, expected)) in found.iter().zip(expected) {
                assert_eq!(tokens, of);
                let differ = |at: usize| (found[at] - expected[at]).abs();
                assert!(differ(0) < 1e-5 && differ(1) < 1e-5, "{tokens}: {found:?}, {expected:?}");
            }
        }
        let refused = || Err(batches.refuse("no".to_owned()));
        let fails =
            |item: &Vec<usize>| if item.first() == Some(&30) { refused() } else { rows(item) };
        assert!(
            batches.threads.install(|| batches.each_in_batches(&items, &fails, &read)).is_err()
        );
    }

    #[test]
    fn padding_to_a_planned_length_changes_nothing_but_the_last_digits() {
        let (planned, free) = (engine(&[32, 48], true), engine(&[], false));
        for tokens in 1..=48 {
            let row = row(tokens);
            let (planned, free) = (planned.run(&row).unwrap(), free.run(&row).unwrap());
            assert_eq!(planned.shape, [1, 2]);
            for (padded, exact) in planned.values.iter().zip(&free.values) {
                assert!((padded - exact).abs() < 1e-5, "{tokens} tokens: {padded}, {exact}");
            }
        }
    }

    #[test]
    fn padded_lengths_are_few_and_end_at_the_limit() {
        assert_eq!(padded_lengths(20), [20]);
        assert_eq!(padded_lengths(256), [32, 64, 96, 128, 192, 256]);
        assert_eq!(padded_lengths(512), [32, 64, 96, 128, 192, 256, 384, 512]);
        assert_eq!(padded_lengths(4096).last(), Some(&4096));
        assert!(padded_lengths(4096).len() < 16);
    }
}
