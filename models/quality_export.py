"""Writes a trained page-quality model, once its graph was compared with PyTorch, and scores of pages."""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy
from tokenizers import Tokenizer

from model_directory import SEQUENCE_CLASSIFIER, ModelSettings
from parity import check_parity
from quality_network import QualityNetwork, quality_graph
from quality_text import Corpus

# Largest difference between the graph and PyTorch, in logits.
TOLERANCE = 1e-5


def log_sigmoid(scores: numpy.ndarray) -> numpy.ndarray:
    """The score that Prospect makes of a logit."""
    return -numpy.logaddexp(0.0, -scores)


def spread(scores: numpy.ndarray) -> dict[str, float]:
    """Quantiles of the scores, for the card."""
    wanted = (0, 1, 5, 25, 50, 75, 95, 99, 100)
    found = numpy.percentile(log_sigmoid(scores), wanted)
    return {f"{one} %": round(float(value), 4) for one, value in zip(wanted, found, strict=True)}


def export(
    options: argparse.Namespace, network: QualityNetwork, tokenizer: Tokenizer, figures: dict[str, object]
) -> None:
    """Writes the model directory, after the graph was compared with PyTorch; nothing if it differs."""
    settings = ModelSettings(name=options.name, kind=SEQUENCE_CLASSIFIER, max_tokens=options.max_tokens)
    settings.check()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.output.parent) as made:
        graph = Path(made) / "model.onnx"
        graph.write_bytes(quality_graph(network).build().SerializeToString(deterministic=True))
        parity = check_parity(graph, settings, len(network.table), network.reference, TOLERANCE)
        print(f"{parity.engine} differs from PyTorch by {parity.difference:.1e} over {parity.rows} rows")
        figures["parity"] = {parity.engine: float(f"{parity.difference:.2g}")}
        options.output.mkdir(exist_ok=True)
        os.replace(graph, options.output / "model.onnx")
    tokenizer.save(str(options.output / "tokenizer.json"))
    (options.output / "model.toml").write_text(settings.to_toml(), encoding="utf-8")
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    (options.output / "figures.json").write_text(text + "\n", encoding="utf-8")


def write_scores(path: Path, corpus: Corpus, scores: numpy.ndarray) -> None:
    """A line per page: URL, tab, score."""
    lines = (f"{url}\t{score:.6f}\n" for url, score in zip(corpus.urls, log_sigmoid(scores), strict=True))
    path.write_text("".join(lines), encoding="utf-8")
