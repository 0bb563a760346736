//! What people get wrong, and what the command says to it.
//!
//! The story of every case: a good store with an open plan is at hand, a command is given
//! something unusable, it ends with an exit code and a message that names the place and the way
//! out, and the store is what it was, byte for byte, and proves sound.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use common::{Bench, assert_sound, copy, done, files, lines, page, prospect, text};
use prospect_index::storage::Checksum;
use prospect_index::store::{Store, StoreOptions};

/// A store with pages and an open plan. Made once; every case works on a copy.
static PLANNED: LazyLock<Bench> = LazyLock::new(|| {
    let bench = Bench::with_store();
    done(&bench.plan_arguments(&bench.store(), &["--budget", "10"]));
    bench
});

/// Files of a case, by name.
type Files<'a> = &'a [(&'a str, &'a [u8])];

/// A directory with the workload and a copy of the planned store.
fn workplace(given: Files) -> Bench {
    let bench = Bench::new();
    copy(&PLANNED.store(), &bench.store());
    for (name, content) in given {
        bench.write(name, content);
    }
    bench
}

/// The arguments of a line; `@name` is a path in the workplace, `PLAN` a plan of the store.
fn arguments(bench: &Bench, line: &str) -> Vec<String> {
    let line = line
        .replace("INGEST", "ingest --store @store")
        .replace("PLAN", "plan --store @store --workload @queries.tsv --budget 5")
        .replace("EXPLAIN", "explain --store @store");
    let argument = |word: &str| match word.strip_prefix('@') {
        Some(name) => bench.path(name),
        None => word.to_owned(),
    };
    line.split_whitespace().map(argument).collect()
}

/// Runs `line` beside `given`; it must fail for the user's input, say all of `expected` in its
/// error or hint, and leave the store as it was.
#[track_caller]
fn check(given: Files, line: &str, expected: &[&str]) {
    check_with(&workplace(given), line, expected);
}

#[track_caller]
fn check_with(bench: &Bench, line: &str, expected: &[&str]) {
    let before = files(&bench.store());
    let run = prospect(&arguments(bench, line));
    let said = &run.stderr;
    assert_eq!(run.code, Some(1), "{line}: {said}");
    assert_eq!(run.stdout, "", "{line}: nothing but results goes to standard output");
    assert!(said.starts_with("error: ") || said.contains("\nerror: "), "{line}: {said}");
    assert!(said.contains("\n\nhint: "), "{line}: {said}");
    for part in expected {
        let part = part.split('@').enumerate().fold(String::new(), |whole, (at, piece)| {
            if at == 0 { piece.to_owned() } else { whole + &bench.path("") + piece }
        });
        assert!(said.contains(&part), "{line}: {part:?} is not in\n{said}");
    }
    let after = files(&bench.store());
    let changed: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    assert!(changed.is_empty(), "{line}: changed {changed:?}");
    if before.contains_key(Path::new("segments/pages-000002.parquet")) {
        assert_sound(&bench.store());
    }
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

fn many_pages() -> String {
    lines((100..200).map(page))
}

#[test]
fn pages_that_are_no_pages_are_refused() {
    check(&[], "INGEST @none.jsonl", &["@none.jsonl: there is no such file", "spelling"]);
    let cases: [(&str, &[u8], &str); 5] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        ("a.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        ("a.zip", b"PK\x03\x04\x14\0", "a ZIP archive"),
        ("a.tsv", b"[1, 2]", "plain text"),
    ];
    for (name, content, found) in cases {
        let message = format!("@{name}: expected JSON, WARC");
        let line = format!("INGEST @{name}");
        check(&[(name, content)], &line, &[&message, found, "one "]);
    }
    let cut = [("a.parquet", b"PAR1\x15\x04\x15\x10".as_slice())];
    check(
        &cut,
        "INGEST @a.parquet",
        &["@a.parquet: the Parquet data is damaged", "write the file again"],
    );
    check(&[("a.jsonl", b"")], "INGEST @a.jsonl", &["@a.jsonl: is empty"]);
    check(&[("a.jsonl", b"\n \n")], "INGEST @a.jsonl", &["@a.jsonl: is empty"]);
    check(&[("a.jsonl.gz", &gzip(""))], "INGEST @a.jsonl.gz", &["@a.jsonl.gz: is empty"]);
    check(&[], "INGEST -", &["error: standard input: is empty"]);
    let wrong = "{\"id\":1}\n".repeat(1_500);
    let expected = ["@a.jsonl: none of the first 1000 lines is a page", "@a.jsonl:1", "outlinks"];
    check(&[("a.jsonl", wrong.as_bytes())], "INGEST @a.jsonl", &expected);
    let html = b"<!DOCTYPE html><title>a</title>";
    check(&[("a.html", html)], "INGEST @a.html", &["@a.html: HTML files", "--base-url https://"]);
    let line = "INGEST @a.html --base-url tools";
    check(&[("a.html", html)], line, &["base URL \"tools\"", "absolute URL"]);
}

#[test]
fn a_file_for_another_command_is_told_which() {
    let cdxj =
        b"org,e)/ 20240518015810 {\"url\": \"https://e.org/\", \"status\": \"200\"}\n".as_slice();
    let heritrix =
        b"2026-11-23T10:00:00.000Z   200   51 https://e.org/ L - text/html #1 - - - -\n".as_slice();
    let map =
        b"<?xml version='1.0'?><urlset><url><loc>https://e.org/</loc></url></urlset>".as_slice();
    let links = b"from\tto\nhttps://e.org/\thttps://f.org/\n".as_slice();
    for (name, content, expected) in [
        ("a.cdxj", cdxj, ["a file of URLs (cdxj)", "prospect crawl-log"]),
        ("crawl.log", heritrix, ["a file of URLs (heritrix)", "prospect crawl-log"]),
        (
            "dump",
            b"https://e.org/\tVersion: 7\nStatus: 2 (db_fetched)\n",
            ["(crawldb)", "crawl-log"],
        ),
        ("map.xml", map, ["a file of URLs (sitemap)", "prospect seeds"]),
        ("urls.txt", b"# two\nhttps://e.org/\n", ["a file of URLs (list)", "prospect seeds"]),
        ("links.tsv", links, ["holds links, and no file of the pages", "in the same command"]),
    ] {
        check(&[(name, content)], &format!("INGEST @{name}"), &expected);
        let packed = gzip(std::str::from_utf8(content).unwrap());
        check(&[(name, &packed)], &format!("INGEST @{name}"), &expected);
    }
    for (name, content, expected) in [
        ("links.tsv", links, ["found links", "prospect ingest"]),
        (
            "a.warc",
            b"WARC/1.0\r\nWARC-Type: warcinfo\r\n",
            ["found pages (warc)", "prospect ingest"],
        ),
        ("a.html", b"<!doctype html><p>a", ["found pages (html)", "prospect ingest"]),
    ] {
        check(&[(name, content)], &format!("seeds --store @store @{name}"), &expected);
    }
}

#[test]
fn a_good_file_beside_a_bad_one_is_not_stored_either() {
    let good = page(150);
    let given: Files = &[("a.jsonl", good.as_bytes()), ("b.png", b"\x89PNG\r\n\x1a\n")];
    check(given, "INGEST @a.jsonl @b.png", &["@b.png: expected JSON, WARC"]);
    let cut = &gzip(&many_pages())[..2_000];
    let given: Files = &[("a.jsonl", good.as_bytes()), ("b.jsonl.gz", cut)];
    check(given, "INGEST @a.jsonl @b.jsonl.gz", &["@b.jsonl.gz: the gzip data ends too early"]);
}

#[test]
fn compressed_files_that_are_cut_or_damaged_are_refused() {
    let (gz, zst) = (gzip(&many_pages()), zstd(many_pages().as_bytes()));
    let again = "fetch or write the file again";
    for (name, whole, kind) in [("a.jsonl.gz", &gz, "gzip"), ("a.jsonl.zst", &zst, "zstd")] {
        let line = format!("INGEST @{name}");
        let early = format!("@{name}: the {kind} data ends too early");
        for kept in [20, whole.len() / 2, whole.len() - 5] {
            check(&[(name, &whole[..kept])], &line, &[&early, "nothing of it was stored", again]);
        }
    }
    let mut flipped = gz.clone();
    let end = flipped.len() - 6;
    flipped[end] ^= 1; // In the checksum, so that every line reads well.
    check(&[("a.jsonl.gz", &flipped)], "INGEST @a.jsonl.gz", &["the gzip data is damaged", again]);
}

#[test]
fn bad_lines_are_skipped_and_counted_with_their_place() {
    let bench = workplace(&[]);
    let mut content = (page(150) + "\n").into_bytes();
    content.extend(b"{\"url\":\"https://a.example/\",\"text\":\"\xff\xfe\"}\n");
    content.extend(b"{\"url\":\"https://a.example/\",\"text\":\"\xff\"}\n{\"url\":\n{}\n");
    content.extend((page(151) + "\n").into_bytes());
    bench.write("bad.jsonl", &content);
    let run = done(&arguments(&bench, "INGEST @bad.jsonl"));
    let place = bench.path("bad.jsonl");
    for expected in [
        "2 pages and 0 failed fetches stored".to_owned(),
        format!("skipped 2 (invalid-utf8), the first at {place}:2: "),
        format!("skipped 1 (invalid-json), the first at {place}:4: "),
        format!("skipped 1 (missing-url), the first at {place}:5: "),
    ] {
        assert!(run.stderr.contains(&expected), "{expected:?} is not in\n{}", run.stderr);
    }
    assert_sound(&bench.store());
    let expected = ["@bad.jsonl:2: ", "invalid-utf8", "nothing was stored; without --strict"];
    check(&[("bad.jsonl", &content)], "INGEST --strict @bad.jsonl", &expected);
}

#[test]
fn records_none_of_which_is_a_page_are_an_error() {
    let uris = b"{\"uri\":\"https://a.example/\",\"links\":[]}\n{\"uri\":\"https://b.example/\"}\n";
    let expected = [
        "none of the 2 records is a page; the first: @a.jsonl:1: no url",
        "hint: the key `uri` is not read (2 records, the first at @a.jsonl:1); did you mean `url`?",
        "the key `links` is not read (1 record, the first at @a.jsonl:1); did you mean `outlinks`?",
        "each line should be an object such as",
    ];
    check(&[("a.jsonl", uris)], "INGEST @a.jsonl", &expected);
    check(&[("a.jsonl", uris)], "INGEST --close @a.jsonl", &expected);
    let many = "{\"uri\":\"https://a.example/\"}\n".repeat(1_500);
    let expected = ["none of the first 1000 lines", "did you mean `url`?"];
    check(&[("a.jsonl", many.as_bytes())], "INGEST @a.jsonl", &expected);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for content in [wide(&page(150)), wide(&format!("\u{feff}{}", page(150)))] {
        let expected = ["@a.jsonl: expected JSON, WARC", "found UTF-16 text", "iconv -f UTF-16"];
        check(&[("a.jsonl", &content)], "INGEST @a.jsonl", &expected);
        check(&[("a.jsonl", &content)], "seeds --store @store @a.jsonl", &expected[1..]);
    }
    let line = "plan --store @store --budget 5 --workload @q.tsv";
    check(&[("q.tsv", &wide("1\ta\n"))], line, &["@q.tsv is UTF-16 text", "iconv -f UTF-16"]);
}

#[test]
fn keys_that_look_like_a_field_are_told_and_what_is_clear_is_taken() {
    let bench = workplace(&[]);
    let first = r#"{"url":"https://new.example/","status":"200","fetched_at":1764000000,"outlinks":["/a"],"html":"<p>"}"#;
    let second =
        r#"{"url":"https://new.example/2","text":"a","html":"<p>","outlinks":[{"href":"/b"}]}"#;
    bench.write("new.jsonl", format!("\u{feff}{first}\r\n{second}\r\n"));
    let run = done(&arguments(&bench, "INGEST --json @new.jsonl"));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json["counts"]["pages"], &json["counts"]["links"]), (&2.into(), &1.into()));
    let told: Vec<_> = json["misnamed"].as_array().unwrap().iter().collect();
    let place = bench.path("new.jsonl");
    let key = |key: &str, meant: &str, line: u64| serde_json::json!({ "key": key, "meant": meant, "count": 1, "first": format!("{place}:{line}") });
    assert_eq!(told, [&key("html", "text", 1), &key("outlinks.href", "url", 2)]);
    assert_sound(&bench.store());
}

#[test]
fn a_next_step_is_told_where_something_came_in() {
    let bench = workplace(&[]);
    bench.write("bad.jsonl", "{\"url\":\"https://new.example/\"}\n{}\n");
    let said = done(&arguments(&bench, "INGEST @bad.jsonl")).stderr;
    assert!(said.contains("next: prospect plan"), "{said}");
    let said = done(&arguments(&bench, "INGEST --close")).stderr;
    assert!(said.contains("next: prospect plan"), "{said}");
    let said = done(&arguments(&bench, "INGEST --close")).stderr;
    assert!(said.contains("no open plan to close") && !said.contains("next:"), "{said}");
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let long = prospect_index::limits::BOUNDS.line_bytes;
    let mut content = b"{\"url\":\"https://a.example/\",\"text\":\"".to_vec();
    content.resize(content.len() + long, b'x');
    content.extend(b"\"}\n");
    content.extend(page(150).into_bytes());
    let bench = workplace(&[("long.jsonl.zst", &zstd(&content))]);
    let run = done(&arguments(&bench, "INGEST @long.jsonl.zst"));
    let place = bench.path("long.jsonl.zst");
    let expected = format!("skipped 1 (line-too-long), the first at {place}:1: the line has ");
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
    assert!(run.stderr.contains("1 page "), "{}", run.stderr);
    assert_sound(&bench.store());
}

#[test]
fn workloads_that_cannot_be_used_name_their_line() {
    let form = "qid<TAB>query";
    let cases: [(&[u8], &[&str]); 9] = [
        (b"", &["@q.tsv has no query", form]),
        (b"\n\n", &["@q.tsv has no query", form]),
        (b"1\ta\t2\n2\tb\t-1\n", &["@q.tsv:2: the frequency is -1", form]),
        (b"1\ta\n\n2\tb\tNaN\n", &["@q.tsv:3: the frequency is NaN", form]),
        (b"1\ta\tinf\n", &["@q.tsv:1: the frequency is inf", form]),
        (b"1\ta\toften\n", &["@q.tsv:1: the frequency is \"often\"", form]),
        (b"no tab\n", &["@q.tsv:1: ", "no tab", form]),
        (b"1\ta\n1\tb\n", &["@q.tsv:2: the qid 1", form]),
        (b"1\ta\n2\t\xff\n", &["@q.tsv:2: the line is not UTF-8", "iconv -f LATIN1"]),
    ];
    let line = "plan --store @store --budget 5 --workload @q.tsv";
    for (content, expected) in cases {
        check(&[("q.tsv", content)], line, expected);
    }
    check(&[], line, &["cannot read @q.tsv", "No such file", "name a readable file"]);
    let idle = b"1\t?!\n2\ta\t0\n";
    check(&[("q.tsv", idle)], line, &["@q.tsv: none of the 2 queries", "frequency above 0"]);
    check(&[("q.tsv", &gzip("1\ta\n")[..15])], line, &["cannot read @q.tsv", "caused by: "]);
}

#[test]
fn the_mark_of_utf_8_is_no_part_of_a_list() {
    let bench = Bench::with_store();
    let first = done(&bench.plan_arguments(&bench.store(), &["--budget", "1"])).stdout;
    let url: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let list = bench.write("list.txt", format!("\u{feff}{}\n", url["url"].as_str().unwrap()));
    let options = ["--budget", "5", "--within", &list, "--release", "all"];
    let run = done(&bench.plan_arguments(&bench.store(), &options));
    assert!(!run.stderr.contains("no URL"), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let cases: [(&str, &[&str]); 14] = [
        ("--top many", &["--top is many; it must be a whole number from 1"]),
        ("--explore 2", &["--explore is 2; it must lie between 0 and 1"]),
        ("--explore -0.1", &["--explore is -0.1"]),
        ("--explore NaN", &["--explore is NaN"]),
        ("--rho -1", &["--rho is -1; it must lie between 0 and 1", "for example --rho 0.5"]),
        ("--b 1.5", &["--b is 1.5"]),
        ("--top 0", &["--top is 0; it must be a whole number from 1 to 1000"]),
        ("--ngram 4", &["--ngram is 4; it must be a whole number from 1 to 3"]),
        ("--needy 0", &["--needy is 0; it must be a number of queries", "for example --needy 0.1"]),
        ("--needy -3", &["--needy is -3"]),
        ("--needy 1.5", &["--needy is 1.5", "or a share below 1"]),
        ("--format xml", &["there is no plan format \"xml\"", "jsonl, tsv, urls"]),
        ("--out @none/plan", &["cannot write @none/plan", "No such file", "nothing was planned"]),
        ("--out @store", &["cannot write @store", "directory", "nothing was planned"]),
    ];
    for (options, expected) in cases {
        check(&[], &format!("PLAN {options}"), expected);
    }
    let none = "plan --store @store --workload @queries.tsv --budget 0";
    check(
        &[],
        none,
        &["--budget is 0; it must be a whole number from 1 to", "for example --budget 1"],
    );
    check(&[], "PLAN --within @none.txt", &["cannot read @none.txt"]);
}

#[test]
fn arguments_that_cannot_be_parsed_exit_with_1() {
    for line in ["plan", "frobnicate", "PLAN --budget", "PLAN --threads", "INGEST"] {
        let bench = workplace(&[]);
        let run = prospect(&arguments(&bench, line));
        assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("try '--help'"), "{line}: {}", run.stderr);
    }
    assert_eq!(prospect(&["--help"]).code, Some(0));
    assert_eq!(prospect(&["plan", "--help"]).code, Some(0));
}

#[test]
fn explain_says_what_it_needs() {
    check(&[], "EXPLAIN not-a-url", &["\"not-a-url\" is ", "absolute http or https URL"]);
    check(&[], "EXPLAIN ftp://a.example/", &["\"ftp://a.example/\" is "]);
    let unknown = "the store does not know https://unknown.example/x";
    check(&[], "EXPLAIN https://unknown.example/x", &[unknown, "becomes known when"]);
    let bench = Bench::with_store();
    let line = "EXPLAIN --query topic0";
    check_with(&bench, line, &["no open plan", "prospect plan --store"]);
}

#[test]
fn places_that_are_no_usable_store_are_refused() {
    let every =
        ["INGEST @first.jsonl", "PLAN", "EXPLAIN https://a.example/", "check --store @store"];
    for line in every {
        let bench = Bench::new();
        fs::create_dir(bench.store()).unwrap();
        bench.write("store/thesis.tex", "x");
        let expected = ["@store is not a Prospect store", "new or empty directory"];
        check_with(&bench, line, &expected);
        assert_eq!(files(&bench.store()).len(), 1, "{line}");
    }
    for line in &every[1..] {
        check_with(&Bench::new(), line, &["there is no store at @store", "prospect ingest"]);
    }
    let bench = Bench::new();
    bench.write("store", "a file");
    for line in every {
        check_with(&bench, line, &["@store"]);
    }
}

#[test]
fn a_store_of_a_newer_format_is_left_alone() {
    let body = r#"{"format":99,"unheard":"of"}"#;
    let checksum = Checksum::of(body.as_bytes());
    let manifest = format!(r#"{{"manifest":{body},"checksum":"{checksum}"}}"#);
    for line in ["INGEST @first.jsonl", "PLAN", "check --full --store @store"] {
        let bench = Bench::new();
        fs::create_dir(bench.store()).unwrap();
        bench.write("store/MANIFEST.json", &manifest);
        check_with(&bench, line, &["@store/MANIFEST.json has store format 99", "update prospect"]);
    }
}

#[test]
fn a_store_in_use_names_who_holds_it() {
    for line in ["INGEST @first.jsonl", "PLAN"] {
        let bench = workplace(&[]);
        let options = StoreOptions { holder: "a test".to_owned(), ..StoreOptions::default() };
        let held = Store::open(&bench.store(), &options).unwrap();
        let holder = format!("in use by process {} (a test)", std::process::id());
        let before = files(&bench.store());
        let run = prospect(&arguments(&bench, line));
        assert_eq!(run.code, Some(1), "{line}");
        assert!(run.stderr.contains(&holder), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("\n\nhint: wait for it to end"), "{line}: {}", run.stderr);
        assert_eq!(files(&bench.store()), before, "{line}");
        drop(held);
        // A process that another test starts has all open files, locks too, until it becomes another
        // program.
        let free = || Store::open(&bench.store(), &options).is_ok();
        assert!((0..500).any(|_| free() || {
            std::thread::sleep(Duration::from_millis(20));
            false
        }));
        assert_sound(&bench.store());
    }
}

#[test]
fn a_store_without_pages_cannot_be_planned_but_failures_can_be_stored() {
    let bench = Bench::new();
    bench.write("gone.jsonl", common::failure(&common::address(0), 410));
    done(&arguments(&bench, "INGEST @gone.jsonl"));
    check_with(&bench, "PLAN", &["the store has no page yet", "prospect ingest --store"]);
    assert_sound(&bench.store());
}

#[test]
fn damage_to_the_truth_is_found_and_named() {
    for name in ["MANIFEST.json", "segments/pages-000002.parquet", "segments/urls-000002.parquet"] {
        let bench = workplace(&[]);
        let path = bench.store().join(name);
        let mut content = fs::read(&path).unwrap();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(&path, content).unwrap();
        for line in ["PLAN", "check --full --store @store"] {
            let run = prospect(&arguments(&bench, line));
            assert_eq!(run.code, Some(1), "{name}: {line}: {}", run.stderr);
            let place = format!("{}/{name}", text(&bench.store()));
            assert!(run.stderr.contains(&place), "{name}: {line}: {}", run.stderr);
            assert!(run.stderr.contains("\n\nhint: "), "{name}: {line}: {}", run.stderr);
        }
    }
}

#[test]
fn numbers_that_nothing_can_be_made_of_are_refused() {
    check(&[], "PLAN --threads 100000", &["100000 threads are too many", "at most 1024"]);
    let line = "plan --store @store --workload @huge.tsv --budget 5";
    check(
        &[("huge.tsv", b"q1\ttools\nq2\tmore tools\t1e308\n")],
        line,
        &["@huge.tsv:2: the frequency is 1", "a number from"],
    );
    let tiny = [("huge.tsv", b"q1\ttools\t1e-300\n".as_slice())];
    check(&tiny, line, &["@huge.tsv:1: the frequency is 0.0", "a number from"]);
}

/// Story: a file of 74 KB unpacked to 2.4 GB of queries, which took 3.1 GiB.
#[test]
fn texts_that_unpack_without_end_are_refused() {
    let bomb = zstd(&vec![b'\n'; 300 << 20]);
    assert!(bomb.len() < 100_000);
    let line = "plan --store @store --workload @q.tsv --budget 5";
    let said = ["@q.tsv has more than 268435456 bytes of text", "keep those that are asked most"];
    check(&[("q.tsv", &bomb)], line, &said);
    let line = "PLAN --within @q.tsv";
    check(&[("q.tsv", &bomb)], line, &said[..1]);
    // Judgements and runs are read line by line, and one line is short.
    let bomb = zstd(&vec![b'a'; 300 << 20]);
    let said = ["@j.qrels:1: the line has 314572800 bytes, at most 65536"];
    check(&[("j.qrels", &bomb)], "evaluate --run @j.qrels --qrels @j.qrels", &said);
    // A window of 2 GiB, asked for by a frame of a few bytes.
    let wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    check(&[("q.tsv", &wide)], "plan --store @store --workload @q.tsv --budget 5", &["memory"]);
    check(&[("a.jsonl.zst", &wide)], "INGEST @a.jsonl.zst", &["memory"]);
}

#[test]
fn what_others_wrote_does_nothing_to_a_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}gpj";
    let told = "\\u{1b}]0;owned\\u{7}\\u{9b}31m\\u{202e}gpj";
    let harmless = |said: &str| {
        let acts = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!said.contains(acts), "{said:?}");
    };
    let bench = workplace(&[]);
    for line in [
        "INGEST @EVIL.jsonl",
        "plan --store @store --workload @EVIL --budget 5",
        "EXPLAIN EVIL",
        "EVIL",
        "PLAN --exclude (EVIL",
        "evaluate --run @EVIL --qrels @EVIL",
    ] {
        let arguments: Vec<String> =
            arguments(&bench, line).iter().map(|word| word.replace("EVIL", evil)).collect();
        let run = prospect(&arguments);
        assert_eq!(run.code, Some(1), "{line}: {}", run.stderr);
        harmless(&run.stderr);
        assert!(run.stderr.contains("gpj"), "{line}: {}", run.stderr);
    }
    // What a file says, too.
    let name = bench.write("q.tsv", format!("1\trye\t{evil}\n"));
    let run =
        prospect(&["plan", "--store", text(&bench.store()), "--workload", &name, "--budget", "5"]);
    harmless(&run.stderr);
    assert!(run.stderr.contains(told) || run.stderr.contains("owned"), "{}", run.stderr);
}

/// Story: a file of 200,000 columns kept the command busy for 19 seconds.
#[test]
fn a_header_of_many_columns_costs_what_its_length_is() {
    let names = (0..199_999).map(|at| format!("c{at}")).chain(["body".to_owned()]);
    let names: Vec<String> = names.collect();
    let (header, cells) = (names.join(","), vec!["x"; 200_000].join(","));
    let members: Vec<String> = names.iter().map(|name| format!("\"{name}\":\"x\"")).collect();
    let object = format!("{{{}}}\n", members.join(","));
    let bench = workplace(&[
        ("a.csv", format!("{header}\n{cells}\n").as_bytes()),
        ("a.jsonl", object.as_bytes()),
    ]);
    let start = std::time::Instant::now();
    let run = prospect(&["quality", "analyze", &bench.path("a.csv"), "--column", "c7"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let line = "plan --store @store --workload @a.csv --budget 5";
    assert_eq!(prospect(&arguments(&bench, line)).code, Some(1));
    for name in ["a.csv", "a.jsonl"] {
        let line = format!("quality score @{name} --model text-length --output @scored-{name}");
        assert_eq!(prospect(&arguments(&bench, &line)).code, Some(0), "{name}");
    }
    // All together; hundreds of milliseconds where the program is made for speed.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

/// Story: a flipped byte in a Parquet file ended the command by a panic of the reader.
#[test]
fn a_mutated_parquet_file_is_refused_or_read() {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;

    let schema = "message pages { required binary url (UTF8); required binary text (UTF8); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for start in ["https://a.example/", "a text "] {
        let values: Vec<ByteArray> =
            (0..200).map(|at| ByteArray::from(format!("{start}{at}").as_str())).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();

    let bench = workplace(&[]);
    let (mut refused, mut read) = (0, 0);
    for number in 0..120 {
        let mut mutated = bytes.clone();
        // The footer is what readers trust.
        let at = bytes.len() - 1 - number * 7 % (bytes.len() - 4);
        mutated[at] = mutated[at].wrapping_add(1 + (number % 250) as u8);
        let name = bench.write("a.parquet", &mutated);
        let out = bench.path(&format!("out-{number}.jsonl"));
        let scored = ["quality", "score", &name, "--model", "text-length", "--output", &out];
        let stored = bench.path(&format!("store-{number}"));
        for arguments in [&scored[..], &["ingest", "--store", &stored, &name]] {
            let run = prospect(arguments);
            assert!(!run.stderr.contains("panicked"), "{number}: {}", run.stderr);
            if run.code == Some(0) {
                read += 1;
            } else {
                assert_eq!(run.code, Some(1), "{number}: {}", run.stderr);
                assert!(run.stderr.contains("a.parquet"), "{number}: {}", run.stderr);
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {read} read");
    assert!(refused > 20 && read > 20, "{refused} {read}");
}
