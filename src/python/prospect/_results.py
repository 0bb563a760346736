"""What simulations, plans and evaluations leave, as frames."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

from ._command import run
from ._frames import Frame, Library, from_records, read_parquet, read_run_records

if TYPE_CHECKING:
    import pandas
    import polars

RUN_COLUMNS = ("qid", "docno", "rank", "score", "name")
BATCH_COLUMNS = tuple(
    "rank url estimate query_impact locality_impact page_impact importance_impact quality_impact discovery_impact "
    "quality inlinks frontier_rank pool propensity candidate_queries queries".split()
)


class Simulation(Generic[Frame]):
    """The folder that a simulation left, whether `simulate` or the command wrote it.

    Args:
        path: the folder. Where a file of settings held several experiments, each has a folder in it.
        frame: `"pandas"` or `"polars"`, which is what frames are of.

    Attributes:
        path: the folder.
        messages: what the command said, if `simulate` ran it.
    """

    @overload
    def __init__(self: Simulation[pandas.DataFrame], path: Path | str, frame: Literal["pandas"] = "pandas") -> None: ...
    @overload
    def __init__(self: Simulation[polars.DataFrame], path: Path | str, frame: Literal["polars"]) -> None: ...
    @overload
    def __init__(self, path: Path | str, frame: Library) -> None: ...
    def __init__(self, path: Path | str, frame: Library = "pandas") -> None:
        self.path = Path(path)
        self.messages = ""
        self._frame = frame

    def _file(self, name: str) -> Path:
        file = self.path / name
        if not file.exists():
            inner = sorted(one.parent.name for one in self.path.glob(f"*/{name}"))
            several = f"; it holds several experiments, each to be opened by itself: {', '.join(inner)}"
            raise FileNotFoundError(f"{self.path} has no {name}{several if inner else ''}")
        return file

    @cached_property
    def curves(self) -> Frame:
        """Metrics by policy, seed set, kind of queries and pages fetched; a row each.

        Columns: `policy`, `set` (from 1), `kind` (`all` is all queries), `metric`, `pages` (fetched so far), `value`,
        and the provenance of all rows: `version`, `experiment`, `seed`, `k1`, `b`.
        """
        return cast("Frame", read_parquet(self._file("curves.parquet"), self._frame))

    @cached_property
    def per_query(self) -> Frame:
        """Metrics of single queries by policy, seed set and pages fetched; a row each.

        Columns: `policy`, `set`, `pages`, `qid`, `kind`, `relevant_fetched` (pages), the metrics (from 0 to 1), and the
        provenance as in `curves`.
        """
        return cast("Frame", read_parquet(self._file("per_query.parquet"), self._frame))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All figures and their provenance: `summary.json`."""
        return cast("dict[str, Any]", json.loads(self._file("summary.json").read_text(encoding="utf-8")))

    @cached_property
    def orders(self) -> dict[str, dict[int, list[str]]]:
        """The URLs that each crawl fetched, first to last, by policy and seed set (from 1)."""
        files = sorted(self._file("order").glob("*/*.txt"), key=lambda file: (file.parent.name, int(file.stem)))
        orders: dict[str, dict[int, list[str]]] = {}
        for file in files:
            urls = file.read_text(encoding="utf-8").split("\n")[:-1]
            orders.setdefault(file.parent.name, {})[int(file.stem)] = urls
        return orders

    def run(self, policy: str, seed_set: int = 1, pages: int | None = None) -> Frame:
        """What a search over the pages of one crawl found, as `read_run` gives it. The simulation needs `runs=`.

        Args:
            policy: a name as in `orders`.
            seed_set: from 1.
            pages: fetched so far, one of the checkpoints (with `runs="all"`); the last one where nothing is said.

        Raises:
            FileNotFoundError: no such run was written.
        """
        folder = self.path / "runs" / policy / str(seed_set)
        there: list[int] = sorted(int(file.stem) for file in folder.glob("*.run"))
        if not there or pages not in (None, *there):
            crawls = {f"{file.parent.parent.name}, {file.parent.name}" for file in folder.parents[1].glob("*/*/*.run")}
            none = f"those of (policy, set) {'; '.join(sorted(crawls))} are" if crawls else "none is"
            written = f"those of {', '.join(map(str, there))} pages are" if there else none
            raise FileNotFoundError(f"there is no such run in {folder}, {written}; simulate(runs=...) writes them")
        records = read_run_records(folder / f"{there[-1] if pages is None else pages}.run")
        return cast("Frame", from_records(records, RUN_COLUMNS, self._frame))

    def report(self, html: str | os.PathLike[str] | None = None, *, kind: str | None = None) -> str:
        """The tables of the report as text; the report with charts is written to the file `html`, if one is named.

        Args:
            html: one HTML file, which needs no other.
            kind: of one kind of queries only.
        """
        if html is not None:
            run("report", [self.path], {"html": html, "kind": kind})
        return run("report", [self.path], {"kind": kind})[0]


class Plan(Generic[Frame]):
    """A batch of URLs to fetch.

    Attributes:
        summary: the plan's JSON (`prospect.plan`): `plan_id`, `expected_impact`, `settings`, why a plan is empty
            (`reason`, `left_out`), and more.
        messages: what the command said.
    """

    def __init__(self, summary: dict[str, Any], messages: str, frame: Library) -> None:
        self.summary = summary
        self.messages = messages
        self._frame = frame

    @property
    def plan_id(self) -> str:
        """Its id, which records of fetched pages may carry."""
        return str(self.summary["plan_id"])

    @property
    def urls(self) -> list[str]:
        """The URLs, first to fetch first."""
        return [url["url"] for url in self.summary["urls"]]

    @cached_property
    def batch(self) -> Frame:
        """A row a URL, in the order of `urls`.

        Columns: `rank` (from 1), `url`, `estimate` and its parts (impact, in askings), `inlinks`, `frontier_rank`,
        `pool`, `propensity`, and `queries`, the best queries of the URL as a list; with `seconds=` also `start`.
        """
        urls: list[dict[str, Any]] = self.summary["urls"]
        columns: list[str] = [*dict.fromkeys([*BATCH_COLUMNS, *(key for url in urls for key in url)])]
        return cast("Frame", from_records(urls, columns, self._frame))


class Evaluation(Generic[Frame]):
    """Measures of search runs.

    Attributes:
        summary: the evaluation's JSON (`prospect.evaluate`).
        messages: what the command said.
    """

    def __init__(self, summary: dict[str, Any], messages: str, frame: Library, names: list[str]) -> None:
        self.summary = summary
        self.messages = messages
        self._frame = frame
        # A search that was asked for stands before the runs that were given.
        runs = summary["runs"]
        others = [run["run"] for run in runs[: len(runs) - len(names)]]
        self._runs = list(zip(others + names, runs, strict=True))

    @cached_property
    def means(self) -> Frame:
        """A row a run and metric: `run`, `metric`, `mean` (over queries), `p` and `p_holm`.

        The latter are of the paired t-test against the first run, uncorrected and corrected after Holm, and missing in
        the first run's rows.
        """
        records = [
            {
                "run": name,
                "metric": metric,
                "mean": run["means"][metric],
                "p": run.get("p", {}).get(metric),
                "p_holm": run.get("p_holm", {}).get(metric),
            }
            for name, run in self._runs
            for metric in self.summary["metrics"]
        ]
        return cast("Frame", from_records(records, ("run", "metric", "mean", "p", "p_holm"), self._frame))

    @cached_property
    def per_query(self) -> Frame:
        """A row a run, query and metric: `run`, `qid`, `metric`, `value`."""
        records = [
            {"run": name, "qid": qid, "metric": metric, "value": values[metric]}
            for name, run in self._runs
            for qid, values in run["per_query"].items()
            for metric in self.summary["metrics"]
        ]
        return cast("Frame", from_records(records, ("run", "qid", "metric", "value"), self._frame))
