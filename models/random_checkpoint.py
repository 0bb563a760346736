"""Makes Hugging Face checkpoints with random weights, for tests of everything that reads checkpoints.

    python models/random_checkpoint.py t5 /tmp/t5 --text README.md
    python models/random_checkpoint.py electra /tmp/electra --text README.md --size real --labels 2
    python models/random_checkpoint.py bert /tmp/encoder --text README.md --no-head

Their scores mean nothing. Unlike freshly initialised models they give outputs that differ from text to
text, and no two of their parameters agree, so that a weight read from the wrong place shows. The vocabulary
is taken from the given text. The same text, options and library versions make the same bytes.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    DistilBertModel,
    ElectraConfig,
    ElectraForSequenceClassification,
    ElectraModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaModel,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.utils import logging

from random_tokenizers import bert_tokenizer, t5_tokenizer

# What a row of a table of sizes means, by architecture; the real ones are those of published checkpoints.
T5_SIZES = {
    "tiny": {"d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 3},
    "real": {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "vocab_size": 32128},
}
T5_GATED_SIZES = {
    "tiny": T5_SIZES["tiny"],
    "real": {"d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 32128},
}
BERT_SIZES = {
    "tiny": {
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 40,
        "max_position_embeddings": 128,
    },
    # MiniLM-L6-H384.
    "real": {
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
        "max_position_embeddings": 512,
        "vocab_size": 30522,
    },
}
ELECTRA_SIZES = {
    "tiny": {**BERT_SIZES["tiny"], "embedding_size": 16},
    # ELECTRA-small.
    "real": {
        **BERT_SIZES["real"],
        "embedding_size": 128,
        "hidden_size": 256,
        "num_hidden_layers": 12,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
    },
}
DISTILBERT_SIZES = {
    "tiny": {"dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40, "max_position_embeddings": 128},
    "real": {
        "dim": 768,
        "n_layers": 6,
        "n_heads": 12,
        "hidden_dim": 3072,
        "max_position_embeddings": 512,
        "vocab_size": 30522,
    },
}
# By architecture: configuration, model with a head, model without one, sizes.
ARCHITECTURES = {
    "t5": (T5Config, T5ForConditionalGeneration, None, T5_SIZES),
    "t5-gated": (T5Config, T5ForConditionalGeneration, None, T5_GATED_SIZES),
    "bert": (BertConfig, BertForSequenceClassification, BertModel, BERT_SIZES),
    "electra": (ElectraConfig, ElectraForSequenceClassification, ElectraModel, ELECTRA_SIZES),
    "distilbert": (DistilBertConfig, DistilBertForSequenceClassification, DistilBertModel, DISTILBERT_SIZES),
    "roberta": (RobertaConfig, RobertaForSequenceClassification, RobertaModel, BERT_SIZES),
}


def main() -> int:
    """Runs the command line; returns its exit code."""
    parser = argparse.ArgumentParser(description="Makes a Hugging Face checkpoint with random weights.")
    parser.add_argument("architecture", choices=ARCHITECTURES)
    parser.add_argument("directory", type=Path, help="the checkpoint to write")
    parser.add_argument(
        "--text", type=Path, required=True, nargs="+", help="text files the vocabulary comes from"
    )
    parser.add_argument("--vocabulary", type=int, default=600, help="pieces at most; default: %(default)s")
    parser.add_argument("--size", choices=("tiny", "real"), default="tiny", help="default: %(default)s")
    parser.add_argument("--labels", type=int, default=2, help="logits of a classifier; default: %(default)s")
    parser.add_argument("--no-head", action="store_true", help="an encoder without a classification head")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument(
        "--config", default="{}", help="a JSON object of configuration values to set, e.g. '{\"d_ff\": 64}'"
    )
    options = parser.parse_args()
    missing = [str(path) for path in options.text if not path.is_file()]
    if missing:
        print(f"error: there is no file {', '.join(missing)}", file=sys.stderr)
        return 1
    if options.no_head and ARCHITECTURES[options.architecture][2] is None:
        print(f"error: {options.architecture} has no form without a head", file=sys.stderr)
        return 1
    logging.disable_progress_bar()
    make_checkpoint(
        options.architecture,
        options.directory,
        read_lines(options.text),
        vocabulary=options.vocabulary,
        size=options.size,
        labels=None if options.no_head else options.labels,
        seed=options.seed,
        overrides=json.loads(options.config),
    )
    print(f"{options.directory}: {options.architecture} with random weights")
    return 0


def read_lines(paths: Iterable[Path]) -> list[str]:
    """All lines of some text files that are not empty."""
    lines = [line.strip() for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line]


def make_checkpoint(
    architecture: str,
    directory: Path,
    lines: list[str],
    *,
    vocabulary: int = 600,
    size: str = "tiny",
    labels: int | None = 2,
    seed: int = 1,
    overrides: dict[str, object] | None = None,
) -> None:
    """Makes a tokenizer, draws weights and writes both. Without `labels` the model has no head."""
    is_t5 = architecture.startswith("t5")
    tokenizer = t5_tokenizer(lines, vocabulary) if is_t5 else bert_tokenizer(lines, vocabulary)
    config_class, with_head, without_head, sizes = ARCHITECTURES[architecture]
    values = {**sizes[size], **(overrides or {})}
    values["vocab_size"] = max(len(tokenizer), values.get("vocab_size", 0))
    values["pad_token_id"] = tokenizer.pad_token_id
    if is_t5:
        values["decoder_start_token_id"] = tokenizer.pad_token_id
        values["tie_word_embeddings"] = architecture == "t5"
        values["feed_forward_proj"] = "relu" if architecture == "t5" else "gated-gelu"
    elif labels is not None:
        values["num_labels"] = labels
    torch.manual_seed(seed)
    model_class = with_head if is_t5 or labels is not None else without_head
    model = model_class(config_class(**values))
    scatter_weights(model, architecture)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)


def scatter_weights(model: PreTrainedModel, architecture: str) -> None:
    """Redraws what initialisation leaves equal or near zero: norms, biases, BERT's small matrices."""
    with torch.no_grad():
        if architecture == "t5-gated":
            # v1.1 has an output layer of its own; tied weights would hide a mix-up. Its output is not
            # scaled down, so the weights are.
            model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.shared.weight) * 0.1)
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.add_(torch.randn_like(weight) * 0.2)
            elif "relative_attention_bias" in name:
                weight.normal_()
            elif not architecture.startswith("t5"):
                weight.normal_(std=weight.shape[1] ** -0.5)


if __name__ == "__main__":
    sys.exit(main())
