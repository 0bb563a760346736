"""From texts to rows of token ids, and from logits to scores: the format's rules, in Python.

`src/neural` does the same in Rust. This side serves the parity checks, the expected values of the test
models, fine-tuning and the benchmark, so that all of them cut texts in one and the same way.
"""

from dataclasses import dataclass

import numpy
from tokenizers import Tokenizer

from model_directory import QUERY_TOKENS, SENTENCE_EMBEDDING, SEQUENCE_PAIR, T5_TRUE_FALSE, ModelSettings

END_OF_SEQUENCE = "</s>"


@dataclass
class Row:
    """One input row, not yet padded."""

    ids: list[int]
    # Where the second part of a pair starts; token types are 0 before it and 1 from it on.
    second_part: int | None = None
    # Tokens of the whole text before it was cut, special ones not counted.
    whole_tokens: int = 0


class RowMaker:
    """Cuts texts into the rows of one model."""

    def __init__(self, settings: ModelSettings, tokenizer: Tokenizer) -> None:
        self.settings = settings
        self.tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()

    def rows(self, text: str, query: str = "") -> list[Row]:
        """The rows of a text: one, or for sequence-pair one for every passage. `query` is for pairs only."""
        if self.settings.kind == T5_TRUE_FALSE:
            return [self._prompted(text)]
        if self.settings.kind == SEQUENCE_PAIR:
            return self._pairs(query, text)
        return [self._single(text)]

    def check_room(self) -> None:
        """Raises ValueError where a row is full before any text is in it."""
        empty = max(len(row.ids) for row in self.rows(""))
        if empty >= self.settings.max_tokens:
            raise ValueError(
                f"a row takes {empty} tokens before any text, max_tokens is {self.settings.max_tokens}"
            )

    def plain_ids(self, text: str) -> list[int]:
        """The ids of a text without special tokens."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def _prompted(self, text: str) -> Row:
        before, after = self.settings.prompt.split("{text}")
        whole = self.plain_ids(before + text + after)
        room = self.settings.max_tokens - 1
        if len(whole) <= room or self.settings.truncation == "prompt":
            kept = whole[:room]
        else:
            # A whole prompt that is too long has more tokens than `room`, so the part kept of its start
            # never reaches into its own suffix.
            suffix = self.plain_ids(after)
            kept = whole[: room - len(suffix)] + suffix
        return Row(ids=[*kept, self.tokenizer.token_to_id(END_OF_SEQUENCE)], whole_tokens=len(whole))

    def _single(self, text: str) -> Row:
        whole = self.plain_ids(text)
        start, end = self._around_one()
        room = self.settings.max_tokens - len(start) - len(end)
        return Row(ids=start + whole[:room] + end, whole_tokens=len(whole))

    def _pairs(self, query: str, text: str) -> list[Row]:
        start, middle, end = self._around_two()
        first = start + self.plain_ids(query)[:QUERY_TOKENS] + middle
        tokens = self.plain_ids(text)
        return [
            Row(ids=first + window + end, second_part=len(first), whole_tokens=len(tokens))
            for window in passage_windows(tokens, self.settings)
        ]

    def _around_one(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a single text."""
        marks = self.tokenizer.encode("").ids
        if len(marks) != 2:
            raise ValueError(f"the tokenizer must put 2 special tokens around a text, it puts {marks}")
        return marks[:1], marks[1:]

    def _around_two(self) -> tuple[list[int], list[int], list[int]]:
        """The special tokens before, between and after the texts of a pair."""
        marks = self.tokenizer.encode("", "").ids
        if len(marks) != 3:
            raise ValueError(f"the tokenizer must make pairs as [CLS] q [SEP] p [SEP], it puts {marks}")
        return marks[:1], marks[1:2], marks[2:]


def passage_windows(tokens: list[int], settings: ModelSettings) -> list[list[int]]:
    """Window i is `tokens[i * stride .. i * stride + passage]`; the last is the first to reach the end.

    There is always one window, empty for an empty text, and never more than `max_passages`.
    """
    windows = []
    for number in range(settings.max_passages):
        start = number * settings.stride_tokens
        windows.append(tokens[start : start + settings.passage_tokens])
        if start + settings.passage_tokens >= len(tokens):
            break
    return windows


def padded_batch(rows: list[Row], pad_id: int) -> dict[str, numpy.ndarray]:
    """All inputs a graph may have, padded on the right to the longest row."""
    shape = (len(rows), max(len(row.ids) for row in rows))
    ids = numpy.full(shape, pad_id, dtype=numpy.int64)
    mask = numpy.zeros(shape, dtype=numpy.int64)
    types = numpy.zeros(shape, dtype=numpy.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        mask[number, : len(row.ids)] = 1
        if row.second_part is not None:
            types[number, row.second_part : len(row.ids)] = 1
    lengths = numpy.log1p([[row.whole_tokens] for row in rows]).astype(numpy.float32)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types, "text_length": lengths}


def log_probability(logits: numpy.ndarray, settings: ModelSettings) -> numpy.ndarray:
    """ln P("good") of rows of logits [rows, n], in float64.

    For sentence embeddings the logit is that of the linear head.
    """
    logits = logits.astype(numpy.float64)
    count = logits.shape[1]
    if count == 1 or settings.kind == SENTENCE_EMBEDDING:
        return -numpy.logaddexp(0.0, -logits[:, 0])
    positive = 0 if settings.kind == T5_TRUE_FALSE else settings.positive
    chosen = logits[:, count - 1 if positive is None else positive]
    return chosen - numpy.logaddexp.reduce(logits, axis=1)


def pooled(hidden: numpy.ndarray, attention_mask: numpy.ndarray, settings: ModelSettings) -> numpy.ndarray:
    """Sentence vectors in float64, from hidden states [rows, length, dim] or vectors [rows, dim]."""
    hidden = hidden.astype(numpy.float64)
    if settings.pooling == "mean":
        kept = attention_mask[:, :, None]
        hidden = (hidden * kept).sum(axis=1) / kept.sum(axis=1)
    elif settings.pooling == "cls":
        hidden = hidden[:, 0]
    if settings.normalize:
        hidden = hidden / numpy.linalg.norm(hidden, axis=1, keepdims=True)
    return hidden
