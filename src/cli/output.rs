//! Errors for people, progress, and the few shapes of output that commands share.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use prospect_index::error::StoreError;
use prospect_index::text_index::Refresh;

use super::Global;
use crate::cycle::basis_cache::{Damage, Recomputed, Refreshed};
use crate::cycle::{CycleError, Refreshes};
use crate::documents::DocumentError;
use crate::estimate::basis::Basis;
use crate::evaluate::EvaluateError;
use crate::evaluate::rerank::RerankError;
use crate::ingest::IngestError;
use crate::policy::PolicyError;
use crate::quality::QualityError;
use crate::simulate::SimulateError;
use crate::workload::WorkloadError;

/// A command that ended badly.
#[derive(Debug)]
pub struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
    /// Exit code: 1 the user's input, 2 our fault.
    pub code: u8,
}

impl Failure {
    /// The user can mend it.
    pub fn input(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: Some(hint.into()), code: 1 }
    }

    /// Only we can mend it.
    pub fn ours(error: impl Into<anyhow::Error>) -> Self {
        Self { error: error.into(), hint: None, code: 2 }
    }
}

/// The next step where a cross-encoder cannot be used.
pub(super) const MODELS: &str = "models/README.md tells how a cross-encoder is exported; `--rerank RUN` takes the scores of a run";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        Self { error: error.into(), hint, code: 1 }
    }
}

impl From<CycleError> for Failure {
    fn from(error: CycleError) -> Self {
        let hint = error.hint();
        let ours =
            matches!(error, CycleError::Estimate(_) | CycleError::Ngram(_)) && hint.is_none();
        Self { error: error.into(), hint, code: if ours { 2 } else { 1 } }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        let hint = error.hint();
        Self::input(error, hint)
    }
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { error: error.into(), hint, code: 1 }
    }
}

impl From<RerankError> for Failure {
    fn from(error: RerankError) -> Self {
        match error {
            RerankError::Model(error) => Self::input(error, MODELS),
            RerankError::Texts(error) => error.into(),
        }
    }
}

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Self {
        match error {
            SimulateError::Ingest(error) => error.into(),
            SimulateError::Store(error) => error.into(),
            SimulateError::Evaluate(error) => error.into(),
            SimulateError::Rerank(error) => error.into(),
            SimulateError::Policy(PolicyError::Plan(error)) | SimulateError::Vectors(error) => {
                error.into()
            }
            SimulateError::Policy(PolicyError::Replay) => {
                let hint = "remove the folder of the results, and run the experiment again";
                Self::input(error, hint)
            }
            SimulateError::NoPages => Self::input(error, "check what --corpus or --store names"),
            SimulateError::Option(error) => {
                Self::input(error, "`prospect policies` lists policies and their options")
            }
            SimulateError::Ngram(error) => Self::ours(error),
            SimulateError::Answer(error) => Self::ours(error),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        let hint = error.hint();
        Self::input(error, hint)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        QualityError::Document(error).into()
    }
}

impl From<QualityError> for Failure {
    fn from(error: QualityError) -> Self {
        if let QualityError::Document(DocumentError::Write { source }) = &error
            && source.kind() == io::ErrorKind::BrokenPipe
        {
            return io::Error::from(io::ErrorKind::BrokenPipe).into();
        }
        let hint = error.hint();
        Self::input(error, hint)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // The reader of our output went away (`| head`), which is no fault of anyone.
        let code = u8::from(error.kind() != io::ErrorKind::BrokenPipe);
        let error = anyhow::Error::new(error).context("the result cannot be written");
        Self { error, hint: None, code }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { io::Error::from(error).into() } else { Self::ours(error) }
    }
}

/// Prints `error:`, the chain of causes, and the hint.
pub(super) fn print_failure(failure: &Failure) {
    if failure.code == 0 {
        return;
    }
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "error: {}", failure.error);
    for cause in failure.error.chain().skip(1) {
        let _ = writeln!(err, "  caused by: {cause}");
    }
    if let Some(hint) = &failure.hint {
        let _ = writeln!(err, "\nhint: {hint}");
    }
}

/// A JSON value and the end of its last line.
pub(super) fn write_json(out: &mut dyn Write, value: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// One JSON value on stdout.
pub(super) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    Ok(write_json(&mut io::stdout().lock(), value)?)
}

/// A line for people, on stderr.
pub(super) fn say(global: &Global, line: &str) {
    if !global.quiet {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
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
    if let Some(why) = &refresh.rebuilt {
        say(global, &format!("{name}: rebuilt, because {why}"));
    }
    if refresh.added > 0 {
        let line = format!("{name}: {} of {} {unit} brought in", refresh.added, refresh.total);
        say(global, &line);
    }
}

/// What was recomputed to plan for a workload, but for what [`pairs_line`] tells.
pub(super) fn say_refreshed(global: &Global, refreshed: &Refreshed) {
    say_refresh(global, "served lists", "queries", &refreshed.served);
    for Damage { name, what } in &refreshed.damaged {
        say(global, &format!("{name}: rebuilt, because {what}"));
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

/// Pairs of a basis, and what was recomputed of them.
pub(super) fn pairs_line(basis: &Basis, recomputed: Recomputed) -> String {
    let (pairs, training) = (basis.pair_count(), basis.training_pairs());
    match recomputed {
        Recomputed::All => format!(
            "{pairs} candidate pairs estimated by models of {training} pairs of crawled pages"
        ),
        Recomputed::Pairs => format!(
            "{pairs} candidate pairs estimated by the epoch's models of {training} pairs of \
             crawled pages, which were in the store"
        ),
        Recomputed::Nothing => format!(
            "{pairs} candidate pairs, estimated by models of {training} pairs of crawled pages, \
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
                bar.set_message(note.to_owned());
            }
        } else if self.plain && self.last.elapsed() >= PLAIN_EVERY {
            self.last = Instant::now();
            let _ = writeln!(io::stderr().lock(), "{}: {note}", self.what);
        }
    }

    pub(super) fn done(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Text for a terminal: control characters, which a page's anchor may hold, become spaces; cut to
/// `width` characters.
pub(super) fn shown(text: &str, width: usize) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = clean.take(width + 1).collect();
    if out.chars().count() > width {
        out = out.chars().take(width.saturating_sub(1)).collect();
        out.push('…');
    }
    out
}
