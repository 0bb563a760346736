//! The on-disk side of Prospect: everything that must survive a crash, and everything that is
//! searched.
//!
//! # What it is
//!
//! A *store* is a directory. It keeps what a crawl has shown so far: URLs, fetched pages, links,
//! and the plans made from them. Over these it answers two kinds of questions, exactly:
//!
//! - which *pages* answer a query best: [`text_index`] and [`bm25`];
//! - which *URLs not fetched yet* share words with a query: [`frontier`] and [`ngram`].
//!
//! What is worth fetching is not decided here: this crate knows no policy, no model, no clock and
//! no randomness. The same records give the same bytes of truth and the same answers.
//!
//! ```
//! use prospect_index::bm25::{Bm25, Scorer};
//! use prospect_index::ingest::ingest_all;
//! use prospect_index::page::PageRecord;
//! use prospect_index::store::{Store, StoreOptions};
//! use prospect_index::text_index::TextIndex;
//! use prospect_index::words::words;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let root = dir.path();
//! let page = |url: &str, text: &str| PageRecord {
//!     url: url.to_owned(),
//!     text: text.to_owned(),
//!     ..PageRecord::default()
//! };
//! let pages = vec![
//!     page("https://a.test/", "Planning a crawl"),
//!     page("https://b.test/", "A crawl, a crawl, a budget"),
//! ];
//! ingest_all(root, pages, "names these inputs")?;
//!
//! let store = Store::open(root, &StoreOptions::default())?;
//! let known = store.known()?;
//! let (index, _) = TextIndex::open(store.storage(), store.manifest(), &known.pages)?;
//! let query = words("crawl budget");
//! let end_seq = store.manifest().next_seq;
//! let scorer = Scorer::new(&index, Bm25::default(), end_seq, query.iter().map(String::as_str))?;
//! let words = scorer.term_ids(&query);
//! let postings = scorer.ordered(words.iter().copied(), 0..end_seq, |seq, _| seq)?;
//! let best = scorer.contenders(&words, &postings, 1); // each was the best when it was fetched
//! assert_eq!(best.len(), 2);
//! assert_eq!(known.urls.url(best[1].url), "https://b.test/");
//! # Ok(())
//! # }
//! ```
//!
//! # What lies where
//!
//! ```text
//! DIR/MANIFEST.json                    the commit point: every live file of the truth, with
//!                                      length and checksum; its own checksum beside it
//! DIR/LOCK                             held by the one process that works on the store
//! DIR/segments/urls-000002.parquet     truth: known URLs, row number = UrlId
//!             /pages-000002.parquet    fetched pages and failed fetches, by fetch_seq
//!             /links-000002.parquet    links that pages show, with anchors, by fetch_seq
//!             /around-000002.parquet   text around links, by fetch_seq
//!             /…                       plans, workloads, outcomes
//! DIR/derived/text/                    Tantivy: title and text of pages
//!            /frontier/                n-grams of uncrawled URLs and their anchors
//!            /history/                 n-grams of crawled pages, as known before their cycle
//!            /vectors-…/               URLs, anchors, titles and queries by an embedding model
//!            /tables/                  URLs, links and anchors as columns that are mapped, where there are many
//!            /link-context/            words around links, likewise
//!            /*/STATE.json             files with length and checksum, and what they were built from
//! ```
//!
//! A segment is written once and never changed; the number in its name is the generation, which
//! counts commits. A record has a `fetch_seq`, its place in the order of all records, and belongs
//! to a *cycle*, a run of `fetch_seq`. A page fetched again, or at the URL that it has moved to, does not change the older
//! record: it marks it as superseded from its own `fetch_seq` on, so that the store as of any `fetch_seq` can
//! be seen.
//!
//! # How a commit works
//!
//! 1. Each new segment is written under a temporary name, synced, renamed, and its directory
//!    synced. No manifest names it yet: it does not exist.
//! 2. The manifest is replaced in the same four steps. Its rename is the commit.
//! 3. What a crash left behind, segments that no manifest names and temporary files, is removed
//!    when the store is opened next.
//!
//! So a reader finds the state before or the state after, whatever step was the last. After one
//! failed write a handle refuses to write again ([`error::StoreError::Poisoned`]). An ingest that
//! is run again after its commit is known by its fingerprint and changes nothing.
//!
//! One process at a time works on a store. The lock is the operating system's and ends with the
//! process, however that ends. Who only asks needs none: [`store::Store::read_last`] reads what was committed
//! last, and [`store::Store::snapshot`] keeps it under second names, in a folder below `DIR/readers`, for as long as it takes.
//!
//! # Derived structures
//!
//! Everything below `derived` can be deleted at any time. Each structure has a state file, written
//! last and atomically, that names its files and the pages it was built from. A structure that is
//! missing, of another version, built from other pages, or damaged in a single bit is built anew,
//! and the caller is told why ([`text_index::Refresh::rebuilt`]); one that is merely behind is
//! extended by what is new. Segments are kept in geometric sizes, so that a page or URL is
//! rewritten logarithmically often.
//!
//! # Versions
//!
//! The manifest has the format of the store, and for each file the version of its schema. Columns are found by
//! name and type, not by place. Stores of older formats are read, and written anew by the next commit
//! ([`manifest`], [`columns`]); a newer one is refused as newer. A whole file that is not understood is
//! told as that, and never as damaged.
//!
//! # What is verified when
//!
//! | What | When |
//! |---|---|
//! | checksum of the manifest, length of every live file | [`store::Store::open`] |
//! | checksum of `urls`, `pages` and `links`, as far as they are not mapped | [`store::Store::known`] and the start of an ingest (without `links`, which it does not read) |
//! | checksum of `around`, likewise | [`store::Store::link_context`] |
//! | checksum of the other tables | [`store::Store::read_records`] |
//! | names and types of columns | each time they are read |
//! | checksum of a derived structure | each time it is opened |
//! | everything, and every row | [`check::check`] with `full` |
//!
//! # Memory
//!
//! While a store is in use: the bytes of the URLs and about 20 each, 12 bytes a URL and 12 a record
//! of fetch history, 24 bytes a link and the distinct anchor texts; for a plan that estimates pairs anew
//! also up to [`link_context::PER_URL`] texts around links to each URL, at most 100 bytes each. Of URLs, links and texts around
//! them that are mapped, in large stores seven eighths or more, the system keeps in memory what is touched, as long as it has room. The text index: 16 bytes a
//! document, postings mapped; indexing takes 128 MiB. The n-gram index: see [`ngram`]. An ingest
//! holds up to 16 MiB of text. Caps on records are in [`limits`].
//!
//! # What we assume about the disk
//!
//! A rename within a directory is atomic, and what was synced before it is there after it. We do
//! not assume that unsynced data survives, nor that bits stay as they were written. A file that is
//! changed *while* it is in use is not noticed. Locks work: a network file system without them is
//! no place for a store.
//!
//! # The modules
//!
//! | Module | Responsible for |
//! |---|---|
//! | [`storage`] | the only door to the disk; fault injection for tests |
//! | [`manifest`] | the commit point |
//! | [`store`] | the handle: lock, opening, commits |
//! | [`columns`] | flat tables as Parquet files |
//! | [`page`], [`url`], [`words`], [`limits`] | records, canonical URLs, words, caps |
//! | [`url_table`], [`page_store`], [`link_table`] | known URLs, fetches and texts, links |
//! | [`fetch_outcome`] | what a fetch came to, by its status |
//! | [`link_context`] | text around links |
//! | [`ingest`] | from records to one commit |
//! | [`derived`] | states of what can be rebuilt |
//! | [`text_index`], [`bm25`] | search over pages |
//! | [`checkpoints`] | search as of every checkpoint of many simulated crawls |
//! | [`ngram`], [`frontier`] | matches over URLs and anchors |
//! | [`check`] | walking a store and proving it |
//! | [`error`] | what can go wrong |

#![deny(unreachable_pub)]

pub mod bm25;
pub mod check;
pub mod checkpoints;
pub mod columns;
pub mod compaction;
pub mod derived;
pub mod error;
pub mod fetch_outcome;
pub mod fetch_time;
pub mod frontier;
pub mod ingest;
mod kept_tables;
pub mod limits;
pub mod link_context;
pub mod link_table;
pub mod manifest;
mod mapped;
pub mod ngram;
pub mod page;
pub mod page_store;
pub mod seeds;
mod snapshot;
pub mod storage;
pub mod store;
mod table_image;
pub mod text_index;
pub mod url;
pub mod url_table;
pub mod vectors;
pub mod visits;
pub mod words;

#[cfg(test)]
#[path = "../tests/inside/mod.rs"]
#[allow(unreachable_pub, reason = "as in other tests")]
mod inside;
