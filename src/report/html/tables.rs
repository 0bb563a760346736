//! Areas and speedups as HTML tables, one a query kind. They are complete without the script,
//! which hides the kinds that are not chosen and makes the columns sortable.

use crate::report::glossary;
use crate::report::number::{decimals, excludes, fixed, short, thousands};
use crate::results::{Interval, KindSummary, Summary};
use crate::web::{escape, isolated};

/// The table of every kind, the first one in sight.
pub(super) fn by_kind(summary: &Summary) -> String {
    let mut out = String::new();
    for kind in 0..summary.kinds.len() {
        out += &format!("<div class=\"of-kind\" data-kind=\"{kind}\">\n");
        out += &table(summary, kind);
        out += "</div>\n";
    }
    out
}

fn table(summary: &Summary, kind: usize) -> String {
    let of_kind: Vec<&KindSummary> = summary.policies.iter().map(|p| &p.kinds[kind]).collect();
    let queries = of_kind.first().map_or(0, |kind| kind.queries);
    let mut out = format!(
        "<p class=\"caption\">{}</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Areas and speedups\">\
         <table class=\"sortable\">\n<caption>Queries: {} ({})</caption>\n<thead><tr>",
        explained(summary),
        isolated(&summary.kinds[kind]),
        thousands(queries.into()),
    );
    let metrics = summary.metrics.iter().map(|name| format!("area of {}", isolated(name)));
    let first = ["policy", "pages fetched", "speedup, relevant pages", "speedup, impact"];
    for heading in first.map(str::to_owned).into_iter().chain(metrics) {
        out += &format!("<th scope=\"col\">{heading}</th>");
    }
    out += "</tr></thead>\n<tbody>\n";
    let places: Vec<usize> = (0..summary.metrics.len())
        .map(|metric| decimals(of_kind.iter().map(|kind| kind.curves[metric].area.mean)))
        .collect();
    for (at, kind) in of_kind.iter().enumerate() {
        out += &row(summary, at, kind, &places);
    }
    out + "</tbody>\n</table></div>\n"
}

fn row(summary: &Summary, at: usize, kind: &KindSummary, places: &[usize]) -> String {
    let policy = &summary.policies[at];
    let mut name = isolated(&policy.name);
    if policy.oracle {
        name += " <span class=\"tag\">(oracle)</span>";
    }
    if summary.baseline.as_ref() == Some(&policy.name) {
        name += " <span class=\"tag\">(baseline)</span>";
    }
    let fetched = policy.fetched.iter().copied().max().unwrap_or(0);
    let mut out = format!(
        "<tr data-policy=\"{at}\"><th scope=\"row\" data-sort=\"{}\">{name}</th>\
         <td data-sort=\"{fetched}\">{}</td>",
        escape(&policy.name),
        pages(&policy.fetched),
    );
    let sets = glossary::seed_sets(summary);
    for interval in [&kind.speedup_relevant, &kind.speedup_impact] {
        let side = interval.as_ref().filter(|speedup| excludes(speedup, 1.0));
        let of = interval.as_ref().and_then(|speedup| glossary::of_sets(speedup, sets));
        out += &cell_of(interval.as_ref(), 2, side.map(|speedup| speedup.mean > 1.0), of);
    }
    for (curve, places) in kind.curves.iter().zip(places) {
        let told_apart = curve.area_test.is_some_and(|test| test.significant);
        let side = curve.area_gain.as_ref().filter(|_| told_apart);
        out += &cell(Some(&curve.area), *places, side.map(|gain| gain.mean > 0.0));
    }
    out + "</tr>\n"
}

/// Pages fetched, and their range where seed sets differ.
fn pages(fetched: &[u32]) -> String {
    match (fetched.iter().min(), fetched.iter().max()) {
        (Some(least), Some(most)) if least != most => {
            format!("{}–{}", thousands((*least).into()), thousands((*most).into()))
        }
        (_, most) => thousands(most.copied().unwrap_or(0).into()),
    }
}

/// A figure with its interval below; `better` if it is told apart from the baseline.
pub(super) fn cell(interval: Option<&Interval>, places: usize, better: Option<bool>) -> String {
    cell_of(interval, places, better, None)
}

/// The same, with what the figure is `of`.
fn cell_of(
    interval: Option<&Interval>,
    places: usize,
    better: Option<bool>,
    of: Option<String>,
) -> String {
    let Some(interval) = interval else { return "<td>–</td>".to_owned() };
    let mark = match better {
        Some(true) => " <abbr class=\"mark better\" title=\"better than the baseline\">▲</abbr>",
        Some(false) => " <abbr class=\"mark worse\" title=\"worse than the baseline\">▼</abbr>",
        None => "",
    };
    let ends = interval.low.zip(interval.high).map_or(String::new(), |(low, high)| {
        format!("<small>[{}, {}]</small>", fixed(low, places), fixed(high, places))
    });
    let of = of.map_or(String::new(), |of| format!("<small>{of}</small>"));
    format!(
        "<td data-sort=\"{}\">{}{mark}{ends}{of}</td>",
        short(interval.mean),
        fixed(interval.mean, places)
    )
}

fn explained(summary: &Summary) -> String {
    let area = "Area: mean height of the curve";
    match &summary.baseline {
        Some(baseline) => format!(
            "{area}, with its 95 % interval over seed sets. ▲ and ▼: told apart from {}, areas by \
             a paired bootstrap over seed sets and queries after Holm's correction, speedups by their interval. Without a mark: not told \
             apart, or not tested, as HR and impact are, which are not of single queries.",
            isolated(baseline)
        ),
        None => format!("{area}, with its 95 % interval over seed sets. No baseline was named."),
    }
}
