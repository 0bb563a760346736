//! Exact search results at every checkpoint of many crawls, from one index of all pages: each as if
//! only the pages fetched by then had been indexed (METHODS, section 5).
//!
//! N, df, document lengths and their mean are those of the fetched subset, and the formula and the
//! order of its sums are those of [`crate::bm25`], so that every score is the same bits as that of a
//! [`Scorer`](crate::bm25::Scorer) over a fresh index of the subset. [`Similarity::Tantivy`] scores
//! as Tantivy itself would.
//!
//! The postings of a query's words are read once. A posting adds to the scores of its document at
//! all checkpoints that contain it, side by side; no score outlives its window of documents. What is
//! kept are the best pages of each checkpoint and, for each page asked for, how many beat it. A
//! document that can change neither is not scored (`passes`).
//!
//! Not responsible for what makes a crawl's order, nor for measures over ranks.

mod engine;
mod lanes;
mod passes;
mod postings;
mod ranking;
mod similarity;
mod tables;
mod window;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::bm25::{Bm25, TermId};
use crate::error::StoreError;
use crate::text_index::{TermPostings, TextIndex};
use engine::ScoringEngine;
use postings::Postings;
pub use similarity::Similarity;
use similarity::TantivyBm25;
use window::Lanes;

/// A crawl to be evaluated.
#[derive(Clone, Copy, Debug)]
pub struct FetchOrder<'a> {
    /// By page: its place in the order of the fetches, from 0; `u32::MAX` if it is never fetched.
    pub position: &'a [u32],
    /// Numbers of fetches, ascending, up to 65,534 of them: checkpoint t contains the pages with a
    /// position below t.
    pub checkpoints: &'a [u32],
}

/// What is asked of every checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointQuery<'a> {
    /// Words of the query, in order, with multiplicity.
    pub words: &'a [String],
    /// How many best pages to list.
    pub top: usize,
    /// Pages whose scores and ranks are wanted. Costs a comparison for each of them and each
    /// document that beats the worst of them, so ask for judged pages, not for all.
    pub ranks_of: &'a [u32],
}

/// The answer at one checkpoint. Ranks are by score descending, then canonical URL ascending; pages
/// with score 0 have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryResults {
    /// The best pages with their scores, best first.
    pub top: Vec<(u32, f64)>,
    /// Rank of each page of [`CheckpointQuery::ranks_of`] among all pages of the checkpoint, from 1.
    pub ranks: Vec<Option<u32>>,
    /// Score of each page of [`CheckpointQuery::ranks_of`]; 0 if it is not fetched or holds no word.
    pub(crate) scores: Vec<f64>,
}

/// Memory of one thread, reused from query to query: the postings of a query's words, 8 bytes each,
/// and about 100 KiB.
#[derive(Debug, Default)]
pub struct Workspace {
    postings: Postings,
    double: Lanes<f64>,
    single: Lanes<f32>,
    ids: Vec<TermId>,
}

/// Answers queries at every checkpoint of its crawls. Page i is the document `UrlId(i)` of the
/// index, as [`TextIndex::build`] numbers them.
///
/// Memory: 12 bytes a document; for each crawl 2 bytes a document and, for each checkpoint, a number
/// for each word and each distinct length.
///
/// ```
/// use prospect_index::bm25::Bm25;
/// use prospect_index::checkpoints::{CheckpointQuery, CheckpointScorer, FetchOrder};
/// use prospect_index::checkpoints::{Similarity, Workspace};
/// # use prospect_index::text_index::TextIndex;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let texts = ["crawl budget", "crawl", "index"].map(|text| (String::new(), text.to_owned()));
/// # let index = TextIndex::build(&dir.path().join("index"), texts)?;
/// // `index` holds the pages "crawl budget", "crawl" and "index". A crawl fetches them backwards.
/// let crawl = FetchOrder { position: &[2, 1, 0], checkpoints: &[1, 2, 3] };
/// let similarity = Similarity::Exact(Bm25::default());
/// let words = ["crawl", "budget"];
/// let scorer = CheckpointScorer::new(&index, similarity, &[crawl], &[0, 1, 2], words)?;
/// let words = words.map(String::from);
/// let ask = CheckpointQuery { words: &words, top: 1, ranks_of: &[1] };
/// let mut found = Vec::new(); // at each checkpoint: the best page, and the rank of page 1
/// scorer.answer(&ask, &mut Workspace::default(), |_crawl, _checkpoint, results| {
///     found.push((results.top.first().map(|best| best.0), results.ranks[0]));
/// })?;
/// assert_eq!(found, [(None, None), (Some(1), Some(1)), (Some(0), Some(2))]);
/// # Ok(())
/// # }
/// ```
pub struct CheckpointScorer<'a> {
    index: &'a TextIndex,
    vocabulary: HashMap<String, TermId>,
    terms: Vec<TermPostings>,
    engine: AnyEngine<'a>,
}

enum AnyEngine<'a> {
    Exact(ScoringEngine<'a, f64>),
    Tantivy(ScoringEngine<'a, f32>),
}

impl<'a> CheckpointScorer<'a> {
    /// A scorer for queries of `words`. `url_order` is, by page, its place among all pages by
    /// canonical URL ascending: the tie rule.
    ///
    /// Costs one pass over the postings of the words.
    ///
    /// # Errors
    /// The index cannot be read.
    ///
    /// # Panics
    /// If the pages are not the index's: each document another page below their number, and a
    /// position and a place for each; if a crawl has more than 65,534 checkpoints; if k1 < 0 or b is
    /// not in [0, 1].
    pub fn new<'w>(
        index: &'a TextIndex,
        similarity: Similarity,
        crawls: &[FetchOrder<'_>],
        url_order: &'a [u32],
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<Self, StoreError> {
        check(index, crawls, url_order);
        if let Similarity::Exact(Bm25 { k1, b }) = similarity {
            // Otherwise a word could give more than its weight.
            assert!(k1 >= 0.0 && (0.0..=1.0).contains(&b), "k1 {k1} and b {b} are of BM25");
        }
        let mut distinct: Vec<&str> = words.into_iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let terms: Vec<TermPostings> =
            distinct.par_iter().map(|word| index.term(word)).collect::<Result<_, _>>()?;
        let ids = distinct.iter().enumerate().map(|(id, word)| ((*word).to_owned(), id as TermId));
        let vocabulary = ids.collect();
        let engine = match similarity {
            Similarity::Exact(bm25) => {
                AnyEngine::Exact(ScoringEngine::new(index, &bm25, crawls, url_order, &terms)?)
            }
            Similarity::Tantivy => AnyEngine::Tantivy(ScoringEngine::new(
                index,
                &TantivyBm25,
                crawls,
                url_order,
                &terms,
            )?),
        };
        Ok(Self { index, vocabulary, terms, engine })
    }

    /// Answers a query: calls `take` with the number of the crawl, the number of its checkpoint and
    /// the answer, for every checkpoint of every crawl, in order. Words outside the scorer's count
    /// as in no page.
    ///
    /// Costs, for each crawl, the postings of the query's words times the checkpoints that contain
    /// their documents.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn answer(
        &self,
        ask: &CheckpointQuery<'_>,
        workspace: &mut Workspace,
        take: impl FnMut(usize, usize, &QueryResults),
    ) -> Result<(), StoreError> {
        let Workspace { postings, double, single, ids } = workspace;
        ids.clear();
        ids.extend(ask.words.iter().filter_map(|word| self.vocabulary.get(word)));
        postings.read(self.index, ids, &self.terms)?;
        match &self.engine {
            AnyEngine::Exact(engine) => engine.answer(ask, postings, double, take),
            AnyEngine::Tantivy(engine) => engine.answer(ask, postings, single, take),
        }
        Ok(())
    }
}

fn check(index: &TextIndex, crawls: &[FetchOrder<'_>], url_order: &[u32]) {
    let pages = index.docs().url.len();
    let mut seen = vec![false; pages];
    for url in &index.docs().url {
        let first = !std::mem::replace(&mut seen[url.index()], true);
        assert!(first, "page {} has two documents", url.0);
    }
    assert_eq!(url_order.len(), pages, "a place by URL for each page");
    for crawl in crawls {
        assert_eq!(crawl.position.len(), pages, "a position for each page");
        assert!(crawl.checkpoints.is_sorted(), "checkpoints ascend");
        assert!(crawl.checkpoints.len() < usize::from(u16::MAX), "few checkpoints");
    }
}
