//! The best page alone: its score as a share of what no page can exceed, which is every word of the query as often as
//! one likes. Ours. Of all that can be seen without a model it goes best with the nDCG@10 of the query
//! (docs/sufficiency.md): who finds one page that is about all of it has mostly found what there is.

use super::{Judgement, Needs, ScoredLink, StrategyKind, SufficiencyStrategy};

/// See the module.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "best-page",
    about: "the score of the best page as a share of what no page can exceed",
    needs: Needs::Nothing,
};

/// See the module.
pub(crate) struct BestPage<'a> {
    /// By query, from [`Statistics::best`](crate::sufficiency::assess::Statistics::best).
    pub(crate) best: &'a [f64],
}

impl SufficiencyStrategy for BestPage<'_> {
    fn judge(&mut self, places: &[usize]) -> Vec<Option<Judgement>> {
        let judged = |&at: &usize| Judgement { sufficiency: self.best[at], figures: Vec::new() };
        places.iter().map(|at| Some(judged(at))).collect()
    }

    fn links(&mut self, _: usize, _: usize) -> Vec<ScoredLink> {
        Vec::new()
    }
}
