//! Writing the files of a segment from sorted input. Which strings and n-grams there are is
//! the builder's business.

use std::collections::HashMap;
use std::path::Path;

use fst::MapBuilder;

use super::NgramError;
use super::files::{CountedFile, Temporary};
use super::filter::{Filter, hash_ngram, hash_word};
use super::layout::{
    FILTER, Header, NGRAMS, POSTINGS, PostingRef, STRINGS, STRINGS_HEADER_BYTES, TOKEN_BYTES,
    TOKENS, filter_header, postings_header,
};
use super::sort::Sorted;
use super::varint;

/// An error of a dictionary's writer; what the disk refused stays that.
fn dictionary_error(
    dir: &Path,
    part: &'static str,
) -> impl FnOnce(fst::Error) -> NgramError + use<> {
    let path = dir.join(part);
    move |error| match error {
        fst::Error::Io(source) => NgramError::Io { doing: "write", path, source },
        fst::Error::Fst(error) => NgramError::Dictionary { part, problem: error.to_string() },
    }
}

fn new_dictionary(dir: &Path, part: &'static str) -> Result<MapBuilder<CountedFile>, NgramError> {
    MapBuilder::new(CountedFile::create(dir, part)?).map_err(dictionary_error(dir, part))
}

fn finish_dictionary(
    dir: &Path,
    map: MapBuilder<CountedFile>,
    part: &'static str,
) -> Result<u64, NgramError> {
    map.into_inner().map_err(dictionary_error(dir, part))?.finish()
}

/// What [`write_tokens`] wrote.
pub(super) struct TokensWritten {
    /// The rank of every provisional id.
    pub(crate) ranks: Vec<u32>,
    /// The hash of the word of every rank.
    pub(crate) hashes: Vec<u64>,
    pub(crate) bytes: u64,
}

/// Writes the token dictionary.
pub(super) fn write_tokens(
    dir: &Path,
    tokens: HashMap<Box<str>, u32>,
) -> Result<TokensWritten, NgramError> {
    let mut sorted: Vec<(Box<str>, u32)> = tokens.into_iter().collect();
    sorted.sort_unstable();
    let mut ranks = vec![0; sorted.len()];
    let mut hashes = Vec::with_capacity(sorted.len());
    let mut map = new_dictionary(dir, TOKENS)?;
    for (rank, (word, id)) in sorted.into_iter().enumerate() {
        ranks[id as usize] = rank as u32;
        hashes.push(hash_word(&word));
        map.insert(word.as_bytes(), rank as u64).map_err(dictionary_error(dir, TOKENS))?;
    }
    Ok(TokensWritten { ranks, hashes, bytes: finish_dictionary(dir, map, TOKENS)? })
}

/// What [`write_ngrams`] wrote.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NgramsWritten {
    pub(crate) ngrams: u64,
    pub(crate) postings: u64,
    pub(crate) ngram_bytes: u64,
    pub(crate) posting_bytes: u64,
    pub(crate) filter_bytes: u64,
}

/// Writes the n-gram dictionary, the posting lists and the filter.
pub(super) fn write_ngrams(
    dir: &Path,
    sorted: Sorted,
    word_hashes: &[u64],
) -> Result<NgramsWritten, NgramError> {
    let mut lists = ListWriter {
        dir,
        map: new_dictionary(dir, NGRAMS)?,
        postings: CountedFile::create(dir, POSTINGS)?,
        encoded: Vec::new(),
        word_hashes,
        hashes: Temporary::create(dir, "hashes.tmp")?,
        written: NgramsWritten::default(),
    };
    lists.postings.put(&postings_header())?;
    let mut key = 0u128;
    let mut locals: Vec<u32> = Vec::new();
    for occurrence in sorted {
        let occurrence = occurrence?;
        if occurrence >> 32 != key {
            lists.put(key, &locals)?;
            locals.clear();
            key = occurrence >> 32;
        }
        locals.push(occurrence as u32);
    }
    lists.put(key, &locals)?;
    let mut written = lists.written;
    written.ngram_bytes = finish_dictionary(dir, lists.map, NGRAMS)?;
    written.posting_bytes = lists.postings.finish()?;
    written.filter_bytes = write_filter(dir, lists.hashes, written.ngrams)?;
    Ok(written)
}

fn write_filter(dir: &Path, mut hashes: Temporary, count: u64) -> Result<u64, NgramError> {
    let filter = Filter::build(&mut hashes, count)?;
    let mut output = CountedFile::create(dir, FILTER)?;
    output.put(&filter_header())?;
    for bytes in filter.to_bytes() {
        output.put(&bytes)?;
    }
    output.finish()
}

struct ListWriter<'a> {
    dir: &'a Path,
    map: MapBuilder<CountedFile>,
    postings: CountedFile,
    encoded: Vec<u8>,
    /// By token id.
    word_hashes: &'a [u64],
    /// The hashes of the n-grams, until their number is known and with it the filter's size.
    hashes: Temporary,
    written: NgramsWritten,
}

impl ListWriter<'_> {
    /// Writes the URLs of one n-gram; nothing for none, which is so only before the first.
    fn put(&mut self, key: u128, locals: &[u32]) -> Result<(), NgramError> {
        let value = match locals {
            [] => return Ok(()),
            [local] => PostingRef::Single(*local),
            _ => PostingRef::List(self.postings.written() as usize),
        };
        if locals.len() > 1 {
            self.encoded.clear();
            varint::put(&mut self.encoded, locals.len() as u32);
            let mut previous = 0;
            for &local in locals {
                varint::put(&mut self.encoded, local - previous);
                previous = local;
            }
            self.postings.put(&self.encoded)?;
        }
        self.written.ngrams += 1;
        self.written.postings += locals.len() as u64;
        let mut bytes = [0; 3 * TOKEN_BYTES];
        let mut length = 0;
        let mut hash = None;
        for id in token_ids(key) {
            bytes[length..length + TOKEN_BYTES].copy_from_slice(&id.to_be_bytes()[1..]);
            length += TOKEN_BYTES;
            let word = self.word_hashes[id as usize];
            hash = Some(hash.map_or(word, |parent| hash_ngram(parent, word)));
        }
        self.hashes.put(&hash.unwrap_or(0).to_le_bytes())?;
        self.map.insert(&bytes[..length], value.pack()).map_err(dictionary_error(self.dir, NGRAMS))
    }
}

/// The token ids of a packed n-gram.
fn token_ids(key: u128) -> impl Iterator<Item = u32> {
    [64, 32, 0].into_iter().map_while(move |shift| ((key >> shift) as u32).checked_sub(1))
}

/// Writes `strings.bin`: strings as they come, tables and header at the end.
pub(super) struct StringsWriter {
    output: CountedFile,
    encoded: Vec<u8>,
    /// Where each URL's strings start within the data.
    starts: Vec<u64>,
    data_bytes: u64,
    count: u64,
}

impl StringsWriter {
    /// Starts the file in `dir`.
    pub(crate) fn create(dir: &Path) -> Result<Self, NgramError> {
        let mut output = CountedFile::create(dir, STRINGS)?;
        output.put(&[0; STRINGS_HEADER_BYTES])?;
        Ok(Self { output, encoded: Vec::new(), starts: vec![0], data_bytes: 0, count: 0 })
    }

    /// Adds a string of the current URL.
    pub(crate) fn string(&mut self, ids: &[u32]) {
        for &id in ids {
            varint::put(&mut self.encoded, id + 1);
        }
        self.encoded.push(0);
        self.count += 1;
    }

    /// Goes on to the next URL.
    pub(crate) fn end_url(&mut self) -> Result<(), NgramError> {
        self.output.put(&self.encoded)?;
        self.data_bytes += self.encoded.len() as u64;
        self.starts.push(self.data_bytes);
        self.encoded.clear();
        Ok(())
    }

    /// Strings added so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of strings so far.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Writes the tables and the header; returns the file's length.
    pub(crate) fn finish(mut self, urls: &[u32], header: Header) -> Result<u64, NgramError> {
        for url in urls {
            self.output.put(&url.to_le_bytes())?;
        }
        for start in &self.starts {
            self.output.put(&start.to_le_bytes())?;
        }
        self.output.overwrite_start(&header.to_bytes())?;
        self.output.finish()
    }
}
