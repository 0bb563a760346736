"""Exports Hugging Face checkpoints as Prospect model directories, and checks each against PyTorch.

    python models/export_model.py t5 path/to/qt5-small qt5-small.model
    python models/export_model.py classifier path/to/checkpoint quality.model --positive 1
    python models/export_model.py embedding path/to/encoder embedding.model
    python models/export_model.py pair path/to/cross-encoder pair.model

An export that does not reproduce PyTorch's outputs is refused, and nothing is written.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
import onnx
from tokenizers import Tokenizer
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from bert_graph import classifier_graph, embedding_graph
from bert_weights import BERT_LIKE, read_encoder
from bert_weights import read_head as read_classification_head
from checkpoints import CheckpointError, load_model, load_tokenizer, reference_output, true_and_false
from linear_head import read_head
from model_directory import (
    SENTENCE_EMBEDDING,
    SEQUENCE_CLASSIFIER,
    SEQUENCE_PAIR,
    T5_TRUE_FALSE,
    ModelSettings,
)
from model_rows import RowMaker, pooled
from parity import Feeds, Parity, ParityError, check_parity
from t5_graph import t5_graph

KIND_OF_COMMAND = {
    "t5": T5_TRUE_FALSE,
    "classifier": SEQUENCE_CLASSIFIER,
    "embedding": SENTENCE_EMBEDDING,
    "pair": SEQUENCE_PAIR,
}
DEFAULT_MAX_TOKENS = 512
# Texts on which tokenizer.json must agree with transformers.
TOKENIZER_TEXTS = (
    "",
    "A page.",
    "  spaces\tand\nlines ",
    "Ünïcödé — 网页 🙂",
    "x" * 300,
    "true false 1,234.5",
)


@dataclass
class Export:
    """A checkpoint on its way into a model directory."""

    settings: ModelSettings
    graph: onnx.ModelProto
    reference: Callable[[Feeds], numpy.ndarray]
    head_json: str | None = None


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns its exit code."""
    options = parse(arguments)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        measured = export(options)
    except (CheckpointError, ParityError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report(options.directory, measured)
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description="Exports a Hugging Face checkpoint as a Prospect model directory.",
        epilog="The directory is written only after ONNX Runtime gave PyTorch's outputs. "
        "models/README.md has complete examples.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="KIND")
    t5 = _command(commands, "t5", "QT5 and its like: T5 that answers true or false to a prompt")
    t5.add_argument(
        "--prompt", default="Document: {text} Relevant:", help="default: %(default)s ({text} is the page)"
    )
    t5.add_argument(
        "--truncation",
        choices=("text", "prompt"),
        default="text",
        help="what a long page loses: its own end, so that the prompt stays whole (text, the default), or "
        "the end of the prompt, as in the reference implementation of QT5 (prompt)",
    )
    classifier = _command(commands, "classifier", "a sequence classifier: BERT, ELECTRA, DistilBERT, RoBERTa")
    embedding = _command(commands, "embedding", "an encoder of sentences, with or without a linear head")
    embedding.add_argument(
        "--head",
        type=Path,
        help="weights and bias, for a model of quality: .json, .npz or .safetensors; default: none",
    )
    embedding.add_argument("--pooling", choices=("mean", "cls"), default="mean", help="default: %(default)s")
    embedding.add_argument(
        "--pool-in-graph",
        action="store_true",
        help="let the graph pool, so that it hands out one vector a text and not one a token",
    )
    embedding.add_argument(
        "--no-normalize", action="store_true", help="do not divide the vector by its length before the head"
    )
    pair = _command(commands, "pair", "a cross-encoder of query and passage: BERT, ELECTRA")
    pair.add_argument("--passage-tokens", type=int, default=225, help="of one window; default: %(default)s")
    pair.add_argument("--stride-tokens", type=int, default=200, help="between windows; default: %(default)s")
    pair.add_argument("--max-passages", type=int, default=8, help="windows of a page; default: %(default)s")
    for one in (classifier, pair):
        one.add_argument("--positive", type=int, help='index of the logit of "good"; default: the last')
    return parser.parse_args(arguments)


def _command(commands: argparse._SubParsersAction, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"Exports {text}.")
    parser.add_argument("checkpoint", help="directory of a checkpoint, or its name on the hub")
    parser.add_argument("directory", type=Path, help="the model directory to write")
    parser.add_argument("--name", help="the model's name in outputs; default: the directory's name")
    parser.add_argument(
        "--max-tokens",
        type=int,
        help=f"of a row, special tokens included; default: {DEFAULT_MAX_TOKENS}, or fewer where the "
        "model has fewer positions",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        help="largest absolute difference from PyTorch's outputs that is accepted; default: %(default)s",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a model that is there already")
    return parser


def export(options: argparse.Namespace) -> Parity:
    """Exports, checks and writes; returns what the check measured.

    Raises CheckpointError, ParityError or ValueError, and then leaves the directory as it was.
    """
    if (options.directory / "model.onnx").exists() and not options.overwrite:
        raise ValueError(f"{options.directory} holds a model already; --overwrite replaces it")
    kind = KIND_OF_COMMAND[options.command]
    tokenizer = load_tokenizer(options.checkpoint)
    model = load_model(options.checkpoint, kind)
    settings = ModelSettings(
        name=options.name or options.directory.resolve().name,
        kind=kind,
        max_tokens=options.max_tokens or default_max_tokens(model),
        pad_id=tokenizer.pad_token_id,
    )
    build = {"t5": build_t5, "embedding": build_embedding}.get(options.command, build_classifier)
    built = build(options, settings, model, tokenizer)
    settings.check()
    options.directory.resolve().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.directory.resolve().parent) as made:
        write(Path(made), built, tokenizer)
        check_tokenizer(Path(made), settings, tokenizer)
        measured = check_parity(
            Path(made) / "model.onnx", settings, model.config.vocab_size, built.reference, options.tolerance
        )
        options.directory.mkdir(exist_ok=True)
        for file in Path(made).iterdir():
            shutil.move(file, options.directory / file.name)
    return measured


def default_max_tokens(model: PreTrainedModel) -> int:
    """512, or as many as the model has positions for; T5 has no limit of its own."""
    if model.config.model_type == "t5":
        return DEFAULT_MAX_TOKENS
    return min(DEFAULT_MAX_TOKENS, len(read_encoder(model).positions))


def build_t5(
    options: argparse.Namespace,
    settings: ModelSettings,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> Export:
    """The export of a T5."""
    settings.prompt, settings.truncation = options.prompt, options.truncation
    true_id, false_id = true_and_false(tokenizer, model)
    graph = t5_graph(model, true_id, false_id, settings.max_tokens)

    def reference(feeds: Feeds) -> numpy.ndarray:
        return reference_output(model, settings.kind, feeds)[:, [true_id, false_id]]

    return Export(settings, graph, reference)


def build_classifier(
    options: argparse.Namespace,
    settings: ModelSettings,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> Export:
    """The export of a classifier, or of a cross-encoder, which is a classifier of pairs."""
    pair = settings.kind == SEQUENCE_PAIR
    if pair:
        if model.config.model_type not in BERT_LIKE[:2]:
            raise ValueError(f"a cross-encoder must be BERT or ELECTRA, this is {model.config.model_type}")
        settings.passage_tokens = options.passage_tokens
        settings.stride_tokens = options.stride_tokens
        settings.max_passages = options.max_passages
    settings.positive = options.positive
    if settings.positive is None and model.config.num_labels > 1:
        settings.positive = model.config.num_labels - 1
    if settings.positive is not None and not 0 <= settings.positive < model.config.num_labels:
        raise ValueError(f"--positive is {settings.positive}, the model has {model.config.num_labels} logits")
    head = read_classification_head(model)
    graph = classifier_graph(read_encoder(model), head, settings.max_tokens, with_token_types=pair)
    return Export(settings, graph, lambda feeds: reference_output(model, settings.kind, feeds))


def build_embedding(
    options: argparse.Namespace,
    settings: ModelSettings,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> Export:
    """The export of an encoder of sentences and its linear head, if it has one."""
    encoder = read_encoder(model)
    head = read_head(options.head, model.config.hidden_size) if options.head else None
    settings.normalize = not options.no_normalize
    settings.pooling = "none" if options.pool_in_graph else options.pooling
    inside = options.pooling if options.pool_in_graph else None
    graph = embedding_graph(encoder, settings.max_tokens, inside)

    def reference(feeds: Feeds) -> numpy.ndarray:
        hidden = reference_output(model, settings.kind, feeds)
        if inside is None:
            return hidden
        plain = replace(settings, pooling=inside, normalize=False)
        return pooled(hidden, feeds["attention_mask"], plain)

    return Export(settings, graph, reference, head.to_json() if head else None)


def write(directory: Path, built: Export, tokenizer: PreTrainedTokenizerBase) -> None:
    """Writes the files of a model directory."""
    (directory / "model.onnx").write_bytes(built.graph.SerializeToString(deterministic=True))
    (directory / "model.toml").write_text(built.settings.to_toml(), encoding="utf-8")
    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    # Lengths are the caller's business: limits left in the file would cut texts a second time.
    backend.no_truncation()
    backend.no_padding()
    (directory / "tokenizer.json").write_text(backend.to_str(), encoding="utf-8")
    if built.head_json is not None:
        (directory / "head.json").write_text(built.head_json, encoding="utf-8")


def check_tokenizer(directory: Path, settings: ModelSettings, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raises ParityError where tokenizer.json and transformers disagree or a row has no room for text."""
    maker = RowMaker(settings, Tokenizer.from_file(str(directory / "tokenizer.json")))
    for text in TOKENIZER_TEXTS:
        expected = tokenizer(text, add_special_tokens=False)["input_ids"]
        if maker.plain_ids(text) != expected:
            raise ParityError(f"tokenizer.json makes {maker.plain_ids(text)} of {text!r}, not {expected}")
    maker.check_room()


def report(directory: Path, measured: Parity) -> None:
    """Prints what was written and how close it is."""
    for file in sorted(directory.iterdir()):
        print(f"{file}  {file.stat().st_size:,} bytes")
    difference = f"differs from PyTorch by at most {measured.difference:.1e} over {measured.rows} rows"
    print(f"{measured.engine}: {difference}")


if __name__ == "__main__":
    sys.exit(main())
