//! Domains of queries: those of the workload that are most like a query, by cosine of their idf-weighted words.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::workload::{Query, QueryId};

/// Queries of a domain, the query itself among them.
const NEAREST: usize = 10;

/// By query: the queries nearest to it, itself first; those that share no word with it are not near. `idf` is of
/// words. Ties go by place.
pub(super) fn nearest(queries: &[Query], idf: impl Fn(&str) -> f64 + Sync) -> Vec<Vec<QueryId>> {
    let words = QueryWords::new(queries, idf);
    let places = (0..queries.len()).into_par_iter();
    places.map_init(|| vec![0.0; queries.len()], |shared, at| words.domain(at, shared)).collect()
}

/// The words of queries, numbered.
struct QueryWords {
    /// By word: the square of its idf.
    weights: Vec<f64>,
    /// By word: the queries that have it.
    holders: Vec<Vec<QueryId>>,
    /// By query: its distinct words.
    words_of: Vec<Vec<usize>>,
    /// By query: the length of its vector.
    lengths: Vec<f64>,
}

impl QueryWords {
    fn new(queries: &[Query], idf: impl Fn(&str) -> f64) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let (mut weights, mut holders) = (Vec::new(), Vec::<Vec<QueryId>>::new());
        let mut words_of = Vec::with_capacity(queries.len());
        for (at, query) in queries.iter().enumerate() {
            let mut words = Vec::with_capacity(query.words.len());
            for word in &query.words {
                let number = *numbers.entry(word).or_insert_with(|| {
                    weights.push(idf(word).powi(2));
                    holders.push(Vec::new());
                    holders.len() - 1
                });
                words.push(number);
            }
            words.sort_unstable();
            words.dedup();
            for &word in &words {
                holders[word].push(QueryId::new(at));
            }
            words_of.push(words);
        }
        let length =
            |words: &Vec<usize>| words.iter().map(|&word| weights[word]).sum::<f64>().sqrt();
        let lengths = words_of.iter().map(length).collect();
        Self { weights, holders, words_of, lengths }
    }

    /// The queries nearest to one, itself first. `shared` is 0 for each query, and is so again afterwards.
    fn domain(&self, at: usize, shared: &mut [f64]) -> Vec<QueryId> {
        let mut found: Vec<QueryId> = Vec::new();
        for &word in &self.words_of[at] {
            for &other in &self.holders[word] {
                if shared[other.index()] == 0.0 {
                    found.push(other);
                }
                shared[other.index()] += self.weights[word];
            }
        }
        found.retain(|other| other.index() != at);
        let cosine = |other: QueryId| shared[other.index()] / self.lengths[other.index()];
        let others = found.iter().map(|&other| (cosine(other), other)).collect();
        shared[at] = 0.0;
        for other in &found {
            shared[other.index()] = 0.0;
        }
        std::iter::once(QueryId::new(at)).chain(best(others)).take(NEAREST).collect()
    }
}

/// The [`NEAREST`] of these at most, the nearest first.
fn best(mut queries: Vec<(f64, QueryId)>) -> impl Iterator<Item = QueryId> {
    let order = |a: &(f64, QueryId), b: &(f64, QueryId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if queries.len() > NEAREST {
        queries.select_nth_unstable_by(NEAREST - 1, order);
        queries.truncate(NEAREST);
    }
    queries.sort_unstable_by(order);
    queries.into_iter().map(|(_, query)| query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_make_queries_near() {
        let texts = ["the rye", "the wheat", "rye bread the", "ships"];
        let queries: Vec<Query> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Query::new(&at.to_string(), text, 1.0, ""))
            .collect();
        let found = nearest(&queries, |word| if word == "the" { 0.1 } else { 2.0 });
        let places = |at: usize| found[at].iter().map(|q| q.index()).collect::<Vec<_>>();
        assert_eq!(places(0), [0, 2, 1]);
        assert_eq!(places(3), [3]);
        let many: Vec<Query> =
            (0..30).map(|at| Query::new(&at.to_string(), "rye", 1.0, "")).collect();
        let found = nearest(&many, |_| 1.0);
        assert_eq!(found[20].iter().map(|q| q.index()).collect::<Vec<_>>()[..4], [20, 0, 1, 2]);
        assert_eq!(found[20].len(), NEAREST);
    }
}
