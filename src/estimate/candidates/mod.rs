//! Candidate pairs of a query and a URL: URLs whose strings share words with it, and URLs that the
//! pages which answer it best link to, whatever their strings say (topical locality, Davison 2000). With
//! an embedding model there are also the URLs that are nearest to it in meaning ([`nearest`]).
//!
//! Questions share few words with URLs and anchors, so most of their candidates are of the second
//! kind. In the frontier a query has at most [`linked::ANSWERS`] times [`linked::LINKS`] of them; those of the first
//! kind are bounded by the share of n-grams that must match.
//!
//! A crawled page is a candidate as it was at the start of its cycle: then, one of the answers of
//! that time has to have linked to it.

pub(crate) mod linked;
pub(crate) mod nearest;
pub mod ngram;

use prospect_index::bm25::Scores;
use prospect_index::link_context::LinkContextTable;
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;

use self::linked::AnswerPages;
use crate::estimate::EstimateError;
use crate::estimate::candidates::nearest::Nearest;
use crate::estimate::candidates::ngram::{
    MatchRule, MatchSource, idf_mass, ngram_queries, sample_key,
};
use crate::estimate::features::group::{FeatureGroup, FeatureGroups};
use crate::estimate::features::link_context::LinkContextQuery;
use crate::estimate::features::pair::{FeatureSource, QueryView};
use crate::estimate::features::similarity::{Embeddings, NearQuery};
use crate::estimate::features::table::FeatureRow;
use crate::estimate::horizon::Horizon;
use crate::workload::{Query, QueryId};

/// A candidate pair.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The URL.
    pub(crate) url: UrlId,
    /// What was known before the fetch.
    pub(crate) features: FeatureRow,
    /// Whether the URL or its anchors match the query.
    pub(crate) matches: bool,
    /// S of a crawled page as a share of the query's idf mass; 0 of an uncrawled one.
    pub(crate) score: f64,
}

/// One query, while its candidates are looked for by one thread.
pub(crate) struct CandidateQuery<'a> {
    /// Which query.
    pub(crate) at: QueryId,
    /// The query.
    pub(crate) query: &'a Query,
    /// Room for scores.
    pub(crate) scores: &'a mut Scores,
    /// Room for matches.
    pub(crate) scratch: &'a mut Scratch,
}

/// What candidates are made from.
pub(crate) struct CandidateSource<'a, H> {
    /// Features.
    pub(crate) features: FeatureSource<'a>,
    /// Words around links.
    pub(crate) link_context: &'a LinkContextTable,
    /// Vectors of strings and queries, and which URLs are nearest to each, where there is a model.
    pub(crate) embeddings: Option<(&'a Embeddings<'a>, &'a Nearest)>,
    /// How strings must agree.
    pub(crate) rule: MatchRule,
    /// Pages fetched before this `fetch_seq` can be answers.
    pub(crate) end_seq: u32,
    /// Where matching URLs come from.
    pub(crate) matches: &'a dyn MatchSource,
    /// Which URLs can be candidates, and what may be known of them.
    pub(crate) horizon: H,
    /// Evidence that is left out.
    pub(crate) without: FeatureGroups,
    /// Which pages' links are followed.
    pub(crate) answers: AnswerPages,
}

impl<H: Horizon> CandidateSource<'_, H> {
    /// Candidates of a query, by URL. Of more than `most` a sample is taken that depends on
    /// nothing but the pairs.
    ///
    /// Costs the postings of the query's words, its rarest n-grams, and the links to its candidates.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn of(
        &self,
        ask: &mut CandidateQuery<'_>,
        most: usize,
    ) -> Result<Vec<Candidate>, EstimateError> {
        let CandidateQuery { at, query, scores, scratch } = ask;
        let scorer = self.features.scorer;
        let (idf, matching) = ngram_queries(query, self.rule, scorer)?;
        let masked = |url| self.horizon.of(url).is_none();
        let matched = self.matches.candidates(*at, &matching, &masked, scratch)?;
        scorer.score(&scorer.term_ids(&query.words), 0..self.end_seq, scores)?;
        let linked = if self.without.contains(FeatureGroup::Inherited) {
            Vec::new()
        } else {
            let known = self.features.known;
            let answers = self.answers.of(&known.pages, scorer, scores);
            linked::candidates(known, &answers, &self.horizon)
        };
        let mut near = Vec::new();
        if let Some((_, nearest)) = self.embeddings {
            near.extend(nearest.of(at.index()).filter(|&url| self.horizon.of(url).is_some()));
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
        let link_context = LinkContextQuery::new(self.link_context, scorer, query, mass);
        let known = self.features.known;
        let mut similar =
            self.embeddings.map(|(embeddings, _)| NearQuery::new(embeddings, known, at.index()));
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
            let mut features = all;
            link_context.add(&mut features, scores, url, before_seq);
            if let Some(similar) = &mut similar {
                similar.add(&mut features, url, before_seq);
            }
            features.clear(self.without);
            Some(Candidate { url, features, matches, score })
        });
        // Only now, when what merely may match is gone, so that the sample is one of candidates.
        let mut candidates: Vec<Candidate> = made.take(most).collect();
        candidates.sort_unstable_by_key(|candidate| candidate.url);
        Ok(candidates)
    }
}
