"""The BERT family as a graph: sequence classifiers, encoders of sentences, cross-encoders.

Where only the vector of the first token is asked for, the last layer computes queries and everything
after them for that token alone; keys and values still come from all tokens. Where the model is used on
single texts, the embedding of token type 0 is added to the positions beforehand and the graph has no
`token_type_ids`.
"""

import numpy
import onnx

from bert_weights import Dense, Encoder, HeadLayer, Layer, Norm
from onnx_graph import Graph


def classifier_graph(
    encoder: Encoder, head: list[HeadLayer], max_tokens: int, with_token_types: bool
) -> onnx.ModelProto:
    """Logits [batch, n] from the first token; with token types for pairs, without for single texts.

    Raises ValueError where the position table is shorter than `max_tokens`.
    """
    graph = Graph("sequence-pair" if with_token_types else "sequence-classifier")
    hidden, _ = _encode(graph, encoder, max_tokens, with_token_types, only_first_token=True)
    x = graph.op("Squeeze", hidden, graph.integers(1))
    for number, (dense, activation) in enumerate(head):
        last = number + 1 == len(head)
        x = _dense(graph, x, f"head.{number}", dense, output="logits" if last else None)
        if activation is not None:
            x = graph.activation(x, activation)
    graph.output("logits", ["batch", len(head[-1][0].bias)])
    return graph.build()


def embedding_graph(encoder: Encoder, max_tokens: int, pooling: str | None) -> onnx.ModelProto:
    """`last_hidden_state` where `pooling` is None, else `embedding`, pooled inside by "mean" or "cls".

    Raises ValueError where the position table is shorter than `max_tokens`.
    """
    graph = Graph("sentence-embedding")
    dim = len(encoder.layers[-1].narrow.bias)
    hidden, attention_mask = _encode(
        graph, encoder, max_tokens, with_token_types=False, only_first_token=pooling == "cls"
    )
    if pooling is None:
        graph.op("Identity", hidden, output="last_hidden_state")
        graph.output("last_hidden_state", ["batch", "length", dim])
        return graph.build()
    if pooling == "cls":
        graph.op("Squeeze", hidden, graph.integers(1), output="embedding")
    else:
        kept = graph.op("Cast", attention_mask, to=onnx.TensorProto.FLOAT)
        kept = graph.op("Unsqueeze", kept, graph.integers(2))
        total = graph.op("ReduceSum", graph.op("Mul", hidden, kept), graph.integers(1), keepdims=0)
        count = graph.op("ReduceSum", kept, graph.integers(1), keepdims=0)
        graph.op("Div", total, count, output="embedding")
    graph.output("embedding", ["batch", dim])
    return graph.build()


def _encode(
    graph: Graph, encoder: Encoder, max_tokens: int, with_token_types: bool, only_first_token: bool
) -> tuple[str, str]:
    """Hidden states after the last layer, of all tokens or [batch, 1, dim], and the attention mask."""
    if max_tokens > len(encoder.positions):
        have = len(encoder.positions)
        raise ValueError(f"max_tokens is {max_tokens}, but the model has positions for {have} tokens")
    input_ids = graph.input("input_ids", "int64", ["batch", "length"])
    attention_mask = graph.input("attention_mask", "int64", ["batch", "length"])
    x = _embed(graph, encoder, input_ids, max_tokens, with_token_types)
    mask = graph.additive_mask(attention_mask, [1, 2])
    for number, layer in enumerate(encoder.layers):
        last = number + 1 == len(encoder.layers)
        x = _layer(graph, encoder, layer, number, x, mask, only_first_token and last)
    return x, attention_mask


def _embed(graph: Graph, encoder: Encoder, input_ids: str, max_tokens: int, with_token_types: bool) -> str:
    positions = encoder.positions[:max_tokens]
    if encoder.token_types is not None and not with_token_types:
        positions = positions + encoder.token_types[0]
    x = graph.op("Gather", graph.weight("words", encoder.words), input_ids, axis=0)
    if with_token_types:
        token_type_ids = graph.input("token_type_ids", "int64", ["batch", "length"])
        table = graph.weight("token_types", encoder.token_types)
        x = graph.op("Add", x, graph.op("Gather", table, token_type_ids, axis=0))
    used = graph.op(
        "Slice",
        graph.weight("positions", positions),
        graph.integers(0),
        graph.length(input_ids),
        graph.integers(0),
    )
    x = _norm(graph, graph.op("Add", x, used), "embedding_norm", encoder.embedding_norm)
    if encoder.projection is not None:
        x = _dense(graph, x, "projection", encoder.projection)
    return x


def _layer(
    graph: Graph, encoder: Encoder, layer: Layer, number: int, x: str, mask: str, only_first_token: bool
) -> str:
    size = len(layer.query.bias) // encoder.heads
    name = f"layer.{number}"
    # Scaling the query's weights scales the scores, and saves a pass over them.
    scale = numpy.float32(size**-0.5)
    scaled = Dense(layer.query.weight * scale, layer.query.bias * scale)
    key = _dense(graph, x, f"{name}.key", layer.key)
    value = _dense(graph, x, f"{name}.value", layer.value)
    if only_first_token:
        x = graph.first_token(x)
    query = _dense(graph, x, f"{name}.query", scaled)
    mixed = graph.attention(query, key, value, mask, encoder.heads, size)
    mixed = _dense(graph, mixed, f"{name}.mixed", layer.mixed)
    x = _norm(graph, graph.op("Add", x, mixed), f"{name}.attention_norm", layer.attention_norm)
    inner = graph.activation(_dense(graph, x, f"{name}.widen", layer.widen), encoder.activation)
    inner = _dense(graph, inner, f"{name}.narrow", layer.narrow)
    return _norm(graph, graph.op("Add", x, inner), f"{name}.output_norm", layer.output_norm)


def _dense(graph: Graph, x: str, name: str, dense: Dense, output: str | None = None) -> str:
    return graph.linear(x, name, dense.weight, dense.bias, output)


def _norm(graph: Graph, x: str, name: str, norm: Norm) -> str:
    weight = graph.weight(f"{name}.weight", norm.weight)
    bias = graph.weight(f"{name}.bias", norm.bias)
    return graph.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=norm.epsilon)
