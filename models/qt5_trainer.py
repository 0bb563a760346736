"""The training of a QT5 checkpoint on click labels: steps, validation, and going on after an interruption.

The command line in front of it is finetune_qt5.py.
"""

import argparse
import hashlib
import json
import math
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import torch
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, T5ForConditionalGeneration

from checkpoints import load_model, load_tokenizer, true_and_false
from click_labels import LabelledText, read_labels, split
from model_directory import T5_TRUE_FALSE, ModelSettings
from model_rows import RowMaker, padded_batch

# Gradients are scaled down to this norm, which keeps a rare batch from undoing many.
LARGEST_GRADIENT = 1.0
# Within so many batches texts are grouped by length, so that batches carry little padding and still differ
# from epoch to epoch.
GROUPED_BATCHES = 32
# What must be equal between a run and its continuation, as all of it shapes the order or size of the steps.
FINGERPRINT = (
    "checkpoint prompt truncation max_tokens batch learning_rate epochs warmup weight_decay "
    "validation_share evaluate_every stop_on patience impression_cap seed"
).split()


@dataclass
class Validation:
    """How the model does on the texts held out."""

    log_loss: float
    # None where all held-out texts are equally good.
    auc: float | None


class Trainer:
    """One run, from the labels to the best checkpoint."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.resume_path = options.directory / "resume.pt"
        if self.resume_path.exists() and not options.resume:
            raise ValueError(f"{self.resume_path} is of an earlier run; --resume goes on with it")
        self.device = pick_device(options.device)
        self.bfloat16 = uses_bfloat16(options.precision, self.device)
        torch.manual_seed(options.seed)
        self.tokenizer = load_tokenizer(options.checkpoint)
        self.model = load_model(options.checkpoint, T5_TRUE_FALSE).to(self.device)
        self.answers = list(true_and_false(self.tokenizer, self.model))
        self.rows = row_maker(options, self.tokenizer)
        self.training, self.validation = read_and_split(options)
        self.mean_weight = sum(one.weight for one in self.training) / len(self.training)
        self.steps_per_epoch = math.ceil(len(self.training) / options.batch)
        self.steps = self.steps_per_epoch * options.epochs
        self.optimizer = optimizer_of(self.model, options)
        self.step = 0
        self.best: float | None = None
        self.since_best = 0
        if options.resume:
            self.load()

    def run(self) -> None:
        """Trains to the end or until validation stops getting better."""
        if self.step == 0:
            self.validate()
        while self.step < self.steps and self.since_best < self.options.patience:
            for batch in self.remaining_batches():
                self.train(batch)
                if self.step % self.options.evaluate_every == 0 or self.step == self.steps:
                    self.validate()
                    if self.since_best >= self.options.patience:
                        break
        print(f"the best model is in {self.options.directory / 'best'}; export it with", file=sys.stderr)
        print(f"    export_model.py t5 {self.options.directory / 'best'} MODEL_DIRECTORY", file=sys.stderr)

    def remaining_batches(self) -> Iterator[list[LabelledText]]:
        """The batches of the epoch that the next step is in, without those already done."""
        epoch, done = divmod(self.step, self.steps_per_epoch)
        yield from epoch_batches(self.training, self.options.batch, self.options.seed, epoch)[done:]

    def train(self, batch: list[LabelledText]) -> None:
        """One step."""
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate * self.rate(self.step + 1)
        targets = torch.tensor([one.target for one in batch], device=self.device)
        weights = torch.tensor([one.weight / self.mean_weight for one in batch], device=self.device)
        losses = cross_entropy(self.log_probabilities(batch), targets)
        # Divided by rows and not by their weights: a batch of light rows makes a small step.
        (losses * weights).mean().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1

    def rate(self, step: int) -> float:
        """Share of the learning rate at a step: rises linearly, then falls linearly to 0."""
        rising = max(1, round(self.options.warmup * self.steps))
        return min(step / rising, (self.steps - step + 1) / max(1, self.steps - rising + 1))

    def log_probabilities(self, batch: list[LabelledText]) -> torch.Tensor:
        """ln P of true and of false, [texts, 2], in float32."""
        rows = [self.rows.rows(one.text)[0] for one in batch]
        feeds = padded_batch(rows, self.tokenizer.pad_token_id)
        start = torch.full((len(batch), 1), self.model.config.decoder_start_token_id, device=self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bfloat16):
            output = self.model(
                input_ids=torch.from_numpy(feeds["input_ids"]).to(self.device),
                attention_mask=torch.from_numpy(feeds["attention_mask"]).to(self.device),
                decoder_input_ids=start,
                use_cache=False,
            )
        return torch.log_softmax(output.logits[:, 0, self.answers].float(), dim=1)

    def validate(self) -> None:
        """Scores the held-out texts, keeps the model if it is the best so far, saves the run."""
        found = self.score_held_out()
        print(json.dumps({"step": self.step, "of": self.steps, **vars(found)}), flush=True)
        value = found.log_loss if self.options.stop_on == "log-loss" else -found.auc
        if self.best is None or value < self.best:
            self.best, self.since_best = value, 0
            self.model.save_pretrained(self.options.directory / "best")
            self.tokenizer.save_pretrained(self.options.directory / "best")
        else:
            self.since_best += 1
        self.save()

    def score_held_out(self) -> Validation:
        """Validation metrics of the model as it is."""
        self.model.eval()
        parts = []
        with torch.inference_mode():
            for start in range(0, len(self.validation), self.options.batch):
                parts.append(self.log_probabilities(self.validation[start : start + self.options.batch]))
        scores = torch.cat(parts).double().cpu()
        targets = torch.tensor([one.target for one in self.validation], dtype=torch.float64)
        weights = torch.tensor([one.weight for one in self.validation], dtype=torch.float64)
        log_loss = (cross_entropy(scores, targets) * weights).sum() / weights.sum()
        if not log_loss.isfinite():
            raise ValueError(f"the model gives no numbers after step {self.step}; lower --learning-rate")
        auc = weighted_auc(scores[:, 0].numpy(), targets.numpy(), weights.numpy())
        if auc is None and self.options.stop_on == "auc":
            raise ValueError("all held-out texts are equally good: there is no AUC to stop on")
        return Validation(log_loss.item(), auc)

    def save(self) -> None:
        """Writes resume.pt whole or not at all."""
        state = {
            "fingerprint": self.fingerprint(),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "best": self.best,
            "since_best": self.since_best,
            "random": torch.get_rng_state(),
            "random_of_gpus": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
        }
        partial = self.resume_path.with_suffix(".partial")
        torch.save(state, partial)
        os.replace(partial, self.resume_path)

    def load(self) -> None:
        """Takes up the run that resume.pt is of.

        Raises ValueError where there is none, or where it was started with other options or labels.
        """
        if not self.resume_path.is_file():
            raise ValueError(f"{self.resume_path} is missing: there is no run to go on with")
        state = torch.load(self.resume_path, map_location="cpu", weights_only=True)
        for name, value in self.fingerprint().items():
            if state["fingerprint"].get(name) != value:
                raise ValueError(
                    f"{self.resume_path} is of a run with another {name} "
                    f"({state['fingerprint'].get(name)}, now {value})"
                )
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.best, self.since_best = state["step"], state["best"], state["since_best"]
        torch.set_rng_state(state["random"])
        if state["random_of_gpus"]:
            torch.cuda.set_rng_state_all(state["random_of_gpus"])

    def fingerprint(self) -> dict[str, object]:
        """What the steps of this run depend on."""
        found = {name: getattr(self.options, name) for name in FINGERPRINT}
        found["labels"] = hashlib.blake2b(self.options.labels.read_bytes(), digest_size=16).hexdigest()
        return found


def row_maker(options: argparse.Namespace, tokenizer: PreTrainedTokenizerBase) -> RowMaker:
    """Cuts texts as the exported model will have them cut."""
    settings = ModelSettings(
        "fine-tuning", T5_TRUE_FALSE, options.max_tokens, prompt=options.prompt, truncation=options.truncation
    )
    settings.check()
    maker = RowMaker(settings, Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()))
    maker.check_room()
    return maker


def read_and_split(options: argparse.Namespace) -> tuple[list[LabelledText], list[LabelledText]]:
    """Training and validation texts, with what was skipped told on standard error."""
    labels = read_labels(options.labels, options.impression_cap, options.strict)
    for reason, count in labels.skipped.items():
        first = labels.first_line[reason]
        print(f"skipped {count} lines of {options.labels}: {reason} (first: line {first})", file=sys.stderr)
    training, validation = split(labels.texts, options.validation_share)
    if not training or not validation:
        raise ValueError(
            f"{options.labels}: {len(labels.texts)} texts give {len(training)} to train on and "
            f"{len(validation)} to validate on; both must be there"
        )
    print(f"{len(training)} texts to train on, {len(validation)} to validate on", file=sys.stderr)
    return training, validation


def epoch_batches(texts: list[LabelledText], size: int, seed: int, epoch: int) -> list[list[LabelledText]]:
    """All batches of an epoch, in an order that depends on nothing but the seed and the epoch."""
    shuffle = random.Random(f"{seed} {epoch}").shuffle
    order = list(texts)
    shuffle(order)
    grouped = []
    for start in range(0, len(order), size * GROUPED_BATCHES):
        group = sorted(order[start : start + size * GROUPED_BATCHES], key=lambda one: len(one.text))
        grouped += [group[first : first + size] for first in range(0, len(group), size)]
    shuffle(grouped)
    return grouped


def cross_entropy(log_probabilities: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Per text, between the target and P(true)."""
    return -(targets * log_probabilities[:, 0] + (1 - targets) * log_probabilities[:, 1])


def weighted_auc(scores: numpy.ndarray, targets: numpy.ndarray, weights: numpy.ndarray) -> float | None:
    """Area under the ROC curve, where a text counts `target` times as good and 1 - `target` times as bad."""
    good, bad = weights * targets, weights * (1 - targets)
    if good.sum() == 0 or bad.sum() == 0:
        return None
    labels = numpy.repeat([1, 0], len(scores))
    return float(roc_auc_score(labels, numpy.tile(scores, 2), sample_weight=numpy.concatenate([good, bad])))


def optimizer_of(model: T5ForConditionalGeneration, options: argparse.Namespace) -> torch.optim.AdamW:
    """AdamW; the scales of norms are not decayed, as pulling them to 0 would silence whole layers."""
    decayed = [weight for weight in model.parameters() if weight.dim() > 1]
    kept = [weight for weight in model.parameters() if weight.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": kept, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate)


def pick_device(name: str) -> torch.device:
    """The device by its name; auto is the first GPU, or the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"there is no device {name}") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device {name} was asked for, but PyTorch sees no GPU")
    return device


def uses_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether to compute in mixed precision. float16 is no choice: activations of T5 exceed its range."""
    if precision != "auto":
        return precision == "bfloat16"
    return device.type == "cuda" and torch.cuda.is_bf16_supported()
