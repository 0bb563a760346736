//! Building a segment: words become provisional ids while strings come in; once all words are known,
//! ids become lexicographic ranks and the n-grams are sorted.
//!
//! Input: URLs in ascending order with their strings. Output: five files in a directory given by
//! the caller. The bytes depend on the set of strings of every URL and on nothing else: not on the
//! order of strings, the memory budget or the number of threads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::NgramError;
use super::error::{damaged, io_error};
use super::files::Temporary;
use super::layout::{Header, MAX_TOKENS};
use super::page::PageStrings;
use super::sort::{Sorter, pack};
use super::varint;
use super::writer::{StringsWriter, write_ngrams, write_tokens};
use crate::limits;
use crate::page::UrlId;
use crate::words::Analyzer;

/// How a segment is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildConfig {
    /// Longest n-gram in words, 1 to [`limits::Bounds::ngram_words`]; all segments of an index share it.
    pub max_words: usize,
    /// Memory for sorting, in bytes; what does not fit goes through temporary files. An
    /// occurrence takes 16 bytes.
    pub memory_budget_bytes: usize,
}

impl Default for BuildConfig {
    /// Up to three words (g of the paper) and 512 MiB.
    fn default() -> Self {
        Self { max_words: limits::BOUNDS.ngram_words, memory_budget_bytes: 512 << 20 }
    }
}

/// What a finished build wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentStats {
    /// URLs, those without any word included.
    pub(crate) urls: u64,
    /// Distinct non-empty strings per URL, summed.
    pub(crate) strings: u64,
    /// Distinct words.
    pub(crate) tokens: u64,
    /// n-gram positions in all strings.
    pub occurrences: u64,
    /// Distinct n-grams.
    pub ngrams: u64,
    /// Distinct pairs of n-gram and URL.
    pub(crate) postings: u64,
    /// Length of [`TOKENS`](super::layout::TOKENS).
    pub token_bytes: u64,
    /// Length of [`NGRAMS`](super::layout::NGRAMS).
    pub ngram_bytes: u64,
    /// Length of [`POSTINGS`](super::layout::POSTINGS).
    pub posting_bytes: u64,
    /// Length of [`FILTER`](super::layout::FILTER).
    pub filter_bytes: u64,
    /// Length of [`STRINGS`](super::layout::STRINGS).
    pub string_bytes: u64,
}

/// Builds one segment. See the [module](super) for its memory.
///
/// ```
/// use prospect_index::ngram::{BuildConfig, SegmentBuilder};
/// use prospect_index::page::UrlId;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let directory = dir.path();
/// let config = BuildConfig { max_words: 2, ..BuildConfig::default() };
/// let mut builder = SegmentBuilder::new(config, directory)?;
/// builder.add(UrlId(0), "crawl budget")?;
/// builder.add(UrlId(7), "a crawl budget")?; // ids ascend
/// let built = builder.finish()?;
/// assert_eq!(built.occurrences, 3 + 5);
/// assert_eq!(built.ngrams, 5); // a, crawl, budget, "a crawl", "crawl budget"
/// # Ok(())
/// # }
/// ```
pub struct SegmentBuilder {
    config: BuildConfig,
    analyzer: Analyzer,
    dir: PathBuf,
    /// Word to provisional id, in order of first occurrence.
    tokens: HashMap<Box<str>, u32>,
    urls: Vec<u32>,
    page: PageStrings,
    /// Per URL: number of values, then `provisional id + 1` per word and 0 after each string.
    forward: Temporary,
    encoded: Vec<u8>,
    values: Vec<u32>,
    occurrences: u64,
}

impl SegmentBuilder {
    /// A builder that writes into `dir`, which exists. Files of an earlier build are overwritten.
    ///
    /// # Errors
    /// [`NgramError::MaxWords`] for an unsupported length, [`NgramError::Io`] from the disk.
    pub fn new(config: BuildConfig, dir: &Path) -> Result<Self, NgramError> {
        if !(1..=limits::BOUNDS.ngram_words).contains(&config.max_words) {
            return Err(NgramError::MaxWords {
                got: config.max_words,
                limit: limits::BOUNDS.ngram_words,
            });
        }
        Ok(Self {
            config,
            analyzer: Analyzer::default(),
            dir: dir.to_owned(),
            tokens: HashMap::new(),
            urls: Vec::new(),
            page: PageStrings::default(),
            forward: Temporary::create(dir, "forward.tmp")?,
            encoded: Vec::new(),
            values: Vec::new(),
            occurrences: 0,
        })
    }

    /// The same builder, with words as `analyzer` makes them.
    #[must_use]
    pub fn with_analyzer(mut self, analyzer: &Analyzer) -> Self {
        self.analyzer = analyzer.clone();
        self
    }

    /// Adds a string of `url`: its URL text (`words::url_text`) or an anchor text. Strings with the
    /// same words count once; one without words only makes the URL known.
    ///
    /// # Errors
    /// [`NgramError::Order`] when `url` is smaller than the one before,
    /// [`NgramError::TooManyTokens`] for the word that is one too many, [`NgramError::Io`].
    pub fn add(&mut self, url: UrlId, text: &str) -> Result<(), NgramError> {
        self.start(url)?;
        let Self { analyzer, tokens, page, .. } = self;
        analyzer.for_each_word(text, |word| page.push(intern(tokens, word)));
        self.end_string()
    }

    /// Makes `url` the URL that strings are added to.
    pub(super) fn start(&mut self, url: UrlId) -> Result<(), NgramError> {
        match self.urls.last() {
            Some(&last) if last == url.0 => return Ok(()),
            Some(&last) if last > url.0 => {
                return Err(NgramError::Order { previous: UrlId(last), got: url });
            }
            _ => {}
        }
        self.end_page()?;
        self.urls.push(url.0);
        Ok(())
    }

    /// The provisional id of `word`.
    pub(super) fn intern(&mut self, word: &str) -> u32 {
        intern(&mut self.tokens, word)
    }

    /// Appends a word by its provisional id to the string that is open.
    pub(super) fn push(&mut self, id: u32) {
        self.page.push(id);
    }

    /// Closes the open string.
    pub(super) fn end_string(&mut self) -> Result<(), NgramError> {
        self.page.end_string();
        if self.tokens.len() > MAX_TOKENS {
            return Err(NgramError::TooManyTokens { limit: MAX_TOKENS });
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), NgramError> {
        if self.urls.is_empty() {
            return Ok(());
        }
        let Self { page, values, occurrences, config, .. } = self;
        values.clear();
        page.for_each_distinct(|string| {
            values.extend(string.iter().map(|id| id + 1));
            values.push(0);
            *occurrences += ngram_count(string.len(), config.max_words);
            Ok::<_, NgramError>(())
        })?;
        page.clear();
        self.encoded.clear();
        varint::put(&mut self.encoded, values.len() as u32);
        for &value in &*values {
            varint::put(&mut self.encoded, value);
        }
        self.forward.put(&self.encoded)
    }

    /// Sorts and writes the segment's five files.
    ///
    /// # Errors
    /// [`NgramError::Io`] from the disk.
    pub fn finish(mut self) -> Result<SegmentStats, NgramError> {
        self.end_page()?;
        let tokens = write_tokens(&self.dir, std::mem::take(&mut self.tokens))?;
        let budget_bytes = self.config.memory_budget_bytes;
        let mut sorter = Sorter::new(&self.dir, budget_bytes, self.occurrences);
        let strings = self.write_strings(&tokens.ranks, &mut sorter)?;
        let ngrams = write_ngrams(&self.dir, sorter.finish()?, &tokens.hashes)?;
        let header = Header {
            max_words: self.config.max_words as u32,
            urls: self.urls.len() as u64,
            strings: strings.count(),
            tokens: tokens.ranks.len() as u64,
            ngrams: ngrams.ngrams,
            postings_bytes: ngrams.posting_bytes,
            data_bytes: strings.data_bytes(),
        };
        let string_bytes = strings.finish(&self.urls, header)?;
        Ok(SegmentStats {
            urls: header.urls,
            strings: header.strings,
            tokens: header.tokens,
            occurrences: self.occurrences,
            ngrams: ngrams.ngrams,
            postings: ngrams.postings,
            token_bytes: tokens.bytes,
            ngram_bytes: ngrams.ngram_bytes,
            posting_bytes: ngrams.posting_bytes,
            filter_bytes: ngrams.filter_bytes,
            string_bytes,
        })
    }

    /// Reads the temporary strings back, gives words their final ids, and emits strings and
    /// occurrences.
    fn write_strings(
        &mut self,
        ranks: &[u32],
        sorter: &mut Sorter,
    ) -> Result<StringsWriter, NgramError> {
        let mut writer = StringsWriter::create(&self.dir)?;
        let mut forward = VarintReader::new(self.forward.read()?, self.forward.path());
        for local in 0..self.urls.len() as u32 {
            self.page.clear();
            for _ in 0..forward.next()? {
                match forward.next_rank(ranks)? {
                    Some(id) => self.page.push(id),
                    None => self.page.end_string(),
                }
            }
            self.page.for_each_distinct(|string| {
                writer.string(string);
                emit(string, local, self.config.max_words, sorter)
            })?;
            writer.end_url()?;
        }
        Ok(writer)
    }
}

fn intern(tokens: &mut HashMap<Box<str>, u32>, word: &str) -> u32 {
    if let Some(&id) = tokens.get(word) {
        return id;
    }
    let id = tokens.len() as u32;
    tokens.insert(word.into(), id);
    id
}

/// Positions of n-grams of 1..=`max_words` words in a string of `words` words.
fn ngram_count(words: usize, max_words: usize) -> u64 {
    (1..=max_words).map(|n| (words + 1).saturating_sub(n) as u64).sum()
}

fn emit(
    string: &[u32],
    local: u32,
    max_words: usize,
    sorter: &mut Sorter,
) -> Result<(), NgramError> {
    for start in 0..string.len() {
        let longest = max_words.min(string.len() - start);
        for words in 1..=longest {
            sorter.push(pack(&string[start..start + words], local))?;
        }
    }
    Ok(())
}

/// Reads varints back from the temporary file, which nobody else should have touched.
struct VarintReader<'a, R> {
    reader: R,
    path: &'a Path,
}

impl<'a, R: std::io::Read> VarintReader<'a, R> {
    fn new(reader: R, path: &'a Path) -> Self {
        Self { reader, path }
    }

    fn next(&mut self) -> Result<u32, NgramError> {
        let mut bytes = [0u8; 5];
        for at in 0..bytes.len() {
            self.reader.read_exact(&mut bytes[at..=at]).map_err(io_error("read", self.path))?;
            if bytes[at] < 0x80 {
                break;
            }
        }
        varint::get(&bytes, &mut 0)
            .ok_or_else(|| damaged("forward.tmp", "number", &"at most 32 bits", &"more"))
    }

    /// Reads `id + 1` and gives the final id, or reads 0, the end of a string, and gives `None`.
    fn next_rank(&mut self, ranks: &[u32]) -> Result<Option<u32>, NgramError> {
        let Some(id) = self.next()?.checked_sub(1) else { return Ok(None) };
        let expected = || format!("below {}", ranks.len());
        let missing = || damaged("forward.tmp", "word id", &expected(), &id);
        ranks.get(id as usize).copied().map(Some).ok_or_else(missing)
    }
}
