//! What attackers got of simulated crawls.

use serde::{Deserialize, Serialize};

use super::Interval;

/// All attacks of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manipulation {
    /// Share of the attacked collection that an attacker owns, as it was asked for.
    pub(crate) share: f64,
    /// Pages fetched that tables are read at: the last checkpoint up to 30 % of the honest pages
    /// that all crawls reached, else the first one; absent where they share none.
    pub(crate) read_at: Option<u32>,
    /// The same for a tenth of the honest pages; absent where that is no earlier, and in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read_early: Option<u32>,
    /// One entry an attack, in the order they were asked for.
    pub(crate) attacks: Vec<AttackSummary>,
}

/// One attack: the same crawls of the collection with an attacker's pages in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttackSummary {
    /// The attack.
    pub(crate) attack: String,
    /// Pages of the attacker.
    pub(crate) pages: u32,
    /// Their hosts.
    pub(crate) hosts: u32,
    /// Share of the queries, by how often they are asked, that are the attacker's own.
    #[serde(default)]
    pub(crate) share_of_log: f64,
    /// Honest pages that link to one of them.
    pub(crate) linked_from: u32,
    /// One entry a policy, in the order of [`super::Summary::policies`].
    pub(crate) policies: Vec<AttackedPolicy>,
}

/// One policy under attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttackedPolicy {
    /// The policy.
    pub(crate) policy: String,
    /// At checkpoints that the crawls of all seed sets reached, attacked or not.
    pub(crate) points: Vec<AttackPoint>,
}

/// One policy under attack at a checkpoint. All figures have their spread over seed sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttackPoint {
    /// Pages fetched, the attacker's among them.
    pub(crate) pages: u32,
    /// Share of the attacker in the picks so far; seeds are none.
    pub(crate) picks: Interval,
    /// `picks` divided by the share of the attacker in the pages, and in the log; absent in files of older versions.
    #[serde(default)]
    pub(crate) lift: Option<Interval>,
    /// Share of the attacker in the pages that had entered the frontier, picked since or not, when
    /// the last batch was picked.
    pub(crate) frontier: Interval,
    /// Share of the attacker in the pages that waited when a batch was picked, mean over picks.
    pub(crate) waiting: Interval,
    /// `picks` divided by `frontier`, over the seed sets in which the attacker was in the frontier;
    /// 1 where an attacker's page is as likely to be picked as any other that was found.
    pub(crate) ratio: Option<Interval>,
    /// Share of the attacker's pages that are fetched.
    pub(crate) owned: Interval,
    /// Share of the honest pages' true impact that the crawl without the attacker has after as many
    /// pages, and this one has not; below 0 where this one has more.
    pub(crate) impact_lost: Interval,
}
