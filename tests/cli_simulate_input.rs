//! What people get wrong with `prospect simulate`, and what it says to them.
//!
//! The story of every case: the small collection is at hand, a setting or a file is unusable, and
//! the command ends with exit code 1 and a message that names the place and the way out, before
//! any result is written.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use common::{Bench, address, files};
use simulation::{bench, tried};

static BENCH: LazyLock<Bench> = LazyLock::new(bench);

/// Corpus, queries and seeds that are right.
const GOOD: &str = "simulate --corpus @pages.jsonl --workload @queries.tsv --seeds @seeds1.txt";

/// Runs `line` beside `given`; it must fail for the user's input, say all of `expected`, and leave
/// no result.
#[track_caller]
fn check(given: &[(&str, &str)], line: &str, expected: &[&str]) {
    let bench = &*BENCH;
    for (name, content) in given {
        bench.write(name, content);
    }
    let place = tempfile::tempdir().unwrap();
    let out = common::text(place.path());
    let line = line.replace("GOOD", GOOD);
    let run = tried(bench, &format!("{line} --out {out}/results"));
    let said = &run.stderr;
    assert_eq!(run.code, Some(1), "{line}: {said}");
    assert_eq!(run.stdout, "", "{line}: nothing but results goes to standard output");
    assert!(said.starts_with("error: ") || said.contains("\nerror: "), "{line}: {said}");
    assert!(said.contains("\n\nhint: ") || said.contains("try '--help'"), "{line}: {said}");
    for part in expected {
        let part = part.replace('@', &bench.path(""));
        assert!(said.contains(&part), "{line}: {part:?} is not in\n{said}");
    }
    let results = files(&place.path().join("results"));
    assert!(!results.keys().any(|name| name == Path::new("summary.json")), "{line}");
}

#[test]
fn policies_that_there_are_not_are_answered_with_the_nearest() {
    check(&[], "GOOD --policy bsf", &["there is no policy \"bsf\"", "did you mean bfs?"]);
    check(&[], "GOOD", &["no policy is named", "--policy bfs,qmin,prospect"]);
    check(&[], "GOOD --policy bfs,dfs,bfs", &["policy bfs is named twice"]);
    check(&[], "GOOD --policy all,opic", &["policy opic is named twice"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_gone_once_it_is_read() {
    let pipe = BENCH.path("pipe.txt");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let what = ["qrels ", "pipe.txt is no file, and gone once it is read", "name a file"];
    check(&[], "GOOD --policy bfs --qrels @pipe.txt", &what);
}

#[test]
fn options_of_policies_name_what_there_is() {
    let cases: [(&str, &[&str]); 5] = [
        ("hybrid+ned=1", &["policy hybrid has no option \"ned\"", "needy", "prospect policies"]),
        ("bfs+needy=1", &["policy bfs has no option \"needy\"; it has batch"]),
        ("hybrid+needy", &["\"needy\" is no option; `name=value` was expected"]),
        ("hybrid+needy=1.5", &["option needy is 1.5; it must be a number of queries, or a share"]),
        ("hybrid+match=x", &["option match is x; it must be idf or count"]),
    ];
    for (policy, expected) in cases {
        check(&[], &format!("GOOD --policy {policy}"), expected);
    }
}

#[test]
fn policies_say_what_they_need() {
    let qmin = ["policy qmin needs quality scores", "--quality FILE"];
    check(&[], "GOOD --policy bfs,qmin", &qmin);
    let bare = "simulate --corpus @pages.jsonl --seeds @seeds1.txt --policy";
    check(&[], &format!("{bare} prospect"), &["policy prospect plans for queries", "--workload"]);
}

#[test]
fn attacks_that_there_are_not_are_answered_with_those_there_are() {
    let known = "anchor-stuffing, url-stuffing, link-farm:N, bait-and-switch, sybil[:N]";
    let good = "GOOD --policy bfs --attack";
    check(&[], &format!("{good} cloaking"), &["there is no attack \"cloaking\"", known, "all"]);
    check(
        &[],
        &format!("{good} link-farm:5"),
        &["attack \"link-farm:5\": N domains from 10 to 1000"],
    );
    check(&[], &format!("{good} all,url-stuffing"), &["attack url-stuffing is named twice"]);
    check(&[], &format!("{good} link-farm:10"), &["needs 20 pages", "is 3", "--attack-share 5%"]);
    check(&[], &format!("{good} all --attack-share 2"), &["attack-share is \"2\""]);
    check(&[], "GOOD --policy bfs --attack-share 5%", &["attack-share needs attack"]);
    let bare = "simulate --corpus @pages.jsonl --seeds @seeds1.txt --policy bfs --attack all";
    check(&[], bare, &["attack aims at queries", "--workload FILE"]);
}

#[test]
fn a_baseline_that_is_asked_for_must_be_there() {
    let expected = ["the baseline qmin is none of the policies: bfs, dfs", "--policy"];
    check(&[], "GOOD --policy bfs,dfs --baseline qmin", &expected);
    check(&[], "GOOD --policy bfs,dfs --baseline dsf", &["no policy \"dsf\"", "did you mean dfs?"]);
    let bench = &*BENCH;
    let options = "hybrid+rho=0.5+needy=0.5";
    let line = format!(
        "{GOOD} --policy {options},opic --max-pages 9 --checkpoints 9 --baseline {options} \
         --out @based"
    );
    assert_eq!(tried(bench, &line).code, Some(0));
    let found = simulation::summary(bench, "based");
    assert_eq!(found["baseline"], "hybrid+needy=0.5+rho=0.5", "in the spelling of its label");
}

#[test]
fn files_of_settings_are_answered_with_line_and_key() {
    let cases: [(&str, &[&str]); 8] = [
        ("policy = 'bfs'\nbach = 1\n", &["@run.toml", "line 2", "did you mean batch?"]),
        ("policy = 'bfs'\nbatch = \n", &["@run.toml", "line 2"]),
        ("seed = 'one'\n", &["@run.toml", "line 1", "invalid type"]),
        ("experiment = 1\n", &["@run.toml: `experiment` is no list", "[[experiment]]"]),
        (
            "batch = 1\n[[experiment]]\n[[experiment]]\nname = 'b'\npolcy = 'bfs'\n",
            &["@run.toml:5: experiment b: unknown field `polcy`", "did you mean policy?"],
        ),
        (
            "[[experiment]]\nname = 'a'\n[[experiment]]\nname = 'a'\n",
            &["@run.toml: two experiments have the name a"],
        ),
        ("[[experiment]]\nname = '../a'\n", &["@run.toml: \"../a\" cannot name an experiment"]),
        (
            "corpus = 'gone.jsonl'\npolicy = 'bfs'\nseeds = 'random:3'\n",
            &["cannot read @gone.jsonl"],
        ),
    ];
    for (content, expected) in cases {
        check(&[("run.toml", content)], "simulate --config @run.toml", expected);
    }
    check(&[], "simulate --config @none.toml", &["cannot read @none.toml"]);
}

#[test]
fn all_experiments_of_a_file_are_checked_before_the_first_begins() {
    let bench = &*BENCH;
    let good = "corpus = 'pages.jsonl'\nworkload = 'queries.tsv'\nseeds = 'random:3'\n\
        [[experiment]]\nname = 'good'\npolicy = 'bfs'\n[[experiment]]\nname = 'bad'\n";
    bench.write("two.toml", format!("{good}policy = 'bfs'\nqrels = 'gone.qrels'\n"));
    let run = tried(bench, "simulate --config @two.toml --out @two");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("gone.qrels"), "{}", run.stderr);
    assert!(files(Path::new(&bench.path("two"))).is_empty(), "nothing was run");
    bench.write("two.toml", format!("{good}policy = 'dfs'\n"));
    let run = tried(bench, "simulate --config @two.toml --out @two --json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let printed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed[0], simulation::summary(bench, "two/good"));
    assert_eq!(printed[1], simulation::summary(bench, "two/bad"));
}

#[test]
fn flags_take_the_place_of_what_a_file_says() {
    let bench = &*BENCH;
    let content = "corpus = 'pages.jsonl'\nworkload = 'queries.tsv'\ncrawled = 'share:0.8'\n\
        policy = 'bfs'\nbatch = '10%'\n";
    bench.write("base.toml", content);
    for (flags, crawled) in [("", 240), ("--promote 20%", 252), ("--seeds random:3", 0)] {
        let out = format!("flags{crawled}");
        let run = tried(bench, &format!("simulate --config @base.toml {flags} --out @{out}"));
        assert_eq!(run.code, Some(0), "{flags}: {}", run.stderr);
        let found = simulation::summary(bench, &out);
        assert_eq!(found["collection"]["crawled_before"], crawled, "{flags}");
    }
}

#[test]
fn files_that_are_missing_are_named() {
    let roles = ["corpus", "workload", "eval-workload", "qrels", "quality", "rerank", "crawled"];
    for role in roles {
        let rest = GOOD.replace(&format!("--{role} "), "--title ");
        let rest = if role == "crawled" { rest.replace("--seeds", "--title") } else { rest };
        let judged = if role == "rerank" { "--qrels @judged.qrels" } else { "" };
        let rest =
            rest.replacen("--title @pages.jsonl", "", 1).replacen("--title @queries.tsv", "", 1);
        let rest = rest.replacen("--title @seeds1.txt", "", 1);
        let line = format!("{rest} {judged} --policy bfs --{role} @gone");
        check(&[], &line, &["cannot read @gone", "No such file"]);
    }
    let line = format!("{} --policy bfs --seeds @gone", GOOD.replace(" --seeds @seeds1.txt", ""));
    check(&[], &line, &["cannot read @gone"]);
    check(&[], &line.replace("--corpus @pages.jsonl", "--store @gone"), &["@gone"]);
    check(
        &[],
        "simulate --corpus - --policy bfs --seeds random:2",
        &["corpus is `-`, standard input", "name a file"],
    );
}

#[test]
fn quality_that_is_malformed_names_its_line() {
    let cases = [
        ("no tab\n", "@q.tsv:1: no tab; `url<TAB>score` was expected"),
        ("https://a.example/\t-1\nhttps://a.example/b\t0.5\n", "@q.tsv:2: the score is \"0.5\""),
        ("https://a.example/\tNaN\n", "@q.tsv:1: the score is \"NaN\""),
        ("https://a.example/\t-inf\n", "@q.tsv:1: the score is \"-inf\""),
        ("\nhttps://a.example/\tgood\n", "@q.tsv:2: the score is \"good\""),
        ("nowhere\t-1\n", "@q.tsv:1: \"nowhere\" is "),
    ];
    for (content, expected) in cases {
        let line = "GOOD --policy qmin --quality @q.tsv";
        check(&[("q.tsv", content)], line, &[expected, "log-probabilit"]);
    }
}

#[test]
fn places_to_start_from_must_be_in_the_collection() {
    let elsewhere = "https://elsewhere.example/\n";
    let line = format!("{} --policy bfs", GOOD.replace("seeds1", "e"));
    let expected = ["@e.txt: no seed of set 1 is a page of the collection", "one a line"];
    check(&[("e.txt", elsewhere)], &line, &expected);
    check(&[("e.txt", "")], &line, &expected);
    let content = format!("{}\nnowhere\n", address(1));
    check(&[("e.txt", &content)], &line, &["@e.txt:2: \"nowhere\" is "]);
    let rule = |rule: &str| format!("{} --policy bfs", GOOD.replace("@seeds1.txt", rule));
    check(&[], &rule("random:0"), &["\"random:0\"", "write random:50"]);
    check(&[], &rule("random:5,@seeds1.txt"), &["both files and a rule"]);
    check(&[], &rule("@seeds1.txt,@seeds1.txt"), &["@seeds1.txt is named twice"]);
    check(&[], &rule("@seeds1.txt --seed-sets 2"), &["2 seed sets, and 1 files of seeds"]);
    let nowhere = GOOD.replace("--seeds @seeds1.txt", "");
    check(&[], &format!("{nowhere} --policy bfs"), &["nothing says where crawls start"]);
    let all = common::lines((0..common::PAGES).map(address));
    let line = format!("{nowhere} --policy bfs --crawled @all.txt");
    check(&[("all.txt", &all)], &line, &["all 300 pages are crawled before", "share:0.9"]);
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let cases: [(&str, &[&str]); 9] = [
        ("--store @store", &["cannot be used with", "--corpus"]),
        ("--crawled share:0.8", &["seeds and crawled both say", "--crawled"]),
        ("--promote 20%", &["promote needs crawled", "--crawled share:0.8"]),
        ("--rerank @queries.tsv", &["rerank changes", "--qrels FILE"]),
        ("--runs last", &["runs are written for judged queries", "--qrels FILE"]),
        ("--sketches 0.1", &["sketches are of policies that plan", "query-driven"]),
        ("--sketches-at 10%", &["sketches-at needs sketches"]),
        ("--max-pages 2", &["no checkpoint lies within the 2 pages", "--checkpoints 2"]),
        ("--checkpoints 301", &["no checkpoint lies within the 300 pages"]),
    ];
    for (flags, expected) in cases {
        check(&[], &format!("GOOD --policy bfs {flags}"), expected);
    }
    let place = tempfile::tempdir().unwrap();
    let out = common::text(place.path());
    let some =
        format!("{GOOD} --policy bfs --checkpoints 100,300,301 --max-pages 200 --out {out}/r");
    let said = tried(&BENCH, &some).stderr;
    assert!(said.contains("beyond the 200 pages to fetch are left out: 300, 301"), "{said}");
    let bare = "simulate --corpus @pages.jsonl --seeds @seeds1.txt --policy bfs";
    let qrels = ["qrels judge results of queries", "--workload"];
    check(&[], &format!("{bare} --qrels @judged.qrels"), &qrels);
    check(&[], "simulate --policy bfs --seeds random:3", &["nothing to crawl", "--corpus FILE"]);
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let cases = [
        ("--batch 0", "batch is \"0\""),
        ("--batch 101%", "batch is \"101%\""),
        ("--max-pages 1.5", "max-pages is \"1.5\""),
        ("--checkpoints 10%,x", "checkpoints is \"x\""),
        ("--top 0", "top is 0"),
        ("--k1 -1", "k1 is -1"),
        ("--b 1.5", "b is 1.5"),
        ("--significance 2", "significance is 2"),
        ("--outside keep", "outside is \"keep\""),
        ("--runs some", "runs is \"some\""),
        ("--seed-sets 0", "0 seed sets"),
        ("--seed x", "--seed"),
        ("--seed 18446744073709551615", "18446744073709551615 is not in"),
    ];
    for (flags, expected) in cases {
        check(&[], &format!("GOOD --policy bfs --qrels @judged.qrels {flags}"), &[expected]);
    }
}

#[test]
fn judgements_of_other_queries_or_pages_are_no_judgements() {
    let line = "GOOD --policy bfs --qrels @o.qrels";
    let expected = ["@o.qrels: no query has a relevant page in the collection", "qids and URLs"];
    for content in ["other 0 https://a.example/ 1\n", "q01 0 https://a.example/ 1\n"] {
        check(&[("o.qrels", content)], line, &expected);
    }
    check(&[("o.qrels", "q01 0 https://a.example/\n")], line, &["@o.qrels:1"]);
}

#[test]
fn what_was_mended_after_an_error_can_be_run_in_the_same_place() {
    let bench = bench();
    let line = format!("{GOOD} --policy qmin --batch 10% --quality @mended.tsv --out @mended");
    bench.write("mended.tsv", "no tab\n");
    assert_eq!(tried(&bench, &line).code, Some(1));
    fs::copy(bench.path("quality.tsv"), bench.path("mended.tsv")).unwrap();
    let run = tried(&bench, &line);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn more_seed_sets_than_anybody_means_are_refused() {
    let line = "simulate --corpus @pages.jsonl --workload @queries.tsv --policy bfs --seeds random:5 --seed-sets";
    let said = ["2147483648 seed sets are too many", "--seed-sets takes at most 1000"];
    check(&[], &format!("{line} 2147483648"), &said);
    check(&[], &format!("{line} 1001"), &["1001 seed sets are too many"]);
}
