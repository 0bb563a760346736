//! As much of an ONNX file as loading needs: what goes into its graph and what comes out.
//!
//! A file is a Protocol Buffers message: fields of a number, a wire type and a payload, messages in
//! messages. The numbers are those of `onnx.proto3`, release 1.23. What runs the graph is in
//! `backend`; this reader is here so that both runtimes refuse a graph for the same reason in the
//! same words.

mod fields;

use fields::{Payload, WireField, fields};

// ModelProto, GraphProto, ValueInfoProto, TypeProto, TypeProto.Tensor, TensorShapeProto, Dimension.
const MODEL_GRAPH: u64 = 7;
const GRAPH_NODE: u64 = 1;
const GRAPH_INITIALIZER: u64 = 5;
const GRAPH_INPUT: u64 = 11;
const GRAPH_OUTPUT: u64 = 12;
const VALUE_NAME: u64 = 1;
const VALUE_TYPE: u64 = 2;
const TYPE_TENSOR: u64 = 1;
const TENSOR_ELEMENT: u64 = 1;
const TENSOR_SHAPE: u64 = 2;
const SHAPE_DIMENSION: u64 = 1;
const DIMENSION_VALUE: u64 = 1;
const INITIALIZER_DIMENSION: u64 = 1;
const INITIALIZER_NAME: u64 = 8;
const NODE_INPUT: u64 = 1;
const NODE_OPERATOR: u64 = 4;

/// The bytes are no ONNX model.
#[derive(Debug, PartialEq)]
pub(crate) struct NotOnnx;

/// An input or output of a graph.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// `TensorProto.DataType`: 1 is float32, 7 is int64.
    pub(crate) element: u64,
    /// Sizes, none where it is free; no list where the file gives none.
    pub(crate) shape: Option<Vec<Option<u64>>>,
}

/// What is known of a graph without running it.
#[derive(Debug, Default)]
pub(crate) struct OnnxGraph {
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    /// Rows of the table in which `input_ids` are looked up, where the graph looks them up directly.
    pub(crate) vocabulary: Option<u64>,
}

/// Reads the graph of an ONNX file.
pub(crate) fn graph(model: &[u8]) -> Result<OnnxGraph, NotOnnx> {
    let mut found = OnnxGraph::default();
    let (mut tables, mut lookups) = (Vec::new(), Vec::new());
    for field in fields(only_graph(model)?) {
        let WireField { number, payload } = field?;
        match (number, payload) {
            (GRAPH_INPUT, Payload::Bytes(value)) => found.inputs.push(port(value)?),
            (GRAPH_OUTPUT, Payload::Bytes(value)) => found.outputs.push(port(value)?),
            (GRAPH_INITIALIZER, Payload::Bytes(tensor)) => tables.push(table(tensor)?),
            (GRAPH_NODE, Payload::Bytes(node)) => lookups.extend(looked_up(node)?),
            _ => {}
        }
    }
    // Old files list their weights among the inputs.
    found.inputs.retain(|input| tables.iter().all(|(name, _)| *name != input.name));
    let rows = |name: &String| tables.iter().find(|(table, _)| table == name)?.1;
    found.vocabulary = lookups.iter().filter_map(rows).min();
    Ok(found)
}

/// The graph of a model of which all fields are whole.
fn only_graph(model: &[u8]) -> Result<&[u8], NotOnnx> {
    let mut graph = None;
    for field in fields(model) {
        let WireField { number, payload } = field?;
        if let (MODEL_GRAPH, Payload::Bytes(bytes)) = (number, payload)
            && graph.replace(bytes).is_some()
        {
            return Err(NotOnnx);
        }
    }
    graph.ok_or(NotOnnx)
}

fn port(value: &[u8]) -> Result<Port, NotOnnx> {
    let mut port = Port { name: text(value, VALUE_NAME)?, ..Port::default() };
    let Some(kind) = sub_message(value, VALUE_TYPE)? else { return Ok(port) };
    let Some(tensor) = sub_message(kind, TYPE_TENSOR)? else { return Ok(port) };
    port.element = number(tensor, TENSOR_ELEMENT)?.unwrap_or(0);
    if let Some(shape) = sub_message(tensor, TENSOR_SHAPE)? {
        let mut sizes = Vec::new();
        for field in fields(shape) {
            if let WireField { number: SHAPE_DIMENSION, payload: Payload::Bytes(dimension) } =
                field?
            {
                sizes.push(number(dimension, DIMENSION_VALUE)?);
            }
        }
        port.shape = Some(sizes);
    }
    Ok(port)
}

/// Name and first size of a weight.
fn table(tensor: &[u8]) -> Result<(String, Option<u64>), NotOnnx> {
    let mut rows = None;
    for field in fields(tensor) {
        let WireField { number, payload } = field?;
        rows = match (rows, number, payload) {
            (None, INITIALIZER_DIMENSION, Payload::Integer(size)) => Some(size),
            // Packed: all sizes in one field.
            (None, INITIALIZER_DIMENSION, Payload::Bytes(sizes)) => {
                fields::integer(sizes).map(|(size, _)| size)
            }
            (rows, _, _) => rows,
        };
    }
    Ok((text(tensor, INITIALIZER_NAME)?, rows))
}

/// The table of a node that looks up `input_ids`.
fn looked_up(node: &[u8]) -> Result<Option<String>, NotOnnx> {
    if text(node, NODE_OPERATOR)? != "Gather" {
        return Ok(None);
    }
    let mut inputs = Vec::new();
    for field in fields(node) {
        if let WireField { number: NODE_INPUT, payload: Payload::Bytes(name) } = field? {
            inputs.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    let is_lookup = inputs.get(1).is_some_and(|name| name == "input_ids");
    Ok(if is_lookup { inputs.into_iter().next() } else { None })
}

fn sub_message(message: &[u8], wanted: u64) -> Result<Option<&[u8]>, NotOnnx> {
    for field in fields(message) {
        let field = field?;
        if let Payload::Bytes(bytes) = field.payload
            && field.number == wanted
        {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

fn number(message: &[u8], wanted: u64) -> Result<Option<u64>, NotOnnx> {
    for field in fields(message) {
        let field = field?;
        if let Payload::Integer(value) = field.payload
            && field.number == wanted
        {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn text(message: &[u8], wanted: u64) -> Result<String, NotOnnx> {
    let bytes = sub_message(message, wanted)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests;
