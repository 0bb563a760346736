//! Scoring the pages of a store with a quality model: all that are new since the last time, or all
//! when the model is another one.
//!
//! A delay keeps the newest pages back until as many more have come, so that a model that is slow can
//! score in large batches while the crawl goes on (Pezzuti, Mueller, MacAvaney and Tonellotto, 2025);
//! until then they are no evidence. Memory: the texts of one row group of the store.

use prospect_index::columns::Column;
use prospect_index::manifest::{QualityEntry, SegmentKind};
use prospect_index::page_store::{QUALITY, for_each_text};
use serde::Serialize;

use crate::campaign::{CampaignError, OpenStore};
use crate::neural::{QualityModel, document};

/// What was scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ScoredStore {
    /// Name of the model.
    pub(crate) model: String,
    /// Pages that have a score now and had none.
    pub(crate) scored: u64,
    /// Pages that were looked at and have no text.
    pub(crate) empty: u64,
    /// The newest records, which wait for their scores.
    pub(crate) waiting: u32,
    /// Whether another model had scored before, whose scores are replaced.
    pub(crate) replaced: bool,
}

/// Scores pages with `model`, all but the `delay` newest records, and commits their scores.
/// `progress` is told how many records have been looked at.
///
/// # Errors
/// The model fails, or the store cannot be read or written; then nothing has changed.
pub(crate) fn score_new(
    open: &mut OpenStore,
    model: &dyn QualityModel,
    delay: u32,
    progress: &mut dyn FnMut(u64),
) -> Result<ScoredStore, CampaignError> {
    let manifest = open.store.manifest();
    let before = manifest.quality.clone();
    let same = before.as_ref().filter(|entry| entry.fingerprint == model.fingerprint());
    let from = same.map_or(0, |entry| entry.end_seq);
    let end = manifest.next_seq.saturating_sub(delay).max(from);
    let replaced = before.is_some() && same.is_none();
    let mut scored =
        ScoredStore { model: model.name().to_owned(), replaced, ..ScoredStore::default() };
    scored.waiting = manifest.next_seq - end;
    if from == end {
        return Ok(scored);
    }
    let (mut seqs, mut scores, mut failed) = (Vec::new(), Vec::new(), None);
    for_each_text(open.store.storage(), manifest, from, |pages| {
        if failed.is_none() {
            let pages = pages.into_iter().filter(|page| {
                // A version that was replaced is evidence for nothing.
                page.seq < end && open.known.pages.page_seq(page.url) == Some(page.seq)
            });
            let mut texts: Vec<(u32, String)> =
                pages.map(|page| (page.seq, document(&[page.title, page.text]))).collect();
            let all = texts.len();
            texts.retain(|(_, text)| !text.trim().is_empty());
            scored.empty += (all - texts.len()) as u64;
            let read: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            match model.score(&read) {
                Ok(found) => {
                    seqs.extend(texts.iter().map(|(seq, _)| *seq));
                    scores.extend(found);
                }
                Err(error) => failed = Some(error),
            }
            progress(seqs.len() as u64 + scored.empty);
        }
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    scored.scored = seqs.len() as u64;
    commit(open, model, end, replaced, &seqs, &scores)?;
    Ok(scored)
}

fn commit(
    open: &mut OpenStore,
    model: &dyn QualityModel,
    end_seq: u32,
    replaced: bool,
    seqs: &[u32],
    scores: &[f64],
) -> Result<(), CampaignError> {
    let columns = [Column::U32(seqs.to_vec()), Column::F64(scores.to_vec())];
    let segment = open.store.write_segment(SegmentKind::Quality, QUALITY, [&columns])?;
    open.store.commit(|manifest| {
        if replaced {
            manifest.segments.retain(|segment| segment.kind != SegmentKind::Quality);
        }
        manifest.segments.push(segment);
        let (model, fingerprint) = (model.name().to_owned(), model.fingerprint().to_owned());
        manifest.quality = Some(QualityEntry { model, fingerprint, end_seq });
    })?;
    if replaced {
        open.known.quality.clear();
    }
    for (&seq, &quality) in seqs.iter().zip(scores) {
        open.known.note_quality(seq, quality);
    }
    Ok(())
}
