//! Prospect plans which uncrawled URLs to fetch next, so that search over the crawled pages gets
//! better as fast as possible.
//!
//! The pipeline runs one way. [`ingest`] reads what a crawler fetched into a store (the crate
//! `prospect-index`). [`workload`] brings the queries. [`sketch`] holds what search returns now and
//! which queries need help. [`estimate`] tells what each uncrawled URL would bring, over features
//! from the link [`graph`] and the n-gram index. [`plan`] picks a batch. [`cycle`] ties them to a
//! store: it plans, and when the batch has been fetched and ingested it closes the cycle with what
//! became of it.
//!
//! [`neural`] models read a page's text and say how good it is, or how well it answers a query.
//!
//! A [`policy`] is an order of crawling; the planner is one of them. [`simulate`] crawls a
//! collection under any policy, [`evaluate`] measures what it found against judgements, what came
//! of it are [`results`], and [`report`] shows them.
//!
//! [`whatif`] plans under scenarios beside the plan of today, and [`serve`] lets a browser ask for
//! them.
//!
//! Beside the pipeline stand [`documents`], files of any format as streams that keep every column,
//! [`neural`] models over texts, and [`quality`], which scores, analyses and prunes documents with
//! both. [`cli`] is the command line.

pub mod cli;
pub mod cycle;
pub mod documents;
pub mod estimate;
pub mod evaluate;
pub mod graph;
pub mod ingest;
pub mod neural;
pub mod plan;
pub mod policy;
pub mod quality;
pub mod report;
pub mod results;
pub mod serve;
pub mod simulate;
pub mod sketch;

pub mod whatif;
pub mod workload;
