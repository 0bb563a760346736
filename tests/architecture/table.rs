//! The rules, as data. `architecture.rs` holds the code against them.

/// Module, what it may use, why no more. Lower modules first: a row may only name rows above it.
pub const MAY_USE: &[(&str, &[&str], &str)] = &[
    ("contained", &[], "a panic is a panic, whatever was read"),
    ("ingest", RECORDS, "a reader yields records and knows nothing of what becomes of them"),
    (
        "documents",
        &["prospect::contained", "prospect::ingest", "prospect_index::limits"],
        "columns pass through as they are, whatever they mean; streams are read as records are",
    ),
    ("neural", NEURAL, "a model reads texts and knows nothing of where they come from"),
    (
        "workload",
        WORDS,
        "queries are words; what they are worth is decided above. Bytes are told apart as those of pages",
    ),
    ("graph", LINKS, "a graph is made of links, whatever is estimated from it"),
    ("sketch", SKETCH, "served lists and need do not depend on estimates, nor on files"),
    ("estimate", ESTIMATE, "an estimate reads search and records, no files and no judgements"),
    ("plan", PLAN, "a plan picks from estimates under caps and reads no page"),
    ("results", &[], "plain data that may go anywhere"),
    ("planner", PLANNER, "tables in memory: no store, no files, no links that are hidden"),
    (
        "llm",
        &[],
        "a language model is asked, and its replies are checked; what is made of them is decided elsewhere",
    ),
    (
        "sufficiency",
        SUFFICIENCY,
        "what is lacking is seen in pages and queries; what is planned is decided elsewhere",
    ),
    ("policy", POLICY, "a policy sees links, quality and the planner; never a store or a metric"),
    ("whatif", WHATIF, "a question is answered from pairs and estimates, not from the store"),
    (
        "evaluate",
        EVALUATE,
        "it measures what search returns and knows nothing of how pages were picked",
    ),
    ("quality", QUALITY, "scores of documents; neither the command line nor crawls"),
    ("web", &[], "what pages share, whatever they show"),
    (
        "report",
        &["prospect::results", "prospect::web"],
        "a report shows results and decides nothing",
    ),
    ("campaign", CAMPAIGN, "it ties all but input and the command line to a store"),
    ("serve", SERVE, "a page asks questions; how they are answered is decided below"),
    ("simulate", SIMULATE, "a simulation knows neither the command line nor the report"),
    ("cli", CLI, "arguments, messages and exit codes may concern everything"),
    ("lib", &[], "the tour of the pipeline, without code"),
    ("main", &["prospect::cli"], "thin glue"),
];

const RECORDS: &[&str] = &[
    "prospect::contained",
    "prospect_index::fetch_outcome",
    "prospect_index::fetch_time",
    "prospect_index::limits",
    "prospect_index::page",
];
const WORDS: &[&str] =
    &["prospect::ingest", "prospect_index::limits", "prospect_index::url", "prospect_index::words"];
const LINKS: &[&str] = &["prospect_index::link_table", "prospect_index::page"];
const SKETCH: &[&str] = &[
    "prospect::workload",
    "prospect::graph",
    "prospect_index::bm25",
    "prospect_index::error",
    "prospect_index::page",
    "prospect_index::page_store",
    "prospect_index::url_table",
];
const ESTIMATE: &[&str] = &[
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect_index::fetch_outcome",
    "prospect_index::link_context",
    "prospect_index::bm25",
    "prospect_index::error",
    "prospect_index::link_table",
    "prospect_index::manifest",
    "prospect_index::ngram",
    "prospect_index::page",
    "prospect_index::page_store",
    "prospect_index::url",
    "prospect_index::url_table",
    "prospect_index::words",
    "prospect_index::vectors",
];
const PLAN: &[&str] = &[
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect::estimate",
    "prospect_index::bm25",
    "prospect_index::page",
    "prospect_index::url",
    "prospect_index::url_table",
];
const NEURAL: &[&str] = &[
    "prospect::contained",
    "prospect_index::derived",
    "prospect_index::error",
    "prospect_index::page_store",
    "prospect_index::vectors",
    "prospect_index::words",
];
const PLANNER: &[&str] = &[
    "prospect::neural",
    "prospect::workload",
    "prospect::sketch",
    "prospect::estimate",
    "prospect::plan",
    "prospect::results",
    "prospect_index::fetch_outcome",
    "prospect_index::link_context",
    "prospect_index::bm25",
    "prospect_index::error",
    "prospect_index::limits",
    "prospect_index::manifest",
    "prospect_index::page",
    "prospect_index::page_store",
    "prospect_index::text_index",
    "prospect_index::url",
    "prospect_index::url_table",
];
const SUFFICIENCY: &[&str] = &[
    "prospect::llm",
    "prospect::workload",
    "prospect::sketch",
    "prospect_index::bm25",
    "prospect_index::error",
    "prospect_index::page",
    "prospect_index::page_store",
    "prospect_index::text_index",
    "prospect_index::url_table",
    "prospect_index::vectors",
    "prospect_index::words",
];
const WHATIF: &[&str] = &[
    "prospect::workload",
    "prospect::sketch",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect::results",
    "prospect_index::page",
    "prospect_index::url",
    "prospect_index::url_table",
    "prospect_index::words",
];
const SERVE: &[&str] = &[
    "prospect::web",
    "prospect::sketch",
    "prospect::sufficiency",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect::whatif",
    "prospect::campaign",
    "prospect_index::link_table",
    "prospect_index::url",
];
const EVALUATE: &[&str] = &[
    "prospect::neural",
    "prospect::workload",
    "prospect::results",
    "prospect_index::bm25",
    "prospect_index::checkpoints",
    "prospect_index::error",
    "prospect_index::text_index",
];
const QUALITY: &[&str] = &[
    "prospect::documents",
    "prospect::neural",
    "prospect::results",
    "prospect::evaluate",
    "prospect_index::url",
    "prospect_index::words",
];
const CAMPAIGN: &[&str] = &[
    "prospect::evaluate",
    "prospect::neural",
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect::sufficiency",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect::results",
    "prospect::whatif",
    "prospect_index",
];
const POLICY: &[&str] = &[
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect::sufficiency",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect_index",
];
const SIMULATE: &[&str] = &[
    "prospect::ingest",
    "prospect::neural",
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect::sufficiency",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect::policy",
    "prospect::results",
    "prospect::whatif",
    "prospect::evaluate",
    "prospect_index",
];
const CLI: &[&str] = &[
    "prospect::contained",
    "prospect::ingest",
    "prospect::documents",
    "prospect::llm",
    "prospect::neural",
    "prospect::quality",
    "prospect::workload",
    "prospect::graph",
    "prospect::sketch",
    "prospect::sufficiency",
    "prospect::estimate",
    "prospect::plan",
    "prospect::planner",
    "prospect::results",
    "prospect::evaluate",
    "prospect::campaign",
    "prospect::policy",
    "prospect::simulate",
    "prospect::report",
    "prospect::whatif",
    "prospect::serve",
    "prospect_index",
];

const ANYWHERE: &[&str] = &["src", "index/src"];
const CHANCE: &[&str] =
    &["src/plan", "src/policy", "src/simulate", "src/evaluate", "src/sufficiency"];
const RANDOM: &[&str] = &[
    "src/plan",
    "src/policy",
    "src/simulate",
    "src/evaluate",
    "src/sufficiency",
    "src/cli/serve.rs",
];
const COMMAND_LINE: &[&str] = &["src/cli", "src/main.rs"];

/// Path, the files and folders that may use it, why. Every dependency has a row.
pub const OWNERS: &[(&str, &[&str], &str)] = &[
    (
        "tantivy",
        &["index/src/text_index", "index/src/words/analyzer.rs", "index/src/mapped"],
        "replaced in one place; it maps files",
    ),
    (
        "zerocopy",
        &["index/src", "src/estimate/pair_sort.rs", "src/estimate/pair_table.rs"],
        "numbers as they lie in files",
    ),
    ("fst", &["index/src/ngram"], "replaced in one place"),
    ("tempfile", &["index/src/snapshot.rs"], "second names of a store"),
    (
        "parquet",
        &["index/src/columns.rs", "src/documents", "src/ingest/parquet.rs"],
        "the store, and files of others",
    ),
    ("arrow_array", &["src/documents"], "columns of documents, whatever their types"),
    ("arrow_buffer", &["src/documents"], "columns of documents, whatever their types"),
    ("arrow_schema", &["src/documents"], "columns of documents, whatever their types"),
    ("arrow_select", &["src/documents"], "columns of documents, whatever their types"),
    (
        "csv",
        &[
            "src/documents",
            "src/ingest/urls/crawldb.rs",
            "src/ingest/links/tables.rs",
            "src/simulate/csv_table.rs",
            "src/workload/tables.rs",
        ],
        "one reader and writer of documents in CSV; CrawlDb as CSV tells of URLs, tables of links or queries, and results of \
         experiments are tables",
    ),
    ("hashbrown", &["index/src"], "tables of keys that live elsewhere"),
    ("psl", &["index/src/url.rs"], "one notion of a registrable domain"),
    ("unicode_normalization", &["index/src/words"], "one notion of a word"),
    ("petgraph", &["src/graph"], "replaced in one place"),
    ("forust_ml", &["src/estimate/models"], "replaced in one place"),
    ("smartcore", &["src/estimate/models", "src/estimate/pandey_olston"], "replaced in one place"),
    ("clap", &["src/cli"], "arguments exist on the command line only"),
    ("clap_complete", &["src/cli/generate.rs"], "made from the arguments"),
    ("clap_mangen", &["src/cli/generate.rs"], "made from the arguments"),
    ("indicatif", &["src/cli"], "progress exists on the command line only"),
    ("include_dir", &["src/cli"], "the site of the demo travels in the command"),
    ("anyhow", &["src/cli"], "libraries have typed errors"),
    ("lol_html", &["src/ingest"], "one reader of HTML"),
    ("htmlize", &["src/ingest"], "one reader of HTML"),
    ("encoding_rs", &["src/ingest"], "one reader of HTML"),
    ("memchr", &["src/ingest", "src/workload", "src/documents"], "searching bytes is for readers"),
    ("brotli_decompressor", &["src/ingest"], "bodies of archived pages may be compressed"),
    ("texting_robots", &["src/plan/robots.rs"], "one reader of robots.txt"),
    ("prost", &["src/campaign/ciff.rs"], "messages of one format"),
    ("chrono", &["index/src/fetch_time.rs"], "one notion of when a page was fetched"),
    (
        "quick_xml",
        &["src/ingest/urls/sitemap.rs", "src/workload/topics.rs"],
        "one reader of sitemaps, one of topics",
    ),
    ("chardetng", &["src/ingest"], "one reader of HTML"),
    ("flate2", &["src/ingest", "src/workload", "src/documents"], "files may be compressed"),
    (
        "zstd",
        &["src/ingest", "src/workload", "src/documents", PAGE_TEXTS],
        "files may be compressed",
    ),
    ("rand", RANDOM, "chance has one seeded source; a token nobody can guess has another"),
    ("rand_chacha", CHANCE, "chance has one seeded source"),
    ("statrs", &["src/evaluate"], "replaced in one place"),
    ("ort", &["src/neural"], "replaced in one place"),
    ("rten", &["src/neural/backend"], "replaced in one place"),
    ("rten_tensor", &["src/neural/backend/built_in.rs"], "replaced in one place"),
    ("libloading", &["src/neural/backend/library.rs"], "one place opens a library"),
    ("tokenizers", &["src/neural/tokens.rs"], "replaced in one place"),
    (
        "toml",
        &["src/cli/defaults.rs", "src/cli/simulate", "src/cli/whatif", "src/neural"],
        "experiments, scenarios, models and what one repeats are described by files",
    ),
    (
        "postcard",
        &["src/campaign/derived_cache.rs"],
        "what commands leave for the next is written in one place",
    ),
    (
        "regex",
        &["src/whatif/workload.rs", "src/planner/scope.rs"],
        "queries of a scenario are meant by patterns, and URLs of a scope",
    ),
    ("axum", &["src/serve"], "replaced in one place"),
    ("hyper", &["src/serve/connections.rs"], "replaced in one place"),
    ("hyper_util", &["src/serve/connections.rs"], "replaced in one place"),
    ("tokio", &["src/serve", "src/cli/stream/signals.rs"], "connections, and signals"),
    ("tower_http", &["src/serve/routes.rs"], "replaced in one place"),
    ("ureq", &["src/llm/endpoint.rs"], "replaced in one place"),
    (
        "strsim",
        &[
            "src/evaluate",
            "src/ingest/keys.rs",
            "src/workload/fields.rs",
            "src/planner/options",
            "src/cli",
        ],
        "misspelt names are told from those there are",
    ),
    ("sha2", &["src/report/html"], "a page names its script by hash"),
    ("base64", &["src/report/html"], "a page names its script by hash"),
    (
        "url",
        &["index/src/url.rs", "src/ingest", "src/quality/pages.rs", "src/cli"],
        "inputs give URLs; above, they are ids",
    ),
    ("percent_encoding", &["index/src", "src/ingest"], "one notion of a canonical URL"),
    ("idna", &["index/src/words"], "words of a host are those of its letters"),
    ("serde_ignored", &["src/ingest/jsonl"], "records tell which of their keys nothing reads"),
    ("serde", ANYWHERE, "a vocabulary, not a decision"),
    ("serde_json", ANYWHERE, "a vocabulary, not a decision"),
    ("thiserror", ANYWHERE, "a vocabulary, not a decision"),
    ("rayon", ANYWHERE, "a vocabulary, not a decision"),
    ("log", ANYWHERE, "what was done, for whoever listens"),
    ("xxhash_rust", ANYWHERE, "content hashes are cut from many things"),
    ("prospect_index", ANYWHERE, "the on-disk side; who uses which part, MAY_USE says"),
    (
        "prospect::workload::qrels",
        &["src/workload", "src/evaluate", "src/simulate", "src/cli"],
        "plans never see judgements",
    ),
    ("std::fs", FILES, "estimates and plans touch no file"),
    ("std::env", COMMAND_LINE, "results depend on arguments alone"),
    ("std::time::Instant", COMMAND_LINE, "results do not depend on a clock"),
    ("std::time::SystemTime", COMMAND_LINE, "results do not depend on a clock"),
    ("std::process::exit", COMMAND_LINE, "a library returns its errors"),
    ("std::process::Command", COMMAND_LINE, "a library starts no process"),
    ("std::io::stdout", COMMAND_LINE, "a library prints nothing"),
    ("std::io::stderr", COMMAND_LINE, "a library prints nothing"),
    ("std::print!", COMMAND_LINE, "a library prints nothing"),
    ("std::println!", COMMAND_LINE, "a library prints nothing"),
    ("std::eprint!", COMMAND_LINE, "a library prints nothing"),
    ("std::eprintln!", COMMAND_LINE, "a library prints nothing"),
    ("std::dbg!", &[], "for the moment of debugging"),
];

/// The scratch file with the texts of a collection.
const PAGE_TEXTS: &str = "src/simulate/page_texts.rs";

/// Where files are opened: the store, n-gram segments (scratch files of a sort among them), those of Tantivy, inputs,
/// models and their remembered scores, remembered answers of language models, texts that models read
/// again, and the scores of a run that may have to go on.
const FILES: &[&str] = &[
    "index/src/storage",
    "index/src/store.rs",
    "index/src/snapshot.rs",
    "index/src/columns.rs",
    "index/src/ngram",
    "index/src/text_index/folder.rs",
    "src/ingest",
    "src/llm/cache.rs",
    "src/neural",
    "src/documents",
    "src/quality/journal.rs",
    PAGE_TEXTS,
    "src/workload",
    "src/cli",
];

/// The only file with unsafe code: it speaks to a shared library.
pub const UNSAFE: &str = "src/neural/backend/library.rs";

/// Where errors and tables may name an option or a command: elsewhere they give what was found, and
/// `cli/hints.rs` tells the way out.
pub const SPEAKS_OF_COMMANDS: &str = "src/cli";

/// What the on-disk side must not depend on, not even where it is not used.
pub const NOT_IN_INDEX: &[&str] =
    &["prospect", "clap", "indicatif", "ort", "petgraph", "rand", "rand_chacha", "smartcore"];
