"""Loads Hugging Face checkpoints with transformers and runs them as the reference.

What a Prospect model directory must reproduce is what `transformers` computes here, in float32, with the
plain ("eager") attention.
"""

from pathlib import Path

import numpy
import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    T5ForConditionalGeneration,
)

from model_directory import SENTENCE_EMBEDDING, SEQUENCE_CLASSIFIER, SEQUENCE_PAIR, T5_TRUE_FALSE

MODEL_CLASSES = {
    T5_TRUE_FALSE: T5ForConditionalGeneration,
    SEQUENCE_CLASSIFIER: AutoModelForSequenceClassification,
    SEQUENCE_PAIR: AutoModelForSequenceClassification,
    SENTENCE_EMBEDDING: AutoModel,
}


class CheckpointError(Exception):
    """A checkpoint that cannot be loaded or is not of the kind asked for."""


def check_place(checkpoint: str) -> None:
    """Raises CheckpointError for a path that leads nowhere or not to a checkpoint; hub names pass."""
    path = Path(checkpoint)
    if path.exists():
        if not (path / "config.json").is_file():
            raise CheckpointError(f"{checkpoint} holds no config.json: it is no Hugging Face checkpoint")
    elif path.is_absolute() or checkpoint.startswith(".") or len(path.parts) > 2:
        # Names on the hub have the form owner/name.
        raise CheckpointError(f"there is no directory {checkpoint}")


def load_model(checkpoint: str, kind: str) -> PreTrainedModel:
    """Loads the model in float32, ready for inference, from a local directory or by hub name.

    Raises CheckpointError where files are missing or some of the weights are not in the checkpoint.
    """
    check_place(checkpoint)
    try:
        model, loading = MODEL_CLASSES[kind].from_pretrained(
            checkpoint, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
        )
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"cannot load {checkpoint}: {error}\n"
            "hint: give the path of a downloaded checkpoint, or a hub name on a machine that reaches the hub"
        ) from error
    # transformers fills weights that are missing with random numbers and goes on. The pooler of a bare
    # encoder is the one part that may be missing, as embeddings do not pass through it.
    missing = [
        name
        for name in loading["missing_keys"]
        if not (kind == SENTENCE_EMBEDDING and name.startswith("pooler."))
    ]
    if missing or loading["mismatched_keys"]:
        named = ", ".join(sorted(missing)[:4]) or str(sorted(loading["mismatched_keys"])[:4])
        raise CheckpointError(
            f"{checkpoint} has no weights that fit {type(model).__name__} for {named}\n"
            "hint: a checkpoint that was only pre-trained has no classification head; use a fine-tuned one"
        )
    return model.eval()


def load_tokenizer(checkpoint: str) -> PreTrainedTokenizerBase:
    """Loads the tokenizer, converting a SentencePiece model where there is no tokenizer.json.

    Raises CheckpointError where there is none, or none that can be written as tokenizer.json.
    """
    check_place(checkpoint)
    try:
        tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    except (OSError, ValueError, KeyError) as error:
        raise CheckpointError(f"cannot load the tokenizer of {checkpoint}: {error}") from error
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise CheckpointError(f"the tokenizer of {checkpoint} cannot be written as tokenizer.json")
    if tokenizer.pad_token_id is None:
        raise CheckpointError(f"the tokenizer of {checkpoint} has no padding token")
    return tokenizer


def true_and_false(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> tuple[int, int]:
    """The ids of the answers, as monoT5 and QT5 take them: the one piece that each word encodes to.

    The words are "true" and "false" unless the configuration names others as `targets`, as the reference
    implementation of QT5 reads it.

    Raises CheckpointError where a word is not a single known piece.
    """
    ids = []
    words = getattr(model.config, "targets", None) or ("true", "false")
    if len(words) != 2:
        raise CheckpointError(f"the configuration must name two targets, it names {words}")
    for word in words:
        pieces = tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(pieces) != 1 or pieces[0] == tokenizer.unk_token_id:
            named = tokenizer.convert_ids_to_tokens(pieces)
            raise CheckpointError(f"the tokenizer must have {word!r} as one piece, it makes {named} of it")
        ids.append(pieces[0])
    return ids[0], ids[1]


def reference_output(model: PreTrainedModel, kind: str, feeds: dict[str, numpy.ndarray]) -> numpy.ndarray:
    """What PyTorch computes: logits [rows, n], for sentence embeddings hidden states [rows, length, dim].

    For T5 the logits are those of the whole vocabulary after one decoder step.
    """
    arguments = {
        "input_ids": torch.from_numpy(feeds["input_ids"]),
        "attention_mask": torch.from_numpy(feeds["attention_mask"]),
    }
    if kind == T5_TRUE_FALSE:
        start = model.config.decoder_start_token_id
        arguments["decoder_input_ids"] = torch.full((len(feeds["input_ids"]), 1), start)
    if kind == SEQUENCE_PAIR:
        arguments["token_type_ids"] = torch.from_numpy(feeds["token_type_ids"])
    with torch.inference_mode():
        output = model(**arguments)
    if kind == T5_TRUE_FALSE:
        return output.logits[:, 0].numpy()
    return (output.last_hidden_state if kind == SENTENCE_EMBEDDING else output.logits).numpy()
