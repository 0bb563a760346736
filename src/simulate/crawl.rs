//! One simulated crawl: a policy picks, pages are fetched, their links are seen.

use super::collection::Collection;
use super::settings::SimulationSettings;
use crate::policy::amount::Amount;
use crate::policy::{CrawlPolicy, Fetched, Page, PolicyChoice, PolicyError};

/// Where a crawl starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Pages to fetch first, in file order; without repetitions.
    pub seeds: Vec<Page>,
    /// Pages that are crawled before the first batch, in URL order.
    pub crawled: Vec<Page>,
    /// Whether every page of the collection is known from the start: there is nothing to discover.
    pub all_known: bool,
}

/// How far a crawl goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Pages per batch.
    pub batch: usize,
    /// Pages in all.
    pub pages: usize,
}

impl Budget {
    /// Batches of a policy up to a share of the pages that can be fetched.
    pub(crate) fn until(
        share: f64,
        settings: &SimulationSettings,
        choice: &PolicyChoice,
        fetchable: Page,
    ) -> Self {
        let pages = Amount::Share(share).pages(fetchable) as usize;
        Self { batch: settings.batch_of(choice, fetchable), pages }
    }
}

/// A crawl, as far as it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrawlOrder {
    /// Pages in fetch order, those crawled before left out.
    pub(crate) pages: Vec<Page>,
    /// Pages fetched at the end of each batch.
    pub(crate) batch_ends: Vec<u32>,
    /// Pages fetched before the first batch of which the policy expected too little.
    pub(crate) no_gain: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Waiting,
    Fetched,
}

/// A crawl while it runs.
///
/// ```
/// use prospect::planner::settings::PlanSettings;
/// use prospect::policy::{Basics, PolicyChoice, Sources};
/// use prospect::simulate::crawl::{Budget, SimulatedCrawl, Start};
/// use prospect_index::page::UrlId;
/// # use prospect::simulate::collection::{CollectionBuilder, Outside};
/// # use prospect_index::ingest::PreparedLink;
/// # use prospect_index::text_index::TextIndex;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let texts = ["home", "crawl policies", "crawl budgets", "ships"];
/// # let texts = texts.map(|text| (String::new(), text.to_owned()));
/// # let text = TextIndex::build(&dir.path().join("index"), texts)?;
/// # let url = |page: usize| format!("https://a.test/{page}");
/// # let mut builder = CollectionBuilder::default();
/// # for (page, links) in [vec![2, 1], vec![3], vec![], vec![]].into_iter().enumerate() {
/// #     let link = |to| PreparedLink { canonical: url(to), shown: (url(to), "").into() };
/// #     let links: Vec<PreparedLink> = links.into_iter().map(link).collect();
/// #     builder.add((&url(page), &url(page)), "", None, links.iter());
/// # }
/// # let collection = builder.finish(&text, Outside::Drop)?;
/// # let basics = Basics {
/// #     url_order: &collection.url_order,
/// #     host: &collection.host,
/// #     hosts: collection.hosts.len(),
/// #     seed: 1,
/// #     set: 1,
/// # };
/// // `/0` of `collection` links to `/2` and `/1`, and `/1` links to `/3`.
/// let sources = Sources { basics, quality: None, web: None, impact: &[], relevant: &[] };
/// let mut policy = "bfs".parse::<PolicyChoice>()?.make(&sources, PlanSettings::new(4))?;
/// let start = Start { seeds: vec![0], ..Start::default() };
/// let mut crawl = SimulatedCrawl::start(&collection, &start, &mut *policy)?;
/// while crawl.step(&mut *policy, Budget { batch: 1, pages: 4 })? {}
/// let url = |page| collection.urls.url(UrlId(page));
/// let fetched: Vec<&str> = crawl.into_pages().into_iter().map(url).collect();
/// let expected = ["/0", "/2", "/1", "/3"].map(|path| format!("https://a.test{path}"));
/// assert_eq!(fetched, expected);
/// # Ok(())
/// # }
/// ```
pub struct SimulatedCrawl<'a> {
    collection: &'a Collection,
    state: Vec<State>,
    /// The order so far.
    pub(crate) order: CrawlOrder,
    new: Vec<Page>,
    waiting: Vec<Page>,
    /// Where the waiting links of each page of the batch end.
    waiting_ends: Vec<usize>,
}

impl<'a> SimulatedCrawl<'a> {
    /// Starts a crawl: the policy is told of seeds and of what was crawled before.
    ///
    /// # Errors
    /// The policy cannot take it in.
    pub fn start(
        collection: &'a Collection,
        start: &Start,
        policy: &mut dyn CrawlPolicy,
    ) -> Result<Self, PolicyError> {
        let mut crawl = Self {
            collection,
            state: vec![State::Unknown; collection.urls.len()],
            order: CrawlOrder::default(),
            new: Vec::new(),
            waiting: Vec::new(),
            waiting_ends: Vec::new(),
        };
        let is_new = |state: &mut [State], page: Page| {
            std::mem::replace(&mut state[page as usize], State::Waiting) == State::Unknown
        };
        let mut seeds = start.seeds.clone();
        seeds.retain(|&page| is_new(&mut crawl.state, page));
        policy.seeds(&seeds);
        if !start.crawled.is_empty() || start.all_known {
            crawl.fetch(&start.crawled, policy);
            if start.all_known {
                let mut known = collection.by_url();
                known.retain(|&page| crawl.state[page as usize] == State::Unknown);
                for &page in &known {
                    crawl.state[page as usize] = State::Waiting;
                }
                policy.known(&known);
            }
            policy.batch_done()?;
        }
        Ok(crawl)
    }

    /// A crawl that goes as far as its budget.
    ///
    /// # Errors
    /// The policy cannot go on.
    pub(crate) fn run(
        collection: &'a Collection,
        start: &Start,
        policy: &mut dyn CrawlPolicy,
        budget: Budget,
    ) -> Result<Self, PolicyError> {
        let mut crawl = Self::start(collection, start, policy)?;
        while crawl.step(policy, budget)? {}
        Ok(crawl)
    }

    /// Fetches the next batch; false when the frontier is empty or the budget spent.
    ///
    /// # Errors
    /// The policy cannot go on.
    pub fn step(
        &mut self,
        policy: &mut dyn CrawlPolicy,
        budget: Budget,
    ) -> Result<bool, PolicyError> {
        let most = self.most(budget);
        let mut batch = Vec::new();
        if most > 0 {
            policy.next(most, &mut batch)?;
        }
        self.take(&batch, policy)
    }

    /// Most pages of the next batch.
    fn most(&self, budget: Budget) -> usize {
        budget.batch.min(budget.pages.saturating_sub(self.order.pages.len()))
    }

    /// Fetches a batch that an earlier run of this crawl had picked.
    ///
    /// # Errors
    /// The policy cannot go on, or picks otherwise now.
    pub(crate) fn replay(
        &mut self,
        policy: &mut dyn CrawlPolicy,
        budget: Budget,
        batch: &[Page],
    ) -> Result<(), PolicyError> {
        let waits = |page: &Page| self.state.get(*page as usize) == Some(&State::Waiting);
        if !batch.iter().all(waits) {
            return Err(PolicyError::Replay);
        }
        policy.replay(self.most(budget), batch)?;
        self.take(batch, policy).map(|_| ())
    }

    fn take(&mut self, batch: &[Page], policy: &mut dyn CrawlPolicy) -> Result<bool, PolicyError> {
        if batch.is_empty() {
            return Ok(false);
        }
        if self.order.no_gain.is_none() && policy.expects_little() {
            self.order.no_gain = Some(self.order.pages.len() as u32);
        }
        self.order.pages.extend(batch);
        self.order.batch_ends.push(self.order.pages.len() as u32);
        self.fetch(batch, policy);
        policy.batch_done()?;
        Ok(true)
    }

    /// Links in fetch order, then changes of priority.
    fn fetch(&mut self, batch: &[Page], policy: &mut dyn CrawlPolicy) {
        for &page in batch {
            self.state[page as usize] = State::Fetched;
        }
        self.waiting.clear();
        self.waiting_ends.clear();
        for &page in batch {
            self.new.clear();
            let links = self.collection.links(page);
            for &target in links {
                let state = &mut self.state[target as usize];
                match state {
                    State::Unknown => {
                        *state = State::Waiting;
                        self.new.push(target);
                    }
                    State::Waiting => self.waiting.push(target),
                    State::Fetched => {}
                }
            }
            self.waiting_ends.push(self.waiting.len());
            let failed = page >= self.collection.pages;
            policy.fetched(&Fetched { page, links, new: &self.new, failed });
        }
        let mut from = 0;
        for (&page, &end) in batch.iter().zip(&self.waiting_ends) {
            if from < end {
                policy.linked_again(page, &self.waiting[from..end]);
            }
            from = end;
        }
    }

    /// Pages in fetch order, those crawled before left out.
    pub fn into_pages(self) -> Vec<Page> {
        self.order.pages
    }
}
