//! Tables of plans under scenarios. They need no script, which makes their columns sortable.

use super::TODAY;
use crate::report::number::{counted, decimals, fixed, short, thousands};
use crate::results::whatif::{
    CapPrice, HostChange, PlanFigures, ScenarioFigures, Uncovered, UrlChange, WhatIf,
    WhatIfQueryChange,
};
use crate::web::{escape, isolated};

/// Heading of the one column of words.
const WHY: &str = "why";

/// A table with a caption and headings; nothing is said of rows that are not there.
fn table(caption: &str, headings: &[&str], rows: &[String]) -> String {
    let mut heads = String::new();
    for heading in headings {
        let class = if *heading == WHY { " class=\"text\"" } else { "" };
        heads += &format!("<th scope=\"col\"{class}>{heading}</th>");
    }
    format!(
        "<div class=\"scroll numbers\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table class=\"sortable\">\n<caption>{}</caption>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
        escape(caption),
        isolated(caption),
        rows.concat(),
    )
}

/// A row: what it is of, which is HTML, by what that is sorted, and the other cells.
fn row(name: &str, sort: &str, cells: &[String]) -> String {
    let sort = escape(sort);
    format!(
        "<tr><th scope=\"row\" class=\"query\" data-sort=\"{sort}\">{name}</th>{}</tr>\n",
        cells.concat()
    )
}

fn figure(value: f64, places: usize) -> String {
    format!("<td data-sort=\"{}\">{}</td>", short(value), fixed(value, places))
}

fn count(value: usize) -> String {
    format!("<td data-sort=\"{value}\">{}</td>", thousands(value as u64))
}

/// A change, with its sign. Losses too have separators.
pub(super) fn signed(value: f64, places: usize) -> String {
    let sign = match value {
        ..0.0 => "−",
        0.0 => "",
        _ => "+",
    };
    format!("{sign}{}", fixed(value.abs(), places))
}

fn changed(value: f64, places: usize) -> String {
    format!("<td data-sort=\"{}\">{}</td>", short(value), signed(value, places))
}

fn position(rank: Option<usize>) -> String {
    rank.map_or_else(|| "<td>–</td>".to_owned(), count)
}

/// All plans: a row each.
pub(super) fn plans(found: &WhatIf) -> String {
    let headings = [
        "plan",
        "URLs",
        "expected impact",
        "of it after a quarter more",
        "change",
        "today's batch here",
        "enter",
        "leave",
        "move",
        "knee",
        "one URL more",
        "queries without help",
    ];
    let figures = std::iter::once(&found.base).chain(found.scenarios.iter().map(|one| &one.plan));
    let places = decimals(figures.map(PlanFigures::enters));
    let mut rows = vec![plan(TODAY, &found.base, None, places)];
    for one in &found.scenarios {
        rows.push(plan(&one.name, &one.plan, Some(one), places));
    }
    table("All plans", &headings, &rows)
}

fn plan(
    name: &str,
    plan: &PlanFigures,
    scenario: Option<&ScenarioFigures>,
    places: usize,
) -> String {
    let expected = &plan.expected_impact;
    let mut cells = vec![count(plan.picks)];
    cells.extend(
        [expected.enters.impact, expected.stays.impact].map(|impact| figure(impact, places)),
    );
    let difference = scenario.map(|scenario| &scenario.difference);
    let none = || "<td>–</td>".to_owned();
    cells.push(difference.map_or_else(none, |of| changed(of.impact, places)));
    cells.push(difference.map_or_else(none, |of| figure(of.unchanged_batch, places)));
    cells.push(difference.map_or_else(none, |of| count(of.entering_count)));
    cells.push(difference.map_or_else(none, |of| count(of.leaving_count)));
    cells.push(difference.map_or_else(none, |of| count(of.moving_count)));
    cells.push(position(plan.curve.knee.map(|knee| knee.budget)));
    cells.push(figure(plan.curve.shadow_price, 3));
    cells.push(count(plan.uncovered.queries));
    row(&isolated(name), name, &cells)
}

/// URLs that enter, leave or move; `all` is how many there are.
pub(super) fn urls(caption: &str, changes: &[UrlChange], all: usize) -> String {
    if changes.is_empty() {
        return format!("<p class=\"note\">{caption}: none.</p>\n");
    }
    let headings = ["URL", "place before", "after", "estimate before", "after", WHY];
    let rows: Vec<String> = changes.iter().map(url).collect();
    let more = match all - changes.len().min(all) {
        0 => String::new(),
        _ => format!(", the first {}", thousands(changes.len() as u64)),
    };
    let caption = format!("{caption}: {}{more}", thousands(all as u64));
    let open = if all <= 20 { " open" } else { "" };
    let table = table(&caption, &headings, &rows);
    format!("<details{open}>\n<summary>{}</summary>\n{table}</details>\n", escape(&caption))
}

/// The row of a URL.
fn url(change: &UrlChange) -> String {
    let cells = [
        position(change.rank_before),
        position(change.rank_after),
        figure(change.estimate_before, 3),
        figure(change.estimate_after, 3),
        format!("<td class=\"text why\" data-sort=\"\">{}</td>", isolated(&change.reason)),
    ];
    row(&link(&change.url), &change.url, &cells)
}

/// A URL that can be followed where it is one of the web.
fn link(url: &str) -> String {
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return isolated(url);
    }
    format!(
        "<a href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\">{}</a>",
        escape(url),
        isolated(url)
    )
}

/// Queries that gain or lose.
pub(super) fn queries(caption: &str, changes: &[WhatIfQueryChange]) -> String {
    if changes.is_empty() {
        return format!("<p class=\"note\">{caption}: none.</p>\n");
    }
    let headings = ["query", "asked before", "after", "results before", "after", "askings gained"];
    table(caption, &headings, &changes.iter().map(query).collect::<Vec<_>>())
}

/// The row of a query.
fn query(change: &WhatIfQueryChange) -> String {
    let cells = [
        figure(change.frequency_before, 1),
        figure(change.frequency_after, 1),
        figure(change.results_before, 3),
        figure(change.results_after, 3),
        changed(change.askings_gained(), 2),
    ];
    row(&isolated(&change.query), &change.query, &cells)
}

/// Hosts whose picks change.
pub(super) fn hosts(changes: &[HostChange]) -> String {
    let headings = ["host", "URLs before", "after", "impact before", "after", "change"];
    let all = changes.iter().flat_map(|host| [host.impact_before, host.impact_after]);
    let places = decimals(all);
    let rows: Vec<String> = changes.iter().map(|change| host(change, places)).collect();
    table("Hosts whose picks change most", &headings, &rows)
}

/// The row of a host; impact has so many decimals.
fn host(change: &HostChange, places: usize) -> String {
    let cells = [
        count(change.urls_before),
        count(change.urls_after),
        figure(change.impact_before, places),
        figure(change.impact_after, places),
        changed(change.impact_after - change.impact_before, places),
    ];
    row(&isolated(&change.host), &change.host, &cells)
}

/// What caps cost; nothing where none is set.
pub(super) fn caps(prices: &[CapPrice], held_back: usize) -> String {
    if prices.is_empty() {
        return String::new();
    }
    let held = counted(held_back as u64, "URL");
    let rows: Vec<String> = prices.iter().map(cap).collect();
    let table = table("Price of each cap", &["cap", "limit", "price"], &rows);
    format!("<h3>Caps</h3>\n<p>Caps hold {held} back.</p>\n{table}")
}

/// The row of a cap.
fn cap(cap: &CapPrice) -> String {
    let limit = format!("<td data-sort=\"{}\">{}</td>", cap.limit, cap.limit);
    row(&isolated(&cap.cap), &cap.cap, &[limit, figure(cap.price, 3)])
}

/// Queries that nothing in the frontier can help.
pub(super) fn uncovered(uncovered: &Uncovered, plan: &str) -> String {
    let heading =
        format!("<h3>Queries that no known URL is expected to help: {}</h3>\n", isolated(plan));
    if uncovered.queries == 0 {
        return heading + "<p>Every query has a URL in the frontier that may help it.</p>\n";
    }
    let rows: Vec<String> = uncovered
        .most_asked
        .iter()
        .map(|query| {
            let cells = [figure(query.frequency, 1), count(query.served)];
            row(&isolated(&query.query), &query.query, &cells)
        })
        .collect();
    let table = table("The most asked", &["query", "asked", "results now"], &rows);
    format!(
        "{heading}<p>No known URL may answer {} of them, {} askings together: they need seeds.</p>\n{table}",
        thousands(uncovered.queries as u64),
        fixed(uncovered.frequency, 1),
    )
}
