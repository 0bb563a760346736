//! Tab-separated values with a header line, for spreadsheets.

use std::io::{self, Write};

use super::{PlanFormat, PlannedBatch, without_blanks};
use crate::estimate::parts::Part;

pub(super) const FORMAT: PlanFormat = PlanFormat {
    name: "tsv",
    description: "tab-separated: rank, url, estimate, its parts, in-links, pool, best query, plan_id",
    write,
};

fn write(out: &mut dyn Write, batch: &PlannedBatch<'_>) -> io::Result<()> {
    let parts = Part::ALL.map(Part::column).join("\t");
    writeln!(out, "rank\turl\testimate\t{parts}\tinlinks\tpool\tbest_query\tchance\tplan_id")?;
    for url in batch.urls {
        let best = url.queries.first();
        let query =
            best.map_or("", |reason| reason.query.as_str()).replace(['\t', '\n', '\r'], " ");
        let chance = best.map_or(0.0, |reason| reason.chance);
        write!(out, "{}\t{}\t{:.6}", url.rank, without_blanks(&url.url), url.estimate)?;
        for (_, value) in url.parts.iter() {
            write!(out, "\t{value:.6}")?;
        }
        let (inlinks, pool, plan) = (url.inlinks, url.pool.name(), batch.plan_id);
        writeln!(out, "\t{inlinks}\t{pool}\t{query}\t{chance:.4}\t{plan}")?;
    }
    Ok(())
}
