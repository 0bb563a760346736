//! The table of counterfactual estimates: a row a batch.

use super::number::{counted, fixed, thousands};
use super::trials::TrialTable;
use crate::results::{
    CalibrationFigures, CounterfactualCheck, CounterfactualFigures, CounterfactualTarget,
};

/// What the cells say.
const MEANING: &str = "error in % of the impact, ± half of the 95 % interval (share of draws whose interval is right)";
/// The table of a policy.
pub(super) fn table(check: &CounterfactualCheck) -> TrialTable {
    let [greedy, explored] = calibration(check);
    TrialTable {
        title: "counterfactual estimates",
        policy: check.policy.clone(),
        caption: caption(check),
        headings: vec![
            "batch",
            "shared",
            "impact",
            "expected",
            "inverse propensity",
            "doubly robust",
        ],
        rows: rows(check),
        notes: vec![MEANING.to_owned(), greedy, explored],
    }
}

/// What was drawn, in a line.
fn caption(check: &CounterfactualCheck) -> String {
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
fn calibration(check: &CounterfactualCheck) -> [String; 2] {
    let best = calibration_line("the best", check.greedy);
    [best, calibration_line("the explored", check.explored)]
}

fn calibration_line(name: &str, figures: CalibrationFigures) -> String {
    let CalibrationFigures { pairs, error, log_loss, base_log_loss } = figures;
    format!(
        "chance to enter: {} of {name}: error {}, log-loss {} (base rate's {})",
        counted(pairs, "pair"),
        fixed(error, 4),
        fixed(log_loss, 4),
        fixed(base_log_loss, 4)
    )
}

fn rows(check: &CounterfactualCheck) -> Vec<(String, Vec<String>)> {
    check.targets.iter().map(row).collect()
}

/// The row of a batch: its name, and its cells.
fn row(target: &CounterfactualTarget) -> (String, Vec<String>) {
    let cells = vec![
        percent(target.shared),
        fixed(target.truth, 1),
        percent(target.expected.bias),
        cell(target.inverse_propensity),
        cell(target.doubly_robust),
    ];
    (target.batch.clone(), cells)
}

fn cell(figures: CounterfactualFigures) -> String {
    let CounterfactualFigures { bias, half_width, held } = figures;
    format!("{} ±{} ({})", percent(bias), percent(half_width), fixed(held, 2))
}

fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 1))
}
