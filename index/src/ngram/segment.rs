//! An open segment: lookups of words, n-grams and strings in its parts.
//!
//! Not here: reading files and verifying their checksums (the store's, before parts come here).
//! What is checked here is enough that no later call panics: the FSTs wholly (their reader would
//! panic on a flipped bit), headers, lengths and tables; a flipped bit inside lists or strings can
//! only change answers, which is what the store's checksums are for.

use std::ops::Range;
use std::path::Path;

use fst::raw::{Fst, Output};

use super::error::damaged;
use super::filter::{BLOCK_BYTES, Filter};
use super::layout::{
    FILTER, Header, NGRAMS, POSTINGS, PostingRef, SHORT_HEADER_BYTES, STRINGS,
    STRINGS_HEADER_BYTES, TOKENS, check_filter, check_postings, le_u32, le_u64,
};
use super::varint;
use super::{NgramError, SegmentParts};
use crate::limits;
use crate::mapped::Bytes;
#[cfg(test)]
use crate::page::UrlId;

/// An immutable set of URLs with their strings and n-grams.
pub struct Segment {
    tokens: Fst<Vec<u8>>,
    ngrams: Fst<Bytes>,
    postings: Bytes,
    filter: Filter,
    strings: Bytes,
    /// By local id, ascending.
    urls: Vec<u32>,
    /// By local id, whether a later segment has the URL whole; empty if none has.
    hidden: Vec<bool>,
    /// By token id: every walk through the n-grams starts at a word, so its place is kept.
    words: Vec<WordPlace>,
    header: Header,
}

/// Where the n-gram of one word ends, and its FST value.
struct WordPlace {
    place: PostingPlace,
    value: u64,
}

/// A place in the n-gram FST: behind the words taken so far.
#[derive(Clone, Copy)]
pub(super) struct PostingPlace {
    address: usize,
    output: Output,
}

/// The URLs of an n-gram in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NgramPostings {
    /// How many.
    pub(crate) count: u32,
    /// The only URL's local id, or where in the postings the differences start.
    pub(crate) place: PostingRef,
}

impl Segment {
    /// Opens the segment in a folder, whose large files are mapped.
    ///
    /// # Errors
    /// [`NgramError::Io`] naming the file that could not be read, [`NgramError::Damaged`] when a part is cut, of another
    /// kind or version, or does not belong to the other parts.
    pub fn read(dir: &Path) -> Result<Self, NgramError> {
        Self::from_parts(SegmentParts::read(dir)?)
    }

    /// Opens a segment.
    pub(crate) fn from_parts(parts: SegmentParts) -> Result<Self, NgramError> {
        let header = Header::read(&parts.strings)?;
        check_postings(&parts.postings)?;
        let max_words = header.max_words as usize;
        if !(1..=limits::BOUNDS.ngram_words).contains(&max_words) {
            let expected = format!("1 to {}", limits::BOUNDS.ngram_words);
            return Err(damaged(STRINGS, "longest n-gram", &expected, &max_words));
        }
        same(POSTINGS, "length", header.postings_bytes, parts.postings.len() as u64)?;
        let tables = header.urls.saturating_mul(12).saturating_add(8);
        let length = tables.saturating_add(header.data_bytes);
        let length = length.saturating_add(STRINGS_HEADER_BYTES as u64);
        same(STRINGS, "length", length, parts.strings.len() as u64)?;
        let tokens = open_fst(TOKENS, parts.tokens, header.tokens)?;
        let ngrams = open_fst(NGRAMS, parts.ngrams, header.ngrams)?;
        let urls = read_urls(&parts.strings, &header)?;
        let filter = open_filter(&parts.filter, &header)?;
        let (postings, strings) = (parts.postings, parts.strings);
        let words = Vec::with_capacity(tokens.len());
        let hidden = Vec::new();
        let mut segment =
            Self { tokens, ngrams, postings, filter, strings, urls, hidden, words, header };
        segment.check_starts()?;
        segment.find_words()?;
        Ok(segment)
    }

    /// Leaves out URLs, given in any order: a later segment has what is known of them now.
    pub(crate) fn hide(&mut self, urls: &[u32]) {
        for url in urls {
            if let Ok(local) = self.urls.binary_search(url) {
                self.hidden.resize(self.urls.len(), false);
                self.hidden[local] = true;
            }
        }
    }

    /// Whether the URL with this local id is left out.
    #[inline]
    pub(super) fn is_hidden(&self, local: usize) -> bool {
        self.hidden.get(local).copied().unwrap_or(false)
    }

    fn check_starts(&self) -> Result<(), NgramError> {
        let mut end = 0;
        for local in 0..=self.urls.len() {
            let start = self.start(local);
            if start < end || start > self.header.data_bytes {
                let expected = format!("{end} to {}", self.header.data_bytes);
                return Err(damaged(STRINGS, "start of a URL's strings", &expected, &start));
            }
            end = start;
        }
        same(STRINGS, "end of the strings", self.header.data_bytes, end)
    }

    fn find_words(&mut self) -> Result<(), NgramError> {
        let root = PostingPlace { address: self.ngrams.root().addr(), output: Output::zero() };
        for id in 0..self.tokens.len() as u32 {
            let place = self.step(root, id);
            let found = place.and_then(|place| Some((place, self.value_at(place)?)));
            let Some((place, value)) = found else {
                return Err(damaged(NGRAMS, "n-gram of the word with id", &id, &"none"));
            };
            self.words.push(WordPlace { place, value });
        }
        Ok(())
    }

    /// Longest n-gram in words.
    pub(crate) fn max_words(&self) -> usize {
        self.header.max_words as usize
    }

    /// The URLs, ascending.
    #[cfg(test)]
    pub(crate) fn urls(&self) -> impl ExactSizeIterator<Item = UrlId> + '_ {
        self.urls.iter().map(|&url| UrlId(url))
    }

    /// Number of this segment's URLs that hold the n-gram. Words are as `words::words` makes them.
    #[cfg(test)]
    pub(crate) fn document_frequency(&self, ngram: &[&str]) -> u32 {
        let Some((first, rest)) = ngram.split_first() else { return 0 };
        let Some((mut place, mut postings)) = self.token(first).and_then(|id| self.word_at(id))
        else {
            return 0;
        };
        for word in rest {
            let next = self.token(word).and_then(|id| self.step(place, id));
            let Some(next) = next else { return 0 };
            place = next;
            postings = self.postings_at(place);
        }
        postings.map_or(0, |postings| postings.count)
    }

    /// The id of a word.
    pub(super) fn token(&self, word: &str) -> Option<u32> {
        self.tokens.get(word).map(|id| id.value() as u32)
    }

    /// Number of distinct words.
    pub(super) fn token_count(&self) -> usize {
        self.tokens.len()
    }

    /// The word with an id, as bytes.
    pub(super) fn word(&self, id: u32) -> Option<Vec<u8>> {
        self.tokens.get_key(u64::from(id))
    }

    /// Whether an n-gram with this hash may be there; never `false` for one that is.
    #[inline]
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        self.filter.may_contain(hash)
    }

    /// The place behind a word alone, and the URLs of the word.
    pub(super) fn word_at(&self, id: u32) -> Option<(PostingPlace, Option<NgramPostings>)> {
        let word = self.words.get(id as usize)?;
        Some((word.place, self.read_postings(word.value)))
    }

    /// The place one word further, if some n-gram goes there.
    pub(super) fn step(&self, place: PostingPlace, id: u32) -> Option<PostingPlace> {
        let PostingPlace { mut address, mut output } = place;
        for &byte in &id.to_be_bytes()[1..] {
            let node = self.ngrams.node(address);
            let transition = node.transition(node.find_input(byte)?);
            output = output.cat(transition.out);
            address = transition.addr;
        }
        Some(PostingPlace { address, output })
    }

    /// The URLs of the n-gram that ends at `place`.
    pub(super) fn postings_at(&self, place: PostingPlace) -> Option<NgramPostings> {
        self.value_at(place).and_then(|value| self.read_postings(value))
    }

    fn value_at(&self, place: PostingPlace) -> Option<u64> {
        let node = self.ngrams.node(place.address);
        node.is_final().then(|| place.output.cat(node.final_output()).value())
    }

    fn read_postings(&self, value: u64) -> Option<NgramPostings> {
        match PostingRef::unpack(value) {
            single @ PostingRef::Single(_) => Some(NgramPostings { count: 1, place: single }),
            PostingRef::List(mut at) => {
                let count = varint::get(&self.postings, &mut at)?;
                Some(NgramPostings { count, place: PostingRef::List(at) })
            }
        }
    }

    /// The bytes of `postings.bin`.
    pub(super) fn posting_bytes(&self) -> &[u8] {
        &self.postings
    }

    /// The URLs by local id.
    pub(super) fn url_table(&self) -> &[u32] {
        &self.urls
    }

    /// The encoded strings of the URL with this local id: see [`super::layout`].
    pub(super) fn strings_of(&self, local: usize) -> &[u8] {
        if local >= self.urls.len() {
            return &[];
        }
        let base = STRINGS_HEADER_BYTES;
        let range: Range<usize> =
            base + self.start(local) as usize..base + self.start(local + 1) as usize;
        self.strings.get(range).unwrap_or(&[])
    }

    fn start(&self, local: usize) -> u64 {
        let table = STRINGS_HEADER_BYTES + self.header.data_bytes as usize + 4 * self.urls.len();
        self.strings.get(table + 8 * local..).map_or(0, le_u64)
    }
}

fn same(part: &'static str, what: &'static str, expected: u64, got: u64) -> Result<(), NgramError> {
    if expected == got { Ok(()) } else { Err(damaged(part, what, &expected, &got)) }
}

/// Opens and wholly verifies an FST: its reader trusts every byte.
fn open_fst<B: AsRef<[u8]>>(part: &'static str, bytes: B, keys: u64) -> Result<Fst<B>, NgramError> {
    let bad = |error: fst::Error| damaged(part, "content", &"an intact FST", &error);
    let fst = Fst::new(bytes).map_err(bad)?;
    fst.verify().map_err(bad)?;
    same(part, "number of keys", keys, fst.len() as u64)?;
    Ok(fst)
}

fn open_filter(bytes: &[u8], header: &Header) -> Result<Filter, NgramError> {
    check_filter(bytes)?;
    let blocks = Filter::block_count(header.ngrams);
    let length = blocks.saturating_mul(BLOCK_BYTES as u64);
    let length = length.saturating_add(SHORT_HEADER_BYTES as u64);
    same(FILTER, "length", length, bytes.len() as u64)?;
    Ok(Filter::from_bytes(&bytes[SHORT_HEADER_BYTES..]))
}

fn read_urls(strings: &[u8], header: &Header) -> Result<Vec<u32>, NgramError> {
    let start = STRINGS_HEADER_BYTES + header.data_bytes as usize;
    let table = strings.get(start..start + 4 * header.urls as usize).unwrap_or(&[]);
    let urls: Vec<u32> = table.chunks_exact(4).map(le_u32).collect();
    match urls.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(damaged(STRINGS, "URL id", &format!("more than {}", pair[0]), &pair[1])),
        None => Ok(urls),
    }
}
