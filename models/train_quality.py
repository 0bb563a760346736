"""Trains a page-quality model from pages and judgements, or from pages and a workload, and exports it.

    python models/train_quality.py --pages pages.jsonl.zst --queries queries.tsv --qrels qrels.txt \\
        --evaluate other=other/pages.jsonl.zst:other/qrels.txt --output my.model

A page is positive if it is relevant to a query, or, without judgements, if it enters the top K of a query by
BM25. Pages are split by a hash of their URL, 80 % to train, 10 % to stop and to calibrate, 10 % to test. The
figures "within" are those of the test part; "across" those of whole other corpora. The weights that are
exported are then trained on all pages, for the number of epochs that was found.

Output: a model directory (README.md) with `figures.json`. Same files, options and library versions give the
same bytes.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from tokenizers import Tokenizer

from parity import ParityError
from quality_evaluation import Area, compare, table
from quality_export import export, spread, write_scores
from quality_features import JunkMaker, pool_texts, word_vectors
from quality_network import QualityNetwork, Shape, token_table
from quality_options import parse_arguments
from quality_text import (
    TEST_PART,
    VALIDATION_PART,
    Corpus,
    CorpusError,
    encode,
    make_tokenizer,
    read_corpus,
    read_queries,
    read_relevant,
    relevance,
)
from quality_training import (
    Pages,
    Recipe,
    apply_calibration,
    calibration,
    logits,
    set_scales,
    train_heads,
)
from quality_workload import shown_pages

# [CLS] and [SEP].
SPECIAL_TOKENS = 2
# Junk texts that are made, per page, before they are drawn from.
JUNK_PER_PAGE = 0.3


@dataclass
class Source:
    """The corpus to train on. `sets` are the relevant pages to measure with, by what they are called."""

    corpus: Corpus
    labels: numpy.ndarray
    soft: numpy.ndarray
    sets: dict[str, numpy.ndarray]


@dataclass
class Evaluation:
    """A corpus to measure on, whole."""

    name: str
    corpus: Corpus
    relevant: numpy.ndarray


def main() -> None:
    """Reads the command line and trains."""
    options = parse_arguments(sys.argv[1:], __doc__)
    try:
        train(options)
    except (CorpusError, ParityError) as error:
        sys.exit(f"error: {error}")


def train(options: argparse.Namespace) -> None:
    """Everything, from files to files."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    corpus = read_corpus(options.pages)
    say(f"{len(corpus.urls)} pages")
    queries = read_queries(options.queries, options.only_queries, options.skip_queries)
    shown = shown_pages(corpus.texts, list(queries.values()), options.top)
    sets = {}
    labels = shown.in_top
    if not labels.any() or labels.all():
        raise CorpusError(f"{options.queries}: no page, or every page, is in the top of a query")
    if options.qrels:
        relevant = read_relevant(options.qrels, options.only_queries, options.skip_queries)
        judged = relevance(corpus, relevant, options.qrels)
        sets["within (test part)"] = judged
        if options.only_queries or options.skip_queries:
            everything = relevance(corpus, read_relevant(options.qrels), options.qrels)
            sets["within (test part), judgements of all queries"] = everything
    if options.qrels and not options.workload_labels:
        labels = judged
    else:
        sets["within (test part), top of a query"] = labels
    say(f"{len(queries)} queries, {int(labels.sum())} positive pages")
    tokenizer = make_tokenizer(corpus.texts, options.vocabulary)
    evaluations = [read_evaluation(one) for one in options.evaluate]
    run(options, Source(corpus, labels, numpy.log1p(shown.soft), sets), tokenizer, evaluations)


def read_evaluation(option: str) -> Evaluation:
    """The corpus that a `NAME=PAGES:QRELS` names."""
    name, files = option.split("=", 1)
    pages, qrels = files.rsplit(":", 1)
    corpus = read_corpus(Path(pages))
    return Evaluation(name, corpus, relevance(corpus, read_relevant(Path(qrels)), Path(qrels)))


def run(
    options: argparse.Namespace, source: Source, tokenizer: Tokenizer, evaluations: list[Evaluation]
) -> None:
    """Trains on a corpus that was read, measures and exports."""
    seen = options.max_tokens - SPECIAL_TOKENS
    recipe = Recipe(
        members=options.heads,
        epochs=options.epochs,
        junk_share=options.junk_share,
        soft_blend=options.soft_blend,
        length_weight=options.length_weight,
        seed=options.seed,
    )
    network, pages, junk = prepare(options, source, tokenizer)
    parts = source.corpus.parts()
    test, validation = parts == TEST_PART, parts == VALIDATION_PART
    for name, part in (("test", test), ("validation", validation)):
        if len(set(source.labels[part])) < 2:
            raise CorpusError(f"too few pages: the {name} part needs positive pages and others")

    training = pages.part(~test & ~validation)
    held_out = pages.part(validation)
    set_scales(network, training)
    epochs = train_heads(network, training, junk, recipe, held_out, report=say)
    slope, offset = calibration(logits(network, held_out), held_out.labels.numpy() > 0)
    apply_calibration(network, slope, offset)
    rows = {}
    scores = logits(network, pages.part(test))
    for name, relevant in source.sets.items():
        words, in_links = source.corpus.words[test], source.corpus.in_links[test]
        rows[name] = compare(relevant[test], scores, words, in_links)
    other_pages = []
    for one in evaluations:
        ids, counts = encode(tokenizer, one.corpus.texts, seen)
        other_pages.append(as_pages(network, ids, counts, one.relevant, one.relevant))
    across(rows, "80 % of the pages", network, evaluations, other_pages)

    # The weights that ship: all pages, as many epochs, the calibration from pages that were not trained on.
    set_scales(network, pages)
    train_heads(network, pages, junk, recipe, best_epochs=epochs, report=lambda _: None)
    apply_calibration(network, slope, offset)
    across(rows, "all pages", network, evaluations, other_pages)
    say(table(rows))
    figures = describe(options, source, network) | {
        "epochs_of_heads": epochs,
        "calibration": {"slope": round(slope, 6), "offset": round(offset, 6)},
        "score_quantiles_of_training_pages": spread(logits(network, pages)),
        "auc": {name: {key: one.rounded() for key, one in row.items()} for name, row in rows.items()},
    }
    export(options, network, tokenizer, figures)
    if options.write_scores:
        options.write_scores.mkdir(parents=True, exist_ok=True)
        for one, its_pages in zip(evaluations, other_pages, strict=True):
            write_scores(options.write_scores / f"{one.name}.tsv", one.corpus, logits(network, its_pages))


def prepare(
    options: argparse.Namespace, source: Source, tokenizer: Tokenizer
) -> tuple[QualityNetwork, Pages, Pages]:
    """A network without a trained head, the pages, and the junk."""
    seen = options.max_tokens - SPECIAL_TOKENS
    vocabulary = tokenizer.get_vocab_size()
    ids, counts = encode(tokenizer, source.corpus.texts, seen)
    dims = min(options.dims, vocabulary - 2)
    shape = Shape(dims, min(options.product_dims, dims), options.hidden * options.heads)
    network = QualityNetwork(token_table(word_vectors(ids, vocabulary, dims), shape), shape)
    pages = as_pages(network, ids, counts, source.labels, source.soft)
    maker = JunkMaker(ids, vocabulary, seen, options.seed)
    ids, counts = maker.make(max(200, int(JUNK_PER_PAGE * len(ids))))
    none = numpy.zeros(len(ids))
    return network, pages, as_pages(network, ids, counts, none, none)


def describe(options: argparse.Namespace, source: Source, network: QualityNetwork) -> dict[str, object]:
    """What figures.json says of a model besides its figures."""
    chosen = ("max_tokens", "heads", "junk_share", "soft_blend", "length_weight", "seed")
    return {
        "name": options.name,
        "pages": len(source.corpus.urls),
        "positive_pages": int(source.labels.sum()),
        "labels": "workload" if options.workload_labels or not options.qrels else "judgements",
        "vocabulary": len(network.table),
        "dims": network.shape.mean_dims,
        "product_dims": network.shape.product_dims,
        "hidden_units": network.shape.hidden,
        **{name: getattr(options, name) for name in chosen},
    }


def as_pages(
    network: QualityNetwork,
    ids: list[numpy.ndarray],
    counts: numpy.ndarray,
    labels: numpy.ndarray,
    soft: numpy.ndarray,
) -> Pages:
    """Texts with their labels, pooled."""
    lengths = torch.from_numpy(numpy.log1p(counts).astype(numpy.float32))[:, None]
    targets = [torch.from_numpy(numpy.asarray(one, dtype=numpy.float32)) for one in (labels, soft)]
    return Pages(pool_texts(network, ids), lengths, *targets)


def across(
    rows: dict[str, dict[str, Area]],
    trained_on: str,
    network: QualityNetwork,
    evaluations: list[Evaluation],
    pages: list[Pages],
) -> None:
    """Adds a row for every other corpus."""
    for one, its_pages in zip(evaluations, pages, strict=True):
        rows[f"across: {one.name}, trained on {trained_on}"] = compare(
            one.relevant, logits(network, its_pages), one.corpus.words, one.corpus.in_links
        )


def say(line: str) -> None:
    """Prints a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
