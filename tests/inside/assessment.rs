//! An assessment is decided by whoever judges its queries, and a page of it has bounds.

use prospect_index::ingest::ingest_all;
use prospect_index::page::{Outlink, PageRecord};
use serde_json::Value;

use crate::campaign::OpenStore;
use crate::campaign::assessment::Assessment;
use crate::campaign::assessment::view::Listed;
use crate::campaign::questions::Questions;
use crate::planner::settings::PlanSettings;
use crate::sufficiency::verdict::{QueryClass, StopReason};
use crate::whatif::scenario::Scenario;
use crate::workload::{Query, Workload};

const QUERIES: usize = 30;

/// Thirty queries, each of its own kind, over one page that answers the first of them and links to one that may answer
/// all.
fn assessment() -> Assessment {
    let dir = tempfile::tempdir().unwrap();
    let link = Outlink::from(("https://y.test/", "word1 of"));
    let page = PageRecord {
        url: "https://x.test/".into(),
        text: "word0 of".into(),
        outlinks: vec![link],
        ..PageRecord::default()
    };
    ingest_all(dir.path(), vec![page], "one page").unwrap();
    let query = |at: usize| {
        Query::new(&format!("q{at}"), &format!("word{at} of"), (at + 1) as f64, &format!("k{at}"))
    };
    let workload = Workload { queries: (0..QUERIES).map(query).collect() };
    let open = OpenStore::open(dir.path(), "a test", 3).unwrap();
    let settings = PlanSettings::new(5);
    let asked = Questions::new(open, &workload, Vec::new(), &settings, Scenario::default());
    asked.unwrap().assessment().unwrap()
}

#[test]
fn who_judges_the_queries_decides_classes_and_verdict() {
    let mut found = assessment();
    let by_parts = found.decide(0.7, &StopReason::DEFAULT);
    assert_eq!(by_parts.whole(), found.sufficiency.whole(0.7));
    assert!(!by_parts.verdict.stop, "{:?}", by_parts.verdict);
    assert_eq!(by_parts.of_class(QueryClass::Sufficient), (0, 0.0));
    assert_eq!(found.by_lack()[0], QUERIES - 1, "the most asked lacks most");

    found.judged = vec![0.9; QUERIES];
    found.judged[QUERIES - 1] = 0.1;
    let judged = found.decide(0.7, &StopReason::DEFAULT);
    assert_eq!(judged.verdict.reasons, [StopReason::Sufficient]);
    assert_eq!(judged.of_class(QueryClass::Sufficient).0, QUERIES - 1);
    assert_eq!(judged.classes[QUERIES - 1], QueryClass::Growing, "the frontier has a word of it");
    let askings = (QUERIES * (QUERIES + 1) / 2) as f64;
    let own = QUERIES as f64 / askings;
    let whole = judged.whole();
    assert!((whole.sufficient_share - (1.0 - own)).abs() < 1e-12);
    assert!((whole.sufficiency - (0.9 - 0.8 * own)).abs() < 1e-12);
    assert_eq!(whole.parts, found.sufficiency.whole(0.7).parts, "parts are what pages say");
    assert_eq!(judged.kinds()["k0"].sufficiency, 0.9);
}

#[test]
fn a_page_has_bounds_where_the_view_has_none() {
    let found = assessment();
    let decision = found.decide(0.7, &StopReason::DEFAULT);
    let json = |value: serde_json::Result<Value>| value.unwrap();
    let whole = json(serde_json::to_value(decision.view(0..QUERIES)));
    assert_eq!(whole["queries"].as_array().unwrap().len(), QUERIES);
    assert_eq!(whole["kinds"].as_object().unwrap().len(), QUERIES);
    let listed = Listed { limit: 3, search: " WORD1".into(), offset: 1, ..Listed::default() };
    let page = json(serde_json::to_value(decision.page(&listed)));
    let kinds = page["kinds"].as_object().unwrap();
    assert!(kinds.len() == 20 && kinds.contains_key("k29") && !kinds.contains_key("k9"));
    let queries = page["queries"].as_array().unwrap();
    let texts: Vec<&str> = queries.iter().map(|row| row["query"].as_str().unwrap()).collect();
    assert_eq!((texts, &page["total"]), (vec!["word18 of", "word17 of", "word16 of"], &11.into()));
    assert_eq!(page["workload"], whole["workload"]);
}
