//! Why a URL was picked: its best queries, and what matched where.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use prospect_index::link_context::{LinkContextTable, word_number};
use prospect_index::ngram::{NgramQuery, NgramSet};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, Known};
use prospect_index::words::{Analyzer, WordOptions, url_text};

use crate::campaign::planned::Plan;
use crate::campaign::vectors::PlanVectors;
use crate::estimate::features::similarity::{Embeddings, NearQuery};
use crate::estimate::features::table::{Feature, FeatureRow};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_estimate::PairEstimate;
use crate::plan::Pick;
use crate::plan::export::{
    AROUND_LINKS, CosineEvidence, MatchedText, PlannedUrl, QueryReason, RevisitReason,
};
use crate::plan::polite_time::Makespan;
use crate::planner::choose::Choice;
use crate::planner::revisits::PlannedRevisit;
use crate::planner::settings::PlanSettings;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Anchors shown per query.
const ANCHORS_SHOWN: usize = 2;

/// Leaves out words that are no reason, English ones: a store in another language names its own stop words.
static TELLING: LazyLock<Analyzer> = LazyLock::new(|| {
    let stop_words = "english".parse().into_iter().collect();
    Analyzer::from(&WordOptions::new(None, stop_words, false))
});

/// What reasons are made from.
pub(crate) struct Reasons<'a> {
    /// URLs, pages, links.
    pub(crate) known: &'a Known,
    /// Queries of the pairs.
    pub(crate) queries: &'a [Query],
    /// Their served lists.
    pub(crate) served: &'a ServedLists,
    /// Pairs.
    pub(crate) scored: &'a ScoredPairs,
    /// Longest n-gram in words.
    pub(crate) max_words: usize,
    /// Words around links, where they are to be shown.
    pub(crate) link_context: Option<&'a LinkContextTable>,
    /// Vectors of the plan, where closeness in meaning is to be shown.
    pub(crate) embeddings: Option<Embeddings<'a>>,
    /// What is expected of the picks that were fetched before, by URL id.
    pub(crate) revisits: Vec<PlannedRevisit>,
}

/// What is expected of the picks that were fetched before, by URL id.
pub(crate) fn by_url(choice: &Choice) -> Vec<PlannedRevisit> {
    let mut revisits = choice.planned_revisits();
    revisits.sort_unstable_by_key(|revisit| revisit.url);
    revisits
}

impl<'a> Reasons<'a> {
    /// Of a plan.
    pub(crate) fn of_plan(known: &'a Known, plan: &'a Plan, settings: &PlanSettings) -> Self {
        let max_words = settings.estimate.rule.max_words;
        let queries = &plan.workload.queries;
        let (served, scored) = (&plan.served, &plan.scored);
        let (link_context, embeddings) = (None, None);
        let revisits = by_url(&plan.choice);
        Self { known, queries, served, scored, max_words, link_context, embeddings, revisits }
    }

    /// With the words of a query that stand around links.
    #[must_use]
    pub(crate) fn with_link_context(self, link_context: &'a LinkContextTable) -> Self {
        Self { link_context: Some(link_context), ..self }
    }

    /// With the closeness of queries in meaning, where there are vectors.
    #[must_use]
    pub(crate) fn with_vectors(self, vectors: Option<&'a PlanVectors<'_>>) -> Self {
        Self { embeddings: vectors.map(PlanVectors::embeddings), ..self }
    }

    /// Picks with their reasons, in the order in which a polite crawler asks for them once it is through with what
    /// is in flight, and how long it takes.
    /// Where the plan has no time, that order is the batch's, and nobody is told when.
    pub(crate) fn scheduled(
        &self,
        picks: &[Pick],
        queries: usize,
        settings: &PlanSettings,
        in_flight: &[UrlId],
    ) -> (Vec<PlannedUrl>, Makespan) {
        let time = settings.selection.caps.time;
        let urls = picks.iter().map(|pick| self.known.urls.url(pick.estimate.url));
        let in_flight = in_flight.iter().map(|&url| self.known.urls.url(url));
        let (starts, makespan) = time.schedule(urls, &settings.queues, in_flight);
        let mut planned = self.planned(picks, queries);
        for (planned, pick) in planned.iter_mut().zip(picks) {
            let url = self.known.urls.url(pick.estimate.url);
            time.queue(url, &settings.queues).clone_into(&mut planned.queue);
        }
        if time.seconds.is_some() {
            let mut timed: Vec<(f64, PlannedUrl)> = starts.into_iter().zip(planned).collect();
            timed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.rank.cmp(&b.1.rank)));
            let start = |(start, url)| PlannedUrl { start: Some(start), ..url };
            planned = timed.into_iter().map(start).collect();
        }
        (planned, makespan)
    }

    /// Picks with their reasons, in batch order; `queries` of them per URL.
    pub(crate) fn planned(&self, picks: &[Pick], queries: usize) -> Vec<PlannedUrl> {
        let picks = picks.iter().enumerate();
        picks.map(|(at, pick)| self.planned_url(at + 1, pick, queries)).collect()
    }

    fn planned_url(&self, rank: usize, pick: &Pick, queries: usize) -> PlannedUrl {
        let estimate = pick.estimate;
        PlannedUrl {
            rank,
            url: self.known.urls.spelling(estimate.url).to_owned(),
            estimate: estimate.estimate,
            parts: estimate.parts,
            quality: estimate.quality,
            inlinks: estimate.inlinks,
            frontier_rank: pick.frontier_rank,
            pool: pick.pool,
            propensity: pick.propensity,
            candidate_queries: self.scored.pairs_of(estimate.url).count(),
            queries: self.of(estimate.url, queries),
            start: None,
            revisit: self.revisit(estimate.url),
            queue: String::new(),
            asked_before: !matches!(self.known.pages.fetch(estimate.url), Fetch::Never),
        }
    }

    fn revisit(&self, url: UrlId) -> Option<RevisitReason> {
        let at = self.revisits.binary_search_by_key(&url, |revisit| revisit.url).ok()?;
        let revisit = &self.revisits[at];
        Some(RevisitReason { chance: revisit.chance, impact: revisit.impact })
    }

    /// The queries that count most for a URL: by frequency times chance, then qid.
    pub(crate) fn of(&self, url: UrlId, most: usize) -> Vec<QueryReason> {
        let worth = |pair: &PairEstimate| self.queries[pair.query.index()].frequency * pair.chance;
        let mut pairs: Vec<PairEstimate> = self.scored.pairs_of(url).collect();
        pairs.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.query.cmp(&b.query)));
        pairs.iter().take(most).map(|pair| self.reason(pair, url)).collect()
    }

    /// Why a query counts for a URL.
    fn reason(&self, pair: &PairEstimate, url: UrlId) -> QueryReason {
        let query = &self.queries[pair.query.index()];
        let ngrams = NgramQuery::new(&query.words, self.max_words);
        let mut matched = evidence(self.known, &ngrams, url);
        matched.extend(
            self.link_context.and_then(|link_context| in_link_context(link_context, &ngrams, url)),
        );
        QueryReason {
            qid: query.qid.clone(),
            query: query.text.clone(),
            frequency: query.frequency,
            chance: pair.chance,
            expected_score: pair.expected_score,
            kth_score: self.served.kth_score(pair.query.index()),
            matched,
            similarity: self.embeddings.as_ref().map(|embeddings| {
                let mut near = NearQuery::new(embeddings, self.known, pair.query.index());
                let mut row = FeatureRow::default();
                near.add(&mut row, url, u32::MAX);
                CosineEvidence {
                    url: row[Feature::UrlCosine],
                    anchor: row[Feature::AnchorCosine],
                    title: row[Feature::TitleCosine],
                }
            }),
        }
    }
}

fn evidence(known: &Known, query: &NgramQuery, url: UrlId) -> Vec<MatchedText> {
    let mut found = Vec::new();
    let in_url = query.matched_in(&known.analyzer, &url_text(known.urls.url(url)));
    let ngrams = longest(query, &in_url);
    if !ngrams.is_empty() {
        found.push(MatchedText { place: "url", text: String::new(), ngrams });
    }
    // Anchors by what they hold, longest first; equal texts are one anchor.
    let mut anchors: BTreeMap<&str, NgramSet> = BTreeMap::new();
    for link in known.links.incoming(url, u32::MAX) {
        let text = known.links.anchor(link.anchor);
        anchors.entry(text).or_insert_with(|| query.matched_in(&known.analyzer, text));
    }
    let mut anchors: Vec<(&str, NgramSet)> = anchors.into_iter().collect();
    anchors.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    let anchors = anchors.into_iter().map(|(text, set)| MatchedText {
        place: "anchor",
        text: text.to_owned(),
        ngrams: longest(query, &set),
    });
    found.extend(anchors.filter(|anchor| !anchor.ngrams.is_empty()).take(ANCHORS_SHOWN));
    found
}

/// Words of a query that stand around links to a URL.
fn in_link_context(
    link_context: &LinkContextTable,
    query: &NgramQuery,
    url: UrlId,
) -> Option<MatchedText> {
    let stands = |word: &&String| is_telling(word) && stands_around_links(link_context, word, url);
    let ngrams: Vec<String> = query.words().iter().filter(stands).cloned().collect();
    (!ngrams.is_empty()).then(|| MatchedText { place: AROUND_LINKS, text: String::new(), ngrams })
}

/// Whether a word stands around a link to a URL.
fn stands_around_links(link_context: &LinkContextTable, word: &str, url: UrlId) -> bool {
    let number = word_number(word);
    link_context.of(url, u32::MAX).any(|link| link.words.binary_search(&number).is_ok())
}

/// Whether words are a reason: not all of them are stop words.
fn is_telling(words: &str) -> bool {
    let mut tells = false;
    TELLING.for_each_word(words, |_| tells = true);
    tells
}

/// The n-grams of a set that are a reason and lie in no longer one of it.
fn longest(query: &NgramQuery, set: &NgramSet) -> Vec<String> {
    let ngrams = set.iter().map(|number| query.ngram(number).join(" "));
    let ngrams: Vec<String> = ngrams.filter(|ngram| is_telling(ngram)).collect();
    let inside = |short: &str, long: &str| {
        short.len() < long.len() && format!(" {long} ").contains(&format!(" {short} "))
    };
    let kept = ngrams.iter().filter(|ngram| !ngrams.iter().any(|long| inside(ngram, long)));
    kept.cloned().collect()
}
