//! Embeddings as evidence, as their user meets them: `--embedding-model` in plans, what-if questions,
//! explanations and simulations, and errors that say which model is wanted.

#![cfg(feature = "neural")]

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Bench, Run, done, prospect, text, urls};
use simulation::{bench, order, simulated, summary};

/// A model of the tests.
fn model(name: &str) -> String {
    format!("{}/tests/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn planned(bench: &Bench, store: &Path, options: &[&str]) -> Run {
    let options = [&["--budget", "20", "--explore", "0"], options].concat();
    done(&bench.plan_arguments(store, &options))
}

#[track_caller]
fn fails(arguments: &[&str]) -> String {
    let run = prospect(arguments);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.stderr
}

#[test]
fn texts_are_embedded_once_and_questions_about_the_plan_need_no_model() {
    let bench = Bench::with_store();
    let (store, mean) = (bench.store(), model("embedding-mean"));
    let plain = planned(&bench, &store, &[]);
    let first = planned(&bench, &store, &["--embedding-model", &mean]);
    assert_ne!(urls(&plain.stdout), urls(&first.stdout), "embeddings are evidence");
    let told = |run: &Run| {
        let line = run.stderr.lines().find(|line| line.contains("vectors by embedding-mean"));
        line.expect("it tells what was embedded").to_owned()
    };
    assert!(!told(&first).contains(": 0 of"), "{}", told(&first));
    let again = planned(&bench, &store, &["--embedding-model", &mean, "--threads", "1"]);
    assert!(told(&again).contains(": 0 of"), "{}", told(&again));
    assert_eq!(again.stdout, first.stdout);

    let url = &urls(&first.stdout)[0];
    let explained = done(&["explain", "--store", text(&store), url]).stdout;
    assert!(explained.contains("in meaning: URL "), "{explained}");
    assert!(!explained.contains("-0.0%"), "{explained}");
    let json = done(&["explain", "--store", text(&store), url, "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cosine = json["queries"][0]["similarity"]["anchor"].as_f64().unwrap();
    assert!((-1.0..=1.0).contains(&cosine) && cosine != 0.0, "{cosine}");
    done(&["whatif", "--store", text(&store), "--budget", "5"]);

    // A new query has no vector yet.
    let new = ["whatif", "--store", text(&store), "--add", "topic3 unheard=9"];
    let said = fails(&new);
    assert!(said.contains("with the embedding model embedding-mean, and vectors"), "{said}");
    assert!(said.contains("--embedding-model DIR"), "{said}");
    let answered = done(&[new.as_slice(), &["--embedding-model", &mean]].concat());
    assert!(answered.stdout.contains("topic3 unheard"), "{}", answered.stdout);

    // Another model, or none, is another plan.
    let other = model("embedding-cls");
    let asked = ["explain", "--store", text(&store), url, "--embedding-model", &other];
    let said = fails(&asked);
    assert!(said.contains("was made with the embedding model embedding-mean"), "{said}");
    planned(&bench, &store, &[]);
    let said = fails(&asked);
    assert!(said.contains("was made without an embedding model"), "{said}");
}

#[test]
fn what_is_new_or_damaged_is_embedded_and_the_truth_stays() {
    let bench = Bench::with_store();
    let (store, mean) = (bench.store(), model("embedding-mean"));
    let options = ["--embedding-model", &mean];
    let first = planned(&bench, &store, &options);
    let truth = common::truth(&store);
    let derived = fs::read_dir(store.join("derived")).unwrap().map(|entry| entry.unwrap().path());
    let is_vectors = |path: &PathBuf| path.to_str().unwrap().contains("/vectors-");
    let vectors: Vec<PathBuf> = derived.filter(is_vectors).collect();
    assert_eq!(vectors.len(), 1);
    let rows = fs::read_dir(&vectors[0]).unwrap().map(|entry| entry.unwrap().path());
    let rows = rows.into_iter().find(|path| path.extension().is_some_and(|end| end == "bin"));
    let rows = rows.expect("the vectors are kept");
    let mut bytes = fs::read(&rows).unwrap();
    bytes[100] ^= 1;
    fs::write(&rows, bytes).unwrap();
    let url = &urls(&first.stdout)[0];
    fs::remove_dir_all(store.join("derived/basis")).unwrap();
    let said = fails(&["explain", "--store", text(&store), url]);
    assert!(said.contains("vectors of it are missing (") && said.contains("rows-"), "{said}");
    let mended = planned(&bench, &store, &options);
    assert!(mended.stderr.contains("vectors of strings: made anew"), "{}", mended.stderr);
    assert_eq!((mended.stdout, common::truth(&store)), (first.stdout, truth));

    // After a cycle only what its pages brought.
    let fetched = bench.write("second.jsonl", common::lines((100..120).map(common::page)));
    done(&["ingest", "--store", text(&store), &fetched]);
    let next = planned(&bench, &store, &options);
    let line = next.stderr.lines().find(|line| line.contains("texts embedded now")).unwrap();
    let numbers: Vec<usize> =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    assert!(0 < numbers[0] && numbers[0] < numbers[1] / 2, "{line}");
}

#[test]
fn what_is_no_embedding_model_is_refused_before_anything_is_planned() {
    let bench = Bench::with_store();
    let before = common::files(&bench.store());
    let plan = |model: &str| {
        let options = ["--budget", "5", "--embedding-model", model];
        let arguments = bench.plan_arguments(&bench.store(), &options);
        fails(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let said = plan("no/where");
    assert!(said.contains("there is no model no/where"), "{said}");
    let said = plan(&model("pair"));
    assert!(said.contains("expected sentence-embedding"), "{said}");
    assert_eq!(common::files(&bench.store()), before);
}

#[test]
fn a_simulation_takes_them_and_can_leave_them_out() {
    let bench = bench();
    let query = |at: usize| format!("m{at}\ttopic{} topic{}", at % 60, (at / 60 + at * 7) % 60);
    bench.write("many.tsv", common::lines((0..300).map(query)));
    let course = "--batch 5% --max-pages 60% --seeds @seeds1.txt,@seeds2.txt";
    let inputs = "simulate --corpus @pages.jsonl --workload @many.tsv";
    let mean = model("embedding-mean");
    let policies = "prospect,prospect+without=embedding";
    let line = format!("{inputs} --policy {policies} {course} --embedding-model {mean}");
    simulated(&bench, &format!("{line} --score-cache @cache"), "with");
    simulated(&bench, &format!("{inputs} --policy prospect {course}"), "plain");
    simulated(&bench, &format!("{line} --threads 1"), "again");
    let mut differ = 0;
    for set in [1, 2] {
        let whole = order(&bench, "with", "prospect", set);
        assert_eq!(whole, order(&bench, "again", "prospect", set));
        let plain = order(&bench, "plain", "prospect", set);
        assert_eq!(order(&bench, "with", "prospect+without=embedding", set), plain);
        differ += usize::from(whole != plain);
    }
    // Where too few pairs were fetched for a model, there is nothing to tell apart.
    assert!(differ > 0);
    let made = &summary(&bench, "with")["provenance"]["embedding"];
    assert_eq!(made["name"], "embedding-mean");
    assert!(fs::read_dir(bench.path("cache")).unwrap().count() > 0, "vectors are kept");
}
