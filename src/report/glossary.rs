//! What a reader is told about metrics, tests and limits of a simulation. The definitions are those
//! of docs/methods.md in words; the figures are computed elsewhere.

use crate::report::number::counted;
use crate::results::{Interval, Provenance, Summary};

/// Metric names as they are compared, and what they mean.
const METRICS: &[(&[&str], &str)] = &[
    (
        &["hr", "harvestrate"],
        "Harvest rate: pages fetched that are relevant to at least one query, divided by pages \
         fetched.",
    ),
    (
        &["maxndcg"],
        "For each query, the sum of 1/log2(i+1) for i = 1 to n, where n of its relevant pages are \
         fetched: the best that any ranking of the fetched pages could reach, not normalised. Mean \
         over queries.",
    ),
    (
        &["maxndcgshare", "maxndcgnormalised", "maxndcgnormalized", "nmaxndcg", "maxndcgfull"],
        "maxNDCG of each query divided by its value when the whole collection is fetched. Mean over \
         queries.",
    ),
    (
        &["ndcg10"],
        "nDCG of the first 10 results of a BM25 search over the fetched pages alone, with gain = \
         grade, discount 1/log2(rank+1), and the ideal over all judged pages of the collection. Mean \
         over queries with a relevant page; a query without results counts 0.",
    ),
    (
        &["r100", "recall100"],
        "Recall at 100: the share of a query's relevant pages of the collection that is among the \
         first 100 results of a BM25 search over the fetched pages alone. Mean over queries.",
    ),
    (
        &["rr10", "mrr10"],
        "Reciprocal rank of the first relevant page among the first 10 results. Mean over queries.",
    ),
    (&["ap", "map", "ap1000"], "Average precision over the result list. Mean over queries."),
    (
        &["impact", "impactshare"],
        "Share of the true impact of all pages of the collection that the fetched pages hold. The \
         impact of a page is the sum over queries of their frequency times the visibility of the \
         page's rank among all pages, fetched or not (Pandey and Olston).",
    ),
];

/// What a metric means, if it is a known one.
pub(crate) fn metric(name: &str) -> Option<&'static str> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    METRICS.iter().find(|(names, _)| names.contains(&plain.as_str())).map(|(_, meaning)| *meaning)
}

/// What the ranking metrics are taken of, where it is more than a BM25 search.
pub(crate) fn rankings(made: &Provenance) -> Option<String> {
    let Provenance { k1, b, reranker, .. } = made;
    let reranker = reranker.as_ref()?;
    Some(format!("BM25 (k1 {k1}, b {b}) >> {}, top {}", reranker.name, reranker.depth))
}

/// How differences are tested, a paragraph each.
pub(crate) fn tests(summary: &Summary) -> Vec<String> {
    let Some(baseline) = &summary.baseline else {
        return vec!["No baseline was named, so nothing was tested.".to_owned()];
    };
    let level = summary.significance;
    vec![
        format!(
            "Points of curves: each policy against {baseline} at the same number of pages fetched. \
             Metrics that are taken by query: paired two-sided t-test over queries. Harvest rate: \
             two-proportion z-test. A point is marked when p after Holm's correction, over all \
             policies and checkpoints of the metric and query kind, is below {level}."
        ),
        format!(
            "Area is the mean height of a curve: trapezoids over pages fetched, divided by their \
             width, over the checkpoints that all policies reached. Its interval is the 95 % \
             interval over seed sets. It is marked when its difference to {baseline} has a p below \
             {level} in a paired bootstrap over seed sets and queries, after Holm's correction over all \
             policies."
        ),
        format!(
            "Speedup in relevant pages: pages that {baseline} fetches until it has n relevant ones, \
             divided by what the policy fetches until then; mean over n from 1 to what both reach. \
             Speedup in impact: the same over the levels 5, 10, …, 95 % of all true impact that both \
             reach. The interval is the 95 % interval over seed sets; a mark says that it does not \
             hold 1."
        ),
    ]
}

/// What the figures do not say.
pub(crate) fn caveats(summary: &Summary) -> Vec<String> {
    let mut out = vec![
        "The crawl is a simulation over a closed collection: a link that leaves it leads nowhere, \
         every fetch succeeds, and politeness costs no time. Pages fetched stand for effort."
            .to_owned(),
        "Pages without a judgement count as not relevant, whichever policy fetched them.".to_owned(),
        "Tests over queries say whether a difference would hold for other queries like these. They \
         do not cover other collections, and neighbouring points of a curve are not independent."
            .to_owned(),
    ];
    if let Some(reranker) = &summary.provenance.reranker {
        out.push(format!(
            "The first {} results of every search are ordered by {} before ranking metrics are taken. \
             True impact and the policies know BM25 alone.",
            reranker.depth, reranker.name
        ));
    }
    if let Some(embedding) = &summary.provenance.embedding {
        out.push(format!(
            "Policies of the learned reading take similarity by the embedding model {} as evidence.",
            embedding.name
        ));
    }
    if summary.policies.iter().any(|policy| policy.oracle) {
        out.push(
            "Oracles read what no crawler can know before a fetch. They are references, no bounds, and \
             no candidates for use."
                .to_owned(),
        );
    }
    let sets = seed_sets(summary);
    if sets < 2 {
        out.push(
            "There is one seed set, so nothing says how much depends on the seeds.".to_owned(),
        );
    } else if sets < 5 {
        out.push(format!("There are {sets} seed sets, so intervals over them are rough."));
    }
    out
}

/// Number of seed sets.
pub(crate) fn seed_sets(summary: &Summary) -> usize {
    summary.policies.iter().map(|policy| policy.fetched.len()).max().unwrap_or(0)
}

/// How many seed sets a speedup is of, if those are not all: in the others the crawls reach no level in common.
pub(super) fn of_sets(speedup: &Interval, sets: usize) -> Option<String> {
    let of = speedup.values.len();
    (0 < of && of < sets).then(|| format!("of {}", counted(of as u64, "set")))
}

/// Length of result lists, and how visible their places are.
pub(super) fn lists(k: usize, visibility: Option<&str>) -> String {
    match visibility {
        None => format!("lists of {k}"),
        Some(visibility) => format!("lists of {k}, visibility {visibility}"),
    }
}

/// What expected impact is learned from.
pub(crate) fn learned(cycles: usize) -> String {
    match cycles {
        0 => "not learned yet".to_owned(),
        1 => "learned from 1 cycle".to_owned(),
        cycles => format!("learned from {cycles} cycles"),
    }
}

#[cfg(test)]
mod tests {
    use crate::results::{Provenance, Reranker};

    #[test]
    fn rankings_are_those_of_bm25_and_what_orders_them_anew() {
        let mut made = Provenance {
            version: String::new(),
            config: serde_json::Value::Null,
            config_hash: String::new(),
            inputs: Vec::new(),
            seed: 1,
            visibility: None,
            k1: 0.9,
            b: 0.4,
            k: 10,
            reranker: None,
            embedding: None,
        };
        assert_eq!(super::rankings(&made), None);
        let (name, fingerprint) = ("MonoELECTRA".to_owned(), "00".to_owned());
        made.reranker = Some(Reranker { name, fingerprint, depth: 100 });
        let expected = "BM25 (k1 0.9, b 0.4) >> MonoELECTRA, top 100";
        assert_eq!(super::rankings(&made).as_deref(), Some(expected));
    }

    #[test]
    fn metrics_are_known_however_they_are_spelled() {
        for name in ["HR", "maxNDCG", "nDCG@10", "R@100", "impact", "maxNDCG/full", "MRR@10"] {
            assert!(super::metric(name).is_some(), "{name}");
        }
        assert!(super::metric("charm").is_none());
    }
}
