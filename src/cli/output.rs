//! Errors for people, progress, and the few shapes of output that commands share.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use prospect_index::limits;
use prospect_index::text_index::Refresh;

use super::Global;
use super::hints::{NOBODYS, OURS, USERS, WayOut};
use super::plain::{is_unsafe, plain, stdout};
use crate::campaign::Refreshes;
use crate::campaign::planned::{Damage, Recomputed, Refreshed};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::ingest;
use crate::report::number::with_noun;

/// A command that ended badly.
#[derive(Debug)]
pub(crate) struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
    /// Exit code: 1 the user's input, 2 our fault.
    pub(crate) code: u8,
}

impl Failure {
    /// The user can mend it.
    pub(crate) fn input(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: Some(hint.into()), code: USERS }
    }

    /// The same, told with where it is.
    pub(crate) fn at(self, place: impl std::fmt::Display + Send + Sync + 'static) -> Self {
        Self { error: self.error.context(place), ..self }
    }

    /// Only we can mend it.
    pub(crate) fn ours(error: impl Into<anyhow::Error>) -> Self {
        Self { error: error.into(), hint: None, code: OURS }
    }
}

impl<E: WayOut + Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let (hint, code) = (error.way_out(), error.code());
        Self { error: error.into(), hint, code }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::BrokenPipe { NOBODYS } else { USERS };
        let error = anyhow::Error::new(error).context("the result cannot be written");
        Self { error, hint: None, code }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { io::Error::from(error).into() } else { Self::ours(error) }
    }
}

/// Writes a file that somebody may watch for: it is all there, or what it was before; a link stays one.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_file(
    path: &Path,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match path.metadata() {
        Ok(found) if !found.is_file() => return write_to(path, write),
        _ => {}
    }
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    match File::create(&beside) {
        Ok(_) => {}
        // The file may be written to where its folder may not, or have no room for a longer name.
        Err(error) if is_of_the_folder(error.kind()) => return write_to(&path, write),
        Err(error) => return Err(error),
    }
    // Its bytes are on the disk before its name is.
    let written = write_to(&beside, &write).and_then(|()| File::open(&beside)?.sync_all());
    let renamed = written.and_then(|()| std::fs::rename(&beside, &path));
    if let Err(error) = renamed {
        let _ = std::fs::remove_file(&beside);
        // A mount of its own keeps its name. Whatever else went wrong, what was there before stays.
        let is_mount = matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices);
        return if is_mount { write_to(&path, write) } else { Err(error) };
    }
    // Where a folder can be synced, so is the name.
    let folder = path.parent().map(File::open);
    let _ = folder.and_then(Result::ok).map(|folder| folder.sync_all());
    Ok(())
}

fn is_of_the_folder(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidFilename, PermissionDenied, ReadOnlyFilesystem};
    matches!(kind, InvalidFilename | PermissionDenied | ReadOnlyFilesystem)
}

fn write_to(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.flush()
}

/// What the system says of a file, with its name.
pub(super) fn cannot_write(path: &Path, error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("cannot write {}", path.display()))
}

/// A file that an option names cannot be written.
pub(super) fn not_written(path: &Path, error: io::Error) -> Failure {
    let hint = "name a file in a directory that exists and that you may write to";
    Failure::input(cannot_write(path, error), hint)
}

/// Prints `error:`, the chain of causes, and the hint.
pub(super) fn print_failure(failure: &Failure) {
    if failure.code == NOBODYS {
        return;
    }
    let mut said = format!("error: {}\n", failure.error);
    for cause in failure.error.chain().skip(1) {
        said += &format!("  caused by: {cause}\n");
    }
    if let Some(hint) = &failure.hint {
        said += &format!("\nhint: {hint}\n");
    }
    let _ = io::stderr().lock().write_all(plain(&said).as_bytes());
}

/// What numbers that are none are told by, and what we say.
const IN_OTHER_WORDS: [(&str, &str); 3] = [
    ("invalid digit found in string", "a whole number is expected, as 20"),
    ("invalid float literal", "a number is expected, as 0.5"),
    ("number too large to fit in target type", "the number is too large"),
];

/// Prints what is wrong with the arguments, or the help that they ask for.
pub(super) fn print_usage(error: &clap::Error) {
    let told = error.render().to_string();
    let text = IN_OTHER_WORDS.iter().fold(told.clone(), |text, (of, ours)| text.replace(of, ours));
    if text != told || text.contains(is_unsafe) {
        let _ = io::stderr().lock().write_all(plain(&text).as_bytes());
    } else {
        let _ = error.print();
    }
}

/// A JSON value and the end of its last line.
pub(super) fn write_json(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// One JSON value on stdout.
pub(super) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    Ok(write_json(&mut stdout(), value)?)
}

/// A line for people, on stderr.
pub(super) fn say(global: &Global, line: &str) {
    if !global.quiet {
        print_note(line);
    }
}

/// A line on stderr.
pub(super) fn print_note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(line));
}

/// What was recomputed, one line for each structure that changed.
pub(super) fn say_refreshes(global: &Global, refreshes: &Refreshes) {
    for (name, unit, refresh) in [
        ("text index", "pages", &refreshes.text),
        ("frontier n-grams", "URLs", &refreshes.frontier),
        ("history n-grams", "pages", &refreshes.history),
    ] {
        say_refresh(global, name, unit, refresh);
    }
}

/// What was recomputed of one structure.
pub(super) fn say_refresh(global: &Global, name: &str, unit: &str, refresh: &Refresh) {
    say_rebuilt(global, name, refresh.rebuilt.as_deref());
    if refresh.added > 0 {
        let line = format!("{name}: {} of {} {unit} brought in", refresh.added, refresh.total);
        say(global, &line);
    }
}

/// Why a structure was made again, if it was.
pub(super) fn say_rebuilt(global: &Global, name: &str, why: Option<&str>) {
    if let Some(why) = why {
        say(global, &format!("{name}: rebuilt, because {why}"));
    }
}

/// What was recomputed to plan for a workload, but for what [`pairs_line`] tells.
pub(super) fn say_refreshed(global: &Global, refreshed: &Refreshed) {
    say_refresh(global, "served lists", "queries", &refreshed.served);
    for Damage { name, what } in &refreshed.damaged {
        say_rebuilt(global, name, Some(what));
    }
    say_unread(global, &refreshed.unread);
}

/// Files of plans that were left unread.
pub(super) fn say_unread(global: &Global, unread: &[String]) {
    let Some(first) = unread.first() else { return };
    let others = match unread.len() - 1 {
        0 => String::new(),
        others => format!("; so do {others} more"),
    };
    let line = format!(
        "left unread, for an older version wrote it without what is learned from today; it stays in the \
         store: {first}{others}"
    );
    say(global, &line);
}

/// Scored pairs, and what was recomputed of them.
pub(super) fn pairs_line(scored: &ScoredPairs, recomputed: Recomputed) -> String {
    let pairs = with_noun(scored.pair_count(), "candidate pair");
    let of = with_noun(scored.training_pairs(), "pair");
    match recomputed {
        Recomputed::All => format!("{pairs} estimated by models of {of} of crawled pages"),
        Recomputed::Changes => format!(
            "{pairs} by the epoch's models of {of} of crawled pages: what has \
             changed was estimated again, the rest was in the store"
        ),
        Recomputed::Pairs => format!(
            "{pairs} estimated by the epoch's models of {of} of \
             crawled pages, which were in the store"
        ),
        Recomputed::Nothing => format!(
            "{pairs}, estimated by models of {of} of crawled pages, \
             were in the store"
        ),
    }
}

/// Progress over a number of bytes: a bar with ETA on a terminal, a plain line every ten seconds
/// elsewhere.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    plain: bool,
    what: &'static str,
    last: Instant,
}

/// Time between plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    pub(super) fn new(global: &Global, what: &'static str, total: Option<u64>) -> Self {
        let terminal = io::stderr().is_terminal() && !global.quiet;
        let bar = terminal.then(|| {
            let bar = ProgressBar::new(total.unwrap_or(0));
            let template = "{msg} {wide_bar} {bytes}/{total_bytes} ETA {eta}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.with_message(what)
        });
        Self { bar, plain: !terminal && !global.quiet, what, last: Instant::now() }
    }

    /// As [`Progress::new`], over anything that is counted; the bar shows the notes.
    pub(super) fn noting(global: &Global, what: &'static str, total: Option<u64>) -> Self {
        let progress = Self::new(global, what, total);
        if let Some(bar) = &progress.bar
            && let Ok(style) =
                ProgressStyle::with_template("{prefix} {wide_bar} {percent} % {msg} ETA {eta}")
        {
            bar.set_prefix(what);
            bar.set_style(style);
        }
        progress
    }

    pub(super) fn at(&mut self, bytes: u64, note: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            if !bar.prefix().is_empty() {
                bar.set_message(plain(note).into_owned());
            }
        } else if self.plain && self.last.elapsed() >= PLAIN_EVERY {
            self.last = Instant::now();
            let _ = writeln!(io::stderr().lock(), "{}: {}", self.what, plain(note));
        }
    }

    pub(super) fn done(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress that is shown from its first report on, before which nobody knows what it is out of.
pub(super) struct LateProgress<'a> {
    global: &'a Global,
    what: &'static str,
    begun: Option<Progress>,
}

impl<'a> LateProgress<'a> {
    pub(super) fn new(global: &'a Global, what: &'static str) -> Self {
        Self { global, what, begun: None }
    }

    pub(super) fn at(&mut self, done: u64, total: Option<u64>, note: &str) {
        let begin = || Progress::noting(self.global, self.what, total);
        self.begun.get_or_insert_with(begin).at(done, note);
    }

    pub(super) fn done(self) {
        if let Some(progress) = self.begun {
            progress.done();
        }
    }
}

/// A path as a shell takes it: between quotes where it has other letters than those of plain names.
pub(super) fn shell_word(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.into_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Text for a terminal: what it could act on, which a page's anchor may hold, becomes spaces; cut to
/// `width` characters.
pub(super) fn shown(text: &str, width: usize) -> String {
    let clean = text.chars().map(|c| if c.is_control() || is_unsafe(c) { ' ' } else { c });
    let mut out: String = clean.take(width + 1).collect();
    if out.chars().count() > width {
        out = out.chars().take(width.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}

/// Characters of a scope that are shown.
pub(super) const SCOPE_WIDTH: usize = 300;

/// What is in scope, in a line.
pub(super) fn scope_line(scope: &str) -> String {
    format!("scope: {}", shown(scope, SCOPE_WIDTH))
}

/// Says what was cut or left out of pages, and how often.
pub(super) fn say_cuts<'a>(global: &Global, cuts: impl Iterator<Item = (&'a str, u64)>) {
    for (name, count) in cuts {
        let count = with_noun(count, "time");
        say(global, &format!("cut or left out {count}: {name}, {}", meaning_of_cut(name)));
    }
}

/// What was done, by the name under which records report it.
fn meaning_of_cut(name: &str) -> String {
    if let Some((_, meaning)) = ingest::NOTES.iter().find(|(note, _)| *note == name) {
        return (*meaning).to_owned();
    }
    let limit = limits::TABLE.iter().find(|(limit, ..)| *limit == name);
    limit.map_or_else(String::new, |(_, most, unit, then)| format!("beyond {most} {unit} {then}"))
}
