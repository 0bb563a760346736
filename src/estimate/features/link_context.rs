//! What the text around links says of what is behind them, for one query.

use prospect_index::bm25::Scorer;
use prospect_index::link_context::{LinkContext, word_number};

use crate::estimate::features::pair::PageScores;
use crate::estimate::features::table::{Feature, FeatureRow};
use crate::workload::Query;

/// A query, as the texts around links have its words.
pub(crate) struct LinkContextQuery {
    /// Number of each distinct word, and its share of the idf of all.
    words: Vec<(u32, f64)>,
    /// Sum of the idf of its words with multiplicity, which scores are shares of.
    mass: f64,
}

impl LinkContextQuery {
    /// For a query whose words, with multiplicity, have this `mass` of idf.
    pub(crate) fn new(scorer: &Scorer<'_>, query: &Query, mass: f64) -> Self {
        let mut distinct: Vec<&str> = query.words.iter().map(String::as_str).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let idf: Vec<f64> = distinct.iter().map(|word| scorer.idf(word)).collect();
        let all = idf.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let numbers = distinct.iter().map(|word| word_number(word));
        let words = numbers.zip(idf.iter().map(|idf| idf / all)).collect();
        Self { words, mass }
    }

    /// Adds the features of a URL whose links, of pages fetched before its horizon, have these `contexts`, given the
    /// score of each crawled page for the query: the highest share of the query's idf around a link, the highest of
    /// such a share times the score of its page, and the share around all links together.
    pub(crate) fn add<'t>(
        &self,
        row: &mut FeatureRow,
        contexts: impl Iterator<Item = LinkContext<'t>>,
        scores: &impl PageScores,
    ) {
        let (mut best, mut beside, mut found) = (0.0_f64, 0.0_f64, 0_u64);
        for link_context in contexts {
            let mut share = 0.0;
            for (at, (word, idf)) in self.words.iter().enumerate() {
                if link_context.words.binary_search(word).is_ok() {
                    share += idf;
                    // Of a query no more words are used than a set of bits holds.
                    found |= 1_u64.checked_shl(at as u32).unwrap_or(0);
                }
            }
            if share > best {
                best = share;
            }
            if share > 0.0 {
                beside = beside.max(share * scores.of(link_context.from) / self.mass);
            }
        }
        let has = |at: usize| found.checked_shr(at as u32).unwrap_or(0) & 1 == 1;
        let all = self.words.iter().enumerate().filter(|(at, _)| has(*at));
        row[Feature::BestContext] = best as f32;
        row[Feature::ContextOfAnswer] = beside as f32;
        row[Feature::AllContexts] = all.map(|(_, (_, idf))| idf).sum::<f64>() as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prospect_index::bm25::{Bm25, Scores};
    use prospect_index::link_context::{LinkContextTable, word_numbers};
    use prospect_index::page::UrlId;
    use prospect_index::text_index::TextIndex;
    use prospect_index::words::Analyzer;

    #[test]
    fn shares_are_of_idf_and_the_pages_that_say_them_count() {
        let dir = tempfile::tempdir().unwrap();
        let texts = ["rye rye bread", "bread", "oven", "flour"];
        let texts = texts.map(|text| (String::new(), text.to_owned()));
        let index = TextIndex::build(&dir.path().join("text"), texts).unwrap();
        let query = Query::new("q", "rye bread, rye sourdough", 1.0, "");
        let words = query.words.iter().map(String::as_str);
        let scorer = Scorer::new(&index, Bm25::default(), 4, words).unwrap();
        let mut scores = Scores::default();
        scorer.score(&scorer.term_ids(&query.words), 0..4, &mut scores).unwrap();
        let idf = |word| scorer.idf(word);
        let all = idf("rye") + idf("bread") + idf("sourdough");
        let mass = all + idf("rye");

        let mut table = LinkContextTable::default();
        let to = UrlId(9);
        table.push(
            UrlId(2),
            to,
            2,
            &word_numbers(&Analyzer::default(), "Bread and sourdough, from the oven"),
        );
        table.push(UrlId(0), to, 5, &word_numbers(&Analyzer::default(), "bread"));
        let asked = LinkContextQuery::new(&scorer, &query, mass);
        let score_of = |url| scorer.score_of(&scores, url);
        // The first page has two of the words and answers nothing, the other has one.
        let both = (idf("bread") + idf("sourdough")) / all;
        let beside = idf("bread") / all * score_of(UrlId(0)) / mass;
        assert!(beside > 0.0);
        for (url, before_seq, expected) in [
            (to, 2, [0.0; 3]),
            (UrlId(1), u32::MAX, [0.0; 3]),
            (to, 5, [both as f32, 0.0, both as f32]),
            (to, 6, [both as f32, beside as f32, both as f32]),
        ] {
            let mut row = FeatureRow::default();
            asked.add(&mut row, table.of(url, before_seq), &score_of);
            let features = [Feature::BestContext, Feature::ContextOfAnswer, Feature::AllContexts];
            assert_eq!(features.map(|at| row[at]), expected, "{before_seq}");
        }
    }
}
