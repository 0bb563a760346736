"""The network of the page-quality model: frozen word vectors, pooled three ways, and a small head.

A text is represented by averages over its tokens: of their vectors, of the squares of their vectors, and of
the products of neighbouring vectors, which know a little of the order of the words. Few dimensions: more of
them fit one site better and another site worse. Nothing of this is trained on the labels, so a text needs to
be pooled only once, and only the head is trained.

The same computation is written twice, for PyTorch and as an ONNX graph; `parity.py` compares them.
"""

from dataclasses import dataclass

import numpy
import torch
from onnx import TensorProto
from torch import Tensor, nn

from onnx_graph import Graph
from parity import Feeds
from random_tokenizers import BERT_SPECIAL

# Standardised features are cut at so many standard deviations: a page unlike all that the head was trained
# on must not be scored by how far out it is.
CLIP = 3.0
# The end of a slice that goes to the last element.
TO_THE_END = 2**31 - 1
UNKNOWN = BERT_SPECIAL.index("[UNK]")


@dataclass
class Shape:
    """Sizes of a network: dimensions that are averaged, those squared and multiplied, hidden units."""

    mean_dims: int = 48
    product_dims: int = 48
    hidden: int = 64

    @property
    def features(self) -> int:
        """Pooled features, all that the head is given."""
        return self.mean_dims + 2 * self.product_dims


def token_table(vectors: numpy.ndarray, shape: Shape) -> numpy.ndarray:
    """A row per token: its vector and a 1, or only 0s for [PAD], [CLS], [SEP] and [MASK]."""
    table = numpy.ones((len(vectors), shape.mean_dims + 1), dtype=numpy.float32)
    table[:, :-1] = vectors[:, : shape.mean_dims]
    table[[number for number in range(len(BERT_SPECIAL)) if number != UNKNOWN]] = 0.0
    return table


class QualityNetwork(nn.Module):
    """Logits of pages."""

    def __init__(self, table: numpy.ndarray, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("table", torch.from_numpy(table))
        self.register_buffer("centre", torch.zeros(shape.features))
        self.register_buffer("scale", torch.ones(shape.features))
        self.head = nn.Sequential(nn.Linear(shape.features, shape.hidden), nn.GELU())
        self.out = nn.Linear(shape.hidden, 1)
        # Centre, scale and weight of the length of the text, which is added beside the head.
        self.register_buffer("length_line", torch.tensor([0.0, 1.0, 0.0]))

    def pool(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """[batch, features] of rows of ids; all 0 for a row without tokens."""
        rows = self.table[input_ids] * attention_mask.unsqueeze(2).float()
        sums = rows.sum(1)
        narrow = rows[:, :, : self.shape.product_dims]
        squares = (narrow * narrow).sum(1)
        products = (narrow[:, :-1] * narrow[:, 1:]).sum(1)
        count = sums[:, -1:].clamp(min=1.0)
        return torch.cat([sums[:, :-1], squares, products], 1) / count

    def standardised(self, pooled: Tensor) -> Tensor:
        """What the head is given: the features centred, scaled and cut."""
        return ((pooled - self.centre) * self.scale).clamp(-CLIP, CLIP)

    def content(self, pooled: Tensor) -> Tensor:
        """The part of the logits [batch, 1] that does not know the length of the text."""
        return self.out(self.head(self.standardised(pooled)))

    def length_term(self, text_length: Tensor) -> Tensor:
        """The part of the logits [batch, 1] that the length adds."""
        centre, scale, weight = self.length_line
        return ((text_length - centre) * scale).clamp(-CLIP, CLIP) * weight

    def forward(self, input_ids: Tensor, attention_mask: Tensor, text_length: Tensor) -> Tensor:
        """Logits [batch, 1]."""
        return self.content(self.pool(input_ids, attention_mask)) + self.length_term(text_length)

    def reference(self, feeds: Feeds) -> numpy.ndarray:
        """The logits for the inputs of a graph, for `parity.check_parity`."""
        with torch.no_grad():
            names = ("input_ids", "attention_mask", "text_length")
            return self(*(torch.from_numpy(feeds[name]) for name in names)).numpy()


def quality_graph(network: QualityNetwork) -> Graph:
    """The network as an ONNX graph with the inputs and the output of a sequence classifier."""
    graph = Graph("page-quality")
    shape = network.shape
    ids = graph.input("input_ids", "int64", ["batch", "length"])
    mask = graph.input("attention_mask", "int64", ["batch", "length"])
    length = graph.input("text_length", "float32", ["batch", 1])
    kept = graph.op("Unsqueeze", graph.op("Cast", mask, to=TensorProto.FLOAT), graph.integers(2))
    looked_up = graph.op("Gather", graph.weight("table", network.table.numpy()), ids, axis=0)
    rows = graph.op("Mul", looked_up, kept)
    sums = _summed(graph, rows)
    narrow = _slice(graph, rows, 0, shape.product_dims, 2)
    squares = _summed(graph, graph.op("Mul", narrow, narrow))
    neighbours = graph.op("Mul", _slice(graph, narrow, 0, -1, 1), _slice(graph, narrow, 1, TO_THE_END, 1))
    # The column after the vectors counts the tokens.
    count = graph.op("Max", _slice(graph, sums, shape.mean_dims, shape.mean_dims + 1, 1), graph.scalar(1.0))
    averages = graph.op(
        "Div",
        graph.op(
            "Concat",
            _slice(graph, sums, 0, shape.mean_dims, 1),
            squares,
            _summed(graph, neighbours),
            axis=1,
        ),
        count,
    )
    standard = _standardised(graph, averages, "features", network.centre, network.scale)
    hidden = graph.activation(graph.linear(standard, "hidden", *_numbers(network.head[0])), "gelu")
    content = graph.linear(hidden, "out", *_numbers(network.out))
    centre, scale, weight = network.length_line
    long = _standardised(graph, length, "length", centre[None], scale[None])
    added = graph.op("Mul", long, graph.weight("length.weight", weight[None].numpy()))
    graph.op("Add", content, added, output="logits")
    graph.output("logits", ["batch", 1])
    return graph


def _standardised(graph: Graph, x: str, name: str, centre: Tensor, scale: Tensor) -> str:
    centred = graph.op("Sub", x, graph.weight(f"{name}.centre", centre.numpy()))
    scaled = graph.op("Mul", centred, graph.weight(f"{name}.scale", scale.numpy()))
    return graph.op("Min", graph.op("Max", scaled, graph.scalar(-CLIP)), graph.scalar(CLIP))


def _summed(graph: Graph, x: str) -> str:
    """[batch, length, dim] summed over the length."""
    return graph.op("ReduceSum", x, graph.integers(1), keepdims=0)


def _slice(graph: Graph, x: str, start: int, end: int, axis: int) -> str:
    return graph.op("Slice", x, graph.integers(start), graph.integers(end), graph.integers(axis))


def _numbers(layer: nn.Linear) -> tuple[numpy.ndarray, numpy.ndarray]:
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()
