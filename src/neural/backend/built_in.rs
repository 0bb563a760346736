//! Graphs run by rten, inside this binary: one model for all threads, which only read it.
//!
//! rten starts a pool of threads of its own, in which it computes what does not depend on inputs when a graph is read, and
//! which sleeps from then on.

use std::borrow::Cow;
use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::Tensor;
use rten_tensor::prelude::{AsView, Layout};

use crate::contained::caught;

use super::worker::{GraphInput, InputNumbers, WorkerOutput};

/// The release of rten that graphs are run by.
pub(crate) const RTEN: &str = "rten 0.27";

/// A graph and a thread of its own, on which rten spreads nothing.
pub(crate) struct BuiltIn {
    model: Arc<Model>,
    thread: Arc<ThreadPool>,
}

/// Reads a graph, for some threads.
///
/// # Errors
/// rten does not know it; what it says.
pub(crate) fn threads(bytes: Cow<'static, [u8]>, count: usize) -> Result<Vec<BuiltIn>, String> {
    // In the pool that it would go to, so that a panic is caught where it comes up.
    let model = rten::thread_pool().run(|| caught(|| read(bytes))).flatten()?;
    let model = Arc::new(model);
    let thread = || Arc::new(ThreadPool::with_num_threads(1));
    Ok((0..count).map(|_| BuiltIn { model: Arc::clone(&model), thread: thread() }).collect())
}

fn read(bytes: Cow<'static, [u8]>) -> Result<Model, String> {
    let model = match bytes {
        Cow::Borrowed(bytes) => Model::load_static_slice(bytes),
        Cow::Owned(bytes) => Model::load(bytes),
    };
    model.map_err(|error| error.to_string())
}

impl BuiltIn {
    /// Does something on this thread, where [`Self::run`] is then a call and no message to it.
    pub(crate) fn on_thread<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        self.thread.run(job)
    }

    /// The output named `output` for some rows.
    ///
    /// # Errors
    /// What rten says, or the type of the output where it is not float32.
    pub(crate) fn run(
        &self,
        inputs: Vec<GraphInput<'_>>,
        output: &str,
    ) -> Result<WorkerOutput, String> {
        let inputs: Result<Vec<(NodeId, ValueOrView<'_>)>, String> = inputs
            .into_iter()
            .map(|input| Ok((self.node(input.name)?, value(input)?.into())))
            .collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.thread)));
        let found = self.model.run_n(inputs?, [self.node(output)?], Some(options));
        match found.map_err(|error| error.to_string())? {
            [Value::FloatTensor(tensor)] => {
                Ok(WorkerOutput { shape: tensor.shape().to_vec(), values: tensor.to_vec() })
            }
            [other] => Err(format!("the output {output} is {}; expected float32", other.dtype())),
        }
    }

    fn node(&self, name: &str) -> Result<NodeId, String> {
        self.model.node_id(name).map_err(|error| error.to_string())
    }
}

/// Whole numbers are of 32 bits in rten, also where the file says 64.
///
/// # Errors
/// One has more.
fn value(input: GraphInput<'_>) -> Result<Value, String> {
    Ok(match input.numbers {
        InputNumbers::Whole(numbers) => {
            let short = |number| {
                i32::try_from(number).map_err(|_| format!("{number} has more than 31 bits"))
            };
            let numbers: Result<Vec<i32>, String> = numbers.into_iter().map(short).collect();
            Tensor::from_data(&input.shape, numbers?).into()
        }
        InputNumbers::Real(numbers) => Tensor::from_data(&input.shape, numbers).into(),
    })
}
