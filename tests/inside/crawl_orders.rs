//! Crawl orders: the golden orders of METHODS, section 6, and what every policy of the registry
//! has to keep to.

use std::collections::HashSet;
use std::sync::Arc;

use super::toy::Toy;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::settings::PlanSettings;
use crate::policy::hidden_web::Web;
use crate::policy::{Basics, CrawlPolicy, POLICIES, Page, PolicyChoice, Sources};
use crate::simulate::collection::{Collection, CollectionBuilder, Outside};
use crate::simulate::crawl::{Budget, CrawlOrder, SimulatedCrawl, Start};
use crate::simulate::truth;
use crate::simulate::vectors::{self, CollectionVectors};
use crate::sufficiency::near_duplicates::{NearDuplicates, Shingles};
use crate::workload::{Query, Workload};
use proptest::prelude::*;
use prospect_index::bm25::{Bm25, ForwardIndex};
use prospect_index::derived::Derived;
use prospect_index::ingest::PreparedLink;
use prospect_index::ngram::{NgramIndex, Segment};
use prospect_index::page::{Outlink, UrlId};
use prospect_index::text_index::TextIndex;

/// After the name of a policy that is to read embeddings.
const EMBEDDED: &str = " (embedded)";
/// After the name of a policy that is to plan every batch anew.
const ANEW: &str = " (anew)";
const OPTIONS: [&str; 4] = ["", "+importance=pagerank", "+needy=0.5", "+candidates=4"];

struct World {
    collection: Collection,
    strings: Segment,
    forward: Arc<ForwardIndex>,
    workload: Workload,
    quality: Vec<f64>,
    impact: Vec<f64>,
    relevant: Vec<u32>,
    near_duplicates: NearDuplicates,
    /// Read by policies whose name asks for embeddings.
    vectors: CollectionVectors,
    _directory: tempfile::TempDir,
}

struct PageOf {
    url: String,
    text: String,
    links: Vec<(String, String)>,
}

impl PageOf {
    fn title(&self) -> String {
        self.text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// Text around a link: the first words of the page, more or fewer.
    fn around(&self, (url, _): &(String, String)) -> String {
        let start: Vec<&str> = self.text.split_whitespace().take(1 + url.len() % 4).collect();
        start.join(" ")
    }

    fn outlink(&self, link: &(String, String)) -> Outlink {
        Outlink { around: self.around(link), ..Outlink::from(link.clone()) }
    }
}

fn world(pages: &[PageOf], queries: &[&str], outside: Outside) -> World {
    let directory = tempfile::tempdir().unwrap();
    let mut builder = CollectionBuilder::default().with_titles(true);
    let mut texts = Vec::new();
    for page in pages {
        let links = page
            .links
            .iter()
            .map(|link| PreparedLink { canonical: link.0.clone(), shown: page.outlink(link) });
        let links: Vec<PreparedLink> = links.collect();
        builder.add((&page.url, ""), &page.title(), None, links.iter());
        texts.push((page.title(), page.text.clone()));
    }
    let text = TextIndex::build(&directory.path().join("text"), texts).unwrap();
    let collection = builder.finish(&text, outside).unwrap();
    let strings_path = directory.path().join("strings");
    std::fs::create_dir(&strings_path).unwrap();
    let strings = collection.strings(&strings_path).unwrap();
    let queries = queries.iter().enumerate();
    let queries = queries.map(|(at, text)| Query::new(&format!("q{at}"), text, 1.0, "")).collect();
    let workload = Workload { queries }.for_planning();
    let impact = truth::impact(&collection, &workload, Bm25::default(), 10).unwrap();
    let count = collection.urls.len();
    let kept = Derived::at(&directory.path().join("vectors"), vectors::VERSION).unwrap();
    let vectors =
        CollectionVectors::new(&collection, (&workload, true), &Toy, &kept, &mut |_, _| ())
            .unwrap()
            .0;
    let shingles = pages.iter().map(|page| {
        let id = UrlId(collection.page(&page.url).unwrap());
        (id, Shingles::of(&page.title(), &page.text))
    });
    World {
        near_duplicates: NearDuplicates::among(shingles.collect()),
        vectors,
        quality: (0..count).map(|page| -((page * 7 % 11) as f64) / 2.0).collect(),
        relevant: (0..count).map(|page| u32::from(page % 5 == 0)).collect(),
        forward: ForwardIndex::build(&collection.text, workload.words()).unwrap(),
        collection,
        strings,
        workload,
        impact,
        _directory: directory,
    }
}

impl World {
    fn crawl(&self, policy: &str, start: &Start, budget: Budget) -> CrawlOrder {
        self.resume(policy, start, budget, &[])
    }

    /// A crawl that was killed after `done`, by batch, and goes on.
    fn resume(&self, policy: &str, start: &Start, budget: Budget, done: &[&[Page]]) -> CrawlOrder {
        let strings = NgramIndex::new(vec![&self.strings]).unwrap();
        let web = Web {
            near_duplicates: Some(&self.near_duplicates),
            urls: &self.collection.urls,
            links: self.collection.anchored_links(),
            text: &self.collection.text,
            forward: (!policy.ends_with(ANEW)).then(|| Arc::clone(&self.forward)),
            strings: &strings,
            vectors: policy.ends_with(EMBEDDED).then(|| self.vectors.web()),
            workload: &self.workload,
            trainers: None,
        };
        let sources = Sources {
            basics: Basics {
                url_order: &self.collection.url_order,
                host: &self.collection.host,
                hosts: self.collection.hosts.len(),
                seed: 1,
                set: 1,
            },
            quality: Some(&self.quality),
            web: Some(&web),
            impact: &self.impact,
            relevant: &self.relevant,
        };
        let choice = policy
            .trim_end_matches(EMBEDDED)
            .trim_end_matches(ANEW)
            .parse::<PolicyChoice>()
            .unwrap();
        let mut policy = choice.make(&sources, PlanSettings::new(1)).unwrap();
        run(&self.collection, start, policy.as_mut(), budget, done)
    }

    /// By batch: whether it has as many pages as it could.
    fn full(&self, start: &Start, batches: &[&[Page]], most: usize) -> bool {
        let mut known: HashSet<Page> = start.seeds.iter().copied().collect();
        let mut fetched = 0;
        batches.iter().all(|batch| {
            let full = batch.len() == most.min(known.len() - fetched);
            fetched += batch.len();
            known.extend(batch.iter().flat_map(|&page| self.collection.links(page)));
            full
        })
    }

    fn seeds(&self, names: &[&str]) -> Start {
        let page = |name: &&str| self.collection.page(&address(name)).unwrap();
        Start { seeds: names.iter().map(page).collect(), ..Start::default() }
    }
}

fn run(
    collection: &Collection,
    start: &Start,
    policy: &mut dyn CrawlPolicy,
    budget: Budget,
    done: &[&[Page]],
) -> CrawlOrder {
    let mut crawl = SimulatedCrawl::start(collection, start, policy).unwrap();
    for batch in done {
        crawl.replay(policy, budget, batch).unwrap();
    }
    while crawl.step(policy, budget).unwrap() {}
    crawl.order
}

fn batches(order: &CrawlOrder) -> Vec<&[Page]> {
    let starts = std::iter::once(0).chain(order.batch_ends.iter().copied());
    starts.zip(&order.batch_ends).map(|(a, &b)| &order.pages[a as usize..b as usize]).collect()
}

fn address(name: &str) -> String {
    format!("https://x.test/{name}")
}

/// The toy graph of METHODS, section 6.
fn toy() -> World {
    let links = [
        ("s1", "c b a c s1 s2 zz"),
        ("s2", "b d e"),
        ("a", "f d"),
        ("b", "g e h"),
        ("c", "f h"),
        ("d", "e"),
        ("e", "h"),
        ("f", "g"),
        ("g", ""),
        ("h", "d"),
    ];
    let pages: Vec<PageOf> = links
        .iter()
        .map(|(name, links)| {
            let targets = links.split_whitespace().filter(|target| target != name);
            let links = targets.map(|target| (address(target), String::new())).collect();
            PageOf { url: address(name), text: String::new(), links }
        })
        .collect();
    let mut world = world(&pages, &[], Outside::Drop);
    let quality = [
        ("s1", -0.5),
        ("s2", -2.0),
        ("a", -1.0),
        ("b", -0.25),
        ("d", -3.0),
        ("e", -0.125),
        ("f", -0.25),
        ("g", -4.0),
        ("h", -0.75),
    ];
    world.quality = vec![-50.0; world.collection.urls.len()];
    for (name, quality_of) in quality {
        let page = world.collection.page(&address(name)).unwrap();
        world.quality[page as usize] = quality_of;
    }
    world
}

#[test]
fn golden_orders_of_the_toy_graph() {
    let world = toy();
    let start = world.seeds(&["s2", "s1"]);
    for (policy, expected) in [
        ("bfs", "s2 s1 b d e c a g h f"),
        ("dfs", "s1 a d e h f g b c s2"),
        ("qfirst", "s1 s2 a b g h c f d e"),
        ("qmin", "s1 a b e g h c s2 d f"),
        ("qoracle", "s1 s2 e b h a f d g c"),
    ] {
        let order = world.crawl(policy, &start, Budget { batch: 1, pages: usize::MAX });
        let name = |page: &Page| {
            let url = world.collection.urls.url(prospect_index::page::UrlId(*page));
            url.rsplit('/').next().unwrap().to_owned()
        };
        let names: Vec<String> = order.pages.iter().map(name).collect();
        assert_eq!(names.join(" "), expected, "{policy}");
    }
    for batch in 1..12 {
        let order = world.crawl("bfs", &start, Budget { batch, pages: usize::MAX });
        let first = world.crawl("bfs", &start, Budget { batch: 1, pages: usize::MAX });
        assert_eq!(order.pages, first.pages, "bfs is unchanged by batches of {batch}");
    }
}

fn random_world(seed: u64, pages: usize, outside: Outside) -> World {
    random_pages(seed, pages, outside).0
}

fn random_pages(seed: u64, pages: usize, outside: Outside) -> (World, Vec<PageOf>) {
    let mut state = seed;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let words = ["crawl", "budget", "query", "tail", "index", "page"];
    let url = |page: usize| format!("https://h{}.test/{}-{page}", page % 7, words[page % 6]);
    let mut texts = Vec::new();
    for _ in 0..pages {
        texts.push((0..random(9)).map(|_| words[random(6)]).collect::<Vec<_>>().join(" "));
    }
    let mut all = Vec::new();
    for (page, text) in texts.into_iter().enumerate() {
        let mut links = Vec::new();
        for _ in 0..random(6) {
            // Some targets lie outside.
            let target = random(pages + 3);
            if target != page {
                links.push((url(target), words[random(6)].to_owned()));
            }
        }
        all.push(PageOf { url: url(page), text, links });
    }
    let world = world(&all, &["crawl budget", "tail query", "index"], outside);
    (world, all)
}

/// Pages that links lead to from the seeds.
fn reachable(collection: &Collection, seeds: &[Page]) -> HashSet<Page> {
    let mut found: HashSet<Page> = seeds.iter().copied().collect();
    let mut stack = seeds.to_vec();
    while let Some(page) = stack.pop() {
        stack.extend(collection.links(page).iter().filter(|&&target| found.insert(target)));
    }
    found
}

fn all_policies() -> Vec<String> {
    let mut labels = Vec::new();
    for kind in POLICIES {
        let with_options = OPTIONS.iter().map(|options| format!("{}{options}", kind.name));
        labels.extend(with_options.filter(|label| label.parse::<PolicyChoice>().is_ok()));
    }
    labels
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_policy_keeps_the_rules(
        seed in any::<u64>(),
        pages in 1usize..60,
        batch in 1usize..20,
        budget in 0usize..80,
        charge in any::<bool>(),
    ) {
        let outside = if charge { Outside::Charge } else { Outside::Drop };
        let world = random_world(seed, pages, outside);
        let seeds: Vec<Page> = (0..3.min(pages) as Page).rev().collect();
        let start = Start { seeds, ..Start::default() };
        let everything = reachable(&world.collection, &start.seeds);
        for label in all_policies() {
            let whole = world.crawl(&label, &start, Budget { batch, pages: usize::MAX });
            let fetched: HashSet<Page> = whole.pages.iter().copied().collect();
            prop_assert_eq!(fetched.len(), whole.pages.len(), "{} fetches a page twice", label);
            prop_assert_eq!(&fetched, &everything, "{} fetches what is reachable", label);
            let again = world.crawl(&label, &start, Budget { batch, pages: usize::MAX });
            prop_assert_eq!(&whole, &again, "{} is deterministic", label);
            let part = world.crawl(&label, &start, Budget { batch, pages: budget });
            prop_assert_eq!(part.pages.len(), budget.min(everything.len()), "{}", label);
            let batches_of_part = batches(&part);
            let done = &batches_of_part[..batch % (batches_of_part.len() + 1)];
            let resumed = world.resume(&label, &start, Budget { batch, pages: budget }, done);
            prop_assert_eq!(&resumed, &part, "{} goes on after {} of few", label, done.len());
            let batches = batches(&whole);
            prop_assert!(world.full(&start, &batches, batch), "{}: {:?}", label, batches);
            let done = &batches[..budget % (batches.len() + 1)];
            let resumed =
                world.resume(&label, &start, Budget { batch, pages: usize::MAX }, done);
            prop_assert_eq!(&resumed, &whole, "{} goes on after {} batches", label, done.len());
            if !POLICIES.iter().any(|kind| label.starts_with(kind.name) && kind.needs_quality())
                && !["bfs", "dfs"].contains(&label.as_str())
            {
                prop_assert!(whole.pages.starts_with(&start.seeds), "{}: seeds come first", label);
            }
        }
    }

    #[test]
    fn what_is_kept_is_what_would_be_found_anew(
        seed in any::<u64>(),
        pages in 100usize..260,
        batch in 1usize..9,
        charge in any::<bool>(),
    ) {
        let outside = if charge { Outside::Charge } else { Outside::Drop };
        assert_kept_is_found_anew(seed, pages, batch, outside);
    }

    #[test]
    fn without_discovery_every_page_is_ordered(seed in any::<u64>(), batch in 1usize..9) {
        let world = random_world(seed, 40, Outside::Drop);
        let crawled: Vec<Page> = (0..25).collect();
        let start = Start { crawled, all_known: true, ..Start::default() };
        for label in all_policies() {
            let order = world.crawl(&label, &start, Budget { batch, pages: usize::MAX });
            let mut pages = order.pages.clone();
            pages.sort_unstable();
            prop_assert_eq!(pages, (25..40).collect::<Vec<Page>>(), "{}", label);
        }
    }
}

/// Plans from what is kept are those that are made anew.
fn assert_kept_is_found_anew(seed: u64, pages: usize, batch: usize, outside: Outside) {
    let world = random_world(seed, pages, outside);
    let start = Start { seeds: vec![0, 1, 2], ..Start::default() };
    let budget = Budget { batch, pages: usize::MAX };
    for label in all_policies().iter().filter(|label| label.starts_with("prospect")) {
        let kept = world.crawl(label, &start, budget);
        let anew = world.crawl(&format!("{label}{ANEW}"), &start, budget);
        assert_eq!(kept, anew, "{label}");
    }
}

/// Story: a pair that no longer might match was not looked at when a link came, and matched again later, by evidence
/// without that link.
#[test]
fn evidence_that_missed_a_link_is_gathered_anew() {
    assert_kept_is_found_anew(16_986_483_175_753_037_795, 257, 4, Outside::Drop);
}

/// Story: 6 of 31 killed simulations refused to go on. Where fewer URLs waited than the batch had room for, the
/// replay planned for as many as there had been, and got others.
#[test]
fn a_crawl_that_is_killed_after_any_batch_goes_on_to_the_same_order() {
    let (mut points, mut short) = (0, 0);
    for (set, seed) in [31, 32, 33].into_iter().enumerate() {
        let world = random_world(seed, 60, Outside::Drop);
        // One page to start from, and more: first batches have room for what is not known yet.
        let start = Start { seeds: (0..=3 * set as Page).collect(), ..Start::default() };
        let labels = all_policies().into_iter().filter(|label| !label.ends_with("pagerank"));
        let embedded = ["prospect", "hybrid"].map(|label| format!("{label}{EMBEDDED}"));
        for label in labels.chain(embedded) {
            for batch in [4, 9, 16] {
                let budget = Budget { batch, pages: 40 };
                let whole = world.crawl(&label, &start, budget);
                let batches = batches(&whole);
                for done in 0..=batches.len() {
                    let again = world.resume(&label, &start, budget, &batches[..done]);
                    assert_eq!(again, whole, "{label}, batches of {batch}, {done} done");
                    points += 1;
                }
                short += batches.iter().filter(|one| one.len() < batch).count();
            }
        }
    }
    println!("{points} kill points, {short} batches smaller than their budget");
    assert!(points > 1_000 && short > 300, "{points} {short}");
}

/// What plans are expected to bring falls, as lists fill up; who learns from no outcome expects nothing.
#[test]
fn where_too_little_is_expected_is_told_and_the_same_after_a_kill() {
    let world = random_world(34, 2_000, Outside::Drop);
    let start = Start { seeds: vec![0, 1, 2, 3], ..Start::default() };
    let budget = Budget { batch: 50, pages: usize::MAX };
    let whole = world.crawl("prospect", &start, budget);
    let at = whole.no_gain.expect("2,000 pages are many for three lists of ten");
    // Before a window of planned pages was fetched there is nothing to compare with.
    assert!(at >= 100 && whole.batch_ends.contains(&at), "{at}");
    let batches = batches(&whole);
    for done in [1, at as usize / 50, batches.len()] {
        let again = world.resume("prospect", &start, budget, &batches[..done]);
        assert_eq!(again, whole, "{done} done");
    }
    for policy in ["bfs", "query-driven"] {
        assert_eq!(world.crawl(policy, &start, budget).no_gain, None, "{policy}");
    }
}

#[test]
fn an_empty_frontier_is_an_empty_crawl() {
    let world = random_world(1, 5, Outside::Drop);
    for label in all_policies() {
        let order = world.crawl(&label, &Start::default(), Budget { batch: 3, pages: 10 });
        assert_eq!(order, CrawlOrder::default(), "{label}");
    }
}

/// The same crawl by a store: ingest, plan, ingest, close and plan.
fn crawl_by_store(
    world: &World,
    pages: &[PageOf],
    start: &Start,
    budget: Budget,
    settings: &PlanSettings,
) -> Vec<Vec<String>> {
    use crate::campaign::OpenStore;
    use crate::campaign::close::{self, Which};
    use crate::campaign::plan::{self, Beside};
    use prospect_index::ingest::ingest_all;
    use prospect_index::page::PageRecord;
    let directory = tempfile::tempdir().unwrap();
    let url_of = |page: &Page| world.collection.urls.url(UrlId(*page)).to_owned();
    let record = |url: &String| {
        let page = pages.iter().find(|page| page.url == *url).unwrap();
        let inside = page.links.iter().filter(|(to, _)| world.collection.page(to).is_some());
        PageRecord {
            url: url.clone(),
            title: page.title(),
            text: page.text.clone(),
            outlinks: inside.map(|link| page.outlink(link)).collect(),
            quality_score: world.collection.page(url).map(|page| world.quality[page as usize]),
            ..PageRecord::default()
        }
    };
    let ingest = |number: usize, urls: &[String]| {
        let records = urls.iter().map(record).collect();
        ingest_all(directory.path(), records, &format!("batch {number}")).unwrap();
    };
    let mut batches = vec![start.seeds.iter().map(url_of).collect::<Vec<String>>()];
    ingest(0, &batches[0]);
    let mut fetched = batches[0].len();
    while fetched < budget.pages {
        let mut open = OpenStore::open(directory.path(), "test", 3).unwrap();
        if !open.store.manifest().plans.is_empty() {
            close::close_plans(&mut open, Which::All, None).unwrap();
        }
        let mut settings = settings.clone();
        settings.selection.budget = budget.batch.min(budget.pages - fetched);
        if settings.embedding.is_some() {
            open.embed(Box::new(Toy), &world.workload, &mut |_, _| ()).unwrap();
        }
        let plan = plan::plan(&open, &world.workload, &[], &settings, Beside::Others).unwrap();
        if plan.choice.batch.picks.is_empty() {
            break;
        }
        plan::commit(&mut open, &plan.record(), &settings, None).unwrap();
        let url = |pick: &crate::plan::Pick| open.known.urls.url(pick.estimate.url).to_owned();
        batches.push(plan.choice.batch.picks.iter().map(url).collect());
        drop(open);
        fetched += batches[batches.len() - 1].len();
        ingest(batches.len(), &batches[batches.len() - 1]);
    }
    batches
}

#[test]
fn a_simulated_plan_is_the_plan_of_a_store() {
    let mut orders = Vec::new();
    for (label, seed) in [
        ("prospect", 11),
        ("prospect (embedded)", 11),
        ("prospect", 12),
        ("prospect (embedded)", 12),
        ("hybrid", 13),
        ("query-driven", 14),
        ("sufficiency", 15),
        ("prospect+demand=lack", 16),
        ("prospect+candidates=4", 17),
    ] {
        let (world, pages) = random_pages(seed, 150, Outside::Drop);
        let start = Start { seeds: (0..12).collect(), ..Start::default() };
        let budget = Budget { batch: 12, pages: 120 };
        let choice: PolicyChoice = label.trim_end_matches(EMBEDDED).parse().unwrap();
        let mut settings = choice.settings(PlanSettings::new(1)).unwrap();
        settings.embedding = label.ends_with(EMBEDDED).then(|| EmbeddingModel::of(&Toy));
        let stored = crawl_by_store(&world, &pages, &start, budget, &settings);
        let simulated = world.crawl(label, &start, budget);
        let name =
            |page: &Page| world.collection.urls.url(prospect_index::page::UrlId(*page)).to_owned();
        let mut from = 0;
        let mut batches = Vec::new();
        for &end in &simulated.batch_ends {
            batches.push(simulated.pages[from..end as usize].iter().map(name).collect::<Vec<_>>());
            from = end as usize;
        }
        assert!(batches.len() > 5, "{} batches", batches.len());
        assert_eq!(batches, stored, "{label}");
        orders.push(batches);
    }
    assert_ne!(orders[0], orders[1], "embeddings are evidence");
    assert_ne!(orders[2], orders[3], "embeddings are evidence");
}

/// What a crawl of the first batches shows is all that a policy may go by: other texts, links and
/// scores of the pages that it did not fetch give the same order. Oracles read them, and differ.
#[test]
fn only_oracles_see_what_is_not_fetched() {
    let (world, pages) = random_pages(21, 200, Outside::Drop);
    let names = |world: &World, order: &CrawlOrder| -> Vec<String> {
        let url = |page: &Page| world.collection.urls.url(prospect_index::page::UrlId(*page));
        order.pages.iter().map(|page| url(page).to_owned()).collect()
    };
    let budget = Budget { batch: 10, pages: 60 };
    let seeds = |world: &World| {
        let pages = pages[..8].iter().map(|page| world.collection.page(&page.url).unwrap());
        Start { seeds: pages.collect(), ..Start::default() }
    };
    for label in all_policies() {
        let kind = POLICIES.iter().find(|kind| label.split('+').next() == Some(kind.name)).unwrap();
        let order = names(&world, &world.crawl(&label, &seeds(&world), budget));
        let fetched: HashSet<&str> = order.iter().map(String::as_str).collect();
        let changed: Vec<PageOf> = pages
            .iter()
            .enumerate()
            .map(|(at, page)| {
                let known = fetched.contains(page.url.as_str());
                let (text, links) = if known {
                    (page.text.clone(), page.links.clone())
                } else {
                    // The same pages stay known to the collection, by a link to each.
                    let to = pages[(at * 7 + 3) % pages.len()].url.clone();
                    ("crawl budget tail query index".repeat(at % 5), vec![(to, "index".to_owned())])
                };
                PageOf { url: page.url.clone(), text, links }
            })
            .collect();
        let queries = ["crawl budget", "tail query", "index"];
        let mut other = self::world(&changed, &queries, Outside::Drop);
        for (at, page) in pages.iter().enumerate() {
            let number = other.collection.page(&page.url).unwrap() as usize;
            let own = world.collection.page(&page.url).unwrap() as usize;
            let known = fetched.contains(page.url.as_str());
            other.quality[number] = if known { world.quality[own] } else { -((at % 13) as f64) };
            other.relevant[number] = if known { world.relevant[own] } else { (at % 3) as u32 };
        }
        let again = names(&other, &other.crawl(&label, &seeds(&other), budget));
        assert_eq!(again == order, !kind.is_oracle(), "{label}");
    }
}
