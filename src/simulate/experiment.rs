//! All crawls of an experiment: every policy over every seed set, side by side, each kept at its
//! checkpoints so that a killed run goes on.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use prospect_index::ngram::{NgramIndex, Segment};
use prospect_index::storage::Storage;

use super::SimulateError;
use super::collection::Collection;
use super::crawl::{Budget, CrawlOrder, SimulatedCrawl, Start};
use super::record::OrderRecord;
use super::settings::SimulationSettings;
use super::start;
use crate::plan::polite_time::PoliteTime;
use crate::policy::hidden_web::{Web, WebVectors};
use crate::policy::host_queues::{HostQueues, QueueRoom};
use crate::policy::{Basics, CrawlPolicy, Page, PolicyChoice, Sources};
use crate::workload::Workload;

/// What an experiment is made of.
pub(crate) struct Inputs<'a> {
    /// The pages.
    pub(crate) collection: &'a Collection,
    /// n-grams of the collection, if a policy plans.
    pub(crate) strings: Option<&'a Segment>,
    /// Vectors of the collection and of the queries, where there is an embedding model.
    pub(crate) vectors: Option<WebVectors<'a>>,
    /// Queries to plan for, merged.
    pub(crate) planning: &'a Workload,
    /// By page: quality.
    pub(crate) quality: Option<&'a [f64]>,
    /// By page: true impact over the planning workload.
    pub(crate) impact: &'a [f64],
    /// By page: queries of the judgements that it is relevant for.
    pub(crate) relevant: &'a [u32],
}

/// What is going on, for people.
pub(crate) trait CrawlProgress: Sync {
    /// A crawl has fetched `pages` of at most `of` pages.
    fn crawled(&self, policy: usize, set: u32, pages: u32, of: u32);
    /// A crawl is complete.
    fn done(&self, policy: usize, set: u32);
}

/// The crawls of one experiment.
pub(crate) struct Crawls {
    /// By set: where it starts.
    pub(crate) starts: Vec<Start>,
    /// By policy, then by set.
    pub(crate) orders: Vec<Vec<CrawlOrder>>,
    /// The same with the seconds in which each page was asked for, where time is simulated.
    pub(crate) seconds: Vec<Vec<Vec<f64>>>,
    /// Numbers of fetched pages at which crawls are evaluated.
    pub(crate) checkpoints: Vec<u32>,
}

/// Where crawls start and how far they go.
#[derive(Clone)]
pub(crate) struct Course {
    /// By set: where it starts.
    pub(crate) starts: Vec<Start>,
    /// URLs of seed and crawl lists that are not in the collection.
    pub(crate) missing: usize,
    /// Pages that can be fetched.
    pub(crate) fetchable: u32,
    /// Pages to fetch at most.
    pub(crate) pages: usize,
    /// Numbers of fetched pages at which crawls are evaluated, ascending.
    pub(crate) checkpoints: Vec<u32>,
    /// Those that no crawl gets to.
    pub(crate) beyond: Vec<u32>,
}

impl Course {
    /// The course of an experiment's crawls.
    pub(crate) fn new(collection: &Collection, settings: &SimulationSettings) -> Self {
        let (starts, missing) = starts(collection, settings);
        let crawled = starts.iter().map(|start| start.crawled.len()).max().unwrap_or(0) as u32;
        let outside = collection.urls.len() as u32 - collection.pages;
        let fetchable = collection.pages - crawled;
        let all = fetchable + outside;
        let pages = settings.max_pages.map_or(all, |most| most.pages(fetchable)) as usize;
        let mut checkpoints: Vec<u32> =
            settings.checkpoints.iter().map(|amount| amount.pages(fetchable)).collect();
        checkpoints.sort_unstable();
        checkpoints.dedup();
        let reached = checkpoints.partition_point(|&at| at as usize <= pages && at <= all);
        let beyond = checkpoints.split_off(reached);
        Self { starts, missing, fetchable, pages, checkpoints, beyond }
    }
}

/// Where crawls are kept, so that a killed run goes on.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    /// The output.
    pub(crate) storage: &'a Storage,
    /// Folder in it.
    pub(crate) folder: &'a str,
    /// Identifies settings and inputs.
    pub(crate) experiment: u64,
}

/// Runs all crawls, those of a killed run from where they were kept in `work`.
///
/// # Errors
/// A policy cannot be made or cannot go on, or a record cannot be written.
pub(crate) fn run(
    inputs: &Inputs<'_>,
    settings: &SimulationSettings,
    course: Course,
    work: Work<'_>,
    progress: &dyn CrawlProgress,
) -> Result<Crawls, SimulateError> {
    let strings = inputs.strings.map(|segment| NgramIndex::new(vec![segment])).transpose()?;
    let run = Run {
        inputs,
        settings,
        web: strings.as_ref().map(|strings| web(inputs, strings, None, settings)).transpose()?,
        course: &course,
        work,
        progress,
    };
    let mut orders = run.all()?;
    let mut seconds = Vec::new();
    for of_policy in orders.iter_mut().filter(|_| settings.clock.is_some()) {
        let mut of_sets = Vec::new();
        for order in of_policy {
            let Some(clock) = &settings.clock else { continue };
            let (timed, asked) = clock.timed(inputs.collection, order);
            *order = timed;
            of_sets.push(asked);
        }
        seconds.push(of_sets);
    }
    let Course { starts, checkpoints, .. } = course;
    Ok(Crawls { starts, orders, seconds, checkpoints })
}

/// What planned policies read.
///
/// # Errors
/// A text cannot be read.
pub(crate) fn web<'a>(
    inputs: &Inputs<'a>,
    strings: &'a NgramIndex<'a>,
    trainers: Option<&'a Workload>,
    settings: &SimulationSettings,
) -> Result<Web<'a>, SimulateError> {
    let collection = inputs.collection;
    let web = collection.web(strings, inputs.planning, trainers)?;
    let near_duplicates = settings.lacks().then(|| collection.near_duplicates()).transpose()?;
    Ok(Web { vectors: inputs.vectors, near_duplicates, ..web })
}

fn starts(collection: &Collection, settings: &SimulationSettings) -> (Vec<Start>, usize) {
    let mut missing = 0;
    let starts = (1..=settings.sets)
        .map(|set| {
            let (start, absent) = if let Some(crawled) = &settings.crawled {
                let (seed, promote) = (settings.seed, settings.promote);
                start::mostly_crawled(collection, crawled, promote, seed, set)
            } else {
                let (seeds, absent) = start::seeds(collection, &settings.seeds, settings.seed, set);
                (Start { seeds, ..Start::default() }, absent)
            };
            missing += absent;
            start
        })
        .collect();
    (starts, missing)
}

struct Run<'a> {
    inputs: &'a Inputs<'a>,
    settings: &'a SimulationSettings,
    web: Option<Web<'a>>,
    course: &'a Course,
    work: Work<'a>,
    progress: &'a dyn CrawlProgress,
}

impl Run<'_> {
    /// As many crawls at a time as there are threads; planned ones, which take longest, first.
    fn all(&self) -> Result<Vec<Vec<CrawlOrder>>, SimulateError> {
        let policies = &self.settings.policies;
        let mut tasks: Vec<(usize, usize)> = (0..policies.len())
            .flat_map(|policy| (0..self.course.starts.len()).map(move |set| (policy, set)))
            .collect();
        tasks.sort_by_key(|&(policy, _)| !policies[policy].kind.is_planned());
        let found = side_by_side(tasks.len(), |at| {
            let (policy, set) = tasks[at];
            self.one(policy, set)
        })?;
        let mut done: Vec<_> = tasks.into_iter().zip(found).collect();
        done.sort_by_key(|(task, _)| *task);
        let mut orders = vec![Vec::with_capacity(self.course.starts.len()); policies.len()];
        for ((policy, _), order) in done {
            orders[policy].push(order);
        }
        Ok(orders)
    }

    fn one(&self, policy: usize, set: usize) -> Result<CrawlOrder, SimulateError> {
        let choice = &self.settings.policies[policy];
        let Work { storage, folder, experiment } = self.work;
        let name = format!("{folder}/{}/{}", choice.label(), set + 1);
        let record = OrderRecord::read(storage, &name, experiment).unwrap_or_default();
        let of = (self.course.pages as u32).min(self.inputs.collection.urls.len() as u32);
        let number = set as u32 + 1;
        if record.complete {
            self.progress.done(policy, number);
            return Ok(record.order);
        }
        let Course { pages, fetchable, .. } = *self.course;
        let budget = Budget { batch: self.settings.batch_of(choice, fetchable), pages };
        let mut room = QueueRoom::default();
        let mut made = self.policy(choice, number, &mut room)?;
        let state = made.as_mut();
        let mut crawl =
            SimulatedCrawl::start(self.inputs.collection, &self.course.starts[set], state)?;
        let (mut from, mut spent) = (0, 0.0);
        for &end in &record.order.batch_ends {
            crawl.replay(state, budget, &record.order.pages[from..end as usize])?;
            spent += self.takes(&record.order.pages[from..end as usize]);
            from = end as usize;
        }
        loop {
            let before = crawl.order.pages.len();
            let more = self.has_time(spent) && crawl.step(state, budget)?;
            let now = crawl.order.pages.len();
            spent += self.takes(&crawl.order.pages[before..]);
            let passed = |&at: &u32| before < at as usize && at as usize <= now;
            if !more || self.course.checkpoints.iter().any(passed) {
                let record = OrderRecord { order: crawl.order.clone(), complete: !more };
                record.write(storage, &name, experiment)?;
            }
            if !more {
                self.progress.done(policy, number);
                return Ok(crawl.order);
            }
            self.progress.crawled(policy, number, now as u32, of);
        }
    }

    /// A policy that knows no page; where its batches are times, behind queues with this room or, if it plans, with
    /// the time of its plans.
    fn policy<'r>(
        &'r self,
        choice: &PolicyChoice,
        set: u32,
        room: &'r mut QueueRoom,
    ) -> Result<Box<dyn CrawlPolicy + 'r>, SimulateError> {
        let (sources, mut settings) = self.sources(set);
        let window = self.settings.clock.as_ref().zip(self.settings.window_of(choice));
        let Some((clock, seconds)) = window else { return Ok(choice.make(&sources, settings)?) };
        if choice.kind.is_planned() {
            settings.selection.caps.time = PoliteTime { seconds: Some(seconds), ..clock.time };
            settings.queues = clock.queues.clone();
            return Ok(choice.make(&sources, settings)?);
        }
        *room = clock.room(self.inputs.collection, seconds);
        Ok(Box::new(HostQueues::new(choice.make(&sources, settings)?, room)))
    }

    /// Seconds that a batch takes, where time is simulated.
    fn takes(&self, batch: &[Page]) -> f64 {
        let clock = self.settings.clock.as_ref();
        clock.map_or(0.0, |clock| clock.batch(self.inputs.collection, batch).0)
    }

    fn has_time(&self, spent: f64) -> bool {
        let most = self.settings.clock.as_ref().and_then(|clock| clock.most);
        most.is_none_or(|most| spent < most)
    }

    fn sources(&self, set: u32) -> (Sources<'_>, crate::planner::settings::PlanSettings) {
        let collection = self.inputs.collection;
        let basics = Basics {
            url_order: &collection.url_order,
            host: &collection.host,
            hosts: collection.hosts.len(),
            seed: self.settings.seed,
            set,
        };
        let sources = Sources {
            basics,
            quality: self.inputs.quality,
            web: self.web.as_ref(),
            impact: self.inputs.impact,
            relevant: self.inputs.relevant,
        };
        let mut settings = self.settings.plan.clone();
        // Each set draws its own exploration.
        settings.selection.seed = self.settings.seed.wrapping_add(u64::from(set) << 48);
        (sources, settings)
    }
}

/// Does as many of so many tasks at a time as there are threads, the first ones first; results are in the order of the tasks.
/// The first error ends what has not begun.
///
/// # Errors
/// The first error by the order of the tasks.
pub(super) fn side_by_side<T: Send>(
    tasks: usize,
    act: impl Fn(usize) -> Result<T, SimulateError> + Sync,
) -> Result<Vec<T>, SimulateError> {
    let next = AtomicUsize::new(0);
    let work = || work_off(tasks, &next, &act);
    let mut results: Vec<(usize, Result<T, SimulateError>)> = std::thread::scope(|scope| {
        let threads = rayon::current_num_threads();
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.flat_map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(task, _)| *task);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Does one task after the other, from the `next` one that nobody has begun, and gives their results by number. An error
/// leaves no further task to anybody.
fn work_off<T>(
    tasks: usize,
    next: &AtomicUsize,
    act: impl Fn(usize) -> Result<T, SimulateError>,
) -> Vec<(usize, Result<T, SimulateError>)> {
    let mut done = Vec::new();
    loop {
        let task = next.fetch_add(1, Ordering::Relaxed);
        if task >= tasks {
            return done;
        }
        let result = act(task);
        if result.is_err() {
            next.store(tasks, Ordering::Relaxed);
        }
        done.push((task, result));
    }
}

/// Whether a policy of the list plans.
pub(crate) fn needs_strings(policies: &[PolicyChoice]) -> bool {
    policies.iter().any(|choice| choice.kind.is_planned())
}
