//! What may be planned next of a store: what is in scope and not another spelling of something in it, is not in flight, and
//! does not wait.

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

use crate::planner::retries::Retries;
use crate::planner::scope::{Scope, ScopeError};
use crate::planner::spellings::UnderWay;

/// What may be planned, and why the rest may not.
pub(crate) struct Plannable {
    /// By URL id, whether it may be planned; empty if all may.
    pub(crate) within: Vec<bool>,
    /// URLs that open plans have asked for, and that nobody reported.
    pub(crate) in_flight: Vec<UrlId>,
    /// What was left out, since its fetch failed not long ago.
    pub(crate) retries: Retries,
}

impl Plannable {
    /// Of `within` (by URL id; all, if that is empty), beside what is in flight.
    ///
    /// # Errors
    /// An expression of the scope is none, as only another version can have written it.
    pub(crate) fn new(
        known: &Known,
        manifest: &Manifest,
        within: Vec<bool>,
        scope: &Scope,
        in_flight: Vec<UrlId>,
    ) -> Result<Self, ScopeError> {
        let mut retries = Retries::new(known, manifest);
        let under_way = UnderWay::new(&in_flight, &retries);
        let mut within = scope.hold_back(known, within, &under_way)?;
        if !in_flight.is_empty() {
            within.resize(known.urls.len(), within.is_empty());
        }
        for url in &in_flight {
            within[url.index()] = false;
        }
        let within = retries.hold_back(known, within, in_flight.is_empty());
        Ok(Self { within, in_flight, retries })
    }
}
