//! JSON lines for a Scrapy spider: its requests are made from them.

use serde::Serialize;

use super::{PlanFormat, json_line, without_blanks};

#[derive(Serialize)]
struct Request<'a> {
    url: String,
    /// Scrapy takes the highest first.
    priority: usize,
    plan_id: &'a str,
}

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "scrapy",
    description: "JSON lines of url, priority (a whole number, the highest first) and plan_id",
    write: |out, batch| {
        batch.by_priority().try_for_each(|(priority, url)| {
            let url = without_blanks(&url.url);
            json_line(out, &Request { url, priority, plan_id: batch.plan_id })
        })
    },
};
