//! The default strategy: words and scores alone, as [`parts`](crate::sufficiency::parts) counts them. It judges no
//! links: which URLs help is what plans are for.

use super::{Judgement, Needs, ScoredLink, StrategyKind, SufficiencyStrategy};
use crate::sufficiency::parts::QueryParts;

/// See the module.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "statistical",
    about: "words and scores of the pages: min(coverage, consistency, 1 - redundancy) times the domain's coverage",
    needs: Needs::Nothing,
};

/// See the module.
pub(crate) struct Statistical<'a> {
    /// By query.
    pub(crate) parts: &'a [QueryParts],
}

impl SufficiencyStrategy for Statistical<'_> {
    fn judge(&mut self, places: &[usize]) -> Vec<Option<Judgement>> {
        places.iter().map(|&at| Some(judgement(&self.parts[at]))).collect()
    }

    fn links(&mut self, _: usize, _: usize) -> Vec<ScoredLink> {
        Vec::new()
    }
}

fn judgement(parts: &QueryParts) -> Judgement {
    let figures = vec![
        ("coverage", parts.coverage),
        ("consistency", parts.consistency),
        ("redundancy", parts.redundancy),
        ("domain_coverage", parts.domain_coverage),
    ];
    Judgement { sufficiency: parts.sufficiency(), figures }
}
