"""A small writer of ONNX graphs, shared by the T5 and the BERT-family exports.

The graphs are written operator by operator instead of being traced from PyTorch. A traced graph carries
mask helpers, shape arithmetic and baked-in sizes that differ between exporter versions and that small
runtimes refuse in places; written by hand, a graph is the same bytes on every run, and the only thing it
asks of the shape of its input is the length. `Reshape` copies batch and length with its `0` entries.

Not responsible for: what a model computes (`t5_graph.py`, `bert_graph.py`), nor for checking the result
(`parity.py`).
"""

import math
from collections.abc import Callable

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
# The IR version that belongs to opset 17; a newer one would shut out older runtimes for nothing.
IR_VERSION = 8
# Added to the attention score of a padding token. Large enough that its softmax weight is exactly 0 in
# float32, small enough that no sum with a score overflows.
MASKED = -1e9

ELEMENT_TYPES = {"int64": TensorProto.INT64, "float32": TensorProto.FLOAT}


class Graph:
    """Collects nodes, weights, inputs and outputs. Tensors are named by strings, as in ONNX."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, element_type: str, shape: list[int | str]) -> str:
        """Declares an input; a string in `shape` names a dimension that is free."""
        self.inputs.append(helper.make_tensor_value_info(name, ELEMENT_TYPES[element_type], shape))
        return name

    def output(self, name: str, shape: list[int | str]) -> None:
        """Declares the float32 tensor `name` as an output."""
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def weight(self, name: str, values: numpy.ndarray) -> str:
        """Adds a named weight, stored as float32 unless it holds integers."""
        if values.dtype.kind == "f":
            values = values.astype(numpy.float32)
        if name in self.initializers:
            raise ValueError(f"two weights are named {name}")
        self.initializers[name] = numpy_helper.from_array(numpy.ascontiguousarray(values), name)
        return name

    def scalar(self, value: float) -> str:
        """A float32 constant; equal ones share one tensor."""
        return self._shared(f"scalar_{value!r}", numpy.array(value, dtype=numpy.float32))

    def integers(self, *values: int) -> str:
        """A list of int64, for shapes, axes and slice ends; equal ones share one tensor."""
        name = "integers_" + "_".join(str(value) for value in values)
        return self._shared(name, numpy.array(values, dtype=numpy.int64))

    def _shared(self, name: str, values: numpy.ndarray) -> str:
        if name not in self.initializers:
            self.weight(name, values)
        return name

    def op(self, operator: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        """Appends a node with one output and returns the output's name."""
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def linear(
        self,
        x: str,
        name: str,
        weight: numpy.ndarray,
        bias: numpy.ndarray | None = None,
        output: str | None = None,
    ) -> str:
        """`x @ weight.T + bias`, with `weight` as PyTorch keeps it: [out, in]."""
        product_name = output if bias is None else None
        product = self.op("MatMul", x, self.weight(f"{name}.weight", weight.T), output=product_name)
        if bias is None:
            return product
        return self.op("Add", product, self.weight(f"{name}.bias", bias), output=output)

    def activation(self, x: str, kind: str) -> str:
        """Applies an activation function by the name that Hugging Face configurations give it."""
        return ACTIVATIONS[kind](self, x)

    def length(self, input_ids: str) -> str:
        """The second dimension of the input, as a list of one int64."""
        return self.op("Shape", input_ids, start=1, end=2)

    def additive_mask(self, attention_mask: str, axes: list[int]) -> str:
        """0 for a token, `MASKED` for padding, with dimensions of 1 inserted at `axes`."""
        kept = self.op("Cast", attention_mask, to=TensorProto.FLOAT)
        penalty = self.op("Mul", self.op("Sub", self.scalar(1.0), kept), self.scalar(MASKED))
        return self.op("Unsqueeze", penalty, self.integers(*axes))

    def first_token(self, x: str) -> str:
        """[batch, length, dim] to [batch, 1, dim]: the first token, which is there in every row."""
        return self.op("Slice", x, self.integers(0), self.integers(1), self.integers(1))

    def heads(self, x: str, count: int, size: int, order: list[int]) -> str:
        """Splits [batch, length, count * size] and brings the four dimensions into `order`."""
        split = self.op("Reshape", x, self.integers(0, 0, count, size))
        return self.op("Transpose", split, perm=order)

    def attention(self, query: str, key: str, value: str, mask: str, heads: int, size: int) -> str:
        """Softmax attention; `mask` is added to the scores, `query` is scaled already."""
        query = self.heads(query, heads, size, [0, 2, 1, 3])
        key = self.heads(key, heads, size, [0, 2, 3, 1])
        value = self.heads(value, heads, size, [0, 2, 1, 3])
        scores = self.op("Add", self.op("MatMul", query, key), mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        joined = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", joined, self.integers(0, 0, heads * size))

    def build(self) -> onnx.ModelProto:
        """The finished model, checked by ONNX's own checker."""
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, list(self.initializers.values())
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="prospect",
        )
        onnx.checker.check_model(model, full_check=True)
        return model


def _gelu_erf(graph: Graph, x: str) -> str:
    scaled = graph.op("Mul", x, graph.scalar(1 / math.sqrt(2)))
    cumulative = graph.op("Add", graph.op("Erf", scaled), graph.scalar(1.0))
    return graph.op("Mul", graph.op("Mul", x, cumulative), graph.scalar(0.5))


def _gelu_tanh(graph: Graph, x: str) -> str:
    cube = graph.op("Mul", graph.op("Mul", x, x), x)
    inner = graph.op("Add", x, graph.op("Mul", cube, graph.scalar(0.044715)))
    bend = graph.op("Tanh", graph.op("Mul", inner, graph.scalar(math.sqrt(2 / math.pi))))
    return graph.op("Mul", graph.op("Mul", x, graph.op("Add", bend, graph.scalar(1.0))), graph.scalar(0.5))


ACTIVATIONS: dict[str, Callable[[Graph, str], str]] = {
    "gelu": _gelu_erf,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": lambda graph, x: graph.op("Relu", x),
    "tanh": lambda graph, x: graph.op("Tanh", x),
    "silu": lambda graph, x: graph.op("Mul", x, graph.op("Sigmoid", x)),
}
