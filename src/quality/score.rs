//! Runs a quality model over a stream of documents and writes them with their scores, in order.

use xxhash_rust::xxh3::Xxh3;

use super::journal::Journal;
use super::{Counts, QualityError, texts};
use crate::documents::{AddedField, DocumentBatch, DocumentSink, DocumentSource};
use crate::neural::QualityModel;

/// How to score.
#[derive(Clone, Debug)]
pub(crate) struct ScoreSettings {
    /// Columns whose texts are joined by a space.
    pub(crate) text_columns: Vec<String>,
    /// Whether the first row that is none, or that has no text where one should be, ends the run.
    pub(crate) strict: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ScoredDocuments {
    /// Documents written.
    pub(crate) rows: u64,
    /// Those with a score.
    pub(crate) scored: u64,
    /// Scores that a run before had found.
    pub(crate) resumed: u64,
    /// Documents without a score, by reason.
    pub(crate) unscored: Counts,
    /// Rows that could not be read and were left out, by reason.
    pub(crate) skipped: Counts,
    /// What an archive tells that is no document: fetches without a page, pages without a text; by reason.
    pub(crate) others: Counts,
}

/// Scores every document of `source` and writes it to `sink`, which is left unfinished. Scores that
/// `journal` holds are taken from it, others are noted there before they are written. `seen` is told
/// how far the work came.
///
/// # Errors
/// The documents cannot be read or written, the model fails, or the journal does not fit.
pub(crate) fn run(
    source: &mut dyn DocumentSource,
    sink: &mut dyn DocumentSink,
    model: &dyn QualityModel,
    mut journal: Option<&mut Journal>,
    settings: &ScoreSettings,
    mut seen: impl FnMut(&ScoredDocuments, (u64, Option<u64>)),
) -> Result<ScoredDocuments, QualityError> {
    let mut found = ScoredDocuments::default();
    while let Some(batch) = source.next_batch()? {
        for row in &batch.bad {
            if settings.strict {
                return Err(QualityError::Strict(Box::new(row.clone())));
            }
            found.skipped.add(row.clone());
        }
        source.others().into_iter().for_each(|other| found.others.add(other));
        let texts = texts_of(&batch, settings, &mut found)?;
        let hash = hash_of(&texts);
        let noted = match &mut journal {
            Some(journal) => journal.next(batch.len(), hash)?,
            None => None,
        };
        let scores = if let Some(scores) = noted {
            found.resumed += batch.len() as u64;
            scores
        } else {
            let scores = score(&batch, &texts, model)?;
            if let Some(journal) = &mut journal {
                journal.append(hash, &scores)?;
            }
            scores
        };
        found.rows += batch.len() as u64;
        found.scored += scores.iter().flatten().count() as u64;
        sink.write(&batch, Some(AddedField::Numbers(&scores)))?;
        seen(&found, source.progress());
    }
    Ok(found)
}

/// The texts of a batch, none where there is nothing to score.
fn texts_of(
    batch: &DocumentBatch,
    settings: &ScoreSettings,
    found: &mut ScoredDocuments,
) -> Result<Vec<Option<String>>, QualityError> {
    let mut texts = Vec::with_capacity(batch.len());
    for text in texts::of_batch(batch, &settings.text_columns) {
        texts.push(match text {
            Ok(text) => Some(text),
            Err(row) => {
                // A page may well have no text; one whose text is a number is a mistake.
                if settings.strict && row.reason != "no-text" {
                    return Err(QualityError::Strict(Box::new(row)));
                }
                found.unscored.add(row);
                None
            }
        });
    }
    Ok(texts)
}

fn hash_of(texts: &[Option<String>]) -> u64 {
    let mut hash = Xxh3::new();
    for text in texts {
        let length = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
        hash.update(&length.to_le_bytes());
        hash.update(text.as_deref().unwrap_or_default().as_bytes());
    }
    hash.digest()
}

fn score(
    batch: &DocumentBatch,
    texts: &[Option<String>],
    model: &dyn QualityModel,
) -> Result<Vec<Option<f64>>, QualityError> {
    let given: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let first = texts.iter().position(Option::is_some);
    let Some(first) = first else { return Ok(vec![None; texts.len()]) };
    let scores = model.score(&given).map_err(|source| {
        let place = batch.place(first);
        QualityError::Model { place, source }
    })?;
    let mut scores = scores.into_iter();
    let mut found = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let score = text.as_ref().map(|_| scores.next().unwrap_or(f64::NAN));
        if let Some(score) = score.filter(|score| !(score.is_finite() && *score <= 0.0)) {
            let (model, place) = (model.name().to_owned(), batch.place(row));
            return Err(QualityError::Score { model, score, place });
        }
        found.push(score);
    }
    Ok(found)
}
