//! Whether sufficiency holds for wordings that nobody planned for: a fifth of the variants of every query is held
//! out, and their sufficiency compared with that of the others.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use prospect_index::words::Analyzer;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::parts::QueryParts;
use super::verdict::NORMAL;
use crate::workload::{Query, Workload};

/// One variant in so many is held out, at least one of two.
const HELD_OUT: usize = 5;
/// Seed of the draw.
const SEED: u64 = 5;
/// How much worse held-out variants may be for sufficiency to be validated.
const MARGIN: f64 = 0.1;
/// Mean coverage below which the store is off topic.
const RELEVANT: f64 = 0.1;
/// Distinct words of a query from which on one of them can be left out.
const FEWEST_WORDS: usize = 3;

/// Other wordings of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variants {
    /// The query, by place in its workload.
    pub(crate) query: usize,
    /// Those that are planned for.
    pub(crate) planned: Vec<String>,
    /// Those that are not.
    pub(crate) held_out: Vec<String>,
}

impl Variants {
    /// Draws a fifth of the wordings of every query to hold out, whatever their order; those that have the words of the query
    /// or of another wording, in any order, are left out, and so are queries with fewer than two others.
    pub(crate) fn draw(
        workload: &Workload,
        wordings: &BTreeMap<usize, Vec<String>>,
        analyzer: &Analyzer,
    ) -> Vec<Self> {
        let mut all = Vec::new();
        for (&query, wordings) in wordings {
            let Query { qid, words, .. } = &workload.queries[query];
            let drawn =
                |text: &String| xxh3_64_with_seed(format!("{qid}\t{text}").as_bytes(), SEED);
            let mut wordings: Vec<String> = wordings.clone();
            wordings.sort_by_key(|text| (drawn(text), text.clone()));
            let own: BTreeSet<String> = words.iter().cloned().collect();
            let mut seen = BTreeSet::from([BTreeSet::new(), own]);
            wordings.retain(|text| {
                let own = Query::new(qid, text, 1.0, "").into_words_of(analyzer).words;
                seen.insert(own.into_iter().collect())
            });
            if wordings.len() > 1 {
                let planned = wordings.split_off(wordings.len().div_ceil(HELD_OUT));
                all.push(Self { query, planned, held_out: wordings });
            }
        }
        all
    }

    /// Wordings of the queries that have enough words, each without one of them.
    pub(crate) fn without_a_word(workload: &Workload) -> BTreeMap<usize, Vec<String>> {
        let mut found = BTreeMap::new();
        for (at, query) in workload.queries.iter().enumerate() {
            // As they are written: a stem is no wording.
            let words = Query::new("", &query.text, 1.0, "").words;
            let mut distinct: Vec<&String> = words.iter().collect();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() < FEWEST_WORDS {
                continue;
            }
            let without = distinct.iter().map(|word| {
                let left = words.iter().filter(|own| own != word).map(String::as_str);
                left.collect::<Vec<_>>().join(" ")
            });
            found.insert(at, without.collect());
        }
        found
    }

    /// A workload to plan for: the queries of `workload`, each sharing its frequency with its planned variants.
    pub(crate) fn planned(all: &[Self], workload: &Workload) -> Workload {
        let mut queries = workload.queries.clone();
        let taken: HashSet<&str> = workload.queries.iter().map(|query| &query.qid[..]).collect();
        for Self { query, planned, .. } in all {
            let Query { qid, frequency, kind, .. } = workload.queries[*query].clone();
            let share = frequency / (planned.len() + 1) as f64;
            queries[*query].frequency = share;
            let ids = (1..).map(|number| format!("{qid}~{number}"));
            let ids = ids.filter(|id| !taken.contains(&id[..]));
            let numbered = planned.iter().zip(ids);
            queries.extend(numbered.map(|(text, id)| Query::new(&id, text, share, &kind)));
        }
        Workload { queries }
    }

    /// The held-out variants, each with its share of the frequency.
    pub(crate) fn held_out(all: &[Self], workload: &Workload) -> Workload {
        let mut queries = Vec::new();
        for Self { query, held_out, .. } in all {
            let Query { qid, frequency, kind, .. } = &workload.queries[*query];
            let share = frequency / held_out.len() as f64;
            let numbered = held_out.iter().enumerate();
            queries.extend(
                numbered
                    .map(|(at, text)| Query::new(&format!("{qid}!{}", at + 1), text, share, kind)),
            );
        }
        Workload { queries }
    }
}

/// What held-out variants say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValidationVerdict {
    /// They are answered about as well as what was planned for.
    Validated,
    /// They may be answered worse.
    NotValidated,
    /// The store is off topic.
    Irrelevant,
}

/// Sufficiency of planned and of held-out variants: means over queries, weighted by frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Validation {
    /// Queries with variants.
    pub(crate) queries: usize,
    /// Variants that are planned for, the queries themselves among them.
    pub(crate) planned: usize,
    /// Variants that are not.
    pub(crate) held_out: usize,
    /// Mean coverage of all of them.
    pub(crate) coverage: f64,
    /// Mean sufficiency of those that are planned for.
    pub(crate) planned_sufficiency: f64,
    /// Mean sufficiency of the others.
    pub(crate) held_out_sufficiency: f64,
    /// The second minus the first, with the interval that holds 95 % of what other queries of the kind would say.
    pub(crate) difference: (f64, f64, f64),
    /// What follows.
    pub(crate) verdict: ValidationVerdict,
}

/// A query with the parts of its variants.
pub(crate) struct ValidatedQuery<'a> {
    /// How often it is asked.
    pub(crate) frequency: f64,
    /// Of itself and the variants that are planned for.
    pub(crate) planned: Vec<&'a QueryParts>,
    /// Of the others.
    pub(crate) held_out: Vec<&'a QueryParts>,
}

impl Validation {
    /// Of the queries that have variants; none without any.
    pub(crate) fn of(queries: &[ValidatedQuery<'_>]) -> Option<Self> {
        let askings: f64 = queries.iter().map(|query| query.frequency).sum();
        if askings <= 0.0 {
            return None;
        }
        let sufficiency = |parts: &[&QueryParts]| mean(parts, QueryParts::sufficiency);
        let weighted = |of: &dyn Fn(&ValidatedQuery<'_>) -> f64| {
            queries.iter().map(|query| query.frequency * of(query)).sum::<f64>() / askings
        };
        let planned_sufficiency = weighted(&|query| sufficiency(&query.planned));
        let held_out_sufficiency = weighted(&|query| sufficiency(&query.held_out));
        let coverage = weighted(&|query| {
            let all = [query.planned.as_slice(), &query.held_out].concat();
            mean(&all, |parts| parts.coverage)
        });
        let difference = held_out_sufficiency - planned_sufficiency;
        let squares = queries.iter().map(|query| {
            let own = sufficiency(&query.held_out) - sufficiency(&query.planned);
            (query.frequency / askings * (own - difference)).powi(2)
        });
        let count = queries.len() as f64;
        let error = if queries.len() < 2 {
            f64::INFINITY
        } else {
            (squares.sum::<f64>() * count / (count - 1.0)).sqrt()
        };
        let (low, high) = (difference - NORMAL * error, difference + NORMAL * error);
        let (low, high) = (low.max(-1.0), high.min(1.0));
        let verdict = if coverage < RELEVANT {
            ValidationVerdict::Irrelevant
        } else if low > -MARGIN {
            ValidationVerdict::Validated
        } else {
            ValidationVerdict::NotValidated
        };
        Some(Self {
            queries: queries.len(),
            planned: queries.iter().map(|query| query.planned.len()).sum(),
            held_out: queries.iter().map(|query| query.held_out.len()).sum(),
            coverage,
            planned_sufficiency,
            held_out_sufficiency,
            difference: (difference, low, high),
            verdict,
        })
    }
}

fn mean(parts: &[&QueryParts], of: impl Fn(&QueryParts) -> f64) -> f64 {
    parts.iter().map(|parts| of(parts)).sum::<f64>() / parts.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sufficiency: f64) -> QueryParts {
        QueryParts {
            coverage: sufficiency,
            consistency: 1.0,
            domain_coverage: 1.0,
            ..QueryParts::default()
        }
    }

    #[test]
    fn a_fifth_of_the_variants_is_held_out() {
        let queries =
            vec![Query::new("a", "rye bread at home", 6.0, "k"), Query::new("b", "ships", 1.0, "")];
        let workload = Workload { queries };
        let wordings = Variants::without_a_word(&workload);
        assert_eq!(wordings.keys().copied().collect::<Vec<_>>(), [0]);
        let mut found = Variants::draw(&workload, &wordings, &Analyzer::default());
        assert_eq!((found[0].planned.len(), found[0].held_out.len()), (3, 1));
        let mut turned = wordings.clone();
        turned.get_mut(&0).unwrap().reverse();
        assert_eq!(
            Variants::draw(&workload, &turned, &Analyzer::default()),
            found,
            "whatever the order"
        );
        let planned = Variants::planned(&found, &workload);
        assert_eq!(planned.queries.len(), 5);
        assert_eq!(planned.queries.iter().map(|query| query.frequency).sum::<f64>(), 7.0);
        let texts: Vec<&str> = planned.queries.iter().map(|query| query.text.as_str()).collect();
        assert!(!texts.contains(&found[0].held_out[0].as_str()));
        assert_eq!(Variants::held_out(&found, &workload).queries[0].frequency, 6.0);
        // What says the same as the query is none, and of one variant none can be held out.
        let same = ["Ships!", "ships ships", "boats sail", "sail boats", "Boats, sail!"];
        let same = BTreeMap::from([(1, same.map(str::to_owned).to_vec())]);
        found = Variants::draw(&workload, &same, &Analyzer::default());
        assert!(found.is_empty());
    }

    /// The verdict on queries of the sufficiency `planned`, of which each has one held-out variant.
    fn verdict(planned: f64, held_out: &[f64]) -> Option<ValidationVerdict> {
        let planned = parts(planned);
        let held_out: Vec<QueryParts> = held_out.iter().map(|own| parts(*own)).collect();
        let queries = held_out.iter().map(|own| {
            let (planned, held_out) = (vec![&planned], vec![own]);
            ValidatedQuery { frequency: 1.0, planned, held_out }
        });
        Validation::of(&queries.collect::<Vec<_>>()).map(|found| found.verdict)
    }

    #[test]
    fn held_out_variants_decide() {
        assert_eq!(verdict(0.6, &[0.55; 30]), Some(ValidationVerdict::Validated));
        assert_eq!(verdict(0.6, &[0.45; 30]), Some(ValidationVerdict::NotValidated));
        assert_eq!(verdict(0.05, &[0.05; 30]), Some(ValidationVerdict::Irrelevant));
        // The mean is 0.05 lower, but a few queries do not tell.
        assert_eq!(verdict(0.6, &[0.1, 0.9, 0.9, 0.3]), Some(ValidationVerdict::NotValidated));
        assert_eq!(verdict(0.6, &[0.6]), Some(ValidationVerdict::NotValidated), "one query");
        assert_eq!(verdict(0.6, &[]), None);
    }
}
