//! An attacked collection beside the honest one: what is known of a page goes with it, and pages of
//! the attacker have none of it.
//!
//! True impact and judgements are those of the honest collection, so that nothing an attacker adds
//! counts or displaces a page that does. Quality scores tell nothing of attackers: each of their
//! pages has that of an honest page drawn at random, or of the best one where they are made for it.

use prospect_index::ngram::Segment;
use prospect_index::page_store::NONE;

use super::{Attack, AttackKind, DRAWN_AS};
use crate::policy::Page;
use crate::policy::hidden_web::WebVectors;
use crate::simulate::collection::Collection;
use crate::simulate::crawl::Start;
use crate::simulate::experiment::{Course, Inputs};
use crate::simulate::start::shuffled;
use crate::workload::Workload;

/// A collection with pages of an attacker.
pub(crate) struct Attacked {
    /// All pages.
    pub(crate) collection: Collection,
    /// By page: its number in the honest collection; [`NONE`] for the attacker's.
    honest: Vec<Page>,
    /// By page of the honest collection: its number here.
    here: Vec<Page>,
    quality: Option<Vec<f64>>,
    impact: Vec<f64>,
    relevant: Vec<u32>,
    /// Queries to plan for, the attacker's among them.
    pub(crate) planning: Workload,
}

impl Attacked {
    /// `collection` is that of `honest` with the pages of an attack.
    pub(crate) fn new(
        collection: Collection,
        honest: &Inputs<'_>,
        attack: &Attack,
        seed: u64,
    ) -> Self {
        let asked = honest.planning.queries.iter().chain(&attack.queries).cloned().collect();
        let known = &honest.collection.urls;
        let number = |id| known.get(collection.urls.url(id)).map_or(NONE, |id| id.0);
        let of_page: Vec<Page> = collection.urls.ids().map(number).collect();
        let mut here = vec![NONE; known.len()];
        for (page, &number) in of_page.iter().enumerate() {
            if let Some(slot) = here.get_mut(number as usize) {
                *slot = page as Page;
            }
        }
        let mut attacked = Self {
            collection,
            honest: of_page,
            here,
            quality: None,
            impact: Vec::new(),
            relevant: Vec::new(),
            planning: Workload { queries: asked }.for_planning(),
        };
        attacked.impact = attacked.spread(honest.impact, || 0.0);
        attacked.relevant = attacked.spread(honest.relevant, || 0);
        attacked.quality = honest.quality.map(|quality| {
            if matches!(attack.kind, AttackKind::Quality(_)) {
                let best = quality.iter().copied().fold(crate::policy::NO_QUALITY, f64::max);
                return attacked.spread(quality, || best);
            }
            // From the end: those at the beginning link to the attacker.
            let drawn = shuffled(honest.collection, seed, DRAWN_AS);
            let mut drawn = drawn.iter().rev().cycle().map(|&page| quality[page as usize]);
            attacked.spread(quality, || drawn.next().unwrap_or(crate::policy::NO_QUALITY))
        });
        attacked
    }

    /// By page here: what it has in the honest collection, or what the attacker's have.
    pub(crate) fn spread<T: Copy>(
        &self,
        by_page: &[T],
        mut of_attacker: impl FnMut() -> T,
    ) -> Vec<T> {
        let value = |&page: &Page| by_page.get(page as usize).copied();
        self.honest.iter().map(|page| value(page).unwrap_or_else(&mut of_attacker)).collect()
    }

    /// Whether a page is the attacker's.
    pub(crate) fn is_attacker(&self, page: Page) -> bool {
        self.honest[page as usize] == NONE
    }

    /// What crawls of this collection are made from.
    pub(crate) fn inputs<'a>(
        &'a self,
        strings: Option<&'a Segment>,
        vectors: Option<WebVectors<'a>>,
    ) -> Inputs<'a> {
        Inputs {
            collection: &self.collection,
            strings,
            vectors,
            planning: &self.planning,
            quality: self.quality.as_deref(),
            impact: &self.impact,
            relevant: &self.relevant,
        }
    }

    /// The same starts, batches, budget and checkpoints as on the honest collection.
    pub(crate) fn course(&self, honest: &Course) -> Course {
        let starts = honest.starts.iter().map(|start| self.start(start)).collect();
        Course { starts, ..honest.clone() }
    }

    /// A start on the honest collection, here.
    fn start(&self, honest: &Start) -> Start {
        let here = |pages: &[Page]| pages.iter().map(|&page| self.here[page as usize]).collect();
        Start {
            seeds: here(&honest.seeds),
            crawled: here(&honest.crawled),
            all_known: honest.all_known,
        }
    }
}
