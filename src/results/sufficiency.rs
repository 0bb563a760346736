//! What the page of a workload's sufficiency is made of.

/// All of it.
pub(crate) struct SufficiencyPage {
    /// What its script draws: `prospect.sufficiency/1` with what is said of it.
    pub(crate) drawn: serde_json::Value,
    /// What is said without a script, the verdict first.
    pub(crate) lines: Vec<String>,
    /// What is said beside what the script draws.
    pub(crate) notes: Vec<String>,
    /// Pages of the store.
    pub(crate) pages: usize,
    /// Queries of the workload.
    pub(crate) queries: usize,
    /// Those of them that lack most.
    pub(crate) lacking: Vec<LackingQuery>,
}

/// A query and what it lacks.
pub(crate) struct LackingQuery {
    /// As typed.
    pub(crate) query: String,
    /// How often it is asked.
    pub(crate) frequency: f64,
    /// Its sufficiency.
    pub(crate) sufficiency: f64,
    /// Name of its class.
    pub(crate) class: &'static str,
    /// Words that no page holds.
    pub(crate) missing: Vec<String>,
}
