//! Candidate pairs of a query and a URL: URLs whose strings share words with it, and URLs that the
//! pages which answer it best link to, whatever their strings say (topical locality, Davison 2000). With
//! an embedding model there are also the URLs that are nearest to it in meaning ([`similarity`]).
//!
//! Questions share few words with URLs and anchors, so most of their candidates are of the second
//! kind. In the frontier a query has at most [`ANSWERS`] times [`LINKS`] of them; those of the first
//! kind are bounded by the share of n-grams that must match.
//!
//! A crawled page is a candidate as it was at the start of its cycle: then, one of the answers of
//! that time has to have linked to it.

use std::ops::Range;

use prospect_index::around::AroundTable;
use prospect_index::bm25::{Scorer, Scores};
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;

use super::EstimateError;
use super::around::{self, AroundQuery};
use super::features::{self, FeatureSource, QueryView};
use super::groups::{Group, Groups};
use super::pairs::{Horizon, MatchRule, MatchSource, idf_mass, ngram_queries, sample_key};
use super::similarity::{self, Embeddings, NearQuery, Nearest};
use crate::workload::Query;

/// Best pages of a query whose links are followed.
pub const ANSWERS: usize = 20;
/// Links of such a page that are followed, in document order.
pub const LINKS: usize = 300;

/// Features of a pair, as positions in [`features::NAMES`]: shares of the query in URL and anchors,
/// and scores of parents. Those of [`around`] and of [`similarity`] follow.
const READ: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 7, features::BEST_PARENT, features::MEAN_PARENT];
/// Where the features of the embeddings begin.
const EMBEDDING: usize = READ.len() + around::COUNT;
/// Number of features of a pair. Those of embeddings are 0 where there is no model.
pub const COUNT: usize = EMBEDDING + similarity::COUNT;
/// Where the features of each group are.
const PLACES: [(Group, Range<usize>); 5] = [
    (Group::Url, 0..2),
    (Group::Anchors, 2..8),
    (Group::ParentScores, 8..10),
    (Group::Around, 10..EMBEDDING),
    (Group::Embedding, EMBEDDING..COUNT),
];

/// A candidate pair.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The URL.
    pub url: UrlId,
    /// What was known before the fetch.
    pub features: [f32; COUNT],
    /// Whether the URL or its anchors match the query.
    pub matches: bool,
    /// S of a crawled page as a share of the query's idf mass; 0 of an uncrawled one.
    pub score: f64,
}

/// One query, while its candidates are looked for by one thread.
pub struct Ask<'a> {
    /// Index of the query.
    pub at: u32,
    /// The query.
    pub query: &'a Query,
    /// Room for scores.
    pub scores: &'a mut Scores,
    /// Room for matches.
    pub scratch: &'a mut Scratch,
}

/// What candidates are made from.
pub struct CandidateSource<'a, H> {
    /// Features.
    pub features: FeatureSource<'a>,
    /// Words around links.
    pub around: &'a AroundTable,
    /// Vectors of strings and queries, and which URLs are nearest to each, where there is a model.
    pub embeddings: Option<(&'a Embeddings<'a>, &'a Nearest)>,
    /// How strings must agree.
    pub rule: MatchRule,
    /// Pages fetched before this `fetch_seq` can be answers.
    pub end_seq: u32,
    /// Where matching URLs come from.
    pub matches: &'a dyn MatchSource,
    /// Which URLs can be candidates, and what may be known of them.
    pub horizon: H,
    /// Evidence that is left out.
    pub without: Groups,
    /// Which pages' links are followed.
    pub answers: Answers,
}

/// Which pages' links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Those that answer a query best now.
    Now,
    /// Those that did at some time, as long as they did: for candidates as they were known then.
    AtAnyTime,
}

/// A page that was among the answers, from after its own `fetch_seq` until that of the page which
/// took its place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    seq: u32,
    until: u32,
}

impl<H: Horizon> CandidateSource<'_, H> {
    /// Candidates of a query, by URL. Of more than `most` a sample is taken that depends on
    /// nothing but the pairs.
    ///
    /// Costs the postings of the query's words, its rarest n-grams, and the links to its candidates.
    ///
    /// # Errors
    /// An index cannot be read.
    pub fn of(&self, ask: &mut Ask<'_>, most: usize) -> Result<Vec<Candidate>, EstimateError> {
        let Ask { at, query, scores, scratch } = ask;
        let scorer = self.features.scorer;
        let (idf, matching) = ngram_queries(query, self.rule, scorer)?;
        let masked = |url| self.horizon.of(url).is_none();
        let matched = self.matches.candidates(*at, &matching, &masked, scratch)?;
        scorer.score(&scorer.term_ids(&query.words), 0..self.end_seq, scores)?;
        let linked = if self.without.contains(Group::Inherited) {
            Vec::new()
        } else {
            self.linked(&match self.answers {
                Answers::Now => best_answers(scorer, scores),
                Answers::AtAnyTime => answers(scorer, scores),
            })
        };
        let mut near = Vec::new();
        if let Some((_, nearest)) = self.embeddings {
            near.extend(nearest.of(*at as usize).filter(|&url| self.horizon.of(url).is_some()));
            near.sort_unstable();
        }
        let mut urls = [matched.as_slice(), &linked, &near].concat();
        urls.sort_unstable();
        urls.dedup();
        if urls.len() > most {
            urls.sort_by_cached_key(|&url| (sample_key(*at, url), url));
        }
        let text = query.words.join(" ");
        let mass = idf_mass(query, scorer).max(f64::MIN_POSITIVE);
        let view = QueryView::new(&idf, &matching, &text, mass);
        let mut view = view.of_strings(&query.words, self.features.strings);
        let around = AroundQuery::new(self.around, scorer, query, mass);
        let known = self.features.known;
        let mut similar =
            self.embeddings.map(|(embeddings, _)| NearQuery::new(embeddings, known, *at as usize));
        let made = urls.into_iter().filter_map(|url| {
            let before_seq = self.horizon.of(url)?;
            let is_other = [&linked, &near].iter().any(|urls| urls.binary_search(&url).is_ok());
            let mut matches = matched.binary_search(&url).is_ok();
            let mut made =
                |check| self.features.features(&mut view, scores, url, before_seq, check);
            let checked = made(matches && !self.matches.is_exact());
            matches &= checked.is_some();
            let all = checked.or_else(|| is_other.then(|| made(false)).flatten())?;
            let score = scorer.score_of(scores, url) / mass;
            let mut features = [0.0; COUNT];
            features[..READ.len()].copy_from_slice(&READ.map(|feature| all[feature]));
            features[READ.len()..EMBEDDING]
                .copy_from_slice(&around.features(scores, url, before_seq));
            if let Some(similar) = &mut similar {
                features[EMBEDDING..].copy_from_slice(&similar.features(url, before_seq));
            }
            self.without.clear(&mut features, &PLACES);
            Some(Candidate { url, features, matches, score })
        });
        // Only now, when what merely may match is gone, so that the sample is one of candidates.
        let mut candidates: Vec<Candidate> = made.take(most).collect();
        candidates.sort_unstable_by_key(|candidate| candidate.url);
        Ok(candidates)
    }

    /// URLs that were candidates while one of these pages was an answer, ascending.
    fn linked(&self, answers: &[Answer]) -> Vec<UrlId> {
        let links = &self.features.known.links;
        let mut urls = Vec::new();
        for answer in answers {
            let known = |&to: &UrlId| {
                let before = self.horizon.of(to);
                before.is_some_and(|before| answer.seq < before && before <= answer.until)
            };
            let of_page = links.of_page(answer.seq).iter();
            urls.extend(of_page.take(LINKS).map(|link| link.to).filter(known));
        }
        urls.sort_unstable();
        urls.dedup();
        urls
    }
}

/// The [`ANSWERS`] best pages, of equals the first.
fn best_answers(scorer: &Scorer<'_>, scores: &Scores) -> Vec<Answer> {
    let all = scorer.scored(scores).map(|(seq, _, score)| (seq, score));
    let mut pages: Vec<(u32, f64)> = all.filter(|(_, score)| *score > 0.0).collect();
    if pages.len() > ANSWERS {
        pages.select_nth_unstable_by(ANSWERS, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        pages.truncate(ANSWERS);
    }
    pages.into_iter().map(|(seq, _)| Answer { seq, until: u32::MAX }).collect()
}

/// All pages that were among the [`ANSWERS`] best at some time, as the crawl went on.
fn answers(scorer: &Scorer<'_>, scores: &Scores) -> Vec<Answer> {
    let mut pages: Vec<(u32, f64)> =
        scorer.scored(scores).map(|(seq, _, score)| (seq, score)).collect();
    pages.sort_unstable_by_key(|(seq, _)| *seq);
    let mut all: Vec<Answer> = Vec::new();
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(ANSWERS + 1);
    for (seq, score) in pages {
        let low = best.get(ANSWERS - 1).map_or(0.0, |(low, _)| *low);
        if score <= low {
            continue;
        }
        let at = best.partition_point(|(other, _)| *other >= score);
        best.insert(at, (score, all.len()));
        all.push(Answer { seq, until: u32::MAX });
        if best.len() > ANSWERS
            && let Some((_, out)) = best.pop()
        {
            all[out].until = seq;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use prospect_index::bm25::Bm25;
    use prospect_index::text_index::TextIndex;

    #[test]
    fn the_best_are_those_that_are_answers_still() {
        let dir = tempfile::tempdir().unwrap();
        // Many pages of equal scores, and a few without the word.
        let text = |page: u32| {
            let times = page * 7 % 5;
            format!("{}{}", "rye ".repeat(times as usize), "bread ".repeat(5 - times as usize))
        };
        let texts = (0..120).map(|page| (String::new(), text(page)));
        let index = TextIndex::build(&dir.path().join("text"), texts).unwrap();
        let scorer = Scorer::new(&index, Bm25::default(), 120, ["rye"]).unwrap();
        let mut scores = Scores::default();
        for end in [3, 30, 120] {
            scorer.score(&scorer.term_ids(&["rye".to_owned()]), 0..end, &mut scores).unwrap();
            let mut best = best_answers(&scorer, &scores);
            best.sort_unstable();
            let still = answers(&scorer, &scores).into_iter();
            let still: Vec<Answer> = still.filter(|answer| answer.until == u32::MAX).collect();
            assert_eq!(best, still);
            assert_eq!(best.len(), ANSWERS.min(end as usize * 4 / 5));
        }
    }
}
