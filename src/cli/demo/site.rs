//! Sites that the demo can crawl: the installed Rust documentation, or a small one of our own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use include_dir::{Dir, include_dir};
use prospect_index::page::PageRecord;
use prospect_index::url as address;
use url::Url;

use crate::ingest::html::extract_html;

static TINY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workloads/tiny/site");

/// Parts of the documentation that the demo uses.
const PARTS: [&str; 9] = [
    "book",
    "std",
    "core",
    "alloc",
    "reference",
    "cargo",
    "nomicon",
    "rust-by-example",
    "std_detect",
];

enum Content {
    File(PathBuf),
    Embedded(&'static [u8]),
}

/// A site that is there as a whole, so that any page of it can be fetched.
pub(super) struct Site {
    /// What it is, for people.
    pub(super) name: String,
    /// Workload, TSV.
    pub(super) queries: &'static str,
    /// Judgements, TREC.
    pub(super) qrels: &'static str,
    /// Where the crawl starts, canonical.
    pub(super) seeds: Vec<String>,
    pages: BTreeMap<String, Content>,
}

impl Site {
    /// The Rust documentation of the active toolchain, if it is installed.
    pub(super) fn rust_docs() -> Option<Self> {
        let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
        let sysroot = String::from_utf8(output.stdout).ok()?;
        let root = Path::new(sysroot.trim()).join("share/doc/rust/html");
        let base = "https://doc.rust-lang.org/stable/";
        let mut files = Vec::new();
        for part in PARTS {
            html_files(&root.join(part), &mut files);
        }
        let mut pages = BTreeMap::new();
        for file in files {
            if let Some(url) = url_below(base, file.strip_prefix(&root).ok()?) {
                pages.insert(url, Content::File(file));
            }
        }
        let seed = |part| format!("{base}{part}/index.html");
        let seeds: Vec<String> =
            PARTS.into_iter().map(seed).filter(|url| pages.contains_key(url)).collect();
        (!seeds.is_empty()).then(|| Self {
            name: format!("the Rust documentation at {}", root.display()),
            queries: include_str!("../../../workloads/rust-docs/queries.tsv"),
            qrels: include_str!("../../../workloads/rust-docs/qrels.txt"),
            seeds,
            pages,
        })
    }

    /// The small site that is compiled in.
    pub(super) fn tiny() -> Self {
        let base = "https://tools.example/";
        let mut pages = BTreeMap::new();
        let mut directories = vec![&TINY];
        while let Some(directory) = directories.pop() {
            directories.extend(directory.dirs());
            for file in directory.files() {
                if let Some(url) = url_below(base, file.path()) {
                    pages.insert(url, Content::Embedded(file.contents()));
                }
            }
        }
        Self {
            name: "a small site of our own".to_owned(),
            queries: include_str!("../../../workloads/tiny/queries.tsv"),
            qrels: include_str!("../../../workloads/tiny/qrels.txt"),
            seeds: vec![format!("{base}index.html")],
            pages,
        }
    }

    /// Pages of the site.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether a canonical URL is a page of the site.
    pub(super) fn has(&self, url: &str) -> bool {
        self.pages.contains_key(url)
    }

    /// Fetches a page.
    pub(super) fn fetch(&self, url: &str) -> Option<PageRecord> {
        let parsed = Url::parse(url).ok()?;
        let html = match self.pages.get(url)? {
            Content::File(path) => extract_html(&std::fs::read(path).ok()?, &parsed, None),
            Content::Embedded(bytes) => extract_html(bytes, &parsed, None),
        };
        Some(html.ok()?.into_record(&parsed).0)
    }
}

/// The canonical URL of a file below a base.
fn url_below(base: &str, path: &Path) -> Option<String> {
    let mut url = Url::parse(base).ok()?;
    {
        let mut segments = url.path_segments_mut().ok()?;
        segments.pop_if_empty();
        for part in path {
            segments.push(part.to_str()?);
        }
    }
    address::canonical(url.as_str()).ok()
}

fn html_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            html_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            files.push(path);
        }
    }
}
