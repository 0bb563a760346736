"""Crawl cycles by the command line, as a user runs them: plan, fetch, ingest, again.

`python3 benches/runs/cycles.py PROSPECT PAGES WORKLOAD SEEDS [--batch 100] [--cycles 20] [--failing 40]` crawls a
collection from the URLs that SEEDS lists: PAGES has its pages as records for `prospect ingest`, JSON lines, by zstd if
it ends in `.zst`. What is not in it answers 404; with `--failing` so many percent of the requests answer 503, by a hash
of URL and cycle. What was expected of each cycle and what came of it, by `prospect status --json`, is printed as JSON.

Nothing but Python's own library is needed, and the command `zstd` for such files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MISSING, UNAVAILABLE = 404, 503


def pages(path: Path) -> dict[str, bytes]:
    """The record of each page by its URL."""
    if path.suffix == ".zst":
        lines = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.splitlines(keepends=True)
    else:
        lines = path.read_bytes().splitlines(keepends=True)
    return {json.loads(line)["url"]: line for line in lines}


def record(url: str, status: int) -> bytes:
    """The record of a fetch that gave no page."""
    return (json.dumps({"url": url, "status": status}) + "\n").encode()


class Crawl:
    """A store, and the command that keeps it."""

    def __init__(self, prospect: str, store: Path) -> None:
        """Of an empty store."""
        self.prospect, self.store = prospect, store

    def run(self, command: str, *options: str, records: bytes = b"") -> bytes:
        """Runs a command on the store."""
        arguments = [self.prospect, command, "--store", str(self.store), *options]
        return subprocess.run(arguments, input=records, capture_output=True, check=True).stdout

    def plan(self, workload: Path, batch: int) -> list[str]:
        """URLs of the next batch."""
        options = ["--workload", str(workload), "--budget", str(batch), "--format", "urls"]
        return self.run("plan", *options).decode().split()

    def status(self) -> list[dict]:
        """What became of the closed cycles."""
        return json.loads(self.run("status", "--json"))["cycles"]


def is_failing(url: str, cycle: int, percent: int) -> bool:
    """Whether a request is one of those that fail."""
    digest = hashlib.sha1(f"{url}{cycle}".encode(), usedforsecurity=False).hexdigest()
    return int(digest, 16) % 100 < percent


def crawl(options: argparse.Namespace, store: Path) -> list[dict]:
    """Runs the cycles, and one plan more, which closes the last."""
    known = pages(options.pages)
    seeds = options.seeds.read_text(encoding="utf-8").split()
    found = Crawl(options.prospect, store)
    found.run("ingest", "-", records=b"".join(known[url] for url in seeds if url in known))
    for cycle in range(options.cycles):
        answers = [
            record(url, UNAVAILABLE)
            if is_failing(url, cycle, options.failing)
            else known.get(url) or record(url, MISSING)
            for url in found.plan(options.workload, options.batch)
        ]
        if not answers:
            break
        found.run("ingest", "-", records=b"".join(answers))
    found.plan(options.workload, options.batch)
    return found.status()


def kept(cycle: dict) -> dict:
    """What is kept of a cycle: of each quantity what was expected, the ends of its interval, and what came."""
    names = ("predicted", "low", "high", "realised")
    quantities = {of: [cycle[of].get(name) for name in names] for of in ("enters", "stays")}
    led_to = cycle.get("led_to")
    quantities["led_to"] = [led_to["predicted"], led_to["realised"]] if led_to else []
    return {"planned": cycle["planned"], "fetched": cycle["fetched"], **quantities}


def main() -> None:
    """Crawls, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("prospect")
    for name in ("pages", "workload", "seeds"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--failing", type=int, default=0, metavar="PERCENT")
    parser.add_argument("--name", default="", help="what the collection is called in the result")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="cycles-"))
    try:
        cycles = crawl(options, folder / "store")
    finally:
        shutil.rmtree(folder)
    told = {"collection": options.name, "batch": options.batch, "failing": options.failing}
    said = {**told, "cycles": [kept(cycle) for cycle in cycles]}
    json.dump(said, sys.stdout)
    print()


if __name__ == "__main__":
    main()
