//! The documentation holds: the README is short, links lead somewhere, options that commands show
//! exist, and the README's first plan does what it shows.
//!
//! Story: a stranger reads the README, copies its commands and follows its links. What is wrong there
//! nobody of the project would notice, for nobody of it starts from there again.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{done, text};

/// The commands that it promises.
const TWO_COMMANDS: [&str; 2] = ["cargo run --release -- demo", "cargo test --release --workspace"];
/// A line that stands for any number of lines.
const ANY: &str = "…";

/// What names the file of a table.
const FROM: &str = "<!-- from ";
/// What to do where a table differs.
const HOW_TO_WRITE: &str = "(`PROSPECT_TABLES=write cargo test --release --test docs` writes them)";

/// A fenced block of code.
struct Block {
    /// The heading of the section that it is in.
    section: String,
    /// What it is written in: `sh`, `json`, `text`.
    language: String,
    code: String,
}

#[test]
fn the_readme_is_short_and_has_its_two_commands() {
    let readme = read(&repository("README.md"));
    assert!((8_000..=10_240).contains(&readme.len()), "README.md has {} bytes", readme.len());
    let commands: Vec<String> = parts(&readme).0.iter().flat_map(commands).collect();
    for command in TWO_COMMANDS {
        assert!(commands.iter().any(|one| one == command), "{command} is not in README.md");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let prose = prose(&document);
        let faults = links(&prose).filter_map(|link| Some((link, fault(&document, link)?)));
        let told = |(link, what)| format!("{}: {link}: {what}", document.display());
        broken.extend(faults.map(told));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_option_of_a_shown_command_exists() {
    let mut help: BTreeMap<Vec<String>, HashSet<String>> = BTreeMap::new();
    let mut unknown = Vec::new();
    for document in documents() {
        for command in parts(&read(&document)).0.iter().flat_map(commands) {
            let Some((verb, options)) = ours(&command) else { continue };
            let there = help.entry(verb.clone()).or_insert_with(|| options_of(&verb));
            let missing = options.iter().filter(|option| !there.contains(*option));
            let told = |option| format!("{}: {option} of {command}", document.display());
            unknown.extend(missing.map(told));
        }
    }
    assert!(help.len() > 5, "few commands were found: {:?}", help.keys());
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn the_first_plan_does_what_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let (mut printed, mut compared) = (String::new(), 0);
    for block in parts(&read(&repository("README.md")))
        .0
        .iter()
        .filter(|block| block.section == "First plan")
    {
        match block.language.as_str() {
            "json" => fs::write(folder.path().join("pages.jsonl"), &block.code).unwrap(),
            "sh" => printed = commands(block).iter().map(|one| run(one, folder.path())).collect(),
            "text" => {
                assert!(shows(&lines(&block.code), &lines(&printed)), "printed is\n{printed}");
                compared += 1;
            }
            other => panic!("what to do with a block of {other:?}?"),
        }
    }
    assert!(compared > 0, "README.md shows no output of its first plan");
}

/// Its numbers are those of one edition of the Rust documentation; where there is another or none, nothing can be compared.
#[test]
fn the_demo_prints_what_the_readme_shows() {
    let readme = parts(&read(&repository("README.md"))).0;
    let shown = readme.iter().find(|block| block.section == "Demo" && block.language == "text");
    let shown = lines(&shown.unwrap().code);
    let folder = tempfile::tempdir().unwrap();
    let printed = done(&["demo", "--store", text(&folder.path().join("store"))]).stdout;
    let printed = lines(&printed);
    if printed.first() == shown.first() {
        assert!(shows(&shown, &printed), "printed is\n{}", printed.join("\n"));
    } else {
        println!(
            "skipped: README.md shows {:?}, and here are {:?}",
            shown.first(),
            printed.first()
        );
    }
}

/// A table below a line such as `<!-- from benches/runs/DAY/NAME.tsv -->` is that file.
#[test]
fn tables_are_those_of_their_runs() {
    let mut tables = 0;
    for document in documents() {
        let written = read(&document);
        let (mut rest, mut wanted) = (written.as_str(), String::new());
        while let Some((before, marked)) = rest.split_once(FROM) {
            let (file, below) = marked.split_once(" -->\n").unwrap();
            let end = below.find("\n\n").unwrap_or(below.trim_end().len());
            let table = table_of(&read(&repository(file)));
            if std::env::var("PROSPECT_TABLES").is_err() {
                let shown = &below[..end];
                assert_eq!(shown, table, "{}: {file} {HOW_TO_WRITE}", document.display());
            }
            wanted += &format!("{before}{FROM}{file} -->\n{table}");
            (rest, tables) = (&below[end..], tables + 1);
        }
        if std::env::var("PROSPECT_TABLES").is_ok_and(|what| what == "write") {
            fs::write(&document, wanted + rest).unwrap();
        }
    }
    assert!(tables > 0);
}

/// Lines of columns that are separated by tabs, the first of which are headings, as a table.
fn table_of(run: &str) -> String {
    let mut rows = run.lines().map(|line| format!("| {} |", line.replace('\t', " | ")));
    let headings = rows.next().unwrap();
    let rule = format!("|{}", "---|".repeat(headings.matches(" | ").count() + 1));
    [headings, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

#[test]
fn dots_stand_for_any_number_of_lines() {
    assert!(shows(&["a", ANY, "d"], &["a", "b", "c", "d"]));
    assert!(shows(&[ANY, "d", ANY], &["d"]));
    assert!(!shows(&["a", ANY], &["b", "a"]));
    assert!(!shows(&["a"], &["a", "b"]));
}

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// The README and everything below `docs`.
fn documents() -> Vec<PathBuf> {
    let (mut found, mut open) = (vec![repository("README.md")], vec![repository("docs")]);
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The fenced blocks of a document, and its other lines.
fn parts(markdown: &str) -> (Vec<Block>, Vec<&str>) {
    let (mut blocks, mut others) = (Vec::<Block>::new(), Vec::new());
    let (mut section, mut is_code) = (String::new(), false);
    for line in markdown.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_code = !is_code;
            if is_code {
                let (section, language) = (section.clone(), language.to_owned());
                blocks.push(Block { section, language, code: String::new() });
            }
        } else if let Some(block) = blocks.last_mut().filter(|_| is_code) {
            block.code += line;
            block.code.push('\n');
        } else {
            if let Some(heading) = line.strip_prefix("## ") {
                heading.clone_into(&mut section);
            }
            others.push(line);
        }
    }
    (blocks, others)
}

/// A document without its code, in blocks or between backticks.
fn prose(document: &Path) -> String {
    let text = parts(&read(document)).1.join("\n");
    let pieces: Vec<&str> = text.split('`').collect();
    assert!(pieces.len() % 2 == 1, "{}: a backtick is not closed", document.display());
    pieces.into_iter().step_by(2).collect()
}

/// Where links of a text lead, other sites left out.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let links = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links.map(|(link, _)| link).filter(|link| !link.contains("://"))
}

/// What is wrong with a link of a document, if anything is.
fn fault(document: &Path, link: &str) -> Option<&'static str> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = document.parent().unwrap();
    let path = if file.is_empty() { document.to_owned() } else { folder.join(file) };
    if !path.exists() {
        return Some("there is no such file");
    }
    if anchor.is_empty() {
        return None;
    }
    let text = read(&path);
    let mut headings = parts(&text).1.into_iter().filter(|line| line.starts_with('#'));
    (!headings.any(|heading| slug(heading) == anchor)).then_some("there is no such heading")
}

/// The anchor that GitHub gives to a heading.
fn slug(heading: &str) -> String {
    let lower = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The commands of a block, if it is shell code.
fn commands(block: &Block) -> Vec<String> {
    let code = block.code.replace("\\\n", " ");
    let commands = code.lines().map(|line| line.trim().to_owned());
    commands.filter(|line| block.language == "sh" && !line.is_empty()).collect()
}

/// Verb and options of a command, if it is one of ours.
fn ours(command: &str) -> Option<(Vec<String>, Vec<String>)> {
    let demo = || command.strip_prefix("cargo run --release -- ");
    let ours = command.strip_prefix("prospect ").or_else(demo)?;
    let words = ours.split_whitespace().take_while(|word| *word != "#").map(str::to_owned);
    let words: Vec<String> = words.collect();
    let has_parts = ["generate", "quality"].contains(&words[0].as_str());
    let verb = words[..if has_parts { 2 } else { 1 }].to_vec();
    Some((verb, words.into_iter().filter(|word| word.starts_with("--")).collect()))
}

/// The options that the help of a command names.
fn options_of(verb: &[String]) -> HashSet<String> {
    let help = done(&[verb, &["--help".to_owned()]].concat()).stdout;
    let words = help.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// Runs a line of the README in a folder, and gives what it prints. Nothing is built or fetched.
fn run(command: &str, folder: &Path) -> String {
    match command.split(' ').next() {
        Some("cargo") => return String::new(),
        Some("wget") => return stand_in_for_wget(folder),
        _ => {}
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_prospect")).parent().unwrap();
    let path = format!("{}:{}", text(binary), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{command}")]).env("PATH", path).current_dir(folder);
    let output = shell.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command}\n{printed}");
    printed
}

/// Leaves what wget would, an archive with a page for each URL of the batch, and prints nothing.
fn stand_in_for_wget(folder: &Path) -> String {
    let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Bread</title>Rye flour";
    let fields = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response";
    let record = |url| {
        let head = format!("WARC/1.0\r\n{fields}\r\nWARC-Target-URI: {url}");
        format!("{head}\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n", http.len())
    };
    let archive: Vec<String> = read(&folder.join("batch.txt")).lines().map(record).collect();
    fs::write(folder.join("fetched.warc.gz"), archive.concat()).unwrap();
    String::new()
}

/// Whether the lines shown are those printed.
fn shows(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&ANY, rest)) => (0..=printed.len()).any(|from| shows(rest, &printed[from..])),
        Some((line, rest)) => printed.first() == Some(line) && shows(rest, &printed[1..]),
    }
}
