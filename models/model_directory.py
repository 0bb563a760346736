"""The settings file of a Prospect model directory, written and read.

A directory holds `model.onnx`, `tokenizer.json`, `model.toml` and, for sentence embeddings, `head.json`.
README.md describes the format; `src/neural` of the repository reads it. The checks here are the ones a
mistake in an export would trip over, so that it fails here and not in a crawl.
"""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1
T5_TRUE_FALSE = "t5-true-false"
SEQUENCE_CLASSIFIER = "sequence-classifier"
SENTENCE_EMBEDDING = "sentence-embedding"
SEQUENCE_PAIR = "sequence-pair"

# Which settings stand in model.toml for a kind, besides those that every kind has.
SETTINGS_OF_KIND = {
    T5_TRUE_FALSE: ("prompt", "truncation"),
    SEQUENCE_CLASSIFIER: ("positive",),
    SENTENCE_EMBEDDING: ("pooling", "normalize"),
    SEQUENCE_PAIR: ("positive", "passage_tokens", "stride_tokens", "max_passages"),
}
COMMON_SETTINGS = ("format", "name", "kind", "max_tokens", "pad_id")

# Tokens of a query that a sequence-pair model is shown; fixed by the format.
QUERY_TOKENS = 64


@dataclass
class ModelSettings:
    """model.toml; the values of the other kinds keep their defaults and are not written."""

    name: str
    kind: str
    max_tokens: int
    pad_id: int = 0
    prompt: str = "Document: {text} Relevant:"
    truncation: str = "text"
    # Index of the logit that says "good"; None is the last, the format's default.
    positive: int | None = None
    pooling: str = "mean"
    normalize: bool = True
    passage_tokens: int = 225
    stride_tokens: int = 200
    max_passages: int = 8
    format: int = FORMAT

    def check(self) -> None:
        """Raises ValueError, naming the setting, for values no model can be run with."""
        if self.format != FORMAT:
            raise ValueError(f"format is {self.format}, this code knows {FORMAT}")
        if self.kind not in SETTINGS_OF_KIND:
            raise ValueError(f"kind is {self.kind!r}, known are {', '.join(SETTINGS_OF_KIND)}")
        for name in ("max_tokens", "passage_tokens", "stride_tokens", "max_passages"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if self.kind == T5_TRUE_FALSE and self.prompt.count("{text}") != 1:
            raise ValueError(f"the prompt must hold {{text}} exactly once, it is {self.prompt!r}")
        if self.truncation not in ("text", "prompt"):
            raise ValueError(f"truncation is {self.truncation!r}, it must be text or prompt")
        if self.pooling not in ("mean", "cls", "none"):
            raise ValueError(f"pooling is {self.pooling!r}, it must be mean, cls or none")
        if self.kind == SEQUENCE_PAIR:
            self._check_windows()

    def _check_windows(self) -> None:
        if self.stride_tokens > self.passage_tokens:
            raise ValueError(
                f"stride_tokens ({self.stride_tokens}) is larger than passage_tokens "
                f"({self.passage_tokens}): tokens between two windows would never be read"
            )
        row = QUERY_TOKENS + self.passage_tokens + 3
        if row > self.max_tokens:
            raise ValueError(
                f"a row takes up to {row} tokens ({QUERY_TOKENS} of the query, {self.passage_tokens} "
                f"of the passage, 3 special), which is more than max_tokens ({self.max_tokens})"
            )

    def to_toml(self) -> str:
        """The text of model.toml, with the settings of this kind only."""
        lines = []
        for name in (*COMMON_SETTINGS, *SETTINGS_OF_KIND[self.kind]):
            value = getattr(self, name)
            if value is not None:
                # JSON writes strings, integers and booleans as TOML does.
                lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}\n")
        return "".join(lines)


def read_settings(directory: Path) -> ModelSettings:
    """Reads and checks model.toml.

    Raises FileNotFoundError where there is none, ValueError for contents that are not valid.
    """
    path = directory / "model.toml"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: {directory} is not a model directory")
    try:
        settings = ModelSettings(**tomllib.loads(path.read_text(encoding="utf-8")))
        settings.check()
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    return settings
