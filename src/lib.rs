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
#[cfg(test)]
#[path = "../tests/inside/mod.rs"]
#[allow(unreachable_pub, reason = "shared with tests from outside")]
mod inside;
