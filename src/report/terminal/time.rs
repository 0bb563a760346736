//! Crawls against seconds.

use super::{Column, named, rows};
use crate::report::number::{fixed, thousands, with_interval};
use crate::results::time::TimeSummary;

/// Where crawls are looked at, of all marks: at a twelfth, a quarter, half, and the end.
const LOOKS: [usize; 4] = [12, 4, 2, 1];

/// The table of what policies had found when.
pub(super) fn table(time: &TimeSummary, is_judged: bool) -> String {
    let marks = time.seconds.len();
    let looks: Vec<usize> =
        LOOKS.iter().map(|part| marks / part).filter(|at| *at > 0).map(|at| at - 1).collect();
    let what = if is_judged { "relevant judgements" } else { "share of the impact" };
    let decimals = if is_judged { 1 } else { 3 };
    let column = |heading: String, cells: Vec<String>| Column { heading, cells };
    let policies = || time.policies.iter();
    let mut columns = Vec::new();
    for at in looks {
        let cells = policies().map(|policy| {
            let point = &policy.points[at];
            fixed(if is_judged { point.relevant } else { point.impact }, decimals)
        });
        columns.push(column(format!("{} s", short(time.seconds[at])), cells.collect()));
    }
    let last = |policy: &crate::results::time::PolicyTime| policy.points.last().copied();
    let pages = policies().map(|policy| last(policy).unwrap_or_default().pages);
    columns.push(column("pages".into(), pages.map(|pages| thousands(pages as u64)).collect()));
    let batches = policies().map(|policy| fixed(policy.batches, 1));
    columns.push(column("batches".into(), batches.collect()));
    let gain = policies().map(|policy| {
        policy.gain.as_ref().map_or_else(|| "-".to_owned(), |gain| with_interval(gain, decimals))
    });
    columns.push(column("ahead of the baseline".into(), gain.collect()));
    let names = policies().map(|policy| named(&policy.name)).collect();
    format!("against seconds: {what}\n{}", rows(&column("policy".into(), names), &columns))
}

/// A number of seconds with two digits after the point, zeros at the end left out.
pub(super) fn short(seconds: f64) -> String {
    let text = fixed(seconds, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
