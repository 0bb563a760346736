//! What is told of an assessment as data: the same for `--json`, and for pages, which have the words of commands beside
//! it and as many queries as they ask for.

use std::collections::BTreeMap;

use prospect_index::manifest::Epoch;
use serde::Serialize;

use super::super::sufficiency::PastSufficiency;
use super::{Decision, NextFigures};
use crate::sufficiency::assess::WorkloadSufficiency;
use crate::sufficiency::parts::QueryParts;
use crate::sufficiency::strategy::ScoredLink;
use crate::sufficiency::strategy::embedding::EmbeddingSummary;
use crate::sufficiency::told::{meaning, saturation_line, why_line};
use crate::sufficiency::validation::Validation;
use crate::sufficiency::verdict::{Gain, QueryClass, Saturation, Verdict};

/// Name and version of the format.
const SCHEMA: &str = "prospect.sufficiency/1";
/// Plans and kinds of queries that a page has: the last, and those most asked.
const PLANS: usize = 500;
const KINDS: usize = 20;

/// See the module.
#[derive(Serialize)]
pub(crate) struct SufficiencyView<'a> {
    /// [`SCHEMA`].
    schema: &'static str,
    /// Who judges.
    strategy: &'static str,
    /// How sufficiency is computed.
    definition: &'static str,
    /// What is enough.
    theta: f64,
    /// Pages of the store.
    pages: usize,
    /// The statistics epoch.
    epoch: Epoch,
    /// The workload as a whole.
    workload: WorkloadSufficiency,
    /// The same by kind of query.
    kinds: BTreeMap<&'a str, WorkloadSufficiency>,
    /// By name of the class: its queries.
    classes: BTreeMap<&'static str, ClassView>,
    /// How far the impact of new pages has fallen.
    saturation: Option<Saturation>,
    /// What may still be added to the scores of the best pages, as a share of what they are.
    growth: Option<f64>,
    /// Go on, or stop.
    verdict: &'a Verdict,
    /// The workload as vectors have it, where they judge.
    embedding: Option<EmbeddingSummary>,
    /// Links that the strategy would follow next, where it tells.
    next_links: &'a [ScoredLink],
    /// What held-out variants say.
    validation: &'a Option<Validation>,
    /// The batch that would be next.
    next_batch: NextBatchView,
    /// Queries.
    queries: Vec<QueryView<'a>>,
    /// The workload when plans were made for it.
    history: &'a [PastSufficiency],
    /// Plans for other queries, which are not in it.
    history_of_others: usize,
}

/// A class of queries.
#[derive(Serialize)]
struct ClassView {
    /// Its queries.
    queries: usize,
    /// Their share of the askings.
    askings: f64,
}

/// The batch that would be next.
#[derive(Serialize)]
struct NextBatchView {
    #[serde(flatten)]
    figures: NextFigures,
    /// What it is expected to bring by page.
    gain: Option<Gain>,
}

/// A query.
#[derive(Serialize)]
pub(crate) struct QueryView<'a> {
    /// Its id.
    qid: &'a str,
    /// As typed.
    query: &'a str,
    /// Its kind.
    kind: &'a str,
    /// How often it is asked.
    frequency: f64,
    #[serde(flatten)]
    parts: QueryParts,
    /// Its sufficiency, as it is judged.
    sufficiency: f64,
    /// What that is made of, where another strategy than the default judges: by name.
    judgement: Option<BTreeMap<&'static str, f64>>,
    /// The link that such a strategy would follow next, of the queries that lack most.
    best_link: Option<&'a ScoredLink>,
    /// What the source's code takes the least of.
    confidence: f64,
    /// Words that no page holds.
    missing_words: &'a [String],
    /// Pages that the frontier may bring into its list.
    frontier: f64,
    /// What it lacks.
    class: QueryClass,
}

/// Which queries are listed, of those that lack most first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listed {
    /// Only those of a class.
    pub(crate) class: Option<QueryClass>,
    /// Text that they hold.
    pub(crate) search: String,
    /// First row.
    pub(crate) offset: usize,
    /// Rows.
    pub(crate) limit: usize,
}

/// Some of the queries.
#[derive(Serialize)]
pub(crate) struct QueryList<'a> {
    /// How many there are of the kind that was asked for.
    total: usize,
    /// Those that are listed.
    queries: Vec<QueryView<'a>>,
}

/// What a page shows.
#[derive(Serialize)]
pub(crate) struct PageView<'a> {
    #[serde(flatten)]
    found: SufficiencyView<'a>,
    /// How many queries there are of the kind that was asked for.
    total: usize,
    /// How many plans there are.
    history_total: usize,
    /// How many kinds of queries there are.
    kinds_total: usize,
    /// What commands say of it.
    told: Told,
}

/// What is said of an assessment.
#[derive(Serialize)]
struct Told {
    /// Why to go on, or to stop.
    verdict: String,
    /// How far the impact of new pages has fallen.
    saturation: String,
    /// By name of the class.
    classes: BTreeMap<&'static str, String>,
}

impl<'a> Decision<'a> {
    /// All of it, with the queries at these places.
    pub(crate) fn view(&self, places: impl Iterator<Item = usize>) -> SufficiencyView<'_> {
        let found = self.of;
        let class = |class: QueryClass| (class.name(), self.class(class));
        SufficiencyView {
            schema: SCHEMA,
            strategy: found.strategy,
            definition: "document",
            theta: self.signals.theta,
            pages: found.sufficiency.pages,
            epoch: found.sufficiency.epoch,
            workload: self.whole(),
            kinds: self.kinds(),
            classes: QueryClass::ALL.into_iter().map(class).collect(),
            saturation: self.signals.saturation,
            growth: self.signals.growth,
            verdict: &self.verdict,
            embedding: self.signals.learning,
            next_links: found.judgements.as_ref().map_or(&[], |own| &own.next),
            validation: &found.validation,
            next_batch: NextBatchView { figures: found.next, gain: self.signals.gain },
            queries: places.map(|at| self.query(at)).collect(),
            history: &found.history,
            history_of_others: found.of_others,
        }
    }

    /// The queries of a class.
    fn class(&self, class: QueryClass) -> ClassView {
        let (queries, askings) = self.of_class(class);
        ClassView { queries, askings }
    }

    /// The query at a place.
    fn query(&self, at: usize) -> QueryView<'a> {
        let (query, parts) = (&self.of.queries()[at], self.of.sufficiency.parts[at]);
        let judgements = self.of.judgements.as_ref();
        let judgement = judgements.and_then(|own| own.by_query.get(&at));
        QueryView {
            qid: &query.qid,
            query: &query.text,
            kind: &query.kind,
            frequency: query.frequency,
            parts,
            sufficiency: self.of.judged[at],
            judgement: judgement.map(|own| own.figures.iter().copied().collect()),
            best_link: judgements.and_then(|own| own.links.get(&at)),
            confidence: parts.confidence(),
            missing_words: &self.of.sufficiency.missing[at],
            frontier: self.of.frontier[at],
            class: self.classes[at],
        }
    }

    /// Queries, those first that lack most.
    pub(crate) fn list(&self, listed: &Listed) -> QueryList<'a> {
        let (total, places) = self.places(listed);
        QueryList { total, queries: places.into_iter().map(|at| self.query(at)).collect() }
    }

    /// What a page shows: all but what has no bound.
    pub(crate) fn page(&self, listed: &Listed) -> PageView<'_> {
        let (total, places) = self.places(listed);
        let mut found = self.view(places.into_iter());
        let history_total = found.history.len();
        found.history = &found.history[history_total.saturating_sub(PLANS)..];
        let mut kinds: Vec<&str> = found.kinds.keys().copied().collect();
        kinds.sort_by(|a, b| found.kinds[b].askings.total_cmp(&found.kinds[a].askings));
        let kinds_total = kinds.len();
        for kind in kinds.iter().skip(KINDS) {
            found.kinds.remove(kind);
        }
        let theta = self.signals.theta;
        let told = Told {
            verdict: why_line(&self.signals, &self.verdict),
            saturation: saturation_line(self.signals.saturation),
            classes: QueryClass::ALL.map(|class| (class.name(), meaning(class, theta))).into(),
        };
        PageView { found, total, history_total, kinds_total, told }
    }

    /// Places of the listed queries, and how many there are of the kind.
    fn places(&self, listed: &Listed) -> (usize, Vec<usize>) {
        let Listed { class, search, offset, limit } = listed;
        let search = search.trim().to_lowercase();
        let queries = self.of.queries();
        let mut places = self.of.by_lack();
        places.retain(|&at| {
            class.is_none_or(|class| self.classes[at] == class)
                && (search.is_empty() || queries[at].text.to_lowercase().contains(&search))
        });
        let total = places.len();
        (total, places.into_iter().skip(*offset).take(*limit).collect())
    }
}
