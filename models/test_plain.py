"""Tests of what needs no PyTorch: rows, labels, files, measures; with numpy, tokenizers and pytest alone."""

import gzip
import json
from pathlib import Path

import numpy
import pytest

from click_labels import LabelledText, read_labels, split
from model_directory import SEQUENCE_PAIR, T5_TRUE_FALSE, ModelSettings
from model_rows import log_probability, passage_windows
from quality_evaluation import area, gain
from quality_text import CorpusError, read_corpus, read_queries, read_relevant
from quality_workload import shown_pages


@pytest.mark.parametrize(
    ("tokens", "windows"),
    [
        (0, [(0, 0)]),
        (1, [(0, 1)]),
        (20, [(0, 20)]),
        (21, [(0, 20), (16, 21)]),
        (36, [(0, 20), (16, 36)]),
        (37, [(0, 20), (16, 36), (32, 37)]),
        (52, [(0, 20), (16, 36), (32, 52)]),
        (1000, [(0, 20), (16, 36), (32, 52)]),
    ],
)
def test_windows_end_with_the_first_that_reaches_the_end(tokens: int, windows: list[tuple[int, int]]) -> None:
    settings = ModelSettings("p", SEQUENCE_PAIR, 512, passage_tokens=20, stride_tokens=16, max_passages=3)
    every = list(range(tokens))
    assert passage_windows(every, settings) == [every[start:end] for start, end in windows]


def test_scores_are_log_probabilities() -> None:
    two = numpy.array([[1.0, 3.0]])
    t5 = ModelSettings("t", T5_TRUE_FALSE, 8)
    last = ModelSettings("c", "sequence-classifier", 8)
    first = ModelSettings("c", "sequence-classifier", 8, positive=0)
    assert log_probability(two, t5)[0] == pytest.approx(-2.126928011)
    assert log_probability(two, first)[0] == pytest.approx(-2.126928011)
    assert log_probability(two, last)[0] == pytest.approx(-0.126928011)
    assert log_probability(numpy.array([[-800.0]]), last)[0] == -800.0


def test_labels_are_read_in_both_forms(tmp_path: Path) -> None:
    columns = tmp_path / "labels.tsv"
    columns.write_text("good\t1\nclicked\t3/40\nfamous\t5/1000\nheavy\t0\t2.5\nno label\nx\t5/2\nx\t0/0\n")
    objects = tmp_path / "labels.jsonl"
    records = [
        {"text": "good", "label": 1},
        {"text": "clicked", "clicks": 3, "impressions": 40},
        {"text": "famous", "clicks": 5, "impressions": 1000},
        {"text": "heavy", "label": 0, "weight": 2.5},
        {"text": "no label"},
        {"text": "x", "clicks": 5, "impressions": 2},
        {"text": "x", "clicks": 0, "impressions": 0},
    ]
    objects.write_text("".join(json.dumps(record) + "\n" for record in records))
    for path in (columns, objects):
        labels = read_labels(path, impression_cap=100)
        assert labels.texts == [
            LabelledText("good", 1.0, 1.0),
            LabelledText("clicked", 0.075, 40.0),
            LabelledText("famous", 0.005, 100.0),
            LabelledText("heavy", 0.0, 2.5),
        ]
        assert sorted(labels.first_line.values()) == [5, 6, 7]
        with pytest.raises(ValueError, match="line 5"):
            read_labels(path, impression_cap=100, strict=True)


def test_equal_texts_stay_on_one_side_of_the_split() -> None:
    texts = [LabelledText(f"text {number % 50}", 1.0, 1.0) for number in range(500)]
    training, validation = split(texts, 0.2)
    assert len(training) + len(validation) == 500
    assert not {one.text for one in training} & {one.text for one in validation}


def test_pages_are_read_from_gzip_and_in_links_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.gz"
    to_b = [{"url": "b", "anchor": ""}] * 2 + [{"url": "a", "anchor": ""}]
    with gzip.open(path, "wt") as stream:
        stream.write(json.dumps({"url": "a", "title": "A", "text": "t", "outlinks": to_b}) + "\n")
        stream.write(json.dumps({"url": "b"}) + "\n")
    corpus = read_corpus(path)
    assert corpus.texts == ["A t", " "]
    assert corpus.in_links.tolist() == [0, 1]
    assert corpus.words.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no pages"), ("{", "pages.jsonl:1"), ('{"title": "x"}', "pages.jsonl:1"), ("[1]", "not a page")],
)
def test_pages_that_cannot_be_used_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pages.jsonl").write_text(text)
    with pytest.raises(CorpusError, match=message):
        read_corpus(tmp_path / "pages.jsonl")


def test_other_errors_of_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="missing"):
        read_corpus(tmp_path / "none")
    (tmp_path / "twice").write_text('{"url": "a"}\n{"url": "a"}\n')
    with pytest.raises(CorpusError, match="a twice"):
        read_corpus(tmp_path / "twice")
    (tmp_path / "queries").write_text("one field\n")
    with pytest.raises(CorpusError, match="queries:1"):
        read_queries(tmp_path / "queries")
    (tmp_path / "queries").write_text("q1\ttext\n")
    with pytest.raises(CorpusError, match="no queries"):
        read_queries(tmp_path / "queries", only="x")
    (tmp_path / "qrels").write_text("q1 0 a\n")
    with pytest.raises(CorpusError, match="qrels:1"):
        read_relevant(tmp_path / "qrels")


def test_area_of_ties_and_of_one_class() -> None:
    labels = numpy.array([True, False, True, False])
    assert area(labels, numpy.array([2.0, 1.0, 2.0, 1.0])).auc == 1.0
    assert area(labels, numpy.zeros(4)).auc == 0.5
    with pytest.raises(ValueError, match="relevant"):
        area(numpy.ones(2, dtype=bool), numpy.zeros(2))


def test_gain_is_the_difference_and_its_interval_knows_that_the_pages_are_the_same() -> None:
    chance = numpy.random.default_rng(1)
    labels = numpy.arange(500) % 5 == 0
    scores = chance.normal(size=500) + labels
    baseline = scores + 0.3 * chance.normal(size=500)
    found, first, second = gain(labels, scores, baseline), area(labels, scores), area(labels, baseline)
    assert found.auc == pytest.approx(first.auc - second.auc)
    assert found.high - found.low < 0.5 * (first.high - first.low)
    assert gain(labels, scores, scores).high == 0


def test_bm25_ranks_rare_words_and_short_pages_first() -> None:
    texts = ["common rare", "common common", "common " * 50 + "rare", "nothing"]
    shown = shown_pages(texts, ["Rare!"], 1)
    assert shown.in_top.tolist() == [True, False, False, False]
    assert shown.soft[0] > shown.soft[2] > shown.soft[1] == shown.soft[3] == 0
