//! Lines for `nutch inject`: the URL, then metadata as `key=value`, parted by tabs.

use super::{PlanFormat, without_blanks};

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "nutch",
    description: "lines for nutch inject: URL, nutch.score (generate -topN takes the highest), plan_id",
    write: |out, batch| {
        batch.by_priority().try_for_each(|(score, url)| {
            let plan = batch.plan_id;
            writeln!(out, "{}\tnutch.score={score}\tplan_id={plan}", without_blanks(&url.url))
        })
    },
};
