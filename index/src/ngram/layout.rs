//! The bytes of a segment: file names, headers and how keys and values are packed.
//!
//! * `tokens.fst`: word -> token id; the id is the word's lexicographic rank, so that sorted
//!   triples of ids are sorted FST keys.
//! * `ngrams.fst`: key = the token ids, three bytes each, most significant first; value = where the
//!   URLs are. `local << 1 | 1` is the one URL itself (nine of ten n-grams occur in one URL, and
//!   the n-grams that start with a rare word share the value, hence the FST's states);
//!   `offset << 1` points into `postings.bin`.
//! * `postings.bin`: header, then lists of at least two URLs: varint count, then varint differences
//!   of ascending local ids, the first from 0.
//! * `filter.bin`: header, then a Bloom filter of the n-grams (see [`super::filter`]).
//! * `strings.bin`: header, then per URL its distinct strings as varints `token id + 1`, each string
//!   ended by 0, strings in ascending order of their ids; then the `UrlId`s (u32), then the starts
//!   of the URLs' strings within the data, and the data's end (u64). Little-endian throughout.
//!
//! A URL's local id is its position among the segment's URLs, which ascend.

use super::NgramError;
use super::error::damaged;

/// File of the token dictionary.
pub(crate) const TOKENS: &str = "tokens.fst";
/// File of the n-gram dictionary.
pub(crate) const NGRAMS: &str = "ngrams.fst";
/// File of the URL lists of the n-grams.
pub(crate) const POSTINGS: &str = "postings.bin";
/// File of the filter that knows most absent n-grams.
pub(crate) const FILTER: &str = "filter.bin";
/// File of the URLs' strings.
pub(crate) const STRINGS: &str = "strings.bin";

/// Token ids are three bytes in a key, and `id + 1` must fit too.
pub(super) const MAX_TOKENS: usize = (1 << 24) - 1;
/// Bytes of a token id in a key.
pub(super) const TOKEN_BYTES: usize = 3;

const VERSION: u32 = 1;
const POSTINGS_MAGIC: [u8; 8] = *b"PRngPost";
const FILTER_MAGIC: [u8; 8] = *b"PRngFilt";
const STRINGS_MAGIC: [u8; 8] = *b"PRngStrs";

/// Bytes of the headers of `postings.bin` and `filter.bin`.
pub(super) const SHORT_HEADER_BYTES: usize = 16;
/// Bytes of the header of `strings.bin`.
pub(super) const STRINGS_HEADER_BYTES: usize = 64;

/// The header of `postings.bin`.
pub(super) fn postings_header() -> [u8; SHORT_HEADER_BYTES] {
    short_header(POSTINGS_MAGIC)
}

/// The header of `filter.bin`.
pub(super) fn filter_header() -> [u8; SHORT_HEADER_BYTES] {
    short_header(FILTER_MAGIC)
}

/// Magic, version, four bytes of zero.
fn short_header(magic: [u8; 8]) -> [u8; SHORT_HEADER_BYTES] {
    let mut out = [0; SHORT_HEADER_BYTES];
    out[..8].copy_from_slice(&magic);
    out[8..12].copy_from_slice(&VERSION.to_le_bytes());
    out
}

/// The counts that tie a segment's parts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(crate) max_words: u32,
    pub(crate) urls: u64,
    pub(crate) strings: u64,
    pub(crate) tokens: u64,
    pub(crate) ngrams: u64,
    pub(crate) postings_bytes: u64,
    pub(crate) data_bytes: u64,
}

impl Header {
    /// The header of `strings.bin`.
    pub(crate) fn to_bytes(self) -> [u8; STRINGS_HEADER_BYTES] {
        let mut out = [0; STRINGS_HEADER_BYTES];
        out[..8].copy_from_slice(&STRINGS_MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&self.max_words.to_le_bytes());
        let counts = [
            self.urls,
            self.strings,
            self.tokens,
            self.ngrams,
            self.postings_bytes,
            self.data_bytes,
        ];
        for (slot, count) in out[16..].chunks_exact_mut(8).zip(counts) {
            slot.copy_from_slice(&count.to_le_bytes());
        }
        out
    }

    /// Reads the header of `strings.bin`.
    ///
    /// # Errors
    /// [`NgramError::Damaged`] when it is cut or of another kind or version.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, NgramError> {
        check_magic(STRINGS, bytes, STRINGS_MAGIC, STRINGS_HEADER_BYTES)?;
        let mut counts = [0u64; 6];
        for (count, slot) in counts.iter_mut().zip(bytes[16..].chunks_exact(8)) {
            *count = le_u64(slot);
        }
        let [urls, strings, tokens, ngrams, postings_bytes, data_bytes] = counts;
        let max_words = le_u32(&bytes[12..16]);
        Ok(Self { max_words, urls, strings, tokens, ngrams, postings_bytes, data_bytes })
    }
}

/// Checks the header of `postings.bin`.
///
/// # Errors
/// [`NgramError::Damaged`] when it is cut or of another kind or version.
pub(super) fn check_postings(bytes: &[u8]) -> Result<(), NgramError> {
    check_magic(POSTINGS, bytes, POSTINGS_MAGIC, SHORT_HEADER_BYTES)
}

/// Checks the header of `filter.bin`.
///
/// # Errors
/// [`NgramError::Damaged`] when it is cut or of another kind or version.
pub(super) fn check_filter(bytes: &[u8]) -> Result<(), NgramError> {
    check_magic(FILTER, bytes, FILTER_MAGIC, SHORT_HEADER_BYTES)
}

fn check_magic(
    part: &'static str,
    bytes: &[u8],
    magic: [u8; 8],
    header_bytes: usize,
) -> Result<(), NgramError> {
    if bytes.len() < header_bytes {
        let expected = format!("at least {header_bytes} bytes");
        return Err(damaged(part, "length", &expected, &bytes.len()));
    }
    if bytes[..8] != magic {
        let got = String::from_utf8_lossy(&bytes[..8]).into_owned();
        return Err(damaged(part, "magic", &String::from_utf8_lossy(&magic), &got));
    }
    match le_u32(&bytes[8..12]) {
        VERSION => Ok(()),
        version => Err(damaged(part, "format version", &VERSION, &version)),
    }
}

/// The little-endian number in the first four bytes; missing bytes read as 0.
pub(super) fn le_u32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// The little-endian number in the first eight bytes; missing bytes read as 0.
pub(super) fn le_u64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// Where the URLs of an n-gram are: the value of `ngrams.fst`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostingRef {
    /// The local id of the only URL.
    Single(u32),
    /// Offset of a list in `postings.bin`.
    List(usize),
}

impl PostingRef {
    /// The FST value.
    pub(crate) fn pack(self) -> u64 {
        match self {
            Self::Single(local) => u64::from(local) << 1 | 1,
            Self::List(offset) => (offset as u64) << 1,
        }
    }

    /// Reads an FST value. Locals beyond 32 bits come out as `u32::MAX`, which no segment has.
    pub(crate) fn unpack(value: u64) -> Self {
        if value & 1 == 1 {
            Self::Single(u32::try_from(value >> 1).unwrap_or(u32::MAX))
        } else {
            Self::List((value >> 1) as usize)
        }
    }
}
