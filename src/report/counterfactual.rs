//! What tables of counterfactual estimates show, on a terminal as in HTML: a row a batch.

use super::number::{counted, fixed, thousands};
use crate::results::{CounterfactualCheck, CounterfactualFigures};

/// What the cells say.
pub(super) const MEANING: &str = "error in % of the impact, ± half of the 95 % interval (share of draws whose interval is right)";
/// Headings behind the name of the batch.
pub(super) const HEADINGS: [&str; 5] =
    ["shared", "impact", "expected", "inverse propensity", "doubly robust"];

/// What was drawn, in a line.
pub(super) fn caption(check: &CounterfactualCheck) -> String {
    format!(
        "{} of {} out of {} URLs, {} % explored, {} % of the pages fetched",
        counted(check.trials.into(), "draw"),
        thousands(check.batch.into()),
        thousands(check.frontier.into()),
        fixed(check.explore * 100.0, 1),
        fixed(check.fetched_share * 100.0, 0)
    )
}

/// Rows: the batch, and a cell a heading.
pub(super) fn rows(
    check: &CounterfactualCheck,
) -> impl Iterator<Item = (&str, [String; HEADINGS.len()])> {
    let percent = |share: f64| format!("{} %", fixed(share * 100.0, 1));
    let cell = move |figures: CounterfactualFigures| {
        let CounterfactualFigures { bias, half_width, held } = figures;
        format!("{} ±{} ({})", percent(bias), percent(half_width), fixed(held, 2))
    };
    check.targets.iter().map(move |target| {
        let cells = [
            percent(target.shared),
            fixed(target.truth, 1),
            percent(target.expected.bias),
            cell(target.inverse_propensity),
            cell(target.doubly_robust),
        ];
        (target.batch.as_str(), cells)
    })
}
