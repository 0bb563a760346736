//! A plan under a scenario.

use std::sync::Arc;

use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::url_table::UrlTable;

use super::hosts::Hosts;
use super::scenario::{Scenario, ScenarioError};
use super::workload::Asked;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_estimate::PairEstimate;
use crate::planner::choose::{Again, Choice, ChoiceInput, choose_among, needy};
use crate::planner::expected_batch::{ExpectedBatch, Expecting};
use crate::planner::expected_impact::RealisedShares;
use crate::planner::revisits::Changes;
use crate::planner::settings::PlanSettings;
use crate::sketch::need::Improvability;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// What all answers start from: the pairs of one state of a store, for one workload.
#[derive(Clone)]
pub(crate) struct Base {
    /// Queries of the workload, no two with the same words.
    pub(crate) queries: Arc<Vec<Query>>,
    /// Their served lists.
    pub(crate) served: Arc<ServedLists>,
    /// Pairs of all of them.
    pub(crate) scored: Arc<ScoredPairs>,
    /// How much lists can be improved.
    pub(crate) improvability: Improvability,
    /// Settings of the plan that scenarios change.
    pub(crate) settings: PlanSettings,
    /// Which shares of what is said of batches are realised.
    pub(crate) shares: RealisedShares,
    /// Pages of the crawl.
    pub(crate) pages: usize,
    /// The record that comes next.
    pub(crate) next_seq: u32,
    /// By query: what it still lacks, if that counts; see [`ChoiceInput::lack`].
    pub(crate) lack: Arc<Vec<f64>>,
    /// What a crawler has still to ask for.
    pub(crate) in_flight: Arc<Vec<UrlId>>,
    /// How fetched pages change.
    pub(crate) changes: Arc<Changes>,
}

/// Pairs and lists of queries that the base does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Matched {
    /// Their pairs; queries count on from those of the base.
    pub(crate) pairs: Vec<PairEstimate>,
    /// Their served lists.
    pub(crate) lists: Vec<Vec<(UrlId, f64)>>,
    /// Their idf masses.
    pub(crate) masses: Vec<f64>,
}

/// A plan under a scenario, with all it was made from.
pub struct Answer {
    /// Settings of the plan.
    pub(crate) settings: PlanSettings,
    /// Queries with their frequencies.
    pub(crate) queries: Vec<Query>,
    /// Their served lists.
    pub(crate) served: Arc<ServedLists>,
    /// Pairs of all of them.
    pub scored: Arc<ScoredPairs>,
    /// What estimates were multiplied with; see [`ChoiceInput::factors`].
    pub(crate) factors: Vec<f64>,
    /// The ranking and the batch.
    pub(crate) choice: Choice,
    /// What the batch is expected to bring. Weights, and what hosts count for, change what is picked, not
    /// this.
    pub(crate) expected: ExpectedBatch,
    /// URLs that count as fetched, and compete for places.
    rivals: Vec<UrlId>,
    shares: RealisedShares,
    pages: usize,
    /// What a crawler has still to ask for.
    pub(crate) in_flight: Arc<Vec<UrlId>>,
}

impl Answer {
    /// URLs of the batch.
    pub(crate) fn urls(&self) -> Vec<UrlId> {
        self.choice.batch.picks.iter().map(|pick| pick.estimate.url).collect()
    }

    /// Whether a scenario says that a URL is fetched.
    pub(super) fn counts_as_fetched(&self, url: UrlId) -> bool {
        self.rivals.contains(&url)
    }

    /// What other batches than its own are judged by.
    pub(crate) fn expecting(&self) -> Expecting<'_> {
        Expecting {
            queries: &self.queries,
            served: &self.served,
            scored: &self.scored,
            rivals: &self.rivals,
            shares: self.shares,
            pages: self.pages,
        }
    }
}

impl Base {
    /// The base with queries that have been matched since.
    #[must_use]
    pub(crate) fn with(&self, asked: &Asked, matched: &Matched) -> Self {
        if matched.lists.is_empty() {
            return self.clone();
        }
        let mut served = (*self.served).clone();
        served.lists.extend_from_slice(&matched.lists);
        Self {
            queries: Arc::new(asked.queries.clone()),
            served: Arc::new(served),
            scored: Arc::new(self.scored.with_pairs(&matched.pairs, &matched.masses)),
            ..self.clone()
        }
    }

    /// Plans under a scenario, for `asked`, the queries that it gives of those of this base.
    ///
    /// # Errors
    /// A value of the scenario is out of range.
    pub(crate) fn answer(
        &self,
        scenario: &Scenario,
        asked: &Asked,
        urls: &UrlTable,
        hosts: &Hosts,
    ) -> Result<Answer, ScenarioError> {
        let settings = scenario.settings(&self.settings)?;
        let rivals = fetched(scenario, urls)?;
        let by_host = hosts.by_host(scenario)?;
        let factors = hosts.factors(&by_host, &self.scored, urls, &rivals);
        let changes = hosts.changes(&by_host, &self.changes);
        let queries = asked.queries.clone();
        let needy = needy(&queries, &self.served, || self.improvability, &settings);
        let input = ChoiceInput {
            queries: &queries,
            served: &self.served,
            urls,
            next_seq: self.next_seq,
            whole_ranking: true,
            factors: &factors,
            lack: &self.lack,
            in_flight: &self.in_flight,
            again: Some(Again { changes: &changes, shares: self.shares, pages: self.pages }),
        };
        let choice = choose_among(&input, &self.scored, needy, &settings);
        let (served, scored) = (Arc::clone(&self.served), Arc::clone(&self.scored));
        let (shares, pages) = (self.shares, self.pages);
        let expected = ExpectedBatch::default();
        let in_flight = Arc::clone(&self.in_flight);
        let mut answer = Answer {
            settings,
            queries,
            served,
            scored,
            factors,
            choice,
            expected,
            rivals,
            shares,
            pages,
            in_flight,
        };
        answer.expected = answer.expecting().batch(&answer.choice.batch);
        Ok(answer)
    }
}

/// URLs that count as fetched in a scenario.
fn fetched(scenario: &Scenario, urls: &UrlTable) -> Result<Vec<UrlId>, ScenarioError> {
    let known = |given: &String| urls.get(&url::canonical(given.trim()).ok()?);
    let mut found: Vec<UrlId> = scenario.fetched.iter().filter_map(known).collect();
    let (all, unknown) = (scenario.fetched.len(), scenario.fetched.len() - found.len());
    if unknown > 0
        && let Some(first) = scenario.fetched.iter().find(|given| known(given).is_none())
    {
        let what = format!("{unknown} of {all} URLs are not known; the first is {first:?}");
        return Err(ScenarioError::new("fetched", what));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
