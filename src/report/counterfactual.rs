//! What tables of counterfactual estimates show, on a terminal as in HTML: a row a batch.

use super::number::{counted, fixed, thousands};
use crate::results::{CalibrationFigures, CounterfactualCheck, CounterfactualFigures};

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

/// How well chances were foreseen on the way there, a line for the best picks and one for the others.
pub(super) fn calibration(check: &CounterfactualCheck) -> [String; 2] {
    let line = |name: &str, figures: CalibrationFigures| {
        let CalibrationFigures { pairs, error, log_loss, base_log_loss } = figures;
        format!(
            "chance to enter: {} of {name}: error {}, log-loss {} (base rate {})",
            counted(pairs, "pair"),
            fixed(error, 4),
            fixed(log_loss, 4),
            fixed(base_log_loss, 4)
        )
    };
    [line("the best picks", check.greedy), line("explored picks", check.explored)]
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
