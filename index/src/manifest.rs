//! The commit point: one JSON file that names every live file of the truth with length and
//! checksum. Replacing it is the commit; what it does not name does not exist.
//!
//! # Versions
//!
//! [`FORMAT`] is raised whenever a program that does not know the change would take something for what it
//! is not: a schema that changed, a kind of segment, a value with a new meaning, a field of the manifest that
//! must not be overlooked. A store of a newer format is refused as newer. `tests/inside/store_schemas.rs` holds
//! every schema and the manifest against `tests/stores/schemas-N.txt`, and fails where one changed and the
//! format did not.
//!
//! Older formats are read as they are; reading changes nothing, and the next commit writes today's format.
//! Files that were there before keep their schema version, which says how they are read:
//!
//! | Format | What it is |
//! |---|---|
//! | 1 | entries of segments have no schema version (it is read as 0): the columns of the file tell |
//! | 2 | each segment has the version of its schema |
//! | 3 | pairs of plans have a chance to stay in lists, and there are segments of what stayed |
//! | 4 | a status of a page may say that robots.txt forbade to ask ([`crate::fetch_outcome::ROBOTS`]) |
//! | 5 | several plans may be open, each with its start and its epoch; the store has a scope, and URLs that somebody named |
//! | 6 | there are digests of what pages said, and a page that comes as it is stored has a record without its text; plans may fetch pages again |
//! | 7 | the scope of the store has rules of spelling |
//! | 8 | plans store how well the pages answered their queries |
//! | 9 | a store may say how its words are made: stems, stop lists, accents |
//! | 10 | an epoch tells how many URLs were known as it began; 0 in earlier ones, whose queries have all candidates |
//! | 11 | workloads of plans tell how many pages their lists had; pairs have no chance to stay, and of what stayed there is only what did |
//! | 12 | closed plans tell the places of the lists that their figures are in (those of earlier ones are taken to be the ones that are asked for); outcomes tell which picks led to a page that was new |
//! | 13 | the scope of the store has hosts and domains; plans may have queues by address |
//! | 14 | files of many commits may be merged: one of plans and outcomes tells which parts of it are those of which; cycles tell whether a stream planned them; plans, pools and outcomes tell what pages lead to, and closed plans what theirs led to; plans, open and closed, whether their chances were learned; status 1002 is of a page that another one has moved to |
//! | 15 | open plans store the list of URLs that they are held to |

mod listed;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::columns::{self, Column, Schema, read_table};
use crate::error::StoreError;
use crate::storage::{Checksum, FileEntry, Storage};
use crate::words::WordOptions;

/// Name of the manifest below the store's root.
pub(crate) const MANIFEST: &str = "MANIFEST.json";
/// Format of the store that this version writes, and the highest it reads.
pub const FORMAT: u32 = 15;

/// Tables of the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Known URLs, in id order.
    Urls,
    /// Fetched pages and failed fetches.
    Pages,
    /// Links that fetched pages show.
    Links,
    /// Texts around links.
    Around,
    /// Picks of a plan.
    Plans,
    /// Everything a plan chose from, with the probabilities of its draw.
    Pools,
    /// Candidate pairs of a plan's picks.
    PlanPairs,
    /// Queries a plan was made for.
    Workloads,
    /// What became of a plan's picks.
    Outcomes,
    /// What became of a plan's candidate pairs.
    PairOutcomes,
    /// What became of a plan's queries.
    QueryOutcomes,
    /// What stayed in lists of a closed cycle's pages.
    Stays,
    /// Quality of fetched pages.
    Quality,
    /// URLs known without a link.
    Seeds,
    /// What fetched pages said, in one number.
    Digests,
    /// Pages that plans have fetched again.
    Revisits,
    /// How well the pages answered the queries of a plan when it was made.
    Sufficiency,
    /// URLs of the list that a plan is held to, as long as it is open.
    Lists,
}

/// The model that scored the pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualityEntry {
    /// Name of the model, for people.
    pub model: String,
    /// Content hash of everything its scores depend on.
    pub fingerprint: String,
    /// Records with a `fetch_seq` below this have been scored, those without a text left out.
    pub end_seq: u32,
}

/// What one commit wrote of a table: an immutable file, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// The table.
    pub kind: SegmentKind,
    /// The file.
    #[serde(flatten)]
    pub file: FileEntry,
    /// Rows.
    pub rows: u64,
    /// Version of its schema; 0 of a file that was written under format 1.
    #[serde(default)]
    pub schema: u32,
    /// The first of its rows, if others are in the file, too.
    #[serde(skip)]
    pub(crate) first_row: Option<u64>,
    /// What it stands for, if its rows are those of earlier files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) merged: Option<Box<Merged>>,
}

/// What hashes of files come to where some were merged: as if they had not been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Merged {
    /// Files of [`LASTING`] tables that it and those that were merged with it stand for; 0 for all but the first of them.
    pub(crate) lasting: usize,
    /// Hash of all files of [`LASTING`] tables up to these.
    pub(crate) basis: String,
    /// Hash of all files of its table up to these.
    pub(crate) of_kind: String,
}

/// The hash of files, and of one more.
fn link(chain: &str, file: &FileEntry) -> String {
    let mut checksum = Checksum::default();
    for text in [chain, &file.file, &file.checksum] {
        checksum.update(text.as_bytes());
    }
    checksum.finish()
}

impl SegmentEntry {
    /// A file as [`crate::columns::TableWriter::finish`] tells of it.
    pub(crate) fn new(kind: SegmentKind, schema: Schema, (file, rows): (FileEntry, u64)) -> Self {
        Self { kind, file, rows, schema: schema.version, first_row: None, merged: None }
    }

    /// Reads columns of its file, which somebody has verified; one call of `take` per row group.
    ///
    /// # Errors
    /// The file was written by a newer version, or see [`read_table`].
    pub(crate) fn read(
        &self,
        storage: &Storage,
        schema: Schema,
        names: &[&str],
        mut take: impl FnMut(Vec<Column>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let path = storage.path(&self.file.file);
        if self.schema > schema.version {
            let (what, found, supported) = ("schema version", self.schema, schema.version);
            return Err(StoreError::NewerFormat { path, what, found, supported });
        }
        let schema = Schema { version: self.schema, ..schema };
        let Some(first) = self.first_row else { return read_table(&path, schema, names, take) };
        let (mut at, rows) = (0, first as usize..(first + self.rows) as usize);
        read_table(&path, schema, names, |mut columns| {
            let group = at..at + columns.first().map_or(0, Column::len);
            at = group.end;
            let (start, end) = (rows.start.max(group.start), rows.end.min(group.end));
            if start >= end {
                return Ok(());
            }
            for column in &mut columns {
                column.keep(start - group.start..end - group.start);
            }
            take(columns)
        })?;
        if at >= rows.end {
            return Ok(());
        }
        Err(StoreError::damaged(
            &path,
            format!("it has {at} rows, of which {} are missing", rows.end),
        ))
    }

    /// All rows of its file.
    pub(crate) fn whole(&self) -> Self {
        Self { first_row: None, ..self.clone() }
    }

    /// Names of the columns that its file has.
    ///
    /// # Errors
    /// The file cannot be read, or is no Parquet file.
    pub fn column_names(&self, storage: &Storage) -> Result<Vec<String>, StoreError> {
        columns::column_names(&storage.path(&self.file.file))
    }
}

/// One committed ingest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestEntry {
    /// Identifies the inputs, so that a command that is run again after its commit changes nothing.
    pub fingerprint: String,
    /// First `fetch_seq` of the ingest.
    pub first_seq: u32,
    /// One past its last `fetch_seq`.
    pub end_seq: u32,
    /// Plans that were open then and that its records name, in the order of their making.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<String>,
}

/// A crawl cycle: a run of `fetch_seq`. Cycles follow each other without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleEntry {
    /// First `fetch_seq` of the cycle.
    pub first_seq: u32,
    /// The plan that it starts with; none for a pseudo-cycle of an ingest without a plan.
    pub plan: Option<String>,
    /// Whether that is one of a stream, which has a plan for each group of records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streamed: bool,
}

/// How long the URLs of a plan are in flight after the last record of it, or after its making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InFlightFor {
    /// Until so many ingests in a row bring no record of it.
    Ingests(u32),
    /// For so many seconds, by the times at which records say that they were fetched.
    Seconds(u64),
}

impl Default for InFlightFor {
    fn default() -> Self {
        Self::Ingests(3)
    }
}

/// A plan whose outcomes are still coming in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPlan {
    /// Content hash of everything the plan depends on.
    pub id: String,
    /// Pages, queries and settings it was made with, as the planner wrote them.
    pub settings: serde_json::Value,
    /// Its segments: picks, pairs and workload.
    pub files: Vec<String>,
    /// The `fetch_seq` of the record that came next when it was made.
    #[serde(default)]
    pub first_seq: u32,
    /// The statistics epoch that it was made in.
    #[serde(default)]
    pub epoch: Epoch,
    /// When it is closed, whatever became of it.
    #[serde(default)]
    pub in_flight_for: InFlightFor,
    /// Whether a stream made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streamed: bool,
    /// Whether its chances to enter lists were learned from outcomes; none of a version that did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chances_learned: Option<bool>,
}

/// A plan that was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPlan {
    /// The plan.
    pub id: String,
    /// The `fetch_seq` of the record that came next when it was made.
    pub first_seq: u32,
    /// The `fetch_seq` of the record that came next when it was closed.
    pub end_seq: u32,
    /// Whether its chances to enter lists were learned from outcomes; none of a version that did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chances_learned: Option<bool>,
    /// The places of the lists that its figures are in, as the planner writes them; null where that is not told.
    #[serde(default)]
    pub places: serde_json::Value,
    /// What its pages led to until the crawl had grown since, as the planner writes it; null while that is not known.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub led_to: serde_json::Value,
}

/// A statistics epoch: N, df and avgdl are those of the pages with `fetch_seq < end_seq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counts from 1; 0 before the first.
    pub number: u32,
    /// One past the last `fetch_seq` it counts.
    pub end_seq: u32,
    /// URLs that were known as it began; 0 in stores of versions that did not count them.
    #[serde(default)]
    pub urls: u32,
}

/// Everything that is committed.
///
/// ```
/// use prospect_index::manifest::Manifest;
///
/// let mut manifest = Manifest::default();
/// manifest.add_cycles(25); // an ingest of 25 records without a plan: ten cycles
/// manifest.next_seq = 25;
/// assert_eq!(manifest.cycles.len(), 10);
/// assert_eq!(manifest.cycle_of(24), 9);
/// assert_eq!(manifest.cycle_start(9), 22);
/// assert_eq!(manifest.cycle_start(10), 25); // the next one
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format number.
    pub format: u32,
    /// Counts commits.
    pub generation: u64,
    /// The `fetch_seq` of the next record.
    pub next_seq: u32,
    /// Known URLs.
    pub urls: u32,
    /// Live files, or parts of them, in commit order.
    #[serde(with = "listed")]
    pub segments: Vec<SegmentEntry>,
    /// Ingests, oldest first.
    pub ingests: Vec<IngestEntry>,
    /// Cycles, oldest first.
    pub cycles: Vec<CycleEntry>,
    /// Open plans, in the order of their making.
    #[serde(default)]
    pub plans: Vec<StoredPlan>,
    /// Which URLs are planned, as the planner wrote it; null for all.
    #[serde(default)]
    pub scope: serde_json::Value,
    /// How words are made.
    #[serde(default, skip_serializing_if = "WordOptions::is_plain")]
    pub words: WordOptions,
    /// The statistics epoch.
    pub epoch: Epoch,
    /// Plans that have been closed.
    pub closed_cycles: u32,
    /// Those of them that were closed since format 5, in their order.
    #[serde(default)]
    pub closed_plans: Vec<ClosedPlan>,
    /// The model that scored the pages, if one did.
    #[serde(default)]
    pub quality: Option<QualityEntry>,
}

/// Tables whose rows stay.
const LASTING: &[SegmentKind] = &[
    SegmentKind::Urls,
    SegmentKind::Pages,
    SegmentKind::Links,
    SegmentKind::Around,
    SegmentKind::Seeds,
    SegmentKind::Digests,
];

/// Whether rows of this table stay.
pub(crate) fn is_lasting(kind: SegmentKind) -> bool {
    LASTING.contains(&kind)
}

/// How many files of [`LASTING`] tables there are among these segments, `most` at most, and the hash of them.
pub(crate) fn lasting_chain(segments: &[SegmentEntry], most: usize) -> (usize, String) {
    let (mut found, mut chain) = (0, String::new());
    for segment in segments.iter().filter(|segment| is_lasting(segment.kind)) {
        if found >= most {
            break;
        }
        match &segment.merged {
            Some(merged) if merged.lasting > 0 => chain.clone_from(&merged.basis),
            Some(_) => {}
            None => chain = link(&chain, &segment.file),
        }
        found += segment.merged.as_ref().map_or(1, |merged| merged.lasting);
    }
    (found, chain)
}

/// The hash of files of one table.
pub(crate) fn chained<'a>(segments: impl Iterator<Item = &'a SegmentEntry>) -> String {
    segments.fold(String::new(), |chain, segment| match &segment.merged {
        Some(merged) => merged.of_kind.clone(),
        None => link(&chain, &segment.file),
    })
}

/// Pseudo-cycles that an ingest without a plan is cut into (METHODS, section 0).
pub(crate) const PSEUDO_CYCLES: u32 = 10;

impl Manifest {
    /// The live files of a table, oldest first.
    pub fn segments_of(&self, kind: SegmentKind) -> impl DoubleEndedIterator<Item = &SegmentEntry> {
        self.segments.iter().filter(move |segment| segment.kind == kind)
    }

    /// The cycle that the record with this `fetch_seq` belongs to.
    pub fn cycle_of(&self, seq: u32) -> u32 {
        self.cycles.partition_point(|cycle| cycle.first_seq <= seq).saturating_sub(1) as u32
    }

    /// First `fetch_seq` of a cycle.
    pub fn cycle_start(&self, cycle: u32) -> u32 {
        self.cycles.get(cycle as usize).map_or(self.next_seq, |cycle| cycle.first_seq)
    }

    /// Hash of the page segments that hold the records below `end_seq`: derived structures keep it
    /// to know that they were built from these very pages.
    pub fn lineage(&self, end_seq: u32) -> String {
        let pages = self.segments_of(SegmentKind::Pages).zip(&self.ingests);
        let before = pages.filter(|(_, ingest)| ingest.end_seq <= end_seq);
        chained(before.map(|(segment, _)| segment))
    }

    /// Hash of the files of a table: the same before and after some of them are merged.
    pub fn chain_of(&self, kind: SegmentKind) -> String {
        chained(self.segments_of(kind))
    }

    /// Live files, each once.
    pub(crate) fn files(&self) -> impl Iterator<Item = &SegmentEntry> {
        let mut known = HashSet::new();
        self.segments.iter().filter(move |segment| {
            segment.first_row.is_none() || known.insert(segment.file.file.as_str())
        })
    }

    /// Hash of all that what is derived from a store is made from: the first `segments` files of [`LASTING`] tables,
    /// how words are made, and the cycles that begin before the record `end_seq`. These only grow, so that two states with
    /// the same hash are the same store, one of them perhaps later. None where the store has not as many.
    pub(crate) fn basis(&self, segments: usize, end_seq: u32) -> Option<String> {
        let (found, chain) = lasting_chain(&self.segments, segments);
        let mut checksum = Checksum::default();
        checksum.update(chain.as_bytes());
        if !self.words.is_plain() {
            checksum.update(self.words.to_string().as_bytes());
        }
        for cycle in self.cycles.iter().take_while(|cycle| cycle.first_seq < end_seq) {
            checksum.update(&cycle.first_seq.to_le_bytes());
        }
        (found == segments && end_seq <= self.next_seq).then(|| checksum.finish())
    }

    /// How many files [`LASTING`] tables have had.
    pub(crate) fn lasting(&self) -> usize {
        lasting_chain(&self.segments, usize::MAX).0
    }

    /// Adds the cycles of an ingest of `records` records: none while a plan is open, whose cycle they belong
    /// to, else [`PSEUDO_CYCLES`] equal parts.
    pub fn add_cycles(&mut self, records: u32) {
        if !self.plans.is_empty() {
            return;
        }
        let parts = PSEUDO_CYCLES.min(records);
        for part in 0..parts {
            let offset = u64::from(records) * u64::from(part) / u64::from(parts);
            let first_seq = self.next_seq + offset as u32;
            self.cycles.push(CycleEntry { first_seq, plan: None, streamed: false });
        }
    }

    /// Reads and verifies the manifest; `None` where there is none.
    ///
    /// # Errors
    /// It is damaged, of a newer format, or cannot be understood.
    pub(crate) fn load(storage: &Storage) -> Result<Option<Self>, StoreError> {
        if !storage.exists(MANIFEST) {
            return Ok(None);
        }
        let path = storage.path(MANIFEST);
        let bytes = storage.read(MANIFEST)?;
        let sealed: Sealed = serde_json::from_slice(&bytes)
            .map_err(|error| StoreError::damaged(&path, error.to_string()))?;
        let found = Checksum::of(sealed.manifest.get().as_bytes());
        if found != sealed.checksum {
            let what = format!("its checksum is {found}, it says {}", sealed.checksum);
            return Err(StoreError::damaged(&path, what));
        }
        // The format is read before the rest, which a newer version may have changed.
        let format: FormatOnly = parse(&path, sealed.manifest.get())?;
        if format.format > FORMAT {
            let (what, found) = ("store format", format.format);
            return Err(StoreError::NewerFormat { path, what, found, supported: FORMAT });
        }
        let mut manifest: Self = parse(&path, sealed.manifest.get())?;
        let OnePlan { plan } = parse(&path, sealed.manifest.get())?;
        manifest.plans.extend(plan.map(|plan| StoredPlan {
            first_seq: manifest.cycles.last().map_or(0, |cycle| cycle.first_seq),
            epoch: manifest.epoch,
            ..plan
        }));
        Ok(Some(manifest))
    }

    /// Commits: writes this manifest as the next generation, which it becomes.
    ///
    /// # Errors
    /// The write failed: the previous commit stands, or this one where only its name could not be made to last.
    pub(crate) fn commit(mut self, storage: &Storage) -> Result<Self, StoreError> {
        self.format = FORMAT;
        self.generation += 1;
        let path = storage.path(MANIFEST);
        let text = |error: serde_json::Error| StoreError::damaged(&path, error.to_string());
        let body = serde_json::to_string(&self).map_err(text)?;
        let checksum = Checksum::of(body.as_bytes());
        let sealed = Sealed { manifest: RawValue::from_string(body).map_err(text)?, checksum };
        storage.write(MANIFEST, &serde_json::to_vec(&sealed).map_err(text)?)?;
        Ok(self)
    }
}

/// Reads text whose checksum is right: what does not fit was written so.
fn parse<'a, T: Deserialize<'a>>(path: &std::path::Path, text: &'a str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Manifest { path: path.to_owned(), what: error.to_string() })
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// The open plan of a store up to format 4, which had one at most.
#[derive(Deserialize)]
struct OnePlan {
    plan: Option<StoredPlan>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    manifest: Box<RawValue>,
    checksum: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ingest_without_a_plan_is_cut_into_ten_pseudo_cycles() {
        let mut manifest = Manifest::default();
        manifest.add_cycles(25);
        manifest.next_seq = 25;
        assert_eq!(manifest.cycles.len(), 10);
        assert_eq!((manifest.cycle_of(0), manifest.cycle_of(24)), (0, 9));
        manifest.add_cycles(3);
        assert_eq!((manifest.cycles.len(), manifest.cycle_of(27)), (13, 12));
    }

    #[test]
    fn a_flipped_bit_or_a_newer_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::create(dir.path()).unwrap();
        let mut manifest = Manifest::default();
        manifest = manifest.commit(&storage).unwrap();
        assert_eq!(Manifest::load(&storage).unwrap(), Some(manifest.clone()));
        let mut bytes = storage.read(MANIFEST).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        storage.write(MANIFEST, &bytes).unwrap();
        assert!(matches!(Manifest::load(&storage), Err(StoreError::Damaged { .. })));

        let body = r#"{"format":99,"unheard":"of"}"#;
        let sealed =
            format!(r#"{{"manifest":{body},"checksum":"{}"}}"#, Checksum::of(body.as_bytes()));
        storage.write(MANIFEST, sealed.as_bytes()).unwrap();
        let error = Manifest::load(&storage).unwrap_err();
        assert!(matches!(error, StoreError::NewerFormat { found: 99, supported: FORMAT, .. }));
    }
}
