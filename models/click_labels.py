"""Reads texts with click labels, and splits them for training.

Two forms, told apart by the file's name. TSV, a text a line and no tabs or line ends within a text:

    text <tab> clicks/impressions [<tab> weight]
    text <tab> label [<tab> weight]

JSONL (`.jsonl`), an object a line:

    {"text": "...", "clicks": 3, "impressions": 40}
    {"text": "...", "label": 1, "weight": 2.5}

A label is a number from 0 (bad) to 1 (good). The target of clicks is their share of the impressions. Where
no weight is given it is 1 for a label, and for clicks the number of impressions up to a cap: what a click
share is worth grows with its impressions, but a few famous pages must not outweigh all the others.
"""

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class LabelledText:
    """A text, the probability of "good" it should get, and how much it counts."""

    text: str
    target: float
    weight: float


@dataclass
class Labels:
    """What a file held, with the lines that could not be used counted by reason."""

    texts: list[LabelledText] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    # By reason, the first line it happened on.
    first_line: dict[str, int] = field(default_factory=dict)

    def skip(self, reason: str, line: int) -> None:
        """Counts a line that is not used."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        self.first_line.setdefault(reason, line)


def read_labels(path: Path, impression_cap: float, strict: bool = False) -> Labels:
    """Reads a file of labels; `strict` makes the first bad line an error.

    Raises ValueError, naming file and line, for a bad line under `strict` and where no line is good.
    """
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    labels = Labels()
    parse = _from_json if path.suffix == ".jsonl" else _from_columns
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                labels.texts.append(parse(line.rstrip("\r\n"), impression_cap))
            except ValueError as error:
                if strict:
                    raise ValueError(f"{path}, line {number}: {error}") from error
                labels.skip(str(error), number)
    if not labels.texts:
        reasons = "; ".join(f"{reason} (line {labels.first_line[reason]})" for reason in labels.skipped)
        raise ValueError(f"{path}: there is no usable line in it. {reasons}".rstrip())
    return labels


def split(
    texts: list[LabelledText], validation_share: float
) -> tuple[list[LabelledText], list[LabelledText]]:
    """Training and validation texts, by a hash of the text: the same text is always on the same side."""
    training, validation = [], []
    for one in texts:
        digest = hashlib.blake2b(one.text.encode(), digest_size=8).digest()
        held_out = int.from_bytes(digest) < validation_share * 2**64
        (validation if held_out else training).append(one)
    return training, validation


def _from_columns(line: str, impression_cap: float) -> LabelledText:
    columns = line.split("\t")
    if len(columns) not in (2, 3):
        raise ValueError("not 2 or 3 columns")
    text, label = columns[0], columns[1]
    weight = _number(columns[2], "weight") if len(columns) == 3 else None
    if "/" not in label:
        return _labelled(text, _number(label, "label"), weight)
    clicks, impressions = label.split("/", 1)
    return _clicked(
        text, _number(clicks, "clicks"), _number(impressions, "impressions"), weight, impression_cap
    )


def _from_json(line: str, impression_cap: float) -> LabelledText:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError("not JSON") from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise ValueError("no object with a text")
    weight = _number(record["weight"], "weight") if "weight" in record else None
    if "label" in record:
        return _labelled(record["text"], _number(record["label"], "label"), weight)
    if "clicks" not in record or "impressions" not in record:
        raise ValueError("neither a label nor clicks and impressions")
    clicks = _number(record["clicks"], "clicks")
    impressions = _number(record["impressions"], "impressions")
    return _clicked(record["text"], clicks, impressions, weight, impression_cap)


def _clicked(
    text: str, clicks: float, impressions: float, weight: float | None, impression_cap: float
) -> LabelledText:
    if impressions <= 0:
        raise ValueError("no impressions")
    if clicks > impressions:
        raise ValueError("more clicks than impressions")
    if weight is None:
        weight = min(impressions, impression_cap)
    return _labelled(text, clicks / impressions, weight)


def _labelled(text: str, target: float, weight: float | None) -> LabelledText:
    if not 0 <= target <= 1:
        raise ValueError("label not between 0 and 1")
    if weight is not None and weight <= 0:
        raise ValueError("weight not above 0")
    return LabelledText(text, target, 1.0 if weight is None else weight)


def _number(value: object, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is no number") from error
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{name} is negative or not finite")
    return number
