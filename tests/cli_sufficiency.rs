//! A crawl is asked whether it has enough.
//!
//! Story: a small crawler runs night after night, and its operator wants to know what her visitors still do not
//! find, and when to stop. She asks after each batch; a script looks for the file that says stop.

mod common;
#[path = "common/language_model.rs"]
mod language_model;
#[path = "common/simulation.rs"]
mod simulation;

use std::fs;

use common::{Bench, assert_sound, done, lines, page, page_at, prospect, text, urls};
use language_model::language_model;
use serde_json::Value;
use simulation::{SMALL, order, summary, tried};

fn tiny(name: &str) -> String {
    format!("{}/workloads/tiny/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&done(arguments).stdout).unwrap()
}

#[test]
fn a_store_says_what_its_queries_lack_and_when_to_stop() {
    let dir = tempfile::tempdir().unwrap();
    let (store, stop) = (dir.path().join("store"), dir.path().join("stop"));
    let (site, queries) = (tiny("site"), tiny("queries.tsv"));
    let (store, stop) = (text(&store), text(&stop));
    let page = |name: &str| format!("{site}/{name}");
    let first = [page("index.html"), page("about.html"), page("library/index.html")];
    let ingest = |pages: &[String]| {
        let fixed = ["ingest", "--store", store, "--base-url", "https://tools.example/"];
        let fixed = fixed.into_iter().chain(["--html-root", &site]);
        done(&fixed.chain(pages.iter().map(String::as_str)).collect::<Vec<_>>());
    };
    ingest(&first);
    let ask = ["sufficiency", "--store", store, "--workload", &queries];
    let ask_json = |more: &[&str]| json(&[&ask[..], &["--json"], more].concat());

    let found = ask_json(&["--stop-file", stop]);
    assert_eq!(found["schema"], "prospect.sufficiency/1");
    assert_eq!(found["pages"], 3);
    assert_eq!(found["verdict"]["stop"], false);
    assert!(!fs::exists(stop).unwrap());
    let all = found["queries"].as_array().unwrap();
    assert_eq!(all.len(), 40);
    let least = |query: &Value| {
        let part = |name: &str| query[name].as_f64().unwrap();
        let least = part("coverage").min(part("consistency")).min(1.0 - part("redundancy"));
        assert!((least * part("domain_coverage") - part("sufficiency")).abs() < 1e-12, "{query}");
        part("frequency") * part("sufficiency")
    };
    let askings = found["workload"]["askings"].as_f64().unwrap();
    let mean = all.iter().map(least).sum::<f64>() / askings;
    assert!((found["workload"]["sufficiency"].as_f64().unwrap() - mean).abs() < 1e-12);
    let classes = found["classes"].as_object().unwrap();
    let counted: u64 = classes.values().map(|class| class["queries"].as_u64().unwrap()).sum();
    assert_eq!(counted, 40);

    // Theta decides.
    let enough = ask_json(&["--theta", "0.001", "--stop-file", stop]);
    assert_eq!(enough["verdict"]["reasons"][0], "sufficient");
    let left: Value = serde_json::from_str(&fs::read_to_string(stop).unwrap()).unwrap();
    assert_eq!(left["reasons"][0], "sufficient");
    let share = |found: &Value| found["workload"]["sufficient_share"].as_f64().unwrap();
    assert!(share(&enough) > share(&found));
    ask_json(&["--stop-file", stop]);
    assert!(!fs::exists(stop).unwrap(), "the file goes when the verdict does");

    // Each plan stores a line of it, which commands tell.
    let plan = ["plan", "--store", store, "--workload", &queries, "--budget", "5"];
    let said = done(&plan).stderr;
    assert!(said.contains("0.7 is enough") && said.contains(": go on; "), "{said}");
    let planned = json(&[&plan[..], &["--json"]].concat());
    assert_eq!(planned["sufficiency"]["workload"], found["workload"]);
    let status = json(&["status", "--store", store, "--json"]);
    assert_eq!(status["sufficiency"][0]["sufficiency"], found["workload"]["sufficiency"]);
    assert_eq!(ask_json(&[])["history"][0]["plan_id"], planned["plan_id"]);
    let told = done(&ask).stdout;
    for line in ["verdict: go on", "hopeless", "one more batch", "when planned"] {
        assert!(told.contains(line), "{line}: {told}");
    }

    // The numbers do not depend on how they came about, nor on threads.
    ingest(&[page("guides/index.html"), page("library/late-returns.html")]);
    let (kept, one) = (ask_json(&[]), ask_json(&["--threads", "1"]));
    assert_eq!(kept, one);
    fs::remove_dir_all(format!("{store}/derived")).unwrap();
    assert_eq!(ask_json(&[]), kept);
    assert_sound(std::path::Path::new(store));

    // As the source's code has it.
    let compatible = ask_json(&["--definition", "compatible"]);
    let confidence = &compatible["queries"][0]["confidence"];
    let part = |name: &str| confidence[name].as_f64().unwrap();
    let sum = 0.4 * part("coverage") + 0.3 * part("consistency") + 0.3 * part("saturation");
    assert!((part("confidence") - sum).abs() < 1e-12);
}

/// Story: the log of a month was divided by thirty, and the crawl was told to stop, since a page brought little of what one
/// had brought by the old count.
#[test]
fn a_log_of_a_day_says_what_one_of_a_month_says_and_how_queries_are_spelled_is_no_matter() {
    let bench = Bench::with_store();
    let store = bench.store();
    let planned = urls(&done(&bench.plan_arguments(&store, &["--budget", "150"])).stdout);
    bench.write("second.jsonl", lines(planned.iter().map(|url| page(page_at(url)))));
    done(&["ingest", "--store", text(&store), "--close", &bench.path("second.jsonl")]);
    let ask = |workload: &str| {
        json(&["sufficiency", "--store", text(&store), "--workload", workload, "--json"])
    };
    let month = fs::read_to_string(bench.path("queries.tsv")).unwrap();
    let changed = |of: &dyn Fn([&str; 3]) -> String| -> Vec<String> {
        let fields = month.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        fields.map(|fields| of(fields.try_into().unwrap())).collect()
    };
    let day = changed(&|[qid, query, times]| {
        format!("{qid}\t{query}\t{}", times.parse::<f64>().unwrap() / 30.0)
    });
    let day = bench.write("day.tsv", lines(day));
    let spelled =
        changed(&|[qid, query, times]| format!("other-{qid}\t{}?\t{times}", query.to_uppercase()));
    let spelled = bench.write("spelled.tsv", lines(spelled));
    let other = bench.write("other.tsv", "q\ttopic1 topic2\t3\n");
    let [month, day, spelled, other] =
        [bench.path("queries.tsv"), day, spelled, other].map(|workload| ask(&workload));
    for figure in ["per_page", "floor"] {
        let [month, day] =
            [&month, &day].map(|found| found["next_batch"]["gain"][figure].as_f64().unwrap());
        assert!(month > 0.0 && (month / day / 30.0 - 1.0).abs() < 1e-9, "{figure}: {month} {day}");
    }
    for found in [&month, &day, &spelled] {
        assert_eq!(found["history"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["history_of_others"], 0);
    }
    assert_eq!(
        (&other["history"], &other["history_of_others"]),
        (&Value::Array(Vec::new()), &1.into())
    );
}

/// The site in a store of its own.
fn whole_site(store: &str) {
    let site = tiny("site");
    let fixed = ["ingest", "--store", store, "--base-url", "https://tools.example/"];
    done(&[&fixed[..], &["--html-root", &site, &site]].concat());
}

#[test]
fn another_store_takes_in_what_one_knows() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let (one, other, known) = (path("one"), path("other"), path("known.jsonl"));
    whole_site(&one);
    let gone = path("gone.jsonl");
    fs::write(&gone, "{\"url\":\"https://tools.example/gone.html\",\"status\":404}\n").unwrap();
    done(&["ingest", "--store", &one, &gone]);
    let queries = tiny("queries.tsv");
    let ask = |store: &str, more: &[&str]| {
        let fixed = ["sufficiency", "--store", store, "--workload", &queries, "--json"];
        json(&[&fixed[..], more].concat())
    };
    let found = ask(&one, &["--export", &known]);
    done(&["ingest", "--store", &other, &known]);
    let taken = ask(&other, &["--export", &path("again.jsonl")]);
    for part in ["pages", "workload", "kinds", "saturation"] {
        assert_eq!(taken[part], found[part], "{part}");
    }
    // What the frontier may bring is learned from the cycles of a store; the rest is what its pages say.
    let parts = |found: &Value| -> Vec<Value> {
        let mut queries = found["queries"].as_array().unwrap().clone();
        for query in queries.iter_mut().map(|query| query.as_object_mut().unwrap()) {
            query.remove("frontier");
            query.remove("class");
        }
        queries
    };
    assert!(parts(&taken) == parts(&found));
    assert_eq!(
        fs::read(&known).unwrap(),
        fs::read(path("again.jsonl")).unwrap(),
        "what is handed over is what came"
    );
    assert!(fs::read_to_string(&known).unwrap().contains("\"status\":404"));
}

#[test]
fn wordings_that_nobody_planned_for_validate() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let (store, queries) = (path("store"), tiny("queries.tsv"));
    whole_site(&store);
    let ask = ["sufficiency", "--store", &store, "--workload", &queries];
    let ask_json = |more: &[&str]| json(&[&ask[..], &["--json"], more].concat());
    assert_eq!(ask_json(&[])["validation"], Value::Null);

    // Queries without one of their words.
    let planned = path("planned.jsonl");
    let found = ask_json(&["--variants", "words", "--planned-out", &planned]);
    let validation = &found["validation"];
    let number = |name: &str| validation[name].as_f64().unwrap();
    let difference = number("held_out_sufficiency") - number("planned_sufficiency");
    assert!((validation["difference"][0].as_f64().unwrap() - difference).abs() < 1e-12);
    let low = validation["difference"][1].as_f64().unwrap();
    assert_eq!(validation["verdict"] == "validated", low > -0.1, "{validation}");
    let askings = |file: &str| -> f64 {
        let lines = fs::read_to_string(file).unwrap();
        let of = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
        lines.lines().map(|line| of(line)["frequency"].as_f64().unwrap()).sum()
    };
    let asked = ask_json(&[])["workload"]["askings"].as_f64().unwrap();
    assert!((askings(&planned) - asked).abs() < 1e-9, "variants share the frequency");
    // The workload that is written is one to plan for.
    done(&["plan", "--store", &store, "--workload", &planned, "--budget", "3"]);
    assert!(done(&[&ask[..], &["--variants", "words"]].concat()).stdout.contains("held-out"));

    // Wordings that the pages know nothing of.
    let qid = found["queries"][0]["qid"].as_str().unwrap();
    let off = path("off.tsv");
    fs::write(&off, format!("{qid}\tzyx wvu\n{qid}\tutsr\n{qid}\tqponm lkj\n")).unwrap();
    let off_topic = ask_json(&["--variants", &off]);
    assert_eq!(off_topic["validation"]["held_out_sufficiency"], 0.0);
    assert_eq!(
        (&off_topic["validation"]["queries"], &off_topic["validation"]["held_out"]),
        (&1.into(), &1.into())
    );
    assert_ne!(off_topic["validation"]["verdict"], "validated");
    let coverage = |found: &Value| found["queries"][0]["domain_coverage"].as_f64().unwrap();
    assert!(coverage(&off_topic) < coverage(&ask_json(&[])), "variants are the query's domain");

    for (lines, what) in [
        ("no tab\n", ":1: expected qid<TAB>wording"),
        ("\nnobody\tasks\n", ":2: no query of the workload has the qid"),
        ("", "no query has two variants"),
    ] {
        fs::write(&off, lines).unwrap();
        let run = prospect(&[&ask[..], &["--variants", &off]].concat());
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains(what), "{}", run.stderr);
    }
    let run = prospect(&[&ask[..], &["--stop-on", "boredom"]].concat());
    assert!(run.stderr.contains("the reasons are exhausted, sufficient"), "{}", run.stderr);
}

#[test]
fn a_crawl_is_exhausted_where_nothing_can_be_planned_and_nothing_is_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let (store, list, pages, stop) = (path("store"), path("list"), path("pages"), path("stop"));
    let write = |name: &str, content: &str| fs::write(path(name), content).unwrap();
    write("queries.tsv", "a\tsharp planes\t3\nb\tsaw\t1\n");
    let of_store = ["--store", &store, "--workload", &path("queries.tsv")];
    let ask = |more: &[&str]| {
        json(&[&["sufficiency", "--json", "--stop-file", &stop], &of_store[..], more].concat())
    };
    let plan = |more: &[&str]| json(&[&["plan", "--json"], &of_store[..], more].concat());
    write("list", "https://a.test/planes\nhttps://b.test/saw\n");
    done(&["seeds", "--store", &store, &list]);
    assert_eq!(plan(&["--budget", "9"])["urls"].as_array().unwrap().len(), 2);
    // All that is known is in flight.
    assert_eq!((&ask(&[])["verdict"]["stop"], fs::exists(&stop).unwrap()), (&false.into(), false));
    let link = r#"{"url":"https://c.test/sharp"}"#;
    let page = |url: &str, links: &str| {
        format!("{{\"url\":\"{url}\",\"text\":\"saw\",\"outlinks\":[{links}]}}\n")
    };
    write("pages", &(page("https://a.test/planes", link) + &page("https://b.test/saw", "")));
    done(&["ingest", "--store", &store, &pages]);
    assert_eq!(ask(&[])["verdict"]["stop"], false);
    let exhausted = |found: &Value| {
        let verdict = found.get("verdict").unwrap_or(&found["sufficiency"]["verdict"]);
        assert_eq!((&verdict["stop"], &verdict["reasons"][0]), (&true.into(), &"exhausted".into()));
        verdict["exhausted"].as_str().unwrap().to_owned()
    };
    assert_eq!(exhausted(&ask(&["--seconds", "0.001"])), "time");
    assert_eq!(exhausted(&plan(&["--budget", "9", "--include", "nowhere"])), "scope");
    assert_eq!(exhausted(&plan(&["--budget", "9", "--within", &list])), "list");
    assert_eq!(ask(&[])["verdict"]["stop"], false, "an empty plan leaves no scope behind");
    write("pages", &page("https://c.test/sharp", ""));
    done(&["ingest", "--store", &store, &pages]);
    assert_eq!(exhausted(&ask(&[])), "frontier");
    let left: Value = serde_json::from_str(&fs::read_to_string(&stop).unwrap()).unwrap();
    assert_eq!(left["exhausted"], "frontier");
    let told = done(&[&["sufficiency"], &of_store[..]].concat()).stdout;
    assert!(told.contains("verdict: stop; exhausted: nothing is left in the frontier"), "{told}");

    // What was found when plans were made is of these queries, however often they are asked, and under whatever id.
    assert_eq!(ask(&[])["history"].as_array().unwrap().len(), 1);
    write("queries.tsv", "b\tsaw\t5\na1\tsharp planes\t1\na2\tsharp planes\t1\n");
    assert_eq!(ask(&[])["history"].as_array().unwrap().len(), 1);
    write("queries.tsv", "b\tsaw\t5\n");
    assert_eq!(ask(&[])["history"].as_array().unwrap().len(), 0);
    let compatible = ["--definition", "compatible", "--stop-file", &stop];
    let refused = prospect(&[&["sufficiency"], &of_store[..], &compatible].concat());
    assert!(
        refused.stderr.contains("no verdict of the definition compatible"),
        "{}",
        refused.stderr
    );
}

#[test]
fn mistakes_are_told() {
    let queries = tiny("queries.tsv");
    let cases = [
        (["--theta", "0"], "theta is 0", "--theta 0.7"),
        (["--theta", "1.5"], "theta is 1.5", "--theta 0.7"),
    ];
    for (given, what, hint) in cases {
        let run = prospect(
            &[&["sufficiency", "--store", "nowhere", "--workload", &queries], &given[..]].concat(),
        );
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{}", run.stderr);
    }
    let run = prospect(&["sufficiency", "--store", "/nowhere/at/all", "--workload", &queries]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

const RULES: &str = "sufficiency:0.3,sufficiency:0.9,settled:5%,saturated,no-gain,compatible,knee,fixed:50%,never,oracle";

#[test]
fn rules_tell_where_they_would_have_stopped_a_crawl() {
    let bench = simulation::bench();
    let run = |more: &str| tried(&bench, &format!("{SMALL} --policy bfs,inlinks,prospect {more}"));
    let plain = run("--out @plain");
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let stopped = run(&format!("--out @stopped --stop {RULES}"));
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert!(stopped.stdout.contains("stop rules"), "{}", stopped.stdout);
    // A rule looks on: orders are what they are without.
    for policy in ["bfs", "inlinks", "prospect"] {
        for set in 1..=2 {
            let of = |out: &str| order(&bench, out, policy, set);
            assert_eq!(of("plain"), of("stopped"));
        }
    }
    let summary = summary(&bench, "stopped");
    let rules = summary["stopping"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.split(',').count());
    let rule = |name: &str| {
        rules.iter().find(|rule| rule["rule"] == name).unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(rule("never")["stopped"], 0);
    assert_eq!(rule("never")["pages"]["mean"], 1.0);
    assert_eq!(rule("oracle")["false_stops"], 0);
    assert_eq!(rule("oracle")["over_oracle"]["mean"], 1.0);
    let pages = |name: &str| rule(name)["pages"]["mean"].as_f64().unwrap();
    assert!(pages("sufficiency:0.3") <= pages("sufficiency:0.9"));
    assert!((pages("fixed:50%") - 0.5).abs() < 0.1);
    // Each line of the table is of a crawl and a rule.
    let csv = fs::read_to_string(bench.path("stopped/stops.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 3 * 2 * rules.len());
    // The source's code stops when the last page has few new words, whatever is known; who expects nothing of a batch, never
    // expects too little.
    assert_eq!(rule("compatible")["stopped"], 6);
    for policy in ["bfs", "inlinks"] {
        for set in 1..=2 {
            assert!(csv.contains(&format!("\n{policy},{set},no-gain,false,")), "{csv}");
        }
    }
    let again = run(&format!("--out @again --threads 1 --stop {RULES}"));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let read = |out: &str| fs::read_to_string(bench.path(&format!("{out}/stops.csv"))).unwrap();
    let bare = |csv: String| -> Vec<String> {
        csv.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    };
    assert_eq!(bare(read("again")), bare(read("stopped")));
    for (more, what) in [
        ("--stop soon", "no stop rule \"soon\""),
        ("--stop knee --max-pages 50", "it is cut short"),
        ("--stop learned", "no model is named"),
        ("--sufficiency-model m --stop knee", "needs sufficiency, or the stop rule learned"),
    ] {
        let refused = run(&format!("--out @refused {more}"));
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
    }
}

#[test]
fn a_language_model_gives_a_second_opinion_and_decides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let (store, cache, queries) = (path("store"), path("cache.jsonl"), tiny("queries.tsv"));
    whole_site(&store);
    let (url, heard) = language_model();
    let ask = ["sufficiency", "--store", &store, "--workload", &queries, "--json", "--show", "4"];
    let model = ["--llm-url", &url, "--llm-model", "small", "--llm-cache", &cache];
    let alone = json(&ask);
    let asked = json(&[&ask[..], &model].concat());
    assert_eq!(asked["verdict"], alone["verdict"]);
    assert_eq!(asked["workload"], alone["workload"]);
    let opinions = |found: &Value| -> Vec<Value> {
        let queries = found["queries"].as_array().unwrap();
        queries
            .iter()
            .map(|query| query["language_model"].clone())
            .filter(|o| !o.is_null())
            .collect()
    };
    assert!(opinions(&alone).is_empty());
    let given = opinions(&asked);
    assert!(!given.is_empty() && given.len() <= 4, "{given:?}");
    assert!(given.iter().all(|opinion| opinion["sufficiency"] == 0.25), "{given:?}");
    let link = given.iter().find(|opinion| !opinion["best_link"].is_null()).unwrap();
    assert!(link["best_link"][1].as_f64().unwrap() >= 0.1, "{link}");
    // What was answered is remembered.
    let before = heard.lock().unwrap().len();
    assert!(before >= 4);
    let again = json(&[&ask[..], &model].concat());
    assert_eq!(opinions(&again), given);
    assert_eq!(heard.lock().unwrap().len(), before, "{:?}", heard.lock().unwrap());

    // Wordings, with a key, until the calls are spent.
    let more = ["--variants", "llm", "--llm-calls", "5", "--llm-key", "PROSPECT_TEST_KEY"];
    let arguments = [&ask[..], &model[..4], &more].concat();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_prospect"))
        .args(&arguments)
        .env("PROSPECT_TEST_KEY", "a-secret-of-the-user")
        .output()
        .unwrap();
    let (out, said) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    assert!(said.contains("5 requests") && said.contains("no more is asked"), "{said}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert!(found["validation"]["queries"].as_u64().unwrap() >= 2, "{}", found["validation"]);
    assert!(!out.contains("secret") && !said.contains("secret"));
    assert!(heard.lock().unwrap().last().unwrap().contains("Bearer a-secret-of-the-user"));

    for (more, what) in [
        (vec!["--llm-url", "nowhere", "--llm-model", "m"], "--llm-url takes"),
        (vec!["--variants", "llm"], "--variants llm goes with --llm-url"),
        (vec!["--llm-url", &url, "--llm-model", "m", "--llm-key", "NO_SUCH_VAR"], "NO_SUCH_VAR"),
    ] {
        let run = prospect(&[&ask[..], &more].concat());
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(what), "{}", run.stderr);
    }
}

/// Story: somebody who crawls by crawl4ai's embedding strategy wonders when it would have stopped here.
#[cfg(feature = "neural")]
#[test]
fn a_model_tells_where_nothing_is_learned_any_more() {
    let bench = simulation::bench();
    // Of a query of two words none can be left out.
    let queries = fs::read_to_string(bench.path("queries.tsv")).unwrap();
    let queries: Vec<String> =
        queries.lines().map(|line| line.replacen('\t', "\tall about ", 1)).collect();
    fs::copy(bench.path("queries.tsv"), bench.path("short.tsv")).unwrap();
    bench.write("queries.tsv", common::lines(queries));
    let model = format!("{}/tests/models/embedding-mean", env!("CARGO_MANIFEST_DIR"));
    let rules = "learned,never,oracle";
    let line = format!("{SMALL} --policy bfs,prospect --stop {rules} --sufficiency-model {model}");
    let run = tried(&bench, &format!("{line} --out @learned"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rules = summary(&bench, "learned")["stopping"]["rules"].clone();
    let learned = rules.as_array().unwrap().iter().find(|rule| rule["rule"] == "learned").unwrap();
    // Texts of one vocabulary are near each other from the first window on, so that the second one teaches nothing.
    assert_eq!(learned["stopped"], 4, "{learned}");
    assert!(learned["pages"]["mean"].as_f64().unwrap() < 1.0, "{learned}");
    let again = tried(&bench, &format!("{line} --threads 1 --out @again"));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(summary(&bench, "again")["stopping"], summary(&bench, "learned")["stopping"]);
    // Of two words none can be left out, so that nothing is held out, and nobody knows whether it holds for other wordings.
    let short = line.replace("@queries.tsv", "@short.tsv");
    let run = tried(&bench, &format!("{short} --out @short"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(summary(&bench, "short")["stopping"]["rules"][0]["stopped"], 0);
}
