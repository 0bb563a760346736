//! One state of a store with the candidate pairs of a workload: what questions are asked of.
//!
//! Pairs, their chances and what models expect of URLs are made once, for all queries, needy or not.
//! Questions about frequencies, weights, budgets, caps and hosts need nothing more. New queries are
//! matched with the frontier by the same models; other lengths of lists and another rule of matching
//! ask for all pairs again, with the models, the weights and the page estimates of this state, so
//! that answers can be compared.

use std::sync::Arc;

use prospect_index::manifest::Epoch;

use super::history::ReadCycles;
use super::open_plans::older_plans;
use crate::campaign::changes::changes;
use crate::campaign::identity::plan_id;
use crate::campaign::pair_cache::Made;
use crate::campaign::plan::{self, PlanRecord};
use crate::campaign::plan_course;
use crate::campaign::plannable::Plannable;
use crate::campaign::planned::Refreshed;
use crate::campaign::reading::{Prepared, Reading};
use crate::campaign::records;
use crate::campaign::{CampaignError, OpenStore, history, pair_cache, sufficiency};
use crate::estimate::cache::PlannerCache;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::planner::cycle::{OpenPlan, Past};
use crate::planner::expected_impact::mean_frequency;
use crate::planner::options::{Invalidates, invalidated};
use crate::planner::retries::Retries;
use crate::planner::room::room;
use crate::planner::settings::PlanSettings;
use crate::sketch::need::Improvability;
use crate::whatif::answer::{Answer, Base, Matched};
use crate::whatif::workload::Asked;
use crate::workload::{Query, QueryId, Workload};

/// See the module.
pub(crate) struct WhatIfBase {
    /// What answers start from.
    pub(crate) base: Base,
    /// Content hash of everything that the plan without a scenario depends on.
    pub(crate) plan_id: String,
    /// What was recomputed.
    pub(crate) refreshed: Refreshed,
    epoch: Epoch,
    cache: PlannerCache,
    past: Arc<Past>,
    /// By URL id: the list that it is held to; empty for none.
    listed: Vec<bool>,
    /// By URL id: what may be planned; empty for all.
    pub(super) within: Vec<bool>,
    /// What was left out of it, since its fetch failed not long ago.
    pub(crate) retries: Retries,
}

impl WhatIfBase {
    /// Of an open store, for a workload. `listed` tells by URL id what may be planned; empty for all.
    ///
    /// # Errors
    /// The store has no page, an index cannot be read, or a model cannot be fitted.
    pub(crate) fn new(
        open: &OpenStore,
        workload: &Workload,
        listed: Vec<bool>,
        settings: PlanSettings,
    ) -> Result<Self, CampaignError> {
        let prepared = Prepared::new(open, workload, &settings, None)?;
        let all: Vec<usize> = (0..prepared.workload.queries.len()).collect();
        let manifest = open.store.manifest();
        let beside = older_plans(manifest);
        let Plannable { within, in_flight, retries } =
            open.plannable(listed.clone(), &settings.scope, beside.len())?;
        let made = pair_cache::load(open, &prepared, &within, &all, &settings)?;
        let Made { scored, cache, recomputed, damaged } = made;
        let plan_id = plan_id(open, &prepared.workload, &settings, beside)?;
        let Prepared { workload, epoch, served, served_refresh, past, unread, .. } = prepared;
        let refreshed = Refreshed { served: served_refresh, recomputed, damaged, unread };
        let mean_frequency = mean_frequency(&workload.queries);
        let (pages, places) = (&open.known.pages, served.places());
        let (are_learned, mut cycles) = (past.pairs.suffice(), ReadCycles::default());
        let shares =
            history::shares(&open.store, pages, mean_frequency, places, are_learned, &mut cycles)?;
        let lack = sufficiency::lack(open, &workload.queries, &settings)?;
        let base = Base {
            queries: Arc::new(workload.queries),
            shares,
            pages: pages.len(),
            served: Arc::new(served),
            scored: Arc::new(scored),
            improvability: Improvability::fit(&past.queries, places.k),
            next_seq: manifest.next_seq,
            lack: Arc::new(lack),
            in_flight: Arc::new(in_flight),
            changes: Arc::new(changes(open, &within)?),
            settings,
        };
        Ok(Self { base, plan_id, refreshed, epoch, cache, past, listed, within, retries })
    }

    /// URLs that there is time for under settings, at least one; none where there is any.
    pub(super) fn room(&self, open: &OpenStore, settings: &PlanSettings) -> Option<usize> {
        settings.selection.caps.time.seconds?;
        let again = !settings.selection.revisit.is_none();
        Some(room(&open.known, &self.within, again, settings, &self.base.in_flight).max(1))
    }

    /// Pairs and lists of the queries that the base does not know.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn matched(
        &self,
        open: &OpenStore,
        asked: &Asked,
    ) -> Result<Matched, CampaignError> {
        let queries = &asked.queries[asked.known..];
        if queries.is_empty() {
            return Ok(Matched::default());
        }
        let settings = &self.base.settings;
        let reading = Reading::new(open, queries, settings, self.epoch, None)?;
        let served = reading.lists(queries, settings.places())?;
        let input = reading.input(queries, &served, &self.within, &self.past)?;
        let mut pairs = ScoredPairs::pairs_for(&input, &self.cache, &settings.estimate)?;
        for pair in &mut pairs {
            pair.query = QueryId::new(asked.known + pair.query.index());
        }
        Ok(Matched { pairs, masses: input.masses(), lists: served.lists })
    }

    /// Writes an answer to the store in the place of its newest open plan, and returns the plan's id. What a scenario says of
    /// hosts and of fetched URLs is in its picks; settings of a plan have no word for it.
    ///
    /// # Errors
    /// A write failed; the store stays as it was.
    pub(crate) fn commit(
        &self,
        open: &mut OpenStore,
        answer: &Answer,
    ) -> Result<String, CampaignError> {
        let id = Self::id_of(open, answer)?;
        let picks = &answer.choice.batch.picks;
        let promised = OpenPlan {
            revisits: answer.choice.planned_revisits(),
            ..OpenPlan::new(&answer.scored, &answer.served, picks)
        };
        let plan = PlanRecord {
            id: &id,
            queries: &answer.queries,
            listed: &self.listed,
            served: &answer.served,
            promised: &promised,
            batch: &answer.choice.batch,
            epoch: self.epoch,
            sufficiency: None,
            streamed: false,
            chances_learned: answer.scored.entry().is_learned(),
        };
        // Where it is lost which URLs a list had, the plan is held to none.
        let within = answer.settings.within.clone().filter(|_| !self.listed.is_empty());
        plan::commit_instead(open, &plan, &PlanSettings { within, ..answer.settings.clone() })?;
        Ok(id)
    }

    /// The id that an answer has as a plan.
    ///
    /// # Errors
    /// Its settings cannot be written.
    pub(crate) fn id_of(open: &OpenStore, answer: &Answer) -> Result<String, CampaignError> {
        let workload = Workload { queries: answer.queries.clone() };
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let beside = older_plans(open.store.manifest());
        hash.update(plan_id(open, &workload, &answer.settings, beside)?.as_bytes());
        for pick in &answer.choice.batch.picks {
            hash.update(&pick.estimate.url.0.to_le_bytes());
            hash.update(&pick.estimate.estimate.to_bits().to_le_bytes());
        }
        Ok(format!("{:016x}", hash.digest()))
    }

    /// A base for these queries and settings from scratch, with the models and the page estimates of
    /// this one unless the settings ask for others.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub(crate) fn again(
        &self,
        open: &OpenStore,
        queries: &[Query],
        settings: &PlanSettings,
    ) -> Result<Base, CampaignError> {
        let reading = Reading::new(open, queries, settings, self.epoch, None)?;
        let served = reading.lists(queries, settings.places())?;
        let input = reading.input(queries, &served, &self.within, &self.past)?;
        let all: Vec<usize> = (0..queries.len()).collect();
        let (mut cache, pinned) = match invalidated(&self.base.settings, settings) {
            Some(Invalidates::Models) => (PlannerCache::default(), None),
            _ => (self.cache.with_models(), Some(&*self.base.scored)),
        };
        let scored = ScoredPairs::new(&input, &all, &mut cache, &settings.estimate, pinned)?;
        Ok(Base {
            queries: Arc::new(queries.to_vec()),
            served: Arc::new(served),
            scored: Arc::new(scored),
            lack: Arc::new(sufficiency::lack(open, queries, settings)?),
            settings: settings.clone(),
            ..self.base.clone()
        })
    }
}

/// The settings and the workload of the newest open plan, and which URLs it was held to, by id; empty if it
/// was held to none, or an earlier version did not store them.
///
/// # Errors
/// The store has no open plan, another version made it, or a segment is damaged.
pub(crate) fn open_plan(
    open: &OpenStore,
) -> Result<(PlanSettings, Workload, Vec<bool>), CampaignError> {
    let stored = open.store.manifest().plans.last().cloned().ok_or(CampaignError::NoPlan)?;
    let settings: PlanSettings = plan_course::settings(&stored)?;
    let workload = records::workload(&open.store, &stored.id)?;
    let mut within = Vec::new();
    if settings.within.is_some() {
        for url in records::listed(&open.store, &stored.id)? {
            within.resize(open.known.urls.len(), false);
            within[url.index()] = true;
        }
    }
    Ok((settings, workload, within))
}
