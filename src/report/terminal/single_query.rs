//! Crawls for one query each.

use super::{Column, NAME_WIDTH, clean, named, rows};
use crate::report::number::{thousands, with_interval};
use crate::results::single_query::{SingleQueryPolicy, SingleQuerySummary};

/// The table by policy and kind.
pub(super) fn table(single: &SingleQuerySummary) -> String {
    let mut out = format!(
        "each of {} queries crawled for alone, at most {} pages in batches of {}; means over queries\n",
        thousands(single.queries as u64),
        thousands(single.pages.into()),
        thousands(single.batch.into())
    );
    let cells = |cell: &dyn Fn(&SingleQueryPolicy) -> String| -> Vec<String> {
        single.policies.iter().map(cell).collect()
    };
    let column = |heading: &str, cells: Vec<String>| Column { heading: heading.to_owned(), cells };
    let columns = [
        column("kind", cells(&|own| clean(&own.kind, NAME_WIDTH))),
        column("queries", cells(&|own| thousands(own.queries as u64))),
        column("nDCG@10", cells(&|own| with_interval(&own.ndcg, 3))),
        column("of the relevant", cells(&|own| with_interval(&own.recall, 3))),
        column("pages", cells(&|own| with_interval(&own.fetched, 1))),
    ];
    let names = column("policy", cells(&|own| named(&own.name)));
    out.push_str(&rows(&names, &columns));
    out
}
