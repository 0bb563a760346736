//! Evaluation: what a ranking is worth against judgements, what a crawl found and how fast, and
//! whether a difference between two of them is more than chance.
//!
//! Metrics agree with `trec_eval` per query; `tests/inside/trec_eval.rs` holds them against it. Input are
//! runs and judgements as files, or ranks that a caller found. Not here: how pages were picked, and
//! printing.

pub mod auc;
pub mod checkpoints;
pub mod crawl;
pub mod divergence;
mod error;
pub mod judgements;
pub mod metrics;
pub mod names;
pub mod neighbours;
pub mod registry;
pub mod rerank;
pub mod run;
pub mod statistics;

pub use error::EvaluateError;
