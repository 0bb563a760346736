//! What evaluating a crawl at 20 checkpoints costs, exactly as if only the fetched pages had been
//! indexed, on `enwiki-30k` below `PROSPECT_DATA`.
//!
//! Ours: one index of all pages, one pass over the postings of each query for all checkpoints: the
//! top 10 and the ranks of the relevant pages. Without it: Tantivy's index of the subset at each
//! checkpoint, or one Tantivy index that grows and is committed at each checkpoint, and its own
//! search for the top 10. Both with two threads, in memory or mapped, over all dev queries. The lists are
//! compared, ours by the similarity that is compatible with Tantivy. Prints figures and asserts
//! nothing: `cargo bench --bench checkpoints`, with `-- ours` for ours alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prospect::ingest::{self, SourceItem, SourceOptions};
use prospect::workload::{self, Workload, qrels};
use prospect_index::bm25::Bm25;
use prospect_index::checkpoints::{
    CheckpointQuery, CheckpointScorer, FetchOrder, Similarity, Workspace,
};
use prospect_index::page::PageRecord;
use prospect_index::text_index::TextIndex;
use rayon::prelude::*;

#[path = "checkpoints/theirs.rs"]
mod theirs;
use theirs::Theirs;

const CHECKPOINTS: usize = 20;
const TOP: usize = 10;
const RUNS: usize = 3;

/// Pages with their scores, best first.
type List = Vec<(u32, f64)>;
/// By checkpoint and query.
type Lists = Vec<Vec<List>>;

fn main() {
    let root =
        std::env::var_os("PROSPECT_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    let folder = root.join("enwiki-30k");
    if !folder.join("pages.jsonl.zst").exists() {
        println!("enwiki-30k: skipped, {} is not there", folder.display());
        return;
    }
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().expect("threads");
    let corpus = Corpus::read(&folder);
    println!(
        "enwiki-30k: {} pages, {} queries, {CHECKPOINTS} checkpoints, 2 threads",
        corpus.pages.len(),
        corpus.workload.queries.len()
    );
    let ours = ours(&corpus);
    if std::env::args().any(|argument| argument == "ours") {
        return;
    }
    theirs_afresh(&corpus, &ours);
    theirs_grown(&corpus, &ours);
}

struct Corpus {
    pages: Vec<PageRecord>,
    workload: Workload,
    /// Relevant pages of each query.
    relevant: Vec<Vec<u32>>,
    /// Pages in the order of the crawl.
    order: Vec<u32>,
    checkpoints: Vec<u32>,
    url_order: Vec<u32>,
}

impl Corpus {
    fn read(folder: &Path) -> Self {
        let paths = [folder.join("pages.jsonl.zst")];
        let mut source = ingest::open(&paths, &SourceOptions::default()).expect("corpus opens");
        let mut pages: Vec<PageRecord> = Vec::new();
        loop {
            let items = source.next_batch(5_000).expect("corpus reads");
            if items.is_empty() {
                break;
            }
            pages.extend(items.into_iter().filter_map(|item| match item {
                SourceItem::Page { record, .. } => Some(record),
                SourceItem::Bad { .. } | SourceItem::Other { .. } => None,
            }));
        }
        let workload = workload::load(&folder.join("queries.tsv")).expect("workload");
        let by_url: HashMap<&str, u32> = pages
            .iter()
            .enumerate()
            .map(|(page, record)| (record.url.as_str(), page as u32))
            .collect();
        let mut relevant: HashMap<String, Vec<u32>> = HashMap::new();
        for judgement in qrels::load(&folder.join("qrels.txt")).expect("judgements") {
            if let (true, Some(&page)) = (judgement.grade > 0, by_url.get(judgement.url.as_str())) {
                relevant.entry(judgement.qid).or_default().push(page);
            }
        }
        let relevant = workload
            .queries
            .iter()
            .map(|query| relevant.remove(&query.qid).unwrap_or_default())
            .collect();
        let order = breadth_first(&pages, &by_url, folder);
        let checkpoints =
            (1..=CHECKPOINTS).map(|at| (pages.len() * at / CHECKPOINTS) as u32).collect();
        let mut sorted: Vec<usize> = (0..pages.len()).collect();
        sorted.sort_by(|&a, &b| pages[a].url.cmp(&pages[b].url));
        let mut url_order = vec![0; pages.len()];
        for (place, page) in sorted.into_iter().enumerate() {
            url_order[page] = place as u32;
        }
        Self { pages, workload, relevant, order, checkpoints, url_order }
    }

    fn text(&self, page: u32) -> String {
        let record = &self.pages[page as usize];
        format!("{} {}", record.title, record.text)
    }
}

/// From the seeds along the links; pages that no link reaches follow in the order of the corpus.
fn breadth_first(pages: &[PageRecord], by_url: &HashMap<&str, u32>, folder: &Path) -> Vec<u32> {
    let seeds = std::fs::read_to_string(folder.join("seeds-1.txt")).expect("seeds");
    let mut queue: VecDeque<u32> =
        seeds.lines().filter_map(|url| by_url.get(url).copied()).collect();
    let mut seen: HashSet<u32> = queue.iter().copied().collect();
    let mut order = Vec::new();
    while let Some(page) = queue.pop_front() {
        order.push(page);
        for link in &pages[page as usize].outlinks {
            if let Some(&target) = by_url.get(link.url.as_str())
                && seen.insert(target)
            {
                queue.push_back(target);
            }
        }
    }
    order.extend((0..pages.len() as u32).filter(|page| !seen.contains(page)));
    order
}

struct Ours {
    seconds: f64,
    compatible: Lists,
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

fn ours(corpus: &Corpus) -> Ours {
    let dir = tempfile::tempdir().expect("directory");
    let started = Instant::now();
    let texts = corpus.pages.iter().map(|page| (page.title.clone(), page.text.clone()));
    let index = TextIndex::build(dir.path(), texts).expect("index");
    println!(
        "  ours: index of all pages {:.2} s, built once for any number of crawls",
        seconds(started.elapsed())
    );
    let mut position = vec![u32::MAX; corpus.pages.len()];
    for (place, &page) in corpus.order.iter().enumerate() {
        position[page as usize] = place as u32;
    }
    let crawl = FetchOrder { position: &position, checkpoints: &corpus.checkpoints };
    let (mut best, mut last) = (f64::INFINITY, Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        let (_, gains) = evaluate(corpus, &index, Similarity::Exact(Bm25::default()), &[crawl]);
        best = best.min(seconds(started.elapsed()));
        last = gains;
    }
    println!("  ours: {best:.3} s (best of {RUNS})");
    println!("    nDCG@10 at 5, 50, 100 %: {:.4} {:.4} {:.4}", last[0], last[9], last[19]);
    let started = Instant::now();
    let crawls = [crawl; 10];
    evaluate(corpus, &index, Similarity::Exact(Bm25::default()), &crawls);
    println!("  ours: 10 crawls {:.3} s", seconds(started.elapsed()));
    let started = Instant::now();
    let (compatible, _) = evaluate(corpus, &index, Similarity::Tantivy, &[crawl]);
    println!("  ours, compatible with Tantivy: {:.3} s", seconds(started.elapsed()));
    Ours { seconds: best, compatible }
}

/// Lists of the first crawl, and its mean nDCG@10 with binary grades by checkpoint.
fn evaluate(
    corpus: &Corpus,
    index: &TextIndex,
    similarity: Similarity,
    crawls: &[FetchOrder<'_>],
) -> (Lists, Vec<f64>) {
    let words = corpus.workload.words();
    let scorer =
        CheckpointScorer::new(index, similarity, crawls, &corpus.url_order, words).expect("scorer");
    let queries = &corpus.workload.queries;
    let answers: Vec<(Vec<List>, Vec<f64>)> = queries
        .par_iter()
        .zip(&corpus.relevant)
        .map_init(Workspace::default, |workspace, (query, relevant)| {
            let ask = CheckpointQuery { words: &query.words, top: TOP, ranks_of: relevant };
            let (mut lists, mut gains) = (Vec::new(), Vec::new());
            let ideal: f64 = (0..relevant.len().min(TOP)).map(|at| discount(at as u32 + 1)).sum();
            scorer
                .answer(&ask, workspace, |crawl, _, answer| {
                    let ranks = answer.ranks.iter().flatten().filter(|&&rank| rank <= TOP as u32);
                    let gain: f64 = ranks.map(|&rank| discount(rank)).sum();
                    if crawl == 0 {
                        gains.push(if ideal > 0.0 { gain / ideal } else { 0.0 });
                        lists.push(answer.top.clone());
                    }
                })
                .expect("answer");
            (lists, gains)
        })
        .collect();
    let mean =
        |at: usize| answers.iter().map(|(_, gains)| gains[at]).sum::<f64>() / queries.len() as f64;
    let lists = |at: usize| answers.iter().map(|(lists, _)| lists[at].clone()).collect();
    ((0..CHECKPOINTS).map(lists).collect(), (0..CHECKPOINTS).map(mean).collect())
}

fn discount(rank: u32) -> f64 {
    1.0 / f64::from(rank + 1).log2()
}

fn theirs_afresh(corpus: &Corpus, ours: &Ours) {
    let (mut indexing, mut searching, mut lists) = (0.0, 0.0, Vec::new());
    let mut unpruned = Lists::new();
    for &pages in &corpus.checkpoints {
        let started = Instant::now();
        let mut theirs = Theirs::new();
        theirs.add(corpus, &corpus.order[..pages as usize]);
        indexing += seconds(started.elapsed());
        let started = Instant::now();
        lists.push(theirs.search(&corpus.workload));
        searching += seconds(started.elapsed());
        unpruned.push(theirs.search_unpruned(corpus));
    }
    report("Tantivy, an index for each checkpoint", indexing, searching, &lists, ours);
    let pairs = || unpruned.iter().flatten().zip(ours.compatible.iter().flatten());
    let same = pairs().filter(|(theirs, ours)| theirs == ours).count();
    println!(
        "    of {} lists of all its scores, unpruned, ties by URL: {same} the same pages and bits",
        pairs().count()
    );
}

fn theirs_grown(corpus: &Corpus, ours: &Ours) {
    let (mut indexing, mut searching, mut lists) = (0.0, 0.0, Vec::new());
    let mut theirs = Theirs::new();
    let mut done = 0;
    for &pages in &corpus.checkpoints {
        let started = Instant::now();
        theirs.add(corpus, &corpus.order[done..pages as usize]);
        done = pages as usize;
        indexing += seconds(started.elapsed());
        let started = Instant::now();
        lists.push(theirs.search(&corpus.workload));
        searching += seconds(started.elapsed());
    }
    report("Tantivy, one growing index for this one crawl", indexing, searching, &lists, ours);
}

fn report(name: &str, indexing: f64, searching: f64, theirs: &Lists, ours: &Ours) {
    let total = indexing + searching;
    println!(
        "  {name}: {total:.2} s ({indexing:.2} indexing, {searching:.2} searching): {:.1} times ours",
        total / ours.seconds
    );
    let pairs = || theirs.iter().flatten().zip(ours.compatible.iter().flatten());
    let pages = |list: &[(u32, f64)]| list.iter().map(|(page, _)| *page).collect::<Vec<_>>();
    let all = pairs().count();
    let bits = pairs().filter(|(theirs, ours)| theirs == ours).count();
    let same = pairs().filter(|(theirs, ours)| pages(theirs) == pages(ours)).count();
    // Tantivy's pruned search sums in an order of its own and breaks ties by its document numbers.
    let near = pairs().filter(|(theirs, ours)| equal_up_to_rounding(theirs, ours)).count();
    println!(
        "    of {all} lists: {same} the same pages in the same order, {bits} with the same bits of scores, \
         {near} the same scores up to rounding"
    );
}

fn equal_up_to_rounding(a: &[(u32, f64)], b: &[(u32, f64)]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.max(b);
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a.1, b.1))
}
