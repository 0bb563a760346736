//! What an attacker adds to a collection, and what of the frontier is its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::LazyLock;

use prospect_index::ingest::PreparedLink;
use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::words::{WordOptions, words};

use super::common::{Bench, PAGES};
use super::simulation::bench;
use crate::ingest::SourceOptions;
use crate::simulate::added::AddedPages;
use crate::simulate::attack::attacked::Attacked;
use crate::simulate::attack::gains;
use crate::simulate::attack::{Attack, AttackError, AttackKind, Victim};
use crate::simulate::collection::{Collection, Outside};
use crate::simulate::crawl::{CrawlOrder, Start};
use crate::simulate::experiment::Inputs;
use crate::simulate::load::{self, Keep, PagePlace};
use crate::workload::{self, Workload};

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
    let place =
        PagePlace::below(Path::new(&bench.path(place)), Keep::default(), &WordOptions::default());
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
    let of_pages = attack.added.pages.iter().flat_map(|page| &page.links);
    let comments = attack.added.links.values().flatten();
    let mut anchors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for PreparedLink { canonical, shown } in of_pages.chain(comments) {
        anchors.entry(canonical.clone()).or_default().push(shown.anchor.clone());
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
        assert_eq!((pages.len(), own.len()), (OWNED, OWNED), "{kind:?}");
        // Who plants links where they help may find few such pages.
        let is_planted = matches!(kind, AttackKind::Hijack(_) | AttackKind::Mimic(_));
        let most = if is_planted { 1..=OWNED } else { OWNED..=OWNED };
        assert!(most.contains(&links.len()), "{kind:?}: {} pages link to it", links.len());
        assert!(own.iter().all(|url| HONEST.collection.page(url).is_none()), "{kind:?}");
        assert!(links.keys().all(|url| HONEST.collection.page(url).is_some()), "{kind:?}");
        let is_one = |links: &Vec<PreparedLink>| {
            links.iter().all(|link| link.canonical == links[0].canonical)
        };
        assert!(is_planted || links.values().all(is_one), "{kind:?}: one comment a page");
        let next: BTreeMap<&str, Vec<&str>> = pages
            .iter()
            .map(|page| {
                (page.url().0, page.links.iter().map(|link| link.canonical.as_str()).collect())
            })
            .collect();
        let mut waiting: VecDeque<&str> =
            links.values().flatten().map(|link| link.canonical.as_str()).collect();
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
        for PreparedLink { canonical: to, shown } in &page.links {
            let is_query = |query: &workload::Query| query.text == shown.anchor;
            assert!(HONEST.workload.queries.iter().any(is_query), "{:?} is no query", shown.anchor);
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
        let texts = attack(kind)
            .added
            .pages
            .into_iter()
            .map(|page| format!("{} {}", page.record.title, page.record.text));
        let texts: Vec<String> = texts.collect();
        let on_topic = |text: &&String| words(text).iter().any(|word| asked.contains(&**word));
        let bait = match kind {
            AttackKind::BaitAndSwitch => OWNED / 5,
            AttackKind::SybilBait(_) => OWNED,
            _ => 0,
        };
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
        expected.extend(attack.added.links.get(url).map(|links| links[0].canonical.clone()));
        assert_eq!(links(&attacked, now), expected, "{url}");
        let length = |of: &Collection, page: u32| {
            let at = of.text.docs().url.iter().position(|id| id.0 == page).unwrap();
            of.text.docs().length[at]
        };
        assert_eq!(length(&attacked, now), length(collection, page), "{url}");
    }
}

/// The collection breadth-first in batches of six, after three seeds.
fn breadth_first(collection: &Collection, start: &Start) -> CrawlOrder {
    let mut waiting: VecDeque<u32> = start.seeds.iter().copied().collect();
    let mut known: BTreeSet<u32> = waiting.iter().copied().collect();
    let mut order = CrawlOrder::default();
    while !waiting.is_empty() {
        let most = if order.pages.is_empty() { start.seeds.len() } else { 6 };
        let batch: Vec<u32> = waiting.drain(..most.min(waiting.len())).collect();
        let found = batch.iter().flat_map(|&page| collection.links(page)).copied();
        waiting.extend(found.filter(|&to| known.insert(to)));
        order.pages.extend(batch);
        order.batch_ends.push(order.pages.len() as u32);
    }
    order
}

#[test]
fn the_share_of_the_frontier_is_that_of_all_that_was_found_before_the_batch() {
    let Honest { bench, collection, workload } = &*HONEST;
    let (impact, relevant) = (vec![0.0; PAGES], vec![0; PAGES]);
    let honest = Inputs {
        collection,
        strings: None,
        vectors: None,
        planning: workload,
        quality: None,
        impact: &impact,
        relevant: &relevant,
    };
    for kind in AttackKind::ALL {
        let attack = attack(kind);
        let attacked =
            Attacked::new(loaded(bench, &kind.folder(), &attack.added), &honest, &attack, SEED);
        let all = &attacked.collection;
        let is_own = |page: u32| collection.page(all.urls.url(UrlId(page))).is_none();
        let seeds: Vec<u32> = (0..all.pages).filter(|&page| !is_own(page)).take(3).collect();
        let start = Start { seeds, crawled: Vec::new(), all_known: false };
        let order = breadth_first(all, &start);
        let checkpoints: Vec<u32> = (1..=order.pages.len() as u32).collect();
        let gains = gains::of_crawl(&attacked, &start, &order, &checkpoints);
        assert!(gains.len() > PAGES);
        for (pages, gain) in checkpoints.iter().zip(gains) {
            // The batch of the last pick.
            let batch = order.batch_ends.partition_point(|end| end < pages);
            let before = if batch == 0 { 0 } else { order.batch_ends[batch - 1] as usize };
            let links = order.pages[..before].iter().flat_map(|&page| all.links(page));
            let mut found: BTreeSet<u32> = links.copied().collect();
            found.retain(|page| !start.seeds.contains(page));
            let own = found.iter().filter(|&&page| is_own(page)).count();
            let expected = own as f64 / found.len().max(1) as f64;
            assert!((gain.frontier - expected).abs() < 1e-12, "{kind:?} at {pages}");
        }
    }
}
