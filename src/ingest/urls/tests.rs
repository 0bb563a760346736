use super::*;

/// What is read of a file: URL, status, and what else is said, a line each.
fn read(content: &[u8]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, content).unwrap();
    let mut files = UrlFiles::open(&[path], false).unwrap();
    let mut told = Vec::new();
    loop {
        let items = files.next_batch(2).unwrap();
        if items.is_empty() {
            return told;
        }
        told.extend(items.into_iter().map(|item| match item {
            UrlItem::Url(NamedUrl { record, .. }) if record.is_sitemap => {
                format!("sitemap to fetch: {}", record.url)
            }
            UrlItem::Url(NamedUrl { record, format, .. }) => {
                let UrlRecord { url, status, fetched_at, lastmod, priority, .. } = record;
                let mut line = format!("{format} {url}");
                line += &status.map_or(String::new(), |status| format!(" {status}"));
                for said in [fetched_at, lastmod].into_iter().flatten() {
                    line += &format!(" {said}");
                }
                line + &priority.map_or(String::new(), |priority| format!(" {priority}"))
            }
            UrlItem::Bad { reason, origin, .. } => {
                let Place::Line(line) = origin.place else { panic!("{origin}") };
                format!("{line}: {reason}")
            }
        }));
    }
}

#[track_caller]
fn check(content: &str, expected: &[&str]) {
    assert_eq!(read(content.as_bytes()), expected);
}

#[test]
fn lists() {
    check(
        "# seeds\nhttps://a.test/ first\n\nmailto:x@a.test\r\n\thttps://b.test/\n",
        &["list https://a.test/", "4: invalid-url", "list https://b.test/"],
    );
}

#[test]
fn sitemaps() {
    let map = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> https://a.test/?a=1&amp;b=&#50; </loc><lastmod>2026-11-01</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url>
  <url>
    <image:image><image:loc>https://a.test/i.png</image:loc></image:image>
    <loc><![CDATA[https://a.test/c]]></loc><priority>7</priority>
  </url>
  <url><priority>0.5</priority></url>
</urlset>
"#;
    let expected = [
        "sitemap https://a.test/?a=1&b=2 2026-11-01 0.8",
        "sitemap https://a.test/c",
        "8: missing-url",
    ];
    check(map, &expected);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    io::Write::write_all(&mut packed, map.as_bytes()).unwrap();
    assert_eq!(read(&packed.finish().unwrap()), expected);
    let index = "<sitemapindex><sitemap><loc>https://a.test/1.xml.gz</loc></sitemap></sitemapindex>\
                 <url><loc>https://a.test/</loc></url>";
    check(index, &["sitemap to fetch: https://a.test/1.xml.gz", "sitemap https://a.test/"]);
    check(
        "<sitemapindex><sitemap><loc>https://a.test/1.xml</loc></sitemap></sitemapindex>",
        &["sitemap to fetch: https://a.test/1.xml"],
    );
    check(
        "<urlset><url><loc>https://&host;/</loc></url><url><loc>https://a.test/</loc></url></urlset>",
        &["1: invalid-url", "sitemap https://a.test/"],
    );
    // A query that nobody escaped ends no file.
    check(
        "<urlset><url><loc>https://a.test/?a=1&b=2&amp;c=3</loc></url><url><loc>https://a.test/d</loc></url></urlset>",
        &["sitemap https://a.test/?a=1&b=2&c=3", "sitemap https://a.test/d"],
    );
    // Other encodings are read, and stray bytes end no file.
    let latin = "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>https://a.test/\u{e4}</loc>\
                 <caption>\u{fc}</caption></url></urlset>";
    let bytes: Vec<u8> = latin.chars().map(|c| c as u8).collect();
    assert_eq!(read(&bytes), ["sitemap https://a.test/\u{e4}"]);
    let stray = b"<urlset><url><loc>https://a.test/</loc><caption>\xfc</caption></url></urlset>";
    assert_eq!(read(stray), ["sitemap https://a.test/"]);
    // A URL that has them is none, nor is one with a name that nobody has defined.
    let stray = b"<urlset><url><loc>https://a.test/\xfc</loc></url><url><loc>https://a.test/&u;</loc></url>\
                  <url><loc>https://b.test/</loc></url></urlset>";
    assert_eq!(read(stray), ["1: invalid-url", "1: invalid-url", "sitemap https://b.test/"]);
    // What is broken ends the file, and what came before it stays.
    check(
        "<urlset><url><loc>https://a.test/</loc></url>\n<url><loc>https://b.test/<",
        &["sitemap https://a.test/", "2: invalid-record"],
    );
}

#[test]
fn json_lines() {
    check(
        r#"{"url": "https://a.test/", "status": 200.0, "fetched_at": "2026-11-23T10:00:00Z"}
{"url": "https://b.test/", "error": "timeout", "lastmod": "2026", "priority": 0.25}
{"info": {"url": "https://c.test/", "key": "c.test"}, "refetchable_from_date": 0}
{"known":{"info":{"url":"https://e.test/"},"refetchableFromDate":"1"}}
{"discovered":{"info":{"url":"https://f.test/"}}}
{"url": "https://g.test/", "status": 0, "error": "Forbidden by robots.txt"}
{"url": "https://h.test/", "status": "404", "error": ""}
{"url": "https://d.test/", "status": -3}
[]
{"url": "https://i.test/", "status": 200, "fetched_at": 1764410000, "priority": "0.8"}
{"url": "https://j.test/", "status": 200, "priority": 7}
{"url": "https://k.test/", "status": [200]}
"#,
        &[
            "jsonl https://a.test/ 200 2026-11-23T10:00:00Z",
            "jsonl https://b.test/ 0 2026 0.25",
            "jsonl https://c.test/",
            "jsonl https://e.test/",
            "jsonl https://f.test/",
            &format!("jsonl https://g.test/ {}", prospect_index::fetch_outcome::ROBOTS),
            "jsonl https://h.test/ 404",
            "8: invalid-record",
            "9: invalid-record",
            "jsonl https://i.test/ 200 1764410000 0.8",
            "jsonl https://j.test/ 200",
            "12: invalid-record",
        ],
    );
}

#[test]
fn indexes_of_archives() {
    check(
        r#"!OpenWayback-CDXJ 1.0
(com,cnn,)/x> 2015-09-03T13:27:52Z response {"uri":"http://cnn.com/x","hsc":404}
test,a)/ 20240518015810 {"url": "https://a.test/", "mime": "text/html", "status": "200", "digest": "X"}
test,a)/b 20240518015811 {"url":"https://a.test/b","mime":"warc/revisit","status":"-"}
test,a)/c 20240518015812 {"url":"https://a.test/c","mime":"text/html","mime-detected":"text/html","status":404}
test,a)/p 20240518015813 {"url":"https://a.test/p","method":"POST","status":"200"}
test,a)/p?__wb_method=post&a=1 20240518015814 {"url":"https://a.test/p","status":"200"}
test,a)/e 20240518015815 {"url":"https://a.test/e","mime":"warc/revisit","status":"200"}
test,a)/f 20240518015816 {"url":"https://a.test/f","mime":"warc/revisit","status":"302"}
test,a)/d
"#,
        &[
            "cdxj http://cnn.com/x 404 2015-09-03T13:27:52Z",
            "cdxj https://a.test/ 200 20240518015810",
            "cdxj https://a.test/b 304 20240518015811",
            "cdxj https://a.test/c 404 20240518015812",
            "6: not-get",
            "7: not-get",
            "cdxj https://a.test/e 304 20240518015815",
            "cdxj https://a.test/f 302 20240518015816",
            "10: invalid-record",
        ],
    );
}

fn crawldb_entry(url: &str, status: &str, metadata: &str) -> String {
    format!(
        "{url}\tVersion: 7\nStatus: {status}\nFetch time: Mon Jun 15 10:00:00 UTC 2026\nScore: 1.0\n\
         Metadata: \n \t{metadata}\n\n"
    )
}

#[test]
fn dumps_of_a_crawldb() {
    let dump = [
        crawldb_entry("https://a.test/", "2 (db_fetched)", "_pst_=success(1), lastModified=0"),
        crawldb_entry("https://b.test/", "1 (db_unfetched)", ""),
        crawldb_entry("https://c.test/", "3 (db_gone)", "_pst_=robots_denied(18), lastModified=0"),
        crawldb_entry("https://d.test/", "3 (db_gone)", ""),
        crawldb_entry(
            "https://e.test/",
            "1 (db_unfetched)",
            "_pst_=exception(16), lastModified=0: Read timed out",
        ),
        crawldb_entry("https://f.test/", "5 (db_redir_perm)", ""),
        crawldb_entry(
            "https://g.test/",
            "1 (db_unfetched)",
            "_pst_=exception(16), lastModified=0: Http code=403\n \tnutch.protocol.code=403",
        ),
    ];
    let robots = format!("crawldb https://c.test/ {}", prospect_index::fetch_outcome::ROBOTS);
    check(
        &dump.concat(),
        &[
            "crawldb https://a.test/ 200",
            "crawldb https://b.test/ 1781431200",
            &robots,
            "crawldb https://d.test/ 404",
            "crawldb https://e.test/ 0 1781431200",
            "crawldb https://f.test/ 301",
            "crawldb https://g.test/ 403 1781431200",
        ],
    );
    check(
        "Url,Status code,Status name,Fetch Time,Modified Time,Retries,Retry interval seconds,Metadata\n\
         \"https://a.test/?x=1,2\",2,\"db_fetched\",Mon Jun 15 10:00:00 UTC 2026,x,0,2592000.0,\"\"\n\
         \"https://b.test/\",3,\"db_gone\",x,\"_pst_:gone(11), lastModified=0|||nutch.score:1|||\"\nnothing\n",
        &[
            "crawldb-csv https://a.test/?x=1,2 200 1778925600",
            "crawldb-csv https://b.test/ 410",
            "4: invalid-record",
        ],
    );
}

fn heritrix_line(status: &str, uri: &str) -> String {
    format!(
        "2026-11-23T10:00:00.123Z {status:>5}       {uri} L https://a.test/ text/html #001 2026 - - -\n"
    )
}

#[test]
fn the_log_of_heritrix() {
    let log = [
        heritrix_line("200         88", "https://a.test/1"),
        heritrix_line("1           51", "dns:a.test"),
        heritrix_line("-2           -", "https://a.test/2"),
        heritrix_line("-9998        -", "https://a.test/3"),
        heritrix_line("-5000        -", "https://a.test/4"),
        heritrix_line("404        120", "https://a.test/5"),
        "broken\n".to_owned(),
    ];
    let time = "2026-11-23T10:00:00.123Z";
    let robots =
        format!("heritrix https://a.test/3 {} {time}", prospect_index::fetch_outcome::ROBOTS);
    check(
        &log.concat(),
        &[
            &format!("heritrix https://a.test/1 200 {time}"),
            &format!("heritrix https://a.test/2 0 {time}"),
            &robots,
            &format!("heritrix https://a.test/5 404 {time}"),
            "7: invalid-record",
        ],
    );
}

#[test]
fn the_log_of_wget() {
    let log = "\
--2026-11-23 19:10:25--  http://a.test/ok
Connecting to a.test... connected.
HTTP request sent, awaiting response... 200 OK
Length: 2
Saving to: \u{2018}/dev/null\u{2019}

     0K                                                       100%  295K=0s

2026-11-23 19:10:25 (295 KB/s) - \u{2018}/dev/null\u{2019} saved [2/2]

--2026-11-23 19:10:25--  http://a.test/drop
Connecting to a.test... connected.
HTTP request sent, awaiting response... No data received.
Retrying.

--2026-11-23 19:10:26--  (try: 2)  http://a.test/drop
Connecting to a.test... connected.
HTTP request sent, awaiting response... 503 Busy
2026-11-23 19:10:25 ERROR 503: Busy.

--2026-11-23 19:10:27--  http://a.test/moved
HTTP request sent, awaiting response... 302 Found
Location: /half [following]
--2026-11-23 19:10:27--  http://a.test/half
HTTP request sent, awaiting response... 200 OK
2026-11-23 19:10:25 (772 KB/s) - Connection closed at byte 3. Giving up.

--2026-11-23 19:10:27--  http://a.test/slow
HTTP request sent, awaiting response… 200 OK
2026-11-23 19:10:47 (0,5 B/s) - Read error at byte 10/1000 (Connection timed out). Giving up.

--2026-11-23 19:10:28--  http://no.such.host.invalid/
Resolving no.such.host.invalid (no.such.host.invalid)... failed: Name or service not known.
wget: unable to resolve host address \u{2018}no.such.host.invalid\u{2019}
FINISHED --2026-11-23 19:10:25--
Total wall clock time: 0.01s
";
    check(
        log,
        &[
            "wget http://a.test/ok 200 2026-11-23T19:10:25",
            "wget http://a.test/drop 0 2026-11-23T19:10:25",
            "wget http://a.test/drop 503 2026-11-23T19:10:26",
            "wget http://a.test/moved 302 2026-11-23T19:10:27",
            "wget http://a.test/half 0 2026-11-23T19:10:27",
            "wget http://a.test/slow 0 2026-11-23T19:10:27",
            "wget http://no.such.host.invalid/ 0 2026-11-23T19:10:28",
        ],
    );
    // With -S the server's own lines.
    check(
        "--2026-11-23 19:10:25--  http://a.test/gone\nHTTP request sent, awaiting response... \n  HTTP/1.1 404 Not Found\n  \
         Server: a\n2026-11-23 19:10:25 ERROR 404: Not Found.\n\n--2026-11-23 19:10:26--  http://a.test/\n\
         HTTP request sent, awaiting response... \n  HTTP/1.1 200 OK\n  Content-Length: 2\n",
        &[
            "wget http://a.test/gone 404 2026-11-23T19:10:25",
            "wget http://a.test/ 200 2026-11-23T19:10:26",
        ],
    );
}

/// Why a file cannot be read.
fn refused(content: &[u8], with_statuses: bool) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, content).unwrap();
    let opened = UrlFiles::open(&[path], with_statuses);
    let read = opened.and_then(|mut files| {
        while !files.next_batch(10)?.is_empty() {}
        Ok(())
    });
    read.unwrap_err().to_string()
}

#[test]
fn a_file_that_tells_of_no_url_is_refused() {
    assert!(refused(b"", false).ends_with("is empty"));
    assert!(refused(b"<feed><entry/></feed>", false).contains("there is no url and no sitemap"));
    assert!(refused(b"no\nURL\n", false).contains("none of the first 2 lines"));
    assert!(refused(b"PAR1 and more", false).contains("found pages (parquet)"));
    assert!(refused(b"https://a.test/\n", true).contains("found list, which tells of no fetch"));
}
