"""Fine-tunes a QT5 checkpoint on click labels, and writes a checkpoint that export_model.py takes.

    python models/finetune_qt5.py path/to/qt5-small labels.tsv tuned
    python models/export_model.py t5 tuned/best qt5-tuned.model

The loss is the cross-entropy between the share of clicks and P(true), the softmax over `true` and `false`
after the prompt; the model's score stays what it was: ln P(true). Every so many steps the texts held out
are scored. The best model so far is kept in `best/`; `resume.pt` holds all that a run needs to go on after
an interruption as if there had been none. The format of the labels stands in click_labels.py.
"""

import argparse
import sys
from pathlib import Path

from transformers.utils import logging

from checkpoints import CheckpointError
from qt5_trainer import Trainer


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns its exit code."""
    options = parse(arguments)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        Trainer(options).run()
    except (CheckpointError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Fine-tunes a QT5 checkpoint on click labels.")
    parser.add_argument("checkpoint", help="directory of a checkpoint, or its name on the hub")
    parser.add_argument("labels", type=Path, help=".tsv or .jsonl; see models/README.md for the format")
    parser.add_argument("directory", type=Path, help="the folder to write best/ and resume.pt to")
    add = parser.add_argument
    shown = "default: %(default)s"
    add("--resume", action="store_true", help="go on with the run that resume.pt is of")
    add("--strict", action="store_true", help="stop at the first bad line of the labels")
    add("--prompt", default="Document: {text} Relevant:", help=shown)
    add("--truncation", choices=("text", "prompt"), default="text", help="as in export_model.py; " + shown)
    add("--max-tokens", type=int, default=512, help=shown)
    add("--batch", type=int, default=16, help="texts a step; " + shown)
    add("--learning-rate", type=float, default=1e-4, help=shown)
    add("--epochs", type=int, default=3, help="passes over the labels at most; " + shown)
    add("--warmup", type=float, default=0.1, help="share of all steps in which the rate rises; " + shown)
    add("--weight-decay", type=float, default=0.01, help=shown)
    add("--validation-share", type=float, default=0.1, help="share of the texts that is held out; " + shown)
    add("--evaluate-every", type=int, default=500, help="steps between validations; " + shown)
    add(
        "--stop-on",
        choices=("log-loss", "auc"),
        default="log-loss",
        help="what the best is best in; " + shown,
    )
    add("--patience", type=int, default=3, help="validations without a better one until it stops; " + shown)
    add("--impression-cap", type=float, default=100, help="largest weight that impressions give; " + shown)
    add(
        "--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="auto: bfloat16 on a GPU"
    )
    add("--device", default="auto", help="cpu, cuda, cuda:1 …; auto: the first GPU where there is one")
    add("--seed", type=int, default=1, help=shown)
    options = parser.parse_args(arguments)
    for name in ("batch", "epochs", "evaluate_every", "patience", "max_tokens"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if not 0 < options.validation_share < 1 or not 0 <= options.warmup < 1:
        parser.error("--validation-share and --warmup are shares between 0 and 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
