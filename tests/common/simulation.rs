//! The generated web as a collection for `prospect simulate`, with queries of two kinds,
//! judgements, qualities and seeds; and what its results must be, computed the long way.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::{Bench, PAGES, Run, address, done, lines, page, prospect};

/// Arguments that every experiment here shares; `@name` is a path on the bench.
pub const SMALL: &str = "simulate --corpus @pages.jsonl --workload @queries.tsv \
    --qrels @judged.qrels --quality @quality.tsv --seeds @seeds1.txt,@seeds2.txt";

/// A bench with the collection and all that goes with it.
pub fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("pages.jsonl", lines((0..PAGES).map(with_outside_links)));
    let queries = fs::read_to_string(bench.path("queries.tsv")).unwrap();
    let kind = |at: usize| if at.is_multiple_of(3) { "short" } else { "long" };
    let queries: Vec<String> =
        queries.lines().enumerate().map(|(at, line)| format!("{line}\t{}", kind(at))).collect();
    bench.write("judged.qrels", lines(queries.iter().flat_map(|line| judgements(line))));
    bench.write("later.tsv", lines(queries[10..].iter().cloned()));
    bench.write("queries.tsv", lines(queries));
    let scored = (0..PAGES).filter(|at| at % 29 != 0);
    let quality =
        scored.map(|at| format!("{}\t{}", address(at), -0.1 - (at * 37 % 97) as f64 / 10.0));
    bench.write("quality.tsv", lines(quality));
    bench.write("seeds1.txt", lines([7, 120, 33].map(address)));
    bench.write("seeds2.txt", lines([250, 1].map(address)));
    bench
}

/// A page, every tenth with a link that leads out of the collection.
fn with_outside_links(at: usize) -> String {
    let mut record: Value = serde_json::from_str(&page(at)).unwrap();
    if at.is_multiple_of(10) {
        let outside = json!({ "url": format!("https://outside.example/{at}"), "anchor": "out" });
        record["outlinks"].as_array_mut().unwrap().insert(2, outside);
    }
    record.to_string()
}

/// Relevant are the pages whose title has both words of the query, and some that have one.
fn judgements(query: &str) -> Vec<String> {
    let fields: Vec<&str> = query.split('\t').collect();
    let wanted = words(fields[1]);
    let grade = |at: usize| {
        let record: Value = serde_json::from_str(&page(at)).unwrap();
        let title = words(record["title"].as_str().unwrap());
        match wanted.iter().filter(|word| title.contains(word)).count() {
            2 => Some(2),
            1 => Some(u8::from(at.is_multiple_of(3))),
            _ => None,
        }
    };
    let judged = (0..PAGES).filter_map(|at| Some((address(at), grade(at)?)));
    let outside = [("https://outside.example/1".to_owned(), 1)];
    judged.chain(outside).map(|(url, grade)| format!("{} 0 {url} {grade}", fields[0])).collect()
}

/// The arguments of a line.
pub fn arguments(bench: &Bench, line: &str) -> Vec<String> {
    let place = |word: &str| match word.split_once('@') {
        Some(_) => word.replace('@', &bench.path("")),
        None => word.to_owned(),
    };
    line.split_whitespace().map(place).collect()
}

/// Runs the experiment of a line into `out`; it must succeed.
#[track_caller]
pub fn simulated(bench: &Bench, line: &str, out: &str) -> Run {
    done(&arguments(bench, &format!("{line} --out @{out}")))
}

/// Runs a line, whatever comes of it.
pub fn tried(bench: &Bench, line: &str) -> Run {
    prospect(&arguments(bench, line))
}

/// `summary.json` of an experiment.
pub fn summary(bench: &Bench, out: &str) -> Value {
    let path = PathBuf::from(bench.path(out)).join("summary.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The order of one crawl.
pub fn order(bench: &Bench, out: &str, policy: &str, set: usize) -> Vec<String> {
    let path = bench.path(&format!("{out}/order/{policy}/{set}.txt"));
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// The summary of a policy.
#[track_caller]
pub fn of_policy<'s>(summary: &'s Value, name: &str) -> &'s Value {
    let mut policies = summary["policies"].as_array().unwrap().iter();
    policies.find(|policy| policy["name"] == name).expect(name)
}

/// Mean of a metric by checkpoint.
#[track_caller]
pub fn curve(summary: &Value, policy: &str, kind: &str, metric: &str) -> Vec<(usize, f64)> {
    let kinds = of_policy(summary, policy)["kinds"].as_array().unwrap();
    let kind = kinds.iter().find(|of| of["kind"] == kind).expect(kind);
    let curves = kind["curves"].as_array().unwrap();
    let curve = curves.iter().find(|curve| curve["metric"] == metric).expect(metric);
    let point = |p: &Value| (p["pages"].as_u64().unwrap() as usize, p["mean"].as_f64().unwrap());
    curve["points"].as_array().unwrap().iter().map(point).collect()
}

/// Words as METHODS has them.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The collection in memory.
pub struct Reference {
    /// By URL: the words of title and text.
    pub pages: BTreeMap<String, Vec<String>>,
    /// Qid, words, frequency and kind.
    pub queries: Vec<(String, Vec<String>, f64, String)>,
    /// By qid: grades of pages of the collection.
    pub grades: HashMap<String, BTreeMap<String, u32>>,
}

impl Reference {
    /// Reads what is on a bench; queries out of `workload`.
    pub fn read(bench: &Bench, workload: &str) -> Self {
        let text = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
        let page = |line: &str| {
            let record: Value = serde_json::from_str(line).unwrap();
            let of = |name: &str| record[name].as_str().unwrap().to_owned();
            (of("url"), words(&format!("{} {}", of("title"), of("text"))))
        };
        let pages: BTreeMap<_, _> = text("pages.jsonl").lines().map(page).collect();
        let query = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let frequency = fields[2].parse().unwrap();
            (fields[0].to_owned(), words(fields[1]), frequency, fields[3].to_owned())
        };
        let mut grades: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
        for line in text("judged.qrels").lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            if pages.contains_key(fields[2]) {
                let of_query = grades.entry(fields[0].to_owned()).or_default();
                of_query.insert(fields[2].to_owned(), fields[3].parse().unwrap());
            }
        }
        Self { queries: text(workload).lines().map(query).collect(), pages, grades }
    }

    /// Queries with a relevant page, of a kind or of `all`.
    pub fn judged(&self, kind: &str) -> Vec<&(String, Vec<String>, f64, String)> {
        let counts = |query: &&(String, Vec<String>, f64, String)| {
            let relevant = self.grades.get(&query.0).is_some_and(|g| g.values().any(|&g| g > 0));
            relevant && (kind == "all" || query.3 == kind)
        };
        self.queries.iter().filter(counts).collect()
    }

    /// Pages by BM25 (k1 0.9, b 0.4) over `fetched` only, best first, pages without a word of the
    /// query left out.
    pub fn ranking(&self, query: &[String], fetched: &BTreeSet<&str>) -> Vec<(f64, String)> {
        let n = fetched.len() as f64;
        let length: usize = fetched.iter().map(|url| self.pages[*url].len()).sum();
        let average = length as f64 / n;
        let count = |url: &str, word: &String| {
            self.pages[url].iter().filter(|other| *other == word).count() as f64
        };
        let mut scores: Vec<(f64, String)> =
            fetched.iter().map(|url| (0.0, (*url).to_owned())).collect();
        for word in query {
            let df = fetched.iter().filter(|url| count(url, word) > 0.0).count() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for (score, url) in &mut scores {
                let tf = count(url, word);
                let dl = self.pages[url.as_str()].len() as f64;
                *score += idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * dl / average));
            }
        }
        scores.retain(|(score, _)| *score > 0.0);
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scores
    }

    /// Mean nDCG@10 over the judged queries of a kind when only `fetched` is indexed.
    pub fn ndcg(&self, kind: &str, fetched: &BTreeSet<&str>) -> f64 {
        let judged = self.judged(kind);
        let of_query = |query: &&(String, Vec<String>, f64, String)| {
            let grades = &self.grades[&query.0];
            let gain = |(at, grade): (usize, u32)| f64::from(grade) / (at as f64 + 2.0).log2();
            let ranked = self.ranking(&query.1, fetched);
            let found = ranked.iter().map(|(_, url)| grades.get(url).copied().unwrap_or(0));
            let mut ideal: Vec<u32> = grades.values().copied().collect();
            ideal.sort_unstable_by(|a, b| b.cmp(a));
            let sum = |list: Vec<u32>| list.into_iter().take(10).enumerate().map(gain).sum::<f64>();
            sum(found.collect()) / sum(ideal)
        };
        judged.iter().map(of_query).sum::<f64>() / judged.len() as f64
    }

    /// By URL: true impact over the queries of a kind.
    pub fn impact(&self, kind: &str) -> BTreeMap<String, f64> {
        let all: BTreeSet<&str> = self.pages.keys().map(String::as_str).collect();
        let mut impact: BTreeMap<String, f64> = BTreeMap::new();
        for query in self.queries.iter().filter(|query| kind == "all" || query.3 == kind) {
            for (_, url) in self.ranking(&query.1, &all).into_iter().take(10) {
                *impact.entry(url).or_default() += query.2;
            }
        }
        impact
    }

    /// Pages that are relevant to a judged query of the kind.
    pub fn relevant(&self, kind: &str) -> BTreeSet<&str> {
        let grades = self.judged(kind).into_iter().flat_map(|query| &self.grades[&query.0]);
        grades.filter(|(_, grade)| **grade > 0).map(|(url, _)| url.as_str()).collect()
    }

    /// Mean maxNDCG over the judged queries of a kind.
    pub fn max_ndcg(&self, kind: &str, fetched: &BTreeSet<&str>) -> f64 {
        let judged = self.judged(kind);
        let of_query = |query: &&(String, Vec<String>, f64, String)| {
            let grades = self.grades[&query.0].iter();
            let found = grades.filter(|(url, grade)| **grade > 0 && fetched.contains(url.as_str()));
            (1..=found.count()).map(|rank| 1.0 / (rank as f64 + 1.0).log2()).sum::<f64>()
        };
        judged.iter().map(of_query).sum::<f64>() / judged.len() as f64
    }
}
