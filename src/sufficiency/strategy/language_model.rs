//! The opinion of a language model: how far the pages of a query's list answer it, and which of its links are
//! promising. It is asked as long as it answers and there are calls left; what it says is a number, never an
//! instruction.

use std::collections::BTreeMap;

use super::{Judgement, Needs, ScoredLink, StrategyKind, SufficiencyStrategy};
use crate::llm::{LinkText, Llm, LlmCounts, LlmError};
use crate::workload::Workload;

/// See the module.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "llm",
    about: "the opinion of a language model about the pages of a query's list, as many queries as there are calls",
    needs: Needs::LanguageModel,
};

/// Wordings of a query that are asked for.
const WORDINGS: usize = 5;
/// Queries of a page that are asked for.
const QUERIES: usize = 2;

/// What a language model is shown of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The query.
    pub(crate) query: String,
    /// Title and text of the pages of its list, the best first.
    pub(crate) passages: Vec<String>,
    /// URLs and anchors of its best candidates in the frontier.
    pub(crate) links: Vec<(String, String)>,
}

/// A model that is asked as long as it answers and there are calls left.
pub(crate) struct AskedModel {
    llm: Llm,
    /// Why nothing more is asked.
    stopped: Option<LlmError>,
}

impl AskedModel {
    /// A model that was not asked yet.
    pub(crate) fn new(llm: Llm) -> Self {
        Self { llm, stopped: None }
    }

    /// What was asked so far, and why no more is, if that is so.
    pub(crate) fn state(&self) -> (LlmCounts, Option<&LlmError>) {
        (self.llm.counts(), self.stopped.as_ref())
    }

    /// Other wordings of the queries at these places of a workload, in this order, by place.
    pub(crate) fn wordings(
        &mut self,
        workload: &Workload,
        places: &[usize],
    ) -> BTreeMap<usize, Vec<String>> {
        let mut found = BTreeMap::new();
        for &at in places {
            let text = &workload.queries[at].text;
            if let Some(wordings) = self.ask(|llm| llm.variants(text, WORDINGS)) {
                found.insert(at, wordings);
            }
        }
        found
    }

    /// Queries that a page with this title and text answers; none where it gave no answer of use.
    pub(crate) fn queries_of(&mut self, title: &str, text: &str) -> Vec<String> {
        self.ask(|llm| llm.queries((title, text), QUERIES)).unwrap_or_default()
    }

    /// Requests that may be sent at most.
    pub(crate) fn most_calls(&self) -> usize {
        self.llm.most_calls()
    }

    /// Whether more can be asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.stopped.is_none()
    }

    /// What it answers, if it is still asked. A budget that is spent, and an endpoint that does not answer, end it; a
    /// reply that is of no use does not.
    fn ask<T>(&mut self, question: impl FnOnce(&mut Llm) -> Result<T, LlmError>) -> Option<T> {
        if self.stopped.is_some() {
            return None;
        }
        match question(&mut self.llm) {
            Ok(answer) => Some(answer),
            Err(LlmError::Reply(_)) => None,
            Err(error) => {
                self.stopped = Some(error);
                None
            }
        }
    }
}

/// See the module.
pub(crate) struct LanguageModel<'a> {
    /// Who is asked.
    pub(crate) model: &'a mut AskedModel,
    /// What it is shown, by query.
    pub(crate) shown: BTreeMap<usize, Shown>,
}

impl SufficiencyStrategy for LanguageModel<'_> {
    fn judge(&mut self, places: &[usize]) -> Vec<Option<Judgement>> {
        let mut judged = Vec::with_capacity(places.len());
        for place in places {
            let Some(Shown { query, passages, .. }) = self.shown.get(place) else {
                judged.push(None);
                continue;
            };
            let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
            let sufficiency = self.model.ask(|llm| llm.sufficiency(query, &passages));
            let judgement = |sufficiency| Judgement { sufficiency, figures: Vec::new() };
            judged.push(sufficiency.map(judgement));
        }
        judged
    }

    fn links(&mut self, place: usize, most: usize) -> Vec<ScoredLink> {
        let Some(Shown { query, links, .. }) = self.shown.get(&place) else { return Vec::new() };
        let texts: Vec<LinkText<'_>> =
            links.iter().map(|(url, text)| LinkText { url, text }).collect();
        let scores = self.model.ask(|llm| llm.judge_links(query, &texts)).unwrap_or_default();
        let scored = links.iter().zip(scores);
        let mut scored: Vec<ScoredLink> =
            scored.map(|((url, _), score)| ScoredLink { url: url.clone(), score }).collect();
        // The better candidate comes first where the model cannot tell.
        scored.sort_by(|a, b| b.score.total_cmp(&a.score));
        scored.truncate(most);
        scored
    }
}
