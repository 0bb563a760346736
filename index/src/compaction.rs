//! Merging small files of a store into larger ones.
//!
//! Every ingest, plan and close writes files of its own, eleven for a cycle: a planner beside a running crawler makes a
//! hundred thousand of them in a day, each to be named, opened and verified by whoever opens the store. Merging changes
//! nothing that is told: rows stay as they are and in their order, and what is known of a state by the hash of
//! its files ([`Manifest::lineage`]) stays the same, so that plans keep their ids, and derived structures what they were
//! made from.
//!
//! Two kinds of tables are merged in two ways:
//!
//! - of *lasting* tables (URLs, pages, links and what belongs to them) the files of neighbouring ingests become one, and
//!   the ingests one;
//! - of plans and outcomes each commit stays a segment of its own, which is a part of a file now, since what was known
//!   before what is asked for. Those of open plans are left alone.
//!
//! The merged files are written beside the old ones and named by one commit; then these are removed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::columns::{Column, Schema, TableWriter};
use crate::derived::marks;
use crate::error::StoreError;
use crate::ingest::ROW_GROUP_BYTES;
use crate::kept_tables::PART_ROWS;
use crate::manifest::{
    InFlightFor, IngestEntry, Manifest, Merged, SegmentEntry, SegmentKind, StoredPlan, chained,
    is_lasting, lasting_chain,
};
use crate::page_store::SCHEMAS;
use crate::store::{Store, verify_segment};

/// Bytes of files that are merged in passing, at most: about a second of work.
const IN_PASSING: u64 = 64 << 20;
/// Fewer neighbours are not merged in passing.
const FEWEST: usize = 4;

/// How much is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As much as there is.
    All,
    /// What is small beside what came before it, so that each row is written again as often as the store doubles, and
    /// nothing large; and that only where there are so many files beside those of open plans.
    InPassing(usize),
}

/// Neighbours that may be merged, with their size.
#[derive(Clone, Debug)]
struct Unit {
    range: Range<usize>,
    size: u64,
}

impl Extent {
    /// Which of these neighbours become one, of this size at most.
    fn runs(self, units: &[Unit], most: u64) -> Vec<Range<usize>> {
        let mut runs: Vec<Unit> = Vec::new();
        for unit in units {
            runs.push(unit.clone());
            while let [.., before, last] = &runs[..] {
                let is_small = self == Self::All || 2 * last.size >= before.size;
                if !is_small || last.size + before.size > most {
                    break;
                }
                let (range, size) = (before.range.start..last.range.end, before.size + last.size);
                runs.truncate(runs.len() - 2);
                runs.push(Unit { range, size });
            }
        }
        let fewest = if self == Self::All { 2 } else { FEWEST };
        runs.into_iter().map(|run| run.range).filter(|range| range.len() >= fewest).collect()
    }
}

impl Store {
    /// Merges files, in one commit; none where nothing is to be merged. `schemas` are those of plans and outcomes. Gives
    /// how many files there were and their bytes, and how many there are now.
    ///
    /// # Errors
    /// A file is damaged, or a write failed; the previous state stands.
    pub fn compact(
        &mut self,
        schemas: &[(SegmentKind, Schema)],
        extent: Extent,
    ) -> Result<[(usize, u64); 2], StoreError> {
        let before = files_and_bytes(self.manifest());
        let open: usize = self.manifest().plans.iter().map(|plan| plan.files.len()).sum();
        if matches!(extent, Extent::InPassing(most) if before.0 < most + open) {
            return Ok([before; 2]);
        }
        let mut next = self.manifest().clone();
        let mut merging = Merging { store: self, written: 0 };
        merging.ingests(&mut next, extent)?;
        for &table in schemas {
            merging.records(&mut next, table, extent)?;
        }
        let now = files_and_bytes(&next);
        if next != *self.manifest() {
            self.commit(|manifest| *manifest = next)?;
            self.remove_orphans()?;
        }
        Ok([before, now])
    }
}

/// Writes merged files, which become live when a commit names them.
struct Merging<'a> {
    store: &'a Store,
    /// Files so far.
    written: usize,
}

impl Merging<'_> {
    /// Merges neighbouring ingests.
    fn ingests(&mut self, next: &mut Manifest, extent: Extent) -> Result<(), StoreError> {
        let ingests = Ingests::new(self.store)?;
        // The last first: places before it stay.
        for run in ingests.runs(extent).into_iter().rev() {
            let at = ingests.starts[run.start].0..ingests.starts[run.end].0;
            let merged = self.lasting(next, at.clone())?;
            let others = next.segments[at.clone()].iter().filter(|one| !is_of_pages(one.kind));
            let others: Vec<SegmentEntry> = others.cloned().collect();
            next.segments.splice(at, merged.into_iter().chain(others));
            let (first, last) = (&next.ingests[run.start], &next.ingests[run.end - 1]);
            let one = IngestEntry {
                fingerprint: last.fingerprint.clone(),
                first_seq: first.first_seq,
                end_seq: last.end_seq,
                // Who asks is open, and is asked for by none of these.
                plans: Vec::new(),
            };
            next.ingests.splice(run, [one]);
        }
        Ok(())
    }

    /// The lasting tables of these segments, a file each.
    fn lasting(
        &mut self,
        manifest: &Manifest,
        at: Range<usize>,
    ) -> Result<Vec<SegmentEntry>, StoreError> {
        let (up_to, range) = (&manifest.segments[..at.end], &manifest.segments[at.clone()]);
        let (mut lasting, _) = lasting_chain(range, usize::MAX);
        let (_, basis) = lasting_chain(up_to, usize::MAX);
        let mut merged = Vec::new();
        for (kind, schema) in SCHEMAS {
            let of_kind = |segment: &&SegmentEntry| segment.kind == kind;
            let entries: Vec<&SegmentEntry> = range.iter().filter(of_kind).collect();
            let entry = match entries[..] {
                [] => continue,
                [one] => one.clone(),
                _ => self.one(kind, schema, &entries)?,
            };
            // The first is that of URLs, which lasts.
            let stands_for = std::mem::take(&mut lasting);
            let (basis, of_kind) = (basis.clone(), chained(up_to.iter().filter(of_kind)));
            let told = Merged { lasting: stands_for, basis, of_kind };
            merged.push(SegmentEntry { merged: Some(Box::new(told)), ..entry });
        }
        Ok(merged)
    }

    /// The rows of files of one table in one file.
    fn one(
        &mut self,
        kind: SegmentKind,
        schema: Schema,
        entries: &[&SegmentEntry],
    ) -> Result<SegmentEntry, StoreError> {
        let mut writer = self.start(schema)?;
        let mut rows: Vec<Column> = Vec::new();
        for entry in entries {
            self.read(entry, schema, |columns| {
                append(&mut rows, columns);
                if rows.iter().map(Column::bytes).sum::<usize>() >= ROW_GROUP_BYTES {
                    writer.write(&std::mem::take(&mut rows))?;
                }
                Ok(())
            })?;
        }
        writer.write(&rows)?;
        Ok(SegmentEntry::new(kind, schema, writer.finish()?))
    }

    /// Puts what commits wrote of a table of plans or outcomes into shared files.
    fn records(
        &mut self,
        next: &mut Manifest,
        (kind, schema): (SegmentKind, Schema),
        extent: Extent,
    ) -> Result<(), StoreError> {
        let open: HashSet<&String> = next.plans.iter().flat_map(|plan| &plan.files).collect();
        let mut files: Vec<Vec<usize>> = Vec::new();
        let mut file_of: HashMap<&str, usize> = HashMap::new();
        for (at, segment) in next.segments.iter().enumerate() {
            let is_of_table = segment.kind == kind && segment.schema == schema.version;
            if !is_of_table || open.contains(&segment.file.file) {
                continue;
            }
            let file = *file_of.entry(&segment.file.file).or_insert_with(|| {
                files.push(Vec::new());
                files.len() - 1
            });
            files[file].push(at);
        }
        let size = |file: &Vec<usize>| file.iter().map(|&at| next.segments[at].rows).sum();
        let unit = |(at, file)| Unit { range: at..at + 1, size: size(file) };
        let units: Vec<Unit> = files.iter().enumerate().map(unit).collect();
        for run in extent.runs(&units, PART_ROWS) {
            let files = &files[run];
            let parts = self.parts(&next.segments, (kind, schema), files)?;
            for (at, part) in files.iter().flatten().zip(parts) {
                next.segments[*at] = part;
            }
        }
        Ok(())
    }

    /// The segments of files, by their places, as parts of one file.
    fn parts(
        &mut self,
        segments: &[SegmentEntry],
        (kind, schema): (SegmentKind, Schema),
        files: &[Vec<usize>],
    ) -> Result<Vec<SegmentEntry>, StoreError> {
        let whole: Vec<SegmentEntry> = files.iter().map(|file| segments[file[0]].whole()).collect();
        let one = self.one(kind, schema, &whole.iter().collect::<Vec<_>>())?;
        let (mut parts, mut before) = (Vec::new(), 0);
        for file in files {
            let of_file = file.iter().map(|&at| &segments[at]);
            parts.extend(of_file.clone().map(|part| SegmentEntry {
                rows: part.rows,
                first_row: Some(before + part.first_row.unwrap_or(0)),
                ..one.clone()
            }));
            before += of_file.map(|part| part.rows).sum::<u64>();
        }
        Ok(parts)
    }

    fn read(
        &self,
        entry: &SegmentEntry,
        schema: Schema,
        take: impl FnMut(Vec<Column>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // Again, whenever it was verified last: what replaces it has a checksum of its own.
        verify_segment(self.store.storage(), entry)?;
        entry.read(self.store.storage(), schema, &schema.names(), take)
    }

    fn start(&mut self, schema: Schema) -> Result<TableWriter, StoreError> {
        let name = self.store.segment_name(schema);
        let name = format!("{}-{}.parquet", name.trim_end_matches(".parquet"), self.written);
        self.written += 1;
        TableWriter::create(self.store.storage(), &name, schema)
    }
}

fn append(rows: &mut Vec<Column>, more: Vec<Column>) {
    if rows.is_empty() {
        *rows = more;
        return;
    }
    rows.iter_mut().zip(more).for_each(|(column, more)| column.append(more));
}

/// Whether the table goes with pages: it lasts, or is of their quality.
fn is_of_pages(kind: SegmentKind) -> bool {
    is_lasting(kind) || kind == SegmentKind::Quality
}

/// Ingests of a store, and which of them may be merged.
struct Ingests<'a> {
    manifest: &'a Manifest,
    /// By ingest and at the end: where what it wrote begins, and how many lasting files there were before.
    starts: Vec<(usize, usize)>,
    marks: Vec<(usize, u32)>,
    /// `fetch_seq` at which pseudo-cycles begin that follow others.
    pseudo: HashSet<u32>,
}

impl<'a> Ingests<'a> {
    fn new(store: &'a Store) -> Result<Self, StoreError> {
        let manifest = store.manifest();
        let mut marks = marks(store.storage(), manifest)?;
        marks.push((0, manifest.epoch.end_seq));
        let all = 0..manifest.segments.len();
        let pages = all.filter(|&at| manifest.segments[at].kind == SegmentKind::Pages);
        // An ingest begins with its URLs, before its pages.
        let begin = pages.map(|at: usize| at.saturating_sub(1));
        let (mut counted, mut lasting, mut starts) = (0, 0, Vec::new());
        for start in begin.chain([manifest.segments.len()]) {
            lasting += lasting_chain(&manifest.segments[counted..start], usize::MAX).0;
            counted = start;
            starts.push((start, lasting));
        }
        let pairs = manifest.cycles.windows(2);
        let pseudo = pairs.filter(|pair| pair.iter().all(|cycle| cycle.plan.is_none()));
        let pseudo = pseudo.map(|pair| pair[1].first_seq).collect();
        Ok(Self { manifest, starts, marks, pseudo })
    }

    fn runs(&self, extent: Extent) -> Vec<Range<usize>> {
        let most = if extent == Extent::All { u64::MAX } else { IN_PASSING };
        let mut runs = Vec::new();
        let mut units: Vec<Unit> = Vec::new();
        for at in 0..self.manifest.ingests.len() {
            if !self.follows(at) {
                runs.extend(extent.runs(&std::mem::take(&mut units), most));
            }
            if self.is_free(at) {
                let written = self.written(at).iter().filter(|one| is_of_pages(one.kind));
                let size = written.map(|segment| segment.file.bytes).sum();
                units.push(Unit { range: at..at + 1, size });
            } else {
                runs.extend(extent.runs(&std::mem::take(&mut units), most));
            }
        }
        runs.extend(extent.runs(&units, most));
        runs
    }

    fn written(&self, at: usize) -> &'a [SegmentEntry] {
        &self.manifest.segments[self.starts[at].0..self.starts[at + 1].0]
    }

    /// Whether an ingest and the one before it may become one: nobody knows a state between them, and they are of one
    /// cycle, or of cycles of plans.
    fn follows(&self, at: usize) -> bool {
        let (ingest, lasting) = (&self.manifest.ingests[at], self.starts[at].1);
        !self.pseudo.contains(&ingest.first_seq)
            && !self.marks.iter().any(|&(files, seq)| files == lasting || seq == ingest.first_seq)
    }

    /// Whether an ingest may be merged with others: it is written as today, nobody knows a state within it, and no open
    /// plan asks when it was.
    fn is_free(&self, at: usize) -> bool {
        let ingest = &self.manifest.ingests[at];
        let written = self.written(at);
        // A state where it begins is not within it.
        let files = self.starts[at].1 + 1..self.starts[at + 1].1;
        let seqs = ingest.first_seq + 1..ingest.end_seq;
        let is_within = |(marked, seq): &(usize, u32)| files.contains(marked) || seqs.contains(seq);
        written.first().is_some_and(|first| first.kind == SegmentKind::Urls)
            && written.iter().all(is_written_as_today)
            && !self.manifest.plans.iter().any(|plan| asks_when(plan, ingest))
            && !self.marks.iter().any(is_within)
    }
}

/// How many files of segments there are, and their bytes.
fn files_and_bytes(manifest: &Manifest) -> (usize, u64) {
    manifest.files().fold((0, 0), |(files, bytes), one| (files + 1, bytes + one.file.bytes))
}

/// Whether a segment of a lasting table has the schema that is written today.
fn is_written_as_today(segment: &SegmentEntry) -> bool {
    let schema = SCHEMAS.iter().find(|(kind, _)| *kind == segment.kind);
    schema.is_none_or(|(_, schema)| segment.schema == schema.version)
}

/// Whether an open plan asks when an ingest was: its records name the plan, or the plan counts the ingests since it was
/// made.
fn asks_when(plan: &StoredPlan, ingest: &IngestEntry) -> bool {
    let counts = matches!(plan.in_flight_for, InFlightFor::Ingests(most) if most < u32::MAX);
    ingest.plans.contains(&plan.id) || (counts && ingest.end_seq > plan.first_seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::ingest_all;
    use crate::manifest::CycleEntry;
    use crate::page::{Outlink, PageRecord, UrlId};
    use crate::store::StoreOptions;
    use crate::text_index::TextIndex;

    fn units(sizes: &[u64]) -> Vec<Unit> {
        let unit = |(at, &size)| Unit { range: at..at + 1, size };
        sizes.iter().enumerate().map(unit).collect()
    }

    /// Where what becomes one of neighbours of these sizes begins and ends.
    fn runs(extent: Extent, sizes: &[u64]) -> Vec<(usize, usize)> {
        let runs = extent.runs(&units(sizes), 1_000);
        runs.iter().map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn in_passing_a_row_is_written_again_as_often_as_the_store_doubles() {
        assert_eq!(runs(Extent::All, &[900, 60, 40, 30]), [(0, 3)]);
        assert_eq!(runs(Extent::All, &[900, 200]), []);
        assert_eq!(runs(Extent::InPassing(0), &[500, 10, 10, 10, 10, 10]), [(1, 6)]);
        assert_eq!(runs(Extent::InPassing(0), &[500, 10, 10, 10]), [], "too few");
        // Sixteen at a time.
        let (mut sizes, mut written) = (Vec::new(), 0);
        for _ in 0..64 {
            sizes.extend([1; 16]);
            for run in Extent::InPassing(0).runs(&units(&sizes), u64::MAX).into_iter().rev() {
                let sum = sizes[run.clone()].iter().sum();
                written += sum;
                sizes.splice(run, [sum]);
            }
        }
        assert!(sizes.len() < 16 && written <= 10 * 1_024, "{sizes:?} {written}");
    }

    fn page(at: usize) -> PageRecord {
        let url = |at: usize| format!("https://a.test/{at}");
        let link = |at: usize| Outlink::from((url(at), ""));
        let (text, outlinks) = (format!("word{at}"), vec![link(at + 1), link(at / 2)]);
        PageRecord { url: url(at), text, outlinks, ..PageRecord::default() }
    }

    /// What a store tells: its URLs, its links and its pages.
    type Told = (Vec<String>, Vec<(UrlId, UrlId)>, Vec<(u32, UrlId)>);

    fn told(store: &Store) -> Told {
        let known = store.known().unwrap();
        let urls = known.urls.ids().map(|id| known.urls.url(id).to_owned()).collect();
        let links = known.links.links_from(0).map(|link| (link.from, link.to)).collect();
        (urls, links, known.pages.crawled().collect())
    }

    fn new_plan(manifest: &Manifest) -> StoredPlan {
        StoredPlan {
            id: "a plan".to_owned(),
            first_seq: manifest.next_seq,
            epoch: manifest.epoch,
            in_flight_for: InFlightFor::Seconds(60),
            ..StoredPlan::default()
        }
    }

    #[test]
    fn what_is_told_stays_and_nobody_who_knows_a_state_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Store::open(dir.path(), &StoreOptions::default()).unwrap();
        for at in 0..30 {
            ingest_all(dir.path(), vec![page(at)], &at.to_string()).unwrap();
            if at == 11 {
                let store = open();
                let known = store.known().unwrap();
                TextIndex::open(store.storage(), store.manifest(), &known.pages).unwrap();
                // One cycle from here on; the ingests before are cycles each.
                let mut store = store;
                store
                    .commit(|manifest| {
                        let (first_seq, plan) = (manifest.next_seq, new_plan(manifest));
                        let id = Some(plan.id.clone());
                        manifest.plans.push(plan);
                        manifest.cycles.push(CycleEntry { first_seq, plan: id, streamed: false });
                    })
                    .unwrap();
            }
        }
        let mut store = open();
        let (before, lineage) = (told(&store), store.manifest().lineage(30));
        let [was, is] = store.compact(&[], Extent::All).unwrap();
        assert!(is.0 < was.0 && told(&store) == before, "{was:?} {is:?}");
        assert_eq!(store.manifest().lineage(30), lineage);
        assert_eq!(store.manifest().lineage(12), open_again(store, dir.path()).lineage(12));
        let store = open();
        let known = store.known().unwrap();
        let (_, refresh) =
            TextIndex::open(store.storage(), store.manifest(), &known.pages).unwrap();
        assert_eq!(
            (refresh.rebuilt, refresh.added),
            (None, 18),
            "the index of twelve pages is known"
        );
        assert!(told(&store) == before);
    }

    #[test]
    fn what_was_damaged_since_it_was_read_is_not_merged() {
        let dir = tempfile::tempdir().unwrap();
        for at in 0..2 {
            ingest_all(dir.path(), vec![page(at)], &at.to_string()).unwrap();
        }
        let mut store = Store::open(dir.path(), &StoreOptions::default()).unwrap();
        // One cycle, so that the ingests may be one.
        store.commit(|manifest| manifest.cycles.truncate(1)).unwrap();
        store.known().unwrap();
        let links = store.manifest().segments_of(SegmentKind::Links).next().unwrap();
        let path = store.storage().path(&links.file.file);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let before = store.manifest().clone();
        assert!(matches!(store.compact(&[], Extent::All), Err(StoreError::Damaged { .. })));
        assert_eq!(*store.manifest(), before);
    }

    fn open_again(store: Store, path: &std::path::Path) -> Manifest {
        drop(store);
        Store::open(path, &StoreOptions::default()).unwrap().manifest().clone()
    }
}
