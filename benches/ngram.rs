//! The n-gram index on real URLs and search-engine queries, beside the same matching with Tantivy.
//!
//! `cargo bench --bench ngram` first compares: both sides answer all queries with the same number
//! of threads, must give the same (query, URL) pairs, and the ratio of their times is printed.
//! Then divan times our side alone. Data: `$PROSPECT_DATA/frontier-scale` (default
//! `../shared/data`); without it the bench says so and does nothing.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use prospect_index::ngram::{
    BuildConfig, NgramIndex, NgramQuery, Scratch, Segment, SegmentBuilder, SegmentStats,
};
use prospect_index::page::UrlId;
use prospect_index::words::{url_text, words};
use rayon::prelude::*;

#[path = "ngram/tantivy_baseline.rs"]
mod tantivy_baseline;

use tantivy_baseline::Baseline;

/// Longest n-gram.
const MAX_WORDS: usize = 3;
/// Timed passes of each side; the fastest counts.
const PASSES: usize = 5;

/// How much of a query a page must hold.
#[derive(Clone, Copy, Debug)]
enum Need {
    Share(f64),
    IdfWeight(f64),
}

const NEEDS: [(&str, Need); 3] = [
    ("rho 1", Need::Share(1.0)),
    ("rho 0.5", Need::Share(0.5)),
    ("idf-weighted 0.5", Need::IdfWeight(0.5)),
];

/// The frontier and the queries.
struct Data {
    /// URL text and anchor texts of each URL; the index is the URL's id.
    pages: Vec<Vec<String>>,
    queries: Vec<Vec<String>>,
    /// Number of strings that hold each word, and of all strings: what idf is taken from.
    string_frequency: HashMap<String, u32>,
    strings: usize,
}

impl Data {
    fn load(dir: &Path) -> std::io::Result<Self> {
        let mut rows = String::new();
        let file = std::fs::File::open(dir.join("urls.tsv.zst"))?;
        zstd::Decoder::new(file)?.read_to_string(&mut rows)?;
        let mut ids: HashMap<&str, usize> = HashMap::new();
        let mut pages: Vec<Vec<String>> = Vec::new();
        for row in rows.lines() {
            let mut fields = row.split('\t');
            let url = fields.next().unwrap_or_default();
            let id = *ids.entry(url).or_insert_with(|| {
                pages.push(vec![url_text(url).into_owned()]);
                pages.len() - 1
            });
            pages[id].push(fields.next().unwrap_or_default().to_owned());
        }
        let mut string_frequency = HashMap::new();
        for string in pages.iter().flatten() {
            let mut distinct = words(string);
            distinct.sort_unstable();
            distinct.dedup();
            for word in distinct {
                *string_frequency.entry(word).or_insert(0) += 1;
            }
        }
        let queries = std::fs::read_to_string(dir.join("query-stream.tsv"))?;
        let text = |row: &str| words(row.split('\t').nth(1).unwrap_or_default());
        let queries = queries.lines().map(text).collect();
        let strings = pages.iter().map(Vec::len).sum();
        Ok(Self { pages, queries, string_frequency, strings })
    }

    fn idf(&self, word: &str) -> f64 {
        let n = f64::from(self.string_frequency.get(word).copied().unwrap_or(0));
        (1.0 + (self.strings as f64 - n + 0.5) / (n + 0.5)).ln()
    }

    fn queries(&self, need: Need) -> Vec<NgramQuery> {
        let query = |words: &Vec<String>| {
            let query = NgramQuery::new(words, MAX_WORDS);
            match need {
                Need::Share(rho) => query.needing_share(rho),
                Need::IdfWeight(rho) => query.needing_weight(rho, |word| self.idf(word)),
            }
            .expect("shares and weights are in range")
        };
        self.queries.iter().map(query).collect()
    }

    fn build(&self, dir: &Path) -> SegmentStats {
        let config = BuildConfig { max_words: MAX_WORDS, ..BuildConfig::default() };
        let mut builder = SegmentBuilder::new(config, dir).expect("a temporary directory");
        for (id, strings) in self.pages.iter().enumerate() {
            for string in strings {
                builder.add(UrlId(id as u32), string).expect("ids ascend");
            }
        }
        builder.finish().expect("a temporary directory")
    }
}

fn data_dir() -> PathBuf {
    let root = std::env::var_os("PROSPECT_DATA").unwrap_or_else(|| "../shared/data".into());
    PathBuf::from(root).join("frontier-scale")
}

/// Data and segment, made once.
fn shared() -> &'static (Data, Segment) {
    static SHARED: OnceLock<(Data, Segment)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let data = Data::load(&data_dir()).expect("the data were there a moment ago");
        let dir = tempfile::tempdir().expect("a temporary directory");
        let start = Instant::now();
        let stats = data.build(dir.path());
        print_build(&stats, start.elapsed().as_secs_f64());
        (data, Segment::read(dir.path()).expect("just written"))
    })
}

fn print_build(stats: &SegmentStats, seconds: f64) {
    let ngrams = stats.ngrams as f64;
    let dictionary = stats.token_bytes + stats.ngram_bytes;
    println!("{stats:?}");
    println!(
        "build: {seconds:.2} s, {:.2} M occurrences/s, {:.2} M distinct n-grams/s",
        stats.occurrences as f64 / seconds / 1e6,
        ngrams / seconds / 1e6,
    );
    println!(
        "bytes per distinct n-gram: dictionaries {:.2}, postings {:.2}, filter {:.2}, strings {:.2}",
        dictionary as f64 / ngrams,
        stats.posting_bytes as f64 / ngrams,
        stats.filter_bytes as f64 / ngrams,
        stats.string_bytes as f64 / ngrams,
    );
}

/// The matching URLs of every query, by our index.
fn match_all(segment: &Segment, queries: &[NgramQuery]) -> Vec<Vec<u32>> {
    let index = NgramIndex::new(vec![segment]).expect("one segment");
    let one = |scratch: &mut Scratch, query: &NgramQuery| {
        let matches = index.match_query(query, |_| false, scratch).expect("same n-gram length");
        matches.iter().map(|found| found.url.0).collect()
    };
    queries.par_iter().map_init(Scratch::default, one).collect()
}

/// Runs `pass` [`PASSES`] times; its last result and the shortest time in seconds.
fn fastest<T>(mut pass: impl FnMut() -> T) -> (T, f64) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..PASSES {
        let start = Instant::now();
        result = Some(pass());
        best = best.min(start.elapsed().as_secs_f64());
    }
    (result.expect("at least one pass"), best)
}

fn compare() {
    let (data, segment) = shared();
    let start = Instant::now();
    let baseline = Baseline::build(&data.pages, MAX_WORDS);
    println!("Tantivy build: {:.2} s", start.elapsed().as_secs_f64());
    println!("{} queries, {} threads", data.queries.len(), rayon::current_num_threads());
    for (name, need) in NEEDS {
        let queries = data.queries(need);
        let (ours, our_seconds) = fastest(|| match_all(segment, &queries));
        let pairs: usize = ours.iter().map(Vec::len).sum();
        let rate = |seconds: f64| queries.len() as f64 / seconds;
        println!("{name}: {pairs} pairs; ours {:.0} queries/s", rate(our_seconds));
        let mut best = f64::INFINITY;
        for way in Baseline::ways(need) {
            let prepared = baseline.prepare(&queries, *way);
            let (theirs, seconds) = fastest(|| baseline.match_all(&prepared));
            assert_eq!(ours, theirs, "{name}: {way:?} finds other pairs");
            println!("  Tantivy, {way:?}: {:.0} queries/s, same pairs", rate(seconds));
            best = best.min(seconds);
        }
        println!("  ratio to the faster: {:.1}", best / our_seconds);
    }
}

fn main() {
    if !data_dir().join("urls.tsv.zst").exists() {
        println!("skipped: no {}; set PROSPECT_DATA", data_dir().display());
        return;
    }
    if std::env::args().any(|argument| argument == "--bench") {
        compare();
    }
    divan::main();
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn build(bencher: divan::Bencher<'_, '_>) {
    let (data, _) = shared();
    bencher.with_inputs(|| tempfile::tempdir().expect("a temporary directory")).bench_refs(|dir| {
        data.build(dir.path());
    });
}

#[divan::bench(args = [0, 1, 2], sample_count = 5, sample_size = 1)]
fn match_60_000_queries(bencher: divan::Bencher<'_, '_>, need: usize) {
    let (data, segment) = shared();
    let queries = data.queries(NEEDS[need].1);
    bencher.bench(|| match_all(segment, &queries));
}
