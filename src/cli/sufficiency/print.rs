//! What `prospect sufficiency` prints for people.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;

use super::language_model::Opinion;
use crate::campaign::assessment::{Decision, Judgements};
use crate::campaign::sufficiency::{BestLink, CompatibleQuery, StoreSufficiency};
use crate::cli::Global;
use crate::cli::output::{self, Failure, say};
use crate::cli::plain::stdout;
use crate::report::number::{counted, times};
use crate::report::terminal::impact::expected;
use crate::sufficiency::compatible::Confidence;
use crate::sufficiency::strategy::ScoredLink;
use crate::sufficiency::told::{
    embedding_line, meaning, saturation_line, verdict_line, whole_line,
};
use crate::sufficiency::track::K;
use crate::sufficiency::validation::{Validation, ValidationVerdict};
use crate::sufficiency::verdict::QueryClass;
use crate::workload::Query;

/// Characters of a query that are shown.
const QUERY_WIDTH: usize = 40;
/// Characters of a URL that are shown.
const URL_WIDTH: usize = 100;

/// What is printed.
pub(super) struct Printed<'a> {
    pub(super) decision: Decision<'a>,
    /// By place of the query: what a model says of it.
    pub(super) opinions: BTreeMap<usize, Opinion>,
    /// Queries to list.
    pub(super) show: usize,
}

impl Printed<'_> {
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Decision { of, signals, verdict, .. } = &self.decision;
        self.print_workload(out)?;
        self.print_classes(out)?;
        writeln!(out, "{}", self.batch_line())?;
        writeln!(out, "verdict: {}", verdict_line(signals, verdict))?;
        if let Some(validation) = &of.validation {
            writeln!(out, "{}", validation_line(validation))?;
        }
        if self.show > 0 {
            self.print_queries(out)?;
            self.print_next(out)?;
        }
        self.print_history(out)
    }

    fn print_workload(&self, out: &mut dyn Write) -> io::Result<()> {
        let Decision { of, signals, .. } = &self.decision;
        let (whole, theta) = (self.decision.whole(), signals.theta);
        writeln!(
            out,
            "{} asked {} over {}, statistics epoch {}",
            queries_of(whole.queries),
            times(whole.askings),
            counted(of.sufficiency.pages as u64, "page"),
            of.sufficiency.epoch.number
        )?;
        if let Some(judgements) = &of.judgements {
            let (own, all) = (whole.queries, of.queries().len());
            let left = if own == all { "all".to_owned() } else { format!("{own} of {all}") };
            writeln!(out, "judged by {}: {left}", judgements.strategy)?;
        }
        writeln!(out, "{}", whole_line(&whole, theta))?;
        if let Some(found) = &signals.learning {
            writeln!(out, "  {}", embedding_line(found))?;
        }
        let parts = &whole.parts;
        writeln!(
            out,
            "  coverage {:.3} (by words one by one {:.3}), consistency {:.3}, redundancy {:.3}, coverage of the domain \
             {:.3}",
            parts.coverage, parts.words, parts.consistency, parts.redundancy, parts.domain_coverage
        )?;
        writeln!(out, "  {}", saturation_line(signals.saturation))?;
        for (kind, of) in self.decision.kinds() {
            let (kind, of) = (output::shown(kind, QUERY_WIDTH), whole_line(&of, theta));
            writeln!(out, "  {kind}: {of}")?;
        }
        Ok(())
    }

    fn print_classes(&self, out: &mut dyn Write) -> io::Result<()> {
        for class in QueryClass::ALL {
            let (queries, share) = self.decision.of_class(class);
            writeln!(
                out,
                "  {:<10}  {:>15}, {:>5.1} % of the askings: {}",
                class.name(),
                queries_of(queries),
                100.0 * share,
                meaning(class, self.decision.signals.theta)
            )?;
        }
        Ok(())
    }

    fn batch_line(&self) -> String {
        let next = &self.decision.of.next;
        let urls = counted(next.urls as u64, "URL");
        let urls = match next.in_flight {
            0 => urls,
            in_flight => format!("{urls} beside {in_flight} in flight"),
        };
        let Some(both) = &next.expected else {
            return format!(
                "one more batch of {urls}: what it brings is not foreseen before the first page is there"
            );
        };
        format!(
            "one more batch of {urls}, {} s of a polite crawler: impact that enters lists {}",
            next.seconds,
            expected(&both.enters)
        )
    }

    fn print_queries(&self, out: &mut dyn Write) -> io::Result<()> {
        let places = self.decision.of.by_lack();
        let shown = &places[..places.len().min(self.show)];
        writeln!(
            out,
            "\n{:>11} {:>9} {:>8} {:>11} {:>10} {:>10} {:>8} {:>8}  {:<10}  query: words that no page holds",
            "sufficiency",
            "asked",
            "coverage",
            "consistency",
            "redundancy",
            "saturation",
            "domain",
            "frontier",
            "class"
        )?;
        for &at in shown {
            self.print_query(at, out)?;
        }
        let left = places.len() - shown.len();
        if left > 0 {
            writeln!(
                out,
                "and {} more; --show N lists more of them, --json all",
                queries_of(left)
            )?;
        }
        writeln!(
            out,
            "(frontier: results that URLs not fetched yet may still bring, of {K} places)"
        )
    }

    fn print_query(&self, at: usize, out: &mut dyn Write) -> io::Result<()> {
        let of = self.decision.of;
        let (Query { text, frequency, .. }, parts) = (&of.queries()[at], &of.sufficiency.parts[at]);
        let missing = &of.sufficiency.missing[at];
        let lacks =
            if missing.is_empty() { String::new() } else { format!(": {}", missing.join(" ")) };
        writeln!(
            out,
            "{:>11.3} {frequency:>9} {:>8.3} {:>11.3} {:>10.3} {:>10.3} {:>8.3} {:>8.2}  {:<10}  {}{}",
            of.judged[at],
            parts.coverage,
            parts.consistency,
            parts.redundancy,
            parts.saturation,
            parts.domain_coverage,
            of.frontier[at],
            self.decision.classes[at].name(),
            output::shown(text, QUERY_WIDTH),
            output::shown(&lacks, QUERY_WIDTH),
        )?;
        if let Some(judgements) = &of.judgements {
            Self::print_judgement(judgements, at, out)?;
        }
        if let Some(Opinion { sufficiency, best_link }) = self.opinions.get(&at) {
            let link = best_link.as_ref().map_or_else(String::new, |(url, score)| {
                format!(", best link {score:.3} {}", output::shown(url, URL_WIDTH))
            });
            writeln!(out, "{sufficiency:>11.3} says the language model{link}")?;
        }
        Ok(())
    }

    /// What another strategy than the default goes by, of a query.
    fn print_judgement(
        Judgements { by_query, links, .. }: &Judgements,
        at: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let figures = by_query.get(&at).map_or(&[][..], |own| &own.figures);
        let told: Vec<String> =
            figures.iter().map(|(name, value)| format!("{} {value:.3}", plain(name))).collect();
        let link = links.get(&at).map(link_line);
        let line: Vec<String> = told.into_iter().chain(link).collect();
        if line.is_empty() { Ok(()) } else { writeln!(out, "{:>11} {}", "", line.join(", ")) }
    }

    /// Links that a strategy would follow next for all queries together.
    fn print_next(&self, out: &mut dyn Write) -> io::Result<()> {
        let next = self.decision.of.judgements.as_ref().map_or(&[][..], |own| &own.next);
        if next.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nlinks that it would follow next for all queries together")?;
        next.iter().try_for_each(|link| writeln!(out, "  {}", link_line(link)))
    }

    fn print_history(&self, out: &mut dyn Write) -> io::Result<()> {
        let of = &self.decision.of;
        let history = &of.history;
        let left_out = match of.of_others {
            0 => String::new(),
            others => format!("{} for other queries left out", counted(others as u64, "plan")),
        };
        if history.is_empty() {
            return if left_out.is_empty() { Ok(()) } else { writeln!(out, "\n{left_out}") };
        }
        writeln!(
            out,
            "\n{:<16}  {:>8}  {:>5}  {:>11}  {:>8}  {:>11}  {:>10}  {:>10}",
            "when planned",
            "pages",
            "epoch",
            "sufficiency",
            "coverage",
            "consistency",
            "redundancy",
            "saturation"
        )?;
        for past in history {
            let parts = &past.whole.parts;
            let saturation = past.workload_saturation;
            writeln!(
                out,
                "{:<16}  {:>8}  {:>5}  {:>11.3}  {:>8.3}  {:>11.3}  {:>10.3}  {:>10}",
                past.plan_id,
                past.pages,
                past.epoch,
                past.whole.sufficiency,
                parts.coverage,
                parts.consistency,
                parts.redundancy,
                saturation.map_or("-".to_owned(), |found| format!("{:.3}", found.mean))
            )?;
        }
        let more = if left_out.is_empty() { left_out } else { format!("; {left_out}") };
        writeln!(out, "(where an epoch ends, words count otherwise, and everything may move{more})")
    }
}

fn link_line(ScoredLink { url, score }: &ScoredLink) -> String {
    format!("link {score:.3} {}", output::shown(url, URL_WIDTH))
}

/// A figure's name as people write it.
fn plain(name: &str) -> String {
    name.replace('_', " ")
}

fn queries_of(count: usize) -> String {
    counted(count as u64, "query")
}

/// What held-out variants say.
pub(super) fn validation_line(found: &Validation) -> String {
    let Validation { queries, planned, held_out, difference: (mean, low, high), .. } = found;
    let verdict = match found.verdict {
        ValidationVerdict::Validated => "validated",
        ValidationVerdict::NotValidated => {
            "not validated: it may be much lower for wordings that nobody planned for"
        }
        ValidationVerdict::Irrelevant => "irrelevant: the pages are off the queries' topics",
    };
    format!(
        "{verdict}; {held_out} held-out variants of {} have a sufficiency of {:.3}, the {planned} that are planned for \
         {:.3}, a difference of {mean:+.3} ({low:+.3} to {high:+.3}); coverage {:.3}",
        queries_of(*queries),
        found.held_out_sufficiency,
        found.planned_sufficiency,
        found.coverage
    )
}

/// What the source's shipped code says.
pub(super) fn compatible(
    found: &StoreSufficiency,
    answers: &[CompatibleQuery],
    (drawn, show): (bool, usize),
    global: &Global,
) -> Result<(), Failure> {
    let queries = found.queries();
    let askings: f64 = queries.iter().map(|query| query.frequency).sum();
    let weighted = queries.iter().zip(answers).map(|(q, a)| q.frequency * a.confidence.whole);
    let mean = if askings > 0.0 { weighted.sum::<f64>() / askings } else { 0.0 };
    if global.json {
        let each = queries.iter().zip(answers).map(|(query, answer)| {
            json!({
                "qid": query.qid,
                "query": query.text,
                "frequency": query.frequency,
                "confidence": answer.confidence,
                "best_link": answer.best_link,
            })
        });
        return output::print_json(&json!({
            "schema": "prospect.sufficiency/1",
            "definition": "compatible",
            "pages": found.pages,
            "pairs_are_drawn": drawn,
            "confidence": mean,
            "queries": each.collect::<Vec<_>>(),
        }));
    }
    let mut out = stdout();
    writeln!(
        out,
        "confidence {mean:.6} of {} over {}",
        queries_of(queries.len()),
        counted(found.pages as u64, "page")
    )?;
    for (query, answer) in queries.iter().zip(answers).take(show) {
        let Confidence { coverage, consistency, saturation, whole } = answer.confidence;
        writeln!(
            out,
            "{whole:.6}  coverage {coverage:.6}, consistency {consistency:.6}, saturation {saturation:.6}  {}",
            output::shown(&query.text, QUERY_WIDTH)
        )?;
        if let Some(BestLink { url, score }) = &answer.best_link {
            writeln!(out, "          next link {score:.3}  {url}")?;
        }
    }
    let others = queries.len().saturating_sub(show);
    if others > 0 {
        say(
            global,
            &format!("and {} more: --show {} lists all", queries_of(others), queries.len()),
        );
    }
    if drawn {
        say(global, "consistency is of 20,000 pairs of pages that were drawn, not of all");
    }
    Ok(())
}
