//! The frontier n-gram index: which URLs share word n-grams with a query.
//!
//! # What it is
//!
//! A [`Segment`] holds, for a set of [`UrlId`](crate::page::UrlId)s, the strings known of each
//! before it is fetched: the URL itself and the anchor texts that link to it. Its n-grams are the
//! runs of 1 to g words of these strings; they never cross two strings. A page's n-grams are the
//! union over its strings *and over all segments*, so new anchors go into a new small segment and
//! [`merge()`] tidies up later. Where a string is no longer known of a page, the new segment has those that are, and
//! the older ones [hide](Segment::hide) it. [`NgramIndex::match_query`] finds every URL that holds enough of a
//! query's n-grams: Pandey and Olston, "Crawl ordering by search impact" (WSDM 2008), section 3.2;
//! the rules are fixed in METHODS, section 1.
//!
//! ```
//! use prospect_index::ngram::{
//!     BuildConfig, NgramIndex, NgramQuery, Scratch, Segment, SegmentBuilder,
//! };
//! use prospect_index::page::UrlId;
//! use prospect_index::words::{url_text, words};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path();
//! let mut builder = SegmentBuilder::new(BuildConfig::default(), dir)?;
//! builder.add(UrlId(4), &url_text("https://a.test/crawl-budget"))?;
//! builder.add(UrlId(4), "Planning a crawl")?;
//! builder.add(UrlId(9), &url_text("https://b.test/budget"))?;
//! builder.finish()?;
//!
//! let segment = Segment::read(dir)?;
//! let index = NgramIndex::new(vec![&segment])?;
//! let query = NgramQuery::new(&words("crawl budget"), 3).needing_share(0.5)?;
//! let matches = index.match_query(&query, |_| false, &mut Scratch::default())?;
//! assert_eq!(matches.len(), 1);
//! assert_eq!(matches[0].url, UrlId(4));
//! assert_eq!(matches[0].matched.len(), 3); // crawl, budget, "crawl budget"
//! # Ok(())
//! # }
//! ```
//!
//! # Memory
//!
//! A build takes its budget for sorting, and outside it what grows with the segment: the dictionary
//! of words (about 60 bytes and the word), 12 bytes a URL, 10 bits a distinct n-gram, and the strings of the one URL being
//! added. An open segment is its five files, three of them mapped, 4 bytes a URL and 24 a word. A [`Scratch`] is about
//! 0.1 MB whatever the size of the index.
//!
//! # Not here
//!
//! Which URLs and anchors exist (`page_store`), which URLs are crawled (a mask given by the caller),
//! checksums and commits (`storage`, `manifest`), what a match is worth (`estimate`).

mod builder;
mod cursor;
mod error;
mod files;
mod filter;
mod layout;
mod matching;
mod merge;
mod ngram_set;
mod page;
mod parts;
mod plan;
mod query;
mod resolve;
mod scratch;
mod segment;
mod sort;
#[cfg(test)]
mod tests;
mod varint;
mod walk;
mod window;
mod writer;

pub use builder::SegmentStats;
pub use builder::{BuildConfig, SegmentBuilder};
pub use error::NgramError;
#[cfg(test)]
pub(crate) use layout::{FILTER, NGRAMS, POSTINGS, STRINGS, TOKENS};
#[cfg(test)]
pub(crate) use matching::Match;
pub use matching::NgramIndex;
pub(crate) use merge::merge;
pub use ngram_set::NgramSet;
pub(crate) use parts::SegmentParts;
pub use query::NgramQuery;
pub use scratch::Scratch;
pub use segment::Segment;
