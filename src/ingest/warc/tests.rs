//! What is read from WARC files, whole and damaged.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use proptest::prelude::*;

use crate::ingest::{PageSource, SourceItem, SourceOptions, open, open_reader};

const HTML: &str = "Content-Type: text/html\r\n";

fn record(kind: &str, uri: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-11-23T10:00:00Z\r\n\
         Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(uri: &str, status: u16, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Said\r\n{fields}\r\n");
    record("response", uri, "application/http; msgtype=response", &[head.as_bytes(), body].concat())
}

/// Page `number` of a site, with a text of its own.
fn page(number: usize) -> Vec<u8> {
    let body = format!("<title>Page {number}</title><p>Text {number} {}", "filler ".repeat(number));
    response(&format!("https://e.org/{number}"), 200, HTML, body.as_bytes())
}

fn items(bytes: &[u8]) -> Vec<SourceItem> {
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    let mut source = open_reader("crawl.warc", reader, &SourceOptions::default()).unwrap();
    all(&mut *source, 7)
}

/// All items of a source, in batches of so many at most.
fn all(source: &mut dyn PageSource, most: usize) -> Vec<SourceItem> {
    let mut items = Vec::new();
    loop {
        let batch = source.next_batch(most).unwrap();
        if batch.is_empty() {
            return items;
        }
        assert!(batch.len() <= most);
        items.extend(batch);
    }
}

/// Each item on a line: what matters of a record, or why it is none.
fn shown(items: &[SourceItem]) -> String {
    let mut out = String::new();
    for item in items {
        match item {
            SourceItem::Bad { reason, origin, detail } => {
                writeln!(out, "{reason} at {origin}: {detail}").unwrap();
            }
            SourceItem::Other { reason, origin, detail } => {
                writeln!(out, "{reason} at {origin}: {detail}").unwrap();
            }
            SourceItem::Page { record, cuts, .. } => {
                let status = record.status.map_or("-".to_owned(), |status| status.to_string());
                write!(out, "{} {status}", record.url).unwrap();
                if let Some(asked) = &record.requested_url {
                    write!(out, " for {asked}").unwrap();
                }
                if !record.title.is_empty() || !record.text.is_empty() {
                    write!(out, " [{}] {}", record.title, record.text).unwrap();
                }
                for link in &record.outlinks {
                    write!(out, " ->{}({})", link.url, link.anchor).unwrap();
                }
                for (cut, _) in cuts {
                    write!(out, " !{cut}").unwrap();
                }
                out.push('\n');
            }
        }
    }
    out
}

#[track_caller]
fn check(bytes: &[u8], expected: &str) {
    assert_eq!(shown(&items(bytes)), expected);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// A record of a WAT file, of a response.
fn wat(uri: &str, id: usize, status: u16, headers: &str, html: &str) -> Vec<u8> {
    let json = format!(
        r#"{{"Container":{{}},"Envelope":{{"Payload-Metadata":{{"HTTP-Response-Metadata":{{"Response-Message":{{"Status":"{status}"}},"Headers":{{{headers}}}{html}}}}},"WARC-Header-Metadata":{{"WARC-Type":"response","WARC-Date":"2026-11-01T00:00:00Z"}}}}}}"#
    );
    let kind = format!("application/json\r\nWARC-Refers-To: <urn:uuid:{id}>");
    record("metadata", uri, &kind, json.as_bytes())
}

fn described(title: &str, links: &str) -> String {
    format!(r#","HTML-Metadata":{{"Head":{{"Title":"{title}"}},"Links":[{links}]}}"#)
}

fn wet(uri: &str, id: usize, text: &str) -> Vec<u8> {
    let kind = format!("text/plain\r\nWARC-Refers-To: <urn:uuid:{id}>");
    record("conversion", uri, &kind, text.as_bytes())
}

#[test]
fn a_wat_file_tells_of_status_title_and_links() {
    let links = r#"{"path":"A@/href","url":"/b","text":"to b"},{"path":"IMG@/src","url":"/i.png","alt":"x"},
        {"path":"A@/href","url":"https://ads.org/","rel":"nofollow","text":"ad"},{"path":"A@/href","url":"mailto:x@e.org"}"#;
    let request = wat("https://e.org/", 9, 200, "", "").replace_kind("request");
    let robots = r#","HTML-Metadata":{"Head":{"Title":"T","Base":"https://b.org/x/","Metas":[{"name":"robots","content":"noindex"}]},"Links":[{"path":"AREA@/href","url":"y"}]}"#;
    let all = [
        request,
        wat("https://e.org/a", 1, 200, "", &described("A", links)),
        wat("https://e.org/gone", 2, 404, "", ""),
        wat("https://e.org/old", 3, 301, r#""location":"/new""#, ""),
        wat("https://e.org/hidden", 4, 200, "", robots),
    ];
    let expected = "https://e.org/a 200 [A]  ->https://e.org/b(to b) !nofollow\n\
                    https://e.org/gone 404\n\
                    https://e.org/hidden 200 ->https://b.org/x/y() !noindex\n\
                    https://e.org/old 301 ->https://e.org/new()\n";
    check(&all.concat(), expected);
    let found = items(&all[1]);
    let SourceItem::Page { record, .. } = &found[0] else { panic!("{found:?}") };
    assert_eq!(record.fetched_at.as_deref(), Some("2026-11-01T00:00:00Z"));
}

trait ReplaceKind {
    fn replace_kind(self, kind: &str) -> Vec<u8>;
}

impl ReplaceKind for Vec<u8> {
    /// The same of another type of record; it has as many letters.
    fn replace_kind(self, kind: &str) -> Vec<u8> {
        let text = String::from_utf8(self).unwrap();
        let other = format!(r#""WARC-Type":"{kind}" "#);
        text.replace(r#""WARC-Type":"response""#, &other).into_bytes()
    }
}

/// What files hold, in batches of eleven.
fn read(paths: &[PathBuf]) -> String {
    let mut source = open(paths, &SourceOptions::default()).unwrap();
    shown(&all(&mut *source, 11))
}

#[test]
fn pages_of_a_wat_file_have_their_texts_from_the_wet_file_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let uri = |number: usize| format!("https://e.org/{number}");
    let html = |number: usize| described(&format!("T{number}"), "");
    let wats = (0..300).map(|number| wat(&uri(number), number, 200, "", &html(number)));
    // Every third has a text; two are of no page, and one is not in its place.
    let mut texts: Vec<Vec<u8>> = (0..300)
        .step_by(3)
        .map(|number| wet(&uri(number), number, &format!("text {number}")))
        .collect();
    texts.insert(7, wet("https://e.org/other", 1_000, "other"));
    texts.push(wet("https://e.org/last", 1_001, "last"));
    texts.insert(50, wet(&uri(1), 1, "late"));
    let paths =
        ["x.warc.wet.gz", "y.warc.wat.gz", "x.warc.wat.gz"].map(|name| directory.path().join(name));
    std::fs::write(&paths[0], gzip(&texts.concat())).unwrap();
    std::fs::write(&paths[1], gzip(&wat("https://e.org/y", 5, 200, "", &html(5)))).unwrap();
    std::fs::write(&paths[2], gzip(&wats.collect::<Vec<_>>().concat())).unwrap();
    let found = read(&[paths[2].clone(), paths[1].clone(), paths[0].clone()]);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 303, "{found}");
    let of = |url: &str| {
        lines.iter().filter(|line| line.split(' ').next() == Some(url)).copied().collect::<Vec<_>>()
    };
    assert_eq!(of(&uri(0)), ["https://e.org/0 200 [T0] text 0"]);
    assert_eq!(of(&uri(297)), ["https://e.org/297 200 [T297] text 297"]);
    assert_eq!(of(&uri(298)), ["https://e.org/298 200 [T298] "]);
    assert_eq!(of(&uri(1)), ["https://e.org/1 200 [T1] late"]);
    assert_eq!(of(&uri(3)), ["https://e.org/3 200 [T3] text 3"]);
    assert_eq!(of("https://e.org/other"), ["https://e.org/other - [] other"]);
    assert_eq!(of("https://e.org/last"), ["https://e.org/last - [] last"]);
    assert_eq!(of("https://e.org/y"), ["https://e.org/y 200 [T5] "]);
    // Alone each is what it is, and so is a WET file that comes before its WAT file.
    assert_eq!(read(&paths[1..2]).lines().count(), 1);
    assert_eq!(read(&paths[..1]).lines().count(), texts.len());
}

#[test]
fn a_response_is_a_page_with_its_links_and_time() {
    let body = b"<title>A</title><p>Hello <a href='/b'>to b</a> <a href='https://o.org/#x'>o</a>";
    let found = items(&response("https://e.org/a", 200, HTML, body));
    assert_eq!(
        shown(&found),
        "https://e.org/a 200 [A] Hello to b o ->https://e.org/b(to b) ->https://o.org/(o)\n"
    );
    let SourceItem::Page { record, origin, .. } = &found[0] else { panic!() };
    assert_eq!(record.fetched_at.as_deref(), Some("2026-11-23T10:00:00Z"));
    assert_eq!(origin.to_string(), "crawl.warc, record 1");
}

#[test]
fn records_that_tell_of_no_page_are_passed_over() {
    let others = [
        record("warcinfo", "urn:x", "application/warc-fields", b"software: test\r\n"),
        record("request", "https://e.org/1", "application/http", b"GET / HTTP/1.1\r\n\r\n"),
        response("https://e.org/robots.txt", 200, "Content-Type: text/plain\r\n", b"User-agent: *"),
        record("response", "dns:e.org", "text/dns", b"20261123\ne.org. IN A 127.0.0.1\n"),
        record("metadata", "https://e.org/1", "application/warc-fields", b"via: https://e.org/"),
        record("resource", "metadata://gnu.org/wget", "text/plain", b"log"),
        page(1),
    ];
    check(&others.concat(), "https://e.org/1 200 [Page 1] Text 1 filler\n");
}

/// A file of records that are compressed by a dictionary, which is `stored` at its start.
fn with_dictionary(records: &[Vec<u8>], dictionary: &[u8], stored: &[u8]) -> Vec<u8> {
    let mut file = [0x5d, 0x2a, 0x4d, 0x18].to_vec();
    file.extend((stored.len() as u32).to_le_bytes());
    file.extend(stored);
    for record in records {
        let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, dictionary).unwrap();
        encoder.write_all(record).unwrap();
        file.extend(encoder.finish().unwrap());
    }
    file
}

#[test]
fn every_compression_gives_the_same() {
    let records: Vec<Vec<u8>> = (1..40).map(page).collect();
    let plain = records.concat();
    let expected = shown(&items(&plain));
    assert_eq!(expected.lines().count(), 39);
    let each = |pack: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        records.iter().flat_map(|record| pack(record)).collect()
    };
    let blocks =
        |pack: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> { plain.chunks(100).flat_map(pack).collect() };
    let samples: Vec<Vec<u8>> = (100..300).map(page).collect();
    let dictionary = zstd::dict::from_samples(&samples, 4_096).unwrap();
    let with_dictionary = |stored: &[u8]| with_dictionary(&records, &dictionary, stored);
    // What a frame without data holds is nothing to read.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9][..], &zstd(&plain)].concat();
    for (name, packed) in [
        ("gzip by record", each(&gzip)),
        ("gzip as a whole", gzip(&plain)),
        ("gzip by blocks", blocks(&gzip)),
        ("zstd by record", each(&zstd)),
        ("zstd as a whole", zstd(&plain)),
        ("zstd by blocks", blocks(&zstd)),
        ("zstd behind a skippable frame", skipped),
        ("zstd with a dictionary", with_dictionary(&dictionary)),
        ("zstd with a compressed dictionary", with_dictionary(&zstd(&dictionary))),
    ] {
        assert_eq!(shown(&items(&packed)), expected, "{name}");
    }
}

#[test]
fn version_line_ends_and_folded_fields_may_differ() {
    let newer = String::from_utf8(page(1)).unwrap().replace("WARC/1.0", "WARC/1.1");
    check(newer.as_bytes(), "https://e.org/1 200 [Page 1] Text 1 filler\n");
    let bare = newer.replace("\r\n", "\n");
    let length = |text: &str| text.split_once("\n\n").unwrap().1.trim_end().len() + 1;
    let stated = bare.find("Content-Length: ").unwrap();
    let end = stated + bare[stated..].find('\n').unwrap();
    let bare = format!("{}Content-Length: {}{}", &bare[..stated], length(&bare), &bare[end..]);
    check(bare.as_bytes(), "https://e.org/1 200 [Page 1] Text 1 filler\n");
    let folded = newer.replace("WARC-Type: response", "WARC-type:\r\n  response");
    check(folded.as_bytes(), "https://e.org/1 200 [Page 1] Text 1 filler\n");
    let bracketed = newer.replace("URI: https://e.org/1", "URI: <https://e.org/1>");
    check(bracketed.as_bytes(), "https://e.org/1 200 [Page 1] Text 1 filler\n");
}

#[test]
fn redirects_wait_for_their_targets() {
    let moved = |from: &str, to: &str| {
        response(from, 301, &format!("Location: {to}\r\n"), b"<a href=x>moved</a>")
    };
    // Found, relative; a chain; one that nothing comes of; two to one target.
    let crawl = [
        moved("https://e.org/a", "/1"),
        moved("https://e.org/b", "https://e.org/c"),
        moved("https://e.org/c", "https://e.org/2"),
        moved("https://e.org/d", "https://o.org/"),
        moved("https://e.org/f", "/3#part"),
        moved("https://e.org/g", "/3"),
        page(1),
        page(2),
        page(3),
    ];
    check(
        &crawl.concat(),
        "https://e.org/1 200 for https://e.org/a [Page 1] Text 1 filler\n\
         https://e.org/2 200 for https://e.org/b [Page 2] Text 2 filler filler\n\
         https://e.org/3 200 for https://e.org/f [Page 3] Text 3 filler filler filler\n\
         https://e.org/c 301 ->https://e.org/2()\n\
         https://e.org/d 301 ->https://o.org/()\n\
         https://e.org/g 301 ->https://e.org/3()\n",
    );
    let circle = [moved("https://e.org/a", "/b"), moved("https://e.org/b", "/a"), page(1)];
    check(
        &circle.concat(),
        "https://e.org/1 200 [Page 1] Text 1 filler\n\
         https://e.org/a 301 ->https://e.org/b()\nhttps://e.org/b 301 ->https://e.org/a()\n",
    );
}

#[test]
fn files_are_one_crawl() {
    let dir = tempfile::tempdir().unwrap();
    let first = response("https://e.org/a", 302, "Location: https://e.org/1\r\n", b"");
    let paths = [dir.path().join("0.warc.gz"), dir.path().join("1.warc")];
    std::fs::write(&paths[0], gzip(&first)).unwrap();
    std::fs::write(&paths[1], page(1)).unwrap();
    let mut source = open(&paths, &SourceOptions::default()).unwrap();
    let found = source.next_batch(10).unwrap();
    assert_eq!(shown(&found), "https://e.org/1 200 for https://e.org/a [Page 1] Text 1 filler\n");
    assert!(source.next_batch(10).unwrap().is_empty());
    let bytes: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!(source.progress(), (bytes, Some(bytes)));
}

#[test]
fn failures_keep_their_status_and_no_text() {
    let crawl = [
        response("https://e.org/a", 404, HTML, b"<p>not here <a href=/x>x</a>"),
        response("https://e.org/b", 503, "", b""),
        record("response", "https://e.org/c", "application/http", b"no head"),
        record("response", "https://", "application/http", b"HTTP/1.1 200 OK\r\n\r\n"),
    ];
    check(
        &crawl.concat(),
        "https://e.org/a 404\nhttps://e.org/b 503\n\
         invalid-record at crawl.warc, record 3: a response without an HTTP head\n\
         invalid-url at crawl.warc, record 4: \"https://\": empty host\n",
    );
}

/// That a page is what it was, with `more` fields.
fn revisit(more: &str) -> Vec<u8> {
    let text = String::from_utf8(record(
        "revisit",
        "https://e.org/a",
        "application/http; msgtype=response",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ));
    text.unwrap().replacen("Content-Type", &format!("{more}Content-Type"), 1).into_bytes()
}

#[test]
fn what_was_seen_before_is_unchanged() {
    check(&revisit(""), "https://e.org/a 304\n");
    check(&revisit("WARC-Refers-To-Target-URI: https://e.org/a#x\r\n"), "https://e.org/a 304\n");
    let moved = record(
        "revisit",
        "https://e.org/a",
        "application/http",
        b"HTTP/1.1 302 Found\r\nLocation: /c\r\n\r\n",
    );
    check(&moved, "https://e.org/a 302 ->https://e.org/c()\n");
    let other = revisit("WARC-Refers-To-Target-URI: <https://e.org/b>\r\n");
    check(&other, "https://e.org/a 301 ->https://e.org/b()\n");
}

#[test]
fn encodings_are_undone_and_lies_are_seen_through() {
    let body = "<title>T</title><p>naïve text".as_bytes();
    let expected = "https://e.org/ 200 [T] naïve text\n";
    let brotli: &[u8] = &[
        0x8b, 0x0e, 0x80, 0x3c, 0x74, 0x69, 0x74, 0x6c, 0x65, 0x3e, 0x54, 0x3c, 0x2f, 0x74, 0x69,
        0x74, 0x6c, 0x65, 0x3e, 0x3c, 0x70, 0x3e, 0x6e, 0x61, 0xc3, 0xaf, 0x76, 0x65, 0x20, 0x74,
        0x65, 0x78, 0x74, 0x03,
    ];
    let mut chunked = Vec::new();
    for chunk in body.chunks(7) {
        chunked.extend(format!("{:x};ext=1\r\n", chunk.len()).bytes());
        chunked.extend(chunk);
        chunked.extend(b"\r\n");
    }
    let whole = [&chunked[..], b"0\r\n\r\n"].concat();
    for (fields, sent) in [
        ("Content-Encoding: gzip\r\n", gzip(body)),
        ("Content-Encoding: x-gzip\r\n", gzip(body)),
        ("Content-Encoding: deflate\r\n", zlib(body)),
        ("Content-Encoding: deflate\r\n", deflate(body)),
        ("Content-Encoding: br\r\n", brotli.to_vec()),
        ("Content-Encoding: zstd\r\n", zstd(body)),
        ("Content-Encoding: zstd, gzip\r\n", gzip(&zstd(body))),
        ("Content-Encoding: identity\r\n", body.to_vec()),
        ("Transfer-Encoding: chunked\r\n", whole),
        ("Transfer-Encoding: chunked\r\n", chunked),
        // Not what they say: crawlers decode and keep the fields.
        ("Transfer-Encoding: chunked\r\n", body.to_vec()),
        ("Content-Encoding: gzip\r\n", body.to_vec()),
        ("Content-Encoding: deflate\r\n", body.to_vec()),
        ("Content-Encoding: br\r\n", body.to_vec()),
        ("Content-Encoding: zstd\r\n", body.to_vec()),
        ("X-Crawler-Content-Encoding: gzip\r\n", body.to_vec()),
    ] {
        let fields = format!("{HTML}{fields}");
        let found = items(&response("https://e.org/", 200, &fields, &sent));
        assert_eq!(shown(&found), expected, "{fields}");
    }
}

#[test]
fn what_could_be_decoded_of_a_cut_body_is_kept() {
    let body = format!("<title>T</title><p>{}", "text of many words ".repeat(500));
    let packed = gzip(body.as_bytes());
    let fields = format!("{HTML}Content-Encoding: gzip\r\n");
    let found = items(&response("https://e.org/", 200, &fields, &packed[..packed.len() - 12]));
    assert!(shown(&found).starts_with("https://e.org/ 200 [T] text of many words text"));
}

/// What is read of a body that comes with this type; with none if it is empty.
fn of_type(content_type: &str, body: &[u8]) -> String {
    let fields = match content_type {
        "" => String::new(),
        kind => format!("Content-Type: {kind}\r\n"),
    };
    shown(&items(&response("https://e.org/", 200, &fields, body)))
}

#[test]
fn types_and_charsets_are_told_by_fields_then_by_bytes() {
    let found = |rest: &str| format!("https://e.org/ 200{rest}\n");
    assert_eq!(of_type("text/html; charset=latin1", b"<p>\xe9t\xe9"), found(" [] été"));
    assert_eq!(
        of_type("text/html", b"<meta charset=koi8-r><p>\xd4\xc5\xd3\xd4"),
        found(" [] тест")
    );
    assert_eq!(of_type("text/plain; charset=latin1", b"caf\xe9 <b>"), found(" [] café <b>"));
    assert_eq!(of_type("text/plain", b"<!DOCTYPE HTML><p>text"), found(" [] text"));
    assert_eq!(of_type("", b"<html><p>text"), found(" [] text"));
    assert_eq!(of_type("", b"plain text"), found(" [] plain text"));
    assert_eq!(of_type("application/xhtml+xml", b"<html><p>text</p></html>"), found(" [] text"));
    // No text, but fetched.
    assert_eq!(of_type("application/pdf", b"%PDF-1.7 words"), found(""));
    assert_eq!(of_type("text/html", b"%PDF-1.7 words"), found(""));
    assert_eq!(of_type("", b"\x00\x01words"), found(""));
    assert_eq!(of_type("image/png", b"\x89PNG"), found(""));
    assert_eq!(of_type("text/css", b"p { }"), found(""));
    assert_eq!(of_type("text/html", b""), found(""));
}

#[test]
fn documents_without_an_http_head_are_pages() {
    let resource = record("resource", "https://e.org/r", "text/html", b"<title>R</title>text");
    check(&resource, "https://e.org/r - [R] text\n");
    let conversion = record("conversion", "https://e.org/c", "text/plain", "Grüße".as_bytes());
    check(&conversion, "https://e.org/c - [] Grüße\n");
}

/// What is read of a page with a link that comes with this field.
fn with_robots_tag(value: &str) -> String {
    let fields = format!("{HTML}X-Robots-Tag: {value}\r\n");
    let body = b"<title>T</title><a href=/b>b</a>";
    shown(&items(&response("https://e.org/", 200, &fields, body)))
}

#[test]
fn what_robots_are_asked_by_a_field_is_done() {
    assert_eq!(with_robots_tag("noindex"), "https://e.org/ 200 ->https://e.org/b(b) !noindex\n");
    assert_eq!(with_robots_tag("none"), "https://e.org/ 200 !noindex !nofollow\n");
    let all = "https://e.org/ 200 [T] b ->https://e.org/b(b)\n";
    assert_eq!(with_robots_tag("otherbot: noindex"), all);
    let noindex = "https://e.org/ 200 ->https://e.org/b(b) !noindex\n";
    assert_eq!(with_robots_tag("noindex, max-snippet:-1"), noindex);
    assert_eq!(with_robots_tag("max-snippet: 20, noindex"), noindex);
    assert_eq!(with_robots_tag("max-snippet"), all);
}

/// Three records, of which the second says that it has this length.
fn with_wrong_length(length: &str) -> Vec<u8> {
    let text = String::from_utf8(page(2)).unwrap();
    let at = text.find("Content-Length: ").unwrap() + 16;
    let end = at + text[at..].find('\r').unwrap();
    [page(1), format!("{}{length}{}", &text[..at], &text[end..]).into_bytes(), page(3)].concat()
}

#[test]
fn a_wrong_length_costs_no_other_record() {
    let (one, three) = (shown(&items(&page(1))), shown(&items(&page(3))));
    let two = "https://e.org/2 200 [Page 2] Text 2 filler filler !record-length\n";
    let whole = format!("{one}{two}{three}");
    check(&with_wrong_length("9999"), &whole);
    check(&with_wrong_length("99999999999999"), &whole);
    check(&with_wrong_length("120"), &whole);
    // Shorter than it is: what it says it has.
    let short = shown(&items(&with_wrong_length("70")));
    assert!(short.starts_with(&one) && short.ends_with(&three), "{short}");
    assert_eq!(short.lines().count(), 3, "{short}");
    check(
        &with_wrong_length("many"),
        &format!(
            "{one}damaged-record at crawl.warc, record 2: its head has no Content-Length\n{three}"
        ),
    );
    // The end of a member tells as well.
    let members: Vec<u8> = [page(1), page(2), page(3)]
        .iter()
        .map(|record| String::from_utf8(record.clone()).unwrap())
        .map(|text| text.replace("Content-Length: ", "Content-Length: 9"))
        .flat_map(|text| gzip(text.as_bytes()))
        .collect();
    let shown = shown(&items(&members));
    assert_eq!(shown.matches("!record-length").count(), 3, "{shown}");
}

#[test]
fn a_head_that_runs_into_its_block_costs_no_other_record() {
    let whole = String::from_utf8(page(2)).unwrap();
    let cut =
        whole.replace("\r\n\r\nHTTP/1.1 200 Said\r\nContent-Type: text/html\r\n\r\n", "\r\n\r");
    assert_ne!(cut, whole);
    let crawl = [page(1), cut.into_bytes(), page(3), page(4)].concat();
    assert_eq!(urls_of(&crawl), [1, 3, 4].map(|number| format!("https://e.org/{number}")));
}

#[test]
fn a_file_within_a_record_is_not_taken_apart() {
    let inner = [b"text\r\n\r\n".to_vec(), page(7)].concat();
    let fields = "Content-Type: text/plain\r\n";
    let crawl = [page(1), response("https://e.org/w", 200, fields, &inner), page(2)].concat();
    for bytes in [crawl.clone(), gzip(&crawl)] {
        let urls: Vec<String> = items(&bytes)
            .iter()
            .map(|item| match item {
                SourceItem::Page { record, .. } => record.url.clone(),
                SourceItem::Bad { reason, .. } => reason.to_string(),
                SourceItem::Other { reason, .. } => (*reason).to_owned(),
            })
            .collect();
        assert_eq!(urls, ["https://e.org/1", "https://e.org/w", "https://e.org/2"]);
    }
}

#[test]
fn a_cut_file_gives_what_lies_before_the_cut() {
    let plain = [page(1), page(2)].concat();
    let one = shown(&items(&page(1)));
    check(
        &plain[..plain.len() - 20],
        &format!(
            "{one}damaged-record at crawl.warc, record 2: its block ends after 75 of 91 bytes\n"
        ),
    );
    let cut = [gzip(&page(1)), gzip(&page(2))].concat();
    check(
        &cut[..cut.len() - 9],
        &format!("{one}damaged-record at crawl.warc, record 2: the gzip data ends too early\n"),
    );
}

/// A request, and what its crawler says of it.
fn request(method: &str, uri: &str, head: &str) -> Vec<u8> {
    let kind = format!("application/http; msgtype=request{head}");
    record(
        "request",
        uri,
        &kind,
        format!("{method} / HTTP/1.1\r\nHost: e.org\r\n\r\na=1").as_bytes(),
    )
}

/// A page with an id.
fn named(number: usize, head: &str) -> Vec<u8> {
    let head = format!(
        "Content-Type: application/http; msgtype=response\r\nWARC-Record-ID: <r{number}>{head}"
    );
    let page = String::from_utf8(page(number)).unwrap();
    page.replacen("Content-Type: application/http; msgtype=response", &head, 1).into_bytes()
}

#[test]
fn what_answers_another_method_than_get_is_no_page_of_its_url() {
    let uri = |number| format!("https://e.org/{number}");
    let of = |id: &str| format!("\r\nWARC-Concurrent-To: <{id}>");
    let asked = |method, number| request(method, &uri(number), "");
    let skipped = |number, at, method| {
        format!("not-get at crawl.warc, record {at}: {method} {}", uri(number))
    };
    let cases: [(Vec<Vec<u8>>, Vec<String>); 6] = [
        // Requests before their responses.
        (
            vec![asked("GET", 1), page(1), asked("POST", 1), page(1)],
            vec![uri(1), skipped(1, 4, "POST")],
        ),
        // And behind them, here with what is said of them.
        (
            vec![
                page(1),
                asked("HEAD", 1),
                record("metadata", &uri(1), "text/plain", b"a"),
                page(2),
                asked("GET", 2),
            ],
            vec![skipped(1, 1, "HEAD"), uri(2)],
        ),
        // Some other request, or none.
        (vec![asked("POST", 9), page(1), page(2), asked("POST", 1)], vec![uri(1), uri(2)]),
        // Ids count before places and targets.
        (
            vec![
                named(1, ""),
                request("POST", "https://e.org/other", &of("r1")),
                named(1, ""),
                request("POST", &uri(1), &of("r7")),
            ],
            vec![skipped(1, 1, "POST"), uri(1)],
        ),
        (
            vec![request("PUT", &uri(2), "\r\nWARC-Record-ID: <q>"), named(2, &of("q"))],
            vec![skipped(2, 2, "PUT")],
        ),
        // A batch ends between them.
        (
            (1..=8)
                .flat_map(|number| {
                    [page(number), asked(if number == 7 { "POST" } else { "GET" }, number)]
                })
                .collect(),
            (1..=8)
                .map(|number| if number == 7 { skipped(7, 13, "POST") } else { uri(number) })
                .collect(),
        ),
    ];
    for (records, expected) in cases {
        let found = items(&records.concat());
        let told: Vec<String> = found
            .into_iter()
            .map(|item| match item {
                SourceItem::Page { record, .. } => record.url,
                SourceItem::Other { reason, origin, detail } => {
                    format!("{reason} at {origin}: {detail}")
                }
                SourceItem::Bad { detail, .. } => panic!("{detail}"),
            })
            .collect();
        assert_eq!(told, expected);
    }
}

fn urls_of(bytes: &[u8]) -> Vec<String> {
    let urls = items(bytes).into_iter().filter_map(|item| match item {
        SourceItem::Page { record, .. } => Some(record.url),
        SourceItem::Bad { .. } | SourceItem::Other { .. } => None,
    });
    urls.collect()
}

/// What is left of a first record may look like a page or like JSON.
#[test]
fn the_first_record_may_be_damaged_at_its_first_bytes() {
    for start in ["<", "{", "[", "\0"] {
        let damaged = [start.as_bytes(), &page(1)[1..]].concat();
        for pack in [gzip, zstd] {
            let urls = urls_of(&[pack(&damaged), pack(&page(2))].concat());
            assert_eq!(urls, ["https://e.org/2"], "{start}");
        }
        assert_eq!(urls_of(&[damaged, page(2)].concat()), ["https://e.org/2"], "{start}");
    }
    // What is certainly something else is that, whatever its name.
    let line = b"{ \"url\": \"https://e.org/3\"}\n";
    assert_eq!([urls_of(line), urls_of(&gzip(line))].concat(), ["https://e.org/3"; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is overwritten in one member, all other records come back.
    #[test]
    fn damage_costs_its_record(
        hit in 0_usize..12,
        at in 0.0..1.0_f64,
        noise in prop::collection::vec(any::<u8>(), 1..40),
        pack in 0_usize..2,
    ) {
        // The first bytes of all tell how the file is compressed.
        prop_assume!(hit > 0 || at >= 0.1);
        let pack = [gzip, zstd][pack];
        let mut members: Vec<Vec<u8>> = (1..13).map(|number| pack(&page(number * 20))).collect();
        let member = &mut members[hit];
        let at = (at * member.len() as f64) as usize;
        for (byte, noise) in member[at..].iter_mut().zip(noise) {
            *byte ^= noise;
        }
        let urls = urls_of(&members.concat());
        for number in (1..13).filter(|number| number - 1 != hit) {
            let url = format!("https://e.org/{}", number * 20);
            prop_assert!(urls.contains(&url), "{url} is lost");
        }
        prop_assert!(urls.len() <= 12);
    }

    /// Whatever is cut out of a plain file, records that it does not touch come back.
    #[test]
    fn a_gap_costs_the_records_it_touches(from in 0.0..1.0_f64, length in 1_usize..600) {
        let records: Vec<Vec<u8>> = (1..13).map(|number| page(number * 20)).collect();
        let ends: Vec<usize> = records
            .iter()
            .scan(0, |end, record| {
                *end += record.len();
                Some(*end)
            })
            .collect();
        let mut bytes = records.concat();
        let start = (from * bytes.len() as f64) as usize;
        prop_assume!(start >= 8);
        let end = (start + length).min(bytes.len());
        bytes.drain(start..end);
        let urls = urls_of(&bytes);
        for (number, &record_end) in (1..13).zip(&ends) {
            let record_start = record_end - records[number - 1].len();
            // The line end in front of a head is what it is known by where a gap reaches it.
            let follows_line = record_start != end || bytes[start - 1] == b'\n';
            if record_end <= start || (record_start >= end && follows_line) {
                let url = format!("https://e.org/{}", number * 20);
                prop_assert!(urls.contains(&url), "{url} is lost");
            }
        }
    }

    /// Nothing makes the reader fail or go on for ever.
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), pack in 0_usize..3) {
        let whole = [b"WARC/1.0\r\n".to_vec(), bytes, page(1)].concat();
        let packed = [whole.clone(), gzip(&whole), zstd(&whole)][pack].clone();
        prop_assert!(items(&packed).len() < 400);
    }
}
