//! The trial runs of a graph that has just been loaded: a short text, a longer one, and one that fills
//! a row, so that what is wrong with a graph is told before anything is scored.

use super::NeuralError;
use super::backend::ModelEngine;
use super::tokens::TokenRow;

/// The texts of the trial runs, for rows of at most `max_tokens`.
pub(crate) fn texts(max_tokens: usize) -> [String; 3] {
    let longer =
        "The crawler fetches a batch, reads its links and plans which pages it fetches next.";
    ["a".to_owned(), longer.to_owned(), "page ".repeat(max_tokens)]
}

/// Tries a graph whose output is `logits`; the index of the logit of "good", by default the last.
pub(crate) fn positive(
    engine: &ModelEngine,
    positive: Option<usize>,
    row: &dyn Fn(&str) -> Result<TokenRow, NeuralError>,
) -> Result<usize, NeuralError> {
    let mut labels = None;
    for text in texts(engine.max_tokens()) {
        let shape = engine.run(&row(&text)?)?.shape;
        let found = match *shape {
            [1, labels] if labels > 0 => labels,
            _ => {
                return Err(engine.refuse(format!(
                    "expected the output logits of one text to be [1, labels]; found {shape:?}"
                )));
            }
        };
        let expected = *labels.get_or_insert(found);
        if expected != found {
            return Err(engine.refuse(format!(
                "expected as many logits for every text; found {expected} and {found}"
            )));
        }
    }
    let labels = labels.unwrap_or(1);
    let positive = positive.unwrap_or(labels - 1);
    if positive >= labels {
        return Err(engine.refuse(format!(
            "expected more than {positive} logits, since model.toml has positive = {positive}; \
             found {labels}"
        )));
    }
    Ok(positive)
}
