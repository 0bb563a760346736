//! Kind `t5-true-false`: a prompt asks whether a document is relevant, the graph answers in one step
//! with the logits of "true" and "false" (MonoT5; as a quality model, QualT5: the prompt has no
//! query).

use super::NeuralError;
use super::backend::ModelEngine;
use super::checks::Signature;
use super::probe;
use super::scores::log_softmax;
use super::settings::Truncation;
use super::tokens::{TokenRow, Tokens};

const END_OF_SEQUENCE: &str = "</s>";
const TRUE: usize = 0;

/// The prompt around a text.
pub(crate) struct Prompt {
    tokens: Tokens,
    before: String,
    after: String,
    /// Tokens of `after`, which stay where the text is cut.
    suffix: Vec<i64>,
    end: i64,
    /// Tokens before the end-of-sequence token.
    room: usize,
    truncation: Truncation,
}

impl Prompt {
    /// The prompt `before` text `after` in rows of at most `max_tokens`.
    pub(crate) fn new(
        tokens: Tokens,
        (before, after): (&str, &str),
        truncation: Truncation,
        max_tokens: usize,
    ) -> Result<Self, NeuralError> {
        let suffix = tokens.all(after)?;
        let end = tokens.id(END_OF_SEQUENCE)?;
        let fixed = suffix.len() + tokens.all(before)?.len() + 1;
        if fixed >= max_tokens {
            return Err(tokens.refuse(format!(
                "the prompt alone has {fixed} tokens; expected fewer than max_tokens = {max_tokens}"
            )));
        }
        let (before, after, room) = (before.to_owned(), after.to_owned(), max_tokens - 1);
        Ok(Self { tokens, before, after, suffix, end, room, truncation })
    }

    /// What the rows need of a graph.
    pub(crate) fn signature(&self) -> Signature {
        Signature {
            text_length: false,
            output: ("logits", 2),
            highest_id: self.tokens.highest_id(),
        }
    }

    /// The row of a text.
    pub(crate) fn row(&self, text: &str) -> Result<TokenRow, NeuralError> {
        let (mut ids, is_whole) = self.tokens.start(&self.before, text, self.room)?;
        if is_whole {
            ids = self.tokens.all(&format!("{}{text}{}", self.before, self.after))?;
        }
        if ids.len() > self.room && self.truncation == Truncation::Text {
            ids.truncate(self.room - self.suffix.len());
            ids.extend(&self.suffix);
        }
        ids.truncate(self.room);
        ids.push(self.end);
        Ok(TokenRow { ids, ..TokenRow::default() })
    }
}

/// The model.
pub(crate) struct T5 {
    prompt: Prompt,
    engine: ModelEngine,
}

impl T5 {
    /// Tries the graph.
    pub(crate) fn new(prompt: Prompt, engine: ModelEngine) -> Result<Self, NeuralError> {
        for text in probe::texts(engine.max_tokens()) {
            let shape = engine.run(&prompt.row(&text)?)?.shape;
            if shape != [1, 2] {
                return Err(engine.refuse(format!(
                    "expected the output logits of one text to be [1, 2], true and false; found {shape:?}"
                )));
            }
        }
        Ok(Self { prompt, engine })
    }

    /// Log-probability of "true" for each text.
    pub(crate) fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let score = |_: &TokenRow, logits: &[f32]| log_softmax(logits, TRUE);
        self.engine.each_row(texts, |text| self.prompt.row(text), score)
    }
}
