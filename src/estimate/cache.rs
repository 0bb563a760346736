//! What a planner that goes on keeps between plans. Estimates do not depend on it: a planner that
//! starts anew from the same tables makes the same ones.
//!
//! Within a statistics epoch a crawled page is described by what was known before its cycle, and
//! that never changes, so the features of a training pair are computed once. They do change with
//! PageRank's points, which is why that feature is filled in for every plan, and with the site
//! level, at which everything is forgotten. Scores of quality come with their pages; who brings
//! them later starts with an empty cache.
//!
//! Costs at most the training pairs of every query, 8 bytes a crawled page, 20 a URL, 4 a host, some 50 a domain, the names of
//! regions, the models, [`Strings`], [`KeptPairs`], [`KeptPageImpact`], [`FirstLinks`] while the pairs of all URLs are
//! estimated, and with an embedding model 8 bytes for each nearest URL of a query.

use std::sync::{Arc, Mutex};

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};

use crate::estimate::candidates::nearest::Nearest;
use crate::estimate::features::first_links::FirstLinks;
use crate::estimate::features::regions::Regions;
use crate::estimate::features::sites::Sites;
use crate::estimate::features::strings::Strings;
use crate::estimate::fetch_chance::FileTypes;
use crate::estimate::kept_pairs::{EarlierPairs, KeptPairs, KeptState};
use crate::estimate::models::EpochModels;
use crate::estimate::models::quality_posterior::Posterior;
use crate::estimate::page_impact::KeptPageImpact;
use crate::estimate::pair_sort::PairFiles;
use crate::estimate::pandey_olston::pairs::Training;
use crate::estimate::running_mean::RunningMean;
use crate::estimate::url_parts::SiteLevel;
use crate::estimate::vouching::HostDomains;
use crate::workload::Query;

/// Kept between plans.
#[derive(Default)]
pub(crate) struct PlannerCache {
    /// Sites of the URLs known at the last plan.
    pub(crate) sites: Sites,
    /// Their strings as words of the workload, for a planner that goes on.
    pub(crate) strings: Option<Strings>,
    /// By query: its training pairs.
    pub(crate) training: Vec<Mutex<Training>>,
    /// By `fetch_seq`: links from other pages before the page's cycle, [`NONE`] where the page was
    /// no candidate of any plan.
    past_inlinks: Vec<u32>,
    quality: PastQuality,
    /// The first links to URLs, while the pairs of all are estimated.
    pub(super) first_links: Option<FirstLinks>,
    /// Regions of the URLs known at the last plan.
    pub(crate) regions: Regions,
    /// URLs that are nearest to each query in meaning, where there is an embedding model.
    pub(crate) nearest: Nearest,
    /// What was fitted in this epoch.
    pub(crate) models: Option<Arc<EpochModels>>,
    /// Candidate pairs, for a planner that goes on.
    pub(super) pairs: Option<KeptPairs>,
    /// Where the pairs of a plan go, for who has files.
    pub(super) pair_files: Option<Arc<dyn PairFiles>>,
    /// What models of pages expect of URLs, for the same.
    pub(super) page_impact: Option<KeptPageImpact>,
    /// What the qualities of linking pages say of URLs, for the same.
    pub(super) scored_parents: Option<ScoredParents>,
    /// Types of URLs.
    pub(super) file_types: FileTypes,
    /// Domains of their hosts.
    pub(super) domains: HostDomains,
}

/// Quality that was expected of crawled pages, and what it was expected from.
#[derive(Default)]
struct PastQuality {
    /// Of pages of earlier cycles.
    posterior: Posterior,
    /// Scored pages of the last cycle: site, quality, parents. No page of the cycle sees them.
    pending: Vec<(u32, f64, RunningMean)>,
    /// Start of the last cycle.
    start: u32,
    /// By `fetch_seq`: expected before the page's cycle, NaN where nothing was.
    expected: Vec<f32>,
}

impl PlannerCache {
    /// For a planner that goes on with the same queries.
    pub(crate) fn with_strings(queries: &[Query]) -> Self {
        Self {
            strings: Some(Strings::new(queries)),
            pairs: Some(KeptPairs::default()),
            page_impact: Some(KeptPageImpact::default()),
            scored_parents: Some(ScoredParents::default()),
            ..Self::default()
        }
    }

    /// For one plan, whose pairs go to `files`, from pairs of an earlier time if there are any; see [`KeptPairs::once`].
    pub(crate) fn start_once(
        &mut self,
        queries: &[Query],
        earlier: Option<EarlierPairs>,
        files: Arc<dyn PairFiles>,
    ) {
        // Who goes on looks at few strings.
        self.strings = earlier.is_none().then(|| Strings::new(queries));
        self.pair_files = Some(files);
        self.pairs = Some(KeptPairs::once(earlier));
    }

    /// Ends that: strings of later queries are not among those that were cut into words. Gives what to store to go on
    /// from its pairs at another time; nothing if it has kept none.
    pub(crate) fn end_once(&mut self) -> Option<KeptState> {
        (self.strings, self.pair_files) = (None, None);
        self.pairs.take().and_then(KeptPairs::state)
    }

    /// For another plan in the same epoch with the models of this one.
    #[must_use]
    pub(crate) fn with_models(&self) -> Self {
        Self { models: self.models.clone(), ..Self::default() }
    }

    /// Whether there is a model of scores, by which kept pairs go on.
    pub(crate) fn has_score_model(&self) -> bool {
        self.models.as_ref().is_some_and(|models| models.scores.is_some())
    }

    /// Forgets what depends on the statistics of an epoch.
    pub(crate) fn forget_epoch(&mut self) {
        self.training.clear();
        self.models = None;
        // Nothing goes on from pairs of other models, and those of the next take as much room again.
        self.pairs.iter_mut().for_each(KeptPairs::forget);
    }

    /// Expected quality of the page of a record, from what was known before its cycle.
    pub(crate) fn past_quality(&self, seq: u32) -> Option<f64> {
        let expected = self.quality.expected.get(seq as usize).copied();
        expected.filter(|expected| !expected.is_nan()).map(f64::from)
    }

    /// What is expected of pages from all that are fetched.
    pub(crate) fn posterior(&self) -> Posterior {
        let mut posterior = self.quality.posterior.clone();
        for (site, quality, parents) in &self.quality.pending {
            posterior.learn(*site, *quality, *parents);
        }
        posterior
    }

    /// Who answers for a URL: its site, or its host where sites are parts of one.
    pub(crate) fn owner(&self, url: UrlId) -> u32 {
        match self.sites.level() {
            Some(SiteLevel::Directory) => self.regions.host(url),
            _ => self.sites.of(url),
        }
    }

    /// Takes in what is new since the last plan, before one for `queries` queries.
    pub(crate) fn update(&mut self, known: &Known, manifest: &Manifest, queries: usize) {
        let level: Option<SiteLevel> = self.sites.level();
        self.sites.update(&known.urls);
        if level.is_some() && level != self.sites.level() {
            self.forget_epoch();
            self.quality = PastQuality::default();
        }
        if !known.quality.is_empty() {
            self.quality.update(known, manifest, &self.sites);
        }
        self.training.resize_with(queries, Mutex::default);
        if let Some(strings) = &mut self.strings {
            strings.update(known);
        }
        for seq in self.past_inlinks.len() as u32..manifest.next_seq {
            let inlinks = known.pages.discovered_by(seq).map_or(NONE, |url| {
                let start = manifest.cycle_start(manifest.cycle_of(seq));
                let mut before = known.links.incoming(url, start).peekable();
                before.peek().map_or(NONE, |_| known.links.inlinks(url, start))
            });
            self.past_inlinks.push(inlinks);
        }
    }

    /// Distinct pages that linked to the page of a record before its cycle; `None` if it was no
    /// candidate of any plan.
    pub(crate) fn past_inlinks(&self, seq: u32) -> Option<u32> {
        self.past_inlinks.get(seq as usize).copied().filter(|&inlinks| inlinks != NONE)
    }
}

/// By URL: scores of the distinct pages that link to it, for a planner that goes on. Costs 20 bytes a URL.
#[derive(Default)]
pub(super) struct ScoredParents {
    of_url: Vec<RunningMean>,
    /// By URL: the page that shows the last link to it, [`NONE`] before there is one.
    last: Vec<u32>,
    links: usize,
}

impl ScoredParents {
    /// Takes in links that are new; no page may have been replaced.
    pub(super) fn update(&mut self, known: &Known) {
        self.of_url.resize(known.urls.len(), RunningMean::default());
        self.last.resize(known.urls.len(), NONE);
        for link in known.links.links_from(self.links) {
            let last = &mut self.last[link.to.index()];
            // Links of one page are adjacent among those to a URL.
            let again = std::mem::replace(last, link.from.0) == link.from.0;
            if !again
                && link.from != link.to
                && let Some(quality) = known.quality(link.from)
            {
                self.of_url[link.to.index()].add(f64::from(quality));
            }
        }
        self.links = known.links.links_from(0).count();
    }

    /// As [`scored_parents`] for all pages.
    pub(super) fn of(&self, url: UrlId) -> RunningMean {
        self.of_url[url.index()]
    }
}

/// Scores of the distinct pages fetched before `before_seq` that link to a URL.
pub(crate) fn scored_parents(known: &Known, url: UrlId, before_seq: u32) -> RunningMean {
    let mut evidence = RunningMean::default();
    for parent in known.links.parents(url, before_seq).filter(|&parent| parent != url) {
        if let Some(quality) = known.quality(parent) {
            evidence.add(f64::from(quality));
        }
    }
    evidence
}

impl PastQuality {
    fn update(&mut self, known: &Known, manifest: &Manifest, sites: &Sites) {
        for seq in self.expected.len() as u32..manifest.next_seq {
            let start = manifest.cycle_start(manifest.cycle_of(seq));
            if start != self.start {
                self.start = start;
                for (site, quality, parents) in self.pending.drain(..) {
                    self.posterior.learn(site, quality, parents);
                }
            }
            let Some(url) = known.pages.discovered_by(seq) else {
                self.expected.push(f32::NAN);
                continue;
            };
            let (site, parents) = (sites.of(url), scored_parents(known, url, start));
            let linked = known.links.incoming(url, start).next().is_some();
            let expected = self.posterior.expected(site, parents).filter(|_| linked);
            self.expected.push(expected.map_or(f32::NAN, |expected| expected as f32));
            if let Some(quality) = known.quality(url) {
                self.pending.push((site, f64::from(quality), parents));
            }
        }
    }
}
