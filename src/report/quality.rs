//! Analyses of quality as tables for a terminal.

use super::number::{counted, fixed, thousands};
use crate::results::quality::{Auc, Distribution, QualityAnalysis, QualityCollection};

/// Decimals of scores, correlations and areas.
const PLACES: usize = 3;
/// Width of a histogram's longest bar.
const BAR: usize = 40;

/// The tables.
pub(crate) fn tables(found: &QualityAnalysis) -> String {
    let mut out = distributions(found);
    out += &histograms(found);
    out += &neighbours(found);
    out += &distances(found);
    for collection in &found.collections {
        out += &relevance(collection);
    }
    out
}

fn distributions(found: &QualityAnalysis) -> String {
    let mut rows = vec![heading(&["collection", "pages", "no score"])];
    for one in &found.collections {
        let share = 100.0 * (one.pages - one.scored) as f64 / one.pages.max(1) as f64;
        let mut row = vec![one.name.clone(), thousands(one.pages), format!("{share:.1} %")];
        row.extend(cells(one.distribution.as_ref()));
        rows.push(row);
    }
    let mut out = format!("Scores ({})\n{}", found.column, aligned(&rows));
    for one in &found.collections {
        for what in left_out(one) {
            out += &format!("{}: {what} left out\n", one.name);
        }
    }
    out
}

/// What of a collection was left out, counted.
pub(super) fn left_out(one: &QualityCollection) -> impl Iterator<Item = String> {
    let left = [
        (one.skipped, "row that cannot be read"),
        (one.repeated, "earlier row of a repeated URL"),
        (one.without_url, "row without a usable URL"),
    ];
    left.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what))
}

/// Names of the figures of a distribution.
pub(super) const FIGURES: [&str; 9] =
    ["min", "5 %", "25 %", "median", "75 %", "95 %", "max", "mean", "sd"];

/// The figures of a distribution, in the order of [`FIGURES`].
pub(super) fn figures(d: &Distribution) -> [f64; FIGURES.len()] {
    [d.min, d.p05, d.p25, d.median, d.p75, d.p95, d.max, d.mean, d.sd]
}

fn heading(first: &[&str]) -> Vec<String> {
    first.iter().chain(&FIGURES).map(ToString::to_string).collect()
}

fn cells(distribution: Option<&Distribution>) -> Vec<String> {
    let Some(d) = distribution else { return vec!["-".to_owned(); FIGURES.len()] };
    figures(d).map(|value| fixed(value, PLACES)).into()
}

fn histograms(found: &QualityAnalysis) -> String {
    let (Some(low), Some(high)) = (found.low, found.high) else { return String::new() };
    let mut out = String::new();
    for one in &found.collections {
        let most = one.histogram.iter().copied().max().unwrap_or(0).max(1);
        out += &format!("\nHistogram: {}\n", one.name);
        let bins = one.histogram.len().max(1) as f64;
        let rows: Vec<Vec<String>> = one
            .histogram
            .iter()
            .enumerate()
            .map(|(at, count)| {
                let start = low + (high - low) * at as f64 / bins;
                let bar = (*count as f64 / most as f64 * BAR as f64).round() as usize;
                vec![fixed(start, PLACES), thousands(*count), "#".repeat(bar)]
            })
            .collect();
        for row in rows {
            out += format!("{:>8} {:>10} {}", row[0], row[1], row[2]).trim_end();
            out.push('\n');
        }
    }
    out
}

fn neighbours(found: &QualityAnalysis) -> String {
    let mut rows = vec![vec![
        "collection".to_owned(),
        "pages with links".to_owned(),
        "Pearson".to_owned(),
        "line".to_owned(),
    ]];
    for one in &found.collections {
        let Some(scatter) = &one.neighbours else { continue };
        let line = scatter.line.map_or("-".to_owned(), |(a, b)| {
            format!("{} + {} x", fixed(a, PLACES), fixed(b, PLACES))
        });
        let pearson = scatter.correlation.map_or("-".to_owned(), |r| fixed(r, PLACES));
        rows.push(vec![one.name.clone(), thousands(scatter.pages.into()), pearson, line]);
    }
    if rows.len() == 1 {
        return "\nNo column of links, so pages are not set beside their neighbours.\n".to_owned();
    }
    format!("\nQuality of a page (x) and mean quality of the pages it links to\n{}", aligned(&rows))
}

fn distances(found: &QualityAnalysis) -> String {
    if found.distances.is_empty() {
        return String::new();
    }
    let name = |at: usize| found.collections[at].name.clone();
    let rows: Vec<Vec<String>> = found
        .distances
        .iter()
        .map(|pair| {
            let distance = pair.distance.map_or("-".to_owned(), |distance| fixed(distance, 4));
            vec![name(pair.a), name(pair.b), distance]
        })
        .collect();
    format!("\nJensen-Shannon distance\n{}", aligned(&rows))
}

fn relevance(one: &QualityCollection) -> String {
    let Some(found) = &one.relevance else { return String::new() };
    let mut rows = vec![heading(&["group", "pages"])];
    for (name, group) in [("relevant", &found.relevant), ("others", &found.others)] {
        let count = group.map_or(0, |group| group.count);
        let mut row = vec![name.to_owned(), thousands(count)];
        row.extend(cells(group.as_ref()));
        rows.push(row);
    }
    let mut out = format!("\nRelevant pages: {}\n{}", one.name, aligned(&rows));
    if found.missing > 0 {
        let what = counted(found.missing, "relevant URL");
        out += &format!("{what} of the judgements not in the collection\n");
    }
    let mut rows = vec![["ordered by", "AUC", "95 %"].map(str::to_owned).to_vec()];
    rows.extend(found.aucs.iter().map(area));
    if rows.len() > 1 {
        out += &aligned(&rows);
    }
    out
}

/// The row of an area under a curve: by what pages are ordered, the area, and its interval.
fn area(auc: &Auc) -> Vec<String> {
    let area = &auc.area;
    let ends = area.low.zip(area.high);
    let ends = ends.map_or(String::new(), |(low, high)| {
        format!("[{}, {}]", fixed(low, PLACES), fixed(high, PLACES))
    });
    vec![auc.by.clone(), fixed(area.mean, PLACES), ends]
}

/// Rows in columns, the first to the left, the others to the right. Names lose what would move a
/// terminal's cursor.
fn aligned(rows: &[Vec<String>]) -> String {
    let clean = |cell: &String| -> String {
        cell.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(clean).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|at| width(&rows, at)).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line += &match at {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Characters of the widest cell of a column.
fn width(rows: &[Vec<String>], at: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(at));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}
