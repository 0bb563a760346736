//! Tantivy as its user would use it, and its scores without pruning, to compare ours with.

use prospect::workload::{self, Workload};
use rayon::prelude::*;
use tantivy::collector::{Collector, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer};

use super::{Corpus, TOP};

/// An index as a user of Tantivy would make it.
pub struct Theirs {
    index: tantivy::Index,
    writer: tantivy::IndexWriter,
    page: Field,
    body: Field,
}

impl Theirs {
    pub fn new() -> Self {
        let mut builder = Schema::builder();
        let page = builder.add_u64_field("page", NumericOptions::default() | FAST);
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::WithFreqs);
        let body =
            builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
        let index = tantivy::Index::create_in_ram(builder.build());
        let words = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build();
        index.tokenizers().register("words", words);
        let writer = index.writer_with_num_threads(2, 256 << 20).expect("writer");
        Self { index, writer, page, body }
    }

    /// Adds pages and commits.
    pub fn add(&mut self, corpus: &Corpus, pages: &[u32]) {
        for &page in pages {
            let mut document = tantivy::TantivyDocument::default();
            document.add_u64(self.page, u64::from(page));
            document.add_text(self.body, corpus.text(page));
            self.writer.add_document(document).expect("document");
        }
        self.writer.commit().expect("commit");
    }

    /// The top 10 of every query, two threads.
    pub fn search(&self, workload: &Workload) -> Vec<Vec<(u32, f64)>> {
        let searcher = self.index.reader().expect("reader").searcher();
        let columns: Vec<_> = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.fast_fields().u64("page").expect("column"))
            .collect();
        let search = |query: &workload::Query| {
            let query = self.query(query);
            let top = searcher.search(&query, &TopDocs::with_limit(TOP).order_by_score());
            let page = |(score, doc): (f32, tantivy::DocAddress)| {
                let page = columns[doc.segment_ord as usize].first(doc.doc_id).expect("page");
                (page as u32, f64::from(score))
            };
            top.expect("search").into_iter().map(page).collect()
        };
        workload.queries.par_iter().map(search).collect()
    }
    /// As [`search`](Self::search), from the scores of all documents; ties by URL.
    pub fn search_unpruned(&self, corpus: &Corpus) -> Vec<Vec<(u32, f64)>> {
        let searcher = self.index.reader().expect("reader").searcher();
        let search = |query: &workload::Query| {
            let mut all = searcher.search(&self.query(query), &All).expect("search");
            all.sort_unstable_by(|a, b| {
                let order = |page: u32| corpus.url_order[page as usize];
                b.1.total_cmp(&a.1).then_with(|| order(a.0).cmp(&order(b.0)))
            });
            all.truncate(TOP);
            all
        };
        corpus.workload.queries.par_iter().map(search).collect()
    }

    fn query(&self, query: &workload::Query) -> BooleanQuery {
        let clause = |word: &String| {
            let term = tantivy::Term::from_field_text(self.body, word);
            let query: Box<dyn Query> =
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (Occur::Should, query)
        };
        BooleanQuery::new(query.words.iter().map(clause).collect())
    }
}

/// Every document with its score.
struct All;

struct AllOfSegment(Vec<(u32, f64)>, Column<u64>);

impl Collector for All {
    type Fruit = Vec<(u32, f64)>;
    type Child = AllOfSegment;

    fn for_segment(
        &self,
        _: u32,
        segment: &tantivy::SegmentReader,
    ) -> tantivy::Result<AllOfSegment> {
        Ok(AllOfSegment(Vec::new(), segment.fast_fields().u64("page")?))
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, fruits: Vec<Vec<(u32, f64)>>) -> tantivy::Result<Vec<(u32, f64)>> {
        Ok(fruits.concat())
    }
}

impl SegmentCollector for AllOfSegment {
    type Fruit = Vec<(u32, f64)>;

    fn collect(&mut self, doc: u32, score: f32) {
        self.0.push((self.1.first(doc).expect("page") as u32, f64::from(score)));
    }

    fn harvest(self) -> Vec<(u32, f64)> {
        self.0
    }
}
