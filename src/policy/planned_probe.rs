//! What simulations ask a crawl that is planned, beside its batches: how it would go on, and what another batch
//! would bring.

use prospect_index::bm25::Scorer;
use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use prospect_index::words::Analyzer;

use super::PolicyError;
use super::hidden_web::Crawled;
use super::planned::Planned;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_estimate::UrlEstimate;
use crate::planner::PlannerError;
use crate::planner::cycle::{Closed, Past};
use crate::planner::expected_impact::RealisedShares;
use crate::planner::settings::PlanSettings;
use crate::sketch::served::ServedLists;
use crate::sufficiency::verdict::gain_floor;
use crate::workload::Query;

impl Planned<'_> {
    /// The whole frontier in the order in which the next plan would rank it.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub(crate) fn ranking(&mut self) -> Result<Vec<UrlEstimate>, PolicyError> {
        let choice = self.caught_up(|planned, scorer| {
            let mut settings = planned.planner.settings.clone();
            settings.selection.budget = 0;
            Ok(planned.choose(scorer, &settings, &[], true)?.1)
        })?;
        Ok(choice.batch.ranking)
    }

    /// The pairs of all queries, needy or not, as the next plan would score them.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub(crate) fn all_pairs(&mut self) -> Result<ScoredPairs, PolicyError> {
        let scored = self.caught_up(|planned, scorer| {
            let mut settings = PlanSettings { needy: None, ..planned.planner.settings.clone() };
            settings.selection.budget = 0;
            Ok(planned.choose(scorer, &settings, &[], false)?.0)
        })?;
        Ok(scored)
    }

    /// Keeps what becomes of plans from now on.
    pub(crate) fn keep_closed(&mut self) {
        self.planner.keep_closed();
    }

    /// What became of plans since that is kept.
    pub(crate) fn closed(&self) -> &[Closed] {
        self.planner.closed()
    }

    /// Which shares of what was expected of its plans came.
    pub(crate) fn shares(&self) -> RealisedShares {
        self.planner.shares()
    }

    /// Whether the open plan is expected to bring too little by page. Not if it learns from no outcome: it closes no plan
    /// when it is replayed.
    pub(super) fn gain_is_little(&self) -> bool {
        let (planner, pages) = (&self.planner, self.pages());
        let learns = planner.settings.estimate.learns_from_picks();
        let floor = learns.then(|| gain_floor(planner.brought().iter().copied(), pages)).flatten();
        floor.is_some_and(|floor| planner.expected_by_page(pages).is_some_and(|own| own < floor))
    }

    /// By query: what it lacks, if that counts.
    pub(crate) fn lack(&self) -> &[f64] {
        &self.planner.lack
    }

    /// How it plans.
    pub(crate) fn settings(&self) -> &PlanSettings {
        &self.planner.settings
    }

    /// What it has learned from.
    pub(crate) fn past(&self) -> &Past {
        self.planner.past()
    }

    /// Served lists of its queries as of the last plan or look.
    pub(crate) fn served(&self) -> Option<&ServedLists> {
        self.planner.served()
    }

    /// The workload, merged.
    pub(crate) fn queries(&self) -> &[Query] {
        &self.planner.workload().queries
    }

    /// What makes the words of the crawl.
    pub(crate) fn analyzer(&self) -> &Analyzer {
        &self.crawled.known.analyzer
    }

    /// URLs that the crawl knows.
    pub(crate) fn urls(&self) -> &UrlTable {
        &self.crawled.known.urls
    }

    /// Pages that were fetched.
    pub(crate) fn fetched_urls(&self) -> Vec<UrlId> {
        self.crawled.known.pages.crawled().map(|(_, url)| url).collect()
    }

    /// The next `fetch_seq`.
    pub(crate) fn next_seq(&self) -> u32 {
        self.crawled.manifest.next_seq
    }

    /// Pages fetched so far.
    pub(crate) fn pages(&self) -> usize {
        self.crawled.known.pages.len()
    }

    /// The impact that each URL of a batch would have if the batch were fetched now, with queries
    /// asked as often as in `queries`, which are those of the workload.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn would_earn(
        &self,
        batch: &[UrlId],
        queries: &[Query],
    ) -> Result<Vec<f64>, PolicyError> {
        let mut crawled = self.crawled.clone();
        for url in batch {
            crawled.take_in(self.crawled.page(*url), false);
        }
        let impact = self.impact_after(&crawled, queries)?;
        Ok(batch.iter().map(|url| impact[url.index()]).collect())
    }

    fn impact_after(
        &self,
        crawled: &Crawled<'_>,
        queries: &[Query],
    ) -> Result<Vec<f64>, PlannerError> {
        let Crawled { known, manifest, docs, .. } = crawled;
        let text = self.crawled.web.text.with_docs(docs.clone());
        let (settings, words) = (&self.planner.settings, self.crawled.web.workload.words());
        let scorer = Scorer::new(&text, settings.bm25, manifest.epoch.end_seq, words)?;
        let mut served = match self.planner.served() {
            Some(served) => served.clone(),
            None => ServedLists::build(
                &scorer,
                &self.crawled.web.workload.queries,
                settings.places(),
                self.next_seq(),
                &self.crawled.known.urls,
            )?,
        };
        served.update(&scorer, queries, manifest.next_seq, &known.pages, &known.urls)?;
        Ok(served.impact(queries, known.urls.len()))
    }
}
