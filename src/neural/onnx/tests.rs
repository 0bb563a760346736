//! Claims about reading an ONNX file.

use super::*;

/// Appends a number.
fn write_integer(message: &mut Vec<u8>, field: u64, value: u64) {
    append(message, field << 3);
    append(message, value);
}

/// Appends a message.
fn write_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    append(message, field << 3 | 2);
    append(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn append(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

fn message(parts: &[(u64, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    for (number, bytes) in parts {
        write_bytes(&mut message, *number, bytes);
    }
    message
}

fn value(name: &str, element: u64, sizes: &[Option<u64>]) -> Vec<u8> {
    let mut shape = Vec::new();
    for size in sizes {
        let mut dimension = Vec::new();
        match size {
            Some(size) => write_integer(&mut dimension, DIMENSION_VALUE, *size),
            None => write_bytes(&mut dimension, 2, b"batch"),
        }
        write_bytes(&mut shape, SHAPE_DIMENSION, &dimension);
    }
    let mut tensor = Vec::new();
    write_integer(&mut tensor, TENSOR_ELEMENT, element);
    write_bytes(&mut tensor, TENSOR_SHAPE, &shape);
    let kind = message(&[(TYPE_TENSOR, &tensor)]);
    message(&[(VALUE_NAME, name.as_bytes()), (VALUE_TYPE, &kind)])
}

fn model() -> Vec<u8> {
    let mut table = Vec::new();
    write_integer(&mut table, INITIALIZER_DIMENSION, 300);
    write_integer(&mut table, INITIALIZER_DIMENSION, 64);
    write_bytes(&mut table, INITIALIZER_NAME, b"words");
    let lookup =
        message(&[(NODE_INPUT, b"words"), (NODE_INPUT, b"input_ids"), (NODE_OPERATOR, b"Gather")]);
    let graph = message(&[
        (GRAPH_NODE, &lookup),
        (GRAPH_INITIALIZER, &table),
        (GRAPH_INPUT, &value("input_ids", 7, &[None, None])),
        (GRAPH_INPUT, &value("text_length", 1, &[None, Some(1)])),
        (GRAPH_INPUT, &value("words", 1, &[Some(300), Some(64)])),
        (GRAPH_OUTPUT, &value("logits", 1, &[None, Some(2)])),
    ]);
    let mut model = Vec::new();
    write_integer(&mut model, 1, 8);
    write_bytes(&mut model, MODEL_GRAPH, &graph);
    model
}

fn port(name: &str, element: u64, sizes: &[Option<u64>]) -> Port {
    Port { name: name.to_owned(), element, shape: Some(sizes.to_vec()) }
}

#[test]
fn inputs_outputs_and_vocabulary_are_read() {
    let graph = graph(&model()).unwrap();
    assert_eq!(
        graph.inputs,
        [port("input_ids", 7, &[None, None]), port("text_length", 1, &[None, Some(1)])]
    );
    assert_eq!(graph.outputs, [port("logits", 1, &[None, Some(2)])]);
    assert_eq!(graph.vocabulary, Some(300));
}

#[test]
fn what_is_cut_or_foreign_is_refused() {
    let model = model();
    for end in 0..model.len() {
        assert!(graph(&model[..end]).is_err(), "{end}");
    }
    // A text behind the graph that claims to be longer than the file.
    assert!(graph(&[&model[..], &[0x12, 0xff, 0xff, 0x03]].concat()).is_err());
    assert!(graph(&[&model[..], &model].concat()).is_err());
    assert!(graph(b"<!DOCTYPE html><html>").is_err());
    assert!(graph(b"version https://git-lfs.github.com/spec/v1\n").is_err());
}
