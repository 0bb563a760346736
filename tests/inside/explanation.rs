//! What `explain` prints multiplies and adds up to what URLs are ranked by: over a whole frontier, URLs that
//! wait and URLs of sites that broke promises among them, for every objective and under scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::synthetic::Shape;
use crate::campaign::OpenStore;
use crate::campaign::close::{self, Which};
use crate::campaign::explanation::Explained;
use crate::campaign::plan::{self, Beside};
use crate::campaign::questions::{Answered, Questions};
use crate::campaign::reasons::Reasons;
use crate::campaign::whatif_base::open_plan;
use crate::estimate::objective::Objective;
use crate::planner::retries::Retries;
use crate::planner::settings::PlanSettings;
use crate::whatif::answer::Answer;
use crate::whatif::scenario::Scenario;
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::page::PageRecord;
use serde_json::Value;
use tempfile::TempDir;

const SHAPE: Shape =
    Shape { pages: 1_200, links_per_page: 12, hosts: 12, vocabulary: 300, text_words: 40 };
const BUDGET: usize = 60;
/// Every page of it turns out to be empty.
const BROKEN_HOST: u32 = 1;

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "test", limits::BOUNDS.ngram_words).unwrap()
}

/// A page as it is fetched after the first crawl.
fn fetched(page: u32) -> PageRecord {
    let mut record = SHAPE.record(page);
    if page % SHAPE.hosts == BROKEN_HOST {
        record.text.clear();
    }
    record
}

/// A store with a closed cycle, in which one site broke all its promises, and an open plan.
fn store() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let pages: BTreeMap<String, u32> =
        (0..SHAPE.pages).map(|page| (SHAPE.url(page), page)).collect();
    ingest_all(path, (0..200).map(|page| SHAPE.record(page)).collect(), "first").unwrap();
    let (workload, settings) = (SHAPE.queries(80), PlanSettings::new(BUDGET));
    let mut store = open(path);
    let first = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
    plan::commit(&mut store, &first.record(), &settings, None).unwrap();
    let picks = first.choice.batch.picks.iter();
    let urls = picks.map(|pick| store.known.urls.url(pick.estimate.url));
    let came = urls.filter_map(|url| pages.get(url)).map(|&page| fetched(page)).collect();
    drop(store);
    ingest_all(path, came, "second").unwrap();
    let mut store = open(path);
    close::close_plans(&mut store, Which::All, None).unwrap();
    let second = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
    plan::commit(&mut store, &second.record(), &settings, None).unwrap();
    directory
}

/// Recomputes a number from what it is said to be made of, and notes the names on the way.
#[track_caller]
fn recomputed(factor: &Value, names: &mut BTreeSet<String>) -> f64 {
    names.insert(factor["name"].as_str().unwrap().to_owned());
    let said = factor["value"].as_f64().unwrap();
    let made = match (factor["sum"].as_array(), factor["product"].as_array()) {
        (Some(terms), None) => terms.iter().map(|term| recomputed(term, names)).sum(),
        (None, Some(terms)) => terms.iter().map(|term| recomputed(term, names)).product(),
        _ => said,
    };
    assert!((made - said).abs() <= 1e-9 * said.abs(), "{made} is not {said}: {factor}");
    made
}

/// Explains every URL of the frontier; the names of what their estimates are made of.
fn all_explained(questions: &Questions, answer: &Answer) -> BTreeSet<String> {
    let Answer { queries, served, scored, settings, choice, factors, .. } = answer;
    let reasons = Reasons {
        known: &questions.open.known,
        queries,
        served,
        scored,
        max_words: settings.estimate.rule.max_words,
        link_context: None,
        embeddings: None,
        revisits: Vec::new(),
    };
    let explained = Explained { reasons, choice, settings, factors, retries: &Retries::default() };
    let mut names = BTreeSet::new();
    for (at, url) in choice.batch.ranking.iter().enumerate() {
        let json = serde_json::to_value(explained.explain(url.url)).unwrap();
        assert_eq!(json["frontier_rank"], at + 1);
        assert_eq!(json["estimate"]["value"].as_f64(), Some(url.estimate), "bit by bit");
        recomputed(&json["estimate"], &mut names);
    }
    names
}

#[test]
fn what_is_printed_multiplies_and_adds_up_to_the_estimate() {
    let directory = store();
    for objective in Objective::ALL {
        let open = open(directory.path());
        let (mut settings, workload, within) = open_plan(&open).unwrap();
        settings.estimate.objective = objective;
        let questions =
            Questions::new(open, &workload, within, &settings, Scenario::default()).unwrap();
        let names = all_explained(&questions, &questions.base);
        for expected in ["estimate", "query", "page", "site reliability", "slow start"] {
            assert!(names.contains(expected), "{objective:?}: no {expected} in {names:?}");
        }
        let changes = objective == Objective::Served;
        assert_eq!(names.contains(objective.name()), changes, "{names:?}");
        let json = r#"{"boost-hosts": [{"host": "*.h4.test", "by": 3}], "weights": {"page": 0.7}}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let Answered { answer, .. } = questions.answer(&scenario).unwrap();
        assert!(all_explained(&questions, &answer).contains("host"), "{objective:?}");
    }
}
