//! How help is arranged: the commonest options first and alone in `-h`, the others under headings, and examples. And
//! what the environment may say instead of an option.
//!
//! What an option is called and does stands where it is defined; this is a table of names. An option that the table does
//! not have is under [`OTHERS`].

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory};

use super::Cli;

/// Options of every command.
const EVERYWHERE: &str = "Every command";
/// Where options are that have no place.
const OTHERS: &str = "Other options";
/// Common options are shown in this order; others behind them.
const BEHIND: usize = 500;
/// What is said of the environment, where an option must be given.
const ENVIRONMENT: [(&str, &str); 2] =
    [("store", "PROSPECT_STORE"), ("workload", "PROSPECT_WORKLOAD")];

/// How the help of a command is arranged.
struct Arranged {
    command: &'static str,
    /// What `-h` shows.
    common: &'static [&'static str],
    groups: &'static [(&'static str, &'static [&'static str])],
    /// What is done, and how.
    examples: [(&'static str, &'static str); 2],
}

const CAPS: (&str, &[&str]) =
    ("How much goes where", &["per-host", "per-domain", "per-site", "site-share"]);
const TIME: (&str, &[&str]) = (
    "Time of a polite crawler",
    &[
        "seconds",
        "delay",
        "queue-by",
        "connections",
        "delays",
        "addresses",
        "robots",
        "agent",
        "max-seconds",
    ],
);
const DRAW: (&str, &[&str]) = ("Exploration and re-visits", &["explore", "seed", "revisit"]);
const COUNTS: (&str, &[&str]) = (
    "What counts",
    &[
        "demand",
        "needy",
        "query-weight",
        "locality-weight",
        "page-weight",
        "importance-weight",
        "quality-weight",
        "discovery-weight",
        "blend",
        "objective",
        "top",
        "visibility",
    ],
);
const ESTIMATES: (&str, &[&str]) = (
    "How impact is estimated",
    &[
        "reading",
        "without",
        "importance",
        "defence",
        "rho",
        "match",
        "ngram",
        "candidates",
        "k1",
        "b",
    ],
);
const MODELS: (&str, &[&str]) = (
    "Models",
    &[
        "quality-model",
        "quality-delay",
        "embedding-model",
        "sufficiency-model",
        "rerank-model",
        "onnxruntime",
        "device",
        "score-cache",
    ],
);

/// How words are made.
const WORDS: (&str, &[&str]) = ("Words", &["stem", "stop-words", "fold-accents"]);

const ARRANGED: &[Arranged] = &[
    Arranged {
        command: "ingest",
        common: &["store", "close", "strict", "base-url"],
        groups: &[("Other inputs", &["html-root", "doc-urls"]), WORDS, MODELS],
        examples: [
            (
                "What a crawler fetched, which is through with its plan:",
                "prospect ingest --store store --close fetched.warc.gz",
            ),
            (
                "A folder of HTML files, and where they were served:",
                "prospect ingest --store store --base-url https://example.org/ site/",
            ),
        ],
    },
    Arranged {
        command: "plan",
        common: &[
            "store", "workload", "budget", "format", "out", "seconds", "per-host", "include",
            "exclude",
        ],
        groups: &[
            ("Which URLs", &["within", "types", "hosts", "domains"]),
            CAPS,
            TIME,
            ("Open plans", &["another", "in-flight-for", "release", "scenario", "name"]),
            DRAW,
            COUNTS,
            ESTIMATES,
            MODELS,
        ],
        examples: [
            (
                "The thousand URLs that are worth most, for wget:",
                "prospect plan --store store --workload queries.tsv --budget 1000 --format urls --out batch.txt",
            ),
            (
                "What a crawler has fetched in ten minutes that waits two seconds between requests to a host:",
                "prospect plan --store store --workload queries.tsv --seconds 600 --delay 2",
            ),
        ],
    },
    Arranged {
        command: "stream",
        common: &[
            "store",
            "workload",
            "in-flight",
            "every",
            "delay",
            "budget",
            "per-host",
            "include",
        ],
        groups: &[
            ("Which URLs", &["within", "exclude", "types", "hosts", "domains"]),
            ("Records", &["strict", "in-flight-for"]),
            CAPS,
            TIME,
            DRAW,
            COUNTS,
            ESTIMATES,
            MODELS,
        ],
        examples: [
            (
                "Beside a crawler, which writes records to standard input and reads URLs from standard output:",
                "prospect stream --store store --workload queries.tsv",
            ),
            (
                "Planned again every second, for a crawler that keeps fifty requests under way:",
                "prospect stream --store store --workload queries.tsv --in-flight 50 --every 1s",
            ),
        ],
    },
    Arranged {
        command: "sufficiency",
        common: &["store", "workload", "theta", "show", "strategy", "stop-on", "stop-file", "html"],
        groups: &[
            ("Wordings and files", &["definition", "variants", "planned-out", "export"]),
            (
                "Language model",
                &["llm-url", "llm-model", "llm-key", "llm-calls", "llm-seconds", "llm-cache"],
            ),
            MODELS,
            (
                "The next plan",
                &[
                    "budget",
                    "per-host",
                    "per-domain",
                    "per-site",
                    "site-share",
                    "seconds",
                    "delay",
                    "queue-by",
                    "connections",
                    "explore",
                    "seed",
                    "revisit",
                ],
            ),
            COUNTS,
            ESTIMATES,
        ],
        examples: [
            (
                "What the workload still lacks, query by query:",
                "prospect sufficiency --store store --workload queries.tsv",
            ),
            (
                "A file that is there when the crawl has enough, for the loop that crawls:",
                "prospect sufficiency --store store --workload queries.tsv --theta 0.8 --stop-file enough",
            ),
        ],
    },
    Arranged {
        command: "simulate",
        common: &[
            "config",
            "out",
            "corpus",
            "store",
            "workload",
            "qrels",
            "policy",
            "seeds",
            "batch",
            "max-pages",
        ],
        groups: &[
            ("Collection", &["title", "base-url", "doc-urls", "quality", "changes", "outside"]),
            WORDS,
            ("Where crawls start", &["seed-sets", "seed", "crawled", "promote"]),
            TIME,
            ("When to stop", &["stop", "single-query", "sufficiency"]),
            (
                "How crawls are measured",
                &[
                    "eval-workload",
                    "checkpoints",
                    "top",
                    "visibility",
                    "k1",
                    "b",
                    "rerank",
                    "baseline",
                    "significance",
                    "runs",
                ],
            ),
            (
                "Experiments",
                &[
                    "ablate",
                    "sketches",
                    "sketches-at",
                    "counterfactual",
                    "counterfactual-at",
                    "whatif",
                    "whatif-at",
                    "attack",
                    "attack-share",
                ],
            ),
            MODELS,
        ],
        examples: [
            (
                "Two policies on a corpus, from 50 random seeds:",
                "prospect simulate --corpus pages.jsonl --workload queries.tsv --policy bfs,hybrid --seeds random:50 --out results",
            ),
            (
                "An experiment that a file describes:",
                "prospect simulate --config experiment.toml --out results",
            ),
        ],
    },
    Arranged {
        command: "evaluate",
        common: &["qrels", "run", "metrics", "per-query", "store", "corpus", "workload"],
        groups: &[("Search", &["write-run", "k1", "b", "rerank", "doc-urls"]), WORDS, MODELS],
        examples: [
            (
                "A run, and another compared with it:",
                "prospect evaluate --qrels judgements.qrels --run first.run --run second.run",
            ),
            (
                "What BM25 finds in the pages of a store:",
                "prospect evaluate --qrels judgements.qrels --store store --workload queries.tsv --metrics nDCG@10",
            ),
        ],
    },
    Arranged {
        command: "whatif",
        common: &[
            "store", "workload", "scenario", "name", "budget", "per-host", "seconds", "scale",
            "html",
        ],
        groups: &[
            ("Other queries", &["replace", "add", "drop", "scale-kind"]),
            ("Other URLs", &["exclude-host", "boost-host", "fetched"]),
            CAPS,
            TIME,
            DRAW,
            COUNTS,
            ESTIMATES,
            MODELS,
        ],
        examples: [
            (
                "Half the budget, and at most 20 URLs of a host:",
                "prospect whatif --store store --workload queries.tsv --budget 500 --per-host 20",
            ),
            (
                "The scenarios of a file, as a page:",
                "prospect whatif --store store --workload queries.tsv --scenario scenarios.toml --html whatif.html",
            ),
        ],
    },
    Arranged {
        command: "explain",
        common: &["store", "query"],
        groups: &[MODELS],
        examples: [
            (
                "Why a URL is planned, or not:",
                "prospect explain --store store https://bread.example/rye",
            ),
            (
                "How well a query is answered, and what may come for it:",
                "prospect explain --store store --query q1",
            ),
        ],
    },
    Arranged {
        command: "seeds",
        common: &["store"],
        groups: &[],
        examples: [
            ("URLs of a list:", "prospect seeds --store store seeds.txt"),
            (
                "What a site says of itself, and what an archive has of it:",
                "prospect seeds --store store sitemap.xml.gz index.cdxj",
            ),
        ],
    },
    Arranged {
        command: "crawl-log",
        common: &["store", "close"],
        groups: &[],
        examples: [
            (
                "What wget logged beside its archive, which is through with its plan:",
                "prospect crawl-log --store store --close fetched.log",
            ),
            ("What Heritrix logged:", "prospect crawl-log --store store crawl.log"),
        ],
    },
    Arranged {
        command: "status",
        common: &["store"],
        groups: &[],
        examples: [
            ("What a store holds, and what came of its plans:", "prospect status --store store"),
            ("The same for a script:", "prospect status --store store --json"),
        ],
    },
    Arranged {
        command: "serve",
        common: &["store", "workload", "listen", "allow-write"],
        groups: &[MODELS],
        examples: [
            (
                "The plan as a page that answers what-if:",
                "prospect serve --store store --workload queries.tsv",
            ),
            (
                "One that may carry a scenario out, on another port:",
                "prospect serve --store store --workload queries.tsv --allow-write --listen 127.0.0.1:8080",
            ),
        ],
    },
    Arranged {
        command: "export",
        common: &["store", "format", "out"],
        groups: &[],
        examples: [
            (
                "The pages of a store, as JSON lines that ingest reads:",
                "prospect export --store store --format pages --out pages.jsonl",
            ),
            (
                "An index of them for other search engines:",
                "prospect export --store store --format ciff --out index.ciff",
            ),
        ],
    },
    Arranged {
        command: "counterfactual",
        common: &["store", "plan", "urls", "budget", "per-host", "seconds"],
        groups: &[CAPS, COUNTS],
        examples: [
            (
                "What another cap would have brought, by what came of the last plan:",
                "prospect counterfactual --store store --per-host 20",
            ),
            (
                "What a batch of one's own would have:",
                "prospect counterfactual --store store --urls batch.txt",
            ),
        ],
    },
];

/// The command line with its help arranged.
pub(super) fn command() -> Command {
    let root =
        Cli::command().mut_args(|arg| arg.help_heading(EVERYWHERE).display_order(2 * BEHIND));
    let names: Vec<String> =
        root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(root, |root, name| root.mut_subcommand(name, arrange))
}

fn arrange(command: Command) -> Command {
    let arranged = ARRANGED.iter().find(|arranged| arranged.command == command.get_name());
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| from_environment(&name, arg));
    let Some(arranged) = arranged else { return command };
    let examples = arranged.examples.map(|(what, how)| format!("  {what}\n    {how}"));
    command
        .mut_args(|arg| arranged.place(arg))
        .after_long_help(format!("Examples:\n{}", examples.join("\n\n")))
}

/// What the environment says of an option that it may stand for.
pub(super) fn environment(command: &str, arg: &Arg) -> Option<OsString> {
    std::env::var_os(variable(command, arg)?)
}

fn from_environment(command: &str, arg: Arg) -> Arg {
    match variable(command, &arg) {
        Some(variable) => arg.env(variable).hide_env_values(true),
        None => arg,
    }
}

/// A command whose queries are those of a plan, unless others are typed.
pub(super) fn without_environment(command: Command) -> Command {
    command.mut_arg("workload", |arg| arg.env(None::<&str>))
}

/// The variable that may stand for an option. What must be given may be given by the environment; what may be left out
/// may not, or nobody could leave it out. The queries of a plan must be given, but for a scenario, which has its own.
fn variable(command: &str, arg: &Arg) -> Option<&'static str> {
    let (name, variable) = ENVIRONMENT.iter().find(|(name, _)| arg.get_long() == Some(name))?;
    let must = arg.is_required_set() || (command, *name) == ("plan", "workload");
    must.then_some(*variable)
}

impl Arranged {
    fn place(&self, arg: Arg) -> Arg {
        let Some(name) = arg.get_long().map(str::to_owned) else { return arg };
        if let Some(at) = self.common.iter().position(|common| *common == name) {
            return arg.display_order(at);
        }
        let group = self.groups.iter().find(|(_, names)| names.contains(&name.as_str()));
        let (heading, at) = group.map_or((OTHERS, 0), |(heading, names)| {
            (*heading, names.iter().position(|other| *other == name).unwrap_or(0))
        });
        arg.help_heading(heading).display_order(BEHIND + at).hide_short_help(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_command_that_is_arranged_has_the_options_and_the_examples_work() {
        let command = Cli::command();
        for Arranged { command: name, common, groups, examples } in ARRANGED {
            let arranged = command.find_subcommand(name).unwrap();
            let there: HashSet<&str> = arranged.get_arguments().filter_map(Arg::get_long).collect();
            let missing: Vec<_> = common.iter().filter(|option| !there.contains(*option)).collect();
            assert!(missing.is_empty(), "{name} has no {missing:?}");
            let placed: HashSet<&str> =
                groups.iter().flat_map(|(_, names)| *names).chain(*common).copied().collect();
            let shown = arranged.get_arguments().filter(|arg| !arg.is_hide_set());
            let shown = shown.filter_map(Arg::get_long);
            let others: Vec<_> = shown.filter(|option| !placed.contains(option)).collect();
            assert!(others.is_empty(), "{name}: {others:?} have no place");
            for (_, how) in examples {
                let tried = self::command().try_get_matches_from(how.split_whitespace());
                assert!(tried.is_ok(), "{how}: {}", tried.unwrap_err());
            }
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
