//! A plan on its way into the store, with how well the store answered its queries when it was made.

use prospect_index::manifest::InFlightFor;

use super::plan::{self, PlanRecord};
use super::planned::Plan;
use super::sufficiency::StoreSufficiency;
use super::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// See the module.
pub(crate) struct Proposal {
    /// The plan.
    pub(crate) plan: Plan,
    /// How well the pages answer its queries.
    pub(crate) sufficiency: StoreSufficiency,
}

impl Proposal {
    /// A plan that was made of the store as it is.
    ///
    /// # Errors
    /// See [`StoreSufficiency::new`].
    pub(crate) fn new(
        plan: Plan,
        open: &OpenStore,
        workload: &Workload,
        settings: &PlanSettings,
    ) -> Result<Self, CampaignError> {
        let sufficiency = StoreSufficiency::new(open, workload, settings.bm25)?;
        Ok(Self { plan, sufficiency })
    }

    /// Commits the plan beside those that are open, and tells whether there was one: a batch of nothing is no plan, for
    /// nobody will report of it.
    ///
    /// # Errors
    /// See [`plan::commit`].
    pub(crate) fn commit(
        &self,
        open: &mut OpenStore,
        settings: &PlanSettings,
        in_flight_for: Option<InFlightFor>,
    ) -> Result<bool, CampaignError> {
        if self.plan.choice.batch.picks.is_empty() {
            return Ok(false);
        }
        let record = PlanRecord { sufficiency: Some(&self.sufficiency), ..self.plan.record() };
        plan::commit(open, &record, settings, in_flight_for)?;
        Ok(true)
    }
}
