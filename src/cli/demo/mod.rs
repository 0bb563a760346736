//! `prospect demo`: the main job on a real site that is already on the reader's disk. A
//! breadth-first tenth of it counts as crawled; the next batch is planned, and set beside the next
//! pages in breadth-first order by judgements that the planner never sees.

mod site;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};

use prospect_index::ingest::{IngestSession, prepare};
use prospect_index::limits;
use prospect_index::page::PageRecord;
use prospect_index::url;
use rayon::prelude::*;

use super::Global;
use super::ingest::open_store;
use super::output::{self, Failure, say, shown};
use crate::campaign::plan::{self, Beside};
use crate::campaign::planned::Plan;
use crate::campaign::reasons::Reasons;
use crate::campaign::{CampaignError, OpenStore};
use crate::cli::plain::stdout;
use crate::plan::export::PlannedUrl;
use crate::planner::settings::PlanSettings;
use crate::workload::{self, qrels};
use site::Site;

/// Share of the site that counts as crawled.
const CRAWLED: f64 = 0.1;
/// Share of the site to plan, at most [`BUDGET`] pages.
const PLANNED: f64 = 0.1;
const BUDGET: usize = 200;
/// Rows of the table.
const ROWS: usize = 12;
/// Pages fetched side by side.
const FETCH_AHEAD: usize = 128;

/// Arguments of `prospect demo`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// Where to make the store; a demo store that is there is replaced. By default
    /// `prospect-demo` in the directory for temporary files.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Use the small built-in site even where the Rust documentation is installed.
    #[arg(long)]
    tiny: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let site = choose_site(args.tiny, global);
    let wanted = ((CRAWLED * site.len() as f64) as usize).max(1);
    say(
        global,
        &format!("crawling a breadth-first tenth of {} ({} pages)…", site.name, site.len()),
    );
    let crawl = breadth_first(&site, wanted);
    let root = args.store.clone().unwrap_or_else(|| std::env::temp_dir().join("prospect-demo"));
    remove_demo_store(&root)?;
    let mut open = ingest(&root, crawl.records)?;
    let workload = workload::parse(site.queries, "the demo's queries")?;
    let budget = ((PLANNED * site.len() as f64) as usize).clamp(1, BUDGET);
    let mut settings = PlanSettings::new(budget);
    let ids = open.known.urls.ids();
    let within: Vec<bool> = ids.map(|id| site.has(open.known.urls.url(id))).collect();
    settings.within = Some("pages of the demo's site".to_owned());
    let plan = plan::plan(&open, &workload, &within, &settings, Beside::Others)?;
    plan::commit(&mut open, &plan.record(), &settings, None)?;
    let judged = Judged::new(site.qrels, &workload)?;
    let reasons = Reasons::of_plan(&open.known, &plan, &settings);
    let planned = reasons.planned(&plan.choice.batch.picks, 1);
    let picked: Vec<String> = plan
        .choice
        .batch
        .picks
        .iter()
        .map(|pick| open.known.urls.url(pick.estimate.url).to_owned())
        .collect();
    let next: Vec<String> = crawl.next.into_iter().take(picked.len()).collect();
    let comparison = Comparison { picked: judged.count(&picked), next: judged.count(&next) };
    if global.json {
        return output::print_json(&as_json(&root, &plan, &planned, &comparison));
    }
    let text = as_text(&root, &open, &plan, &settings, &planned, &comparison);
    Ok(stdout().write_all(text.as_bytes())?)
}

fn choose_site(tiny: bool, global: &Global) -> Site {
    if tiny {
        return Site::tiny();
    }
    Site::rust_docs().unwrap_or_else(|| {
        say(
            global,
            "the Rust documentation is not installed (rustup component add rust-docs); \
             using the small built-in site instead",
        );
        Site::tiny()
    })
}

struct Crawl {
    records: Vec<PageRecord>,
    /// What breadth-first order would fetch next.
    next: Vec<String>,
}

/// Fetches `wanted` pages in breadth-first order from the site's seeds. Links that leave the site
/// stay in the records, but are not followed.
fn breadth_first(site: &Site, wanted: usize) -> Crawl {
    let mut queue: VecDeque<String> = site.seeds.iter().cloned().collect();
    let mut seen: HashSet<String> = site.seeds.iter().cloned().collect();
    let mut records = Vec::new();
    while records.len() < wanted && !queue.is_empty() {
        let count = FETCH_AHEAD.min(queue.len()).min(wanted - records.len());
        let urls: Vec<String> = queue.drain(..count).collect();
        let fetched: Vec<Option<PageRecord>> = urls.par_iter().map(|url| site.fetch(url)).collect();
        for record in fetched.into_iter().flatten() {
            for link in &record.outlinks {
                let Ok(target) = url::canonical(&link.url) else { continue };
                if site.has(&target) && seen.insert(target.clone()) {
                    queue.push_back(target);
                }
            }
            records.push(record);
        }
    }
    Crawl { records, next: queue.into() }
}

/// Marks a store as one that the demo made and may replace.
const MARK: &str = "DEMO";

fn remove_demo_store(root: &Path) -> Result<(), Failure> {
    if !root.exists() || root.read_dir()?.next().is_none() {
        return Ok(());
    }
    if !root.join(MARK).exists() {
        let error = anyhow::anyhow!("{} is there and was not made by the demo", root.display());
        return Err(Failure::input(error, "name another directory with --store"));
    }
    Ok(std::fs::remove_dir_all(root)?)
}

fn ingest(root: &Path, records: Vec<PageRecord>) -> Result<OpenStore, Failure> {
    let store = open_store(root, "prospect demo")?;
    // Marked before anything else, so that a demo that is interrupted can be run again.
    std::fs::write(root.join(MARK), "made by prospect demo\n")?;
    let mut session = IngestSession::start(store)?;
    let prepared: Vec<_> = records.into_par_iter().map(prepare).collect();
    for page in prepared.into_iter().flatten() {
        session.add(page)?;
    }
    let (store, ..) = session.commit("demo")?;
    OpenStore::of(store, limits::BOUNDS.ngram_words).map_err(CampaignError::into)
}

/// Judged-relevant pages, with the frequency of the queries they answer.
struct Judged(HashMap<String, f64>);

impl Judged {
    fn new(qrels: &str, workload: &workload::Workload) -> Result<Self, Failure> {
        let frequency: HashMap<&str, f64> =
            workload.queries.iter().map(|q| (q.qid.as_str(), q.frequency)).collect();
        let mut pages: HashMap<String, f64> = HashMap::new();
        let judgements = qrels::parse(qrels, "the demo's judgements")?;
        for judgement in judgements.into_iter().filter(|judgement| judgement.grade > 0) {
            let asked = frequency.get(judgement.qid.as_str()).copied().unwrap_or(0.0);
            *pages.entry(judgement.url).or_insert(0.0) += asked;
        }
        Ok(Self(pages))
    }

    /// Relevant pages in a batch, and how often the queries they answer are asked.
    fn count(&self, urls: &[String]) -> (usize, f64) {
        let found = urls.iter().filter_map(|url| self.0.get(url));
        found.fold((0, 0.0), |(pages, asked), frequency| (pages + 1, asked + frequency))
    }
}

struct Comparison {
    picked: (usize, f64),
    next: (usize, f64),
}

fn as_json(
    root: &Path,
    plan: &Plan,
    planned: &[PlannedUrl],
    comparison: &Comparison,
) -> serde_json::Value {
    let batch = |(pages, asked): (usize, f64)| serde_json::json!({ "relevant_pages": pages, "queries_asked": asked });
    serde_json::json!({
        "schema": "prospect.demo/1",
        "store": root,
        "plan_id": plan.id,
        "urls": planned,
        "planned": batch(comparison.picked),
        "breadth_first": batch(comparison.next),
    })
}

fn as_text(
    root: &Path,
    open: &OpenStore,
    plan: &Plan,
    settings: &PlanSettings,
    planned: &[PlannedUrl],
    comparison: &Comparison,
) -> String {
    let mut text = format!(
        "{} pages crawled, {} URLs in the frontier, {} queries; the next {} URLs to fetch:\n\n",
        open.known.pages.len(),
        plan.choice.batch.ranking.len(),
        plan.workload.queries.len(),
        planned.len(),
    );
    text += &format!("{:>4} {:>8}  {:<46} why\n", "rank", "estimate", "page");
    for url in planned.iter().take(ROWS) {
        let short = url.url.trim_start_matches("https://doc.rust-lang.org/stable/");
        let why = url.queries.first().map_or_else(
            || format!("{} pages link to it", url.inlinks),
            |reason| {
                let more = url.candidate_queries.saturating_sub(1);
                let others = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!(
                    "{:.0}% for \"{}\"{others}",
                    100.0 * reason.chance,
                    shown(&reason.query, 40)
                )
            },
        );
        text += &format!("{:>4} {:>8.1}  {:<46} {why}\n", url.rank, url.estimate, shown(short, 46));
    }
    let (picked, next) = (comparison.picked, comparison.next);
    text += &format!(
        "\nOf these {} pages {} are judged to answer some query ({} askings); of the next {} \
         in breadth-first order {} ({} askings).\nestimate = {}, in askings whose top {} gains the \
         page; BM25 k1 {} b {}.\n",
        planned.len(),
        picked.0,
        picked.1,
        planned.len(),
        next.0,
        next.1,
        plan.choice.formula(),
        settings.k,
        settings.bm25.k1,
        settings.bm25.b,
    );
    if let Some(first) = planned.first() {
        // Who runs it by cargo may have no other command.
        let is_run = std::env::var_os("CARGO").is_some();
        let prospect = if is_run { "cargo run --release --" } else { "prospect" };
        let store = root.display();
        text += &format!("\nTry next: {prospect} explain --store {store} {}\n", first.url);
    }
    text
}
