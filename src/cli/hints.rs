//! The way out of every error: what to do next, in the words of the command line, and whose fault it was.
//!
//! Errors of the layers below carry what was found and where; they name no option and no command, for who
//! calls them may have neither. Here they meet the person who typed a command.

use std::io::ErrorKind;

use prospect_index::error::StoreError;

use crate::campaign::CampaignError;
use crate::campaign::left_out::Reason;
use crate::documents::{DocumentError, Side};
use crate::estimate::EstimateError;
use crate::evaluate::EvaluateError;
use crate::evaluate::names::MetricError;
use crate::evaluate::rerank::RerankError;
use crate::ingest::{BadReason, IngestError, Misnamed, MisnamedKeys, Unfit};
use crate::llm::LlmError;
use crate::neural::{self, NeuralError};
use crate::planner::PlannerError;
use crate::policy::PolicyError;
use crate::quality::QualityError;
use crate::report::number::counted;
use crate::serve::ServeError;
use crate::simulate::SimulateError;
use crate::workload::{Assumption, WorkloadError};

/// Exit codes of a command that did not do what it was asked.
pub(super) const USERS: u8 = 1;
pub(super) const OURS: u8 = 2;
/// Of one whose reader went away (`| head`), which is no fault of anyone.
pub(super) const NOBODYS: u8 = 0;

/// An error with a way out.
pub(super) trait WayOut {
    /// The next step for the person who reads the message, if there is one.
    fn way_out(&self) -> Option<String>;

    /// The exit code that tells whose fault it is.
    fn code(&self) -> u8 {
        USERS
    }
}

/// Where a cross-encoder or an embedding model cannot be used.
pub(super) const MODELS: &str = "models/README.md tells how a cross-encoder is exported; `--rerank RUN` takes the scores of a run";
/// Where a quality model cannot be used.
pub(super) const QUALITY_MODELS: &str =
    "models/README.md tells how models are made; `--model text-length` scores without one";

/// Where URLs come without what became of them.
pub(super) const ABOUT_SEEDS: &str = "`prospect seeds` takes URLs that one knows without a link";

const SPELLING: &str = "check the spelling; relative paths start where you are now";
const PERMISSION: &str = "check who may read it (ls -l), or run as a user who may";
const FETCH_AGAIN: &str =
    "fetch or write the file again and compare its length; then run the same command";
const CONVERT: &str =
    "convert it to JSON lines, one page a line; `prospect formats` lists what can be read";
const A_PAGE: &str = "each line should be an object such as \
    {\"url\": \"https://…\", \"title\": \"…\", \"text\": \"…\", \"outlinks\": [{\"url\": \"…\", \"anchor\": \"…\"}]}";
const LATIN_1: &str = "write it as UTF-8; from Western European text, for example, with: iconv -f LATIN1 -t UTF-8 \
    IN > OUT";
/// Parts the lines of a hint.
const NEXT_LINE: &str = "\n      ";
const IS_MARKUP: &str =
    " It takes plain text; HTML is read from files (with --base-url) and from WARC";
const UTF_16: &str = "write it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 IN > OUT";
const A_JUDGEMENT: &str = "a judgement is `qid 0 document grade` a line, as in TREC; BEIR's three columns with a heading, or JSON \
     lines with query_id, doc_id and relevance";
const A_MAP: &str = "a map is `id<TAB>url` a line, or JSON lines with an id and a url; ids are spelt as in the judgements";
const A_WORKLOAD: &str = "a workload is `qid<TAB>query[<TAB>frequency[<TAB>kind]]` a line, CSV with a header, JSON \
    (lines or an array) with qid, query, frequency and kind, or TREC topics; `prospect formats` says more";
const A_RUN: &str = "a line of a run is `qid Q0 docid rank score tag`, a line of judgements `qid 0 docid \
    grade`; both may be .gz or .zst";
const OF_RUN: &str = "runs are measured by nDCG@k, R@k, MRR@k and AP, by P@k, Success@k, Judged@k and bpref, k being a rank";
const RUNTIME: &str = "name a library of ONNX Runtime 1.24 or newer with --onnxruntime PATH or ORT_DYLIB_PATH: \
    `pip download onnxruntime` brings one (onnxruntime/capi/libonnxruntime.so.1.x in the wheel), as do the \
    release archives of ONNX Runtime; without one, models run by rten, inside this program";
const GPU: &str = "name a GPU that is there, and with --onnxruntime PATH a library of ONNX Runtime with CUDA: `pip download \
    onnxruntime-gpu` brings one, to be unpacked as it is; it finds the libraries of CUDA and cuDNN by LD_LIBRARY_PATH. \
    Or take --device auto, which runs models on the processor where there is no GPU";
const GPU_FAILS: &str = "a GPU that has too little memory for this model, or whose memory something else holds, cannot run it: \
    free it, name another one with --device cuda:N, or leave --device out";
const BUILD: &str = "build it with the feature `neural`, which is on by default: cargo install without --no-default-features";

/// The next step where no record is a page, by what is wrong with the first; keys that may be misnamed come first.
pub(super) fn of_no_page(reason: BadReason, misnamed: &MisnamedKeys) -> String {
    let mut lines = of_misnamed(misnamed);
    lines.push(match reason {
        BadReason::InvalidUtf8 => LATIN_1.to_owned(),
        BadReason::InvalidRecord => {
            format!("set the value right, or leave the field out; {A_PAGE}")
        }
        BadReason::MissingUrl => format!(
            "this looks like a wrong file: {A_PAGE}; of pages that go by ids, --doc-urls FILE tells the URLs"
        ),
        BadReason::DamagedRecord => {
            "the archive is cut or damaged from its first record on: fetch or copy it again".to_owned()
        }
        BadReason::NotGet => "only what a crawler asked for by GET is a page".to_owned(),
        _ => format!("this looks like a wrong file: {A_PAGE}"),
    });
    lines.join(NEXT_LINE)
}

/// What may have been meant by keys of records that nothing reads, a sentence each.
pub(super) fn of_misnamed(misnamed: &MisnamedKeys) -> Vec<String> {
    // Without a URL there is no page at all.
    let (urls, others): (Vec<_>, Vec<_>) =
        misnamed.0.iter().partition(|(key, _)| key.meant == "url");
    let sentences = urls.into_iter().chain(others).map(|(Misnamed { key, meant }, (count, first))| {
        let count = counted(*count, "record");
        let markup = if key.to_ascii_lowercase().contains("html") { IS_MARKUP } else { "" };
        format!(
            "the key `{key}` is not read ({count}, the first at {first}); did you mean `{meant}`?{markup}"
        )
    });
    sentences.collect()
}

/// The way out where a file of queries may be meant otherwise than it was read.
pub(super) fn of_assumption(assumption: &Assumption) -> &'static str {
    match assumption {
        Assumption::NoFrequency { .. } => {
            "how often is told by frequency, freq, count, hits, volume, searches, impressions or clicks"
        }
        Assumption::Header { .. } => "if it is a query, give it another id",
        Assumption::Counts { .. } => {
            "if the second column counts how often the first is asked, put an id before both, or a first line \
             `query<TAB>frequency`"
        }
    }
}

/// The next step where a plan is empty.
pub(super) fn of_empty_plan(reason: Reason) -> &'static str {
    match reason {
        Reason::NothingUnfetched => {
            "URLs become known by pages that link to them (`prospect ingest`) and by lists (`prospect seeds`)"
        }
        Reason::InFlight => {
            "Ingest what came of them; `prospect ingest --close` ends plans whose crawler is through, and `plan \
             --release all` takes them back"
        }
        Reason::NotInList => "URLs in --within are planned if the store knows them",
        Reason::OutOfScope => {
            "Give --include, --exclude, --types, --hosts or --domains anew: what the last plan that asked for something had is \
             kept in the store, an empty one ends it"
        }
        Reason::Waiting => {
            "Those that wait come back after cycles to come, and `prospect explain URL` tells when; those that are given up do not, \
             unless a record brings their page"
        }
        Reason::OtherSpelling => "`prospect url-rules` lists and takes back the rules of the store",
        Reason::Caps => "Give the batch more --seconds, or lift caps with `none`",
    }
}

/// The next step where a model cannot be used, `otherwise` where it is not the runtime's fault.
pub(super) fn of_model(error: &NeuralError, otherwise: &str) -> String {
    match error {
        NeuralError::NotBuilt => format!("{BUILD}; {otherwise}"),
        NeuralError::Library { .. } => RUNTIME.to_owned(),
        NeuralError::Device { .. } => GPU.to_owned(),
        NeuralError::Run { .. } if neural::runs_on_gpu() => GPU_FAILS.to_owned(),
        _ => otherwise.to_owned(),
    }
}

impl WayOut for StoreError {
    fn way_out(&self) -> Option<String> {
        let text = match self {
            Self::Io { source, .. } if source.kind() == ErrorKind::StorageFull => {
                "the disk is full; nothing stored is lost: free some space and run the command again"
            }
            Self::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
                "check who owns the store's directory and its permissions"
            }
            Self::ReadOnly { .. } => {
                "this command writes to it: check who owns the directory, its permissions and how it is mounted, or \
                 copy the store to where you may write; commands that only ask, such as `prospect status`, `explain` and `whatif`, \
                 do without"
            }
            Self::Damaged { .. } => {
                "run `prospect check --full --store DIR` for the whole list; restore the file from a \
                 backup or ingest the pages again into a new store"
            }
            Self::NewerFormat { .. } => "update prospect, or use a new directory",
            Self::MissingColumn { .. } => {
                "nothing is damaged or lost: an older version of prospect wrote this; ask about a later plan, \
                 use that version, or ingest the pages again into a new store"
            }
            Self::ColumnType { .. } | Self::UnknownValue { .. } | Self::Manifest { .. } => {
                "nothing is damaged or lost: another version of prospect wrote this; use that version, or \
                 ingest the pages again into a new store"
            }
            Self::Locked { .. } => {
                "wait for it to end; the lock is released when that process exits"
            }
            Self::NotAStore { .. } => "name a new or empty directory, or an existing store",
            Self::Missing { .. } => "create one with `prospect ingest --store DIR FILE…`",
            Self::Derived { .. } => {
                "delete the store's `derived` directory; it is rebuilt from the pages"
            }
            Self::Poisoned { first } => return first.way_out(),
            Self::Io { .. } => return None,
        };
        Some(text.to_owned())
    }
}

impl WayOut for CampaignError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Store(error) | Self::Estimate(EstimateError::Store(error)) => {
                return error.way_out();
            }
            Self::NoPages => {
                "bring in what your crawler fetched with `prospect ingest --store DIR FILE…`, or URLs to start \
                 from with `prospect seeds --store DIR FILE…`"
            }
            Self::NoPlan => "make one with `prospect plan --store DIR --workload Q.tsv --budget N`",
            Self::NotClosed => {
                "close it with `prospect ingest --store DIR --close`, which then needs no file"
            }
            Self::OtherVersion { plan, .. } => {
                return Some(format!(
                    "nothing is lost: `prospect ingest --close` closes most plans of other versions; if that is \
                     what failed, give it up with `prospect plan --release {plan} …`, which keeps all that is \
                     stored"
                ));
            }
            Self::NoVectors { .. } => {
                "name the same model with --embedding-model DIR: what was ingested since the plan needs it, and \
                 so do new queries"
            }
            Self::Answer(_) => {
                "`prospect whatif --help` tells what can be different, and docs/whatif.md how a file says it"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn code(&self) -> u8 {
        let ours = matches!(self, Self::Estimate(_) | Self::Ngram(_)) && self.way_out().is_none();
        if ours { OURS } else { USERS }
    }
}

impl WayOut for PlannerError {
    fn way_out(&self) -> Option<String> {
        match self {
            Self::Index(error) | Self::Estimate(EstimateError::Store(error)) => error.way_out(),
            Self::Estimate(_) => None,
        }
    }

    fn code(&self) -> u8 {
        let ours = matches!(self, Self::Estimate(_)) && self.way_out().is_none();
        if ours { OURS } else { USERS }
    }
}

impl WayOut for SimulateError {
    fn way_out(&self) -> Option<String> {
        match self {
            Self::Ingest(error) => error.way_out(),
            Self::Store(error) => error.way_out(),
            Self::Evaluate(error) => error.way_out(),
            Self::Rerank(error) => error.way_out(),
            Self::Policy(PolicyError::Plan(error)) => error.way_out(),
            Self::Policy(PolicyError::Replay) => {
                Some("remove the folder of the results, and run the experiment again".to_owned())
            }
            Self::NoPages => Some("check what --corpus or --store names".to_owned()),
            Self::Option(_) => {
                Some("`prospect policies` lists policies and their options".to_owned())
            }
            Self::Vectors(_) | Self::Quality(_) | Self::Answer(_) => None,
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Policy(PolicyError::Plan(error)) => error.code(),
            Self::Answer(_) => OURS,
            _ => USERS,
        }
    }
}

impl WayOut for ServeError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Campaign(error) => return error.way_out(),
            Self::Listen { .. } => {
                "name an address of this machine and a free port: --listen 127.0.0.1:0"
            }
            Self::ReadOnly => "start prospect serve with --allow-write",
            Self::NoToken => "open the whole address that the command printed, with its #token",
            Self::TooMuch { .. } => "prospect whatif takes as many as you like",
            Self::Start(_) => return None,
        };
        Some(hint.to_owned())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Campaign(error) => error.code(),
            Self::Start(_) => OURS,
            _ => USERS,
        }
    }
}

impl WayOut for LlmError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Url { .. } => {
                "--llm-url takes the endpoint without /chat/completions: http://localhost:8080/v1"
            }
            Self::NoTls => {
                "build prospect with --features llm-tls, or name an endpoint that speaks plain http"
            }
            Self::Key => "look at what the variable that --llm-key names holds",
            Self::Cache { .. } => "name another file with --llm-cache",
            Self::CacheLine { .. } => "delete the line, or name another file with --llm-cache",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl WayOut for WorkloadError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Read { source, .. } if source.kind() == ErrorKind::PermissionDenied => PERMISSION,
            Self::Read { .. } => "name a readable file; `-` is standard input",
            Self::Utf16 { .. } => UTF_16,
            Self::NotUtf8 { .. } => LATIN_1,
            Self::Foreign { .. } => {
                "name a text file, plain, .gz or .zst; a spreadsheet is saved as CSV first"
            }
            Self::TooLong { .. } => {
                "merge queries that are the same, keep those that are asked most, or split the list"
            }
            Self::Line { .. } | Self::Empty { .. } => A_WORKLOAD,
            Self::Judgement { .. } => A_JUDGEMENT,
            Self::Wording { .. } => {
                "a line is the qid of a query of the workload, a tab, and another wording of it"
            }
            Self::DocUrl { .. } | Self::Unmapped { .. } => A_MAP,
        };
        Some(hint.to_owned())
    }
}

impl WayOut for EvaluateError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Input(
                error @ (WorkloadError::Read { .. }
                | WorkloadError::Utf16 { .. }
                | WorkloadError::NotUtf8 { .. }
                | WorkloadError::Foreign { .. }),
            ) => return error.way_out(),
            Self::Input(_) | Self::Line { .. } | Self::Empty { .. } => A_RUN,
            Self::Duplicate { .. } => {
                "trec_eval refuses such a file as well; keep one of the two lines"
            }
            Self::NothingRelevant { .. } => {
                "a document is relevant if its grade, the last field, is above 0"
            }
            Self::NoCommonQuery { .. } => {
                "query ids must be spelt alike in both files; is this the right pair?"
            }
            Self::Name { .. } => "replace the white space, for example by `_`",
            Self::Score { .. } | Self::Write(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl WayOut for MetricError {
    fn way_out(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { nearest, .. } => format!("did you mean {nearest}? {OF_RUN}"),
            Self::Cutoff { example, .. } => format!("for example {example}"),
            Self::NoCutoff { name } => format!("write {name} alone"),
            Self::OfCrawl { .. } => OF_RUN.to_owned(),
        })
    }
}

impl WayOut for RerankError {
    fn way_out(&self) -> Option<String> {
        match self {
            Self::Model(error) => Some(of_model(error, MODELS)),
            Self::Texts(error) => error.way_out(),
        }
    }
}

impl WayOut for IngestError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::NoInput => "name a file, a directory of HTML, or - for standard input",
            Self::NotFound { .. } => SPELLING,
            Self::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied => PERMISSION,
            Self::Io { .. } => "check the disk or the pipe, then run the command again",
            Self::NoPages { reason, misnamed, .. } => return Some(of_no_page(*reason, misnamed)),
            Self::WrongType { unfit, .. } => match unfit {
                Unfit::Foreign => CONVERT,
                Unfit::StreamedMarkup => {
                    "name the HTML files or their directory; a stream does not tell their URLs"
                }
                Unfit::Compressed => "decompress it first",
                Unfit::Streamed => "name the file itself",
                Unfit::Utf16 => UTF_16,
                Unfit::Urls => {
                    "`prospect seeds` takes URLs that one knows without a link; pages have a text"
                }
                Unfit::Statuses => {
                    "`prospect crawl-log` takes what became of fetches, `prospect seeds` URLs that one knows \
                     without a link; pages have a text"
                }
                Unfit::Pages => "`prospect ingest` takes pages",
                Unfit::Links => {
                    "`prospect ingest` takes links, beside the files that bring the pages that show them"
                }
                Unfit::NoStatuses => {
                    "`prospect seeds` takes URLs that one knows without a link; the log of wget tells of fetches without -nv"
                }
            },
            Self::NoHtmlFiles { .. } => {
                "name the directory that holds the .html files; WARC, JSON lines and others are named file by file"
            }
            Self::Empty { .. } => {
                "check the program that wrote it; an ingest of nothing is refused"
            }
            Self::Damaged { .. } => FETCH_AGAIN,
            Self::NoLinks { .. } => {
                "its columns should hold URLs: those of a page and of what it links to"
            }
            Self::LinksAlone { .. } => {
                "name the files that bring the pages in the same command, also where the store has them: a link \
                 is stored with the page that shows it"
            }
            Self::NoUrls { .. } => "`prospect formats` lists the files of URLs that can be read",
            Self::MissingBaseUrl { .. } => {
                "say where the files were served, for example --base-url https://example.org/docs/"
            }
            Self::InvalidBaseUrl { .. } => {
                "give an absolute URL, such as https://example.org/docs/"
            }
            Self::OutsideRoot { .. } => {
                "give the directory that corresponds to the base URL as the HTML root"
            }
        };
        Some(hint.to_owned())
    }
}

impl WayOut for DocumentError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { .. } => SPELLING,
            Self::Read { source, .. } if source.kind() == ErrorKind::PermissionDenied => PERMISSION,
            Self::Read { .. }
            | Self::TruncatedParquet { .. }
            | Self::Parquet { .. }
            | Self::Arrow { .. } => FETCH_AGAIN,
            Self::UnknownFormat { side: Side::Input, .. } => {
                "say --input-format parquet, csv, json (one array), jsonl (one object a line) or warc"
            }
            Self::UnknownFormat { side: Side::Output, .. } => {
                "say --output-format parquet, csv, json (one array) or jsonl (one object a line)"
            }
            Self::WrongFormat { .. } => {
                "name the format with --input-format parquet, csv, json, jsonl or warc"
            }
            Self::NotWritten { .. } => {
                "give the output a name that ends in .parquet, .csv, .json or .jsonl, or say --output-format"
            }
            Self::Pages(error) => return error.way_out(),
            Self::ParquetStream { .. } => "name a file, or use jsonl, json or csv on the stream",
            Self::Empty { .. } => "check the program that wrote it",
            Self::Array { .. } => {
                "write the file again; a JSON array that was cut off can be saved up to the damage with jq -c \
                 '.[]' as JSON lines"
            }
            Self::Header { .. } => {
                "the first line of a CSV file names its columns, each once, separated by commas"
            }
            Self::RecordTooLong { .. } => {
                "look for a quotation mark that is never closed near that line"
            }
            Self::NoDocuments { .. } => {
                "this looks like a wrong file or format; --input-format names the format, jsonl has one object \
                 a line"
            }
            Self::NoColumn { .. } => {
                "name columns of the file, for example --text-columns title,plain_text"
            }
            Self::ColumnExists { .. } => {
                "--overwrite replaces it, --column NAME writes another one"
            }
            Self::TooManyColumns { .. } => "write JSON lines, which keep every row as it is",
            Self::NoText { .. } => "write Parquet, which keeps the type",
            Self::Changed { .. } => "let no other program write to the file meanwhile",
            Self::Write { .. } | Self::WriteParquet { .. } => {
                "check the space on the disk and who may write there"
            }
        };
        Some(hint.to_owned())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Write { source } if source.kind() == ErrorKind::BrokenPipe => NOBODYS,
            _ => USERS,
        }
    }
}

impl WayOut for QualityError {
    fn way_out(&self) -> Option<String> {
        let hint = match self {
            Self::Document(error) => return error.way_out(),
            Self::Model { .. } | Self::Score { .. } => {
                "try --model text-length, which needs no runtime; --resume goes on after the mend"
            }
            Self::Strict(_) => "without --strict such rows are counted and the others are kept",
            Self::Journal { .. } => "check the disk and who may write there",
            Self::OtherRun { .. } => {
                "give the options of that run, or start anew without --resume and with --overwrite"
            }
            Self::NoScores { .. } | Self::Unscored { .. } => {
                "score the file first: prospect quality score FILE --output SCORED; or name its column with \
                 --column"
            }
            Self::Shares(_) => "for example --keep 0.8, or --tiers 0.2,0.5,1",
        };
        Some(hint.to_owned())
    }

    fn code(&self) -> u8 {
        if let Self::Document(error) = self { error.code() } else { USERS }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::evaluate::names;

    #[test]
    fn a_name_that_is_no_metric_gets_a_way_out() {
        let cases = [
            ("nDGC@20", "did you mean nDCG@20?"),
            ("recal@x", "did you mean R@100?"),
            ("MARP", "did you mean AP?"),
            ("nDCG", "for example nDCG@10"),
            ("R@0", "for example R@100"),
            ("AP@1001", "for example AP"),
            ("maxndcg", "nDCG@k, R@k"),
            ("bpref@10", "write bpref alone"),
        ];
        for (given, expected) in cases {
            let hint = names::parse(given).unwrap_err().way_out().unwrap();
            assert!(hint.contains(expected), "{given}: {hint}");
        }
    }

    #[test]
    fn a_full_disk_is_called_so_and_what_another_version_wrote_is_not_called_damaged() {
        let hint = |error: &StoreError| error.way_out().unwrap_or_default();
        let source = ErrorKind::StorageFull.into();
        let full = StoreError::Io { operation: "write", path: "pages".into(), source };
        assert!(hint(&full).contains("disk is full"));
        let (path, column, found) = (PathBuf::from("plans"), "pool", "lottery".to_owned());
        let others = [
            StoreError::MissingColumn {
                path: path.clone(),
                table: "plans",
                column: column.to_owned(),
                found: found.clone(),
            },
            StoreError::ColumnType {
                path: path.clone(),
                column: column.to_owned(),
                found: found.clone(),
                expected: "text",
            },
            StoreError::UnknownValue {
                path: path.clone(),
                column,
                found: found.clone(),
                expected: "greedy, near, far".to_owned(),
            },
            StoreError::Manifest { path, what: found },
        ];
        for error in others {
            assert!(hint(&error).contains("nothing is damaged or lost"), "{error}");
            assert_eq!(error.code(), USERS, "{error}");
        }
    }
}
