//! A graph with its threads: on the processor every row is a run of one worker, on a GPU many are one run.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Backend;
use super::batches::{self, LengthBuckets, RowBatch, RowPlace};
use super::worker::{SharedGraph, Worker, WorkerOutput};
use crate::neural::NeuralError;
use crate::neural::checks::Signature;
use crate::neural::source::ModelFile;
use crate::neural::tokens::TokenRow;

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

/// A checked graph, ready to run.
pub(crate) struct ModelEngine {
    graph: SharedGraph,
    threads: ThreadPool,
    /// By number of the thread.
    workers: Vec<Worker>,
    max_tokens: usize,
}

impl ModelEngine {
    /// Checks the graph against what its kind needs and makes its threads.
    pub(crate) fn new(parts: EngineParts, signature: &Signature) -> Result<Self, NeuralError> {
        let is_batched = parts.backend.cuda().is_some();
        let lengths = if is_batched { padded_lengths(parts.max_tokens) } else { Vec::new() };
        Self::padding(parts, signature, lengths)
    }

    fn padding(
        parts: EngineParts,
        signature: &Signature,
        lengths: Vec<usize>,
    ) -> Result<Self, NeuralError> {
        let checked = signature.check(&parts.graph)?;
        let graph = SharedGraph {
            lengths,
            backend: parts.backend,
            model: parts.model,
            file: parts.graph.name,
            inputs: checked.inputs,
            output: checked.output,
            pad_id: parts.pad_id,
        };
        let count = parts.threads.max(1);
        let threads = ThreadPoolBuilder::new().num_threads(count);
        let threads = threads.thread_name(|at| format!("neural-{at}")).build();
        let threads =
            threads.map_err(|error| graph.refuse(format!("no threads for it: {error}")))?;
        let workers = graph.backend.workers(parts.graph.bytes, count).map_err(|problem| {
            graph.refuse(format!("{} cannot run this graph: {problem}", graph.backend.name))
        })?;
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
        let rows = self.graph.padded(row.ids.len()).map_or(1, batches::size);
        let mut output = self.run_batch(&vec![row; rows]).map_err(|error| match error {
            // A GPU may fail for want of memory, and the graph is sound.
            NeuralError::Run { runtime, problem, .. } if !self.is_batched() => {
                self.refuse(format!("{runtime} cannot run this graph: {problem}"))
            }
            other => other,
        })?;
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
        if self.is_batched() {
            return self.threads.install(|| self.each_in_batches(items, &rows, &read));
        }
        let next = AtomicUsize::new(0);
        let of_threads = self.threads.broadcast(|context| {
            // Another call may keep this thread until all is done.
            if next.load(Ordering::Relaxed) >= items.len() {
                return Vec::new();
            }
            let worker = &self.workers[context.index()];
            worker.on_thread(|| {
                let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                let taken = taken.map_while(|at| Some((at, rows(items.get(at)?))));
                let run = |rows: Vec<TokenRow>| self.run_each(worker, &rows, &read);
                taken.map(|(at, rows)| (at, rows.and_then(run))).collect()
            })
        });
        let mut answered: Vec<_> = of_threads.into_iter().flatten().collect();
        answered.sort_unstable_by_key(|(at, _)| *at);
        answered.into_iter().map(|(_, found)| found).collect()
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

    /// What `read` makes of the output for each row, run one by one.
    fn run_each<R>(
        &self,
        worker: &Worker,
        rows: &[TokenRow],
        read: impl Fn(&TokenRow, &[f32]) -> R,
    ) -> Result<Vec<R>, NeuralError> {
        rows.iter().map(|row| Ok(read(row, &worker.run(&self.graph, &[row])?.values))).collect()
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
            let output = self.run_batch(&batch.filled())?;
            let values =
                output.values.par_chunks_exact((output.values.len() / batch.size()).max(1));
            let read =
                batch.rows.par_iter().zip(values).map(|((at, row), one)| (*at, read(row, one)));
            found.par_extend(read);
        }
        Ok(found)
    }

    /// Runs some rows at once, on the first worker.
    fn run_batch(&self, rows: &[&TokenRow]) -> Result<WorkerOutput, NeuralError> {
        let worker = &self.workers[0];
        worker.on_thread(|| worker.run(&self.graph, rows))
    }

    /// Whether rows are run many at once.
    fn is_batched(&self) -> bool {
        !self.graph.lengths.is_empty()
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

    /// An engine for a model of the tests, padding to `lengths`.
    fn engine(lengths: &[usize]) -> ModelEngine {
        let backend =
            Backend::get(&Runtime { library: None, threads: 1, device: Device::Cpu }).unwrap();
        let graph = ModelFile { name: "model.onnx".to_owned(), bytes: GRAPH.into() };
        let (model, threads, max_tokens, pad_id) = ("small".to_owned(), 2, 48, 0);
        let parts = EngineParts { model, graph, backend, threads, max_tokens, pad_id };
        let signature = Signature { text_length: false, output: ("logits", 2), highest_id: 1 };
        ModelEngine::padding(parts, &signature, lengths.to_vec()).unwrap()
    }

    fn row(tokens: usize) -> TokenRow {
        let ids = (0..tokens as i64).map(|at| (at * 37 + 5 * tokens as i64) % 300).collect();
        TokenRow { ids, ..TokenRow::default() }
    }

    #[test]
    fn rows_in_batches_give_what_they_give_one_by_one() {
        let (batches, free) = (engine(&padded_lengths(48)), engine(&[]));
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
    fn padding_changes_nothing_but_the_last_digits() {
        let (padding, free) = (engine(&padded_lengths(48)), engine(&[]));
        for tokens in 1..=48 {
            let row = row(tokens);
            let (padded, free) = (padding.run_batch(&[&row]).unwrap(), free.run(&row).unwrap());
            assert_eq!(free.shape, [1, 2]);
            for (padded, exact) in padded.values.iter().zip(&free.values) {
                assert!((padded - exact).abs() < 1e-5, "{tokens} tokens: {padded}, {exact}");
            }
        }
    }

    #[test]
    fn padded_lengths_are_few_and_end_at_the_limit() {
        assert_eq!(padded_lengths(20), [20]);
        assert_eq!(padded_lengths(48), [32, 48]);
        assert_eq!(padded_lengths(256), [32, 64, 96, 128, 192, 256]);
        assert_eq!(padded_lengths(512), [32, 64, 96, 128, 192, 256, 384, 512]);
        assert_eq!(padded_lengths(4096).last(), Some(&4096));
        assert!(padded_lengths(4096).len() < 16);
    }
}
