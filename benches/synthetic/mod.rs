//! A synthetic collection of any size, for benches: pages with a few topic words each, Zipf's law
//! over words, skewed in-degrees. Everything is a hash of its place, so that nothing is held and
//! two runs see the same pages.

#![allow(dead_code, reason = "every bench uses a part of it")]

use std::path::Path;

use prospect::policy::Basics;
use prospect::simulate::collection::{Collection, CollectionBuilder, Outside};
use prospect::workload::{Query, Workload};
use prospect_index::ingest::PreparedLink;
use prospect_index::page::{Outlink, PageRecord};
use prospect_index::text_index::TextIndex;

/// How large, and how it is linked.
#[derive(Clone, Copy)]
pub struct Shape {
    pub pages: u32,
    pub links_per_page: u32,
    pub hosts: u32,
    pub vocabulary: u32,
    pub text_words: u32,
}

/// Topic words of a page: its URL and the anchors that lead to it are made of them.
const TOPICS: u32 = 4;
/// A prime above every number of pages: multiplying by it permutes them.
const PRIME: u64 = 2_654_435_761;

/// A number in [0, 1) by its place (`SplitMix64`).
pub fn uniform(what: u64, at: u64, of: u64) -> f64 {
    let mut x = (what << 56) ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of.rotate_left(32);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        x = (x ^ (x >> 30)).wrapping_mul(factor);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

impl Shape {
    /// Rank of a word by Zipf's law with exponent 1: log-uniform.
    fn zipf(&self, uniform: f64) -> u32 {
        ((uniform * f64::from(self.vocabulary).ln()).exp() as u32 - 1).min(self.vocabulary - 1)
    }

    fn topic(&self, page: u32, at: u32) -> String {
        format!("w{}", self.zipf(uniform(1, u64::from(page), u64::from(at))))
    }

    pub fn topics(&self, page: u32) -> Vec<String> {
        (0..TOPICS).map(|at| self.topic(page, at)).collect()
    }

    pub fn url(&self, page: u32) -> String {
        let (first, second) = (self.topic(page, 0), self.topic(page, 1));
        format!("https://www.h{}.test/{first}/{second}-{page}", page % self.hosts)
    }

    /// Targets of a page: in-degrees by a power law, half of the links within the host.
    pub fn targets(&self, page: u32) -> impl Iterator<Item = u32> {
        let (of, pages, hosts) = (u64::from(page), u64::from(self.pages), self.hosts);
        (0..u64::from(self.links_per_page)).filter_map(move |at| {
            let place = (uniform(2, at, of).powi(3) * pages as f64) as u64;
            let target = (place * PRIME % pages) as u32;
            let near = uniform(3, at, of) < 0.5;
            let target = if near { target - target % hosts + page % hosts } else { target };
            (target != page && u64::from(target) < pages).then_some(target)
        })
    }

    /// The first one to three topic words of the target, sometimes a word that says nothing.
    fn anchor(&self, page: u32, target: u32) -> String {
        let (at, of) = (u64::from(page), u64::from(target));
        if uniform(4, at, of) < 0.3 {
            return format!("w{}", self.zipf(uniform(5, at, of)));
        }
        let words = 1 + (uniform(6, at, of) * 3.0) as u32;
        (0..words).map(|at| self.topic(target, at)).collect::<Vec<_>>().join(" ")
    }

    /// A third of the words are the page's topics, each of its own weight.
    fn text(&self, page: u32) -> String {
        let of = u64::from(page);
        let loyalty = 0.6 * uniform(7, 0, of);
        let word = |at: u64| {
            if uniform(8, at, of) < loyalty {
                return self.topic(page, (uniform(9, at, of) * f64::from(TOPICS)) as u32);
            }
            format!("w{}", self.zipf(uniform(10, at, of)))
        };
        (0..u64::from(self.text_words)).map(word).collect::<Vec<_>>().join(" ")
    }

    /// A page as a crawler brings it.
    pub fn record(&self, page: u32) -> PageRecord {
        let link = |target| Outlink::from((self.url(target), self.anchor(page, target)));
        PageRecord {
            text: self.text(page),
            outlinks: self.targets(page).map(link).collect(),
            url: self.url(page),
            ..PageRecord::default()
        }
    }

    /// Builds the collection, its text index below `directory`; texts and links are streams.
    pub fn build(&self, directory: &Path) -> Collection {
        let mut builder = CollectionBuilder::default();
        for page in 0..self.pages {
            let links = self.targets(page).map(|target| PreparedLink {
                canonical: self.url(target),
                shown: (self.url(target), self.anchor(page, target)).into(),
            });
            let links: Vec<PreparedLink> = links.collect();
            builder.add((&self.url(page), ""), "", None, links.iter());
        }
        let texts = (0..self.pages).map(|page| (String::new(), self.text(page)));
        let text = TextIndex::build(directory, texts).expect("text index");
        builder.finish(&text, Outside::Drop).expect("no texts are kept")
    }

    /// Distinct queries of two or three topic words that stand together on some page, with
    /// frequencies by Zipf's law; fewer if there are not so many.
    pub fn queries(&self, count: usize) -> Workload {
        let mut seen = std::collections::HashSet::new();
        let mut queries = Vec::new();
        for draw in 0..20 * count as u64 {
            if queries.len() == count {
                break;
            }
            let page = (uniform(12, 0, draw) * f64::from(self.pages)) as u32;
            let length = 2 + (uniform(13, 0, draw) * 2.0) as usize;
            let start = (uniform(14, 0, draw) * (TOPICS as usize - length + 1) as f64) as usize;
            let text = self.topics(page)[start..start + length].join(" ");
            if seen.insert(text.clone()) {
                let rank = queries.len() + 1;
                let frequency = (1e6 / rank as f64).ceil();
                queries.push(Query::new(&format!("{rank:06}"), &text, frequency, ""));
            }
        }
        Workload { queries }
    }
}

/// By page: a quality, as a log-probability.
pub fn quality(pages: usize) -> Vec<f64> {
    (0..pages as u64).map(|page| uniform(11, 0, page).max(1e-9).ln()).collect()
}

/// A line of `/proc/self/status` in MiB, 0 where there is none.
pub fn memory_mib(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    number.unwrap_or(0.0) / 1024.0
}

/// What policies may know of a collection, for the first seed set.
pub fn basics(collection: &Collection) -> Basics<'_> {
    Basics {
        url_order: &collection.url_order,
        host: &collection.host,
        hosts: collection.hosts.len(),
        seed: 1,
        set: 1,
    }
}

/// A size from the environment.
pub fn size_from_env(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
