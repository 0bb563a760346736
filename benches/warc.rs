//! Reading WARC files into page records: MB/s of the file, of what it unpacks to, and pages/s.
//!
//! `PROSPECT_WARC` names the file; without it one is made of the pages of `workloads/tiny`, 20,000 in all, a gzip
//! member each. What other tools take for the same file is for the reader to measure beside it:
//!
//! ```sh
//! PROSPECT_WARC=crawl.warc.gz cargo bench --bench warc
//! ```

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use prospect::ingest::{SourceItem, SourceOptions, open};

const PAGES: usize = 20_000;
const RUNS: usize = 5;

fn main() {
    let held = tempfile::tempdir().expect("a temporary directory");
    let path = std::env::var_os("PROSPECT_WARC").map_or_else(|| made(held.path()), PathBuf::from);
    let megabytes = std::fs::metadata(&path).expect("the file").len() as f64 / 1e6;
    let mut best = f64::INFINITY;
    let (mut pages, mut bad) = (0, 0);
    for _ in 0..RUNS {
        let start = Instant::now();
        let mut source =
            open(std::slice::from_ref(&path), &SourceOptions::default()).expect("a source");
        (pages, bad) = (0, 0);
        loop {
            let items = source.next_batch(2_000).expect("a file that can be read");
            if items.is_empty() {
                break;
            }
            for item in &items {
                match item {
                    SourceItem::Page { .. } => pages += 1,
                    SourceItem::Bad { .. } | SourceItem::Other { .. } => bad += 1,
                }
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{megabytes:.1} MB, {pages} records, {bad} bad: {best:.2} s, {:.1} MB/s of the file, {:.0} records/s",
        megabytes / best,
        f64::from(pages) / best
    );
}

/// A file of many small pages.
fn made(directory: &Path) -> PathBuf {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/tiny/site");
    let names = ["index.html", "about.html", "library/index.html", "guides/setting-a-plane.html"];
    let pages = names.map(|name| std::fs::read(site.join(name)).expect("a page of the tiny site"));
    let path = directory.join("made.warc.gz");
    let mut file = std::fs::File::create(&path).expect("a file");
    for number in 0..PAGES {
        let page = &pages[number % pages.len()];
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        let length = head.len() + page.len();
        let mut member = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
        write!(
            member,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://made.test/{number}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n{head}"
        )
        .and_then(|()| member.write_all(page))
        .and_then(|()| member.write_all(b"\r\n\r\n"))
        .and_then(|()| member.finish())
        .expect("a member");
    }
    path
}
