//! `prospect url-rules`: which differences between URLs do not matter, as the pages of a store tell, and which of
//! them plans go by.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prospect_index::store::{Store, StoreOptions};
use serde_json::json;

use super::Global;
use super::output::{self, Failure, say};
use super::plain::stdout;
use crate::campaign::spellings::{self, held_back};
use crate::planner::dust::{Evidence, Support, Supported};
use crate::planner::spellings::SpellingRule;
use crate::report::number::counted;
use crate::workload::open_lines;

/// Stands for all rules that are proposed, or that there are.
const ALL: &str = "all";
/// Says what a rule is.
const A_RULE: &str = "a rule is scheme, www, slash, index or order, or the name of a parameter with `=` (of \
    the path: `;name=`), then @ and a host, or * for all: slash@a.test, sid=@a.test, utm_source=@*";

/// Arguments of `prospect url-rules`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Go by this rule from now on: of the spellings that it takes for one page one is planned. `all` stands for
    /// those that are proposed, @FILE for those of a file, one a line. May be given more than once.
    #[arg(long, value_name = "RULE|all|@FILE")]
    accept: Vec<String>,
    /// Go by this rule no longer.
    #[arg(long, value_name = "RULE|all|@FILE")]
    drop: Vec<String>,
    /// Propose rules with so many pairs of spellings that had the same text, or more.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    min_support: u32,
    /// Propose rules where these are this share of all pairs, or more.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    min_precision: f64,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if !(0.0..=1.0).contains(&args.min_precision) {
        let error = anyhow::anyhow!("{} is no share", args.min_precision);
        return Err(Failure::input(error, "a share is a number from 0 to 1"));
    }
    let support = Support { pairs: args.min_support as usize, precision: args.min_precision };
    if !(args.accept.is_empty() && args.drop.is_empty()) {
        let options = StoreOptions { create: false, holder: "prospect url-rules".to_owned() };
        let mut store = Store::open(&args.store, &options)?;
        let found = spellings::rules(&store, &store.known()?, support)?;
        spellings::set_rules(&mut store, changed(args, &found)?)?;
    }
    let (found, held) = Store::read_last(&args.store, |store| told(store, support))?;
    let accepted = found.iter().filter(|one| one.accepted).count();
    if global.json {
        return output::print_json(&as_json(&found, held));
    }
    print(&found, held, &mut stdout())?;
    if found.len() > accepted {
        let store = args.store.display();
        say(global, &format!("next: prospect url-rules --store {store} --accept RULE|all"));
    }
    Ok(())
}

/// Rules with what pages say of them, and what those that are accepted hold back, and all of them.
fn told(store: &Store, support: Support) -> Result<(Vec<Supported>, [usize; 2]), Failure> {
    let known = store.known()?;
    let found = spellings::rules(store, &known, support)?;
    let rules: Vec<SpellingRule> = found.iter().map(|one| one.rule.clone()).collect();
    let accepted = found.iter().filter(|one| one.accepted).count();
    let held = held_back(store, &known, [&rules[..accepted], &rules])?;
    Ok((found, held))
}

/// The rules that the store has with what is accepted and dropped, in the order of their acceptance.
fn changed(args: &Args, found: &[Supported]) -> Result<Vec<SpellingRule>, Failure> {
    let of = |accepted: bool| {
        found.iter().filter(move |one| one.accepted == accepted).map(|one| one.rule.clone())
    };
    let mut rules: Vec<SpellingRule> = of(true).collect();
    for rule in named(&args.accept, || of(false).collect())? {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    for rule in named(&args.drop, || of(true).collect())? {
        let Some(at) = rules.iter().position(|known| *known == rule) else {
            let error = anyhow::anyhow!("the store has no rule {rule}");
            return Err(Failure::input(error, "the rules it has are listed without --drop"));
        };
        rules.remove(at);
    }
    Ok(rules)
}

/// Rules by their names.
fn named(
    given: &[String],
    all: impl Fn() -> Vec<SpellingRule>,
) -> Result<Vec<SpellingRule>, Failure> {
    let mut rules = Vec::new();
    for name in given {
        match name.strip_prefix('@') {
            Some(path) => {
                for line in
                    open_lines(Path::new(path))?.iter().filter(|line| !line.starts_with('#'))
                {
                    rules.push(rule(line)?);
                }
            }
            None if name == ALL => rules.extend(all()),
            None => rules.push(rule(name)?),
        }
    }
    Ok(rules)
}

fn rule(name: &str) -> Result<SpellingRule, Failure> {
    name.parse().map_err(|error| Failure::input(anyhow::Error::new(error), A_RULE))
}

fn as_json(found: &[Supported], [now, with_all]: [usize; 2]) -> serde_json::Value {
    let rules = found.iter().map(|Supported { rule, evidence, accepted }| {
        json!({
            "rule": rule,
            "accepted": accepted,
            "same": evidence.same,
            "other": evidence.other,
            "precision": evidence.precision(),
            "pages": evidence.pages,
            "hosts": evidence.hosts,
            "example": evidence.example.as_ref().map(|(one, other)| [one, other]),
        })
    });
    json!({
        "schema": "prospect.url-rules/1",
        "rules": rules.collect::<Vec<_>>(),
        "held_back": now,
        "held_back_with_proposed": with_all,
    })
}

fn print(found: &[Supported], [now, with_all]: [usize; 2], out: &mut dyn Write) -> io::Result<()> {
    let accepted = found.iter().filter(|one| one.accepted).count();
    let proposed = found.len() - accepted;
    writeln!(
        out,
        "{} accepted: {} of the frontier not planned, since another spelling is or was; {proposed} proposed{}",
        counted(accepted as u64, "rule"),
        counted(now as u64, "URL"),
        if proposed > 0 { format!(": with them {with_all}") } else { String::new() }
    )?;
    if found.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{:<9} {:>6} {:>6} {:>9} {:>6} {:>5}  rule",
        "", "same", "other", "precision", "pages", "hosts"
    )?;
    for Supported { rule, evidence, accepted } in found {
        let state = if *accepted { "accepted" } else { "proposed" };
        let Evidence { same, other, pages, hosts, .. } = evidence;
        let precision = evidence.precision();
        writeln!(
            out,
            "{state:<9} {same:>6} {other:>6} {precision:>9.3} {pages:>6} {hosts:>5}  {rule}"
        )?;
        if let Some((one, another)) = &evidence.example {
            writeln!(out, "{:<10}{}", "", output::shown(&format!("{one} = {another}"), 150))?;
        }
    }
    Ok(())
}
