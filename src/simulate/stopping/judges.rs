//! What the rules `learned` and `compatible` go by: vectors of titles, and crawl4ai's shipped code.

use super::super::SimulateError;
use super::super::collection::Collection;
use super::{StopRule, Stopping};
use crate::evaluate::rerank::PageTexts;
use crate::policy::Page;
use crate::policy::hidden_web::WebVectors;
use crate::sufficiency::assess::AssessedQueries;
use crate::sufficiency::compatible::Compatible;
use crate::sufficiency::strategy::embedding::{AllWordings, Embedding, LinkRows, NearestPage};
use crate::sufficiency::validation::Variants;
use crate::workload::{Query, Workload};

/// Queries without one of their words, a fifth of them held out: what a rule can go by where nobody gives variants.
pub(crate) fn wordings(workload: &Workload, collection: &Collection) -> Vec<Variants> {
    let without = Variants::without_a_word(workload);
    Variants::draw(workload, &without, collection.text.analyzer())
}

/// The judges of one crawl, as it goes on; one that has said stop is asked no more.
pub(super) struct Judges<'a> {
    queries: &'a [Query],
    learning: Option<Learning<'a>>,
    compatible: Option<Reading<'a>>,
}

struct Learning<'a> {
    judge: Embedding<'a>,
    vectors: WebVectors<'a>,
}

struct Reading<'a> {
    collection: &'a Collection,
    state: Compatible,
}

impl<'a> Stopping<'a> {
    pub(super) fn judges(&self, queries: &'a AssessedQueries) -> Judges<'a> {
        let (collection, has) = (self.measure.collection, |rule| self.rules.contains(&rule));
        let queries = &queries.workload;
        let vectors = self.vectors.filter(|_| has(StopRule::Learned));
        Judges {
            queries: &queries.queries,
            learning: vectors.map(|vectors| Learning::new(vectors, queries, collection)),
            compatible: has(StopRule::Compatible)
                .then(|| Reading { collection, state: Compatible::default() }),
        }
    }
}

impl Judges<'_> {
    /// Takes in the pages of the next window; whether the vectors, and the source's code, say stop now.
    ///
    /// # Errors
    /// A text cannot be read.
    pub(super) fn now(&mut self, window: &[Page]) -> Result<(bool, bool), SimulateError> {
        let queries = self.queries;
        let learned = self.learning.as_mut().is_some_and(|own| own.now(window, queries));
        self.learning.take_if(|_| learned);
        let compatible = match &mut self.compatible {
            Some(own) => own.now(window, queries)?,
            None => false,
        };
        self.compatible.take_if(|_| compatible);
        Ok((learned, compatible))
    }
}

impl<'a> Learning<'a> {
    fn new(vectors: WebVectors<'a>, queries: &Workload, collection: &'a Collection) -> Self {
        let variants = wordings(queries, collection);
        let mut of_query: Vec<(&[String], &[String])> = vec![(&[], &[]); queries.queries.len()];
        for own in &variants {
            of_query[own.query] = (&own.planned, &own.held_out);
        }
        let wordings = AllWordings::new(&queries.queries, |query| of_query[query]);
        let rows = wordings.texts.iter().map(|text| vectors.table.row(text));
        let nearest = NearestPage::new(vectors.table, (vectors.table, rows));
        let links = LinkRows { urls: &collection.urls, rows: Vec::new() };
        Self { judge: Embedding::new(wordings, nearest, (&[], &[]), links), vectors }
    }

    fn now(&mut self, window: &[Page], queries: &[Query]) -> bool {
        self.judge.next_window(&self.vectors.titles_of(window));
        self.judge.summary(queries).has_learned()
    }
}

impl Reading<'_> {
    fn now(&mut self, window: &[Page], queries: &[Query]) -> Result<bool, SimulateError> {
        let Self { collection, state } = self;
        let pages: Vec<Page> =
            window.iter().copied().filter(|page| *page < collection.pages).collect();
        if let Some(texts) = &collection.texts {
            for text in texts.texts(&pages)? {
                state.add("", &text);
            }
        }
        Ok(state.has_enough(queries.iter().map(|query| (query.text.as_str(), query.frequency))))
    }
}
