//! A frontier of any size from real URLs, anchors and queries: rows of `frontier-scale` below
//! `PROSPECT_DATA`, each URL standing for as many as are needed, on a host of its own copy. Paths and anchors stay,
//! and anchors are drawn as often as they were seen, so that n-grams keep their statistics.
//!
//! A page brings the next URLs of a site, as a crawl finds them, and links to others by how often
//! these are linked to. Texts are anchors of the page's neighbours between words of real queries.

use std::io::Read;
use std::path::Path;

use prospect_index::page::{Outlink, PageRecord};

use super::uniform;

/// URLs that a page is the first to link to.
const NEW_LINKS: usize = 20;
/// Links of a page to URLs anywhere.
const FAR_LINKS: usize = 40;
/// Anchors that a text is made of.
const TEXT_PARTS: u64 = 60;

/// Rows of real links, and queries.
pub struct RealLinks {
    /// URL, and its anchors at `anchors[from..to]`.
    urls: Vec<(String, usize, usize)>,
    anchors: Vec<String>,
    /// By row: links of this and all rows before it, and its URL.
    seen: Vec<(u64, u32)>,
    pub queries: Vec<String>,
}

impl RealLinks {
    /// Of a folder; none where it is not there.
    pub fn read(folder: &Path) -> Option<Self> {
        let file = std::fs::File::open(folder.join("urls.tsv.zst")).ok()?;
        let mut rows = String::new();
        zstd::Decoder::new(file).ok()?.read_to_string(&mut rows).ok()?;
        let (mut urls, mut anchors) = (Vec::<(String, usize, usize)>::new(), Vec::new());
        let (mut seen, mut total) = (Vec::new(), 0);
        // Rows of a URL stand together.
        for row in rows.lines() {
            let mut fields = row.split('\t');
            let (url, anchor) = (fields.next()?, fields.next()?);
            total += fields.next()?.parse::<u64>().ok()?;
            anchors.push(anchor.to_owned());
            match urls.last_mut() {
                Some((last, _, to)) if last == url => *to += 1,
                _ => urls.push((url.to_owned(), anchors.len() - 1, anchors.len())),
            }
            seen.push((total, urls.len() as u32 - 1));
        }
        let queries = std::fs::read_to_string(folder.join("query-stream.tsv")).ok()?;
        let queries = queries.lines().filter_map(|line| line.split('\t').nth(1));
        Some(Self { urls, anchors, seen, queries: queries.map(str::to_owned).collect() })
    }

    /// Pages that bring about `urls` URLs.
    pub fn pages(urls: usize) -> usize {
        urls / NEW_LINKS
    }

    /// The URL at a place of a frontier of `urls`.
    pub fn url(&self, place: usize, urls: usize) -> String {
        // Copies of a site stand apart: its URLs in turn, then those of the next copy.
        let copies = urls.div_ceil(self.urls.len());
        let (copy, at) = (place / self.urls.len() % copies, place % self.urls.len());
        let url = &self.urls[at].0;
        match url.split_once("://") {
            Some((scheme, rest)) if copy > 0 => format!("{scheme}://m{copy}.{rest}"),
            _ => url.clone(),
        }
    }

    fn anchor(&self, place: usize, draw: f64) -> &str {
        let (_, from, to) = &self.urls[place % self.urls.len()];
        &self.anchors[from + (draw * (to - from) as f64) as usize]
    }

    /// A link by how often it was seen, to any copy.
    fn far(&self, urls: usize, at: u64, page: u64) -> Outlink {
        let total = self.seen.last().map_or(0, |(total, _)| *total);
        let drawn = (uniform(21, at, page) * total as f64) as u64;
        let row = self.seen.partition_point(|(seen, _)| *seen <= drawn).min(self.seen.len() - 1);
        let copies = (urls / self.urls.len()).max(1);
        let copy = (uniform(22, at, page) * copies as f64) as usize;
        let place = copy * self.urls.len() + self.seen[row].1 as usize;
        (self.url(place, urls), self.anchors[row].as_str()).into()
    }

    /// Page number `page` of the crawl that found a frontier of `urls` URLs.
    pub fn page(&self, page: usize, urls: usize) -> PageRecord {
        let of = page as u64;
        let near = page * NEW_LINKS;
        let new = (near..near + NEW_LINKS).map(|place| {
            (self.url(place, urls), self.anchor(place, uniform(23, place as u64, of))).into()
        });
        let far = (0..FAR_LINKS as u64).map(|at| self.far(urls, at, of));
        let mut text = String::new();
        for at in 0..TEXT_PARTS {
            let place = near + (uniform(24, at, of) * 200.0) as usize;
            text.push_str(self.anchor(place, uniform(25, at, of)));
            text.push(' ');
            if at % 6 == 0 {
                let query = (uniform(26, at, of) * self.queries.len() as f64) as usize;
                text.push_str(&self.queries[query]);
                text.push(' ');
            }
        }
        PageRecord {
            url: self.url(near, urls),
            text,
            outlinks: new.chain(far).collect(),
            ..PageRecord::default()
        }
    }
}
