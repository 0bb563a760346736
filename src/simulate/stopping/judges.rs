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

/// The judges of one crawl, as it goes on.
pub(super) struct Judges<'a> {
    queries: &'a [Query],
    learning: Option<Learning<'a>>,
    compatible: Option<Reading<'a>>,
}

struct Learning<'a> {
    wordings: AllWordings,
    nearest: NearestPage<'a>,
    /// By page: row of its title.
    titles: &'a [u32],
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
    /// Takes in the pages of the next window; whether either would stop now.
    ///
    /// # Errors
    /// A text cannot be read.
    pub(super) fn now(&mut self, window: &[Page]) -> Result<(bool, bool), SimulateError> {
        let queries = self.queries;
        let learned = self.learning.as_mut().is_some_and(|own| own.now(window, queries));
        let compatible = match &mut self.compatible {
            Some(own) => own.now(window, queries)?,
            None => false,
        };
        Ok((learned, compatible))
    }
}

impl<'a> Learning<'a> {
    fn new(vectors: WebVectors<'a>, queries: &Workload, collection: &Collection) -> Self {
        let variants = wordings(queries, collection);
        let mut of_query: Vec<(&[String], &[String])> = vec![(&[], &[]); queries.queries.len()];
        for own in &variants {
            of_query[own.query] = (&own.planned, &own.held_out);
        }
        let wordings = AllWordings::new(&queries.queries, |query| of_query[query]);
        let rows = wordings.texts.iter().map(|text| vectors.table.row(text));
        let nearest = NearestPage::new(vectors.table, (vectors.table, rows));
        Self { wordings, nearest, titles: vectors.titles }
    }

    fn now(&mut self, window: &[Page], queries: &[Query]) -> bool {
        let title = |page: &Page| self.titles.get(*page as usize).copied();
        let titles: Vec<u32> = window.iter().filter_map(title).collect();
        let none = prospect_index::url_table::UrlTable::default();
        let links = LinkRows { urls: &none, rows: Vec::new() };
        let pages = (&[][..], &titles[..]);
        let judge = Embedding::new(self.wordings.clone(), self.nearest.clone(), pages, links);
        let found = judge.summary(queries);
        self.nearest.add(&titles);
        found.has_learned()
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
