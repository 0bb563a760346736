//! What if: plans under other queries, frequencies, weights, budgets, caps and hosts, set beside the
//! plan of today.
//!
//! A [`scenario::Scenario`] says what is different, [`answer`] plans under it from the pairs and
//! chances that are known already, [`figures`] and [`difference`]
//! tell what comes of it. Only queries that are new have to be matched with the frontier, and only other
//! lists or another rule of matching need all of it again; whoever holds the store does that. Not here: files,
//! and the store.

pub(crate) mod answer;
pub(crate) mod budget;
pub(crate) mod difference;
pub(crate) mod figures;
pub(crate) mod hosts;
mod read;
pub mod scenario;
pub(crate) mod workload;
