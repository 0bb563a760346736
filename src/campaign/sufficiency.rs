//! Sufficiency of a store for a workload, now and when its plans were made.
//!
//! What is followed of every query is kept as a derived structure, so that a cycle reads what it
//! changed; texts are read again of the pages of lists that changed. Each plan stores what was found when it was
//! made, but for those of a stream between which the crawl hardly grew.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use prospect_index::bm25::Bm25;
use prospect_index::columns::Column;
use prospect_index::error::StoreError;
use prospect_index::manifest::{Epoch, Manifest, SegmentKind};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, PageText, for_each_text};
use prospect_index::store::Store;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::derived_cache::{DerivedCache, Lookup};
use super::evidence::anchors;
use super::history::{self, ClosedCycle};
use super::next_batch::NextBatch;
use super::records::{self, each_row};
use super::tables::SUFFICIENCY;
use super::{CampaignError, OpenStore};
use crate::estimate::features::page_ranks::urls_before;
use crate::estimate::settings::ImpactReading;
use crate::plan::explore::Pool;
use crate::planner::cycle::current_epoch;
use crate::planner::expected_impact::askings;
use crate::planner::settings::{Demand, PlanSettings};
use crate::sufficiency::assess::{
    AssessedQueries, CrawledPages, Frontier, Growth, Statistics, WorkloadSufficiency,
};
use crate::sufficiency::compatible::{Compatible, Confidence, Links};
use crate::sufficiency::near_duplicates::{NearDuplicates, Shingles};
use crate::sufficiency::parts::QueryParts;
use crate::sufficiency::track::Tracks;
use crate::sufficiency::validation::{ValidatedQuery, Validation, Variants};
use crate::sufficiency::verdict::{Exhausted, Gain, Saturation, Signals, THETA, gain_floor};
use crate::sufficiency::windows::windows;
use crate::workload::{Query, Workload};

const VERSION: u32 = 4;

/// What kept tracks were made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    workload: String,
    bm25: Bm25,
    epoch: Epoch,
    end_seq: u32,
    lineage: String,
}

impl Key {
    /// Whether this goes on from what was found under another key of the same store.
    fn continues(&self, found: &Self, manifest: &Manifest) -> bool {
        let (end_seq, lineage) = (found.end_seq, manifest.lineage(found.end_seq));
        found.end_seq <= self.end_seq && *found == Self { end_seq, lineage, ..self.clone() }
    }
}

/// What is kept.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    tracks: Tracks,
    /// By query: hash of the list that its redundancy is of, and the redundancy.
    redundancy: Vec<(u64, f64)>,
}

/// How well a store answers a workload.
pub(crate) struct StoreSufficiency {
    /// The queries that are told apart.
    pub(crate) queries: AssessedQueries,
    /// By query: its parts.
    pub(crate) parts: Vec<QueryParts>,
    /// By query: the score of its best page as a share of what no page can exceed.
    pub(crate) best: Vec<f64>,
    /// By query: words that no page holds.
    pub(crate) missing: Vec<Vec<String>>,
    /// How far the impact of new pages has fallen.
    pub(crate) saturation: Option<Saturation>,
    /// How much better the best pages became of late.
    pub(crate) growth: Option<Growth>,
    /// Pages of the store.
    pub(crate) pages: usize,
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
    /// What past plans for these queries are known by: their words, however often each is asked, and as older versions
    /// of this program had it.
    pub(crate) known_by: [String; 3],
    /// Why what was kept is of no use, if it is not.
    pub(crate) rebuilt: Option<String>,
}

impl StoreSufficiency {
    /// Of an open store, by the statistics of the epoch that a plan would have.
    ///
    /// # Errors
    /// The index or a text cannot be read, or what is kept cannot be written.
    pub(crate) fn new(
        open: &OpenStore,
        workload: &Workload,
        bm25: Bm25,
    ) -> Result<Self, CampaignError> {
        let queries = AssessedQueries::new(&workload.in_words_of(&open.known.analyzer));
        let fingerprint = queries.workload.fingerprint();
        let manifest = open.store.manifest();
        let epoch = current_epoch(manifest, &open.known.pages);
        let end_seq = manifest.next_seq;
        let lineage = manifest.lineage(end_seq);
        let key = Key { workload: fingerprint, bm25, epoch, end_seq, lineage };
        let cache = DerivedCache::new(&open.store, "sufficiency", VERSION);
        let kept = cache.take(|found: &Key| key.continues(found, manifest));
        let rebuilt = kept.rebuilt();
        let (earlier, is_kept) = match kept {
            Lookup::Whole(found, kept) => (Some(kept), found.end_seq == end_seq),
            _ => (None, false),
        };
        let (found, kept) = Self::found(open, queries, bm25, earlier)?;
        if !is_kept {
            cache.put(&key, &kept)?;
        }
        log::debug!("sufficiency assessed");
        Ok(Self { rebuilt, ..found })
    }

    /// Going on from what was found of an earlier time, if anything.
    fn found(
        open: &OpenStore,
        queries: AssessedQueries,
        bm25: Bm25,
        earlier: Option<Kept>,
    ) -> Result<(Self, Kept), CampaignError> {
        let (known, manifest) = (&open.known, open.store.manifest());
        let epoch = current_epoch(manifest, &known.pages);
        let windows = windows(known.pages.pages_by_record().map(|(seq, _)| seq));
        let crawled = CrawledPages { pages: &known.pages, urls: &known.urls, windows: &windows };
        let (tracks, redundancy) =
            earlier.map_or((None, Vec::new()), |kept| (Some(kept.tracks), kept.redundancy));
        let statistics = Statistics::new(&open.text, bm25, epoch.end_seq, &queries)?;
        let tracks = statistics.follow(crawled, tracks, manifest.next_seq)?;
        let redundancy = redundancies(open, &tracks, &redundancy)?;
        let shares: Vec<f64> = redundancy.iter().map(|(_, share)| *share).collect();
        let mut parts = statistics.parts(&tracks, crawled, &shares)?;
        let missing = statistics.add_words(&mut parts, manifest.next_seq)?;
        let best = statistics.best(&tracks);
        let saturation = statistics.saturation(&tracks, &windows);
        let growth = statistics.growth(&tracks, &known.pages, &windows);
        drop(statistics);
        let found = Self {
            known_by: [
                queries.workload.words_hash(),
                queries.workload.texts_hash(),
                queries.workload.fingerprint(),
            ],
            queries,
            parts,
            best,
            missing,
            saturation,
            growth,
            pages: known.pages.len(),
            epoch,
            rebuilt: None,
        };
        Ok((found, Kept { tracks, redundancy }))
    }

    /// Compares what is planned for with what is held out of the variants of a workload's queries, and takes the mean
    /// coverage of those that are planned for as the coverage of a query's domain. None without variants.
    ///
    /// # Errors
    /// The index or a text cannot be read.
    pub(crate) fn validate(
        &mut self,
        open: &OpenStore,
        workload: &Workload,
        variants: &[Variants],
        bm25: Bm25,
    ) -> Result<Option<Validation>, CampaignError> {
        let mut all = Variants::planned(variants, workload);
        all.queries.extend(Variants::held_out(variants, workload).queries);
        let (assessed, _) = Self::found(
            open,
            AssessedQueries::new(&all.into_words_of(&open.known.analyzer)),
            bm25,
            None,
        )?;
        let texts = variants.iter().flat_map(|Variants { query, planned, held_out }| {
            std::iter::once(&workload.queries[*query].text).chain(planned).chain(held_out)
        });
        let texts: Vec<Query> = texts
            .map(|text| Query::new("", text, 1.0, "").into_words_of(&open.known.analyzer))
            .collect();
        let mut places = assessed.queries.places_of(&texts).into_iter();
        let mut next = |count: usize| -> Vec<QueryParts> {
            places.by_ref().take(count).flatten().map(|at| assessed.parts[at]).collect()
        };
        let own = self.queries.places_of(&workload.queries);
        let (mut found, mut told) = (Vec::new(), HashSet::new());
        for Variants { query, planned, held_out } in variants {
            let asked = &workload.queries[*query];
            let (planned, held_out) = (next(1 + planned.len()), next(held_out.len()));
            if planned.is_empty() || held_out.is_empty() {
                continue;
            }
            // Where several queries are one, the first tells.
            if let Some(at) = own[*query].filter(|at| told.insert(*at)) {
                let coverage: f64 = planned.iter().map(|parts| parts.coverage).sum();
                self.parts[at].domain_coverage = coverage / planned.len() as f64;
            }
            found.push((asked.frequency, planned, held_out));
        }
        let queries = found.iter().map(|(frequency, planned, held_out)| ValidatedQuery {
            frequency: *frequency,
            planned: planned.iter().collect(),
            held_out: held_out.iter().collect(),
        });
        Ok(Validation::of(&queries.collect::<Vec<_>>()))
    }

    /// The queries, in the order of the parts.
    pub(crate) fn queries(&self) -> &[Query] {
        &self.queries.workload.queries
    }

    /// The workload as a whole.
    pub(crate) fn whole(&self, theta: f64) -> WorkloadSufficiency {
        let parts = self.queries().iter().zip(&self.parts);
        WorkloadSufficiency::of(parts.map(|(query, parts)| (query.frequency, parts)), theta)
    }

    /// By query: pages that the frontier of a batch may still bring into its list, which has `k` places: the chances of
    /// its candidates, summed.
    pub(super) fn candidates(&self, next: &NextBatch<'_>, k: usize) -> Vec<f64> {
        let place_of = self.queries.places_of(next.queries);
        let mut found = vec![0.0; self.parts.len()];
        for pair in next.scored.pairs() {
            if let Some(at) = place_of[pair.query.index()] {
                found[at] += pair.chance;
            }
        }
        found.into_iter().map(|pages| pages.min(k as f64)).collect()
    }
}

/// By query: what it still lacks, where the settings ask for that; else empty.
///
/// # Errors
/// See [`StoreSufficiency::new`].
pub(super) fn lack(
    open: &OpenStore,
    queries: &[Query],
    settings: &PlanSettings,
) -> Result<Vec<f64>, CampaignError> {
    if settings.demand != Demand::Lack {
        return Ok(Vec::new());
    }
    let workload = Workload { queries: queries.to_vec() };
    let found = StoreSufficiency::new(open, &workload, settings.bm25)?;
    Ok(found.queries.lack(queries, &found.parts))
}

/// What a verdict on the crawl rests on, where `theta` is enough and this is the next batch.
///
/// # Errors
/// A segment is damaged.
pub(crate) fn signals(
    open: &OpenStore,
    next: &NextBatch<'_>,
    found: &StoreSufficiency,
    (theta, settings): (f64, &PlanSettings),
) -> Result<Signals, CampaignError> {
    let cycles = history::closed_cycles(&open.store, &open.known.pages, next.places)?;
    let planned = match &found.growth {
        Some(growth) if settings.estimate.reading == ImpactReading::Learned => {
            is_planned(open, &growth.seqs)?
        }
        _ => false,
    };
    Ok(Signals {
        sufficiency: found.whole(theta).sufficiency,
        theta,
        growth: found.growth.as_ref().map(|own| own.left(frontier(open, next, &own.seqs))),
        planned,
        saturation: found.saturation,
        learning: None,
        gain: gain(next, &cycles, found.pages),
        exhausted: exhausted(open, next, settings)?,
    })
}

/// What is exhausted where nothing is planned and nothing is in flight.
fn exhausted(
    open: &OpenStore,
    next: &NextBatch<'_>,
    settings: &PlanSettings,
) -> Result<Option<Exhausted>, CampaignError> {
    if !next.picks.is_empty() || !next.in_flight.is_empty() {
        return Ok(None);
    }
    let (Known { urls, pages, .. }, scope) = (&open.known, settings.scope.compile()?);
    let mut frontier = urls.ids().filter(|id| pages.in_frontier(*id));
    Ok(Some(if frontier.clone().any(|id| next.may_pick(id)) {
        let is_timed = settings.selection.caps.time.seconds.is_some();
        if is_timed { Exhausted::Time } else { Exhausted::Caps }
    } else if settings.within.is_some() {
        Exhausted::List
    } else if frontier.any(|id| !scope.holds(urls, id)) {
        Exhausted::Scope
    } else {
        Exhausted::Frontier
    }))
}

/// What may be fetched: what a batch could have had, and what is in flight beside it. Of what became known by
/// these records, that and what has been fetched.
fn frontier(open: &OpenStore, next: &NextBatch<'_>, seqs: &Range<u32>) -> Frontier {
    let Known { urls, pages, .. } = &open.known;
    let in_flight: HashSet<&UrlId> = next.in_flight.iter().collect();
    let may = |id: &UrlId| !pages.in_frontier(*id) || next.may_pick(*id) || in_flight.contains(id);
    let new = urls_before(&open.known, seqs.start)..urls_before(&open.known, seqs.end);
    let waiting = urls.ids().filter(|id| pages.in_frontier(*id)).filter(&may).count();
    Frontier { waiting, discovered: new.map(|at| UrlId(at as u32)).filter(may).count() }
}

/// Whether the pages that these records brought came by picks of plans, but for a tenth. Of the newest pages those of open
/// plans are none yet.
fn is_planned(open: &OpenStore, seqs: &Range<u32>) -> Result<bool, StoreError> {
    let pages = &open.known.pages;
    let picks = records::reported_picks(&open.store, pages)?;
    let asked: HashMap<u32, UrlId> = pages.redirects().iter().copied().collect();
    let (mut all, mut planned) = (0, 0);
    for (seq, url) in pages.pages_by_record().filter(|(seq, _)| seqs.contains(seq)) {
        all += 1;
        let asked = asked.get(&seq).unwrap_or(&url);
        planned += usize::from(picks.contains(asked) || picks.contains(&url));
    }
    Ok(all > 0 && 10 * planned >= 9 * all)
}

/// What the next batch is expected to bring by new page, beside a tenth of what the first planned pages brought; none where
/// all is fetched again.
fn gain(next: &NextBatch<'_>, cycles: &[ClosedCycle], pages: usize) -> Option<Gain> {
    let expected = next.expected.as_ref()?;
    // What is fetched again brings nothing new.
    let new = next.picks.iter().filter(|pick| pick.pool != Pool::Revisit).count();
    if new == 0 && !next.picks.is_empty() {
        return None;
    }
    let by_page = |impact: f64| if new == 0 { 0.0 } else { impact / new as f64 };
    let alike = cycles.iter().filter(|cycle| cycle.is_for(next.places));
    let askings = askings(next.queries);
    let brought = alike.map(|cycle| (cycle.counts.new_pages(), brought(cycle, askings)));
    Some(Gain {
        per_page: by_page(expected.enters.impact),
        low: by_page(expected.enters.low),
        high: by_page(expected.enters.high),
        floor: gain_floor(brought, pages),
    })
}

/// Impact of the new pages of a cycle, in the unit of queries that are asked so often together: a log of a day is not one
/// of a month.
fn brought(cycle: &ClosedCycle, askings: f64) -> f64 {
    let unit = cycle.askings().filter(|then| *then > 0.0).map_or(1.0, |then| askings / then);
    unit * cycle.enters.realised.unwrap_or(0.0)
}

/// What the source's shipped code says of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CompatibleQuery {
    /// Its confidence.
    pub(crate) confidence: Confidence,
    /// The link it would follow next.
    pub(crate) best_link: Option<BestLink>,
}

/// A link that would be followed next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BestLink {
    /// Where it leads.
    pub(crate) url: String,
    /// Its score.
    pub(crate) score: f64,
}

/// What the source's shipped code says of every query, over the current pages of a store in the order of their fetch
/// and the anchors of what can be fetched; and whether its consistency is of a draw of pairs.
///
/// # Errors
/// A text cannot be read.
pub(crate) fn compatible(
    open: &OpenStore,
    queries: &AssessedQueries,
) -> Result<(Vec<CompatibleQuery>, bool), CampaignError> {
    let (mut state, known) = (Compatible::default(), &open.known);
    for_each_text(open.store.storage(), open.store.manifest(), 0, |pages| {
        let is_current = |page: &&PageText| known.pages.page_seq(page.url) == Some(page.seq);
        pages.iter().filter(is_current).for_each(|page| state.add(&page.title, &page.text));
        Ok(())
    })?;
    let mut links = Links::default();
    let waiting: Vec<UrlId> =
        known.urls.ids().filter(|url| known.pages.in_frontier(*url)).collect();
    for url in &waiting {
        links.add(&state, &anchors(known, *url));
    }
    let shared = state.of_pages();
    let told = queries.workload.queries.par_iter().map(|query| CompatibleQuery {
        confidence: state.confidence(&query.text, shared),
        best_link: links.best(&query.text).map(|(link, score)| {
            let url = known.urls.url(waiting[link]).to_owned();
            BestLink { url, score }
        }),
    });
    Ok((told.collect(), state.draws()))
}

/// Redundancy of every query's list; what was found of lists that are still the same is kept.
fn redundancies(
    open: &OpenStore,
    tracks: &Tracks,
    before: &[(u64, f64)],
) -> Result<Vec<(u64, f64)>, StoreError> {
    let pages = &open.known.pages;
    let versions = |at: usize| {
        tracks.list(at).iter().map(|(url, _)| (*url, pages.page_seq(*url).unwrap_or_default()))
    };
    let hashes: Vec<u64> = (0..tracks.len()).map(|at| list_hash(versions(at))).collect();
    let is_same = |at: usize| before.get(at).is_some_and(|(hash, _)| *hash == hashes[at]);
    let wanted: HashMap<u32, UrlId> = (0..tracks.len())
        .filter(|&at| !is_same(at) && tracks.list(at).len() > 1)
        .flat_map(|at| versions(at).map(|(url, seq)| (seq, url)))
        .collect();
    let mut read: Vec<(UrlId, Shingles)> = Vec::with_capacity(wanted.len());
    if let Some(first) = wanted.keys().min() {
        let mut seen = HashSet::new();
        for_each_text(open.store.storage(), open.store.manifest(), *first, |texts| {
            for page in texts.iter().filter(|page| wanted.contains_key(&page.seq)) {
                if seen.insert(page.seq) {
                    read.push((page.url, Shingles::of(&page.title, &page.text)));
                }
            }
            Ok(())
        })?;
    }
    let alike = NearDuplicates::among(read);
    let found = (0..tracks.len()).map(|at| match before.get(at) {
        Some(&kept) if is_same(at) => kept,
        _ => (hashes[at], alike.redundancy(tracks.list(at))),
    });
    Ok(found.collect())
}

/// A hash of a list, given its pages with the records that they are of.
fn list_hash(versions: impl Iterator<Item = (UrlId, u32)>) -> u64 {
    let mut hash = Xxh3::new();
    for (url, seq) in versions {
        hash.update(&url.0.to_le_bytes());
        hash.update(&seq.to_le_bytes());
    }
    hash.digest()
}

/// Sufficiency of a workload when a plan was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PastSufficiency {
    /// The plan.
    pub(crate) plan_id: String,
    /// Fingerprint of the queries that it is of.
    pub(crate) workload: String,
    /// Pages of the store.
    pub(crate) pages: u32,
    /// Number of the statistics epoch.
    pub(crate) epoch: u32,
    /// The workload as a whole, where [`THETA`] is enough.
    #[serde(flatten)]
    pub(crate) whole: WorkloadSufficiency,
    /// How far the impact of new pages had fallen.
    pub(crate) workload_saturation: Option<Saturation>,
}

/// Names of the columns that are numbers, in their order.
const NUMBERS: [&str; 13] = [
    "askings",
    "coverage",
    "words",
    "consistency",
    "saturation",
    "redundancy",
    "domain_coverage",
    "sufficiency",
    "confidence",
    "sufficient_share",
    "workload_saturation",
    "workload_saturation_low",
    "workload_saturation_high",
];

impl PastSufficiency {
    /// What a plan stores.
    pub(super) fn columns(found: &StoreSufficiency, plan_id: &str) -> Vec<Column> {
        let whole = found.whole(THETA);
        let WorkloadSufficiency { queries, askings, parts, .. } = whole;
        let told = found.saturation.unwrap_or(Saturation {
            mean: f64::NAN,
            low: f64::NAN,
            high: f64::NAN,
        });
        let numbers = [
            askings,
            parts.coverage,
            parts.words,
            parts.consistency,
            parts.saturation,
            parts.redundancy,
            parts.domain_coverage,
            whole.sufficiency,
            whole.confidence,
            whole.sufficient_share,
            told.mean,
            told.low,
            told.high,
        ];
        let mut columns = vec![
            Column::Text(vec![plan_id.to_owned()]),
            Column::Text(vec![found.known_by[0].clone()]),
            Column::U32(vec![found.pages as u32]),
            Column::U32(vec![found.epoch.number]),
            Column::U32(vec![queries as u32]),
        ];
        columns.extend(numbers.map(|number| Column::F64(vec![number])));
        columns
    }

    /// Of all plans of a store, the oldest first; plans of older versions have none.
    ///
    /// # Errors
    /// A segment is damaged.
    pub(crate) fn all(store: &Store) -> Result<Vec<Self>, StoreError> {
        let mut names = vec!["plan_id", "workload", "pages", "epoch", "queries"];
        let first = names.len();
        names.extend(NUMBERS);
        let mut found = Vec::new();
        for segment in store.manifest().segments_of(SegmentKind::Sufficiency) {
            each_row(store, segment, SUFFICIENCY, &names, |row| {
                let number = |at: usize| row.number(first + at);
                let parts = QueryParts {
                    coverage: number(1),
                    words: number(2),
                    consistency: number(3),
                    saturation: number(4),
                    redundancy: number(5),
                    domain_coverage: number(6),
                };
                let whole = WorkloadSufficiency {
                    queries: row.id(4) as usize,
                    askings: number(0),
                    parts,
                    sufficiency: number(7),
                    confidence: number(8),
                    sufficient_share: number(9),
                };
                let saturation = Saturation { mean: number(10), low: number(11), high: number(12) };
                found.push(Self {
                    plan_id: row.text(0).to_owned(),
                    workload: row.text(1).to_owned(),
                    pages: row.id(2),
                    epoch: row.id(3),
                    whole,
                    workload_saturation: (!saturation.mean.is_nan()).then_some(saturation),
                });
                Ok(())
            })?;
        }
        Ok(found)
    }
}
