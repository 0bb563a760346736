"""The command line of `train_quality.py`."""

import argparse
from pathlib import Path


def parse_arguments(arguments: list[str], description: str | None = None) -> argparse.Namespace:
    """The options; exits with a message for those that cannot be."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=Path, required=True, help="JSON lines, plain, .gz or .zst")
    parser.add_argument("--queries", type=Path, required=True, help="query id <tab> query [<tab> ...]")
    parser.add_argument("--qrels", type=Path, help="TREC judgements; without them the workload labels")
    parser.add_argument(
        "--workload-labels",
        action="store_true",
        help="train on the workload's labels all the same, and use the judgements to measure only",
    )
    parser.add_argument("--only-queries", metavar="REGEX", help="use queries whose id starts with this")
    parser.add_argument("--skip-queries", metavar="REGEX", help="do not use those whose id starts with this")
    parser.add_argument("--output", type=Path, required=True, help="model directory to make")
    parser.add_argument(
        "--evaluate", metavar="NAME=PAGES:QRELS", action="append", default=[], help="may be repeated"
    )
    parser.add_argument("--write-scores", type=Path, metavar="DIR", help="NAME.tsv for each --evaluate")
    parser.add_argument("--name", default="page-quality", help="of the model")
    parser.add_argument("--top", type=int, default=10, help="K of the workload's top K")
    parser.add_argument("--vocabulary", type=int, default=8000, help="tokens")
    parser.add_argument("--max-tokens", type=int, default=512, help="of a text that are read")
    parser.add_argument("--dims", type=int, default=48, help="of a word vector")
    parser.add_argument(
        "--product-dims", type=int, default=48, help="of them, multiplied with the neighbour's"
    )
    parser.add_argument("--hidden", type=int, default=64, help="hidden units of one head")
    parser.add_argument("--heads", type=int, default=6, help="that are averaged")
    parser.add_argument("--epochs", type=int, default=12, help="at most")
    parser.add_argument("--junk-share", type=float, default=0.3, help="junk texts for each page")
    parser.add_argument("--soft-blend", type=float, default=2.0, help="of the workload's shares in the logit")
    parser.add_argument(
        "--length-weight", type=float, default=0.4, help="of a text's length, in units of the content's"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.output.exists() and any(options.output.iterdir()):
        parser.error(f"{options.output} is not empty")
    if options.workload_labels and not options.qrels:
        parser.error("--workload-labels says what to do with --qrels, which is not given")
    for name in ("top", "heads", "epochs", "dims", "product_dims", "hidden"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if options.product_dims > options.dims:
        parser.error("--product-dims must not be more than --dims")
    if options.max_tokens < 8:
        parser.error("--max-tokens must be at least 8")
    for one in options.evaluate:
        if "=" not in one or ":" not in one:
            parser.error(f"--evaluate {one}: write NAME=PAGES:QRELS")
    return options
