//! Planning beside a crawler that is never idle: what came is taken in, what is over is closed, and as many URLs as are
//! missing are planned beside those in flight, in a store that stays open meanwhile.
//!
//! A round is the ingest, the close and the plan of every other host of the planner, one after the other. What a plan
//! asks for is committed before anybody learns of it, so that a crawl that is interrupted anywhere goes on from the
//! store alone. Not here: where records come from, the clock, and where URLs go.

use std::collections::HashSet;

use prospect_index::bm25::Bm25;
use prospect_index::error::StoreError;
use prospect_index::ingest::{IngestCounts, PreparedPage};
use prospect_index::limits;
use prospect_index::manifest::InFlightFor;
use prospect_index::store::Store;

use super::close::{self, Which};
use super::identity::LastInputs;
use super::kept_planner::KeptPlanner;
use super::left_out::LeftOut;
use super::open_plans::OpenBatch;
use super::plan::{self, Beside, GoingOn, PlanRecord, plan_on};
use super::plannable::Plannable;
use super::sufficiency::StoreSufficiency;
use super::url_list::UrlList;
use super::{CampaignError, OpenStore};
use crate::plan::Pick;
use crate::planner::cycle::EPOCH_GROWTH;
use crate::planner::outcome::CycleOutcome;
use crate::planner::retries::{Retries, WaitCounts};
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// Growth of the crawl from which on it is assessed again, with the next plan: as often as statistics are frozen.
const ASSESSED_AT: f64 = EPOCH_GROWTH;

/// Rounds after which what they wrote is merged into larger files.
const MERGED_AFTER: usize = 64;

/// How plans of a stream are made.
pub(crate) struct Planning {
    /// The queries.
    pub(crate) workload: Workload,
    /// The list that they are held to, if there is one.
    pub(crate) within: Option<UrlList>,
    /// How to plan; the budget is what is missing.
    pub(crate) settings: PlanSettings,
    /// When a plan is over, of which not all was reported.
    pub(crate) in_flight_for: InFlightFor,
}

/// A URL that is to be fetched.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The URL, in the spelling first seen.
    pub(crate) url: String,
    /// Its canonical form, whose host names its queue.
    pub(crate) canonical: String,
    /// Its place in its plan, from 1.
    pub(crate) rank: usize,
    /// What its plan is ordered by.
    pub(crate) estimate: f64,
    /// Its plan.
    pub(crate) plan: String,
}

/// What is asked for, and of how many plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// URLs that nobody reported.
    pub(crate) urls: usize,
    /// Plans that are open.
    pub(crate) plans: usize,
}

/// What came of planning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planned {
    /// In the order of the plan; empty where there is nothing to plan.
    pub(crate) asked: Vec<Asked>,
    /// Whether all of it waits after failed fetches, and is asked for before its time, since nothing else is left.
    pub(crate) is_early: bool,
    /// What waits, where nothing is asked for and nothing is in flight.
    pub(crate) waits: WaitCounts,
}

/// What came of records.
#[derive(Default)]
pub(crate) struct TakenIn {
    /// Records by what they are.
    pub(crate) counts: IngestCounts,
    /// Plans that were over then.
    pub(crate) closed: Vec<CycleOutcome>,
    /// Why small files could not be merged, which changes nothing else.
    pub(crate) not_merged: Option<StoreError>,
}

/// A store that a crawler is planned for while it fetches.
pub(crate) struct Stream {
    /// The store, up to date but for n-grams.
    pub(crate) open: OpenStore,
    /// What the next plan goes on from.
    kept: KeptPlanner,
    /// Whether any records came.
    has_records: bool,
    /// Pages when it was last assessed how well they answer the queries.
    assessed: Option<usize>,
    /// Rounds since files were merged.
    rounds: usize,
}

impl Stream {
    /// Goes on with a store.
    ///
    /// # Errors
    /// A file is damaged, or a derived structure cannot be written.
    pub(crate) fn new(store: Store) -> Result<Self, CampaignError> {
        let open = OpenStore::of(store, limits::BOUNDS.ngram_words)?;
        let kept = KeptPlanner::default();
        Ok(Self { open, kept, has_records: false, assessed: None, rounds: MERGED_AFTER })
    }

    /// Whether not even a URL is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.known.urls.len() == 0
    }

    /// Takes over the plans that are open, which end as this stream says, and gives what is in flight of them: whoever
    /// asked for it may have lost it.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub(crate) fn resume(&mut self, planning: &Planning) -> Result<Vec<Asked>, CampaignError> {
        let in_flight_for = planning.in_flight_for;
        let plans = &self.open.store.manifest().plans;
        if plans.iter().any(|plan| plan.in_flight_for != in_flight_for) {
            self.open.store.commit(|manifest| {
                manifest.plans.iter_mut().for_each(|plan| plan.in_flight_for = in_flight_for);
            })?;
        }
        close::close_plans(&mut self.open, Which::Over, None)?;
        let OpenStore { store, known, .. } = &self.open;
        let batches = OpenBatch::all(store, known)?;
        let asked = batches.iter().flat_map(|batch| {
            batch.in_flight_ranked().map(|(rank, pick)| Asked {
                url: known.urls.spelling(pick.url).to_owned(),
                canonical: known.urls.url(pick.url).to_owned(),
                rank,
                estimate: pick.estimate,
                plan: batch.plan.id.clone(),
            })
        });
        Ok(asked.collect())
    }

    /// What is in flight.
    ///
    /// # Errors
    /// A segment is damaged.
    pub(crate) fn in_flight(&self) -> Result<InFlight, CampaignError> {
        let batches = OpenBatch::all(&self.open.store, &self.open.known)?;
        let urls = batches.iter().map(|batch| batch.in_flight().count()).sum();
        Ok(InFlight { urls, plans: batches.len() })
    }

    /// URLs that are in flight, in canonical form.
    ///
    /// # Errors
    /// A segment is damaged.
    pub(crate) fn urls_in_flight(&self) -> Result<HashSet<&str>, CampaignError> {
        let OpenStore { store, known, .. } = &self.open;
        let batches = OpenBatch::all(store, known)?;
        let urls = batches.iter().flat_map(OpenBatch::in_flight);
        Ok(urls.map(|url| known.urls.url(url)).collect())
    }

    /// Stores records in one commit, and closes the plans that are over. `fingerprint` identifies the records: those
    /// that were the last to be stored before this stream began are not stored again.
    ///
    /// # Errors
    /// The store cannot be read or written; what was committed stays.
    pub(crate) fn take_in(
        self,
        pages: Vec<PreparedPage>,
        fingerprint: &str,
    ) -> Result<(Self, TakenIn), CampaignError> {
        if pages.is_empty() {
            return Ok((self, TakenIn::default()));
        }
        // The same failure may come twice, and counts twice: within a stream, and where it was asked for again since.
        let last = LastInputs::of(self.open.store.manifest());
        let again = last.are(fingerprint)
            && (self.has_records || {
                let in_flight = self.urls_in_flight()?;
                pages.iter().any(|page| in_flight.contains(page.asked()))
            });
        let fingerprint = last.next(fingerprint, again);
        let (mut open, counts) = self.open.after_ingest(pages, &fingerprint)?;
        let Self { mut kept, assessed, mut rounds, .. } = self;
        let closed = close::close_plans(&mut open, Which::Over, Some(&mut kept))?;
        let mut not_merged = None;
        rounds += 1;
        if rounds >= MERGED_AFTER {
            not_merged = open.merge_small_files(0).err();
            rounds = 0;
        }
        Ok((
            Self { open, kept, has_records: true, assessed, rounds },
            TakenIn { counts, closed, not_merged },
        ))
    }

    /// Plans at most so many URLs beside what is in flight, and commits the plan. Where nothing is left but what waits
    /// after failed fetches, that is planned before its time, as every plan does, or nothing, unless `may_be_early`.
    ///
    /// # Errors
    /// The store cannot be read or written, or a model cannot be fitted.
    pub(crate) fn plan(
        &mut self,
        planning: &Planning,
        most: usize,
        may_be_early: bool,
    ) -> Result<Planned, CampaignError> {
        let Planning { workload, within, settings, in_flight_for } = planning;
        if most == 0 {
            return Ok(Planned::default());
        }
        let within = within.as_ref().map_or_else(Vec::new, |list| list.within(&self.open.known));
        let mut settings = settings.clone();
        settings.selection.budget = most;
        let going_on = Some(GoingOn { kept: &mut self.kept, whole_ranking: false });
        let plan = match plan_on(&self.open, workload, &within, &settings, Beside::All, going_on) {
            // Where no page came and no URL is left there is nothing to plan, which is no error here.
            Err(CampaignError::NoPages) => return Ok(Planned::default()),
            made => made?,
        };
        let known = &self.open.known;
        let picks = &plan.choice.batch.picks;
        let is_early = plan.plannable.retries.has_gone_on() && {
            let retries = Retries::new(known, self.open.store.manifest());
            let waits = |pick: &Pick| retries.wait(known, pick.estimate.url).is_some();
            !picks.is_empty() && picks.iter().all(waits)
        };
        // A batch of nothing is no plan, for nobody will report of it.
        if picks.is_empty() || (is_early && !may_be_early) {
            if !plan.plannable.in_flight.is_empty() {
                return Ok(Planned::default());
            }
            let retries = Retries::new(known, self.open.store.manifest());
            let plannable = Plannable { retries, ..plan.plannable };
            let waits = LeftOut::new(known, &settings.scope, &within, &plannable)?.waits;
            return Ok(Planned { waits, ..Planned::default() });
        }
        let sufficiency = self.assessed(workload, settings.bm25)?;
        let record =
            PlanRecord { sufficiency: sufficiency.as_ref(), streamed: true, ..plan.record() };
        plan::commit(&mut self.open, &record, &settings, Some(*in_flight_for))?;
        self.kept.made(&plan);
        let known = &self.open.known;
        let picks = plan.choice.batch.picks.iter().zip(1..);
        let asked = picks.map(|(pick, rank)| Asked {
            url: known.urls.spelling(pick.estimate.url).to_owned(),
            canonical: known.urls.url(pick.estimate.url).to_owned(),
            rank,
            estimate: pick.estimate.estimate,
            plan: plan.id.clone(),
        });
        Ok(Planned { asked: asked.collect(), is_early, ..Planned::default() })
    }

    /// How well the pages answer the queries, where the crawl has grown by [`ASSESSED_AT`] since that was last asked: a
    /// plan of a few URLs says nothing new.
    fn assessed(
        &mut self,
        workload: &Workload,
        bm25: Bm25,
    ) -> Result<Option<StoreSufficiency>, CampaignError> {
        let pages = self.open.known.pages.len();
        let is_due = |before: usize| pages as f64 >= ASSESSED_AT * before as f64;
        if !self.assessed.is_none_or(is_due) {
            return Ok(None);
        }
        self.assessed = Some(pages.max(1));
        StoreSufficiency::new(&self.open, workload, bm25).map(Some)
    }
}
