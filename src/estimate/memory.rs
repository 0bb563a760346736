//! What a planner that goes on keeps between plans. Estimates do not depend on it: a planner that
//! starts anew from the same tables makes the same ones.
//!
//! Within a statistics epoch a crawled page is described by what was known before its cycle, and
//! that never changes, so the features of a training pair are computed once. They do change with
//! PageRank's points, which is why that feature is filled in for every plan, and with the site
//! level, at which everything is forgotten.
//!
//! Costs at most the training pairs of every query, 4 bytes a crawled page, and [`Strings`].

use std::sync::Mutex;

use prospect_index::manifest::Manifest;
use prospect_index::page_store::{Known, NONE};
use prospect_index::url::SiteLevel;

use super::pairs::Pair;
use super::sites::Sites;
use super::strings::Strings;
use crate::workload::Query;

/// Kept between plans.
#[derive(Default)]
pub struct Memory {
    /// Sites of the URLs known at the last plan.
    pub sites: Sites,
    /// Their strings as words of the workload, for a planner that goes on.
    pub strings: Option<Strings>,
    /// By query: its training pairs.
    pub training: Vec<Mutex<Training>>,
    /// By `fetch_seq`: links from other pages before the page's cycle, [`NONE`] where the page was
    /// no candidate of any plan.
    past_inlinks: Vec<u32>,
}

/// Training pairs of one query.
#[derive(Default)]
pub struct Training {
    /// Those that are used, by URL; PageRank and the site's mean are filled in when they are.
    pub pairs: Vec<Pair>,
    /// Pages with a lower `fetch_seq` have been looked at.
    pub seen: u32,
}

impl Memory {
    /// For a planner that goes on with the same queries.
    pub fn lasting(queries: &[Query]) -> Self {
        Self { strings: Some(Strings::new(queries)), ..Self::default() }
    }

    /// Forgets what depends on the statistics of an epoch.
    pub fn forget_epoch(&mut self) {
        self.training.clear();
    }

    /// Takes in what is new since the last plan, before one for `queries` queries.
    pub fn update(&mut self, known: &Known, manifest: &Manifest, queries: usize) {
        let level: Option<SiteLevel> = self.sites.level();
        self.sites.update(&known.urls);
        if level.is_some() && level != self.sites.level() {
            self.forget_epoch();
        }
        self.training.resize_with(queries, Mutex::default);
        if let Some(strings) = &mut self.strings {
            strings.update(known);
        }
        for seq in self.past_inlinks.len() as u32..manifest.next_seq {
            let inlinks = known.pages.record(seq).map_or(NONE, |(url, _)| {
                let start = manifest.cycle_start(manifest.cycle_of(seq));
                let mut before = known.links.incoming(url, start).peekable();
                before.peek().map_or(NONE, |_| known.links.inlinks(url, start))
            });
            self.past_inlinks.push(inlinks);
        }
    }

    /// Distinct pages that linked to the page of a record before its cycle; `None` if it was no
    /// candidate of any plan.
    pub fn past_inlinks(&self, seq: u32) -> Option<u32> {
        self.past_inlinks.get(seq as usize).copied().filter(|&inlinks| inlinks != NONE)
    }
}
