"""AUC of relevant against other pages, of a model and of the baselines it must beat.

Intervals are DeLong's (1988), 95 %, from the placements of each page among those of the other class.
"""

from dataclasses import asdict, dataclass

import numpy

# Two-sided 95 % of the normal distribution.
NORMAL_95 = 1.959964


@dataclass
class Area:
    """An AUC, or a difference of two, with its 95 % interval."""

    auc: float
    low: float
    high: float

    def rounded(self) -> dict[str, float]:
        """As it stands in figures.json."""
        return {name: round(value, 4) for name, value in asdict(self).items()}

    def __str__(self) -> str:
        return f"{self.auc:.3f} [{self.low:.3f}, {self.high:.3f}]"


def area(labels: numpy.ndarray, scores: numpy.ndarray) -> Area:
    """AUC and its interval; ties count half. Both classes must occur."""
    positive, negative = scores[labels], scores[~labels]
    if not len(positive) or not len(negative):
        raise ValueError("an AUC needs relevant pages and others")
    of_positive, of_negative = _placements(positive, negative), 1 - _placements(negative, positive)
    auc = float(of_positive.mean())
    variance = _variance(of_positive) / len(positive) + _variance(of_negative) / len(negative)
    half = NORMAL_95 * variance**0.5
    return Area(auc, max(0.0, auc - half), min(1.0, auc + half))


def gain(labels: numpy.ndarray, scores: numpy.ndarray, baseline: numpy.ndarray) -> Area:
    """How much larger the AUC of `scores` is than that of `baseline` on the same pages, with its interval."""
    above = [_placements(one[labels], one[~labels]) for one in (scores, baseline)]
    below = [1 - _placements(one[~labels], one[labels]) for one in (scores, baseline)]
    of_positive, of_negative = above[0] - above[1], below[0] - below[1]
    difference = float(of_positive.mean())
    variance = _variance(of_positive) / len(of_positive) + _variance(of_negative) / len(of_negative)
    half = NORMAL_95 * variance**0.5
    return Area(difference, difference - half, difference + half)


def _placements(those: numpy.ndarray, among: numpy.ndarray) -> numpy.ndarray:
    """For each value, the share of `among` that is below it, ties counting half."""
    ordered = numpy.sort(among)
    below = numpy.searchsorted(ordered, those, side="left")
    up_to = numpy.searchsorted(ordered, those, side="right")
    return (below + up_to) / (2 * len(among))


def _variance(values: numpy.ndarray) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def compare(
    labels: numpy.ndarray, model: numpy.ndarray, length: numpy.ndarray, in_links: numpy.ndarray
) -> dict[str, Area]:
    """The three areas of a set of pages, and what the model has over the baselines."""
    return {
        "model": area(labels, model),
        "text length": area(labels, length),
        "in-links": area(labels, in_links),
        "model - text length": gain(labels, model, length),
        "model - in-links": gain(labels, model, in_links),
    }


def table(rows: dict[str, dict[str, Area]]) -> str:
    """The areas as a Markdown table, a row per set of pages."""
    columns = list(next(iter(rows.values())))
    lines = [f"| Pages | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, areas in rows.items():
        lines.append(f"| {name} | {' | '.join(str(areas[column]) for column in columns)} |")
    return "\n".join(lines)
