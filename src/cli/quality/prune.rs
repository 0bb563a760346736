//! `prospect quality prune`: the best documents of a scored file, or all of them in tiers.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::files::{FormatOptions, Target};
use super::say_counts;
use crate::cli::Global;
use crate::cli::output::{self, Failure, Progress, say};
use crate::documents::{
    self, AddedColumn, AddedField, AddedKind, Compression, DocumentBatch, DocumentFormat,
    DocumentSink, Input, Layout, OpenOptions, needs_shape, shape,
};
use crate::quality::prune::{Tiers, scores};
use crate::quality::{Counts, QualityError, texts};

/// What becomes of documents without a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unscored {
    /// They are kept; in tiers they are in the lowest.
    Keep,
    /// They are dropped.
    Drop,
}

/// Arguments of `prospect quality prune`.
#[derive(clap::Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("cut").required(true).args(["keep", "threshold", "tiers"])))]
pub(super) struct Args {
    /// A scored file: Parquet, CSV, JSON or JSON lines.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Keep this share of the documents with a score, the best ones; their number is rounded up.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    keep: Option<f64>,
    /// Keep documents with at least this score.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Divide into tiers that end at these shares: 0.2,0.5,1 are the best fifth, the next three
    /// tenths, and the rest.
    #[arg(long, value_name = "SHARES", value_delimiter = ',', allow_negative_numbers = true)]
    tiers: Option<Vec<f64>>,
    /// Where the documents go that are kept, or with --tier-column all of them.
    #[arg(long, short, value_name = "FILE", required_unless_present = "output_dir")]
    output: Option<PathBuf>,
    /// Where the others go; by default nowhere.
    #[arg(long, value_name = "FILE", conflicts_with = "tiers")]
    rest: Option<PathBuf>,
    /// Directory for one file a tier: tier-1, tier-2…
    #[arg(long, value_name = "DIR", requires = "tiers", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
    /// Add the number of the tier as a column instead, 1 being the best.
    #[arg(long, value_name = "COLUMN", requires = "tiers", conflicts_with = "output_dir")]
    tier_column: Option<String>,
    /// Column of the scores.
    #[arg(long, value_name = "COLUMN", default_value = "quality_score")]
    column: String,
    /// What becomes of documents without a score; by default dropped, in tiers kept.
    #[arg(long, value_enum)]
    unscored: Option<Unscored>,
    #[command(flatten)]
    format: FormatOptions,
}

impl Args {
    /// What becomes of documents without a score.
    fn unscored(&self) -> Unscored {
        let usual = if self.tiers.is_some() { Unscored::Keep } else { Unscored::Drop };
        self.unscored.unwrap_or(usual)
    }

    /// The tier of documents without a score, of `tiers`: the lowest, that of documents that are
    /// kept, or that of the rest; none for nowhere.
    fn tier_of_unscored(&self, tiers: &Tiers) -> Option<usize> {
        match (self.unscored(), &self.tiers) {
            (Unscored::Keep, Some(_)) => Some(tiers.count() - 1),
            (Unscored::Keep, None) => Some(0),
            (Unscored::Drop, Some(_)) => None,
            (Unscored::Drop, None) => Some(1),
        }
    }
}

/// Where the documents of a tier go.
struct Outlet {
    sink: Option<Box<dyn DocumentSink>>,
    target: Option<Target>,
    documents: u64,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    check_arguments(args)?;
    let input = args.format.input(&args.file);
    if input.is_stream() {
        let error = anyhow::anyhow!("standard input cannot be read twice");
        return Err(Failure::input(error, "name a file; the first pass finds where to cut"));
    }
    let from = input.format()?;
    let narrow =
        OpenOptions { batch_rows: args.format.rows(), columns: Some(vec![args.column.clone()]) };
    let (scores, missing) = scores(documents::open(&input, &narrow)?.as_mut(), &args.column)?;
    let count = scores.len();
    let mut tiers = match (args.keep, args.threshold, &args.tiers) {
        (Some(share), ..) => Tiers::by_share(scores, &[share])?,
        (_, Some(threshold), _) => Tiers::by_score(scores, threshold),
        (.., shares) => Tiers::by_share(scores, shares.as_deref().unwrap_or_default())?,
    };
    let paths = paths(args, &tiers, from)?;
    let mut outlets = Vec::new();
    for path in paths {
        match open(args, &input, from, path) {
            Ok(outlet) => outlets.push(outlet),
            Err(failure) => {
                give_up(outlets);
                return Err(failure);
            }
        }
    }
    let skipped = write(args, &input, &mut tiers, &mut outlets, global);
    let skipped = match skipped {
        Ok(skipped) => skipped,
        Err(failure) => {
            give_up(outlets);
            return Err(failure);
        }
    };
    let kept: Vec<u64> = outlets.iter().map(|outlet| outlet.documents).collect();
    let names: Vec<Option<String>> = outlets
        .iter()
        .map(|outlet| Some(outlet.target.as_ref()?.path.display().to_string()))
        .collect();
    finish(outlets)?;
    report(args, global, &tiers, &Summary { kept, names, count, missing, skipped })
}

fn give_up(outlets: Vec<Outlet>) {
    outlets.into_iter().filter_map(|outlet| outlet.target).for_each(Target::give_up);
}

struct Summary {
    kept: Vec<u64>,
    names: Vec<Option<String>>,
    count: usize,
    missing: u64,
    skipped: Counts,
}

fn check_arguments(args: &Args) -> Result<(), Failure> {
    if args.tiers.is_some() && args.output_dir.is_none() && args.tier_column.is_none() {
        let error = anyhow::anyhow!("--tiers makes several files or a column; neither is named");
        return Err(Failure::input(error, "--output-dir DIR, or --tier-column quality_tier"));
    }
    if args.output.is_some() && args.output == args.rest {
        let error = anyhow::anyhow!("--output and --rest name one file");
        return Err(Failure::input(
            error,
            "give the documents that are dropped a file of their own",
        ));
    }
    Ok(())
}

/// One path a tier, none for documents that go nowhere; with a column of tiers one path for all.
fn paths(
    args: &Args,
    tiers: &Tiers,
    from: DocumentFormat,
) -> Result<Vec<Option<PathBuf>>, Failure> {
    if let Some(directory) = &args.output_dir {
        std::fs::create_dir_all(directory)
            .map_err(|error| super::files::cannot("make", directory, error))?;
        let name = args.format.name_in(Path::new(""), &args.format.input(&args.file))?;
        let name = name.to_string_lossy().into_owned();
        let ends =
            name.find('.').map_or_else(|| format!(".{}", from.name()), |at| name[at..].into());
        let path = |tier: usize| Some(directory.join(format!("tier-{}{ends}", tier + 1)));
        return Ok((0..tiers.count()).map(path).collect());
    }
    Ok(match args.tier_column {
        Some(_) => vec![args.output.clone()],
        None => vec![args.output.clone(), args.rest.clone()],
    })
}

fn open(
    args: &Args,
    input: &Input,
    from: DocumentFormat,
    path: Option<PathBuf>,
) -> Result<Outlet, Failure> {
    let Some(path) = path else { return Ok(Outlet { sink: None, target: None, documents: 0 }) };
    let mut target = Target::new(&path);
    let to = args.format.of_output(&path, from)?;
    target.refuse_existing(args.format.overwrite)?;
    let options = OpenOptions { batch_rows: args.format.rows(), columns: None };
    let mut source = documents::open(input, &options)?;
    let shape = if needs_shape(from, to) {
        let text = texts::names().chain(["url"]).map(str::to_owned).collect::<Vec<_>>();
        Some(shape::find(source.as_mut(), &text)?)
    } else {
        None
    };
    let added = args
        .tier_column
        .as_ref()
        .map(|name| AddedColumn { name: name.clone(), kind: AddedKind::Whole });
    let compression = Compression::of_name(&path);
    let layout = Layout { format: to, compression, shape, added, replace: args.format.overwrite };
    target.begin(false)?;
    let sink = documents::create(target.open()?, source.as_ref(), &layout);
    match sink {
        Ok(sink) => Ok(Outlet { sink: Some(sink), target: Some(target), documents: 0 }),
        Err(error) => {
            target.give_up();
            Err(error.into())
        }
    }
}

/// The second pass: every document to its outlet.
fn write(
    args: &Args,
    input: &Input,
    tiers: &mut Tiers,
    outlets: &mut [Outlet],
    global: &Global,
) -> Result<Counts, Failure> {
    let options = OpenOptions { batch_rows: args.format.rows(), columns: None };
    let mut source = documents::open(input, &options)?;
    let mut progress = Progress::noting(global, "prune", source.progress().1);
    let (column, without) = ([args.column.clone()], args.tier_of_unscored(tiers));
    let (mut skipped, mut rows) = (Counts::default(), 0);
    while let Some(batch) = source.next_batch()? {
        for row in &batch.bad {
            if args.format.strict {
                return Err(QualityError::Strict(Box::new(row.clone())).into());
            }
            skipped.add(row.clone());
        }
        let values = batch.values(&column);
        let mut places = Vec::with_capacity(values.len());
        for values in &values {
            places.push(values[0].number().map_or(without, |score| Some(tiers.place(score))));
        }
        if args.tier_column.is_some() {
            write_tiers(&batch, &places, &mut outlets[0])?;
        } else {
            for (tier, outlet) in outlets.iter_mut().enumerate() {
                write_some(&batch, &places, tier, outlet)?;
            }
        }
        rows += batch.len();
        progress.at(source.progress().0, &format!("{rows} documents"));
    }
    progress.done();
    Ok(skipped)
}

fn write_some(
    batch: &DocumentBatch,
    places: &[Option<usize>],
    tier: usize,
    outlet: &mut Outlet,
) -> Result<(), Failure> {
    let kept: Vec<bool> = places.iter().map(|place| *place == Some(tier)).collect();
    outlet.documents += kept.iter().filter(|kept| **kept).count() as u64;
    if let Some(sink) = &mut outlet.sink {
        sink.write(&batch.filter(&kept)?, None)?;
    }
    Ok(())
}

fn write_tiers(
    batch: &DocumentBatch,
    places: &[Option<usize>],
    outlet: &mut Outlet,
) -> Result<(), Failure> {
    let kept: Vec<bool> = places.iter().map(Option::is_some).collect();
    let tiers: Vec<Option<i32>> =
        places.iter().flatten().map(|place| Some(*place as i32 + 1)).collect();
    outlet.documents += tiers.len() as u64;
    if let Some(sink) = &mut outlet.sink {
        sink.write(&batch.filter(&kept)?, Some(AddedField::Wholes(&tiers)))?;
    }
    Ok(())
}

fn finish(outlets: Vec<Outlet>) -> Result<(), Failure> {
    let mut targets = Vec::new();
    for outlet in outlets {
        if let Some(sink) = outlet.sink {
            sink.finish()?;
        }
        targets.extend(outlet.target);
    }
    // All are complete before the first appears.
    for target in targets {
        target.commit()?;
    }
    Ok(())
}

fn report(args: &Args, global: &Global, tiers: &Tiers, summary: &Summary) -> Result<(), Failure> {
    let Summary { kept, names, count, missing, skipped } = summary;
    let with_unscored = args.tier_of_unscored(tiers);
    let unscored = |tier| if with_unscored == Some(tier) { *missing } else { 0 };
    say_counts(global, "skipped", skipped);
    say(global, &format!("read: {count} documents with a score, {missing} without"));
    if args.tiers.is_none() {
        say(global, &format!("kept: {}", described(tiers, 0, unscored(0))));
        let rest = names[1].as_deref().map_or(String::new(), |name| format!(" into {name}"));
        say(global, &format!("dropped: {}{rest}", kept[1]));
    } else {
        for at in 0..tiers.count() {
            let name = names.get(at).cloned().flatten().filter(|_| args.output_dir.is_some());
            let name = name.unwrap_or_else(|| format!("tier {}", at + 1));
            say(global, &format!("{name}: {}", described(tiers, at, unscored(at))));
        }
    }
    if global.json { output::print_json(&as_json(args, tiers, summary)) } else { Ok(()) }
}

/// A tier in words, which so many documents without a score are in, too.
fn described(tiers: &Tiers, tier: usize, without: u64) -> String {
    let lowest = tiers.lowest(tier).map(|lowest| format!(", the lowest {lowest}"));
    let (size, lowest) = (tiers.size(tier), lowest.unwrap_or_default());
    format!("{size} documents with a score{lowest}; {without} without")
}

fn as_json(args: &Args, tiers: &Tiers, summary: &Summary) -> serde_json::Value {
    let tier = |at| serde_json::json!({ "scored": tiers.size(at), "lowest": tiers.lowest(at) });
    let file = |(name, kept): (&Option<String>, &u64)| serde_json::json!({ "output": name, "documents": kept });
    serde_json::json!({
        "schema": "prospect.quality-prune/1",
        "input": args.file.display().to_string(),
        "column": args.column,
        "scored": summary.count,
        "unscored": summary.missing,
        "tiers": (0..tiers.count()).map(tier).collect::<Vec<_>>(),
        "files": summary.names.iter().zip(&summary.kept).map(file).collect::<Vec<_>>(),
        "skipped": super::counts_as_json(&summary.skipped),
    })
}
