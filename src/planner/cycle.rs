//! The crawl cycle: what a plan promises when it is opened, what became of it when it is closed, and what is
//! learned from that. Also when statistics are frozen anew.

use std::collections::{HashMap, HashSet};

use prospect_index::bm25::Scorer;
use prospect_index::error::StoreError;
use prospect_index::manifest::{Epoch, Manifest};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, Known, PageTable};

use super::expected_impact::{BatchSize, ListChances, Lists};
use super::revisits::{PlannedRevisit, RevisitOutcome};
use crate::estimate::models::entry::EntryOutcomes;
use crate::estimate::parts::Parts;
use crate::estimate::predict_entry::predict_entry;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::site_reliability::PickOutcome;
use crate::plan::Pick;
use crate::plan::explore::Pool;
use crate::sketch::need::QueryOutcome;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::{Query, QueryId};

/// Pages must grow by this factor before statistics are frozen anew (METHODS, section 7).
pub(crate) const EPOCH_GROWTH: f64 = 1.1;

/// The epoch to plan in: a new one when pages that are new or were replaced come to a tenth of the collection.
pub(crate) fn current_epoch(manifest: &Manifest, pages: &PageTable) -> Epoch {
    let epoch = manifest.epoch;
    let then = pages_at(pages, epoch.end_seq);
    let new = pages.crawled().filter(|(seq, _)| *seq >= epoch.end_seq).count();
    let has_grown = new > 0 && (then + new) as f64 >= EPOCH_GROWTH * then as f64;
    if epoch.number > 0 && !has_grown {
        return epoch;
    }
    Epoch { number: epoch.number + 1, end_seq: manifest.next_seq, urls: manifest.urls }
}

/// Pages that were current when the next record was `end`.
pub(crate) fn pages_at(pages: &PageTable, end: u32) -> usize {
    (0..end).filter(|&seq| pages.record(seq).is_some_and(|(_, at)| at >= end)).count()
}

/// The same for each record up to `end`, that included.
pub(crate) fn pages_by_record(pages: &PageTable, end: u32) -> Vec<u32> {
    // What one record changes: a page came, or was replaced.
    let mut changes = vec![0_i32; end as usize + 2];
    for seq in 0..end {
        if let Some((_, replaced_at)) = pages.record(seq) {
            changes[seq as usize + 1] += 1;
            if replaced_at < end {
                changes[replaced_at as usize + 1] -= 1;
            }
        }
    }
    let mut current = 0;
    let sums = changes[..=end as usize].iter().map(|change| {
        current += change;
        current as u32
    });
    sums.collect()
}

/// A pick of a plan, or what a plan could have picked, with what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedPick {
    /// The URL.
    pub(crate) url: UrlId,
    /// Where it comes from.
    pub(crate) pool: Pool,
    /// Probability with which it was picked.
    pub(crate) propensity: f64,
    /// Parts of the estimate.
    pub(crate) parts: Parts,
    /// Blended estimate.
    pub(crate) estimate: f64,
}

/// A candidate pair of a pick, with what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedPair {
    /// The URL.
    pub(crate) url: UrlId,
    /// The query, by place in the plan's workload.
    pub(crate) query: QueryId,
    /// Chance that its impact was estimated with: to be in the list for good.
    pub(crate) chance: f64,
    /// Chance to be in the list at the close of the cycle.
    pub(crate) entry_chance: f64,
    /// What that chance rises with: log odds to beat what the K-th page will score.
    pub(crate) margin: f64,
    /// Whether the URL or its anchors match the query.
    pub(crate) matches: bool,
}

/// A plan whose batch is being fetched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenPlan {
    /// The batch, in its order.
    pub(crate) picks: Vec<PlannedPick>,
    /// Candidate pairs of the picks, by pick, then query.
    pub(crate) pairs: Vec<PlannedPair>,
    /// What is expected of the picks that were fetched before.
    pub(crate) revisits: Vec<PlannedRevisit>,
}

impl From<&Pick> for PlannedPick {
    fn from(pick: &Pick) -> Self {
        Self {
            url: pick.estimate.url,
            pool: pick.pool,
            propensity: pick.propensity,
            parts: pick.estimate.parts,
            estimate: pick.estimate.estimate,
        }
    }
}

impl OpenPlan {
    /// By pick, what became of it if it was planned when the next record was `start`.
    pub(crate) fn states(&self, pages: &PageTable, start: u32) -> Vec<PickState> {
        self.picks.iter().map(|pick| PickState::of(pages, pick.url, start)).collect()
    }

    /// The plan that picks from scored pairs, beside the lists that are served now.
    pub(crate) fn new(scored: &ScoredPairs, served: &ServedLists, picks: &[Pick]) -> Self {
        let urls: Vec<UrlId> = picks.iter().map(|pick| pick.estimate.url).collect();
        let pairs = predict_entry(scored, served, &urls).into_iter().flatten();
        let pairs = pairs.map(|predicted| PlannedPair {
            url: predicted.pair.url,
            query: predicted.pair.query,
            chance: predicted.pair.chance,
            entry_chance: predicted.chance,
            margin: predicted.margin,
            matches: predicted.pair.matches,
        });
        let picks = picks.iter().map(PlannedPick::from).collect();
        Self { picks, pairs: pairs.collect(), revisits: Vec::new() }
    }

    /// Picks that were not fetched before.
    pub(crate) fn new_picks(&self) -> usize {
        self.picks.iter().filter(|pick| pick.pool != Pool::Revisit).count()
    }

    /// What chances say of the picks, if all of them are fetched beside so many `pages`.
    pub(crate) fn chances(&self, pages: usize, lists: Lists<'_>) -> ListChances {
        let size = BatchSize::beside(pages, self.new_picks() as f64);
        PlannedPair::chances(self.pairs.iter(), size, lists)
    }

    /// The same, if as many come as the picks of the batch are expected to give pages.
    pub(crate) fn chances_to_come(
        &self,
        picks: &[Pick],
        pages: usize,
        lists: Lists<'_>,
    ) -> ListChances {
        let new = picks.iter().filter(|pick| pick.pool != Pool::Revisit);
        let fetch: HashMap<UrlId, f64> =
            new.clone().map(|pick| (pick.estimate.url, pick.estimate.fetch)).collect();
        let come = new.fold(0.0, |sum, pick| sum + pick.estimate.fetch);
        let comes = |url| fetch.get(&url).copied().unwrap_or(0.0);
        let of_pair = |pair: &PlannedPair| (pair.query, comes(pair.url) * pair.entry_chance);
        let size = BatchSize::beside(pages, come);
        ListChances::new(self.pairs.iter().map(of_pair), size, lists)
    }
}

impl PlannedPair {
    /// What the chances of these pairs to enter say of a batch.
    pub(crate) fn chances<'a>(
        pairs: impl Iterator<Item = &'a Self>,
        size: BatchSize,
        lists: Lists<'_>,
    ) -> ListChances {
        ListChances::new(pairs.map(|pair| (pair.query, pair.entry_chance)), size, lists)
    }

    /// Impact of pages that are in the lists of these pairs, at a place of mean visibility each.
    pub(crate) fn impact<'a>(
        pairs: impl Iterator<Item = &'a Self>,
        queries: &[Query],
        places: Places,
    ) -> f64 {
        let visible = pairs.map(|pair| queries[pair.query.index()].frequency * places.mean());
        visible.fold(0.0, |sum, impact| sum + impact)
    }
}

/// What became of a pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PickState {
    /// Its page was fetched.
    Fetched,
    /// Its fetch failed.
    Failed,
    /// It leads to another URL, whose page was there or is not.
    Redirected,
    /// It leads to another URL, whose page came first by that.
    LedToNew,
    /// Its page was fetched again, and had changed.
    Changed,
    /// Its page was fetched again, and was what it had been.
    Unchanged,
    /// Nobody reported it: it may be anything.
    Unknown,
}

impl PickState {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Fetched,
        Self::Failed,
        Self::Redirected,
        Self::LedToNew,
        Self::Changed,
        Self::Unchanged,
    ];

    /// As records have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Failed => "failed",
            Self::Redirected => "redirected",
            Self::LedToNew => "led to new",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Unknown => "unknown",
        }
    }

    /// Of a URL that was planned when the next record was `start`, as of now.
    pub(crate) fn of(pages: &PageTable, url: UrlId, start: u32) -> Self {
        match pages.fetch(url) {
            Fetch::Never => Self::Unknown,
            Fetch::Failed { seq, .. } if seq < start => Self::Unknown,
            Fetch::Page { .. } => Self::Fetched,
            Fetch::Failed { .. } => Self::Failed,
            Fetch::Redirected { seq } => Self::of_redirect(pages, seq),
        }
    }

    /// Of a URL that leads to another one by this record.
    pub(crate) fn of_redirect(pages: &PageTable, seq: u32) -> Self {
        if pages.discovered_by(seq).is_some() { Self::LedToNew } else { Self::Redirected }
    }

    /// Whether a page came by it that was not there before.
    pub(crate) fn is_new_page(self) -> bool {
        matches!(self, Self::Fetched | Self::LedToNew)
    }
}

/// A pick and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosedPick {
    /// The pick.
    pub(crate) pick: PlannedPick,
    /// What became of it.
    pub(crate) state: PickState,
    /// The page that came by it; its own URL where none did.
    pub(crate) page: UrlId,
    /// Impact that its page has: f(q) V(rank) over the lists that it is in.
    pub(crate) realised: f64,
}

/// A candidate pair of a fetched pick, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClosedPair {
    /// The pair.
    pub(crate) pair: PlannedPair,
    /// Where its pick comes from.
    pub(crate) pool: Pool,
    /// Whether the page is in the query's list.
    pub(crate) entered: bool,
}

/// What became of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Closed {
    /// Its picks, in the order of the batch.
    pub(crate) picks: Vec<ClosedPick>,
    /// Candidate pairs of those that were fetched.
    pub(crate) pairs: Vec<ClosedPair>,
    /// What the whole cycle did to its queries.
    pub(crate) queries: Vec<QueryOutcome>,
    /// What became of the picks that were fetched before, if there are any.
    pub(crate) revisits: Option<RevisitOutcome>,
    /// By query: places of its list that were taken before.
    pub(crate) taken: Vec<u32>,
    /// Pages of the crawl.
    pub(crate) pages: usize,
}

impl Closed {
    /// Impact of the new pages.
    pub(crate) fn realised(&self) -> f64 {
        let fetched = self.picks.iter().filter(|closed| closed.state.is_new_page());
        fetched.fold(0.0, |sum, closed| sum + closed.realised)
    }

    /// Picks that gave a new page.
    pub(crate) fn new_pages(&self) -> usize {
        self.picks.iter().filter(|closed| closed.state.is_new_page()).count()
    }

    /// What chances said of the fetched picks.
    pub(crate) fn chances(&self, queries: &[Query], places: Places) -> ListChances {
        let pairs = self.pairs.iter().map(|row| &row.pair);
        let size = BatchSize::within(self.pages, self.new_pages());
        PlannedPair::chances(pairs, size, Lists { queries, taken: &self.taken, places })
    }

    /// Impact in lists that the fetched picks were candidates of.
    pub(crate) fn foreseen(&self, queries: &[Query], places: Places) -> f64 {
        let entered = self.pairs.iter().filter(|row| row.entered).map(|row| &row.pair);
        PlannedPair::impact(entered, queries, places)
    }
}

/// The page that came by asking for a URL: its own, or a new one where it led to.
pub(crate) fn page_by(pages: &PageTable, url: UrlId) -> UrlId {
    match pages.fetch(url) {
        Fetch::Redirected { seq } => pages.discovered_by(seq).unwrap_or(url),
        _ => url,
    }
}

/// Closes a plan in a crawl with these `pages`, of whose picks this became, for queries of which these lists were
/// served `before` its batch and are `after`, under the statistics of its epoch; `impact` is what pages add to
/// `after`, by URL.
pub(crate) fn close(
    open: &OpenPlan,
    pages: &PageTable,
    states: &[PickState],
    impact: &[f64],
    (before, after): (&ServedLists, &ServedLists),
) -> Closed {
    let own: HashSet<UrlId> = open.picks.iter().map(|pick| pick.url).collect();
    let picks = open.picks.iter().zip(states);
    let picks: Vec<ClosedPick> =
        picks.map(|(pick, state)| closed_pick(*pick, *state, pages, &own, impact)).collect();
    let revisits = revisits(&open.revisits, &picks);
    let came = picks.iter().filter(|closed| closed.state.is_new_page());
    let came: HashMap<UrlId, &ClosedPick> = came.map(|closed| (closed.pick.url, closed)).collect();
    let mut pairs = Vec::new();
    for &pair in &open.pairs {
        let Some(closed) = came.get(&pair.url) else { continue };
        let entered = after.lists[pair.query.index()].iter().any(|(url, _)| *url == closed.page);
        pairs.push(ClosedPair { pair, pool: closed.pick.pool, entered });
    }
    let queries = query_outcomes(before, after);
    Closed { picks, pairs, queries, revisits, taken: before.taken(), pages: pages.len() }
}

/// What became of a pick, given the URLs that are `own` picks of the plan; `impact` is that of pages, by URL.
fn closed_pick(
    pick: PlannedPick,
    state: PickState,
    pages: &PageTable,
    own: &HashSet<UrlId>,
    impact: &[f64],
) -> ClosedPick {
    let page = page_by(pages, pick.url);
    // What another pick is for counts once.
    let (state, page) = match state {
        PickState::LedToNew if own.contains(&page) => (PickState::Redirected, pick.url),
        state => (state, page),
    };
    // What a page has in the lists is no success of a visit that brought nothing new.
    let counts = pick.pool != Pool::Revisit || state == PickState::Changed;
    let realised = if counts { impact[page.index()] } else { 0.0 };
    ClosedPick { pick, state, page, realised }
}

/// What became of re-visits; none if there were none.
fn revisits(planned: &[PlannedRevisit], picks: &[ClosedPick]) -> Option<RevisitOutcome> {
    let closed: HashMap<UrlId, &ClosedPick> =
        picks.iter().map(|closed| (closed.pick.url, closed)).collect();
    let mut outcome = RevisitOutcome::default();
    for revisit in planned {
        if let Some(closed) = closed.get(&revisit.url) {
            outcome.add(revisit, closed.state, closed.realised);
        }
    }
    (outcome.planned > 0).then_some(outcome)
}

/// What became of queries between two served lists under the same statistics.
pub(crate) fn query_outcomes(before: &ServedLists, after: &ServedLists) -> Vec<QueryOutcome> {
    let queries = before.lists.iter().zip(&after.lists).enumerate();
    queries
        .map(|(at, (old, new))| {
            let entered = new.iter().filter(|(url, _)| !old.iter().any(|(o, _)| o == url));
            QueryOutcome { mean_before: before.mean_score(at), new_results: entered.count() as f64 }
        })
        .collect()
}

/// What past cycles without a plan, and the pseudo-cycles of an ingest, did to queries: what improvability is
/// fitted on before the first outcome.
///
/// # Errors
/// The index cannot be read.
pub(crate) fn pseudo_outcomes(
    scorer: &Scorer<'_>,
    queries: &[Query],
    places: Places,
    known: &Known,
    manifest: &Manifest,
) -> Result<Vec<QueryOutcome>, StoreError> {
    let starts = manifest.cycles.iter().skip(1).map(|cycle| cycle.first_seq);
    let mut ends = starts.chain([manifest.next_seq]);
    let mut outcomes = Vec::new();
    let Some(first) = ends.next().filter(|_| !manifest.cycles.is_empty()) else {
        return Ok(outcomes);
    };
    let mut lists = ServedLists::build(scorer, queries, places, first, &known.urls)?;
    for end in ends {
        let before = lists.clone();
        lists.update(scorer, queries, end, &known.pages, &known.urls)?;
        outcomes.extend(query_outcomes(&before, &lists));
    }
    Ok(outcomes)
}

/// What closed cycles left to learn from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Fetched picks.
    pub(crate) picks: Vec<PickOutcome>,
    /// Their candidate pairs at the close, by margin.
    pub(crate) pairs: EntryOutcomes,
    /// Queries.
    pub(crate) queries: Vec<QueryOutcome>,
}

impl Past {
    /// Takes in a cycle that was closed; what became of queries is for [`Past::queries`].
    pub(crate) fn learn(&mut self, closed: &Closed) {
        self.pairs.next_cycle();
        for ClosedPair { pair, entered, .. } in &closed.pairs {
            self.pairs.add(pair.matches, pair.margin, *entered);
        }
        let fetched = closed.picks.iter().filter(|closed| closed.state.is_new_page());
        self.picks.extend(fetched.map(|closed| PickOutcome {
            url: closed.pick.url,
            parts: closed.pick.parts,
            realised: closed.realised,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_a_url_brings_its_page_or_the_new_one_that_it_leads_to() {
        let mut pages = PageTable::default();
        let [asked, page, old, other] = [0, 1, 2, 3].map(UrlId);
        assert_eq!(page_by(&pages, asked), asked, "nothing came yet");
        pages.note(page, 0, 200, Some(asked));
        assert_eq!([asked, page].map(|url| page_by(&pages, url)), [page; 2]);
        pages.note(old, 1, 200, None);
        pages.note(old, 2, 200, Some(other));
        assert_eq!(page_by(&pages, other), other, "that page was there");
    }
}
