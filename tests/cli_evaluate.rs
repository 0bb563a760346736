//! `prospect evaluate` on runs that can be checked by hand, and on what is no run.
//!
//! Two queries count, `1` (a is relevant, c more so) and `2` (a); nothing is relevant to `3`.

mod common;

use std::fs;

use common::Run;
use tempfile::TempDir;

const QRELS: &str = "1 0 a 1\n1 0 b 0\n1 0 c 3\n2 0 a 1\n3 0 a 0\n";
/// b, then c, then the unjudged d, then a; ties in `2` are broken by document id, last first.
const FIRST: &str = "1 Q0 b 9 4 one\n1 Q0 a 1 1 one\n1 Q0 c 2 3 one\n1 Q0 d 3 2 one\n\
                     2 Q0 a 1 1 one\n2 Q0 b 2 1 one\n3 Q0 a 1 1 one\n";
/// A perfect ranking of `1`, and nothing for `2`.
const SECOND: &str = "1 Q0 c 1 2 two\n1 Q0 a 2 1 two\n";

/// A directory with `qrels`, `first` and `second`, and the files of a case.
fn workplace(given: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let fixed = [("qrels", QRELS), ("first", FIRST), ("second", SECOND)];
    for (name, content) in fixed {
        fs::write(directory.path().join(name), content).unwrap();
    }
    for (name, content) in given {
        fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

/// Runs the words of a line in a directory; `EVALUATE` is the command with its judgements.
fn run_in(directory: &TempDir, line: &str) -> Run {
    let line = line.replace("EVALUATE", "evaluate --qrels qrels");
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let output = common::command(&arguments).current_dir(directory.path()).output();
    output.expect("the binary starts").into()
}

/// As [`run_in`]; it must succeed.
#[track_caller]
fn done_in(directory: &TempDir, line: &str) -> Run {
    let run = run_in(directory, line);
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    run
}

/// Runs a line that must succeed beside `qrels`, `first` and `second`.
#[track_caller]
fn good(line: &str) -> Run {
    done_in(&workplace(&[]), line)
}

/// A line that fails for the user's input, prints no result, and says all of `expected`.
#[track_caller]
fn bad(given: &[(&str, &[u8])], line: &str, expected: &[&str]) {
    let run = run_in(&workplace(given), line);
    assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
    assert_eq!(run.stdout, "", "{line}: nothing but results goes to standard output");
    assert!(run.stderr.starts_with("error: "), "{line}: {}", run.stderr);
    assert!(run.stderr.contains("\n\nhint: "), "{line}: {}", run.stderr);
    for part in expected {
        assert!(run.stderr.contains(part), "{line}: {part:?} is not in\n{}", run.stderr);
    }
}

#[test]
fn one_run_is_a_line_of_averages() {
    let run = good("EVALUATE --run first");
    // nDCG of `1`: (3 / log2 3 + 1 / log2 5) / (3 + 1 / log2 3) = 0.6399; of `2`: 1 / log2 3.
    let table = "run    nDCG@10    R@100   MRR@10       AP\n\
                 first   0.6354   1.0000   0.5000   0.5000\n";
    assert_eq!(run.stdout, table);
    let said = "first: left out: 1 query to which nothing is judged relevant\n\
                averages over the 2 queries of qrels with a relevant document\n  \
                left out: 1 judged query without one\n\
                next: a second --run is compared with the first; --per-query lists queries\n";
    assert_eq!(run.stderr, said);
    assert_eq!(good("EVALUATE --run first --quiet").stderr, "");
}

#[test]
fn several_runs_are_compared_with_the_first() {
    let run = good("EVALUATE --run first --run second --metrics RR@10,recall_1,MRR@10");
    let table = "run     MRR@10     R@1\n\
                 first   0.5000  0.0000\n\
                 second  0.5000  0.2500\n\
                 \n\
                 p of a paired two-sided t-test against first\n\
                 run     MRR@10     R@1\n\
                 second  1.0000  0.5000\n";
    assert_eq!(run.stdout, table);
    assert!(run.stderr.contains("second: no results for 1 of 2 queries; they count 0\n"));
}

#[test]
fn queries_are_listed_on_demand() {
    let run = good("EVALUATE --run first --run second --metrics MRR@10,AP --per-query");
    let table = "run     query  MRR@10      AP\n\
                 first   1      0.5000  0.5000\n\
                 first   2      0.5000  0.5000\n\
                 second  1      1.0000  1.0000\n\
                 second  2      0.0000  0.0000\n\
                 first   all    0.5000  0.5000\n\
                 second  all    0.5000  0.5000\n";
    assert!(run.stdout.starts_with(table), "{}", run.stdout);
}

#[test]
fn json_has_every_figure() {
    let line = "EVALUATE --run first --run second --metrics AP,R@1 --per-query --json";
    let mut found: serde_json::Value = serde_json::from_str(&good(line).stdout).unwrap();
    let expected = serde_json::json!({
        "schema": "prospect.evaluate/1",
        "qrels": "qrels",
        "queries": 2,
        "queries_without_relevant": 1,
        "depth": 1000,
        "metrics": ["AP", "R@1"],
        "runs": [
            {
                "run": "first",
                "tag": "one",
                "means": { "AP": 0.5, "R@1": 0.0 },
                "queries_without_results": 0,
                "queries_not_judged": 1,
                "queries_too_deep": 0,
                "judged_results": 4,
                "per_query": { "1": { "AP": 0.5, "R@1": 0.0 }, "2": { "AP": 0.5, "R@1": 0.0 } },
            },
            {
                "run": "second",
                "tag": "two",
                "means": { "AP": 0.5, "R@1": 0.25 },
                "queries_without_results": 1,
                "queries_not_judged": 0,
                "queries_too_deep": 0,
                "judged_results": 2,
                "per_query": { "1": { "AP": 1.0, "R@1": 0.5 }, "2": { "AP": 0.0, "R@1": 0.0 } },
                "p": { "AP": 1.0, "R@1": 0.5 },
                "p_holm": { "AP": 1.0, "R@1": 0.5 },
            },
        ],
    });
    // p comes out of a special function, which is right to many digits but not to the last.
    for name in ["p", "p_holm"] {
        let p = &mut found["runs"][1][name]["R@1"];
        assert!((p.as_f64().unwrap() - 0.5).abs() < 1e-12, "{p}");
        *p = 0.5.into();
    }
    assert_eq!(found, expected);
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    let gzipped = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, FIRST.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::encode_all(QRELS.as_bytes(), 1).unwrap();
    let place = workplace(&[("first.gz", &gzipped), ("qrels.zst", &zstd)]);
    let run = done_in(&place, "evaluate --run first.gz --qrels qrels.zst");
    assert!(run.stdout.contains("first.gz   0.6354   1.0000"), "{}", run.stdout);
    bad(&[], "EVALUATE --run -", &["standard input has no line", "qid Q0 docid rank score tag"]);
    bad(&[], "evaluate --run - --qrels -", &["standard input is named more than once"]);
}

#[test]
fn document_ids_that_do_not_agree_are_told() {
    let other = FIRST.replace(" Q0 ", " Q0 http://x.test/");
    let place = workplace(&[("other", other.as_bytes())]);
    let run = done_in(&place, "EVALUATE --run other");
    let said = "other: no result is judged; do document ids agree? the run has for example \
                http://x.test/b, the judgements a\n";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(run.stdout.contains("0.0000") && !run.stdout.contains("-0"), "{}", run.stdout);
}

#[test]
fn documents_that_are_urls_are_compared_as_those_of_pages_are() {
    let (as_sites_have_them, canonical) = ("HTTP://X.test:80/%7e", "http://x.test/~");
    let judged = |place: &str| QRELS.replace(" 0 ", &format!(" 0 {place}"));
    // One page is judged by two spellings.
    let judged = judged(as_sites_have_them) + "1 0 http://x.test/~c 0\n";
    let found = |place: &str| FIRST.replace(" Q0 ", &format!(" Q0 {place}"));
    let files = [("judged", judged), ("a", found(as_sites_have_them)), ("b", found(canonical))];
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let place = workplace(&files);
    let value = |line: &str| {
        let printed = done_in(&place, &format!("{line} --metrics nDCG@10,AP --json")).stdout;
        let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
        json["runs"][0]["means"].clone()
    };
    let expected = value("EVALUATE --run first");
    assert!(expected.to_string().len() > 20, "{expected}");
    for run in ["a", "b"] {
        assert_eq!(value(&format!("evaluate --qrels judged --run {run}")), expected, "{run}");
    }
}

#[test]
fn ties_and_repetitions_are_told_by_the_urls_that_documents_have() {
    let judged = "1 0 http://x.test/~a 1\n2 0 http://x.test/p#2 1\n";
    let tie = |a: &str| format!("1 Q0 {a} 1 5 t\n1 Q0 http://x.test/b 2 5 t\n");
    // One page in two spellings is one result; parts of a page are documents of their own.
    let parts = "2 Q0 http://x.test/p#1 1 3 t\n2 Q0 http://x.test/p#2 2 2 t\n";
    let twice =
        "1 Q0 http://x.test/c 1 9 t\n1 Q0 HTTP://x.test/c 2 8 t\n1 Q0 http://x.test/~a 3 7 t\n";
    let runs = [tie("http://x.test/~a"), tie("http://x.test/%7ea"), twice.to_owned()];
    for (run, expected) in runs.iter().zip([1.0, 1.0, 0.5]) {
        let run = run.clone() + parts;
        let place = workplace(&[("judged", judged.as_bytes()), ("run", run.as_bytes())]);
        let line = "evaluate --qrels judged --run run --metrics MRR@10 --per-query --json";
        let printed = done_in(&place, line).stdout;
        let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let of = &json["runs"][0]["per_query"];
        assert_eq!(
            (&of["1"]["MRR@10"], &of["2"]["MRR@10"]),
            (&expected.into(), &0.5.into()),
            "{run}"
        );
    }
}

#[test]
fn results_beyond_the_depth_do_not_count() {
    let line = |at: u32| format!("2 Q0 d{at} 1 {} t\n", 9999 - at);
    let deep: String = (0..1001).map(line).chain(["2 Q0 a 1 1 t\n".to_owned()]).collect();
    let place = workplace(&[("deep", deep.as_bytes())]);
    let run = done_in(&place, "EVALUATE --run deep --metrics AP");
    assert!(run.stdout.contains("deep  0.0000"), "{}", run.stdout);
    assert!(
        run.stderr.contains("deep: results beyond 1000 of 1 query do not count"),
        "{}",
        run.stderr
    );
}

#[test]
fn queries_without_pages_are_told() {
    let said = ["there are queries to search for, and no pages", "leave --workload out"];
    bad(&[("queries", b"1\tbread\n")], "EVALUATE --run first --workload queries", &said);
}

#[test]
fn what_a_search_cannot_have_is_refused_before_it() {
    let page = br#"{"url":"https://a.test/","text":"bread"}"#;
    let pages: (&str, &[u8]) = ("pages.jsonl", page);
    let judged: (&str, &[u8]) = ("judged", b"1 0 https://a.test/ 1\n");
    let line = "evaluate --qrels judged --corpus pages.jsonl --workload queries";
    let queries: (&str, &[u8]) = ("queries", b"1\tbread\n");
    for (option, least) in
        [("--b 2", "--b is 2"), ("--k1=-1", "--k1 is -1"), ("--k1 inf", "--k1 is inf")]
    {
        bad(
            &[queries, pages, judged],
            &format!("{line} {option}"),
            &[least, "must lie between 0 and"],
        );
    }
    let spaced: (&str, &[u8]) = ("queries", br#"{"qid":"q 1","query":"bread"}"#);
    bad(&[spaced, pages, judged], &format!("{line} --write-run out"), &["q 1"]);
    let twice = "EVALUATE --corpus pages.jsonl --workload - --rerank -";
    bad(&[pages], twice, &["standard input is named more than once"]);
}

#[test]
fn files_that_are_no_runs_name_their_line() {
    let form = "hint: a line of a run is `qid Q0 docid rank score tag`";
    let cases: [(&str, &[&str]); 8] = [
        ("", &["error: bad has no line", form]),
        ("1 Q0 a 1 2\n", &["bad:1: the line has 5 fields", form]),
        (QRELS, &["bad:1: the line has 4 fields, and this may be one of judgements", form]),
        ("1 Q0 a 1 2 t\n\n1 Q0 b 1 x t\n", &["bad:3: the score is \"x\"", form]),
        ("1 Q0 a 1 nan t\n", &["bad:1: the score is \"nan\"; a finite", form]),
        ("1 Q0 a 1 1e99 t\n", &["bad:1: the score is \"1e99\"; a finite", form]),
        ("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", &["bad:2: query 1 has the document a already in line 1"]),
        ("q1 Q0 a 1 2 t\n", &["bad: no query has both", "query q1, the judgements 1", "spelt"]),
    ];
    for (content, expected) in cases {
        bad(&[("bad", content.as_bytes())], "EVALUATE --run bad", expected);
    }
    bad(&[("bad", b"1 Q0 a 1 2 t\n\xff\n")], "EVALUATE --run bad", &["bad:2: the line is not"]);
    let none = ["cannot read none", "caused by: No such file", "name a readable file"];
    bad(&[], "EVALUATE --run none", &none);
    bad(&[], "evaluate --run first --qrels none", &none);
}

#[test]
fn files_that_are_no_judgements_name_their_line() {
    let form = "`qid 0 docid grade`";
    let cases: [(&str, &[&str]); 5] = [
        ("", &["error: bad has no line", form]),
        (FIRST, &["bad:1: 6 fields", form]),
        ("1 0 a high\n", &["bad:1: the grade is \"high\"", form]),
        ("1 0 a 1\n1 0 a 1\n", &["bad:2: query 1 has the document a already in line 1"]),
        ("1 0 a 0\n2 0 a -1\n", &["bad: none of the 2 judged queries has a relevant", "above 0"]),
    ];
    for (content, expected) in cases {
        bad(&[("bad", content.as_bytes())], "evaluate --run first --qrels bad", expected);
    }
}

#[test]
fn metrics_that_are_none_get_the_nearest() {
    let cases: [(&str, &[&str]); 4] = [
        ("nDGC@10", &["there is no metric \"nDGC@10\"", "did you mean nDCG@10?"]),
        ("AP,recal@50", &["there is no metric \"recal@50\"", "did you mean R@50?"]),
        ("nDCG", &["the metric \"nDCG\" needs a cut-off from 1 to 1000", "for example nDCG@10"]),
        ("HR", &["HR is measured on a crawl, not on a run", "nDCG@k, R@k, MRR@k and AP"]),
    ];
    for (metrics, expected) in cases {
        bad(&[], &format!("EVALUATE --run first --metrics {metrics}"), expected);
    }
}
