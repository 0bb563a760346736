//! The table of metrics, for people: what there is, what it measures, where it is defined.
//!
//! Not here: computing them, and reading their names.

/// What a metric is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A ranking of search results against judgements.
    Run,
    /// The order in which pages were fetched.
    Crawl,
}

/// A metric, for people.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Name, with the usual cut-off.
    pub name: &'static str,
    /// What it is taken of.
    pub scope: Scope,
    /// Whether each query has a value of its own.
    pub per_query: bool,
    /// What it measures.
    pub measures: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// All metrics.
pub const METRICS: &[Described] = &[
    Described {
        name: "nDCG@10",
        scope: Scope::Run,
        per_query: true,
        measures: "graded gain of the first 10 results, discounted by rank, as a share of the ideal",
        source: "Järvelin and Kekäläinen, TOIS 2002; trec_eval's ndcg_cut.10",
    },
    Described {
        name: "R@100",
        scope: Scope::Run,
        per_query: true,
        measures: "share of the relevant pages that are among the first 100 results",
        source: "trec_eval's recall.100",
    },
    Described {
        name: "MRR@10",
        scope: Scope::Run,
        per_query: true,
        measures: "1 / rank of the first relevant page, 0 beyond rank 10",
        source: "Kantor and Voorhees, Information Retrieval 2000; trec_eval's recip_rank",
    },
    Described {
        name: "AP",
        scope: Scope::Run,
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
