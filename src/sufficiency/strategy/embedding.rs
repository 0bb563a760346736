//! Nearness in meaning: how close the nearest page lies to the wordings of a query, by the vectors of a sentence
//! embedding model (the embedding strategy of crawl4ai, as METHODS, section 4, makes it definite).
//!
//! A page is its title. Of a query, some wordings are planned for and some may be held out; the query itself is
//! always planned for.
//!
//! | figure | |
//! |---|---|
//! | coverage, which is the sufficiency | mean over the planned wordings of the best cosine to a page |
//! | gap | 1 - coverage |
//! | confidence | mean over the planned wordings of `exp(-3 d / 0.2)` at a distance d = 1 - best cosine of at most 0.2, else 0 |
//! | learned | how much the coverage has grown with the last window of pages, as a share of what it was |
//! | `held_out` | mean over the held-out wordings of the best cosine |
//!
//! Where a text has no vector, its cosines are 0. The time is that of wordings times distinct titles: a billion
//! products of numbers take a tenth of a second on two cores.

use std::collections::{BTreeMap, HashMap};

use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use prospect_index::url_table::UrlTable;
use prospect_index::vectors::{Vector, VectorTable};
use rayon::prelude::*;
use serde::Serialize;

use super::{Judgement, Needs, ScoredLink, StrategyKind, SufficiencyStrategy};
use crate::workload::Query;

/// See the module.
pub(super) const KIND: StrategyKind = StrategyKind {
    name: "embedding",
    about: "nearness in meaning: the best cosine of a query's wordings to a title",
    needs: Needs::EmbeddingModel,
};

/// Steepness of the confidence (`k_exp` of the source).
const STEEPNESS: f64 = 3.0;
/// Distance beyond which a page gives no confidence (`coverage_radius` of the source).
const RADIUS: f64 = 0.2;
/// Growth of the coverage with a window of pages below which nothing is learned any more.
const LEARNED: f64 = 0.1;
/// Mean cosine of held-out wordings above which what was learned holds for them.
const HELD_OUT: f64 = 0.3;
/// Mean coverage below which the pages are off topic.
const RELEVANT: f64 = 0.1;
/// Links whose nearness to pages is looked up at a time.
const LINKS_AT_ONCE: usize = 256;
/// Links that are looked at, those that lead most along the gaps: the best of all may lie behind them where all of these
/// lie near pages.
const LINKS_LOOKED_AT: usize = 4_096;

/// The best cosines of wordings to pages, as pages come.
#[derive(Clone)]
pub(crate) struct NearestPage<'a> {
    pages: &'a VectorTable,
    wordings: Vec<Option<Vector<'a>>>,
    /// By wording; 0 where nothing is nearer than that.
    best: Vec<f64>,
}

impl<'a> NearestPage<'a> {
    /// No page yet. Wordings are rows of their table, [`NONE`] where they have no vector.
    pub(crate) fn new(
        pages: &'a VectorTable,
        (table, rows): (&'a VectorTable, impl Iterator<Item = u32>),
    ) -> Self {
        let vector = |row: u32| (row != NONE).then(|| table.vector(row));
        let wordings: Vec<Option<Vector<'a>>> = rows.map(vector).collect();
        Self { pages, best: vec![0.0; wordings.len()], wordings }
    }

    /// Takes in pages, given by the rows of their titles; [`NONE`] and repetitions add nothing.
    pub(crate) fn add(&mut self, titles: &[u32]) {
        let mut rows: Vec<u32> = titles.iter().copied().filter(|&row| row != NONE).collect();
        rows.sort_unstable();
        rows.dedup();
        let titles: Vec<Vector<'_>> = rows.into_iter().map(|row| self.pages.vector(row)).collect();
        self.best.par_iter_mut().zip(&self.wordings).for_each(|(best, wording)| {
            if let Some(wording) = wording {
                let found = titles.iter().map(|title| title.cosine(*wording)).fold(0.0, f32::max);
                *best = best.max(f64::from(found));
            }
        });
    }

    /// By wording.
    pub(crate) fn best(&self) -> &[f64] {
        &self.best
    }
}

/// Wordings of a query, as places among all wordings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wordings {
    planned: Vec<usize>,
    held_out: Vec<usize>,
}

/// Texts in the order in which they come first, with their places.
#[derive(Default)]
struct DistinctTexts {
    texts: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl DistinctTexts {
    fn place(&mut self, text: &str) -> usize {
        *self.places.entry(text.to_owned()).or_insert_with(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        })
    }
}

/// The wordings of all queries, each text once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllWordings {
    /// Distinct texts.
    pub(crate) texts: Vec<String>,
    /// By query: which are its own.
    queries: Vec<Wordings>,
}

impl AllWordings {
    /// Of queries with, by place, what else is planned for and what is held out.
    pub(crate) fn new<'t>(
        queries: &[Query],
        others: impl Fn(usize) -> (&'t [String], &'t [String]),
    ) -> Self {
        let mut distinct = DistinctTexts::default();
        let mut all = Vec::with_capacity(queries.len());
        for (at, query) in queries.iter().enumerate() {
            let (planned, held_out) = others(at);
            let planned = std::iter::once(&query.text).chain(planned);
            let planned = planned.map(|text| distinct.place(text)).collect();
            let held_out = held_out.iter().map(|text| distinct.place(text)).collect();
            all.push(Wordings { planned, held_out });
        }
        Self { texts: distinct.texts, queries: all }
    }
}

/// What is known of a frontier's links: rows of what a URL is known by.
pub(crate) struct LinkRows<'a> {
    /// URLs.
    pub(crate) urls: &'a UrlTable,
    /// By URL of the frontier: the rows of its anchors or, without any, of its words.
    pub(crate) rows: Vec<(UrlId, Vec<u32>)>,
}

/// See the module.
pub(crate) struct Embedding<'a> {
    wordings: AllWordings,
    now: NearestPage<'a>,
    /// By wording: the best cosine before the last window.
    before: Vec<f64>,
    links: LinkRows<'a>,
    /// Rows of the pages' titles.
    titles: Vec<u32>,
    /// By row of a link: its best cosine to a page, once somebody asked.
    near: HashMap<u32, f64>,
}

/// A workload, as the vectors have it: means over queries, weighted by frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct EmbeddingSummary {
    /// Mean coverage.
    pub(crate) coverage: f64,
    /// Mean confidence.
    pub(crate) confidence: f64,
    /// How much the mean coverage grew with the last window of pages, as a share of what it was; none before there
    /// was any.
    pub(crate) learned: Option<f64>,
    /// Mean of the held-out wordings; none without any.
    pub(crate) held_out: Option<f64>,
}

impl EmbeddingSummary {
    /// The source's rule: nothing is learned any more, and that holds for wordings that nobody planned for.
    pub(crate) fn has_learned(&self) -> bool {
        let slow = self.learned.is_some_and(|learned| learned < LEARNED);
        slow && self.held_out.is_some_and(|held_out| held_out > HELD_OUT)
    }

    /// Whether the pages are off the queries' topics.
    pub(crate) fn is_irrelevant(&self) -> bool {
        self.coverage < RELEVANT
    }
}

impl<'a> Embedding<'a> {
    /// Of pages by the rows of their titles, those of the last window told apart.
    pub(crate) fn new(
        wordings: AllWordings,
        nearest: NearestPage<'a>,
        (earlier, last): (&[u32], &[u32]),
        links: LinkRows<'a>,
    ) -> Self {
        let (before, titles, near) = (Vec::new(), Vec::new(), HashMap::new());
        let mut own = Self { wordings, now: nearest, before, links, titles, near };
        own.next_window(earlier);
        own.next_window(last);
        own
    }

    /// Takes in another window of pages, by the rows of their titles.
    pub(crate) fn next_window(&mut self, titles: &[u32]) {
        self.before.clone_from(&self.now.best);
        self.now.add(titles);
        self.titles.extend(titles);
        self.near.clear();
    }

    /// The queries as a whole, by their frequencies.
    pub(crate) fn summary(&self, queries: &[Query]) -> EmbeddingSummary {
        let (mut sum, mut askings) = (EmbeddingSummary::default(), 0.0);
        let (mut before, mut held_out, mut held) = (0.0, 0.0, 0.0);
        for (query, own) in queries.iter().zip(&self.wordings.queries) {
            askings += query.frequency;
            sum.coverage += query.frequency * mean(&own.planned, |at| self.now.best[at]);
            sum.confidence += query.frequency * mean(&own.planned, |at| self.confidence(at));
            before += query.frequency * mean(&own.planned, |at| self.before[at]);
            if !own.held_out.is_empty() {
                held_out += query.frequency * mean(&own.held_out, |at| self.now.best[at]);
                held += query.frequency;
            }
        }
        if askings <= 0.0 {
            return sum;
        }
        let learned = (before > 0.0).then(|| (sum.coverage - before) / before);
        EmbeddingSummary {
            coverage: sum.coverage / askings,
            confidence: sum.confidence / askings,
            learned,
            held_out: (held > 0.0).then(|| held_out / held),
        }
    }

    /// The links to follow for all queries together: along their gaps, weighted by frequency, away from what the pages
    /// hold. The best first; ties go by URL.
    pub(crate) fn expansion(&mut self, queries: &[Query], most: usize) -> Vec<ScoredLink> {
        let mut weights = vec![0.0; self.wordings.texts.len()];
        for (query, own) in queries.iter().zip(&self.wordings.queries) {
            for &at in &own.planned {
                weights[at] += query.frequency * (1.0 - self.now.best[at]);
            }
        }
        let weighted: Vec<(usize, f64)> = weights.into_iter().enumerate().collect();
        self.best_links(&weighted, most)
    }

    fn judgement(&self, own: &Wordings) -> Judgement {
        let coverage = mean(&own.planned, |at| self.now.best[at]);
        let before = mean(&own.planned, |at| self.before[at]);
        let mut figures = vec![
            ("coverage", coverage),
            ("gap", 1.0 - coverage),
            ("confidence", mean(&own.planned, |at| self.confidence(at))),
        ];
        if before > 0.0 {
            figures.push(("learned", (coverage - before) / before));
        }
        if !own.held_out.is_empty() {
            figures.push(("held_out", mean(&own.held_out, |at| self.now.best[at])));
        }
        Judgement { sufficiency: coverage, figures }
    }

    fn confidence(&self, wording: usize) -> f64 {
        let distance = 1.0 - self.now.best[wording];
        if distance > RADIUS { 0.0 } else { (-STEEPNESS * distance / RADIUS).exp() }
    }

    /// Finds the nearest pages of rows that were not asked about before.
    fn look_up(&mut self, rows: impl Iterator<Item = u32>) {
        let new: Vec<u32> = rows.filter(|row| !self.near.contains_key(row)).collect();
        let mut nearest = NearestPage::new(self.now.pages, (self.now.pages, new.iter().copied()));
        nearest.add(&self.titles);
        self.near.extend(new.into_iter().zip(nearest.best().iter().copied()));
    }

    /// Links by the sum over wordings of weight times cosine, times one minus the best cosine to a page. The second
    /// factor is at most 1, so links are looked at in the order of the first until no other can be among the best.
    fn best_links(&mut self, wordings: &[(usize, f64)], most: usize) -> Vec<ScoredLink> {
        let pages = self.now.pages;
        let mut direction = vec![0.0; pages.dimension()];
        for &(at, weight) in wordings {
            if let Some(wording) = self.now.wordings[at] {
                wording.add_to(&mut direction, weight);
            }
        }
        let along = |(url, rows): &(UrlId, Vec<u32>)| {
            best_along(pages, rows, &direction).map(|(score, row)| (score, row, *url))
        };
        let mut ranked: Vec<(f64, u32, UrlId)> =
            self.links.rows.par_iter().filter_map(along).collect();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        ranked.truncate(LINKS_LOOKED_AT);
        let mut best: Vec<(f64, UrlId)> = Vec::new();
        for some in ranked.chunks(LINKS_AT_ONCE) {
            let is_out = |least: &(f64, UrlId)| best.len() >= most && least.0 >= some[0].0;
            if most == 0 || best.last().is_some_and(is_out) {
                break;
            }
            self.look_up(some.iter().map(|link| link.1));
            best.extend(some.iter().map(|link| (link.0 * (1.0 - self.near[&link.1]), link.2)));
            let url = |link: &(f64, UrlId)| self.links.urls.url(link.1);
            best.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| url(a).cmp(url(b))));
            best.truncate(most);
        }
        let url = |url: UrlId| self.links.urls.url(url).to_owned();
        best.into_iter().map(|(score, link)| ScoredLink { url: url(link), score }).collect()
    }
}

impl SufficiencyStrategy for Embedding<'_> {
    fn judge(&mut self, places: &[usize]) -> Vec<Option<Judgement>> {
        places.iter().map(|&at| Some(self.judgement(&self.wordings.queries[at]))).collect()
    }

    fn links(&mut self, place: usize, most: usize) -> Vec<ScoredLink> {
        let planned = self.wordings.queries[place].planned.iter();
        let weighted: Vec<(usize, f64)> =
            planned.map(|&at| (at, 1.0 - self.now.best[at])).collect();
        self.best_links(&weighted, most)
    }
}

/// The row that reaches farthest along a direction, behind how far; none where no row points that way.
fn best_along(pages: &VectorTable, rows: &[u32], direction: &[f64]) -> Option<(f64, u32)> {
    let found = rows.iter().filter(|row| **row != NONE);
    let found = found.map(|&row| (pages.vector(row).along(direction), row));
    let best = found.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (best.0 > 0.0).then_some(best)
}

fn mean(places: &[usize], of: impl Fn(usize) -> f64) -> f64 {
    places.iter().map(|&at| of(at)).sum::<f64>() / places.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts by direction, in degrees.
    fn table(angles: &[(&str, f32)]) -> VectorTable {
        let mut table = VectorTable::new(2);
        for (text, degrees) in angles {
            let (sin, cos) = degrees.to_radians().sin_cos();
            table.add(text, &[cos, sin]);
        }
        table
    }

    fn cos(degrees: f64) -> f64 {
        degrees.to_radians().cos()
    }

    const STRINGS: [(&str, f32); 5] =
        [("first", 60.0), ("second", 20.0), ("rye", 5.0), ("same", 20.0), ("far", 90.0)];

    fn query(qid: &str, text: &str, frequency: f64) -> Query {
        Query::new(qid, text, frequency, "")
    }

    /// Two pages, the second of them in the last window, and three links.
    fn checked(check: impl Fn(&mut Embedding<'_>, &[Query])) {
        let strings = table(&STRINGS);
        let asked = table(&[("bread", 0.0), ("loaf", 10.0), ("toast", 30.0)]);
        let queries = [query("a", "bread", 3.0), query("b", "unknown", 1.0)];
        let (planned, held_out) = (["loaf".to_owned()], ["toast".to_owned()]);
        let none: [String; 0] = [];
        let others = |at: usize| -> (&[String], &[String]) {
            if at == 0 { (&planned, &held_out) } else { (&none, &none) }
        };
        let wordings = AllWordings::new(&queries, others);
        assert_eq!(wordings.texts, ["bread", "loaf", "toast", "unknown"]);
        let rows: Vec<u32> = wordings.texts.iter().map(|text| asked.row(text)).collect();
        let nearest = NearestPage::new(&strings, (&asked, rows.into_iter()));
        let mut urls = UrlTable::default();
        let rows = ["far", "same", "rye"].map(|name| {
            let url = format!("https://a.test/{name}");
            (urls.insert(&url, ""), vec![strings.row(name), NONE])
        });
        let links = LinkRows { urls: &urls, rows: rows.into() };
        let titles = (strings.row("first"), strings.row("second"));
        let mut embedding =
            Embedding::new(wordings, nearest, (&[titles.0], &[titles.1, NONE]), links);
        check(&mut embedding, &queries);
    }

    #[test]
    fn the_nearest_page_covers_a_query() {
        checked(|embedding, _| {
            let judged = embedding.judge(&[0, 1]);
            let first = judged[0].as_ref().unwrap();
            let figure = |name: &str| first.figures.iter().find(|own| own.0 == name).unwrap().1;
            let near = |a: f64, b: f64| assert!((a - b).abs() < 0.02, "{a} {b}");
            let coverage = f64::midpoint(cos(20.0), cos(10.0));
            near(first.sufficiency, coverage);
            near(figure("gap"), 1.0 - coverage);
            let confidence = |degrees: f64| (-3.0 * (1.0 - cos(degrees)) / 0.2).exp();
            assert!(figure("confidence") > 0.5 * confidence(10.0));
            let before = f64::midpoint(cos(60.0), cos(50.0));
            near(figure("learned"), (coverage - before) / before);
            near(figure("held_out"), cos(10.0));
            let second = judged[1].as_ref().unwrap();
            assert_eq!(second.sufficiency, 0.0, "it has no vector");
            assert_eq!(
                second.figures.len(),
                3,
                "nothing was there before, and nothing is held out"
            );
        });
    }

    #[test]
    fn a_page_beyond_the_radius_gives_no_confidence() {
        let far = table(&[("page", 40.0)]);
        let asked = table(&[("bread", 0.0)]);
        let queries = [query("a", "bread", 1.0)];
        let nearest = NearestPage::new(&far, (&asked, [0].into_iter()));
        let wordings = AllWordings::new(&queries, |_| (&[], &[]));
        let urls = UrlTable::default();
        let links = LinkRows { urls: &urls, rows: Vec::new() };
        let embedding = Embedding::new(wordings, nearest, (&[], &[0]), links);
        let summary = embedding.summary(&queries);
        assert_eq!((summary.confidence, summary.learned, summary.held_out), (0.0, None, None));
        assert!(!summary.has_learned() && !summary.is_irrelevant());
    }

    #[test]
    fn links_go_along_gaps_and_away_from_pages() {
        checked(|embedding, queries| {
            let names = |links: &[ScoredLink]| -> Vec<String> {
                links.iter().map(|link| link.url.replace("https://a.test/", "")).collect()
            };
            // "same" lies where a page is, and "far" at a right angle to the query.
            let links = embedding.links(0, 5);
            assert_eq!(names(&links)[..2], ["rye", "far"]);
            assert!(links.last().unwrap().score.abs() < 1e-3);
            assert_eq!(names(&embedding.links(0, 1)), ["rye"]);
            assert!(embedding.links(0, 0).is_empty());
            assert_eq!(names(&embedding.expansion(queries, 1)), ["rye"]);
            assert!(embedding.links(1, 5).is_empty(), "it has no direction");
        });
    }

    #[test]
    fn enough_is_learned_when_held_out_wordings_agree() {
        let summary = EmbeddingSummary {
            coverage: 0.6,
            confidence: 0.1,
            learned: Some(0.05),
            held_out: Some(0.5),
        };
        assert!(summary.has_learned());
        for other in [
            EmbeddingSummary { learned: Some(0.2), ..summary },
            EmbeddingSummary { learned: None, ..summary },
            EmbeddingSummary { held_out: Some(0.2), ..summary },
            EmbeddingSummary { held_out: None, ..summary },
        ] {
            assert!(!other.has_learned());
        }
        assert!(EmbeddingSummary::default().is_irrelevant());
    }
}
