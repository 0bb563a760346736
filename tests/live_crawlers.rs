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
    /// What holds of every cycle, whoever fetched it. `lost` is how many URLs the crawler cannot report.
    fn check(&self, lost: usize) {
        let count = |name: &str| self.counts[name].as_u64().unwrap() as usize;
        assert_eq!(count("planned"), self.planned.len());
        let told = ["fetched", "failed", "moved", "unknown"].map(count);
        assert_eq!(told.iter().sum::<usize>(), self.planned.len(), "{told:?}");
        assert_eq!(told[3], lost, "{told:?}");
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

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self) -> String {
        text(&self.path("store")).to_owned()
    }

    fn plan(&self, store: &str, format: &str, name: &str) -> PathBuf {
        let (queries, out) = (repository("workloads/tiny/queries.tsv"), self.path(name));
        done(&[
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
        ]);
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
        let url = |line: &str| match serde_json::from_str::<Value>(line) {
            Ok(pick) => pick["url"].as_str().unwrap().to_owned(),
            Err(_) => line.to_owned(),
        };
        let planned: Vec<String> = lines.lines().map(url).collect();
        for url in &planned {
            *self.planned.entry(url.clone()).or_insert(0) += 1;
        }
        let fetched = fetch(self, number, &batch);
        let said = done(&["ingest", "--store", &self.store(), "--close", "--json", text(&fetched)]);
        let ingested: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(ingested["skipped"], serde_json::json!({}), "every record can be read");
        let accesses = self.web.accesses();
        let came = accesses.iter().filter(|(_, status)| *status == 200);
        self.came.extend(came.map(|(url, _)| url.clone()));
        Cycle { planned, counts: ingested["closed"].clone(), accesses }
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

fn wget(command: &Path, crawl: &Crawl, number: usize, batch: &Path) -> PathBuf {
    let name = crawl.path(&format!("fetched-{number}"));
    // Its exit code says whether any URL failed.
    let output = Command::new(command)
        .args(["--no-verbose", "--tries=1", "--timeout=20", "--output-document=/dev/null"])
        .arg(format!("--warc-file={}", text(&name)))
        .arg(format!("--input-file={}", text(batch)))
        .env("http_proxy", &crawl.web.proxy)
        .output()
        .unwrap();
    let fetched = PathBuf::from(format!("{}.warc.gz", text(&name)));
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
        let cycle = crawl
            .cycle(number, "urls", |crawl, number, batch| wget(&command, crawl, number, batch));
        // What no server answered, an archive has no record of: it is not known, and stays where it was.
        let lost = cycle.planned.iter().filter(|url| Fate::of(url) == Fate::Dropped).count();
        cycle.check(lost);
    }
    let told = done(&["status", "--store", &crawl.store(), "--json"]).stdout;
    let status: Value = serde_json::from_str(&told).unwrap();
    let pages = crawl.came.len() as u64 + 1;
    assert_eq!(status["pages"].as_u64(), Some(pages), "every page that came is there");
    assert_eq!(status["open_plan"], Value::Null);
    crawl.check_busy();
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
        cycle.check(0);
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
fn archives_and_json_lines_of_one_crawl_give_the_same_plan() {
    let Some(command) = crawler("PROSPECT_WGET", "wget") else { return };
    let crawl = Crawl::new();
    let site = repository("workloads/tiny/site");
    let seeds: String = ["index.html", "about.html", "links.html"]
        .iter()
        .map(|name| format!("http://www.tools.example/{name}\n"))
        .chain(fs::read_dir(site.join("library")).unwrap().map(|entry| {
            format!("http://library.tools.example/{}\n", entry.unwrap().file_name().display())
        }))
        .collect();
    let list = crawl.path("seeds");
    fs::write(&list, seeds).unwrap();
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
