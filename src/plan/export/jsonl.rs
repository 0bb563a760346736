//! JSON lines: one object a URL, with everything that is known of the pick.

use serde::Serialize;

use super::{PlanFormat, PlannedUrl, json_line};

#[derive(Serialize)]
struct Line<'a> {
    plan_id: &'a str,
    #[serde(flatten)]
    url: &'a PlannedUrl,
}

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "jsonl",
    description: "one JSON object a line, with the parts of the estimate, queries and matches",
    write: |out, batch| {
        let mut lines = batch.urls.iter().map(|url| Line { plan_id: batch.plan_id, url });
        lines.try_for_each(|line| json_line(out, &line))
    },
};
