//! Inputs that somebody changed: read, or refused with an error, by every parser, and in time.
//!
//! A seeded mutation of small files of each format (`tests/attack/corpus/`); a failing input is written to the folder
//! for temporary files and named with its seed, to be kept beside them. `PROSPECT_ATTACK_MUTATIONS` says how many
//! inputs each parser gets; without it few enough for `cargo test`.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::campaign::url_list::UrlList;
use crate::documents::{Input, OpenOptions};
use crate::evaluate::run;
use crate::ingest::urls::UrlFiles;
use crate::ingest::{self, SourceItem, SourceOptions};
use crate::plan::polite_time::Delays;
use crate::plan::robots::crawl_delay;
use crate::whatif::scenario::Scenario;
use crate::workload::{self, qrels};
use prospect_index::{ingest as stored, url, words};

/// Inputs of each parser where nobody says how many.
const FEW: usize = 250;
/// No small input takes longer, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pieces that formats give a meaning.
const TOKENS: [&str; 24] = [
    "\"",
    "\\",
    "{",
    "[",
    "]}",
    "<",
    "</",
    "<![CDATA[",
    "&#x110000;",
    "%25",
    "\r\n\r\n",
    "\t",
    ",",
    ";",
    "\0",
    "\u{feff}",
    "\u{1f600}",
    "-1",
    "1e999",
    "NaN",
    "18446744073709551616",
    "WARC/1.1\r\n",
    "Content-Length: 99999999999\r\n",
    "://",
];

type Parser = fn(&Path, &str);

fn pages(path: &Path, _: &str) {
    let base_url = Some("https://e.org/".to_owned());
    let options = SourceOptions { base_url, ..SourceOptions::default() };
    let Ok(mut source) = ingest::open(&[path.to_owned()], &options) else { return };
    while let Ok(items) = source.next_batch(7) {
        if items.is_empty() {
            return;
        }
        for item in items {
            if let SourceItem::Page { record, .. } = item {
                let _ = stored::prepare(record);
            }
        }
    }
}

fn urls(path: &Path, _: &str) {
    for with_statuses in [false, true] {
        let Ok(mut files) = UrlFiles::open(&[path.to_owned()], with_statuses) else { continue };
        while files.next_batch(7).is_ok_and(|items| !items.is_empty()) {}
    }
}

fn links(path: &Path, text: &str) {
    let page = path.with_file_name("pages.jsonl");
    fs::write(&page, "{\"url\":\"https://a.test/\",\"text\":\"x\"}\n").unwrap();
    let inputs = [page, path.to_owned()];
    if let Ok(mut source) = ingest::open(&inputs, &SourceOptions::default()) {
        while source.next_batch(7).is_ok_and(|items| !items.is_empty()) {}
    }
    pages(path, text);
}

fn documents(path: &Path, _: &str) {
    let input = Input::of(path, None);
    let Ok(mut source) = crate::documents::open(&input, &OpenOptions::default()) else { return };
    while let Ok(Some(batch)) = source.next_batch() {
        let _ = batch.values(&["text".to_owned()]).len();
    }
}

fn scenario(_: &Path, text: &str) {
    let _ = serde_json::from_str::<Scenario>(text);
}

fn canonical(_: &Path, text: &str) {
    for given in text.split_whitespace() {
        let Ok(found) = url::canonical(given) else { continue };
        assert_eq!(url::canonical(&found).as_ref(), Ok(&found));
        let _ =
            (url::host(&found), url::depth(&found), url::file_type(&found), words::words(&found));
    }
    let _ = UrlList::parse(text);
}

/// The parser of each file of the corpus.
const PARSERS: [(&str, Parser); 25] = [
    ("crawldb.csv", urls),
    ("crawldb.txt", urls),
    ("delays.txt", |_, text| drop(Delays::parse(text))),
    ("documents.csv", documents),
    ("documents.json", documents),
    ("documents.jsonl", documents),
    ("heritrix.log", urls),
    ("index.cdxj", urls),
    ("judged.qrels", |_, text| drop(qrels::parse(text, "j"))),
    ("links.tsv", links),
    ("page.html", pages),
    ("pages.jsonl", pages),
    ("pages.warc", pages),
    ("pages.wat", pages),
    ("queries.csv", |_, text| drop(workload::parse(text, "q"))),
    ("queries.json", |_, text| drop(workload::parse(text, "q"))),
    ("queries.trec", |_, text| drop(workload::parse(text, "q"))),
    ("queries.tsv", |_, text| drop(workload::parse(text, "q"))),
    ("results.run", |_, text| drop(run::parse(text, "r"))),
    ("robots.txt", |_, text| {
        assert!(crawl_delay("*", text.as_bytes()).is_none_or(|delay| delay >= 0.0));
    }),
    ("scenario.json", scenario),
    ("seeds.txt", urls),
    ("sitemap.xml", urls),
    ("urls.txt", canonical),
    ("wget.log", urls),
];

fn corpus() -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/corpus");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// One to four changes of an input.
fn mutated(input: &[u8], other: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(0..40)).min(bytes.len());
        match random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = random.random(),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].repeat(random.random_range(1..20));
                bytes.splice(at..at, piece);
            }
            4 => {
                let token = TOKENS[random.random_range(0..TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
            5 => {
                let from = random.random_range(0..other.len());
                let until = (from + random.random_range(0..200)).min(other.len());
                bytes.splice(at..end, other[from..until].iter().copied());
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

#[test]
fn every_parser_reads_or_refuses_what_somebody_changed() {
    let given = std::env::var("PROSPECT_ATTACK_MUTATIONS");
    let inputs = given.map_or(FEW, |given| given.parse().expect("a number of inputs"));
    let corpus = corpus();
    let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, corpus.keys().collect::<Vec<_>>(), "each file of the corpus has its parser");
    let all: Vec<&Vec<u8>> = corpus.values().collect();
    let directory = tempfile::tempdir().unwrap();
    let (mut failed, mut slowest) = (Vec::new(), (Duration::ZERO, ""));
    for (place, (name, parser)) in PARSERS.into_iter().enumerate() {
        let path = directory.path().join(name);
        for number in 0..inputs {
            let seed = (place as u64) << 32 | number as u64;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let other = all[random.random_range(0..all.len())];
            let bytes = mutated(&corpus[name], other, &mut random);
            fs::write(&path, &bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let start = Instant::now();
            let done = catch_unwind(AssertUnwindSafe(|| parser(&path, &text)));
            let took = start.elapsed();
            slowest = slowest.max((took, name));
            if done.is_err() || took > PATIENCE {
                let kept = std::env::temp_dir().join(format!("{seed}-{name}"));
                fs::write(&kept, &bytes).unwrap();
                failed.push(format!("{}: seed {seed}, {took:?}", kept.display()));
            }
        }
    }
    println!("{inputs} inputs of each of {} parsers; the slowest: {slowest:?}", PARSERS.len());
    assert!(failed.is_empty(), "{failed:#?}");
}
