//! Messages for `PutURLs` of `URLFrontier`: each line is a `URLItem` in the JSON form of protocol buffers.
//!
//! A discovered URL is left out where the frontier knows it. One that it has served before is a known one, which is
//! served again from its date on.

use serde::Serialize;

use super::{PlanFormat, json_line, without_blanks};

#[derive(Serialize)]
struct UrlItem<'a> {
    #[serde(flatten)]
    item: Item<'a>,
    #[serde(rename = "ID")]
    id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Item<'a> {
    Discovered { info: UrlInfo<'a> },
    Known { info: UrlInfo<'a>, refetchable_from_date: u64 },
}

/// In the past, and not 0, which is never.
const AT_ONCE: u64 = 1;

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
    description: "JSON lines of URLItem, as URLFrontier's PutURLs takes them, by its queues",
    write: |out, batch| {
        batch.urls.iter().try_for_each(|planned| {
            let (url, rank) = (without_blanks(&planned.url), planned.rank.to_string());
            let metadata = Metadata {
                plan_id: Values { values: [batch.plan_id] },
                plan_rank: Values { values: [&rank] },
            };
            let info = UrlInfo { url: &url, key: &planned.queue, metadata };
            let item = if planned.asked_before {
                Item::Known { info, refetchable_from_date: AT_ONCE }
            } else {
                Item::Discovered { info }
            };
            json_line(out, &UrlItem { item, id: &url })
        })
    },
};
