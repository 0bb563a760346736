//! What `prospect simulate` leaves, held against the same computed the long way; and that threads,
//! files of settings and kills change no byte of it.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::{Bench, PAGES, address, command, copy, done, files};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use simulation::{
    Reference, SMALL, arguments, bench, curve, of_policy, order, simulated, summary, tried,
};

/// What most claims are checked on.
const MAIN: &str =
    "SMALL --policy bfs,qmin,hybrid+needy=0.5,relevance-oracle --batch 5% --runs last";

/// One bench with `MAIN` carried out into `main`.
static CARRIED_OUT: LazyLock<(Bench, common::Run)> = LazyLock::new(|| {
    let bench = bench();
    let run = simulated(&bench, &line(MAIN), "main");
    (bench, run)
});

fn line(given: &str) -> String {
    given.replace("SMALL", SMALL)
}

fn first(order: &[String], count: usize) -> BTreeSet<&str> {
    order[..count].iter().map(String::as_str).collect()
}

#[track_caller]
fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found} is not {expected}");
}

fn tree(bench: &Bench, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    files(Path::new(&bench.path(out)))
}

#[track_caller]
fn same(bench: &Bench, a: &str, b: &str) {
    let (a_files, b_files) = (tree(bench, a), tree(bench, b));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&a_files), names(&b_files), "{a} and {b}");
    for (name, bytes) in &a_files {
        assert!(b_files[name] == *bytes, "{} differs in {a} and {b}", name.display());
    }
}

#[test]
fn an_experiment_leaves_these_files_and_no_work() {
    let (bench, run) = &*CARRIED_OUT;
    let names: Vec<String> =
        tree(bench, "main").keys().map(|name| name.display().to_string()).collect();
    let mut expected: Vec<String> =
        ["PROVENANCE.json", "curves.csv", "curves.parquet", "per_query.parquet", "summary.json"]
            .map(str::to_owned)
            .into();
    for policy in ["bfs", "hybrid+needy=0.5", "qmin", "relevance-oracle"] {
        for set in 1..=2 {
            expected.push(format!("order/{policy}/{set}.txt"));
            let pages = order(bench, "main", policy, set).len();
            let last = if pages == PAGES { PAGES } else { pages / 15 * 15 };
            expected.push(format!("runs/{policy}/{set}/{last}.run"));
        }
    }
    expected.sort();
    assert_eq!(names, expected);
    assert!(run.stderr.contains("next: prospect report "), "{}", run.stderr);
}

#[test]
fn threads_and_the_way_settings_are_given_change_no_byte() {
    let (bench, run) = &*CARRIED_OUT;
    let one = simulated(bench, &(line(MAIN) + " --threads 1"), "threads1");
    let two = simulated(bench, &(line(MAIN) + " --threads 2"), "threads2");
    same(bench, "main", "threads1");
    same(bench, "main", "threads2");
    let toml = "corpus = 'pages.jsonl'\nworkload = 'queries.tsv'\nqrels = 'judged.qrels'\n\
        quality = 'quality.tsv'\nseeds = ['seeds1.txt', 'seeds2.txt']\nbatch = '1%'\n\
        policy = 'bfs, qmin, hybrid+needy=0.5, relevance-oracle'\nruns = 'last'\n";
    bench.write("run.toml", toml);
    let file = simulated(bench, "simulate --config @run.toml --batch 5%", "toml");
    same(bench, "main", "toml");
    assert_eq!([&one.stdout, &two.stdout, &file.stdout], [&run.stdout; 3]);
}

#[test]
fn a_finished_experiment_run_again_changes_nothing_and_says_the_same() {
    let (bench, run) = &*CARRIED_OUT;
    copy(Path::new(&bench.path("main")), Path::new(&bench.path("again")));
    fs::create_dir_all(bench.path("again/work/bfs")).unwrap();
    let again = simulated(bench, &line(MAIN), "again");
    assert_eq!(again.stdout, run.stdout);
    assert!(again.stderr.contains("this experiment is complete"), "{}", again.stderr);
    // Killed after its last file was written, before its work was removed.
    same(bench, "main", "again");
    assert!(!Path::new(&bench.path("again/work")).exists());
    let json = simulated(bench, &(line(MAIN) + " --json --quiet"), "again");
    let printed: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(printed, summary(bench, "main"), "no digit is lost on the way");
}

#[test]
fn other_settings_or_inputs_in_the_same_place_are_refused() {
    let (bench, _) = &*CARRIED_OUT;
    let before = tree(bench, "main");
    let other = tried(bench, &(line(MAIN) + " --seed 2 --out @main"));
    assert_eq!(other.code, Some(1));
    let expected = format!("{} holds another experiment: other seed", bench.path("main"));
    assert!(other.stderr.contains(&expected), "{}", other.stderr);
    assert!(other.stderr.contains("\n\nhint: give another --out"), "{}", other.stderr);
    assert!(tree(bench, "main") == before);
    let other = line(MAIN).replace("queries.tsv", "later.tsv") + " --out @main";
    let other = tried(bench, &other);
    assert!(other.stderr.contains("other workload"), "{}", other.stderr);
    assert!(tree(bench, "main") == before);
}

#[test]
fn a_work_folder_of_someone_else_is_left_alone() {
    let bench = bench();
    fs::create_dir_all(bench.path("mine/work")).unwrap();
    bench.write("mine/work/thesis.tex", "x");
    let run = tried(&bench, &line("SMALL --policy bfs --out @mine"));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let expected = format!("{} is of no experiment", bench.path("mine/work"));
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
    assert_eq!(fs::read_to_string(bench.path("mine/work/thesis.tex")).unwrap(), "x");
}

#[test]
fn a_killed_experiment_goes_on_and_ends_with_the_same_bytes() {
    let bench = bench();
    let given = line(
        "SMALL --policy bfs,site-budget,qmin,prospect,query-driven,random --batch 4% --runs last \
         --max-pages 90%",
    );
    let started = Instant::now();
    simulated(&bench, &given, "whole");
    let whole = started.elapsed();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut killed, mut folder) = (0, 0);
    while killed < 8 && started.elapsed() < Duration::from_secs(20) {
        let out = format!("killed{folder}");
        let arguments = arguments(&bench, &format!("{given} --out @{out}"));
        let mut child = command(&arguments).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(random.random_range(0.02..0.8)));
        if child.try_wait().unwrap().is_some() {
            // It came to its end between kills: another folder is begun.
            same(&bench, "whole", &out);
            folder += 1;
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    }
    assert!(killed > 3, "{killed} kills met a running command of {whole:?}");
    let last = format!("killed{folder}");
    simulated(&bench, &given, &last);
    same(&bench, "whole", &last);
    assert!(!Path::new(&bench.path(&last)).join("work").exists());
}

#[test]
fn an_unfinished_experiment_is_not_thrown_away_for_another() {
    let bench = bench();
    let given = line("SMALL --policy bfs,qmin");
    simulated(&bench, &given, "begun");
    fs::remove_file(bench.path("begun/summary.json")).unwrap();
    fs::create_dir_all(bench.path("begun/work/bfs")).unwrap();
    let other = tried(&bench, &format!("{given} --batch 7 --out @begun"));
    assert_eq!(other.code, Some(1), "{}", other.stderr);
    assert!(other.stderr.contains("holds another experiment: other batch\n"), "{}", other.stderr);
    simulated(&bench, &given, "begun");
    simulated(&bench, &given, "anew");
    same(&bench, "begun", "anew");
}

#[test]
fn orders_are_lines_of_urls_of_the_collection_each_once() {
    let (bench, _) = &*CARRIED_OUT;
    let known: BTreeSet<String> = (0..PAGES).map(address).collect();
    let found = summary(bench, "main");
    for policy in ["bfs", "qmin", "hybrid+needy=0.5", "relevance-oracle"] {
        for (set, seeds) in [(1, &[7, 120, 33][..]), (2, &[250, 1][..])] {
            let order = order(bench, "main", policy, set);
            let distinct: BTreeSet<&String> = order.iter().collect();
            assert_eq!(distinct.len(), order.len(), "{policy} {set}");
            assert!(order.iter().all(|url| known.contains(url)), "{policy} {set}");
            let mut seeds: Vec<String> = seeds.iter().copied().map(address).collect();
            if policy == "qmin" {
                // They have the same priority; ties go by URL.
                seeds.sort();
            }
            assert_eq!(order[..seeds.len()], seeds, "{policy}: seeds come first, in file order");
            assert_eq!(of_policy(&found, policy)["fetched"][set - 1], order.len());
        }
    }
}

#[test]
fn figures_are_those_of_the_orders_computed_the_long_way() {
    let (bench, _) = &*CARRIED_OUT;
    let (reference, found) = (Reference::read(bench, "queries.tsv"), summary(bench, "main"));
    for kind in ["all", "long", "short"] {
        let (relevant, impact) = (reference.relevant(kind), reference.impact(kind));
        let total: f64 = impact.values().sum();
        for policy in ["bfs", "hybrid+needy=0.5"] {
            let orders = [1, 2].map(|set| order(bench, "main", policy, set));
            let mean = |of: &dyn Fn(&BTreeSet<&str>) -> f64, pages: usize| {
                orders.iter().map(|order| of(&first(order, pages))).sum::<f64>() / 2.0
            };
            let check = |metric: &str, every: usize, of: &dyn Fn(&BTreeSet<&str>) -> f64| {
                let points = curve(&found, policy, kind, metric);
                assert!(points.len() > 15, "{} points", points.len());
                for (pages, value) in points.into_iter().step_by(every) {
                    let what = format!("{policy} {kind} {metric} at {pages}");
                    close(value, mean(of, pages), &what);
                }
            };
            check("HR", 1, &|fetched| {
                relevant.intersection(fetched).count() as f64 / fetched.len() as f64
            });
            check("maxNDCG", 1, &|fetched| reference.max_ndcg(kind, fetched));
            check("impact", 1, &|fetched| {
                fetched.iter().filter_map(|url| impact.get(*url)).sum::<f64>() / total
            });
            check("nDCG@10", 7, &|fetched| reference.ndcg(kind, fetched));
        }
    }
    close(
        found["collection"]["total_impact"].as_f64().unwrap(),
        reference.impact("all").values().sum(),
        "total impact",
    );
    assert_eq!(found["collection"]["relevant_pages"], reference.relevant("all").len());
}

#[test]
fn speedups_are_means_over_what_both_crawls_found() {
    let (bench, _) = &*CARRIED_OUT;
    let (reference, found) = (Reference::read(bench, "queries.tsv"), summary(bench, "main"));
    let (relevant, impact) = (reference.relevant("all"), reference.impact("all"));
    let total: f64 = impact.values().sum();
    let tau = |order: &[String]| -> Vec<f64> {
        let hits = order.iter().enumerate().filter(|(_, url)| relevant.contains(url.as_str()));
        hits.map(|(at, _)| at as f64 + 1.0).collect()
    };
    let levels = |order: &[String]| -> Vec<f64> {
        let mut reached = Vec::new();
        let mut sum = 0.0;
        for (at, url) in order.iter().enumerate() {
            sum += impact.get(url).copied().unwrap_or(0.0);
            while reached.len() < 19 && sum >= total * (reached.len() + 1) as f64 * 0.05 - 1e-9 {
                reached.push(at as f64 + 1.0);
            }
        }
        reached
    };
    let ratio = |own: Vec<f64>, base: Vec<f64>| {
        let ratios: Vec<f64> = own.iter().zip(&base).map(|(own, base)| base / own).collect();
        ratios.iter().sum::<f64>() / ratios.len() as f64
    };
    for policy in ["qmin", "hybrid+needy=0.5", "relevance-oracle"] {
        let kind = &of_policy(&found, policy)["kinds"][0];
        let of = |name: &str| kind[name]["mean"].as_f64().unwrap();
        let sets =
            [1, 2].map(|set| (order(bench, "main", policy, set), order(bench, "main", "bfs", set)));
        let mean = |of: &dyn Fn(&[String]) -> Vec<f64>| {
            sets.iter().map(|(own, base)| ratio(of(own), of(base))).sum::<f64>() / 2.0
        };
        close(of("speedup_relevant"), mean(&tau), policy);
        close(of("speedup_impact"), mean(&levels), policy);
    }
    let oracle = &of_policy(&found, "relevance-oracle")["kinds"][0]["speedup_relevant"]["mean"];
    assert!(oracle.as_f64().unwrap() > 1.2, "{oracle}");
}

#[test]
fn oracles_are_marked_wherever_they_appear() {
    let (bench, run) = &*CARRIED_OUT;
    let found = summary(bench, "main");
    let marked = |name: &str| of_policy(&found, name)["oracle"].as_bool().unwrap();
    assert!(marked("relevance-oracle") && !marked("bfs") && !marked("hybrid+needy=0.5"));
    assert!(run.stdout.contains("relevance-oracle oracle  "), "{}", run.stdout);
    let csv = fs::read_to_string(bench.path("main/curves.csv")).unwrap();
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().starts_with("policy,oracle,kind,metric,pages,mean,"));
    assert!(rows.all(|row| {
        row.starts_with("relevance-oracle,true,") == row.starts_with("relevance-oracle,")
            && !row.starts_with("bfs,true")
    }));
}

#[test]
fn curves_csv_says_what_the_summary_says() {
    let (bench, _) = &*CARRIED_OUT;
    let found = summary(bench, "main");
    let csv = fs::read_to_string(bench.path("main/curves.csv")).unwrap();
    let of = |fields: &[&str]| (fields[4].parse().unwrap(), fields[5].parse().unwrap());
    let rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let qmin = rows.filter(|fields| fields[..4] == ["qmin", "false", "long", "nDCG@10"]);
    let points: Vec<(usize, f64)> = qmin.map(|fields| of(&fields)).collect();
    assert_eq!(points, curve(&found, "qmin", "long", "nDCG@10"));
}

/// nDCG@10 of `prospect evaluate` over a run.
fn evaluated(bench: &Bench, qrels: &str, run: &str) -> f64 {
    let given = format!("evaluate --qrels @{qrels} --run @{run} --metrics ndcg_cut_10 --json");
    let run = done(&arguments(bench, &given));
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    found["runs"][0]["means"]["nDCG@10"].as_f64().expect(&run.stdout)
}

/// The judgements without those of URLs outside the collection, which `simulate` leaves out.
fn inside(bench: &Bench) -> String {
    let all = fs::read_to_string(bench.path("judged.qrels")).unwrap();
    let inside = all.lines().filter(|line| !line.contains("outside.example"));
    bench.write("inside.qrels", common::lines(inside.map(str::to_owned)));
    "inside.qrels".to_owned()
}

#[test]
fn runs_evaluate_to_the_last_point_of_the_summary() {
    let bench = bench();
    let qrels = inside(&bench);
    let given =
        line("SMALL --policy bfs,qmin --batch 5% --max-pages 40% --seed-sets 1 --runs last");
    simulated(&bench, &given, "plain");
    let (pages, value) =
        *curve(&summary(&bench, "plain"), "qmin", "all", "nDCG@10").last().unwrap();
    assert_eq!(pages, 120);
    close(evaluated(&bench, &qrels, "plain/runs/qmin/1/120.run"), value, "nDCG@10");
    // The run of BFS is another ranking of the same pages: its scores upside down order them anew.
    let run = fs::read_to_string(bench.path("plain/runs/qmin/1/120.run")).unwrap();
    let upside_down = run.lines().map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let score: f64 = fields[4].parse().unwrap();
        format!("{} Q0 {} 1 {} other", fields[0], fields[2], -score)
    });
    bench.write("other.run", common::lines(upside_down));
    simulated(&bench, &(given + " --rerank @other.run"), "reranked");
    let reranked = summary(&bench, "reranked");
    let (_, moved) = *curve(&reranked, "qmin", "all", "nDCG@10").last().unwrap();
    assert!((moved - value).abs() > 0.01, "{moved} and {value}");
    close(evaluated(&bench, &qrels, "reranked/runs/qmin/1/120.run"), moved, "reranked nDCG@10");
}

#[test]
fn mostly_crawled_collections_are_ordered_whole_and_shares_are_of_the_rest() {
    let bench = bench();
    let given = "simulate --corpus @pages.jsonl --workload @queries.tsv --qrels @judged.qrels \
        --crawled share:0.8 --promote 20% --seed-sets 3 --policy query-independent,impact-oracle,random \
        --batch 10% --baseline random";
    simulated(&bench, given, "most");
    let (reference, found) = (Reference::read(&bench, "queries.tsv"), summary(&bench, "most"));
    // 240 of 300 are crawled, 12 of the other 60 promoted.
    assert_eq!(found["collection"]["crawled_before"], 252);
    assert_eq!(found["baseline"], "random");
    let all = |set| order(&bench, "most", "random", set).into_iter().collect::<BTreeSet<_>>();
    assert!(all(1) != all(2), "each set draws its own pages");
    let impact = reference.impact("all");
    let orders = [1, 2, 3].map(|set| order(&bench, "most", "impact-oracle", set));
    for (set, order) in orders.iter().enumerate() {
        assert_eq!(order.len(), 48);
        assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), all(set + 1), "set {set}");
        let of = |url: &String| impact.get(url).copied().unwrap_or(0.0);
        assert!(order.is_sorted_by(|a, b| of(a) >= of(b)), "by impact");
    }
    for (pages, value) in curve(&found, "impact-oracle", "all", "impact") {
        let share = |order: &Vec<String>| {
            let of = |count: usize| -> f64 {
                order[..count].iter().filter_map(|url| impact.get(url)).sum()
            };
            of(pages) / of(order.len())
        };
        let mean = orders.iter().map(share).sum::<f64>() / 3.0;
        close(value, mean, &format!("impact at {pages} of the uncrawled pages"));
    }
    let known: BTreeSet<String> = (0..PAGES).map(address).collect();
    let fetched: Vec<BTreeSet<&str>> = orders
        .iter()
        .map(|order| {
            let later: BTreeSet<&String> = order[24..].iter().collect();
            known.iter().filter(|url| !later.contains(url)).map(String::as_str).collect()
        })
        .collect();
    let ndcg = fetched.iter().map(|fetched| reference.ndcg("all", fetched)).sum::<f64>() / 3.0;
    let points = curve(&found, "impact-oracle", "all", "nDCG@10");
    let at = points.iter().find(|(pages, _)| *pages == 24).unwrap();
    close(at.1, ndcg, "nDCG@10 over what was crawled before and 24 pages");
}

#[test]
fn links_that_lead_outside_are_charged_when_asked() {
    let bench = bench();
    let given = line("SMALL --policy bfs,prospect --seed-sets 1 --batch 5%");
    simulated(&bench, &given, "dropped");
    simulated(&bench, &(given + " --outside charge"), "charged");
    let outside = |url: &String| url.starts_with("https://outside.example/");
    for policy in ["bfs", "prospect"] {
        let dropped = order(&bench, "dropped", policy, 1);
        let charged = order(&bench, "charged", policy, 1);
        assert!(!dropped.iter().any(outside));
        assert_eq!(
            charged.len() - dropped.len(),
            charged.iter().filter(|url| outside(url)).count()
        );
        assert!(charged.iter().any(outside), "{policy}");
    }
    let reference = Reference::read(&bench, "queries.tsv");
    let order = order(&bench, "charged", "bfs", 1);
    let points = curve(&summary(&bench, "charged"), "bfs", "all", "nDCG@10");
    for (pages, value) in points.into_iter().step_by(6) {
        let fetched: BTreeSet<&str> =
            order[..pages].iter().filter(|url| !outside(url)).map(String::as_str).collect();
        close(value, reference.ndcg("all", &fetched), "failures take time and give no page");
    }
}

#[test]
fn amounts_are_numbers_of_pages_or_shares_rounded_down() {
    let bench = bench();
    let given = line("SMALL --policy bfs --seed-sets 1");
    let checkpoints = |out: &str| summary(&bench, out)["checkpoints"].clone();
    simulated(&bench, &format!("{given} --checkpoints 10,0.1%,29% --max-pages 90"), "a");
    assert_eq!(checkpoints("a"), serde_json::json!([1, 10, 87]));
    assert_eq!(order(&bench, "a", "bfs", 1).len(), 90);
    simulated(&bench, &format!("{given} --max-pages 10% --batch 7"), "b");
    assert_eq!(checkpoints("b"), serde_json::json!([3, 6, 15, 30]));
    assert_eq!(order(&bench, "b", "bfs", 1).len(), 30);
    assert_eq!(order(&bench, "a", "bfs", 1)[..30], order(&bench, "b", "bfs", 1));
}

#[test]
fn seeds_can_be_drawn_and_set_n_does_not_depend_on_how_many_there_are() {
    let bench = bench();
    let given =
        "simulate --corpus @pages.jsonl --workload @queries.tsv --policy bfs,random --batch 4";
    simulated(&bench, &format!("{given} --seeds random:5 --seed-sets 3"), "three");
    simulated(&bench, &format!("{given} --seeds random:5 --seed-sets 2"), "two");
    for set in 1..=2 {
        let (bfs, random) =
            (order(&bench, "three", "bfs", set), order(&bench, "three", "random", set));
        assert_eq!(bfs[..5], random[..5], "the same for all policies");
        assert_eq!(random, order(&bench, "two", "random", set));
    }
    let starts: BTreeSet<Vec<String>> =
        (1..=3).map(|set| order(&bench, "three", "bfs", set)[..5].to_vec()).collect();
    assert_eq!(starts.len(), 3);
    simulated(&bench, &format!("{given} --seeds per-host:1"), "hosts");
    let order = order(&bench, "hosts", "bfs", 1);
    let host = |url: &String| url.split('/').nth(2).unwrap().to_owned();
    assert_eq!(order[..6].iter().map(host).collect::<BTreeSet<_>>().len(), 6);
}

#[test]
fn another_workload_can_evaluate() {
    let bench = bench();
    let given = line("SMALL --policy bfs,impact-oracle --seed-sets 1");
    simulated(&bench, &given, "own");
    simulated(&bench, &(given + " --eval-workload @later.tsv"), "later");
    let (reference, found) = (Reference::read(&bench, "later.tsv"), summary(&bench, "later"));
    assert_eq!(found["collection"]["planning_queries"], 30);
    assert_eq!(found["collection"]["evaluation_queries"], 20);
    let crawled = order(&bench, "later", "impact-oracle", 1);
    assert_eq!(crawled, order(&bench, "own", "impact-oracle", 1), "the first workload plans");
    let impact = reference.impact("all");
    let total: f64 = impact.values().sum();
    for (pages, value) in curve(&found, "impact-oracle", "all", "impact") {
        let own: f64 = crawled[..pages].iter().filter_map(|url| impact.get(url)).sum();
        close(value, own / total, "impact over the second workload");
    }
    let (pages, value) = curve(&found, "impact-oracle", "all", "nDCG@10")[8];
    close(value, reference.ndcg("all", &first(&crawled, pages)), "nDCG@10");
}

#[test]
fn a_store_gives_the_orders_of_the_corpus_it_was_ingested_from() {
    let bench = bench();
    done(&arguments(&bench, "ingest --store @store --quiet @pages.jsonl"));
    let rest = "--workload @queries.tsv --qrels @judged.qrels --seeds random:4 --batch 5% \
        --policy bfs,prospect,pagerank,impact-oracle";
    simulated(&bench, &format!("simulate --corpus @pages.jsonl {rest}"), "corpus");
    simulated(&bench, &format!("simulate --store @store {rest}"), "stored");
    let (mut corpus, mut stored) = (tree(&bench, "corpus"), tree(&bench, "stored"));
    corpus.retain(|path, _| path.starts_with("order"));
    stored.retain(|path, _| path.starts_with("order"));
    assert_eq!(corpus.len(), 4);
    assert!(corpus == stored);
    let curves = |out| curve(&summary(&bench, out), "prospect", "all", "nDCG@10");
    assert_eq!(curves("corpus"), curves("stored"));
}

#[test]
fn all_means_every_policy_that_can_run() {
    let bench = bench();
    let names = |out: &str| -> Vec<String> {
        let found = summary(&bench, out);
        let policies = found["policies"].as_array().unwrap();
        policies.iter().map(|policy| policy["name"].as_str().unwrap().to_owned()).collect()
    };
    let end = "--policy all --batch 25% --seed-sets 1";
    simulated(&bench, &line(&format!("SMALL {end}")), "all");
    let listed: serde_json::Value =
        serde_json::from_str(&done(&["policies", "--json"]).stdout).unwrap();
    assert_eq!(names("all").len(), listed["policies"].as_array().unwrap().len());
    for policy in names("all") {
        assert_eq!(order(&bench, "all", &policy, 1).len(), order(&bench, "all", "bfs", 1).len());
    }
    let bare = format!("simulate --corpus @pages.jsonl --seeds @seeds1.txt {end}");
    simulated(&bench, &bare, "bare");
    let bare = names("bare");
    assert!(bare.contains(&"opic".to_owned()) && !bare.contains(&"qmin".to_owned()), "{bare:?}");
    assert!(!bare.contains(&"prospect".to_owned()), "{bare:?}");
}

#[test]
fn of_several_batches_policies_run_with_each() {
    let bench = bench();
    let given = "SMALL --policy bfs,qmin,qmin+batch=7 --max-pages 30% --seed-sets 1 --batch";
    simulated(&bench, &line(&format!("{given} 5%,1")), "batches");
    let found = summary(&bench, "batches");
    let policies = found["policies"].as_array().unwrap();
    let names: Vec<&str> = policies.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bfs", "qmin", "qmin+batch=7", "qmin+batch=1"]);
    simulated(&bench, &line(&format!("{given} 1")), "ones");
    let of = |out: &str, policy: &str| order(&bench, out, policy, 1);
    assert_eq!(of("batches", "qmin+batch=1"), of("ones", "qmin"));
    assert_eq!(of("batches", "qmin+batch=7"), of("ones", "qmin+batch=7"));
    assert_ne!(of("batches", "qmin+batch=1"), of("batches", "qmin"));
    assert_eq!(of("batches", "bfs"), of("ones", "bfs"), "it fetches in one order");
}

#[test]
fn batches_are_drawn_again_where_pages_outside_the_collection_are_charged() {
    let bench = bench();
    let charged = "SMALL --policy hybrid+explore=0.4 --outside charge --batch 5% --max-pages 30% \
        --counterfactual 5 --counterfactual-at 10%";
    simulated(&bench, &line(charged), "charged");
    let found = summary(&bench, "charged");
    assert_eq!(found["analyses"]["counterfactual"][0]["policy"], "hybrid+explore=0.4", "{found}");
}

#[test]
fn a_crawl_against_seconds_asks_each_host_once_a_delay_and_ends_in_time() {
    let bench = bench();
    let policies = "bfs,random,qmin,prospect,prospect+batch=30,prospect+batch=30+per-host=5";
    let given = line(&format!(
        "SMALL --policy {policies} --batch 8s --delay 0.5 --max-seconds 60 --baseline prospect+batch=30"
    ));
    let run = simulated(&bench, &given, "timed");
    assert!(run.stdout.contains("against seconds: relevant judgements"), "{}", run.stdout);
    let found = summary(&bench, "timed");
    let seconds = found["time"]["seconds"].as_array().unwrap();
    assert_eq!((seconds.len(), seconds[23].as_f64()), (24, Some(60.0)));
    for policy in ["bfs", "random", "qmin", "prospect"] {
        for set in 1..=2 {
            let order = order(&bench, "timed", policy, set);
            // Sixteen requests to a host in each of eight windows, the last of which is cut.
            let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
            for url in &order {
                *hosts.entry(url.split('/').nth(2).unwrap()).or_insert(0) += 1;
            }
            assert!(hosts.values().all(|pages| *pages <= 120), "{policy}: {hosts:?}");
            assert!(order.len() > 200, "{policy} fetched {}", order.len());
        }
    }
    let of = |policy: &str| {
        let all = found["time"]["policies"].as_array().unwrap();
        all.iter().find(|one| one["name"] == policy).unwrap().clone()
    };
    // Batches of pages: thirty, in the time that their hosts take.
    let name = "prospect+per-host=5+batch=30";
    let counted = of(name);
    let fetched = |set: usize| order(&bench, "timed", name, set);
    let pages = (fetched(1).len() + fetched(2).len()) as f64 / 2.0;
    assert_eq!(counted["points"][23]["pages"].as_f64(), Some(pages));
    // No host was asked more than once in half a second, of at most sixty.
    for order in [fetched(1), fetched(2)] {
        let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
        for url in &order {
            *hosts.entry(url.split('/').nth(2).unwrap()).or_insert(0) += 1;
        }
        assert!(hosts.values().all(|pages| *pages <= 120), "{hosts:?}");
    }
    assert!(counted["gain"]["mean"].is_number() && of("prospect+batch=30")["gain"].is_null());
    let points = counted["points"].as_array().unwrap();
    let pages = points.iter().map(|point| point["pages"].as_f64().unwrap());
    assert!(points.len() == 24 && pages.is_sorted());
    let csv = fs::read_to_string(bench.path("timed/seconds.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 6 * 24);
    let again = simulated(&bench, &(given + " --threads 1"), "again");
    assert_eq!(again.stdout, run.stdout);
    same(&bench, "timed", "again");
}

#[test]
fn what_cannot_be_told_against_seconds_is_refused() {
    let bench = bench();
    let refused = |options: &str, what: &str| {
        let given = line(&format!("SMALL --policy bfs,prospect {options} --out @no"));
        let run = tried(&bench, &given);
        assert!(run.code == Some(1) && run.stderr.contains(what), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    };
    refused("--batch 0s", "batch is \"0s\"");
    refused("--batch 5s --delay -1", "delay is -1");
    refused("--batch 5s --queue-by port", "queue-by is port");
    refused("--batch 5s --queue-by ip", "no address is known");
    refused("--delay 1 --max-seconds 0", "max-seconds is 0");
    refused("--batch 5s --connections 0", "connections is 0");
    refused("--batch 5s --ablate", "ablate counts pages");
    refused("--attack control --attack-share 99.999%", "an attacker with 99.999");
    refused("--whatif 4294967295", "whatif is 4294967295, at most");
    bench.write("delays.tsv", "a.test soon\n");
    refused("--delays @delays.tsv", "delays.tsv:1: ");
}

#[test]
fn pages_are_scored_by_a_model_as_quality_score_would() {
    let bench = bench();
    let [pages, scored] = ["pages.jsonl", "scored.jsonl"].map(|name| bench.path(name));
    done(&["quality", "score", &pages, "--model", "text-length", "--output", &scored]);
    let crawl = "--workload @queries.tsv --seeds @seeds1.txt --policy qfirst,prospect --batch 5%";
    let simulated = |name: &str, quality: &str| {
        let line = format!("simulate --out @{name} {quality} {crawl}");
        let run = done(&arguments(&bench, &line));
        let order = |policy: &str| {
            fs::read_to_string(bench.path(&format!("{name}/order/{policy}/1.txt"))).unwrap()
        };
        (run.stderr, ["qfirst", "prospect"].map(order))
    };
    let (told, by_model) = simulated("model", "--corpus @pages.jsonl --quality-model text-length");
    assert!(told.contains("quality by text-length: "), "{told}");
    let (_, by_column) = simulated("column", "--corpus @scored.jsonl --quality column");
    assert_eq!(by_model, by_column);
    let summary = fs::read_to_string(bench.path("model/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["provenance"]["config"]["quality-model"]["name"], "text-length");
}
