//! One HTML page for all experiments: tables as HTML, charts drawn by a script of ours from data
//! that lies in the page.
//!
//! The page loads nothing. Its policy (`Content-Security-Policy`) allows the one script and the one
//! style sheet by their hash and forbids every other source, so that a name which got past
//! the escaping would still not run. Data stands in a block that browsers do not execute. Without
//! scripts the tables remain.
//!
//! Why charts of our own: plotly.js, as the crate `plotly` carries it, adds 4.7 MB to every report
//! (6.8 MB through its own interface, which adds `MathJax`), needs inline styles, names tile servers
//! for maps, and cannot be used from the keyboard. What a report needs is lines, areas, cells and
//! intervals.

mod ablation;
mod data;
mod manipulation;
mod provenance;
pub(crate) mod quality;
pub(crate) mod sufficiency;
mod tables;
mod trials;
pub(crate) mod whatif;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::number::{counted, thousands};
use super::{counterfactual, glossary, scenarios};
use crate::results::Summary;
use crate::web::{self, isolated};

/// Parts of the script that other pages have, too.
const COLLECTION: &str = include_str!("../assets/collection.js");
const PARTS_OF_SCRIPT: &[&str] = &[
    include_str!("../assets/views.js"),
    include_str!("../assets/curves.js"),
    web::BARS,
    web::TABLES,
    include_str!("../assets/details.js"),
    COLLECTION,
    include_str!("../assets/experiments.js"),
];

/// The page.
///
/// # Errors
///
/// When a value cannot be JSON, which the types of a summary do not allow.
pub(crate) fn page(summaries: &[Summary]) -> Result<String, serde_json::Error> {
    let title = match summaries {
        [one] => format!("{}: report of a crawl simulation", one.title),
        _ => "Report of crawl simulations".to_owned(),
    };
    let script = script(PARTS_OF_SCRIPT);
    let mut out = head(&title, &script);
    out += &contents(summaries);
    out += "<main>\n";
    for (at, summary) in summaries.iter().enumerate() {
        out += &section(summary, at)?;
    }
    out += "</main>\n";
    out += &tail(&data::data(summaries), &script)?;
    Ok(out)
}

/// The script of a report: what charts of reports need around the parts of this one.
fn script(parts: &[&str]) -> String {
    let (shapes, page) = (include_str!("../assets/shapes.js"), include_str!("../assets/page.js"));
    web::script(&[&[shapes], parts, &[page]].concat())
}

/// Data and script, and the end of the page.
fn tail(data: &serde_json::Value, script: &str) -> Result<String, serde_json::Error> {
    let data = web::json(data)?;
    Ok(format!(
        "<script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{script}</script>\n</body>\n</html>\n"
    ))
}

/// What comes before the contents.
fn head(title: &str, script: &str) -> String {
    let style = web::style(include_str!("../assets/report.css"));
    let own = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src '{}'; style-src '{}'; img-src data: blob:; base-uri 'none'; \
         form-action 'none'\">\n<style>{style}</style>\n",
        source_hash(script),
        source_hash(&style),
    );
    format!(
        "{}<body>\n<header><h1>{}</h1>\n\
         <p><button type=\"button\" id=\"theme\" hidden></button></p>\n\
         <noscript><p class=\"note\">Charts need JavaScript; the tables do not.</p></noscript>\n\
         </header>\n",
        web::head(title, &own),
        isolated(title),
    )
}

/// What a policy calls an inline source.
fn source_hash(source: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(source.as_bytes())))
}

/// The parts of a section: end of the id, heading.
const PARTS: &[(&str, &str)] = &[
    ("summary", "Areas and speedups"),
    ("curves", "Curves over pages fetched"),
    ("kinds", "The same by query kind"),
    ("queries", "Queries that gained and lost"),
    ("hosts", "Hosts over time"),
    ("ablation", "Ablation"),
    ("counterfactual", "Counterfactual estimates"),
    ("whatif", "What-if answers"),
    ("manipulation", "Manipulation"),
    ("analyses", "The collection"),
    ("provenance", "Provenance and definitions"),
];

/// The parts that a summary has something for.
fn parts(summary: &Summary) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (policies, analyses) = (&summary.policies, &summary.analyses);
    let hosts = policies.iter().any(|policy| !policy.hosts.is_empty());
    let queries = policies.iter().any(|p| !p.gained.is_empty() || !p.lost.is_empty());
    let collection = analyses.importance_impact.is_some()
        || analyses.quality_neighbours.is_some()
        || !analyses.limited_sketches.is_empty();
    let kinds = summary.kinds.len() > 1;
    PARTS.iter().copied().filter(move |(part, _)| match *part {
        "kinds" => kinds,
        "queries" => queries,
        "hosts" => hosts,
        "ablation" => summary.ablation.is_some(),
        "counterfactual" => !analyses.counterfactual.is_empty(),
        "whatif" => !analyses.whatif.is_empty(),
        "manipulation" => summary.manipulation.is_some(),
        "analyses" => collection,
        _ => true,
    })
}

fn contents(summaries: &[Summary]) -> String {
    let mut out = String::from("<nav aria-label=\"Contents\"><ol>\n");
    for (at, summary) in summaries.iter().enumerate() {
        let links: Vec<String> = parts(summary)
            .map(|(part, heading)| format!("<a href=\"#e{at}-{part}\">{heading}</a>"))
            .collect();
        out += &format!(
            "<li><a href=\"#e{at}\">{}</a> <span class=\"parts\">{}</span></li>\n",
            isolated(&summary.title),
            links.join(" ")
        );
    }
    out + "</ol></nav>\n"
}

fn section(summary: &Summary, at: usize) -> Result<String, serde_json::Error> {
    let mut out = format!(
        "<section class=\"experiment\" id=\"e{at}\" data-experiment=\"{at}\">\n<h2>{}</h2>\n",
        isolated(&summary.title)
    );
    out += &lead(summary);
    // The script puts the choice of query kind and the legend here; they stay in sight.
    out += "<div class=\"controls\" data-view=\"controls\"></div>\n";
    for (part, heading) in parts(summary) {
        out += &format!("<section id=\"e{at}-{part}\">\n<h3>{heading}</h3>\n");
        match part {
            "summary" => out += &tables::by_kind(summary),
            "ablation" => out += &ablation::tables(summary),
            "counterfactual" => {
                let checks = &summary.analyses.counterfactual;
                out.extend(checks.iter().map(|check| trials::table(&counterfactual::table(check))));
            }
            "whatif" => {
                let checks = &summary.analyses.whatif;
                out.extend(checks.iter().map(|check| trials::table(&scenarios::table(check))));
            }
            "manipulation" => out += &manipulation::table(summary),
            "provenance" => out += &provenance::provenance(summary)?,
            _ => {}
        }
        // These have no chart.
        if !["ablation", "counterfactual", "whatif", "manipulation", "provenance"].contains(&part) {
            out += &format!("<div class=\"view\" data-view=\"{part}\"></div>\n");
        }
        out += "</section>\n";
    }
    Ok(out + "</section>\n")
}

/// The collection and the experiment in two sentences.
fn lead(summary: &Summary) -> String {
    let collection = &summary.collection;
    let count = |number: u32| thousands(number.into());
    let mut out = format!(
        "<p>{} on {} with {}; {} of the pages are relevant to one of {} queries \
         ({} were planned for). ",
        counted(collection.pages.into(), "page"),
        counted(collection.hosts.into(), "host"),
        counted(collection.links, "link"),
        count(collection.relevant_pages),
        count(collection.evaluation_queries),
        count(collection.planning_queries),
    );
    if collection.crawled_before > 0 {
        out += &format!("{} pages are crawled before. ", count(collection.crawled_before));
    }
    let baseline = match &summary.baseline {
        Some(name) => format!("compared with {}", isolated(name)),
        None => "without a baseline".to_owned(),
    };
    out += &format!(
        "{} policies, {baseline}, over {}.</p>\n",
        summary.policies.len(),
        counted(glossary::seed_sets(summary) as u64, "seed set")
    );
    out
}
