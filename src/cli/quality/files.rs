//! Files that come and go: formats of inputs and outputs, and outputs that appear when they are
//! complete.
//!
//! An output OUT is made in the directory `OUT.part`, synced and renamed; what a killed run left there
//! is never taken for a result.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::output::Failure;
use crate::documents::{BATCH_ROWS, Compression, DocumentError, DocumentFormat, Input, Side};
use crate::quality::journal::HEAD_BYTES;

/// Files of the work.
const DOCUMENTS: &str = "documents";
pub(super) const SCORES: &str = "scores";
pub(super) const INPUT: &str = "input";
const WRITABLE: &str = "name a file in a directory that exists and that you may write to";

/// A format on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FormatArg {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values with a header.
    Csv,
    /// One array of objects.
    Json,
    /// One object a line.
    Jsonl,
    /// WARC, to be read: the pages of an archive.
    Warc,
}

impl From<FormatArg> for DocumentFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Parquet => Self::Parquet,
            FormatArg::Csv => Self::Csv,
            FormatArg::Json => Self::Json,
            FormatArg::Jsonl => Self::JsonLines,
            FormatArg::Warc => Self::Warc,
        }
    }
}

/// How files are read and written.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct FormatOptions {
    /// Format of the input; by default told by its name.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(super) input_format: Option<FormatArg>,
    /// Format of the output; by default told by its name, else that of the input.
    #[arg(long, value_enum, value_name = "FORMAT")]
    output_format: Option<FormatArg>,
    /// Documents that are worked on at once: by default 256, or 4096 to score on a GPU.
    #[arg(long, value_name = "N")]
    pub(super) batch: Option<usize>,
    /// Fail at the first bad row instead of leaving it out.
    #[arg(long)]
    pub(super) strict: bool,
    /// Replace an output, and a column of the same name, that are there already.
    #[arg(long)]
    pub(super) overwrite: bool,
}

impl FormatOptions {
    /// The input at a path.
    pub(super) fn input(&self, path: &Path) -> Input {
        Input::of(path, self.input_format.map(DocumentFormat::from))
    }

    /// Documents that are worked on at once where none are scored.
    pub(super) fn rows(&self) -> usize {
        self.batch.unwrap_or(BATCH_ROWS)
    }

    /// The format of an output, where the input has the format `input`.
    pub(super) fn of_output(
        &self,
        path: &Path,
        input: DocumentFormat,
    ) -> Result<DocumentFormat, Failure> {
        let stream = path == Path::new("-");
        let named =
            self.output_format.map(DocumentFormat::from).or_else(|| DocumentFormat::of_name(path));
        let format = match named {
            Some(format @ DocumentFormat::Warc) => {
                let path = path.display().to_string();
                return Err(DocumentError::NotWritten { path, format }.into());
            }
            Some(format) => format,
            None if stream && input == DocumentFormat::Warc => DocumentFormat::JsonLines,
            None if stream => input,
            None => {
                let path = path.display().to_string();
                return Err(DocumentError::UnknownFormat { path, side: Side::Output }.into());
            }
        };
        if format == DocumentFormat::Parquet && stream {
            let path = "standard output".to_owned();
            return Err(DocumentError::ParquetStream { path }.into());
        }
        Ok(format)
    }

    /// The name of the output for an input, in a directory of outputs: Parquet of archives.
    pub(super) fn name_in(&self, directory: &Path, input: &Input) -> Result<PathBuf, Failure> {
        let name = input.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if input.is_stream() || name.is_empty() {
            let error = anyhow::anyhow!("{}: has no name for its output", input.name);
            return Err(Failure::input(error, "name the output file itself with --output FILE"));
        }
        let is_archive = input.format()? == DocumentFormat::Warc;
        let format = self.output_format.map(DocumentFormat::from);
        let Some(format) = format.or(is_archive.then_some(DocumentFormat::Parquet)) else {
            return Ok(directory.join(name));
        };
        let packed = Compression::of_name(&input.path);
        let stem = name.strip_suffix(packed.extension()).unwrap_or(&name);
        let stem = match DocumentFormat::of_name(&input.path) {
            Some(_) => stem.rsplit_once('.').map_or(stem, |(stem, _)| stem),
            None => stem,
        };
        let packed = if format == DocumentFormat::Parquet { "" } else { packed.extension() };
        Ok(directory.join(format!("{stem}.{}{packed}", format.name())))
    }
}

/// An output in the making.
#[derive(Debug)]
pub(super) struct Target {
    /// What it will be called; `-` is standard output.
    pub(super) path: PathBuf,
    folder: PathBuf,
    /// Held while the work lasts, so that two processes do not write one output.
    lock: Option<File>,
    file: Option<File>,
}

impl Target {
    /// An output at a path.
    pub(super) fn new(path: &Path) -> Self {
        let mut folder = path.as_os_str().to_owned();
        folder.push(".part");
        Self { path: path.to_owned(), folder: folder.into(), lock: None, file: None }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Whether the output is there, complete.
    pub(super) fn exists(&self) -> bool {
        !self.is_stream() && self.path.exists()
    }

    /// Refuses an output that is there.
    pub(super) fn refuse_existing(&self, overwrite: bool) -> Result<(), Failure> {
        if self.is_stream() || !self.path.exists() {
            return Ok(());
        }
        let error = anyhow::anyhow!("{}: is there already", self.path.display());
        if self.path.is_dir() {
            return Err(Failure::input(error, "it is a directory; name a file"));
        }
        if overwrite {
            return Ok(());
        }
        Err(Failure::input(error, "--overwrite replaces it"))
    }

    /// Whether a run before left something to go on with.
    pub(super) fn is_begun(&self) -> bool {
        let scores = fs::metadata(self.part(SCORES));
        !self.is_stream() && scores.is_ok_and(|scores| scores.len() > HEAD_BYTES)
    }

    /// The path of a file of the work, beside the output.
    pub(super) fn part(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes the directory of the work; empty unless `keep` is set.
    pub(super) fn begin(&mut self, keep: bool) -> Result<(), Failure> {
        if self.is_stream() {
            return Ok(());
        }
        if let Some(parent) = self.path.parent()
            && !parent.as_os_str().is_empty()
            && !parent.is_dir()
        {
            let error = anyhow::anyhow!("{}: there is no such directory", parent.display());
            return Err(Failure::input(error, WRITABLE));
        }
        fs::create_dir_all(&self.folder).map_err(|error| cannot("make", &self.folder, error))?;
        let path = self.part("lock");
        let lock = File::create(&path).map_err(|error| cannot("write", &path, error))?;
        match lock.try_lock() {
            Ok(()) => self.lock = Some(lock),
            Err(TryLockError::WouldBlock) => {
                let error = anyhow::anyhow!("{}: another process makes it", self.path.display());
                return Err(Failure::input(error, "wait for it, or end it"));
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", &path, error)),
        }
        if !keep {
            for name in [DOCUMENTS, SCORES, INPUT] {
                let _ = fs::remove_file(self.part(name));
            }
        }
        Ok(())
    }

    /// Where the output is written to.
    pub(super) fn open(&mut self) -> Result<Box<dyn Write + Send>, Failure> {
        if self.is_stream() {
            return Ok(Box::new(io::stdout()));
        }
        let path = self.part(DOCUMENTS);
        let file = File::create(&path).map_err(|error| cannot("write", &path, error))?;
        let handle = file.try_clone().map_err(|error| cannot("write", &path, error))?;
        self.file = Some(handle);
        Ok(Box::new(file))
    }

    /// Gives the complete output its name.
    pub(super) fn commit(mut self) -> Result<(), Failure> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let from = self.part(DOCUMENTS);
        file.sync_all().map_err(|error| cannot("write", &from, error))?;
        fs::rename(&from, &self.path).map_err(|error| cannot("rename", &from, error))?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // Not every system can sync a directory; where it cannot, the rename is as safe as it gets.
        let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|parent| parent.sync_all());
        let _ = fs::remove_dir_all(&self.folder);
        Ok(())
    }

    /// Removes what a run left that was ended behind the renaming of its output.
    pub(super) fn clean_up(mut self) {
        if self.folder.is_dir() && self.begin(false).is_ok() {
            self.give_up();
        }
    }

    /// Removes what is left of work that cannot be gone on with.
    pub(super) fn give_up(self) {
        if self.lock.is_some() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

pub(super) fn cannot(what: &str, path: &Path, error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context(format!("cannot {what} {}", path.display()));
    Failure::input(error, WRITABLE)
}
