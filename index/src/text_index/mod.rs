//! The text index: Tantivy over title and text as one field. Beside [`crate::words`], which takes its filters of words, the
//! only module that knows tantivy.
//!
//! Append-only: a page that is fetched again adds a document, and the older one stays, marked by
//! the `fetch_seq` that replaced it. So the collection as of any `fetch_seq` is a filter on the
//! documents, and statistics and scores as of any checkpoint need no second index.
//! An index may also be of texts that belong to no store ([`TextIndex::build`]), to be seen as many
//! simulated crawls would have it ([`TextIndex::with_docs`]).
//! Memory: 16 bytes a document; the postings are mapped by tantivy.

mod document;
mod folder;
mod of_store;
mod of_texts;
mod postings;
mod writing;

use std::sync::Arc;

use serde::Serialize;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption, Schema};
use tantivy::{Index, IndexReader, InvertedIndexReader, ReloadPolicy};

use crate::derived::Derived;
use crate::error::StoreError;
use crate::page::UrlId;
use crate::page_store::NONE;
use crate::words::Analyzer;
pub(crate) use document::rounded_length;
use document::{TOKENIZER, schema};
use folder::Folder;

/// Version of the index's layout; another one is rebuilt.
const VERSION: u32 = 3;

type Result<T> = std::result::Result<T, StoreError>;

/// What an update did, for the report of a command.
///
/// ```
/// use prospect_index::text_index::TextIndex;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::PageRecord;
/// # use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let page = |url: &str| PageRecord { url: url.into(), ..PageRecord::default() };
/// # ingest_all(dir.path(), vec![page("https://a.test/"), page("https://b.test/")], "two pages")?;
/// # let store = Store::open(dir.path(), &StoreOptions::default())?;
/// // `store` holds two pages.
/// let pages = store.known()?.pages;
/// let (_, first) = TextIndex::open(store.storage(), store.manifest(), &pages)?;
/// assert_eq!((first.added, first.total, first.rebuilt), (2, 2, None));
/// let (_, second) = TextIndex::open(store.storage(), store.manifest(), &pages)?;
/// assert_eq!((second.added, second.total), (0, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refresh {
    /// Items brought in: pages, URLs or queries.
    pub added: u64,
    /// Items in total.
    pub total: u64,
    /// Why everything was built anew, if it was although something was there.
    pub rebuilt: Option<String>,
}

/// Documents by ordinal: segments one after the other.
#[derive(Clone, Debug, Default)]
pub struct DocTable {
    /// Page of each document.
    pub url: Vec<UrlId>,
    /// `fetch_seq` of each document; [`NONE`] if a simulated crawl does not fetch it.
    pub seq: Vec<u32>,
    /// `fetch_seq` of the document that replaced it, [`NONE`] if it is current.
    pub superseded_at: Vec<u32>,
    /// Words of each document, with multiplicity.
    pub length: Vec<u32>,
}

/// An open text index.
pub struct TextIndex {
    segments: Arc<[SegmentPart]>,
    docs: DocTable,
    body: Field,
    analyzer: Analyzer,
}

pub(crate) struct SegmentPart {
    inverted: Arc<InvertedIndexReader>,
    base: u32,
    len: u32,
}

/// Where a term's postings lie, segment by segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermPostings {
    infos: Vec<Option<TermInfo>>,
}

impl TextIndex {
    /// Opens what was written, whose words `analyzer` made; `superseded_at` tells, by `fetch_seq`, when a document was
    /// replaced.
    fn read(
        derived: &Derived<'_>,
        analyzer: &Analyzer,
        superseded_at: impl Fn(u32) -> u32,
    ) -> Result<Self> {
        let (schema, fields) = schema();
        let index = open_index(derived, schema, analyzer)?;
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(failed)?;
        let mut segments = Vec::new();
        let mut docs = DocTable::default();
        for segment in reader.searcher().segment_readers() {
            let base = docs.url.len() as u32;
            let fast = segment.fast_fields();
            let column = |name| fast.u64(name).map_err(failed);
            let (urls, seqs, lengths) = (column("url_id")?, column("seq")?, column("length")?);
            for doc in 0..segment.max_doc() {
                let value = |column: &tantivy::columnar::Column<u64>| {
                    column.first(doc).unwrap_or(u64::from(NONE)) as u32
                };
                let seq = value(&seqs);
                docs.url.push(UrlId(value(&urls)));
                docs.seq.push(seq);
                docs.superseded_at.push(superseded_at(seq));
                docs.length.push(value(&lengths));
            }
            let inverted = segment.inverted_index(fields.body).map_err(failed)?;
            segments.push(SegmentPart { inverted, base, len: segment.max_doc() });
        }
        let analyzer = analyzer.clone();
        Ok(Self { segments: segments.into(), docs, body: fields.body, analyzer })
    }

    /// What made the words of its texts, and makes those of queries to it.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// The documents.
    pub fn docs(&self) -> &DocTable {
        &self.docs
    }

    /// The same documents as another crawl would have fetched them: the postings are shared, the
    /// document table is `docs`. A document that is not fetched has `seq` [`NONE`] and is in no
    /// result and no statistic, whatever its other columns say.
    ///
    /// Costs nothing beside the table.
    ///
    /// # Panics
    /// If the columns of `docs` have not the length of those of this index.
    #[must_use]
    pub fn with_docs(&self, docs: DocTable) -> Self {
        let len = self.docs.url.len();
        let lengths = [docs.url.len(), docs.seq.len(), docs.superseded_at.len(), docs.length.len()];
        assert_eq!(lengths, [len; 4], "a document table is of one index");
        Self {
            segments: Arc::clone(&self.segments),
            docs,
            body: self.body,
            analyzer: self.analyzer.clone(),
        }
    }

    /// Whether these are its segments, and not such with the same documents.
    pub(crate) fn has_parts(&self, segments: &Arc<[SegmentPart]>) -> bool {
        Arc::ptr_eq(&self.segments, segments)
    }

    /// Its segments.
    pub(crate) fn parts(&self) -> &Arc<[SegmentPart]> {
        &self.segments
    }

    /// Finds a term in every segment.
    ///
    /// # Errors
    /// The dictionary cannot be read.
    pub(crate) fn term(&self, word: &str) -> Result<TermPostings> {
        let infos = (0..self.segments.len()).map(|segment| self.term_in(word, segment));
        Ok(TermPostings { infos: infos.collect::<Result<_>>()? })
    }

    /// Finds a term in one segment.
    ///
    /// # Errors
    /// The dictionary cannot be read.
    pub(crate) fn term_in(&self, word: &str, segment: usize) -> Result<Option<TermInfo>> {
        let term = tantivy::Term::from_field_text(self.body, word);
        self.segments[segment].inverted.get_term_info(&term).map_err(failed)
    }

    /// Ordinals of the documents of each segment.
    pub(crate) fn segments(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.segments.iter().map(|part| part.base as usize..(part.base + part.len) as usize)
    }

    /// Calls `take` with the document ordinals and term frequencies of a term in one segment, a
    /// block of up to 128 at a time, in ascending order; the ordinals are relative to the first,
    /// which is given with each block.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub(crate) fn for_each_block(
        &self,
        term: &TermPostings,
        segment: usize,
        take: impl FnMut(u32, &[u32], &[u32]),
    ) -> Result<()> {
        let Some(info) = &term.infos[segment] else { return Ok(()) };
        self.for_each_block_of(info, segment, take)
    }

    /// The same of a term that was found in that segment.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub(crate) fn for_each_block_of(
        &self,
        info: &TermInfo,
        segment: usize,
        mut take: impl FnMut(u32, &[u32], &[u32]),
    ) -> Result<()> {
        let part = &self.segments[segment];
        let mut block: BlockSegmentPostings = part
            .inverted
            .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
            .map_err(failed)?;
        while !block.docs().is_empty() {
            take(part.base, block.docs(), block.freqs());
            block.advance();
        }
        Ok(())
    }
}

impl TermPostings {
    /// Documents of a segment that hold the term, whether current or not.
    pub(crate) fn doc_freq(&self, segment: usize) -> u64 {
        self.infos[segment].as_ref().map_or(0, |info| u64::from(info.doc_freq))
    }
}

/// Tantivy's error as ours. What the system refused stays an I/O error, so that a full disk is
/// told as one; tantivy reports it in several wrappings, all of which print the system's message.
fn failed(error: impl Into<tantivy::TantivyError>) -> StoreError {
    let error = error.into();
    let source = no_space(&error.to_string()).or_else(|| match &error {
        tantivy::TantivyError::IoError(io) => Some(std::io::Error::new(io.kind(), io.to_string())),
        _ => None,
    });
    match source {
        Some(source) => StoreError::Io {
            operation: "write the text index in",
            path: "derived/text".into(),
            source,
        },
        None => StoreError::Derived { structure: "text index", what: error.to_string() },
    }
}

/// A wrapped "no space left on device", by the number that the system gives it.
fn no_space(message: &str) -> Option<std::io::Error> {
    const ENOSPC: i32 = 28;
    message
        .contains(&format!("(os error {ENOSPC})"))
        .then(|| std::io::Error::from_raw_os_error(ENOSPC))
}

/// The index of a directory, made there if it is missing; what is added to it is cut by `analyzer`.
fn open_index(derived: &Derived<'_>, schema: Schema, analyzer: &Analyzer) -> Result<Index> {
    let path = derived.storage().path(derived.directory());
    let folder = Folder::open(path).map_err(failed)?;
    let index = Index::open_or_create(folder, schema).map_err(failed)?;
    index.tokenizers().register(TOKENIZER, analyzer.tokenizer());
    Ok(index)
}
