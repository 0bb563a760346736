//! What tables of an ablation show, on a terminal as in HTML: a row a group, a column a figure.

use super::number::counted;
use crate::results::Interval;
use crate::results::ablation::{AblatedPolicy, Ablation, AblationFigures};

/// A column: heading, its decimals, and the figure of a row.
pub(super) struct AblationColumn {
    pub(super) heading: &'static str,
    pub(super) places: usize,
    pub(super) of: fn(&AblationFigures) -> Option<&Interval>,
}

/// The columns.
pub(super) const FIGURES: [AblationColumn; 3] = [
    AblationColumn {
        heading: "speedup relevant",
        places: 3,
        of: |row| row.speedup_relevant.as_ref(),
    },
    AblationColumn { heading: "speedup impact", places: 3, of: |row| row.speedup_impact.as_ref() },
    AblationColumn { heading: "impact", places: 4, of: |row| row.impact.as_ref() },
];

/// What rows and columns mean.
pub(super) const MEANING: &str = "Ablation: the same crawls with one group of evidence left out. The \
    first row is the policy with all its evidence: its speedups over the baseline and its share of \
    the true impact. The others are changes by leaving out a group, paired by seed set, with their \
    95 % intervals: below 0 the group is worth something.";

/// Name of the row of the whole policy.
pub(super) const WHOLE: &str = "(all evidence)";

/// Rows: the whole policy, then every group. With name and meaning.
pub(super) fn rows(policy: &AblatedPolicy) -> Vec<(&str, &str, &AblationFigures)> {
    let groups = policy.groups.iter();
    let groups = groups.map(|group| (group.group.as_str(), group.meaning.as_str(), &group.change));
    std::iter::once((WHOLE, "", &policy.whole)).chain(groups).collect()
}

/// When impact is read.
pub(super) fn as_of(ablation: &Ablation) -> String {
    match ablation.read_at {
        Some(pages) => format!("impact after {} fetched", counted(pages.into(), "page")),
        None => "no checkpoint that all crawls reached".to_owned(),
    }
}
