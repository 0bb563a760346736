//! The page of `prospect sufficiency --html`: one file that loads nothing, with the verdict in it and queries that
//! stay text.
//!
//! Needs Chromium for what its script draws (see `common/browser.rs`).

#[path = "common/browser.rs"]
mod browser;
mod common;

use std::fs;

use browser::assert_quiet;
use common::{done, prospect, text};

/// A query that is code wherever it is not text.
const HOSTILE: &str = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";

/// The page of a small store for the sample queries, a hostile one, and `more` that nothing answers, of 33 kinds.
fn page(more: usize) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let (store, workload, page) = (path("store"), path("queries.jsonl"), path("page.html"));
    done(&["demo", "--tiny", "--quiet", "--store", &store]);
    let sample = format!("{}/workloads/tiny/queries.tsv", env!("CARGO_MANIFEST_DIR"));
    let line = |at: usize| {
        let kind = at % 33;
        format!("{{\"qid\": \"m{at}\", \"query\": \"unheard{at}\", \"kind\": \"k{kind}\"}}\n")
    };
    let lines = (0..more).map(line);
    let hostile = serde_json::json!({ "qid": "h", "query": HOSTILE, "frequency": 1e6 });
    let of_sample = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        format!("{}\n", serde_json::json!({ "qid": cells[0], "query": cells[1] }))
    };
    let sample = fs::read_to_string(sample).unwrap();
    let sample = sample.lines().filter(|line| !line.starts_with('#')).map(of_sample);
    let all: String = sample.chain(lines).chain([format!("{hostile}\n")]).collect();
    fs::write(&workload, all).unwrap();
    let ask = ["sufficiency", "--store", &store, "--workload", &workload];
    let said = done(&[&ask[..], &["--html", &page, "--show", "1"]].concat());
    assert!(said.stderr.contains("page.html; open it"), "{}", said.stderr);
    let written = fs::read_to_string(&page).unwrap();
    let verdict = said.stdout.lines().find(|line| line.starts_with("verdict: ")).unwrap();
    assert!(written.contains(&verdict.replace("verdict: ", "Verdict: ")), "{verdict}");
    // Nothing is left beside it.
    let mut files = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(files.all(|file| !file.to_string_lossy().ends_with(".tmp")));
    written
}

#[test]
fn it_is_one_file_that_is_complete_without_its_script() {
    let page = page(1100);
    for outside in ["http://", "https://", "src=\"", "<link rel=\"stylesheet\"", "@import", "url("]
    {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains(HOSTILE) && !page.contains("<img"), "it is escaped everywhere");
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    let (html, _) = page.split_once("<script type=\"application/json\"").unwrap();
    assert!(html.contains("queries the 1,000 that lack most"));
    assert_eq!(html.matches("<tr><th scope=\"row\"").count(), 1000);
}

#[test]
fn kinds_beyond_those_that_are_shown_are_counted() {
    let Some((mut browser, _folder)) = browser::opened(&page(66)) else { return };
    let caption = "[...document.querySelectorAll('caption')].map((one) => one.textContent).find((text) => text.startsWith('By kind'))";
    let caption = browser.value(caption);
    assert_eq!(caption, "By kind of query: of 33 kinds the 20 most asked");
}

#[test]
fn its_script_draws_what_the_local_page_does() {
    let Some((mut browser, _folder)) = browser::opened(&page(1100)) else { return };
    let said = browser.value("document.querySelector('.verdict').textContent");
    assert!(said.as_str().unwrap().starts_with("Go on: "), "{said}");
    assert_eq!(browser.value("document.querySelectorAll('g[data-series]').length"), 3);
    let first = "document.querySelector('.lacking tbody bdi').textContent";
    assert_eq!(browser.value(first), HOSTILE);
    let rows = "document.querySelectorAll('.lacking tbody tr').length";
    assert_eq!(browser.value(rows), 50);
    browser.value("document.querySelector('[data-class=hopeless]').click()");
    let only = "[...document.querySelectorAll('.lacking tbody tr')].every((row) => row.cells[9].textContent === 'hopeless')";
    browser.wait_until(only);
    browser.fill("document.querySelector('[type=search]')", "UNHEARD7");
    browser.wait_until(&format!("{first}.startsWith('unheard7')"));
    assert_eq!(browser.value("document.images.length"), 0);
    for width in [1280, 400] {
        browser.size(width, 800);
        browser.wait_until(&format!("innerWidth === {width}"));
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {wide}");
    }
    assert_quiet(&browser);
}

#[test]
fn another_definition_has_none() {
    let run = prospect(&[
        "sufficiency",
        "--store",
        "nowhere",
        "--workload",
        concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/tiny/queries.tsv"),
        "--definition",
        "compatible",
        "--html",
        "page.html",
    ]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no page of the definition compatible"), "{}", run.stderr);
}
