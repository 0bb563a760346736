//! Whole loops with real crawlers, on a small web on loopback: plan, fetch, ingest, plan again.
//!
//! Story: somebody has wget, or Scrapy with the spider of `docs/crawlers`, and follows the recipe. Whatever the
//! web does to them (redirects, servers that are busy or broken, connections that end, robots.txt), every
//! planned URL is accounted for, none is fetched again before its time, and what was busy comes in the end.
//!
//! `PROSPECT_WGET` and `PROSPECT_SCRAPY` name the commands; where one is neither named nor in `PATH`, its test is
//! skipped, saying so.

mod common;
#[path = "common/program.rs"]
mod program;
#[path = "live/web.rs"]
mod web;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{assert_sound, done, text};
use serde_json::Value;
use tempfile::TempDir;
use web::{Fate, Web};

const CYCLES: usize = 9;
const BUDGET: &str = "12";

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The command of a crawler, if this machine has it.
fn crawler(variable: &str, name: &str) -> Option<PathBuf> {
    let found = program::find(variable, &[name]);
    if found.is_none() {
        eprintln!("skipped: no {name} in PATH, and {variable} is not set");
    }
    found
}

/// URLs of a batch as it was written.
fn planned_in(batch: &str) -> Vec<String> {
    let url = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(pick) => pick["url"].as_str().unwrap().to_owned(),
        Err(_) => line.to_owned(),
    };
    batch.lines().map(url).collect()
}

/// A crawl of the web.
struct Crawl {
    dir: TempDir,
    web: Web,
    /// URLs planned so far, by how often.
    planned: BTreeMap<String, usize>,
    /// URLs whose page came.
    came: BTreeSet<String>,
}

/// What one cycle came to.
struct Cycle {
    planned: Vec<String>,
    counts: Value,
    accesses: Vec<web::Access>,
}

impl Cycle {
    /// What holds of every cycle, whoever fetched it.
    fn check(&self) {
        let count = |name: &str| self.counts[name].as_u64().unwrap() as usize;
        assert_eq!(count("planned"), self.planned.len());
        let told = ["fetched", "failed", "moved", "unknown"].map(count);
        assert_eq!(told.iter().sum::<usize>(), self.planned.len(), "{told:?}");
        assert_eq!(told[3], 0, "{told:?}");
        let distinct: HashSet<&String> = self.planned.iter().collect();
        assert_eq!(distinct.len(), self.planned.len(), "no URL is planned twice");
    }
}

impl Crawl {
    fn new() -> Self {
        let web = Web::start(&repository("workloads/tiny/site"));
        Self {
            dir: tempfile::tempdir().unwrap(),
            web,
            planned: BTreeMap::new(),
            came: BTreeSet::new(),
        }
    }

    /// With some of the site named, and a first batch of that fetched by Scrapy.
    fn with_a_first_batch(command: &Path) -> Self {
        let crawl = Self::new();
        let (store, list) = (crawl.store(), crawl.path("list.txt"));
        fs::write(&list, some_of_the_site()).unwrap();
        done(&["seeds", "--store", &store, text(&list)]);
        let first = crawl.plan(&store, "scrapy", "batch-0");
        done(&["ingest", "--store", &store, text(&scrapy(command, &crawl, 0, &first))]);
        crawl
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self) -> String {
        text(&self.path("store")).to_owned()
    }

    fn plan(&self, store: &str, format: &str, name: &str) -> PathBuf {
        self.plan_with(store, format, name, &[])
    }

    fn plan_with(&self, store: &str, format: &str, name: &str, options: &[&str]) -> PathBuf {
        let (queries, out) = (repository("workloads/tiny/queries.tsv"), self.path(name));
        let fixed = [
            "plan",
            "--store",
            store,
            "--workload",
            text(&queries),
            "--budget",
            BUDGET,
            "--format",
            format,
            "--out",
            text(&out),
        ];
        done(&[&fixed[..], options].concat());
        out
    }

    /// Plans, has the batch fetched, and ingests what came.
    fn cycle(
        &mut self,
        number: usize,
        format: &str,
        fetch: impl Fn(&Self, usize, &Path) -> PathBuf,
    ) -> Cycle {
        let batch = self.plan(&self.store(), format, &format!("batch-{number}"));
        let lines = fs::read_to_string(&batch).unwrap();
        let planned = planned_in(&lines);
        for url in &planned {
            *self.planned.entry(url.clone()).or_insert(0) += 1;
        }
        let fetched = fetch(self, number, &batch);
        // What tells of the last URLs closes the plan: nobody has to say so.
        let said = done(&["ingest", "--store", &self.store(), "--json", text(&fetched)]);
        let mut ingested: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(ingested["skipped"], serde_json::json!({}), "every record can be read");
        let log = log_of(&fetched);
        if log.is_file() {
            let said = done(&["crawl-log", "--store", &self.store(), "--json", text(&log)]).stdout;
            let before = ingested["closed"].take();
            ingested = serde_json::from_str(&said).unwrap();
            if ingested["closed"] == serde_json::json!([]) {
                ingested["closed"] = before;
            }
        }
        let accesses = self.web.accesses();
        let came = accesses.iter().filter(|(_, status)| *status == 200);
        self.came.extend(came.map(|(url, _)| url.clone()));
        Cycle { planned, counts: ingested["closed"][0].clone(), accesses }
    }

    /// What holds at the end: only what may pass was asked for again, and what was busy came.
    fn check_end(&self) {
        for (url, &times) in &self.planned {
            let again = match Fate::of(url) {
                // Of another web, which nobody answers for.
                _ if !url.contains(".tools.example/") => 4,
                Fate::Busy => 2,
                Fate::Broken | Fate::Dropped => 4,
                Fate::Page | Fate::Packed | Fate::Moved | Fate::Forbidden => 1,
            };
            assert!(times <= again, "{url} was planned {times} times");
        }
        self.check_busy();
    }

    /// Who was busy is asked again, and answers.
    fn check_busy(&self) {
        let again: Vec<&String> = self
            .planned
            .iter()
            .filter(|(url, times)| Fate::of(url) == Fate::Busy && **times > 1)
            .map(|(url, _)| url)
            .collect();
        assert!(!again.is_empty(), "somebody who was busy is asked again");
        for url in again {
            assert!(self.came.contains(url), "{url} came the second time");
        }
        assert_sound(&self.path("store"));
    }
}

/// The log beside what was fetched.
fn log_of(fetched: &Path) -> PathBuf {
    PathBuf::from(format!("{}.log", text(fetched)))
}

fn wget(command: &Path, crawl: &Crawl, number: usize, batch: &Path) -> PathBuf {
    let name = crawl.path(&format!("fetched-{number}"));
    // Its exit code says whether any URL failed.
    let fetched = PathBuf::from(format!("{}.warc.gz", text(&name)));
    let output = Command::new(command)
        .args(["--tries=1", "--timeout=20", "--output-document=/dev/null"])
        .arg(format!("--output-file={}", text(&log_of(&fetched))))
        .arg(format!("--warc-file={}", text(&name)))
        .arg(format!("--input-file={}", text(batch)))
        .env("http_proxy", &crawl.web.proxy)
        .output()
        .unwrap();
    assert!(fetched.is_file(), "{}", String::from_utf8_lossy(&output.stderr));
    fetched
}

fn scrapy(command: &Path, crawl: &Crawl, number: usize, batch: &Path) -> PathBuf {
    let fetched = crawl.path(&format!("fetched-{number}.jsonl"));
    let output = Command::new(command)
        .arg("runspider")
        .arg(repository("docs/crawlers/prospect_spider.py"))
        .args(["-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=ERROR"])
        .arg("-a")
        .arg(format!("batch={}", text(batch)))
        .arg("-O")
        .arg(&fetched)
        .env("http_proxy", &crawl.web.proxy)
        .current_dir(crawl.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fetched
}

#[test]
fn wget_and_its_archives_lose_nothing() {
    let Some(command) = crawler("PROSPECT_WGET", "wget") else { return };
    let mut crawl = Crawl::new();
    let seeds = crawl.path("seeds");
    fs::write(&seeds, "http://www.tools.example/index.html\n").unwrap();
    let first = wget(&command, &crawl, 0, &seeds);
    done(&["ingest", "--store", &crawl.store(), text(&first)]);
    crawl.web.accesses();
    for number in 1..=CYCLES {
        // Its log tells whole seconds: what fails twice within one is one fetch.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let cycle = crawl
            .cycle(number, "urls", |crawl, number, batch| wget(&command, crawl, number, batch));
        // What no server answered, an archive has no record of; the log has.
        cycle.check();
    }
    let told = done(&["status", "--store", &crawl.store(), "--json"]).stdout;
    let status: Value = serde_json::from_str(&told).unwrap();
    let pages = crawl.came.len() as u64 + 1;
    assert_eq!(status["pages"].as_u64(), Some(pages), "every page that came is there");
    assert_eq!(status["open_plans"], serde_json::json!([]));
    crawl.check_end();
}

#[test]
fn scrapy_and_the_spider_report_every_url_once() {
    let Some(command) = crawler("PROSPECT_SCRAPY", "scrapy") else { return };
    let mut crawl = Crawl::new();
    let seeds = crawl.path("seeds");
    let seed = r#"{"url": "http://www.tools.example/index.html", "priority": 1, "plan_id": ""}"#;
    fs::write(&seeds, seed).unwrap();
    let first = scrapy(&command, &crawl, 0, &seeds);
    done(&["ingest", "--store", &crawl.store(), text(&first)]);
    crawl.web.accesses();
    for number in 1..=CYCLES {
        let cycle = crawl
            .cycle(number, "scrapy", |crawl, number, batch| scrapy(&command, crawl, number, batch));
        cycle.check();
        let asked: Vec<&str> = cycle
            .accesses
            .iter()
            .map(|(url, _)| url.as_str())
            .filter(|url| !url.contains("/moved/"))
            .collect();
        let distinct: BTreeSet<&str> = asked.iter().copied().collect();
        assert_eq!(distinct.len(), asked.len(), "every URL is asked for once");
        let forbidden = asked.iter().find(|url| Fate::of(url) == Fate::Forbidden);
        assert_eq!(forbidden, None, "robots.txt is heeded");
    }
    crawl.check_end();
}

#[test]
fn a_batch_in_time_asks_no_host_too_often_and_for_nothing_that_is_excluded() {
    let Some(command) = crawler("PROSPECT_SCRAPY", "scrapy") else { return };
    let crawl = Crawl::with_a_first_batch(&command);
    let store = crawl.store();
    crawl.web.accesses();
    // Four turns of each host.
    let options = ["--seconds", "1", "--delay", "0.25", "--exclude", "/visit/"];
    let batch = crawl.plan_with(&store, "scrapy", "batch-1", &options);
    let planned = planned_in(&fs::read_to_string(&batch).unwrap());
    assert!(planned.len() > 4, "{planned:?}");
    done(&["ingest", "--store", &store, text(&scrapy(&command, &crawl, 1, &batch))]);
    let mut of_host: BTreeMap<String, usize> = BTreeMap::new();
    // Where a redirect leads is asked for on top.
    for (url, _) in crawl.web.accesses().into_iter().filter(|(url, _)| !url.contains("/moved/")) {
        assert!(!url.contains("/visit/") && planned.contains(&url), "{url}");
        let host = url.split('/').nth(2).unwrap().to_owned();
        *of_host.entry(host).or_insert(0) += 1;
    }
    assert!(of_host.values().all(|&asked| (1..=4).contains(&asked)), "{of_host:?}");
}

#[test]
fn a_crawler_that_is_never_idle_asks_for_nothing_twice() {
    let Some(command) = crawler("PROSPECT_SCRAPY", "scrapy") else { return };
    let crawl = Crawl::with_a_first_batch(&command);
    let store = crawl.store();
    // From here on the next batch is planned while one is being fetched.
    let mut in_flight: Vec<String> = Vec::new();
    let mut fetched: Option<PathBuf> = None;
    for number in 1..=3 {
        let batch = crawl.plan_with(&store, "scrapy", &format!("batch-{number}"), &["--another"]);
        let planned = planned_in(&fs::read_to_string(&batch).unwrap());
        assert!(!planned.is_empty());
        for url in &in_flight {
            assert!(!planned.contains(url), "{url} is in flight");
        }
        if let Some(fetched) = fetched {
            done(&["ingest", "--store", &store, text(&fetched)]);
        }
        fetched = Some(scrapy(&command, &crawl, number, &batch));
        in_flight = planned;
    }
    let asked: Vec<String> = crawl.web.accesses().into_iter().map(|(url, _)| url).collect();
    let again = |url: &&String| asked.iter().filter(|other| other == url).count() > 1;
    let twice = asked.iter().find(|url| again(url) && Fate::of(url) == Fate::Page);
    assert_eq!(twice, None, "what came is not asked for again");
    let told = done(&["status", "--store", &store, "--json"]).stdout;
    let status: Value = serde_json::from_str(&told).unwrap();
    assert!(status["cycles_closed"].as_u64() >= Some(2), "{status}");
    assert_sound(&crawl.path("store"));
}

#[test]
fn scrapy_beside_a_running_planner_loses_nothing_and_asks_for_nothing_twice() {
    let Some(command) = crawler("PROSPECT_SCRAPY", "scrapy") else { return };
    let crawl = Crawl::new();
    let (store, list, queries) =
        (crawl.store(), crawl.path("list.txt"), repository("workloads/tiny/queries.tsv"));
    fs::write(&list, some_of_the_site()).unwrap();
    done(&["seeds", "--store", &store, text(&list)]);
    // Twice: the second run goes on where the budget of the first ended.
    for run in 1..=2 {
        let output = Command::new(&command)
            .arg("runspider")
            .arg(repository("docs/crawlers/prospect_stream_spider.py"))
            .args(["-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=ERROR"])
            .args(["-a", &format!("store={store}")])
            .args(["-a", &format!("workload={}", text(&queries))])
            .args(["-a", &format!("prospect={}", env!("CARGO_BIN_EXE_prospect"))])
            .args(["-a", "options=--in-flight 12 --every 6 --budget 30"])
            .env("http_proxy", &crawl.web.proxy)
            .current_dir(crawl.dir.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("the budget is reached, and all of it was reported"),
            "{run}: {said}"
        );
        assert!(said.contains("; 30 URLs asked for in "), "{run}: {said}");
    }
    let asked = crawl.web.accesses();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (url, _) in asked.iter().filter(|(url, _)| !url.contains("/moved/")) {
        *times.entry(url).or_insert(0) += 1;
    }
    for (url, times) in times {
        let again = matches!(Fate::of(url), Fate::Busy | Fate::Broken | Fate::Dropped);
        assert!(again || times == 1 || !url.contains(".tools.example/"), "{url}: {times}");
        assert_ne!(Fate::of(url), Fate::Forbidden, "robots.txt is heeded");
    }
    let told = done(&["status", "--store", &store, "--json"]).stdout;
    let status: Value = serde_json::from_str(&told).unwrap();
    let came: HashSet<&String> =
        asked.iter().filter(|(_, status)| *status == 200).map(|(url, _)| url).collect();
    assert_eq!(status["pages"].as_u64(), Some(came.len() as u64), "every page that came is there");
    assert_eq!(status["open_plans"], serde_json::json!([]));
    assert_sound(&crawl.path("store"));
}

#[test]
fn a_page_that_changed_is_found_by_re_visits() {
    let Some(command) = crawler("PROSPECT_WGET", "wget") else { return };
    let mut crawl = Crawl::new();
    let seeds = crawl.path("seeds");
    fs::write(&seeds, some_of_the_site()).unwrap();
    done(&["ingest", "--store", &crawl.store(), text(&wget(&command, &crawl, 0, &seeds))]);
    let (mut again, mut changed, mut stored) = (0, 0, 0);
    for number in 1..=5 {
        crawl.web.tell(&format!("News of day {number}."));
        let batch = crawl.plan_with(
            &crawl.store(),
            "urls",
            &format!("batch-{number}"),
            &["--revisit", "0.5"],
        );
        let fetched = wget(&command, &crawl, number, &batch);
        let said = done(&["ingest", "--store", &crawl.store(), "--json", text(&fetched)]).stdout;
        let ingested: Value = serde_json::from_str(&said).unwrap();
        let log = text(&log_of(&fetched)).to_owned();
        let said = done(&["crawl-log", "--store", &crawl.store(), "--json", &log]).stdout;
        let logged: Value = serde_json::from_str(&said).unwrap();
        let closed = ingested["closed"].get(0).or(logged["closed"].get(0));
        let closed = closed
            .unwrap_or_else(|| panic!("{}", done(&["status", "--store", &crawl.store()]).stdout));
        let count = |name: &str| closed[name].as_u64().unwrap();
        assert_eq!(count("unknown"), 0, "{closed}");
        again += count("again");
        changed += count("changed");
        stored += ingested["counts"]["replaced"].as_u64().unwrap();
    }
    let came = crawl.web.accesses().into_iter().filter(|(_, status)| *status == 200);
    crawl.came.extend(came.map(|(url, _)| url));
    let news = crawl.came.iter().any(|url| web::has_news(url));
    assert!(news && changed > 0, "{changed} of {again} had changed");
    assert!(again > changed, "what did not change is told from what did");
    assert_eq!(stored, changed, "and is not stored again");
    assert_sound(&crawl.path("store"));
}

/// A list of its first pages.
fn some_of_the_site() -> String {
    let library = fs::read_dir(repository("workloads/tiny/site/library")).unwrap();
    let library = library.map(|entry| {
        format!("http://library.tools.example/{}\n", entry.unwrap().file_name().display())
    });
    let first = ["index.html", "about.html", "links.html"];
    let first = first.iter().map(|name| format!("http://www.tools.example/{name}\n"));
    first.chain(library).collect()
}

#[test]
fn archives_and_json_lines_of_one_crawl_give_the_same_plan() {
    let Some(command) = crawler("PROSPECT_WGET", "wget") else { return };
    let crawl = Crawl::new();
    let list = crawl.path("seeds");
    fs::write(&list, some_of_the_site()).unwrap();
    let archive = wget(&command, &crawl, 0, &list);
    let lines = crawl.path("fetched.jsonl");
    let options = prospect::ingest::SourceOptions::default();
    let mut source = prospect::ingest::open(std::slice::from_ref(&archive), &options).unwrap();
    let mut written = String::new();
    loop {
        let items = source.next_batch(100).unwrap();
        if items.is_empty() {
            break;
        }
        for item in items {
            let prospect::ingest::SourceItem::Page { record, .. } = item else {
                panic!("{item:?}")
            };
            written += &(serde_json::to_string(&record).unwrap() + "\n");
        }
    }
    fs::write(&lines, written).unwrap();
    let plan_of = |fetched: &Path, name: &str| {
        let store = text(&crawl.path(name)).to_owned();
        done(&["ingest", "--store", &store, text(fetched)]);
        fs::read(crawl.plan(&store, "jsonl", &format!("{name}.plan"))).unwrap()
    };
    let plans = (plan_of(&archive, "from-warc"), plan_of(&lines, "from-lines"));
    assert!(!plans.0.is_empty() && plans.0 == plans.1);
}

#[test]
fn the_web_has_every_trouble() {
    let web = Web::start(&repository("workloads/tiny/site"));
    let fates = web.fates();
    assert_eq!(fates.len(), 7, "{fates:?}");
}
