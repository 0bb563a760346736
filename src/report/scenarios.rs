//! What tables of scenarios that were carried out show, on a terminal as in HTML: a row a scenario.

use super::number::{counted, fixed, thousands, with_interval};
use crate::results::Interval;
use crate::results::whatif::WhatIfCheck;

/// Headings behind the scenario.
pub(super) const HEADINGS: [&str; 2] = ["predicted change", "realised change"];

/// What was asked, in a line.
pub(super) fn caption(check: &WhatIfCheck) -> String {
    format!(
        "{} after {} % of the pages; batch of {} URLs, impact {} predicted, {} realised",
        counted(check.trials.len() as u64, "scenario"),
        fixed(check.fetched_share * 100.0, 0),
        thousands(check.batch.into()),
        fixed(check.base_predicted, 1),
        fixed(check.base_realised, 1),
    )
}

/// How well changes were foreseen, in two lines.
pub(super) fn verdict(check: &WhatIfCheck) -> [String; 2] {
    let shown = |figure: &Option<Interval>| {
        figure.as_ref().map_or_else(|| "–".to_owned(), |figure| with_interval(figure, 3))
    };
    let correlation = shown(&check.correlation);
    [
        format!("correlation of predicted with realised changes {correlation}"),
        format!(
            "mean error {}, mean change {}, as shares of the impact without a scenario",
            shown(&check.error),
            fixed(check.size, 3),
        ),
    ]
}

/// Rows: the scenario, and a cell a heading.
pub(super) fn rows(
    check: &WhatIfCheck,
) -> impl Iterator<Item = (String, [String; HEADINGS.len()])> {
    check.trials.iter().map(|trial| {
        let cells = [fixed(trial.predicted, 1), fixed(trial.realised, 1)];
        (trial.scenario.to_string(), cells)
    })
}
