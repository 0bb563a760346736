//! A planner beside a running crawler, from the outside: records go in, URLs come out, through pipes.
//!
//! Story: a crawler is never through. It keeps some URLs in flight, reports each when it has come, and is told what
//! next. It is slow, reports what nobody asked for, writes a line that is none, or is killed together with the planner
//! at any moment. No page is asked for twice, but what was in flight then, and none is forgotten.

mod common;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::{
    Bench, CRAWLED, PAGES, assert_sound, command, done, failure, lines, page, page_at, prospect,
    rows, text,
};
use serde_json::Value;

/// Longest time that anything here takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// A stream that is running, and what came of it so far.
struct Streamed {
    child: Child,
    input: Option<ChildStdin>,
    urls: Receiver<Value>,
    messages: Receiver<String>,
    said: Vec<String>,
}

/// Lines of a pipe, as they come.
fn read<T: Send + 'static>(
    pipe: impl Read + Send + 'static,
    parse: impl Fn(String) -> T + Send + 'static,
) -> Receiver<T> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines() {
            if sender.send(parse(line.unwrap())).is_err() {
                break;
            }
        }
    });
    lines
}

impl Streamed {
    fn start(bench: &Bench, store: &Path, options: &[&str]) -> Self {
        let workload = bench.path("queries.tsv");
        let fixed = ["stream", "--store", text(store), "--workload", &workload];
        let mut command = command(&[&fixed[..], options].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let urls = read(child.stdout.take().unwrap(), |line| serde_json::from_str(&line).unwrap());
        let messages = read(child.stderr.take().unwrap(), |line| line);
        Self { child, input, urls, messages, said: Vec::new() }
    }

    fn url(&self) -> Value {
        self.urls.recv_timeout(PATIENCE).expect("a URL to fetch")
    }

    /// Waits for a message that begins so; none where the stream ended without.
    fn message(&mut self, start: &str) -> Option<String> {
        loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.starts_with(start) {
                        return Some(line);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("no {start:?} in {:?}", self.said),
            }
        }
    }

    /// Waits for the next round, and gives what it asks for; none where the stream ended.
    fn round(&mut self) -> Option<Vec<Value>> {
        let line = self.message("round ")?;
        let words: Vec<&str> = line.split([' ', ',']).collect();
        let planned = words.iter().position(|word| *word == "planned").unwrap() - 1;
        let planned: usize = words[planned].parse().unwrap();
        Some((0..planned).map(|_| self.url()).collect())
    }

    fn send(&mut self, record: &str) {
        writeln!(self.input.as_mut().unwrap(), "{record}").unwrap();
    }

    /// Ends standard input and waits; gives the exit code, URLs that nobody took yet, and all messages.
    fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        drop(self.input.take());
        self.message("no message begins so");
        let code = self.child.wait().unwrap().code();
        (code, self.urls.iter().collect(), self.said.join("\n"))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn url_of(row: &Value) -> String {
    row["url"].as_str().unwrap().to_owned()
}

/// What a URL of the generated web gives: of every ten pages one is gone, one is busy, one has moved.
fn troubled(url: &str) -> String {
    let number = page_at(url);
    match number % 10 {
        3 => failure(url, 404),
        5 => failure(url, 503),
        7 => {
            let (mut record, elsewhere) = (page(number), format!("https://moved.example/{number}"));
            record = record.replacen(url, &elsewhere, 1);
            record.replacen('{', &format!("{{\"requested_url\": \"{url}\", "), 1)
        }
        _ => page(number),
    }
}

/// The same, but that nothing is busy: cycles by which back-offs count are longer in a stream.
fn gone_or_moved(url: &str) -> String {
    if page_at(url) % 10 == 5 { untroubled(url) } else { troubled(url) }
}

fn untroubled(url: &str) -> String {
    page(page_at(url))
}

/// A crawler that reports in groups, the oldest first.
struct Crawler {
    /// What was asked for and not reported.
    pending: VecDeque<String>,
    /// All that was asked for, in that order.
    asked: Vec<Value>,
    most: usize,
    every: usize,
}

impl Crawler {
    fn new(most: usize, every: usize) -> Self {
        Self { pending: VecDeque::new(), asked: Vec::new(), most, every }
    }

    fn options(&self) -> [String; 4] {
        let (most, every) = (self.most.to_string(), self.every.to_string());
        ["--in-flight".into(), most, "--every".into(), every]
    }

    fn start(&self, bench: &Bench, store: &Path, options: &[&str]) -> Streamed {
        let own = self.options();
        let own = own.iter().map(String::as_str);
        Streamed::start(bench, store, &own.chain(options.iter().copied()).collect::<Vec<_>>())
    }

    fn take(&mut self, asked: Vec<Value>) {
        self.pending.extend(asked.iter().map(url_of));
        self.asked.extend(asked);
        assert!(self.pending.len() <= self.most, "{} are in flight", self.pending.len());
    }

    /// Reports a group, and takes what is asked for then; false where the stream has ended.
    fn cycle(&mut self, streamed: &mut Streamed, answer: impl Fn(&str) -> String) -> bool {
        for _ in 0..self.every.min(self.pending.len()) {
            let url = self.pending.pop_front().unwrap();
            streamed.send(&answer(&url));
        }
        let asked = streamed.round();
        asked.is_some_and(|asked| {
            self.take(asked);
            true
        })
    }

    /// Crawls until nothing is in flight.
    fn crawl(&mut self, streamed: &mut Streamed, answer: impl Fn(&str) -> String) {
        let first = streamed.round().unwrap();
        self.take(first);
        while !self.pending.is_empty() && self.cycle(streamed, &answer) {}
    }
}

/// How often each URL was asked for.
fn times(asked: &[Value]) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    for row in asked {
        *times.entry(url_of(row)).or_insert(0) += 1;
    }
    times
}

fn status(store: &Path) -> Value {
    let told = done(&["status", "--json", "--store", text(store)]).stdout;
    serde_json::from_str(&told).unwrap()
}

#[test]
fn a_crawl_goes_on_until_nothing_is_left_and_asks_for_each_page_once() {
    let bench = Bench::with_store();
    let store = bench.store();
    let mut crawler = Crawler::new(30, 10);
    let mut streamed = crawler.start(&bench, &store, &["--delay", "2"]);
    crawler.crawl(&mut streamed, troubled);
    let (code, rest, said) = streamed.end();
    assert_eq!((code, rest.len()), (Some(0), 0), "{said}");
    assert!(said.contains("nothing is in flight, and"), "{said}");
    assert!(said.contains("0 in flight of 0 open plans"), "{said}");
    let times = times(&crawler.asked);
    for (url, times) in &times {
        // Four tries of its own, and four times its host failed as a whole with nothing else left.
        let most = if page_at(url) % 10 == 5 { 8 } else { 1 };
        assert!(*times <= most, "{url} was asked for {times} times");
    }
    let busy = times.iter().filter(|(url, _)| page_at(url) % 10 == 5);
    assert!(busy.clone().count() > 5 && busy.clone().any(|(_, times)| *times > 1));
    let status = status(&store);
    assert_eq!(status["open_plans"], serde_json::json!([]));
    assert!(status["cycles_closed"].as_u64() > Some(10), "it learns as cycles do: {status}");
    assert!(times.len() > PAGES - CRAWLED - 30, "{} URLs were found", times.len());
    assert_polite(&crawler.asked, 2.0);
    assert_sound(&store);
}

/// Between two requests to a host lies its delay, and the first may be asked for now.
#[track_caller]
fn assert_polite(asked: &[Value], delay: f64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let mut last: HashMap<String, f64> = HashMap::new();
    for row in asked {
        let (url, start) = (url_of(row), row["not_before"].as_f64().unwrap());
        let host = url.split('/').nth(2).unwrap().to_owned();
        if let Some(last) = last.insert(host, start) {
            assert!(start - last >= delay - 1e-6, "{url}: {last}, then {start}");
        }
    }
    let first = asked[0]["not_before"].as_f64().unwrap();
    assert!((now - 600.0..=now).contains(&first), "{first} is a time of today");
}

#[test]
fn killed_at_any_point_it_goes_on_and_asks_again_for_what_was_in_flight_alone() {
    let bench = Bench::with_store();
    let whole = {
        let store = bench.copy_of_store("whole");
        let mut crawler = Crawler::new(24, 8);
        let mut streamed = crawler.start(&bench, &store, &[]);
        crawler.crawl(&mut streamed, untroubled);
        assert_eq!(streamed.end().0, Some(0));
        times(&crawler.asked).into_keys().collect::<BTreeSet<String>>()
    };
    let store = bench.store();
    let (mut asked, mut lost) = (BTreeSet::new(), HashSet::new());
    for rounds in [0, 1, 4, 40] {
        let mut crawler = Crawler::new(24, 8);
        let mut streamed = crawler.start(&bench, &store, &[]);
        if lost.is_empty() {
            crawler.take(streamed.round().unwrap());
        } else {
            // The window is full: nothing is planned before something was reported.
            let line = streamed.message(&format!(
                "asked for again, as in flight of open plans: {} URL",
                lost.len()
            ));
            let again: Vec<Value> = (0..lost.len()).map(|_| streamed.url()).collect();
            let again: HashSet<String> = again.iter().map(url_of).collect();
            assert_eq!(again, lost, "{line:?}");
            crawler.pending.extend(again);
        }
        for _ in 0..rounds {
            if crawler.pending.is_empty() || !crawler.cycle(&mut streamed, untroubled) {
                break;
            }
        }
        for url in crawler.asked.iter().map(url_of) {
            assert!(asked.insert(url.clone()), "{url} was asked for twice");
        }
        lost = crawler.pending.iter().cloned().collect();
        // Less than a group is in no commit yet: it is asked for again.
        for url in crawler.pending.iter().take(3) {
            streamed.send(&untroubled(url));
        }
        streamed.kill();
        assert_sound(&store);
    }
    assert_eq!(asked, whole, "the same is found");
}

#[test]
fn a_bad_line_is_told_with_its_number_and_does_not_end_it() {
    let bench = Bench::with_store();
    let store = bench.store();
    let mut streamed = Streamed::start(&bench, &store, &["--in-flight", "4", "--every", "4"]);
    let asked = streamed.round().unwrap();
    streamed.send(&untroubled(&url_of(&asked[0])));
    streamed.send("{\"url\": 7}");
    // A page that nobody planned is taken in all the same.
    streamed.send("{\"url\": \"https://unplanned.example/\", \"text\": \"topic1\"}");
    streamed.send("no JSON");
    assert_eq!(streamed.round().unwrap().len(), 1);
    let (code, _, said) = streamed.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("skipped standard input:2: ") && said.contains("(invalid-record)"),
        "{said}"
    );
    assert!(
        said.contains("skipped standard input:4: ") && said.contains("(invalid-json)"),
        "{said}"
    );
    assert!(said.contains("2 fetched, 0 failed, 2 bad lines skipped; 5 URLs asked for"), "{said}");
    assert_eq!(status(&store)["pages"].as_u64(), Some(CRAWLED as u64 + 2));
}

#[test]
fn what_was_asked_for_and_cannot_be_read_frees_its_place() {
    let bench = Bench::with_store();
    let store = bench.store();
    let mut streamed = Streamed::start(&bench, &store, &["--in-flight", "1"]);
    for tell in [
        |url: &str| format!("{{\"url\": \"{url}\", \"status\": 99999}}"),
        |url: &str| format!("{{\"url\": \"mailto:a@b\", \"requested_url\": \"{url}\"}}"),
        |url: &str| format!("{{\"text\": 7, \"url\": \"{url}\"}}"),
    ] {
        let asked = streamed.round().unwrap();
        streamed.send(&tell(&url_of(&asked[0])));
    }
    assert_eq!(streamed.round().unwrap().len(), 1, "another is asked for");
    let (_, _, said) = streamed.end();
    assert!(said.contains("0 fetched, 3 failed, 3 bad lines skipped"), "{said}");
}

#[test]
fn the_same_answer_to_what_is_asked_again_after_a_restart_is_another_answer() {
    let bench = Bench::new();
    let store = bench.path("busy");
    let url = "https://busy.example/";
    done(&["seeds", "--store", &store, &bench.write("list.txt", format!("{url}\n"))]);
    let options = ["--in-flight", "1", "--every", "1", "--delay", "60"];
    let start = || Streamed::start(&bench, Path::new(&store), &options);
    let mut streamed = start();
    let first = streamed.round().unwrap();
    streamed.send(&failure(url, 503));
    assert_eq!(streamed.round().unwrap().len(), 1, "nothing else is left");
    streamed.kill();
    let mut streamed = start();
    let again = streamed.url();
    let wait = again["not_before"].as_f64().unwrap() - first[0]["not_before"].as_f64().unwrap();
    assert!(wait >= 60.0, "who may have been asked a moment ago waits: {wait}");
    streamed.send(&failure(url, 503));
    streamed.round();
    let tries = status(Path::new(&store))["cycles_closed"].as_u64();
    assert_eq!(tries, Some(2));
    streamed.kill();
}

#[test]
fn a_host_is_one_queue_however_links_spell_it() {
    let bench = Bench::new();
    let store = bench.path("spelled");
    let urls =
        ["https://bücher.example/1", "https://BÜCHER.example/2", "https://xn--bcher-kva.example/3"];
    done(&["seeds", "--store", &store, &bench.write("list.txt", urls.join("\n"))]);
    let delays = bench.write("delays", "bücher.example 1\n");
    let streamed =
        Streamed::start(&bench, Path::new(&store), &["--delays", &delays, "--delay", "0.5"]);
    let asked: Vec<Value> = urls.iter().map(|_| streamed.url()).collect();
    let hosts: BTreeSet<String> =
        asked.iter().map(|row| url_of(row).split('/').nth(2).unwrap().to_owned()).collect();
    assert_eq!(hosts.len(), 3, "each is asked for as it was spelled: {asked:?}");
    let mut times: Vec<f64> = asked.iter().map(|row| row["not_before"].as_f64().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 1.0 - 1e-6), "{times:?}");
    streamed.kill();
}

#[test]
#[cfg(unix)]
fn a_signal_ends_it_and_what_has_come_is_stored() {
    // Those that whoever runs this has it ignore stay ignored.
    let told = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = told.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        if ignored >> (number - 1) & 1 == 1 {
            continue;
        }
        let bench = Bench::with_store();
        let store = bench.store();
        let mut streamed = Streamed::start(&bench, &store, &["--in-flight", "9", "--json"]);
        let asked = streamed.round().unwrap();
        for row in &asked[..4] {
            streamed.send(&untroubled(&url_of(row)));
        }
        // Until they are read.
        thread::sleep(Duration::from_millis(500));
        let id = streamed.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(streamed.message("round "), None);
        let said = streamed.said.join("\n");
        assert!(said.contains("a signal asks for the end"), "{said}");
        assert_eq!(streamed.url()["ended"], "signal");
        assert_eq!(streamed.child.wait().unwrap().code(), Some(0));
        let status = status(&store);
        assert_eq!(status["pages"].as_u64(), Some(CRAWLED as u64 + 4), "{signal}");
    }
}

#[test]
fn what_is_in_flight_is_of_many_hosts_and_each_is_asked_however_slow() {
    let bench = Bench::new();
    let url = |at: usize| format!("https://h{}.example/{at}", if at < 300 { 0 } else { at % 20 });
    let list = bench.write("list.txt", lines((0..500).map(url)));
    // Of a slow host one URL at a time; of others as many as there are ten turns.
    let delays = bench.write("delays.txt", "h1.example 600\n");
    let most = |store: &str, options: &[&str]| {
        let store = bench.path(store);
        done(&["seeds", "--store", &store, &list]);
        let usual = ["--in-flight", "150", "--delays", &delays, "--site-share", "none"];
        let options = [&usual[..], options].concat();
        let mut streamed = Streamed::start(&bench, Path::new(&store), &options);
        let mut of_host: HashMap<String, usize> = HashMap::new();
        for row in streamed.round().unwrap() {
            *of_host.entry(url_of(&row).split('/').nth(2).unwrap().to_owned()).or_default() += 1;
        }
        streamed.kill();
        let of = |host: &str| of_host.get(host).copied().unwrap_or(0);
        (of("h0.example"), of("h1.example"), of("h2.example"))
    };
    assert_eq!(most("usual", &[]), (10, 1, 10));
    assert_eq!(most("longer", &["--seconds", "20"]), (20, 0, 10));
}

#[test]
fn caps_hold_for_all_that_is_in_flight() {
    let bench = Bench::with_store();
    let mut crawler = Crawler::new(15, 1);
    let options = ["--per-host", "3", "--delay", "0"];
    let mut streamed = crawler.start(&bench, &bench.store(), &options);
    let first = streamed.round().unwrap();
    crawler.take(first);
    for _ in 0..12 {
        assert!(crawler.cycle(&mut streamed, untroubled));
        let mut of_host: HashMap<&str, usize> = HashMap::new();
        for url in &crawler.pending {
            *of_host.entry(url.split('/').nth(2).unwrap()).or_default() += 1;
        }
        assert!(of_host.values().all(|urls| *urls <= 3), "{of_host:?}");
        assert!(crawler.pending.len() > 12, "{of_host:?}");
    }
    assert_eq!(streamed.end().0, Some(0));
}

#[test]
fn a_bad_line_is_an_error_where_that_is_asked_for_and_what_was_good_is_stored() {
    let bench = Bench::with_store();
    let store = bench.store();
    let options = ["--in-flight", "4", "--every", "3", "--strict"];
    let mut streamed = Streamed::start(&bench, &store, &options);
    let asked = streamed.round().unwrap();
    streamed.send(&untroubled(&url_of(&asked[0])));
    streamed.send("no JSON");
    streamed.send(&untroubled(&url_of(&asked[1])));
    assert_eq!(streamed.round().map(|asked| asked.len()), None, "it ends");
    let (code, _, said) = streamed.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("error: standard input:2: "), "{said}");
    assert_eq!(status(&store)["pages"].as_u64(), Some(CRAWLED as u64 + 2));
}

#[test]
fn a_budget_ends_it_when_all_of_it_was_reported() {
    let bench = Bench::with_store();
    let mut crawler = Crawler::new(20, 5);
    let mut streamed = crawler.start(&bench, &bench.store(), &["--budget", "33", "--json"]);
    let first = streamed.round().unwrap();
    crawler.take(first);
    while !crawler.pending.is_empty() && crawler.cycle(&mut streamed, untroubled) {}
    // Standard input is still open.
    let summary = streamed.url();
    let (code, _, said) = streamed.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(crawler.asked.len(), 33);
    assert!(said.contains("the budget is reached"), "{said}");
    assert_eq!(summary["schema"], "prospect.stream/1");
    assert_eq!((&summary["ended"], &summary["in_flight"]), (&"budget".into(), &0.into()));
    assert_eq!(summary["summary"]["pages"], 33);
}

#[test]
fn a_store_without_pages_waits_for_records_and_one_with_seeds_plans_them() {
    let bench = Bench::new();
    let store = bench.path("empty");
    let store = Path::new(&store);
    let mut streamed = Streamed::start(&bench, store, &["--in-flight", "10"]);
    let said = streamed.message("the store knows no URL yet").unwrap();
    assert!(said.contains("prospect seeds"), "{said}");
    streamed.send(&page(0));
    let asked = streamed.round().unwrap();
    assert!(!asked.is_empty(), "the links of the page are planned");
    assert_eq!(streamed.end().0, Some(0));

    let (seeded, list) = (bench.path("seeded"), bench.write("list.txt", "https://seed.example/\n"));
    done(&["seeds", "--store", &seeded, &list]);
    let mut streamed = Streamed::start(&bench, Path::new(&seeded), &[]);
    let asked = streamed.round().unwrap();
    assert_eq!(asked.iter().map(url_of).collect::<Vec<_>>(), ["https://seed.example/"]);
    streamed.send(&failure("https://seed.example/", 404));
    let (code, _, said) = streamed.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_host_that_never_answers_does_not_keep_it_busy_for_ever() {
    let bench = Bench::new();
    let store = bench.path("dead");
    let urls = lines((0..6).map(|at| format!("https://dead.example/{at}")));
    done(&["seeds", "--store", &store, &bench.write("list.txt", urls)]);
    let mut crawler = Crawler::new(6, 6);
    let mut streamed = crawler.start(&bench, Path::new(&store), &[]);
    crawler.crawl(&mut streamed, |url| failure(url, 0));
    let (code, _, said) = streamed.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("what is left is not to be asked for now: 6 on 1 host that"), "{said}");
}

#[test]
fn a_slow_crawler_is_planned_for_by_time() {
    let bench = Bench::with_store();
    let mut streamed =
        Streamed::start(&bench, &bench.store(), &["--in-flight", "20", "--every", "1s"]);
    let asked = streamed.round().unwrap();
    for row in &asked[..2] {
        let sent = Instant::now();
        streamed.send(&untroubled(&url_of(row)));
        assert_eq!(streamed.round().unwrap().len(), 1, "one came, one is asked for");
        assert!(sent.elapsed() >= Duration::from_millis(900), "{:?}", sent.elapsed());
    }
    assert_eq!(streamed.end().0, Some(0));
}

/// What a plan says, but for the time, which is another every time.
fn timeless(asked: &[Value]) -> Vec<(String, u64, u64, String)> {
    let row = |row: &Value| {
        let estimate = row["estimate"].as_f64().unwrap().to_bits();
        let plan = row["plan"].as_str().or(row["plan_id"].as_str()).unwrap().to_owned();
        (url_of(row), row["rank"].as_u64().unwrap(), estimate, plan)
    };
    asked.iter().map(row).collect()
}

#[test]
fn the_same_groups_give_the_same_plans_on_any_threads_and_by_the_commands_one_by_one() {
    let bench = Bench::with_store();
    let stores = ["one", "two", "by-hand"].map(|name| bench.copy_of_store(name));
    let streamed = |store: &Path, threads: &str| {
        let mut crawler = Crawler::new(40, 12);
        let options = ["--threads", threads, "--site-share", "none", "--seconds", "9"];
        let mut streamed = crawler.start(&bench, store, &options);
        let first = streamed.round().unwrap();
        crawler.take(first);
        for _ in 0..8 {
            assert!(crawler.cycle(&mut streamed, gone_or_moved));
        }
        assert_eq!(streamed.end().0, Some(0));
        timeless(&crawler.asked)
    };
    let one = streamed(&stores[0], "1");
    assert_eq!(one, streamed(&stores[1], "2"));

    let store = &stores[2];
    let mut crawler = Crawler::new(40, 12);
    for group in 0..=8 {
        if group > 0 {
            let reported = crawler.pending.drain(..12).map(|url| gone_or_moved(&url));
            let file = bench.write("group.jsonl", lines(reported.collect::<Vec<_>>()));
            done(&["ingest", "--store", text(store), &file]);
        }
        let missing = (40 - crawler.pending.len()).to_string();
        // Caps of a stream count what is in flight; but for them:
        let caps = ["--site-share", "none", "--seconds", "9"];
        let beside = ["--budget", &missing, "--another", "--in-flight-for", "99"];
        let options = [&beside[..], &caps].concat();
        let mut planned = rows(&done(&bench.plan_arguments(store, &options)).stdout);
        // A plan for a time is in the order in which a polite crawler asks.
        planned.sort_by_key(|row| row["rank"].as_u64());
        crawler.take(planned);
    }
    assert_eq!(one, timeless(&crawler.asked));
}

#[test]
fn who_reads_a_store_need_not_wait_for_the_stream_and_who_writes_is_told_of_it() {
    let bench = Bench::with_store();
    let store = bench.store();
    let mut crawler = Crawler::new(30, 10);
    let mut streamed = crawler.start(&bench, &store, &[]);
    let first = streamed.round().unwrap();
    crawler.take(first);
    let open = &status(&store)["open_plans"][0];
    assert_eq!(open["in_flight"], 30, "what is asked for is committed: {open}");
    assert!(crawler.cycle(&mut streamed, untroubled));
    let (told, workload) = (status(&store), bench.path("queries.tsv"));
    assert_eq!(told["pages"].as_u64(), Some(CRAWLED as u64 + 10));
    // Who asks is told of the last commit: of a URL that is in flight why it was planned.
    let (store_of, asked) = (text(&store), crawler.pending[0].clone());
    let said = done(&["explain", "--store", store_of, &asked]).stdout;
    assert!(said.contains(&asked), "{said}");
    done(&["sufficiency", "--store", store_of, "--workload", &workload]);
    done(&["whatif", "--store", store_of, "--budget", "5"]);
    assert!(crawler.cycle(&mut streamed, untroubled), "it is not disturbed");
    let plan = ["plan", "--budget", "5", "--store", text(&store), "--workload", &workload];
    let refused = prospect(&plan);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("(prospect stream)"), "{}", refused.stderr);
    assert_eq!(streamed.end().0, Some(0));
}

#[test]
fn where_nobody_reads_what_is_asked_for_what_came_is_stored() {
    let bench = Bench::with_store();
    let store = bench.store();
    let fixed = ["stream", "--store", text(&store), "--workload", &bench.path("queries.tsv")];
    let options = ["--in-flight", "8", "--every", "4"];
    let mut command = command(&[&fixed[..], &options].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut asked = BufReader::new(child.stdout.take().unwrap());
    let mut read = || {
        let mut line = String::new();
        asked.read_line(&mut line).unwrap();
        url_of(&serde_json::from_str(&line).unwrap())
    };
    let urls: Vec<String> = (0..8).map(|_| read()).collect();
    drop(asked);
    let mut input = child.stdin.take().unwrap();
    for url in &urls[..4] {
        writeln!(input, "{}", untroubled(url)).unwrap();
    }
    // Standard input stays open.
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("nobody reads standard output any longer"), "{said}");
    assert_eq!(status(&store)["pages"].as_u64(), Some(CRAWLED as u64 + 4));
    drop(input);
}

#[test]
fn the_workload_does_not_come_with_the_records() {
    let bench = Bench::with_store();
    let run = prospect(&["stream", "--store", text(&bench.store()), "--workload", "-"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("where records come"), "{}", run.stderr);
    for wrong in [["--every", "soon"], ["--in-flight", "0"], ["--budget", "0"]] {
        let fixed = ["stream", "--store", "s", "--workload", "q"];
        let run = prospect(&[&fixed[..], &wrong].concat());
        assert_eq!(run.code, Some(1), "{wrong:?}: {}", run.stderr);
        assert!(run.stderr.contains(wrong[0]), "{}", run.stderr);
    }
    assert!(fs::metadata("s").is_err(), "nothing is made");
}
