//! The text index of a store in the Common Index File Format (Lin et al., arXiv:2003.08276), which other search engines
//! read: a header, the postings of every word, and the documents, each a message of Protocol Buffers behind its length.

use std::io::{self, Write};

use prospect_index::page_store::Known;
use prospect_index::text_index::TextIndex;
use prost::Message;

use super::{CampaignError, OpenStore};

/// Version of the format.
const VERSION: i32 = 1;

#[derive(Clone, PartialEq, Message)]
struct Header {
    #[prost(int32, tag = "1")]
    version: i32,
    #[prost(int32, tag = "2")]
    num_postings_lists: i32,
    #[prost(int32, tag = "3")]
    num_docs: i32,
    #[prost(int32, tag = "4")]
    total_postings_lists: i32,
    #[prost(int32, tag = "5")]
    total_docs: i32,
    #[prost(int64, tag = "6")]
    total_terms_in_collection: i64,
    #[prost(double, tag = "7")]
    average_doclength: f64,
    #[prost(string, tag = "8")]
    description: String,
}

/// A document, by its difference to the one before, and how often it holds the word.
#[derive(Clone, Copy, PartialEq, Message)]
struct Posting {
    #[prost(int32, tag = "1")]
    docid: i32,
    #[prost(int32, tag = "2")]
    tf: i32,
}

#[derive(Clone, PartialEq, Message)]
struct PostingsList {
    #[prost(string, tag = "1")]
    term: String,
    #[prost(int64, tag = "2")]
    df: i64,
    #[prost(int64, tag = "3")]
    cf: i64,
    #[prost(message, repeated, tag = "4")]
    postings: Vec<Posting>,
}

#[derive(Clone, PartialEq, Message)]
struct DocRecord {
    #[prost(int32, tag = "1")]
    docid: i32,
    #[prost(string, tag = "2")]
    collection_docid: String,
    #[prost(int32, tag = "3")]
    doclength: i32,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// Documents.
    pub(crate) pages: usize,
    /// Words with postings.
    pub(crate) words: usize,
}

/// Writes all current pages of a store: words as the store makes them, documents named by their URLs, lengths in words.
///
/// Reads all postings twice, for the header says how many lists come.
///
/// # Errors
/// The index cannot be read. What the writer says comes in the result.
pub(crate) fn write(
    open: &OpenStore,
    description: &str,
    out: &mut dyn Write,
) -> Result<io::Result<Indexed>, CampaignError> {
    let OpenStore { text, known, .. } = open;
    // Lengths are those of the postings: a word beyond what an index takes has none.
    let (mut words, mut lengths) = (0, vec![0_i64; text.current().len()]);
    text.for_each_word(|_, list| {
        words += 1;
        for (place, tf) in list {
            lengths[*place as usize] += i64::from(*tf);
        }
        Ok::<_, CampaignError>(())
    })?;
    let written = written(text, known, (words, &lengths, description), out);
    match written {
        Ok(written) => Ok(Ok(written)),
        Err(Stopped::Output(error)) => Ok(Err(error)),
        Err(Stopped::Store(error)) => Err(error),
    }
}

/// What ends it.
enum Stopped {
    Store(CampaignError),
    Output(io::Error),
}

impl From<prospect_index::error::StoreError> for Stopped {
    fn from(error: prospect_index::error::StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn written(
    text: &TextIndex,
    known: &Known,
    (words, lengths, description): (usize, &[i64], &str),
    out: &mut dyn Write,
) -> Result<Indexed, Stopped> {
    let docs = text.docs();
    let current = text.current();
    let (pages, total) = (current.len(), lengths.iter().sum::<i64>());
    message(
        out,
        &Header {
            version: VERSION,
            num_postings_lists: words as i32,
            num_docs: pages as i32,
            total_postings_lists: words as i32,
            total_docs: pages as i32,
            total_terms_in_collection: total,
            average_doclength: if pages > 0 { total as f64 / pages as f64 } else { 0.0 },
            description: description.to_owned(),
        },
    )?;
    text.for_each_word(|word, list| Ok::<_, Stopped>(message(out, &postings(word, list))?))?;
    for (docid, at) in current.into_iter().enumerate() {
        let collection_docid = known.urls.spelling(docs.url[at]).to_owned();
        let doclength = lengths[docid] as i32;
        message(out, &DocRecord { docid: docid as i32, collection_docid, doclength })?;
    }
    Ok(Indexed { pages, words })
}

fn postings(word: &str, list: &[(u32, u32)]) -> PostingsList {
    let (mut postings, mut before) = (Vec::with_capacity(list.len()), 0);
    for &(docid, tf) in list {
        // Gaps between pages.
        postings.push(Posting { docid: (docid - before) as i32, tf: tf as i32 });
        before = docid;
    }
    PostingsList {
        term: word.to_owned(),
        df: list.len() as i64,
        cf: list.iter().map(|(_, tf)| i64::from(*tf)).sum(),
        postings,
    }
}

fn message(out: &mut dyn Write, message: &impl Message) -> io::Result<()> {
    out.write_all(&message.encode_length_delimited_to_vec())
}
