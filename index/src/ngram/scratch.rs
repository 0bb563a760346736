//! Memory that matching uses again from query to query.

use super::cursor::Cursor;
use super::plan::MatchPlan;
use super::query::NgramQuery;
use super::resolve::Resolved;
use super::segment::Segment;
use super::window::Window;

/// Working memory of [`NgramIndex::match_query`](super::NgramIndex::match_query): one per thread,
/// about 0.1 MB. It carries no result from one query to the next and fits every index.
#[derive(Default)]
pub struct Scratch {
    pub(super) resolved: Resolved,
    pub(super) plan: MatchPlan,
    pub(super) drivers: Vec<Cursor>,
    pub(super) scanned: Vec<Cursor>,
    pub(super) window: Window,
}

impl Scratch {
    /// Opens the lists that the plan reads.
    pub(super) fn open_cursors(&mut self, segments: &[&Segment], query: &NgramQuery) {
        let Self { resolved, plan, drivers, scanned, .. } = self;
        for (ngrams, cursors) in [(plan.drivers(), drivers), (plan.scanned(), scanned)] {
            cursors.clear();
            for &ngram in ngrams {
                let implied = query.implied_by(ngram);
                for (at, segment) in segments.iter().enumerate() {
                    let postings = resolved.postings(at, ngram);
                    cursors.extend(postings.map(|found| Cursor::new(at, implied, found, segment)));
                }
            }
        }
    }

    /// Looks a query up and plans it; `false` if nothing can match.
    pub(super) fn prepare(&mut self, segments: &[&Segment], query: &NgramQuery) -> bool {
        if !self.resolved.look_up(segments, query) {
            return false;
        }
        self.plan.make(query, &self.resolved);
        self.open_cursors(segments, query);
        true
    }
}
