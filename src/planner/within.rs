//! Lists of what may be planned.

use prospect_index::page::UrlId;

/// Whether a list of what may be planned, by URL and empty if all may, has a URL.
pub(crate) fn may(within: &[bool], url: UrlId) -> bool {
    within.get(url.index()).is_none_or(|may| *may)
}
