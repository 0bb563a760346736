"""Reads a BERT-family model of transformers into one plain structure of weights.

BERT, ELECTRA, DistilBERT, RoBERTa and XLM-RoBERTa compute the same encoder under different parameter
names. What differs besides names is kept in the structure: ELECTRA's projection from a smaller embedding,
DistilBERT's missing token types, RoBERTa's shifted positions, and the layers of the classification head.
MiniLM models are BERT or XLM-RoBERTa by their configuration.
"""

from dataclasses import dataclass

import numpy
from transformers import PreTrainedModel

from onnx_graph import ACTIVATIONS


@dataclass
class Dense:
    """A linear layer: `weight` [out, in], `bias` [out]."""

    weight: numpy.ndarray
    bias: numpy.ndarray


@dataclass
class Norm:
    """A layer normalisation."""

    weight: numpy.ndarray
    bias: numpy.ndarray
    epsilon: float


@dataclass
class Layer:
    """One transformer layer, normalised after each of its two sums."""

    query: Dense
    key: Dense
    value: Dense
    mixed: Dense
    attention_norm: Norm
    widen: Dense
    narrow: Dense
    output_norm: Norm


@dataclass
class Encoder:
    """Embeddings and layers. `positions` starts at the row of a text's first token."""

    words: numpy.ndarray
    positions: numpy.ndarray
    token_types: numpy.ndarray | None
    embedding_norm: Norm
    projection: Dense | None
    layers: list[Layer]
    heads: int
    activation: str


# One layer of a classification head: a linear layer, then an activation function or none.
HeadLayer = tuple[Dense, str | None]


class _Names:
    """The state of a model, read by dotted name below a prefix."""

    def __init__(self, model: PreTrainedModel, prefix: str, epsilon: float) -> None:
        self.tensors = {name: tensor.float().numpy() for name, tensor in model.state_dict().items()}
        self.prefix = prefix
        self.epsilon = epsilon

    def table(self, name: str) -> numpy.ndarray:
        return self.tensors[f"{self.prefix}{name}.weight"]

    def has(self, name: str) -> bool:
        return f"{self.prefix}{name}.weight" in self.tensors

    def dense(self, name: str) -> Dense:
        return Dense(self.table(name), self.tensors[f"{self.prefix}{name}.bias"])

    def norm(self, name: str) -> Norm:
        return Norm(self.table(name), self.tensors[f"{self.prefix}{name}.bias"], self.epsilon)


BERT_LIKE = ("bert", "electra", "roberta", "xlm-roberta")
SUPPORTED = (*BERT_LIKE, "distilbert")


def read_encoder(model: PreTrainedModel) -> Encoder:
    """The encoder of `model`, with or without a head on top.

    Raises ValueError, naming what is not supported, for an architecture this module cannot read.
    """
    config = model.config
    if config.model_type not in SUPPORTED:
        known = ", ".join(SUPPORTED)
        raise ValueError(f"architecture {config.model_type} is not supported; known are {known}")
    positions = getattr(config, "position_embedding_type", "absolute")
    if positions != "absolute":
        raise ValueError(f"position embeddings of type {positions} are not supported, only absolute")
    if getattr(config, "is_decoder", False):
        raise ValueError("the checkpoint is a decoder (is_decoder), which sees no later tokens")
    activation = config.activation if config.model_type == "distilbert" else config.hidden_act
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"activation {activation} is not supported; known are {known}")
    # A bare encoder has no prefix; under a head its parameters stand below the architecture's name.
    prefix = f"{model.base_model_prefix}." if model.base_model is not model else ""
    epsilon = 1e-12 if config.model_type == "distilbert" else config.layer_norm_eps
    names = _Names(model, prefix, epsilon)
    if config.model_type == "distilbert":
        layers = [_distilbert_layer(names, number) for number in range(config.n_layers)]
        heads = config.n_heads
    else:
        layers = [_bert_layer(names, number) for number in range(config.num_hidden_layers)]
        heads = config.num_attention_heads
    return Encoder(
        words=names.table("embeddings.word_embeddings"),
        positions=names.table("embeddings.position_embeddings")[_first_position(config) :],
        token_types=(
            names.table("embeddings.token_type_embeddings")
            if names.has("embeddings.token_type_embeddings")
            else None
        ),
        embedding_norm=names.norm("embeddings.LayerNorm"),
        projection=names.dense("embeddings_project") if names.has("embeddings_project") else None,
        layers=layers,
        heads=heads,
        activation=activation,
    )


def read_head(model: PreTrainedModel) -> list[HeadLayer]:
    """The layers from the first token's vector to the logits, as the classes of transformers have them."""
    kind = model.config.model_type
    names = _Names(model, "", 0.0)
    if kind == "bert":
        return [(names.dense("bert.pooler.dense"), "tanh"), (names.dense("classifier"), None)]
    if kind == "distilbert":
        return [(names.dense("pre_classifier"), "relu"), (names.dense("classifier"), None)]
    between = "gelu" if kind == "electra" else "tanh"
    return [(names.dense("classifier.dense"), between), (names.dense("classifier.out_proj"), None)]


def _first_position(config: object) -> int:
    # RoBERTa counts positions from one past the padding id.
    if config.model_type in ("roberta", "xlm-roberta"):
        return config.pad_token_id + 1
    return 0


def _bert_layer(names: _Names, number: int) -> Layer:
    layer = f"encoder.layer.{number}"
    return Layer(
        query=names.dense(f"{layer}.attention.self.query"),
        key=names.dense(f"{layer}.attention.self.key"),
        value=names.dense(f"{layer}.attention.self.value"),
        mixed=names.dense(f"{layer}.attention.output.dense"),
        attention_norm=names.norm(f"{layer}.attention.output.LayerNorm"),
        widen=names.dense(f"{layer}.intermediate.dense"),
        narrow=names.dense(f"{layer}.output.dense"),
        output_norm=names.norm(f"{layer}.output.LayerNorm"),
    )


def _distilbert_layer(names: _Names, number: int) -> Layer:
    layer = f"transformer.layer.{number}"
    return Layer(
        query=names.dense(f"{layer}.attention.q_lin"),
        key=names.dense(f"{layer}.attention.k_lin"),
        value=names.dense(f"{layer}.attention.v_lin"),
        mixed=names.dense(f"{layer}.attention.out_lin"),
        attention_norm=names.norm(f"{layer}.sa_layer_norm"),
        widen=names.dense(f"{layer}.ffn.lin1"),
        narrow=names.dense(f"{layer}.ffn.lin2"),
        output_norm=names.norm(f"{layer}.output_layer_norm"),
    )
