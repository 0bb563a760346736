//! Kind `sequence-pair`: a cross-encoder reads a query and a passage of a page; a page is as good as
//! its best passage (`MaxP`, Dai and Callan 2019).

use super::NeuralError;
use super::backend::ModelEngine;
use super::checks::Signature;
use super::probe;
use super::scores::log_probability;
use super::settings::Windows;
use super::tokens::{TokenRow, Tokens};

/// Tokens of a query that are read.
const QUERY_TOKENS: usize = 64;

/// A query and passages of a page between the special tokens of their template.
pub(crate) struct PairRows {
    tokens: Tokens,
    around: [Vec<i64>; 3],
    windows: Windows,
}

impl PairRows {
    /// Rows of at most `max_tokens`.
    pub(crate) fn new(
        tokens: Tokens,
        windows: Windows,
        max_tokens: usize,
    ) -> Result<Self, NeuralError> {
        let around = tokens.around_two()?;
        let special: usize = around.iter().map(Vec::len).sum();
        let longest = QUERY_TOKENS + windows.passage_tokens + special;
        if longest > max_tokens {
            return Err(tokens.refuse(format!(
                "rows of {QUERY_TOKENS} query tokens, {} passage tokens and {special} special ones have {longest}; \
                 expected at most max_tokens = {max_tokens}", windows.passage_tokens
            )));
        }
        Ok(Self { tokens, around, windows })
    }

    /// What the rows need of a graph.
    pub(crate) fn signature(&self) -> Signature {
        Signature {
            text_length: false,
            output: ("logits", 2),
            highest_id: self.tokens.highest_id(),
        }
    }

    /// The part of every row that the query makes.
    pub(crate) fn query(&self, query: &str) -> Result<Vec<i64>, NeuralError> {
        let mut ids = self.tokens.start("", query, QUERY_TOKENS)?.0;
        ids.truncate(QUERY_TOKENS);
        Ok([self.around[0].as_slice(), &ids, &self.around[1]].concat())
    }

    /// The rows of a page, at least one: passage i begins at token i * stride, the last is the first
    /// to reach the end of the page.
    pub(crate) fn rows(&self, query: &[i64], text: &str) -> Result<Vec<TokenRow>, NeuralError> {
        let Windows { passage_tokens, stride_tokens, max_passages } = self.windows;
        let looked_at = stride_tokens * (max_passages - 1) + passage_tokens;
        let (ids, _) = self.tokens.start("", text, looked_at)?;
        let mut rows = Vec::new();
        for start in (0..max_passages).map(|window| window * stride_tokens) {
            let end = (start + passage_tokens).min(ids.len());
            let row = [query, &ids[start.min(end)..end], &self.around[2]].concat();
            rows.push(TokenRow { ids: row, second_part: Some(query.len()), text_length: 0.0 });
            if end == ids.len() {
                break;
            }
        }
        Ok(rows)
    }
}

/// The cross-encoder.
pub(crate) struct Pairs {
    rows: PairRows,
    engine: ModelEngine,
    positive: usize,
}

impl Pairs {
    /// Tries the graph.
    pub(crate) fn new(
        rows: PairRows,
        engine: ModelEngine,
        positive: Option<usize>,
    ) -> Result<Self, NeuralError> {
        let query = rows.query("crawl order")?;
        let first = |text: &str| Ok(rows.rows(&query, text)?.swap_remove(0));
        let positive = probe::positive(&engine, positive, &first)?;
        Ok(Self { rows, engine, positive })
    }

    /// Log-probability of the best passage of each text.
    pub(crate) fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let query = self.rows.query(query)?;
        let score = |_: &TokenRow, logits: &[f32]| log_probability(logits, self.positive);
        let passages = self.engine.each(texts, |text| self.rows.rows(&query, text), score)?;
        let best = |scores: Vec<f64>| scores.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Ok(passages.into_iter().map(best).collect())
    }
}
