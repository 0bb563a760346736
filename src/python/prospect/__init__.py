"""Prospect from Python: plans of what to crawl next, and simulations of crawls, with frames in and out.

This runs the `prospect` command. An option of the command is a keyword argument: `max_pages="50%"` is
`--max-pages 50%`, `True` is an option without a value, a list repeats an option. Queries, judgements and runs are paths
of files, or frames of pandas or polars with the columns that PyTerrier has. Frames that come back are of pandas, or of
polars with `frame="polars"`.

A command that ends badly raises `ProspectError`; an interrupt ends the command, too. With `progress=True` what the
command says is told on standard error while it runs. All functions raise `FileNotFoundError` where there is no command.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

from ._command import File, Option, ProspectError, ProspectWarning, find_binary, run_json
from ._frames import Library, Table, as_json, from_records, is_table, read_run_records
from ._results import RUN_COLUMNS, Evaluation, Plan, Simulation

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = [
    "Evaluation",
    "Plan",
    "ProspectError",
    "ProspectWarning",
    "Simulation",
    "call",
    "evaluate",
    "find_binary",
    "ingest",
    "plan",
    "read_run",
    "simulate",
    "status",
]


@overload
def simulate(
    *, out: File | None = None, frame: Literal["pandas"] = "pandas", **options: Option
) -> Simulation[pandas.DataFrame]: ...
@overload
def simulate(
    *, out: File | None = None, frame: Literal["polars"], **options: Option
) -> Simulation[polars.DataFrame]: ...
def simulate(*, out: File | None = None, frame: Library = "pandas", **options: Option) -> Simulation[Any]:
    """Crawls a collection under one or more policies, and measures what each crawl found and when.

    Args:
        out: the folder for the results. A simulation that was ended goes on there when it is called again. Without one
            they are in a temporary folder that goes with the result.
        options: those of `prospect simulate`. Most used are `corpus` (files or folders), `base_url` (of HTML files),
            `workload` (file or frame with `qid`, `query` and if known `frequency`, `kind`), `qrels` (file or frame with
            `qid`, `docno`, which is the URL, and `label`), `policy`, `seeds` (files, `"random:N"` or `"per-host:N"`),
            `seed_sets`, `batch` and `max_pages` (pages, or a share such as `"1%"`), `runs` (`"last"` or `"all"`), and
            `config` (a file that holds the others).

    Raises:
        ProspectError: the command refuses the input.
        ValueError: a frame lacks a column or a value.
    """
    _check(frame)
    path = Path(tempfile.mkdtemp(prefix="prospect-")) if out is None else Path(out)
    try:
        _, messages = run_json("simulate", [], {**options, "out": path})
    except BaseException:
        if out is None:
            shutil.rmtree(path, ignore_errors=True)
        raise
    simulation: Simulation[Any] = Simulation(path, frame)
    simulation.messages = messages
    if out is None:
        weakref.finalize(simulation, shutil.rmtree, path, ignore_errors=True)
    return simulation


def ingest(
    store: File, *files: File, records: Iterable[Mapping[str, object]] = (), **options: Option
) -> dict[str, Any]:
    """Brings fetched pages into a store, which is made if it is missing.

    Args:
        store: the folder.
        files: WARC, JSON lines, Parquet, HTML, or folders of them.
        records: pages, or failed fetches, as dictionaries with the fields of the JSON lines format: `url`, `title`,
            `text`, `outlinks` (a list of dictionaries with `url` and `anchor`), `status`. A NaN, as frames have it for
            what is missing, is nothing; numbers of NumPy and times are taken.
        options: those of `prospect ingest`, such as `close=True` after the last pages of a batch.

    Returns:
        The JSON of the command: `pages`, `urls`, `counts`, `skipped`, and `closed`, the plans that are through.

    Raises:
        ProspectError: a file cannot be read, or holds no page.
        TypeError: a record holds what is no JSON.
        ValueError: there is neither a file nor a record.
    """
    with tempfile.TemporaryDirectory(prefix="prospect-") as folder:
        listed = Path(folder, "records.jsonl")
        # What UTF-8 cannot say, a lone surrogate of a page that was badly decoded, is no reason to lose the page.
        with listed.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(as_json(at, record) + "\n" for at, record in enumerate(records))
        more = [listed] if listed.stat().st_size else []
        if not files and not more:
            raise ValueError("nothing to ingest: neither a file nor a record")
        return cast("dict[str, Any]", run_json("ingest", [*files, *more], {**options, "store": store})[0])


Budget: TypeAlias = "int | str | None"
Queries: TypeAlias = "File | Table"


@overload
def plan(
    store: File, workload: Queries, budget: Budget = None, *, frame: Literal["pandas"] = "pandas", **options: Option
) -> Plan[pandas.DataFrame]: ...
@overload
def plan(
    store: File, workload: Queries, budget: Budget = None, *, frame: Literal["polars"], **options: Option
) -> Plan[polars.DataFrame]: ...
def plan(
    store: File, workload: Queries, budget: Budget = None, *, frame: Library = "pandas", **options: Option
) -> Plan[Any]:
    """Plans the next batch of URLs to fetch. The plan is also kept in the store.

    Args:
        store: a store with pages.
        workload: the queries: a file, or a frame with `qid`, `query` and if known `frequency` (askings), `kind`.
        budget: URLs at most, or a share of those that may be planned, such as `"10%"`; or say `seconds=`.
        options: those of `prospect plan`, but `format` and `out`, which are for the command alone.

    Raises:
        ProspectError: there is no such store, or the command refuses the input.
        ValueError: a frame lacks a column or a value.
    """
    _check(frame)
    if not {"format", "out"}.isdisjoint(options):
        raise TypeError("plan() has no format and no out: write Plan.urls, or use the command for a crawler's format")
    # Settings beside the store may name a file to write to.
    given = {**options, "store": store, "workload": workload, "budget": budget, "out": "-"}
    summary, messages = run_json("plan", [], given)
    return Plan(summary, messages, frame)


def status(store: File) -> dict[str, Any]:
    """What is in a store, and what became of its plans: the JSON of `prospect status`.

    Raises:
        ProspectError: there is no such store.
    """
    return cast("dict[str, Any]", run_json("status", [], {"store": store})[0])


Runs: TypeAlias = "File | Table | Sequence[File | Table] | Mapping[str, File | Table]"


@overload
def evaluate(
    run: Runs = (), *, qrels: File | Table, frame: Literal["pandas"] = "pandas", **options: Option
) -> Evaluation[pandas.DataFrame]: ...
@overload
def evaluate(
    run: Runs = (), *, qrels: File | Table, frame: Literal["polars"], **options: Option
) -> Evaluation[polars.DataFrame]: ...
def evaluate(run: Runs = (), *, qrels: File | Table, frame: Library = "pandas", **options: Option) -> Evaluation[Any]:
    """Measures search runs against judgements, and compares further ones with the first.

    Args:
        run: one run, several, or a dictionary of runs by name: files in TREC's format, or frames with `qid`, `docno`
            and `score`. Results are ordered by score, ties by `docno`, last first, as in `trec_eval`; `rank` is unread.
        qrels: judgements: a file in TREC's format, or a frame with `qid`, `docno` and `label`.
        options: those of `prospect evaluate`, such as `metrics="nDCG@10,P@5"`; with `store` (or `corpus`) and
            `workload` BM25 searches the pages first, and that is the first run, named `search`.

    Raises:
        ProspectError: the command refuses the input.
        ValueError: a frame lacks a column or a value, or a name in it has white space.
    """
    _check(frame)
    runs: list[Any]
    if isinstance(run, Mapping):
        names, runs = list(run), list(run.values())
    else:
        runs = [run] if isinstance(run, str | os.PathLike) or is_table(run) else list(cast("Sequence[Any]", run))
        names = [f"run {at}" if is_table(one) else os.fspath(one) for at, one in enumerate(runs, 1)]
    summary, messages = run_json("evaluate", [], {**options, "run": runs, "qrels": qrels, "per_query": True})
    return Evaluation(summary, messages, frame, names)


@overload
def read_run(path: File, frame: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...
@overload
def read_run(path: File, frame: Literal["polars"]) -> polars.DataFrame: ...
def read_run(path: File, frame: Library = "pandas") -> Any:
    """A TREC run, plain or `.gz`, as a frame of results: `qid`, `docno`, `rank` (from 0, by score), `score`, `name`.

    Raises:
        OSError: it cannot be read.
        ValueError: a line is no result.
    """
    return from_records(read_run_records(path), RUN_COLUMNS, frame)


def call(verb: str, *positional: File, **options: Option) -> Any:  # noqa: ANN401
    """The JSON of any other command: `call("explain", "https://bread.example/rye", store="store")`.

    Args:
        verb: the command, such as `"sufficiency"`, or `"quality score"`.
        positional: what it takes without an option.
        options: its options.

    Raises:
        ProspectError: it ended badly.
    """
    return run_json(verb, positional, options)[0]


def _check(frame: str) -> None:
    if frame not in ("pandas", "polars"):
        raise ValueError(f"frame is {frame!r}; pandas or polars was expected")
