"""Tests of train_quality.py on a tiny corpus made up here."""

import json
import random
import sys
from pathlib import Path

import numpy
import pytest
import torch
from tokenizers import Tokenizer

import train_quality
from model_directory import read_settings
from model_rows import RowMaker, log_probability, padded_batch
from parity import open_session, run_session
from quality_features import JunkMaker
from quality_text import CorpusError, read_corpus
from quality_training import calibration

SMALL = "--vocabulary 400 --max-tokens 64 --dims 16 --product-dims 8 --hidden 8 --heads 2 --epochs 40".split()
SUBJECTS = "river mountain castle engine planet novel painter island bridge forest".split()
VERBS = "stands flows moves shines lies grows turns rises falls ends".split()


def make_corpus(directory: Path, pages: int = 400) -> None:
    """Half the pages are sentences, half are lists; queries ask for subjects, sentences are relevant."""
    chance = random.Random(5)
    lines, judged = [], []
    for number in range(pages):
        url = f"http://site.example/{number}"
        if number % 2:
            sentence = [
                " ".join(
                    [
                        "the",
                        chance.choice(SUBJECTS),
                        chance.choice(VERBS),
                        "near the",
                        chance.choice(SUBJECTS),
                    ]
                )
                for _ in range(6)
            ]
            text = " ".join(sentence)
        else:
            text = " ".join(str(chance.randrange(40)) for _ in range(chance.randrange(20, 60)))
        outlinks = [{"url": f"http://site.example/{chance.randrange(pages)}", "anchor": "x"}]
        lines.append(json.dumps({"url": url, "title": f"Page {number}", "text": text, "outlinks": outlinks}))
        query = "q-" if number % 3 else "other-"
        judged.append(f"{query}{number % 10} 0 {url} {number % 2}")
    (directory / "pages.jsonl").write_text("\n".join(lines) + "\n")
    (directory / "qrels.txt").write_text("\n".join(judged) + "\n")
    queries = [f"q-{n}\tthe {one}\t1\tkeyword" for n, one in enumerate(SUBJECTS)]
    (directory / "queries.tsv").write_text("\n".join(queries) + "\n")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("corpus")
    make_corpus(directory)
    return directory


def train(corpus: Path, output: Path, *more: str) -> dict[str, object]:
    """Trains with small sizes and returns figures.json."""
    files = ["--pages", str(corpus / "pages.jsonl"), "--queries", str(corpus / "queries.tsv")]
    options = train_quality.parse_arguments([*files, "--output", str(output), *SMALL, *more])
    train_quality.train(options)
    return json.loads((output / "figures.json").read_text())


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("trained") / "model"
    pair = f"same={corpus / 'pages.jsonl'}:{corpus / 'qrels.txt'}"
    scores = output.parent / "scores"
    train(
        corpus,
        output,
        "--qrels",
        str(corpus / "qrels.txt"),
        "--evaluate",
        pair,
        "--write-scores",
        str(scores),
    )
    return output


def scores_of(model: Path, texts: list[str], engine_batch: int) -> numpy.ndarray:
    """Scores of a model directory in ONNX Runtime, in batches."""
    settings = read_settings(model)
    maker = RowMaker(settings, Tokenizer.from_file(str(model / "tokenizer.json")))
    rows = [row for text in texts for row in maker.rows(text)]
    session = open_session(model / "model.onnx")
    found = [
        log_probability(run_session(session, padded_batch(rows[start : start + engine_batch], 0)), settings)
        for start in range(0, len(rows), engine_batch)
    ]
    return numpy.concatenate(found)


def test_sentences_score_above_lists_within_and_across(trained: Path) -> None:
    figures = json.loads((trained / "figures.json").read_text())
    assert len(figures["auc"]) == 3
    for row in figures["auc"].values():
        assert row["model"]["auc"] > 0.9
        assert row["model"]["low"] <= row["model"]["auc"] <= row["model"]["high"]


def test_same_files_and_options_give_the_same_bytes(corpus: Path, trained: Path, tmp_path: Path) -> None:
    again = tmp_path / "model"
    pair = f"same={corpus / 'pages.jsonl'}:{corpus / 'qrels.txt'}"
    train(corpus, again, "--qrels", str(corpus / "qrels.txt"), "--evaluate", pair)
    for name in ("model.onnx", "tokenizer.json", "model.toml", "figures.json"):
        assert (again / name).read_bytes() == (trained / name).read_bytes(), name


def test_another_seed_gives_other_weights(corpus: Path, trained: Path, tmp_path: Path) -> None:
    train(corpus, tmp_path / "model", "--qrels", str(corpus / "qrels.txt"), "--seed", "2")
    assert (tmp_path / "model" / "model.onnx").read_bytes() != (trained / "model.onnx").read_bytes()


def test_without_judgements_the_workload_labels(corpus: Path, tmp_path: Path) -> None:
    figures = train(corpus, tmp_path / "model", "--top", "20")
    assert 20 <= figures["positive_pages"] <= 200
    assert figures["auc"]["within (test part), top of a query"]["model"]["auc"] > 0.8


def test_judgements_may_serve_to_measure_only(corpus: Path, trained: Path, tmp_path: Path) -> None:
    figures = train(corpus, tmp_path / "model", "--qrels", str(corpus / "qrels.txt"), "--workload-labels")
    assert figures["labels"] == "workload"
    assert set(figures["auc"]) == {"within (test part)", "within (test part), top of a query"}
    assert json.loads((trained / "figures.json").read_text())["labels"] == "judgements"


def test_judgements_of_skipped_queries_are_not_used(corpus: Path, tmp_path: Path) -> None:
    qrels = ("--qrels", str(corpus / "qrels.txt"))
    figures = train(corpus, tmp_path / "model", *qrels, "--skip-queries", "other-")
    only = train(corpus, tmp_path / "model2", *qrels, "--only-queries", "q-")
    assert figures["positive_pages"] == only["positive_pages"] == 133
    assert "within (test part), judgements of all queries" in figures["auc"]


def test_written_scores_are_those_of_the_graph(corpus: Path, trained: Path) -> None:
    lines = (trained.parent / "scores" / "same.tsv").read_text().splitlines()
    pages = read_corpus(corpus / "pages.jsonl")
    assert [line.split("\t")[0] for line in lines] == pages.urls
    written = numpy.array([float(line.split("\t")[1]) for line in lines])
    assert numpy.abs(written - scores_of(trained, pages.texts, 32)).max() < 1e-5


def test_padding_changes_nothing_and_an_empty_text_scores_low(trained: Path) -> None:
    texts = ["", "river", "the river flows near the old castle . " * 30]
    alone = scores_of(trained, texts, 1)
    assert numpy.abs(alone - scores_of(trained, texts, 3)).max() < 1e-5
    assert numpy.isfinite(alone).all()
    assert alone[0] < alone[2]


def test_a_bad_file_ends_the_script_with_a_message(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--pages", str(tmp_path / "none"), "--queries", "q", "--output", str(tmp_path / "model")]
    monkeypatch.setattr(sys, "argv", ["train_quality.py", *arguments])
    with pytest.raises(SystemExit, match="missing"):
        train_quality.main()
    assert not (tmp_path / "model").exists()
    (tmp_path / "qrels").write_text("q-1 0 http://elsewhere.example 1\n")
    with pytest.raises(CorpusError, match="0 of 400 pages"):
        train(corpus, tmp_path / "model", "--qrels", str(tmp_path / "qrels"))


@pytest.mark.parametrize(
    "wrong",
    [
        ["--heads", "0"],
        ["--product-dims", "999"],
        ["--evaluate", "nothing"],
        ["--max-tokens", "4"],
        ["--workload-labels"],
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        train_quality.parse_arguments(
            ["--pages", "p", "--queries", "q", "--output", str(tmp_path / "model"), *wrong]
        )


def test_junk_is_repeatable_and_fits() -> None:
    ids = [numpy.arange(5, 5 + size, dtype=numpy.int32) for size in (3, 50, 90)]
    first, lengths = JunkMaker(ids, 200, 60, 3).make(40)
    again, _ = JunkMaker(ids, 200, 60, 3).make(40)
    assert all(numpy.array_equal(*pair) for pair in zip(first, again, strict=True))
    assert all(len(one) <= 60 and one.max(initial=0) < 200 for one in first)
    assert (lengths >= [len(one) for one in first]).all()


def test_calibration_centres_and_never_turns_the_order() -> None:
    torch.manual_seed(0)
    labels = numpy.arange(1000) % 10 == 0
    scores = numpy.random.default_rng(0).normal(size=1000) + 2 * labels + 7
    slope, offset = calibration(scores, labels)
    chance = 1 / (1 + numpy.exp(-(slope * scores + offset)))
    assert abs((chance[labels].mean() + chance[~labels].mean()) / 2 - 0.5) < 0.02
    assert calibration(-scores, labels)[0] > 0
