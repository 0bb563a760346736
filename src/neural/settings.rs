//! `model.toml`: what a model is. The format is in `models/README.md`.

use std::ops::RangeInclusive;

use serde::Deserialize;

use super::NeuralError;
use super::source::ModelFile;

/// The version of the format.
const FORMAT: u32 = 1;
/// Longer rows are a mistake: attention over them takes gigabytes.
const MAX_TOKENS: RangeInclusive<usize> = 8..=4096;
const MAX_PASSAGES: RangeInclusive<usize> = 1..=1024;
/// Where the text of a page goes.
pub(crate) const TEXT: &str = "{text}";

/// What a model is.
#[derive(Debug, PartialEq)]
pub(crate) struct ModelSettings {
    pub(crate) name: String,
    /// Tokens of one input row, special tokens included.
    pub(crate) max_tokens: usize,
    pub(crate) pad_id: i64,
    pub(crate) kind: ModelKind,
}

/// The kinds of model with what each needs.
#[derive(Debug, PartialEq)]
pub(crate) enum ModelKind {
    T5 { before: String, after: String, truncation: Truncation },
    Classifier { positive: Option<usize> },
    Embedding { pooling: Pooling, normalize: bool },
    Pair { positive: Option<usize>, windows: Windows },
}

/// What is cut where a prompt is too long.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Truncation {
    /// The text, so that what follows it stays.
    Text,
    /// The end of the prompt, as the reference implementation of the models does.
    Prompt,
}

/// How vectors of tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pooling {
    Mean,
    Cls,
    /// The graph has done it.
    None,
}

/// How a page is cut into passages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Windows {
    pub(crate) passage_tokens: usize,
    pub(crate) stride_tokens: usize,
    pub(crate) max_passages: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    name: String,
    kind: KindName,
    max_tokens: usize,
    #[serde(default)]
    pad_id: u32,
    prompt: Option<String>,
    truncation: Option<Truncation>,
    positive: Option<usize>,
    pooling: Option<Pooling>,
    normalize: Option<bool>,
    passage_tokens: Option<usize>,
    stride_tokens: Option<usize>,
    max_passages: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    #[serde(rename = "t5-true-false")]
    T5,
    SequenceClassifier,
    SentenceEmbedding,
    SequencePair,
}

impl ModelKind {
    /// As in `model.toml`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::T5 { .. } => "t5-true-false",
            Self::Classifier { .. } => "sequence-classifier",
            Self::Embedding { .. } => "sentence-embedding",
            Self::Pair { .. } => "sequence-pair",
        }
    }
}

impl ModelSettings {
    /// Reads and checks `model.toml`.
    pub(crate) fn parse(part: &ModelFile) -> Result<Self, NeuralError> {
        let refuse = |problem| NeuralError::Model { file: part.name.clone(), problem };
        let text = std::str::from_utf8(&part.bytes)
            .map_err(|error| refuse(format!("expected UTF-8: {error}")))?;
        let file: File = toml::from_str(text)
            .map_err(|error| refuse(format!("expected the settings of a model: {error}")))?;
        file.check().map_err(refuse)
    }
}

impl File {
    fn check(self) -> Result<ModelSettings, String> {
        if self.format != FORMAT {
            return Err(format!("format is {}; this prospect reads {FORMAT}", self.format));
        }
        within("max_tokens", self.max_tokens, &MAX_TOKENS)?;
        self.refuse_foreign()?;
        let (max_tokens, pad_id) = (self.max_tokens, i64::from(self.pad_id));
        let name = self.name.clone();
        Ok(ModelSettings { name, max_tokens, pad_id, kind: self.kind()? })
    }

    /// A setting of another kind would be read past in silence.
    fn refuse_foreign(&self) -> Result<(), String> {
        use KindName::{SentenceEmbedding, SequenceClassifier, SequencePair, T5};
        let given: [(&str, bool, &[KindName]); 8] = [
            ("prompt", self.prompt.is_some(), &[T5]),
            ("truncation", self.truncation.is_some(), &[T5]),
            ("positive", self.positive.is_some(), &[SequenceClassifier, SequencePair]),
            ("pooling", self.pooling.is_some(), &[SentenceEmbedding]),
            ("normalize", self.normalize.is_some(), &[SentenceEmbedding]),
            ("passage_tokens", self.passage_tokens.is_some(), &[SequencePair]),
            ("stride_tokens", self.stride_tokens.is_some(), &[SequencePair]),
            ("max_passages", self.max_passages.is_some(), &[SequencePair]),
        ];
        for (name, is_given, kinds) in given {
            if is_given && !kinds.contains(&self.kind) {
                return Err(format!("{name} is no setting of this kind of model"));
            }
        }
        Ok(())
    }

    fn kind(self) -> Result<ModelKind, String> {
        let positive = self.positive;
        match self.kind {
            KindName::T5 => {
                let prompt = self.prompt.unwrap_or_else(|| format!("Document: {TEXT} Relevant:"));
                let Some((before, after)) = prompt.split_once(TEXT) else {
                    return Err(format!("prompt is {prompt:?}; expected {TEXT} in it"));
                };
                let truncation = self.truncation.unwrap_or(Truncation::Text);
                Ok(ModelKind::T5 { before: before.into(), after: after.into(), truncation })
            }
            KindName::SequenceClassifier => Ok(ModelKind::Classifier { positive }),
            KindName::SentenceEmbedding => Ok(ModelKind::Embedding {
                pooling: self.pooling.unwrap_or(Pooling::Mean),
                normalize: self.normalize.unwrap_or(true),
            }),
            KindName::SequencePair => {
                let windows = Windows {
                    passage_tokens: self.passage_tokens.unwrap_or(225),
                    stride_tokens: self.stride_tokens.unwrap_or(200),
                    max_passages: self.max_passages.unwrap_or(8),
                };
                within("passage_tokens", windows.passage_tokens, &(1..=self.max_tokens))?;
                within("stride_tokens", windows.stride_tokens, &(1..=windows.passage_tokens))?;
                within("max_passages", windows.max_passages, &MAX_PASSAGES)?;
                Ok(ModelKind::Pair { positive, windows })
            }
        }
    }
}

fn within(name: &str, value: usize, range: &RangeInclusive<usize>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{name} is {value}; expected {} to {}", range.start(), range.end()))
}

#[cfg(test)]
mod tests;
