//! Where crawls start: seed sets, and what is crawled before the first batch.
//!
//! Everything random is a Fisher-Yates shuffle of the pages in URL order by `ChaCha8`, seeded by the
//! experiment's seed, one stream a seed set: set n has the same pages whatever the policy and the
//! number of sets.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::collection::Collection;
use super::crawl::Start;
use crate::policy::Page;
use crate::policy::amount::Amount;

/// Where seeds come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// URLs of one file a set, in file order.
    Lists(Vec<Vec<String>>),
    /// So many pages at random.
    Random(usize),
    /// So many pages of every host at random.
    PerHost(usize),
}

/// What is crawled before the first batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StartPages {
    /// Canonical URLs.
    List(Vec<String>),
    /// This share of the pages, at random.
    Share(f64),
}

/// Pages in a random order of one set.
pub(super) fn shuffled(collection: &Collection, seed: u64, set: u32) -> Vec<Page> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(set));
    let mut pages = collection.by_url();
    pages.shuffle(&mut random);
    pages
}

/// The seeds of set `set`, and how many URLs of its list are not in the collection.
pub(crate) fn seeds(
    collection: &Collection,
    seeds: &Seeds,
    seed: u64,
    set: u32,
) -> (Vec<Page>, usize) {
    match seeds {
        Seeds::Lists(lists) => {
            let list = &lists[(set as usize - 1).min(lists.len() - 1)];
            let pages: Vec<Page> = list.iter().filter_map(|url| collection.page(url)).collect();
            let missing = list.len() - pages.len();
            (pages, missing)
        }
        Seeds::Random(count) => {
            let mut pages = shuffled(collection, seed, set);
            pages.truncate(*count);
            (pages, 0)
        }
        Seeds::PerHost(count) => {
            let mut taken = vec![0; collection.hosts.len()];
            let mut pages = shuffled(collection, seed, set);
            pages.retain(|&page| {
                let host = &mut taken[collection.host[page as usize] as usize];
                *host += 1;
                *host <= *count
            });
            (pages, 0)
        }
    }
}

/// The start of a crawl without link discovery: `crawled` and, of the rest, the share `promote` of
/// most in-links from crawled pages are crawled, and all other pages are known.
pub(crate) fn mostly_crawled(
    collection: &Collection,
    crawled: &StartPages,
    promote: f64,
    seed: u64,
    set: u32,
) -> (Start, usize) {
    let (mut pages, missing) = match crawled {
        StartPages::List(urls) => {
            let pages: Vec<Page> = urls.iter().filter_map(|url| collection.page(url)).collect();
            let missing = urls.len() - pages.len();
            (pages, missing)
        }
        StartPages::Share(share) => {
            let mut pages = shuffled(collection, seed, set);
            pages.truncate(Amount::Share(*share).pages(collection.pages) as usize);
            (pages, 0)
        }
    };
    pages.sort_unstable();
    pages.dedup();
    let promoted = promoted(collection, &pages, promote);
    pages.extend(promoted);
    pages.sort_unstable_by_key(|&page| collection.url_order[page as usize]);
    (Start { seeds: Vec::new(), crawled: pages, all_known: true }, missing)
}

/// The pages of most in-links from `crawled` (ascending) among the others, ties by URL.
fn promoted(collection: &Collection, crawled: &[Page], share: f64) -> Vec<Page> {
    let is_crawled = |page: &Page| crawled.binary_search(page).is_ok();
    let mut inlinks = vec![0u32; collection.urls.len()];
    for &page in crawled {
        for &target in collection.links(page) {
            inlinks[target as usize] += 1;
        }
    }
    let mut rest = collection.by_url();
    rest.retain(|page| !is_crawled(page));
    if share <= 0.0 || rest.is_empty() {
        return Vec::new();
    }
    let count = Amount::Share(share).pages(rest.len() as u32) as usize;
    rest.sort_by_key(|&page| std::cmp::Reverse(inlinks[page as usize]));
    rest.truncate(count);
    rest
}
