"""Tokenizers for random checkpoints, laid out as those of T5 and BERT, with a vocabulary from given text.

The trainers of `tokenizers` would choose better pieces, but different ones on every run, as they break ties
by the order of a hash table. Here the pieces are counted, so that the same text makes the same tokenizer.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

T5_SPECIAL = ["<pad>", "</s>", "<unk>"]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LONGEST_PIECE = 10
# Pieces that every vocabulary has, so that no plain text falls apart into unknown tokens.
ALPHABET = [chr(code) for code in range(ord("!"), ord("~") + 1)]


def wrapped(**arguments: object) -> PreTrainedTokenizerFast:
    """A tokenizer of transformers, which is loaded here alone: who counts pieces does without."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(**arguments)


def t5_tokenizer(lines: list[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A unigram tokenizer laid out as T5's, with `true` and `false` as pieces."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    words = words_of(tokenizer, lines)
    characters = sorted({"▁", *ALPHABET, *(character for word in words for character in word)})
    answers = ["▁true", "▁false"]
    counts = substring_counts(words, inner_mark="")
    room = vocabulary - len(T5_SPECIAL) - len(characters) - len(answers)
    chosen = [piece for piece in most_useful(counts, vocabulary) if piece not in answers][:room]
    pieces = [*answers, *chosen, *characters]
    total = math.log(sum(counts[piece] + 1 for piece in pieces))
    scored = [(piece, round(math.log(counts[piece] + 1) - total, 4)) for piece in pieces]
    special = [(piece, 0.0) for piece in T5_SPECIAL]
    tokenizer.model = models.Unigram(special + scored, unk_id=T5_SPECIAL.index("<unk>"))
    tokenizer.add_special_tokens(T5_SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", T5_SPECIAL.index("</s>"))]
    )
    return wrapped(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def bert_tokenizer(lines: list[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer laid out as BERT's, with its templates for texts and pairs."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words = words_of(tokenizer, lines)
    characters = sorted({character.lower() for character in ALPHABET} | set("".join(words)))
    counts = substring_counts(words, inner_mark="##")
    fixed = [*BERT_SPECIAL, *characters, *("##" + character for character in characters)]
    pieces = fixed + most_useful(counts, vocabulary - len(fixed))
    ids = {piece: number for number, piece in enumerate(pieces)}
    tokenizer.model = models.WordPiece(ids, unk_token="[UNK]")
    tokenizer.add_special_tokens(BERT_SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, ids[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    return wrapped(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def words_of(tokenizer: Tokenizer, lines: list[str]) -> list[str]:
    """The words that a tokenizer's model is given, in order, with repetitions."""
    normal = (tokenizer.normalizer.normalize_str(line) for line in lines)
    return [word for line in normal for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(line)]


def substring_counts(words: list[str], inner_mark: str) -> Counter[str]:
    """How often each substring occurs; one that does not start its word has `inner_mark` before it."""
    counts: Counter[str] = Counter()
    for word, times in Counter(words).items():
        for start in range(len(word)):
            mark = inner_mark if start > 0 else ""
            for end in range(start + 1, min(len(word), start + LONGEST_PIECE) + 1):
                counts[mark + word[start:end]] += times
    return counts


def most_useful(counts: Counter[str], room: int) -> list[str]:
    """The pieces of several characters that save most tokens; equal ones in alphabetical order."""
    saved = {piece: times * (len(piece.removeprefix("##")) - 1) for piece, times in counts.items()}
    useful = [piece for piece, tokens in saved.items() if tokens > 0]
    return sorted(useful, key=lambda piece: (-saved[piece], piece))[: max(room, 0)]
