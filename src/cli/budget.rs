//! A budget that is given as a share: of the URLs that may be planned now.

use prospect_index::page::UrlId;

use super::Global;
use super::output::{Failure, say};
use crate::campaign::plan::{self, Beside, Plan};
use crate::campaign::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// A share of the URLs that may be planned: above 0, at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BudgetShare(f64);

impl BudgetShare {
    /// The share of what is written before the percent sign.
    pub(super) fn parse(percent: &str) -> Result<Self, Failure> {
        let share = percent.trim().parse().map(|percent: f64| percent / 100.0);
        match share {
            Ok(share) if share > 0.0 && share <= 1.0 => Ok(Self(share)),
            _ => {
                let error = anyhow::anyhow!(
                    "--budget is {percent}%; a share lies above 0% and is at most 100%"
                );
                Err(Failure::input(error, "for example --budget 10%, or --budget 1000"))
            }
        }
    }

    /// So much of `urls`, rounded up; a budget is at least one.
    fn of(self, urls: usize) -> usize {
        ((self.0 * urls as f64).ceil() as usize).clamp(1, urls.max(1))
    }

    /// Plans with this share as the budget. What is in flight of open plans is not planned again and not counted; the same
    /// command gives the plan again that was made last, whose budget was a share of what there was before it.
    pub(super) fn plan(
        self,
        (open, workload, within): (&OpenStore, &Workload, &[bool]),
        settings: &mut PlanSettings,
        beside: Beside,
        global: &Global,
    ) -> Result<Plan, Failure> {
        let (plans, older) = (&open.store.manifest().plans, open.store.manifest().older_plans());
        if let Some(newest) = plans.last().filter(|_| beside == Beside::Others) {
            let urls = plannable(open, within, settings, older.len())?;
            settings.selection.budget = self.of(urls);
            if plan::settings::<PlanSettings>(newest).is_ok_and(|made| made == *settings) {
                let plan = plan::plan(open, workload, within, settings, beside)?;
                if plan.id == newest.id {
                    self.tell(urls, global);
                    return Ok(plan);
                }
            }
        }
        let urls = plannable(open, within, settings, plans.len())?;
        settings.selection.budget = self.of(urls);
        self.tell(urls, global);
        Ok(plan::plan(open, workload, within, settings, beside)?)
    }

    fn tell(self, urls: usize, global: &Global) {
        let (budget, percent) = (self.of(urls), 100.0 * self.0);
        if urls > 0 {
            let line = format!(
                "a budget of {percent} % is {budget} of the {urls} URLs that may be planned now"
            );
            say(global, &line);
        }
    }
}

/// URLs of the frontier that may be planned beside so many of the oldest open plans.
fn plannable(
    open: &OpenStore,
    within: &[bool],
    settings: &PlanSettings,
    plans: usize,
) -> Result<usize, CampaignError> {
    let within = open.plannable(within.to_vec(), &settings.scope, plans)?.within;
    let known = &open.known;
    let may = |id: &_| known.pages.in_frontier(*id) && may(&within, *id);
    Ok(known.urls.ids().filter(may).count())
}

/// Whether a list of what may be planned, which is empty if all may, has a URL.
pub(super) fn may(within: &[bool], id: UrlId) -> bool {
    within.get(id.index()).is_none_or(|may| *may)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_and_at_least_one() {
        for (percent, urls, expected) in
            [("10", 263, Some(27)), ("10", 0, Some(1)), ("0.1", 5, Some(1)), ("100", 7, Some(7))]
        {
            assert_eq!(BudgetShare::parse(percent).ok().map(|share| share.of(urls)), expected);
        }
        for percent in ["0", "-1", "101", "NaN", "inf", "", "ten"] {
            assert!(BudgetShare::parse(percent).is_err(), "{percent}");
        }
    }
}
