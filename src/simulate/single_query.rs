//! Each query a crawl of its own from the seeds, as progressive crawling does it, within a budget of pages.
//!
//! A crawl plans for its query alone and is judged by it alone. Rules that stop it look after every batch; what is
//! final is what the budget brings.

use prospect_index::page_store::NONE;
use prospect_index::storage::Storage;

use super::SimulateError;
use super::csv_table;
use super::experiment::{self, Course, CrawlProgress, Crawls, Inputs, Work};
use super::measure::{self, Measure};
use super::settings::SimulationSettings;
use super::stopping::Stopping;
use super::truth;
use super::values::Placed;
use crate::evaluate::checkpoints::JudgedQuery;
use crate::evaluate::metrics::Metric;
use crate::evaluate::rerank::PairScores;
use crate::evaluate::statistics::mean_interval_alone;
use crate::policy::hidden_web::WebVectors;
use crate::results::Interval;
use crate::results::single_query::{SingleQueryPolicy, SingleQuerySummary};
use crate::results::stopping::Stop;
use crate::workload::Workload;

/// What the crawls are made of.
pub(crate) struct SingleQueries<'a> {
    /// The collection, with the whole workload.
    pub(crate) inputs: &'a Inputs<'a>,
    /// Queries with judgements.
    pub(crate) judged: &'a [JudgedQuery],
    /// The experiment.
    pub(crate) settings: &'a SimulationSettings,
    /// Where crawls start and how far they go.
    pub(crate) course: &'a Course,
    /// Where crawls are kept.
    pub(crate) work: Work<'a>,
    /// Vectors of titles and of the queries, where a model judges.
    pub(crate) vectors: Option<WebVectors<'a>>,
}

/// What one crawl found for its query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SingleCrawl {
    /// The policy with its options.
    pub(crate) policy: String,
    /// Seed set, from 1.
    pub(crate) set: u32,
    /// The query.
    pub(crate) qid: String,
    /// Its kind.
    pub(crate) kind: String,
    /// Pages fetched.
    pub(crate) fetched: u32,
    /// nDCG@10 over them.
    pub(crate) ndcg: f64,
    /// Share of the relevant pages among them.
    pub(crate) recall: f64,
}

/// All crawls, and where rules stopped them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SingleFound {
    /// By query, policy and set.
    pub(crate) crawls: Vec<SingleCrawl>,
    /// By query, policy, set and rule.
    pub(crate) stops: Vec<Stop>,
}

/// Nobody is told of single crawls.
struct Silent;

impl CrawlProgress for Silent {
    fn crawled(&self, _: usize, _: u32, _: u32, _: u32) {}
    fn done(&self, _: usize, _: u32) {}
}

impl SingleQueries<'_> {
    /// Crawls for every judged query. `progress` is told how many queries are done.
    ///
    /// # Errors
    /// A policy cannot go on, or the index or a file cannot be read or written.
    pub(crate) fn run(&self, progress: &dyn Fn(usize)) -> Result<SingleFound, SimulateError> {
        let mut found = SingleFound::default();
        for (at, judged) in self.judged.iter().enumerate() {
            self.one(at, judged, &mut found)?;
            progress(at + 1);
        }
        Ok(found)
    }

    fn one(
        &self,
        at: usize,
        judged: &JudgedQuery,
        found: &mut SingleFound,
    ) -> Result<(), SimulateError> {
        let (collection, settings) = (self.inputs.collection, self.settings);
        let planning = Workload { queries: vec![judged.query.clone()] }.for_planning();
        if planning.queries.is_empty() {
            return Ok(());
        }
        let (bm25, places) = (settings.plan.bm25, settings.plan.places());
        let impact = truth::impact(collection, &planning, bm25, places)?;
        let mut relevant = vec![0; collection.urls.len()];
        judged.judged.relevant().for_each(|page| relevant[page as usize] = 1);
        let inputs =
            Inputs { planning: &planning, impact: &impact, relevant: &relevant, ..*self.inputs };
        let folder = format!("{}/query-{at}", self.work.folder);
        let work = Work { folder: &folder, ..self.work };
        let crawls = experiment::run(&inputs, settings, self.course.clone(), work, &Silent)?;
        let judged = std::slice::from_ref(judged);
        let kinds = measure::kinds(collection, &planning, judged, settings)?;
        let none = PairScores::default();
        let measure = Measure {
            collection,
            judged,
            reranker: &none,
            kinds: &kinds,
            settings,
            storage: self.work.storage,
            experiment: self.work.experiment,
        };
        found.crawls.extend(self.judge(&measure, &crawls, &relevant)?);
        if !settings.stop.is_empty() {
            let stopping = Stopping {
                measure: &measure,
                planning: &planning,
                rules: &settings.stop,
                fetchable: self.course.pages as u32,
                qid: &judged[0].query.qid,
                by_batch: true,
                vectors: self.vectors,
            };
            found.stops.extend(stopping.stops(&crawls, &|_| ())?);
        }
        Ok(())
    }

    /// What the crawls for one query found.
    fn judge(
        &self,
        measure: &Measure<'_>,
        crawls: &Crawls,
        relevant: &[u32],
    ) -> Result<Vec<SingleCrawl>, SimulateError> {
        let collection = measure.collection;
        let url_order = collection.by_document(&collection.url_order, NONE);
        let evaluation = measure.evaluation(&url_order);
        let JudgedQuery { query, judged } = &measure.judged[0];
        let all = judged.relevant().count().max(1) as f64;
        let mut found = Vec::with_capacity(crawls.count());
        for at in 0..crawls.count() {
            let (order, start) = crawls.one(at);
            let fetched = order.pages.len() as u32;
            let placed = Placed::new(collection, (order, start), &[fetched]);
            let values = evaluation.values(&[placed.crawl()], &[Metric::Ndcg(10)])?;
            let hits: u32 = order.pages.iter().map(|&page| relevant[page as usize]).sum();
            let sets = crawls.starts.len();
            found.push(SingleCrawl {
                policy: self.settings.policies[at / sets].label(),
                set: (at % sets) as u32 + 1,
                qid: query.qid.clone(),
                kind: query.kind.clone(),
                fetched,
                ndcg: values.into_iter().flatten().flatten().next().unwrap_or(0.0),
                recall: f64::from(hits) / all,
            });
        }
        Ok(found)
    }
}

impl SingleFound {
    /// The crawls as a summary.
    pub(crate) fn summary(
        &self,
        settings: &SimulationSettings,
        course: &Course,
    ) -> SingleQuerySummary {
        let mut kinds: Vec<&str> = self.crawls.iter().map(|own| own.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.retain(|kind| !kind.is_empty() && *kind != "all");
        let mut policies = Vec::new();
        for choice in &settings.policies {
            let (name, all) = (choice.label(), std::iter::once("all"));
            policies.extend(all.chain(kinds.iter().copied()).map(|kind| self.policy(&name, kind)));
        }
        let mut qids: Vec<&str> = self.crawls.iter().map(|own| own.qid.as_str()).collect();
        qids.dedup();
        SingleQuerySummary {
            queries: qids.len(),
            pages: course.pages as u32,
            batch: settings.batch.pages(course.fetchable),
            policies,
        }
    }

    fn policy(&self, name: &str, kind: &str) -> SingleQueryPolicy {
        let own = self.crawls.iter().filter(|own| own.policy == name);
        let own = own.filter(|own| kind == "all" || own.kind == kind);
        let mut by_query: Vec<Vec<&SingleCrawl>> = Vec::new();
        for crawl in own {
            match by_query.last_mut().filter(|last| last[0].qid == crawl.qid) {
                Some(last) => last.push(crawl),
                None => by_query.push(vec![crawl]),
            }
        }
        SingleQueryPolicy {
            name: name.to_owned(),
            kind: kind.to_owned(),
            queries: by_query.len(),
            ndcg: over_queries(&by_query, |own| own.ndcg),
            recall: over_queries(&by_query, |own| own.recall),
            fetched: over_queries(&by_query, |own| f64::from(own.fetched)),
        }
    }

    /// `single-query.csv`: a line a crawl.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn csv(&self, storage: &Storage, experiment: &str) -> Result<(), SimulateError> {
        let columns = ["policy", "set", "qid", "kind", "pages", "ndcg10", "recall", "experiment"];
        let rows = self.crawls.iter().map(|crawl| {
            [
                crawl.policy.clone(),
                crawl.set.to_string(),
                crawl.qid.clone(),
                crawl.kind.clone(),
                crawl.fetched.to_string(),
                crawl.ndcg.to_string(),
                crawl.recall.to_string(),
                experiment.to_owned(),
            ]
        });
        csv_table::write(storage, "single-query.csv", columns, rows)
    }
}

/// The mean of a value over queries, of which each has some crawls.
fn over_queries(by_query: &[Vec<&SingleCrawl>], of: impl Fn(&SingleCrawl) -> f64) -> Interval {
    let mean = |crawls: &Vec<&SingleCrawl>| {
        crawls.iter().map(|own| of(own)).sum::<f64>() / crawls.len() as f64
    };
    mean_interval_alone(&by_query.iter().map(mean).collect::<Vec<f64>>())
}
