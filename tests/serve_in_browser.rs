//! The page of `prospect serve` as a planner meets it: the real command on the store of the small
//! demo, walked with the keyboard in a real browser.
//!
//! Needs Chromium (see `common/browser.rs`); without one the tests say that they are skipped.

#[path = "common/browser.rs"]
mod browser;
#[path = "common/payloads.rs"]
mod payloads;
#[path = "common/server.rs"]
mod server;

use std::fs;
use std::time::{Duration, Instant};

use browser::Browser;
use payloads::{HARM, PAYLOADS};
use serde_json::{Value, json};
use server::{Server, demo};
use tempfile::TempDir;

/// A server on a store of its own, and a browser with its page open.
struct Open {
    browser: Browser,
    _server: Server,
    folder: TempDir,
}

fn opened() -> Option<Open> {
    opened_with(&[])
}

fn opened_with(options: &[&str]) -> Option<Open> {
    let Some(program) = browser::find() else {
        eprintln!("skipped: no Chromium in PATH, and PROSPECT_CHROMIUM is not set");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    demo(&store);
    let server = Server::start(&store, options);
    let mut browser = Browser::start(&program);
    let fragment = match server.token.as_str() {
        "" => String::new(),
        token => format!("#token={token}"),
    };
    browser.open_served(&format!("http://{}/{fragment}", server.address));
    let mut open = Open { browser, _server: server, folder };
    open.settle();
    Some(open)
}

const IMPACT: &str = "document.getElementById('impact').textContent";
const TOML: &str = "document.querySelector('textarea').value";

impl Open {
    fn value(&mut self, expression: &str) -> Value {
        self.browser.value(expression)
    }

    /// The text that an expression gives.
    #[track_caller]
    fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Waits until the last change is answered.
    fn settle(&mut self) {
        self.browser.wait_until(
            "document.getElementById('answer').getAttribute('aria-busy') === 'false' \
             && document.querySelector('.workload tbody tr') !== null",
        );
    }

    /// Opens a tab.
    fn tab(&mut self, key: &str) {
        self.value(&format!("document.getElementById('tab-{key}').click()"));
    }

    /// Focuses what a selector finds and presses it as the keyboard does.
    fn press_enter(&mut self, element: &str) {
        self.browser.wait_until(&format!("{element} !== null"));
        self.value(&format!("{element}.focus()"));
        self.browser.press("Enter");
    }

    /// The number beside a slider.
    fn number(key: &str) -> String {
        format!("document.querySelector('[data-key=\"{key}\"] input[type=number]')")
    }

    #[track_caller]
    fn assert_quiet(&self) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
    }
}

#[test]
fn a_slider_moved_by_keyboard_changes_the_numbers() {
    let Some(mut open) = opened() else { return };
    let (before, toml) = (open.text(IMPACT), open.text(TOML));
    assert_eq!(toml, "[[scenario]]\n");
    open.value("document.querySelector('[data-key=\"budget\"] input[type=range]').focus()");
    open.browser.press("ArrowLeft");
    open.browser.press("ArrowLeft");
    open.browser.wait_until(&format!("{IMPACT} !== '{before}'"));
    assert!(open.text(TOML).starts_with("[[scenario]]\nbudget = "), "{}", open.text(TOML));
    assert!(open.text("document.getElementById('change').textContent").contains('−'));
    // Two plans in the chart, and back to one state with a reset.
    assert_eq!(open.value("document.querySelectorAll('#panel-budget g[data-series]').length"), 2);
    open.press_enter("document.querySelector('[data-key=\"budget\"] .reset')");
    open.browser.wait_until(&format!("{IMPACT} === '{before}'"));
    assert_eq!(open.text(TOML), toml);
    open.assert_quiet();
}

#[test]
fn a_frequency_is_edited_in_place() {
    let Some(mut open) = opened() else { return };
    let before = open.text(IMPACT);
    let gain = "(() => { const order = document.querySelector('.workload').closest('details').querySelector('select'); \
                order.selectedIndex = 1; order.dispatchEvent(new Event('change')); })()";
    open.value(gain);
    // The rows have to be in their new order, and the query that gains most something to multiply.
    let gains = "(() => { const gains = [...document.querySelectorAll('.workload tbody tr')] \
                 .map((row) => Number(row.children[2].textContent.replace(/,/g, ''))); \
                 return gains[0] > 0 && gains.every((gain, at) => at === 0 || gain <= gains[at - 1]); })()";
    open.browser.wait_until(gains);
    let field = "document.querySelector('.workload tbody input')";
    let query = open.text("document.querySelector('.workload tbody bdi').textContent");
    open.browser.fill(field, "12345");
    open.browser.wait_until(&format!("{IMPACT} !== '{before}'"));
    open.settle();
    let toml = open.text(TOML);
    assert!(toml.contains("drop = [") && toml.contains("frequency = 12345"), "{toml}");
    assert!(toml.contains(&query), "{toml}");
    // The field that is typed in keeps the focus and its place.
    assert_eq!(open.value(&format!("document.activeElement === {field}")), true);
    assert_eq!(open.value(&format!("{field}.value")), "12345");
    open.press_enter("document.getElementById('reset')");
    open.browser.wait_until(&format!("{IMPACT} === '{before}'"));
    open.assert_quiet();
}

#[test]
fn lists_that_are_seen_otherwise_are_estimated_again() {
    let Some(mut open) = opened() else { return };
    let before = open.text(IMPACT);
    let choose = |open: &mut Open, label: &str, name: &str| {
        let field = format!("document.querySelector('[aria-label=\"{label}\"]')");
        open.value(&format!("{field}.closest('details').open = true"));
        open.value(&format!("{field}.value = '{name}'"));
    };
    choose(&mut open, "How likely a rank is seen", "log");
    choose(&mut open, "What a batch is to bring the most of", "served");
    assert_eq!(open.text(IMPACT), before, "nothing is asked before it is applied");
    open.press_enter("document.getElementById('again')");
    open.browser.wait_until(&format!("{IMPACT} !== '{before}'"));
    open.settle();
    let toml = open.text(TOML);
    assert!(toml.contains("visibility = \"log\"\n"), "{toml}");
    assert!(toml.contains("objective = \"served\"\n"), "{toml}");
    choose(&mut open, "How likely a rank is seen", "top");
    choose(&mut open, "What a batch is to bring the most of", "expected");
    open.press_enter("document.getElementById('again')");
    open.browser.wait_until(&format!("{IMPACT} === '{before}'"));
    assert_eq!(open.text(TOML), "[[scenario]]\n");
    open.assert_quiet();
}

#[test]
fn explanations_open_from_a_name_and_escape_leads_back() {
    let Some(mut open) = opened() else { return };
    open.tab("plan");
    let url = "document.querySelector('#panel-plan tbody tr.picked button.name')";
    open.press_enter(url);
    open.browser.wait_until("document.querySelector('#details[open] .facts') !== null");
    let address = open.text(&format!("{url}.title"));
    assert_eq!(open.text("document.getElementById('details-title').textContent"), address);
    let parts = "[...document.querySelectorAll('#details table')[0].tBodies[0].rows].map((row) => row.cells[0].textContent)";
    let parts = open.value(parts);
    assert_eq!(parts[0], "estimate");
    assert!(parts.as_array().unwrap().contains(&"query".into()), "{parts}");
    // A query of the URL, and back again.
    open.press_enter("document.querySelector('#details button.name')");
    let facts = "document.querySelector('#details .facts').textContent.includes('score to beat')";
    open.browser.wait_until(facts);
    open.browser.press("Escape");
    open.browser.wait_until("!document.getElementById('details').open");
    assert_eq!(open.value(&format!("document.activeElement === {url}")), true);

    open.press_enter("document.querySelector('.workload button.name')");
    open.browser.wait_until("document.querySelector('#details[open] .facts') !== null");
    let shown = open.text("document.getElementById('details-title').textContent");
    assert_eq!(shown, open.text("document.querySelector('.workload button.name').textContent"));
    open.browser.press("Escape");
    let back = "document.activeElement === document.querySelector('.workload button.name')";
    open.browser.wait_until(back);
    // Who is already at another button when the page hears that the dialog is gone stays there.
    open.press_enter(url);
    open.browser.wait_until("document.querySelector('#details[open] .facts') !== null");
    open.value(
        "(globalThis.gone = false, document.getElementById('details').addEventListener('close', () => { gone = true; }))",
    );
    open.value("(document.getElementById('details').close(), document.querySelector('.workload button.name').focus())");
    open.browser.wait_until("gone");
    assert_eq!(open.value(back), true);
    open.assert_quiet();
}

#[test]
fn two_scenarios_stand_side_by_side() {
    let Some(mut open) = opened() else { return };
    open.browser.fill(&Open::number("budget"), "3");
    open.settle();
    open.browser.wait_until(&format!("{TOML}.includes('budget = 3')"));
    open.settle();
    open.press_enter("document.getElementById('keep')");
    open.browser.fill(&Open::number("budget"), "4");
    let legend = "document.getElementById('legend').textContent";
    open.browser.wait_until(&format!("{legend}.includes('budget 4')"));
    let legend = open.text(legend);
    assert!(legend.contains("A: budget 3 with this scenario: budget 4"), "{legend}");
    assert_eq!(open.value("document.querySelectorAll('#summary tbody tr').length"), 3);
    assert_eq!(open.value("document.querySelectorAll('#panel-budget g[data-series]').length"), 3);
    open.tab("urls");
    let headings = "[...document.querySelectorAll('#panel-urls h3')].map((h) => h.textContent)";
    let expected = json!(["A against today", "This scenario against today"]);
    assert_eq!(open.value(headings), expected);
    open.press_enter("document.getElementById('forget')");
    assert_eq!(open.value("document.querySelectorAll('#panel-urls .two').length"), 0);
    assert_eq!(open.value("document.querySelectorAll('#summary tbody tr').length"), 2);
    open.assert_quiet();
}

#[test]
fn the_plan_of_a_scenario_is_downloaded() {
    let Some(mut open) = opened() else { return };
    let to = open.folder.path().join("downloads");
    let behaviour = json!({ "behavior": "allow", "downloadPath": to });
    open.browser.send("Browser.setDownloadBehavior", &behaviour);
    open.browser.fill(&Open::number("budget"), "2");
    let rows = "document.querySelector('#summary tr.current').cells[4].textContent";
    open.browser.wait_until(&format!("{rows} === '2'"));
    open.press_enter("document.querySelector('[data-format=urls]')");
    let start = Instant::now();
    let file = to.join("plan.txt");
    // The browser makes the file before it fills it.
    while fs::metadata(&file).map_or(0, |found| found.len()) == 0 {
        assert!(start.elapsed() < Duration::from_mins(1), "no file came");
        std::thread::sleep(Duration::from_millis(50));
    }
    let plan = fs::read_to_string(file).unwrap();
    assert_eq!(plan.lines().filter(|line| line.starts_with("http")).count(), 2, "{plan}");
    open.assert_quiet();
}

#[test]
fn an_error_stands_beside_its_control_and_the_last_answer_stays() {
    let Some(mut open) = opened() else { return };
    let before = open.text(IMPACT);
    open.browser.fill(&Open::number("budget"), "0");
    let said = "document.querySelector('[data-key=budget]').closest('details').querySelector('.trouble').textContent";
    open.browser.wait_until(&format!("{said}.includes('budget: it is 0')"));
    assert_eq!(open.text(IMPACT), before);
    let region = said.replace("textContent", "getAttribute('aria-live')");
    assert_eq!(open.value(&region), "polite");
    open.browser.fill(&Open::number("budget"), "5");
    open.browser.wait_until(&format!("{said} === ''"));
    open.browser.wait_until("!document.getElementById('answer').classList.contains('stale')");
}

#[test]
fn it_is_dark_and_narrow_where_that_is_wanted() {
    let Some(mut open) = opened() else { return };
    let paper = "getComputedStyle(document.body).backgroundColor";
    let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": "light" }] });
    open.browser.send("Emulation.setEmulatedMedia", &scheme);
    let white = open.value(paper);
    let theme = "document.getElementById('theme')";
    open.press_enter(theme);
    assert_eq!(open.value(paper), white);
    open.press_enter(theme);
    assert_ne!(open.value(paper), white);
    for width in [1280, 900, 600] {
        open.browser.size(width, 800);
        open.browser.wait_until(&format!("innerWidth === {width}"));
        let wide = open.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {wide}");
    }
    open.assert_quiet();
}

#[test]
fn the_tab_enough_says_whether_the_pages_are_and_which_queries_lack() {
    let Some(mut open) = opened() else { return };
    open.press_enter("document.getElementById('tab-enough')");
    let rows = "document.querySelectorAll('#panel-enough .lacking tbody tr').length";
    open.browser.wait_until(&format!("{rows} > 0"));
    let said = open.text("document.querySelector('#panel-enough .verdict').textContent");
    assert!(said.starts_with("Go on: ") || said.starts_with("Stop: "), "{said}");
    let facts = open.text("document.querySelector('#panel-enough .facts').textContent");
    assert!(facts.contains("sufficiency0.") && facts.contains("queries40"), "{facts}");

    // The cycles, as lines and as numbers.
    let lines = "document.querySelectorAll('#panel-enough g[data-series]').length";
    assert_eq!(open.value(lines), 3);
    open.press_enter("document.querySelector('#panel-enough .as-table')");
    let last =
        "[...document.querySelectorAll('#panel-enough .numbers tbody tr')].at(-1).textContent";
    assert!(open.text(last).starts_with("now"), "{last}");
    open.press_enter("document.querySelector('#panel-enough .as-table')");

    // A class lists its queries, and lists all again.
    let class = "document.querySelector('#panel-enough .classes button[data-class=hopeless]')";
    let counted = open.text(&format!("{class}.textContent"));
    open.press_enter(class);
    let only = "[...document.querySelectorAll('#panel-enough .lacking tbody tr')].every((row) => row.cells[9].textContent === 'hopeless')";
    open.browser.wait_until(&format!("{class}.ariaPressed === 'true' && {only}"));
    let found = open.value(rows).as_u64().unwrap();
    assert!(counted.contains(&format!("{found} quer")), "{counted}: {found}");
    open.press_enter(class);
    open.browser.wait_until(&format!("{class}.ariaPressed === 'false' && {rows} > {found}"));

    // Theta moves queries into other classes.
    let listed = "document.querySelector('#panel-enough .lacking tbody').textContent";
    let before = open.text(listed);
    open.browser.fill("document.getElementById('theta')", "0.01");
    open.browser.press("Enter");
    let verdict = "document.querySelector('#panel-enough .verdict').textContent";
    open.browser.wait_until(&format!("{verdict}.startsWith('Stop: sufficient')"));
    // The list comes after the verdict.
    open.browser.wait_until(&format!("{listed} !== {before:?}"));

    // Who is in the list stays there when it is drawn anew.
    let name = "document.querySelector('#panel-enough .lacking button.name')";
    let at = open.text(&format!("{name}.textContent"));
    open.value(&format!("{name}.focus()"));
    open.value("{ const theta = document.getElementById('theta'); theta.value = '0.7'; theta.dispatchEvent(new Event('change')); }");
    open.browser.wait_until(&format!("{listed} === {before:?}"));
    assert_eq!(open.text("document.activeElement.textContent"), at);

    open.press_enter(name);
    open.browser.wait_until("document.querySelector('#details[open] .facts') !== null");
    let shown = open.text("document.getElementById('details-title').textContent");
    assert_eq!(shown, open.text(&format!("{name}.textContent")));
    open.browser.press("Escape");
    open.browser.wait_until(&format!("document.activeElement === {name}"));
    for width in [1280, 600, 400] {
        open.browser.size(width, 800);
        open.browser.wait_until(&format!("innerWidth === {width}"));
        let wide = open.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {wide}");
    }
    open.assert_quiet();
}

#[test]
fn twice_as_often_is_twice() {
    let Some(mut open) = opened() else { return };
    let field = "document.querySelector('.workload tbody input')";
    let asked = |open: &mut Open| open.text(&format!("{field}.value")).parse::<f64>().unwrap();
    let before = asked(&mut open);
    let query = open.text("document.querySelector('.workload tbody bdi').textContent");
    let twice = "[...document.querySelectorAll('.workload tbody .acts button')][0]";
    open.press_enter(twice);
    open.settle();
    assert_eq!(asked(&mut open), 2.0 * before);
    open.press_enter(twice);
    let written = format!("{{ query = {query:?}, frequency = {} }}", 4.0 * before);
    open.browser.wait_until(&format!("{TOML}.includes({written:?})"));
    open.assert_quiet();
}

#[test]
fn the_address_has_the_state_of_the_page() {
    let Some(mut open) = opened() else { return };
    assert_eq!(open.text("location.hash"), "");
    open.browser.fill(&Open::number("budget"), "3");
    open.browser.wait_until(&format!("{TOML}.includes('budget = 3')"));
    open.settle();
    open.press_enter("document.getElementById('keep')");
    let first = "document.querySelector('.workload tbody input')";
    open.browser.fill(first, "77");
    open.browser.fill(&Open::number("explore"), "0");
    for (label, text) in
        [("Query to add", "rye bread"), ("Pattern", "^how"), ("Host to exclude", "x.test")]
    {
        let field = format!("document.querySelector('[aria-label=\"{label}\"]')");
        open.value(&format!("{field}.closest('details').open = true"));
        open.browser.fill(&field, text);
        open.browser.press("Enter");
    }
    open.value("[...document.querySelectorAll('.chips li')].find((li) => li.textContent.includes('x.test')).querySelector('button').click()");
    open.settle();
    open.press_enter("document.getElementById('tab-queries')");
    open.browser
        .wait_until("location.hash.includes('tab=queries') && location.hash.includes('rye')");
    let state = "[document.querySelector('textarea').value, document.getElementById('legend').textContent, \
                 document.getElementById('impact').textContent, document.querySelectorAll('#summary tbody tr').length, \
                 document.querySelector('[aria-selected=true]').id, location.hash].join('\\n')";
    let before = open.text(state);
    assert!(before.contains("frequency = 77") && before.contains("tab-queries"), "{before}");
    // The same page again: by a reload, and in another window.
    open.value("(globalThis.old = true, location.reload())");
    open.browser.wait_until("globalThis.old === undefined && document.querySelectorAll('#summary tbody tr').length === 3");
    open.settle();
    assert_eq!(open.text(state), before);
    // What is no state is none, and is said where the server can tell.
    open.value("(globalThis.old = true, location.hash = '#tab=none&scenario={\"scale\":7,\"budget\":\"x\",\"add\":[null]}')");
    let said = "document.querySelector('[data-key=budget]')?.closest('details').querySelector('.trouble').textContent";
    open.browser
        .wait_until(&format!("globalThis.old === undefined && ({said} || '').includes('budget')"));
    open.press_enter("document.getElementById('reset')");
    open.browser.wait_until("document.getElementById('impact') !== null");
    open.browser.wait_until("location.hash === ''");
    assert_eq!(open.text(TOML), "[[scenario]]\n");
}

/// Story: the address came to say what is shown in the place of the token, and after a reload no plan could be written.
#[test]
fn a_page_that_is_loaded_again_may_still_write() {
    let Some(mut open) = opened_with(&["--allow-write"]) else { return };
    open.value("(globalThis.old = true, location.hash = '#tab=urls')");
    open.browser.wait_until("globalThis.old === undefined && document.readyState === 'complete'");
    open.settle();
    assert!(!open.text("location.hash").contains("token"));
    open.press_enter("document.getElementById('commit')");
    open.press_enter("document.getElementById('write')");
    let said = "document.getElementById('written').textContent";
    open.browser.wait_until(&format!("{said} !== ''"));
    assert!(open.text(said).contains("URLs are in the store: plan "), "{}", open.text(said));
}

#[test]
fn what_carries_a_scenario_out_is_told() {
    let Some(mut open) = opened() else { return };
    let store = open.folder.path().join("store");
    let command = open.text("document.getElementById('carry-out').textContent");
    let expected = format!("prospect plan --store {} --scenario scenario.toml", store.display());
    assert_eq!(command, expected);
}

#[test]
fn a_site_share_that_holds_nothing_is_no_missing_cap() {
    let Some(mut open) = opened() else { return };
    let said = "document.querySelector('#panel-budget > div > div:last-child').textContent";
    let share = open.text(said);
    assert!(
        share.starts_with(
            "Set, but of no effect among the sites of this frontier: Share of one site"
        ),
        "{share}"
    );
    let field = Open::number("site-share");
    open.value(&format!("{field}.closest('details').open = true"));
    open.browser.fill(&field, "0");
    open.browser.wait_until(&format!("{TOML}.includes('site-share = 0')"));
    open.settle();
    assert_eq!(open.text(said), share, "today it is set still");
    open.browser.fill(&field, "");
    open.browser.fill(&Open::number("per-host"), "1");
    open.browser.wait_until(&format!("{said}.includes('per-host')"));
    open.assert_quiet();
}

#[test]
fn what_matched_is_in_sight_in_windows_of_any_width() {
    let Some(mut open) = opened() else { return };
    open.browser.fill(&Open::number("budget"), "3");
    open.browser.wait_until(&format!("{TOML}.includes('budget = 3')"));
    open.settle();
    open.tab("plan");
    let url = "document.querySelector('#panel-plan tbody tr.picked button.name')";
    // Both sides of the explanation: today, and the scenario.
    let matched = "document.querySelectorAll('#details[open] .matched')";
    let in_sight = "[...document.querySelectorAll('#details[open] .matched')].every((one) => { \
                    const box = one.closest('.scroll').getBoundingClientRect(); const own = one.getBoundingClientRect(); \
                    return own.width > 60 && own.left >= box.left && own.right <= Math.min(box.right, innerWidth) + 1; })";
    for width in [1280, 400] {
        open.browser.size(width, 800);
        open.browser.wait_until(&format!("innerWidth === {width}"));
        open.press_enter(url);
        open.browser.wait_until(&format!("{matched}.length > 1"));
        assert_eq!(open.value(in_sight), true, "of a URL, {width}");
        // A query of it, and the URLs that may answer that.
        open.press_enter("document.querySelector('#details button.name')");
        open.browser.wait_until(
            "document.querySelector('#details .facts').textContent.includes('score to beat')",
        );
        open.browser.wait_until(&format!("{matched}.length > 1"));
        assert_eq!(open.value(in_sight), true, "of a query, {width}");
        open.browser.press("Escape");
    }
    open.assert_quiet();
}

#[test]
fn queries_that_are_code_stay_text() {
    let Some(mut open) = opened() else { return };
    let form = "document.querySelector('[aria-label=\"Query to add\"]')";
    let times = "document.querySelector('[aria-label=\"How often it is asked\"]')";
    let first = "document.querySelector('.workload tbody bdi').textContent";
    let mut query = String::new();
    // What controls a line is not typed into one.
    let typed = PAYLOADS.iter().filter(|payload| !payload.contains(char::is_control));
    for (place, payload) in typed.enumerate() {
        // A word of its own, since queries of the same words are one.
        query = format!("{payload} q{place}");
        open.browser.fill(form, &query);
        // More than any other, so that it stands first.
        open.browser.fill(times, &(123_456 + place).to_string());
        open.browser.press("Enter");
        open.browser.wait_until(&format!("{first} === {}", json!(query)));
        assert_eq!(open.value(HARM), "", "{query:?}");
        if query.is_ascii() {
            assert!(open.text(TOML).contains(&format!("{query:?}")), "{}", open.text(TOML));
        }
    }
    for tab in ["urls", "queries", "hosts", "help", "plan", "enough", "budget"] {
        open.tab(tab);
        assert_eq!(open.value(HARM), "", "{tab}");
    }
    open.press_enter("document.querySelector('.workload button.name')");
    open.browser.wait_until("document.querySelector('#details[open] .facts') !== null");
    assert_eq!(open.text("document.getElementById('details-title').textContent"), query);
    assert_eq!(open.value(HARM), "");
    assert_eq!(open.value("document.scripts.length"), 1);
}
