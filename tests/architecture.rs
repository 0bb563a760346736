//! Who may know whom: the rules that keep a part replaceable, held against every file of `src/` and
//! `index/src/`.
//!
//! Two tables, in `architecture/table.rs`. [`MAY_USE`] is ordered from the bottom up and says which modules a module of the
//! package `prospect` may use. [`OWNERS`] says where a dependency, or a door to the world outside,
//! may be used at all. When a rule here stands in your way, the usual answer is to move the code; if
//! the rule is wrong, change its line and its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

#[path = "architecture/source.rs"]
mod source;
#[path = "architecture/table.rs"]
mod table;

use source::Found;
use table::{MAY_USE, NOT_IN_INDEX, OWNERS, SPEAKS_OF_COMMANDS, UNSAFE};

#[derive(Debug, PartialEq)]
struct Violation {
    file: String,
    line: usize,
    used: String,
    allowed: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, used, allowed } = self;
        write!(f, "{file}:{line}: uses `{used}`; {allowed}")
    }
}

/// `path` is `prefix` or lies below it, with `separator` between names.
fn is_below(path: &str, prefix: &str, separator: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}

/// Functions, types, traits and constants that may be public, of both packages.
const MOST_PUBLIC: usize = 400;

/// The module path of a file: `src/plan/mod.rs` is `prospect::plan`.
fn module_of(file: &str) -> String {
    let (name, below) = match file.strip_prefix("index/src/") {
        Some(below) => ("prospect_index", below),
        None => ("prospect", file.strip_prefix("src/").expect("a file below src/")),
    };
    let below = below.trim_end_matches(".rs");
    let below = if matches!(below, "lib" | "main") { "" } else { below.trim_end_matches("/mod") };
    let names = below.split('/').filter(|name| !name.is_empty());
    std::iter::once(name).chain(names).collect::<Vec<_>>().join("::")
}

/// The row of [`MAY_USE`] for a file of `src/`; none for the on-disk side.
fn row_of(file: &str) -> Option<&'static (&'static str, &'static [&'static str], &'static str)> {
    let below = file.strip_prefix("src/")?;
    let name = below.split('/').next().unwrap_or(below).trim_end_matches(".rs");
    let row = MAY_USE.iter().find(|(module, _, _)| *module == name);
    Some(row.unwrap_or_else(|| panic!("{file}: the module {name} has no row in MAY_USE")))
}

fn violations(file: &str, found: &Found) -> Vec<Violation> {
    let module = module_of(file);
    let mut broken = Vec::new();
    for used in &found.paths {
        let mut break_rule = |allowed: String| {
            let (file, used, line) = (file.to_owned(), used.path.clone(), used.line);
            broken.push(Violation { file, line, used, allowed });
        };
        if let Some((name, allowed, why)) = row_of(file) {
            let own = format!("prospect::{name}");
            let internal = ["prospect", "prospect_index"];
            let is_internal = internal.iter().any(|name| is_below(&used.path, name, "::"));
            let may = allowed.iter().any(|allowed| is_below(&used.path, allowed, "::"));
            if is_internal && !may && !is_below(&used.path, &own, "::") {
                break_rule(format!("`{name}` may use {} ({why})", list(allowed)));
            }
        }
        for (path, owners, why) in OWNERS {
            let may = owners.iter().any(|owner| is_below(file, owner, "/"));
            // A whole module, `use std::fs`, is as much as what lies in it.
            if is_below(&used.path, path, "::") && !may {
                break_rule(format!("`{path}` is for {} ({why})", list(owners)));
            }
        }
        if used.exported && !is_below(&used.path, &module, "::") {
            break_rule(
                "only a module's own children are exported (others go round this table)".into(),
            );
        }
        if used.path.ends_with("::*") && !used.path.ends_with("::prelude::*") {
            break_rule("only a prelude is imported as a whole (a glob hides names)".into());
        }
    }
    broken
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the dependencies of a manifest, as crates are named in code.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(manifest)).unwrap();
    let mut names = BTreeSet::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            line.clone_into(&mut section);
        } else if let ("[dependencies]", Some((name, _))) = (section.as_str(), line.split_once('='))
        {
            let name = name.trim().split('.').next().unwrap_or(name);
            names.insert(name.replace('-', "_"));
        }
    }
    names
}

/// The crates that a file may name.
fn crates_of(file: &str) -> BTreeSet<String> {
    if file.starts_with("index/") {
        return dependencies("index/Cargo.toml");
    }
    let mut names = dependencies("Cargo.toml");
    names.insert("prospect".to_owned());
    names
}

/// Every file of both packages with its text.
fn texts() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["src", "index/src"] {
        walk(&root().join(folder), &mut files);
    }
    files.sort();
    let mut texts = Vec::with_capacity(files.len());
    for path in files {
        let file = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        texts.push((file, std::fs::read_to_string(&path).unwrap()));
    }
    texts
}

/// Every file of both packages with what it uses, tests left out.
fn files() -> Vec<(String, Found)> {
    let mut found: Vec<(String, Found)> = Vec::new();
    for (file, text) in texts() {
        let paths = source::paths(&text, &module_of(&file), &crates_of(&file));
        found.push((file, paths));
    }
    let tests: BTreeSet<String> =
        found.iter().flat_map(|(_, found)| found.test_modules.clone()).collect();
    found.retain(|(file, _)| !tests.contains(&module_of(file)));
    found
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_file_keeps_to_the_tables() {
    let broken: Vec<String> = files()
        .iter()
        .flat_map(|(file, found)| violations(file, found))
        .map(|violation| violation.to_string())
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Whether a text names an option, or a command as people type it.
fn names_a_command(text: &str) -> bool {
    let is_option = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    text.contains("`prospect ") || text.split("--").skip(1).any(is_option)
}

/// Lines of a source whose texts name an option or a command.
fn lines_of_commands(source: &str) -> Vec<usize> {
    let texts = source::texts(source).into_iter();
    texts.filter(|(_, text)| names_a_command(text)).map(|(line, _)| line).collect()
}

#[test]
fn only_the_command_line_names_options_and_commands() {
    let mut named = Vec::new();
    for (file, _) in files() {
        if file.starts_with("src/") && !is_below(&file, SPEAKS_OF_COMMANDS, "/") {
            let source = std::fs::read_to_string(root().join(&file)).unwrap();
            named.extend(lines_of_commands(&source).iter().map(|line| format!("{file}:{line}")));
        }
    }
    assert!(named.is_empty(), "these belong to {SPEAKS_OF_COMMANDS}:\n{}\n", named.join("\n"));
}

#[test]
fn options_and_commands_are_found_in_texts_alone() {
    let found = "let a = \"say --strict\";\nlet b = r#\"make one: `prospect plan`\"#;\n\
                 let c = \"`prospect \\\n plan`\";";
    assert_eq!(lines_of_commands(found), [1, 2, 3]);
    let none = "// --strict\n/// `prospect plan`\nlet a = \"a -- b, x--1, <!-- c -->\"; let b = c--d;\n\
                #[cfg(test)]\nmod tests { const A: &str = \"--strict\"; }";
    assert_eq!(lines_of_commands(none), [0; 0]);
}

#[test]
fn no_row_looks_upward() {
    for (at, (module, allowed, _)) in MAY_USE.iter().enumerate() {
        for name in allowed.iter().filter_map(|allowed| allowed.strip_prefix("prospect::")) {
            let below = MAY_USE[..at].iter().any(|(lower, _, _)| is_below(name, lower, "::"));
            assert!(below, "{module} may use {name}, which is no row above it");
        }
    }
}

#[test]
fn every_dependency_has_an_owner_that_uses_it() {
    let used: BTreeSet<String> = files()
        .iter()
        .flat_map(|(_, found)| &found.paths)
        .map(|used| used.path.split("::").next().unwrap_or_default().to_owned())
        .collect();
    let mut names = dependencies("Cargo.toml");
    names.extend(dependencies("index/Cargo.toml"));
    for name in &names {
        assert!(OWNERS.iter().any(|(path, _, _)| path == name), "{name} has no row in OWNERS");
        assert!(used.contains(name), "no file uses the dependency {name}");
    }
    for (path, _, _) in OWNERS.iter().filter(|(path, _, _)| !path.contains("::")) {
        assert!(names.contains(*path), "OWNERS has a row for {path}, which is no dependency");
    }
}

#[test]
fn the_on_disk_side_depends_on_nothing_clever() {
    let names = dependencies("index/Cargo.toml");
    for name in NOT_IN_INDEX {
        assert!(!names.contains(*name), "index/Cargo.toml: depends on {name}");
    }
}

#[test]
fn unsafe_code_is_in_one_file() {
    let mut found = BTreeSet::new();
    for (file, text) in texts() {
        if !source::lines_with(&text, &["unsafe", "unsafe_code"]).is_empty() {
            found.insert(file);
        }
    }
    assert_eq!(found, BTreeSet::from([UNSAFE.to_owned()]));
}

#[test]
fn unsafe_code_is_found_however_it_is_written() {
    let words = ["unsafe", "unsafe_code"];
    let text = "// unsafe\nfn f() { unsafe\n{} }\n#![allow(unsafe_code)]\nlet a = \"unsafe\";";
    assert_eq!(source::lines_with(text, &words), [2, 4]);
    assert_eq!(source::lines_with("mod tests { unsafe impl Send for A {} }", &words), [1]);
}

/// The violations of a planted text, as `line used`.
fn planted(file: &str, text: &str) -> Vec<String> {
    let found = source::paths(text, &module_of(file), &crates_of(file));
    violations(file, &found).iter().map(|v| format!("{} {}", v.line, v.used)).collect()
}

#[test]
fn a_planted_violation_is_found_however_it_is_written() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("src/plan/mod.rs", "use crate::campaign::close;", &["1 prospect::campaign::close"]),
        ("src/plan/caps.rs", "\nuse super::super::cli;", &["2 prospect::cli"]),
        (
            "src/graph/mod.rs",
            "use {std::io, crate::{graph, plan::{caps, Pick}}};",
            &["1 prospect::plan::caps", "1 prospect::plan::Pick"],
        ),
        (
            "src/sketch/need.rs",
            "fn f() { crate::estimate::estimate(); }",
            &["1 prospect::estimate::estimate"],
        ),
        (
            "src/sketch/mod.rs",
            "use crate as it;\nfn f(_: it::plan::Pick) {}",
            &["1 prospect", "2 prospect::plan::Pick"],
        ),
        ("src/campaign/mod.rs", "use prospect::cli;", &["1 prospect::cli"]),
        (
            "src/campaign/close.rs",
            "use crate::workload::qrels::Qrels;",
            &["1 prospect::workload::qrels::Qrels"],
        ),
        (
            "src/ingest/mod.rs",
            "use prospect_index::store::Store;",
            &["1 prospect_index::store::Store"],
        ),
        ("src/plan/mod.rs", "#[derive(clap::Args)]\nstruct A;", &["1 clap::Args"]),
        ("src/cli/plan.rs", "fn f(g: ::petgraph::Graph) {}", &["1 petgraph::Graph"]),
        ("index/src/store.rs", "use parquet::file as p;", &["1 parquet::file"]),
        ("index/src/ngram/mod.rs", "fn f() -> tantivy::Result<()> {}", &["1 tantivy::Result"]),
        (
            "src/estimate/pairs.rs",
            "use std::fs;\nfn f() { fs::read(\"x\"); }",
            &["1 std::fs", "2 std::fs::read"],
        ),
        (
            "src/estimate/pairs.rs",
            "use std::time;\nfn f() { time::Instant::now(); }",
            &["2 std::time::Instant::now"],
        ),
        (
            "src/estimate/mod.rs",
            "fn f() { /* not a text: \" */ println!(\"{}\", '\"'); }",
            &["1 std::println!"],
        ),
        (
            "index/src/check.rs",
            "fn f<'a>() { std::eprintln!(); std::env::var(\"X\"); }",
            &["1 std::eprintln!", "1 std::env::var"],
        ),
        (
            "src/ingest/mod.rs",
            "use std::io::{self, Write};\nfn f() { io::stdout(); }",
            &["2 std::io::stdout"],
        ),
        ("src/cli/mod.rs", "fn f() { dbg!(1); }", &["1 std::dbg!"]),
        ("src/sketch/mod.rs", "pub use crate::workload::Query;", &["1 prospect::workload::Query"]),
        ("src/sketch/mod.rs", "use crate::workload::*;", &["1 prospect::workload::*"]),
        (
            "src/plan/mod.rs",
            "#[cfg(test)]\nmod tests { use super::*; }\nuse crate::cli;",
            &["3 prospect::cli"],
        ),
    ];
    for (file, text, expected) in cases {
        assert_eq!(planted(file, text), *expected, "{file}: {text}");
    }
}

#[test]
fn what_only_looks_like_a_violation_is_none() {
    let cases = [
        ("src/plan/mod.rs", "// use crate::cli;\n/* crate::cli::main() /* */ println!() */"),
        ("src/plan/mod.rs", "//! [`crate::cli`]\nconst A: &str = \"crate::cli \\\" println!()\";"),
        ("src/plan/mod.rs", "const A: &str = r#\"use crate::cli; \" \"#; const B: char = '\\'';"),
        ("src/plan/mod.rs", "#[cfg(test)]\n#[allow(x)]\nmod tests {\n fn f() { println!() }\n}"),
        ("src/plan/mod.rs", "#[cfg(test)]\nuse crate::campaign;\n#[cfg(test)]\nmod tests;"),
        // `url` is a module of ours here, not the crate.
        ("src/plan/caps.rs", "use prospect_index::url;\nfn f() { url::canonical(); }"),
        ("src/plan/mod.rs", "mod clap;\nfn f() { clap::f(); } pub use clap::g;"),
        ("src/plan/mod.rs", "fn f() -> impl Fn() + use<> { x.println != y }"),
        ("src/cli/mod.rs", "use crate::campaign::close;\nuse clap::Args;\nfn f() { println!() }"),
        ("src/graph/mod.rs", "use rayon::prelude::*;"),
    ];
    for (file, text) in cases {
        assert_eq!(planted(file, text), Vec::<String>::new(), "{file}: {text}");
    }
}

#[test]
fn a_message_names_the_place_the_use_and_the_rule() {
    let text = "\nuse crate::cli;";
    let found = source::paths(text, "prospect::graph", &crates_of("src/graph/mod.rs"));
    let broken = violations("src/graph/mod.rs", &found);
    assert_eq!(
        broken[0].to_string(),
        "src/graph/mod.rs:2: uses `prospect::cli`; `graph` may use prospect_index::link_table, \
         prospect_index::page (a graph is made of links, whatever is estimated from it)"
    );
}

/// Lines that a closure with a name may take.
const CLOSURE_LINES: usize = 3;

#[test]
fn what_takes_more_than_three_lines_is_a_function_and_no_closure_with_a_name() {
    let mut long = Vec::new();
    for (file, text) in texts() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let is_named =
                line.trim_start().strip_prefix("let ").and_then(|of| of.split_once(" = "));
            if !is_named.is_some_and(|(_, is)| is.starts_with('|') || is.starts_with("move |")) {
                continue;
            }
            let ends = |line: &&str| {
                line.ends_with(';') && line.get(indent..).is_some_and(|rest| !rest.starts_with(' '))
            };
            let length = 1 + lines[at..].iter().take_while(|line| !ends(line)).count();
            if length > CLOSURE_LINES {
                long.push(format!("{file}:{}", at + 1));
            }
        }
    }
    assert!(long.is_empty(), "closures of more than {CLOSURE_LINES} lines: {long:#?}");
}

#[test]
fn no_two_public_types_have_one_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in texts() {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["pub", "struct" | "enum" | "trait" | "type", name, ..] = words[..] {
                let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
                let name = name.split(|letter| !is_of_name(letter)).next().unwrap_or_default();
                places.entry(name.to_owned()).or_default().push(file.clone());
            }
        }
    }
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn little_is_public() {
    let is_public = |line: &&str| {
        let mut words = line.split_whitespace().filter(|word| !matches!(*word, "async" | "unsafe"));
        let kinds = ["fn", "struct", "enum", "trait", "const", "type", "static"];
        words.next() == Some("pub") && words.next().is_some_and(|word| kinds.contains(&word))
    };
    let found: usize = texts().iter().map(|(_, text)| text.lines().filter(is_public).count()).sum();
    assert!(
        found <= MOST_PUBLIC,
        "{found} items are public, more than {MOST_PUBLIC}. Is the new one for people outside? `pub(crate)` is \
         enough for other modules, and for tests in tests/inside/."
    );
}
