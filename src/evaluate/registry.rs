//! The table of metrics: what there is, how it is written, what it measures, where it is defined.
//!
//! A new metric is a row here and its computation ([`metrics`](super::metrics)).

use super::metrics::Metric;

/// What a metric is taken of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// A ranking of search results against judgements.
    Run(Family),
    /// The order in which pages were fetched.
    Crawl,
}

/// Metrics that differ in their cut-off only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// How it is written, in lower case: ours, that of `ir_measures`, that of `trec_eval`.
    pub(crate) names: &'static [&'static str],
    /// Whether it says nothing without a cut-off.
    pub(crate) needs_cutoff: bool,
    /// The metric of a cut-off.
    pub(crate) metric: fn(u32) -> Metric,
}

/// A metric, for people.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    /// Name, with the usual cut-off.
    pub(crate) name: &'static str,
    /// What it is taken of.
    pub(crate) scope: Scope,
    /// Whether each query has a value of its own.
    pub(crate) per_query: bool,
    /// What it measures.
    pub(crate) measures: &'static str,
    /// Where it is defined.
    pub(crate) source: &'static str,
}

/// All metrics.
pub(crate) const METRICS: &[Described] = &[
    Described {
        name: "nDCG@10",
        scope: Scope::Run(Family {
            names: &["ndcg", "ndcg_cut"],
            needs_cutoff: true,
            metric: Metric::Ndcg,
        }),
        per_query: true,
        measures: "graded gain of the first 10 results, discounted by rank, as a share of the ideal",
        source: "Järvelin and Kekäläinen, TOIS 2002; trec_eval's ndcg_cut.10",
    },
    Described {
        name: "R@100",
        scope: Scope::Run(Family {
            names: &["r", "recall"],
            needs_cutoff: true,
            metric: Metric::Recall,
        }),
        per_query: true,
        measures: "share of the relevant pages that are among the first 100 results",
        source: "trec_eval's recall.100",
    },
    Described {
        name: "MRR@10",
        scope: Scope::Run(Family {
            names: &["mrr", "rr", "recip_rank"],
            needs_cutoff: false,
            metric: Metric::ReciprocalRank,
        }),
        per_query: true,
        measures: "1 / rank of the first relevant page, 0 beyond rank 10",
        source: "Kantor and Voorhees, Information Retrieval 2000; trec_eval's recip_rank",
    },
    Described {
        name: "AP",
        scope: Scope::Run(Family {
            names: &["ap", "map", "map_cut"],
            needs_cutoff: false,
            metric: Metric::AveragePrecision,
        }),
        per_query: true,
        measures: "mean over the relevant pages of the precision at their rank",
        source: "Harman, TREC 1992; trec_eval's map",
    },
    Described {
        name: "HR",
        scope: Scope::Crawl,
        per_query: false,
        measures: "harvest rate: share of the fetched pages that are relevant to any query",
        source: "Pezzuti, MacAvaney and Tonellotto, ICTIR 2025",
    },
    Described {
        name: "maxNDCG",
        scope: Scope::Crawl,
        per_query: true,
        measures: "discounted gain of the relevant pages that were fetched, were they ranked first",
        source: "Pezzuti, MacAvaney and Tonellotto, ICTIR 2025 (not normalised)",
    },
    Described {
        name: "maxNDCG/full",
        scope: Scope::Crawl,
        per_query: true,
        measures: "maxNDCG as a share of its value when the whole collection is fetched",
        source: "ours, after the same",
    },
    Described {
        name: "impact",
        scope: Scope::Crawl,
        per_query: false,
        measures: "share of the collection's true impact that the fetched pages have",
        source: "Pandey and Olston, WSDM 2008",
    },
];

impl Described {
    /// How it is written with other cut-offs, if it is a metric of runs.
    pub(crate) fn family(&self) -> Option<&Family> {
        match &self.scope {
            Scope::Run(family) => Some(family),
            Scope::Crawl => None,
        }
    }
}
