//! The local page as a program meets it: what it answers, whom it refuses, and what many clients at
//! once do to it.

#[path = "common/server.rs"]
mod server;

use std::path::Path;

use serde_json::{Value, json};
use server::{Server, demo};
use tempfile::TempDir;

fn served(more: &[&str]) -> (Server, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    demo(&store);
    (Server::start(&store, more), directory)
}

fn scenario(scenario: &Value) -> Value {
    json!({ "scenario": scenario })
}

#[test]
fn questions_are_answered() {
    let (server, _directory) = served(&[]);
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-security-policy: default-src 'none'; script-src 'self'"));
    assert!(page.head.contains("x-content-type-options: nosniff"));
    for asset in ["/app.js", "/app.css"] {
        assert_eq!(server.get(asset).status, 200, "{asset}");
    }
    let state = server.get("/api/state").json();
    assert_eq!(state["allow_write"], false);
    let (picks, first) = (&state["base"]["picks"], &state["options"][0]);
    assert_eq!(first["name"], "budget");
    assert!(picks.as_u64().unwrap() > 0 && first["today"].as_u64() >= picks.as_u64());

    let names = state["options"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|option| option["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"per-host"), "{names:?}");
    // The script lists none by itself: what it shows comes from the state.
    let script = server.get("/app.js").body;
    for name in names.iter().filter(|name| name.contains('-')) {
        assert!(!script.contains(name), "the script names {name}");
    }

    let same = server.post("/api/whatif", &scenario(&json!({}))).json();
    assert_eq!(same["plan"], state["base"]);
    assert_eq!(same["difference"]["entering_count"], 0);
    let less = server.post("/api/whatif", &scenario(&json!({ "budget": 1 }))).json();
    assert_eq!(less["plan"]["picks"], 1);
    assert_eq!(less["difference"]["leaving_count"].as_u64(), picks.as_u64().map(|picks| picks - 1));

    let frontier = server.post("/api/frontier", &json!({ "limit": 3, "offset": 1 })).json();
    assert_eq!(frontier["total"], state["base"]["frontier"]);
    assert_eq!(frontier["urls"][0]["rank"], 2);
    assert_eq!(frontier["parts"][0], "query");
    assert!(frontier["urls"][0]["parts"][0].is_f64());
    let url = frontier["urls"][0]["url"].clone();
    let why = server.post("/api/url", &json!({ "url": url })).json();
    assert_eq!((&why["url"], &why["frontier_rank"]), (&url, &json!(2)));
    assert_eq!(why["estimate"]["value"], frontier["urls"][0]["estimate"]);
    assert_eq!(why["schema"], "prospect.explain/2");
    assert!(!why["links"].as_array().unwrap().is_empty());

    let asked =
        json!({ "limit": 2, "order": "gain", "scenario": { "add": [{ "query": "zebra" }] } });
    let queries = server.post("/api/queries", &asked).json();
    assert_eq!(queries["total"].as_u64().unwrap(), state["state"]["queries"].as_u64().unwrap() + 1);
    let qid = queries["queries"][0]["qid"].clone();
    let sketch = server.post("/api/query", &json!({ "qid": qid })).json();
    let candidates = sketch["candidates"].as_array().unwrap();
    assert!(candidates[0]["chance"].as_f64() >= candidates[1]["chance"].as_f64());

    let plan = server.post("/api/plan?format=urls", &scenario(&json!({ "budget": 2 })));
    assert_eq!(plan.body.lines().count(), 2);
    assert!(plan.head.contains("content-disposition: attachment; filename=\"plan.urls\""));
}

#[test]
fn who_may_not_ask_and_what_cannot_be_answered_is_refused_with_a_way_out() {
    let (server, _directory) = served(&[]);
    let address = server.address.clone();
    let json = "Content-Type: application/json";
    let refused = |head: &str, body: &str, status: u16| {
        let answer = server.send(head, body);
        assert_eq!(answer.status, status, "{head}: {}", answer.body);
        answer
    };
    refused("GET /api/state HTTP/1.1\r\nHost: evil.test", "", 403);
    refused(&format!("GET / HTTP/1.1\r\nHost: {address}\r\nOrigin: http://evil.test"), "", 403);
    let post = format!("POST /api/whatif HTTP/1.1\r\nHost: {address}");
    refused(&format!("{post}\r\n{json}\r\nSec-Fetch-Site: cross-site"), "{}", 403);
    refused(&format!("{post}\r\nContent-Type: text/plain"), "{}", 415);
    refused(&format!("{post}\r\n{json}"), &" ".repeat(2 << 20), 413);
    refused(&format!("{post}\r\n{json}"), "{\"scenario\": {\"budgets\": 3}}", 422);
    refused(&format!("GET /nothing HTTP/1.1\r\nHost: {address}"), "", 404);
    let wrong = [
        (json!({ "budget": 0 }), "budget: it is 0, and must be a whole number from 1"),
        (json!({ "drop": [{ "pattern": "(" }] }), "drop.pattern: "),
        (json!({ "workload": "/etc/passwd" }), "workload: no file can be read here"),
        (json!({ "exclude-hosts": ["nowhere.test"] }), "exclude-hosts: no URL of the host"),
        (
            json!({ "fetched": ["https://nowhere.test/"] }),
            "fetched: 1 of 1 URLs are not known; the first",
        ),
        (json!({ "drop": [{ "list": ["nowhere"] }] }), "drop.list: \"nowhere\" is neither"),
    ];
    for (asked, expected) in wrong {
        let answer = server.post("/api/whatif", &scenario(&asked));
        assert_eq!(answer.status, 422);
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(server.post("/api/url", &json!({ "url": "https://nowhere.test/" })).status, 404);
    assert_eq!(server.post("/api/query", &json!({ "qid": "?" })).status, 404);
    assert_eq!(server.post("/api/plan?format=pdf", &json!({})).status, 400);
    assert_eq!(server.post("/api/commit", &scenario(&json!({}))).status, 403);
}

#[test]
fn a_page_that_is_loaded_shows_what_was_committed_last() {
    let (server, directory) = served(&[]);
    let store = directory.path().join("store");
    let pages = || server.get("/api/state").json()["state"]["pages"].as_u64().unwrap();
    let (before, page) = (pages(), directory.path().join("page.jsonl"));
    std::fs::write(&page, r#"{"url": "https://new.test/", "text": "Zebras."}"#).unwrap();
    let ingest = server::prospect().arg("ingest").arg("--store").arg(&store).arg(&page).output();
    assert!(ingest.unwrap().status.success());
    let question = json!({ "budget": 1 });
    // Who has loaded no page since asks the older state still.
    let older = server.post("/api/whatif", &scenario(&question)).json();
    assert_eq!(older["plan"]["picks"], 1);
    assert_eq!((pages(), pages()), (before + 1, before + 1));
    let newer = server.post("/api/whatif", &scenario(&question)).json();
    assert_eq!(newer["plan"]["picks"], 1);
}

#[test]
fn between_two_plans_the_last_ones_questions_are_asked() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let link = |at: u32| format!(r#"{{"url": "https://a.test/{at}", "anchor": "zebra {at}"}}"#);
    let links = (1..9).map(link).collect::<Vec<_>>().join(",");
    let page = format!(r#"{{"url": "https://a.test/", "text": "Zebras.", "outlinks": [{links}]}}"#);
    std::fs::write(path("page.jsonl"), page).unwrap();
    std::fs::write(path("queries.tsv"), "1\tzebra\t3\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = server::prospect();
        command.args(arguments).arg("--store").arg(path("store")).current_dir(directory.path());
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    run(&["ingest", "page.jsonl"]);
    run(&["plan", "--workload", "queries.tsv", "--budget", "2", "--out", "plan.jsonl"]);
    let server = Server::start(&path("store"), &[]);
    let state = || server.get("/api/state").json();
    assert_eq!((&state()["state"]["pages"], &state()["base"]["picks"]), (&json!(1), &json!(2)));
    std::fs::write(path("page.jsonl"), r#"{"url": "https://a.test/1", "text": "Zebras."}"#)
        .unwrap();
    run(&["ingest", "--close", "page.jsonl"]);
    assert_eq!((&state()["state"]["pages"], &state()["base"]["picks"]), (&json!(2), &json!(2)));
}

#[test]
fn a_plan_is_written_where_that_is_allowed() {
    let (server, directory) = served(&["--allow-write"]);
    assert_eq!(server.get("/api/state").json()["allow_write"], true);
    let written =
        server.post("/api/commit", &scenario(&json!({ "budget": 3, "explore": 0 }))).json();
    assert_eq!(written["urls"], 3);
    drop(server);
    let manifest = std::fs::read_to_string(directory.path().join("store/MANIFEST.json")).unwrap();
    assert!(manifest.contains(written["plan_id"].as_str().unwrap()));
    assert!(checks(&directory.path().join("store")));
}

#[test]
fn what_the_pages_lack_is_told_as_the_command_tells_it() {
    let (server, directory) = served(&[]);
    let get = |query: &str| server.get(&format!("/api/sufficiency{query}")).json();
    let found = get("?limit=5");
    assert_eq!(found["schema"], "prospect.sufficiency/1");
    assert_eq!((&found["theta"], &found["strategy"]), (&json!(0.7), &json!("statistical")));
    let all = found["workload"]["queries"].as_u64().unwrap();
    assert_eq!((&found["total"], found["queries"].as_array().unwrap().len()), (&all.into(), 5));
    assert!(found["told"]["verdict"].as_str().unwrap().contains("results"), "{}", found["told"]);

    // Queries come page by page, those first that lack most.
    let rows = |found: &Value| found["queries"].as_array().unwrap().clone();
    let list = |query: &str| get(&format!("/queries?{query}"));
    let whole = rows(&list("limit=100000"));
    assert_eq!(whole.len() as u64, all);
    assert_eq!(rows(&found), whole[..5]);
    assert_eq!(rows(&list("offset=5&limit=3")), whole[5..8]);
    assert!(rows(&list("offset=999999999999&limit=3")).is_empty());
    let lack = |row: &Value| {
        row["frequency"].as_f64().unwrap() * (1.0 - row["sufficiency"].as_f64().unwrap())
    };
    assert!(whole.windows(2).all(|pair| lack(&pair[0]) >= lack(&pair[1])));
    for (class, of) in found["classes"].as_object().unwrap() {
        assert_eq!(list(&format!("class={class}"))["total"], of["queries"], "{class}");
    }
    let word = whole[7]["query"].as_str().unwrap().split(' ').next().unwrap().to_uppercase();
    let some = list(&format!("search={word}&limit=500"));
    assert!(rows(&some).contains(&whole[7]) && some["total"].as_u64().unwrap() < all, "{some}");

    // Theta decides.
    let enough = get("?theta=0.001");
    assert_eq!(enough["verdict"]["reasons"][0], "sufficient");
    assert_eq!(enough["workload"]["sufficiency"], found["workload"]["sufficiency"]);
    for (query, status, what) in [
        ("?theta=0", 422, "theta is 0"),
        ("?theta=NaN", 422, "theta is NaN"),
        ("?class=best", 400, "best"),
        ("?order=random", 400, "order"),
    ] {
        let refused = server.get(&format!("/api/sufficiency{query}"));
        assert_eq!(refused.status, status, "{}", refused.body);
        assert!(refused.json()["error"].as_str().unwrap().contains(what), "{}", refused.body);
    }

    // The command has the store once the server is gone.
    drop(server);
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/tiny/queries.tsv");
    let told = server::prospect()
        .args(["sufficiency", "--json", "--workload", queries, "--store"])
        .arg(directory.path().join("store"))
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    for key in ["workload", "kinds", "pages", "epoch", "saturation", "growth", "history"] {
        assert_eq!(told[key], found[key], "{key}");
    }
}

#[test]
fn what_the_pages_lack_is_asked_while_plans_are_written() {
    let (server, _directory) = served(&["--allow-write"]);
    let before = server.get("/api/sufficiency").json();
    std::thread::scope(|scope| {
        for budget in 1..4 {
            let asked = scenario(&json!({ "budget": budget, "explore": 0 }));
            let server = &server;
            scope.spawn(move || assert_eq!(server.post("/api/commit", &asked).status, 200));
            scope.spawn(|| assert_eq!(server.get("/api/sufficiency?limit=9").status, 200));
        }
    });
    let after = server.get("/api/sufficiency").json();
    assert_eq!(after["workload"], before["workload"]);
}

fn checks(store: &Path) -> bool {
    server::prospect()
        .args(["check", "--full", "--store"])
        .arg(store)
        .output()
        .unwrap()
        .status
        .success()
}

#[test]
fn many_clients_get_their_own_answers_and_memory_stays_in_bounds() {
    /// MiB that 64 clients may add: four answers that are kept, as many as threads at work, and what
    /// connections and the allocator hold.
    const BOUND: f64 = 96.0;
    let (server, _directory) = served(&[]);
    let expected = |client: usize, round: usize| 1 + (3 * client + round) % 5;
    let ask = |client: usize, round: usize| {
        let factor = 1.0 + client as f64;
        let asked = json!({
            "budget": expected(client, round),
            "scale": [{ "by": factor }],
            "add": [{ "query": format!("client{client} round{round}") }],
        });
        let answer = server.post("/api/whatif", &scenario(&asked));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let found = answer.json();
        assert_eq!(found["plan"]["picks"], expected(client, round));
        assert_eq!(found["scenario"]["budget"], expected(client, round));
    };
    let everyone = |rounds: std::ops::Range<usize>| {
        std::thread::scope(|scope| {
            for client in 0..64 {
                let rounds = rounds.clone();
                scope.spawn(move || rounds.for_each(|round| ask(client, round)));
            }
        });
    };
    ask(0, 0);
    let before = server.memory_mib();
    everyone(1..4);
    let first = server.memory_mib();
    everyone(4..12);
    let second = server.memory_mib();
    assert!(second - before < BOUND, "{before:.0} MiB, then {first:.0}, then {second:.0}");
}

#[test]
fn a_plan_is_written_by_who_knows_the_token_alone() {
    let (server, directory) = served(&["--allow-write"]);
    assert_eq!(server.token.len(), 32);
    let commit = |token: &str| {
        let head = format!(
            "POST /api/commit HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json{token}",
            server.address
        );
        server.send(&head, &scenario(&json!({ "budget": 3 })).to_string())
    };
    let mut wrong = server.token.clone();
    wrong.replace_range(..1, if wrong.starts_with('0') { "1" } else { "0" });
    for token in ["", "\r\nX-Prospect-Token: ", &format!("\r\nX-Prospect-Token: {wrong}")] {
        let refused = commit(token);
        assert_eq!(refused.status, 403, "{token}: {}", refused.body);
        assert!(refused.body.contains("does not know the token"), "{}", refused.body);
        assert!(refused.body.contains("#token"), "{}", refused.body);
    }
    let known = format!("\r\nX-Prospect-Token: {}", server.token);
    assert_eq!(commit(&known).status, 200);
    // Another start, another token.
    let token = server.token.clone();
    drop(server);
    let again = Server::start(&directory.path().join("store"), &["--allow-write"]);
    assert_ne!(again.token, token);
    drop(again);
    let read = Server::start(&directory.path().join("store"), &[]);
    assert_eq!(read.token, "");
}

#[test]
fn a_second_host_is_refused() {
    let (server, _directory) = served(&[]);
    let own = format!("Host: {}", server.address);
    for more in ["Host: evil.test", &own] {
        let answer = server.send(&format!("GET /api/state HTTP/1.1\r\n{own}\r\n{more}"), "");
        assert!([400, 403].contains(&answer.status), "{}", answer.status);
    }
    assert_eq!(server.get("/api/state").status, 200);
}

/// Story: 260 connections that each sent a byte of a body now and then kept everybody else out for minutes.
#[test]
fn who_sends_slowly_keeps_nobody_out() {
    use std::io::Write;
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    let (server, _directory) = served(&[]);
    let head = format!(
        "POST /api/whatif HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{{",
        server.address
    );
    let mut dripping: Vec<TcpStream> = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        dripping.push(stream);
    }
    let start = Instant::now();
    for round in 0..5 {
        // Those that were closed say so by an error.
        for stream in &mut dripping {
            drop(stream.write_all(b" "));
        }
        assert_eq!(server.get("/api/state").status, 200, "{round}");
    }
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}
