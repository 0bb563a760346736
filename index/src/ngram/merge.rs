//! Merging segments: one new segment with the union of their strings, without URLs that are no
//! longer wanted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::error::damaged;
use super::layout::STRINGS;
use super::varint;
use super::{BuildConfig, NgramError, Segment, SegmentBuilder, SegmentStats};
use crate::page::UrlId;

/// Writes a segment of all URLs of `segments` that `keep` wants, with their strings, into `dir`.
/// Crawled URLs are dropped here, and what is [hidden](Segment::hide). The files are the same, byte for byte, as if the kept strings
/// had been added to one builder. Strings stream; memory is a builder's plus 4 bytes for each word
/// of each segment.
///
/// # Errors
/// Those of [`SegmentBuilder`], and [`NgramError::Damaged`] when a string names a word that its
/// segment has not.
pub(crate) fn merge(
    segments: &[&Segment],
    keep: impl Fn(UrlId) -> bool,
    config: BuildConfig,
    dir: &Path,
) -> Result<SegmentStats, NgramError> {
    let mut builder = SegmentBuilder::new(config, dir)?;
    let mut sources: Vec<Source<'_>> =
        segments.iter().map(|segment| Source::new(segment)).collect();
    let mut heads = BinaryHeap::new();
    for (at, segment) in segments.iter().enumerate() {
        heads.extend(segment.url_table().first().map(|&url| Reverse((url, at, 0))));
    }
    while let Some(Reverse((url, at, local))) = heads.pop() {
        let source = &mut sources[at];
        let next = source.segment.url_table().get(local + 1);
        heads.extend(next.map(|&url| Reverse((url, at, local + 1))));
        if keep(UrlId(url)) && !source.segment.is_hidden(local) {
            builder.start(UrlId(url))?;
            source.copy_strings(local, &mut builder)?;
        }
    }
    builder.finish()
}

/// A segment being merged.
struct Source<'a> {
    segment: &'a Segment,
    /// The builder's id of each of the segment's words, once it has been met.
    ids: Vec<Option<u32>>,
}

impl<'a> Source<'a> {
    fn new(segment: &'a Segment) -> Self {
        Self { segment, ids: vec![None; segment.token_count()] }
    }

    fn copy_strings(
        &mut self,
        local: usize,
        builder: &mut SegmentBuilder,
    ) -> Result<(), NgramError> {
        let bytes = self.segment.strings_of(local);
        let mut at = 0;
        while let Some(value) = varint::get(bytes, &mut at) {
            match value.checked_sub(1) {
                Some(token) => {
                    let id = self.id(token, builder)?;
                    builder.push(id);
                }
                None => builder.end_string()?,
            }
        }
        Ok(())
    }

    fn id(&mut self, token: u32, builder: &mut SegmentBuilder) -> Result<u32, NgramError> {
        let missing = || damaged(STRINGS, "word id", &"one of the segment's words", &token);
        let id = self.ids.get_mut(token as usize).ok_or_else(missing)?;
        if let Some(id) = *id {
            return Ok(id);
        }
        let word = self.segment.word(token).and_then(|bytes| String::from_utf8(bytes).ok());
        let new = builder.intern(&word.ok_or_else(missing)?);
        *id = Some(new);
        Ok(new)
    }
}
