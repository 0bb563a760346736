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

/// Whether a metric has a cut-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cutoff {
    /// It says nothing without one.
    Needed,
    /// It may have one.
    Optional,
    /// It has none.
    Never,
}

/// Metrics that differ in their cut-off only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// How it is written, in lower case: ours, that of `ir_measures`, that of `trec_eval`.
    pub(crate) names: &'static [&'static str],
    /// Whether it has a cut-off.
    pub(crate) cutoff: Cutoff,
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
            cutoff: Cutoff::Needed,
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
            cutoff: Cutoff::Needed,
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
            cutoff: Cutoff::Optional,
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
            cutoff: Cutoff::Optional,
            metric: Metric::AveragePrecision,
        }),
        per_query: true,
        measures: "mean over the relevant pages of the precision at their rank",
        source: "Harman, TREC 1992; trec_eval's map",
    },
    Described {
        name: "P@10",
        scope: Scope::Run(Family {
            names: &["p", "precision"],
            cutoff: Cutoff::Needed,
            metric: Metric::Precision,
        }),
        per_query: true,
        measures: "share of the first 10 results that is relevant",
        source: "trec_eval's P.10",
    },
    Described {
        name: "Success@10",
        scope: Scope::Run(Family {
            names: &["success"],
            cutoff: Cutoff::Needed,
            metric: Metric::Success,
        }),
        per_query: true,
        measures: "1 if a relevant page is among the first 10 results, else 0",
        source: "trec_eval's success.10",
    },
    Described {
        name: "Judged@10",
        scope: Scope::Run(Family {
            names: &["judged"],
            cutoff: Cutoff::Needed,
            metric: Metric::Judged,
        }),
        per_query: true,
        measures: "share of the first 10 results that is judged at all",
        source: "ir_measures' Judged@10",
    },
    Described {
        name: "bpref",
        scope: Scope::Run(Family {
            names: &["bpref"],
            cutoff: Cutoff::Never,
            metric: |_| Metric::Bpref,
        }),
        per_query: true,
        measures: "how few judged pages that are not relevant come before the relevant ones; others do not count",
        source: "Buckley and Voorhees, SIGIR 2004; trec_eval's bpref",
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
