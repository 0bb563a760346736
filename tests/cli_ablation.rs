//! `prospect simulate --ablate`: crawls without each group of evidence, and what they say of it.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use common::{Bench, Run, done};
use serde_json::Value;
use simulation::{SMALL, bench, curve, of_policy, order, simulated, summary, tried};

const COURSE: &str = "--batch 5% --max-pages 90%";

/// One bench with an ablation carried out into `all`.
static CARRIED_OUT: LazyLock<(Bench, Run)> = LazyLock::new(|| {
    let bench = bench();
    let line = format!("{SMALL} --policy bfs,prospect --ablate {COURSE}");
    let run = simulated(&bench, &line, "all");
    (bench, run)
});

fn groups(ablation: &Value) -> &Vec<Value> {
    ablation["policies"][0]["groups"].as_array().unwrap()
}

fn mean(interval: &Value) -> f64 {
    interval["mean"].as_f64().unwrap()
}

#[test]
fn every_group_that_is_listed_has_crawls_and_a_row() {
    let (bench, run) = &*CARRIED_OUT;
    let listed = done(&["policies", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let names: Vec<&Value> =
        listed["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    let found = summary(bench, "all");
    let rows: Vec<&Value> =
        groups(&found["ablation"]).iter().map(|group| &group["group"]).collect();
    // There is no embedding model here.
    let names: Vec<&Value> = names.into_iter().filter(|name| *name != "embedding").collect();
    assert_eq!(rows, names);
    assert!(done(&["policies"]).stdout.contains("prospect+without=url.anchors"));
    for name in names {
        let name = name.as_str().unwrap();
        assert!(run.stdout.contains(&format!("\n  {name} ")), "{}", run.stdout);
    }
    assert_eq!(found["ablation"]["policies"].as_array().unwrap().len(), 1, "bfs reads no group");
    assert!(run.stdout.contains("ablation of prospect, impact after 30 pages fetched"));
}

#[test]
fn a_change_is_the_mean_difference_to_the_whole_policy() {
    let (bench, _) = &*CARRIED_OUT;
    let found = summary(bench, "all");
    let ablation = &found["ablation"];
    let whole = &ablation["policies"][0];
    let read_at = ablation["read_at"].as_u64().unwrap() as usize;
    let impact = |policy: &str| {
        let points = curve(&found, policy, "all", "impact");
        points.iter().find(|(pages, _)| *pages == read_at).unwrap().1
    };
    let mut differ = BTreeSet::new();
    for group in groups(ablation) {
        let policy = group["policy"].as_str().unwrap();
        for speedup in ["speedup_relevant", "speedup_impact"] {
            let own = &of_policy(&found, policy)["kinds"][0][speedup];
            let change = mean(own) - mean(&whole["whole"][speedup]);
            assert!((mean(&group["change"][speedup]) - change).abs() < 1e-9, "{policy} {speedup}");
        }
        let change = impact(policy) - impact("prospect");
        assert!((mean(&group["change"]["impact"]) - change).abs() < 1e-9, "{policy}");
        if order(bench, "all", policy, 1) != order(bench, "all", "prospect", 1) {
            differ.insert(group["group"].as_str().unwrap());
        }
    }
    for group in ["pairs", "partial", "page", "page-parents", "regions"] {
        assert!(differ.contains(group), "without {group} nothing changed: {differ:?}");
    }
}

#[test]
fn a_file_of_experiments_gives_one_table_each_and_no_row_for_quality_that_there_is_not() {
    let (bench, _) = &*CARRIED_OUT;
    let toml = "corpus = 'pages.jsonl'\nworkload = 'queries.tsv'\nseeds = ['seeds1.txt']\n\
        policy = 'prospect'\nbatch = '10%'\nmax-pages = '20%'\nablate = true\n\
        [[experiment]]\nname = 'one'\n[[experiment]]\nname = 'two'\nquality = 'quality.tsv'\n";
    bench.write("ablate.toml", toml);
    let run = simulated(bench, "simulate --config @ablate.toml", "file");
    assert_eq!(run.stdout.matches("ablation of prospect,").count(), 2, "{}", run.stdout);
    let named = |out: &str| -> BTreeSet<String> {
        let found = summary(bench, out);
        assert!(found["ablation"]["policies"][0]["whole"]["speedup_impact"].is_null());
        let names = groups(&found["ablation"]).iter().map(|group| group["group"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    };
    let missing: Vec<String> = named("file/two").difference(&named("file/one")).cloned().collect();
    assert_eq!(missing, ["page-quality", "quality"]);
}

#[test]
fn what_cannot_be_left_out_is_answered_with_what_can() {
    let (bench, _) = &*CARRIED_OUT;
    let cases = [
        ("--policy bfs,hybrid --ablate", "ablate needs a policy with groups of evidence"),
        ("--policy prospect+without=url.charm", "some of url, anchors, parent-scores, "),
        ("--policy hybrid+without=url", "without is url; it must go with the reading learned"),
    ];
    for (given, expected) in cases {
        let run = tried(bench, &format!("{SMALL} {given} --out @refused"));
        assert_eq!(run.code, Some(1), "{given}");
        assert!(run.stderr.contains(expected), "{given}: {}", run.stderr);
    }
}
