//! `prospect quality score`: files of documents with a column of scores added.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::files::{FormatOptions, INPUT, SCORES, Target, cannot};
use super::{counts_as_json, say_counts};
use crate::cli::Global;
use crate::cli::model::ModelOptions;
use crate::cli::output::{self, Failure, LateProgress, say};
use crate::documents::{
    self, AddedColumn, AddedKind, Compression, DocumentFormat, Input, Layout, OpenOptions,
    needs_shape,
    shape::{self, Shape},
};
use crate::neural::{self, QualityModel};
use crate::quality::journal::Journal;
use crate::quality::score::{self, ScoreSettings, ScoredDocuments};
use crate::quality::texts;

/// Arguments of `prospect quality score`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// Parquet, CSV, JSON or JSON lines, or WARC for the pages in it; all but Parquet also as .gz or .zst; `-` is
    /// standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write, or for several inputs the directory; `-` is standard output.
    #[arg(long, short, value_name = "FILE|DIR")]
    output: PathBuf,
    #[command(flatten)]
    model: ModelOptions,
    /// Columns that make the text, joined by a space; by default `title` and the first of
    /// `plain_text`, `text`, `content`, `body`.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    text_columns: Option<Vec<String>>,
    /// Name of the column that is added.
    #[arg(long, value_name = "COLUMN", default_value = "quality_score")]
    column: String,
    /// Go on with a run that was killed, to the same bytes; finished outputs are left as they are.
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    format: FormatOptions,
}

impl Args {
    /// Documents that are worked on at once.
    fn rows(&self) -> usize {
        self.format.batch.unwrap_or_else(neural::texts_a_call)
    }
}

/// One input and its output.
struct Job {
    input: Input,
    from: DocumentFormat,
    target: Target,
    to: DocumentFormat,
}

/// One output that was written.
struct Written {
    input: String,
    output: String,
    text_columns: Vec<String>,
    seconds: f64,
    scored: ScoredDocuments,
}

impl Written {
    fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "input": self.input,
            "output": self.output,
            "text_columns": self.text_columns,
            "documents": self.scored.rows,
            "scored": self.scored.scored,
            "resumed": self.scored.resumed,
            "unscored": counts_as_json(&self.scored.unscored),
            "skipped": counts_as_json(&self.scored.skipped),
            "others": counts_as_json(&self.scored.others),
            "seconds": self.seconds,
        })
    }
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let jobs = jobs(args)?;
    let stream = jobs.iter().any(|job| job.target.is_stream());
    if stream && (args.resume || global.json) {
        let error = anyhow::anyhow!("standard output takes the documents alone");
        return Err(Failure::input(error, "name a file with --output for --resume and --json"));
    }
    for job in &jobs {
        check(args, job)?;
    }
    args.model.load(global)?.with(|model| all(args, jobs, stream, model, global))
}

fn all(
    args: &Args,
    jobs: Vec<Job>,
    stream: bool,
    model: &dyn QualityModel,
    global: &Global,
) -> Result<(), Failure> {
    let mut written = Vec::new();
    let mut left = Vec::new();
    for job in jobs {
        let name = job.target.path.display().to_string();
        if args.resume && !args.format.overwrite && job.target.exists() {
            say(global, &format!("{name}: is complete, left as it is"));
            left.push(name);
            job.target.clean_up();
            continue;
        }
        written.push(one(args, job, model, global)?);
    }
    report(args, global, model, &written, &left)?;
    if let (Some(first), false) = (written.first(), stream) {
        say(global, &format!("next: prospect quality analyze {}", first.output));
    }
    Ok(())
}

fn jobs(args: &Args) -> Result<Vec<Job>, Failure> {
    let shown = args.output.as_os_str().to_string_lossy();
    let directory = args.files.len() > 1 || args.output.is_dir() || shown.ends_with('/');
    if directory {
        fs::create_dir_all(&args.output).map_err(|error| cannot("make", &args.output, error))?;
    }
    let mut jobs = Vec::new();
    let mut names = BTreeSet::new();
    for path in &args.files {
        let input = args.format.input(path);
        let from = input.format()?;
        let output = if directory {
            args.format.name_in(&args.output, &input)?
        } else {
            args.output.clone()
        };
        let to = args.format.of_output(&output, from)?;
        if !names.insert(output.clone()) {
            let error = anyhow::anyhow!("{}: two inputs have this output", output.display());
            return Err(Failure::input(error, "score them one by one, each with its own --output"));
        }
        jobs.push(Job { input, from, target: Target::new(&output), to });
    }
    Ok(jobs)
}

/// Refuses what would destroy something, before anything is begun.
fn check(args: &Args, job: &Job) -> Result<(), Failure> {
    if args.resume && job.target.exists() {
        return Ok(());
    }
    job.target.refuse_existing(args.format.overwrite)?;
    if job.target.is_begun() && !args.resume && !args.format.overwrite {
        let name = job.target.path.display();
        let error = anyhow::anyhow!("{name}: a run that was not finished left {name}.part");
        return Err(Failure::input(error, "--resume goes on with it, --overwrite starts anew"));
    }
    Ok(())
}

fn one(
    args: &Args,
    mut job: Job,
    model: &dyn QualityModel,
    global: &Global,
) -> Result<Written, Failure> {
    let begun = args.resume && job.target.is_begun();
    job.target.begin(begun)?;
    let scored = write(args, &mut job, model, begun, global);
    let output = job.target.path.display().to_string();
    match scored {
        Ok((text_columns, seconds, scored)) => {
            let input = job.input.name.clone();
            job.target.commit()?;
            Ok(Written { input, output, text_columns, seconds, scored })
        }
        Err(failure) => {
            if job.target.is_begun() {
                let line = format!("the scores so far are kept in {output}.part; --resume goes on");
                say(global, &line);
            } else {
                job.target.give_up();
            }
            Err(failure)
        }
    }
}

fn write(
    args: &Args,
    job: &mut Job,
    model: &dyn QualityModel,
    begun: bool,
    global: &Global,
) -> Result<(Vec<String>, f64, ScoredDocuments), Failure> {
    let passes = needs_shape(job.from, job.to);
    let spooled = if passes { spool(job, global)? } else { None };
    let input = spooled.as_ref().unwrap_or(&job.input);
    let options = OpenOptions { batch_rows: args.rows(), columns: None };
    let mut source = documents::open(input, &options)?;
    let asked = args.text_columns.as_deref();
    let text_columns = texts::columns(source.name(), source.columns(), asked)?;
    let texts = text_columns.join(" + ");
    say(global, &format!("{}: text is {texts}; model {}", job.input.name, model.name()));
    let mut shape = None;
    if passes {
        let text = [&text_columns[..], &["url".to_owned()]].concat();
        shape = Some(shape::find(source.as_mut(), &text)?);
        source = documents::open(input, &options)?;
    }
    let mut journal = journal(args, job, model, &texts, begun)?;
    let out = job.target.open()?;
    let mut sink = documents::create(out, source.as_ref(), &layout(args, job, shape))?;
    let settings = ScoreSettings { text_columns, strict: args.format.strict };
    let (start, mut progress) = (Instant::now(), LateProgress::new(global, "score"));
    let seen = |found: &ScoredDocuments, (at, of): (u64, Option<u64>)| {
        progress.at(at, of, &note(found, start.elapsed().as_secs_f64(), at, of));
    };
    let scored =
        score::run(source.as_mut(), sink.as_mut(), model, journal.as_mut(), &settings, seen)?;
    progress.done();
    sink.finish()?;
    Ok((settings.text_columns, start.elapsed().as_secs_f64(), scored))
}

fn layout(args: &Args, job: &Job, shape: Option<Shape>) -> Layout {
    Layout {
        format: job.to,
        compression: Compression::of_name(&job.target.path),
        shape,
        added: Some(AddedColumn { name: args.column.clone(), kind: AddedKind::Number }),
        replace: args.format.overwrite,
    }
}

/// The journal of the run; none where the output is a stream.
fn journal(
    args: &Args,
    job: &Job,
    model: &dyn QualityModel,
    texts: &str,
    begun: bool,
) -> Result<Option<Journal>, Failure> {
    if job.target.is_stream() {
        return Ok(None);
    }
    let (batch, from) = (args.rows(), job.from.name());
    let identity = format!("{}\n{texts}\n{batch}\n{from}", model.fingerprint());
    Ok(Some(Journal::open(&job.target.part(SCORES), &identity, begun)?))
}

fn note(found: &ScoredDocuments, seconds: f64, at: u64, of: Option<u64>) -> String {
    let fresh = (found.rows - found.resumed) as f64 / seconds;
    let share =
        of.map_or(String::new(), |of| format!(" ({:.0} %)", 100.0 * at as f64 / of.max(1) as f64));
    format!("{} documents{share}, {fresh:.0} documents/s", found.rows)
}

/// Standard input as a file, which can be read twice.
fn spool(job: &Job, global: &Global) -> Result<Option<Input>, Failure> {
    if !job.input.is_stream() {
        return Ok(None);
    }
    if job.target.is_stream() {
        let error = anyhow::anyhow!(
            "{} from standard input to {} on standard output takes two passes",
            job.from.name(),
            job.to.name()
        );
        return Err(Failure::input(error, "name a file on one side, or use one format on both"));
    }
    let path = job.target.part(INPUT);
    let bytes = copy_stdin(&path).map_err(|error| cannot("write", &path, error))?;
    let shown = path.display();
    say(global, &format!("standard input is read twice: {bytes} bytes kept in {shown} meanwhile"));
    let name = job.input.name.clone();
    Ok(Some(Input { path, name, format: Some(job.from) }))
}

fn copy_stdin(path: &Path) -> io::Result<u64> {
    let mut file = File::create(path)?;
    io::copy(&mut io::stdin().lock(), &mut file)
}

fn report(
    args: &Args,
    global: &Global,
    model: &dyn QualityModel,
    written: &[Written],
    left: &[String],
) -> Result<(), Failure> {
    for one in written {
        let ScoredDocuments { rows, scored, resumed, unscored, skipped, others } = &one.scored;
        let fresh = (rows - resumed) as f64 / one.seconds.max(1e-9);
        let again = match resumed {
            0 => String::new(),
            _ => format!(", {resumed} of them before"),
        };
        let output = &one.output;
        let line = format!(
            "{output}: {scored} of {rows} documents scored{again} ({fresh:.0} documents/s)"
        );
        say(global, &line);
        say_counts(global, "without a score", unscored);
        say_counts(global, "skipped", skipped);
        say_counts(global, "no document", others);
    }
    if !global.json {
        return Ok(());
    }
    output::print_json(&serde_json::json!({
        "schema": "prospect.quality-score/1",
        "model": { "name": model.name(), "fingerprint": model.fingerprint() },
        "column": args.column,
        "files": written.iter().map(Written::as_json).collect::<Vec<_>>(),
        "left": left,
    }))
}
