//! How many URLs of a crawl may be planned at most, under the caps that do not bend.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

use super::settings::PlanSettings;
use super::within::may;

/// URLs of the frontier, and of the fetched pages as well if a plan may ask `again`, that `settings` have room for beside
/// those that are in flight. `within` says by URL whether it may be planned; empty for all.
pub(crate) fn room(
    known: &Known,
    within: &[bool],
    again: bool,
    settings: &PlanSettings,
    in_flight: &[UrlId],
) -> usize {
    let PlanSettings { selection, queues, .. } = settings;
    let may_come =
        |id: &UrlId| known.pages.in_frontier(*id) || again && known.pages.page_seq(*id).is_some();
    let ids = known.urls.ids().filter(may_come);
    let frontier: Vec<UrlId> = ids.filter(|id| may(within, *id)).collect();
    selection.caps.most_urls(&frontier, &known.urls, queues, in_flight)
}

/// The settings for `most` URLs, or for as many as there is time for where a batch has one; at least one.
pub(crate) fn in_time(
    mut settings: PlanSettings,
    most: usize,
    known: &Known,
    within: &[bool],
) -> PlanSettings {
    settings.selection.budget = most;
    if settings.selection.caps.time.seconds.is_some() {
        settings.selection.budget = room(known, within, false, &settings, &[]).clamp(1, most);
    }
    settings
}
