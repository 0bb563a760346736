"""A crawl of a web of which much fails, as Common Crawl meets it, by the command line: plan, fetch, ingest, again.

`python3 benches/runs/failures.py PROSPECT PAGES WORKLOAD QRELS SEEDS [--batch 100] [--cycles 20]` crawls a
collection from the URLs that SEEDS lists; PAGES has its pages as records for `prospect ingest`. Of 3.56 billion
attempts of Common Crawl in May 2026 61 % succeeded, 9.5 % were denied by robots.txt and 12 % dropped on failing hosts;
here the same shares of the collection: whole hosts deny, whole hosts do not answer, and 17.5 % of the URLs, drawn one
by one, answer 404; so nobody can do better than 61 of 78.5. Links that lead out of the collection are taken off the
pages. All URLs are known from the start, as those of a crawl that has gone on for years are (`prospect seeds`).

Printed as JSON: requests, how many of them gave a page, how many went to hosts that deny or do not answer, and relevant
judgements (a pair of query and page once), after each cycle; the same breadth-first, and in an order that is drawn; and
how well chances of a fetch were foreseen, by `prospect explain --json` of planned URLs: the calibration error over ten
bins.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from cycles import MISSING, Crawl, pages, record

DENIED, DROPPED, LOST = 0.095, 0.12, 0.175
BINS = 10


def share(text: str) -> float:
    """A number from 0 to 1 that looks drawn."""
    return int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12], 16) / 16**12


def host(url: str) -> str:
    """The host of a URL."""
    return urlsplit(url).netloc


class Web:
    """What answers."""

    def __init__(self, path: Path) -> None:
        """Of a collection of pages."""
        known = pages(path)
        self.pages = {url: json.loads(line) for url, line in known.items()}
        for page in self.pages.values():
            page["outlinks"] = [link for link in page.get("outlinks", []) if link["url"] in self.pages]
        total = len(self.pages)
        self.denying = self.hosts(total * DENIED, set())
        self.silent = self.hosts(total * DROPPED, self.denying)
        answers = Counter(self.answer(url)[1] for url in self.pages)
        self.shares = {why: count / total for why, count in answers.items()}

    def hosts(self, pages_wanted: float, taken: set[str]) -> set[str]:
        """Drawn hosts that have about so many pages."""
        chosen: set[str] = set()
        of_host = Counter(host(url) for url in self.pages)
        for name in sorted(of_host, key=lambda name: share("host " + name)):
            if name not in taken and of_host[name] <= pages_wanted * 1.02:
                chosen.add(name)
                pages_wanted -= of_host[name]
        return chosen

    def answer(self, url: str) -> tuple[bytes, str]:
        """The record of a fetch, and what became of it."""
        if host(url) in self.denying:
            return failure(url, "Forbidden by robots.txt"), "denied"
        if host(url) in self.silent:
            return failure(url, "timeout"), "dropped"
        # Drawn by host and URL, so that it is as often as that on each host.
        if url not in self.pages or share("lost " + url) < LOST / (1 - DENIED - DROPPED):
            return record(url, MISSING), "lost"
        return (json.dumps(self.pages[url]) + "\n").encode(), "came"


def failure(url: str, error: str) -> bytes:
    """The record of a fetch without an answer."""
    return (json.dumps({"url": url, "status": 0, "error": error}) + "\n").encode()


class Count:
    """What was asked for, and what it brought."""

    def __init__(self, relevant: Counter) -> None:
        """Of judgements by URL."""
        self.relevant, self.asked, self.came, self.refused, self.found = relevant, 0, 0, 0, 0

    def add(self, url: str, answer: str) -> None:
        """One request."""
        self.asked += 1
        self.refused += answer in {"denied", "dropped"}
        if answer == "came":
            self.came += 1
            self.found += self.relevant[url]

    def told(self) -> dict:
        """The counts."""
        return {"requests": self.asked, "pages": self.came, "refused": self.refused, "relevant": self.found}


def drawn(web: Web, seeds: list[str], count: Count, steps: list[int]) -> list[dict]:
    """Asks for all URLs in an order that is drawn; the counts after so many requests."""
    told = []
    for url in sorted(set(web.pages) - set(seeds), key=lambda url: share("order " + url)):
        count.add(url, web.answer(url)[1])
        if len(told) < len(steps) and count.asked == steps[len(told)]:
            told.append(count.told())
    return told


def breadth_first(web: Web, seeds: list[str], count: Count, steps: list[int]) -> list[dict]:
    """Asks for URLs in the order in which they are met; the counts after so many requests."""
    queue, seen, told = [], set(seeds), []

    def meet(url: str) -> None:
        for link in web.pages[url]["outlinks"]:
            if link["url"] not in seen:
                seen.add(link["url"])
                queue.append(link["url"])

    for url in seeds:
        meet(url)
    for url in queue:
        if len(told) == len(steps):
            break
        answer = web.answer(url)[1]
        count.add(url, answer)
        if answer == "came":
            meet(url)
        if count.asked == steps[len(told)]:
            told.append(count.told())
    return told


def planned(web: Web, seeds: list[str], count: Count, options: argparse.Namespace, store: Path) -> tuple[list, list]:
    """Crawls as planned; the counts after each cycle, and the chances that fetches were given with what came."""
    crawl, told, chances = Crawl(options.prospect, store), [], []
    crawl.run("ingest", "-", records=b"".join(web.answer(url)[0] for url in seeds))
    crawl.run("seeds", "-", records="".join(url + "\n" for url in web.pages).encode())
    for cycle in range(options.cycles):
        batch = crawl.plan(options.workload, options.batch)
        if not batch:
            break
        answers = [web.answer(url) for url in batch]
        for url, (_, answer) in zip(batch, answers, strict=True):
            count.add(url, answer)
            if cycle >= options.explained_from and share(f"{cycle} {url}") < options.explained:
                chances.append((chance(crawl, url), answer == "came"))
        crawl.run("ingest", "-", records=b"".join(line for line, _ in answers))
        told.append(count.told())
    return told, chances


def chance(crawl: Crawl, url: str) -> float:
    """The chance that a URL was given to come."""
    factors = json.loads(crawl.run("explain", "--json", url))["estimate"]["product"]
    return next((factor["value"] for factor in factors if factor["name"] == "chance to be fetched"), 1.0)


def calibration(chances: list[tuple[float, bool]]) -> dict:
    """How far chances are from what came, weighed by how many there are."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for pair in chances:
        bins[min(int(pair[0] * BINS), BINS - 1)].append(pair)
    rows = [
        {
            "urls": len(pairs),
            "foreseen": sum(p for p, _ in pairs) / len(pairs),
            "came": sum(c for _, c in pairs) / len(pairs),
        }
        for pairs in bins
        if pairs
    ]
    total = max(len(chances), 1)
    error = sum(row["urls"] * abs(row["foreseen"] - row["came"]) for row in rows) / total
    return {"urls": len(chances), "error": error, "bins": rows}


def judgements(path: Path) -> Counter:
    """Relevant judgements by URL."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return Counter(row[2] for row in rows if len(row) == 4 and int(row[3]) > 0)


def main() -> None:
    """Crawls, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("prospect")
    for name in ("pages", "workload", "qrels", "seeds"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--explained", type=float, default=0.2, help="share of the planned URLs that are explained")
    parser.add_argument("--explained-from", type=int, default=2, help="cycles before any is")
    parser.add_argument("--name", default="", help="what the collection is called in the result")
    options = parser.parse_args()
    web, relevant = Web(options.pages), judgements(options.qrels)
    seeds = [url for url in options.seeds.read_text(encoding="utf-8").split() if web.answer(url)[1] == "came"]
    folder = Path(tempfile.mkdtemp(prefix="failures-"))
    try:
        told, chances = planned(web, seeds, Count(relevant), options, folder / "store")
    finally:
        shutil.rmtree(folder)
    steps = [after["requests"] for after in told]
    said = {
        "collection": options.name,
        "batch": options.batch,
        "web": web.shares,
        "prospect": told,
        "breadth_first": breadth_first(web, seeds, Count(relevant), steps),
        "drawn": drawn(web, seeds, Count(relevant), steps),
        "chances": calibration(chances),
    }
    json.dump(said, sys.stdout)
    print()


if __name__ == "__main__":
    main()
