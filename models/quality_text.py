"""Corpora for the page-quality model: pages, judgements, and the tokenizer made from the pages.

Reads the project's JSON lines of pages, queries and TREC judgements. The tokenizer is counted, not trained by
the library, whose trainer breaks ties by the order of a hash table: the same pages make the same tokenizer.
"""

import contextlib
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from random_tokenizers import ALPHABET, BERT_SPECIAL, most_useful, substring_counts

# Of a page's characters, those that the tokenizer is made from; the start of a text tells enough.
TOKENIZER_CHARACTERS = 4000
# Characters beyond ASCII that get pieces of their own.
OTHER_CHARACTERS = 200
# Of the vocabulary's pieces beyond single characters, how many are whole words; the rest are inner pieces.
WHOLE_WORD_SHARE = 0.85
# Runs of letters, of digits, or a single mark: what the tokenizer splits a text into.
WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
# Of ten parts, by a hash of the URL: which one is for testing, which one for stopping and calibration.
TEST_PART, VALIDATION_PART, PARTS = 0, 1, 10


class CorpusError(Exception):
    """A file of a corpus that cannot be used."""


@dataclass
class Corpus:
    """Pages in file order. `text` is title and text, as the model is given them."""

    urls: list[str]
    texts: list[str]
    in_links: numpy.ndarray
    # Between white space, of title and text.
    words: numpy.ndarray

    def parts(self) -> numpy.ndarray:
        """The part of each page, 0 to 9, by its URL alone."""
        return numpy.array([zlib.crc32(url.encode()) % PARTS for url in self.urls])


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Opens a plain, .gz or .zst file for reading."""
    if not path.is_file():
        raise CorpusError(f"{path} is missing")
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            yield stream
    elif path.suffix == ".zst":
        # Only where it is needed, so that plain files do without the package.
        import zstandard

        with path.open("rb") as packed:
            reader = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed)
            yield io.TextIOWrapper(reader, encoding="utf-8")
    else:
        with path.open(encoding="utf-8") as stream:
            yield stream


def read_corpus(path: Path) -> Corpus:
    """Reads pages; in-links are distinct other pages of the corpus that link to a page."""
    urls, texts, links = [], [], []
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                page = json.loads(line)
                urls.append(page["url"])
                texts.append(f"{page.get('title') or ''} {page.get('text') or ''}")
                links.append({link["url"] for link in page.get("outlinks") or []} - {page["url"]})
            except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
                raise CorpusError(f"{path}:{number}: not a page: {error}") from error
    if not urls:
        raise CorpusError(f"{path} holds no pages")
    if len(set(urls)) < len(urls):
        twice = next(url for url, times in Counter(urls).items() if times > 1)
        raise CorpusError(f"{path} holds {twice} twice")
    counts = Counter(url for targets in links for url in targets)
    return Corpus(
        urls,
        texts,
        in_links=numpy.array([counts[url] for url in urls], dtype=numpy.float64),
        words=numpy.array([len(text.split()) for text in texts], dtype=numpy.float64),
    )


def read_queries(path: Path, only: str | None = None, skip: str | None = None) -> dict[str, str]:
    """Query id to text, of those whose id begins with a match of `only` and not of `skip`."""
    queries = {}
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) < 2:
                raise CorpusError(f"{path}:{number}: a query needs an id and a text with a tab between")
            if wanted(fields[0], only, skip):
                queries[fields[0]] = fields[1]
    if not queries:
        raise CorpusError(f"{path} holds no queries, or none that --only-queries and --skip-queries leave")
    return queries


def wanted(query: str, only: str | None, skip: str | None) -> bool:
    """Whether a query of this id is used."""
    if only is not None and not re.match(only, query):
        return False
    return skip is None or not re.match(skip, query)


def read_relevant(path: Path, only: str | None = None, skip: str | None = None) -> set[str]:
    """URLs that are relevant, with a grade above 0, to at least one of the queries wanted."""
    relevant = set()
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.split()
            try:
                query, _, url, grade = fields
                if int(grade) > 0 and wanted(query, only, skip):
                    relevant.add(url)
            except ValueError as error:
                raise CorpusError(f"{path}:{number}: not a judgement: {line.strip()!r}") from error
    return relevant


def relevance(corpus: Corpus, relevant: set[str], source: Path) -> numpy.ndarray:
    """True for each relevant page; CorpusError where that would be no page, or every page."""
    labels = numpy.array([url in relevant for url in corpus.urls])
    if not labels.any() or labels.all():
        raise CorpusError(f"{source} calls {int(labels.sum())} of {len(labels)} pages relevant")
    return labels


def make_tokenizer(texts: list[str], vocabulary: int) -> Tokenizer:
    """A lower-casing WordPiece tokenizer of frequent words, inner pieces and single characters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Digits(individual_digits=False)]
    )
    words: Counter[str] = Counter()
    for text in texts:
        words.update(WORD.findall(tokenizer.normalizer.normalize_str(text[:TOKENIZER_CHARACTERS])))
    pieces = wordpieces(words, vocabulary)
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer.model = models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer.add_special_tokens(BERT_SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, ids[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def wordpieces(words: Counter[str], vocabulary: int) -> list[str]:
    """The pieces in the order of their ids: special, characters, words, then pieces of the other words."""
    counted: Counter[str] = Counter()
    for word, times in words.items():
        for character in word:
            counted[character] += times
    ascii_ones = {character.lower() for character in ALPHABET}
    others = sorted((one for one in counted if one not in ascii_ones), key=lambda one: (-counted[one], one))
    characters = sorted(ascii_ones) + others[:OTHER_CHARACTERS]
    fixed = [*BERT_SPECIAL, *characters, *("##" + character for character in characters)]
    room = vocabulary - len(fixed)
    if room < 0:
        raise CorpusError(
            f"a vocabulary of {vocabulary} is too small, the characters alone take {len(fixed)}"
        )
    long_ones = sorted((word for word in words if len(word) > 1), key=lambda word: (-words[word], word))
    whole = long_ones[: int(room * WHOLE_WORD_SHARE)]
    rest: Counter[str] = Counter({word: words[word] for word in long_ones[len(whole) :]})
    inner = substring_counts_of(rest)
    taken = set(whole)
    useful = (piece for piece in most_useful(inner, len(inner)) if piece not in taken)
    return fixed + whole + [piece for piece, _ in zip(useful, range(room - len(whole)), strict=False)]


def substring_counts_of(words: Counter[str]) -> Counter[str]:
    """Counts of the pieces of words, each word as often as it occurs; rare words are left out."""
    counts: Counter[str] = Counter()
    for word, times in words.items():
        if times > 2 or len(words) < 5000:
            for piece, once in substring_counts([word], inner_mark="##").items():
                counts[piece] += once * times
    return counts


def encode(tokenizer: Tokenizer, texts: list[str], seen: int) -> tuple[list[numpy.ndarray], numpy.ndarray]:
    """The first `seen` ids of each text, without special tokens, and how many there are in all."""
    ids, counts = [], []
    for start in range(0, len(texts), 1000):
        for one in tokenizer.encode_batch_fast(texts[start : start + 1000], add_special_tokens=False):
            counts.append(len(one.ids))
            ids.append(numpy.array(one.ids[:seen], dtype=numpy.int32))
    return ids, numpy.array(counts, dtype=numpy.float64)
