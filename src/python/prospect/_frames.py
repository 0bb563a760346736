"""Frames of pandas or polars in and out, with the names of columns that PyTerrier has."""

from __future__ import annotations

import gzip
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias, TypeGuard, TypeVar

if TYPE_CHECKING:
    import pandas
    import polars

Table: TypeAlias = "pandas.DataFrame | polars.DataFrame"
Library: TypeAlias = Literal["pandas", "polars"]
Frame = TypeVar("Frame", "pandas.DataFrame", "polars.DataFrame")

NEEDED = {"pandas": ("pandas", "pyarrow"), "polars": ("polars",)}


def library(name: str) -> Any:  # noqa: ANN401
    """The module that makes frames of this kind.

    Raises:
        ValueError: the name is neither pandas nor polars.
        ImportError: it, or what it reads Parquet with, is not installed.
    """
    if name not in NEEDED:
        raise ValueError(f"frame is {name!r}; pandas or polars was expected")
    try:
        *_, module = [importlib.import_module(one) for one in reversed(NEEDED[name])]
    except ImportError as error:
        missing = f"{' and '.join(NEEDED[name])} must be installed for frames of {name}"
        way = f"pip install 'prospect-crawl-planner[{name}]', or ask for the other of pandas and polars with frame="
        raise ImportError(f"{missing}: {way}", name=error.name) from error
    return module


def is_table(value: object) -> TypeGuard[Table]:
    """Whether it is a frame, of whichever library."""
    return hasattr(value, "columns") and hasattr(value, "__getitem__")


def read_parquet(path: Path, frame: str) -> Any:  # noqa: ANN401
    """A Parquet file as a frame."""
    return library(frame).read_parquet(path)


def from_records(records: Sequence[dict[str, Any]], columns: Sequence[str], frame: str) -> Any:  # noqa: ANN401
    """Records as a frame of these columns, which it has even where there are no records."""
    module = library(frame)
    if frame == "pandas":
        return module.DataFrame(records, columns=list(columns))
    if not records:
        return module.DataFrame(schema=list(columns))
    return module.DataFrame(records, infer_schema_length=None).select(columns)


def rows(table: Table, needed: Sequence[str], optional: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a table, without values that are missing.

    Raises:
        ValueError: a column that is needed is not there, or a value of it is missing.
    """
    there = [str(column) for column in table.columns]
    lacking = [column for column in needed if column not in there]
    if lacking:
        raise ValueError(f"the frame has no column {', '.join(lacking)}; its columns are {', '.join(there)}")
    columns = [*needed, *(column for column in optional if column in there)]
    for at, values in enumerate(zip(*(list(table[column]) for column in columns), strict=True)):
        row = {column: value for column, value in zip(columns, values, strict=True) if not is_missing(value)}
        empty = [column for column in needed if column not in row]
        if empty:
            raise ValueError(f"row {at} of the frame has no {', '.join(empty)}")
        yield row


def is_missing(value: object) -> bool:
    """Whether it is None, a NaN, or the NA of pandas, which refuses to be compared."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def as_json(at: int, record: Mapping[str, object]) -> str:
    """A record as a line of JSON, without what is missing.

    Raises:
        TypeError: it holds what is no JSON.
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"record {at}: {record!r:.40} is no dictionary; those of a frame are frame.to_dict('records')")
    try:
        return json.dumps(_plain(record), ensure_ascii=False, allow_nan=False, default=_simple)
    except (TypeError, ValueError) as error:
        raise TypeError(f"record {at}: {error}") from error


def _plain(value: object) -> object:
    """The same with None for what is missing."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    is_scalar = isinstance(value, (str, int)) or hasattr(value, "__len__")
    return value if is_scalar or not is_missing(value) else None


def _simple(value: object) -> object:
    """A number of NumPy, an array or a time as JSON has it."""
    for method in ("tolist", "isoformat"):
        if hasattr(value, method):
            return _plain(getattr(value, method)())
    raise TypeError(f"{value!r:.40} of type {type(value).__name__} is not JSON")


def name_of(row: dict[str, Any], column: str) -> str:
    """A name as TREC files have it: without white space.

    Raises:
        ValueError: it has some, or is empty.
    """
    name = str(row[column])
    if name.split() != [name]:
        raise ValueError(f"{column} is {name!r}; a name without white space was expected")
    return name


def write_queries(table: Table, file: TextIO) -> None:
    """Queries, one JSON object a line, so that a text may hold anything."""
    for row in rows(table, ("qid", "query"), ("frequency", "kind")):
        query = {key: float(value) if key == "frequency" else str(value) for key, value in row.items()}
        file.write(json.dumps(query) + "\n")


def write_qrels(table: Table, file: TextIO) -> None:
    """Judgements in TREC's format."""
    for row in rows(table, ("qid", "docno", "label")):
        if row["label"] != int(row["label"]):
            raise ValueError(f"label is {row['label']!r}; a whole number was expected")
        file.write(f"{name_of(row, 'qid')} 0 {name_of(row, 'docno')} {int(row['label'])}\n")


def write_run(table: Table, file: TextIO) -> None:
    """Results in TREC's format. Ranks are left out, for the command orders by score."""
    for row in rows(table, ("qid", "docno", "score")):
        file.write(f"{name_of(row, 'qid')} Q0 {name_of(row, 'docno')} 0 {float(row['score'])!r} frame\n")


WRITERS: dict[str, tuple[Callable[[Table, TextIO], None], str]] = {
    "workload": (write_queries, ".jsonl"),
    "eval_workload": (write_queries, ".jsonl"),
    "qrels": (write_qrels, ".txt"),
    "run": (write_run, ".run"),
    "rerank": (write_run, ".run"),
}
"""How a frame becomes a file, by option."""


def read_run_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The lines of a TREC run, plain or `.gz`, by query and falling score, with ranks from 0 as in PyTerrier."""
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    by_query: dict[str, list[dict[str, Any]]] = {}
    with opened(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                qid, _, docno, _, score, name = line.split()
                result = {"qid": qid, "docno": docno, "score": float(score), "name": name}
            except ValueError:
                raise ValueError(f"{path}:{number}: `qid Q0 docno rank score tag` was expected") from None
            by_query.setdefault(qid, []).append(result)
    for results in by_query.values():
        results.sort(key=lambda result: -float(result["score"]))
    return [{**result, "rank": at} for results in by_query.values() for at, result in enumerate(results)]
