//! The life of a store, from the outside: crawl cycles, and what must not change a plan.
//!
//! The story: a crawler brings pages, a batch is planned, most of it is fetched, some of it fails
//! or is never heard of again, and the next plan closes the cycle. A plan depends on what was
//! ingested, the queries and the settings, and on nothing else: not on the number of threads, on
//! a command having been run before, on a power cut, or on derived files having been lost.

mod common;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::{
    Bench, CRAWLED, QUERIES, address, assert_sound, command, copy, done, failure, lines, page,
    page_at, page_saying, prospect, rows, text, truth, urls,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BUDGET: usize = 40;

impl Bench {
    /// Plans with a budget of [`BUDGET`] once all open plans are released; gives the jsonl and what was said.
    fn plan(&self, store: &Path, options: &[&str]) -> (String, String) {
        self.plan_beside(store, &[&["--release", "all"], options].concat())
    }

    /// Plans with a budget of [`BUDGET`] beside the plans that are open.
    fn plan_beside(&self, store: &Path, options: &[&str]) -> (String, String) {
        let mut arguments = self.plan_arguments(store, &["--budget", "40"]);
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let run = done(&arguments);
        (run.stdout, run.stderr)
    }

    fn ingest(&self, store: &Path, file: &str) -> String {
        done(&["ingest", "--store", text(store), &self.path(file)]).stderr
    }

    /// A store with a plan of [`BUDGET`] URLs, and what a crawler brought for it in
    /// `second.jsonl`: of the planned the first 25 as pages, the next 8 as failures, the next 2
    /// as redirects, the last 5 not at all; and three pages that nobody planned.
    fn with_fetched_plan() -> (Self, Vec<String>) {
        let bench = Self::with_store();
        let planned = urls(&bench.plan(&bench.store(), &[]).0);
        assert_eq!(planned.len(), BUDGET);
        let pages = planned[..25].iter().map(|url| page(page_at(url)));
        let failures = planned[25..33].iter().map(|url| failure(url, 404));
        let redirects = planned[33..35].iter().enumerate().map(|(at, url)| {
            let record = serde_json::json!({
                "url": format!("https://elsewhere.example/{at}"),
                "requested_url": url,
                "text": "topic1 topic2",
            });
            record.to_string()
        });
        let others = (CRAWLED..).filter(|&at| !planned.contains(&address(at))).take(1).map(page);
        let fetched = pages.chain(failures).chain(redirects).chain(others);
        bench.write("second.jsonl", lines(fetched));
        (bench, planned)
    }
}

#[test]
fn two_cycles_are_closed_with_the_right_counts() {
    let (bench, planned) = Bench::with_fetched_plan();
    let store = bench.store();
    let said = bench.ingest(&store, "second.jsonl");
    assert!(said.contains("28 pages and 8 failed fetches stored; 0 replaced"), "{said}");

    let (second, said) = bench.plan(&store, &[]);
    let counts = "of 40 planned 25 fetched, 8 failed, 2 moved, 5 not reported; \
                  1 page not planned";
    assert!(said.contains(counts), "{said}");
    assert!(said.contains("what was not reported may be planned again"), "{said}");
    let second = urls(&second);
    let seen: HashSet<&String> = planned[..35].iter().collect();
    let first: HashSet<String> = (0..CRAWLED).map(address).collect();
    for url in &second {
        assert!(!seen.contains(url) && !first.contains(url), "{url} was fetched already");
    }
    let again = planned[35..].iter().filter(|url| second.contains(url)).count();
    assert!(again > 0, "what nobody reported may be planned again");
    let kinds = ["outcomes-", "pair_outcomes-", "query_outcomes-"];
    for kind in kinds {
        assert_eq!(segments(&store, kind), 1, "{kind}");
    }
    assert_sound(&store);

    let third = bench.write("third.jsonl", lines(second.iter().map(|url| page(page_at(url)))));
    let said = done(&["ingest", "--close", "--store", text(&store), &third]).stderr;
    let counts = "of 40 planned 40 fetched, 0 failed, 0 moved, 0 not reported; \
                  0 pages not planned";
    assert!(said.contains(counts), "{said}");
    assert!(said.contains("chance to enter the top K"), "{said}");
    for kind in kinds {
        assert_eq!(segments(&store, kind), 2, "{kind}");
    }
    // Closed by `ingest --close`, so that nothing is left for the next plan to close.
    let (third, said) = bench.plan(&store, &[]);
    assert!(!said.contains("closed plan"), "{said}");
    assert!(urls(&third).iter().all(|url| !second.contains(url)));
    assert_sound(&store);
}

fn segments(store: &Path, prefix: &str) -> usize {
    let entries = fs::read_dir(store.join("segments")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(prefix)).count()
}

#[test]
fn outcomes_accrue_over_ingests_until_the_next_plan() {
    let (bench, planned) = Bench::with_fetched_plan();
    let store = bench.store();
    bench.ingest(&store, "second.jsonl");
    bench.write("late.jsonl", lines([page(page_at(&planned[35])), failure(&planned[36], 500)]));
    bench.ingest(&store, "late.jsonl");
    let (_, said) = bench.plan(&store, &[]);
    let counts = "of 40 planned 26 fetched, 9 failed, 2 moved, 3 not reported";
    assert!(said.contains(counts), "{said}");
    assert_sound(&store);
}

#[test]
fn a_cycle_is_closed_without_new_pages() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    bench.ingest(&store, "second.jsonl");
    let said = done(&["ingest", "--close", "--store", text(&store)]).stderr;
    assert!(said.contains("of 40 planned 25 fetched, 8 failed, 2 moved, 5 not"), "{said}");
    assert!(!said.contains("to store"), "{said}");
    assert!(said.contains("expected (") && said.contains("not learned yet"), "{said}");
    let (_, said) = bench.plan(&store, &[]);
    assert!(!said.contains("closed plan"), "{said}");
    // What is assumed before the first outcome says nothing of how far off outcomes will be.
    assert!(said.contains("not learned yet; at most"), "{said}");
    assert_sound(&store);

    let missing = bench.path("missing");
    let run = prospect(&["ingest", "--close", "--store", &missing]);
    assert_eq!(run.code, Some(1));
    assert!(!Path::new(&missing).exists());
}

#[test]
fn a_store_tells_what_is_in_it_and_what_became_of_its_plans() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    let status = || json(&["status", "--store", text(&store)], "prospect.status/3");
    assert_eq!(status()["cycles"], serde_json::json!([]));
    assert_eq!(status()["open_plans"][0]["in_flight"], 40);
    bench.ingest(&store, "second.jsonl");
    let open = &status()["open_plans"][0];
    let counts = ["planned", "fetched", "failed", "moved", "in_flight"];
    assert_eq!(counts.map(|count| open[count].as_u64().unwrap()), [40, 25, 8, 2, 5]);

    let closed = json(&["ingest", "--close", "--store", text(&store)], "prospect.ingest/3");
    let closed = &closed["closed"][0];
    let found = status();
    assert_eq!(found["open_plans"], serde_json::json!([]));
    let cycle = &found["cycles"][0];
    let counts = ["planned", "fetched", "failed", "moved", "unknown", "enters", "stays"];
    assert_eq!(counts.map(|count| &cycle[count]), counts.map(|count| &closed[count]));
    let [low, high] = ["low", "high"].map(|end| cycle["enters"][end].as_f64().unwrap());
    assert!((low..=high).contains(&cycle["enters"]["realised"].as_f64().unwrap()), "{cycle}");
    assert_eq!(cycle["stays"]["realised"], serde_json::Value::Null, "not known yet");
    let said = done(&["status", "--store", text(&store)]).stdout;
    assert!(said.contains("the last 1: "), "{said}");
    let (pages, urls) = (&found["pages"], &found["urls"]);
    assert!(said.starts_with(&format!("{urls} URLs known: {pages} pages, ")), "{said}");
}

#[test]
fn what_stays_is_known_when_the_crawl_has_grown_by_a_quarter() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    bench.ingest(&store, "second.jsonl");
    // 128 pages at the close: what stays is known from 160 on.
    let (second, said) = bench.plan(&store, &[]);
    assert!(said.contains("of it when the crawl has grown by a quarter"), "{said}");
    let close = |name: &str, urls: &[String]| {
        let file = bench.write(name, lines(urls.iter().map(|url| page(page_at(url)))));
        json(&["ingest", "--close", "--store", text(&store), &file], "prospect.ingest/3")
    };
    let status = || json(&["status", "--store", text(&store)], "prospect.status/3");
    let second = urls(&second);
    let closed = close("few.jsonl", &second[..20]);
    assert_eq!(closed["closed"][0]["settled"], serde_json::Value::Null);
    assert_eq!(segments(&store, "stays-"), 0);
    let third = urls(&bench.plan(&store, &[]).0);
    let closed = close("more.jsonl", &third[..20]);
    let settled = &closed["closed"][0]["settled"][0];
    let cycle = &status()["cycles"][0];
    for of in ["plan_id", "stays", "led_to"] {
        assert_eq!(settled[of], cycle[of], "{of}");
    }
    assert!(cycle["led_to"].is_null(), "too few pages to know what leads to what");
    let of = |quantity: &str, name: &str| cycle[quantity][name].as_f64().unwrap();
    let (entered, stayed) = (of("enters", "realised"), of("stays", "realised"));
    assert!(stayed > 0.0 && stayed <= of("stays", "ceiling"), "{cycle}");
    // Lists that were full at the close can only have lost pages of it.
    assert!(stayed <= 1.1 * entered, "{cycle}");
    assert_eq!(status()["cycles"][2]["stays"]["realised"], serde_json::Value::Null);
    assert_eq!(segments(&store, "stays-"), 1);
    // The next plan has learned from it.
    let arguments = bench.plan_arguments(&store, &["--budget", "40"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let found = json(&arguments, "prospect.plan/3");
    let of =
        |quantity: &str, name: &str| found["expected_impact"][quantity][name].as_f64().unwrap();
    assert!(of("stays", "predicted") <= of("enters", "predicted"), "{found}");
    assert!(of("stays", "cycles") <= 1.0 && of("enters", "cycles") >= 1.0, "{found}");
    assert_sound(&store);
}

#[test]
fn what_is_in_flight_is_not_planned_again() {
    let (bench, first) = Bench::with_fetched_plan();
    let store = bench.store();
    let plan_id = |at: usize| {
        let status = json(&["status", "--store", text(&store)], "prospect.status/3");
        status["open_plans"][at]["plan_id"].as_str().unwrap_or_default().to_owned()
    };
    let a = plan_id(0);
    // The same command again is the same plan, and --another the next one.
    assert_eq!(urls(&bench.plan_beside(&store, &[]).0), first);
    let (second, said) = bench.plan_beside(&store, &["--another"]);
    let second = urls(&second);
    assert!(said.contains(&format!("left to plan {a}, which is open: of 40 planned 0 ")), "{said}");
    assert!(said.contains("--release to take it back"), "{said}");
    let all: HashSet<&String> = first.iter().chain(&second).collect();
    assert_eq!(all.len(), 2 * BUDGET);
    let b = plan_id(1);
    // Where time is the budget, the same command is the same plan, too.
    let timed = bench.copy_of_store("timed");
    let in_time = |store: &Path| done(&bench.plan_arguments(store, &["--seconds", "60"])).stdout;
    let once = in_time(&timed);
    assert!(!once.is_empty() && in_time(&timed) == once);
    let said = done(&["explain", "--store", text(&store), &first[7]]).stdout;
    assert!(said.contains(&format!("number 8 of plan {a}, in flight\n  it is left to")), "{said}");

    // Two crawlers report half of what they were asked for, in one go.
    let half = first.iter().step_by(2).chain(second.iter().step_by(2));
    let reported: Vec<&String> = half.collect();
    bench.write("half.jsonl", lines(reported.iter().map(|url| page(page_at(url)))));
    let said = bench.ingest(&store, "half.jsonl");
    assert!(!said.contains("closed plan"), "{said}");
    for plan in [&a, &b] {
        let open =
            format!("plan {plan} is open: of 40 planned 20 fetched, 0 failed, 0 moved, 20 in");
        assert!(said.contains(&open), "{said}");
    }
    let third = urls(&bench.plan_beside(&store, &[]).0);
    assert!(third.iter().all(|url| !all.contains(url)), "nothing of it is planned again");
    assert_sound(&store);

    // What is released may be planned again, and what came is learned from.
    let (fourth, said) = bench.plan_beside(&store, &["--release", &a, "--another"]);
    assert!(
        said.contains(&format!("closed plan {a}: of 40 planned 20 fetched, 0 failed")),
        "{said}"
    );
    let fourth = urls(&fourth);
    assert!(first.iter().skip(1).step_by(2).any(|url| fourth.contains(url)));
    assert!(second.iter().chain(&third).all(|url| !fourth.contains(url)));
    // The rest comes: one plan after the other is over, and closed by that.
    let rest = second.iter().skip(1).step_by(2);
    bench.write("rest.jsonl", lines(rest.map(|url| page(page_at(url)))));
    let said = bench.ingest(&store, "rest.jsonl");
    let counts = "of 40 planned 40 fetched, 0 failed, 0 moved, 0 not reported; 0 pages not planned";
    assert!(said.contains(&format!("closed plan {b}: {counts}")), "{said}");
    let closed = json(&["ingest", "--close", "--store", text(&store)], "prospect.ingest/3");
    assert_eq!(closed["closed"].as_array().unwrap().len(), 2);
    assert_sound(&store);
}

#[test]
fn a_plan_is_over_when_it_has_had_no_record_for_so_long() {
    let (bench, planned) = Bench::with_fetched_plan();
    let one = |at: usize, time: &str, plan: &str| {
        let mut record: serde_json::Value = serde_json::from_str(&page(at)).unwrap();
        record["fetched_at"] = time.into();
        record["plan_id"] = plan.into();
        record.to_string()
    };
    let others: Vec<usize> = (CRAWLED..200).filter(|&at| !planned.contains(&address(at))).collect();
    let of_plan = page_at(&planned[0]);
    // What comes in, when and of which plan, and after which of it the plan is closed.
    let check = |options: &[&str], records: &[(usize, &str, bool)], closes: Option<usize>| {
        let store = bench.copy_of_store(&format!("flight-{}", options.join("")));
        let (plan, _) = bench.plan_beside(&store, options);
        assert_eq!(urls(&plan), planned);
        let id = rows(&plan)[0]["plan_id"].as_str().unwrap().to_owned();
        for (number, &(at, time, named)) in records.iter().enumerate() {
            let record = one(at, time, if named { &id } else { "" });
            bench.write("one.jsonl", lines([record]));
            let said = bench.ingest(&store, "one.jsonl");
            assert_eq!(said.contains("closed plan"), closes == Some(number), "{number}: {said}");
        }
    };
    let other = |nth: usize, time| (others[nth], time, false);
    let silent = [0, 1, 2].map(|nth| other(nth, ""));
    check(&[], &silent, Some(2));
    check(&["--in-flight-for", "2"], &silent, Some(1));
    // A record of the plan, or one that names it, begins anew.
    let reported = [other(0, ""), (of_plan, "", false), other(1, ""), (others[2], "", true)];
    let then = [3, 4].map(|nth| other(nth, ""));
    check(&["--in-flight-for", "2", "--quiet"], &[&reported[..], &then].concat(), Some(5));
    // Records without a time say nothing of how long it took.
    let timed = [
        other(0, "2026-11-23T10:00:00Z"),
        (of_plan, "2026-11-23T11:00:00Z", false),
        other(1, ""),
        other(2, "2026-11-23T12:59:59Z"),
        other(3, "2026-11-23T13:00:00Z"),
    ];
    check(&["--in-flight-for", "2h"], &timed, Some(4));
    let refused = prospect(
        &bench.plan_arguments(&bench.store(), &["--budget", "4", "--in-flight-for", "soon"]),
    );
    assert!(refused.stderr.contains("expected a number of ingests"), "{}", refused.stderr);
}

#[test]
fn seeds_are_planned_before_any_page_came() {
    let bench = Bench::new();
    let store = bench.store();
    let map = "<urlset><url><loc>https://s.example/topic1/topic2.html</loc><lastmod>2026-11-01</lastmod>\
               <priority>0.8</priority></url></urlset>";
    let (list, map) = (
        bench.write(
            "list.txt",
            "# to start from\nhttps://s.example/\nhttps://s.example/topic7.html\nnone\n",
        ),
        bench.write("sitemap.xml", map),
    );
    let arguments = ["seeds", "--store", text(&store), &list, &map];
    let found = json(&arguments, "prospect.seeds/1");
    assert_eq!((&found["counts"]["new_urls"], &found["urls"]), (&3.into(), &3.into()));
    assert_eq!(found["skipped"]["invalid-url"]["count"], 1);
    let said = done(&arguments).stderr;
    assert!(
        said.contains("0 new URLs; 0 known before, 0 fetched before, 3 that say nothing"),
        "{said}"
    );
    assert_sound(&store);
    let (plan, _) = bench.plan(&store, &["--explore", "0"]);
    let planned = urls(&plan);
    assert_eq!(planned.len(), 3);
    assert_eq!(planned[0], "https://s.example/topic7.html", "what queries ask for comes first");
    let named = "https://s.example/topic1/topic2.html";
    let said = done(&["explain", "--store", text(&store), named]).stdout;
    assert!(said.contains("named by a sitemap, changed 2026-11-01, priority 0.8"), "{said}");
    let said = done(&["explain", "--store", text(&store), &planned[0]]).stdout;
    assert!(said.contains("in the URL: topic7") && said.contains("named by a list"), "{said}");

    // A link is a link, and a page a page, whoever named them.
    bench.write("pages.jsonl", lines([page(0), failure("https://s.example/", 404)]));
    let said = bench.ingest(&store, "pages.jsonl");
    assert!(said.contains("1 page and 1 failed fetch stored"), "{said}");
    let found = json(&["seeds", "--store", text(&store), &list], "prospect.seeds/1");
    assert_eq!(found["counts"]["repeated"], 2);
    let known = bench.write("known.txt", format!("{}\n", address(0)));
    let found = json(&["seeds", "--store", text(&store), &known], "prospect.seeds/1");
    assert_eq!(found["counts"]["fetched"], 1);
    let planned = urls(&bench.plan(&store, &[]).0);
    assert!(!planned.contains(&"https://s.example/".to_owned()) && planned.len() > 3);
    assert_sound(&store);
    // In a store of which all is planned another plan has nothing to ask for, and is none.
    let other = Bench::new();
    let list = other.write("list.txt", "https://s.example/\n");
    let store = other.store();
    done(&["seeds", "--store", text(&store), &list]);
    assert_eq!(urls(&other.plan(&store, &[]).0).len(), 1);
    let before = truth(&store);
    let (nothing, said) = other.plan_beside(&store, &["--another"]);
    assert!(nothing.is_empty() && said.contains("there is nothing to plan"), "{said}");
    assert!(truth(&store) == before);
}

#[test]
fn a_log_tells_what_an_archive_does_not() {
    let (bench, planned) = Bench::with_fetched_plan();
    let store = bench.store();
    bench.ingest(&store, "second.jsonl");
    let request = |url: &str, answer: &str| {
        format!(
            "--2026-11-23 10:00:00--  {url}\nHTTP request sent, awaiting response... {answer}\n\n"
        )
    };
    let log = [
        request(&planned[0], "200 OK"),
        request(&planned[25], "404 Not Found"),
        request(&planned[35], "No data received.\nGiving up."),
        request(&planned[36], "503 Busy"),
        request(&planned[37], "200 OK"),
        request(&planned[38], "410 Gone"),
        request(&planned[39], "No data received.\nGiving up."),
    ];
    let log = bench.write("wget.log", log.concat());
    let arguments = ["crawl-log", "--store", text(&store), &log];
    let found = json(&arguments, "prospect.crawl-log/1");
    assert_eq!(found["skipped"]["known-before"]["count"], 2);
    assert_eq!((&found["counts"]["pages"], &found["counts"]["failed"]), (&1.into(), &4.into()));
    // With that every URL was reported, and the plan is over.
    let closed = &found["closed"][0];
    let counts = ["planned", "fetched", "failed", "moved", "unknown"].map(|count| &closed[count]);
    assert_eq!(counts, [40, 26, 12, 2, 0]);
    let next = urls(&bench.plan_beside(&store, &[]).0);
    assert!([35, 36, 39].iter().all(|&at| !next.contains(&planned[at])), "they wait");
    let said = done(&["explain", "--store", text(&store), &planned[35]]).stdout;
    assert!(said.contains("its fetch had no answer; 1 of 4 tries, it waits 1 cycle"), "{said}");
    assert_sound(&store);
    let list = bench.write("list.txt", "https://s.example/\n");
    let refused = prospect(&["crawl-log", "--store", text(&store), &list]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("found list, which tells of no fetch"), "{}", refused.stderr);
}

/// Story: a URL outside of any plan failed on every day of a month, and had been tried once.
#[test]
fn logs_of_other_days_tell_of_other_tries() {
    let bench = Bench::with_store();
    let (store, url) = (bench.store(), "https://other.example/");
    let log = |times: &[&str]| {
        let line = |time: &&str| {
            format!("{{\"url\":\"{url}\",\"status\":503,\"fetched_at\":\"{time}\"}}\n")
        };
        let log = bench.write("log.jsonl", times.iter().map(line).collect::<String>());
        let found = json(&["crawl-log", "--store", text(&store), &log], "prospect.crawl-log/1");
        let tries = done(&["explain", "--store", text(&store), url]).stdout;
        (found["counts"]["failed"].as_u64(), tries)
    };
    for (times, stored, tries) in [
        (&["2026-11-01T10:00:00Z", "2026-11-01T10:00:20Z"][..], 1, "1 of 4 tries"),
        // The same by another clock.
        (&["2026-11-01T20:00:00Z"], 0, "1 of 4 tries"),
        // What one log tells is of one cycle, and is one try there.
        (&["2026-11-02T10:00:00Z", "2026-11-03T10:00:00Z"], 2, "2 of 4 tries"),
        (&["2026-11-02T10:00:00Z"], 0, "2 of 4 tries"),
        (&["2026-11-04T10:00:00Z"], 1, "3 of 4 tries"),
    ] {
        let (failed, said) = log(times);
        assert!(
            failed.unwrap_or(0) == stored && said.contains(tries),
            "{times:?}: {failed:?} {said}"
        );
    }
}

#[test]
fn scope_is_of_the_store() {
    let bench = Bench::with_store();
    let store = bench.store();
    let all = urls(&bench.plan(&store, &[]).0);
    let host = host(&all[0]).to_owned();
    let others = |urls: &[String]| urls.iter().filter(|url| self::host(url) != host).count();
    assert!(others(&all) > 0);
    let pattern = format!("^https://{host}/");
    let held = urls(&bench.plan(&store, &["--include", &pattern]).0);
    assert_eq!((others(&held), held.is_empty()), (0, false));
    // Kept until another is given, each part by itself.
    assert_eq!(urls(&bench.plan(&store, &[]).0), held);
    let less = urls(&bench.plan(&store, &["--exclude", "[0-4][.]html$"]).0);
    assert!(others(&less) == 0 && less != held);
    let status = done(&["status", "--store", text(&store)]).stdout;
    assert!(status.contains(&pattern) && status.contains("[0-4][.]html$"), "{status}");
    assert_eq!(urls(&bench.plan(&store, &["--exclude", ""]).0), held);
    assert_eq!(urls(&bench.plan(&store, &["--include", ""]).0), all);
    let status = json(&["status", "--store", text(&store)], "prospect.status/3");
    assert_eq!(status["scope"], serde_json::Value::Null);
}

#[test]
fn explain_agrees_with_the_plan() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    let rows = rows(&bench.plan(&store, &[]).0);
    for at in [0, 7, BUDGET - 1] {
        let url = rows[at]["url"].as_str().unwrap();
        let said = done(&["explain", "--store", text(&store), url]).stdout;
        assert!(said.contains(&format!("not crawled; number {} of plan ", at + 1)), "{said}");
        let rank = rows[at]["frontier_rank"].as_u64().unwrap();
        assert!(said.contains(&format!("rank {rank} of ")), "{said}");
        let queries = rows[at]["queries"].as_array().unwrap();
        for query in queries {
            assert!(said.contains(query["query"].as_str().unwrap()), "{said}");
        }
        assert!(!queries.is_empty(), "the generated URLs name what the queries ask for: {said}");
        assert!(said.contains("in the URL: topic"), "{said}");
    }
    let crawled = done(&["explain", "--store", text(&store), &address(0)]).stdout;
    assert!(crawled.contains("crawled, as record 0; not in plan"), "{crawled}");
    assert!(crawled.contains("it is not among the URLs to choose from"), "{crawled}");
}

#[test]
fn explain_tells_what_a_query_needs_and_what_may_come() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    let planned = rows(&bench.plan(&store, &["--needy", "3"]).0);
    let query = &planned[0]["queries"][0]["query"];
    let given = ["explain", "--store", text(&store), "--query", query.as_str().unwrap()];
    let found = json(&given, "prospect.explain-query/1");
    let number = |name: &str| found[name].as_f64().unwrap();
    assert_eq!(number("neediness"), number("frequency") * number("improvability"));
    assert_eq!(found["is_needy"], true, "a plan for the neediest is made for it");
    assert!(number("need_rank") <= 3.0);
    let served = found["served"].as_array().unwrap();
    let k = number("k") as usize;
    assert_eq!(served.len() + number("empty_places") as usize, k);
    let sum: f64 = served.iter().map(|result| result["score"].as_f64().unwrap()).sum();
    assert!((sum / k as f64 - number("mean_score")).abs() < 1e-9);
    let sketch = found["sketch"].as_array().unwrap();
    let scores: Vec<f64> = sketch.iter().map(|entry| entry["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && sketch.len() == k, "{sketch:?}");
    let candidates = found["best_candidates"].as_array().unwrap();
    assert!(candidates.iter().any(|entry| entry["planned_rank"].is_u64()), "{candidates:?}");
    let fit = &found["improvability_fit"];
    assert!(fit["r_squared"].as_f64().unwrap() <= 1.0 && fit["outcomes"].as_u64() > Some(0));
    let said = done(&given).stdout;
    for expected in ["neediness", "planned for", "sketch, the 10 best", "R²"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // By its id; and what is neither is told.
    let id = found["qid"].as_str().unwrap();
    let by_id = ["explain", "--store", text(&store), "--query", id];
    assert_eq!(json(&by_id, "prospect.explain-query/1"), found);
    // As another line of the log may spell it.
    let shouted = format!("{}?", query.as_str().unwrap().to_uppercase());
    let by_words = ["explain", "--store", text(&store), "--query", &shouted];
    assert_eq!(json(&by_words, "prospect.explain-query/1"), found);
    let wrong = prospect(&["explain", "--store", text(&store), "--query", "nothing such"]);
    assert!(wrong.stderr.contains("the open plan has no query"), "{}", wrong.stderr);
}

#[test]
fn a_plan_does_not_depend_on_threads_or_on_having_been_made_before() {
    let (bench, _) = Bench::with_fetched_plan();
    let runs: Vec<_> = ["1", "2", "8"]
        .iter()
        .map(|threads| {
            let store = bench.copy_of_store(&format!("store-{threads}"));
            let threads = ["--threads", threads];
            let file = bench.path("second.jsonl");
            done(&[["ingest", "--store", text(&store), &file].as_slice(), &threads].concat());
            let first = bench.plan(&store, &[threads.as_slice(), &["--explore", "0.2"]].concat());
            let again = bench.plan(&store, &[threads.as_slice(), &["--explore", "0.2"]].concat());
            assert_eq!(first.0, again.0, "the same command again, {threads:?}");
            assert!(!again.1.contains("brought in"), "nothing is computed anew: {}", again.1);
            (first.0, truth(&store))
        })
        .collect();
    assert!(runs[0].0.lines().count() == BUDGET);
    assert_eq!(runs[0].0, runs[1].0, "plans by 1 and 2 threads");
    assert_eq!(runs[0].0, runs[2].0, "plans by 1 and 8 threads");
    for other in &runs[1..] {
        for (name, content) in &runs[0].1 {
            assert!(other.1.get(name) == Some(content), "{} differs", name.display());
        }
    }
}

/// Starts a command, ends it with SIGKILL after `delay`, and tells whether it was still at work.
fn killed_after<S: AsRef<str>>(arguments: &[S], delay: Duration) -> bool {
    let mut child = command(arguments).spawn().expect("the binary starts");
    thread::sleep(delay);
    child.kill().expect("a child may be killed");
    // A signal leaves no exit code.
    child.wait_with_output().expect("the child ends").status.code().is_none()
}

#[test]
fn a_command_killed_at_any_time_can_be_run_again() {
    const STORES: usize = 6;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (bench, _) = Bench::with_fetched_plan();
    let commands = |store: &Path| {
        let file = bench.path("second.jsonl");
        let ingest = ["ingest", "--store", text(store), &file].map(str::to_owned).to_vec();
        [ingest, bench.plan_arguments(store, &["--budget", "40", "--explore", "0.1"])]
    };
    let undisturbed = bench.copy_of_store("undisturbed");
    let timed = commands(&undisturbed).map(|arguments| {
        let start = Instant::now();
        (done(&arguments).stdout, start.elapsed())
    });
    let mut killed = 0;
    for at in 0..STORES {
        let store = bench.copy_of_store(&format!("killed-{at}"));
        for (arguments, (stdout, elapsed)) in commands(&store).iter().zip(&timed) {
            let delay = elapsed.mul_f64(random.random_range(0.0..1.0));
            killed += usize::from(killed_after(arguments, delay));
            assert_sound(&store);
            let again = done(arguments).stdout;
            assert!(&again == stdout, "{} differs after {delay:?}, seed {seed}", arguments[0]);
            assert_sound(&store);
        }
        assert_same_truth(&undisturbed, &store, seed);
    }
    println!("{killed} of {} commands were killed at work", 2 * STORES);
    assert!(killed > 0, "seed {seed}");
}

/// Whatever happened on the way, the store ends with the very files of an undisturbed run.
#[track_caller]
fn assert_same_truth(expected: &Path, found: &Path, seed: u64) {
    let (expected, found) = (truth(expected), truth(found));
    let names = |files: &BTreeMap<_, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "seed {seed}");
    for (name, content) in &expected {
        assert!(found[name] == *content, "{} differs, seed {seed}", name.display());
    }
}

#[test]
fn a_first_ingest_killed_at_any_time_can_be_run_again() {
    let bench = Bench::with_store();
    let expected = truth(&bench.store());
    for (at, delay) in [0, 2, 5, 10, 15, 20, 30].into_iter().enumerate() {
        let store = bench.path(&format!("killed-{at}"));
        let arguments = ["ingest", "--store", &store, &bench.path("first.jsonl")];
        killed_after(&arguments, Duration::from_millis(delay));
        done(&arguments);
        assert!(truth(Path::new(&store)) == expected, "killed after {delay} ms");
        assert_sound(Path::new(&store));
    }
}

#[test]
fn derived_files_that_are_lost_or_damaged_are_rebuilt() {
    let (bench, _) = Bench::with_fetched_plan();
    bench.ingest(&bench.store(), "second.jsonl");
    let (expected, _) = bench.plan(&bench.store(), &[]);
    let store = bench.copy_of_store("lost");
    fs::remove_dir_all(store.join("derived")).unwrap();
    let (found, said) = bench.plan(&store, &[]);
    assert!(found == expected, "the plan without derived files");
    for built in
        ["text index: 128 of ", "frontier n-grams: ", "history n-grams: ", "served lists: "]
    {
        assert!(said.contains(built), "{built}: {said}");
    }

    let files = common::files(&bench.store().join("derived"));
    assert!(files.len() > 12, "text index, two n-gram indexes and served lists: {files:?}");
    for (at, (name, content)) in files.into_iter().enumerate().filter(|(_, (_, c))| !c.is_empty()) {
        let store = bench.copy_of_store(&format!("damaged-{at}"));
        let mut damaged = content;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(store.join("derived").join(&name), damaged).unwrap();
        let check = done(&["check", "--full", "--store", text(&store)]).stderr;
        assert!(check.contains("will be rebuilt"), "{}: {check}", name.display());
        let (found, said) = bench.plan(&store, &[]);
        assert!(said.contains("rebuilt"), "{}: {said}", name.display());
        assert!(found == expected, "{}", name.display());
        assert_sound(&store);
        fs::remove_dir_all(&store).unwrap();
    }
}

fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

fn domain(url: &str) -> &str {
    host(url).split_once('.').unwrap().1
}

fn site(url: &str) -> String {
    url.split('/').take(4).collect::<Vec<_>>().join("/")
}

#[test]
fn caps_hold() {
    let bench = Bench::with_store();
    let largest = |plan: &str, group: &dyn Fn(&str) -> String| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for url in urls(plan) {
            *counts.entry(group(&url)).or_default() += 1;
        }
        (counts.values().copied().max().unwrap_or(0), counts.len())
    };
    let plan = |options: &[&str]| bench.plan(&bench.store(), options).0;
    let uncapped = plan(&[]);
    assert!(largest(&uncapped, &|url| host(url).to_owned()).0 > 4, "the caps below would cut");
    for explore in ["0", "0.5"] {
        let capped = plan(&["--per-host", "4", "--explore", explore]);
        assert_eq!(largest(&capped, &|url| host(url).to_owned()), (4, 6), "--explore {explore}");
        let capped = plan(&["--per-domain", "5", "--explore", explore]);
        assert_eq!(largest(&capped, &|url| domain(url).to_owned()), (5, 3), "--explore {explore}");
        let capped = plan(&["--per-site", "2", "--explore", explore]);
        assert_eq!(largest(&capped, &site), (2, 12), "--explore {explore}");
    }
    let lifted = plan(&["--site-share", "1"]);
    assert_eq!(urls(&lifted), urls(&uncapped), "there are 12 sites");
    let caps = ["--per-host", "4", "--per-domain", "6", "--per-site", "3"];
    let (capped, said) = bench.plan(&bench.store(), &caps);
    assert_eq!(urls(&capped).len(), 18);
    let told =
        said.lines().find(|line| line.starts_with("18 of the 40 URLs asked for: held back are "));
    assert!(told.is_some_and(|told| told.contains(" by per-site")), "{said}");
    assert!(largest(&capped, &|url| host(url).to_owned()).0 <= 4);
    // A URL that a cap held back is told so.
    let left = urls(&uncapped).into_iter().find(|url| !urls(&capped).contains(url)).unwrap();
    let said = done(&["explain", "--store", text(&bench.store()), &left]).stdout;
    assert!(said.contains("held back by --per-"), "{said}");
}

/// The record of a page with every URL of the generated web moved to one of 24 hosts.
fn on_many_hosts(record: &str) -> String {
    let moved = |url: &str| {
        let (host, rest) = (page_at(url) % 24, url.splitn(4, '/').nth(3).unwrap());
        format!("https://h{host}.example/{rest}")
    };
    let mut record: serde_json::Value = serde_json::from_str(record).unwrap();
    record["url"] = moved(record["url"].as_str().unwrap()).into();
    for link in record["outlinks"].as_array_mut().unwrap() {
        link["url"] = moved(link["url"].as_str().unwrap()).into();
    }
    record.to_string()
}

#[test]
fn a_site_among_many_has_its_share_unless_told_otherwise() {
    let bench = Bench::new();
    bench.write("many.jsonl", lines((0..CRAWLED).map(|at| on_many_hosts(&page(at)))));
    bench.ingest(&bench.store(), "many.jsonl");
    let plan = |options: &[&str]| urls(&bench.plan(&bench.store(), options).0);
    let largest = |planned: &[String]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for url in planned {
            *counts.entry(site(url)).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    };
    let lifted = plan(&["--site-share", "1"]);
    assert!(largest(&lifted) > 2, "the share would cut");
    assert_eq!(plan(&["--site-share", "0"]), lifted);
    assert_eq!(largest(&plan(&["--site-share", "0.1"])), 4);
    let planned = plan(&[]);
    assert_eq!((planned.len(), largest(&planned)), (BUDGET, 2));
    assert_eq!(plan(&["--site-share", "0.05"]), planned);
    let left = lifted.iter().find(|url| !planned.contains(url)).unwrap();
    let said = done(&["explain", "--store", text(&bench.store()), left]).stdout;
    assert!(said.contains("site-share"), "{said}");
}

#[test]
fn exploration_takes_its_share_and_follows_its_seed() {
    let bench = Bench::with_store();
    let plan = |options: &[&str]| bench.plan(&bench.store(), options).0;
    let greedy = plan(&["--explore", "0"]);
    assert!(rows(&greedy).iter().all(|row| row["pool"] == "greedy" && row["propensity"] == 1.0));
    let explored = plan(&["--explore", "0.25", "--seed", "7"]);
    assert_eq!(urls(&explored).len(), BUDGET);
    assert_eq!(urls(&explored)[..30], urls(&greedy)[..30], "the rest is greedy");
    let mut near = 0;
    for row in &rows(&explored)[30..] {
        let (rank, propensity) = (row["frontier_rank"].as_u64(), row["propensity"].as_f64());
        let is_near = row["pool"] == "near";
        near += usize::from(is_near);
        assert_eq!(is_near, rank.unwrap() <= 70, "{row}");
        assert!(is_near || row["pool"] == "far");
        // 7.5 of 40 that come next; the frontier is small, so the far ones are few.
        assert!(propensity.unwrap() > 0.0 && propensity.unwrap() < 0.2, "{row}");
    }
    assert!(near == 7 || near == 8 || near == 6 || near == 9, "{near}");
    assert_eq!(plan(&["--explore", "0.25", "--seed", "7"]), explored);
    let other = plan(&["--explore", "0.25", "--seed", "8"]);
    assert_eq!(urls(&other)[..30], urls(&explored)[..30]);
    assert_ne!(urls(&other)[30..], urls(&explored)[30..]);
    let all = rows(&plan(&["--explore", "1"]));
    assert!(all.iter().all(|row| row["pool"] != "greedy") && all.len() == BUDGET);
    // Another seed, another batch, but about a fiftieth of it.
    let count = |row: &&serde_json::Value| row["pool"] != "greedy";
    let default = rows(&plan(&[])).iter().filter(count).count();
    assert!(default <= 1, "{default}");
}

#[test]
fn needy_plans_for_few_queries() {
    let bench = Bench::with_store();
    for (needy, expected) in [("5", 5), ("0.1", QUERIES / 10), ("1000", QUERIES)] {
        let (plan, said) = bench.plan(&bench.store(), &["--needy", needy]);
        assert!(said.contains(&format!(", {expected} needy)")), "--needy {needy}: {said}");
        let rows = rows(&plan);
        assert_eq!(rows.len(), BUDGET);
        let reasons = rows.iter().flat_map(|row| row["queries"].as_array().unwrap());
        let asked: BTreeSet<&str> = reasons.map(|query| query["qid"].as_str().unwrap()).collect();
        assert!((1..=expected).contains(&asked.len()), "--needy {needy}: {asked:?}");
    }
}

#[test]
fn within_keeps_to_its_list() {
    let bench = Bench::with_store();
    let some: Vec<String> = urls(&bench.plan(&bench.store(), &[]).0).split_off(30);
    let unknown = "https://unknown.example/".to_owned();
    let list = bench.write("list.txt", lines(some.iter().cloned().chain([unknown])));
    let (held, said) = bench.plan(&bench.store(), &["--within", &list]);
    let held = urls(&held);
    assert_eq!(held.iter().collect::<BTreeSet<_>>(), some.iter().collect());
    assert!(said.contains("list.txt: of 11 lines 1 are not known to the store"), "{said}");

    let list = bench.write("list.txt", lines(["no URL".to_owned()].iter().chain(&some).cloned()));
    let (again, said) = bench.plan(&bench.store(), &["--within", &list]);
    assert_eq!(urls(&again).len(), some.len());
    assert!(said.contains("list.txt: of 11 lines 1 are no URL"), "{said}");
}

#[test]
fn json_outputs_name_their_schema() {
    let (bench, planned) = Bench::with_fetched_plan();
    let store = bench.store();
    let file = bench.path("second.jsonl");
    let workload = bench.path("queries.tsv");
    let store = text(&store);
    let ingest = json(&["ingest", "--store", store, &file], "prospect.ingest/3");
    assert_eq!(ingest["counts"]["failed"], 8);
    assert_eq!(ingest["stored"], true);
    let fixed = ["plan", "--store", store, "--workload", &workload, "--budget", "9"];
    let arguments = [&fixed[..], &["--release", "all"]].concat();
    let plan = json(&arguments, "prospect.plan/3");
    assert_eq!(plan["closed"][0]["fetched"], 25);
    assert_eq!(plan["closed"][0]["planned"], 40);
    assert_eq!(plan["urls"].as_array().unwrap().len(), 9);
    let url = plan["urls"][0]["url"].as_str().unwrap();
    let explained = json(&["explain", "--store", store, url], "prospect.explain/2");
    assert_eq!(explained["planned_rank"], 1);
    assert_eq!(explained["plan_id"], plan["plan_id"]);
    let gone = json(&["explain", "--store", store, &planned[25]], "prospect.explain/2");
    assert_eq!(gone["state"], "its fetch failed with status 404");
    let check = json(&["check", "--full", "--store", store], "prospect.check/1");
    assert_eq!(check["damage"], serde_json::json!([]));
    let formats = json(&["formats"], "prospect.formats/1");
    assert!(formats["limits"].as_array().unwrap().len() > 5);
}

fn json(arguments: &[&str], schema: &str) -> serde_json::Value {
    let run = done(&[arguments, &["--json", "--quiet"]].concat());
    assert_eq!(run.stderr, "", "{arguments:?} --quiet");
    let value: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is JSON");
    assert_eq!(value["schema"], schema, "{arguments:?}");
    value
}

#[test]
fn a_plan_is_written_in_every_format_and_place() {
    let bench = Bench::with_store();
    let (expected, _) = bench.plan(&bench.store(), &[]);
    let (lines, _) = bench.plan(&bench.store(), &["--format", "urls"]);
    assert_eq!(lines.lines().collect::<Vec<_>>(), urls(&expected));
    let (table, _) = bench.plan(&bench.store(), &["--format", "tsv"]);
    assert_eq!(table.lines().count(), BUDGET + 1);
    let columns = table.lines().map(|line| line.split('\t').count()).collect::<BTreeSet<_>>();
    assert_eq!(columns.len(), 1, "{table}");
    let out = bench.write("plan.out", "an older and longer plan\n".repeat(9_000));
    let (nothing, _) = bench.plan(&bench.store(), &["--out", &out]);
    assert_eq!(nothing, "");
    assert_eq!(fs::read_to_string(&out).unwrap(), expected);
    let (nothing, _) = bench.plan(&bench.store(), &["--json", "--out", &out]);
    assert_eq!(nothing, "");
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(written["schema"], "prospect.plan/3");
    // A crawler wants the batch, and whoever starts it what is expected of it.
    let both = ["--json", "--format", "urls", "--out", &out];
    let (told, _) = bench.plan(&bench.store(), &both);
    assert_eq!(fs::read_to_string(&out).unwrap(), lines);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), written);
    let (told, messages) = bench.plan(&bench.store(), &both[..3]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), written);
    assert!(messages.contains("name a file with --out for the batch"), "{messages}");
}

#[test]
fn standard_input_is_read_and_a_reader_that_goes_away_is_no_error() {
    let bench = Bench::with_store();
    let (expected, _) = bench.plan(&bench.store(), &[]);
    let piped = bench.path("piped");
    let from = |file: &str, arguments: &[&str]| {
        let input = fs::File::open(bench.path(file)).unwrap();
        let output = command(arguments).stdin(input).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    from("first.jsonl", &["ingest", "--store", &piped, "-"]);
    let plan = ["plan", "--store", &piped, "--workload", "-", "--budget", "40"];
    assert_eq!(from("queries.tsv", &plan), expected);

    let arguments = bench.plan_arguments(&bench.store(), &["--budget", "40", "--quiet"]);
    let mut child = command(&arguments).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}

/// Story: a crawler wrote its records without times to the same file, and in two cycles running the same URLs failed. The
/// second of them was taken for the first once more, so that nothing was ever given up.
#[test]
fn what_fails_again_after_another_plan_counts_again() {
    let bench = Bench::new();
    let link = r#"{"url": "https://b.test/1", "anchor": "git commit"}"#;
    let first = format!(r#"{{"url": "https://a.test/", "text": "git", "outlinks": [{link}]}}"#);
    let first = bench.write("first.jsonl", first);
    bench.write("queries.tsv", "q\tgit commit\t5\n");
    let failed = bench.write("failed.jsonl", r#"{"url": "https://b.test/1", "status": 503}"#);
    let store = bench.store();
    done(&["ingest", "--store", text(&store), &first]);
    let is_stored = |file: &str, options: &[&str]| {
        let ingest = ["ingest", "--json", "--store", text(&store), file];
        let told = done(&[&ingest, options].concat()).stdout;
        serde_json::from_str::<serde_json::Value>(&told).unwrap()["stored"].clone()
    };
    for cycle in 0..4 {
        let plan = done(&bench.plan_arguments(&store, &["--budget", "9"]));
        if cycle == 0 {
            assert_eq!(is_stored(&first, &[]), false, "nobody asked for its page again");
        }
        assert_eq!(urls(&plan.stdout), ["https://b.test/1"], "{cycle}");
        assert_eq!(is_stored(&failed, &["--close"]), true, "{cycle}");
        assert_eq!(is_stored(&failed, &[]), false, "the same command once more, {cycle}");
    }
    assert_sound(&store);
}

#[test]
fn a_time_that_is_none_is_told() {
    let bench = Bench::new();
    let record = |at: usize, time: &str| {
        serde_json::json!({ "url": address(at), "text": "rye", "fetched_at": time }).to_string()
    };
    let times = ["2026-11-29T10:00:00Z", "yesterday", "29.11.2026 10:00", " "];
    let file =
        bench.write("times.jsonl", lines((0..).zip(times).map(|(at, time)| record(at, time))));
    let said = done(&["ingest", "--store", text(&bench.store()), &file]).stderr;
    let told =
        "the fetched_at of 2 records is no time, and counts as none; the first: \"yesterday\"";
    assert!(said.contains(told), "{said}");
}

#[test]
fn the_same_input_again_stores_nothing_and_a_changed_page_replaces_the_old() {
    let bench = Bench::with_store();
    let store = bench.store();
    let before = truth(&store);
    let said = bench.ingest(&store, "first.jsonl");
    assert!(said.contains("nothing to store"), "{said}");
    assert!(truth(&store) == before);
    let said = done(&["ingest", "--close", "--store", text(&store), &bench.path("first.jsonl")]);
    assert!(said.stderr.contains("there is no open plan to close"), "{}", said.stderr);

    bench.write("changed.jsonl", lines([page_saying(3, "unheardof"), page(CRAWLED)]));
    let said = bench.ingest(&store, "changed.jsonl");
    assert!(said.contains("2 pages and 0 failed fetches stored; 1 replaced, 0 repeated"), "{said}");
    assert!(said.contains("holds 101 pages"), "{said}");
    let said = done(&bench.plan_arguments(&store, &["--budget", "40"]));
    assert!(!urls(&said.stdout).contains(&address(3)), "a replaced page is still crawled");
    assert_sound(&store);
}

#[test]
fn an_ingest_in_two_parts_knows_what_one_ingest_knows() {
    let bench = Bench::with_store();
    let parts = Path::new(&bench.path("parts")).to_owned();
    bench.write("a.jsonl", lines((0..60).map(page)));
    bench.write("b.jsonl", lines((60..CRAWLED).map(page)));
    bench.ingest(&parts, "a.jsonl");
    let said = bench.ingest(&parts, "b.jsonl");
    assert!(said.contains("text index: 40 of 100 pages brought in"), "{said}");
    let known = |store: &Path| {
        let mut check = json(&["check", "--full", "--store", text(store)], "prospect.check/1");
        ["urls", "pages", "links"].map(|name| check[name].take())
    };
    assert_eq!(known(&parts), known(&bench.store()));
}

#[test]
fn the_tiny_site_can_be_planned_from_its_html() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/tiny");
    let directory = tempfile::tempdir().unwrap();
    // A third of the site: its top level and one of its directories.
    let crawled = directory.path().join("crawled");
    copy(&root.join("site/guides"), &crawled.join("guides"));
    for name in ["index.html", "about.html", "links.html"] {
        fs::copy(root.join("site").join(name), crawled.join(name)).unwrap();
    }
    let store = directory.path().join("store");
    let (base, workload) = ("https://tools.example/", root.join("queries.tsv"));
    done(&["ingest", "--store", text(&store), text(&crawled), "--base-url", base]);
    let options = ["--budget", "10", "--format", "urls"];
    let fixed = ["plan", "--store", text(&store), "--workload", text(&workload)];
    let plan = done(&[fixed.as_slice(), &options].concat()).stdout;
    assert_eq!(plan.lines().count(), 10);
    for url in plan.lines() {
        assert!(url.starts_with(base) && !url.contains("/guides/"), "{url}");
    }
    assert_eq!(prospect(&["check", "--full", "--store", text(&store)]).code, Some(0));
}

#[test]
fn a_quality_model_scores_what_is_new_and_its_scores_are_part_of_the_plan() {
    let (bench, _) = Bench::with_fetched_plan();
    let store = bench.store();
    let (unscored, said) = bench.plan(&store, &[]);
    assert!(!said.contains("quality"), "no part that nothing feeds: {said}");
    let model = ["--quality-model", "text-length"];
    let delayed = [model[0], model[1], "--quality-delay", "10"];
    let (_, said) = bench.plan(&store, &delayed);
    assert!(said.contains("; the 10 newest records wait"), "{said}");
    let (first, said) = bench.plan(&store, &model);
    let new = said.lines().find(|line| line.starts_with("quality by text-length")).unwrap();
    assert!(!new.contains("wait"), "{said}");
    assert_ne!(first, unscored);
    let (again, said) = bench.plan(&store, &model);
    assert!(said.contains("quality by text-length: 0 pages scored, 0 empty"), "{said}");
    // What is scored stays when no model is named.
    assert_eq!((&again, &bench.plan(&store, &[]).0), (&first, &first));

    let (store, second) = (text(&store).to_owned(), bench.path("second.jsonl"));
    let ingest = ["ingest", "--store", &store, "--close", &second];
    let said = done(&[&ingest[..], &model[..]].concat()).stderr;
    // 25 planned pages, 2 that were redirected to, 1 that nobody planned.
    assert!(said.contains("quality by text-length: 28 pages scored"), "{said}");
    assert_sound(&bench.store());
}

#[test]
#[cfg(feature = "neural")]
fn a_model_that_nothing_runs_is_told_before_anything_is_stored() {
    let (bench, _) = Bench::with_fetched_plan();
    let (new, pages) = (bench.path("new"), bench.path("second.jsonl"));
    let model = ["--quality-model", "bundled", "--device", "cuda"];
    for store in [new.as_str(), text(&bench.store())] {
        let ingest = ["ingest", "--store", store, "--close", &pages];
        let run = prospect(&[&ingest[..], &model[..]].concat());
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("cuda:0: "), "{}", run.stderr);
    }
    assert!(!Path::new(&new).exists());
    let status = done(&["status", "--store", text(&bench.store())]).stdout;
    assert!(status.contains("open plan "), "{status}");
}

#[test]
fn a_closed_plan_that_explored_tells_what_other_batches_would_have_earned() {
    let bench = Bench::with_store();
    let store = bench.store();
    let none = prospect(&["counterfactual", "--store", text(&store)]);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("no plan with exploration is closed"), "{}", none.stderr);
    assert!(none.stderr.contains("--explore"), "{}", none.stderr);
    let planned = urls(&bench.plan(&store, &["--explore", "0.5", "--seed", "3"]).0);
    bench.write("batch.jsonl", lines(planned.iter().map(|url| page(page_at(url)))));
    bench.ingest(&store, "batch.jsonl");
    let (next, _) = bench.plan(&store, &["--explore", "0"]);
    let before = fs::read(store.join("MANIFEST.json")).unwrap();
    let found = |options: &[&str]| {
        let mut arguments = vec!["counterfactual", "--store", text(&store), "--json"];
        arguments.extend(options);
        let json: serde_json::Value = serde_json::from_str(&done(&arguments).stdout).unwrap();
        json
    };
    let all = found(&[]);
    let batch = |json: &serde_json::Value, name: &str| {
        let batches = json["batches"].as_array().unwrap().clone();
        batches.into_iter().find(|batch| batch["batch"] == name).unwrap()["found"].clone()
    };
    let value = |found: &serde_json::Value| found["doubly_robust"]["value"].as_f64().unwrap();
    let half = |found: &serde_json::Value| found["doubly_robust"]["half_width"].as_f64().unwrap();
    let (fetched, greedy) = (batch(&all, "fetched"), batch(&all, "greedy"));
    assert_eq!((fetched["urls"].as_u64(), fetched["shared"].as_u64()), (Some(40), Some(40)));
    assert_eq!(greedy["urls"].as_u64(), Some(40));
    assert!((20..40).contains(&greedy["shared"].as_u64().unwrap()));
    assert!(half(&greedy) > 0.0 && value(&greedy) > 0.0);
    // A list of just those URLs is that batch, in whatever order.
    let mut reversed = planned.clone();
    reversed.reverse();
    bench.write("batch.txt", reversed.join("\n"));
    let listed = found(&["--urls", &bench.path("batch.txt")]);
    let of_file = &listed["batches"][1]["found"];
    assert_eq!((of_file["urls"].as_u64(), of_file["shared"].as_u64()), (Some(40), Some(40)));
    assert!((value(of_file) - value(&fetched)).abs() < 1e-9);
    // Weights of nothing but the page part are the batch of that name.
    let weighted = found(&["--weights", "0,0,1,0,0"]);
    assert_eq!(weighted["batches"][1]["found"], batch(&all, "page part"));
    for (options, expected) in [
        (&["--weights", "1,2"][..], "--weights has 2 numbers"),
        (&["--weights", "1,1,1,1,-1"], "--quality-weight is -1"),
        (&["--page-weight", "-1"], "--page-weight is -1; it must lie between 0"),
        (&["--page-weight", "1", "--urls", "x"], "--urls names a batch, and so do weights"),
        (&["--plan", "nonsense"], "there is no plan"),
    ] {
        let mut arguments = vec!["counterfactual", "--store", text(&store)];
        arguments.extend(options);
        let failed = prospect(&arguments);
        assert_eq!(failed.code, Some(1), "{expected}");
        assert!(failed.stderr.contains(expected), "{}", failed.stderr);
    }
    // Nothing was changed.
    assert_eq!(fs::read(store.join("MANIFEST.json")).unwrap(), before);
    assert_eq!(bench.plan(&store, &["--explore", "0"]).0, next);
}

#[test]
fn a_store_that_is_being_written_or_cannot_be_is_told_of_all_the_same() {
    let bench = Bench::with_store();
    let store = bench.store();
    let status = || prospect(&["status", "--json", "--store", text(&store)]);
    let free = status();
    let held =
        prospect_index::store::Store::open(&store, &prospect_index::store::StoreOptions::default());
    let run = prospect(&bench.plan_arguments(&store, &["--budget", "40"]));
    assert!(run.code == Some(1) && run.stderr.contains("is in use"), "{}", run.stderr);
    assert_eq!((status().code, status().stdout), (Some(0), free.stdout.clone()));
    assert_eq!(prospect(&["url-rules", "--store", text(&store)]).code, Some(0));
    let sound = done(&["check", "--full", "--json", "--store", text(&store)]);
    assert!(sound.stdout.contains("\"in_use_by\": \"process "), "{}", sound.stdout);
    assert!(sound.stderr.contains("is in use by"), "{}", sound.stderr);
    let judged = bench.write("qrels.txt", format!("q00 0 {} 1\n", common::address(0)));
    let queries = bench.path("queries.tsv");
    let search = ["evaluate", "--store", text(&store), "--workload", &queries, "--qrels", &judged];
    assert!(done(&search).stdout.contains("nDCG@10"));
    let without = prospect(&["counterfactual", "--store", text(&store)]);
    assert!(without.stderr.contains("no plan with exploration is closed"), "{}", without.stderr);
    drop(held);
    // Nothing is written.
    let before = common::files(&store);
    assert_eq!((status().stdout, common::files(&store)), (free.stdout, before));
}

#[test]
fn what_steps_took_is_told_on_request_and_changes_nothing() {
    let bench = Bench::with_store();
    let store = bench.store();
    let verbose = done(&bench.plan_arguments(&store, &["--budget", "10", "-v"]));
    for step in ["tables of the store read", "models of the epoch fitted", "10 of ", "plan written"]
    {
        let told = |line: &&str| line.contains(" s, this ") && line.contains(step);
        assert_eq!(verbose.stderr.lines().filter(told).count(), 1, "{step}: {}", verbose.stderr);
    }
    let plain = done(&bench.plan_arguments(&store, &["--budget", "10"]));
    assert_eq!(verbose.stdout, plain.stdout);
    assert!(!plain.stderr.contains(" s, this "), "{}", plain.stderr);
    let both = bench.plan_arguments(&store, &["--budget", "10", "-v", "-q"]);
    assert!(prospect(&both).stderr.contains("--quiet"));
}

#[test]
fn pages_like_those_that_led_to_good_ones_are_planned_before_pages_that_led_nowhere() {
    const EACH: usize = 200;
    let bench = Bench::new();
    let store = bench.store();
    let record = |url: String, text: &str, links: Vec<String>| {
        let links: Vec<_> = links.iter().map(|url| serde_json::json!({"url": url})).collect();
        serde_json::json!({"url": url, "text": text, "outlinks": links}).to_string()
    };
    let list = |at| format!("https://a.example/list/{at}");
    let leaf = |at| format!("https://a.example/old/archive/of/leaf/{at}");
    let led_to = |kind, at| format!("https://a.example/{kind}/of/all/{at}");
    // Neither lists nor leaves answer a query. Lists lead to pages that do, leaves to pages that do not.
    let all = (0..EACH + 10).flat_map(|at| [list(at), leaf(at)]).collect();
    let home = record("https://a.example/".to_owned(), "home", all);
    let both = (0..EACH).flat_map(|at| {
        let of_list = record(list(at), "much of it", vec![led_to("x", at)]);
        [of_list, record(leaf(at), "little", vec![led_to("y", at)])]
    });
    let ends = (0..EACH).flat_map(|at| {
        let answer = record(led_to("x", at), &format!("about topic{}", at % 20), Vec::new());
        [answer, record(led_to("y", at), "nothing", Vec::new())]
    });
    for (name, records) in [("home", lines([home])), ("both", lines(both)), ("ends", lines(ends))] {
        done(&["ingest", "--store", text(&store), &bench.write(&format!("{name}.jsonl"), records)]);
    }
    let queries = lines((0..20).map(|at| format!("q{at}\ttopic{at}\t5")));
    let queries = bench.write("topics.tsv", queries);
    let plan = |without: &str| {
        let batch = ["--budget", "10", "--explore", "0", "--format", "jsonl", "--without", without];
        let plan = ["plan", "--store", text(&store), "--workload", &queries, "--release", "all"];
        rows(&done(&[&plan[..], &batch].concat()).stdout)
    };
    let batch = plan("quality");
    let of_lists = batch.iter().filter(|row| row["url"].as_str().unwrap().contains("/list/"));
    assert_eq!(of_lists.count(), 10, "{batch:?}");
    // A list led to one page of impact 5, which is above the mean.
    let discovery = batch[0]["discovery_impact"].as_f64().unwrap();
    assert!((2.0..5.0).contains(&discovery), "{discovery}");
    let without = plan("discovery");
    assert!(without.iter().all(|row| row["discovery_impact"] == 0.0), "{without:?}");

    // The planned lists lead to pages that answer better than all others.
    let planned = plan("quality");
    let expected: f64 = planned.iter().map(|row| row["discovery_impact"].as_f64().unwrap()).sum();
    let lists = (EACH..EACH + 10).map(|at| record(list(at), "more", vec![led_to("x", at)]));
    let better = (EACH..EACH + 10)
        .map(|at| record(led_to("x", at), &format!("topic{}", at % 20), Vec::new()));
    let others = (0..EACH).map(|at| record(format!("https://b.example/{at}"), "else", Vec::new()));
    let (lists, more) = (lines(lists), lines(better.chain(others)));
    let close = |name: &str, records| {
        let file = bench.write(name, records);
        json(&["ingest", "--close", "--store", text(&store), &file], "prospect.ingest/3")
    };
    assert_eq!(close("lists.jsonl", lists)["closed"][0]["fetched"], 10);
    plan("quality");
    let closed = close("more.jsonl", more);
    let led_to = &closed["closed"][0]["settled"][0]["led_to"];
    let of = |name: &str| led_to[name].as_f64().unwrap();
    // A third of what the parts say, before it is known what came of earlier ones.
    assert!((3.0 * of("predicted") - expected).abs() < 1e-6 * expected, "{led_to}");
    // Ten pages, each the best for a query that is asked five times, less what the mean page has.
    assert!((40.0..50.0).contains(&of("realised")), "{led_to}");
    let said = done(&["status", "--store", text(&store)]).stdout;
    assert!(
        said.contains("what their pages led to by then, above the mean page, the last 1: "),
        "{said}"
    );
}

/// Records of a cycle with the times of their fetches: a page that is new in each, and one URL that fails.
fn archive(cycle: usize) -> String {
    let time = format!("2026-11-{:02}T06:00:00Z", cycle + 1);
    let mut page: serde_json::Value = serde_json::from_str(&page(200 + cycle)).unwrap();
    page["fetched_at"] = time.clone().into();
    let news = serde_json::json!({"url": "https://a.test/news", "title": "topic", "text": time, "fetched_at": time});
    let failed =
        serde_json::json!({"url": "https://a.test/busy", "status": 500, "fetched_at": time});
    let failed = if cycle == 0 { failed } else { news.clone() };
    lines([page, news, failed].map(|record| record.to_string()))
}

#[test]
fn archives_that_are_named_again_were_fetched_once() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let mut archives: Vec<String> = Vec::new();
    for cycle in 0..5 {
        archives.push(bench.write(&format!("crawl-{cycle}.jsonl"), archive(cycle)));
        // As a pattern puts them: all that there are, and not in the order of time.
        let all = archives.iter().rev().map(String::as_str);
        let arguments: Vec<&str> = ["ingest", "--store", &store].into_iter().chain(all).collect();
        let told = json(&arguments, "prospect.ingest/3");
        assert_eq!(told["counts"]["again"], 3 * cycle, "{told}");
        assert_eq!(told["counts"]["failed"], usize::from(cycle == 0), "{told}");
    }
    let explain = ["explain", "--store", &store, "https://a.test/busy"];
    let told = done(&explain).stdout;
    assert!(told.contains("its fetch failed with status 500"), "{told}");
    assert!(!told.contains("given up"), "{told}");
    assert!(told.contains("1 of 4 tries") || !told.contains("tries"), "{told}");
    // The news of the last day stay.
    let exported = done(&["export", "--store", &store, "--format", "pages", "--out", "-"]).stdout;
    let news = exported.lines().find(|line| line.contains("https://a.test/news")).unwrap();
    assert!(news.contains("2026-11-05T06:00:00Z"), "{news}");
    // What says nothing of its time is a try each time.
    let untimed = bench.write("untimed.jsonl", common::failure("https://a.test/late", 500) + "\n");
    let more = bench.write("more.jsonl", page(300) + "\n");
    for _ in 0..2 {
        done(&["ingest", "--store", &store, &untimed]);
        done(&["ingest", "--store", &store, &more]);
    }
    let told = json(&["ingest", "--store", &store, &archives[0]], "prospect.ingest/3");
    assert_eq!(
        (told["counts"]["again"].as_u64(), told["stored"].as_bool()),
        (Some(3), Some(false))
    );
    let told = done(&["ingest", "--store", &store, &archives[0]]).stderr;
    assert!(told.contains("passed over: 3 records, stored before"), "{told}");
}

#[test]
fn every_url_that_is_left_out_counts_once_and_queries_without_words_are_told() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let first = urls(&bench.plan(&bench.store(), &[]).0);
    let failed = bench.write("failed.jsonl", common::failure(&first[0], 500) + "\n");
    done(&["ingest", "--store", &store, "--close", &failed]);
    let queries = fs::read_to_string(bench.path("queries.tsv")).unwrap();
    let queries = bench.write("odd.tsv", queries + "none\t!!!\t3\n");
    let options = ["--budget", "9", "--include", "nothing", "--json"];
    let run = done(&[&["plan", "--store", &store, "--workload", &queries][..], &options].concat());
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let counts = told["left_out"].as_object().unwrap();
    let all = counts
        .iter()
        .filter(|(name, _)| *name != "known")
        .map(|(_, count)| count.as_u64().unwrap());
    let status = json(&["status", "--store", &store], "prospect.status/3");
    let all: u64 = all.sum();
    assert_eq!((&counts["waiting"], &counts["out_of_scope"]), (&0.into(), &all.into()), "{told}");
    assert_eq!(Some(all), status["frontier"].as_u64(), "{told} {status}");
    // An empty plan leaves the store without a scope.
    let parts = ["/plannable", "/in_flight", "/out_of_scope", "/other_spelling", "/waits/waiting"];
    let parts = parts.map(|part| status.pointer(part).unwrap().as_u64().unwrap());
    assert_eq!(parts, [all - 1, 0, 0, 0, 1], "{status}");
    let host = first[1].split('/').nth(2).unwrap();
    let options = ["--budget", "2", "--hosts", host, "--json"];
    done(&[&["plan", "--store", &store, "--workload", &queries][..], &options].concat());
    let status = json(&["status", "--store", &store], "prospect.status/3");
    let of = |part: &str| status.pointer(part).unwrap().as_u64().unwrap();
    let waiting = u64::from(first[0].contains(host));
    assert_eq!((of("/in_flight"), of("/waits/waiting")), (2, waiting), "{status}");
    assert!(of("/out_of_scope") > 0, "{status}");
    assert_eq!(of("/plannable") + of("/in_flight") + of("/out_of_scope") + waiting, all);
    let told = done(&["status", "--store", &store]).stdout;
    assert!(told.contains("URLs that are not planned now: 2 in flight, "), "{told}");
    assert!(
        run.stderr.contains("queries without a word to search for: 1, the first is \"none\""),
        "{}",
        run.stderr
    );
}

#[test]
fn what_was_expected_of_a_plan_is_what_it_could_know() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let plan = |options: &[&str]| -> serde_json::Value {
        let arguments = bench.plan_arguments(&bench.store(), &["--budget", "20"]);
        let fixed = arguments.iter().map(String::as_str);
        let arguments: Vec<&str> = fixed.chain(options.iter().copied()).collect();
        json(&arguments, "prospect.plan/3")
    };
    let plans = [plan(&[]), plan(&["--another"])];
    // The second comes first.
    let mut at_close = Vec::new();
    for of in plans.iter().rev() {
        let urls = of["urls"].as_array().unwrap().iter();
        let pages = urls.map(|row| page(common::page_at(row["url"].as_str().unwrap())));
        let file = bench.write("fetched.jsonl", lines(pages));
        let told = json(&["ingest", "--store", &store, &file], "prospect.ingest/3");
        at_close.extend(told["closed"].as_array().unwrap().iter().cloned());
    }
    assert_eq!(at_close.len(), 2);
    let log = json(&["log", "--store", &store], "prospect.log/1");
    for of in &plans {
        let said = &of["expected_impact"]["enters"];
        let id = &of["plan_id"];
        let closed =
            log["plans"].as_array().unwrap().iter().find(|plan| plan["plan_id"] == *id).unwrap();
        let told = &closed["enters"];
        assert!(told["realised"].is_number(), "{closed}");
        let before = at_close.iter().find(|plan| plan["plan_id"] == *id).unwrap();
        assert_eq!(before["enters"], *told, "the close and the log agree");
        assert_eq!((&said["cycles"], &told["cycles"]), (&0.into(), &0.into()), "{closed}");
        let [said, told] = [said, told].map(|of| of["predicted"].as_f64().unwrap());
        assert!((said - told).abs() < 0.1 * said, "{said} {told}");
    }
}
