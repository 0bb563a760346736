//! Crawl policies: in which order pages of a collection are fetched.
//!
//! A policy is told what a crawler would see (the seeds, and the links of every page once it is
//! fetched) and is asked for the next pages. It is one file here and one line in [`POLICIES`].
//! Policies know nothing of metrics; judgements and other knowledge that no crawler has
//! reach only those that the registry marks as oracles, by the type of their maker.
//!
//! Batches (METHODS, section 2): the first pages of the frontier as it stood at batch start, in the
//! policy's order; then their links in fetch order; then changes of priority. Ties go by canonical
//! URL, ascending.

pub(crate) mod amount;
mod breadth;
mod depth;
pub mod hidden_web;
mod host_mean;
pub(crate) mod host_queues;
mod importance;
mod lack;
mod opic;
mod options;
pub(crate) mod planned;
mod planned_kinds;
mod planned_probe;
mod polite_seeds;
mod posterior;
mod priority;
mod propagation;
mod quality_skip;
mod queue;
mod registry;
mod site_budget;

pub(crate) use options::PolicyOptionError;
pub(crate) use registry::POLICIES;
pub use registry::{PolicyChoice, Sources};

/// A page, by its number in the collection.
pub(crate) type Page = u32;

/// Quality of a page without a score (METHODS, section 2).
pub(crate) const NO_QUALITY: f64 = -50.0;

/// A page that was fetched, with what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Fetched<'a> {
    /// The page.
    pub(crate) page: Page,
    /// Distinct pages it links to, itself left out, in document order.
    pub(crate) links: &'a [Page],
    /// Those of them that were not known before, in document order: they enter the frontier.
    pub(crate) new: &'a [Page],
    /// Whether the fetch failed; then there is no link.
    pub(crate) failed: bool,
}

/// A crawl order, one decision after the other.
///
/// The caller keeps what is known and fetched; a page enters a policy's frontier once, by
/// [`CrawlPolicy::seeds`], [`CrawlPolicy::known`] or [`Fetched::new`], and leaves it when
/// [`CrawlPolicy::next`] gives it.
pub trait CrawlPolicy {
    /// The pages that the crawl starts from, in file order.
    fn seeds(&mut self, seeds: &[Page]);

    /// Pages that are known from the start without a link, in URL order.
    fn known(&mut self, pages: &[Page]);

    /// Appends the next pages to fetch, at most `most`, in fetch order; nothing when the frontier
    /// is empty.
    ///
    /// # Errors
    /// The policy plans with an index that cannot be read.
    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError>;

    /// A page of the batch was fetched. Called for each, in fetch order.
    fn fetched(&mut self, fetched: &Fetched<'_>);

    /// A fetched page of the batch links to pages that are still in the frontier. Called for
    /// each page of the batch after all calls of [`CrawlPolicy::fetched`], in fetch order.
    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        let _ = (page, waiting);
    }

    /// The batch is complete.
    ///
    /// # Errors
    /// The policy learns from an index that cannot be read.
    fn batch_done(&mut self) -> Result<(), PolicyError> {
        Ok(())
    }

    /// Whether the batch that was picked last is expected to bring by page less than a tenth of what the first planned pages
    /// brought; never of a policy that expects nothing.
    fn expects_little(&self) -> bool {
        false
    }

    /// Takes pages out of the frontier that an earlier run of the same crawl had picked as one
    /// batch of `most` at most, in place of [`CrawlPolicy::next`]: a crawl that is resumed needs no new decision.
    ///
    /// # Errors
    /// As for [`CrawlPolicy::next`].
    fn replay(&mut self, most: usize, batch: &[Page]) -> Result<(), PolicyError> {
        let mut again = Vec::with_capacity(batch.len());
        self.next(most, &mut again)?;
        if again == batch { Ok(()) } else { Err(PolicyError::Replay) }
    }
}

/// Why a policy cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// Planning failed.
    #[error(transparent)]
    Plan(#[from] crate::planner::PlannerError),
    /// A resumed crawl picks other pages than it did before.
    #[error("the crawl that is resumed was made by another version or from other inputs")]
    Replay,
}

/// What every policy may know of a collection before the crawl.
#[derive(Clone, Copy, Debug)]
pub struct Basics<'a> {
    /// By page: its place among all by canonical URL. Decides ties.
    pub url_order: &'a [u32],
    /// By page: its host, as a number.
    pub host: &'a [u32],
    /// Hosts.
    pub hosts: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Number of the seed set, from 1.
    pub set: u32,
}

/// By page: quality of its text, as a log-probability. A policy that is no oracle reads it of
/// fetched pages only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quality<'a>(pub(crate) &'a [f64]);

/// What no crawler can know; for oracles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth<'a> {
    /// By page: true impact over the planning workload.
    pub(crate) impact: &'a [f64],
    /// By page: queries that it was judged relevant for.
    pub(crate) relevant: &'a [u32],
}

/// A number whose order is that of `f64::total_cmp`.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
