//! The mistakes.

use std::fs;
use std::path::Path;

use super::{Held, Mistake, Store, StoreOptions, forbid, gzip, nothing, page, utf16, write};

/// A mistake all of whose message counts.
const fn mistake(
    name: &'static str,
    line: &'static str,
    names: &'static str,
    given: fn(&Path) -> Held,
) -> Mistake {
    Mistake { name, line, names, given, only: &[] }
}

/// The lines of an error.
const ERROR: &[&str] = &["error: ", "caused by: ", "hint: "];

/// A mistake of whose message some lines count, for the others have figures.
const fn among(
    only: &'static [&'static str],
    name: &'static str,
    line: &'static str,
    names: &'static str,
    given: fn(&Path) -> Held,
) -> Mistake {
    Mistake { name, line, names, given, only }
}

fn pages(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| page(number) + "\n").collect()
}

/// Another store, of these pages.
fn store_of(folder: &Path, store: &str, pages: &str) -> Held {
    let (store, pages) = (folder.join(store), folder.join(pages));
    super::done(&["ingest", "--quiet", "--store", super::text(&store), super::text(&pages)]);
    None
}

/// Every mistake.
pub const MISTAKES: &[Mistake] = &[
    // Pages.
    mistake("ingest-missing-file", "ingest --store store none.jsonl", "none.jsonl", nothing),
    mistake("ingest-empty-file", "ingest --store store a.jsonl", "a.jsonl", |folder| {
        write(folder, "a.jsonl", "")
    }),
    mistake(
        "ingest-nothing-on-standard-input",
        "ingest --store store -",
        "standard input",
        nothing,
    ),
    mistake("ingest-folder-without-pages", "ingest --store store notes", "notes", |folder| {
        write(folder, "notes/todo.txt", "x")
    }),
    mistake("ingest-image", "ingest --store store photo.jsonl", "photo.jsonl", |folder| {
        write(folder, "photo.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    }),
    mistake(
        "ingest-cut-array",
        "ingest --store store --strict pages.json",
        "pages.json:2",
        |folder| write(folder, "pages.json", format!("[{},\n{}", page(150), page(151))),
    ),
    mistake("ingest-csv", "ingest --store store pages.csv", "pages.csv", |folder| {
        write(folder, "pages.csv", "url,title,text\nhttps://a.example/,a,b\n")
    }),
    mistake("ingest-utf16", "ingest --store store pages.jsonl", "UTF-16", |folder| {
        write(folder, "pages.jsonl", utf16(&pages(150..152)))
    }),
    mistake("ingest-latin1", "ingest --store store pages.jsonl", "pages.jsonl:1", |folder| {
        write(folder, "pages.jsonl", b"{\"url\":\"https://a.example/\",\"text\":\"caf\xe9\"}\n")
    }),
    mistake("ingest-uri-for-url", "ingest --store store pages.jsonl", "`uri`", |folder| {
        write(
            folder,
            "pages.jsonl",
            "{\"uri\":\"https://a.example/\",\"text\":\"a\"}\n{\"uri\":\"https://b.example/\"}\n",
        )
    }),
    mistake("ingest-links-and-html", "ingest --store new pages.jsonl", "`links`", |folder| {
        write(
            folder,
            "pages.jsonl",
            "{\"url\":\"https://a.example/\",\"html\":\"<p>a\",\"links\":[\"https://b.example/\"]}\n",
        )
    }),
    mistake(
        "ingest-href-in-links",
        "ingest --store new pages.jsonl",
        "`outlinks.href`",
        |folder| {
            write(
                folder,
                "pages.jsonl",
                "{\"url\":\"https://a.example/\",\"outlinks\":[{\"href\":\"/b\",\"text\":\"b\"}]}\n",
            )
        },
    ),
    mistake(
        "ingest-status-that-is-no-number",
        "ingest --store store pages.jsonl",
        "pages.jsonl:1",
        |folder| {
            write(folder, "pages.jsonl", "{\"url\":\"https://a.example/\",\"status\":\"gone\"}\n")
        },
    ),
    mistake("ingest-one-bad-line", "ingest --store new pages.jsonl", "pages.jsonl:2", |folder| {
        write(folder, "pages.jsonl", format!("{}\n{{\"url\":\n", page(150)))
    }),
    mistake(
        "ingest-strict-with-a-bad-line",
        "ingest --store new --strict pages.jsonl",
        "pages.jsonl:2",
        |folder| write(folder, "pages.jsonl", format!("{}\n{{\"url\":\n", page(150))),
    ),
    mistake("ingest-windows-line-ends", "ingest --store new pages.jsonl", "2 pages", |folder| {
        write(folder, "pages.jsonl", pages(150..152).replace('\n', "\r\n"))
    }),
    mistake("ingest-gzip-named-json", "ingest --store new pages.json", "2 pages", |folder| {
        write(folder, "pages.json", gzip(pages(150..152).as_bytes()))
    }),
    mistake("ingest-text-named-gz", "ingest --store new pages.jsonl.gz", "2 pages", |folder| {
        write(folder, "pages.jsonl.gz", pages(150..152))
    }),
    mistake(
        "ingest-gzip-that-is-cut",
        "ingest --store store pages.jsonl.gz",
        "pages.jsonl.gz",
        |folder| write(folder, "pages.jsonl.gz", &gzip(pages(150..190).as_bytes())[..1_000]),
    ),
    mistake("ingest-html-without-base-url", "ingest --store store a.html", "a.html", |folder| {
        write(folder, "a.html", "<!doctype html><p>a")
    }),
    mistake(
        "ingest-base-url-without-scheme",
        "ingest --store store --base-url a.example a.html",
        "a.example",
        |folder| write(folder, "a.html", "<!doctype html><p>a"),
    ),
    mistake("ingest-list-of-urls", "ingest --store store urls.txt", "urls.txt", |folder| {
        write(folder, "urls.txt", "https://a.example/\nhttps://b.example/\n")
    }),
    mistake(
        "ingest-links-without-pages",
        "ingest --store store links.tsv",
        "links.tsv",
        |folder| {
            write(folder, "links.tsv", "source\ttarget\nhttps://a.example/\thttps://b.example/\n")
        },
    ),
    mistake("ingest-twice", "ingest --store store first.jsonl", "store", |folder| {
        // Nothing was planned since.
        fs::remove_dir_all(folder.join("store")).unwrap();
        store_of(folder, "store", "first.jsonl")
    }),
    mistake(
        "ingest-close-without-a-plan",
        "ingest --store new --close",
        "no open plan",
        |folder| store_of(folder, "new", "first.jsonl"),
    ),
    mistake("ingest-without-a-file", "ingest --store store", "<FILE>", nothing),
    mistake("ingest-without-a-store", "ingest first.jsonl", "--store", nothing),
    mistake(
        "no-permission-to-read-pages",
        "ingest --store store pages.jsonl",
        "pages.jsonl",
        |folder| {
            write(folder, "pages.jsonl", pages(150..152));
            forbid(&folder.join("pages.jsonl"));
            None
        },
    ),
    // Stores.
    mistake(
        "store-missing",
        "plan --store sotre --workload queries.tsv --budget 5",
        "sotre",
        nothing,
    ),
    mistake("store-is-a-file", "ingest --store queries.tsv first.jsonl", "queries.tsv", nothing),
    mistake("store-is-another-folder", "ingest --store thesis first.jsonl", "thesis", |folder| {
        write(folder, "thesis/chapter.tex", "x")
    }),
    mistake(
        "store-without-pages",
        "plan --store new --workload queries.tsv --budget 5",
        "no page",
        |folder| {
            write(folder, "gone.jsonl", "{\"url\":\"https://a.example/\",\"status\":410}\n");
            store_of(folder, "new", "gone.jsonl")
        },
    ),
    mistake(
        "store-in-use",
        "plan --store store --workload queries.tsv --budget 5",
        "in use by process N",
        |folder| {
            let options =
                StoreOptions { holder: "another command".to_owned(), ..StoreOptions::default() };
            Some(Box::new(Store::open(&folder.join("store"), &options).unwrap()))
        },
    ),
    mistake(
        "store-with-a-corrupt-segment",
        "plan --store store --workload queries.tsv --budget 5",
        "pages-000002",
        |folder| {
            let path = folder.join("store/segments/pages-000002.parquet");
            let mut content = fs::read(&path).unwrap();
            content.truncate(100);
            fs::write(path, content).unwrap();
            None
        },
    ),
    mistake("status-of-no-store", "status --store sotre", "sotre", nothing),
    mistake("log-of-no-store", "log --store sotre", "sotre", nothing),
    mistake("check-of-no-store", "check --store thesis", "thesis", |folder| {
        write(folder, "thesis/chapter.tex", "x")
    }),
    // Queries.
    mistake(
        "workload-missing",
        "plan --store store --workload querys.tsv --budget 5",
        "querys.tsv",
        nothing,
    ),
    mistake(
        "workload-empty",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv",
        |folder| write(folder, "q.tsv", "\n\n"),
    ),
    mistake(
        "workload-commas-for-tabs",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv:1",
        |folder| write(folder, "q.tsv", "q1,topic1 topic2,3\nq2,topic4,1\n"),
    ),
    mistake(
        "workload-of-queries-alone",
        "plan --store store --workload q.txt --budget 5",
        "q.txt:1",
        |folder| write(folder, "q.txt", "topic1 topic2\ntopic4\n"),
    ),
    mistake(
        "workload-csv-without-queries",
        "plan --store store --workload q.csv --budget 5",
        "q.csv:1",
        |folder| write(folder, "q.csv", "page,visits\n/a,3\n"),
    ),
    mistake(
        "workload-is-a-folder",
        "plan --store store --workload notes --budget 5",
        "notes",
        |folder| write(folder, "notes/todo.txt", "x"),
    ),
    mistake(
        "workload-utf16",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv",
        |folder| write(folder, "q.tsv", utf16("q1\ttopic1\n")),
    ),
    mistake(
        "workload-latin1",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv:2",
        |folder| write(folder, "q.tsv", b"q1\ttopic1\nq2\tcaf\xe9\n"),
    ),
    mistake(
        "workload-spreadsheet",
        "plan --store store --workload q.xlsx --budget 5",
        "q.xlsx",
        |folder| write(folder, "q.xlsx", b"PK\x03\x04\x14\0\x06\0"),
    ),
    mistake(
        "workload-is-the-pages",
        "plan --store store --workload first.jsonl --budget 5",
        "first.jsonl:1",
        nothing,
    ),
    mistake(
        "workload-is-judgements",
        "plan --store store --workload judged.qrels --budget 5",
        "judged.qrels:1",
        |folder| write(folder, "judged.qrels", "q1 0 https://a.example/ 1\n"),
    ),
    mistake(
        "workload-is-a-web-page",
        "plan --store store --workload q.html --budget 5",
        "q.html",
        |folder| {
            write(folder, "q.html", "<!doctype html>\n<title>Queries</title><ul><li>topic1</ul>\n")
        },
    ),
    mistake(
        "workload-id-twice",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv:2",
        |folder| write(folder, "q.tsv", "q1\ttopic1\nq1\ttopic2\n"),
    ),
    mistake(
        "workload-frequency-that-is-no-number",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv:1",
        |folder| write(folder, "q.tsv", "q1\ttopic1\toften\n"),
    ),
    mistake(
        "workload-without-words",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv",
        |folder| write(folder, "q.tsv", "q1\t?!\nq2\t--\n"),
    ),
    among(
        &["warning: "],
        "workload-header-in-tsv",
        "plan --store store --workload q.tsv --budget 5 --out batch",
        "q.tsv:1",
        |folder| write(folder, "q.tsv", "query_id\tquery\tfrequency\n1\ttopic1 topic2\t3\n"),
    ),
    among(
        &["warning: "],
        "workload-count-for-query",
        "plan --store store --workload q.tsv --budget 5 --out batch",
        "q.tsv:1",
        |folder| write(folder, "q.tsv", "topic1 topic2\t12\ntopic4\t3\n"),
    ),
    mistake(
        "no-permission-to-read-queries",
        "plan --store store --workload q.tsv --budget 5",
        "q.tsv",
        |folder| {
            write(folder, "q.tsv", "q1\ttopic1\n");
            forbid(&folder.join("q.tsv"));
            None
        },
    ),
    // Plans.
    mistake(
        "plan-without-a-budget",
        "plan --store store --workload queries.tsv",
        "--budget",
        nothing,
    ),
    mistake(
        "plan-budget-0",
        "plan --store store --workload queries.tsv --budget 0",
        "--budget is 0",
        nothing,
    ),
    mistake(
        "plan-budget-below-0",
        "plan --store store --workload queries.tsv --budget -5",
        "--budget is -5",
        nothing,
    ),
    mistake(
        "plan-budget-in-words",
        "plan --store store --workload queries.tsv --budget ten",
        "--budget is ten",
        nothing,
    ),
    mistake(
        "plan-budget-share-0",
        "plan --store store --workload queries.tsv --budget 0%",
        "--budget is 0%",
        nothing,
    ),
    mistake(
        "plan-misspelt-option",
        "plan --store store --workload queries.tsv --bugdet 5",
        "--bugdet",
        nothing,
    ),
    mistake(
        "plan-unknown-format",
        "plan --store store --workload queries.tsv --budget 5 --format csv",
        "csv",
        nothing,
    ),
    mistake(
        "plan-time-below-0",
        "plan --store store --workload queries.tsv --seconds -5",
        "--seconds is -5",
        nothing,
    ),
    mistake(
        "plan-time-0-alone",
        "plan --store store --workload queries.tsv --seconds 0",
        "--seconds 0",
        nothing,
    ),
    mistake(
        "plan-bad-expression",
        "plan --store store --workload queries.tsv --budget 5 --include blog(",
        "blog(",
        nothing,
    ),
    mistake(
        "plan-bad-time-in-flight",
        "plan --store store --workload queries.tsv --budget 5 --in-flight-for 2weeks",
        "2weeks",
        nothing,
    ),
    mistake(
        "plan-bad-addresses",
        "plan --store store --workload queries.tsv --seconds 5 --queue-by ip --addresses hosts.txt",
        "hosts.txt:2",
        |folder| write(folder, "hosts.txt", "127.0.0.1 a.example\nb.example c.example\n"),
    ),
    mistake(
        "plan-queues-without-addresses",
        "plan --store store --workload queries.tsv --seconds 5 --queue-by ip",
        "no address",
        nothing,
    ),
    mistake(
        "plan-bad-delays",
        "plan --store store --workload queries.tsv --budget 5 --delays delays.txt",
        "delays.txt:1",
        |folder| write(folder, "delays.txt", "a.example fast\n"),
    ),
    mistake(
        "plan-missing-list",
        "plan --store store --workload queries.tsv --budget 5 --within list.txt",
        "list.txt",
        nothing,
    ),
    among(
        &["nothing to plan"],
        "plan-list-of-unknown-urls",
        "plan --store store --workload queries.tsv --budget 5 --within list.txt",
        "--within",
        |folder| write(folder, "list.txt", "https://unknown.example/\n"),
    ),
    among(
        &["nothing to plan"],
        "plan-out-of-scope",
        "plan --store store --workload queries.tsv --budget 5 --include nowhere",
        "out of scope",
        nothing,
    ),
    mistake(
        "plan-release-of-no-plan",
        "plan --store store --workload queries.tsv --budget 5 --release abc",
        "abc",
        nothing,
    ),
    mistake(
        "plan-into-missing-folder",
        "plan --store store --workload queries.tsv --budget 5 --out batches/first",
        "batches/first",
        nothing,
    ),
    among(
        ERROR,
        "plan-onto-a-full-disk",
        "plan --store store --workload queries.tsv --budget 5 --out /dev/full",
        "/dev/full",
        nothing,
    ),
    mistake("too-many-threads", "status --store store --threads 100000", "100000", nothing),
    mistake("misspelt-command", "pln --store store", "pln", nothing),
    mistake(
        "defaults-misspelt-option",
        "plan --store store --workload queries.tsv",
        "prospect.toml",
        |folder| write(folder, "prospect.toml", "[plan]\nbugdet = \"10%\"\n"),
    ),
    mistake(
        "defaults-of-a-wrong-value",
        "plan --store store --workload queries.tsv",
        "prospect.toml",
        |folder| write(folder, "prospect.toml", "[plan]\nbudget = \"ten\"\n"),
    ),
    // Everything else.
    mistake("seeds-without-urls", "seeds --store store list.txt", "list.txt:1", |folder| {
        write(folder, "list.txt", "bread\nrye\n")
    }),
    mistake("seeds-missing-file", "seeds --store store list.txt", "list.txt", nothing),
    mistake(
        "crawl-log-without-statuses",
        "crawl-log --store store list.txt",
        "list.txt",
        |folder| write(folder, "list.txt", "https://a.example/\n"),
    ),
    mistake(
        "crawl-log-of-urls-alone",
        "crawl-log --store store urls.jsonl",
        "urls.jsonl:1",
        |folder| {
            write(
                folder,
                "urls.jsonl",
                "{\"url\":\"https://a.example/\"}\n{\"url\":\"https://b.example/\"}\n",
            )
        },
    ),
    mistake(
        "simulate-uri-for-url",
        "simulate --corpus pages.jsonl --workload queries.tsv --policy bfs --seeds random:1 --out results",
        "`uri`",
        |folder| write(folder, "pages.jsonl", "{\"uri\":\"https://a.example/\",\"text\":\"a\"}\n"),
    ),
    mistake("explain-word", "explain --store store bread", "bread", nothing),
    mistake(
        "explain-unknown-url",
        "explain --store store https://unknown.example/",
        "https://unknown.example/",
        nothing,
    ),
    mistake("explain-without-a-plan", "explain --store new --query q1", "no open plan", |folder| {
        store_of(folder, "new", "first.jsonl")
    }),
    mistake(
        "sufficiency-theta-7",
        "sufficiency --store store --workload queries.tsv --theta 7",
        "theta is 7",
        nothing,
    ),
    mistake(
        "sufficiency-unknown-judge",
        "sufficiency --store store --workload queries.tsv --strategy best",
        "best",
        nothing,
    ),
    mistake(
        "evaluate-qrels-of-three-columns",
        "evaluate --run a.run --qrels judged.qrels",
        "judged.qrels:1",
        |folder| {
            write(folder, "a.run", "q1 Q0 d1 1 2.5 a\n");
            write(folder, "judged.qrels", "q1 d1 1\n")
        },
    ),
    mistake(
        "evaluate-unknown-metric",
        "evaluate --run a.run --qrels judged.qrels --metrics nDGC@10",
        "nDGC@10",
        |folder| {
            write(folder, "a.run", "q1 Q0 d1 1 2.5 a\n");
            write(folder, "judged.qrels", "q1 0 d1 1\n")
        },
    ),
    mistake(
        "evaluate-run-of-other-queries",
        "evaluate --run a.run --qrels judged.qrels",
        "a.run",
        |folder| {
            write(folder, "a.run", "301 Q0 d1 1 2.5 a\n");
            write(folder, "judged.qrels", "q1 0 d1 1\n")
        },
    ),
    mistake(
        "evaluate-nothing-relevant",
        "evaluate --run a.run --qrels judged.qrels",
        "judged.qrels",
        |folder| {
            write(folder, "a.run", "q1 Q0 d1 1 2.5 a\n");
            write(folder, "judged.qrels", "q1 0 d1 0\n")
        },
    ),
    mistake(
        "simulate-unknown-policy",
        "simulate --corpus first.jsonl --workload queries.tsv --policy bsf --seeds random:5 --out results",
        "bsf",
        nothing,
    ),
    mistake(
        "simulate-without-pages",
        "simulate --workload queries.tsv --policy bfs --seeds random:5 --out results",
        "--corpus",
        nothing,
    ),
    mistake(
        "simulate-misspelt-key",
        "simulate --config experiment.toml --out results",
        "experiment.toml",
        |folder| {
            write(
                folder,
                "experiment.toml",
                "corpus = \"first.jsonl\"\nworkload = \"queries.tsv\"\npolices = \"bfs\"\nseeds = \"random:5\"\n",
            )
        },
    ),
    mistake(
        "simulate-missing-config",
        "simulate --config experiment.toml --out results",
        "experiment.toml",
        nothing,
    ),
    mistake(
        "whatif-missing-scenario",
        "whatif --store store --scenario other.toml",
        "other.toml",
        nothing,
    ),
    mistake("report-of-nothing", "report notes", "notes", |folder| {
        write(folder, "notes/todo.txt", "x")
    }),
    mistake(
        "quality-of-missing-file",
        "quality score none.parquet --output scored.parquet",
        "none.parquet",
        nothing,
    ),
    mistake(
        "quality-without-text",
        "quality score a.csv --output scored.csv --model text-length",
        "a.csv",
        |folder| write(folder, "a.csv", "id,visits\n1,2\n"),
    ),
    mistake(
        "quality-on-a-device-without-a-library",
        "quality score a.csv --output scored.csv --device cuda",
        "cuda:0",
        |folder| write(folder, "a.csv", "id,text\n1,one\n"),
    ),
    mistake(
        "quality-on-an-unknown-device",
        "quality score a.csv --output scored.csv --device gpu",
        "--device",
        |folder| write(folder, "a.csv", "id,text\n1,one\n"),
    ),
    among(
        ERROR,
        "serve-address-that-is-none",
        "serve --store store --listen localhost",
        "localhost",
        nothing,
    ),
    mistake(
        "url-rules-unknown-rule",
        "url-rules --store store --accept no-such-rule",
        "no-such-rule",
        nothing,
    ),
    mistake("completions-for-unknown-shell", "generate completions csh", "csh", nothing),
];
