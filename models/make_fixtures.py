"""Makes the small models that the Rust tests run, with PyTorch's scores beside them.

    python models/make_fixtures.py tests/neural --text README.md --broken

Every model has random weights, a vocabulary from the given text, and limits so small that short texts
exceed them. `expected.json` in each directory says what a text's rows, logits and score are: rows by the
format's rules, logits by transformers from one row at a time without padding, scores in float64 from those
logits. Both engines of the Rust side must reproduce them to 1e-4. The same text and library versions make
the same bytes.
"""

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnx
import torch
import transformers
from onnx import helper, numpy_helper

import export_model
from expected_scores import write_expected
from model_directory import ModelSettings
from onnx_graph import Graph
from random_checkpoint import make_checkpoint, read_lines

MAX_TOKENS = 48
SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
SMALL_DISTILBERT = {"dim": 16, "n_heads": 2, "hidden_dim": 32}


@dataclass
class Fixture:
    """One model to make: a random checkpoint and the options of its export."""

    directory: str
    architecture: str
    command: str
    seed: int
    vocabulary: int = 350
    labels: int | None = None
    config: dict[str, object] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    # Where not 0, the graph has the extra input `text_length` and adds it to its logit, times this.
    length_weight: float = 0.0


PAIR_OPTIONS = "--passage-tokens 20 --stride-tokens 16 --max-passages 4 --max-tokens 96".split()
FIXTURES = [
    Fixture("t5", "t5", "t5", seed=11, vocabulary=500, config={"num_heads": 2}),
    Fixture("classifier-two-labels", "bert", "classifier", seed=12, labels=2, options=["--positive", "0"]),
    Fixture("classifier-one-label", "distilbert", "classifier", 13, labels=1, config=SMALL_DISTILBERT),
    Fixture("embedding-mean", "bert", "embedding", seed=14),
    Fixture("pair", "electra", "pair", seed=15, labels=2, options=PAIR_OPTIONS),
    Fixture(
        "classifier-text-length", "bert", "classifier", 16, 250, labels=1, config=SMALL, length_weight=-0.75
    ),
    Fixture("embedding-cls", "bert", "embedding", 17, 250, config=SMALL, options=["--pooling", "cls"]),
    Fixture(
        "embedding-in-graph",
        "bert",
        "embedding",
        18,
        250,
        config=SMALL,
        options=["--pool-in-graph", "--no-normalize"],
    ),
]


def main() -> int:
    """Runs the command line; returns its exit code."""
    parser = argparse.ArgumentParser(description="Makes the test models of the Rust side.")
    parser.add_argument("directory", type=Path, help="the folder to make them in")
    parser.add_argument(
        "--text", type=Path, required=True, nargs="+", help="text files the vocabularies come from"
    )
    parser.add_argument("--broken", action="store_true", help="make models that must be refused, too")
    options = parser.parse_args()
    missing = [str(path) for path in options.text if not path.is_file()]
    if missing:
        print(f"error: there is no file {', '.join(missing)}", file=sys.stderr)
        return 1
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    # Sums in PyTorch depend on the number of threads in their last digits.
    torch.set_num_threads(1)
    lines = read_lines(options.text)
    for fixture in FIXTURES:
        make_fixture(fixture, options.directory / fixture.directory, lines)
    if options.broken:
        make_broken(options.directory, options.directory / "classifier-two-labels" / "tokenizer.json")
    return 0


def make_fixture(fixture: Fixture, directory: Path, lines: list[str]) -> None:
    """Makes a checkpoint, exports it, and writes what PyTorch computes with it."""
    with tempfile.TemporaryDirectory() as made:
        checkpoint = Path(made) / "checkpoint"
        make_checkpoint(
            fixture.architecture,
            checkpoint,
            lines,
            vocabulary=fixture.vocabulary,
            labels=fixture.labels,
            seed=fixture.seed,
            overrides=fixture.config,
        )
        arguments = [fixture.command, str(checkpoint), str(directory), "--overwrite"]
        if "--max-tokens" not in fixture.options:
            arguments += ["--max-tokens", str(MAX_TOKENS)]
        if fixture.command == "embedding":
            arguments += ["--head", str(random_head(Path(made), checkpoint, fixture.seed))]
        measured = export_model.export(export_model.parse(arguments + fixture.options))
        if fixture.length_weight != 0:
            add_text_length(directory / "model.onnx", fixture.length_weight)
        write_expected(directory, str(checkpoint), fixture.length_weight)
    export_model.report(directory, measured)


def random_head(folder: Path, checkpoint: Path, seed: int) -> Path:
    """Writes a linear head that fits a checkpoint."""
    dim = json.loads((checkpoint / "config.json").read_text())["hidden_size"]
    weights = numpy.random.default_rng(seed).normal(0.0, 1.0, dim).round(4)
    path = folder / "head.json"
    path.write_text(json.dumps({"weights": weights.tolist(), "bias": -0.25}))
    return path


def add_text_length(path: Path, length_weight: float) -> None:
    """Gives a classifier of one logit the input `text_length`: logit + length_weight * text_length."""
    model = onnx.load(path)
    graph = model.graph
    for node in graph.node:
        # The node's name too: two nodes of one name are an error to some runtimes.
        node.name = "of_text" if node.name == "logits" else node.name
        node.output[:] = ["of_text" if name == "logits" else name for name in node.output]
    graph.input.append(helper.make_tensor_value_info("text_length", onnx.TensorProto.FLOAT, ["batch", 1]))
    weight = numpy.array([length_weight], dtype=numpy.float32)
    graph.initializer.append(numpy_helper.from_array(weight, "length_weight"))
    graph.node.append(helper.make_node("Mul", ["text_length", "length_weight"], ["of_length"]))
    graph.node.append(helper.make_node("Add", ["of_text", "of_length"], ["logits"]))
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def make_broken(directory: Path, tokenizer: Path) -> None:
    """Writes classifiers that a loader or the first batch must refuse, each with its reason as its name."""
    graphs = {
        "broken-input-name": broken_graph("ids", values_are_nan=False, shape=(-1, 2)),
        "broken-nan": broken_graph("input_ids", values_are_nan=True, shape=(-1, 2)),
        "broken-shape": broken_graph("input_ids", values_are_nan=False, shape=(-1, 2, 1)),
    }
    for name, model in graphs.items():
        target = directory / name
        target.mkdir(parents=True, exist_ok=True)
        (target / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
        settings = ModelSettings(name, "sequence-classifier", MAX_TOKENS, positive=1)
        (target / "model.toml").write_text(settings.to_toml(), encoding="utf-8")
        shutil.copyfile(tokenizer, target / "tokenizer.json")


def broken_graph(ids_name: str, values_are_nan: bool, shape: tuple[int, ...]) -> onnx.ModelProto:
    """Two logits a row from the number of its tokens; `shape` is that of the output, -1 the batch."""
    graph = Graph("broken")
    ids = graph.input(ids_name, "int64", ["batch", "length"])
    mask = graph.input("attention_mask", "int64", ["batch", "length"])
    kept = graph.op("Cast", graph.op("Mul", graph.op("Add", ids, mask), mask), to=onnx.TensorProto.FLOAT)
    count = graph.op("ReduceSum", kept, graph.integers(1), keepdims=1)
    if values_are_nan:
        # Every row has at least one token, so this is the root of a negative number.
        count = graph.op("Sqrt", graph.op("Sub", graph.scalar(0.0), count))
    both = graph.op("Concat", count, graph.op("Neg", count), axis=1)
    graph.op("Reshape", both, graph.integers(*shape), output="logits")
    graph.output("logits", ["batch", *shape[1:]])
    return graph.build()


if __name__ == "__main__":
    sys.exit(main())
