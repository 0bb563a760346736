//! A checkpoint is evaluated exactly as if only the pages fetched by then had been indexed.
//!
//! Story: an evaluation of crawls by one index of everything is worth nothing if a page that is not
//! fetched leaks into a score, an idf or a mean length, or if a tie falls otherwise than it would.
//! So random small crawls with many ties are answered three times: by the one pass over all
//! checkpoints; by a plain loop over the texts of the subset; and by a fresh index of the subset, ours
//! and, for the compatible similarity, Tantivy's own. All scores must be the same bits.

use crate::bm25::{Bm25, Scorer, Scores};
use crate::checkpoints::{
    CheckpointQuery, CheckpointScorer, FetchOrder, QueryResults, Similarity, Workspace,
};
use crate::page::UrlId;
use crate::text_index::TextIndex;
use crate::url_table::UrlTable;
use crate::words::words;
use proptest::collection::vec;
use proptest::prelude::*;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

use super::support::{WORDS, text, url};

const TOP: usize = 3;

/// Everything one case needs: pages by number, crawls, queries.
#[derive(Clone, Debug)]
struct Case {
    texts: Vec<(String, String)>,
    urls: UrlTable,
    url_order: Vec<u32>,
    /// Orders of fetches, by crawl.
    orders: Vec<Vec<usize>>,
    checkpoints: Vec<Vec<u32>>,
    queries: Vec<Vec<String>>,
    /// Pages whose ranks are wanted: what no list and none of them needs is passed over.
    wanted: Vec<u32>,
}

/// What a checkpoint must answer: pages with the bits of their scores, best first.
type Ranking = Vec<(u32, u64)>;

/// A crawl as it is drawn: what its order is made from, how many pages it fetches, and checkpoints.
type DrawnCrawl = (Vec<u32>, usize, Vec<u32>);

fn order_of((shuffle, fetched, _): &DrawnCrawl, pages: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pages).collect();
    order.sort_by_key(|&page| shuffle[page]);
    order.truncate(*fetched);
    order
}

/// The drawn checkpoints, those at which there may be nothing yet, and the one after all pages.
fn checkpoints_of((_, _, drawn): &DrawnCrawl, pages: usize) -> Vec<u32> {
    let mut checkpoints = drawn.clone();
    checkpoints.extend([0, 1, pages as u32]);
    checkpoints.sort_unstable();
    checkpoints
}

/// The title and the text of a page of these words.
fn title_and_text(words: &[usize]) -> (String, String) {
    let (title, rest) = words.split_at(words.len() / 3);
    (text(title), text(rest))
}

fn case() -> impl Strategy<Value = Case> {
    let word = prop_oneof![3 => 0..2usize, 1 => 0..7usize];
    let pages = vec(vec(word, 0..7), 1..40);
    let query = vec((0..WORDS.len()).prop_map(|word| WORDS[word].to_owned()), 0..6);
    let crawl = (vec(any::<u32>(), 40), 0..=40usize, vec(0..45u32, 0..9));
    // One more page than there may be.
    let wanted = prop_oneof![vec(0..41u32, 0..4), Just((0..41).collect())];
    (pages, vec(crawl, 1..4), vec(query, 1..4), wanted).prop_map(
        |(pages, crawls, queries, wanted)| {
            let mut urls = UrlTable::default();
            (0..pages.len()).for_each(|page| {
                urls.insert(&url(page), "");
            });
            let count = pages.len();
            Case {
                texts: pages.iter().map(|words| title_and_text(words)).collect(),
                urls,
                url_order: url_order(count),
                orders: crawls.iter().map(|crawl| order_of(crawl, count)).collect(),
                checkpoints: crawls.iter().map(|crawl| checkpoints_of(crawl, count)).collect(),
                queries,
                wanted,
            }
        },
    )
}

/// Place of each page by URL.
fn url_order(pages: usize) -> Vec<u32> {
    let mut by_url: Vec<usize> = (0..pages).collect();
    by_url.sort_by_key(|&page| url(page));
    let mut url_order = vec![0; pages];
    by_url.iter().enumerate().for_each(|(place, &page)| url_order[page] = place as u32);
    url_order
}

impl Case {
    fn positions(&self) -> Vec<Vec<u32>> {
        let mut positions = vec![vec![u32::MAX; self.texts.len()]; self.orders.len()];
        for (position, order) in positions.iter_mut().zip(&self.orders) {
            for (place, &page) in (0..).zip(order) {
                position[page] = place;
            }
        }
        positions
    }

    /// The pages of a checkpoint in fetch order.
    fn subset(&self, crawl: usize, checkpoint: usize) -> &[usize] {
        let order = &self.orders[crawl];
        &order[..order.len().min(self.checkpoints[crawl][checkpoint] as usize)]
    }

    /// Answers of all queries: by query, crawl, checkpoint.
    fn answers(&self, similarity: Similarity) -> Vec<Vec<Vec<QueryResults>>> {
        let dir = tempfile::tempdir().unwrap();
        let index = TextIndex::build(dir.path(), self.texts.clone()).unwrap();
        let positions = self.positions();
        let crawls: Vec<FetchOrder> = positions
            .iter()
            .zip(&self.checkpoints)
            .map(|(position, checkpoints)| FetchOrder { position, checkpoints })
            .collect();
        // The last is a word that no page holds and the scorer does not know.
        let words = WORDS[..7].iter().copied();
        let scorer =
            CheckpointScorer::new(&index, similarity, &crawls, &self.url_order, words).unwrap();
        let mut workspace = Workspace::default();
        let mut by_query = vec![vec![Vec::new(); crawls.len()]; self.queries.len()];
        for (words, answers) in self.queries.iter().zip(&mut by_query) {
            let ask = CheckpointQuery { words, top: TOP, ranks_of: &self.wanted };
            let answered = scorer.answer(&ask, &mut workspace, |crawl, checkpoint, answer| {
                assert_eq!(answers[crawl].len(), checkpoint, "in order");
                answers[crawl].push(answer.clone());
            });
            answered.unwrap();
        }
        by_query
    }

    /// Compares every answer with the whole ranking that `expected` gives of a query over a subset.
    fn check(
        &self,
        similarity: Similarity,
        mut expected: impl FnMut(&[usize], &[String]) -> Ranking,
    ) -> Result<(), TestCaseError> {
        let answers = self.answers(similarity);
        for (query, answers) in self.queries.iter().zip(&answers) {
            for (crawl, answers) in answers.iter().enumerate() {
                prop_assert_eq!(answers.len(), self.checkpoints[crawl].len());
                for (checkpoint, answer) in answers.iter().enumerate() {
                    let subset = self.subset(crawl, checkpoint);
                    let ranking = expected(subset, query);
                    self.equal(answer, &ranking)?;
                }
            }
        }
        Ok(())
    }

    fn equal(&self, answer: &QueryResults, ranking: &Ranking) -> Result<(), TestCaseError> {
        let top: Ranking =
            answer.top.iter().map(|(page, score)| (*page, score.to_bits())).collect();
        prop_assert_eq!(&top[..], &ranking[..ranking.len().min(TOP)]);
        prop_assert_eq!(answer.ranks.len(), self.wanted.len());
        for (at, &page) in self.wanted.iter().enumerate() {
            let rank = ranking.iter().position(|(other, _)| *other == page);
            let bits = rank.map_or(0, |rank| ranking[rank].1);
            prop_assert_eq!(answer.ranks[at], rank.map(|rank| rank as u32 + 1), "page {}", page);
            prop_assert_eq!(answer.scores[at].to_bits(), bits, "page {}", page);
        }
        Ok(())
    }

    /// Pages with positive scores by score descending, then URL ascending.
    fn ranked(mut scores: Vec<(u32, f64)>) -> Ranking {
        scores.retain(|(_, score)| *score > 0.0);
        let order = |page: u32| url(page as usize);
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| order(a.0).cmp(&order(b.0))));
        scores.into_iter().map(|(page, score)| (page, score.to_bits())).collect()
    }

    /// Written without a look at the code under test: the formula of METHODS, section 0.
    fn plainly(&self, bm25: Bm25, subset: &[usize], query: &[String]) -> Ranking {
        let pages: Vec<Vec<&str>> = subset
            .iter()
            .map(|&page| {
                let (title, text) = &self.texts[page];
                title.split(' ').chain(text.split(' ')).filter(|word| !word.is_empty()).collect()
            })
            .collect();
        let n = subset.len() as f64;
        let average = pages.iter().map(Vec::len).sum::<usize>() as f64 / n;
        let idfs = query.iter().map(|word| {
            let df = pages.iter().filter(|words| words.contains(&word.as_str())).count() as f64;
            (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
        });
        let idfs: Vec<f64> = idfs.collect();
        let mut scores = Vec::new();
        for (&number, page) in subset.iter().zip(&pages) {
            let mut score = 0.0;
            for (word, idf) in query.iter().zip(&idfs) {
                let tf = page.iter().filter(|other| *other == word).count() as f64;
                if tf > 0.0 {
                    let norm = bm25.k1 * (1.0 - bm25.b + bm25.b * (page.len() as f64 / average));
                    score += idf * (tf * (bm25.k1 + 1.0) / (tf + norm));
                }
            }
            scores.push((number as u32, score));
        }
        Self::ranked(scores)
    }

    /// A fresh index of the subset, scored by the scorer of stores.
    fn afresh(&self, bm25: Bm25, subset: &[usize], query: &[String]) -> Ranking {
        let dir = tempfile::tempdir().unwrap();
        let texts = subset.iter().map(|&page| self.texts[page].clone());
        let index = TextIndex::build(dir.path(), texts).unwrap();
        let mut docs = index.docs().clone();
        docs.url.iter_mut().for_each(|id| *id = UrlId(subset[id.index()] as u32));
        let index = index.with_docs(docs);
        let end = subset.len() as u32;
        let scorer = Scorer::new(&index, bm25, end, WORDS).unwrap();
        let mut scores = Scores::default();
        scorer.score(&scorer.term_ids(query), 0..end, &mut scores).unwrap();
        let top = scorer.top_k(&scores, usize::MAX >> 1, &self.urls);
        top.into_iter().map(|(url, score)| (url.0, score.to_bits())).collect()
    }
}

/// Every document with its score: nothing is pruned.
struct All;

struct AllOfSegment(Vec<(u32, f32)>, tantivy::columnar::Column<u64>);

impl Collector for All {
    type Fruit = Vec<(u32, f32)>;
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

    fn merge_fruits(&self, fruits: Vec<Vec<(u32, f32)>>) -> tantivy::Result<Vec<(u32, f32)>> {
        Ok(fruits.concat())
    }
}

impl SegmentCollector for AllOfSegment {
    type Fruit = Vec<(u32, f32)>;

    fn collect(&mut self, doc: u32, score: f32) {
        self.0.push((self.1.first(doc).unwrap() as u32, score));
    }

    fn harvest(self) -> Vec<(u32, f32)> {
        self.0
    }
}

/// An index as a user of Tantivy would make it, and its query for a union of words.
struct Theirs {
    index: tantivy::Index,
    body: Field,
}

impl Theirs {
    fn of(case: &Case, subset: &[usize]) -> Self {
        let mut builder = Schema::builder();
        let page = builder.add_u64_field("page", NumericOptions::default() | FAST);
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqs);
        let body =
            builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
        let index = tantivy::Index::create_in_ram(builder.build());
        let mut writer = index.writer_with_num_threads(1, 15 << 20).unwrap();
        for &number in subset {
            let (title, text) = &case.texts[number];
            let mut document = tantivy::TantivyDocument::default();
            document.add_u64(page, number as u64);
            document.add_text(body, format!("{title} {text}"));
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        Self { index, body }
    }

    fn search(&self, words: &[String]) -> Vec<(u32, f32)> {
        let query = BooleanQuery::new(words.iter().map(|word| self.clause(word)).collect());
        self.index.reader().unwrap().searcher().search(&query, &All).unwrap()
    }

    fn clause(&self, word: &str) -> (Occur, Box<dyn Query>) {
        let term = tantivy::Term::from_field_text(self.body, word);
        (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
    }
}

const PARAMETERS: [Bm25; 4] = [
    Bm25 { k1: 0.9, b: 0.4 },
    Bm25 { k1: 1.2, b: 0.75 },
    Bm25 { k1: 0.0, b: 0.0 },
    Bm25 { k1: 2.0, b: 1.0 },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_checkpoint_equals_a_plain_loop_over_its_pages(case in case()) {
        for bm25 in PARAMETERS {
            case.check(Similarity::Exact(bm25), |subset, query| case.plainly(bm25, subset, query))?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_checkpoint_equals_a_fresh_index_of_its_pages(case in case()) {
        let bm25 = Bm25::default();
        case.check(Similarity::Exact(bm25), |subset, query| case.afresh(bm25, subset, query))?;
    }

    #[test]
    fn the_compatible_similarity_equals_a_fresh_index_of_tantivy(case in case()) {
        case.check(Similarity::Tantivy, |subset, query| {
            let theirs = Theirs::of(&case, subset).search(query);
            Case::ranked(theirs.into_iter().map(|(page, score)| (page, f64::from(score))).collect())
        })?;
    }
}

/// Pages of `texts`, two crawls with 23 and 1 checkpoints.
fn large(texts: Vec<(String, String)>, queries: &[&str], wanted: Vec<u32>) -> Case {
    let pages = texts.len();
    let step = pages as u32 / 23 + 1;
    Case {
        urls: UrlTable::default(),
        url_order: url_order(pages),
        orders: vec![
            (0..pages).map(|at| at * 37 % pages).collect(),
            (0..pages).rev().take(pages / 2).collect(),
        ],
        checkpoints: vec![(1..=23).map(|at| at * step).collect(), vec![600]],
        queries: queries.iter().map(|query| words(query)).collect(),
        texts,
        wanted,
    }
}

fn check_both(case: &Case) {
    let bm25 = Bm25::default();
    case.check(Similarity::Exact(bm25), |subset, query| case.plainly(bm25, subset, query)).unwrap();
    let mut last: (Vec<usize>, Option<Theirs>) = (Vec::new(), None);
    case.check(Similarity::Tantivy, |subset, query| {
        if last.0 != subset || last.1.is_none() {
            last = (subset.to_vec(), Some(Theirs::of(case, subset)));
        }
        let theirs = last.1.as_ref().unwrap().search(query);
        Case::ranked(theirs.into_iter().map(|(page, score)| (page, f64::from(score))).collect())
    })
    .unwrap();
}

#[test]
fn lengths_are_rounded_as_tantivy_rounds_them_and_windows_do_not_show() {
    // Long texts, so that rounding matters, and more pages than a window holds.
    let texts = (0..700).map(|page| {
        let words: Vec<usize> = (0..page * 7 % 400).map(|at| (at * page + page / 3) % 7).collect();
        (String::new(), text(&words))
    });
    let queries = ["a b crawl", "budget é budget web", "tail", "a a a b b zz"];
    check_both(&large(texts.collect(), &queries, (0..=700).collect()));
}

#[test]
fn what_is_passed_over_changes_no_answer() {
    // Each word is rarer than the one before, so that most pages hold common words only, and the
    // common words are many in some.
    let texts = (0..998_usize).map(|page| {
        let mut words = Vec::new();
        for (word, every) in [1, 2, 3, 11, 40, 150, 333].into_iter().enumerate() {
            if page.is_multiple_of(every) {
                words.extend(std::iter::repeat_n(word, 1 + page * (word + 3) % 5));
            }
        }
        (String::new(), text(&words))
    });
    let texts: Vec<_> = texts.collect();
    let queries =
        ["a b tail", "tail a", "a b crawl budget web tail", "é a b a b a", "web zz crawl"];
    for wanted in [vec![], vec![666, 150], vec![22, 333, 1]] {
        check_both(&large(texts.clone(), &queries, wanted));
    }
}
