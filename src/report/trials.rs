//! What tables of trials in simulated crawls show, on a terminal as in HTML: a row for each thing that
//! was tried, and what it says about the answers that were given before.

/// A table.
pub(super) struct TrialTable {
    /// What was tried.
    pub(super) title: &'static str,
    /// The policy that crawled.
    pub(super) policy: String,
    /// How it was tried, in a line.
    pub(super) caption: String,
    /// Headings, that of the names first.
    pub(super) headings: Vec<&'static str>,
    /// Rows: the name, and a cell for each other heading.
    pub(super) rows: Vec<(String, Vec<String>)>,
    /// What it says, in lines.
    pub(super) notes: Vec<String>,
}
