//! Seeds for StormCrawler: the URL, then metadata as `key=value`, parted by tabs, as its `FileSpout` with the
//! scheme `StringTabScheme` reads.

use super::{PlanFormat, without_blanks};

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "stormcrawler",
    description: "seeds for StormCrawler: URL, plan_id and plan_rank as metadata, parted by tabs",
    write: |out, batch| {
        batch.urls.iter().try_for_each(|url| {
            let (plan, rank) = (batch.plan_id, url.rank);
            writeln!(out, "{}\tplan_id={plan}\tplan_rank={rank}", without_blanks(&url.url))
        })
    },
};
