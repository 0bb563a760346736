//! What a graph must take and give, held against its file before anything runs it.

use super::NeuralError;
use super::onnx::{self, OnnxGraph, Port};
use super::source::ModelFile;

const FLOAT: u64 = 1;
const INTEGER: u64 = 7;
const SEE: &str = "see models/README.md";

/// Inputs and outputs of a kind of model.
pub(crate) struct Signature {
    /// May have the input `text_length`.
    pub(crate) text_length: bool,
    /// Its output with the number of sizes it has, batch and length included.
    pub(crate) output: (&'static str, usize),
    /// The highest id that the tokenizer gives.
    pub(crate) highest_id: i64,
}

/// What of its signature a graph has.
pub(crate) struct Checked {
    pub(crate) inputs: Vec<String>,
    pub(crate) output: &'static str,
}

impl Signature {
    /// Refuses a graph that does not fit.
    pub(crate) fn check(&self, model: &ModelFile) -> Result<Checked, NeuralError> {
        let refuse = |problem| NeuralError::Model { file: model.name.clone(), problem };
        let graph = onnx::graph(&model.bytes).map_err(|_| refuse(not_onnx(&model.bytes)))?;
        self.check_inputs(&graph).map_err(refuse)?;
        self.check_output(&graph).map_err(refuse)?;
        if let Some(rows) = graph.vocabulary
            && self.highest_id >= rows as i64
        {
            let highest = self.highest_id;
            return Err(refuse(format!(
                "its table has {rows} tokens; expected more than {highest}, the highest id of tokenizer.json"
            )));
        }
        let inputs = graph.inputs.into_iter().map(|input| input.name).collect();
        Ok(Checked { inputs, output: self.output.0 })
    }

    fn check_inputs(&self, graph: &OnnxGraph) -> Result<(), String> {
        for name in ["input_ids", "attention_mask"] {
            if graph.inputs.iter().all(|input| input.name != name) {
                let found = names(&graph.inputs);
                return Err(format!("expected an input {name}; found {found} ({SEE})"));
            }
        }
        graph.inputs.iter().try_for_each(|input| self.check_input(input))
    }

    fn check_input(&self, input: &Port) -> Result<(), String> {
        let name = input.name.as_str();
        let (element, second) = match name {
            "input_ids" | "attention_mask" | "token_type_ids" => (INTEGER, None),
            "text_length" if self.text_length => (FLOAT, Some(1)),
            _ => {
                let length = if self.text_length { ", text_length" } else { "" };
                return Err(format!(
                    "expected the inputs input_ids, attention_mask, token_type_ids{length} and no \
                     more; found {name} ({SEE})"
                ));
            }
        };
        let fits = |shape: &Vec<Option<u64>>| matches!(shape[..], [None, size] if size.is_none() || size == second);
        if input.element == element && input.shape.as_ref().is_none_or(fits) {
            return Ok(());
        }
        let expected = tensor(element, Some(&[None, second]));
        let found = describe(input);
        Err(format!("expected the input {name} to be {expected}; found {found} ({SEE})"))
    }

    fn check_output(&self, graph: &OnnxGraph) -> Result<(), String> {
        let (name, rank) = self.output;
        let Some(output) = graph.outputs.iter().find(|output| output.name == name) else {
            let found = names(&graph.outputs);
            return Err(format!("expected an output {name}; found {found} ({SEE})"));
        };
        // A file need not say its outputs' shapes; then the probe finds out.
        let fits = |shape: &Vec<Option<u64>>| shape.len() == rank;
        if output.element == FLOAT && output.shape.as_ref().is_none_or(fits) {
            return Ok(());
        }
        let found = describe(output);
        Err(format!(
            "expected the output {name} to be float32 of {rank} sizes; found {found} ({SEE})"
        ))
    }
}

fn not_onnx(bytes: &[u8]) -> String {
    if bytes.starts_with(b"version https://git-lfs") {
        return "expected an ONNX model; found a pointer of Git LFS (git lfs pull brings the file)"
            .to_owned();
    }
    format!(
        "expected an ONNX model; found {} bytes of something else, or a part of one",
        bytes.len()
    )
}

fn names(ports: &[Port]) -> String {
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn describe(port: &Port) -> String {
    tensor(port.element, port.shape.as_deref())
}

fn tensor(element: u64, shape: Option<&[Option<u64>]>) -> String {
    let element = match element {
        FLOAT => "float32",
        INTEGER => "int64",
        6 => "int32",
        10 => "float16",
        11 => "float64",
        _ => "another type",
    };
    let Some(shape) = shape else { return element.to_owned() };
    let size = |size: &Option<u64>| size.map_or_else(|| "free".to_owned(), |size| size.to_string());
    let sizes: Vec<String> = shape.iter().map(size).collect();
    format!("{element} [{}]", sizes.join(", "))
}
