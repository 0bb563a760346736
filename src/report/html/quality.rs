//! One HTML page on the quality of collections, of the same make as the report of simulations:
//! tables as HTML, charts drawn from data in the page, nothing loaded.

use serde_json::{Value, json};

use super::data::{interval, scatter};
use super::{COLLECTION, head, script, tail};
use crate::report::number::{counted, fixed, short, thousands};
use crate::report::quality::{FIGURES, figures, left_out};
use crate::results::quality::{Auc, Distribution, QualityAnalysis, QualityCollection, Relevance};
use crate::web::{escape, isolated};

const PARTS_OF_SCRIPT: &[&str] = &[COLLECTION, include_str!("../assets/quality.js")];

/// The page.
///
/// # Errors
///
/// When a value cannot be JSON, which the types of an analysis do not allow.
pub(crate) fn page(found: &QualityAnalysis) -> Result<String, serde_json::Error> {
    let title = match &found.collections[..] {
        [one] => format!("{}: quality of its pages", one.name),
        _ => "Quality of collections".to_owned(),
    };
    let script = script(PARTS_OF_SCRIPT);
    let mut out = head(&title, &script);
    out += "<main>\n<section class=\"experiment\" data-experiment=\"0\">\n";
    out += &scores(found);
    out += &view("histograms", "Distribution");
    if found.collections.iter().any(|one| one.neighbours.is_some()) {
        out += &view("neighbours", "Pages and the pages they link to");
    }
    if !found.distances.is_empty() {
        out += &distances(found);
    }
    if found.collections.iter().any(|one| one.relevance.is_some()) {
        out += &view("relevance", "Relevant pages");
        for one in &found.collections {
            if let Some(relevance) = &one.relevance {
                out += &groups(one, relevance);
            }
        }
    }
    out += &definitions(found);
    out += "</section>\n</main>\n";
    Ok(out + &tail(&json!([data(found)]), &script)?)
}

fn view(name: &str, heading: &str) -> String {
    format!("<h3>{heading}</h3>\n<div class=\"view\" data-view=\"{name}\"></div>\n")
}

fn scores(found: &QualityAnalysis) -> String {
    let mut out = table("Scores", &["collection", "pages", "no score"], true);
    for one in &found.collections {
        let share = 100.0 * (one.pages - one.scored) as f64 / one.pages.max(1) as f64;
        out += &format!(
            "<tr><th scope=\"row\" data-sort=\"{}\">{}</th><td data-sort=\"{}\">{}</td>\
             <td data-sort=\"{share}\">{share:.1} %</td>{}</tr>\n",
            escape(&one.name),
            isolated(&one.name),
            one.pages,
            thousands(one.pages),
            cells(one.distribution.as_ref()),
        );
    }
    out += "</tbody></table></div>\n";
    for one in &found.collections {
        for what in left_out(one) {
            out += &format!("<p class=\"note\">{}: {what} left out.</p>\n", isolated(&one.name));
        }
    }
    out
}

/// The start of a table whose first columns are named, followed by the figures of a distribution.
fn table(caption: &str, first: &[&str], figures: bool) -> String {
    let more: &[&str] = if figures { &FIGURES } else { &[] };
    let headings: Vec<String> =
        first.iter().chain(more).map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    let headings = headings.concat();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\
         <table class=\"sortable\">\n<caption>{caption}</caption>\n\
         <thead><tr>{headings}</tr></thead>\n<tbody>\n"
    )
}

fn cells(distribution: Option<&Distribution>) -> String {
    let Some(d) = distribution else { return "<td>–</td>".repeat(FIGURES.len()) };
    figures(d)
        .map(|value| format!("<td data-sort=\"{}\">{}</td>", short(value), fixed(value, 3)))
        .concat()
}

fn distances(found: &QualityAnalysis) -> String {
    let mut out = "<h3>Distances</h3>\n".to_owned();
    out += &table("Jensen-Shannon distance", &["collection", "and", "distance"], false);
    for pair in &found.distances {
        let name = |at: usize| isolated(&found.collections[at].name);
        let (sort, shown) = pair.distance.map_or((String::new(), "–".to_owned()), |distance| {
            (format!(" data-sort=\"{}\"", short(distance)), fixed(distance, 4))
        });
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td{sort}>{shown}</td></tr>\n",
            name(pair.a),
            name(pair.b)
        );
    }
    out + "</tbody></table></div>\n"
}

fn groups(one: &QualityCollection, found: &Relevance) -> String {
    let caption = format!("Relevant pages: {}", isolated(&one.name));
    let mut out = table("Relevant pages", &["group", "pages"], true);
    out = out.replacen("<caption>Relevant pages", &format!("<caption>{caption}"), 1);
    for (name, group) in [("relevant", &found.relevant), ("others", &found.others)] {
        let count = group.map_or(0, |group| group.count);
        out += &format!(
            "<tr><th scope=\"row\" data-sort=\"{name}\">{name}</th><td data-sort=\"{count}\">{}</td>{}</tr>\n",
            thousands(count),
            cells(group.as_ref())
        );
    }
    out += "</tbody></table></div>\n";
    if found.missing > 0 {
        let what = counted(found.missing, "relevant URL");
        out += &format!("<p class=\"note\">{what} of the judgements not in the collection.</p>\n");
    }
    out
}

fn definitions(found: &QualityAnalysis) -> String {
    format!(
        "<h3>Definitions</h3>\n<dl>\n\
         <dt>Score</dt><dd>The column {} of each file, a log-probability of at most 0. Of several \
         rows of one URL the last counts. Quantiles are linear between neighbours.</dd>\n\
         <dt>Neighbours</dt><dd>Pages with a score that link to at least one other page of the \
         collection with a score; links to the page itself do not count, repeated ones count \
         once. Pearson correlation and least squares are those of the pages, not of the cells.</dd>\n\
         <dt>Jensen-Shannon distance</dt><dd>Square root of the divergence, natural logarithm, \
         between the histograms shown: 0 for equal shares, {} for histograms without a common \
         bin.</dd>\n\
         <dt>Relevant pages</dt><dd>Judged above 0 for at least one query. The others include pages \
         that nobody judged.</dd>\n</dl>\n<p class=\"note\">Prospect {}</p>\n",
        isolated(&found.column),
        fixed(2.0_f64.ln().sqrt(), 4),
        isolated(&found.version),
    )
}

fn data(found: &QualityAnalysis) -> Value {
    let bins = found.collections.first().map_or(0, |one| one.histogram.len());
    let (low, high) = (found.low.unwrap_or(-1.0), found.high.unwrap_or(0.0));
    let edge = |at: usize| short(low + (high - low) * at as f64 / bins.max(1) as f64);
    json!({
        "edges": (0..=bins).map(edge).collect::<Vec<f64>>(),
        "collections": found.collections.iter().map(collection).collect::<Value>(),
    })
}

/// What the charts of a collection draw.
fn collection(one: &QualityCollection) -> Value {
    json!({
        "name": one.name,
        "histogram": one.histogram,
        "neighbours": one.neighbours.as_ref().map(scatter),
        "relevance": one.relevance.as_ref().map(relevance),
    })
}

fn relevance(found: &Relevance) -> Value {
    let auc = |auc: &Auc| json!({ "by": auc.by, "area": interval(&auc.area) });
    json!({
        "relevant": found.relevant_histogram,
        "others": found.others_histogram,
        "aucs": found.aucs.iter().map(auc).collect::<Value>(),
    })
}
