//! What tables of manipulation show, on a terminal as in HTML: a row a policy and attack, a column
//! a figure.

use super::number::{counted, decimals, thousands};
use crate::results::Interval;
use crate::results::manipulation::{AttackPoint, AttackSummary, AttackedPolicy, Manipulation};

/// A column: heading, and the figure of a row.
pub(super) struct ManipulationColumn {
    pub(super) heading: &'static str,
    pub(super) of: for<'a> fn(&ManipulationRow<'a>) -> Option<&'a Interval>,
}

/// The columns.
pub(super) const FIGURES: [ManipulationColumn; 7] = [
    ManipulationColumn { heading: "picks", of: |row| Some(&row.late?.picks) },
    ManipulationColumn { heading: "frontier", of: |row| Some(&row.late?.frontier) },
    ManipulationColumn { heading: "ratio", of: |row| row.late?.ratio.as_ref() },
    ManipulationColumn { heading: "early lift", of: |row| row.early?.lift.as_ref() },
    ManipulationColumn { heading: "lift", of: |row| row.late?.lift.as_ref() },
    ManipulationColumn { heading: "of its pages", of: |row| Some(&row.late?.owned) },
    ManipulationColumn { heading: "impact lost", of: |row| Some(&row.late?.impact_lost) },
];

/// What the columns mean.
pub(super) const MEANING: &str = "Attacks: the same crawls with an attacker's pages in the \
    collection. Picks: the attacker's share of what the policy picked, seeds left out. Frontier: its \
    share of the pages that had entered the frontier, picked since or not. Ratio: the one by the \
    other; 1 where its pages are as likely to be picked as any that were found. Lift: picks by the \
    attacker's share of all pages, and of the queries where it asks some; early lift: the same after a \
    tenth of the pages. Of its pages: how \
    much of what it owns is fetched; where that is all of it, the earlier checkpoints of \
    summary.json tell more. Impact lost: how much less true impact of honest pages the \
    crawl has than the crawl without attacker has after as many pages; below 0 it has more. Small \
    losses of either sign are chance: one more page changes what a crawl does next.";

/// A row: an attack, a policy, and its figures where tables are read at.
pub(super) struct ManipulationRow<'a> {
    pub(super) attack: &'a AttackSummary,
    pub(super) policy: &'a AttackedPolicy,
    /// After a tenth of the pages.
    early: Option<&'a AttackPoint>,
    late: Option<&'a AttackPoint>,
}

/// The rows: attack by attack.
pub(super) fn rows(manipulation: &Manipulation) -> Vec<ManipulationRow<'_>> {
    let mut rows = Vec::new();
    for attack in &manipulation.attacks {
        for policy in &attack.policies {
            let at =
                |pages: Option<u32>| policy.points.iter().find(|point| Some(point.pages) == pages);
            let (early, late) = (at(manipulation.read_early), at(manipulation.read_at));
            rows.push(ManipulationRow { attack, policy, early, late });
        }
    }
    rows
}

/// Decimals of a column.
pub(super) fn places(rows: &[ManipulationRow<'_>], figure: &ManipulationColumn) -> usize {
    decimals(rows.iter().filter_map(figure.of).map(|interval| interval.mean)).min(4)
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
