//! How much of a query a URL's own strings, or anchors that lead to it, must hold to match.

use prospect_index::bm25::Scorer;
use prospect_index::ngram::NgramQuery;
use serde::{Deserialize, Serialize};

use crate::estimate::EstimateError;
use crate::workload::Query;

/// How a query and a URL must agree to be a candidate pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchRule {
    /// Share of the query's n-grams that must occur.
    pub rho: f64,
    /// Whether n-grams weigh the sum of their words' idf, or 1 each.
    pub idf_weighted: bool,
    /// Longest n-gram in words: g.
    pub max_words: usize,
}

impl Default for MatchRule {
    /// idf-weighted at a twentieth: with rho = 1 a natural-language question matches nothing, and
    /// of the settings that `benches/first_batch.rs` tries this one does well on every corpus.
    fn default() -> Self {
        Self { rho: 0.05, idf_weighted: true, max_words: 3 }
    }
}

/// Sum of the idf of a query's words.
pub(crate) fn idf_mass(query: &Query, scorer: &Scorer<'_>) -> f64 {
    query.words.iter().map(|word| scorer.idf(word)).sum()
}

/// The query's n-grams twice: weighted by idf, and with the rule by which a URL matches.
///
/// # Errors
/// rho is no share.
pub(crate) fn ngram_queries(
    query: &Query,
    rule: MatchRule,
    scorer: &Scorer<'_>,
) -> Result<(NgramQuery, NgramQuery), EstimateError> {
    let ngrams = || NgramQuery::new(&query.words, rule.max_words);
    let idf = ngrams().needing_weight(rule.rho, |word| scorer.idf(word))?;
    let matching = if rule.idf_weighted {
        ngrams().needing_weight(rule.rho, |word| scorer.idf(word))?
    } else {
        ngrams().needing_share(rule.rho)?
    };
    Ok((idf, matching))
}
