"""Which pages a workload would show: the top K of its queries by BM25, over the whole corpus.

Serves twice. Without judgements, a page is positive if it enters the top K of a query. With them, the share
of the results that a page takes (weights falling with the rank, over the first 50) is a second
target, which every page of the corpus has and not only the few that were judged.
"""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy

K1, B = 0.9, 0.4
# Ranks that count for the soft target.
SOFT_RANKS = 50
WORD = re.compile(r"[^\W_]+")


@dataclass
class Shown:
    """Per page: whether it is in the top K of a query, and the discounted sum over its ranks."""

    in_top: numpy.ndarray
    soft: numpy.ndarray


def shown_pages(texts: list[str], queries: list[str], top: int) -> Shown:
    """Ranks all pages for every query; of equal scores the earlier page of the corpus comes first."""
    asked = [Counter(WORD.findall(query.lower())) for query in queries]
    needed = {word for words in asked for word in words}
    pages: dict[str, list[int]] = defaultdict(list)
    times: dict[str, list[int]] = defaultdict(list)
    lengths = numpy.zeros(len(texts))
    for number, text in enumerate(texts):
        words = WORD.findall(text.lower())
        lengths[number] = len(words)
        for word, count in Counter(word for word in words if word in needed).items():
            pages[word].append(number)
            times[word].append(count)
    norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
    weights = {}
    for word, numbers in pages.items():
        found, count = numpy.array(numbers), numpy.array(times[word])
        idf = math.log(1 + (len(texts) - len(found) + 0.5) / (len(found) + 0.5))
        weights[word] = (found, idf * count * (K1 + 1) / (count + norm[found]))
    in_top = numpy.zeros(len(texts), dtype=bool)
    soft = numpy.zeros(len(texts))
    for words in asked:
        scores = numpy.zeros(len(texts))
        for word, repeated in words.items():
            if word in weights:
                found, weight = weights[word]
                scores[found] += repeated * weight
        ranked = numpy.argsort(-scores, kind="stable")[: max(top, SOFT_RANKS)]
        ranked = ranked[scores[ranked] > 0]
        in_top[ranked[:top]] = True
        soft[ranked[:SOFT_RANKS]] += 1 / numpy.log2(2 + numpy.arange(len(ranked[:SOFT_RANKS])))
    return Shown(in_top, soft)
