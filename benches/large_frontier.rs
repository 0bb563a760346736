//! What a plan costs on a large frontier: ingest, opening, the first plan, the same plan again, and one after
//! 1 % more pages, in CPU seconds of this process and in the most memory that each step had; then rounds of
//! `prospect stream`, which answers come to through pipes, in milliseconds a round.
//! `cargo bench --bench large_frontier`; sizes from the environment: `PROSPECT_BENCH_URLS` (100,000 URLs, a
//! twentieth of which are crawled), `PROSPECT_BENCH_QUERIES` (60 for each 10,000 URLs, at most 60,000) and
//! `PROSPECT_BENCH_ROUNDS` (12, of 50 records each; by another `prospect` with `PROSPECT_BENCH_COMMAND`). With
//! `PROSPECT_BENCH_STORE` the store is made in that folder, or used if it is there, and stays. Real URLs, anchors and queries of
//! `frontier-scale` below `PROSPECT_DATA`; without them the bench says so and does nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use prospect::campaign::OpenStore;
use prospect::campaign::plan::{self, Beside};
use prospect::campaign::planned::Plan;
use prospect::planner::settings::PlanSettings;
use prospect::workload::{Query, Workload};
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::page::PageRecord;

#[path = "synthetic/frontier.rs"]
mod frontier;
#[path = "synthetic/mod.rs"]
mod synthetic;

use frontier::RealLinks;
use synthetic::{memory_mib, size_from_env, uniform};

/// Pages that are ingested at once.
const CYCLE: usize = 25_000;

fn main() {
    let root =
        std::env::var_os("PROSPECT_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    let folder = root.join("frontier-scale");
    let Some(real) = RealLinks::read(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let urls = size_from_env("PROSPECT_BENCH_URLS", 100_000) as usize;
    let queries = size_from_env("PROSPECT_BENCH_QUERIES", (urls as u32 / 10_000 * 60).min(60_000));
    let asked = asked(&real, queries as usize);
    let queries = asked.iter().map(|(id, text, frequency)| Query::new(id, text, *frequency, ""));
    let queries = Workload { queries: queries.collect() };
    let temporary = tempfile::tempdir().expect("directory");
    let store = std::env::var_os("PROSPECT_BENCH_STORE")
        .map_or_else(|| temporary.path().to_path_buf(), PathBuf::from);
    let pages = RealLinks::pages(urls);
    println!("{urls} URLs, {pages} pages, {} queries", queries.queries.len());
    if !store.join("MANIFEST.json").exists() {
        measured("ingest", || ingest(&real, &store, 0..pages, urls));
    }
    measured("indexes", || drop(open(&store)));
    let first = planned("first plan", &store, &queries);
    planned("the same again", &store, &queries);
    measured("1 % more pages", || ingest(&real, &store, pages..pages + pages / 100, urls));
    let later = planned("plan after them", &store, &queries);
    println!("the batch moved: {} of 10,000 picks are the same", same(&first, &later));
    let rounds = size_from_env("PROSPECT_BENCH_ROUNDS", 12) as usize;
    let file = tempfile::NamedTempFile::with_suffix(".tsv").expect("file");
    let lines = asked.iter().map(|(id, text, frequency)| format!("{id}\t{text}\t{frequency}\n"));
    std::fs::write(file.path(), lines.collect::<String>()).expect("workload");
    let from = pages + pages / 100;
    stream(&real, &store, file.path(), (from, urls), rounds);
    // Plans that are committed stand in one epoch of statistics, as long as the crawl grows by less than a tenth.
    let from = from + 50 * rounds;
    plan_by_command("plan, committed", &store, file.path());
    measured("1 % more pages", || ingest(&real, &store, from..from + pages / 100, urls));
    plan_by_command("plan after them, in the same epoch", &store, file.path());
}

/// The command that is measured.
fn prospect() -> Command {
    let other = std::env::var_os("PROSPECT_BENCH_COMMAND");
    Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_prospect").into()))
}

fn plan_by_command(step: &str, store: &Path, queries: &Path) {
    let before = cpu_seconds(Of::Children);
    let mut command = prospect();
    let command = command.args(["plan", "--quiet", "--another", "--budget", "1000", "--store"]);
    let done = command.arg(store).arg("--workload").arg(queries).output().expect("prospect plan");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    println!("{step}: {:.2} s of CPU", cpu_seconds(Of::Children) - before);
}

/// Rounds of a stream: every URL that it asks for is answered by the next page of the crawl.
fn stream(
    real: &RealLinks,
    store: &Path,
    queries: &Path,
    (first_page, urls): (usize, usize),
    rounds: usize,
) {
    let mut child = prospect()
        .args(["stream", "--in-flight", "100", "--every", "50", "--store"])
        .arg(store)
        .arg("--workload")
        .arg(queries)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("prospect stream");
    let said = BufReader::new(child.stderr.take().expect("standard error"));
    let said = std::thread::spawn(move || said.lines().map_while(Result::ok).collect::<Vec<_>>());
    let mut records = child.stdin.take().expect("standard input");
    let asked = BufReader::new(child.stdout.take().expect("standard output"));
    for (page, line) in (first_page..).zip(asked.lines().take(50 * rounds)) {
        let asked: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let url = asked["url"].as_str().expect("a URL").to_owned();
        let record = PageRecord { url, ..real.page(page, urls) };
        serde_json::to_writer(&mut records, &record).expect("a record is taken");
        records.write_all(b"\n").expect("a record is taken");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let memory = status.unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("VmHWM:").map(str::trim));
    drop(records);
    child.wait().expect("the stream ends");
    let said = said.join().expect("messages");
    let time = |line: &String| line.strip_suffix(" ms")?.rsplit(' ').next()?.parse::<u64>().ok();
    let mut times: Vec<u64> = said.iter().filter_map(time).collect();
    let first = times.first().copied().unwrap_or(0);
    times.remove(0);
    times.sort_unstable();
    println!(
        "stream: first round {first} ms, the others {} to {} ms, median {} ms of {}; at most {}",
        times.first().copied().unwrap_or(0),
        times.last().copied().unwrap_or(0),
        times.get(times.len() / 2).copied().unwrap_or(0),
        times.len(),
        memory.unwrap_or("unknown"),
    );
}

/// Queries with their ids and how often they are asked: by Zipf's law, in no order of the file.
fn asked(real: &RealLinks, count: usize) -> Vec<(String, &str, f64)> {
    let query = |rank: usize| {
        let place = (uniform(31, 0, rank as u64) * real.queries.len() as f64) as usize;
        (format!("{rank:06}"), real.queries[place].as_str(), (1e6 / (rank + 1) as f64).ceil())
    };
    (0..count.min(real.queries.len())).map(query).collect()
}

fn ingest(real: &RealLinks, store: &Path, pages: std::ops::Range<usize>, urls: usize) {
    for first in pages.clone().step_by(CYCLE) {
        let records = (first..(first + CYCLE).min(pages.end)).map(|page| real.page(page, urls));
        ingest_all(store, records.collect(), &format!("from {first}")).expect("ingest");
    }
}

fn open(store: &Path) -> OpenStore {
    OpenStore::open(store, "bench", limits::BOUNDS.ngram_words).expect("store")
}

fn planned(step: &str, store: &Path, queries: &Workload) -> Vec<u32> {
    let open = measured("open", || open(store));
    let settings = PlanSettings::new(10_000);
    let made: Plan = measured(step, || {
        plan::plan(&open, queries, &[], &settings, Beside::Others).expect("plan")
    });
    let frontier = open.known.urls.ids().filter(|url| open.known.pages.in_frontier(*url)).count();
    println!("    {frontier} URLs in the frontier, {} pairs", made.scored.pairs().count());
    made.choice.batch.picks.iter().map(|pick| pick.estimate.url.0).collect()
}

fn same(first: &[u32], later: &[u32]) -> usize {
    let first: std::collections::HashSet<_> = first.iter().collect();
    later.iter().filter(|url| first.contains(url)).count()
}

/// Runs a step and prints what it took.
fn measured<T>(step: &str, run: impl FnOnce() -> T) -> T {
    // The most memory is counted anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (started, cpu) = (Instant::now(), cpu_seconds(Of::Itself));
    let made = run();
    println!(
        "{step}: {:.2} s of CPU, {:.2} s on the clock, at most {:.0} MiB",
        cpu_seconds(Of::Itself) - cpu,
        started.elapsed().as_secs_f64(),
        memory_mib("VmHWM"),
    );
    made
}

/// Whose CPU seconds.
#[derive(Clone, Copy)]
enum Of {
    /// This process.
    Itself,
    /// Its children that have ended.
    Children,
}

/// CPU seconds so far, 0 where they are not told.
fn cpu_seconds(of: Of) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(") ").next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    let first = match of {
        Of::Itself => 11,
        Of::Children => 13,
    };
    // User and system time, in hundredths of a second.
    (ticks(first).unwrap_or(0.0) + ticks(first + 1).unwrap_or(0.0)) / 100.0
}
