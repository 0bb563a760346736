//! The summary of an experiment as tables for a terminal, at most [`WIDTH`] columns wide where
//! names allow. Text only; who prints it is the command line.

mod ablation;
pub(crate) mod impact;
mod manipulation;
mod single_query;
mod stopping;
mod sufficiency;
mod time;
mod trials;
pub(crate) mod whatif;

use super::number::{counted, decimals, excludes, fixed, thousands, with_interval};
use super::{counterfactual, glossary, scenarios};
use crate::results::{Interval, KindSummary, LimitedSketches, Summary};

/// Columns of text.
pub(crate) const WIDTH: usize = 100;
/// Characters of a policy's name.
const NAME_WIDTH: usize = 30;

/// A column: heading, then one cell a policy.
struct Column {
    heading: String,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        cells.max(width(&self.heading))
    }
}

/// The tables of an experiment: of one query kind, or of every one.
pub(crate) fn tables(summary: &Summary, kind: Option<&str>) -> String {
    let mut out = heading(summary);
    for (at, name) in summary.kinds.iter().enumerate() {
        if kind.is_none_or(|kind| kind == name) {
            out.push('\n');
            out.push_str(&table(summary, at));
        }
    }
    if !summary.kinds.is_empty() {
        out.push_str(&legend(summary));
    }
    // They are of all queries.
    let of_all = kind.is_none_or(|kind| summary.kinds.first().is_none_or(|all| all == kind));
    for limited in summary.analyses.limited_sketches.iter().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&sketches(limited));
    }
    for check in summary.analyses.counterfactual.iter().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&trials::table(&counterfactual::table(check)));
    }
    for check in summary.analyses.whatif.iter().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&trials::table(&scenarios::table(check)));
    }
    if let Some(time) = summary.time.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&time::table(time, summary.metrics.len() > 1));
    }
    if let Some(stopping) = summary.stopping.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&stopping::table(stopping));
    }
    if let Some(single) = summary.single_query.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&single_query::table(single));
    }
    if let Some(check) = summary.sufficiency.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&sufficiency::tables(check));
    }
    if let Some(ablated) = summary.ablation.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&ablation::table(ablated));
    }
    if let Some(attacked) = summary.manipulation.as_ref().filter(|_| of_all) {
        out.push('\n');
        out.push_str(&manipulation::table(attacked));
    }
    out
}

/// Impact against the share of sketches that is kept.
fn sketches(limited: &LimitedSketches) -> String {
    let out = format!(
        "limited sketches, {}, {} % of the uncrawled pages fetched\n",
        named(&limited.policy),
        fixed(limited.fetched_share * 100.0, 0)
    );
    let points = || limited.points.iter();
    let column = |heading: &str, cells: Vec<String>| Column { heading: heading.to_owned(), cells };
    let columns = [
        column("sketches", points().map(|p| thousands(p.sketches.into())).collect()),
        column("impact", points().map(|p| fixed(p.impact_share, 3)).collect()),
        column("of full", points().map(|p| fixed(p.of_full, 3)).collect()),
    ];
    let first = column("fraction", points().map(|p| p.fraction.to_string()).collect());
    out + &rows(&first, &columns)
}

fn heading(summary: &Summary) -> String {
    let (made, collection) = (&summary.provenance, &summary.collection);
    let baseline = summary.baseline.as_deref().map_or("none".to_owned(), |name| clean(name, WIDTH));
    let sets = counted(glossary::seed_sets(summary) as u64, "seed set");
    let crawls = format!("; {sets}; baseline {baseline}");
    // Crawls for one query each tell of themselves.
    let crawls = if summary.single_query.is_some() { String::new() } else { crawls };
    let mut out = format!("{}\n", clean(&summary.title, WIDTH));
    out += &format!(
        "  {} on {}; {} queries{crawls}\n",
        counted(collection.pages.into(), "page"),
        counted(collection.hosts.into(), "host"),
        thousands(collection.evaluation_queries.into()),
    );
    out += &format!(
        "  prospect {}, experiment {}, seed {}, BM25 k1 {} b {}, {}\n",
        clean(&summary.made_by(), 40),
        clean(summary.name(), 20),
        made.seed,
        made.k1,
        made.b,
        glossary::lists(made.k, made.visibility.as_deref()),
    );
    if let Some(rankings) = glossary::rankings(made) {
        out += &format!("  rankings: {}\n", clean(&rankings, WIDTH));
    }
    out
}

fn table(summary: &Summary, kind: usize) -> String {
    let of_kind: Vec<&KindSummary> = summary.policies.iter().map(|p| &p.kinds[kind]).collect();
    let queries = of_kind.first().map_or(0, |kind| kind.queries);
    let mut out =
        format!("queries: {} ({})\n", clean(&summary.kinds[kind], 40), thousands(queries.into()));
    let first = names(summary);
    let mut columns = vec![fetched(summary)];
    columns.extend((0..summary.metrics.len()).map(|metric| area(summary, &of_kind, metric)));
    let sets = glossary::seed_sets(summary);
    let speedups = |heading, of| speedup((heading, sets), &of_kind, of);
    columns.push(speedups("speedup relevant", |kind| kind.speedup_relevant.as_ref()));
    columns.push(speedups("speedup impact", |kind| kind.speedup_impact.as_ref()));
    out += &wrapped(&first, &columns);
    out
}

/// As many columns side by side as fit; the rest follows below, under the names again.
fn wrapped(first: &Column, columns: &[Column]) -> String {
    let mut out = String::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut total = first.width();
        let mut fit = 0;
        while fit < rest.len() && (fit == 0 || total + 2 + rest[fit].width() <= WIDTH) {
            total += 2 + rest[fit].width();
            fit += 1;
        }
        out += &rows(first, &rest[..fit]);
        rest = &rest[fit..];
        if !rest.is_empty() {
            out.push('\n');
        }
    }
    out
}

fn names(summary: &Summary) -> Column {
    let cells = summary.policies.iter().map(|policy| {
        let name = named(&policy.name);
        if policy.oracle { format!("{name} oracle") } else { name }
    });
    Column { heading: "policy".to_owned(), cells: cells.collect() }
}

fn fetched(summary: &Summary) -> Column {
    let cells = summary.policies.iter().map(|policy| {
        let (least, most) = (policy.fetched.iter().min(), policy.fetched.iter().max());
        match (least, most) {
            (Some(least), Some(most)) if least != most => {
                format!("{}-{}", thousands((*least).into()), thousands((*most).into()))
            }
            (_, most) => thousands(most.copied().unwrap_or(0).into()),
        }
    });
    Column { heading: "fetched".to_owned(), cells: cells.collect() }
}

fn area(summary: &Summary, of_kind: &[&KindSummary], metric: usize) -> Column {
    let curves = || of_kind.iter().map(|kind| &kind.curves[metric]);
    let decimals = decimals(curves().map(|curve| curve.area.mean));
    let cells = curves().map(|curve| {
        let marked = curve.area_test.is_some_and(|test| test.significant);
        format!("{}{}", with_interval(&curve.area, decimals), if marked { '*' } else { ' ' })
    });
    Column { heading: clean(&summary.metrics[metric], 24) + " ", cells: cells.collect() }
}

fn speedup(
    (heading, sets): (&str, usize),
    of_kind: &[&KindSummary],
    of: fn(&KindSummary) -> Option<&Interval>,
) -> Column {
    let cells = of_kind.iter().map(|kind| match of(kind) {
        None => "- ".to_owned(),
        Some(interval) => {
            let mark = if excludes(interval, 1.0) { '*' } else { ' ' };
            // Two decimals: the third is never more than noise of the seeds.
            let ends = interval.low.zip(interval.high).map_or(String::new(), |(low, high)| {
                format!(" [{}, {}]", fixed(low, 2), fixed(high, 2))
            });
            let of = glossary::of_sets(interval, sets).map_or(String::new(), |of| format!(" {of}"));
            format!("{}{ends}{mark}{of}", fixed(interval.mean, 2))
        }
    });
    Column { heading: format!("{heading} "), cells: cells.collect() }
}

fn rows(first: &Column, columns: &[Column]) -> String {
    let headings = columns.iter().map(|c| (c.heading.as_str(), c.width()));
    let mut out = row(first, &first.heading, headings);
    for (at, name) in first.cells.iter().enumerate() {
        let cells = columns.iter().map(|c| (c.cells[at].as_str(), c.width()));
        out += &row(first, name, cells);
    }
    out
}

/// A line: a name in the first column, and cells with the widths of theirs.
fn row<'a>(first: &Column, name: &str, cells: impl Iterator<Item = (&'a str, usize)>) -> String {
    let mut line = format!("  {name}{}", " ".repeat(first.width() - width(name)));
    for (cell, column) in cells {
        line += &" ".repeat(2 + column - width(cell));
        line += cell;
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

fn legend(summary: &Summary) -> String {
    let mut out = String::from("\n  metrics: mean height of the curve over pages fetched");
    if glossary::seed_sets(summary) > 1 {
        out += ", 95 % interval over seed sets";
    }
    out.push('\n');
    if let Some(baseline) = &summary.baseline {
        let baseline = named(baseline);
        out += &format!(
            "  * differs from {baseline}: metrics by a paired bootstrap over seed sets and queries \
             (Holm),\n    speedups by their interval; without it: not told apart, or not tested, as HR and impact\n"
        );
    }
    let sets = glossary::seed_sets(summary);
    let kinds = summary.policies.iter().flat_map(|policy| &policy.kinds);
    let mut speedups = kinds.flat_map(|kind| [&kind.speedup_relevant, &kind.speedup_impact]);
    if speedups.any(|of| of.as_ref().is_some_and(|of| glossary::of_sets(of, sets).is_some())) {
        out += "  of N sets: of the seed sets alone in which both crawls reach a level in common\n";
    }
    out
}

/// Characters of `text`; names of policies are Latin.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Text that cannot move the cursor.
fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { ' ' } else { c })
}

/// The same, cut to `most` characters.
fn clean(text: &str, most: usize) -> String {
    let mut out: String = plain(text).take(most + 1).collect();
    if width(&out) > most {
        out = out.chars().take(most.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}

/// The name of a policy, without its middle where it is long: names of one run mostly differ at their ends.
fn named(policy: &str) -> String {
    let all: Vec<char> = plain(policy).collect();
    if all.len() <= NAME_WIDTH {
        return all.into_iter().collect();
    }
    let tail = NAME_WIDTH * 2 / 3;
    let (head, tail) = (&all[..NAME_WIDTH - tail - 1], &all[all.len() - tail..]);
    head.iter().chain(&['…']).chain(tail).collect()
}
