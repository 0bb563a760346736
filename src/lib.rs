//! Prospect plans which uncrawled URLs to fetch next, so that search over the crawled pages gets
//! better as fast as possible.
//!
//! The pipeline runs one way. [`ingest`] reads what a crawler fetched into a store (the crate
//! `prospect-index`). [`workload`] brings the queries. [`sketch`] holds what search returns now and
//! which queries need help. [`estimate`] tells what each uncrawled URL would bring, over features
//! from the link [`graph`] and the n-gram index. [`plan`] picks a batch.
//!
//! The [`planner`] puts them together, over tables in memory: from what is known of a crawl to a batch,
//! and from what became of the batch to what the next one has learned. It has two hosts. A [`campaign`]
//! keeps the tables in a store, over many cycles. A [`policy`] is an order of crawling; those that plan
//! keep the tables in memory while [`simulate`] crawls a collection whose pages are hidden.
//!
//! [`neural`] models read a page's text and say how good it is, or how well it answers a query. A
//! language model behind an endpoint is asked by [`llm`].
//! [`evaluate`] measures what a crawl found against judgements, what came of it are [`results`], and
//! [`report`] shows them. [`whatif`] plans under scenarios beside the plan of today, and [`serve`] lets
//! a browser ask for them. What the pages of both share is [`web`].
//!
//! Beside the pipeline stand [`documents`], files of any format as streams that keep every column,
//! and [`quality`], which scores, analyses and prunes documents with models. Where a dependency fails on a file of
//! somebody else, it is [`contained`]. [`cli`] is the command line.
//!
//! # From a program
//!
//! A page is stored, and the one URL that is worth most to a query is planned:
//!
//! ```
//! use prospect::campaign::OpenStore;
//! use prospect::campaign::plan::{Beside, plan};
//! use prospect::planner::options::GivenOptions;
//! use prospect::planner::settings::PlanSettings;
//! use prospect::workload::{Query, Workload};
//! use prospect_index::ingest::ingest_all;
//! use prospect_index::page::PageRecord;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let home = PageRecord {
//!     url: "https://bread.example/".into(),
//!     title: "Bread at home".into(),
//!     text: "Notes on baking bread.".into(),
//!     outlinks: vec![("https://bread.example/rye", "Rye bread").into()],
//!     ..PageRecord::default()
//! };
//! ingest_all(directory.path(), vec![home], "an example")?;
//!
//! // An id, the words, how often they are asked, and a kind, if there are kinds.
//! let workload = Workload { queries: vec![Query::new("q1", "rye bread", 40.0, "")] };
//! // Options by the names that they have on the command line.
//! let mut settings = PlanSettings::new(1);
//! GivenOptions::default().with("explore", 0)?.with("per-host", 20)?.apply(&mut settings)?;
//!
//! // Held by a lock until it is dropped; n-grams of three words at most.
//! let open = OpenStore::open(directory.path(), "an example", 3)?;
//! let batch = plan(&open, &workload, &[], &settings, Beside::Others)?;
//! let picks = &batch.choice.batch.picks;
//! assert_eq!(open.known.urls.url(picks[0].estimate.url), "https://bread.example/rye");
//! # Ok(())
//! # }
//! ```
//!
//! # What stays
//!
//! These are the entry points that later versions keep, or change with a word in the change log:
//!
//! - stores: `prospect_index::ingest::ingest_all` and [`campaign::OpenStore`];
//! - plans: [`campaign::plan::plan`], with [`planner::settings::PlanSettings`], [`planner::options::GivenOptions`] and
//!   [`workload::Workload`];
//! - questions: [`campaign::questions::Questions`] and [`whatif::scenario::Scenario`];
//! - metrics: [`evaluate::metrics`].
//!
//! All else that is public serves the command, its tests and its benches, and may change at any time. Formats last longer than
//! code: who writes another tool reads what commands write with `--json`, and files of stores by their schemas.

#![deny(unreachable_pub)]

pub mod campaign;
pub mod cli;
pub(crate) mod contained;
pub(crate) mod documents;
pub mod estimate;
pub mod evaluate;
pub(crate) mod graph;
pub mod ingest;
pub(crate) mod llm;
pub mod neural;
pub mod plan;
pub mod planner;
pub mod policy;
pub(crate) mod quality;
pub(crate) mod report;
pub mod results;
pub(crate) mod serve;
pub mod simulate;
pub mod sketch;
pub(crate) mod sufficiency;
pub(crate) mod web;
pub mod whatif;
pub mod workload;

#[cfg(test)]
extern crate self as prospect;
/// For `tests/attack/fuzz`.
#[cfg(fuzzing)]
#[doc(hidden)]
#[path = "../tests/inside/parsers.rs"]
pub mod parsers;

#[cfg(test)]
#[path = "../tests/inside/mod.rs"]
#[allow(unreachable_pub, reason = "shared with tests from outside")]
mod inside;
