"""The module over the command, on the tiny site."""

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import prospect
from prospect import Plan, ProspectError, ProspectWarning, Simulation
from prospect._command import arguments

TINY = Path(__file__).parents[2] / "workloads/tiny"
SITE: dict[str, Any] = {"base_url": "https://tools.example/", "html_root": TINY / "site"}
EXPERIMENT: dict[str, Any] = {
    "corpus": TINY / "site",
    "base_url": "https://tools.example/",
    "policy": ["bfs", "prospect"],
    "seeds": "random:2",
    "seed_sets": 2,
    "batch": 3,
    "max_pages": "50%",
    "checkpoints": ["25%", "50%"],
}


@pytest.fixture(scope="module")
def queries() -> pandas.DataFrame:
    names = ["qid", "query", "frequency", "kind"]
    return pandas.read_csv(TINY / "queries.tsv", sep="\t", names=names, dtype={"qid": str})


@pytest.fixture(scope="module")
def qrels() -> pandas.DataFrame:
    return pandas.read_csv(TINY / "qrels.txt", sep=" ", names=["qid", "zero", "docno", "label"])


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> "Simulation[pandas.DataFrame]":
    out = tmp_path_factory.mktemp("results") / "of files"
    files: dict[str, Any] = {"workload": TINY / "queries.tsv", "qrels": TINY / "qrels.txt"}
    return prospect.simulate(out=out, runs="all", **EXPERIMENT, **files)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "Übersicht der Seiten"
    prospect.ingest(store, TINY / "site/index.html", TINY / "site/visit", **SITE)
    return store


def test_curves_are_those_of_the_summary(simulation: "Simulation[pandas.DataFrame]") -> None:
    curves = simulation.curves
    assert list(curves.columns[:6]) == ["policy", "set", "kind", "metric", "pages", "value"]
    assert set(curves.policy) == {"bfs", "prospect"} and set(curves.set) == {1, 2}
    assert curves.pages.max() == 38 == simulation.summary["policies"][0]["fetched"][0]
    lines = (simulation.path / "curves.csv").read_text().splitlines()
    means = {tuple(line.split(",")[i] for i in (0, 2, 3, 4)): float(line.split(",")[5]) for line in lines[1:]}
    found = curves.groupby(["policy", "kind", "metric", "pages"]).value.mean()
    assert len(found) == len(means)
    for key, value in found.items():
        assert isinstance(key, tuple)
        assert means[tuple(map(str, key))] == pytest.approx(value)


def test_per_query_has_every_query_at_every_checkpoint(simulation: "Simulation[pandas.DataFrame]") -> None:
    found = simulation.per_query
    assert len(found) == 2 * 2 * 2 * 40
    assert found.ndcg_10.between(0, 1).all() and found.ndcg_10.nunique() > 10


def test_orders_are_the_fetched_pages_from_the_seeds_on(simulation: "Simulation[pandas.DataFrame]") -> None:
    orders = simulation.orders
    assert set(orders) == {"bfs", "prospect"} and set(orders["bfs"]) == {1, 2}
    assert len(orders["bfs"][1]) == len(set(orders["bfs"][1])) == 38
    assert set(orders["bfs"][1][:2]) == set(orders["prospect"][1][:2])
    assert orders["bfs"][1] != orders["prospect"][1]


def test_frames_in_give_what_files_give(
    simulation: "Simulation[pandas.DataFrame]", queries: pandas.DataFrame, qrels: pandas.DataFrame, tmp_path: Path
) -> None:
    tables: dict[str, Any] = {"workload": polars.from_pandas(queries), "qrels": qrels}
    again = prospect.simulate(out=tmp_path / "r", frame="polars", **EXPERIMENT, **tables)
    assert type(again.curves) is polars.DataFrame
    assert again.curves["value"].to_list() == simulation.curves["value"].tolist()
    assert again.curves["policy"].to_list() == simulation.curves["policy"].tolist()
    assert [one["name"] for one in again.summary["provenance"]["inputs"]] == ["site", "workload.jsonl", "qrels.txt"]


def test_a_simulation_goes_on_where_it_was(queries: pandas.DataFrame, tmp_path: Path) -> None:
    first = prospect.simulate(out=tmp_path / "r", workload=queries, **EXPERIMENT)
    written = (first.path / "order/bfs/1.txt").stat()
    again = prospect.simulate(out=tmp_path / "r", workload=queries, **EXPERIMENT)
    assert again.curves.equals(first.curves)
    assert (first.path / "order/bfs/1.txt").stat().st_mtime_ns == written.st_mtime_ns


def test_without_a_folder_results_go_with_the_object(queries: pandas.DataFrame) -> None:
    found = prospect.simulate(workload=queries, **EXPERIMENT)
    path = found.path
    assert (path / "summary.json").exists()
    del found
    assert not path.exists()


def test_runs_are_results_as_pyterrier_has_them(
    simulation: "Simulation[pandas.DataFrame]", qrels: pandas.DataFrame
) -> None:
    last, first = simulation.run("bfs"), simulation.run("bfs", seed_set=1, pages=19)
    assert list(last.columns) == ["qid", "docno", "rank", "score", "name"]
    one = last[last.qid == "tt-01"]
    assert list(one["rank"]) == list(range(len(one))) and one.score.is_monotonic_decreasing
    assert len(first) < len(last)
    found = prospect.evaluate({"19 pages": first, "38 pages": last}, qrels=qrels)
    of_crawl = simulation.per_query.query("policy == 'bfs' and set == 1").set_index(["pages", "qid"]).ndcg_10
    values = found.per_query.query("metric == 'nDCG@10'")
    assert len(values) == 80
    # A judgement of a page outside the collection counts for runs alone.
    values = values[values.qid != "tt-03"]
    for run, qid, value in zip(values.run, values.qid, values.value, strict=True):
        assert value == pytest.approx(of_crawl.loc[(int(run.split()[0]), qid)])
    with pytest.raises(FileNotFoundError, match="those of 19, 38 pages are"):
        simulation.run("bfs", pages=20)
    with pytest.raises(FileNotFoundError, match="bfs, 1; bfs, 2; prospect, 1"):
        simulation.run("dfs")


def test_the_report_is_text_and_a_file(simulation: "Simulation[pandas.DataFrame]", tmp_path: Path) -> None:
    tables = simulation.report(html=tmp_path / "a report.html")
    assert "prospect" in tables and "nDCG@10" in tables
    assert (tmp_path / "a report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert simulation.report(kind="question") != tables


def test_several_experiments_are_opened_one_by_one(tmp_path: Path) -> None:
    shared = f'corpus = "{TINY}/site"\nbase-url = "https://tools.example/"\nworkload = "{TINY}/queries.tsv"\n'
    shared += 'seeds = "random:2"\nmax-pages = 9\nbatch = 3\npolicy = "bfs"\n'
    (tmp_path / "two.toml").write_text(shared + '[[experiment]]\nname = "a"\n[[experiment]]\nname = "b"\nseed = 2\n')
    both = prospect.simulate(config=tmp_path / "two.toml", out=tmp_path / "r")
    with pytest.raises(FileNotFoundError, match=r"several experiments.*: a, b"):
        both.summary  # noqa: B018
    assert Simulation(tmp_path / "r/a").orders != Simulation(tmp_path / "r/b", frame="polars").orders


def test_a_plan_is_a_frame_and_its_json(store: Path, queries: pandas.DataFrame) -> None:
    found = prospect.plan(store, queries, 5)
    assert list(found.batch.columns[:3]) == ["rank", "url", "estimate"]
    assert list(found.batch.url) == found.urls and len(found.urls) == 5
    assert found.summary["expected_impact"]["enters"]["predicted"] > 0
    assert found.batch["queries"][0][0]["matched"]
    assert f"plan {found.plan_id}" in found.messages
    again = prospect.plan(store, polars.from_pandas(queries), "45%", frame="polars")
    assert again.plan_id == found.plan_id and again.batch["url"].to_list() == found.urls
    command: list[Any] = [
        prospect.find_binary(),
        "plan",
        "--store",
        store,
        "--workload",
        TINY / "queries.tsv",
        "--budget",
        "5",
    ]
    printed = subprocess.run([*command, "--format", "urls"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == found.urls
    assert "start" in prospect.plan(store, queries, seconds=3, release="all").batch.columns


def test_an_empty_plan_has_the_columns(store: Path, queries: pandas.DataFrame) -> None:
    prospect.plan(store, queries, "100%")
    empty: Plan[pandas.DataFrame] = prospect.plan(store, queries, 3, another=True)
    assert empty.summary["reason"] == "in-flight" and empty.urls == []
    assert list(empty.batch.url) == []
    assert prospect.plan(store, queries, 3, another=True, frame="polars").batch["url"].to_list() == []


def test_settings_beside_the_store_do_not_take_the_plan_away(store: Path, queries: pandas.DataFrame) -> None:
    (store.parent / "prospect.toml").write_text('[plan]\nout = "batch.txt"\nformat = "urls"\nbudget = 2\n')
    assert len(prospect.plan(store, queries).urls) == 2
    assert not (store.parent / "batch.txt").exists()
    with pytest.raises(TypeError, match="no format"):
        prospect.plan(store, queries, 2, format="urls")


def test_what_was_fetched_closes_the_plan(store: Path, queries: pandas.DataFrame) -> None:
    planned = prospect.plan(store, queries, 3)
    page: dict[str, object] = {
        "title": "Sägen schärfen",
        "text": "Schärfen \u2028 und feilen\n",
        "outlinks": [{"url": "/a b", "anchor": "\ud800"}],
    }
    came: list[dict[str, object]] = [{"url": planned.urls[0], **page}, {"url": planned.urls[1], "status": 404}]
    told = prospect.ingest(store, records=came, close=True)
    assert [one["plan_id"] for one in told["closed"]] == [planned.plan_id]
    found = prospect.status(store)
    assert (found["pages"], found["failed"], found["open_plans"]) == (7, 1, [])
    (planned_next,) = prospect.plan(store, queries, 1).urls
    assert prospect.call("explain", planned_next, store=store)["url"] == planned_next
    assert prospect.call("explain", query="tt-01", store=store)["schema"].startswith("prospect.explain")


def test_runs_of_files_and_frames_are_compared_with_the_first(qrels: pandas.DataFrame, tmp_path: Path) -> None:
    best = pandas.DataFrame({"qid": qrels.qid, "docno": qrels.docno, "score": qrels.label, "rank": 0})
    worst = polars.from_pandas(best.assign(score=-best.score))
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s, _ in best.itertuples(index=False)))
    found = prospect.evaluate([tmp_path / "a.run", worst], qrels=qrels, metrics=["nDCG@10", "P@1"])
    means = found.means.set_index(["run", "metric"])
    assert list(means.index) == [(run, m) for run in (str(tmp_path / "a.run"), "run 2") for m in ("nDCG@10", "P@1")]
    assert means["mean"].iloc[0] == 1 and means["mean"].iloc[2] < 1
    assert means.p.isna().tolist() == [True, True, False, False] and means.p_holm.iloc[2] < 0.01
    assert len(prospect.evaluate([tmp_path / "a.run"] * 2, qrels=qrels, metrics="P@1").means) == 2
    assert prospect.evaluate(best, qrels=TINY / "qrels.txt", frame="polars").means["mean"][0] == 1


def test_a_search_stands_before_the_runs(store: Path, queries: pandas.DataFrame, qrels: pandas.DataFrame) -> None:
    run = store.parent / "found.run"
    found = prospect.evaluate(qrels=qrels, store=store, workload=queries, write_run=run)
    assert set(found.means.run) == {"search"} and "no results for" in found.messages
    read = prospect.read_run(run)
    assert len(read) > 40 and read.name.unique().tolist() == ["prospect-bm25"]
    both = prospect.evaluate({"again": read}, qrels=qrels, store=store, workload=queries).means
    assert list(both.run.unique()) == ["search", "again"]
    assert both["mean"][:4].tolist() == both["mean"][4:].tolist()


def test_foreign_runs_are_ranked_by_score(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.run.gz", "wt", encoding="utf-8") as file:
        file.write("2 Q0 ä 7 1 t\n1 Q0 b 1 0.5 t\n1\tQ0\tc\t2\t2e0\tt\n")
    read = prospect.read_run(tmp_path / "a.run.gz", frame="polars")
    assert read.rows() == [("2", "ä", 0, 1.0, "t"), ("1", "c", 0, 2.0, "t"), ("1", "b", 1, 0.5, "t")]


def test_texts_of_queries_may_hold_anything(store: Path) -> None:
    odd = pandas.DataFrame(
        {"qid": [1, 2], "query": ['opening\thours "now"\n', "42 öffnungszeit"], "frequency": [2.0, None]}
    )
    found = prospect.call("sufficiency", store=store, workload=odd)
    assert found["workload"]["queries"] == 2 and found["workload"]["askings"] == 3


def test_warnings_are_warnings(store: Path, tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("qid\tquery\n1\topening hours\n")
    with pytest.warns(ProspectWarning, match="read as a header") as caught:
        prospect.plan(store, tmp_path / "q.tsv", 1)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("option", "frame", "message"),
    [
        ("qrels", {"qid": ["1"], "docno": ["d"]}, "no column label; its columns are qid, docno"),
        ("qrels", {"qid": ["1"], "docno": ["d e"], "label": [1]}, "docno is 'd e'"),
        ("qrels", {"qid": ["1"], "docno": ["d"], "label": [0.5]}, "label is 0.5"),
        ("run", {"qid": ["1"], "docno": ["d"], "score": [None]}, "row 0 of the frame has no score"),
        ("run", {"qid": [""], "docno": ["d"], "score": [1]}, "qid is ''"),
        ("workload", {"qid": ["1"], "text": ["d"]}, "no column query"),
    ],
)
@pytest.mark.parametrize("library", [pandas, polars])
def test_frames_that_cannot_be_used_are_told(
    option: str, frame: dict[str, list[object]], message: str, library: object, tmp_path: Path
) -> None:
    table = library.DataFrame(frame)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=message):
        arguments({option: table}, tmp_path)


def test_options_are_said_as_the_command_wants_them(tmp_path: Path) -> None:
    given: dict[str, Any] = {"max_pages": "50%", "k1": 0.9, "ablate": True, "stop": None, "single_query": False, "b": 0}
    assert arguments(given, tmp_path) == ["--max-pages=50%", "--k1=0.9", "--ablate", "--b=0"]
    assert arguments({"corpus": [Path("a b"), "-c"]}, tmp_path) == ["--corpus=a b", "--corpus=-c"]
    with pytest.raises(TypeError, match="corpus cannot be a frame"):
        arguments({"corpus": pandas.DataFrame()}, tmp_path)


def test_errors_have_the_message_and_the_code(tmp_path: Path) -> None:
    with pytest.raises(ProspectError) as raised:
        prospect.status(tmp_path / "no store")
    assert raised.value.code == 1
    assert str(raised.value).startswith("there is no store at ") and "hint: create one with" in raised.value.message
    with pytest.raises(ProspectError, match=r"unexpected argument '--polcy'.*\n.*\n.*'--policy'"):
        prospect.simulate(out=tmp_path / "r", polcy="bfs")
    with pytest.raises(ValueError, match="pandas or polars"):
        prospect.simulate(frame="arrow")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"a\.run:1: "):
        (tmp_path / "a.run").write_text("1 Q0 d 1 high tag\n")
        prospect.read_run(tmp_path / "a.run")


def test_progress_is_told(store: Path, queries: pandas.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = prospect.plan(store, queries, 2)
    assert capsys.readouterr().err == "" and quiet.messages
    told = prospect.plan(store, queries, 2, another=True, progress=True)
    assert capsys.readouterr().err == told.messages


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Another command in the place of ours."""
    path = folder / "stand in"
    path.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\n{code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PROSPECT_BINARY", str(path))


def test_faults_and_signals_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "print('note\\nerror: a bug', file=sys.stderr); sys.exit(2)")
    with pytest.raises(ProspectError, match=r"^a bug$") as raised:
        prospect.status("s")
    assert raised.value.code == 2
    stand_in(tmp_path, monkeypatch, "os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(ProspectError, match="status` ended with -9") as raised:
        prospect.status("s")
    assert raised.value.code == -9


def test_much_on_both_streams_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "sys.stderr.write('x' * 79 + '\\n') if i % 2 else sys.stdout.write(' ' * 80)"
    stand_in(tmp_path, monkeypatch, f"for i in range(20000): {code}\nprint('{{}}')")
    assert prospect.status("s") == {}


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_interrupt_ends_the_command(stubborn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); " if stubborn else ""
    pid = tmp_path / "pid"
    stand_in(tmp_path, monkeypatch, f"{deaf}open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)")
    monkeypatch.setattr("prospect._command.PATIENCE_SECONDS", 0.2 if stubborn else 30)
    struck = []

    def interrupt() -> None:
        while not pid.exists() or not pid.read_text().endswith("\n"):
            time.sleep(0.01)
        struck.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        prospect.status("s")
    assert time.monotonic() - struck[0] < 15
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_command_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROSPECT_BINARY", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=r"PROSPECT_BINARY is '.*none'"):
        prospect.status("s")
    monkeypatch.delenv("PROSPECT_BINARY")
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="there is no prospect command"):
        prospect.find_binary()
    (tmp_path / "prospect").write_text("#!/bin/sh\n")
    (tmp_path / "prospect").chmod(0o755)
    assert prospect.find_binary() == str(tmp_path / "prospect")


@pytest.mark.parametrize("hidden", ["pandas", "pyarrow", "polars"])
def test_only_frames_need_their_library(hidden: str, simulation: "Simulation[pandas.DataFrame]") -> None:
    frame = "polars" if hidden == "polars" else "pandas"
    code = f"""
import sys
sys.modules[{hidden!r}] = None
import prospect
found = prospect.Simulation({os.fspath(simulation.path)!r}, frame={frame!r})
assert found.summary and found.orders and found.report()
try:
    found.curves
except ImportError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": os.fspath(Path(prospect.__file__).parents[1])}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert f"pip install 'prospect-crawl-planner[{frame}]'" in told.stdout


def test_the_docstrings_name_options_that_exist() -> None:
    simulate = subprocess.run(
        [prospect.find_binary(), "simulate", "--help"], capture_output=True, text=True, check=True
    )
    named = [
        "corpus",
        "base-url",
        "workload",
        "qrels",
        "policy",
        "seeds",
        "seed-sets",
        "batch",
        "max-pages",
        "runs",
        "config",
    ]
    assert prospect.simulate.__doc__ is not None
    for name in named:
        assert f"--{name} " in simulate.stdout and f"`{name.replace('-', '_')}`" in prospect.simulate.__doc__


def test_json_of_every_command_can_be_had() -> None:
    assert prospect.call("metrics")["schema"].startswith("prospect.metrics")
    assert json.dumps(prospect.call("policies"))


def test_gaps_of_a_frame_are_gaps_of_records(tmp_path: Path) -> None:
    """A NaN made a line that no page was read from, and nobody was told."""
    rows = [
        {"url": "https://a.example/", "title": "home", "text": "bread", "status": 200},
        {"url": "https://a.example/2", "title": None, "text": "rye"},
        {"url": "https://a.example/3", "text": "oats", "fetched_at": pandas.Timestamp("2026-11-28T01:00:00Z")},
    ]
    frame: Any = pandas.DataFrame(rows)
    told = prospect.ingest(tmp_path / "store", records=frame.to_dict("records"))
    assert (told["pages"], told["skipped"]) == (3, {})
    with pytest.raises(TypeError, match="record 0: 'url' is no dictionary"):
        prospect.ingest(tmp_path / "store", records=frame)
    with pytest.raises(TypeError, match="record 0: b'x' of type bytes is not JSON"):
        prospect.ingest(tmp_path / "store", records=[{"url": "https://a.example/", "text": b"x"}])
    with pytest.raises(ValueError, match="neither a file nor a record"):
        prospect.ingest(tmp_path / "store", records=[])
