//! What a store holds goes on into other programs: its pages as records, its index in the Common Index File Format.
//!
//! Story: a crawl has found what it was for, and the pages are to be searched by another engine, without reading and cutting
//! all texts once more.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{done, prospect, text};
use serde_json::{Value, json};

/// Fields of a message of Protocol Buffers by number: numbers and fixed lengths as numbers, all else as bytes.
#[derive(Debug, Default)]
struct Fields {
    numbers: BTreeMap<u64, u64>,
    bytes: BTreeMap<u64, Vec<Vec<u8>>>,
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

fn taken<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(count);
    *bytes = rest;
    head
}

/// The next message, which its length goes before.
fn message(bytes: &mut &[u8]) -> Fields {
    let length = varint(bytes) as usize;
    fields(taken(bytes, length))
}

fn fields(mut own: &[u8]) -> Fields {
    let mut found = Fields::default();
    while !own.is_empty() {
        let key = varint(&mut own);
        match key & 7 {
            0 => {
                found.numbers.insert(key >> 3, varint(&mut own));
            }
            1 => {
                let eight: [u8; 8] = taken(&mut own, 8).try_into().unwrap();
                found.numbers.insert(key >> 3, u64::from_le_bytes(eight));
            }
            2 => {
                let length = varint(&mut own) as usize;
                found.bytes.entry(key >> 3).or_default().push(taken(&mut own, length).to_vec());
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

impl Fields {
    fn number(&self, field: u64) -> u64 {
        self.numbers.get(&field).copied().unwrap_or(0)
    }

    fn text(&self, field: u64) -> String {
        String::from_utf8(self.bytes[&field][0].clone()).unwrap()
    }
}

/// By word: the documents that hold it, each with how often.
type Postings = BTreeMap<String, Vec<(u64, u64)>>;

/// Header, postings and documents (URL and length) of a file.
fn read(path: &Path) -> (Fields, Postings, Vec<(String, u64)>) {
    let bytes = fs::read(path).unwrap();
    let mut rest = bytes.as_slice();
    let header = message(&mut rest);
    let mut postings = Postings::new();
    for _ in 0..header.number(2) {
        let list = message(&mut rest);
        let mut docid = 0;
        let entries = list.bytes[&4].iter().map(|entry| {
            let entry = fields(entry);
            docid += entry.number(1);
            (docid, entry.number(2))
        });
        let entries: Vec<(u64, u64)> = entries.collect();
        assert_eq!(list.number(2), entries.len() as u64);
        assert_eq!(list.number(3), entries.iter().map(|(_, tf)| tf).sum::<u64>());
        postings.insert(list.text(1), entries);
    }
    let documents = (0..header.number(3)).map(|docid| {
        let document = message(&mut rest);
        assert_eq!(document.number(1), docid);
        (document.text(2), document.number(3))
    });
    let documents = documents.collect();
    assert!(rest.is_empty(), "{} bytes are left", rest.len());
    (header, postings, documents)
}

fn ingested(folder: &Path, pages: &[(&str, &str)], options: &[&str]) -> std::path::PathBuf {
    let store = folder.join("store");
    for (at, (url, words)) in pages.iter().enumerate() {
        let file = folder.join(format!("page-{at}.jsonl"));
        let page = json!({"url": url, "title": "", "text": words});
        fs::write(&file, format!("{page}\n")).unwrap();
        done(&[&["ingest", "--store", text(&store)][..], options, &[text(&file)]].concat());
    }
    store
}

#[test]
fn an_index_has_every_word_of_the_current_pages() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = ("https://a.test/", "https://b.test/x?y=1");
    // The first page is fetched again and has other words.
    let pages = [(a, "old words"), (b, "rye rye bread"), (a, "Rye and wheat")];
    let store = ingested(dir.path(), &pages, &[]);
    let out = dir.path().join("index.ciff");
    let told = done(&[
        "export",
        "--store",
        text(&store),
        "--format",
        "ciff",
        "--out",
        text(&out),
        "--json",
    ]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told, json!({"schema": "prospect.export/1", "pages": 2, "words": 4}));
    let (header, postings, documents) = read(&out);
    assert_eq!([1, 2, 3, 4, 5, 6].map(|field| header.number(field)), [1, 4, 2, 4, 2, 6]);
    assert_eq!(f64::from_bits(header.number(7)).to_bits(), 3.0_f64.to_bits());
    assert!(header.text(8).ends_with("words as they are cut"), "{}", header.text(8));
    assert_eq!(documents, [(b.to_owned(), 3), (a.to_owned(), 3)]);
    let expected = [
        ("and", vec![(1, 1)]),
        ("bread", vec![(0, 1)]),
        ("rye", vec![(0, 2), (1, 1)]),
        ("wheat", vec![(1, 1)]),
    ];
    assert_eq!(postings, expected.map(|(word, list)| (word.to_owned(), list)).into());
}

#[test]
fn standard_output_takes_pages_or_what_is_told_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = ingested(dir.path(), &[("https://a.test/", "rye")], &[]);
    let pages = ["export", "--store", text(&store), "--format", "pages", "--out", "-"];
    let written = done(&pages).stdout;
    assert_eq!(written.lines().count(), 1);
    assert!(written.contains("https://a.test/"), "{written}");
    let refused = prospect(&[&pages[..], &["--json"]].concat());
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("name a file with --out for --json"), "{}", refused.stderr);
}

#[test]
fn words_are_those_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let pages = [("https://a.test/", "the breads")];
    let store = ingested(dir.path(), &pages, &["--stem", "english", "--stop-words", "english"]);
    let out = dir.path().join("index.ciff");
    done(&["export", "--store", text(&store), "--format", "ciff", "--out", text(&out)]);
    let (_, postings, documents) = read(&out);
    assert_eq!(postings.into_keys().collect::<Vec<_>>(), ["bread"]);
    assert_eq!(documents[0].1, 1);
}

#[test]
fn pages_go_into_another_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = ingested(dir.path(), &[("https://a.test/", "rye")], &[]);
    // Fetches that gave no page, of every kind.
    let fetches = [
        json!({"url": "https://a.test/gone", "status": 404}),
        json!({"url": "https://a.test/late", "status": 0}),
        json!({"url": "https://a.test/shut", "status": 0, "error": "Forbidden by robots.txt"}),
        json!({"url": "https://a.test/old", "status": 301}),
        json!({"url": "https://a.test/now", "status": 307}),
        json!({"url": "https://a.test/busy", "status": 503}),
    ];
    let records = dir.path().join("fetches.jsonl");
    fs::write(&records, fetches.map(|fetch| format!("{fetch}\n")).concat()).unwrap();
    done(&["ingest", "--store", text(&store), text(&records)]);
    let [out, other] = ["pages.jsonl", "other"].map(|name| dir.path().join(name));
    done(&["export", "--store", text(&store), "--format", "pages", "--out", text(&out)]);
    let lines = fs::read_to_string(&out).unwrap();
    let now = lines.lines().find(|line| line.contains("/now")).unwrap();
    assert!(now.contains(r#""status":307"#), "{now}");
    let told = done(&["ingest", "--store", text(&other), "--json", text(&out)]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["pages"], 1);
    let counts = |store: &Path| {
        let status = done(&["status", "--store", text(store), "--json"]).stdout;
        let status: Value = serde_json::from_str(&status).unwrap();
        ["urls", "pages", "failed", "denied", "moved", "frontier"].map(|key| status[key].clone())
    };
    assert_eq!(counts(&other), counts(&store));
}

/// An archive with one record of `https://a.test/`.
fn archive(kind: &str, content_type: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://a.test/\r\nWARC-Date: 2026-11-23T10:00:00Z\r\n\
         WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn a_part_of_a_page_takes_nothing_off_a_page_that_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let response = |links: &str| {
        format!(
            r#"{{"Envelope": {{"WARC-Header-Metadata": {{"WARC-Type": "response"}}, "Payload-Metadata":
            {{"HTTP-Response-Metadata": {{"Response-Message": {{"Status": "200"}}, "HTML-Metadata":
            {{"Head": {{"Title": "T"}}, "Links": [{links}]}}}}}}}}}}"#
        )
    };
    let link = |to: &str| format!(r#"{{"path": "A@/href", "url": "{to}", "text": "b"}}"#);
    let links = |to: &[&str]| {
        let links: Vec<String> = to.iter().map(|to| link(to)).collect();
        archive("metadata", "application/json", &response(&links.join(", ")))
    };
    let words = |text: &str| archive("conversion", "text/plain", text);
    let ingest = |name: &str, content: String| -> Value {
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        let said = done(&["ingest", "--json", "--store", text(&store), text(&path)]);
        assert_eq!(said.stderr.contains("stay as they are"), said.stdout.contains(r#""parts":1"#));
        serde_json::from_str(&said.stdout).unwrap()
    };
    let page = || {
        let out = dir.path().join("pages.jsonl");
        done(&["export", "--store", text(&store), "--format", "pages", "--out", text(&out)]);
        let page: Value = serde_json::from_str(fs::read_to_string(&out).unwrap().trim()).unwrap();
        let links = page["outlinks"].as_array().map_or(0, Vec::len);
        (page["text"].as_str().unwrap_or_default().to_owned(), links)
    };
    let parts = |told: &Value| told["counts"]["parts"].as_u64().unwrap();

    assert_eq!(parts(&ingest("1.warc.wat", links(&["/b"]))), 0);
    assert_eq!(page(), (String::new(), 1));
    assert_eq!(parts(&ingest("1.warc.wet", words("Words of it."))), 1, "it has links");
    assert_eq!(page(), (String::new(), 1));
    // As much of another day comes in its place.
    assert_eq!(parts(&ingest("2.warc.wat", links(&["/b", "/c"]))), 0);
    assert_eq!(page(), (String::new(), 2));
    let whole = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>T</title><p>All of it. <a href=\"/d\">d</a>";
    let whole = archive("response", "application/http; msgtype=response", whole);
    assert_eq!(parts(&ingest("3.warc", whole)), 0, "a page is no part");
    assert_eq!(page().1, 1);
    for (name, content) in [("4.warc.wat", links(&["/b"])), ("4.warc.wet", words("Other words."))] {
        assert_eq!(parts(&ingest(name, content)), 1, "{name}");
        assert!(page().0.contains("All of it"), "{:?}", page());
    }
}

/// Story: Nutch writes a page and its text side by side; the text took the place of the page, whose title and links were gone.
#[test]
fn a_text_beside_its_page_in_one_archive_takes_nothing_off_it() {
    let dir = tempfile::tempdir().unwrap();
    let (store, out) = (dir.path().join("store"), dir.path().join("pages.jsonl"));
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>T</title><p>Bread. <a href=\"/d\">d</a>";
    let page = archive("response", "application/http; msgtype=response", page);
    let file = dir.path().join("both.warc");
    fs::write(&file, page + &archive("conversion", "text/plain", "T Bread. d")).unwrap();
    done(&["ingest", "--store", text(&store), text(&file)]);
    done(&["export", "--store", text(&store), "--format", "pages", "--out", text(&out)]);
    let page: Value = serde_json::from_str(fs::read_to_string(&out).unwrap().trim()).unwrap();
    assert_eq!((&page["title"], page["outlinks"].as_array().map(Vec::len)), (&"T".into(), Some(1)));
}
