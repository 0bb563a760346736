//! What a fetch came to, told by its status.

/// Status of a fetch that no server answered, where the input says 0: above every HTTP status.
pub const NO_ANSWER: u16 = 1_000;
/// Status of a fetch whose answer is that the page is what it was.
pub(crate) const UNCHANGED: u16 = 304;
/// Status of a fetch that was not made, since robots.txt forbids it.
pub const ROBOTS: u16 = 1_001;
/// Status of a page that another one has moved to for good: the URL that was asked for had a page, and this is it.
pub(crate) const MOVED_HERE: u16 = 1_002;

/// What a fetch came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// A page.
    Page,
    /// The page that was fetched before is still what it was.
    Unchanged,
    /// Another URL.
    Moved,
    /// Nothing.
    Failed(FailureKind),
}

/// What kind of failure a fetch ended in, and so whether to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// There is no such page, or not in this form: asking again is in vain.
    Permanent,
    /// Robots.txt or the server forbids it: asking again is not wanted.
    Denied,
    /// The server, or the way to it, is in trouble: it may answer later.
    Temporary,
}

/// Told by an HTTP status, [`NO_ANSWER`], [`ROBOTS`], or 0 where a page came and nothing else is known.
///
/// ```
/// use prospect_index::fetch_outcome::{FetchOutcome, FailureKind, NO_ANSWER};
///
/// assert_eq!(FetchOutcome::from(200), FetchOutcome::Page);
/// assert_eq!(FetchOutcome::from(304), FetchOutcome::Unchanged);
/// assert_eq!(FetchOutcome::from(410), FetchOutcome::Failed(FailureKind::Permanent));
/// assert_eq!(FetchOutcome::from(429), FetchOutcome::Failed(FailureKind::Temporary));
/// assert_eq!(FetchOutcome::from(NO_ANSWER), FetchOutcome::Failed(FailureKind::Temporary));
/// ```
impl From<u16> for FetchOutcome {
    fn from(status: u16) -> Self {
        match status {
            0 | 200..300 | MOVED_HERE => Self::Page,
            UNCHANGED => Self::Unchanged,
            300..400 => Self::Moved,
            401 | 403 | 407 | 451 | ROBOTS => Self::Failed(FailureKind::Denied),
            // Timeout, too early, too many requests.
            408 | 425 | 429 => Self::Failed(FailureKind::Temporary),
            400..500 => Self::Failed(FailureKind::Permanent),
            _ => Self::Failed(FailureKind::Temporary),
        }
    }
}

impl FetchOutcome {
    /// Whether its URL leaves the frontier: there is a page, or asking again is in vain or not wanted.
    pub fn leaves_frontier(self) -> bool {
        match self {
            Self::Page | Self::Moved => true,
            Self::Failed(failure) => failure != FailureKind::Temporary,
            // A page that is unchanged and that nobody brought.
            Self::Unchanged => false,
        }
    }

    /// Whether there will never be a page at the URL, as far as the server knows.
    pub(crate) fn says_gone(status: u16) -> bool {
        matches!(status, 404 | 410)
    }
}
