//! Messages for `PutURLs` of `URLFrontier`: each line is a `URLItem` in the JSON form of protocol buffers.

use prospect_index::url;
use serde::Serialize;

use super::{PlanFormat, json_line, without_blanks};

#[derive(Serialize)]
struct UrlItem<'a> {
    discovered: Discovered<'a>,
    #[serde(rename = "ID")]
    id: &'a str,
}

#[derive(Serialize)]
struct Discovered<'a> {
    info: UrlInfo<'a>,
}

#[derive(Serialize)]
struct UrlInfo<'a> {
    url: &'a str,
    /// The queue.
    key: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    plan_id: Values<'a>,
    plan_rank: Values<'a>,
}

#[derive(Serialize)]
struct Values<'a> {
    values: [&'a str; 1],
}

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "urlfrontier",
    description: "JSON lines of URLItem, as URLFrontier's PutURLs takes them, queued by host",
    write: |out, batch| {
        batch.urls.iter().try_for_each(|planned| {
            let (url, rank) = (without_blanks(&planned.url), planned.rank.to_string());
            // Spellings of a host are one queue.
            let canonical = url::canonical(&url).unwrap_or_else(|_| url.clone());
            let key = url::host(&canonical);
            let metadata = Metadata {
                plan_id: Values { values: [batch.plan_id] },
                plan_rank: Values { values: [&rank] },
            };
            let info = UrlInfo { url: &url, key, metadata };
            json_line(out, &UrlItem { discovered: Discovered { info }, id: &url })
        })
    },
};
