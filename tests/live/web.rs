//! A small web on loopback, behind a proxy that answers for all its hosts, with the troubles that webs have.
//!
//! Its pages are those of `workloads/tiny`, each top folder on a host of its own. What becomes of a URL is told
//! by a hash of it, so that it is the same in every run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use regex::Regex;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// What a URL does when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    Page,
    /// Sent as gzip.
    Packed,
    /// Redirects to another URL, which has the page.
    Moved,
    /// 503 the first time, then the page.
    Busy,
    /// 500, always.
    Broken,
    /// The connection ends without an answer.
    Dropped,
    /// Robots.txt forbids it.
    Forbidden,
}

impl Fate {
    /// The fate of a page.
    pub fn of(url: &str) -> Self {
        if url.contains("staff.tools.example") {
            return Self::Forbidden;
        }
        // The start of a crawl must be a page.
        if url.ends_with("//www.tools.example/index.html") {
            return Self::Page;
        }
        match xxh3_64(url.as_bytes()) % 16 {
            0 | 1 => Self::Moved,
            2 | 3 => Self::Busy,
            4 => Self::Broken,
            5 => Self::Dropped,
            6..9 => Self::Packed,
            _ => Self::Page,
        }
    }
}

/// What was asked for: the URL, and the status that was answered, 0 for none.
pub type Access = (String, u16);

struct Shared {
    pages: HashMap<String, String>,
    asked: Mutex<(HashSet<String>, Vec<Access>)>,
    /// What is added to each page that has news.
    news: Mutex<String>,
}

/// The web; it stands as long as the process.
pub struct Web {
    shared: Arc<Shared>,
    /// Where its proxy listens, as crawlers take it.
    pub proxy: String,
}

/// URL of a file of the site.
fn url_of(path: &str) -> String {
    match path.split_once('/') {
        Some((top, rest)) => format!("http://{top}.tools.example/{rest}"),
        None => format!("http://www.tools.example/{path}"),
    }
}

impl Web {
    pub fn start(site: &Path) -> Self {
        let mut files = Vec::new();
        let mut folders = vec![site.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        let href = Regex::new("href=\"([^\"#]*)").unwrap();
        let mut pages = HashMap::new();
        for file in files {
            let path = file.strip_prefix(site).unwrap().to_str().unwrap();
            let Ok(html) = std::fs::read_to_string(&file) else { continue };
            let base = Url::parse(&format!("http://site/{path}")).unwrap();
            let html = href.replace_all(&html, |found: &regex::Captures| {
                let target = base.join(&found[1]).unwrap();
                let target = match target.host_str() {
                    Some("site") => url_of(&target.path()[1..]),
                    _ => target.to_string(),
                };
                format!("href=\"{target}")
            });
            // As real pages, with what is no URL.
            pages.insert(
                url_of(path),
                html.replace("</body>", "<a href=\"http://[bad\">x</a></body>"),
            );
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { pages, asked: Mutex::default(), news: Mutex::default() });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Self { shared, proxy }
    }

    /// What was asked for since the last call, robots.txt left out.
    pub fn accesses(&self) -> Vec<Access> {
        std::mem::take(&mut self.shared.asked.lock().unwrap().1)
    }

    /// From now on the pages that have news say this, too.
    pub fn tell(&self, news: &str) {
        *self.shared.news.lock().unwrap() = format!("<p>{news}</p></body>");
    }

    /// How many pages there are by fate.
    pub fn fates(&self) -> BTreeMap<Fate, usize> {
        let mut fates = BTreeMap::new();
        for url in self.shared.pages.keys() {
            *fates.entry(Fate::of(url)).or_insert(0) += 1;
        }
        fates
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?);
        let mut request = String::new();
        lines.by_ref().take(8_192).read_line(&mut request)?;
        loop {
            let mut line = String::new();
            if lines.by_ref().take(8_192).read_line(&mut line)? <= 2 {
                break;
            }
        }
        let url = request.split(' ').nth(1).unwrap_or_default().to_owned();
        if url.ends_with("/robots.txt") {
            let rules: &[u8] = b"User-agent: *\nDisallow: /\n";
            let (status, rules) =
                if url.contains("staff.") { (200, rules) } else { (404, &b"none"[..]) };
            return answer(&mut stream, status, "Content-Type: text/plain\r\n", rules);
        }
        let first = self.asked.lock().unwrap().0.insert(url.clone());
        let (status, fields, body) = self.response(&url, first);
        self.asked.lock().unwrap().1.push((url, status));
        if status == 0 { Ok(()) } else { answer(&mut stream, status, &fields, &body) }
    }

    fn response(&self, url: &str, first: bool) -> (u16, String, Vec<u8>) {
        let html = "Content-Type: text/html; charset=utf-8\r\n".to_owned();
        let origin = url.replace("/moved/", "/");
        let Some(page) = self.pages.get(&origin) else {
            return (404, html, b"<p>there is no such page".to_vec());
        };
        let news = self.news.lock().unwrap();
        let page = if has_news(&origin) && !news.is_empty() {
            page.replace("</body>", &news)
        } else {
            page.clone()
        };
        let page = page.into_bytes();
        match Fate::of(&origin) {
            Fate::Moved if origin == url => {
                let to = Url::parse(url).unwrap();
                let to = format!("http://{}/moved{}", to.host_str().unwrap(), to.path());
                (301, format!("{html}Location: {to}\r\n"), b"<p>moved".to_vec())
            }
            Fate::Busy if first => (503, html, b"<p>busy".to_vec()),
            Fate::Broken => (500, html, b"<p>broken".to_vec()),
            Fate::Dropped => (0, String::new(), Vec::new()),
            Fate::Packed => {
                let mut packed =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                packed.write_all(&page).unwrap();
                (200, format!("{html}Content-Encoding: gzip\r\n"), packed.finish().unwrap())
            }
            _ => (200, html, page),
        }
    }
}

/// Whether a page changes now and then.
pub fn has_news(url: &str) -> bool {
    (xxh3_64(url.as_bytes()) >> 8).is_multiple_of(4)
}

fn answer(stream: &mut TcpStream, status: u16, fields: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Said\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}
