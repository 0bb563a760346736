//! Pages change, and are fetched again.
//!
//! Story: a small site has news on a few pages and the same text as ever on the others. Its crawler comes once a
//! day, and half of what it may fetch is for pages that it has. It learns which of them change, tells how many it
//! expected, stores what is new and only that, and leaves alone what is out of scope, refused or busy.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::{assert_sound, done, prospect, text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Pages of the site.
const PAGES: usize = 40;
/// Every so many have news every day.
const NEWS: usize = 8;

fn url(page: usize) -> String {
    format!(
        "https://site.example/{}/{page}",
        if page.is_multiple_of(NEWS) { "news" } else { "old" }
    )
}

/// A page as it is on a day.
fn record(page: usize, day: usize) -> Value {
    let day_of_text = if page.is_multiple_of(NEWS) { day } else { 0 };
    let links = (1..=4).map(|step| (page * 7 + step) % (2 * PAGES));
    let links: Vec<Value> = links
        .map(|to| json!({"url": url(to), "anchor": format!("topic{} page", to % 12)}))
        .collect();
    json!({
        "url": url(page),
        "title": format!("Page {page}"),
        "text": format!("topic{} and topic{} on day {day_of_text}", page % 12, page % 5),
        "outlinks": links,
        "fetched_at": format!("2026-10-{:02}T06:00:00Z", day + 1),
    })
}

struct Site {
    dir: TempDir,
}

impl Site {
    fn new() -> Self {
        let site = Self { dir: tempfile::tempdir().unwrap() };
        let queries = (0..12).map(|topic| format!("q{topic}\ttopic{topic}\t{}\n", 1 + topic % 3));
        fs::write(site.path("queries.tsv"), queries.collect::<String>()).unwrap();
        site.ingest((0..PAGES).map(|page| record(page, 0)), &[]);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn plan(&self, options: &[&str]) -> Vec<Value> {
        let (store, queries) = (self.path("store"), self.path("queries.tsv"));
        let fixed =
            ["plan", "--store", text(&store), "--workload", text(&queries), "--budget", "16"];
        let said = done(&[&fixed[..], options].concat()).stdout;
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ingests records, as JSON.
    fn ingest(&self, records: impl Iterator<Item = Value>, options: &[&str]) -> Value {
        let lines = records.map(|record| record.to_string() + "\n").collect::<String>();
        fs::write(self.path("records.jsonl"), lines).unwrap();
        let (store, file) = (self.path("store"), self.path("records.jsonl"));
        let fixed = ["ingest", "--json", "--store", text(&store), text(&file)];
        serde_json::from_str(&done(&[&fixed[..], options].concat()).stdout).unwrap()
    }

    /// What a crawler brings of a batch.
    fn fetch(&self, batch: &[Value], day: usize) -> Value {
        let fetched = batch.iter().map(|pick| record(page_of(pick), day));
        self.ingest(fetched.collect::<Vec<_>>().into_iter(), &[])
    }
}

fn page_of(pick: &Value) -> usize {
    pick["url"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap()
}

fn is_again(pick: &Value) -> bool {
    pick["pool"] == "revisit"
}

#[test]
fn half_of_each_batch_finds_what_changed() {
    let site = Site::new();
    let mut known: BTreeSet<usize> = (0..PAGES).collect();
    let mut visits: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut came, mut changed, mut expected) = (0, 0, 0.0);
    for day in 1..=9 {
        let batch = site.plan(&["--revisit", "0.5", "--explore", "0"]);
        let again: Vec<&Value> = batch.iter().filter(|pick| is_again(pick)).collect();
        assert_eq!(again.len(), 8.max(16 - batch.iter().filter(|pick| !is_again(pick)).count()));
        for (place, pick) in batch.iter().enumerate() {
            assert_eq!(known.contains(&page_of(pick)), is_again(pick), "day {day}, {place}");
            assert_eq!(pick["revisit"].is_object(), is_again(pick));
        }
        for pick in again {
            let chance = pick["revisit"]["chance"].as_f64().unwrap();
            // On the first day nothing has had time to change.
            assert!((chance > 0.0) == (day > 1) && chance < 1.0, "day {day}: {chance}");
            assert!(pick["revisit"]["impact"].as_f64() > Some(0.0));
            *visits.entry(page_of(pick)).or_default() += 1;
        }
        let told = site.fetch(&batch, day);
        known.extend(batch.iter().map(page_of));
        let closed = &told["closed"][0];
        assert_eq!((&closed["fetched"], &closed["unknown"]), (&json!(batch.len()), &json!(0)));
        let revisits = &closed["revisits"];
        assert_eq!(
            (&revisits["fetched"], &revisits["changed"]),
            (&closed["again"], &closed["changed"])
        );
        // What did not change is not stored again.
        let unchanged =
            revisits["fetched"].as_u64().unwrap() - revisits["changed"].as_u64().unwrap();
        assert_eq!(told["counts"]["unchanged"], unchanged);
        assert_eq!(told["counts"]["replaced"], revisits["changed"]);
        if day > 3 {
            came += revisits["fetched"].as_u64().unwrap();
            changed += revisits["changed"].as_u64().unwrap();
            expected += revisits["expected_changed"].as_f64().unwrap();
        }
    }
    let mean = |news: bool| {
        let of = (0..PAGES).filter(|page| page.is_multiple_of(NEWS) == news);
        let of: Vec<usize> = of.map(|page| visits.get(&page).copied().unwrap_or(0)).collect();
        of.iter().sum::<usize>() as f64 / of.len() as f64
    };
    assert!(mean(true) > 1.4 * mean(false), "news is visited more: {} {}", mean(true), mean(false));
    assert!(
        (expected / changed as f64 - 1.0).abs() < 0.5,
        "{changed} of {came}, {expected} expected"
    );
    let store = site.path("store");
    let status = done(&["status", "--store", text(&store)]).stdout;
    assert!(status.contains("pages that were fetched again: "), "{status}");
    assert_sound(&store);
}

#[test]
fn nothing_is_fetched_again_unless_asked_for() {
    let site = Site::new();
    let plain = site.plan(&[]);
    assert!(plain.iter().all(|pick| !is_again(pick) && page_of(pick) >= PAGES));
    let none = site.plan(&["--revisit", "0"]);
    assert_eq!(plain, none, "that is the default");
    // Nothing is known of changes yet, and a day has not passed.
    let auto = site.plan(&["--revisit", "auto", "--another", "--release", "all"]);
    assert!(
        auto.iter().all(|pick| !is_again(pick) || pick["revisit"]["chance"].as_f64() < Some(0.01))
    );
}

#[test]
fn all_competes_with_all_where_nobody_says_how_much() {
    let site = Site::new();
    for day in 1..=4 {
        let batch = site.plan(&["--revisit", "1", "--explore", "0"]);
        assert!(batch.iter().all(is_again), "all of it");
        site.fetch(&batch, day);
    }
    // News is known by now. It counts for more than URLs that no query has to do with, and for less than those that
    // fill empty lists.
    let links =
        (0..20).map(|to| json!({"url": format!("https://other.example/{to}"), "anchor": "x"}));
    let late = json!({
        "url": "https://other.example/",
        "text": "x",
        "outlinks": links.collect::<Vec<_>>(),
        "fetched_at": "2026-10-07T06:00:00Z",
    });
    site.ingest([late].into_iter(), &[]);
    let batch = site.plan(&["--revisit", "auto", "--explore", "0"]);
    assert!(!batch.iter().any(is_again), "{batch:?}");
    let batch = site.plan(&[
        "--revisit",
        "auto",
        "--explore",
        "0",
        "--exclude",
        "site.example/[a-z]+/[4-7][0-9]",
    ]);
    let again: Vec<usize> = batch.iter().filter(|pick| is_again(pick)).map(page_of).collect();
    assert!((1..16).contains(&again.len()), "{batch:?}");
    let estimates: Vec<f64> = batch.iter().map(|pick| pick["estimate"].as_f64().unwrap()).collect();
    let new = batch.iter().zip(&estimates).filter(|(pick, _)| !is_again(pick)).map(|(_, e)| *e);
    let new: Vec<f64> = new.collect();
    assert!(new.is_sorted_by(|a, b| a >= b), "new URLs are in their order: {new:?}");
    let (store, first) = (site.path("store"), url(again[0]));
    let told = done(&["explain", "--store", text(&store), &first]).stdout;
    assert!(told.contains("to fetch it again: rank 1 of "), "{told}");
    let threads =
        |count: &str| site.plan(&["--revisit", "auto", "--explore", "0", "--threads", count]);
    assert_eq!(threads("1"), threads("2"));
    // An impact that is expected of new URLs has the same estimate as one that a visit brings.
    let told = done(&["explain", "--json", "--store", text(&store), &first]).stdout;
    let again: Value = serde_json::from_str::<Value>(&told).unwrap()["revisit"].take();
    let number = |of: &Value| of.as_f64().unwrap();
    let queries = site.path("queries.tsv");
    let options = ["--budget", "16", "--explore", "0", "--another", "--release", "all", "--json"];
    let store = ["plan", "--store", text(&store), "--workload", text(&queries)];
    let new: Value = serde_json::from_str(&done(&[&store[..], &options].concat()).stdout).unwrap();
    let picks = new["urls"].as_array().unwrap();
    let estimates: f64 = picks.iter().map(|pick| number(&pick["estimate"])).sum();
    let come = number(&new["expected_pages"]) / picks.len() as f64;
    let impact = number(&new["expected_impact"]["enters"]["predicted"]);
    let (found, right) =
        (number(&again["estimate"]) / number(&again["value"]), estimates / (come * impact));
    assert!((found / right - 1.0).abs() < 1e-9, "{found} {right}");
}

#[test]
fn what_is_refused_busy_gone_in_flight_or_out_of_scope_is_left_alone() {
    let site = Site::new();
    let again = ["--revisit", "1", "--explore", "0"];
    let first = site.plan(&[&again[..], &["--exclude", "/news/"]].concat());
    assert!(first.iter().all(|pick| !page_of(pick).is_multiple_of(NEWS)), "out of scope");
    let other = site.plan(&[&again[..], &["--another"]].concat());
    let (first_pages, other_pages): (BTreeSet<usize>, BTreeSet<usize>) =
        (first.iter().map(page_of).collect(), other.iter().map(page_of).collect());
    assert!(first_pages.is_disjoint(&other_pages), "in flight");
    // Of the first batch one is busy, one refused, one gone, one told to be the same, the rest comes.
    let fate = |at: usize, pick: &Value| {
        let page = page_of(pick);
        let failed = |status: u16| json!({"url": url(page), "status": status, "fetched_at": "2026-10-02T06:00:00Z"});
        match at {
            0 => failed(503),
            1 => failed(403),
            2 => failed(404),
            3 => failed(304),
            _ => record(page, 1),
        }
    };
    let told = site.ingest(first.iter().enumerate().map(|(at, pick)| fate(at, pick)), &[]);
    let closed = &told["closed"][0];
    let planned = first.len();
    assert_eq!(
        (&closed["failed"], &closed["fetched"]),
        (&json!(3), &json!(planned - 3)),
        "{closed}"
    );
    assert_eq!(closed["changed"], 0);
    let pages = |cycle: usize, batch: &[Value]| {
        let next = site.plan(&again);
        let fetched = batch.iter().map(|pick| record(page_of(pick), cycle));
        site.ingest(fetched.collect::<Vec<_>>().into_iter(), &[]);
        next.iter().map(page_of).collect::<BTreeSet<usize>>()
    };
    let [busy, refused, gone] = [0, 1, 2].map(|at| page_of(&first[at]));
    let mut seen = BTreeSet::new();
    seen.extend(pages(2, &other));
    for cycle in 3..8 {
        let batch = site.plan(&again);
        seen.extend(batch.iter().map(page_of));
        site.fetch(&batch, cycle);
    }
    assert!(!seen.contains(&refused) && !seen.contains(&gone), "{seen:?}");
    assert!(seen.contains(&busy), "who was busy is asked again: {seen:?}");
    assert_sound(&site.path("store"));
}

#[test]
fn a_page_that_leads_to_another_one_is_not_asked_for_again_and_is_told() {
    let site = Site::new();
    let again = ["--revisit", "1", "--explore", "0"];
    let first = page_of(&site.plan(&again)[0]);
    let elsewhere = if first == 1 { 2 } else { 1 };
    let mut moved = record(elsewhere, 1);
    moved["requested_url"] = json!(url(first));
    site.ingest([moved].into_iter(), &["--close"]);
    for day in 2..5 {
        let batch = site.plan(&again);
        assert!(!batch.is_empty() && !batch.iter().any(|pick| page_of_site(pick) == Some(first)));
        let came = batch.iter().filter_map(page_of_site).map(|page| record(page, day));
        site.ingest(came.collect::<Vec<_>>().into_iter(), &["--close"]);
    }
    site.plan(&again);
    let store = site.path("store");
    let told = done(&["explain", "--store", text(&store), &url(first)]).stdout;
    assert!(
        told.contains("it did not come when it was asked for again, or led elsewhere"),
        "{told}"
    );
    let told = done(&["status", "--store", text(&store)]).stdout;
    assert!(told.contains("1 fetched page that did not come again"), "{told}");
}

#[test]
fn a_page_that_has_moved_for_good_is_in_lists_by_its_new_address_only() {
    let site = Site::new();
    let asked = |mut page: Value, url: String, by: String| {
        page["url"] = json!(url);
        page["requested_url"] = json!(by);
        page
    };
    // All addresses of the site are others now, and what a page says is not what it said; a page has another name; and
    // one is behind a form that asks who one is.
    let safe = url(1).replace("https://site", "http://www.site");
    let mut of_safe = record(1, 1);
    of_safe["text"] = json!("topic1 and topic1 again");
    let renamed = "https://site.example/named".to_owned();
    let form = "https://site.example/login?next=3".to_owned();
    let mut of_form = record(3, 1);
    of_form["text"] = json!("Your name, and topic3");
    let records = [
        asked(of_safe, safe.clone(), url(1)),
        asked(record(2, 1), renamed.clone(), url(2)),
        asked(of_form, form.clone(), url(3)),
    ];
    site.ingest(records.into_iter(), &[]);
    site.plan(&[]);
    let store = site.path("store");
    let served = |query: &str| -> BTreeSet<String> {
        let told = done(&["explain", "--json", "--store", text(&store), "--query", query]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        let served = told["served"].as_array().unwrap();
        served.iter().map(|place| place["url"].as_str().unwrap().to_owned()).collect()
    };
    let lists: Vec<BTreeSet<String>> = (1..=3).map(|topic| served(&format!("q{topic}"))).collect();
    assert!(lists[0].contains(&safe) && !lists[0].contains(&url(1)), "{:?}", lists[0]);
    assert!(lists[1].contains(&renamed) && !lists[1].contains(&url(2)), "{:?}", lists[1]);
    assert!(lists[2].contains(&form) && lists[2].contains(&url(3)), "{:?}", lists[2]);
    let told = done(&["explain", "--store", text(&store), &url(2)]).stdout;
    assert!(told.contains(&renamed), "{told}");
    // What all pages of a section are told to be, which say other things, is one of them at most.
    let section = "https://site.example/section".to_owned();
    let told = [5, 6, 7].map(|page| asked(record(page, 1), section.clone(), url(page)));
    let counts = site.ingest(told.into_iter(), &[]);
    assert_eq!((&counts["counts"]["replaced"], &counts["pages"]), (&json!(1), &json!(41)));
    // As it is told once more, nothing happens.
    let counts = site.ingest([asked(record(2, 1), renamed, url(2))].into_iter(), &[]);
    assert_eq!(counts["stored"], false, "{counts}");
    assert_sound(&store);
}

/// The number of a page, if it is one of the site.
fn page_of_site(pick: &Value) -> Option<usize> {
    pick["url"].as_str().unwrap().rsplit('/').next().unwrap().parse().ok()
}

#[test]
fn a_page_that_is_busy_for_long_is_asked_again_all_the_same() {
    let site = Site::new();
    let again = ["--revisit", "1", "--explore", "0"];
    let busy = page_of(&site.plan(&again)[0]);
    let mut asked = 0;
    for cycle in 1..60 {
        let batch = site.plan(&again);
        let fate = |pick: &Value| match page_of(pick) {
            page if page == busy => json!({"url": url(busy), "status": 503}),
            page => json!({"url": url(page), "status": 304, "fetched_at":
                format!("2026-{:02}-{:02}T06:00:00Z", 10 + cycle / 28, 1 + cycle % 28)}),
        };
        asked += batch.iter().filter(|pick| page_of(pick) == busy).count();
        let records: Vec<Value> = batch.iter().map(fate).collect();
        site.ingest(records.into_iter(), &["--close"]);
    }
    assert!((5..=7).contains(&asked), "after 1, 3, 7, 15, 31 cycles: {asked}");
}

#[test]
fn where_nothing_is_new_the_whole_batch_is_for_pages() {
    let site = Site::new();
    // All that was linked.
    site.ingest((PAGES..2 * PAGES).map(|page| record(page, 0)), &["--close"]);
    let batch = site.plan(&["--revisit", "auto", "--explore", "0"]);
    assert_eq!((batch.len(), batch.iter().filter(|pick| is_again(pick)).count()), (16, 16));
}

#[test]
fn a_share_is_of_the_whole_batch_also_where_some_is_drawn() {
    let site = Site::new();
    for (explore, least) in [("0", 4), ("0.25", 4), ("0.5", 4)] {
        let batch = site.plan(&["--revisit", "0.25", "--explore", explore, "--another"]);
        let again = batch.iter().filter(|pick| is_again(pick)).count();
        assert_eq!(again, least, "{explore}");
    }
}

#[test]
fn what_is_kept_does_not_change_a_plan_after_pages_changed_twice() {
    let site = Site::new();
    let plan = ["--revisit", "0", "--explore", "0"];
    site.plan(&plan);
    // Three pages are less than a tenth: the statistics stay. Their links go with the second version.
    let without_links = |page: usize| {
        let mut record = record(page, 9);
        record["outlinks"] = json!([]);
        record["text"] = json!(format!("topic{} no more", page % 12));
        record
    };
    let changed = |page: usize| {
        let mut record = record(page, 8);
        record["text"] = json!(format!("topic{} for now", page % 12));
        record
    };
    site.ingest([1, 2, 3].into_iter().map(changed), &["--close"]);
    site.plan(&plan);
    site.ingest([1, 2, 3].into_iter().map(without_links), &["--close"]);
    let copy = site.path("copy");
    common::copy(&site.path("store"), &copy);
    fs::remove_dir_all(copy.join("derived")).unwrap();
    let queries = site.path("queries.tsv");
    let anew = ["plan", "--store", text(&copy), "--workload", text(&queries), "--budget", "16"];
    let anew = done(&[&anew[..], &plan].concat()).stdout;
    let kept: Vec<Value> = anew.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(site.plan(&plan), kept);
}

/// A site of which a few pages change often, and all on one day.
fn changes(site: &Site) -> (PathBuf, PathBuf) {
    let pages = (0..PAGES).map(|page| record(page, 0).to_string() + "\n").collect::<String>();
    let mut lines = "url\tday\tkind\n".to_owned();
    for page in 0..PAGES {
        let often = if page.is_multiple_of(NEWS) { 5 } else { 90 };
        let days = (0..200).filter(|day| (day + page) % often == 0 || *day == 0 || *day == 120);
        days.for_each(|day| lines += &format!("{}\t{}\tchanged\n", url(page), 18_000 + day));
    }
    fs::write(site.path("pages.jsonl"), pages).unwrap();
    fs::write(site.path("changes.tsv"), lines).unwrap();
    (site.path("pages.jsonl"), site.path("changes.tsv"))
}

fn simulated(site: &Site, (pages, changes): (&Path, &Path), options: &[&str]) -> common::Run {
    let (queries, out) = (site.path("queries.tsv"), site.path("out"));
    let fixed = [
        "simulate",
        "--changes",
        text(changes),
        "--corpus",
        text(pages),
        "--workload",
        text(&queries),
        "--out",
        text(&out),
    ];
    prospect(&[&fixed[..], options].concat())
}

#[test]
fn policies_of_re_visits_are_compared_on_a_file_of_changes() {
    let site = Site::new();
    let (pages, changes) = changes(&site);
    let run = simulated(&site, (&pages, &changes), &["--batch", "5%", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["schema"], "prospect.revisits/1");
    let of = |policy: &str| {
        let all = found["policies"].as_array().unwrap().iter();
        let found = all.clone().find(|result| result["policy"] == policy).unwrap();
        found["current"].as_f64().unwrap()
    };
    assert!(of("oracle") > of("prospect") && of("prospect") > of("uniform"), "{found}");
    assert!(of("uniform") > of("none") && of("prospect") > of("myopic"));
    let curve = fs::read_to_string(site.path("out").join("revisits.csv")).unwrap();
    assert_eq!(curve.lines().count(), 201);
    let again =
        simulated(&site, (&pages, &changes), &["--batch", "5%", "--json", "--threads", "1"]);
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn a_file_of_changes_that_cannot_be_read_is_named_with_its_line() {
    let site = Site::new();
    let (pages, changes) = changes(&site);
    let refused = |content: &str, expected: &str| {
        fs::write(&changes, content).unwrap();
        let run = simulated(&site, (&pages, &changes), &[]);
        assert!(run.code == Some(1) && run.stderr.contains(expected), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    };
    refused(&format!("{}\t2020-01-01\n{}\tsoon\n", url(1), url(2)), "changes.tsv:2: ");
    refused("https://elsewhere.example/\t18000\n", "no page of the collection");
    fs::write(&changes, format!("{}\t2020-01-01\n", url(1))).unwrap();
    let run = simulated(&site, (&pages, &changes), &["--policy", "bfs"]);
    assert!(run.stderr.contains("there is no policy of re-visits \"bfs\""), "{}", run.stderr);
}

#[test]
fn what_a_batch_brings_by_page_is_of_its_new_pages() {
    let site = Site::new();
    let told = |revisit: &str| -> Value {
        let (store, queries) = (site.path("store"), site.path("queries.tsv"));
        let fixed =
            ["plan", "--store", text(&store), "--workload", text(&queries), "--budget", "16"];
        let options = ["--release", "all", "--json", "--revisit", revisit];
        serde_json::from_str(&done(&[&fixed[..], &options].concat()).stdout).unwrap()
    };
    for (revisit, wanted) in [("0", 16), ("0.5", 8)] {
        let plan = told(revisit);
        let urls = plan["urls"].as_array().unwrap().iter();
        let new = urls.filter(|url| url["pool"] != "revisit").count();
        assert_eq!(new, wanted, "{plan}");
        let impact = plan["expected_impact"]["enters"]["predicted"].as_f64().unwrap();
        let by_page = plan["sufficiency"]["gain"]["per_page"].as_f64().unwrap();
        assert!((by_page * new as f64 - impact).abs() < 1e-9 * impact, "{by_page} {new} {impact}");
    }
}

/// Story: a plan with re-visits and `exclude-hosts` in its scenario asked for pages of that host, and `explain` did not know
/// that they were picked.
#[test]
fn a_host_that_is_left_out_is_not_fetched_again_either() {
    let site = Site::new();
    let scenario = site.path("scenario.toml");
    let best = site.plan(&["--revisit", "0.5", "--explore", "0"]);
    let best = best.iter().find(|pick| !is_again(pick)).unwrap()["url"].clone();
    let other = format!("[[scenario]]\nname = \"other\"\nbudget = 3\nfetched = [{best}]\n");
    fs::write(
        &scenario,
        format!("[[scenario]]\nname = \"none\"\nexclude-hosts = [\"site.example\"]\n{other}"),
    )
    .unwrap();
    let (store, scenario) = (site.path("store"), text(&scenario).to_owned());
    let named = |name: &str| {
        let asked =
            ["whatif", "--json", "--store", text(&store), "--scenario", &scenario, "--name", name];
        let told: Value = serde_json::from_str(&done(&asked).stdout).unwrap();
        let scenarios = told["scenarios"].as_array().unwrap().clone();
        assert_eq!((scenarios.len(), &scenarios[0]["name"]), (1, &json!(name)));
        scenarios[0]["plan"].clone()
    };
    assert_eq!(named("none")["picks"], 0);
    assert_eq!(named("other")["picks"], 3);
    let unknown = ["whatif", "--store", text(&store), "--scenario", &scenario, "--name", "x"];
    let refused = prospect(&unknown);
    assert!(refused.stderr.contains("it has no scenario \"x\""), "{}", refused.stderr);
    let carried = ["plan", "--store", text(&store), "--scenario", &scenario, "--name", "other"];
    let carried = done(&carried).stdout;
    for pick in carried.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let url = pick["url"].as_str().unwrap();
        let told = done(&["explain", "--json", "--store", text(&store), url]).stdout;
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["pool"], pick["pool"], "{pick}");
    }
}

/// Story: where pages are fetched again, the points of a curve against time had as many URLs as the plan at most.
#[test]
fn a_curve_against_time_comes_true_where_pages_are_fetched_again() {
    let site = Site::new();
    // There is time for it, and no list has it.
    let other = json!({"url": "https://other.example/", "text": "x", "outlinks": []});
    site.ingest([other].into_iter(), &[]);
    let (store, queries) = (site.path("store"), site.path("queries.tsv"));
    let options = ["--seconds", "16", "--delay", "2", "--revisit", "0.25", "--explore", "0"];
    let plan = ["plan", "--store", text(&store), "--workload", text(&queries)];
    assert_eq!(done(&[&plan[..], &options].concat()).stdout.lines().count(), 8);
    let whatif = |options: &[&str]| {
        let asked = [&["whatif", "--json", "--store", text(&store)], options].concat();
        serde_json::from_str::<Value>(&done(&asked).stdout).unwrap()
    };
    let told = whatif(&["--scale", "topic=2"]);
    let points = told["base"]["time"]["points"].as_array().unwrap();
    let urls: Vec<u64> = points.iter().map(|point| point["urls"].as_u64().unwrap()).collect();
    assert_eq!(urls, [0, 2, 4, 8, 16, 32]);
    let longer = &whatif(&["--seconds", "32"])["scenarios"][0]["plan"];
    let impact = &longer["expected_impact"]["enters"]["predicted"];
    assert_eq!((&longer["picks"], impact), (&points[4]["urls"], &points[4]["impact"]));
}
