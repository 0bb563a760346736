//! The baseline without a model: the longer a text, the better, up to 500 words.
//!
//! The score of a text with w words is `min(0, ln(w / 500))`, at least -10. It needs no file and no
//! runtime, works in every build, and is what a neural score has to beat.

use prospect_index::words;
use rayon::prelude::*;

use super::{NeuralError, QualityModel};

/// Its name on the command line.
pub(crate) const NAME: &str = "text-length";

/// Words beyond which a text is not better any more.
pub(crate) const FULL_WORDS: f64 = 500.0;
/// Score of a text without a word.
pub(crate) const LEAST: f64 = -10.0;

/// The baseline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextLength;

impl QualityModel for TextLength {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fingerprint(&self) -> &'static str {
        "746578742d6c656e6774682d35303032"
    }

    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        Ok(texts.par_iter().map(|text| log_length(text)).collect())
    }
}

/// Log of the share of a full text's words that a text has.
fn log_length(text: &str) -> f64 {
    let count = words::words(text).len() as f64;
    (count / FULL_WORDS).ln().clamp(LEAST, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_words_are_as_good_as_more() {
        let text = |words: usize| vec!["word"; words].join(" ");
        let texts = [text(0), text(1), text(250), text(500), text(900)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let expected = [-10.0, (1.0_f64 / 500.0).ln(), 0.5_f64.ln(), 0.0, 0.0];
        assert_eq!(TextLength.score(&texts).unwrap(), expected);
    }
}
