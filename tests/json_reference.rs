//! `docs/json.md` is true: what commands print and write as JSON is in its tables, and what is in its tables they
//! print, of the types that it says.
//!
//! Story: somebody wrote a script against the page. A field that was added without a row, one that was renamed, a
//! count that became a text or a null that nobody told of fails here, and not in that script.
//!
//! The page is read as it is: a table below a heading has the fields of an object; the table of types says what a
//! type is in JSON. A field may be absent where its row says "Only if", and null where its type says "or null".

#![cfg(feature = "neural")]

mod common;
#[path = "common/language_model.rs"]
mod language_model;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use common::{PAGES, Run, command, done, page, rows, text};
use language_model::language_model;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field as Cell;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// The page.
const PAGE: &str = "docs/json.md";
/// Sums of shares may be that much more than 1.
const ROUNDING: f64 = 1e-9;
/// Where the pages of the small site are.
const SITE: &str = "https://tools.example/";

/// A row of a table.
#[derive(Clone, Debug)]
struct Field {
    /// The name, with those of the objects that it is in.
    name: String,
    /// A type of the page, or the heading of a part.
    kind: String,
    is_part: bool,
    may_be_null: bool,
    may_be_absent: bool,
    /// Heading and name of the row that it comes from.
    row: (String, String),
}

/// What the page says.
struct Page {
    /// By name of a type: what it is in JSON.
    types: BTreeMap<String, String>,
    /// By heading: its fields.
    tables: BTreeMap<String, Vec<Field>>,
}

impl Page {
    fn read() -> Self {
        Self::of(&fs::read_to_string(repository(PAGE)).unwrap())
    }

    fn of(text: &str) -> Self {
        let mut page = Self { types: BTreeMap::new(), tables: BTreeMap::new() };
        let mut heading = String::new();
        for line in text.lines() {
            if line.starts_with('#') {
                heading = line.trim_start_matches('#').trim().replace('`', "");
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let &["", first, kind, meaning, ""] = cells.as_slice() else { continue };
            if let Some(name) = first.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
                let field = Field::new((&heading, name), kind, meaning);
                page.tables.entry(heading.clone()).or_default().push(field);
            } else if heading == "How to read the tables" && !["type", "---"].contains(&first) {
                page.types.insert(first.to_owned(), kind.to_owned());
            }
        }
        page.tables = page.tables.keys().map(|at| (at.clone(), page.fields(at))).collect();
        page
    }

    /// The fields of a table, those of parts that stand beside them among them.
    fn fields(&self, heading: &str) -> Vec<Field> {
        let mut fields = Vec::new();
        for field in self.tables.get(heading).into_iter().flatten() {
            let Some(within) = field.name.strip_suffix('*') else {
                fields.push(field.clone());
                continue;
            };
            for inner in self.fields(&field.kind) {
                fields.push(Field { name: format!("{within}{}", inner.name), ..inner });
            }
        }
        fields
    }

    /// Faults of the page in itself: types and parts that it does not have.
    fn faults(&self) -> Vec<String> {
        let is_known = |field: &&Field| {
            if field.is_part {
                self.tables.contains_key(&field.kind)
            } else {
                self.types.contains_key(&field.kind)
            }
        };
        let unknown = self.tables.values().flatten().filter(|field| !is_known(field));
        let told = |field: &Field| {
            let (heading, name) = &field.row;
            format!("{PAGE}, {heading}: {name} has the type {:?}, which is not there", field.kind)
        };
        unknown.map(told).collect()
    }
}

impl Field {
    fn new((heading, name): (&str, &str), kind: &str, meaning: &str) -> Self {
        let (kind, may_be_null) = match kind.strip_suffix(", or null") {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        let part = kind.strip_prefix('[').and_then(|link| link.split_once("](#"));
        let capital = |text: &str| text[..1].to_uppercase() + &text[1..];
        Self {
            name: name.to_owned(),
            kind: part.map_or(kind.to_owned(), |(name, _)| capital(name)),
            is_part: part.is_some(),
            may_be_null,
            may_be_absent: meaning.contains("Only if"),
            row: (heading.to_owned(), name.to_owned()),
        }
    }

    /// Whether it lies in an object or a list.
    fn is_below(&self, path: &str) -> bool {
        let rest = self.name.strip_prefix(path);
        path.is_empty() || rest.is_some_and(|rest| rest.starts_with(['.', '[', '{']))
    }

    /// The key of an object by which one gets to it.
    fn key_below<'f>(&'f self, path: &str) -> Option<&'f str> {
        let rest = self.name.strip_prefix(path)?;
        let rest = if path.is_empty() { rest } else { rest.strip_prefix('.')? };
        rest.split(['.', '[', '{']).next().filter(|key| !key.is_empty())
    }
}

/// JSON, held against the page.
struct Reader<'p> {
    page: &'p Page,
    /// Rows that something was found for.
    seen: BTreeSet<(String, String)>,
    /// By heading and name: what is wrong, told once.
    faults: BTreeMap<(String, String), String>,
}

impl<'p> Reader<'p> {
    fn new(page: &'p Page) -> Self {
        Self { page, seen: BTreeSet::new(), faults: BTreeMap::new() }
    }

    /// Notes what is wrong with a field, and what to do about it.
    fn fault(&mut self, heading: &str, name: &str, what: &str) {
        let place = (heading.to_owned(), name.to_owned());
        self.faults.entry(place).or_insert_with(|| format!("{heading}: {name} {what}"));
    }

    /// Reads what is described below a heading.
    fn read(&mut self, heading: &str, found: &Value) {
        if self.page.tables.contains_key(heading) {
            self.inside(heading, "", found);
        } else {
            self.fault(
                heading,
                "",
                &format!("is printed, and is no heading with a table in {PAGE}"),
            );
        }
    }

    /// Reads what a command printed, below the heading that is its schema.
    fn read_schema(&mut self, found: &Value) {
        let schema = found["schema"].as_str();
        let schema = schema.unwrap_or_else(|| panic!("there is no schema in {found}"));
        self.read(schema, found);
    }

    fn value(&mut self, heading: &str, path: &str, found: &Value) {
        let fields = &self.page.tables[heading];
        let Some(field) = fields.iter().find(|field| field.name == path) else {
            if fields.iter().any(|field| field.is_below(path)) {
                self.inside(heading, path, found);
            } else {
                let what = format!("is printed, such as {found}: add a row for it to {PAGE}");
                self.fault(heading, path, &what);
            }
            return;
        };
        self.seen.insert(field.row.clone());
        if found.is_null() {
            if !field.may_be_null {
                let what =
                    format!("is null: add \", or null\" to its type in {PAGE}, and say when");
                self.fault(heading, path, &what);
            }
        } else if field.is_part {
            self.inside(&field.kind, "", found);
        } else if let Some(is) = self.page.types.get(&field.kind)
            && !is_of(is, found)
        {
            let what = format!("is {found}; by {PAGE} it is a {}: {is}", field.kind);
            self.fault(heading, path, &what);
        }
    }

    fn inside(&mut self, heading: &str, path: &str, found: &Value) {
        match found {
            Value::Object(object) => self.object(heading, path, object),
            Value::Array(list) => self.list(heading, path, list),
            other => {
                let what = format!("is {other}; by {PAGE} it has fields");
                self.fault(heading, path, &what);
            }
        }
    }

    fn list(&mut self, heading: &str, path: &str, list: &[Value]) {
        self.note(heading, &format!("{path}[]"));
        let fields = &self.page.tables[heading];
        let has = |at: &usize| {
            let element = format!("{path}[{at}]");
            fields.iter().any(|field| field.name.starts_with(&element))
        };
        let fixed = (0..fields.len()).take_while(has).count();
        if fixed > 0 && fixed != list.len() {
            let what = format!("has {} elements; by {PAGE} it has {fixed}", list.len());
            self.fault(heading, path, &what);
        }
        for (at, element) in list.iter().enumerate() {
            let at = if fixed > 0 { at.to_string() } else { String::new() };
            self.value(heading, &format!("{path}[{at}]"), element);
        }
    }

    /// Notes that the elements of a list have their row, of which there may be none.
    fn note(&mut self, heading: &str, path: &str) {
        let row = self.page.tables[heading].iter().find(|field| field.name == path);
        self.seen.extend(row.map(|field| field.row.clone()));
    }

    fn object(&mut self, heading: &str, path: &str, object: &Map<String, Value>) {
        let (any, dot) = (format!("{path}{{}}"), if path.is_empty() { "" } else { "." });
        self.note(heading, &any);
        let fields = &self.page.tables[heading];
        let keys: BTreeSet<&str> =
            fields.iter().filter_map(|field| field.key_below(path)).collect();
        let has_any = fields.iter().any(|field| field.name.starts_with(&any));
        let always = fields.iter().filter(|field| !field.may_be_absent);
        let always: BTreeSet<&str> = always.filter_map(|field| field.key_below(path)).collect();
        for key in always.into_iter().filter(|key| !object.contains_key(*key)) {
            let what = format!("is not always printed: add \"Only if …\" to its row in {PAGE}");
            self.fault(heading, &format!("{path}{dot}{key}"), &what);
        }
        for (key, found) in object {
            if has_any && !keys.contains(key.as_str()) {
                self.value(heading, &any, found);
            } else {
                self.value(heading, &format!("{path}{dot}{key}"), found);
            }
        }
    }

    /// Reads a CSV file; a cell is what the page says it is.
    fn read_csv(&mut self, name: &str, path: &Path) {
        let text = fs::read_to_string(path.join(name)).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let columns = lines.next().unwrap();
        let fields = self.page.tables.get(name).cloned().unwrap_or_default();
        for cells in lines {
            let cell = |(column, cell): (&&str, &str)| {
                let field = fields.iter().find(|field| field.name == *column);
                let is = field.and_then(|field| self.page.types.get(&field.kind));
                let value = match cell {
                    "" => Value::Null,
                    text if is.is_some_and(|is| is == "string") => text.into(),
                    other => serde_json::from_str(other).unwrap_or_else(|_| other.into()),
                };
                ((*column).to_owned(), value)
            };
            let row: Map<String, Value> = columns.iter().zip(cells).map(cell).collect();
            self.read(name, &Value::Object(row));
        }
    }

    /// Reads a Parquet file.
    fn read_parquet(&mut self, name: &str, path: &Path) {
        let file = fs::File::open(path.join(name)).unwrap();
        let rows = SerializedFileReader::new(file).unwrap();
        for row in rows.get_row_iter(None).unwrap() {
            let cell = |(name, cell): (&String, &Cell)| {
                let value = match cell {
                    Cell::Str(text) => text.as_str().into(),
                    Cell::UInt(number) => (*number).into(),
                    Cell::Double(number) => (*number).into(),
                    other => panic!("what is {other} in JSON?"),
                };
                (name.clone(), value)
            };
            let row = row.unwrap();
            let row: Map<String, Value> = row.get_column_iter().map(cell).collect();
            self.read(name, &Value::Object(row));
        }
    }

    /// Everything that is wrong, rows that nothing was found for among it.
    fn end(mut self) -> Vec<String> {
        let page = self.page;
        for field in page.tables.values().flatten() {
            let (heading, name) = &field.row;
            if !field.may_be_absent && !self.seen.contains(&field.row) {
                let what =
                    format!("is never printed: take its row out of {PAGE}, or print it here");
                self.fault(heading, name, &what);
            }
        }
        page.faults().into_iter().chain(self.faults.into_values()).collect()
    }
}

/// Whether a value is what the page says of its type.
fn is_of(is: &str, found: &Value) -> bool {
    let (what, range) = is.split_once(", ").unwrap_or((is, ""));
    let is_in_range = found.as_f64().is_none_or(|number| match range {
        "" => true,
        "0 or more" => number >= 0.0,
        "0 or less" => number <= ROUNDING,
        "1 or more" => number >= 1.0,
        "0 to 1" => (-ROUNDING..=1.0 + ROUNDING).contains(&number),
        other => panic!("{PAGE}: what is {other:?}?"),
    });
    is_in_range
        && match what {
            "whole number" => found.is_u64() || found.is_i64(),
            "number" => found.is_number(),
            "string" => found.is_string(),
            "true or false" => found.is_boolean(),
            "anything" => true,
            other => panic!("{PAGE}: what is {other:?} in JSON?"),
        }
}

/// Where commands run, and what they read.
struct Scene {
    folder: TempDir,
}

impl Scene {
    /// The pages of the small site, as a store and as lines.
    fn new() -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        scene.run(&format!("ingest --store @all --base-url {SITE} %site"));
        scene.run("sufficiency --store @all --workload %queries.tsv --export @pages.jsonl");
        scene
    }

    fn path(&self, name: &str) -> String {
        text(&self.folder.path().join(name)).to_owned()
    }

    fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.path(name), lines.join("\n") + "\n").unwrap();
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn json_file(&self, name: &str) -> Value {
        serde_json::from_str(&self.file(name)).unwrap()
    }

    /// The words of a line; `@name` is a path here, `%name` one of the small site's workload.
    fn words(&self, line: &str) -> Vec<String> {
        let word = |word: &str| match (word.strip_prefix('@'), word.strip_prefix('%')) {
            (Some(name), _) => self.path(name),
            (_, Some(name)) => text(&repository(&format!("workloads/tiny/{name}"))).to_owned(),
            _ => word.to_owned(),
        };
        line.split_whitespace().map(word).collect()
    }

    #[track_caller]
    fn run(&self, line: &str) -> Run {
        done(&self.words(line))
    }

    /// What a line prints with `--json`.
    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(&format!("{line} --json")).stdout).unwrap()
    }

    /// The pages of the site as JSON lines, by URL.
    fn pages(&self) -> BTreeMap<String, Value> {
        let page = |page: Value| (page["url"].as_str().unwrap().to_owned(), page);
        rows(&self.file("pages.jsonl")).into_iter().map(page).collect()
    }
}

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The plan of a cycle.
const PLAN: &str = "plan --store @s --workload %queries.tsv --budget 10 --explore 0.3 --revisit 0.2 \
    --quality-model text-length";

/// Reads plans, and what came of them, of a crawl of four cycles; the fifth plan is open.
fn read_cycles(scene: &Scene, reader: &mut Reader<'_>) {
    let mut pages = scene.pages();
    let home = format!("{SITE}index.html");
    scene.write("cycle.jsonl", &[pages[&home].to_string()]);
    reader.read_schema(&scene.json("ingest --store @s @cycle.jsonl"));
    for cycle in 0..4 {
        let planned = scene.json(PLAN);
        reader.read_schema(&planned);
        let urls = planned["urls"].as_array().unwrap();
        let urls = urls.iter().map(|url| url["url"].as_str().unwrap());
        // What was fetched again has changed, one URL fails, and the last is not reported.
        pages.get_mut(&home).unwrap()["text"] = format!("tools {cycle}").into();
        let failed = |url: &str| json!({ "url": url, "status": 404 });
        let came = |(at, url): (usize, &str)| {
            let page = pages.get(url).filter(|_| at != 4);
            page.cloned().unwrap_or_else(|| failed(url)).to_string()
        };
        let mut lines: Vec<String> = urls.take(9).enumerate().map(came).collect();
        lines.push(json!({ "url": "nonsense" }).to_string());
        lines.push(odd_page(cycle).to_string());
        scene.write("cycle.jsonl", &lines);
        reader.read_schema(&scene.json("ingest --store @s --close @cycle.jsonl"));
    }
    reader.read_schema(&scene.json(PLAN));
    for command in ["status", "log", "counterfactual", "check --full", "compact"] {
        reader.read_schema(&scene.json(&format!("{command} --store @s")));
    }
}

/// A page that was moved, with a misspelled key and an anchor that is too long.
fn odd_page(cycle: usize) -> Value {
    json!({
        "url": format!("{SITE}new{cycle}"),
        "requested_url": format!("{SITE}old{cycle}"),
        "fetched_at": "2026-01-02T03:04:05Z",
        "titel": "New",
        "outlinks": [{ "url": SITE, "anchor": "long".repeat(100) }],
    })
}

/// Reads every line of a plan, in each format that is JSON.
fn read_lines(scene: &Scene, reader: &mut Reader<'_>) {
    let formats = [
        ("jsonl", "Lines of a plan"),
        ("scrapy", "--format scrapy"),
        ("urlfrontier", "--format urlfrontier"),
    ];
    for (format, heading) in formats {
        let line = "plan --store @all --workload %queries.tsv --budget 9 --seconds 60 --format";
        let printed = scene.run(&format!("{line} {format}")).stdout;
        for row in rows(&printed) {
            reader.read(heading, &row);
        }
    }
    // Of URLs that were asked for before some lines have other keys.
    let line =
        "plan --store @all --workload %queries.tsv --budget 9 --another --revisit 0.5 --format";
    let printed = scene.run(&format!("{line} urlfrontier")).stdout;
    for row in rows(&printed) {
        reader.read("--format urlfrontier", &row);
    }
    scene.run("sufficiency --store @s --workload %queries.tsv --export @known.jsonl");
    for row in rows(&scene.file("known.jsonl")) {
        reader.read("Exported pages", &row);
    }
}

/// Reads what questions about the open plan answer.
fn read_questions(scene: &Scene, reader: &mut Reader<'_>) {
    let planned = scene.json(PLAN);
    let first = planned["urls"][0]["url"].as_str().unwrap();
    for asked in [first, "https://tools.example/index.html", "--query tt-02"] {
        reader.read_schema(&scene.json(&format!("explain --store @s {asked}")));
    }
    let scenarios = ["--scale saw=20 --per-host 5 --visibility log", "--seconds 5 --name short"];
    for scenario in scenarios {
        reader.read_schema(&scene.json(&format!("whatif --store @s {scenario}")));
    }
    scene.write("scenario.toml", &["[[scenario]]\nname = \"five\"\nbudget = 5".to_owned()]);
    let planned = scene.json("plan --store @s --scenario @scenario.toml");
    reader.read_schema(&planned);
    let failed = json!({ "url": planned["urls"][0]["url"], "status": 404 });
    scene.write("failed.jsonl", &[failed.to_string()]);
    scene.run("ingest --store @s @failed.jsonl");
}

/// Reads plans with options that others leave out, the first of which releases another, and one that is empty.
fn read_options(scene: &Scene, reader: &mut Reader<'_>) {
    let (model, plan) =
        (model(), "plan --store @s --workload %queries.tsv --budget 8 --release all");
    scene.write("delays.txt", &["tools.example 2".to_owned()]);
    scene.write("addresses.txt", &["tools.example 192.0.2.7".to_owned()]);
    let options = "--visibility log --objective served --demand lack --needy 0.9 --seconds 60 \
        --delay 2 --queue-by ip --addresses @addresses.txt --connections 2 --delays @delays.txt --include tools --exclude zzz \
        --types html --hosts tools.example --domains example --revisit auto --per-host 8 --per-domain 8 --per-site 8 --within @within.txt";
    scene.write("within.txt", &scene.pages().into_keys().collect::<Vec<_>>());
    let planned = scene.json(&format!("{plan} {options} --embedding-model {model}"));
    reader.read_schema(&planned);
    let mut urls = planned["urls"].as_array().unwrap().iter();
    let matched = urls.find(|url| url["pool"] != "revisit").unwrap()["url"].as_str().unwrap();
    reader.read_schema(&scene.json(&format!("explain --store @s {matched}")));
    for command in ["status", "whatif --budget 3"] {
        reader.read_schema(&scene.json(&format!("{command} --store @s")));
    }
    let nothing = scene.json(&format!("{plan} --include zzz"));
    assert_eq!(nothing["reason"], "out-of-scope");
    reader.read_schema(&nothing);
}

/// A model of the tests.
fn model() -> String {
    text(&repository("tests/models/embedding-mean")).to_owned()
}

/// Reads who judges queries in which way.
fn read_sufficiency(scene: &Scene, reader: &mut Reader<'_>) {
    let (url, _) = language_model();
    let llm = format!("--llm-url {url} --llm-model m --llm-calls 12");
    let ways = [
        "--variants words".to_owned(),
        "--strategy best-page".to_owned(),
        format!("--variants words --strategy embedding --embedding-model {}", model()),
        llm.clone(),
        format!("--strategy llm {llm}"),
    ];
    let line = "sufficiency --store @s --workload %queries.tsv";
    for way in ways {
        reader.read_schema(&scene.json(&format!("{line} {way}")));
    }
    let compatible = scene.json(&format!("{line} --definition compatible"));
    reader.read("--definition compatible", &compatible);
    // Three windows of pages, so that there is something to compare.
    let links = json!([{ "url": "https://more.test/", "anchor": "topic7" }]);
    let last = json!({ "url": "https://last.test/", "text": "topic13", "outlinks": links });
    let pages = (0..PAGES).map(page).chain([last.to_string()]);
    scene.write("web.jsonl", &pages.collect::<Vec<_>>());
    scene.write("topics.tsv", &["a\ttopic0 topic13\t4".to_owned(), "b\ttopic7\t2".to_owned()]);
    scene.run("ingest --store @web @web.jsonl");
    let in_no_time = "sufficiency --store @web --workload @topics.tsv --seconds 0.001";
    reader.read_schema(&scene.json(in_no_time));
    reader.read_schema(&scene.json("plan --store @web --workload @topics.tsv --budget 5"));
    let found = scene.json("sufficiency --store @web --workload @topics.tsv");
    assert!(found["saturation"].is_object() && found["growth"].is_number(), "{found}");
    reader.read_schema(&found);
    reader.read_schema(&scene.json("evaluation-set --store @all --out @made"));
    for export in ["ciff --out @index.ciff", "pages --out @pages.jsonl"] {
        reader.read_schema(&scene.json(&format!("export --store @all --format {export}")));
    }
}

/// Reads a stream, its last line by its schema.
fn read_stream(scene: &Scene, reader: &mut Reader<'_>) {
    let line = "stream --store @stream --workload %queries.tsv --in-flight 5 --every 2 --json";
    let mut child = command(&scene.words(line)).stdin(Stdio::piped()).spawn().unwrap();
    let records: Vec<String> = scene.pages().values().take(3).map(Value::to_string).collect();
    let records = records.join("\n") + "\nno record\n";
    child.stdin.take().unwrap().write_all(records.as_bytes()).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines = rows(&run.stdout);
    let (last, urls) = lines.split_last().unwrap();
    assert!(!urls.is_empty(), "it asks for URLs");
    for url in urls {
        reader.read("Lines of a stream", url);
    }
    reader.read_schema(last);
}

/// Reads what is said of URLs without their pages: seeds and statuses.
fn read_urls(scene: &Scene, reader: &mut Reader<'_>) {
    let named = format!("<loc>{SITE}a</loc><lastmod>2026-01-02</lastmod><priority>0.5</priority>");
    scene.write("map.xml", &[format!("<urlset><url>{named}</url></urlset>")]);
    let index = format!("<sitemapindex><sitemap><loc>{SITE}m.xml</loc></sitemap></sitemapindex>");
    scene.write("index.xml", &[index]);
    scene.write("list.txt", &[format!("{SITE}b"), "/no-url".to_owned()]);
    reader.read_schema(&scene.json("seeds --store @named @map.xml @index.xml @list.txt"));
    scene.run("plan --store @named --workload %queries.tsv --budget 1");
    reader.read_schema(&scene.json(&format!("explain --store @named {SITE}a")));
    let status = |name: &str, status| json!({ "url": format!("{SITE}{name}"), "status": status });
    scene.write("log.jsonl", &[status("b", 404).to_string(), status("c", 500).to_string()]);
    reader.read_schema(&scene.json("crawl-log --store @named @log.jsonl"));
}

/// Reads which spellings of URLs are one page.
fn read_spellings(scene: &Scene, reader: &mut Reader<'_>) {
    let url = |page: usize, sid: &str| format!("https://a.test/{page}{sid}");
    let page = |at: usize| {
        let (page, sid) = (at / 2, if at.is_multiple_of(2) { "" } else { "?sid=1" });
        let links = json!([{ "url": url(9, "") }, { "url": url(9, "?sid=2") }]);
        json!({ "url": url(page, sid), "text": format!("page {page}"), "outlinks": links })
    };
    scene.write("spelled.jsonl", &(0..8).map(|at| page(at).to_string()).collect::<Vec<_>>());
    scene.run("ingest --store @spelled @spelled.jsonl");
    reader.read_schema(&scene.json("url-rules --store @spelled --accept all"));
    scene.run("plan --store @spelled --workload %queries.tsv --budget 1");
    for spelling in ["", "?sid=2"] {
        reader.read_schema(&scene.json(&format!("explain --store @spelled {}", url(9, spelling))));
    }
    reader.read_schema(&scene.json("status --store @spelled"));
}

/// What experiments share.
const EXPERIMENT: &str = "simulate --corpus %site --base-url https://tools.example/ --workload %queries.tsv \
    --qrels %qrels.txt --seeds random:2 --seed-sets 2 --batch 10 --checkpoints 10,20,50%,100%";

/// Runs experiments side by side, since they wait for the disk most of the time; what each printed.
fn experiments(scene: &Scene) -> Vec<Value> {
    let quality = |(at, url): (usize, &String)| format!("{url}\t-{}.5", at % 7);
    let quality: Vec<String> = scene.pages().keys().enumerate().map(quality).collect();
    scene.write("quality.tsv", &quality);
    let model = model();
    let all = [
        "--policy bfs,prospect --max-pages 20 --ablate --sketches 0.5,1 --rerank @a.run --visibility log \
            --quality @quality.tsv",
        "--policy bfs,prospect+explore=0.2 --max-pages 40 --attack control --counterfactual 5 --whatif 5 \
            --sufficiency",
        "--policy bfs,inlinks --delay 1 --stop sufficiency:0.7,fixed:20%,never,oracle",
        &format!(
            "--policy bfs,prospect --max-pages 10 --single-query --stop fixed:20% --embedding-model {model}"
        ),
    ];
    let run = |(at, options)| scene.json(&format!("{EXPERIMENT} {options} --out @sim{at}"));
    thread::scope(|scope| {
        let run = all.into_iter().enumerate().map(|one| scope.spawn(move || run(one)));
        let running: Vec<_> = run.collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Reads experiments, with the files that they leave.
fn read_experiments(scene: &Scene, reader: &mut Reader<'_>, printed: &[Value]) {
    for (at, printed) in printed.iter().enumerate() {
        reader.read_schema(printed);
        reader.read_schema(&scene.json_file(&format!("sim{at}/summary.json")));
        reader.read("PROVENANCE.json", &scene.json_file(&format!("sim{at}/PROVENANCE.json")));
    }
    reader.read_schema(&scene.json("report @sim0 @sim1 @sim2"));
    read_tables(scene, reader);
}

/// Reads the tables that experiments left.
fn read_tables(scene: &Scene, reader: &mut Reader<'_>) {
    let tables =
        ["sim2/curves.csv", "sim2/curves.parquet", "sim2/per_query.parquet", "sim2/seconds.csv"];
    let others =
        ["sim2/stops.csv", "sim3/stops.csv", "sim3/single-query.csv", "sim1/sufficiency.csv"];
    for table in tables.into_iter().chain(others) {
        let (folder, name) = table.split_once('/').unwrap();
        let folder = scene.folder.path().join(folder);
        match name.rsplit_once('.') {
            Some((_, "csv")) => reader.read_csv(name, &folder),
            _ => reader.read_parquet(name, &folder),
        }
    }
}

/// Reads an experiment with pages that change.
fn read_revisits(scene: &Scene, reader: &mut Reader<'_>) {
    let days = |at: usize| [at % 5, 10 + at % 7, 20 + at % 3];
    let pages = scene.pages();
    let changes = pages.keys().enumerate();
    let changes = changes.flat_map(|(at, url)| days(at).map(|day| format!("{url}\t{day}")));
    scene.write("changes.tsv", &changes.collect::<Vec<_>>());
    let line = "simulate --changes @changes.tsv --corpus @pages.jsonl --workload %queries.tsv \
        --batch 5% --out @revisits";
    reader.read_schema(&scene.json(line));
    reader.read_schema(&scene.json_file("revisits/revisits.json"));
    reader.read_csv("revisits.csv", &scene.folder.path().join("revisits"));
}

/// Reads measures of two runs, one of which is better.
fn read_evaluation(scene: &Scene, reader: &mut Reader<'_>) {
    let judged = fs::read_to_string(repository("workloads/tiny/qrels.txt")).unwrap();
    let run = |tag: &str, sign: &str| {
        let line = |(at, line): (usize, &str)| {
            let [qid, _, url, _] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            format!("{qid} Q0 {url} {at} {sign}{at} {tag}")
        };
        judged.lines().enumerate().map(line).collect::<Vec<_>>()
    };
    scene.write("a.run", &run("a", "-"));
    scene.write("b.run", &run("b", ""));
    let line = "evaluate --qrels %qrels.txt --run @a.run --run @b.run --per-query";
    reader.read_schema(&scene.json(line));
    let search = "evaluate --qrels %qrels.txt --store @all --workload %queries.tsv";
    reader.read_schema(&scene.json(search));
}

/// Reads what is told of files of documents.
fn read_documents(scene: &Scene, reader: &mut Reader<'_>) {
    let unscored = |mut page: Value| {
        page.as_object_mut().unwrap().remove("quality_score");
        page.to_string()
    };
    let mut documents: Vec<String> = scene.pages().into_values().map(unscored).collect();
    documents.push(json!({ "url": "https://no.text/", "text": "" }).to_string());
    documents.push("{".to_owned());
    scene.write("documents.jsonl", &documents);
    let score = "quality score --model text-length @documents.jsonl --output";
    reader.read_schema(&scene.json(&format!("{score} @scored.jsonl")));
    let again = scene.json(&format!("{score} @scored.jsonl --resume"));
    assert_eq!(again["left"].as_array().map(Vec::len), Some(1));
    reader.read_schema(&again);
    let prune = "quality prune @scored.jsonl";
    reader.read_schema(&scene.json(&format!("{prune} --keep 0.5 --output @kept.jsonl")));
    reader.read_schema(&scene.json(&format!("{prune} --tiers 0.5,1 --output-dir @tiers")));
    let files = "@scored.jsonl @kept.jsonl";
    reader.read_schema(&scene.json(&format!("quality analyze {files} --qrels %qrels.txt")));
}

#[test]
fn what_is_printed_is_what_the_page_says() {
    let (scene, page) = (Scene::new(), Page::read());
    let mut reader = Reader::new(&page);
    read_evaluation(&scene, &mut reader);
    let printed = thread::scope(|scope| {
        let experiments = scope.spawn(|| experiments(&scene));
        read_store(&scene, &mut reader);
        experiments.join().unwrap()
    });
    read_experiments(&scene, &mut reader, &printed);
    read_revisits(&scene, &mut reader);
    read_documents(&scene, &mut reader);
    for command in ["formats", "policies", "metrics", "demo --tiny --store @demo"] {
        reader.read_schema(&scene.json(command));
    }
    let faults = reader.end();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Reads what commands say of a store.
fn read_store(scene: &Scene, reader: &mut Reader<'_>) {
    read_cycles(scene, reader);
    read_lines(scene, reader);
    read_sufficiency(scene, reader);
    read_questions(scene, reader);
    read_options(scene, reader);
    read_stream(scene, reader);
    read_urls(scene, reader);
    read_spellings(scene, reader);
}

#[test]
fn every_schema_of_the_code_has_a_table() {
    let (page, mut open) = (Page::read(), vec![repository("src")]);
    let (mut found, mut missing) = (BTreeSet::new(), Vec::new());
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(schemas(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(found.len() > 20, "{found:?}");
    missing.extend(found.iter().filter(|schema| !page.tables.contains_key(*schema)));
    assert!(missing.is_empty(), "{PAGE} needs a heading and a table for each of {missing:?}");
    let is_old = |heading: &&String| heading.starts_with("prospect.") && !found.contains(*heading);
    let old: Vec<&String> = page.tables.keys().filter(is_old).collect();
    assert!(old.is_empty(), "nothing prints {old:?}: take them out of {PAGE}");
}

/// Names of schemas in a source: `"prospect.plan/3"`.
fn schemas(source: &str) -> impl Iterator<Item = String> {
    source.split("\"prospect.").skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('"')?;
        let (_, version) = name.split_once('/')?;
        version.parse::<u32>().ok().map(|_| format!("prospect.{name}"))
    })
}

/// A page of which a little is true.
const SMALL: &str = "# How to read the tables
| type | in JSON | |
| count | whole number, 0 or more | |
| text | string | |
# s/1
| `n` | count | |
| `of[]` | [pair](#pair), or null | |
| `by{}` | text | Only if asked for |
### Pair
| `[0]` | text | |
| `[1]` | count | |
";

#[track_caller]
fn check(found: &Value, expected: &[&str]) {
    let page = Page::of(SMALL);
    let mut reader = Reader::new(&page);
    reader.read("s/1", found);
    assert_eq!(reader.faults.len(), expected.len(), "{:?}", reader.faults);
    for (fault, expected) in reader.faults.values().zip(expected) {
        assert!(fault.contains(expected), "{fault}");
    }
}

#[test]
fn a_page_that_is_not_true_is_told() {
    check(&json!({ "n": 1, "of": [["a", 1], null], "by": { "x": "y" } }), &[]);
    check(&json!({ "n": -1, "of": [] }), &["n is -1; by docs/json.md it is a count"]);
    check(&json!({ "n": 1.5, "of": [] }), &["n is 1.5"]);
    check(&json!({ "n": null, "of": [] }), &["n is null"]);
    check(&json!({ "n": 1 }), &["of is not always printed"]);
    check(&json!({ "n": 1, "of": [["a"]] }), &["has 1 elements"]);
    check(&json!({ "n": 1, "of": [], "more": 2 }), &["more is printed, such as 2"]);
    check(&json!({ "n": 1, "of": [], "by": { "x": 2 } }), &["by{} is 2"]);
    let page = Page::of(SMALL);
    let end = Reader::new(&page).end();
    assert_eq!(end.len(), 4, "all rows but the one that may be absent: {end:?}");
}
