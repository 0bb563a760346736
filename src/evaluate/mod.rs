//! Evaluation: what a ranking is worth against judgements, what a crawl found and how fast, and
//! whether a difference between two of them is more than chance.
//!
//! Metrics agree with `trec_eval` per query; `tests/inside/trec_eval.rs` holds them against it. Input are
//! runs and judgements as files, or ranks that a caller found. Not here: how pages were picked, and
//! printing.

pub(crate) mod auc;
pub(crate) mod checkpoints;
pub(crate) mod crawl;
pub(crate) mod divergence;
mod error;
pub(crate) mod judgements;
pub mod metrics;
pub(crate) mod names;
pub(crate) mod neighbours;
pub(crate) mod registry;
pub(crate) mod rerank;
pub(crate) mod run;
pub(crate) mod statistics;

pub(crate) use error::EvaluateError;
