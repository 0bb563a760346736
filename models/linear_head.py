"""The linear head of a sentence-embedding model: read from what training left, written as head.json."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load_file


@dataclass
class LinearHead:
    """score = ln sigmoid(weights . embedding + bias)."""

    weights: numpy.ndarray
    bias: float

    def to_json(self) -> str:
        """The text of head.json."""
        return json.dumps({"weights": self.weights.tolist(), "bias": self.bias}) + "\n"

    def logits(self, embeddings: numpy.ndarray) -> numpy.ndarray:
        """[rows, dim] to [rows, 1], in float64."""
        return (embeddings @ self.weights + self.bias)[:, None]


def read_head(path: Path, dim: int) -> LinearHead:
    """Reads `weights` (dim numbers, or one row of them) and `bias` from .json, .npz or .safetensors.

    Raises ValueError, naming the file, for another format, missing parts or another dimension.
    """
    readers = {".json": _read_json, ".npz": _read_npz, ".safetensors": load_file}
    if path.suffix not in readers:
        raise ValueError(f"{path}: a head is read from {', '.join(readers)}")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    try:
        parts = readers[path.suffix](path)
        weights = numpy.asarray(parts["weights"], dtype=numpy.float64).reshape(-1)
        bias = numpy.asarray(parts["bias"], dtype=numpy.float64).reshape(-1)
    except KeyError as error:
        raise ValueError(f"{path}: there is no {error} in it; a head has weights and bias") from error
    except (ValueError, TypeError, OSError, SafetensorError) as error:
        raise ValueError(f"{path}: cannot be read as a head: {error}") from error
    if len(weights) != dim or len(bias) != 1:
        raise ValueError(
            f"{path}: the head has {len(weights)} weights and {len(bias)} biases, "
            f"the model needs {dim} weights and 1 bias"
        )
    if not (numpy.isfinite(weights).all() and numpy.isfinite(bias).all()):
        raise ValueError(f"{path}: the head holds numbers that are not finite")
    return LinearHead(weights, float(bias[0]))


def _read_json(path: Path) -> dict[str, object]:
    parts = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(parts, dict):
        raise ValueError("the file must hold one object")
    return parts


def _read_npz(path: Path) -> dict[str, numpy.ndarray]:
    with numpy.load(path, allow_pickle=False) as parts:
        return dict(parts)
