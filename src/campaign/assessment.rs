//! A store assessed for a workload: all that is told of what its pages lack, whoever tells it.
//!
//! An [`Assessment`] holds for any theta and is what takes time; a [`Decision`] is what a theta makes of it. Classes
//! and verdict rest on how every query is judged, however that came about.
//!
//! Not here: how sufficiency is computed, which language models have a say, and how it looks.

pub(crate) mod view;

use std::collections::BTreeMap;

use serde::Serialize;

use super::next_batch::NextBatch;
use super::sufficiency::{PastSufficiency, StoreSufficiency, signals};
use super::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::results::impact::{Both, ExpectedImpact};
use crate::sufficiency::assess::WorkloadSufficiency;
use crate::sufficiency::parts::QueryParts;
use crate::sufficiency::strategy::embedding::EmbeddingSummary;
use crate::sufficiency::strategy::{Judgement, STRATEGIES, ScoredLink};
use crate::sufficiency::track::K;
use crate::sufficiency::validation::Validation;
use crate::sufficiency::verdict::{QueryClass, Signals, StopReason, THETA, Verdict};
use crate::workload::Query;

/// What was found of a store and a workload.
pub(crate) struct Assessment {
    /// Parts of every query, and what is told of all.
    pub(crate) sufficiency: StoreSufficiency,
    /// What held-out variants say, where there are variants.
    pub(crate) validation: Option<Validation>,
    /// Who judges.
    pub(crate) strategy: &'static str,
    /// By query: its sufficiency, as the strategy judges it.
    pub(crate) judged: Vec<f64>,
    /// What another strategy than the default says, where one judges; queries that it has no answer for are judged by
    /// parts, and are left out of the workload as a whole.
    pub(crate) judgements: Option<Judgements>,
    /// By query: pages that the frontier may bring into its list.
    pub(crate) frontier: Vec<f64>,
    /// The batch that would be next.
    pub(crate) next: NextFigures,
    /// The workload when plans were made for it, the oldest first.
    pub(crate) history: Vec<PastSufficiency>,
    /// Plans for other queries, whose sufficiency is of these and not told.
    pub(crate) of_others: usize,
    /// What a verdict rests on, but for what is judged.
    signals: Signals,
}

/// What a strategy says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judgements {
    /// Its name.
    pub(crate) strategy: &'static str,
    /// By place of the query.
    pub(crate) by_query: BTreeMap<usize, Judgement>,
    /// The link that it would follow next, of some queries.
    pub(crate) links: BTreeMap<usize, ScoredLink>,
    /// The workload, where vectors judge.
    pub(crate) embedding: Option<EmbeddingSummary>,
    /// Links to follow next for all queries together, where it tells.
    pub(crate) next: Vec<ScoredLink>,
}

impl Judgements {
    /// Places of the queries that it judges, those first that lack most.
    pub(crate) fn by_lack(&self, queries: &[Query]) -> Vec<usize> {
        let sufficiency = |at: usize| self.by_query[&at].sufficiency;
        by_lack(queries, self.by_query.keys().copied().collect(), sufficiency)
    }
}

/// Places of queries, those first that lack most: how often one is asked times what is missing.
fn by_lack(
    queries: &[Query],
    mut places: Vec<usize>,
    sufficiency: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let lack = |at: usize| queries[at].frequency * (1.0 - sufficiency(at));
    places.sort_by(|&a, &b| lack(b).total_cmp(&lack(a)).then(a.cmp(&b)));
    places
}

/// What is told of the batch that would be next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct NextFigures {
    /// Its URLs.
    pub(crate) urls: usize,
    /// URLs of open plans that it is made beside, of which nothing was reported.
    pub(crate) in_flight: usize,
    /// How long a polite crawler takes for it.
    pub(crate) seconds: f64,
    /// Impact that it is expected to have; none before anything was fetched.
    #[serde(rename = "expected_impact")]
    pub(crate) expected: Option<Both<ExpectedImpact>>,
}

/// What becomes of an [`Assessment`] where a theta is enough.
pub(crate) struct Decision<'a> {
    /// What was found.
    pub(crate) of: &'a Assessment,
    /// By query: what it lacks.
    pub(crate) classes: Vec<QueryClass>,
    /// What the verdict rests on.
    pub(crate) signals: Signals,
    /// Go on, or stop.
    pub(crate) verdict: Verdict,
}

impl Assessment {
    /// Of an open store, where this batch would be next, which was planned by these settings. Judged by parts.
    ///
    /// # Errors
    /// A segment is damaged.
    pub(crate) fn new(
        open: &OpenStore,
        sufficiency: StoreSufficiency,
        validation: Option<Validation>,
        next: &NextBatch<'_>,
        settings: &PlanSettings,
    ) -> Result<Self, CampaignError> {
        let mut history = PastSufficiency::all(&open.store)?;
        let all = history.len();
        history.retain(|past| sufficiency.known_by.contains(&past.workload));
        let of_others = all - history.len();
        let signals = signals(open, next, &sufficiency, (THETA, settings))?;
        let next_figures = NextFigures {
            urls: next.picks.len(),
            in_flight: next.in_flight.len(),
            seconds: next.makespan(&open.known, settings).seconds,
            expected: next.expected,
        };
        Ok(Self {
            judgements: None,
            strategy: STRATEGIES[0].name,
            judged: sufficiency.parts.iter().map(QueryParts::sufficiency).collect(),
            frontier: sufficiency.candidates(next, K),
            next: next_figures,
            sufficiency,
            validation,
            history,
            of_others,
            signals,
        })
    }

    /// Has another strategy judge.
    pub(crate) fn judge(&mut self, judgements: Judgements) {
        for (&at, own) in &judgements.by_query {
            self.judged[at] = own.sufficiency;
        }
        self.signals.learning = judgements.embedding;
        self.strategy = judgements.strategy;
        self.judgements = Some(judgements);
    }

    /// The queries that are told apart.
    pub(crate) fn queries(&self) -> &[Query] {
        self.sufficiency.queries()
    }

    /// What a theta makes of it, where these reasons stop a crawl.
    pub(crate) fn decide(&self, theta: f64, stop_on: &[StopReason]) -> Decision<'_> {
        let sufficiency = self.whole(0..self.judged.len(), theta).sufficiency;
        let signals = Signals { sufficiency, theta, ..self.signals };
        let classes = (0..self.judged.len()).map(|at| self.class(at, theta)).collect();
        Decision { of: self, classes, signals, verdict: signals.verdict(stop_on) }
    }

    /// The class of the query at a place.
    fn class(&self, at: usize, theta: f64) -> QueryClass {
        let saturation = self.sufficiency.parts[at].saturation;
        QueryClass::of(self.judged[at], saturation, self.frontier[at] > 0.0, theta)
    }

    /// Places of the queries, those first that lack most.
    pub(crate) fn by_lack(&self) -> Vec<usize> {
        by_lack(self.queries(), (0..self.judged.len()).collect(), |at| self.judged[at])
    }

    /// The queries at some places as a whole.
    fn whole(&self, places: impl Iterator<Item = usize>, theta: f64) -> WorkloadSufficiency {
        let (queries, parts) = (self.queries(), &self.sufficiency.parts);
        let is_judged =
            |at: &usize| self.judgements.as_ref().is_none_or(|own| own.by_query.contains_key(at));
        let places = places.filter(is_judged);
        let judged = places.map(|at| (queries[at].frequency, &parts[at], self.judged[at]));
        WorkloadSufficiency::judged(judged, theta)
    }
}

impl Decision<'_> {
    /// The workload as a whole.
    pub(crate) fn whole(&self) -> WorkloadSufficiency {
        self.of.whole(0..self.classes.len(), self.signals.theta)
    }

    /// By kind of query, where the workload tells.
    pub(crate) fn kinds(&self) -> BTreeMap<&str, WorkloadSufficiency> {
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, query) in self.of.queries().iter().enumerate() {
            if !query.kind.is_empty() {
                places.entry(&query.kind).or_default().push(at);
            }
        }
        let whole = |places: Vec<usize>| self.of.whole(places.into_iter(), self.signals.theta);
        places.into_iter().map(|(kind, places)| (kind, whole(places))).collect()
    }

    /// Queries of a class, and the share of the askings that they have.
    pub(crate) fn of_class(&self, class: QueryClass) -> (usize, f64) {
        let (mut count, mut own, mut all) = (0, 0.0, 0.0);
        for (query, of) in self.of.queries().iter().zip(&self.classes) {
            all += query.frequency;
            if *of == class {
                count += 1;
                own += query.frequency;
            }
        }
        (count, if all > 0.0 { own / all } else { 0.0 })
    }
}
