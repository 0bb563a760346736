//! Tab-separated values with a header line, for spreadsheets.

use super::Format;

pub(super) const FORMAT: Format = Format {
    name: "tsv",
    description: "tab-separated: rank, url, estimate, its parts, in-links, pool, best query",
    write: |out, planned| {
        writeln!(
            out,
            "rank\turl\testimate\tquery_impact\tlocality_impact\tpage_impact\timportance_impact\t\
             quality_impact\tinlinks\tpool\tbest_query\tchance"
        )?;
        for url in planned {
            let best = url.queries.first();
            let query = best.map_or("", |reason| reason.query.as_str()).replace(['\t', '\n'], " ");
            let chance = best.map_or(0.0, |reason| reason.chance);
            writeln!(
                out,
                "{}\t{}\t{:.6}\t{:.6}\t{:.6}\t{:.6}\t{:.6}\t{:.6}\t{}\t{}\t{query}\t{chance:.4}",
                url.rank,
                url.url,
                url.estimate,
                url.query_impact,
                url.locality_impact,
                url.page_impact,
                url.importance_impact,
                url.quality_impact,
                url.inlinks,
                url.pool.name(),
            )?;
        }
        Ok(())
    },
};
