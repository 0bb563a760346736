//! The text index: Tantivy over title and text as one field. The only module that knows tantivy.
//!
//! Append-only: a page that is fetched again adds a document, and the older one stays, marked by
//! the `fetch_seq` that replaced it. So the collection as of any `fetch_seq` is a filter on the
//! documents, and statistics and scores as of any checkpoint need no second index.
//! Memory: 16 bytes a document; the postings are mapped by tantivy.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tantivy::index::SegmentId;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{
    Index, IndexReader, IndexWriter, InvertedIndexReader, ReloadPolicy, TantivyDocument,
};

use crate::derived::{Derived, Found};
use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::page::UrlId;
use crate::page_store::{NONE, PageTable, PageText, for_each_text};
use crate::storage::Storage;
use crate::words;

/// Version of the index's layout; another one is rebuilt.
const VERSION: u32 = 1;
const TOKENIZER: &str = "prospect-words";
const LOCK_SUFFIX: &str = ".lock";
/// Memory of the indexing writer; beyond it a segment is written.
const WRITER_BYTES: usize = 128 << 20;
/// Documents of one segment are merged with the next larger one while they are at least this share
/// of it, so that there are logarithmically many segments and each document moves that often.
const MERGE_SHARE: f64 = 0.5;

type Result<T> = std::result::Result<T, StoreError>;

/// What an update did, for the report of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refresh {
    /// Items brought in: pages, URLs or queries.
    pub added: u64,
    /// Items in total.
    pub total: u64,
    /// Why everything was built anew, if it was although something was there.
    pub rebuilt: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Payload {
    /// Records with a lower `fetch_seq` are in the index.
    end_seq: u32,
    /// Hash of the page segments that hold them.
    lineage: String,
}

/// Documents by ordinal: segments one after the other.
#[derive(Clone, Debug, Default)]
pub struct DocTable {
    /// Page of each document.
    pub url: Vec<UrlId>,
    /// `fetch_seq` of each document.
    pub seq: Vec<u32>,
    /// `fetch_seq` of the document that replaced it, [`NONE`] if it is current.
    pub superseded_at: Vec<u32>,
    /// Words of each document, with multiplicity.
    pub length: Vec<u32>,
}

/// An open text index.
pub struct TextIndex {
    segments: Vec<SegmentPart>,
    docs: DocTable,
    body: Field,
}

struct SegmentPart {
    inverted: Arc<InvertedIndexReader>,
    base: u32,
    len: u32,
}

/// Where a term's postings lie, segment by segment.
#[derive(Clone, Debug, Default)]
pub struct TermPostings {
    infos: Vec<Option<tantivy::postings::TermInfo>>,
}

impl TextIndex {
    /// Opens the index of a store, after bringing it up to date with the committed pages.
    ///
    /// # Errors
    /// The pages cannot be read or the index cannot be written.
    pub fn open(
        storage: &Storage,
        manifest: &Manifest,
        pages: &PageTable,
    ) -> Result<(Self, Refresh)> {
        let derived = Derived::new(storage, "text", VERSION);
        let mut refresh = Refresh { total: pages.len() as u64, ..Refresh::default() };
        let from_seq = match derived.find::<Payload>() {
            Found::Whole(state, _)
                if state.end_seq == manifest.next_seq
                    && state.lineage == manifest.lineage(state.end_seq) =>
            {
                return Ok((Self::read(storage, &derived, pages)?, refresh));
            }
            Found::Whole(state, _)
                if state.end_seq < manifest.next_seq
                    && state.lineage == manifest.lineage(state.end_seq) =>
            {
                state.end_seq
            }
            Found::Whole(..) => rebuild(&mut refresh, "it was built from other pages"),
            Found::Damaged(what) => rebuild(&mut refresh, &what),
            Found::Missing => 0,
        };
        if from_seq == 0 {
            storage.fresh_directory(derived.directory())?;
        }
        refresh.added = extend(storage, manifest, &derived, from_seq)?;
        let index = Self::read(storage, &derived, pages)?;
        // Replaced versions of pages are in the index too.
        refresh.total = index.docs.url.len() as u64;
        Ok((index, refresh))
    }

    fn read(storage: &Storage, derived: &Derived, pages: &PageTable) -> Result<Self> {
        let (schema, fields) = schema();
        let index = open_index(storage, derived, schema)?;
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
                docs.superseded_at.push(pages.record(seq).map_or(0, |(_, at)| at));
                docs.length.push(value(&lengths));
            }
            let inverted = segment.inverted_index(fields.body).map_err(failed)?;
            segments.push(SegmentPart { inverted, base, len: segment.max_doc() });
        }
        Ok(Self { segments, docs, body: fields.body })
    }

    /// The documents.
    pub fn docs(&self) -> &DocTable {
        &self.docs
    }

    /// Finds a term in every segment.
    ///
    /// # Errors
    /// The dictionary cannot be read.
    pub fn term(&self, word: &str) -> Result<TermPostings> {
        let term = tantivy::Term::from_field_text(self.body, word);
        let infos = self
            .segments
            .iter()
            .map(|segment| segment.inverted.get_term_info(&term))
            .collect::<std::io::Result<_>>()
            .map_err(failed)?;
        Ok(TermPostings { infos })
    }

    /// Ordinals of the documents of each segment.
    pub fn segments(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.segments.iter().map(|part| part.base as usize..(part.base + part.len) as usize)
    }

    /// Calls `take` with the document ordinals and term frequencies of a term in one segment, a
    /// block of up to 128 at a time, in ascending order; the ordinals are relative to the first,
    /// which is given with each block.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn for_each_block(
        &self,
        term: &TermPostings,
        segment: usize,
        mut take: impl FnMut(u32, &[u32], &[u32]),
    ) -> Result<()> {
        let part = &self.segments[segment];
        let Some(info) = &term.infos[segment] else { return Ok(()) };
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
    pub fn doc_freq(&self, segment: usize) -> u64 {
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

fn rebuild(refresh: &mut Refresh, why: &str) -> u32 {
    refresh.rebuilt = Some(why.to_owned());
    0
}

#[derive(Clone, Copy)]
struct Fields {
    url_id: Field,
    seq: Field,
    length: Field,
    body: Field,
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let number = NumericOptions::default() | FAST;
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let fields = Fields {
        url_id: builder.add_u64_field("url_id", number.clone()),
        seq: builder.add_u64_field("seq", number.clone()),
        length: builder.add_u64_field("length", number),
        body: builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing)),
    };
    (builder.build(), fields)
}

fn open_index(storage: &Storage, derived: &Derived, schema: Schema) -> Result<Index> {
    let path = storage.path(derived.directory());
    let directory = tantivy::directory::MmapDirectory::open(&path).map_err(failed)?;
    let index = Index::open_or_create(directory, schema).map_err(failed)?;
    index.tokenizers().register(TOKENIZER, Words::default());
    Ok(index)
}

/// Adds the pages from `from_seq` on, merges small segments and publishes the state.
fn extend(storage: &Storage, manifest: &Manifest, derived: &Derived, from_seq: u32) -> Result<u64> {
    let (schema, fields) = schema();
    let index = open_index(storage, derived, schema)?;
    let threads = if manifest.next_seq - from_seq < 20_000 { 1 } else { 2 };
    let mut writer: IndexWriter =
        index.writer_with_num_threads(threads, WRITER_BYTES).map_err(failed)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let mut added = 0;
    for_each_text(storage, manifest, from_seq, |pages| {
        let documents: Vec<TantivyDocument> =
            pages.par_iter().map(|page| document(fields, page)).collect();
        added += documents.len() as u64;
        for document in documents {
            writer.add_document(document).map_err(failed)?;
        }
        Ok(())
    })?;
    writer.commit().map_err(failed)?;
    merge_tail(&index, &mut writer)?;
    writer.wait_merging_threads().map_err(failed)?;
    let end_seq = manifest.next_seq;
    let mut files = storage.entries_of(derived.directory())?;
    // Tantivy's lock files come and go; the state cannot name itself.
    let kept = |file: &str| !file.ends_with(LOCK_SUFFIX) && !file.ends_with("STATE.json");
    files.retain(|entry| kept(&entry.file));
    derived.publish(&Payload { end_seq, lineage: manifest.lineage(end_seq) }, files)?;
    Ok(added)
}

/// Keeps the segments in geometric sizes: the smallest are merged while the next larger is not
/// much larger.
fn merge_tail(index: &Index, writer: &mut IndexWriter) -> Result<()> {
    let mut metas = index.searchable_segment_metas().map_err(failed)?;
    metas.sort_by_key(|meta| (std::cmp::Reverse(meta.max_doc()), meta.id()));
    let mut merged: Vec<SegmentId> = Vec::new();
    let mut size = 0.0;
    while let Some(meta) = metas.pop() {
        if !merged.is_empty() && size < MERGE_SHARE * f64::from(meta.max_doc()) {
            break;
        }
        size += f64::from(meta.max_doc());
        merged.push(meta.id());
    }
    if merged.len() > 1 {
        writer.merge(&merged).wait().map_err(failed)?;
        writer.garbage_collect_files().wait().map_err(failed)?;
    }
    Ok(())
}

/// The text that is searched: title, space, text.
pub fn searched_text(title: &str, text: &str) -> String {
    format!("{title} {text}")
}

fn document(fields: Fields, page: &PageText) -> TantivyDocument {
    let text = searched_text(&page.title, &page.text);
    let mut length = 0u64;
    words::for_each_word(&text, |_| length += 1);
    let mut document = TantivyDocument::default();
    document.add_u64(fields.url_id, u64::from(page.url.0));
    document.add_u64(fields.seq, u64::from(page.seq));
    document.add_u64(fields.length, length);
    document.add_text(fields.body, text);
    document
}

/// The rule of [`words`] as a tantivy tokenizer.
#[derive(Clone, Default)]
struct Words {
    text: String,
    ends: Vec<usize>,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.text.clear();
        self.ends.clear();
        words::for_each_word(text, |word| {
            self.text.push_str(word);
            self.ends.push(self.text.len());
        });
        WordStream { words: self, next: 0, token: Token::default() }
    }
}

struct WordStream<'a> {
    words: &'a Words,
    next: usize,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.words.ends.get(self.next) else { return false };
        let start = if self.next == 0 { 0 } else { self.words.ends[self.next - 1] };
        self.token.text.clear();
        self.token.text.push_str(&self.words.text[start..end]);
        self.token.position = self.next;
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
