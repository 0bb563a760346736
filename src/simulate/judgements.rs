//! Judgements of a collection's pages by query: what crawls are measured against.

use std::collections::HashMap;

use super::collection::Collection;
use crate::evaluate::checkpoints::{JudgedPages, JudgedQuery};
use crate::evaluate::rerank::PairScores;
use crate::evaluate::run::Run;
use crate::workload::Workload;
use crate::workload::qrels::Judgement;

/// Queries that can be evaluated, and what was left out.
#[derive(Default)]
pub(crate) struct JudgedCollection {
    /// Queries of the evaluation workload with at least one relevant page in the collection, by
    /// qid.
    pub(crate) queries: Vec<JudgedQuery>,
    /// By page: of how many of them it is a relevant page.
    pub(crate) relevant: Vec<u32>,
    /// Judgements of URLs that are not in the collection.
    pub(crate) outside: usize,
    /// Judgements of queries that are not in the workload.
    pub(crate) other_queries: usize,
}

impl JudgedCollection {
    /// Joins judgements with queries and pages. Of several of a query and page the highest grade counts.
    pub(crate) fn new(
        collection: &Collection,
        evaluation: &Workload,
        judgements: &[Judgement],
    ) -> Self {
        let mut found = Self { relevant: vec![0; collection.urls.len()], ..Self::default() };
        let mut by_query: HashMap<&str, HashMap<u32, i32>> = HashMap::new();
        for query in &evaluation.queries {
            by_query.insert(&query.qid, HashMap::new());
        }
        for judgement in judgements {
            let Some(pages) = by_query.get_mut(judgement.qid.as_str()) else {
                found.other_queries += 1;
                continue;
            };
            match collection.page(&judgement.url) {
                Some(page) => {
                    let grade = pages.entry(page).or_insert(judgement.grade);
                    *grade = (*grade).max(judgement.grade);
                }
                None => found.outside += 1,
            }
        }
        for query in &evaluation.queries {
            let pages = by_query.remove(query.qid.as_str()).unwrap_or_default();
            let judged = JudgedPages::new(pages.into_iter().collect());
            if judged.judged.relevant() == 0 {
                continue;
            }
            for page in judged.relevant() {
                found.relevant[page as usize] += 1;
            }
            found.queries.push(JudgedQuery { query: query.clone(), judged });
        }
        found
    }

    /// What an external run says of the queries' pages, and of how many queries it says something.
    pub(crate) fn scores_of(&self, collection: &Collection, run: &Run) -> (PairScores, usize) {
        let mut by_query = Vec::with_capacity(self.queries.len());
        for judged in &self.queries {
            let list = run.queries.get(&judged.query.qid).map_or(&[][..], Vec::as_slice);
            let mut scores = Vec::new();
            for result in list {
                if let Some(page) = page(collection, &result.docid) {
                    scores.push((page, f64::from(result.score)));
                }
            }
            by_query.push(scores);
        }
        let queries = by_query.iter().filter(|scores| !scores.is_empty()).count();
        (PairScores::new(by_query), queries)
    }
}

/// The page that a run means by a URL, spelled as it likes.
fn page(collection: &Collection, docid: &str) -> Option<u32> {
    let canonical = prospect_index::url::canonical(docid).ok()?;
    collection.page(&canonical)
}
