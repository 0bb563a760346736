//! `prospect export`: what a store holds, for other stores and other programs.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::output::{self, Failure, say};
use super::plain::stdout;
use super::{Global, open};
use crate::campaign::ciff::{self, Indexed};
use crate::campaign::knowledge::{self, Exported};
use crate::campaign::{CampaignError, OpenStore};
use crate::report::number::with_noun;

/// Arguments of `prospect export`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// What to write.
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Format,
    /// The file to write; `-` is standard output.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// Pages with their links, as JSON lines that `prospect ingest` reads.
    Pages,
    /// The words of the pages, in the Common Index File Format that search engines read.
    Ciff,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if global.json && args.out == Path::new("-") {
        let error = anyhow::anyhow!("standard output takes the pages or the words alone");
        return Err(Failure::input(error, "name a file with --out for --json"));
    }
    let open = open::to_ask(&args.store, "prospect export", global)?;
    let (pages, others, words) = match args.format {
        Format::Pages => {
            let Exported { pages, failed, .. } = pages(&open, &args.out)?;
            (pages, failed, None)
        }
        Format::Ciff => {
            let Indexed { pages, words } = index(&open, &args.out)?;
            (pages, 0, Some(words))
        }
    };
    if global.json {
        let json =
            serde_json::json!({ "schema": "prospect.export/1", "pages": pages, "words": words });
        return output::print_json(&json);
    }
    let words = words.map_or_else(String::new, |words| format!(", {}", with_noun(words, "word")));
    let others = match others {
        0 => String::new(),
        others => format!(" and {} that gave none", with_noun(others, "fetch")),
    };
    let pages = with_noun(pages, "page");
    say(global, &format!("{}: {pages}{others}{words}", args.out.display()));
    Ok(())
}

/// Writes the pages of a store with their links, as JSON lines that `prospect ingest` reads; whole or not at all.
pub(super) fn pages(open: &OpenStore, path: &Path) -> Result<Exported, Failure> {
    to_file(path, |out| {
        knowledge::export(open, |record| {
            serde_json::to_writer(&mut *out, record)?;
            out.write_all(b"\n")
        })
    })
}

/// Writes the index of a store.
fn index(open: &OpenStore, path: &Path) -> Result<Indexed, Failure> {
    let words = open.known.analyzer.options();
    let description = format!("Prospect {}; words {words}", env!("CARGO_PKG_VERSION"));
    to_file(path, |out| ciff::write(open, &description, out))
}

/// Writes a file of a store, whole or not at all: the store may fail, or the file.
fn to_file<T: Copy + Default>(
    path: &Path,
    write: impl Fn(&mut dyn Write) -> Result<io::Result<T>, CampaignError>,
) -> Result<T, Failure> {
    let (told, failed) = (Cell::new(T::default()), Cell::new(None));
    let to_path = |write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        if path == Path::new("-") { write(&mut stdout()) } else { output::write_file(path, write) }
    };
    let written = to_path(&|out| match write(out) {
        Ok(done) => done.map(|found| told.set(found)),
        Err(error) => {
            failed.set(Some(error));
            Err(io::ErrorKind::Other.into())
        }
    });
    match (written, failed.take()) {
        (_, Some(error)) => Err(error.into()),
        (Err(error), None) if path == Path::new("-") => Err(error.into()),
        (Err(error), None) => Err(output::not_written(path, error)),
        (Ok(()), None) => Ok(told.get()),
    }
}
