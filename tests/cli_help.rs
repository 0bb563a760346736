//! Help, completions, man pages, the version, and what the environment says.
//!
//! Story: somebody types `-h` and wants the few options that matter on one screen; `--help` when that is not enough; and
//! does not want to name the same store in every command.

mod common;

use std::fs;

use common::{Bench, command, done};

const ARRANGED: [&str; 7] =
    ["ingest", "plan", "sufficiency", "simulate", "evaluate", "whatif", "counterfactual"];

#[test]
fn short_help_is_short_and_long_help_has_all_by_purpose_with_examples() {
    for name in ARRANGED {
        let short = done(&[name, "-h"]).stdout;
        let long = done(&[name, "--help"]).stdout;
        let options =
            |help: &str| help.lines().filter(|line| line.trim().starts_with("--")).count();
        assert!(options(&short) <= 12, "{short}");
        assert!(options(&long) > options(&short), "{long}");
        assert!(!short.contains("Examples:") && long.contains("\nExamples:\n"), "{long}");
        assert_eq!(long.matches(&format!("    prospect {name} ")).count(), 2, "{long}");
        assert!(!long.contains("Other options:"), "{long}");
    }
    let plan = done(&["plan", "--help"]).stdout;
    for heading in ["Options", "How much goes where", "Time of a polite crawler", "Models"] {
        assert!(plan.contains(&format!("\n{heading}:\n")), "{heading}");
    }
    let at = |option: &str| plan.find(&format!("--{option} ")).unwrap();
    assert!(
        at("store") < at("workload") && at("workload") < at("budget") && at("budget") < at("rho")
    );
}

#[test]
fn completions_and_man_pages_have_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = done(&["generate", "completions", shell]).stdout;
        assert!(script.contains("sufficiency") && script.contains("site-share"), "{shell}");
    }
    let one = done(&["generate", "man"]).stdout;
    assert!(one.contains(".TH prospect 1") && one.contains("prospect\\-plan(1)"), "{one}");
    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("man/man1");
    done(&["generate", "man", "--out", common::text(&man)]);
    for name in ARRANGED {
        let page = fs::read_to_string(man.join(format!("prospect-{name}.1"))).unwrap();
        assert!(page.contains(".SH EXTRA") && page.contains("Examples:"), "{page}");
    }
    assert!(man.join("prospect-quality-score.1").is_file());
}

#[test]
fn the_version_has_the_commit_if_there_is_one() {
    let version = done(&["--version"]).stdout;
    let rest = version.strip_prefix("prospect ").unwrap().trim_end();
    let rest = rest.strip_prefix(env!("CARGO_PKG_VERSION")).unwrap();
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    let is_commit =
        |commit: &str| commit.len() >= 10 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(rest.is_empty() || commit.is_some_and(is_commit), "{version}");
}

#[test]
fn the_environment_stands_for_what_must_be_given_and_options_go_before_it() {
    let bench = Bench::with_store();
    let run = |arguments: &[&str], store: &str| {
        let workload = bench.path("queries.tsv");
        let mut command = command(arguments);
        command.env("PROSPECT_STORE", store).env("PROSPECT_WORKLOAD", workload);
        common::Run::from(command.output().unwrap())
    };
    let (store, none) = (bench.path("store"), bench.path("none"));
    let plan = ["plan", "--budget", "5"];
    assert_eq!(run(&plan, &store).code, Some(0));
    assert_eq!(run(&plan, &none).code, Some(1));
    assert_eq!(run(&["plan", "--budget", "5", "--store", &store], &none).code, Some(0));
    // What may be left out is not taken from there: a corpus goes without a store.
    let (pages, qrels) =
        (bench.path("first.jsonl"), bench.write("qrels", "q00 0 https://a.example/ 1\n"));
    let queries = bench.path("queries.tsv");
    let search = ["evaluate", "--corpus", &pages, "--workload", &queries, "--qrels", &qrels];
    let found = run(&search, &none);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let help = run(&["plan", "-h"], &none).stdout;
    assert!(help.contains("[env: PROSPECT_STORE]") && !help.contains(&none), "{help}");
}

#[test]
fn what_one_repeats_may_stand_beside_the_store() {
    let bench = Bench::with_store();
    let store = bench.path("store");
    let file = "[plan]\nworkload = \"queries.tsv\"\nbudget = 7\nformat = \"urls\"\n[ingest]\nstrict = true\n";
    bench.write("prospect.toml", file);
    let count = |arguments: &[&str]| done(arguments).stdout.lines().count();
    let plan = ["plan", "--store", &store];
    assert_eq!(count(&plan), 7);
    let said = done(&plan).stderr;
    let queries = bench.path("queries.tsv");
    let told = format!("prospect.toml: --budget=7 --format=urls --workload={queries}\n");
    assert!(said.starts_with("from ") && said.contains(&told), "{said}");
    assert_eq!(count(&["plan", "--another", &format!("--store={store}"), "--budget=3"]), 3);
    let bad = bench.write("bad.jsonl", "{}\n");
    let strict = common::prospect(&["ingest", "--store", &store, &bad]).stderr;
    assert!(strict.contains("without --strict"), "{strict}");
    for (file, expected) in [
        ("[plan]\nbugdet = 5\n", "[plan] takes no `bugdet`\n\nhint: did you mean `budget`?"),
        ("[paln]\nbudget = 5\n", "there is no command `paln`\n\nhint: did you mean `plan`?"),
        ("[plan]\nbudget = true\n", "[plan] budget cannot be true\n\nhint: options of a command"),
        ("[plan\n", "TOML parse error at line 1"),
        ("plan = 5\n", "plan is no table"),
        ("budget = 5\n", "`budget` stands below no command\n\nhint: options of a command"),
        ("[plan]\nstore = \"other\"\n", "[plan] takes no `store`"),
    ] {
        let path = bench.write("prospect.toml", file);
        let run = common::prospect(&plan);
        assert_eq!(run.code, Some(1), "{file}");
        assert!(run.stderr.starts_with(&format!("error: {path}: ")), "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{file}: {}", run.stderr);
    }
    bench.write("prospect.toml", "[status]\njson = true\n");
    let said = common::prospect(&["status", "--store", &store]).stderr;
    assert!(said.contains("[status] takes no `json`\n\nhint: leave it out here"), "{said}");
}
