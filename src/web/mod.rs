//! What pages of ours share, whatever they show: a style, the part of a script that draws charts, the head,
//! and the way that names of others enter HTML.
//!
//! Reports carry all of it in one file, the local page sends it file by file. Each adds what is its own.
//! Nothing is loaded from anywhere else.

mod escape;

pub(crate) use escape::{escape, isolated, json};

/// Charts of bars, for pages that have some; they are a [part](script) of a script.
pub(crate) const BARS: &str = include_str!("assets/bars.js");
/// Plans side by side.
pub(crate) const PLANS: &str = include_str!("assets/plans.js");
/// Tables.
pub(crate) const TABLES: &str = include_str!("assets/table.js");

/// Figures in words, facts, and lists that are searched and turned page by page.
pub(crate) const LISTS: &str = include_str!("assets/lists.js");
/// What a workload lacks, from tables and lists.
pub(crate) const SUFFICIENCY: &str = include_str!("assets/sufficiency.js");

/// What every script begins with: elements and numbers, axes, figures, lines, themes.
const CHARTS: [&str; 5] = [
    include_str!("assets/dom.js"),
    include_str!("assets/axes.js"),
    include_str!("assets/figure.js"),
    include_str!("assets/lines.js"),
    include_str!("assets/theme.js"),
];

/// The script of a page, in one scope: what draws charts, then its parts.
pub(crate) fn script(parts: &[&str]) -> String {
    format!("(() => {{\n\"use strict\";\n{}{}}})();\n", CHARTS.concat(), parts.concat())
}

/// The style of a page: that of all, then its own.
pub(crate) fn style(own: &str) -> String {
    [include_str!("assets/page.css"), own].concat()
}

/// A page up to the end of its head. `own` are lines of the page; they come first, so that a policy among them
/// holds for all that follows.
pub(crate) fn head(title: &str, own: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{own}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n</head>\n",
        escape(title)
    )
}
