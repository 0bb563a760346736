"""What the page-quality model knows before any label: word vectors, pooled texts, and synthetic junk.

The vectors are the leading eigenvectors of the positive pointwise mutual information of tokens that stand
near each other in the pages. They are not trained on labels: vectors that were learned the
labels of one site by heart within two passes, and scored another site hardly better than chance.
"""

import numpy
import scipy.sparse
import torch
from scipy.sparse.linalg import eigsh

from quality_network import QualityNetwork
from random_tokenizers import BERT_SPECIAL

# Tokens this far apart, or nearer, are counted as neighbours, with weight 1 / distance.
WINDOW = 5
# Frequencies of contexts are raised to this, as word2vec does, so that rare contexts do not dominate.
CONTEXT_POWER = 0.75
# Texts whose pairs are counted at a time; bounds memory.
CHUNK = 6000


def word_vectors(ids: list[numpy.ndarray], vocabulary: int, dims: int) -> numpy.ndarray:
    """A vector per token, most important dimension first, with a standard deviation of about 1."""
    counts = scipy.sparse.csr_matrix((vocabulary, vocabulary))
    gap = numpy.zeros(WINDOW, dtype=numpy.int32)
    for start in range(0, len(ids), CHUNK):
        # Special tokens are 0 to 4; those between texts keep them apart.
        line = numpy.concatenate([part for one in ids[start : start + CHUNK] for part in (one, gap)])
        for distance in range(1, WINDOW + 1):
            left, right = line[:-distance], line[distance:]
            real = (left > 0) & (right > 0)
            weights = numpy.full(int(real.sum()), 1 / distance)
            pairs = (left[real], right[real])
            counts = counts + scipy.sparse.coo_matrix((weights, pairs), shape=counts.shape).tocsr()
    both = (counts + counts.T).tocoo()
    total = numpy.asarray(both.sum(axis=1)).ravel() + 1e-9
    context = total**CONTEXT_POWER / (total**CONTEXT_POWER).sum()
    # Symmetric, so that eigenvectors serve: the geometric mean of the two directions.
    information = numpy.log(both.data) - 0.5 * (
        numpy.log(total[both.row] * context[both.col]) + numpy.log(total[both.col] * context[both.row])
    )
    positive = information > 0
    matrix = scipy.sparse.csr_matrix(
        (information[positive], (both.row[positive], both.col[positive])), shape=both.shape
    )
    dims = min(dims, vocabulary - 2)
    values, vectors = eigsh(matrix, k=dims, v0=numpy.ones(vocabulary), which="LM")
    order = numpy.argsort(-numpy.abs(values), kind="stable")
    vectors = vectors[:, order] * numpy.sqrt(numpy.abs(values[order]))
    # The sign of an eigenvector is arbitrary; the larger side is made positive.
    vectors = vectors * numpy.where(vectors.sum(axis=0) < 0, -1.0, 1.0)
    return (vectors / vectors.std()).astype(numpy.float32)


def pool_texts(network: QualityNetwork, ids: list[numpy.ndarray]) -> torch.Tensor:
    """The pooled features of many texts, computed on batches of texts of like lengths."""
    pooled = torch.zeros(len(ids), network.shape.features)
    order = numpy.argsort([len(one) for one in ids], kind="stable")
    for start in range(0, len(order), 64):
        batch = order[start : start + 64]
        longest = max(2, max(len(ids[number]) for number in batch))
        rows = numpy.zeros((len(batch), longest), dtype=numpy.int64)
        for row, number in enumerate(batch):
            rows[row, : len(ids[number])] = ids[number]
        tensor = torch.from_numpy(rows)
        with torch.no_grad():
            pooled[torch.from_numpy(batch)] = network.pool(tensor, (tensor != 0).long())
    return pooled


class JunkMaker:
    """Token sequences such as crawls are full of, made from the pages: negatives that no corpus labels.

    Encyclopedias hold no listings, calendars or crawler traps; without these a head trained on one has
    never seen what most of the web is like.
    """

    def __init__(self, ids: list[numpy.ndarray], vocabulary: int, seen: int, seed: int) -> None:
        self.ids = [one for one in ids if len(one) >= 40] or [one for one in ids if len(one)]
        self.vocabulary = vocabulary
        self.seen = seen
        self.random = numpy.random.default_rng(seed)
        self.kinds = [
            self._title_list,
            self._repeated_window,
            self._random_tokens,
            self._few_tokens,
            self._stub,
            self._template,
            self._shuffled,
        ]

    def make(self, count: int) -> tuple[list[numpy.ndarray], numpy.ndarray]:
        """Sequences, and the tokens of the whole text that each claims to be cut from."""
        sequences, lengths = [], []
        for number in range(count):
            size = int(numpy.exp(self.random.uniform(numpy.log(20), numpy.log(self.seen))))
            sequence = self.kinds[number % len(self.kinds)](size)[: self.seen].astype(numpy.int32)
            sequences.append(sequence)
            lengths.append(int(len(sequence) * numpy.exp(self.random.uniform(0, 3))))
        return sequences, numpy.array(lengths, dtype=numpy.float64)

    def _text(self) -> numpy.ndarray:
        return self.ids[self.random.integers(len(self.ids))]

    def _window(self, low: int, high: int) -> numpy.ndarray:
        """Some neighbouring tokens from anywhere in a text."""
        text = self._text()
        start = int(self.random.integers(0, max(1, len(text) - high)))
        return text[start : start + int(self.random.integers(low, high))]

    def _title_list(self, size: int) -> numpy.ndarray:
        parts = [self._text()[: int(self.random.integers(1, 6))] for _ in range(size // 3 + 1)]
        return numpy.concatenate(parts)[:size]

    def _repeated_window(self, size: int) -> numpy.ndarray:
        window = self._window(4, 40)
        return numpy.tile(window, size // len(window) + 1)[:size]

    def _random_tokens(self, size: int) -> numpy.ndarray:
        return self.random.integers(len(BERT_SPECIAL), self.vocabulary, size)

    def _few_tokens(self, size: int) -> numpy.ndarray:
        """Any of a dozen frequent tokens, as in tables of numbers."""
        end = min(self.vocabulary, len(BERT_SPECIAL) + 600)
        few = self.random.integers(len(BERT_SPECIAL), end, 12)
        return self.random.choice(few, size)

    def _stub(self, size: int) -> numpy.ndarray:
        """A few words, or nothing, whatever the size."""
        return self._window(0, 30)

    def _template(self, size: int) -> numpy.ndarray:
        """One form of words again and again, with something else in it each time."""
        form = self._window(3, 12)
        times = size // (len(form) + 3) + 1
        parts = [part for _ in range(times) for part in (form, self._window(1, 5))]
        return numpy.concatenate(parts)[:size]

    def _shuffled(self, size: int) -> numpy.ndarray:
        """The words of a text without their order."""
        return self.random.permutation(self._text()[:size])
