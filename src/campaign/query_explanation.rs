//! Why a query is planned for or not: how well it is answered, how much it needs, and what may come for it.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use serde::Serialize;

use super::plan::Plan;
use crate::estimate::url_estimate::PairEstimate;
use crate::planner::cycle::PlannedPick;
use crate::sketch::need::ImprovabilityFit;

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
    pub(crate) improvability_fit: Option<ImprovabilityFit>,
    /// Frequency times improvability.
    pub(crate) neediness: f64,
    /// Its rank among all queries by neediness, from 1.
    pub(crate) need_rank: usize,
    /// All queries, merged.
    pub(crate) queries: usize,
    /// Whether the plan is made for it.
    pub(crate) is_needy: bool,
    /// Its served list: the best pages that are crawled.
    pub(crate) served: Vec<ServedResult>,
    /// Its sketch: the best of the crawled pages by their scores and of the uncrawled candidates by those that are
    /// expected.
    pub(crate) sketch: Vec<SketchEntry>,
    /// Uncrawled candidates in all.
    pub(crate) candidates: usize,
    /// Of them those with the best chance to be in its list for good.
    pub(crate) best_candidates: Vec<SketchEntry>,
}

/// A page of a served list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ServedResult {
    /// The page.
    pub(crate) url: String,
    /// Its score.
    pub(crate) score: f64,
}

/// A page of a sketch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SketchEntry {
    /// The page.
    pub(crate) url: String,
    /// Its score, or the one that is expected.
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
}

impl QueryExplanation {
    /// Of the query at this place of a plan's workload; `picks` are those of the open plan.
    pub(crate) fn new(plan: &Plan, known: &Known, picks: &[PlannedPick], at: usize) -> Self {
        let (query, served) = (&plan.workload.queries[at], &plan.served);
        let improvability = plan.choice.improvability;
        let need = |at: usize| {
            plan.workload.queries[at].frequency * improvability.of(served.mean_score(at))
        };
        let before =
            |other: &usize| need(*other) > need(at) || (need(*other) == need(at) && *other < at);
        let queries = plan.workload.queries.len();
        let list = &served.lists[at];
        let mut pairs: Vec<&PairEstimate> =
            plan.scored.pairs().filter(|pair| pair.query.index() == at).collect();
        let url = |id: UrlId| known.urls.spelling(id).to_owned();
        let entry = |pair: &&PairEstimate| {
            let (score, interval) = plan.scored.score(pair);
            let (chance, planned_rank) = (pair.chance, rank(picks, pair.url));
            let candidate = Some(Candidate { interval, chance, planned_rank });
            SketchEntry { url: url(pair.url), score, candidate }
        };
        let expected = |pair: &PairEstimate| plan.scored.score(pair).0;
        pairs.sort_by(|a, b| b.chance.total_cmp(&a.chance).then(a.url.cmp(&b.url)));
        let best_candidates = pairs.iter().take(served.k).map(entry).collect();
        pairs.sort_by(|a, b| expected(b).total_cmp(&expected(a)).then(a.url.cmp(&b.url)));
        let crawled = list.iter().map(|&(page, score)| SketchEntry {
            url: url(page),
            score,
            candidate: None,
        });
        let mut sketch: Vec<SketchEntry> =
            crawled.chain(pairs.iter().take(served.k).map(entry)).collect();
        sketch.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.url.cmp(&b.url)));
        sketch.truncate(served.k);
        Self {
            schema: SCHEMA,
            qid: query.qid.clone(),
            query: query.text.clone(),
            frequency: query.frequency,
            k: served.k,
            mean_score: served.mean_score(at),
            kth_score: served.kth_score(at),
            empty_places: served.k - list.len(),
            improvability: improvability.of(served.mean_score(at)),
            improvability_fit: improvability.fitted(),
            neediness: need(at),
            need_rank: 1 + (0..queries).filter(before).count(),
            queries,
            is_needy: plan.choice.needy.binary_search(&at).is_ok(),
            served: list
                .iter()
                .map(|&(page, score)| ServedResult { url: url(page), score })
                .collect(),
            sketch,
            candidates: pairs.len(),
            best_candidates,
        }
    }
}

fn rank(picks: &[PlannedPick], url: UrlId) -> Option<usize> {
    picks.iter().position(|pick| pick.url == url).map(|at| at + 1)
}
