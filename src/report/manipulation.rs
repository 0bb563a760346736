//! What tables of manipulation show, on a terminal as in HTML: a row a policy and attack, a column
//! a figure.

use super::number::{counted, decimals, thousands};
use crate::results::Interval;
use crate::results::manipulation::{AttackPoint, AttackSummary, AttackedPolicy, Manipulation};

/// A column: heading, and the figure of a row.
pub(super) struct ManipulationColumn {
    pub(super) heading: &'static str,
    pub(super) of: fn(&AttackPoint) -> Option<&Interval>,
}

/// The columns.
pub(super) const FIGURES: [ManipulationColumn; 5] = [
    ManipulationColumn { heading: "picks", of: |point| Some(&point.picks) },
    ManipulationColumn { heading: "frontier", of: |point| Some(&point.frontier) },
    ManipulationColumn { heading: "ratio", of: |point| point.ratio.as_ref() },
    ManipulationColumn { heading: "of its pages", of: |point| Some(&point.owned) },
    ManipulationColumn { heading: "impact lost", of: |point| Some(&point.impact_lost) },
];

/// What the columns mean.
pub(super) const MEANING: &str = "Attacks: the same crawls with an attacker's pages in the \
    collection. Picks: the attacker's share of what the policy picked, seeds left out. Frontier: its \
    share of the pages that had entered the frontier, picked since or not. Ratio: the one by the \
    other; 1 where its pages are as likely to be picked as any that were found. Of its pages: how \
    much of what it owns is fetched; where that is all of it, the earlier checkpoints of \
    summary.json tell more. Impact lost: how much less true impact of honest pages the \
    crawl has than the crawl without attacker has after as many pages; below 0 it has more. Small \
    losses of either sign are chance: one more page changes what a crawl does next.";

/// A row: an attack, a policy, and its figures where tables are read at.
pub(super) type ManipulationRow<'a> =
    (&'a AttackSummary, &'a AttackedPolicy, Option<&'a AttackPoint>);

/// The rows: attack by attack.
pub(super) fn rows(manipulation: &Manipulation) -> Vec<ManipulationRow<'_>> {
    let mut rows = Vec::new();
    for attack in &manipulation.attacks {
        for policy in &attack.policies {
            let read_at = |point: &&AttackPoint| Some(point.pages) == manipulation.read_at;
            rows.push((attack, policy, policy.points.iter().find(read_at)));
        }
    }
    rows
}

/// Decimals of a column.
pub(super) fn places(rows: &[ManipulationRow<'_>], figure: &ManipulationColumn) -> usize {
    let points = rows.iter().filter_map(|(_, _, point)| *point);
    decimals(points.filter_map(figure.of).map(|interval| interval.mean)).min(4)
}

/// When the figures are of.
pub(super) fn as_of(manipulation: &Manipulation) -> String {
    match manipulation.read_at {
        Some(pages) => format!("after {} fetched", counted(pages.into(), "page")),
        None => "no checkpoint that all crawls reached".to_owned(),
    }
}

/// An attack in figures.
pub(super) fn described(attack: &AttackSummary) -> String {
    format!(
        "{} on {}, linked from {} honest ones",
        counted(attack.pages.into(), "page"),
        counted(attack.hosts.into(), "host"),
        thousands(attack.linked_from.into())
    )
}
