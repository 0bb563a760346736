//! Attacks on simulated crawls: that what an attacker got is told as it was, held against the same computed
//! the long way. What an attacker adds to a collection is in `inside/attacks.rs`.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::{Bench, PAGES, address, command, done, files};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use simulation::{Reference, SMALL, arguments, bench, order, simulated, summary};

/// Pages that attackers own here, a tenth beside the 300.
const OWNED: usize = 33;

/// Crawls under attack that most claims are checked on.
fn line(rest: &str) -> String {
    format!(
        "{SMALL} --policy random,qmin,query-driven,prospect --batch 2% --max-pages 40% \
         --attack-share 10% {rest}"
    )
}

static ATTACKED: LazyLock<Bench> = LazyLock::new(|| {
    let bench = bench();
    simulated(&bench, &line("--attack all"), "attacked");
    bench
});

/// The points of a policy under an attack.
fn points(summary: &Value, attack: &str, policy: &str) -> Vec<Value> {
    let named = |list: &Value, key: &str, name: &str| {
        let found = list.as_array().unwrap().iter().find(|entry| entry[key] == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let attack = named(&summary["manipulation"]["attacks"], "attack", attack);
    named(&attack["policies"], "policy", policy)["points"].as_array().unwrap().clone()
}

/// A figure of the point that tables are read at.
fn read(summary: &Value, attack: &str, policy: &str, figure: &str) -> f64 {
    let points = points(summary, attack, policy);
    let at = points.iter().find(|point| point["pages"] == summary["manipulation"]["read_at"]);
    at.unwrap()[figure]["mean"].as_f64().unwrap()
}

/// One policy under one attack, as its files tell.
struct LongWay {
    /// By set: the order under attack, and that of the honest collection.
    orders: [(Vec<String>, Vec<String>); 2],
    impact: BTreeMap<String, f64>,
}

/// Seeds of each set, which come first.
const SEEDS: [usize; 2] = [3, 2];
/// Pages of a batch.
const BATCH: usize = 6;

static HONEST: LazyLock<BTreeSet<String>> = LazyLock::new(|| (0..PAGES).map(address).collect());

impl LongWay {
    fn own(&self, set: usize, pages: usize) -> f64 {
        self.orders[set].0[..pages].iter().filter(|url| !HONEST.contains(*url)).count() as f64
    }

    fn picks(&self, set: usize, pages: usize) -> f64 {
        self.own(set, pages) / pages.saturating_sub(SEEDS[set]).max(1) as f64
    }

    fn impact_lost(&self, set: usize, pages: usize) -> f64 {
        let value = |order: &[String]| -> f64 {
            order[..pages].iter().filter_map(|url| self.impact.get(url)).sum()
        };
        let (attacked, honest) = &self.orders[set];
        let honest = value(honest);
        if honest > 0.0 { 1.0 - value(attacked) / honest } else { 0.0 }
    }
}

#[test]
fn figures_are_those_of_the_orders_computed_the_long_way() {
    let (bench, found) = (&*ATTACKED, summary(&ATTACKED, "attacked"));
    assert_eq!(found["manipulation"]["read_at"], 90, "30 % of the honest pages");
    let impact = Reference::read(bench, "queries.tsv").impact("all");
    let attacks = found["manipulation"]["attacks"].as_array().unwrap();
    assert_eq!(attacks.len(), 13);
    for (attack, policy) in attacks.iter().zip(["random", "prospect"].iter().cycle()) {
        let label = attack["attack"].as_str().unwrap();
        let folder = label.replace(':', "-");
        let orders = [1, 2].map(|set| {
            let path = bench.path(&format!("attacked/attack/{folder}/{policy}/{set}.txt"));
            let attacked = std::fs::read_to_string(path).unwrap();
            let attacked = attacked.lines().map(str::to_owned).collect();
            (attacked, order(bench, "attacked", policy, set))
        });
        let long_way = LongWay { orders, impact: impact.clone() };
        let points = points(&found, label, policy);
        assert!(points.len() > 8, "{} points", points.len());
        for point in points {
            let pages = point["pages"].as_u64().unwrap() as usize;
            let close = |figure: &str, of: &dyn Fn(&LongWay, usize, usize) -> f64| {
                let of = |set| of(&long_way, set, pages);
                let expected = f64::midpoint(of(0), of(1));
                let told = point[figure]["mean"].as_f64().unwrap();
                let what = format!("{label} {policy} {figure} at {pages}: {told}, {expected}");
                assert!((told - expected).abs() < 1e-9, "{what}");
            };
            close("picks", &LongWay::picks);
            close("owned", &|own, set, pages| own.own(set, pages) / OWNED as f64);
            close("impact_lost", &LongWay::impact_lost);
        }
    }
}

#[test]
fn a_policy_that_ranks_by_anchors_is_led_by_them_and_chance_is_not() {
    let found = summary(&ATTACKED, "attacked");
    let ratio = |policy: &str| read(&found, "anchor-stuffing", policy, "ratio");
    assert!(ratio("query-driven") > 1.5, "{}", ratio("query-driven"));
    assert!((0.6..1.1).contains(&ratio("random")), "{}", ratio("random"));
}

#[test]
fn the_defence_changes_a_crawl_once_there_are_promises_to_keep() {
    let bench = bench();
    let policies = "prospect,prospect+defence=off";
    simulated(&bench, &format!("{SMALL} --policy {policies} --batch 2%"), "defended");
    let [on, off] = policies.split(',').collect::<Vec<_>>()[..] else { unreachable!() };
    let (on, off) = (order(&bench, "defended", on, 1), order(&bench, "defended", off, 1));
    // The seeds, and the first plan.
    let before = SEEDS[0] + BATCH;
    assert_eq!(on[..before], off[..before]);
    assert_ne!(on, off);
}

#[test]
fn who_stuffs_anchors_gets_less_than_without_the_defence_and_throw_away_domains_get_little() {
    let bench = bench();
    let policies = "prospect,prospect+defence=off";
    let crawls =
        "--batch 2% --max-pages 40% --attack-share 10% --attack anchor-stuffing,sybil,fresh";
    simulated(&bench, &format!("{SMALL} --policy {policies} {crawls}"), "held-off");
    let found = summary(&bench, "held-off");
    let lift = |attack: &str, policy: &str| read(&found, attack, policy, "lift");
    let [on, off] = policies.split(',').collect::<Vec<_>>()[..] else { unreachable!() };
    let stuffed = [on, off].map(|policy| lift("anchor-stuffing", policy));
    assert!(stuffed[0] < 0.8 * stuffed[1], "{stuffed:?}");
    for attack in ["sybil", "fresh"] {
        assert!(lift(attack, on) < 0.7, "{attack}: {}", lift(attack, on));
    }
}

#[test]
fn all_but_the_manipulation_is_that_of_crawls_without_an_attacker() {
    let bench = &*ATTACKED;
    let plain = line("").replace("--attack-share 10%", "");
    let run = simulated(bench, &plain, "plain");
    assert!(!run.stdout.contains("manipulation"), "{}", run.stdout);
    let (plain, mut attacked) = (summary(bench, "plain"), summary(bench, "attacked"));
    assert!(plain.get("manipulation").is_none());
    attacked.as_object_mut().unwrap().remove("manipulation").unwrap();
    for own in ["provenance", "experiment"] {
        attacked[own] = plain[own].clone();
    }
    assert_eq!(attacked, plain);
}

#[track_caller]
fn same(bench: &Bench, a: &str, b: &str) {
    let tree = |out: &str| files(Path::new(&bench.path(out)));
    assert!(tree(a) == tree(b), "{a} and {b} differ");
}

#[test]
fn threads_change_no_byte() {
    let bench = &*ATTACKED;
    for threads in [1, 2] {
        let out = format!("threads{threads}");
        simulated(bench, &line(&format!("--attack all --threads {threads}")), &out);
        same(bench, "attacked", &out);
    }
}

#[test]
fn a_killed_experiment_goes_on_and_ends_with_the_same_bytes() {
    let bench = &*ATTACKED;
    let started = Instant::now();
    simulated(bench, &line("--attack all"), "whole");
    let whole = started.elapsed();
    let arguments = arguments(bench, &line("--attack all --out @killed"));
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut killed = 0;
    while killed < 4 && started.elapsed() < Duration::from_secs(30) {
        let mut child = command(&arguments).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(random.random_range(0.1..0.6)));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    }
    assert!(killed > 0, "no kill met a running command of {whole:?}");
    done(&arguments);
    same(bench, "whole", "killed");
}

#[test]
fn a_store_is_attacked_as_the_corpus_it_was_ingested_from() {
    let bench = &*ATTACKED;
    done(&arguments(bench, "ingest --store @store --quiet @pages.jsonl"));
    let rest = "--workload @queries.tsv --seeds random:4 --batch 5% --policy bfs,prospect \
        --attack bait-and-switch,link-farm:10 --attack-share 0.1";
    simulated(bench, &format!("simulate --corpus @pages.jsonl {rest}"), "of-corpus");
    simulated(bench, &format!("simulate --store @store {rest}"), "of-store");
    let manipulation = |out: &str| summary(bench, out)["manipulation"].clone();
    assert_eq!(manipulation("of-corpus"), manipulation("of-store"));
}

#[test]
fn mostly_crawled_collections_start_without_the_attacker() {
    let bench = &*ATTACKED;
    let given = "simulate --corpus @pages.jsonl --workload @queries.tsv --crawled share:0.5 \
        --policy random,impact-oracle --batch 10% --attack url-stuffing --attack-share 10%";
    simulated(bench, given, "most");
    let found = summary(bench, "most");
    assert_eq!(found["manipulation"]["attacks"][0]["pages"], OWNED);
    // All pages are known from the start, and half of the honest ones are left.
    let share = read(&found, "url-stuffing", "random", "frontier");
    assert!((share - 33.0 / 183.0).abs() < 1e-9, "{share}");
    assert_eq!(read(&found, "url-stuffing", "impact-oracle", "picks"), 0.0);
    assert_eq!(read(&found, "url-stuffing", "impact-oracle", "impact_lost"), 0.0);
}
