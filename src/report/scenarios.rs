//! The table of scenarios that were carried out: a row a scenario.

use super::number::{counted, fixed, thousands, with_interval};
use super::trials::TrialTable;
use crate::results::Interval;
use crate::results::whatif::{WhatIfCheck, WhatIfTrial};

/// The table of a policy.
pub(super) fn table(check: &WhatIfCheck) -> TrialTable {
    TrialTable {
        title: "what-if answers",
        policy: check.policy.clone(),
        caption: caption(check),
        headings: vec!["scenario", "predicted change", "95 % of what comes", "realised change"],
        rows: check.trials.iter().map(row).collect(),
        notes: verdict(check),
    }
}

fn row(trial: &WhatIfTrial) -> (String, Vec<String>) {
    let interval = |(low, high): (f64, f64)| format!("{} to {}", fixed(low, 1), fixed(high, 1));
    let interval = trial.interval.map_or_else(|| "–".to_owned(), interval);
    let cells = vec![fixed(trial.predicted, 1), interval, fixed(trial.realised, 1)];
    (trial.scenario.to_string(), cells)
}

/// What was asked, in a line.
fn caption(check: &WhatIfCheck) -> String {
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
fn verdict(check: &WhatIfCheck) -> Vec<String> {
    let shown = |figure: &Option<Interval>| {
        figure.as_ref().map_or_else(|| "–".to_owned(), |figure| with_interval(figure, 3))
    };
    let correlation = shown(&check.correlation);
    let covered = check.covered.map_or_else(String::new, |covered| {
        format!("; {} % of them within their intervals", fixed(100.0 * covered, 0))
    });
    vec![
        format!("correlation of predicted with realised changes {correlation}{covered}"),
        format!(
            "mean error {}, mean change {}, as shares of the impact without a scenario",
            shown(&check.error),
            fixed(check.size, 3),
        ),
    ]
}
