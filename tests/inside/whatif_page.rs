//! The page of `prospect whatif --html`: complete without its script, drawn with it, and fed with
//! names that want to be code.
//!
//! Needs Chromium for the charts (see `common/browser.rs`).

use super::browser;
use super::browser::{Browser, assert_quiet};
use super::payloads::{HARM, PAYLOADS, printed};
use crate::report::html::whatif::page;
use crate::results::impact::{Both, ExpectedImpact};
use crate::results::whatif::{
    BudgetCurve, BudgetPoint, CapPrice, Difference, HostChange, HostFigures, PlanFigures,
    QueryFigures, RevisitFigures, SCHEMA, ScenarioFigures, StoreState, Uncovered, UrlChange,
    WhatIf, WhatIfQueryChange,
};
use serde_json::json;
use tempfile::TempDir;

fn curve(scale: f64) -> BudgetCurve {
    let point = |budget: usize| BudgetPoint { budget, impact: scale * (budget as f64).sqrt() };
    BudgetCurve {
        points: [0, 1, 4, 9, 25, 100, 400].map(point).to_vec(),
        knee: Some(point(25)),
        shadow_price: scale / 20.0,
    }
}

fn query(name: &str) -> QueryFigures {
    QueryFigures { qid: "q7".into(), query: name.into(), frequency: 60.0, results: 0.0, served: 3 }
}

fn expected(impact: f64) -> ExpectedImpact {
    let (low, high, ceiling) = (impact / 2.0, impact * 2.0, impact * 9.0);
    ExpectedImpact { impact, low, high, ceiling, cycles: 4 }
}

fn plan(scale: f64) -> PlanFigures {
    PlanFigures {
        budget: 100,
        picks: 100,
        frontier: 400,
        held_back: 12,
        expected_impact: Both { enters: expected(scale * 10.0), stays: expected(scale * 9.0) },
        weights: vec![("query".into(), 0.9), ("page".into(), 0.1)],
        curve: curve(scale),
        caps: vec![CapPrice { cap: "per-host".into(), limit: 40.0, price: 1.25 }],
        hosts: vec![HostFigures { host: "a.test".into(), urls: 100, impact: scale * 10.0 }],
        uncovered: Uncovered {
            queries: 1,
            frequency: 60.0,
            most_asked: vec![query("nobody knows")],
        },
        ..PlanFigures::default()
    }
}

fn difference() -> Difference {
    let url = |url: &str, before: Option<usize>, after: Option<usize>| UrlChange {
        url: url.into(),
        rank_before: before,
        rank_after: after,
        estimate_before: 0.5,
        estimate_after: 1.5,
        reason: "weight of page 0.10 → 0.30".into(),
    };
    let gain = WhatIfQueryChange {
        qid: "q1".into(),
        query: "rye flour".into(),
        frequency_before: 5.0,
        frequency_after: 50.0,
        results_before: 0.5,
        results_after: 1.5,
    };
    let loss = WhatIfQueryChange { frequency_after: 0.0, query: "spelt".into(), ..gain.clone() };
    Difference {
        impact: 100.0,
        low: 50.0,
        high: 150.0,
        unchanged_batch: 190.0,
        kept: 99,
        entering: vec![url("https://a.test/in", None, Some(1))],
        entering_count: 1,
        leaving: vec![url("javascript:alert(1)", Some(4), None)],
        leaving_count: 300,
        gaining: vec![gain],
        losing: vec![loss],
        hosts: vec![HostChange {
            host: "a.test".into(),
            urls_before: 100,
            urls_after: 100,
            impact_before: 100.0,
            impact_after: 200.0,
        }],
        ..Difference::default()
    }
}

fn scenario(name: &str) -> ScenarioFigures {
    ScenarioFigures {
        name: name.into(),
        scenario: json!({ "budget": 100 }),
        matched_queries: 1,
        slow: false,
        plan: plan(20.0),
        difference: difference(),
    }
}

fn found() -> WhatIf {
    WhatIf {
        schema: SCHEMA.to_owned(),
        state: StoreState {
            on_base: false,
            plan_id: "0123456789abcdef".into(),
            pages: 1234,
            queries: 1,
            pairs: 5678,
            k: 10,
            visibility: None,
            k1: 0.9,
            b: 0.4,
        },
        base: plan(10.0),
        scenarios: vec![scenario("more rye"), scenario("less spelt")],
    }
}

fn opened(found: &WhatIf) -> Option<(Browser, TempDir)> {
    browser::opened(&page(found).unwrap())
}

#[test]
fn everything_is_there_without_a_script() {
    let page = page(&found()).unwrap();
    let (html, _) = page.split_once("<script type=\"application/json\"").unwrap();
    for said in [
        "What if: 2 scenarios",
        "1,234 pages, for 1 query with 5,678 candidate pairs",
        "<td data-sort=\"100\">+100.0</td>",
        "planning again brings +10.0",
        "1 query is new and had to be matched",
        "URLs that leave: 300, the first 1",
        "https://a.test/in",
        "weight of page 0.10 → 0.30",
        "rye flour",
        "Caps hold 12 URLs back",
        "<td data-sort=\"1.25\">1.250</td>",
        "nobody knows",
    ] {
        assert!(html.contains(said), "{said}\n{html}");
    }
    assert!(!html.contains("href=\"javascript:"), "only addresses of the web are links");
    assert!(!html.contains("fetched again") && html.contains(">today<"));
    let mut again = found();
    again.state.on_base = true;
    again.scenarios[0].plan.revisits = Some(RevisitFigures { urls: 3, changed: 1.5, impact: 7.0 });
    let page = crate::report::html::whatif::page(&again).unwrap();
    assert!(page.contains("3 pages fetched again, 1.5 of which"), "{page}");
    assert!(page.contains(", as what all scenarios share has it"), "{page}");
}

#[test]
fn charts_are_drawn_and_can_be_walked_with_keys() {
    let Some((mut browser, _folder)) = opened(&found()) else { return };
    let lines = "document.querySelectorAll('#s0 g[data-series]').length";
    assert_eq!(browser.value(lines), 3, "today and both scenarios share a chart");
    let marks =
        |kind: &str| format!("document.querySelectorAll('#s0 g[data-series] .mark.{kind}').length");
    assert_eq!(browser.value(&marks("full")), 3, "the budgets");
    assert_eq!(browser.value(&marks("open")), 3, "the knees");
    assert_eq!(browser.value("document.querySelectorAll('#s1 figure').length"), 3);
    assert_eq!(browser.value("document.querySelectorAll('#s1 .stick').length"), 6);

    browser.value("document.querySelector('#s0 .chart').focus()");
    for _ in 0..5 {
        browser.press("ArrowRight");
    }
    let tip = browser.value("document.querySelector('#s0 .tip').textContent");
    let tip = tip.as_str().unwrap();
    assert!(tip.starts_with("25 URLs") && tip.contains("its knee"), "{tip}");
    browser.press_table_buttons();
    let row = "document.querySelector('#s0 .numbers tbody tr:nth-child(6)').textContent";
    assert_eq!(browser.value(row), "100100.0 its budget200.0 its budget200.0 its budget");

    browser.size(600, 768);
    browser.wait_until("innerWidth === 600");
    assert!(browser.value("document.documentElement.scrollWidth").as_u64().unwrap() <= 600);
    assert_quiet(&browser);
}

#[test]
fn empty_plans_are_drawn_too() {
    let mut bare = found();
    bare.base = PlanFigures::default();
    bare.scenarios.truncate(1);
    bare.scenarios[0].plan = PlanFigures::default();
    bare.scenarios[0].difference = Difference::default();
    let Some((mut browser, _folder)) = opened(&bare) else { return };
    let drawn = browser.value("document.querySelector('main').outerHTML");
    for wrong in ["NaN", "Infinity", "undefined", "[object"] {
        assert!(!drawn.as_str().unwrap().contains(wrong), "{wrong}");
    }
    browser.press_table_buttons();
    assert_quiet(&browser);
}

/// A question of which every name is one text.
fn named(name: &str) -> WhatIf {
    let mut found = found();
    found.scenarios.truncate(1);
    let one = &mut found.scenarios[0];
    one.name = name.into();
    one.scenario = json!({ "add": [{ "query": name }] });
    let difference = &mut one.difference;
    for url in difference.entering.iter_mut().chain(&mut difference.leaving) {
        url.url = format!("https://a.test/{name}");
        url.reason = name.into();
    }
    difference.gaining[0].query = name.into();
    difference.hosts[0].host = name.into();
    one.plan.uncovered.most_asked[0].query = name.into();
    found
}

#[test]
fn names_that_are_code_stay_names() {
    let Some((mut browser, folder)) = opened(&named(PAYLOADS[0])) else { return };
    for name in PAYLOADS {
        browser::open_anew(&mut browser, &folder, &page(&named(name)).unwrap());
        browser.press_table_buttons();
        assert_eq!(browser.value(HARM), "", "{name:?}");
        assert_eq!(browser.value("document.scripts.length"), 2, "{name:?}");
        let heading = printed(name);
        assert_eq!(browser.value("document.querySelector('#s1 h2').textContent"), heading);
        let host = "[...document.querySelectorAll('#s1 th.query')].map((cell) => cell.textContent)";
        assert!(browser.value(host).as_array().unwrap().contains(&heading.into()), "{name:?}");
        assert_quiet(&browser);
    }
}
