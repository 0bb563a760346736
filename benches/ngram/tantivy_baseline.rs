//! What one would do without the n-gram index: a Tantivy index with one document per URL whose
//! terms are its distinct n-grams (faster for Tantivy than phrases over positions: no positions are
//! read), in one segment, held in memory.

use std::cell::RefCell;
use std::collections::BTreeSet;

use prospect_index::ngram::{NgramQuery, NgramSet};
use prospect_index::words::words;
use rayon::prelude::*;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{
    DocId, DocSet, Index, IndexSettings, Score, Searcher, SegmentOrdinal, SegmentReader,
    TERMINATED, TantivyDocument, Term,
};

use crate::Need;

/// How Tantivy is asked.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// A conjunction of the query's longest n-grams, which imply the shorter ones.
    Conjunction,
    /// A disjunction with `minimum_number_should_match`.
    MinimumShouldMatch,
    /// Reading the postings of all n-grams into an array of weights, one for each document.
    Counting,
}

/// A query in Tantivy's form.
pub enum Prepared<'q> {
    /// For Tantivy's own search.
    Boolean(BooleanQuery),
    /// The n-grams' terms, for [`Way::Counting`].
    Counting(&'q NgramQuery, Vec<Term>),
}

/// The Tantivy index.
pub struct Baseline {
    searcher: Searcher,
    field: Field,
    documents: usize,
}

impl Baseline {
    /// Indexes the distinct n-grams of every page; document ids are positions in `pages`.
    pub fn build(pages: &[Vec<String>], max_words: usize) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        let options = TextOptions::default().set_indexing_options(indexing);
        let field = schema.add_text_field("ngram", options);
        let builder = Index::builder().schema(schema.build()).settings(IndexSettings::default());
        let directory = tantivy::directory::RamDirectory::create();
        let mut writer = builder.single_segment_index_writer(directory, 1 << 30).expect("memory");
        for strings in pages {
            let mut document = TantivyDocument::new();
            for ngram in ngrams(strings, max_words) {
                document.add_text(field, ngram);
            }
            writer.add_document(document).expect("memory");
        }
        let index = writer.finalize().expect("memory");
        let searcher = index.reader().expect("memory").searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        Self { searcher, field, documents: pages.len() }
    }

    /// The ways that can answer `need`.
    pub fn ways(need: Need) -> &'static [Way] {
        match need {
            Need::Share(1.0) => &[Way::Conjunction, Way::Counting],
            Need::Share(_) => &[Way::MinimumShouldMatch, Way::Counting],
            Need::IdfWeight(_) => &[Way::Counting],
        }
    }

    /// Makes Tantivy's form of every query, so that only the search is timed.
    pub fn prepare<'q>(&self, queries: &'q [NgramQuery], way: Way) -> Vec<Prepared<'q>> {
        queries.iter().map(|query| self.prepare_one(query, way)).collect()
    }

    fn prepare_one<'q>(&self, query: &'q NgramQuery, way: Way) -> Prepared<'q> {
        let ngrams = 0..query.len();
        let term = |ngram: usize| Term::from_field_text(self.field, &query.ngram(ngram).join(" "));
        let clause = |occur, ngram| -> (Occur, Box<dyn Query>) {
            (occur, Box::new(TermQuery::new(term(ngram), IndexRecordOption::Basic)))
        };
        match way {
            _ if query.len() == 0 => Prepared::Boolean(BooleanQuery::new(Vec::new())),
            Way::Conjunction => {
                let longest = query.ngram(query.len() - 1).len();
                let longest = ngrams.filter(|&ngram| query.ngram(ngram).len() == longest);
                let clauses = longest.map(|ngram| clause(Occur::Must, ngram)).collect();
                Prepared::Boolean(BooleanQuery::new(clauses))
            }
            Way::MinimumShouldMatch => {
                let clauses = ngrams.map(|ngram| clause(Occur::Should, ngram)).collect();
                let needed = needed_count(query);
                Prepared::Boolean(BooleanQuery::with_minimum_required_clauses(clauses, needed))
            }
            Way::Counting => Prepared::Counting(query, ngrams.map(term).collect()),
        }
    }

    /// The matching documents of every query, ascending.
    pub fn match_all(&self, queries: &[Prepared<'_>]) -> Vec<Vec<u32>> {
        let one = |query: &Prepared<'_>| match query {
            Prepared::Boolean(query) => self.searcher.search(query, &Documents).expect("memory"),
            Prepared::Counting(query, terms) => self.counting(query, terms),
        };
        queries.par_iter().map(one).collect()
    }

    /// Gives up before reading when the n-grams that exist weigh too little.
    fn counting(&self, query: &NgramQuery, terms: &[Term]) -> Vec<u32> {
        thread_local!(static SETS: RefCell<Vec<NgramSet>> = const { RefCell::new(Vec::new()) });
        let inverted = self.searcher.segment_reader(0).inverted_index(self.field).expect("memory");
        let mut present = NgramSet::default();
        let mut lists = Vec::new();
        for (ngram, term) in terms.iter().enumerate() {
            if let Some(info) = inverted.get_term_info(term).expect("memory") {
                present.insert(ngram);
                lists.push((ngram, info));
            }
        }
        if !query.accepts(&present) {
            return Vec::new();
        }
        SETS.with_borrow_mut(|sets| {
            sets.resize(self.documents, NgramSet::default());
            let mut touched: Vec<u32> = Vec::new();
            for (ngram, info) in lists {
                let option = IndexRecordOption::Basic;
                let postings = inverted.read_postings_from_terminfo(&info, option);
                let mut postings = postings.expect("memory");
                let mut document = postings.doc();
                while document != TERMINATED {
                    let set = &mut sets[document as usize];
                    if set.is_empty() {
                        touched.push(document);
                    }
                    set.insert(ngram);
                    document = postings.advance();
                }
            }
            touched
                .retain(|&document| query.accepts(&std::mem::take(&mut sets[document as usize])));
            touched.sort_unstable();
            touched
        })
    }
}

/// The smallest number of n-grams that is accepted, all weights being equal.
fn needed_count(query: &NgramQuery) -> usize {
    let mut set = NgramSet::default();
    for ngram in 0..query.len() {
        set.insert(ngram);
        if query.accepts(&set) {
            return ngram + 1;
        }
    }
    query.len()
}

fn ngrams(strings: &[String], max_words: usize) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for string in strings {
        let words = words(string);
        for n in 1..=max_words {
            all.extend(words.windows(n).map(|window| window.join(" ")));
        }
    }
    all
}

/// Collects document ids, which ascend within the one segment.
struct Documents;

/// Of one segment.
struct SegmentDocuments(Vec<DocId>);

impl Collector for Documents {
    type Fruit = Vec<DocId>;
    type Child = SegmentDocuments;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        _: &SegmentReader,
    ) -> tantivy::Result<SegmentDocuments> {
        Ok(SegmentDocuments(Vec::new()))
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, segments: Vec<Vec<DocId>>) -> tantivy::Result<Vec<DocId>> {
        Ok(segments.into_iter().flatten().collect())
    }
}

impl SegmentCollector for SegmentDocuments {
    type Fruit = Vec<DocId>;

    fn collect(&mut self, document: DocId, _: Score) {
        self.0.push(document);
    }

    fn collect_block(&mut self, documents: &[DocId]) {
        self.0.extend_from_slice(documents);
    }

    fn harvest(self) -> Vec<DocId> {
        self.0
    }
}
