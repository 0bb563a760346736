"""Tables and the picture of the documentation, from the runs that are kept here.

`python3 benches/runs/tables.py` writes every `*.tsv` and `*.svg` that is made of a run; with `--check` it compares
instead, and fails where one differs. `tests/docs.rs` compares the documents with these files. `--keep OUT FILE COMMAND`
makes a run to keep of the folder OUT that `prospect simulate` wrote: what each policy did in each seed set;
`--keep-attacks` what each attack got; `--keep-times` what was found after so many seconds.

Nothing but Python's own library is needed.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

RUNS = Path(__file__).parent
DAY = RUNS / "2026-11-25"
AFTER = RUNS / "2026-11-26"
NOW = RUNS / "2026-11-27"
LAST = RUNS / "2026-11-28"
ATTACKED = RUNS / "2026-11-29"

# Quantiles 0.975 of Student's t by degrees of freedom.
T = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216, 19: 2.09302}

COLLECTIONS = {
    "university-web": "university web",
    "university-hosts": "583 hosts of universities",
    "encyclopedia": "encyclopedia",
    "small-encyclopedia": "small encyclopedia",
}
POLICIES = {
    "inlinks": "most in-links",
    "opic": "OPIC",
    "site-budget": "site budget",
    "hybrid": "hybrid (Pandey and Olston)",
    "qfirst": "qfirst",
    "qmin": "qmin",
    "prospect": "prospect",
    "qoracle": "qoracle",
    "impact-oracle": "oracle of true impact",
}
BATCHES = {"1": "1 page", "0.2%": "0.2 %", "1%": "1 %", "5%": "5 %"}

POLITE = {
    "bfs": "breadth-first, a queue for each host",
    "prospect": "batches of 60 s",
    "prospect+batch=30s": "batches of 30 s",
    "prospect+per-host=30+batch=850": "batches of 850, 30 a host",
    "prospect+per-host=60+batch=850": "the same, 60 a host",
    "prospect+per-host=120+batch=850": "the same, 120 a host",
}

Row = list[str]


@cache
def read(path: Path) -> dict:
    """The JSON of a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def interval(values: list[float]) -> tuple[float, float]:
    """The mean of some values, and half of its 95 % interval (Student's t)."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return mean, math.nan
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, T[count - 1] * math.sqrt(variance / count)


def bracketed(values: list[float]) -> str:
    """`1.83 [1.61, 2.04]`; the mean alone where there is one value."""
    mean, half = interval(values)
    return f"{mean:.2f}" if math.isnan(half) else f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"


def policies_of(names: Iterable[str]) -> dict[tuple[str, str], dict]:
    """By policy and batch size: what it did, over some runs of one collection."""
    found = {}
    for name in names:
        # What has changed since was run again alone.
        for path in (NOW / f"{name}.json", LAST / f"{name}.json"):
            if not path.exists():
                continue
            run = read(path)
            for label, policy in run["policies"].items():
                plain, _, batch = label.partition("+batch=")
                found[plain, batch or str(run["batch"])] = policy
    return found


def by_batch(collection: str) -> list[Row]:
    """Speedup in relevant pages by policy and batch size."""
    found = policies_of([f"policies-{collection}", f"page-by-page-{collection}"])
    there = [batch for batch in BATCHES if any(of == batch for _, of in found)]
    rows = [["", *(BATCHES[batch] for batch in there)]]
    for policy, title in POLICIES.items():
        cells = (found.get((policy, batch)) for batch in there)
        rows.append([title, *(bracketed(of["relevant"]) if of else "" for of in cells)])
    return rows


def ahead() -> list[Row]:
    """By how much the speedup of `prospect` is ahead of that of others at the same batch, paired by seed set."""
    others = [policy for policy in POLICIES if policy != "prospect"]
    rows = [["", "a batch", *(POLICIES[other] for other in others)]]
    for collection, title in COLLECTIONS.items():
        found = policies_of([f"policies-{collection}", f"page-by-page-{collection}"])
        batches = [batch for batch in BATCHES if ("prospect", batch) in found]
        for at, batch in enumerate(batches):
            cells = []
            for other in others:
                if (other, batch) not in found:
                    cells.append("")
                    continue
                pairs = zip(found["prospect", batch]["relevant"], found[other, batch]["relevant"], strict=True)
                mean, half = interval([own - theirs for own, theirs in pairs])
                cells.append(f"{mean:+.2f} ± {half:.2f}{'*' if abs(mean) > half else ''}")
            rows.append(["" if at else title, BATCHES[batch], *cells])
    return rows


def found_after(collection: str) -> list[Row]:
    """Relevant pages found after so much of a collection, means over the seed sets."""
    found = policies_of([f"policies-{collection}", f"page-by-page-{collection}"])
    run = read(NOW / f"policies-{collection}.json")
    checkpoints = run["checkpoints"]
    shares = [f"{100 * pages / run['pages']:.0f} %" for pages in checkpoints]
    rows = [["", *shares]]
    for policy in ("bfs", "inlinks", "site-budget", "prospect", "impact-oracle"):
        for batch, title in BATCHES.items():
            of = found.get((policy, batch))
            if of is None or batch == "5%" or (policy == "bfs" and batch != "1%"):
                continue
            harvest = dict(zip(of["checkpoints"], of["harvest"], strict=True))
            cells = (harvest.get(pages) for pages in checkpoints)
            name = "breadth-first" if policy == "bfs" else f"{POLICIES[policy]}, {title}"
            told = (
                "" if rate is None else f"{rate * pages:.0f}" for rate, pages in zip(cells, checkpoints, strict=True)
            )
            rows.append([name, *told])
    return rows


def results() -> list[Row]:
    """The table of the README: speedups at 1 %."""
    names = {
        "university-web": "a university's web: 45,975, 15 %",
        "university-hosts": "583 university hosts: 8,136, 30 %",
        "encyclopedia": "an encyclopedia: 30,729, 10 %",
        "small-encyclopedia": "a small one: 1,953, 30 %",
    }
    columns = ("inlinks", "qfirst", "prospect", "impact-oracle")
    heads = ["most in-links", "neural quality", "Prospect", "oracle"]
    rows = [["collection: pages, part fetched", *heads]]
    for collection, name in names.items():
        found = policies_of([f"policies-{collection}"])
        rows.append([name, *(bracketed(found[policy, "1%"]["relevant"]) for policy in columns)])
    return rows


def impact_shares() -> list[Row]:
    """Share of all impact that the first tenth of each collection holds."""
    rows = [["", *COLLECTIONS.values()]]
    for policy in ("bfs", *POLICIES):
        cells = []
        for collection in COLLECTIONS:
            of = policies_of([f"policies-{collection}"])[policy, "1%"]
            pages = read(NOW / f"policies-{collection}.json")["pages"]
            share = dict(zip(of["checkpoints"], of["impact_share"], strict=True))
            cells.append(f"{share[pages // 10]:.2f}")
        rows.append(["breadth-first" if policy == "bfs" else POLICIES[policy], *cells])
    return rows


def ablation(collection: str) -> list[Row]:
    """What is lost without a group of evidence, paired by seed set, at two batch sizes."""
    rows = [["without"]]
    for batch in ("1%", "0.2%"):
        path = DAY / f"ablation-{collection}-{batch.removesuffix('%')}.json"
        if not path.exists():
            continue
        rows[0] += [f"relevant, {BATCHES[batch]}", f"impact, {BATCHES[batch]}"]
        policies = read(path)["policies"]
        whole = policies["prospect"]
        labels = [label for label in policies if "without=" in label]
        if len(rows) == 1:
            own = [["(nothing)"], *(["`" + label.partition("=")[2] + "`"] for label in labels)]
            rows += own
        for measure in ("relevant", "impact"):
            rows[1].append(f"{interval(whole[measure])[0]:.3f}")
            for row, label in zip(rows[2:], labels, strict=True):
                pairs = zip(policies[label][measure], whole[measure], strict=True)
                mean, half = interval([without - with_it for without, with_it in pairs])
                row.append(f"{mean:+.3f} ± {half:.3f}{'*' if abs(mean) > half else ''}")
    return rows


CONSTANTS = {
    "UNSEEN": "URLs that no link has shown yet, for each known candidate that matches: 3",
    "COLD_CHANCE": "chance of a candidate before the first outcome, times its matched share: 0.1",
    "RHO": "share of a query's idf that a URL must hold to be a candidate: 0.05",
    "CANDIDATES": "candidates of a query by words: 1,000",
    "ANSWERS": "best pages of a query whose links are candidates: 20",
    "ANSWER_LINKS": "links of such a page: 300",
    "LINKS": "links to a URL that are read: 100",
    "PER_URL": "links whose surroundings are read: 8",
    "WINDOW": "words before and after a link: 10",
    "RIDGE": "weight of the squares of the ridge's coefficients: 1",
    "FIRST_BIN": "outcomes of the first bin of expected scores: 100",
    "BIN_GROWTH": "growth of a bin over the one before it: 0.1",
    "SCORES_FEWEST": "pairs without which scores are not fitted: 100",
    "TREES": "boosted trees of the page model: 60",
    "DEPTH": "their depth: 4",
    "RATE": "their learning rate: 0.1",
    "LEAF": "pages of a leaf: 60",
    "FEWEST_PAGES": "pages without which they are not fitted: 240",
    "PRIOR_PAGES": "pages that the mean around a region is worth: 4",
    "BLEND_PICKS": "picks that the start of the weights is worth: 200",
    "BLEND_MOST": "weight of a part over its start at most: 10",
    "W_locality": "start of the weight of *locality*: 0.05",
    "W_page": "of *page*: 0.05",
    "W_importance": "of *importance*: 0.01",
    "W_discovery": "of *discovery*: 0.1",
    "TYPE_PRIOR": "first answers that those of all are worth for a type: 8",
    "SITE_PRIOR_PICKS": "picks that a site starts with: 1",
    "PRIOR_NEWCOMERS": "picks that all newcomers start with: 3",
    "HALF_LIFE": "picks of a site after which an earlier one counts half: 3",
    "BELIEVED": "reliability below which nobody makes room for a site: 0.8",
    "SLOW_SHARE": "share of a batch for a domain without a fetched page: 0.05",
    "YOUNG": "share of the fetched pages that young domains have at most: 0.05",
    "SITE_SHARE": "share of a batch for a site: 0.05",
    "FEWEST_SITES": "sites without which no site is held to it: 20",
    "EXPLORE": "share of a batch that is drawn: 0.02",
    "NEAR_SHARE": "share of the draws from the next in the ranking: 0.75",
    "EPOCH_GROWTH": "growth of the crawl until statistics are frozen anew: 0.1",
}


def constants() -> list[Row]:
    """What halves and doubles of the constants of the planner change, paired by seed set."""
    collections = {"uci-web": "university web", "webkb": "583 hosts"}
    lines = (NOW / "constants.jsonl").read_text(encoding="utf-8").splitlines()
    runs: dict[tuple[str, str], dict] = {}
    for run in map(json.loads, lines):
        runs.setdefault((run["name"], run["factor"]), {}).update(run)
    whole = runs["", ""]
    heads = [f"{title}, {way}" for title in collections.values() for way in ("half", "double")]
    rows = [["", *heads]]
    for name, told in CONSTANTS.items():
        cells = []
        for collection in collections:
            for is_half in (True, False):
                own = [run for (of, factor), run in runs.items() if of == name and (float(factor) < 1) == is_half]
                if not own or collection not in own[0]:
                    cells.append("")
                    continue
                pairs = zip(own[0][collection]["relevant"], whole[collection]["relevant"], strict=True)
                mean, half = interval([tried - as_is for tried, as_is in pairs])
                cells.append(f"{mean:+.3f} ± {half:.3f}{'*' if abs(mean) > half else ''}")
        rows.append([told, *cells])
    return rows


# What was tried for the weights of the parts, beside those that stay as they are, by its policy.
WEIGHTS = {
    "prospect": "fitted on past picks",
    "locality-weight=0.1": "*locality* 0.1",
    "locality-weight=0.2": "*locality* 0.2",
    "page-weight=0.1": "*page* 0.1",
    "page-weight=0.2": "*page* 0.2",
    "importance-weight=0.03": "*importance* 0.03",
    "quality-weight=0.1": "*quality* 0.1",
    "discovery-weight=0.05": "*discovery* 0.05",
    "discovery-weight=0.2": "*discovery* 0.2",
}


def weights() -> list[Row]:
    """What other weights than those that stay as they are change, paired by seed set."""
    whole = "prospect+blend=fixed"
    runs = [
        (collection, batch)
        for batch in ("1", "0.2")
        for collection in ("university-web", "university-hosts", "small-encyclopedia", "encyclopedia")
        if (LAST / f"weights-{collection}-{batch}.json").exists()
    ]
    heads = [f"{COLLECTIONS[collection]}, {batch} %" for collection, batch in runs]
    rows = [["", *heads]]
    for tried, told in WEIGHTS.items():
        cells = []
        for collection, batch in runs:
            name = "weights" if tried == "prospect" else "other-weights"
            path = LAST / f"{name}-{collection}-{batch}.json"
            if not path.exists():
                cells.append("")
                continue
            policies = read(path)["policies"]
            of = policies[tried if tried == "prospect" else f"{whole}+{tried}"]
            changes = []
            for measure in ("relevant", "impact"):
                pairs = zip(of[measure], policies[whole][measure], strict=True)
                mean, half = interval([other - as_is for other, as_is in pairs])
                changes.append(f"{mean:+.3f} ± {half:.3f}{'*' if abs(mean) > half else ''}")
            cells.append(", ".join(changes))
        rows.append([told, *cells])
    stays = []
    for collection, batch in runs:
        policy = read(LAST / f"weights-{collection}-{batch}.json")["policies"][whole]
        stays.append(", ".join(f"{interval(policy[measure])[0]:.2f}" for measure in ("relevant", "impact")))
    rows.insert(1, ["as they are", *stays])
    return rows


def candidates() -> list[Row]:
    """Speedups with so many candidates of a query by words at most, and what all would bring, paired by seed set."""
    collections = ("small-encyclopedia", "university-hosts", "university-web")
    titles = [COLLECTIONS[collection] for collection in collections]
    rows = [["", *(f"{title}: {of}" for title in titles for of in ("relevant", "impact"))]]
    for most in ("30", "300", "1000", "1000000000"):
        row = ["all" if len(most) > 5 else f"{int(most):,}"]
        for collection in collections:
            policies = read(DAY / f"candidates-{collection}.json")["policies"]
            every = policies["prospect+candidates=1000000000"]
            of = policies["prospect" if most == "1000" else f"prospect+candidates={most}"]
            for measure in ("relevant", "impact"):
                pairs = zip(of[measure], every[measure], strict=True)
                mean, half = interval([some - all_of for some, all_of in pairs])
                told = f"{interval(of[measure])[0]:.2f}"
                row.append(told if of is every else f"{told} ({mean:+.3f} ± {half:.3f})")
        rows.append(row)
    return rows


def stops() -> list[Row]:
    """Where rules would have stopped planned crawls."""
    collections = ("small-encyclopedia", "university-hosts", "university-web")
    runs = [read(NOW / f"stopping-{name}.json")["stopping"]["policies"] for name in collections]
    planned = [next(one for one in run if one["name"] == "prospect")["rules"] for run in runs]
    by_rule = [{rule["rule"]: rule for rule in rules} for rules in planned]
    crawls = [rules[0]["crawls"] for rules in planned]
    titles = ("small encyclopedia", "583 university hosts", "university web")
    rows = [["rule", *(f"{title} ({count})" for title, count in zip(titles, crawls, strict=True))]]
    shown = [f"settled:{share}%" for share in ("0.5", "1", "2", "3", "5", "8")]
    shown += ["never", "fixed:40%", "fixed:60%", "fixed:80%", "knee", "sufficiency:0.6", "sufficiency:0.7"]
    for rule in [*shown, "saturated", "no-gain", "learned", "compatible"]:
        cells = []
        for rules in by_rule:
            of = rules.get(rule)
            cells.append(f"{of['over_oracle']['mean']:.2f} ({100 * of['false_share']['mean']:.0f} %)" if of else "")
        rows.append([f"**{rule}**" if rule == "settled:1%" else rule, *cells])
    return rows


def sufficiency() -> list[Row]:
    """Correlation of sufficiency with nDCG@10, half way through a crawl."""
    collections = {
        "small-encyclopedia": "small encyclopedia",
        "university-hosts": "583 university hosts",
        "university-web": "university web",
    }
    judges = ("statistical", "best-page", "embedding")
    rows = [["", "policy", *judges]]
    names = {"bfs": "breadth-first", "inlinks": "in-links", "prospect": "prospect"}
    for collection, title in collections.items():
        run = read(NOW / f"sufficiency-{collection}.json")
        queries = run["collection"]["evaluation_queries"]
        for at, policy in enumerate(run["sufficiency"]["policies"]):
            cells = []
            for judge in judges:
                strategy = next(of for of in policy["strategies"] if of["name"] == judge)
                every = next(of for of in strategy["kinds"] if of["kind"] == "all")
                queries = min(queries, every["queries"])
                told = every["correlation"]
                cells.append(f"{told['mean']:.2f} ({told['low']:.2f} to {told['high']:.2f})")
            rows.append(["" if at else f"{title} ({queries})", names[policy["name"]], *cells])
    return rows


def sufficiency_by_kind(run: str) -> list[Row]:
    """The same by kind of query, of planned crawls."""
    judges = ("statistical", "best-page", "embedding")
    rows = [["", "kind", *judges]]
    for collection in ("small-encyclopedia", "university-hosts", "university-web"):
        policies = read(NOW / f"{run}-{collection}.json")["sufficiency"]["policies"]
        policy = next(of for of in policies if of["name"] == "prospect")
        of_judge = {judge["name"]: {of["kind"]: of for of in judge["kinds"]} for judge in policy["strategies"]}
        for kind, of_kind in of_judge["statistical"].items():
            if kind != "all" and of_kind["queries"] >= 25:
                told = [of_judge[judge][kind]["correlation"] if judge in of_judge else None for judge in judges]
                # No minus before a zero.
                ends = [[round(of[end], 2) + 0.0 for end in ("mean", "low", "high")] if of else None for of in told]
                cells = [f"{of[0]:.2f} ({of[1]:.2f} to {of[2]:.2f})" if of else "" for of in ends]
                rows.append([COLLECTIONS[collection], f"{kind} ({of_kind['queries']})", *cells])
    return rows


def windows(cycles: list[dict], quantity: str) -> list[float]:
    """Expected over realised, as sums over five consecutive cycles, where at least 200 were realised."""
    known = [cycle[quantity] for cycle in cycles if None not in cycle[quantity]]
    fives = (known[at : at + 5] for at in range(len(known) - 4))
    sums = [(sum(of[0] for of in five), sum(of[3] for of in five)) for five in fives]
    return [expected / realised for expected, realised in sums if realised >= 200]


def cycles() -> list[dict]:
    """Crawls by the command line."""
    lines = (LAST / "cycles.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def expected_and_realised() -> list[Row]:
    """What cycles by the command line were expected to bring, and what they brought."""
    heads = ["", "a batch", "fail"]
    for quantity in ("enters", "stays"):
        heads += [f"{quantity}, first five", "later", "in the interval"]
    rows = [heads]
    for run in cycles():
        row = [COLLECTIONS[run["collection"]], str(run["batch"]), f"{run['failing']} %" if run["failing"] else ""]
        for quantity in ("enters", "stays"):
            first, *later = windows(run["cycles"], quantity) or [math.nan]
            told = f"{min(later):.2f} to {max(later):.2f}" if later else ""
            known = [cycle[quantity] for cycle in run["cycles"] if None not in cycle[quantity]]
            inside = sum(low <= realised <= high for _, low, high, realised in known)
            row += ["" if math.isnan(first) else f"{first:.2f}", told, f"{inside} of {len(known)}"]
        rows.append(row)
    return rows


def led_to() -> list[Row]:
    """What the part *discovery* expected of picks, and what these led to, from the first on of which it said some."""
    rows = [["", "a batch", "cycles", "expected", "led to", "ratio of the sums", "least and most of five cycles"]]
    for run in cycles():
        known = [cycle["led_to"] for cycle in run["cycles"] if cycle["led_to"] and cycle["led_to"][0] > 0]
        if run["failing"] or len(known) < 5:
            continue
        expected, realised = (sum(of) for of in zip(*known, strict=True))
        fives = [known[at : at + 5] for at in range(len(known) - 4)]
        ratios = [sum(of[0] for of in five) / sum(of[1] for of in five) for five in fives]
        sums = (f"{expected:,.0f}", f"{realised:,.0f}", f"{expected / realised:.2f}")
        name = COLLECTIONS[run["collection"]]
        rows.append([name, str(run["batch"]), str(len(known)), *sums, f"{min(ratios):.2f} to {max(ratios):.2f}"])
    return rows


def polite() -> list[Row]:
    """What was found after 6, 12 and 24 minutes, by the delay between two requests to a host."""
    rows = [["delay", "", "6 minutes", "12", "24", "pages", "ahead of the best batches of 850"]]
    for delay in ("0.5", "1", "2"):
        path = AFTER / f"polite-{delay}.json"
        if not path.exists():
            continue
        policies = read(path)["policies"]
        found = {name: sum(of["ahead"]) for name, of in policies.items()}
        large = max((name for name in policies if "batch=850" in name), key=lambda name: found[name])
        for name, of in policies.items():
            pairs = zip(of["ahead"], policies[large]["ahead"], strict=True)
            mean, half = interval([own - other for own, other in pairs])
            told = "" if name == large else f"{mean:.0f} ± {half:.0f}"
            marks = [f"{of['relevant'][mark]:.0f}" for mark in ("360", "720", "1440")]
            rows.append([f"{delay} s", POLITE[name], *marks, f"{of['pages']:,.0f}", told])
    return rows


def failures() -> list[Row]:
    """What crawls asked for of a web of which much fails, and how well chances of fetches were foreseen."""
    heads = ["", "", "requests", "gave a page", "went to hosts that refuse", "in the first batch", "relevant"]
    rows = [[*heads, "error of the chances"]]
    runs = [json.loads(line) for line in (AFTER / "failures.jsonl").read_text(encoding="utf-8").splitlines()]
    policies = {"prospect": "`prospect`", "breadth_first": "breadth-first", "drawn": "as drawn"}
    for collection in dict.fromkeys(run["collection"] for run in runs):
        of_collection = [run for run in runs if run["collection"] == collection]
        for at, (policy, name) in enumerate(policies.items()):
            first, last = ([run[policy][end] for run in of_collection] for end in (0, -1))

            def share(counts: list[dict], of: str) -> str:
                return f"{100 * sum(count[of] for count in counts) / sum(count['requests'] for count in counts):.1f} %"

            relevant = sum(count["relevant"] for count in last) / len(last)
            shares = (share(last, "pages"), share(last, "refused"), share(first, "refused"))
            row = [
                f"{last[0]['requests']:,}",
                *shares,
                f"{relevant:.0f}",
                "" if at else f"{chances(of_collection):.3f}",
            ]
            rows.append(["" if at else COLLECTIONS[collection], name, *row])
    return rows


def chances(runs: list[dict]) -> float:
    """How far foreseen chances of fetches are from what came, over ten bins, all runs together."""
    bins: dict[int, list[float]] = {}
    for of_bin in (of_bin for run in runs for of_bin in run["chances"]["bins"]):
        sums = bins.setdefault(min(int(10 * of_bin["foreseen"]), 9), [0.0, 0.0, 0.0])
        for at, value in enumerate((1.0, of_bin["foreseen"], of_bin["came"])):
            sums[at] += of_bin["urls"] * value
    return sum(abs(foreseen - came) for _, foreseen, came in bins.values()) / sum(urls for urls, *_ in bins.values())


TABLES: dict[Path, Callable[[], list[Row]]] = {
    LAST / "cycles.tsv": expected_and_realised,
    NOW / "results.tsv": results,
    NOW / "constants.tsv": constants,
    LAST / "led-to.tsv": led_to,
    LAST / "weights.tsv": weights,
    NOW / "ahead.tsv": ahead,
    NOW / "impact-shares.tsv": impact_shares,
    DAY / "candidates.tsv": candidates,
    AFTER / "polite.tsv": polite,
    AFTER / "failures.tsv": failures,
    NOW / "stops.tsv": stops,
    NOW / "sufficiency.tsv": sufficiency,
    NOW / "sufficiency-kinds.tsv": lambda: sufficiency_by_kind("sufficiency"),
    NOW / "evaluation-set.tsv": lambda: sufficiency_by_kind("evaluation-set"),
    **{ATTACKED / f"manipulation-{name}.tsv": lambda name=name: manipulation(name) for name in COLLECTIONS},
    **{NOW / f"by-batch-{name}.tsv": lambda name=name: by_batch(name) for name in COLLECTIONS},
    **{NOW / f"found-{name}.tsv": lambda name=name: found_after(name) for name in COLLECTIONS},
    **{DAY / f"ablation-{name}.tsv": lambda name=name: ablation(name) for name in COLLECTIONS},
}


def manipulation(collection: str) -> list[Row]:
    """What each attack got, after a tenth and after 30 % of the pages, and what it cost."""
    path = ATTACKED / f"manipulation-{collection}.json"
    rows = [["", "lift after 10 %", "lift after 30 %", "the same without defence", "honest impact lost"]]
    if not path.exists():
        return rows

    def spread(values: list[float], digits: int) -> str:
        mean, half = interval(values)
        return f"{mean:.{digits}f} ± {half:.{digits}f}"

    for attack, of in read(path)["attacks"].items():
        defended, believed = of["prospect"], of["prospect+defence=off"]
        lost = [100 * lost for lost in defended["impact_lost"]]
        lifts = (defended["early"], defended["lift"], believed["lift"])
        rows.append([f"`{attack}`", *(spread(lift, 2) for lift in lifts), f"{spread(lost, 1)} %"])
    return rows


# Width and height of a panel of the picture with its margins, and where its lines are drawn.
PANEL, PLOT = (460, 300), (40, 34, 250, 262)
LINES = {"prospect": ("#c0392b", 3), "impact-oracle": ("#222222", 2), "qoracle": ("#2471a3", 1.5)}


def spread_out(places: list[float], apart: float) -> list[float]:
    """Ascending places moved as little as makes them `apart`, their mean kept."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + apart) if moved else place)
    shift = (sum(moved) - sum(places)) / max(len(places), 1)
    return [place - shift for place in moved]


def panel(collection: str, left: float, top: float) -> list[str]:
    """Speedup in relevant pages of every policy against the size of batches, of one collection."""
    found = policies_of([f"policies-{collection}", f"page-by-page-{collection}"])
    steps = list(reversed(BATCHES))
    curves = {}
    for policy in POLICIES:
        of = [(at, found.get((policy, step))) for at, step in enumerate(steps)]
        curves[policy] = [(at, *interval(run["relevant"])) for at, run in of if run]
    x0, y0, x1, y1 = (left + PLOT[0], top + PLOT[1], left + PLOT[2], top + PLOT[3])
    of_prospect = [mean + half for _, mean, half in curves["prospect"]]
    most = math.ceil(max([mean for curve in curves.values() for _, mean, _ in curve] + of_prospect, default=1))

    def place(at: float, speedup: float) -> tuple[float, float]:
        return x0 + (x1 - x0) * at / (len(steps) - 1), y1 - (y1 - y0) * speedup / most

    drawn = [f'<text x="{x0:.0f}" y="{y0 - 14:.0f}" class="title">{COLLECTIONS[collection]}</text>']
    for speedup in range(0, most + 1, 1 if most < 5 else 2):
        y = place(0, speedup)[1]
        drawn.append(f'<path d="M{x0:.1f} {y:.1f}H{x1:.1f}" class="{"one" if speedup == 1 else "grid"}"/>')
        drawn.append(f'<text x="{x0 - 6:.1f}" y="{y + 4:.1f}" class="tick end">{speedup}</text>')
    for at, step in enumerate(steps):
        drawn.append(f'<text x="{place(at, 0)[0]:.1f}" y="{y1 + 16:.1f}" class="tick mid">{BATCHES[step]}</text>')
    for policy, curve in curves.items():
        color, width = LINES.get(policy, ("#9aa5ad", 1.2))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(at, mean) for at, mean, _ in curve))
        drawn.append(f'<polyline points="{points}" stroke="{color}" stroke-width="{width}"/>')
        if policy == "prospect":
            for at, mean, half in curve:
                (x, low), (_, high) = place(at, mean - half), place(at, mean + half)
                drawn.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{color}"/>')
    last = {policy: place(curve[-1][0], curve[-1][1]) for policy, curve in curves.items() if curve}
    names = sorted(last, key=lambda policy: last[policy][1])
    for policy, y in zip(names, spread_out([last[policy][1] for policy in names], 14), strict=True):
        color, width = LINES.get(policy, ("#5d6d7e", 1))
        x = last[policy][0]
        drawn.append(f'<path d="M{x + 2:.1f} {last[policy][1]:.1f}L{x1 + 14:.1f} {y:.1f}" class="lead"/>')
        weight = ' font-weight="bold"' if width > 2 else ""
        drawn.append(f'<text x="{x1 + 18:.1f}" y="{y + 4:.1f}" fill="{color}"{weight}>{POLICIES[policy]}</text>')
    return drawn


def by_batch_picture() -> str:
    """All policies on all collections, as an SVG file."""
    (wide, high), across = PANEL, 2
    rows = math.ceil(len(COLLECTIONS) / across)
    width, height = across * wide, rows * high + 30
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<style>text{font:12px sans-serif}.title{font-weight:bold;fill:#222}"
        ".tick{fill:#666;font-size:11px}.end{text-anchor:end}.mid{text-anchor:middle}polyline{fill:none}"
        ".grid{stroke:#e5e8ea}.one{stroke:#9aa5ad;stroke-dasharray:3 3}.lead{stroke:#ccd1d5;fill:none}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for at, collection in enumerate(COLLECTIONS):
        drawn += panel(collection, at % across * wide, at // across * high)
    told = "By what is fetched at a time: how many times fewer pages than breadth-first for as many relevant ones."
    drawn.append(f'<text x="{PLOT[0]}" y="{height - 12}" class="tick">{told}</text>')
    return "\n".join([*drawn, "</svg>", ""])


def text(rows: list[Row]) -> str:
    """Rows of a table, with tabs between their cells."""
    return "".join("\t".join(row) + "\n" for row in rows)


def keep(out: Path, kept: Path, command: str) -> None:
    """Keeps of a run what tables are made of."""
    summary = read(out / "summary.json")
    config = summary["provenance"]["config"]
    policies = {}
    for policy in summary["policies"]:
        every = next(kind for kind in policy["kinds"] if kind["kind"] == "all")
        curves = {curve["metric"]: curve["points"] for curve in every["curves"]}
        speedups = (every["speedup_relevant"], every["speedup_impact"])
        relevant, impact = (speedup["values"] if speedup else [] for speedup in speedups)
        policies[policy["name"]] = {
            "relevant": [float(f"{value:.6g}") for value in relevant],
            "impact": [float(f"{value:.6g}") for value in impact],
            "checkpoints": [point["pages"] for point in curves["HR"]],
            "harvest": [float(f"{point['mean']:.6g}") for point in curves["HR"]],
            "impact_share": [float(f"{point['mean']:.6g}") for point in curves["impact"]],
        }
    run = {
        "command": command,
        "batch": config["batch"],
        "pages": summary["collection"]["pages"],
        "checkpoints": summary["checkpoints"],
        "policies": policies,
    }
    write(kept, run)


def write(kept: Path, run: dict) -> None:
    """Writes a run to keep, a line for each key, and for each entry of the last one."""
    *first, (last, entries) = run.items()
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in first)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in entries.items())
    kept.write_text("{\n" + head + json.dumps(last) + ": {\n" + rows + "\n}\n}\n", encoding="utf-8")


def keep_attacks(out: Path, kept: Path, command: str) -> None:
    """Keeps of a run with attacks what each got of each policy, by seed set."""
    summary = read(out / "summary.json")
    attacked = summary["manipulation"]

    def values(policy: dict, pages: int, of: str) -> list[float]:
        point = next(point for point in policy["points"] if point["pages"] == pages)
        return [float(f"{value:.6g}") for value in point[of]["values"]]

    attacks = {}
    for attack in attacked["attacks"]:
        attacks[attack["attack"]] = {
            policy["policy"]: {
                "early": values(policy, attacked["read_early"], "lift"),
                "lift": values(policy, attacked["read_at"], "lift"),
                "impact_lost": values(policy, attacked["read_at"], "impact_lost"),
            }
            for policy in attack["policies"]
        }
    write(kept, {"command": command, "pages": summary["collection"]["pages"], "attacks": attacks})


def keep_times(out: Path, kept: Path, command: str) -> None:
    """Keeps of a run against time what each policy had found, and by seed set how far it was ahead of the baseline."""
    summary = read(out / "summary.json")
    time = summary["time"]
    marks = [f"{seconds:.0f}" for seconds in time["seconds"]]
    sets = len(next(policy["gain"]["values"] for policy in time["policies"] if policy["gain"]))
    policies = {}
    for policy in time["policies"]:
        last = policy["points"][-1]
        ahead = policy["gain"]["values"] if policy["gain"] else [0.0] * sets
        policies[policy["name"]] = {
            "relevant": {mark: point["relevant"] for mark, point in zip(marks, policy["points"], strict=True)},
            "pages": last["pages"],
            "ahead": ahead,
        }
    write(kept, {"command": command, "baseline": summary["baseline"], "policies": policies})


def main(arguments: list[str]) -> int:
    """Runs the command; 1 if a table is not what its run says."""
    if arguments[:1] == ["--keep"]:
        out, kept, command = arguments[1:]
        keep(Path(out), Path(kept), command)
        return 0
    if arguments[:1] == ["--keep-attacks"]:
        out, kept, command = arguments[1:]
        keep_attacks(Path(out), Path(kept), command)
        return 0
    if arguments[:1] == ["--keep-times"]:
        out, kept, command = arguments[1:]
        keep_times(Path(out), Path(kept), command)
        return 0
    differ = []
    tables = {path: table() for path, table in TABLES.items()}
    # Of a run that is not kept there is only the heading.
    files = {path: text(rows) for path, rows in tables.items() if len(rows) > 1}
    files[NOW / "by-batch.svg"] = by_batch_picture()
    for path, wanted in files.items():
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != wanted:
                differ.append(path.relative_to(RUNS))
        else:
            path.write_text(wanted, encoding="utf-8")
    for path in differ:
        print(f"{path} is not what its run says: python3 benches/runs/tables.py writes it", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
