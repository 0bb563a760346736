//! Answers to what-if questions from pairs that were made once are those of planning from scratch, bit
//! by bit, with any number of threads; and the store stays as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prospect_index::words::Analyzer;

use super::synthetic::Shape;
use super::toy::Toy;
use crate::campaign::OpenStore;
use crate::campaign::close::{self, Which};
use crate::campaign::plan::{self, Beside};
use crate::campaign::questions::{Answered, Questions};
use crate::campaign::whatif_base::open_plan;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::options::PlannerOption;
use crate::planner::settings::PlanSettings;
use crate::serve::views;
use crate::whatif::answer::Answer;
use crate::whatif::figures::figures;
use crate::whatif::scenario::Scenario;
use crate::whatif::workload::asked;
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use tempfile::TempDir;

const SHAPE: Shape =
    Shape { pages: 3_000, links_per_page: 12, hosts: 30, vocabulary: 400, text_words: 40 };
const BUDGET: usize = 60;

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "test", limits::BOUNDS.ngram_words).unwrap()
}

/// A store with a closed cycle, so that promises were kept or not, and an open plan.
fn store() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let pages: BTreeMap<String, u32> =
        (0..SHAPE.pages).map(|page| (SHAPE.url(page), page)).collect();
    let records = (0..300).map(|page| SHAPE.record(page)).collect();
    ingest_all(path, records, "first").unwrap();
    let (workload, mut settings) = (SHAPE.queries(150), PlanSettings::new(BUDGET));
    settings.selection.explore = 0.1;
    let mut store = open(path);
    let plan = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
    plan::commit(&mut store, &plan.record(), &settings, None).unwrap();
    let urls = plan.choice.batch.picks.iter().map(|pick| store.known.urls.url(pick.estimate.url));
    let fetched = urls.filter_map(|url| pages.get(url)).map(|&page| SHAPE.record(page)).collect();
    drop(store);
    ingest_all(path, fetched, "second").unwrap();
    let mut store = open(path);
    close::close_plans(&mut store, Which::All, None).unwrap();
    let plan = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
    plan::commit(&mut store, &plan.record(), &settings, None).unwrap();
    directory
}

fn questions(path: &Path) -> Questions {
    let open = open(path);
    let (settings, workload, within) = open_plan(&open).unwrap();
    Questions::new(open, &workload, within, &settings, Scenario::default()).unwrap()
}

fn scenario(json: &str) -> Scenario {
    serde_json::from_str(json).unwrap()
}

/// All of a plan that anyone can see, as bits.
fn bits(answer: &Answer) -> Vec<u64> {
    let batch = &answer.choice.batch;
    let mut bits: Vec<u64> = Vec::new();
    for url in batch.ranking.iter().chain(batch.picks.iter().map(|pick| &pick.estimate)) {
        bits.push(u64::from(url.url.0));
        let values = url.parts.iter().map(|(_, value)| value).chain([url.estimate]);
        bits.extend(values.map(f64::to_bits));
    }
    bits.extend(batch.picks.iter().map(|pick| pick.propensity.to_bits()));
    bits.extend(batch.held_back.iter().map(|(at, _)| u64::from(*at)));
    bits
}

fn from_scratch(questions: &Questions, scenario: &Scenario) -> Answer {
    let base = &questions.whatif_base.base;
    let asked = asked(&base.queries, scenario, &Analyzer::default()).unwrap();
    let again =
        questions.whatif_base.again(&questions.open, &asked.queries, &base.settings).unwrap();
    let (urls, hosts) = (&questions.open.known.urls, &questions.hosts);
    again.answer(scenario, &asked, urls, hosts).unwrap()
}

const SCENARIOS: [&str; 13] = [
    "{}",
    r#"{"scale": [{"by": 50, "pattern": "w1"}]}"#,
    r#"{"drop": [{"pattern": "w[2-5]"}], "scale": [{"by": 0.001}]}"#,
    r#"{"add": [{"query": "w1 w9", "frequency": 5000000}, {"query": "w2 w3 w4"}]}"#,
    r#"{"queries": [{"query": "w7 w1", "frequency": 3}, {"query": "w1"}]}"#,
    r#"{"add": [{"query": "w1 w393", "frequency": 5000000}, {"query": "w387 w391 w1", "frequency": 9000}]}"#,
    r#"{"query-weight": 0.2, "page-weight": 0.9, "importance-weight": 2}"#,
    r#"{"budget": 7}"#,
    r#"{"budget": 100000}"#,
    r#"{"per-host": 2, "per-domain": 3, "site-share": 0.1}"#,
    r#"{"explore": 0}"#,
    r#"{"exclude-hosts": ["www.h3.test"], "boost-hosts": [{"host": "*.h4.test", "by": 3}]}"#,
    r#"{"budget": 90, "explore": 0.5, "weights": {"locality": 1}, "scale": [{"by": 9, "pattern": "w1"}],
        "add": [{"query": "w11 w12", "frequency": 100000}], "per-host": 5}"#,
];

#[test]
fn answers_are_those_of_planning_from_scratch_bit_by_bit() {
    let directory = store();
    let questions = questions(directory.path());
    let plan = bits(&questions.base);
    let mut different = 0;
    for json in SCENARIOS {
        let scenario = scenario(json);
        let Answered { answer, slow, .. } = questions.answer(&scenario).unwrap();
        assert!(!slow, "{json}");
        assert_eq!(bits(&answer), bits(&from_scratch(&questions, &scenario)), "{json}");
        different += usize::from(bits(&answer) != plan);
    }
    assert_eq!(
        different,
        SCENARIOS.len() - 1,
        "every scenario but the empty one changes something"
    );
}

#[test]
fn with_an_embedding_model_they_are_too() {
    let directory = store();
    let mut open = open(directory.path());
    let (mut settings, workload, within) = open_plan(&open).unwrap();
    open.embed(Box::new(Toy), &workload, &mut |_, _| ()).unwrap();
    settings.embedding = Some(EmbeddingModel::of(&Toy));
    let questions =
        Questions::new(open, &workload, within, &settings, Scenario::default()).unwrap();
    for json in SCENARIOS.iter().filter(|json| json.contains("add")) {
        let scenario = scenario(json);
        let Answered { answer, .. } = questions.answer(&scenario).unwrap();
        assert_eq!(bits(&answer), bits(&from_scratch(&questions, &scenario)), "{json}");
    }
}

#[test]
fn threads_change_no_bit() {
    let directory = store();
    let all = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let questions = questions(directory.path());
            let answers = SCENARIOS.map(|json| questions.answer(&scenario(json)).unwrap());
            answers.map(|answered| bits(&answered.answer))
        })
    };
    assert_eq!(all(1), all(3));
}

#[test]
fn the_plan_without_a_scenario_is_the_open_plan() {
    let directory = store();
    let questions = questions(directory.path());
    let open = &questions.open;
    let id = open.store.manifest().plans.last().unwrap().id.clone();
    assert_eq!(questions.state().plan_id, id);
    let stored = crate::campaign::records::picks(&open.store, &id).unwrap();
    let picks = &questions.base.choice.batch.picks;
    let same = |(stored, pick): (&crate::planner::cycle::PlannedPick, &crate::plan::Pick)| {
        stored.url == pick.estimate.url
            && stored.estimate.to_bits() == pick.estimate.estimate.to_bits()
    };
    assert_eq!(stored.len(), picks.len());
    assert!(stored.iter().zip(picks).all(same));
}

#[test]
fn a_curve_is_what_plans_of_its_budgets_bring_and_a_price_what_a_cap_takes() {
    let directory = store();
    let questions = questions(directory.path());
    let impact = |json: &str| {
        let Answered { answer, .. } = questions.answer(&scenario(json)).unwrap();
        figures(&answer, &questions.open.known.urls, &questions.hosts, false)
    };
    for caps in
        ["", r#", "site-share": 1"#, r#", "site-share": 1, "per-host": 3"#, r#", "per-host": 3"#]
    {
        let at = |budget| impact(&format!(r#"{{"explore": 0, "budget": {budget}{caps}}}"#));
        let found = at(BUDGET);
        let of_today = found.curve.points.iter().find(|point| point.budget == BUDGET);
        let others = found.curve.points.iter().skip(1).step_by(4);
        for point in others.chain([of_today.unwrap()]) {
            let planned = at(point.budget);
            assert_eq!(planned.picks, point.budget, "{caps}");
            let apart = planned.enters() / point.impact - 1.0;
            // How a URL ranks depends a little on the budget.
            let most = if point.budget == BUDGET { 1e-12 } else { 1e-2 };
            assert!(apart.abs() < most, "{caps}: {point:?} is {}", planned.enters());
        }
        let (now, next) = (of_today.unwrap(), BUDGET + BUDGET / 10);
        let next = found.curve.points.iter().find(|point| point.budget == next).unwrap();
        let one_more = (next.impact - now.impact) / (BUDGET / 10) as f64;
        assert_eq!(one_more, found.curve.shadow_price, "{caps}");
        let rising =
            found.curve.points.is_sorted_by(|a, b| a.budget < b.budget && a.impact <= b.impact);
        assert!(rising, "{caps}");
        let capped = found.caps.iter().map(|price| price.cap.as_str()).collect::<Vec<_>>();
        let expected: &[&str] = match caps {
            "" => &["site-share"],
            r#", "site-share": 1"# => &[],
            r#", "site-share": 1, "per-host": 3"# => &["per-host"],
            _ => &["per-host", "site-share"],
        };
        assert_eq!(capped, expected);
    }
    let at = |seconds: f64| {
        let fixed = r#""explore": 0, "site-share": 1, "budget": 400"#;
        impact(&format!(r#"{{{fixed}, "seconds": {seconds}}}"#))
    };
    let found = at(6.0);
    let time = found.time.unwrap();
    assert_eq!(time.points.len(), 6);
    assert!(time.shadow_price > 0.0);
    assert!(at(8.0).time.unwrap().slowest.is_some(), "turns are counted in milliseconds");
    for point in &time.points[1..] {
        let planned = at(point.seconds);
        assert_eq!(planned.picks, point.urls, "{point:?}");
        assert!((planned.enters() / point.impact - 1.0).abs() < 1e-2, "{point:?}");
    }
    let slowest = time.slowest.unwrap();
    assert!(slowest.delay == 1.0 && slowest.shadow_price >= 0.0, "{slowest:?}");
    let with = impact(r#"{"explore": 0, "site-share": 0.01}"#);
    let without = impact(r#"{"explore": 0, "site-share": 0}"#);
    assert_eq!((with.caps[0].limit, without.caps.len()), (0.01, 0));
    assert!(with.caps[0].price != 0.0 && with.held_back > 0 && without.held_back == 0);
    let price = without.enters() - with.enters();
    assert!((with.caps[0].price / price - 1.0).abs() < 1e-6 && with.time.is_none());
}

#[test]
fn what_is_expected_is_of_the_batch_and_a_query_that_gains_nothing_changes_nothing() {
    let directory = store();
    let questions = questions(directory.path());
    let base = &questions.base;
    let of_query = &base.expected.of_query;
    let gain = of_query.iter().zip(&base.queries).map(|(seen, query)| query.frequency * seen);
    let enters = base.expected.impact.enters;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * enters.ceiling, "{a} {b}");
    close(gain.sum(), enters.impact);
    close(base.expected.of_url.iter().sum(), enters.impact);
    close(base.expecting().enters(&base.urls()), enters.impact);
    assert!(enters.impact > 0.0 && enters.low < enters.impact, "{enters:?}");
    assert!(enters.impact <= enters.high && enters.high <= enters.ceiling);

    let asked = scenario(r#"{"add": [{"query": "nowhere", "frequency": 5000000}]}"#);
    let found = questions.figures(&asked).unwrap();
    close(found.difference.unchanged_batch, enters.impact);

    let hot = scenario(r#"{"scale": [{"by": 16, "pattern": "w1"}], "fetched": []}"#);
    let found = questions.figures(&hot).unwrap();
    close(found.plan.enters() - enters.impact, found.difference.impact);
    assert!(found.difference.low < found.difference.impact, "{:?}", found.difference);
    assert!(found.difference.impact < found.difference.high && found.difference.impact > 0.0);
    // Who is fetched already competes: places that it takes are taken.
    let first = questions.open.known.urls.url(base.urls()[0]);
    let fetched = scenario(&format!(r#"{{"fetched": ["{first}"]}}"#));
    let answer = questions.answer(&fetched).unwrap().answer;
    let rest: Vec<_> = base.urls().into_iter().skip(1).collect();
    let alone = base.expecting().enters(&rest);
    assert!(answer.expecting().enters(&rest) < alone, "{alone}");
}

#[test]
fn other_lists_ask_for_all_pairs_again_and_differ() {
    let directory = store();
    let questions = questions(directory.path());
    let plan = bits(&questions.base);
    for json in [
        r#"{"k": 3}"#,
        r#"{"rho": 0.3}"#,
        r#"{"visibility": "log"}"#,
        r#"{"visibility": "geometric:0.5", "k": 20}"#,
        r#"{"objective": "served"}"#,
        r#"{"objective": "served", "visibility": "log"}"#,
    ] {
        let answered = questions.answer(&scenario(json)).unwrap();
        assert!(answered.slow && bits(&answered.answer) != plan, "{json}");
    }
    let rho = questions.base.settings.estimate.rule.rho;
    let same =
        format!(r#"{{"k": 10, "rho": {rho}, "visibility": "top", "objective": "expected"}}"#);
    let same = questions.answer(&scenario(&same)).unwrap();
    assert!(!same.slow && bits(&same.answer) == plan);
}

#[test]
fn options_of_models_are_answered_as_a_plan_with_them() {
    let directory = store();
    let scenarios = [
        r#"{"k1": 2}"#,
        r#"{"reading": "sketch"}"#,
        r#"{"without": "url.regions"}"#,
        r#"{"importance": "pagerank"}"#,
        r#"{"defence": "off"}"#,
    ];
    let questions = questions(directory.path());
    let (settings, plan) = (questions.whatif_base.base.settings.clone(), bits(&questions.base));
    let answers: Vec<Vec<u64>> = scenarios
        .iter()
        .map(|json| {
            let answered = questions.answer(&scenario(json)).unwrap();
            assert!(answered.slow, "{json}");
            bits(&answered.answer)
        })
        .collect();
    drop(questions);
    for (json, answer) in scenarios.into_iter().zip(answers) {
        let open = open(directory.path());
        let (_, workload, within) = open_plan(&open).unwrap();
        let mut settings = settings.clone();
        scenario(json).options.apply(&mut settings).unwrap();
        let planned =
            Questions::new(open, &workload, within, &settings, Scenario::default()).unwrap();
        assert!(answer == bits(&planned.base) && answer != plan, "{json}");
    }
}

/// The files of the truth: all but what can be rebuilt, and the lock.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let segments = fs::read_dir(path.join("segments")).unwrap().map(|entry| entry.unwrap().path());
    let all = segments.chain([path.join("MANIFEST.json")]);
    all.map(|file| (file.display().to_string(), fs::read(&file).unwrap())).collect()
}

#[test]
fn the_page_is_offered_every_option_of_the_table() {
    let directory = store();
    let state = views::state(&questions(directory.path()), false, "");
    let listed = state["options"].as_array().unwrap().iter();
    let listed: Vec<&str> = listed.map(|option| option["name"].as_str().unwrap()).collect();
    let shown = PlannerOption::all().iter().filter(|option| !option.is_hidden);
    let names: Vec<&str> = shown.map(|option| option.name.as_str()).collect();
    assert_eq!(listed, names);
}

#[test]
fn questions_leave_the_store_alone_and_a_written_answer_is_the_open_plan() {
    let directory = store();
    let before = files(directory.path());
    let mut questions = questions(directory.path());
    let wanted = scenario(SCENARIOS[12]);
    questions.figures(&wanted).unwrap();
    questions.answer(&scenario(r#"{"k": 3}"#)).unwrap();
    assert_eq!(files(directory.path()), before);
    let answered = questions.answer(&wanted).unwrap();
    let picks = answered.answer.choice.batch.picks.len();
    let id = questions.commit(&answered).unwrap();
    drop(questions);
    let open = open(directory.path());
    assert_eq!(open.store.manifest().plans.last().unwrap().id, id);
    assert_eq!(crate::campaign::records::picks(&open.store, &id).unwrap().len(), picks);
    let (settings, workload, _) = open_plan(&open).unwrap();
    assert_eq!(settings.selection.budget, 90);
    assert!(workload.queries.iter().any(|query| query.text == "w11 w12"));
}

#[test]
fn queries_of_two_answers_are_told_apart_by_their_words() {
    let directory = store();
    let open = open(directory.path());
    let (settings, workload, within) = open_plan(&open).unwrap();
    let shared = scenario(r#"{"add": [{"query": "w1 w300", "frequency": 900000}]}"#);
    let questions = Questions::new(open, &workload, within, &settings, shared).unwrap();
    let replaced = scenario(r#"{"queries": [{"query": "w2 w301", "frequency": 800000}]}"#);
    let difference = questions.figures(&replaced).unwrap().difference;
    let of = |query: &str| {
        let all = difference.gaining.iter().chain(&difference.losing);
        all.filter(|change| change.query == query)
            .map(|change| (change.frequency_before, change.frequency_after))
            .collect::<Vec<_>>()
    };
    assert!(of("w1 w300").iter().all(|asked| *asked == (900_000.0, 900_000.0)));
    assert!(of("w2 w301").iter().all(|asked| *asked == (0.0, 800_000.0)));
    assert!(!difference.losing.is_empty(), "the workload is not asked any more");
}

#[test]
fn a_url_that_starts_or_ends_to_wait_is_told_as_such() {
    let directory = store();
    let of_budgets = |before: usize, after: usize| {
        let open = open(directory.path());
        let (settings, workload, within) = open_plan(&open).unwrap();
        // A domain that would fill both batches, were there no slow start.
        let boost = r#""boost-hosts": [{"host": "*.h4.test", "by": 100}]"#;
        let shared = scenario(&format!("{{{boost}, \"budget\": {before}}}"));
        let questions = Questions::new(open, &workload, within, &settings, shared).unwrap();
        questions.figures(&scenario(&format!("{{\"budget\": {after}}}"))).unwrap().difference
    };
    let larger = of_budgets(60, 1_000);
    let reason = "it is no longer deferred behind the URLs of others";
    let freed = larger.entering.iter().filter(|url| url.reason == reason).count();
    assert!((10..50).contains(&freed), "{freed}");
    let smaller = of_budgets(1_000, 60);
    let reason = "it is deferred: slow start, or only young domains link to it";
    let held = smaller.leaving.iter().filter(|url| url.reason == reason).count();
    assert_eq!(held, freed);
    let all = larger.entering.iter().chain(&smaller.leaving);
    assert!(all.filter(|url| url.reason.contains(" part ")).count() == 0);
}

#[test]
fn a_plan_whose_pages_came_is_not_written_over() {
    let directory = store();
    ingest_all(directory.path(), vec![SHAPE.record(2_999)], "third").unwrap();
    let mut questions = questions(directory.path());
    let before = files(directory.path());
    let answered = questions.answer(&Scenario::default()).unwrap();
    let error = questions.commit(&answered).unwrap_err();
    assert!(error.to_string().contains("it is not closed"), "{error}");
    assert_eq!(files(directory.path()), before);
}

#[test]
fn a_budget_beyond_everything_takes_everything() {
    let directory = store();
    let questions = questions(directory.path());
    let answered = questions.answer(&scenario(r#"{"budget": 4000000000}"#)).unwrap();
    let batch = &answered.answer.choice.batch;
    assert_eq!(batch.picks.len(), batch.ranking.len());
    assert!(questions.answer(&scenario(r#"{"budget": 1000000000000}"#)).is_err());
    let hot: Vec<String> = (0..40).map(|_| r#"{"by": 1e9}"#.to_owned()).collect();
    let endless = format!("{{\"scale\": [{}]}}", hot.join(","));
    assert!(questions.answer(&scenario(&endless)).is_err(), "frequencies stay finite");
}
