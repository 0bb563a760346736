//! Attacks on simulated crawls: what an attacker adds to a collection, and that what it got is
//! told as it was, held against the same computed the long way.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::{Bench, PAGES, command, done, files};
use prospect::ingest::SourceOptions;
use prospect::simulate::added::AddedPages;
use prospect::simulate::attack::{Attack, AttackError, AttackKind, Victim};
use prospect::simulate::collection::{Collection, Outside};
use prospect::simulate::load::{self, Keep, PagePlace};
use prospect::workload::{self, Workload};
use prospect_index::ingest::LinkView;
use prospect_index::ingest::PreparedPage;
use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::words::words;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use simulation::{Reference, SMALL, arguments, bench, order, simulated, summary};

/// Share of the attacked collection that attackers own here: 33 pages beside 300.
const SHARE: f64 = 0.1;
const OWNED: usize = 33;
const SEED: u64 = 1;

/// The honest collection and the queries that attackers know.
struct Honest {
    bench: Bench,
    collection: Collection,
    workload: Workload,
}

static HONEST: LazyLock<Honest> = LazyLock::new(|| {
    let bench = bench();
    let collection = loaded(&bench, "honest", &AddedPages::default());
    let workload = workload::load(Path::new(&bench.path("queries.tsv"))).unwrap().for_planning();
    Honest { bench, collection, workload }
});

fn loaded(bench: &Bench, place: &str, added: &AddedPages) -> Collection {
    let corpus = [bench.path("pages.jsonl").into()];
    let place = PagePlace::below(Path::new(&bench.path(place)), Keep::default());
    let options = SourceOptions::default();
    load::from_corpus(&corpus, &options, &place, Outside::Drop, added, |_, _| {}).unwrap().0
}

fn attack_with(kind: AttackKind, share: f64, seed: u64) -> Result<Attack, AttackError> {
    let Honest { collection, workload, .. } = &*HONEST;
    Attack::new(kind, &Victim { collection, planning: workload, evaluation: workload }, share, seed)
}

fn attack(kind: AttackKind) -> Attack {
    attack_with(kind, SHARE, SEED).unwrap()
}

/// By page of the attacker: all anchors that lead to it.
fn anchors(attack: &Attack) -> BTreeMap<String, Vec<String>> {
    let of_pages = attack.added.pages.iter().flat_map(PreparedPage::links);
    let of_pages = of_pages.map(|link| (link.url.to_owned(), link.anchor.to_owned()));
    let comments = attack.added.links.values().flatten();
    let comments = comments.map(|link| (link.url.clone(), link.anchor.clone()));
    let mut anchors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (to, anchor) in of_pages.chain(comments) {
        anchors.entry(to).or_default().push(anchor);
    }
    anchors
}

/// Whether `text` has the words of `query` in a row.
fn holds(text: &str, query: &[String]) -> bool {
    words(text).windows(query.len()).any(|row| row == query)
}

/// Queries that one of the texts holds.
fn held(texts: &[String]) -> usize {
    let queries = HONEST.workload.queries.iter();
    queries.filter(|query| texts.iter().any(|text| holds(text, &query.words))).count()
}

#[test]
fn an_attacker_owns_its_share_and_is_found_from_as_many_honest_pages() {
    for kind in AttackKind::ALL {
        let AddedPages { pages, links } = attack(kind).added;
        let own: BTreeSet<String> = pages.iter().map(|page| page.url().0.to_owned()).collect();
        assert_eq!((pages.len(), own.len(), links.len()), (OWNED, OWNED, OWNED), "{kind:?}");
        assert!(own.iter().all(|url| HONEST.collection.page(url).is_none()), "{kind:?}");
        assert!(links.keys().all(|url| HONEST.collection.page(url).is_some()), "{kind:?}");
        assert!(links.values().all(|links| links.len() == 1), "one comment a page");
        let next: BTreeMap<&str, Vec<&str>> = pages
            .iter()
            .map(|page| (page.url().0, page.links().map(|link| link.url).collect()))
            .collect();
        let mut waiting: VecDeque<&str> = links.values().map(|link| link[0].url.as_str()).collect();
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        while let Some(url) = waiting.pop_front() {
            if reached.insert(url) {
                waiting.extend(&next[url]);
            }
        }
        assert_eq!(reached.len(), OWNED, "{kind:?}: all are found once one is");
    }
}

#[test]
fn a_seed_gives_the_same_attack_and_another_seed_another() {
    for kind in AttackKind::ALL {
        let shown = |seed| format!("{:?}", attack_with(kind, SHARE, seed).unwrap());
        assert_eq!(shown(SEED), shown(SEED));
        assert_ne!(shown(SEED), shown(SEED + 1));
    }
}

#[test]
fn stuffed_anchors_and_urls_hold_queries_verbatim() {
    let stuffed = anchors(&attack(AttackKind::AnchorStuffing));
    assert_eq!(stuffed.len(), OWNED);
    assert!(stuffed.values().all(|anchors| held(anchors) >= 20), "{stuffed:?}");
    let most =
        |anchors: &Vec<String>| anchors.iter().map(|one| held(std::slice::from_ref(one))).max();
    assert!(stuffed.values().all(|anchors| most(anchors).unwrap() > 5), "many in one anchor");
    let of_urls = attack(AttackKind::UrlStuffing);
    for (url, anchors) in anchors(&of_urls) {
        assert!(held(std::slice::from_ref(&url)) >= 3, "{url}");
        assert_eq!(held(&anchors), 0, "{anchors:?}");
    }
}

#[test]
fn the_control_aims_at_no_query() {
    let control = attack(AttackKind::Control);
    let asked: BTreeSet<&str> = HONEST.workload.words().collect();
    let anchors = anchors(&control);
    assert_eq!(anchors.len(), OWNED);
    for (url, anchors) in anchors {
        for text in anchors.iter().chain([&url]) {
            assert!(!words(text).iter().any(|word| asked.contains(&**word)), "{text}");
        }
    }
}

#[test]
fn every_domain_of_a_farm_links_to_every_target_with_a_query() {
    let farm = attack(AttackKind::LinkFarm(10));
    let hosts: BTreeSet<&str> =
        farm.added.pages.iter().map(|page| url::host(page.url().0)).collect();
    let domains: BTreeSet<&str> = hosts.iter().map(|host| url::registrable_domain(host)).collect();
    assert_eq!((hosts.len(), domains.len()), (11, 11), "ten domains, and that of the targets");
    let mut from: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for page in &farm.added.pages {
        let host = url::host(page.url().0);
        for LinkView { url: to, anchor, .. } in page.links() {
            let is_query = |query: &workload::Query| query.text == anchor;
            assert!(HONEST.workload.queries.iter().any(is_query), "{anchor:?} is no query");
            if url::host(to) != host {
                from.entry(to).or_default().insert(host);
            }
        }
    }
    let targets = from.values().filter(|hosts| hosts.len() >= 10).count();
    assert!(targets >= OWNED / 2, "{targets} pages have links of ten domains");
    let error = attack_with(AttackKind::LinkFarm(100), SHARE, SEED).unwrap_err();
    let expected = "link-farm:100 needs 200 pages of its own, and the attacker's share is 33";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn texts_of_attackers_hold_no_query_word_but_those_of_bait() {
    let asked: BTreeSet<&str> = HONEST.workload.words().collect();
    for kind in AttackKind::ALL {
        let texts = attack(kind).added.pages.into_iter().map(|page| {
            let (title, text) = page.into_texts();
            format!("{title} {text}")
        });
        let texts: Vec<String> = texts.collect();
        let on_topic = |text: &&String| words(text).iter().any(|word| asked.contains(&**word));
        let bait = if kind == AttackKind::BaitAndSwitch { OWNED / 5 } else { 0 };
        assert_eq!(texts.iter().filter(on_topic).count(), bait, "{kind:?}");
        assert!(
            texts[..bait].iter().all(|text| held(std::slice::from_ref(text)) >= 20),
            "bait answers"
        );
    }
}

#[test]
fn honest_pages_are_as_they_were_but_for_the_links_that_were_added() {
    let Honest { bench, collection, .. } = &*HONEST;
    let attack = attack(AttackKind::BaitAndSwitch);
    let attacked = loaded(bench, "attacked", &attack.added);
    assert_eq!(attacked.pages as usize, PAGES + OWNED);
    let links = |of: &Collection, page: u32| -> Vec<String> {
        of.links(page).iter().map(|&to| of.urls.url(UrlId(to)).to_owned()).collect()
    };
    for page in 0..collection.pages {
        let url = collection.urls.url(UrlId(page));
        let now = attacked.page(url).unwrap();
        let mut expected = links(collection, page);
        expected.extend(attack.added.links.get(url).map(|links| links[0].url.clone()));
        assert_eq!(links(&attacked, now), expected, "{url}");
        let length = |of: &Collection, page: u32| {
            let at = of.text.docs().url.iter().position(|id| id.0 == page).unwrap();
            of.text.docs().length[at]
        };
        assert_eq!(length(&attacked, now), length(collection, page), "{url}");
    }
}

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
    collection: Collection,
    impact: BTreeMap<String, f64>,
}

/// Seeds of each set, which come first.
const SEEDS: [usize; 2] = [3, 2];
/// Pages of a batch.
const BATCH: usize = 6;

impl LongWay {
    fn is_own(url: &str) -> bool {
        HONEST.collection.page(url).is_none()
    }

    fn own(&self, set: usize, pages: usize) -> f64 {
        self.orders[set].0[..pages].iter().filter(|url| Self::is_own(url)).count() as f64
    }

    fn picks(&self, set: usize, pages: usize) -> f64 {
        self.own(set, pages) / pages.saturating_sub(SEEDS[set]).max(1) as f64
    }

    /// Of the pages found before the batch of the last pick. The first batch is the seeds.
    fn frontier(&self, set: usize, pages: usize) -> f64 {
        let order = &self.orders[set].0;
        let picks = pages.checked_sub(SEEDS[set] + 1);
        let before = picks.map_or(0, |picks| SEEDS[set] + picks / BATCH * BATCH);
        let page = |url: &String| self.collection.page(url).unwrap();
        let links = order[..before].iter().flat_map(|url| self.collection.links(page(url)));
        let mut found: BTreeSet<&str> =
            links.map(|&to| self.collection.urls.url(UrlId(to))).collect();
        found.retain(|url| !order[..SEEDS[set]].iter().any(|seed| seed == url));
        let own = found.iter().filter(|url| Self::is_own(url)).count();
        own as f64 / found.len().max(1) as f64
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
    for (kind, policy) in AttackKind::ALL.into_iter().zip(["random", "prospect"].iter().cycle()) {
        let orders = [1, 2].map(|set| {
            let folder = format!("attack/{}", kind.folder());
            let path = bench.path(&format!("attacked/{folder}/{policy}/{set}.txt"));
            let attacked = std::fs::read_to_string(path).unwrap();
            let attacked = attacked.lines().map(str::to_owned).collect();
            (attacked, order(bench, "attacked", policy, set))
        });
        let collection = loaded(&HONEST.bench, &kind.folder(), &attack(kind).added);
        let long_way = LongWay { orders, collection, impact: impact.clone() };
        let points = points(&found, &kind.label(), policy);
        assert!(points.len() > 8, "{} points", points.len());
        for point in points {
            let pages = point["pages"].as_u64().unwrap() as usize;
            let close = |figure: &str, of: &dyn Fn(&LongWay, usize, usize) -> f64| {
                let of = |set| of(&long_way, set, pages);
                let expected = f64::midpoint(of(0), of(1));
                let told = point[figure]["mean"].as_f64().unwrap();
                let what = format!("{kind:?} {policy} {figure} at {pages}: {told}, {expected}");
                assert!((told - expected).abs() < 1e-9, "{what}");
            };
            close("picks", &LongWay::picks);
            close("frontier", &LongWay::frontier);
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
fn all_but_the_manipulation_is_that_of_crawls_without_an_attacker() {
    let bench = &*ATTACKED;
    let plain = line("").replace("--attack-share 10%", "");
    let run = simulated(bench, &plain, "plain");
    assert!(!run.stdout.contains("manipulation"), "{}", run.stdout);
    let (plain, mut attacked) = (summary(bench, "plain"), summary(bench, "attacked"));
    assert!(plain.get("manipulation").is_none());
    attacked.as_object_mut().unwrap().remove("manipulation").unwrap();
    attacked["provenance"] = plain["provenance"].clone();
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
