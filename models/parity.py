"""Checks that a finished graph computes what PyTorch computes.

Rows of random tokens and mixed lengths, from the shortest possible to the longest allowed, go through the
graph and through the reference in padded batches of different shapes; a difference anywhere shows a
baked-in size, a mask that leaks, or a wrong weight. ONNX Runtime is asked; what runs inside Prospect has no
Python package, and is held against the same scores by Prospect's own tests.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnxruntime

from model_directory import SEQUENCE_PAIR, ModelSettings
from model_rows import Row, padded_batch

Feeds = dict[str, numpy.ndarray]
ROW_SEED = 20250


class ParityError(Exception):
    """A graph whose output is not that of the reference."""


@dataclass
class Parity:
    """The largest absolute difference of an engine from PyTorch."""

    engine: str
    difference: float
    rows: int


def open_session(path: Path, threads: int = 0) -> onnxruntime.InferenceSession:
    """Opens a graph in ONNX Runtime; 0 threads leaves the number to it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Errors come as exceptions; what it warns of in valid graphs helps nobody here.
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run_session(session: onnxruntime.InferenceSession, feeds: Feeds) -> numpy.ndarray:
    """The first output, giving the graph those of `feeds` that it has as inputs.

    Raises ValueError for a graph with an input that the format does not know.
    """
    names = [one.name for one in session.get_inputs()]
    unknown = [name for name in names if name not in feeds]
    if unknown:
        raise ValueError(f"the graph has an input {unknown[0]}, known are {', '.join(feeds)}")
    return session.run(None, {name: feeds[name] for name in names})[0]


def check_parity(
    path: Path,
    settings: ModelSettings,
    vocabulary: int,
    reference: Callable[[Feeds], numpy.ndarray],
    tolerance: float,
) -> Parity:
    """Compares ONNX Runtime's output with `reference`, which gives what the graph should.

    Raises ParityError where the output differs by more than `tolerance` or is no finite number.
    """
    batches = [padded_batch(rows, settings.pad_id) for rows in random_batches(settings, vocabulary)]
    expected = [reference(feeds) for feeds in batches]
    if not all(numpy.isfinite(one).all() for one in expected):
        raise ParityError("PyTorch itself computes values that are not finite; the checkpoint is damaged")
    session = open_session(path)
    engine = f"ONNX Runtime {onnxruntime.__version__}"
    difference = max(
        largest_difference(run_session(session, feeds), right, feeds["attention_mask"])
        for feeds, right in zip(batches, expected, strict=True)
    )
    if not difference <= tolerance:
        raise ParityError(f"{engine} differs from PyTorch by {difference:.2g}, allowed is {tolerance:g}")
    return Parity(engine, difference, sum(len(one["input_ids"]) for one in batches))


def random_batches(settings: ModelSettings, vocabulary: int) -> list[list[Row]]:
    """A batch of 8 rows from shortest to longest, one of 4 short rows and one of a single row."""
    random = numpy.random.default_rng(ROW_SEED)
    longest = settings.max_tokens
    # A pair has at least its three special tokens.
    shortest = 3 if settings.kind == SEQUENCE_PAIR else 2
    mixed = [shortest, shortest + 1, longest // 8, longest // 4, longest // 2, longest - 1, longest, 7]
    batches = [mixed, [5, 9, shortest, 8], [longest // 3]]
    return [
        [
            _random_row(random, min(max(length, shortest), longest), settings.kind, vocabulary)
            for length in batch
        ]
        for batch in batches
    ]


def _random_row(random: numpy.random.Generator, length: int, kind: str, vocabulary: int) -> Row:
    ids = random.integers(0, vocabulary, length).tolist()
    second_part = int(random.integers(1, length)) if kind == SEQUENCE_PAIR else None
    return Row(ids=ids, second_part=second_part, whole_tokens=length)


def largest_difference(actual: numpy.ndarray, expected: numpy.ndarray, mask: numpy.ndarray) -> float:
    """Largest absolute difference, over real tokens only where there is a value for every token.

    Raises ParityError for a wrong shape or values that are not finite.
    """
    if actual.shape != expected.shape:
        raise ParityError(f"the graph gives shape {actual.shape}, PyTorch {expected.shape}")
    if expected.ndim == 3:
        actual, expected = actual[mask == 1], expected[mask == 1]
    if not numpy.isfinite(actual).all():
        raise ParityError("the graph gives values that are not finite")
    return float(numpy.abs(actual.astype(numpy.float64) - expected).max())
