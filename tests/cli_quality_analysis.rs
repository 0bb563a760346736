//! `prospect quality analyze` and `prune` on collections that can be worked out by hand.
//!
//! Three pages link to each other: a (-1) to b and c, b (-2) to a, c (-4) to b, itself and a page
//! outside; d has no score. Pairs of a page and the mean of its neighbours: (-1, -3), (-2, -1),
//! (-4, -2). Their means are -7/3 and -2, the sum of products around them is -1, of squares 14/3 and 2.

#[path = "common/browser.rs"]
mod browser;
mod common;
#[path = "common/documents.rs"]
mod documents;

use std::fs;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use common::Run;
use serde_json::{Value, json};
use tempfile::TempDir;

const PAGES: &str = r#"{"url":"https://x.test/a","text":"one two three","outlinks":["b",{"url":"https://x.test/c#end"},"b"],"quality_score":-1}
{"url":"https://x.test/b","text":"one","outlinks":["https://X.test/a"],"quality_score":-2}
{"url":"https://x.test/c","text":"one two","outlinks":["/b","c","https://y.test/"],"quality_score":-4}
{"url":"https://x.test/d","text":"","outlinks":[],"quality_score":null}
"#;
const QRELS: &str = "q 0 https://x.test/a 1\nq 0 https://x.test/b 0\nq 0 https://z.test/ 2\n";

fn workplace() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("pages.jsonl"), PAGES).unwrap();
    fs::write(directory.path().join("qrels"), QRELS).unwrap();
    directory
}

fn run_in(directory: &TempDir, line: &str) -> Run {
    let arguments: Vec<&str> = ["quality"].into_iter().chain(line.split_whitespace()).collect();
    common::command(&arguments).current_dir(directory.path()).output().unwrap().into()
}

#[track_caller]
fn done_in(directory: &TempDir, line: &str) -> Run {
    let run = run_in(directory, line);
    assert_eq!(run.code, Some(0), "{line}\n{}", run.stderr);
    run
}

fn text(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).unwrap()
}

#[test]
fn tables_say_what_can_be_worked_out_by_hand() {
    let directory = workplace();
    let run = done_in(&directory, "analyze pages.jsonl --qrels qrels");
    let expected = "\
Scores (quality_score)
collection   pages  no score     min     5 %    25 %  median    75 %    95 %     max    mean     sd
pages.jsonl      4    25.0 %  -4.000  -3.800  -3.000  -2.000  -1.500  -1.100  -1.000  -2.333  1.528

Histogram: pages.jsonl
  -4.000          1 ########################################
  -3.800          0
  -3.600          0
  -3.400          0
  -3.200          0
  -3.000          0
  -2.800          0
  -2.600          0
  -2.400          0
  -2.200          0
  -2.000          1 ########################################
  -1.800          0
  -1.600          0
  -1.400          0
  -1.200          1 ########################################

Quality of a page (x) and mean quality of the pages it links to
collection   pages with links  Pearson               line
pages.jsonl                 3   -0.327  -2.500 + -0.214 x

Relevant pages: pages.jsonl
group     pages     min     5 %    25 %  median    75 %    95 %     max    mean     sd
relevant      1  -1.000  -1.000  -1.000  -1.000  -1.000  -1.000  -1.000  -1.000  0.000
others        2  -4.000  -3.900  -3.500  -3.000  -2.500  -2.100  -2.000  -3.000  1.414
1 relevant URL of the judgements not in the collection
ordered by     AUC  95 %
quality      1.000
text length  1.000
in-links     0.250
";
    assert_eq!(run.stdout, expected);
}

#[test]
fn json_has_every_figure() {
    let directory = workplace();
    // Another collection over the same bins: all of it where the first has one of three.
    fs::write(directory.path().join("b.csv"), "quality_score\n-1\n-1.1\n").unwrap();
    let run = done_in(&directory, "analyze pages.jsonl b.csv pages.jsonl --json");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["schema"], "prospect.quality-analyze/1");
    assert_eq!((&found["low"], &found["high"]), (&json!(-4.0), &json!(-1.0)));
    let neighbours = &found["collections"][0]["neighbours"];
    assert_eq!(neighbours["pages"], 3);
    let correlation = neighbours["correlation"].as_f64().unwrap();
    assert!((correlation + (3.0_f64 / 28.0).sqrt()).abs() < 1e-12, "{correlation}");
    assert_eq!(found["collections"][1]["neighbours"], Value::Null);
    assert_eq!(found["collections"][1]["histogram"][14], 2);
    let distance = |at: usize| found["distances"][at]["distance"].as_f64().unwrap();
    // p = (1/3, 1/3, 1/3), q = (0, 0, 1), m = (1/6, 1/6, 2/3).
    let two_thirds = 2.0_f64 / 3.0;
    let divergence = 0.5 * (two_thirds * 2.0_f64.ln() + 0.5_f64.ln() / 3.0 + 1.5_f64.ln());
    assert!((distance(0) - divergence.sqrt()).abs() < 1e-12);
    assert_eq!(distance(1), 0.0);
    assert_eq!(found["distances"][2], json!({ "a": 1, "b": 2, "distance": distance(0) }));
}

#[test]
fn the_last_row_of_a_url_counts() {
    let directory = workplace();
    let again = r#"{"url":"https://x.test/a","outlinks":["c"],"quality_score":-3}"#;
    fs::write(directory.path().join("pages.jsonl"), format!("{PAGES}{again}\n")).unwrap();
    let run = done_in(&directory, "analyze pages.jsonl --json");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let one = &found["collections"][0];
    assert_eq!((&one["rows"], &one["pages"], &one["repeated"]), (&5.into(), &4.into(), &1.into()));
    assert_eq!(one["distribution"]["max"], -2.0);
    // a links to c alone now: (-3, -4), (-2, -3), (-4, -2).
    let line = one["neighbours"]["line"].as_array().unwrap();
    assert!((line[1].as_f64().unwrap() + 0.5).abs() < 1e-12, "{line:?}");
}

#[test]
fn files_without_scores_are_refused() {
    let directory = workplace();
    for (line, expected) in [
        ("analyze pages.jsonl --column q", "pages.jsonl: there is no column \"q\"; it has url"),
        ("analyze pages.jsonl --links-column nowhere", "there is no column \"nowhere\""),
        ("analyze - --input-format jsonl", "standard input cannot be read twice"),
        ("prune pages.jsonl --keep 0.5 --output out.jsonl --column q", "there is no column \"q\""),
        ("prune pages.jsonl --keep 1.5 --output out.jsonl", "a share must lie above 0"),
        ("prune pages.jsonl --tiers 0.5,0.2 --output-dir t", "the shares of tiers must rise"),
        ("prune pages.jsonl --tiers 0.5 --output out.jsonl", "neither is named"),
        ("prune pages.jsonl --output out.jsonl", "--keep <SHARE>|--threshold <SCORE>|--tiers"),
        ("prune pages.jsonl --keep 1 --output pages.jsonl", "pages.jsonl: is there already"),
        ("prune pages.jsonl --keep 1 --output o.jsonl --rest o.jsonl", "name one file"),
        ("prune pages.jsonl --keep 1 --output o.jsonl --rest no/o.jsonl", "no: there is no such"),
    ] {
        let run = run_in(&directory, line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{line}");
        assert!(run.stderr.contains(expected), "{line}: {}", run.stderr);
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "{line}: {left:?}");
    }
}

/// The URLs' last letters in a file of JSON lines.
fn letters(text: &str) -> String {
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| row["url"].as_str().unwrap().chars().last().unwrap()).collect()
}

#[test]
fn the_best_are_kept_in_their_order() {
    let directory = workplace();
    // 0.4 of three is rounded up to two.
    let run =
        done_in(&directory, "prune pages.jsonl --keep 0.4 --output kept.jsonl --rest rest.jsonl");
    assert_eq!(letters(&text(&directory, "kept.jsonl")), "ab");
    assert_eq!(letters(&text(&directory, "rest.jsonl")), "cd");
    let said = "read: 3 documents with a score, 1 without\n\
                kept: 2 documents with a score, the lowest -2; 0 without\n\
                dropped: 2 into rest.jsonl\n";
    assert_eq!(run.stderr, said);
    let first: Vec<&str> = PAGES.lines().take(2).collect();
    assert_eq!(text(&directory, "kept.jsonl"), first.join("\n") + "\n");
    for (line, expected) in [
        ("--threshold -2", "ab"),
        ("--threshold -2 --unscored keep", "abd"),
        ("--keep 1 --unscored drop", "abc"),
        ("--threshold 0", ""),
    ] {
        done_in(&directory, &format!("prune pages.jsonl {line} --output kept.jsonl --overwrite"));
        assert_eq!(letters(&text(&directory, "kept.jsonl")), expected, "{line}");
    }
}

#[test]
fn tiers_are_files_or_a_column() {
    let directory = workplace();
    let run = done_in(&directory, "prune pages.jsonl --tiers 0.2,0.5,1 --output-dir tiers --json");
    for (tier, expected) in ["a", "b", "cd"].iter().enumerate() {
        let found = text(&directory, &format!("tiers/tier-{}.jsonl", tier + 1));
        assert_eq!(letters(&found), *expected);
    }
    let said = "tiers/tier-3.jsonl: 1 documents with a score, the lowest -4; 1 without\n";
    assert!(run.stderr.ends_with(said), "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["schema"], "prospect.quality-prune/1");
    assert_eq!(found["tiers"][2], json!({ "scored": 1, "lowest": -4.0 }));
    assert_eq!(found["files"][2], json!({ "output": "tiers/tier-3.jsonl", "documents": 2 }));
    let line = "prune pages.jsonl --tiers 0.5 --tier-column quality_tier --output out.parquet";
    done_in(&directory, line);
    let found = documents::read(&directory.path().join("out.parquet"));
    let tiers = found.column_by_name("quality_tier").unwrap().as_primitive::<Int32Type>();
    assert_eq!(tiers.values().to_vec(), [1, 1, 2, 2]);
}

#[test]
fn the_page_draws_its_charts_and_loads_nothing() {
    let Some(program) = browser::find() else {
        eprintln!("skipped: there is no browser");
        return;
    };
    let directory = workplace();
    fs::write(directory.path().join("<img src=x onerror=alert(1)>.jsonl"), PAGES).unwrap();
    let files = ["pages.jsonl", "<img src=x onerror=alert(1)>.jsonl"];
    let arguments =
        [&["quality", "analyze"], &files[..], &["--qrels", "qrels", "--html", "page.html"]];
    let run = common::command(&arguments.concat()).current_dir(directory.path()).output().unwrap();
    assert!(run.status.success(), "{}", Run::from(run).stderr);
    let mut browser = browser::Browser::start(&program);
    browser.open(&directory.path().join("page.html"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    // One histogram, two of neighbours, and for each collection two of relevance.
    assert_eq!(browser.value("document.querySelectorAll('figure .chart > svg').length"), 7);
    browser.press_table_buttons();
    let cells = "document.querySelectorAll('figure .numbers:not([hidden]) td').length > 40";
    assert_eq!(browser.value(cells), true);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
