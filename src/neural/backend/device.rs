//! The GPU that an ONNX Runtime library runs graphs on, and whether it can.

use ort::environment::Environment;
use ort::ep::cuda::ConvAlgorithmSearch;
use ort::ep::{CUDA, ExecutionProvider, ExecutionProviderDispatch};
use ort::session::Session;
use ort::value::Tensor;

/// The product of a number with itself, as an ONNX file: what needs the driver, the libraries of CUDA
/// and code for this GPU, and nothing else.
const TRIAL: &[u8] = b"\x08\x08\x3a\x38\x0a\x11\x0a\x01x\x0a\x01x\x12\x01y\x22\x06MatMul\x12\x01t\
    \x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x00\x0a\x00\
    \x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x00\x0a\x00\x42\x04\x0a\x00\x10\x0d";

/// What makes a session run on a GPU, by its number. Products keep all 32 bits: with 19 of them (TF32) large models
/// are twice as fast, but scores move by 1e-3 instead of 1e-6. Convolutions are not chosen by timing them.
pub(crate) fn provider(number: u32) -> ExecutionProviderDispatch {
    let number = i32::try_from(number).unwrap_or(i32::MAX);
    CUDA::default()
        .with_device_id(number)
        .with_tf32(false)
        .with_conv_algorithm_search(ConvAlgorithmSearch::Default)
        .build()
        .error_on_failure()
}

/// Runs something on a GPU with the library that is open.
///
/// # Errors
/// What is missing, or what the library says.
pub(crate) fn check(number: u32, environment: &Environment) -> Result<(), String> {
    if !CUDA::is_available().map_err(|error| plain(&error.to_string()))? {
        return Err("this library was built without CUDA".to_owned());
    }
    let square = trial(number, environment).map_err(|error| plain(&error.to_string()))?;
    if square == 9.0 { Ok(()) } else { Err(format!("it takes 3 times 3 for {square}")) }
}

fn trial(number: u32, environment: &Environment) -> ort::Result<f32> {
    let builder = Session::builder(environment)?;
    let mut session =
        builder.with_execution_providers([provider(number)])?.commit_from_memory(TRIAL)?;
    let three = Tensor::from_array(([1_usize, 1], vec![3.0_f32]))?;
    let outputs = session.run(ort::inputs!["x" => three])?;
    let (_, values) = outputs["y"].try_extract_tensor::<f32>()?;
    Ok(values.first().copied().unwrap_or(f32::NAN))
}

/// What a message of the library says, without the place in its source: `FILE:LINE FUNCTION
/// [ONNXRuntimeError] : 1 : FAIL : what it says`.
pub(crate) fn plain(message: &str) -> String {
    let said = message
        .split_once("[ONNXRuntimeError]")
        .map_or(message, |(_, said)| said.splitn(4, " : ").nth(3).unwrap_or(said));
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_without_its_place() {
        let long = "/src/bridge.cc:2043 Provider& Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library \
                    a.so with error: libcublasLt.so.13 : no such file\n\n";
        let expected = "Failed to load library a.so with error: libcublasLt.so.13 : no such file";
        assert_eq!(plain(long), expected);
        assert_eq!(plain("out of\n memory"), "out of memory");
    }
}
