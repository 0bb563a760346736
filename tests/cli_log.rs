//! The plans of a store, one a line.
//!
//! Story: after some weeks somebody asks which plans there were, and what each was worth.

mod common;

use common::{Bench, done, lines, page, page_at, text, urls};
use serde_json::Value;

#[test]
fn every_plan_is_a_line_with_what_became_of_it() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let none = done(&["log", "--store", &store]);
    assert!(
        none.stdout.is_empty() && none.stderr.contains("no plan was made yet"),
        "{}",
        none.stderr
    );
    let first = done(&bench.plan_arguments(&bench.store(), &["--budget", "10"])).stdout;
    let fetched = urls(&first);
    let fetched: Vec<_> = fetched.iter().take(8).map(|url| page(page_at(url))).collect();
    let back = bench.write("back.jsonl", lines(fetched));
    done(&["ingest", "--store", &store, "--close", &back]);
    done(&bench.plan_arguments(&bench.store(), &["--budget", "5"]));

    let json: Value =
        serde_json::from_str(&done(&["log", "--store", &store, "--json"]).stdout).unwrap();
    let status: Value =
        serde_json::from_str(&done(&["status", "--store", &store, "--json"]).stdout).unwrap();
    assert_eq!(json["schema"], "prospect.log/1");
    let [closed, open] = json["plans"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&closed["cycle"], &open["cycle"]), (&Value::from(1), &Value::Null));
    for (name, value) in status["cycles"][0].as_object().unwrap() {
        assert_eq!(&closed[name], value, "{name} is that of status");
    }
    assert_eq!((&closed["fetched"], &closed["unknown"]), (&8.into(), &2.into()));
    assert_eq!((&open["planned"], &open["unknown"]), (&5.into(), &5.into()));
    assert_eq!(open["plan_id"], status["open_plans"][0]["plan_id"]);

    let table = done(&["log", "--store", &store]).stdout;
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    let heads = "cycle plan planned fetched failed moved unknown predicted realised";
    assert_eq!(rows[0].join(" "), heads);
    let id = closed["plan_id"].as_str().unwrap();
    assert_eq!(rows[1][..7], ["1", id, "10", "8", "0", "0", "2"]);
    let realised = closed["enters"]["realised"].as_f64().unwrap();
    assert_eq!(rows[1][8], format!("{realised:.1}"));
    let id = open["plan_id"].as_str().unwrap();
    // What is predicted of an open plan is what `plan` said of it when it was made: of all its picks.
    let again = bench.plan_arguments(&bench.store(), &["--budget", "5", "--json"]);
    let plan: Value = serde_json::from_str(&done(&again).stdout).unwrap();
    assert_eq!(plan["plan_id"], id);
    for quantity in ["enters", "stays"] {
        for (name, value) in plan["expected_impact"][quantity].as_object().unwrap() {
            assert_eq!(&open[quantity][name], value, "{quantity} {name}");
        }
    }
    let predicted = plan["expected_impact"]["enters"]["predicted"].as_f64().unwrap();
    assert!(predicted > 0.0);
    assert_eq!(rows[2], ["open", id, "5", "0", "0", "0", "5", &format!("{predicted:.1}"), "?"]);
    assert!(table.ends_with("for an open plan of all of its picks)\n"), "{table}");
}

/// Story: a plan for lists whose first places are seen most was told in places that are seen alike as soon as another
/// kind of plan was open, beside what came of it; and that other plan learned from its figures.
#[test]
fn figures_of_a_plan_are_in_the_places_of_its_lists() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let json =
        |arguments: &[String]| -> Value { serde_json::from_str(&done(arguments).stdout).unwrap() };
    let by_log = |budget| ["--budget", budget, "--visibility", "log"];
    let fetched = urls(&done(&bench.plan_arguments(&bench.store(), &by_log("10"))).stdout);
    let back = bench.write("back.jsonl", lines(fetched.iter().map(|url| page(page_at(url)))));
    let ingest = ["ingest", "--store", &store, "--close", "--json", &back].map(str::to_owned);
    let closed = json(&ingest)["closed"][0].clone();
    let plain = bench.plan_arguments(&bench.store(), &["--budget", "5", "--json"]);
    let plain = json(&plain);
    for command in ["status", "log"] {
        let found = json(&[command, "--store", &store, "--json"].map(str::to_owned));
        let cycle = if command == "status" { &found["cycles"][0] } else { &found["plans"][0] };
        for quantity in ["enters", "stays"] {
            assert!(closed[quantity]["ceiling"].as_f64() > Some(0.0));
            assert_eq!(cycle[quantity], closed[quantity], "{command}: {quantity}");
        }
    }
    let by_log = [&by_log("5")[..], &["--json", "--another"]].concat();
    let by_log = json(&bench.plan_arguments(&bench.store(), &by_log));
    let learned_from = |plan: &Value| plan["expected_impact"]["enters"]["cycles"].as_u64();
    assert_eq!([&plain, &by_log].map(learned_from), [Some(0), Some(1)]);
}

/// Story: a site moved to https; every planned URL led to a page, and the plan had brought nothing and taught nothing.
#[test]
fn a_pick_that_leads_to_a_new_page_has_brought_it() {
    let bench = Bench::with_store();
    let json =
        |arguments: &[String]| -> Value { serde_json::from_str(&done(arguments).stdout).unwrap() };
    let closed = |name: &str, is_moved: bool| {
        let store = bench.copy_of_store(name);
        let planned = urls(&done(&bench.plan_arguments(&store, &["--budget", "10"])).stdout);
        let page = |url: &String| {
            let mut page: Value = serde_json::from_str(&page(page_at(url))).unwrap();
            if is_moved {
                page["requested_url"] = url.as_str().into();
                page["url"] = format!("{url}?moved").into();
            }
            page.to_string()
        };
        let back = bench.write(&format!("{name}.jsonl"), lines(planned.iter().map(page)));
        let store = text(&store).to_owned();
        let ingest = ["ingest", "--store", &store, "--close", "--json", &back].map(str::to_owned);
        let closed = json(&ingest)["closed"][0].clone();
        let status = json(&["status", "--store", &store, "--json"].map(str::to_owned));
        for quantity in ["enters", "stays"] {
            assert_eq!(status["cycles"][0][quantity], closed[quantity], "{name}: {quantity}");
        }
        closed
    };
    let (came, moved) = (closed("came", false), closed("moved", true));
    assert_eq!([&came["fetched"], &came["moved"], &came["unplanned"]], [10, 0, 0]);
    assert_eq!([&moved["fetched"], &moved["moved"], &moved["unplanned"]], [0, 10, 0]);
    assert!(moved["enters"]["realised"].as_f64() > Some(0.0));
    for quantity in ["enters", "stays"] {
        assert_eq!(moved[quantity], came[quantity], "{quantity}");
    }
}
