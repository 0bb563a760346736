//! Why a query is planned for or not: how well it is answered, how much it needs, and what may come for it.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use serde::Serialize;

use super::planned::{LearnedImprovability, Plan};
use crate::estimate::url_estimate::PairEstimate;
use crate::planner::cycle::PlannedPick;
use crate::planner::within::may;
use crate::sketch::need::{Improvability, Needy, by_need};
use crate::workload::{Query, Workload};

/// Schema of a [`QueryExplanation`] as JSON.
pub(crate) const SCHEMA: &str = "prospect.explain-query/1";

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct QueryExplanation {
    /// [`SCHEMA`].
    pub(crate) schema: &'static str,
    /// The query's id.
    pub(crate) qid: String,
    /// As typed.
    pub(crate) query: String,
    /// How often it is asked.
    pub(crate) frequency: f64,
    /// K, the length of its list.
    pub(crate) k: usize,
    /// Mean score of its list, empty places 0.
    pub(crate) mean_score: f64,
    /// Score of the K-th result, which a new page has to beat; 0 while places are empty.
    pub(crate) kth_score: f64,
    /// Places that nobody has.
    pub(crate) empty_places: usize,
    /// New results in a cycle that its mean score makes one expect; 1 for all before anything is learned.
    pub(crate) improvability: f64,
    /// What that is fitted on, and how well; none before anything is learned.
    pub(crate) improvability_fit: Option<LearnedImprovability>,
    /// Frequency times improvability.
    pub(crate) neediness: f64,
    /// Its rank among all queries by neediness, from 1.
    pub(crate) need_rank: usize,
    /// All queries, merged.
    pub(crate) queries: usize,
    /// Whether the plan is made for it.
    pub(crate) is_needy: bool,
    /// Its served list: the best pages that are crawled.
    pub(crate) served: Vec<SketchEntry>,
    /// Its sketch: the best of the crawled pages by their scores and of the uncrawled candidates by those that are
    /// expected.
    pub(crate) sketch: Vec<SketchEntry>,
    /// Uncrawled candidates in all.
    pub(crate) candidates: usize,
    /// Of them those with the best chance to be in its list for good.
    pub(crate) best_candidates: Vec<SketchEntry>,
}

/// A page of a sketch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SketchEntry {
    /// The page.
    pub(crate) url: String,
    /// Its score; of a candidate the mean of pages that were expected to score about as much.
    pub(crate) score: f64,
    /// What is not known of a crawled page.
    #[serde(flatten)]
    pub(crate) candidate: Option<Candidate>,
}

/// What is expected of an uncrawled page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Candidate {
    /// Ends of the interval that holds 95 % of such pages' scores; none before they are learned.
    pub(crate) interval: Option<(f64, f64)>,
    /// Chance to be in the list for good.
    pub(crate) chance: f64,
    /// Position in the batch, from 1, if it is picked.
    pub(crate) planned_rank: Option<usize>,
    /// Whether it may be planned now: it is in scope and on the list, not in flight of an older plan, no other spelling, and does
    /// not wait.
    pub(crate) plannable: bool,
}

impl QueryExplanation {
    /// Of the query at this place of the workload of a `plan` for all queries; `picks` are those of the open plan, and
    /// `wanted` the queries that it was made for.
    pub(crate) fn new(
        plan: &Plan,
        known: &Known,
        picks: &[PlannedPick],
        wanted: Option<Needy>,
        at: usize,
    ) -> Self {
        let Plan { served, scored, workload: Workload { queries }, .. } = plan;
        let fit = plan.improvability.as_ref().map(|learned| learned.fit);
        let improvability = Improvability::new(fit, served.k);
        let need = |(at, query): (usize, &Query)| {
            improvability.need(query.frequency, served.mean_score(at))
        };
        let need: Vec<f64> = queries.iter().enumerate().map(need).collect();
        let before = by_need(&need).into_iter().take_while(|&other| other != at).count();
        let pairs = scored.pairs().filter(|pair| pair.query.index() == at);
        let candidates: Vec<Ranked> =
            pairs.map(|pair| (pair.url, scored.score(&pair).0, Some(pair))).collect();
        let list = &served.lists[at];
        let crawled = list.iter().map(|&(page, score)| (page, score, None));
        let lists = Lists { plan, known, picks };
        let (query, mean_score) = (&queries[at], served.mean_score(at));
        Self {
            schema: SCHEMA,
            qid: query.qid.clone(),
            query: query.text.clone(),
            frequency: query.frequency,
            k: served.k,
            mean_score,
            kth_score: served.kth_score(at),
            empty_places: served.k - list.len(),
            improvability: improvability.of(mean_score),
            improvability_fit: plan.improvability.clone(),
            neediness: need[at],
            need_rank: before + 1,
            queries: queries.len(),
            is_needy: wanted.is_none_or(|wanted| before < wanted.of(queries.len())),
            served: lists.best(crawled.clone().collect(), |row| row.1),
            sketch: lists.best(crawled.chain(candidates.iter().copied()).collect(), |row| row.1),
            candidates: candidates.len(),
            best_candidates: lists.best(candidates, |row| row.2.map_or(0.0, |pair| pair.chance)),
        }
    }
}

/// A page with its score, or the one that is expected of a candidate.
type Ranked = (UrlId, f64, Option<PairEstimate>);

/// What lists of pages are told by.
struct Lists<'a> {
    plan: &'a Plan,
    known: &'a Known,
    picks: &'a [PlannedPick],
}

impl Lists<'_> {
    /// The pages of the highest value, as many as a list has places; of equals those whose URL comes first.
    fn best(&self, mut rows: Vec<Ranked>, value: fn(&Ranked) -> f64) -> Vec<SketchEntry> {
        let urls = &self.known.urls;
        rows.sort_by(|a, b| {
            let by_url = || urls.url(a.0).cmp(urls.url(b.0));
            value(b).total_cmp(&value(a)).then_with(by_url)
        });
        rows.into_iter().take(self.plan.served.k).map(|row| self.entry(row)).collect()
    }

    fn entry(&self, (url, score, pair): Ranked) -> SketchEntry {
        let candidate = pair.map(|pair| Candidate {
            interval: self.plan.scored.score(&pair).1,
            chance: pair.chance,
            planned_rank: self.rank(url),
            plannable: may(&self.plan.plannable.within, url),
        });
        SketchEntry { url: self.known.urls.spelling(url).to_owned(), score, candidate }
    }

    fn rank(&self, url: UrlId) -> Option<usize> {
        self.picks.iter().position(|pick| pick.url == url).map(|at| at + 1)
    }
}
