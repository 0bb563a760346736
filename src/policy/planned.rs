//! Policies that plan each batch as `prospect plan` does: the same choice from the same tables,
//! which here are kept in memory and grow with the crawl.
//!
//! What a store would hold is rebuilt step by step: ids in order of discovery, cycles, statistics
//! epochs, served lists and outcomes. The collection's text index and n-grams are made once for all
//! crawls; a page's text is seen once it is fetched, and n-grams of links that no fetched page has
//! shown count for nothing.

use std::sync::{Arc, Mutex, PoisonError};

use prospect_index::bm25::Scorer;
use prospect_index::manifest::CycleEntry;
use prospect_index::ngram::{NgramError, NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;
use prospect_index::page_store::{NONE, PageTable};
use prospect_index::text_index::TextIndex;
use prospect_index::url_table::UrlTable;
use prospect_index::vectors::VectorTable;

use super::crawled::{Crawled, Ids};
use super::queue::SeedQueue;
use super::{CrawlPolicy, Fetched, Page, PolicyError, Quality};
use crate::cycle::CycleError;
use crate::cycle::close::query_outcomes;
use crate::cycle::planner::{PlanInput, choose, current_epoch};
use crate::estimate::blend::PickOutcome;
use crate::estimate::cache::PlannerCache;
use crate::estimate::candidates::ngram::MatchSource;
use crate::estimate::features::page_ranks::PageRanks;
use crate::estimate::features::similarity::{Embeddings, StringRows};
use crate::estimate::input::EstimateInput;
use crate::estimate::models::entry::EntryOutcomes;
use crate::estimate::parts::Parts;
use crate::estimate::predict_entry::{EntryPrediction, predict_entry};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::choice::Choice;
use crate::plan::explore::Pool;
use crate::plan::settings::PlanSettings;
use crate::sketch::need::{Improvability, QueryOutcome};
use crate::sketch::served::ServedLists;
use crate::whatif::answer::Base;
use crate::workload::{Query, Workload};

/// What planned policies read of a collection: of a page once it is fetched, of n-grams once a
/// fetched page shows them.
pub struct Web<'a> {
    /// Canonical URL of every page.
    pub urls: &'a UrlTable,
    /// Links with anchors.
    pub links: AnchoredLinks<'a>,
    /// Text of every page: document i has the `UrlId` of its page.
    pub text: &'a TextIndex,
    /// n-grams of every page's URL and of all anchors that lead to it.
    pub strings: &'a NgramIndex<'a>,
    /// Vectors of all strings, titles and queries, where there is an embedding model.
    pub vectors: Option<WebVectors<'a>>,
    /// Queries to plan for, merged.
    pub workload: &'a Workload,
    /// Queries whose outcomes train improvability, if they are others.
    pub trainers: Option<&'a Workload>,
}

/// Vectors of a collection by an embedding model.
#[derive(Clone, Copy)]
pub struct WebVectors<'a> {
    /// By text.
    pub table: &'a VectorTable,
    /// By page: row of its title.
    pub titles: &'a [u32],
}

/// Links of pages with their anchors, repeated targets with other anchors included, in document
/// order.
#[derive(Clone, Copy)]
pub struct AnchoredLinks<'a> {
    /// Links of page p: `starts[p]..starts[p + 1]`.
    pub starts: &'a [u64],
    /// Their targets.
    pub targets: &'a [Page],
    /// Their anchors, as indices of `texts`.
    pub anchors: &'a [u32],
    /// Texts around them, as indices of `around_words`.
    pub around: &'a [u32],
    /// Distinct anchor texts.
    pub texts: &'a [Box<str>],
    /// Words of the distinct texts around links, as [`prospect_index::around::word_numbers`].
    pub around_words: &'a [Box<[u32]>],
}

impl<'a> AnchoredLinks<'a> {
    /// Links of a page: target, anchor, words around.
    pub(super) fn of(
        &self,
        page: Page,
    ) -> impl Iterator<Item = (Page, &'a str, &'a [u32])> + use<'a> {
        let at = page as usize;
        // Pages outside the collection have no row.
        let start = self.starts.get(at).copied().unwrap_or(0) as usize;
        let end = self.starts.get(at + 1).copied().unwrap_or(start as u64) as usize;
        let links = *self;
        (start..end).map(move |row| {
            let anchor = &*links.texts[links.anchors[row] as usize];
            let around = &*links.around_words[links.around[row] as usize];
            (links.targets[row], anchor, around)
        })
    }
}

/// A policy that plans.
pub struct Planned<'a> {
    web: &'a Web<'a>,
    settings: PlanSettings,
    crawled: Crawled<'a>,
    ranks: PageRanks,
    cache: PlannerCache,
    candidates: Candidates<'a>,
    /// Where the vectors of known strings are, and by query that of its text.
    rows: StringRows,
    asked: Vec<u32>,
    served: Option<ServedLists>,
    trained: Option<ServedLists>,
    outcomes: Vec<QueryOutcome>,
    /// Picks of the last plan with the parts of their estimates.
    open_picks: Vec<(UrlId, Parts)>,
    /// What became of those before.
    past_picks: Vec<PickOutcome>,
    /// Candidate pairs of those picks.
    foreseen: Foreseen,
    seeds: SeedQueue,
    /// Pages in the frontier that are no seed.
    waiting: usize,
    /// Pages of the batch and whether they failed, in fetch order.
    batch: Vec<(Page, bool)>,
    /// Whether a plan was made whose batch is not closed.
    is_open: bool,
}

impl<'a> Planned<'a> {
    /// A planner that knows nothing yet.
    pub fn new(web: &'a Web<'a>, quality: Option<Quality<'a>>, settings: PlanSettings) -> Self {
        let row =
            |query: &Query| web.vectors.map_or(NONE, |vectors| vectors.table.row(&query.text));
        Self {
            rows: StringRows::default(),
            asked: web.workload.queries.iter().map(row).collect(),
            web,
            settings,
            crawled: Crawled::new(web, quality),
            ranks: PageRanks::default(),
            cache: PlannerCache::lasting(&web.workload.queries),
            candidates: Candidates::new(web),
            served: None,
            trained: None,
            outcomes: Vec::new(),
            open_picks: Vec::new(),
            past_picks: Vec::new(),
            foreseen: Foreseen::default(),
            seeds: SeedQueue::default(),
            waiting: 0,
            batch: Vec::new(),
            is_open: false,
        }
    }

    /// Everything up to the picks of a plan: what the last batch brought, then the choice.
    /// `taken` are seeds of the same batch: a link may lead to them, and they are fetched as seeds.
    fn plan(&mut self, most: usize, taken: &[Page], choice: bool) -> Result<Vec<Page>, CycleError> {
        let end = self.crawled.manifest.next_seq;
        let picks = self.with_lists(|planned, scorer, served| {
            if choice { planned.pick(scorer, served, most, taken) } else { Ok(Vec::new()) }
        })?;
        let cycle = CycleEntry { first_seq: end, plan: Some(String::new()) };
        self.crawled.manifest.cycles.push(cycle);
        self.is_open = true;
        Ok(picks)
    }

    /// Takes in what the last batch brought, and does something with the lists of now.
    fn with_lists<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &Scorer<'_>, &ServedLists) -> Result<T, CycleError>,
    ) -> Result<T, CycleError> {
        let text = self.web.text.with_docs(self.crawled.docs.clone());
        let epoch = current_epoch(&self.crawled.manifest, &self.crawled.known.pages);
        let words = || {
            let trainers = self.web.trainers.into_iter().flat_map(Workload::words);
            self.web.workload.words().chain(trainers)
        };
        let bm25 = self.settings.bm25;
        let mut scorer = Scorer::new(&text, bm25, self.crawled.manifest.epoch.end_seq, words())?;
        self.close(&scorer)?;
        if epoch != self.crawled.manifest.epoch {
            self.crawled.manifest.epoch = epoch;
            (self.served, self.trained) = (None, None);
            self.candidates.forget();
            self.cache.forget_epoch();
            scorer = Scorer::new(&text, bm25, epoch.end_seq, words())?;
        }
        let end = self.crawled.manifest.next_seq;
        let served = match self.served.take() {
            Some(served) => served,
            None => self.build(&scorer, self.web.workload, end)?,
        };
        if let Some(trainers) = self.web.trainers
            && self.trained.is_none()
        {
            if self.outcomes.is_empty() {
                self.learn_from_pseudo_cycles(&scorer, trainers)?;
            }
            self.trained = Some(self.build(&scorer, trainers, end)?);
        }
        let acted = act(self, &scorer, &served);
        self.served = Some(served);
        acted
    }

    /// The whole frontier in the order in which the next plan would rank it.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub fn ranking(&mut self) -> Result<Vec<UrlEstimate>, PolicyError> {
        let (_, choice) = self
            .with_lists(|planned, scorer, served| planned.choose(scorer, served, 0, &[], true))?;
        Ok(choice.batch.ranking)
    }

    /// Keeps what was foreseen of candidate pairs from now on.
    pub fn keep_foreseen(&mut self) {
        self.foreseen.kept = Some(Vec::new());
    }

    /// Pairs of the picks of closed cycles: where the pick comes from, its chance to enter the list,
    /// and whether it did.
    pub fn foreseen(&self) -> &[(Pool, f64, bool)] {
        self.foreseen.kept.as_deref().unwrap_or_default()
    }

    /// The workload, merged.
    pub fn queries(&self) -> &[Query] {
        &self.web.workload.queries
    }

    /// URLs that the crawl knows.
    pub fn urls(&self) -> &UrlTable {
        &self.crawled.known.urls
    }

    /// Pages that were fetched.
    pub fn fetched(&self) -> Vec<UrlId> {
        self.crawled.known.pages.crawled().map(|(_, url)| url).collect()
    }

    /// What questions about the next batch start from: pairs of all queries, made now.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub fn base(&mut self) -> Result<Base, PolicyError> {
        let base = self.with_lists(|planned, scorer, served| {
            let needy = planned.settings.needy.take();
            let chosen = planned.choose(scorer, served, 0, &[], false);
            planned.settings.needy = needy;
            let (scored, _) = chosen?;
            Ok(Base {
                queries: Arc::new(planned.web.workload.queries.clone()),
                served: Arc::new(served.clone()),
                scored: Arc::new(scored),
                improvability: Improvability::fit(&planned.outcomes),
                settings: planned.settings.clone(),
                next_seq: planned.crawled.manifest.next_seq,
            })
        })?;
        Ok(base)
    }

    /// The impact that each URL of a batch would have if the batch were fetched now, with queries
    /// asked as often as in `queries`, which are those of the workload.
    ///
    /// # Errors
    /// An index cannot be read.
    pub fn would_earn(&self, batch: &[UrlId], queries: &[Query]) -> Result<Vec<f64>, PolicyError> {
        let mut crawled = self.crawled.clone();
        for url in batch {
            crawled.take_in(self.crawled.ids.page[url.index()], false);
        }
        let Crawled { known, manifest, docs, .. } = crawled;
        let text = self.web.text.with_docs(docs);
        let (bm25, epoch_end) = (self.settings.bm25, manifest.epoch.end_seq);
        let words = self.web.workload.words();
        let scorer = Scorer::new(&text, bm25, epoch_end, words).map_err(CycleError::from)?;
        let mut served = match &self.served {
            Some(served) => served.clone(),
            None => self.build(&scorer, self.web.workload, self.crawled.manifest.next_seq)?,
        };
        let (end, all) = (manifest.next_seq, known.urls.len());
        served
            .update(&scorer, queries, end, &known.pages, &known.urls)
            .map_err(CycleError::from)?;
        let impact = served.impact(queries, all);
        Ok(batch.iter().map(|url| impact[url.index()]).collect())
    }

    fn pick(
        &mut self,
        scorer: &Scorer<'_>,
        served: &ServedLists,
        most: usize,
        taken: &[Page],
    ) -> Result<Vec<Page>, CycleError> {
        let (scored, choice) = self.choose(scorer, served, most, taken, false)?;
        let batch = choice.batch;
        let urls: Vec<UrlId> = batch.picks.iter().map(|pick| pick.estimate.url).collect();
        let predicted = predict_entry(&scored, served, &urls);
        self.foreseen.open.clear();
        for (pick, pairs) in batch.picks.iter().zip(predicted) {
            self.foreseen.open.extend(pairs.into_iter().map(|found| (pick.pool, found)));
        }
        let picks = || batch.picks.iter().map(|pick| &pick.estimate);
        self.open_picks = picks().map(|estimate| (estimate.url, estimate.parts)).collect();
        Ok(picks().map(|estimate| self.crawled.ids.page[estimate.url.index()]).collect())
    }

    fn choose(
        &mut self,
        scorer: &Scorer<'_>,
        served: &ServedLists,
        most: usize,
        taken: &[Page],
        whole_ranking: bool,
    ) -> Result<(ScoredPairs, Choice), CycleError> {
        let within = self.all_but(taken);
        let mut settings = self.settings.clone();
        settings.selection.budget = most;
        if settings.estimate.reads_page_rank() {
            self.ranks.update(&self.crawled.known, &self.crawled.manifest);
        }
        if let Some(vectors) = &self.web.vectors {
            self.rows.update(&self.crawled.known, vectors.table);
        }
        let embeddings = self.web.vectors.map(|vectors| Embeddings {
            strings: vectors.table,
            rows: &self.rows,
            titles: &self.crawled.titles,
            queries: vectors.table,
            asked: &self.asked,
        });
        let source = Visible { candidates: &self.candidates, ids: &self.crawled.ids };
        let input = PlanInput {
            estimate: EstimateInput {
                known: &self.crawled.known,
                around: &self.crawled.around,
                embeddings,
                manifest: &self.crawled.manifest,
                ranks: &self.ranks,
                scorer,
                frontier: &source,
                history: &source,
                queries: &self.web.workload.queries,
                served,
                within: &within,
                epoch_end: self.crawled.manifest.epoch.end_seq,
                past_picks: &self.past_picks,
                past_pairs: &self.foreseen.outcomes,
            },
            outcomes: &self.outcomes,
            whole_ranking,
        };
        choose(&input, &mut self.cache, &settings)
    }

    /// By URL: whether it may be planned; empty for all.
    fn all_but(&self, taken: &[Page]) -> Vec<bool> {
        if taken.is_empty() {
            return Vec::new();
        }
        let mut within = vec![true; self.crawled.known.urls.len()];
        for &page in taken {
            if let Some(slot) = within.get_mut(self.crawled.ids.of_page[page as usize] as usize) {
                *slot = false;
            }
        }
        within
    }

    fn build(
        &self,
        scorer: &Scorer<'_>,
        workload: &Workload,
        end: u32,
    ) -> Result<ServedLists, CycleError> {
        let (queries, urls) = (&workload.queries, &self.crawled.known.urls);
        Ok(ServedLists::build(scorer, queries, self.settings.places(), end, urls)?)
    }

    /// Closes the cycle of the last plan under the statistics it was made with: served lists are
    /// brought up to date, and what changed trains improvability.
    fn close(&mut self, scorer: &Scorer<'_>) -> Result<(), CycleError> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let end = self.crawled.manifest.next_seq;
        let (pages, urls) = (&self.crawled.known.pages, &self.crawled.known.urls);
        let watched =
            if self.web.trainers.is_some() { &mut self.trained } else { &mut self.served };
        let workload = self.web.trainers.unwrap_or(self.web.workload);
        if let Some(lists) = watched {
            let before = lists.clone();
            lists.update(scorer, &workload.queries, end, pages, urls)?;
            self.outcomes.extend(query_outcomes(&before, lists));
        }
        if let (Some(lists), true) = (&mut self.served, self.web.trainers.is_some()) {
            lists.update(scorer, &self.web.workload.queries, end, pages, urls)?;
        }
        if let Some(lists) = &self.served {
            self.foreseen.close(lists, pages);
        }
        let picks = std::mem::take(&mut self.open_picks);
        if let (Some(lists), true) = (&self.served, self.settings.estimate.learns_from_picks()) {
            let impact = lists.impact(&self.web.workload.queries, urls.len());
            let fetched = picks.into_iter().filter(|(url, _)| pages.page_seq(*url).is_some());
            self.past_picks.extend(fetched.map(|(url, parts)| PickOutcome {
                url,
                parts,
                realised: impact[url.index()],
            }));
        }
        Ok(())
    }

    /// Before the first plan: what the pseudo-cycles of an earlier crawl did to the trainers.
    fn learn_from_pseudo_cycles(
        &mut self,
        scorer: &Scorer<'_>,
        trainers: &Workload,
    ) -> Result<(), CycleError> {
        let starts: Vec<u32> =
            self.crawled.manifest.cycles.iter().map(|cycle| cycle.first_seq).collect();
        let ends = starts.iter().skip(1).copied().chain([self.crawled.manifest.next_seq]);
        let mut lists: Option<ServedLists> = None;
        for end in ends {
            let Some(before) = lists.take() else {
                lists = Some(self.build(scorer, trainers, end)?);
                continue;
            };
            let mut after = before.clone();
            let (pages, urls) = (&self.crawled.known.pages, &self.crawled.known.urls);
            after.update(scorer, &trainers.queries, end, pages, urls)?;
            self.outcomes.extend(query_outcomes(&before, &after));
            lists = Some(after);
        }
        Ok(())
    }
}

/// Candidate pairs of picks: those of the open plan, and what became of the others.
#[derive(Default)]
struct Foreseen {
    open: Vec<(Pool, EntryPrediction)>,
    outcomes: EntryOutcomes,
    /// One by one, where someone wants to know how well they were foreseen.
    kept: Option<Vec<(Pool, f64, bool)>>,
}

impl Foreseen {
    fn close(&mut self, lists: &ServedLists, pages: &PageTable) {
        self.outcomes.next_cycle();
        for (pool, EntryPrediction { pair, chance, margin }) in std::mem::take(&mut self.open) {
            if pages.page_seq(pair.url).is_none() {
                continue;
            }
            let list = &lists.lists[pair.query as usize];
            let entered = list.iter().any(|(url, _)| *url == pair.url);
            self.outcomes.add(pair.matches, margin, entered);
            if let Some(kept) = &mut self.kept {
                kept.push((pool, chance, entered));
            }
        }
    }
}

impl CrawlPolicy for Planned<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.crawled.id(page);
        }
        self.waiting += pages.len();
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.seeds.take(most, batch);
        if most > 0 && self.waiting > 0 {
            let mut picks = self.plan(most, batch, true)?;
            self.waiting -= picks.len();
            batch.append(&mut picks);
        }
        Ok(())
    }

    fn replay(&mut self, batch: &[Page]) -> Result<(), PolicyError> {
        let mut again = Vec::new();
        let most = self.seeds.take(batch.len(), &mut again);
        if !batch.starts_with(&again) {
            return Err(PolicyError::Replay);
        }
        if most > 0 && self.waiting > 0 {
            let learns = self.settings.estimate.learns_from_picks();
            let picks = self.plan(most, &again, learns)?;
            if learns && picks != batch[again.len()..] {
                return Err(PolicyError::Replay);
            }
            self.waiting -= batch.len() - again.len();
        }
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.batch.push((fetched.page, fetched.failed));
        self.waiting += fetched.new.len();
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        let batch = std::mem::take(&mut self.batch);
        if !self.is_open {
            self.crawled.manifest.add_cycles(batch.len() as u32);
        }
        for (page, failed) in batch {
            self.crawled.take_in(page, failed);
        }
        Ok(())
    }
}

/// Candidates of every query over the whole collection, found once per statistics epoch.
struct Candidates<'a> {
    strings: &'a NgramIndex<'a>,
    by_query: Vec<Mutex<Option<Vec<Page>>>>,
}

impl<'a> Candidates<'a> {
    fn new(web: &Web<'a>) -> Self {
        let by_query = web.workload.queries.iter().map(|_| Mutex::new(None)).collect();
        Self { strings: web.strings, by_query }
    }

    fn forget(&mut self) {
        for pages in &mut self.by_query {
            *pages.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// The candidates that the crawl knows, by their ids.
struct Visible<'a> {
    candidates: &'a Candidates<'a>,
    ids: &'a Ids,
}

impl MatchSource for Visible<'_> {
    fn candidates(
        &self,
        at: u32,
        query: &NgramQuery,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<UrlId>, NgramError> {
        let slot = &self.candidates.by_query[at as usize];
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let matches = self.candidates.strings.match_query(query, |_| false, scratch)?;
            *slot = Some(matches.iter().map(|found| found.url.0).collect());
        }
        let pages = slot.as_deref().unwrap_or_default();
        let ids = pages.iter().map(|&page| self.ids.of_page[page as usize]);
        let mut ids: Vec<UrlId> =
            ids.filter(|&id| id != NONE).map(UrlId).filter(|&id| !masked(id)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn is_exact(&self) -> bool {
        false
    }
}
