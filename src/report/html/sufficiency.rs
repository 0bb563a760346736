//! The page of `prospect sufficiency --html`: what the tab of the local page shows, with the queries that lack most
//! in the page. Without a script there are the verdict and a table of them.

use super::{head, script, tail};
use crate::report::number::{counted, fixed, thousands};
use crate::results::sufficiency::{LackingQuery, SufficiencyPage};
use crate::web::{self, escape, isolated};

const PARTS_OF_SCRIPT: &[&str] =
    &[web::TABLES, web::LISTS, web::SUFFICIENCY, include_str!("../assets/sufficiency.js")];

/// The page.
///
/// # Errors
/// When a value cannot be JSON, which the types of an assessment do not allow.
pub(crate) fn page(found: &SufficiencyPage) -> Result<String, serde_json::Error> {
    let title =
        format!("Enough? {} over {}", queries(found.queries), counted(found.pages as u64, "page"));
    let script = script(PARTS_OF_SCRIPT);
    let mut out = head(&title, &script);
    out += "<main>\n<section class=\"experiment\" id=\"s0\" data-experiment=\"0\">\n";
    out += "<div class=\"view\" data-view=\"enough\"></div>\n";
    for note in &found.notes {
        out += &format!("<p>{}</p>\n", escape(note));
    }
    out += &format!("<noscript>\n{}{}</noscript>\n", lines(found), table(found));
    out += "</section>\n</main>\n";
    Ok(out + &tail(&serde_json::json!([found.drawn]), &script)?)
}

fn queries(count: usize) -> String {
    counted(count as u64, "query")
}

fn lines(found: &SufficiencyPage) -> String {
    let line = |line: &String| format!("<p>{}</p>\n", escape(line));
    found.lines.iter().map(line).collect()
}

fn table(found: &SufficiencyPage) -> String {
    let all = queries(found.queries);
    let caption = match found.lacking.len() {
        some if some < found.queries => {
            format!("Of {all} the {} that lack most", thousands(some as u64))
        }
        _ => format!("{all}, those first that lack most"),
    };
    let headings = ["query", "sufficiency", "asked", "class", "words that no page holds"];
    let headings = headings.map(|heading| format!("<th scope=\"col\">{heading}</th>")).concat();
    let rows: String = found.lacking.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table>\n<caption>{caption}</caption>\n<thead><tr>{headings}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn row(query: &LackingQuery) -> String {
    let LackingQuery { query, frequency, sufficiency, class, missing } = query;
    format!(
        "<tr><th scope=\"row\" class=\"query\">{}</th><td>{}</td><td>{frequency}</td><td class=\"text\">{class}</td>\
         <td class=\"text why\">{}</td></tr>\n",
        isolated(query),
        fixed(*sufficiency, 3),
        isolated(&missing.join(" ")),
    )
}
