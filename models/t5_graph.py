"""The T5 family (v1.0 with ReLU, v1.1 with gated GELU) as one graph: encoder, one decoder step, two logits.

Three things make it smaller and faster than a general T5 export, none of which changes a logit by more
than rounding:

- Of the output layer only the rows of `true` and `false` are kept.
- The decoder runs for one step. Its self-attention then has a single key, whose softmax weight is 1, so
  it reduces to the value and output projections; the relative bias of the decoder plays no part.
- The cross-attention has a single query. `(q Wk) . x` equals `q . (x Wk)`, so the query is taken through
  the key weights once, instead of every input token in every decoder layer; likewise for the values.

The relative position bias depends only on the offset between two positions. The bucket of every offset
up to the largest length is worked out here, with integers, and the graph looks the bias up by offset.
"""

from dataclasses import dataclass

import numpy
import onnx
import torch
from transformers import T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Attention

from onnx_graph import ACTIVATIONS, Graph


@dataclass
class T5Shape:
    """What the graph needs of a T5 configuration."""

    heads: int
    head_size: int
    encoder_layers: int
    decoder_layers: int
    epsilon: float
    activation: str
    gated: bool


def t5_graph(
    model: T5ForConditionalGeneration, true_id: int, false_id: int, max_tokens: int
) -> onnx.ModelProto:
    """Builds the graph; rows longer than `max_tokens` fail in it with a shape error.

    Raises ValueError for an activation that is not known.
    """
    config = model.config
    if config.dense_act_fn not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"activation {config.dense_act_fn} is not supported; known are {known}")
    shape = T5Shape(
        heads=config.num_heads,
        head_size=config.d_kv,
        encoder_layers=config.num_layers,
        decoder_layers=config.num_decoder_layers,
        epsilon=config.layer_norm_epsilon,
        activation=config.dense_act_fn,
        gated=config.is_gated_act,
    )
    weights = {name: tensor.float().numpy() for name, tensor in model.state_dict().items()}
    graph = Graph("t5-true-false")
    input_ids = graph.input("input_ids", "int64", ["batch", "length"])
    attention_mask = graph.input("attention_mask", "int64", ["batch", "length"])
    offsets = offset_bias(model, max_tokens)
    encoded = _encoder(graph, shape, weights, input_ids, attention_mask, offsets)
    start = weights["shared.weight"][config.decoder_start_token_id].reshape(1, 1, -1)
    decoded = _decoder(graph, shape, weights, encoded, attention_mask, start)
    answers = weights["lm_head.weight"][[true_id, false_id]]
    if config.scale_decoder_outputs:
        answers = answers * config.d_model**-0.5
    graph.linear(graph.op("Squeeze", decoded, graph.integers(1)), "answers", answers, output="logits")
    graph.output("logits", ["batch", 2])
    return graph.build()


def offset_bias(model: T5ForConditionalGeneration, max_tokens: int) -> numpy.ndarray:
    """The encoder's attention bias, [heads, 2 * max_tokens - 1]; column 0 is offset -(max_tokens - 1)."""
    offsets = torch.arange(-(max_tokens - 1), max_tokens)
    # The bucket boundaries come from float logarithms; taking them from the library that trained the
    # weights keeps an offset on a boundary in the bucket it was trained in.
    buckets = T5Attention._relative_position_bucket(
        offsets,
        bidirectional=True,
        num_buckets=model.config.relative_attention_num_buckets,
        max_distance=model.config.relative_attention_max_distance,
    )
    table = model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    return table(buckets).detach().float().numpy().T


def _root_mean_square_norm(graph: Graph, x: str, name: str, weight: numpy.ndarray, epsilon: float) -> str:
    mean = graph.op("ReduceMean", graph.op("Mul", x, x), axes=[-1], keepdims=1)
    size = graph.op("Sqrt", graph.op("Add", mean, graph.scalar(epsilon)))
    return graph.op("Mul", graph.op("Div", x, size), graph.weight(name, weight))


def _feed_forward(graph: Graph, shape: T5Shape, weights: dict[str, numpy.ndarray], x: str, layer: str) -> str:
    norm = f"{layer}.layer_norm.weight"
    normed = _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)
    dense = f"{layer}.DenseReluDense"

    def project(of: str, name: str) -> str:
        return graph.linear(of, f"{dense}.{name}", weights[f"{dense}.{name}.weight"])

    if shape.gated:
        gate = graph.activation(project(normed, "wi_0"), shape.activation)
        inner = graph.op("Mul", gate, project(normed, "wi_1"))
    else:
        inner = graph.activation(project(normed, "wi"), shape.activation)
    return graph.op("Add", x, project(inner, "wo"))


def _encoder_bias(graph: Graph, input_ids: str, attention_mask: str, offsets: numpy.ndarray) -> str:
    """Relative position bias plus mask, [batch, heads, length, length]; all layers share it."""
    max_tokens = (offsets.shape[1] + 1) // 2
    positions = graph.op(
        "Slice",
        graph.weight("positions", numpy.arange(max_tokens)),
        graph.integers(0),
        graph.length(input_ids),
        graph.integers(0),
    )
    keys = graph.op("Unsqueeze", positions, graph.integers(0))
    queries = graph.op("Unsqueeze", positions, graph.integers(1))
    columns = graph.op("Add", graph.op("Sub", keys, queries), graph.integers(max_tokens - 1))
    # Heads come first in the table and not by a transpose here, after which a runtime may run every
    # softmax over numbers that do not lie side by side.
    bias = graph.op("Gather", graph.weight("encoder.offset_bias", offsets), columns, axis=1)
    bias = graph.op("Unsqueeze", bias, graph.integers(0))
    return graph.op("Add", bias, graph.additive_mask(attention_mask, [1, 2]))


def _encoder(
    graph: Graph,
    shape: T5Shape,
    weights: dict[str, numpy.ndarray],
    input_ids: str,
    attention_mask: str,
    offsets: numpy.ndarray,
) -> str:
    bias = _encoder_bias(graph, input_ids, attention_mask, offsets)
    x = graph.op("Gather", graph.weight("shared.weight", weights["shared.weight"]), input_ids, axis=0)
    for number in range(shape.encoder_layers):
        block = f"encoder.block.{number}.layer"
        norm = f"{block}.0.layer_norm.weight"
        normed = _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)
        name = f"{block}.0.SelfAttention"
        query, key, value = (
            graph.linear(normed, f"{name}.{part}", weights[f"{name}.{part}.weight"]) for part in "qkv"
        )
        mixed = graph.attention(query, key, value, bias, shape.heads, shape.head_size)
        x = graph.op("Add", x, graph.linear(mixed, f"{name}.o", weights[f"{name}.o.weight"]))
        x = _feed_forward(graph, shape, weights, x, f"{block}.1")
    norm = "encoder.final_layer_norm.weight"
    return _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)


def _decoder(
    graph: Graph,
    shape: T5Shape,
    weights: dict[str, numpy.ndarray],
    encoded: str,
    attention_mask: str,
    start: numpy.ndarray,
) -> str:
    """One step from the start token, [batch, 1, dim]; `start` is its embedding, [1, 1, dim]."""
    by_token = graph.op("Transpose", encoded, perm=[0, 2, 1])
    mask = graph.additive_mask(attention_mask, [1])
    x = graph.weight("decoder.start", start)
    for number in range(shape.decoder_layers):
        block = f"decoder.block.{number}.layer"
        norm = f"{block}.0.layer_norm.weight"
        normed = _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)
        name = f"{block}.0.SelfAttention"
        value = graph.linear(normed, f"{name}.v", weights[f"{name}.v.weight"])
        x = graph.op("Add", x, graph.linear(value, f"{name}.o", weights[f"{name}.o.weight"]))
        norm = f"{block}.1.layer_norm.weight"
        normed = _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)
        name = f"{block}.1.EncDecAttention"
        mixed = _cross_attention(graph, shape, weights, name, normed, encoded, by_token, mask)
        x = graph.op("Add", x, graph.linear(mixed, f"{name}.o", weights[f"{name}.o.weight"]))
        x = _feed_forward(graph, shape, weights, x, f"{block}.2")
    norm = "decoder.final_layer_norm.weight"
    return _root_mean_square_norm(graph, x, norm, weights[norm], shape.epsilon)


def _cross_attention(
    graph: Graph,
    shape: T5Shape,
    weights: dict[str, numpy.ndarray],
    name: str,
    x: str,
    encoded: str,
    by_token: str,
    mask: str,
) -> str:
    heads, size = shape.heads, shape.head_size
    dim = weights[f"{name}.k.weight"].shape[1]
    query = graph.linear(x, f"{name}.q", weights[f"{name}.q.weight"])
    query = graph.op("Reshape", query, graph.integers(0, heads, 1, size))
    keys = graph.weight(f"{name}.k.weight", weights[f"{name}.k.weight"].reshape(1, heads, size, dim))
    query = graph.op("Reshape", graph.op("MatMul", query, keys), graph.integers(0, heads, dim))
    scores = graph.op("Add", graph.op("MatMul", query, by_token), mask)
    mixed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), encoded)
    mixed = graph.op("Reshape", mixed, graph.integers(0, heads, 1, dim))
    values = weights[f"{name}.v.weight"].reshape(1, heads, size, dim).transpose(0, 1, 3, 2)
    mixed = graph.op("MatMul", mixed, graph.weight(f"{name}.v.weight", values))
    return graph.op("Reshape", mixed, graph.integers(0, 1, heads * size))
