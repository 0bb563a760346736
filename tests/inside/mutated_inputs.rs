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

use super::parsers::PARSERS;

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
