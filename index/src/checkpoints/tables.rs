//! What the scores of one crawl need that no query changes: at which checkpoint each document
//! appears, and weights and norms by checkpoint.

use super::FetchOrder;
use super::lanes::Real;
use super::similarity::Formula;
use crate::bm25::CollectionStatistics;
use crate::text_index::TextIndex;

/// Tables of one crawl. Memory: 2 bytes a document, and a number per checkpoint for each distinct
/// length and each word.
pub(super) struct CrawlTable<R> {
    pub(crate) checkpoints: usize,
    /// Lanes of a row: checkpoints, rounded up.
    pub(crate) width: usize,
    /// By document: the first checkpoint that contains it, `checkpoints` if none does.
    pub(crate) first: Vec<u16>,
    statistics: Vec<CollectionStatistics>,
    /// By length class, a row.
    norms: Vec<R>,
    /// By term, a row.
    weights: Vec<R>,
}

/// Documents of an index as every crawl sees them.
pub(super) struct Documents<'a> {
    /// Page of each document.
    pub(crate) page: Vec<u32>,
    /// Words of each document.
    pub(crate) length: &'a [u32],
    /// By page: place among all pages by URL.
    pub(crate) url_order: &'a [u32],
    /// Distinct lengths that count.
    pub(crate) classes: Vec<u32>,
    /// By document: its length among `classes`.
    pub(crate) class: Vec<u32>,
}

impl<'a> Documents<'a> {
    /// The documents of an index.
    pub(crate) fn of(index: &'a TextIndex, formula: &impl Formula, url_order: &'a [u32]) -> Self {
        let docs = index.docs();
        let counting = |&length: &u32| formula.length(length);
        let mut classes: Vec<u32> = docs.length.iter().map(counting).collect();
        classes.sort_unstable();
        classes.dedup();
        let class_of = |length: u32| classes.partition_point(|&class| class < length) as u32;
        let class = docs.length.iter().map(|length| class_of(counting(length))).collect();
        let page = docs.url.iter().map(|url| url.0).collect();
        Self { page, length: &docs.length, url_order, classes, class }
    }
}

impl<R: Real> CrawlTable<R> {
    /// Tables of a crawl, without weights of terms.
    pub(crate) fn new(
        crawl: &FetchOrder<'_>,
        documents: &Documents<'_>,
        formula: &impl Formula<Number = R>,
    ) -> Self {
        let checkpoints = crawl.checkpoints.len();
        let first = documents.page.iter().map(|&page| first_checkpoint(crawl, page));
        let first: Vec<u16> = first.collect();
        let mut statistics = vec![CollectionStatistics::default(); checkpoints];
        for (&first, &length) in first.iter().zip(documents.length) {
            if let Some(statistics) = statistics.get_mut(usize::from(first)) {
                statistics.documents += 1;
                statistics.words += u64::from(length);
            }
        }
        for at in 1..checkpoints {
            let before = statistics[at - 1];
            statistics[at].documents += before.documents;
            statistics[at].words += before.words;
        }
        let width = checkpoints.next_multiple_of(R::LANES);
        let mut table =
            Self { checkpoints, width, first, statistics, norms: Vec::new(), weights: Vec::new() };
        for &length in &documents.classes {
            let norms = table.by_checkpoint(|_, statistics| formula.norm(statistics, length));
            table.norms.extend(norms);
        }
        table
    }

    /// Documents that hold a term, by checkpoint, from all that hold it.
    pub(crate) fn document_frequencies(&self, docs: &[u32]) -> Vec<u64> {
        let mut df = vec![0; self.checkpoints + 1];
        for &doc in docs {
            df[usize::from(self.first[doc as usize])] += 1;
        }
        df.pop();
        for at in 1..df.len() {
            df[at] += df[at - 1];
        }
        df
    }

    /// Adds the weights of the next term.
    pub(crate) fn push_term(&mut self, df: &[u64], formula: &impl Formula<Number = R>) {
        let weights = self.by_checkpoint(|at, statistics| formula.weight(statistics, df[at]));
        self.weights.extend(weights);
    }

    /// Norms of a length class.
    pub(crate) fn norms(&self, class: u32) -> &[R] {
        row(&self.norms, class, self.width)
    }

    /// Weights of a term.
    pub(crate) fn weights(&self, term: u32) -> &[R] {
        row(&self.weights, term, self.width)
    }

    /// A row of a value by checkpoint; 0 where nothing is fetched yet, and in the lanes that fill
    /// it up.
    fn by_checkpoint(&self, value: impl Fn(usize, CollectionStatistics) -> R) -> Vec<R> {
        let mut row = vec![R::default(); self.width];
        for (at, &statistics) in self.statistics.iter().enumerate() {
            if statistics.documents > 0 {
                row[at] = value(at, statistics);
            }
        }
        row
    }
}

/// The first checkpoint that has a page. One that is never fetched is behind every checkpoint.
fn first_checkpoint(crawl: &FetchOrder<'_>, page: u32) -> u16 {
    let place = crawl.position[page as usize];
    crawl.checkpoints.partition_point(|&pages| pages <= place) as u16
}

fn row<R>(rows: &[R], number: u32, width: usize) -> &[R] {
    &rows[number as usize * width..(number as usize + 1) * width]
}
