"""Measures how many texts a second Python's ONNX Runtime scores with a model directory.

    python models/bench_onnxruntime.py qt5-small.model --tokens 256 --threads 2
    python models/bench_onnxruntime.py qt5-small.model --from text --text-file pages.txt

The yardstick for the Rust side: same graph, same rows. Texts are sorted by length before they are cut into
batches, as anyone would do who wants speed. `--from ids` times the graph alone; `--from text` also the
tokenizer, in as many threads. Prints one JSON object: the median of the repetitions, and all of them.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnxruntime
from tokenizers import Tokenizer

from model_directory import read_settings
from model_rows import Row, RowMaker, padded_batch
from parity import open_session, run_session

SCHEMA = "prospect-bench-onnxruntime 1"


@dataclass
class Work:
    """What one repetition does."""

    texts: int
    # Makes the rows of all texts; trivial where they are given as ids.
    rows: Callable[[], list[Row]]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns its exit code."""
    options = parse(arguments)
    try:
        print(json.dumps(measure(options)))
    except (FileNotFoundError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Measures texts a second of a model directory.")
    parser.add_argument("directory", type=Path, help="a model directory")
    parser.add_argument(
        "--from",
        choices=("ids", "text"),
        default="ids",
        dest="source",
        help="what is timed: the graph alone (ids, the default), or the tokenizer too (text)",
    )
    parser.add_argument("--text-file", type=Path, help="a text a line; without it, random token ids")
    parser.add_argument("--query", default="", help="for sequence-pair models with --text-file")
    parser.add_argument("--texts", type=int, default=256, help="how many at most; default: %(default)s")
    parser.add_argument("--tokens", type=int, default=256, help="of a random text; default: %(default)s")
    parser.add_argument("--batch", type=int, default=16, help="rows of a batch; default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; default: %(default)s")
    options = parser.parse_args(arguments)
    if options.source == "text" and options.text_file is None:
        parser.error("--from text needs a --text-file")
    if min(options.texts, options.tokens, options.batch, options.threads, options.repeat) < 1:
        parser.error("all numbers must be at least 1")
    return options


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Runs all repetitions; the result is the line to print.

    Raises FileNotFoundError or ValueError where model or texts cannot be used.
    """
    settings = read_settings(options.directory)
    session = open_session(options.directory / "model.onnx", options.threads)
    with ThreadPoolExecutor(options.threads) as pool:
        work = prepare(options, pool)
        rows = work.rows()
        # The first run of a graph allocates its memory.
        run_session(session, padded_batch(rows[: options.batch], settings.pad_id))
        seconds = []
        for _ in range(options.repeat):
            started = time.perf_counter()
            ordered = sorted(work.rows(), key=lambda row: len(row.ids))
            for first in range(0, len(ordered), options.batch):
                run_session(session, padded_batch(ordered[first : first + options.batch], settings.pad_id))
            seconds.append(time.perf_counter() - started)
    return {
        "schema": SCHEMA,
        "model": settings.name,
        "kind": settings.kind,
        "from": options.source,
        "texts": work.texts,
        "rows": len(rows),
        "mean_tokens": round(statistics.mean(len(row.ids) for row in rows), 1),
        "batch": options.batch,
        "threads": options.threads,
        "texts_per_second": round(work.texts / statistics.median(seconds), 1),
        "seconds": [round(one, 4) for one in seconds],
        "onnxruntime": onnxruntime.__version__,
    }


def prepare(options: argparse.Namespace, pool: ThreadPoolExecutor) -> Work:
    """What to time: rows that are there already, or their making from texts."""
    settings = read_settings(options.directory)
    tokenizer = Tokenizer.from_file(str(options.directory / "tokenizer.json"))
    if options.text_file is None:
        if options.tokens > settings.max_tokens:
            raise ValueError(f"--tokens is {options.tokens}, the model takes {settings.max_tokens} at most")
        random = numpy.random.default_rng(1)
        ids = random.integers(0, tokenizer.get_vocab_size(), (options.texts, options.tokens)).tolist()
        made = [Row(ids=row, whole_tokens=options.tokens) for row in ids]
        return Work(len(made), lambda: made)
    if not options.text_file.is_file():
        raise ValueError(f"{options.text_file}: there is no such file")
    texts = options.text_file.read_text(encoding="utf-8").splitlines()[: options.texts]
    if not texts:
        raise ValueError(f"{options.text_file}: there is no text in it")
    maker = RowMaker(settings, tokenizer)

    def tokenized() -> list[Row]:
        # The tokenizer leaves Python's lock while it works, so threads do run side by side.
        return [row for rows in pool.map(lambda text: maker.rows(text, options.query), texts) for row in rows]

    if options.source == "text":
        return Work(len(texts), tokenized)
    made = tokenized()
    return Work(len(texts), lambda: made)


if __name__ == "__main__":
    sys.exit(main())
