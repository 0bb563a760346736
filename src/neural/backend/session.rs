//! Graphs run by an ONNX Runtime library: a session for each thread, made when the thread first needs it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::{Tensor, TensorElementType};

use super::device;
use super::worker::{GraphInput, InputNumbers, WorkerOutput};

/// A graph for the library, with the session that was made of it.
pub(crate) struct LibrarySession {
    pub(crate) bytes: Arc<Cow<'static, [u8]>>,
    pub(crate) environment: Environment,
    /// The number of the GPU that it runs on; none: the processor.
    pub(crate) cuda: Option<u32>,
    /// A lock is only ever waited for while two calls overlap.
    pub(crate) session: Mutex<Option<Session>>,
}

impl LibrarySession {
    /// The output named `output` for some rows.
    ///
    /// # Errors
    /// What the library says, or the type of the output where it is not float32.
    pub(crate) fn run(
        &self,
        inputs: Vec<GraphInput<'_>>,
        output: &str,
    ) -> Result<WorkerOutput, String> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let session = match &mut *session {
            Some(session) => session,
            none => none.insert(self.build().map_err(|error| said(&error))?),
        };
        let inputs: ort::Result<Vec<_>> =
            inputs.into_iter().map(|input| Ok((input.name, value(input)?))).collect();
        let outputs = session.run(inputs.map_err(|error| said(&error))?);
        let outputs = outputs.map_err(|error| said(&error))?;
        let found = outputs.get(output);
        let found = found.ok_or_else(|| format!("the output {output} was not computed"))?;
        if found.dtype().tensor_type() != Some(TensorElementType::Float32) {
            return Err(format!("the output {output} is {}; expected float32", found.dtype()));
        }
        let (shape, values) = found.try_extract_tensor().map_err(|error| said(&error))?;
        let shape = shape.iter().map(|size| *size as usize).collect();
        Ok(WorkerOutput { shape, values: values.to_vec() })
    }

    fn build(&self) -> ort::Result<Session> {
        let builder = Session::builder(&self.environment)?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?;
        let mut builder = match self.cuda {
            Some(number) => builder.with_execution_providers([device::provider(number)])?,
            None => builder,
        };
        builder.commit_from_memory(&self.bytes)
    }
}

fn said(error: &ort::Error) -> String {
    device::plain(&error.to_string())
}

fn value(input: GraphInput<'_>) -> ort::Result<SessionInputValue<'static>> {
    Ok(match input.numbers {
        InputNumbers::Whole(numbers) => Tensor::from_array((input.shape, numbers))?.into(),
        InputNumbers::Real(numbers) => Tensor::from_array((input.shape, numbers))?.into(),
    })
}
