//! Sources, end to end: files in, page records and messages out.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::ingest::{
    FORMATS, IngestError, Origin, PageSource, Place, SourceItem, SourceOptions, open, open_reader,
};

const GOOD: &str =
    r#"{"url":"https://e.org/a","title":"A","text":"x","outlinks":[{"url":"/b","anchor":"B"}]}"#;

fn line_of(origin: &Origin) -> u64 {
    match origin.place {
        Place::Line(line) => line,
        Place::Whole | Place::Record(_) => 0,
    }
}

fn options() -> SourceOptions {
    SourceOptions { base_url: Some("https://e.org/docs".to_owned()), ..SourceOptions::default() }
}

fn drain(source: &mut dyn PageSource, max: usize) -> Result<Vec<SourceItem>, IngestError> {
    let mut items = Vec::new();
    loop {
        let batch = source.next_batch(max)?;
        if batch.is_empty() {
            return Ok(items);
        }
        assert!(batch.len() <= max);
        items.extend(batch);
    }
}

fn read(paths: &[PathBuf], options: &SourceOptions) -> Result<Vec<SourceItem>, IngestError> {
    drain(open(paths, options)?.as_mut(), 7)
}

fn write(directory: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

/// An item as `line url` or `line reason`, cuts behind it.
fn show(item: &SourceItem) -> String {
    match item {
        SourceItem::Page { record, origin, cuts } => {
            let mut shown = format!("{} {}", line_of(origin), record.url);
            for (name, count) in cuts {
                let _ = write!(shown, " {name}*{count}");
            }
            shown
        }
        SourceItem::Bad { reason, origin, .. } => format!("{} {reason}", line_of(origin)),
        SourceItem::Other { reason, origin, .. } => format!("{} {reason}", line_of(origin)),
    }
}

fn lines_with(content: &[u8], options: &SourceOptions, expected: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "p.jsonl", content);
    let items = read(&[path], options).unwrap();
    let shown: Vec<String> = items.iter().map(show).collect();
    assert_eq!(shown, expected, "{:?}", String::from_utf8_lossy(content));
}

fn lines(content: &[u8], expected: &[&str]) {
    lines_with(content, &options(), expected);
}

#[test]
fn a_record_may_lack_everything_but_its_url() {
    lines(b"{\"url\":\"https://e.org/\"}", &["1 https://e.org/"]);
    lines(br#"{"url":" http://E.org ","title":null,"text":null,"outlinks":null,"status":null,"plan_id":null,"x":[{}]}"#, &["1 http://E.org"]);
    lines(GOOD.as_bytes(), &["1 https://e.org/a"]);
    lines(
        br#"{"url":"https://e.org/","status":301.0,"requested_url":"/old"}"#,
        &["1 https://e.org/"],
    );
    lines(
        br#"{"url":"https://e.org/","requested_url":"http://["}"#,
        &["1 https://e.org/ requested-url*1"],
    );
}

#[test]
fn blank_lines_marks_and_line_ends_do_not_matter() {
    let line = "{\"url\":\"https://e.org/\"}";
    lines(
        format!("\u{feff}{line}\r\n\r\n  \n{line}").as_bytes(),
        &["1 https://e.org/", "4 https://e.org/"],
    );
    lines(format!("\u{feff}\n{line}\n\n\n").as_bytes(), &["2 https://e.org/"]);
}

#[test]
fn bad_records_are_skipped_with_their_reason() {
    lines(b"{\"url\":1}", &["1 invalid-record"]);
    lines(b"{\"url\":\"https://e.org/\",\"status\":1e9}", &["1 invalid-record"]);
    lines(b"{\"url\":\"https://e.org/\",\"outlinks\":{}}", &["1 invalid-record"]);
    lines(b"{\"url\":\"https://e.org/\"", &["1 invalid-json"]);
    lines(b"{} {}", &["1 invalid-json"]);
    lines(b"{\n}", &["1 invalid-json", "2 invalid-json"]);
    lines(b"{}", &["1 missing-url"]);
    lines(b"{\"url\":\" \"}", &["1 missing-url"]);
    lines(b"{\"url\":\"/relative\"}", &["1 invalid-url"]);
    lines(b"{\"url\":\"ftp://e.org/\"}", &["1 invalid-url"]);
    lines(
        b"{}\n[1]\n7\n\"x\"\nnull",
        &["1 missing-url", "2 not-a-page", "3 not-a-page", "4 not-a-page", "5 not-a-page"],
    );
    lines(
        b"{\"url\":\"https://e.org/\xff\"}\n{\"url\":\"https://e.org/\"}",
        &["1 invalid-utf8", "2 https://e.org/"],
    );
    lines(
        format!("{{\"url\":\"https://e.org/{}\"}}", "x".repeat(9_000)).as_bytes(),
        &["1 url-too-long"],
    );
}

#[test]
fn an_array_is_read_element_by_element() {
    let page = "{\"url\":\"https://e.org/\"}";
    let first = "1 https://e.org/";
    lines(format!("[\n{page},\n{page}\n]\n").as_bytes(), &["2 https://e.org/", "3 https://e.org/"]);
    lines(
        format!("\u{feff} [{page}, {{\"url\":\n1}},7]").as_bytes(),
        &[first, "1 invalid-record", "2 not-a-page"],
    );
    let pretty = "[{\n  \"url\": \"https://e.org/\",\n  \"text\": \"a, [b]\"\n}]";
    lines(pretty.as_bytes(), &[first]);
    lines(&gzip(pretty.as_bytes()), &[first]);
    lines(format!("[{page},\n{{\"url\":\"https").as_bytes(), &[first, "2 invalid-json"]);
    lines(format!("[{page}]\n{page}").as_bytes(), &[first, "2 invalid-json"]);
    lines_with(
        format!("[{page},{{\"text\":\"{}\"}}]", "x".repeat(60)).as_bytes(),
        &SourceOptions { line_bytes: 30, ..options() },
        &[first, "1 line-too-long"],
    );
}

#[test]
fn links_are_resolved_and_what_cannot_be_is_counted() {
    let links = |outlinks: &str, expected: &[&str], shown: &str| {
        let line = format!("{{\"url\":\"https://e.org/d/\",\"outlinks\":{outlinks}}}");
        let directory = tempfile::tempdir().unwrap();
        let items =
            read(&[write(directory.path(), "p.jsonl", line.as_bytes())], &options()).unwrap();
        let SourceItem::Page { record, .. } = &items[0] else { panic!("{items:?}") };
        let found: Vec<&str> = record.outlinks.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(found, expected, "{line}");
        assert_eq!(show(&items[0]), shown, "{line}");
    };
    let page = "1 https://e.org/d/";
    links(
        r#"[{"url":"x"},{"url":"/y#f","anchor":null}]"#,
        &["https://e.org/d/x", "https://e.org/y"],
        page,
    );
    links(r#"[{"url":"HTTP://E.org/%7ex"}]"#, &["HTTP://E.org/%7ex"], page);
    links(r#"[{"url":"x","anchor":"a"},{"url":"x","anchor":"a"}]"#, &["https://e.org/d/x"], page);
    links(
        r#"[{"url":"http://["},{"url":null},{"anchor":"a"},{"url":"mailto:x"}]"#,
        &[],
        "1 https://e.org/d/ link*4",
    );
}

#[test]
fn an_over_long_line_is_skipped() {
    let small = SourceOptions { line_bytes: 40, ..options() };
    let long = "x".repeat(1_000);
    let good = "{\"url\":\"https://e.org/\"}";
    lines_with(
        format!("{long}\n{good}\n{long}").as_bytes(),
        &small,
        &["1 line-too-long", "2 https://e.org/", "3 line-too-long"],
    );
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd_wide(content: &[u8]) -> Vec<u8> {
    zstd_of(content, 27)
}

fn zstd_of(content: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Lines that do not compress well, so that a cut file still holds whole ones.
fn many_lines(count: u64) -> String {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{state:x}")
    };
    let mut lines = String::new();
    for n in 0..count {
        let text: String = (0..20).map(|_| noise()).collect();
        let _ = writeln!(lines, "{{\"url\":\"https://e.org/{n}\",\"text\":\"{text}\"}}");
    }
    lines
}

#[test]
fn compressed_lines_are_read_whatever_the_file_is_called() {
    let plain = many_lines(500);
    let expected: Vec<String> = (0..500).map(|n| format!("{} https://e.org/{n}", n + 1)).collect();
    let two_members = [gzip(&plain.as_bytes()[..7_000]), gzip(&plain.as_bytes()[7_000..])].concat();
    for (name, content) in [
        ("a.jsonl", plain.clone().into_bytes()),
        ("a.jsonl.gz", gzip(plain.as_bytes())),
        ("a.jsonl.gz", two_members),
        ("a.jsonl.zst", zstd_wide(plain.as_bytes())),
        ("a.data", zstd_wide(plain.as_bytes())),
        ("a.gz", zstd_wide(plain.as_bytes())),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = write(directory.path(), name, &content);
        let mut source = open(&[path], &options()).unwrap();
        let items = drain(source.as_mut(), 100).unwrap();
        assert_eq!(items.iter().map(show).collect::<Vec<_>>(), expected, "{name}");
        assert_eq!(source.progress(), (content.len() as u64, Some(content.len() as u64)), "{name}");
        let mut stream =
            open_reader("-", Box::new(std::io::Cursor::new(content)), &options()).unwrap();
        assert_eq!(drain(stream.as_mut(), 100).unwrap().len(), 500, "{name} as a stream");
    }
}

fn fails(name: &str, content: &[u8], expected: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), name, content);
    let error = read(std::slice::from_ref(&path), &SourceOptions::default()).unwrap_err();
    let message = error.to_string().replace(path.to_str().unwrap(), name);
    assert!(message.contains(expected), "{message}\nshould say\n{expected}");
    assert!(message.contains(name), "{message}\nshould name the file");
}

#[test]
fn cut_and_damaged_files_are_refused() {
    let plain = many_lines(5_000);
    let (gz, zst) = (gzip(plain.as_bytes()), zstd_wide(plain.as_bytes()));
    fails("a.jsonl.gz", &gz[..gz.len() / 2], "the gzip data ends too early, after");
    fails("a.jsonl.gz", &gz[..gz.len() - 4], "5000 whole lines; nothing of it was stored");
    fails("a.jsonl.gz", &gz[..12], "ends too early");
    fails("a.jsonl.zst", &zst[..zst.len() / 2], "the zstd data ends too early, after");
    fails("a.jsonl.zst", &zst[..10], "ends too early");
    let flip = |mut bytes: Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        bytes
    };
    fails("a.jsonl.gz", &flip(gz), "the gzip data is damaged");
    fails("a.jsonl.zst", &flip(zst), "the zstd data is damaged");
    let wider = zstd_of(plain.as_bytes(), 28);
    fails("a.jsonl.zst", &wider, "the zstd data needs a window of more than 128 MiB (unpack it");
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "queries.tsv.zst", &wider);
    let error = crate::workload::load(&path).unwrap_err();
    let said = std::error::Error::source(&error).unwrap().to_string();
    assert!(said.starts_with("needs a window of more than 128 MiB"), "{said}");
}

#[test]
fn wrong_files_are_named_for_what_they_are() {
    fails(
        "a.jsonl",
        b"\x89PNG\r\n\x1a\n",
        "expected JSON, WARC (both plain, .gz or .zst), Parquet or HTML, found a PNG image",
    );
    fails("a.html", b"%PDF-1.7", "found a PDF document");
    fails("a.parquet", b"PAR1....", "the Parquet data is damaged");
    fails("a.arc.gz", &gzip(b"filedesc://x 0.0.0.0"), "found an ARC file");
    fails("a.json", b" [ ] ", "is empty");
    fails("a.txt", b"https://e.org/\n", "found a file of URLs (list)");
    fails("a.md", b"Words\n", "found plain text");
    fails("a.csv.gz", &gzip(b"url,title\n"), "found plain text in gzip data");
    fails("a.html.gz", &gzip(b"<html>"), "found gzip-compressed html");
    fails("a.bin", b"\0\0\0", "found unknown binary data");
    fails("a.jsonl", b"", "is empty");
    fails("a.jsonl", b"\n \n", "is empty");
    fails("a.jsonl.gz", &gzip(b""), "is empty");
    fails("a.html", b"<html>", "no base URL was given");
    fails(
        "a.jsonl",
        "url,title\n".repeat(1_000).as_bytes(),
        "none of the first 1000 lines is a page record (first: a.jsonl:1: invalid-json: expected value at column 1: ",
    );
}

#[test]
fn inputs_that_are_not_there_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none.jsonl");
    assert!(matches!(read(&[missing], &options()), Err(IngestError::NotFound { .. })));
    assert!(matches!(
        read(&[directory.path().into()], &SourceOptions::default()),
        Err(IngestError::NoHtmlFiles { .. })
    ));
    assert!(matches!(read(&[], &options()), Err(IngestError::NoInput)));
    let page = write(directory.path(), "a.html", b"<p>x");
    let with_base = |base: &str| SourceOptions { base_url: Some(base.to_owned()), ..options() };
    for base in ["e.org", "ftp://e.org/", "/docs"] {
        let result = read(std::slice::from_ref(&page), &with_base(base));
        assert!(matches!(result, Err(IngestError::InvalidBaseUrl { .. })), "{base}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let root = SourceOptions { html_root: Some(elsewhere.path().to_owned()), ..options() };
    assert!(matches!(read(&[page], &root), Err(IngestError::OutsideRoot { .. })));
}

#[test]
fn a_directory_is_read_in_path_order_with_urls_from_its_paths() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["b/z.html", "a.html", "b/a b#?%é.htm", "b-c/UP.HTML", "b/x:y.html", "skip.css"] {
        write(root, name, b"<title>t</title><a href='../up'>u</a>");
    }
    write(root, "c/empty.html", b" \n");
    write(root, "c/image.html", b"GIF89a");
    let mut source = open(&[root.to_owned()], &options()).unwrap();
    let items = drain(source.as_mut(), 2).unwrap();
    let shown: Vec<String> = items.iter().map(show).collect();
    assert_eq!(
        shown,
        [
            "0 https://e.org/docs/a.html",
            "0 https://e.org/docs/b/a%20b%23%3F%25%C3%A9.htm",
            "0 https://e.org/docs/b/x:y.html",
            "0 https://e.org/docs/b/z.html",
            "0 https://e.org/docs/b-c/UP.HTML",
            "0 empty-file",
            "0 not-html",
        ]
    );
    let (done, total) = source.progress();
    assert_eq!(Some(done), total);
    let nested = SourceOptions { html_root: Some(root.to_owned()), ..options() };
    let items = read(&[root.join("b"), root.join("a.html")], &nested).unwrap();
    assert_eq!(show(&items[0]), "0 https://e.org/docs/b/a%20b%23%3F%25%C3%A9.htm");
    assert_eq!(show(&items[3]), "0 https://e.org/docs/a.html");
}

#[test]
fn a_stream_holds_json_lines_only() {
    let stream = |content: &'static str| {
        open_reader("-", Box::new(content.as_bytes()), &options())
            .and_then(|mut source| drain(source.as_mut(), 10))
    };
    assert_eq!(stream("bad\n").unwrap().len(), 1);
    assert!(matches!(stream("<html>x"), Err(IngestError::WrongType { .. })));
    assert!(matches!(stream("%PDF-1.7"), Err(IngestError::WrongType { .. })));
    assert!(matches!(stream(""), Err(IngestError::Empty { .. })));
}

#[test]
fn several_inputs_are_read_in_the_order_given() {
    let directory = tempfile::tempdir().unwrap();
    let first = write(directory.path(), "1.jsonl", b"{\"url\":\"https://e.org/1\"}\n");
    let page = write(directory.path(), "2.html", b"<html>x");
    let last = write(directory.path(), "3.jsonl.gz", &gzip(b"{\"url\":\"https://e.org/3\"}"));
    let items = read(&[last, page, first], &options()).unwrap();
    let shown: Vec<String> = items.iter().map(show).collect();
    assert_eq!(shown, ["1 https://e.org/3", "0 https://e.org/docs/2.html", "1 https://e.org/1"]);
}

#[test]
fn the_same_input_gives_the_same_records_on_any_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let lines =
        write(directory.path(), "p.jsonl", format!("{}\nbad\n{GOOD}", many_lines(999)).as_bytes());
    for n in 0..50 {
        write(directory.path(), &format!("h/{n}.html"), format!("<a href={n}>x</a>").as_bytes());
    }
    let paths = [lines, directory.path().join("h")];
    let run = |threads: usize, max: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut source = open(&paths, &options()).unwrap();
            (drain(source.as_mut(), max).unwrap(), source.fingerprint(), source.progress())
        })
    };
    let one = run(1, 64);
    assert_eq!(one.0.len(), 1_051);
    assert_eq!(one, run(8, 64));
    assert_eq!(one, run(8, 1_000));
}

#[test]
fn a_fingerprint_tells_contents_and_names_apart_but_not_places() {
    let fingerprint = |name: &str, content: &[u8]| {
        let directory = tempfile::tempdir().unwrap();
        let mut source = open(&[write(directory.path(), name, content)], &options()).unwrap();
        drain(source.as_mut(), 10).unwrap();
        source.fingerprint()
    };
    let line = GOOD.as_bytes();
    assert_eq!(fingerprint("a.jsonl", line), fingerprint("a.jsonl", line));
    assert_eq!(fingerprint("a.jsonl", line).len(), 32);
    assert_ne!(fingerprint("a.jsonl", line), fingerprint("b.jsonl", line));
    assert_ne!(fingerprint("a.jsonl", line), fingerprint("a.jsonl", &gzip(line)));
    assert_ne!(fingerprint("a.html", b"<p>a"), fingerprint("a.html", b"<p>b"));
}

#[test]
fn the_registry_names_each_format_once() {
    let mut extensions: Vec<&str> =
        FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!(
        extensions.len(),
        FORMATS.iter().map(|format| format.extensions.len()).sum::<usize>()
    );
    assert!(FORMATS.iter().all(|format| !format.description.is_empty()));
}

/// A Parquet file with columns of strings, numbers and lists of strings; one row a page.
fn parquet_file(path: &Path) {
    use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, RecordBatch};
    let column = |values: [Option<&str>; 3]| {
        let mut builder = StringBuilder::new();
        for value in values {
            builder.append_option(value);
        }
        std::sync::Arc::new(builder.finish()) as ArrayRef
    };
    let mut links = ListBuilder::new(StringBuilder::new());
    links.append_value([Some("https://b.org/"), None, Some("/c")]);
    links.append_null();
    links.append_value::<Vec<Option<&str>>, _>(Vec::new());
    let mut quality = Float64Builder::new();
    for value in [Some(-1.5), None, None] {
        quality.append_option(value);
    }
    let batch = RecordBatch::try_from_iter([
        ("id", column([Some("1"), None, None])),
        ("url", column([Some("https://a.org/x"), Some("https://a.org/y"), Some("no URL")])),
        ("title", column([Some("X"), None, None])),
        ("plain_text", column([Some("bread"), Some("ships"), None])),
        ("warc_date", column([Some("2026-11-23T10:00:00Z"), None, None])),
        ("outgoing_links", std::sync::Arc::new(links.finish()) as ArrayRef),
        ("quality_score", std::sync::Arc::new(quality.finish()) as ArrayRef),
    ])
    .unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn parquet_of_the_open_web_index_is_read_by_its_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("metadata.parquet");
    parquet_file(&path);
    let items = read(std::slice::from_ref(&path), &options()).unwrap();
    let shown: Vec<String> = items.iter().map(show).collect();
    assert_eq!(shown, ["0 https://a.org/x link*1", "0 https://a.org/y", "0 invalid-url"]);
    let SourceItem::Page { record, origin, .. } = &items[0] else { panic!("{items:?}") };
    assert_eq!((record.title.as_str(), record.text.as_str()), ("X", "bread"));
    let links: Vec<&str> = record.outlinks.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(links, ["https://b.org/", "https://a.org/c"]);
    assert_eq!((record.quality_score, record.status), (Some(-1.5), None));
    assert_eq!(record.fetched_at.as_deref(), Some("2026-11-23T10:00:00Z"));
    assert!(origin.to_string().ends_with("metadata.parquet, record 1"), "{origin}");
    // What is damaged, streamed or of something else is told.
    let bytes = fs::read(&path).unwrap();
    let cut = write(directory.path(), "cut.parquet", &bytes[..bytes.len() / 2]);
    assert!(read(&[cut], &options()).is_err());
    let streamed = open_reader("stdin", Box::new(std::io::Cursor::new(bytes)), &options());
    assert!(streamed.err().unwrap().to_string().contains("found one on a stream"));
}

/// What comes of files: the links of each page, and what is left over.
fn joined(files: &[(&str, &[u8])]) -> Result<Vec<String>, IngestError> {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        files.iter().map(|(name, content)| write(directory.path(), name, content)).collect();
    let told = |item: &SourceItem| match item {
        SourceItem::Page { record, .. } => {
            let links = record.outlinks.iter();
            let links = links.map(|link| format!(" {}({})", link.url, link.anchor));
            format!("{}{}", record.url, links.collect::<String>())
        }
        other => show(other),
    };
    Ok(read(&paths, &options())?.iter().map(told).collect())
}

const LINKED: &[u8] =
    br#"{"url":"https://a.org/","text":"A","outlinks":[{"url":"https://b.org/","anchor":"own"}]}
{"url":"https://a.org/moved","text":"M","requested_url":"https://A.org:443/asked"}
{"url":"https://a.org/gone","status":404}
"#;

#[test]
fn tables_of_links_give_them_to_the_pages_that_show_them() {
    let tsv = b"Source\tTarget\tAnchor\nhttps://a.org/#x\thttps://b.org/\t\nhttps://a.org/\t/c\tsee \"c\"\n\
        https://a.org/asked\thttps://d.org/\td\nhttps://a.org/gone\thttps://e.org/\te\nno URL\tx\ty\n\
        https://z.org/\thttps://b.org/\tz\n";
    let expected = [
        "6 invalid-url",
        "https://a.org/ https://b.org/(own) https://a.org/c(see \"c\")",
        "https://a.org/moved https://d.org/(d)",
        "https://a.org/gone",
        "5 link-of-no-page",
        "7 link-of-no-page",
    ];
    let told = joined(&[("links.tsv.gz", &gzip(tsv)), ("p.jsonl", LINKED)]).unwrap();
    assert_eq!(told, expected);

    let csv = b"anchor text,to,id,from_url\r\n\"see, c\",https://c.org/,1,https://a.org/\r\n";
    let dump = b"https://c.org/\tInlinks:\n fromUrl: https://a.org/ anchor: to C\n fromUrl: https://a.org/asked anchor: \n\n\
        https://d.org/\tInlinks:\n fromUrl: https://a.org/ anchor: anchor: d\n\n";
    let told = joined(&[("p.jsonl", LINKED), ("links.csv", csv), ("part-00000", dump)]).unwrap();
    let expected = [
        "https://a.org/ https://b.org/(own) https://c.org/(see, c) https://c.org/(to C) https://d.org/(anchor: d)",
        "https://a.org/moved https://c.org/()",
        "https://a.org/gone",
    ];
    assert_eq!(told, expected);
    let alone = joined(&[("links.csv", csv)]).unwrap_err().to_string();
    assert!(alone.contains("links.csv: holds links, and no file of the pages"), "{alone}");
    let wrong = format!("from,to\n{}", "Ada,Bob\n".repeat(1_001));
    let wrong =
        joined(&[("mail.csv", wrong.as_bytes()), ("p.jsonl", LINKED)]).unwrap_err().to_string();
    assert!(wrong.contains("mail.csv: none of the first 1000 rows is a link"), "{wrong}");
}

#[test]
fn links_in_parquet_and_of_clueweb_are_joined_with_their_pages() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    let column = |values: [Option<&str>; 2]| {
        std::sync::Arc::new(values.into_iter().collect::<StringArray>()) as ArrayRef
    };
    let batch = RecordBatch::try_from_iter([
        ("src", column([Some("https://a.org/"), Some("https://a.org/")])),
        ("dst", column([Some("https://c.org/"), None])),
        ("anchor", column([Some("c"), None])),
    ])
    .unwrap();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let parquet = writer.into_inner().unwrap();
    let told = joined(&[("links.parquet", &parquet), ("p.jsonl", LINKED)]).unwrap();
    assert_eq!(
        told[..2],
        ["2 missing-url", "https://a.org/ https://b.org/(own) https://c.org/(c)"]
    );

    let text = br#"{"URL":"https://a.org/x\n","URL-hash":"1","Language":"en","ClueWeb22-ID":"clueweb22-en0000-00-00000","Clean-Text":"bread"}"#;
    let out = br#"{"url":"https://a.org/x","urlhash":"1","language":"en","ClueWeb22-ID":"clueweb22-en0000-00-00000","outlinks":[["https://b.org/","2","to b","false","en"]]}"#;
    let into = br#"{"url":"https://d.org/","urlhash":"4","language":"en","ClueWeb22-ID":"clueweb22-en0000-00-00009","anchors":[["https://a.org/x","1","to d","false","en"],["https://q.org/","5","q","false","en"]]}"#;
    let told =
        joined(&[("t.json.gz", &gzip(text)), ("o.json.gz", &gzip(out)), ("i.json", into)]).unwrap();
    assert_eq!(
        told,
        ["https://a.org/x https://b.org/(to b) https://d.org/(to d)", "1 link-of-no-page"]
    );
}

#[test]
fn records_of_other_datasets_are_read_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let lines = r#"{"URL":"https://a.org/x\n","URL-hash":"1","ClueWeb22-ID":"clueweb22-en0000","Clean-Text":"bread"}
{"url":"https://a.org/y","urlhash":"2","outlinks":[["https://b.org/","3","to b","false","en"],["https://c.org/","4",null]]}
{"url":"https://a.org/z","plain_text":"ships","outgoing_links":["https://b.org/",{"url":"https://d.org/","anchor":"d"}],"fetch_status":200}
"#;
    let path = write(directory.path(), "pages.jsonl", lines.as_bytes());
    let items = read(&[path], &options()).unwrap();
    let told: Vec<String> = items
        .iter()
        .map(|item| {
            let SourceItem::Page { record, .. } = item else { panic!("{item:?}") };
            let links =
                record.outlinks.iter().map(|link| format!(" {}({})", link.url, link.anchor));
            format!("{} {}{}", record.url, record.text, links.collect::<String>())
        })
        .collect();
    let expected = [
        "https://a.org/x bread",
        "https://a.org/y  https://b.org/(to b) https://c.org/()",
        "https://a.org/z ships https://b.org/() https://d.org/(d)",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_warcio_writes_is_read() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inside/warcio");
    let shown = |name: &str| {
        let items = read(&[dir.join(name)], &options()).unwrap();
        let lines = items.iter().map(|item| match item {
            SourceItem::Page { record, cuts, .. } => {
                let prospect_index::page::PageRecord {
                    url,
                    title,
                    text,
                    status,
                    requested_url,
                    outlinks,
                    ..
                } = record;
                let links: Vec<_> =
                    outlinks.iter().map(|link| (&*link.url, &*link.anchor)).collect();
                let asked = requested_url.as_deref().unwrap_or("-");
                format!("{url} {status:?} {asked} {title:?} {text:?} {links:?} {cuts:?}")
            }
            SourceItem::Bad { reason, detail, .. } => format!("{reason}: {detail}"),
            SourceItem::Other { reason, detail, .. } => format!("{reason}: {detail}"),
        });
        lines.collect::<Vec<_>>().join("\n").replace("http://bread.example/", "/")
    };
    let expected = [
        r#"/ Some(200) - "Bread" "All about bread. rye bread oats" [("/rye", "rye bread"), ("/old", "oats")] []"#,
        r#"/oats Some(200) /old "Oats" "Crêpes of oats" [] []"#,
        r#"/rye Some(200) - "Rye" "Crème – rye" [] []"#,
        r#"/gone Some(404) - "" "" [] []"#,
        r#"/busy Some(503) - "" "" [] []"#,
        r#"/same Some(304) - "" "" [] []"#,
        r#"/spelt.html None - "Spelt" "From a disk" [] []"#,
        r#"/scan.pdf Some(200) - "" "" [] []"#,
        r#"/long Some(200) - "Long" "The first of many wor" [] [("truncated", 1)]"#,
    ]
    .join("\n");
    assert_eq!(shown("crawl.warc.gz"), expected);
    assert_eq!(shown("crawl-1.1.warc"), expected);
}
