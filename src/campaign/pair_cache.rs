//! What estimates rest on, as derived structures of the store: the scored pairs of one state of the store,
//! and the models of its statistics epoch.
//!
//! A command that asks about the same pages, outcomes and queries again, with whatever weights,
//! budget or caps, finds the scored pairs there. After another cycle of the same epoch the models are those of the
//! epoch, and of the pairs those are estimated again that it changed; all, where a page was replaced. Everything gives the
//! same plan, to the bit, as a store without it.
//!
//! Pairs lie in a file of their own, which is mapped. After another cycle those that it changed are written beside it,
//! until they are a fourth of all.
//!
//! Costs about 12 bytes of disk a pair and 50 a URL, and 16 a pair more until all pairs are in order; the pairs before stay
//! until those after them are whole.

use std::sync::{Arc, Mutex, PoisonError};

use prospect_index::bm25::{Bm25, ForwardIndex, Scorer};
use prospect_index::derived::{DERIVED, Derived};
use prospect_index::error::StoreError;
use prospect_index::manifest::{Epoch, Manifest};
use prospect_index::page::UrlId;
use prospect_index::storage::{Checksum, FileEntry, Storage};
use serde::{Deserialize, Serialize};

use crate::campaign::derived_cache::{DerivedCache, Lookup};
use crate::campaign::identity::plan_id;
use crate::campaign::kept_planner::KeptPlanner;
use crate::campaign::planned::{Damage, Recomputed};
use crate::campaign::reading::Prepared;
use crate::campaign::{CampaignError, OpenStore};
use crate::estimate::cache::PlannerCache;
use crate::estimate::features::table::learned_names;
use crate::estimate::kept_pairs::{EarlierPairs, KeptState};
use crate::estimate::pair_sort::{PairBytes, PairFiles, WriteRows};
use crate::estimate::parts::Parts;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::settings::{EstimateSettings, ImpactReading};
use crate::estimate::url_parts::SiteLevel;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::settings::PlanSettings;
use crate::sketch::visibility::Visibility;

const PAIRS_VERSION: u32 = 17;
const PAIRS: &str = "basis";
const RUN: &str = "run-";
const MODELS_VERSION: u32 = 11;

/// All that scored pairs depend on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct PairsKey {
    /// What the id of a plan is made from, but for what scored pairs do not depend on.
    plan: String,
    epoch: Epoch,
    /// N and words of the epoch.
    statistics: (u64, u64),
    /// Hash of the indices of its queries.
    queries: String,
    /// Whether only some URLs may be planned, and the hash of their ids.
    is_held: bool,
    within: String,
    /// Records that were taken in, and the hash of the segments that hold them.
    end_seq: u32,
    lineage: String,
    /// Hash of what its models depend on.
    models: String,
}

impl PairsKey {
    /// Whether pairs of this key are those of an earlier time of a store, by the same models, and no page was replaced
    /// since.
    fn is_before(&self, now: &Self, open: &OpenStore) -> bool {
        let end = self.end_seq;
        self.models == now.models
            && end <= now.end_seq
            && self.lineage == open.store.manifest().lineage(end)
            && !open.known.pages.replaced_since(end)
    }
}

/// What is kept of pairs.
#[derive(Serialize, Deserialize)]
struct Stored {
    scored: ScoredPairs,
    /// What to go on from.
    state: Option<KeptState>,
}

/// All that the models of an epoch depend on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ModelsKey {
    /// What they are fitted to.
    features: Vec<String>,
    workload: String,
    settings: EstimateSettings,
    embedding: Option<EmbeddingModel>,
    bm25: Bm25,
    k: usize,
    visibility: Visibility,
    epoch: Epoch,
    lineage: String,
    /// Hash of the pages of the epoch that were not replaced since: what the others knew of each other
    /// is gone.
    pages: String,
    statistics: (u64, u64),
    site_level: Option<SiteLevel>,
    /// Hash of the quality that was expected of crawled pages.
    quality: String,
}

/// Scored pairs, and what was recomputed for them.
pub(super) struct Made {
    pub(super) scored: ScoredPairs,
    /// With its models.
    pub(super) cache: PlannerCache,
    pub(super) recomputed: Recomputed,
    pub(super) damaged: Vec<Damage>,
}

/// The scored pairs of a store for queries of the workload, given as indices. `within` tells by URL id what
/// may be planned; empty for all.
///
/// # Errors
/// An index cannot be read, a model cannot be fitted, or a write failed.
pub(super) fn load(
    open: &OpenStore,
    prepared: &Prepared<'_>,
    within: &[bool],
    queries: &[usize],
    settings: &PlanSettings,
) -> Result<Made, CampaignError> {
    let (known, manifest) = (&open.known, open.store.manifest());
    let all = &prepared.workload.queries;
    let mut cache = PlannerCache::default();
    cache.update(known, manifest, all.len());
    let models = DerivedCache::new(&open.store, "models", MODELS_VERSION);
    let models_key = models_key(open, prepared, &cache, settings);
    let fits = |found: &ModelsKey| *found == models_key;
    let mut damaged = Vec::new();
    match models.take(fits) {
        Lookup::Whole(_, kept) => cache.models = Some(Arc::new(kept)),
        Lookup::Damaged(what) => damaged.push(Damage { name: "models", what }),
        Lookup::Unfit | Lookup::Missing => (),
    }
    let had_models = cache.models.is_some();
    log::debug!(
        "models of the epoch looked for: {}",
        if had_models { "there" } else { "not there" }
    );
    // The score tree is fitted to the queries, with every scored pairs.
    let reads_models = settings.estimate.reading == ImpactReading::Learned;
    let kept = DerivedCache::new(&open.store, PAIRS, PAIRS_VERSION);
    let key = pairs_key(open, prepared, within, queries, (settings, &models_key))?;
    let keeps = KeptPlanner::can_keep(settings);
    let is_earlier = |found: &PairsKey| keeps && found.is_before(&key, open);
    let files = Arc::new(StoredPairs::new(open, &key)?);
    let mut earlier = None;
    // Without the models it was made by, new queries could not be set beside it.
    if had_models || !reads_models {
        let found = kept.take_with(|found| *found == key || is_earlier(found));
        match found.and_then(|(stored, rows)| files.with_rows(stored, rows)) {
            Lookup::Whole(found, Stored { scored, .. }) if found == key => {
                return Ok(Made { scored, cache, recomputed: Recomputed::Nothing, damaged });
            }
            Lookup::Whole(_, Stored { scored, state }) => {
                let of = |state| EarlierPairs { state, pairs: scored.into_pairs() };
                earlier = state.map(of);
            }
            Lookup::Damaged(what) => damaged.push(Damage { name: "candidate pairs", what }),
            Lookup::Unfit | Lookup::Missing => (),
        }
    }
    let scorer;
    log::debug!(
        "pairs of an earlier plan looked for: {}",
        if earlier.is_some() { "there" } else { "not there" }
    );
    let mut input = prepared.input(within)?;
    if earlier.is_some() {
        let forward = ForwardIndex::build(&open.text, prepared.workload.words())?;
        let end = prepared.epoch.end_seq;
        scorer = Scorer::with_forward(&open.text, settings.bm25, end, &forward, None)?;
        input.scorer = &scorer;
        log::debug!("words of pages set out");
    }
    let goes_on = earlier.is_some();
    cache.start_once(all, earlier, files.clone());
    let mut scored = ScoredPairs::new(&input, queries, &mut cache, &settings.estimate, None)?;
    let state = cache.end_once();
    if let Some(made) = cache.models.as_ref().filter(|_| !had_models) {
        models.put(&models_key, &**made)?;
    }
    scored.settle(&*files)?;
    let stored = Stored { scored, state };
    kept.put_with(&key, &stored, files.entry())?;
    log::debug!("pairs kept in the store");
    let recomputed = match (goes_on, had_models) {
        (true, _) => Recomputed::Changes,
        (false, true) => Recomputed::Pairs,
        (false, false) => Recomputed::All,
    };
    let scored = stored.scored;
    Ok(Made { scored, cache, recomputed, damaged })
}

/// Files of pairs in the folder of a store.
struct StoredPairs {
    storage: Storage,
    manifest: Manifest,
    /// Name of the rows of a key: those that the state names stay until it names others.
    name: String,
    /// That with the rows, if there is one.
    rows: Mutex<Option<FileEntry>>,
}

impl StoredPairs {
    fn new(open: &OpenStore, key: &PairsKey) -> Result<Self, CampaignError> {
        let (storage, manifest) = (open.store.storage().clone(), open.store.manifest().clone());
        let key = Checksum::of(&serde_json::to_vec(key)?);
        let name = format!("rows-{:06}-{key}.bin", manifest.generation);
        Ok(Self { storage, manifest, name, rows: Mutex::default() })
    }

    /// Removes runs, those of a plan that was killed among them, as far as that is possible.
    fn remove_runs(&self) {
        let folder = format!("{DERIVED}/{PAIRS}");
        for name in self.storage.list(&folder).unwrap_or_default() {
            if name.starts_with(RUN) {
                let _ = self.storage.remove(&format!("{folder}/{name}"));
            }
        }
    }

    fn derived(&self) -> Derived<'_> {
        Derived::new(&self.storage, &self.manifest, PAIRS, PAIRS_VERSION)
    }

    fn entry(&self) -> Option<FileEntry> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stored pairs with the rows of their file, if they have one.
    fn with_rows(
        &self,
        Stored { scored, state }: Stored,
        entry: Option<FileEntry>,
    ) -> Result<Stored, String> {
        let filed = entry.as_ref().map(|entry| self.mapped(entry)).transpose();
        let scored = scored.with_file(filed.map_err(|error| error.to_string())?)?;
        self.keep(entry);
        Ok(Stored { scored, state })
    }

    fn keep(&self, rows: Option<FileEntry>) {
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = rows;
    }

    fn mapped(&self, file: &FileEntry) -> Result<PairBytes, StoreError> {
        Ok(PairBytes::new(self.derived().map(file)?))
    }
}

impl PairFiles for StoredPairs {
    fn run(&self, number: usize, bytes: &[u8]) -> Result<PairBytes, StoreError> {
        if number == 0 {
            self.remove_runs();
        }
        let name = format!("{RUN}{number}.tmp");
        self.mapped(&self.derived().write(&name, |out| out.write_all(bytes))?)
    }

    fn rows(&self, write: &mut WriteRows<'_>) -> Result<PairBytes, StoreError> {
        let entry = self.derived().write(&self.name, write)?;
        self.remove_runs();
        let rows = self.mapped(&entry)?;
        self.keep(Some(entry));
        Ok(rows)
    }
}

/// Whoever fails leaves no run behind.
impl Drop for StoredPairs {
    fn drop(&mut self) {
        self.remove_runs();
    }
}

fn pairs_key(
    open: &OpenStore,
    prepared: &Prepared<'_>,
    within: &[bool],
    queries: &[usize],
    (settings, models): (&PlanSettings, &ModelsKey),
) -> Result<PairsKey, CampaignError> {
    let PlanSettings { selection, .. } = PlanSettings::new(0);
    let estimate = unweighed(settings);
    let plain = PlanSettings { estimate, selection, needy: None, within: None, ..settings.clone() };
    let mut asked = Checksum::default();
    for at in queries {
        asked.update(&(*at as u32).to_le_bytes());
    }
    let mut planned = Checksum::default();
    let may = |url: &UrlId| within.get(url.index()) == Some(&true);
    for url in open.known.urls.ids().filter(|url| may(url) && open.known.pages.in_frontier(*url)) {
        planned.update(&url.0.to_le_bytes());
    }
    let mut of_models = Checksum::default();
    of_models.update(&serde_json::to_vec(models)?);
    let end_seq = open.store.manifest().next_seq;
    Ok(PairsKey {
        plan: plan_id(open, &prepared.workload, &plain, &[])?,
        epoch: prepared.epoch,
        statistics: statistics(prepared),
        queries: asked.finish(),
        is_held: !within.is_empty(),
        within: planned.finish(),
        end_seq,
        lineage: open.store.manifest().lineage(end_seq),
        models: of_models.finish(),
    })
}

fn models_key(
    open: &OpenStore,
    prepared: &Prepared<'_>,
    cache: &PlannerCache,
    settings: &PlanSettings,
) -> ModelsKey {
    let end = prepared.epoch.end_seq;
    let mut pages = Checksum::default();
    // Of a page that was fetched again since, the links that its versions share are learned from still.
    for (first, url) in open.known.pages.discovered().take_while(|(first, _)| *first < end) {
        pages.update(&first.to_le_bytes());
        pages.update(&open.known.pages.page_seq(url).unwrap_or(first).to_le_bytes());
    }
    let mut quality = Checksum::default();
    for seq in 0..end {
        let expected = cache.past_quality(seq).unwrap_or(f64::NAN);
        quality.update(&expected.to_bits().to_le_bytes());
    }
    ModelsKey {
        features: learned_names(),
        workload: prepared.workload.fingerprint(),
        settings: unweighed(settings),
        embedding: settings.embedding.clone(),
        bm25: settings.bm25,
        k: settings.k,
        visibility: settings.visibility,
        epoch: prepared.epoch,
        lineage: open.store.manifest().lineage(end),
        pages: pages.finish(),
        statistics: statistics(prepared),
        site_level: cache.sites.level(),
        quality: quality.finish(),
    }
}

/// Settings without what is applied to scored pairs: weights.
fn unweighed(settings: &PlanSettings) -> EstimateSettings {
    EstimateSettings { weights: Parts::DEFAULT, ..settings.estimate }
}

fn statistics(prepared: &Prepared<'_>) -> (u64, u64) {
    let statistics = prepared.reading.scorer.statistics();
    (statistics.documents, statistics.words)
}
