//! Candidate pairs of a query and a URL: URLs whose strings share words with it, and URLs that the
//! pages which answer it best link to, whatever their strings say (topical locality, Davison 2000). With
//! an embedding model there are also the URLs that are nearest to it in meaning ([`nearest`]).
//!
//! Questions share few words with URLs and anchors, so most of their candidates are of the second
//! kind. In the frontier a query has at most [`linked::ANSWERS`] times [`linked::LINKS`] of them; of those of the first
//! kind as many as its [`cutoff`] lets in.
//!
//! A crawled page is a candidate as it was at the start of its cycle: then, one of the answers of
//! that time has to have linked to it.

pub(crate) mod by_url;
pub(crate) mod cutoff;
pub(crate) mod linked;
pub(crate) mod nearest;
pub(crate) mod ngram;

use prospect_index::bm25::{Contender, OrderedPostings, Scores};
use prospect_index::link_context::LinkContextTable;
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;

use self::linked::AnswerPages;
use crate::estimate::EstimateError;
use crate::estimate::candidates::cutoff::QueryCutoffs;
use crate::estimate::candidates::nearest::Nearest;
use crate::estimate::candidates::ngram::{MatchSource, sample_key};
use crate::estimate::features::first_links::InLink;
use crate::estimate::features::group::{FeatureGroup, FeatureGroups};
use crate::estimate::features::link_context::LinkContextQuery;
use crate::estimate::features::match_rule::MatchRule;
use crate::estimate::features::pair::{
    AllScores, AskedQuery, FeatureSource, LinkEvidence, PageScores, QueryView, UrlMatch,
};
use crate::estimate::features::similarity::{Embeddings, NearQuery};
use crate::estimate::features::strings::Strings;
use crate::estimate::features::table::FeatureRow;
use crate::estimate::horizon::Horizon;
use crate::workload::{Query, QueryId};

/// URLs of which the first is read before anything is made of them.
const AHEAD: usize = 16;

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
    /// Postings of its words, over the pages that can be answers.
    pub(crate) postings: &'a OrderedPostings,
    /// Room for scores.
    pub(crate) scores: &'a mut Scores,
    /// Room for matches.
    pub(crate) scratch: &'a mut Scratch,
}

/// What candidates are made from.
#[derive(Clone, Copy)]
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
    /// Which matching URLs are candidates.
    pub(crate) cutoffs: &'a QueryCutoffs,
}

impl<H: Horizon> CandidateSource<'_, H> {
    /// Candidates of a query, by URL, and the pages that were among its best. Of more than `most` a sample is taken that
    /// depends on nothing but the pairs.
    ///
    /// Costs the postings of the query's words, its rarest n-grams, and the links to its candidates.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn of(
        &self,
        ask: &mut CandidateQuery<'_>,
        most: usize,
    ) -> Result<(Vec<Candidate>, Vec<Contender>), EstimateError> {
        let CandidateQuery { at, query, postings, scores, scratch } = ask;
        let scorer = self.features.scorer;
        let asked = self.ask(query)?;
        let masked = |url| self.horizon.of(url).is_none();
        let matched = self.matched(*at, &asked, &masked, scratch)?;
        scorer.score_ordered(&asked.terms, postings, scores);
        let contenders = match self.answers {
            _ if self.without.contains(FeatureGroup::Inherited) => Vec::new(),
            AnswerPages::Now => {
                let pages = &self.features.known.pages;
                let first = |seq, url| pages.first_seq(url).unwrap_or(seq);
                scorer.best(scores, linked::ANSWERS, first)
            }
            AnswerPages::AtAnyTime => scorer.contenders(&asked.terms, postings, linked::ANSWERS),
        };
        let answers = self.answers.of(&contenders);
        let linked = linked::candidates(self.features.known, &answers, &self.horizon);
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
        let mut maker = self.maker(&asked, *at);
        let scores = AllScores { scorer, scores };
        let ahead = urls.chunks(AHEAD).inspect(|urls| scores.read_ahead(&self.features, urls));
        let made = ahead.flatten().filter_map(|&url| {
            let otherwise = [&linked, &near].iter().any(|urls| urls.binary_search(&url).is_ok());
            maker.candidate(url, otherwise, &scores)
        });
        // Only now, when what merely may match is gone, so that the sample is one of candidates.
        let mut candidates: Vec<Candidate> = made.take(most).collect();
        candidates.sort_unstable_by_key(|candidate| candidate.url);
        Ok((candidates, contenders))
    }

    /// URLs, ascending, that are not `masked`, among which all candidates of a query by their words are.
    ///
    /// # Errors
    /// The index cannot be read.
    fn matched(
        &self,
        at: QueryId,
        asked: &EpochQuery,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<UrlId>, EstimateError> {
        if let Some(matched) = self.cutoffs.matched(at) {
            return Ok(matched.iter().copied().filter(|&url| !masked(url)).collect());
        }
        let (query, least) = (&asked.words.matching, self.cutoffs.least(at));
        let found = self.matches.candidates(at, query, least, masked, scratch)?;
        let may_be = found.into_iter().filter(|&(url, most)| self.cutoffs.admit(at, most, url));
        Ok(may_be.map(|(url, _)| url).collect())
    }

    /// Postings of words over the pages that can be answers, from the record `from` on, in the order in which those came to
    /// be known.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn postings(
        &self,
        words: impl IntoIterator<Item = u32>,
        from: u32,
    ) -> Result<OrderedPostings, EstimateError> {
        let FeatureSource { scorer, known, .. } = self.features;
        let first = |seq, url| known.pages.first_seq(url).unwrap_or(seq);
        Ok(scorer.ordered(words, from..self.end_seq, first)?)
    }

    /// The same with these strings, where there are none.
    pub(crate) fn or_with<'s>(&'s self, strings: Option<&'s Strings>) -> CandidateSource<'s, H>
    where
        H: Copy,
    {
        let features =
            FeatureSource { strings: self.features.strings.or(strings), ..self.features };
        CandidateSource { features, ..*self }
    }

    /// A query, made ready.
    ///
    /// # Errors
    /// rho is no share.
    pub(crate) fn ask(&self, query: &Query) -> Result<EpochQuery, EstimateError> {
        let scorer = self.features.scorer;
        let words = AskedQuery::new(query, self.rule, scorer, self.features.strings)?;
        let mass = words.idf_mass.max(f64::MIN_POSITIVE);
        let link_context = LinkContextQuery::new(scorer, query, mass);
        Ok(EpochQuery { words, link_context, mass, terms: scorer.term_ids(&query.words) })
    }

    /// Makes candidates of the query number `at`.
    pub(crate) fn maker<'q>(&'q self, asked: &'q EpochQuery, at: QueryId) -> CandidateMaker<'q, H> {
        let known = self.features.known;
        let similar =
            self.embeddings.map(|(embeddings, _)| NearQuery::new(embeddings, known, at.index()));
        CandidateMaker { source: self, at, asked, view: QueryView::new(&asked.words), similar }
    }
}

/// A query, made ready for one statistics epoch.
pub(crate) struct EpochQuery {
    /// Its n-grams.
    pub(crate) words: AskedQuery,
    link_context: LinkContextQuery,
    /// Sum of the idf of its words, above 0: what scores are shares of.
    pub(crate) mass: f64,
    /// Its words, for the scorer.
    pub(crate) terms: Vec<u32>,
}

/// Makes candidates of one query.
pub(crate) struct CandidateMaker<'q, H> {
    source: &'q CandidateSource<'q, H>,
    at: QueryId,
    asked: &'q EpochQuery,
    view: QueryView<'q>,
    similar: Option<NearQuery<'q>>,
}

impl<H: Horizon> CandidateMaker<'_, H> {
    /// The pair with a URL, if it is a candidate, given the score of each crawled page for the query. It is one
    /// whatever its strings say where it was found `otherwise`: by a link from an answer, or by its meaning.
    pub(crate) fn candidate(
        &mut self,
        url: UrlId,
        otherwise: bool,
        scores: &impl PageScores,
    ) -> Option<Candidate> {
        let before_seq = self.source.horizon.of(url)?;
        let mut evidence = LinkEvidence::default();
        let features = &self.source.features;
        features.gather_all(&mut evidence, &mut self.view, scores, url, before_seq);
        self.candidate_of(url, otherwise, &evidence, scores)
    }

    /// Adds links to a URL, which follow those that were gathered.
    pub(crate) fn gather(
        &mut self,
        evidence: &mut LinkEvidence,
        url: UrlId,
        links: impl Iterator<Item = InLink>,
        scores: &impl PageScores,
    ) {
        self.source.features.gather(evidence, &mut self.view, scores, url, links);
    }

    /// As [`CandidateMaker::candidate`], from evidence that was gathered of all links.
    pub(crate) fn candidate_of(
        &mut self,
        url: UrlId,
        otherwise: bool,
        evidence: &LinkEvidence,
        scores: &impl PageScores,
    ) -> Option<Candidate> {
        let CandidateSource { horizon, features, link_context, without, cutoffs, .. } = self.source;
        let before_seq = horizon.of(url)?;
        let UrlMatch { own, weight } = features.url_match(&self.view, url, evidence);
        if !weight.is_some_and(|weight| cutoffs.admit(self.at, weight, url)) && !otherwise {
            return None;
        }
        let matches = weight.is_some();
        let mut features = features.row(&self.view, url, own, evidence);
        let contexts = link_context.of(url, before_seq);
        self.asked.link_context.add(&mut features, contexts, scores);
        if let Some(similar) = &mut self.similar {
            similar.add(&mut features, url, before_seq);
        }
        features.clear(*without);
        Some(Candidate { url, features, matches, score: scores.of(url) / self.asked.mass })
    }
}
