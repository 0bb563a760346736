"""What PyTorch computes with a test model, written beside it as expected.json.

Rows come from the format's rules, logits from transformers, one row at a time and without padding, and
scores in float64 from those logits.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import torch
import transformers
from tokenizers import Tokenizer

from checkpoints import load_model, load_tokenizer, reference_output, true_and_false
from linear_head import read_head
from model_directory import SENTENCE_EMBEDDING, SEQUENCE_PAIR, T5_TRUE_FALSE, ModelSettings, read_settings
from model_rows import Row, RowMaker, log_probability, padded_batch, pooled

TEXTS = [
    "",
    " ",
    "the",
    "A page about which pages to fetch next.",
    "  spaces \t and\nnew\r\nlines  ",
    "Ünïcödé: naïve café, Straße, 网页抓取, Привет мир, ﬁne ①, 🙂🚀",
    "a page that writes [SEP] and </s> and <pad> itself",
    "The crawler fetches a batch, reads its links, and plans the next one. " * 12,
    "unbrokenlineofletters" * 20,
]
QUERIES = ["crawl order", "", "straße café 网页", "what is the best order to fetch the pages of a site " * 8]


def write_expected(directory: Path, checkpoint: str, length_weight: float) -> None:
    """Writes expected.json of a model directory that was exported from `checkpoint`."""
    settings = read_settings(directory)
    maker = RowMaker(settings, Tokenizer.from_file(str(directory / "tokenizer.json")))
    row_logits = reference_logits(settings, directory, checkpoint, length_weight)
    cases = []
    for truncation in ("text", "prompt") if settings.kind == T5_TRUE_FALSE else (None,):
        if truncation is not None:
            settings.truncation = truncation
        for query, text in inputs(settings, maker):
            rows = maker.rows(text, query or "")
            logits = numpy.stack([row_logits(row) for row in rows])
            case = {
                "truncation": truncation,
                "query": query,
                "text": text,
                "rows": [row.ids for row in rows],
                "logits": logits.tolist(),
                "score": float(log_probability(logits, settings).max()),
            }
            cases.append({name: value for name, value in case.items() if value is not None})
    versions = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}
    head = json.dumps({"kind": settings.kind, "made_with": versions})
    # A case a line, so that a changed one is a changed line.
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    text = f'{head[:-1]}, "cases": [\n{lines}\n]}}\n'
    (directory / "expected.json").write_text(text, encoding="utf-8")


def inputs(settings: ModelSettings, maker: RowMaker) -> list[tuple[str | None, str]]:
    """Queries (for pairs) and texts, with texts that end just before, at and after each limit."""
    if settings.kind != SEQUENCE_PAIR:
        full = next(n for n in range(1, 100) if len(maker.rows(repeated(n))[0].ids) == settings.max_tokens)
        return [(None, text) for text in (*TEXTS, *(repeated(full + more) for more in (-1, 0, 1)))]
    first_end, stride = settings.passage_tokens, settings.stride_tokens
    last_end = first_end + stride * (settings.max_passages - 1)
    limits = (first_end, first_end + 1, first_end + stride, first_end + stride + 1, last_end, last_end + 1)
    texts = [*TEXTS, *(repeated(count) for count in limits)]
    # Every query meets an empty, a short and a long text; the first one meets all.
    return [(QUERIES[0], text) for text in texts] + [
        (query, text) for query in QUERIES[1:] for text in (TEXTS[0], TEXTS[3], TEXTS[7])
    ]


def repeated(count: int) -> str:
    """A text of `count` tokens: "the" is one piece of every vocabulary made from English text."""
    return " ".join(["the"] * count)


def reference_logits(
    settings: ModelSettings, directory: Path, checkpoint: str, length_weight: float
) -> Callable[[Row], numpy.ndarray]:
    """A function that gives PyTorch's logits of one row."""
    model = load_model(checkpoint, settings.kind)

    def plain(row: Row) -> numpy.ndarray:
        return reference_output(model, settings.kind, padded_batch([row], settings.pad_id))[0]

    if settings.kind == T5_TRUE_FALSE:
        answers = list(true_and_false(load_tokenizer(checkpoint), model))
        return lambda row: plain(row)[answers]
    if length_weight != 0:
        return lambda row: plain(row) + length_weight * numpy.log1p(row.whole_tokens)
    if settings.kind != SENTENCE_EMBEDDING:
        return plain
    head = read_head(directory / "head.json", model.config.hidden_size)
    # Where the graph pools, PyTorch's hidden states are still pooled here, the way the graph was told to.
    pooling = "mean" if settings.pooling == "none" else settings.pooling
    outside = replace(settings, pooling=pooling)

    def embedded(row: Row) -> numpy.ndarray:
        feeds = padded_batch([row], settings.pad_id)
        hidden = reference_output(model, settings.kind, feeds)
        return head.logits(pooled(hidden, feeds["attention_mask"], outside))[0]

    return embedded
