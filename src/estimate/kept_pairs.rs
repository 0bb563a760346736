//! Candidate pairs of a planner that goes on. Within a statistics epoch a new page changes the pairs of the
//! URLs that it links to, but for hubs, whose first links count alone; the links that answers lead to where it is an answer
//! itself; and the chances of the queries whose lists or candidates it changes; nothing else is estimated again. What is
//! kept equals, bit by bit, what [`learned::pairs`](super::learned::pairs) finds in the same tables by the same models.
//!
//! A planner can go on from pairs where pages can be scored one by one (`Scorer::scores_pages`) and where it keeps the words
//! of strings ([`Strings`]), or goes on once, which takes those of few. As an epoch begins it lists them all, as who plans
//! once does, and what links say of a pair is gathered when something about it changes first.
//!
//! Costs 12 bytes a pair, 132 more for each that was looked at since the epoch began, 56 a URL, and 8 a query for each bin of
//! the score model and each candidate by a link.

use std::sync::Arc;

use prospect_index::bm25::{Contender, OrderedPostings};
use prospect_index::link_table::Link;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EstimateError;
use super::candidates::by_url::QueriesByUrl;
use super::candidates::linked::{ANSWERS, AnswerSpan, candidates};
use super::candidates::{CandidateSource, EpochQuery};
use super::crawl_view::CrawlView;
use super::features::first_links::InLink;
use super::features::group::FeatureGroup;
use super::features::page_terms::PageTerms;
use super::features::pair::{LINKS, LinkEvidence};
use super::features::strings::Strings;
use super::horizon::{FrontierHorizon, Horizon};
use super::models::EpochModels;
use super::models::score_distribution::ScoreModel;
use super::pair_table::{PairRow, PairTable};
use crate::workload::QueryId;

/// URLs whose pairs are estimated before they are put in their place.
const URLS_AT_ONCE: usize = 1024;

/// Where candidates of the frontier come from.
type Source<'a> = CandidateSource<'a, FrontierHorizon<'a>>;

/// What is stored of kept pairs, beside the pairs, for who goes on from them at another time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeptState {
    /// Records, links and URLs that were taken in.
    end_seq: u32,
    links: u32,
    urls: u32,
    /// By query: its best pages, as [`KeptQuery`] has them.
    answers: Vec<Vec<Answer>>,
}

/// A page that answers a query: score, the record that fetched it first, and that of its version.
type Answer = (f64, u32, u32);

/// Pairs of an earlier time.
pub(crate) struct EarlierPairs {
    /// What was taken in by then.
    pub(crate) state: KeptState,
    /// The pairs.
    pub(crate) pairs: Arc<PairTable>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct KeptPairs {
    /// Whether it is brought up to date once, and keeps no evidence to go on from.
    once: bool,
    /// Where it starts from, which is left to it.
    earlier: Option<EarlierPairs>,
    /// What pairs are estimated by.
    models: Option<Arc<EpochModels>>,
    /// Records, links and URLs that were taken in.
    end_seq: u32,
    links: usize,
    urls: usize,
    queries: Vec<KeptQuery>,
    /// By URL: the queries that it may match, of those that were asked for.
    matching: QueriesByUrl,
    by_url: Arc<PairTable>,
    /// By URL, then query: what links say of pairs that were looked at since it started, candidates or not.
    evidence: Vec<Vec<(QueryId, LinkEvidence)>>,
}

struct KeptQuery {
    asked: EpochQuery,
    /// Its best pages, the best first.
    answers: Vec<Answer>,
    /// URLs that they link to, ascending.
    linked: Vec<UrlId>,
    /// Scores of its list, as shares of the idf mass.
    served: Vec<f64>,
    /// By bin of the score model: candidates.
    counts: Vec<f64>,
    /// Whether its candidates or its list have changed since the chances were made.
    is_stale: bool,
}

/// The first links to some URLs, side by side: a table chains them, and they are looked at for many queries.
struct LinksOf {
    /// Ascending.
    urls: Vec<UrlId>,
    /// By URL: the first [`LINKS`].
    links: Vec<Vec<InLink>>,
}

impl LinksOf {
    fn new(known: &Known, mut urls: Vec<UrlId>) -> Self {
        urls.par_sort_unstable();
        urls.dedup();
        let first = |url| known.links.incoming(url, u32::MAX).take(LINKS).map(InLink::from);
        let links = urls.par_iter().map(|&url| first(url).collect()).collect();
        Self { urls, links }
    }

    /// Cuts these URLs and the anchors of their links into words.
    fn cut(&self, known: &Known, strings: &mut Strings) {
        let urls: Vec<u32> = self.urls.iter().map(|url| url.0).collect();
        let anchors = self.links.par_iter().flatten_iter().map(|link| link.anchor);
        let mut anchors: Vec<u32> = anchors.collect();
        anchors.par_sort_unstable();
        anchors.dedup();
        strings.take_some(known, &urls, &anchors);
    }

    fn of(&self, url: UrlId) -> &[InLink] {
        self.urls.binary_search(&url).map_or(&[], |at| &self.links[at])
    }
}

/// Some pairs.
type Pairs = Vec<(QueryId, UrlId)>;

/// What became of a pair: its row, if it is a candidate.
type Change = (UrlId, QueryId, Option<PairRow>);

/// The same, with what it rests on.
struct Estimated {
    url: UrlId,
    query: QueryId,
    pair: Option<PairRow>,
    /// What links say of it; none if nothing finds it, or nobody goes on from it.
    evidence: Option<Box<LinkEvidence>>,
}

impl KeptPairs {
    /// Pairs that are brought up to date once, from those of an earlier time if there are any, whose models must be
    /// the same and of whose pages none may have been replaced since.
    pub(crate) fn once(earlier: Option<EarlierPairs>) -> Self {
        Self { once: true, earlier, ..Self::default() }
    }

    /// Starts anew.
    pub(super) fn forget(&mut self) {
        *self = Self { once: self.once, ..Self::default() };
    }

    /// Whether it is brought up to date once.
    pub(super) fn is_once(&self) -> bool {
        self.once
    }

    /// All pairs were listed by these models, with these best pages of every query: it starts from them.
    pub(super) fn found(
        &mut self,
        input: &CrawlView<'_>,
        models: &Arc<EpochModels>,
        pairs: &Arc<PairTable>,
        answers: Vec<Vec<Contender>>,
    ) {
        let answer = |page: Contender| (page.score, page.first, page.seq);
        let answers = answers.into_iter().map(|best| best.into_iter().map(answer).collect());
        let state = KeptState {
            end_seq: input.manifest.next_seq,
            links: input.known.links.links_from(0).count() as u32,
            urls: input.known.urls.len() as u32,
            answers: answers.collect(),
        };
        let earlier = Some(EarlierPairs { state, pairs: Arc::clone(pairs) });
        let models = Some(Arc::clone(models));
        *self = Self { once: self.once, models, earlier, ..Self::default() };
    }

    /// What to store to go on from these pairs; none before there are any.
    pub(crate) fn state(self) -> Option<KeptState> {
        self.models?;
        if let Some(listed) = self.earlier {
            return Some(listed.state);
        }
        Some(KeptState {
            end_seq: self.end_seq,
            links: self.links as u32,
            urls: self.urls as u32,
            answers: self.queries.into_iter().map(|query| query.answers).collect(),
        })
    }

    /// Whether pairs by these models are there to go on from.
    pub(super) fn goes_on(&self, models: &Arc<EpochModels>) -> bool {
        let bins = models.scores.as_ref().map(ScoreModel::bins);
        match (&self.models, &self.earlier) {
            (Some(by), _) => Arc::ptr_eq(by, models),
            (None, Some(earlier)) => bins.is_some() && earlier.pairs.bins() == bins,
            (None, None) => false,
        }
    }

    /// Pairs of all queries by URL, up to date with the tables and estimated by the score model of `models`, by which there
    /// are pairs to go on from.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(super) fn update(
        &mut self,
        input: &CrawlView<'_>,
        source: &Source<'_>,
        models: &Arc<EpochModels>,
        model: &ScoreModel,
    ) -> Result<Arc<PairTable>, EstimateError> {
        let known = input.known;
        let mut own = source.features.strings.is_none().then(|| Strings::new(input.queries));
        let (targets, mut dirty) =
            self.look(input, &source.or_with(own.as_ref()), models, model)?;
        let mut looked_at = targets.clone();
        looked_at.extend(dirty.iter().map(|(_, url)| *url));
        let looked_at = LinksOf::new(known, looked_at);
        if let Some(own) = &mut own {
            looked_at.cut(known, own);
        }
        let source = &source.or_with(own.as_ref());
        self.find_matches(source, &looked_at);
        self.add_pairs_of(&targets, &mut dirty);
        let mut links: Vec<Link> = known.links.links_from(self.links).collect();
        links.sort_by_key(|link| link.to);
        let by_url: Vec<&[(QueryId, UrlId)]> = dirty.chunk_by(|a, b| a.1 == b.1).collect();
        let mut changes = Vec::new();
        for urls in by_url.chunks(URLS_AT_ONCE) {
            let links = (&looked_at, links.as_slice());
            let of_url = |pairs: &&[_]| self.estimate(source, model, pairs, links);
            let estimated = urls.par_iter().map(of_url).collect();
            self.take_in(estimated, &mut changes);
        }
        self.change(&changes, model);
        self.refresh_chances(input, model);
        self.end_seq = input.manifest.next_seq;
        self.links = known.links.links_from(0).count();
        self.urls = known.urls.len();
        Ok(Arc::clone(&self.by_url))
    }

    /// Takes in what came since; URLs to which new links lead, and pairs of those that became candidates by a link from an
    /// answer, or no longer are.
    fn look(
        &mut self,
        input: &CrawlView<'_>,
        source: &Source<'_>,
        models: &Arc<EpochModels>,
        model: &ScoreModel,
    ) -> Result<(Vec<UrlId>, Pairs), EstimateError> {
        let known = input.known;
        if let Some(earlier) = self.earlier.take() {
            self.models = None;
            self.start(input, source, models, model, earlier)?;
        }
        let targets = self.targets(known, source);
        Arc::make_mut(&mut self.by_url).grow(known.urls.len());
        if !self.once {
            self.evidence.resize_with(known.urls.len(), Vec::new);
        }
        self.forget_fetched(input, source, model);
        let words = self.queries.iter().flat_map(|query| query.asked.terms.iter().copied());
        let new = source.postings(words, self.end_seq)?;
        let dirty = self.follow_answers(known, source, &new);
        Ok((targets, dirty))
    }

    /// Starts from pairs of an earlier time, by the same models.
    fn start(
        &mut self,
        input: &CrawlView<'_>,
        source: &Source<'_>,
        models: &Arc<EpochModels>,
        model: &ScoreModel,
        EarlierPairs { state, pairs }: EarlierPairs,
    ) -> Result<(), EstimateError> {
        let queries = input.queries.par_iter();
        let queries = queries.map(|query| Ok(KeptQuery::new(source.ask(query)?, model.bins())));
        let mut queries: Vec<KeptQuery> = queries.collect::<Result<_, EstimateError>>()?;
        for pair in pairs.iter() {
            let query = &mut queries[pair.query.index()];
            query.counts[usize::from(pair.bin)] += model.weight(pair.matches);
        }
        let (known, KeptState { end_seq, links, urls, answers }) = (input.known, state);
        queries.par_iter_mut().zip(answers).for_each(|(query, answers)| {
            query.linked = linked_to(&answers, known, &source.horizon);
            query.answers = answers;
        });
        let asked = queries.iter().map(|query| &query.asked);
        let matching = QueriesByUrl::new(asked, source.cutoffs);
        *self = Self {
            once: self.once,
            earlier: None,
            models: Some(Arc::clone(models)),
            end_seq,
            links: links as usize,
            urls: urls as usize,
            queries,
            matching,
            by_url: pairs,
            evidence: Vec::new(),
        };
        Ok(())
    }

    /// Finds what URLs match whose links or candidates have changed.
    fn find_matches(&mut self, source: &Source<'_>, urls: &LinksOf) {
        let (queries, of) = (self.queries.len(), |at: QueryId| &self.queries[at.index()].asked);
        let urls = urls.urls.par_iter().copied().zip(&urls.links);
        self.matching.update(&source.features, &of, queries, source.cutoffs, urls);
    }

    /// Pairs of URLs that were asked for and do not wait for another try are no more.
    fn forget_fetched(&mut self, input: &CrawlView<'_>, source: &Source<'_>, model: &ScoreModel) {
        let (pages, next_seq) = (&input.known.pages, input.manifest.next_seq);
        let failures = pages.failures();
        let new = failures.partition_point(|failure| failure.seq < self.end_seq);
        let failed = failures[new..].iter().map(|failure| failure.url);
        let records = self.end_seq..next_seq;
        let fetched = records.filter_map(|seq| pages.record(seq).map(|(url, _)| url));
        let moved = pages.redirects();
        let new = moved.partition_point(|(seq, _)| *seq < self.end_seq);
        let moved = moved[new..].iter().map(|(_, url)| *url);
        let by_url = Arc::make_mut(&mut self.by_url);
        for url in fetched.chain(failed).chain(moved) {
            if source.horizon.of(url).is_some() {
                continue;
            }
            if let Some(evidence) = self.evidence.get_mut(url.index()) {
                *evidence = Vec::new();
            }
            for row in by_url.rows_of(url) {
                let query = &mut self.queries[row.query().index()];
                query.counts[row.bin()] -= model.weight(row.matches());
                query.is_stale = true;
            }
            by_url.put(url, &[]);
        }
    }

    /// Takes in the scores of new pages; pairs of URLs that became candidates by a link from an answer, or no
    /// longer are.
    fn follow_answers(
        &mut self,
        known: &Known,
        source: &Source<'_>,
        new: &OrderedPostings,
    ) -> Pairs {
        if source.without.contains(FeatureGroup::Inherited) {
            return Vec::new();
        }
        let scorer = source.features.scorer;
        let changed = self.queries.par_iter_mut().enumerate().map(|(at, query)| {
            let best = scorer.contenders(&query.asked.terms, new, ANSWERS);
            let changed = query.follow_answers(known, best, &source.horizon);
            changed.into_iter().map(|url| (QueryId::new(at), url)).collect::<Vec<_>>()
        });
        changed.flatten_iter().collect()
    }

    /// URLs of the frontier, ascending, that are new or to which new links lead that are looked at. What has left the
    /// frontier stays out.
    fn targets(&self, known: &Known, source: &Source<'_>) -> Vec<UrlId> {
        let new = (self.urls..known.urls.len()).map(|id| UrlId(id as u32));
        let linked = known.links.links_from(self.links).map(|link| link.to);
        let mut targets: Vec<UrlId> =
            new.chain(linked).filter(|&url| source.horizon.of(url).is_some()).collect();
        targets.par_sort_unstable();
        targets.dedup();
        targets.into_par_iter().filter(|&url| !self.is_full(url, known, source)).collect()
    }

    /// Whether new links to a URL change nothing: it is a hub, of which the first [`LINKS`] count, and none of them is
    /// among the first with words around it.
    fn is_full(&self, url: UrlId, known: &Known, source: &Source<'_>) -> bool {
        let contexts = |before_seq| source.link_context.of(url, before_seq).count();
        known.links.incoming(url, self.end_seq).nth(LINKS - 1).is_some()
            && contexts(self.end_seq) == contexts(u32::MAX)
    }

    /// Adds the pairs of these URLs, to which new links may lead. Evidence of others of their pairs would miss these
    /// links, and is forgotten.
    fn add_pairs_of(&mut self, targets: &[UrlId], dirty: &mut Pairs) {
        for &url in targets {
            let is = self.by_url.rows_of(url).iter().map(|row| row.query());
            let may_be = self.matching.of(url).iter().copied();
            let mut queries: Vec<QueryId> = is.chain(may_be).collect();
            queries.sort_unstable();
            if let Some(evidence) = self.evidence.get_mut(url.index()) {
                evidence.retain(|(query, _)| queries.binary_search(query).is_ok());
            }
            dirty.extend(queries.into_iter().map(|query| (query, url)));
        }
        dirty.par_sort_unstable_by_key(|&(query, url)| (url, query));
        dirty.dedup();
    }

    /// Estimates pairs of a URL, but for their chances, from the first links to it, or from those that are `new`, by target:
    /// what is known of a URL and of the pages that link to it is read once for all its queries.
    fn estimate(
        &self,
        source: &Source<'_>,
        model: &ScoreModel,
        pairs: &[(QueryId, UrlId)],
        (links_of, new): (&LinksOf, &[Link]),
    ) -> Vec<Estimated> {
        let url = pairs[0].1;
        let matching = self.matching.of(url);
        let (found, others): (Vec<QueryId>, Vec<QueryId>) = pairs
            .iter()
            .map(|&(at, _)| at)
            .partition(|at| self.is_linked(*at, url) || matching.binary_search(at).is_ok());
        let nothing = |query| Estimated { url, query, pair: None, evidence: None };
        let mut estimated: Vec<Estimated> = others.into_iter().map(nothing).collect();
        if found.is_empty() {
            return estimated;
        }
        let first = links_of.of(url);
        let new = &new[new.partition_point(|link| link.to < url)..];
        let new = new.iter().take_while(|link| link.to == url).copied();
        let new: Vec<InLink> = new.take(LINKS).map(InLink::from).collect();
        // New links that count are among the first.
        let goes_on = found.iter().all(|&at| self.evidence_of(url, at).is_some());
        let links = if goes_on { &new } else { first };
        let asked = |at: QueryId| &self.queries[at.index()].asked;
        let words = found.iter().flat_map(|&at| asked(at).terms.iter().copied());
        let parents = PageTerms::new(source.features.scorer, links, words);
        let first = if goes_on { Vec::new() } else { parents.placed(first) };
        let new = parents.placed(&new);
        for at in found {
            let asked = asked(at);
            let mut maker = source.maker(asked, at);
            let scores = parents.of_query(&asked.terms);
            let known = self.evidence_of(url, at);
            let links = if known.is_some() { &new } else { &first };
            let mut evidence = known.cloned().unwrap_or_default();
            maker.gather(&mut evidence, url, links.iter().copied(), &scores);
            let candidate = maker.candidate_of(url, self.is_linked(at, url), &evidence, &scores);
            let row = |candidate| PairRow::of(&candidate, at, asked.mass, Some(model));
            let (pair, evidence) = (candidate.map(row), (!self.once).then(|| Box::new(evidence)));
            estimated.push(Estimated { url, query: at, pair, evidence });
        }
        estimated
    }

    /// Whether an answer of a query links to a URL.
    fn is_linked(&self, query: QueryId, url: UrlId) -> bool {
        self.queries[query.index()].linked.binary_search(&url).is_ok()
    }

    /// What the links say that were taken in of a pair that was looked at.
    fn evidence_of(&self, url: UrlId, query: QueryId) -> Option<&LinkEvidence> {
        let of_url = self.evidence.get(url.index())?;
        let at = of_url.binary_search_by_key(&query, |(query, _)| *query).ok()?;
        Some(&of_url[at].1)
    }

    /// Puts what links say of pairs in the place of what was there, and notes what became of the pairs.
    fn take_in(&mut self, estimated: Vec<Vec<Estimated>>, changes: &mut Vec<Change>) {
        for Estimated { url, query, pair, evidence } in estimated.into_iter().flatten() {
            if let Some(known) = self.evidence.get_mut(url.index()) {
                replace(known, query, evidence.map(|of| (query, *of)), |of| of.0);
            }
            changes.push((url, query, pair));
        }
    }

    /// Puts pairs, by URL, in the place of what was there.
    fn change(&mut self, changes: &[Change], model: &ScoreModel) {
        let by_url = Arc::make_mut(&mut self.by_url);
        let mut rows = Vec::new();
        for of_url in changes.chunk_by(|a, b| a.0 == b.0) {
            let url = of_url[0].0;
            rows.clear();
            rows.extend_from_slice(by_url.rows_of(url));
            for &(_, query, new) in of_url {
                let of_query = &mut self.queries[query.index()];
                let place = rows.binary_search_by_key(&query, |row| row.query());
                for (row, sign) in [(place.ok().map(|at| rows[at]), -1.0), (new, 1.0)] {
                    if let Some(row) = row {
                        of_query.counts[row.bin()] += sign * model.weight(row.matches());
                        of_query.is_stale = true;
                    }
                }
                replace(&mut rows, query, new, |row| row.query());
            }
            by_url.put(url, &rows);
        }
        by_url.tidy();
    }

    /// Brings the chances of queries up to date whose candidates or lists have changed.
    fn refresh_chances(&mut self, input: &CrawlView<'_>, model: &ScoreModel) {
        let highest = input.scorer.bm25().k1 + 1.0;
        let places = input.served.places();
        let lists = self.queries.par_iter_mut().zip(&input.served.lists);
        let chances = lists.map(|(query, list)| {
            query.follow_list(list);
            let is_stale = std::mem::take(&mut query.is_stale);
            is_stale.then(|| model.chances_by_bin(&query.served, &query.counts, places, highest))
        });
        let chances: Vec<Option<Vec<f64>>> = chances.collect();
        let by_url = Arc::make_mut(&mut self.by_url);
        for (at, chances) in chances.iter().enumerate() {
            if let Some(chances) = chances {
                by_url.set_chances(at, chances);
            }
        }
    }
}

/// URLs of the frontier that these pages link to, ascending.
fn linked_to(answers: &[Answer], known: &Known, horizon: &FrontierHorizon<'_>) -> Vec<UrlId> {
    let spans = answers.iter().map(|&(_, first, seq)| AnswerSpan::now(first, seq));
    candidates(known, &spans.collect::<Vec<_>>(), horizon)
}

/// Puts what is known of a query in the place of what was, in a list by query.
fn replace<T>(list: &mut Vec<T>, query: QueryId, new: Option<T>, query_of: fn(&T) -> QueryId) {
    match (list.binary_search_by_key(&query, query_of), new) {
        (Ok(at), Some(new)) => list[at] = new,
        (Ok(at), None) => drop(list.remove(at)),
        (Err(at), Some(new)) => list.insert(at, new),
        (Err(_), None) => (),
    }
}

impl KeptQuery {
    /// Of a query of which nothing is known yet.
    fn new(asked: EpochQuery, bins: usize) -> Self {
        let (answers, linked, served) = (Vec::new(), Vec::new(), Vec::new());
        Self { asked, answers, linked, served, counts: vec![0.0; bins], is_stale: true }
    }

    /// Takes in what its list is now.
    fn follow_list(&mut self, list: &[(UrlId, f64)]) {
        let mass = self.asked.mass;
        let scores = || list.iter().map(|(_, score)| score / mass);
        if !scores().eq(self.served.iter().copied()) {
            self.served = scores().collect();
            self.is_stale = true;
        }
    }

    /// Takes in new pages; URLs that became candidates by a link from an answer, or no longer are.
    fn follow_answers(
        &mut self,
        known: &Known,
        new: Vec<Contender>,
        horizon: &FrontierHorizon<'_>,
    ) -> Vec<UrlId> {
        let mut is_new = false;
        for Contender { first, seq, score, .. } in new {
            let before =
                |other: &Answer| other.0.total_cmp(&score).then(first.cmp(&other.1)).is_gt();
            let at = self.answers.partition_point(before);
            if at < ANSWERS {
                self.answers.insert(at, (score, first, seq));
                self.answers.truncate(ANSWERS);
                is_new = true;
            }
        }
        if !is_new {
            return Vec::new();
        }
        let linked = linked_to(&self.answers, known, horizon);
        let old = std::mem::replace(&mut self.linked, linked);
        [without(&old, &self.linked), without(&self.linked, &old)].concat()
    }
}

/// URLs less some others, which are ascending.
fn without(urls: &[UrlId], others: &[UrlId]) -> Vec<UrlId> {
    urls.iter().copied().filter(|url| others.binary_search(url).is_err()).collect()
}
