//! Kind `sequence-classifier`: one row a text, its logits say how good it is.

use super::NeuralError;
use super::backend::ModelEngine;
use super::checks::Signature;
use super::probe;
use super::scores::log_probability;
use super::tokens::{TokenRow, Tokens};

/// A text between the special tokens of its template, cut at the end.
pub(crate) struct TextRows {
    tokens: Tokens,
    around: [Vec<i64>; 2],
    /// Tokens of a text that have room between them.
    room: usize,
    pad_id: i64,
    /// Whether the graph asks how long the whole text is, which costs tokenising all of it.
    counts_all: bool,
}

impl TextRows {
    /// Rows of at most `max_tokens`.
    pub(crate) fn new(tokens: Tokens, max_tokens: usize, pad_id: i64) -> Result<Self, NeuralError> {
        let around = tokens.around_one()?;
        let special = around[0].len() + around[1].len();
        let Some(room) = max_tokens.checked_sub(special + 1) else {
            let problem =
                format!("puts {special} special tokens around a text; max_tokens is {max_tokens}");
            return Err(tokens.refuse(problem));
        };
        Ok(Self { tokens, around, room: room + 1, pad_id, counts_all: false })
    }

    /// What the rows need of a graph.
    pub(crate) fn signature(&self, text_length: bool, output: (&'static str, usize)) -> Signature {
        Signature { text_length, output, highest_id: self.tokens.highest_id() }
    }

    /// From now on rows say how long the whole text is.
    pub(crate) fn count_all(&mut self) {
        self.counts_all = true;
    }

    /// The row of a text.
    pub(crate) fn row(&self, text: &str) -> Result<TokenRow, NeuralError> {
        let [before, after] = &self.around;
        let (mut first, count) = if self.counts_all {
            self.tokens.counted(text, self.room)?
        } else {
            let (start, _) = self.tokens.start("", text, self.room)?;
            let count = start.len();
            (start, count)
        };
        let text_length = (count as f64).ln_1p() as f32;
        first.truncate(self.room);
        let mut ids = [before.as_slice(), &first, after].concat();
        if ids.is_empty() {
            // Neither special tokens nor words: a graph still needs something to read.
            ids.push(self.pad_id);
        }
        Ok(TokenRow { ids, second_part: None, text_length })
    }
}

/// The classifier.
pub(crate) struct Classifier {
    rows: TextRows,
    engine: ModelEngine,
    positive: usize,
}

impl Classifier {
    /// With the number of logits found by probing.
    pub(crate) fn new(
        mut rows: TextRows,
        engine: ModelEngine,
        positive: Option<usize>,
    ) -> Result<Self, NeuralError> {
        if engine.has_input("text_length") {
            rows.count_all();
        }
        let positive = probe::positive(&engine, positive, &|text| rows.row(text))?;
        Ok(Self { rows, engine, positive })
    }

    /// Log-probability of "good" for each text.
    pub(crate) fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let score = |_: &TokenRow, logits: &[f32]| log_probability(logits, self.positive);
        self.engine.each_row(texts, |text| self.rows.row(text), score)
    }
}
