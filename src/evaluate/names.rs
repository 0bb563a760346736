//! Reading the names of metrics as the field writes them, and helping with those that are none.

use super::metrics::{DEPTH, Metric};
use super::registry::{Cutoff, Family, METRICS};

/// Why a name is no metric of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MetricError {
    /// Unheard of.
    #[error("there is no metric {given:?}")]
    Unknown {
        /// As given.
        given: String,
        /// The nearest name.
        nearest: String,
    },
    /// It has no cut-off.
    #[error("the metric {name} has no cut-off")]
    NoCutoff {
        /// The metric.
        name: &'static str,
    },
    /// The cut-off is missing or cannot be.
    #[error("the metric {given:?} needs a cut-off from 1 to {DEPTH}")]
    Cutoff {
        /// As given.
        given: String,
        /// How it could be.
        example: &'static str,
    },
    /// It is a metric, but not of a run.
    #[error("{name} is measured on a crawl, not on a run")]
    OfCrawl {
        /// The metric.
        name: &'static str,
    },
}

/// The metrics of runs: an example of each, and its family.
fn families() -> impl Iterator<Item = (&'static str, &'static Family)> {
    METRICS.iter().filter_map(|metric| Some((metric.name, metric.family()?)))
}

/// Reads a name: `nDCG@10`, `R@100`, `MRR@10` or `RR@10`, `AP` or `MAP`, `P@5`, `Success@1`, `Judged@10`, with any
/// cut-off, and `bpref`; also those of `trec_eval`, such as `ndcg_cut_10`. Case does not matter. MRR and AP may go
/// without cut-off, bpref has none.
///
/// # Errors
/// There is no such metric, it is one of crawls, or its cut-off is missing, too much, or not 1 to [`DEPTH`].
pub(crate) fn parse(given: &str) -> Result<Metric, MetricError> {
    let lower = given.trim().to_lowercase();
    let mut of_crawls = METRICS.iter().filter(|metric| metric.family().is_none());
    if let Some(of_crawl) = of_crawls.find(|metric| metric.name.to_lowercase() == lower) {
        return Err(MetricError::OfCrawl { name: of_crawl.name });
    }
    let (name, cutoff) = split(&lower);
    let Some((example, family)) = families().find(|(_, family)| family.names.contains(&name))
    else {
        return Err(MetricError::Unknown {
            given: given.to_owned(),
            nearest: nearest(name, cutoff),
        });
    };
    let cutoff = match cutoff {
        Some(_) if family.cutoff == Cutoff::Never => {
            return Err(MetricError::NoCutoff { name: example });
        }
        None if family.cutoff == Cutoff::Needed => None,
        None => Some(DEPTH),
        Some(given) => given.parse().ok().filter(|cutoff| (1..=DEPTH).contains(cutoff)),
    };
    match cutoff {
        Some(cutoff) => Ok((family.metric)(cutoff)),
        None => Err(MetricError::Cutoff { given: given.to_owned(), example }),
    }
}

/// Name and cut-off: `ndcg@10`, `ndcg_cut_10` as `trec_eval` prints it, or `ndcg_cut.10` as it is told.
fn split(name: &str) -> (&str, Option<&str>) {
    if let Some((name, cutoff)) = name.split_once('@') {
        return (name, Some(cutoff));
    }
    match name.rsplit_once(['_', '.']) {
        Some((name, cutoff)) if cutoff.bytes().all(|b| b.is_ascii_digit()) => (name, Some(cutoff)),
        _ => (name, None),
    }
}

/// The metric whose name needs the fewest changes, with the cut-off that was given if it can be.
fn nearest(name: &str, cutoff: Option<&str>) -> String {
    let distance = |family: &Family| {
        family.names.iter().map(|known| strsim::damerau_levenshtein(known, name)).min()
    };
    let Some((example, family)) = families().min_by_key(|(_, family)| distance(family)) else {
        return String::new();
    };
    let given = cutoff.map(|cutoff| format!("{}@{cutoff}", family.names[0]));
    match given.map(|given| parse(&given)) {
        Some(Ok(metric)) => metric.to_string(),
        _ => example.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_field_writes_them() {
        let cases = [
            ("nDCG@10", "nDCG@10"),
            ("ndcg_cut_5", "nDCG@5"),
            ("ndcg_cut.5", "nDCG@5"),
            ("P.10", "P@10"),
            ("NDCG@1000", "nDCG@1000"),
            ("Recall@20", "R@20"),
            ("recall_100", "R@100"),
            ("RR@10", "MRR@10"),
            ("recip_rank", "MRR"),
            (" MAP", "AP"),
            ("map_cut_100", "AP@100"),
            ("RR", "MRR"),
            ("P_5", "P@5"),
            ("precision@20", "P@20"),
            ("success_1", "Success@1"),
            ("judged@10", "Judged@10"),
            ("Bpref", "bpref"),
        ];
        for (given, shown) in cases {
            let metric = parse(given).unwrap();
            assert_eq!(metric.to_string(), shown);
            assert_eq!(parse(shown), Ok(metric));
        }
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        let cases = [
            ("nDGC@20", "there is no metric \"nDGC@20\""),
            ("recal@x", "there is no metric \"recal@x\""),
            ("nDCG", "the metric \"nDCG\" needs a cut-off from 1 to 1000"),
            ("R@0", "the metric \"R@0\" needs a cut-off"),
            ("AP@1001", "the metric \"AP@1001\" needs a cut-off"),
            ("maxndcg", "maxNDCG is measured on a crawl, not on a run"),
            ("P", "the metric \"P\" needs a cut-off from 1 to 1000"),
            ("bpref@10", "the metric bpref has no cut-off"),
        ];
        for (given, message) in cases {
            let error = parse(given).unwrap_err();
            assert!(error.to_string().starts_with(message), "{given}: {error}");
        }
    }

    #[test]
    fn every_metric_of_runs_can_be_asked_for() {
        for metric in METRICS {
            let of_run = parse(metric.name).is_ok_and(|found| found.to_string() == metric.name);
            assert_eq!(of_run, metric.family().is_some(), "{}", metric.name);
        }
    }
}
