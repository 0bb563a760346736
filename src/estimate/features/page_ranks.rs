//! PageRank of known URLs as of a few points of the crawl, and now.
//!
//! A crawled page is described by what was known before its cycle. PageRank before every cycle
//! would cost a run of the iteration each, so it is taken at a few of their starts, and a page uses
//! the last one before its own. The points depend on nothing but the number of cycles, and a rank
//! taken as of a point never changes, so a planner that goes on keeps what it has.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

use crate::graph::LinkGraph;

/// At most so many points are kept.
const POINTS: usize = 12;

/// `ln(1 + PageRank * URLs)` of the URLs known at each point; 4 bytes a URL and point.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageRanks {
    /// By the `fetch_seq` at which a cycle starts.
    points: BTreeMap<u32, Vec<f32>>,
    /// Over all links so far, once someone asks.
    now: OnceLock<Vec<f32>>,
    /// The next `fetch_seq` at the last update: when `now` is of.
    now_seq: u32,
}

impl PageRanks {
    /// Brings the ranks up to the links and cycles so far. The result does not depend on what was
    /// kept from earlier updates.
    pub(crate) fn update(&mut self, known: &Known, manifest: &Manifest) {
        // The cycle of an open plan that nothing was fetched for yet is none: the same plan is made
        // before and after it is committed.
        let started = |seq: &u32| *seq < manifest.next_seq;
        let starts = manifest.cycles.iter().map(|cycle| cycle.first_seq).filter(started);
        let starts: Vec<u32> = starts.collect();
        let step = starts.len().div_ceil(POINTS).next_power_of_two();
        let wanted: Vec<u32> = starts.into_iter().step_by(step).collect();
        if self.now_seq != manifest.next_seq {
            if let Some(ranks) = self.now.take() {
                self.points.insert(self.now_seq, ranks);
            }
            self.now_seq = manifest.next_seq;
        }
        self.points.retain(|seq, _| wanted.binary_search(seq).is_ok());
        for seq in wanted {
            self.points.entry(seq).or_insert_with(|| ranks(known, seq));
        }
    }

    /// By URL, as of the last update. The first call costs a run of the iteration: a plan whose
    /// model does not read PageRank needs none.
    pub(crate) fn now(&self, known: &Known) -> &[f32] {
        self.now.get_or_init(|| ranks(known, self.now_seq))
    }

    /// Before a `fetch_seq`, or somewhat earlier, never later; 0 if the URL was not known then.
    pub(crate) fn before(&self, seq: u32, url: UrlId) -> f32 {
        let point = self.points.range(..=seq).next_back();
        point.and_then(|(_, ranks)| ranks.get(url.index())).copied().unwrap_or(0.0)
    }
}

/// How many URLs were known before a `fetch_seq`: ids are given in the order in which records
/// and their links come, so these are the ids below it. URLs that only failed fetches or
/// replaced pages have shown count from the next record on that shows them.
pub(crate) fn urls_before(known: &Known, before_seq: u32) -> usize {
    let pages = known.pages.discovered().take_while(|(seq, _)| *seq < before_seq);
    let links = known.links.links_before(before_seq);
    let ids = pages.map(|(_, url)| url).chain(links.map(|link| link.to));
    ids.map(|url| url.index() + 1).max().unwrap_or(0)
}

fn ranks(known: &Known, before_seq: u32) -> Vec<f32> {
    let urls = urls_before(known, before_seq);
    let ranks = LinkGraph::new(&known.links, urls, before_seq).page_rank();
    ranks.into_iter().map(|rank| (rank * urls as f64).ln_1p() as f32).collect()
}
