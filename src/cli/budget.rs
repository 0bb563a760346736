//! A budget that is given as a share: of the URLs that may be planned now.

use super::Global;
use super::output::{Failure, say};
use crate::campaign::open_plans::older_plans;
use crate::campaign::plan::{self, Beside};
use crate::campaign::plan_course;
use crate::campaign::planned::Plan;
use crate::campaign::{CampaignError, OpenStore};
use crate::planner::budget_share::BudgetShare;
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// The share of what is written before the percent sign.
pub(super) fn share(percent: &str) -> Result<BudgetShare, Failure> {
    BudgetShare::parse(percent).ok_or_else(|| {
        let error =
            anyhow::anyhow!("--budget is {percent}%; a share lies above 0% and is at most 100%");
        Failure::input(error, "for example --budget 10%, or --budget 1000")
    })
}

/// Plans with a share as the budget. What is in flight of open plans is not planned again and not counted; the same
/// command gives the plan again that was made last, whose budget was a share of what there was before it.
pub(super) fn plan(
    share: BudgetShare,
    (open, workload, within): (&OpenStore, &Workload, &[bool]),
    settings: &mut PlanSettings,
    beside: Beside,
    global: &Global,
) -> Result<Plan, Failure> {
    let (plans, older) = (&open.store.manifest().plans, older_plans(open.store.manifest()));
    if let Some(newest) = plans.last().filter(|_| beside == Beside::Others) {
        let urls = plannable(open, within, settings, older.len())?;
        settings.selection.budget = share.of(urls);
        if plan_course::settings::<PlanSettings>(newest).is_ok_and(|made| made == *settings) {
            let plan = plan::plan(open, workload, within, settings, beside)?;
            if plan.id == newest.id {
                tell(share, urls, global);
                return Ok(plan);
            }
        }
    }
    let urls = plannable(open, within, settings, plans.len())?;
    settings.selection.budget = share.of(urls);
    tell(share, urls, global);
    Ok(plan::plan(open, workload, within, settings, beside)?)
}

fn tell(share: BudgetShare, urls: usize, global: &Global) {
    let (budget, percent) = (share.of(urls), share.percent);
    if urls > 0 {
        let line = format!(
            "a budget of {percent} % is {budget} of the {urls} URLs that may be planned now"
        );
        say(global, &line);
    }
}

/// URLs of the frontier that may be planned beside so many of the oldest open plans.
fn plannable(
    open: &OpenStore,
    within: &[bool],
    settings: &PlanSettings,
    plans: usize,
) -> Result<usize, CampaignError> {
    let plannable = open.plannable(within.to_vec(), &settings.scope, plans)?;
    Ok(open.frontier_within(&plannable.within))
}
