//! From texts to the token ids of one input row.
//!
//! A row is the ids of a text between the special tokens that the tokenizer's template puts there. A
//! long text is read only as far as its tokens can matter, see [`Tokens::start`].

use tokenizers::{Encoding, Token, Tokenizer};

use super::NeuralError;
use super::source::ModelFile;

/// Bytes of text that are read for each token that is wanted, at first: web text in English has 4 to
/// 5 bytes a token.
const BYTES_PER_TOKEN: usize = 5;
/// Tokens this close to where a text was cut may be others than in the whole text.
const MARGIN: usize = 8;

/// One input row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TokenRow {
    pub(crate) ids: Vec<i64>,
    /// Where the second part of a pair starts: token types are 0 before it and 1 from it on.
    pub(crate) second_part: Option<usize>,
    /// ln(1 + tokens of the whole text), for graphs that ask for it.
    pub(crate) text_length: f32,
}

/// Bytes of a text that are cut into tokens at once, where all are counted.
const PIECE_BYTES: usize = 1 << 16;

/// A tokenizer that neither cuts nor pads.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    file: String,
}

impl Tokens {
    /// Reads `tokenizer.json`.
    pub(crate) fn read(part: &ModelFile) -> Result<Self, NeuralError> {
        let file = part.name.clone();
        let refuse = |problem: String| NeuralError::Model { file: file.clone(), problem };
        let mut tokenizer = Tokenizer::from_bytes(&part.bytes).map_err(|error| {
            refuse(format!(
                "expected a tokenizer in the format of Hugging Face tokenizers: {error}"
            ))
        })?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { tokenizer, file })
    }

    /// The error that something about this tokenizer is wrong.
    pub(crate) fn refuse(&self, problem: String) -> NeuralError {
        NeuralError::Model { file: self.file.clone(), problem }
    }

    /// The highest id a text can get.
    pub(crate) fn highest_id(&self) -> i64 {
        let ids = self.tokenizer.get_vocab(true).into_values();
        ids.max().map_or(0, i64::from)
    }

    /// The id of a token that the vocabulary must have.
    pub(crate) fn id(&self, token: &str) -> Result<i64, NeuralError> {
        let id = self.tokenizer.token_to_id(token);
        id.map(i64::from)
            .ok_or_else(|| self.refuse(format!("expected a token {token}, found none")))
    }

    /// All tokens of a text, without special ones.
    pub(crate) fn all(&self, text: &str) -> Result<Vec<i64>, NeuralError> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let encoding =
            encoding.map_err(|error| self.refuse(format!("a text has no tokens: {error}")))?;
        Ok(encoding.get_ids().iter().map(|id| i64::from(*id)).collect())
    }

    /// The first `wanted` tokens of a text, and how many it has in all. A long one is read in pieces, for its tokens take a
    /// hundred times its room.
    pub(crate) fn counted(
        &self,
        text: &str,
        wanted: usize,
    ) -> Result<(Vec<i64>, usize), NeuralError> {
        self.counted_by(text, wanted, PIECE_BYTES)
    }

    fn counted_by(
        &self,
        text: &str,
        wanted: usize,
        piece_bytes: usize,
    ) -> Result<(Vec<i64>, usize), NeuralError> {
        let (mut first, mut count, mut rest) = (Vec::new(), 0, text);
        while !rest.is_empty() {
            // What has no spaces is cut all the same.
            let most = rest.floor_char_boundary(piece_bytes + PIECE_BYTES);
            let (piece, behind) = rest.split_at(cut(rest, piece_bytes).min(most));
            let ids = self.all(piece)?;
            count += ids.len();
            first.extend(ids.into_iter().take(wanted - first.len()));
            rest = behind;
        }
        Ok((first, count))
    }

    /// The tokens of `before` and `text`, exact for the first `wanted`; whether they are all there
    /// are. Of a long text only the start is tokenised, up to a space.
    pub(crate) fn start(
        &self,
        before: &str,
        text: &str,
        wanted: usize,
    ) -> Result<(Vec<i64>, bool), NeuralError> {
        let mut bytes = (wanted + MARGIN) * BYTES_PER_TOKEN;
        loop {
            let end = cut(text, bytes);
            let ids = self.all(&format!("{before}{}", &text[..end]))?;
            if end == text.len() || ids.len() >= wanted + MARGIN {
                return Ok((ids, end == text.len()));
            }
            bytes *= 2;
        }
    }

    /// The special tokens around one text: before and after it.
    pub(crate) fn around_one(&self) -> Result<[Vec<i64>; 2], NeuralError> {
        let parts = self.template(1)?;
        parts.try_into().map_err(|_| self.refuse("expected a template for one text".to_owned()))
    }

    /// The special tokens around a pair: before the first, between, and after the second.
    pub(crate) fn around_two(&self) -> Result<[Vec<i64>; 3], NeuralError> {
        let parts = self.template(2)?;
        parts
            .try_into()
            .map_err(|_| self.refuse("expected a template for a pair of texts".to_owned()))
    }

    /// What stands between as many stand-ins for texts as there are `texts`.
    fn template(&self, texts: usize) -> Result<Vec<Vec<i64>>, NeuralError> {
        const STAND_IN: u32 = u32::MAX;
        let stand_in =
            || Encoding::from_tokens(vec![Token::new(STAND_IN, String::new(), (0, 0))], 0);
        let second = (texts == 2).then(stand_in);
        let whole = self.tokenizer.post_process(stand_in(), second, true);
        let whole = whole.map_err(|error| self.refuse(format!("its template fails: {error}")))?;
        let parts = whole.get_ids().split(|id| *id == STAND_IN);
        Ok(parts.map(|ids| ids.iter().map(|id| i64::from(*id)).collect()).collect())
    }
}

/// The end of the first `bytes` of `text` or a little more: before a space, so that no word is cut.
fn cut(text: &str, bytes: usize) -> usize {
    if bytes >= text.len() {
        return text.len();
    }
    let start = text.ceil_char_boundary(bytes);
    text[start..].find(char::is_whitespace).map_or(text.len(), |space| start + space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_before_a_space() {
        for (text, bytes, expected) in [
            ("one two three", 2, "one"),
            ("one two three", 3, "one"),
            ("one two three", 4, "one two"),
            ("one two three", 9, "one two three"),
            ("one two", 70, "one two"),
            ("über alles", 1, "über"),
            ("", 3, ""),
        ] {
            assert_eq!(&text[..cut(text, bytes)], expected, "{text} at {bytes}");
        }
    }

    #[test]
    fn tokens_of_pieces_are_those_of_the_whole() {
        let bytes = include_bytes!("bundled/tokenizer.json").as_slice().into();
        let tokens = Tokens::read(&ModelFile { name: "t".into(), bytes }).unwrap();
        let text = "Rye bread, baked in\n\nZürich  by hand: 12.5 % salt; unbelievableness. ";
        let all = tokens.all(text).unwrap();
        for (piece, wanted) in [(1, 5), (7, 0), (20, 1000), (1000, 12)] {
            let (first, count) = tokens.counted_by(text, wanted, piece).unwrap();
            assert_eq!((first.as_slice(), count), (&all[..wanted.min(all.len())], all.len()));
        }
    }
}
