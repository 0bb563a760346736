//! The records that enter a store and the ids they are known by. No parsing and no I/O.

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::fetch_outcome::{FetchOutcome, MOVED_HERE, NO_ANSWER};

/// A known URL, crawled or not: its position in the store's URL table. Append-only and stable for
/// the life of a store.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct UrlId(pub u32);

impl UrlId {
    /// The id as an index into per-URL arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A link as a page shows it: its target, absolute, and the text that carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlink {
    /// Absolute URL of the target, in any spelling.
    pub url: String,
    /// Anchor text; empty where the link has none.
    #[serde(default)]
    pub anchor: String,
    /// Text around the link; empty where the input does not tell, and then it is looked for in the text of
    /// the page.
    #[serde(default)]
    pub around: String,
}

/// The URL and the anchor of a link of which no more is known.
impl<U: Into<String>, A: Into<String>> From<(U, A)> for Outlink {
    fn from((url, anchor): (U, A)) -> Self {
        Self { url: url.into(), anchor: anchor.into(), around: String::new() }
    }
}

/// One fetched page, or one failed fetch, as an input gives it. URLs are absolute but not yet
/// canonical.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// URL of the page; after a redirect, where it ended.
    pub url: String,
    /// Title, plain text.
    #[serde(default)]
    pub title: String,
    /// Visible text.
    #[serde(default)]
    pub text: String,
    /// Links in document order.
    #[serde(default)]
    pub outlinks: Vec<Outlink>,
    /// HTTP status; `None` where the input does not tell, 0 where no server answered,
    /// [`ROBOTS`](crate::fetch_outcome::ROBOTS) where robots.txt forbids to ask. What it says of the fetch tells
    /// [`FetchOutcome`].
    #[serde(default)]
    pub status: Option<u16>,
    /// URL that was asked for, where a redirect led elsewhere.
    #[serde(default)]
    pub requested_url: Option<String>,
    /// When it was fetched, as the input spells it.
    #[serde(default)]
    pub fetched_at: Option<String>,
    /// The plan that asked for it.
    #[serde(default)]
    pub plan_id: Option<String>,
    /// Quality of the text, as a log-probability, at most 0; one above 0 is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
    /// Whether the input has a part of the page only: links without a text, as WAT files, or a text without links, as WET
    /// files. It does not take the place of a stored page that has what it lacks.
    #[serde(skip)]
    pub part: bool,
}

impl PageRecord {
    /// Whether the fetch gave a page: no status, or 2xx.
    pub(crate) fn is_success(&self) -> bool {
        self.answer() == FetchOutcome::Page
    }

    /// Whether its links count: a page's, and where a redirect leads.
    pub(crate) fn has_links(&self) -> bool {
        matches!(self.answer(), FetchOutcome::Page | FetchOutcome::Moved)
    }

    /// What the fetch came to.
    pub(crate) fn answer(&self) -> FetchOutcome {
        FetchOutcome::from(self.stored_status())
    }

    /// Its status as tables have it: 0 in an input says that there was no answer, in a table that nothing is
    /// known.
    pub(crate) fn stored_status(&self) -> u16 {
        self.status.map_or(0, |status| match status {
            // What tables say of pages that have moved is not for inputs to say.
            0 | MOVED_HERE => NO_ANSWER,
            status => status,
        })
    }
}
