//! The HTML report as a reader meets it: opened from disk in a real browser, walked with mouse and
//! keyboard, and fed with names that want to be code.
//!
//! Needs Chromium (see `common/browser.rs`); without one the tests say that they are skipped.

use super::browser;
use super::browser::{Browser, assert_quiet};
use super::experiment;
use super::payloads::{HARM, PAYLOADS, printed};
use crate::report::html;
use crate::results::Summary;
use serde_json::json;
use tempfile::TempDir;

/// A browser with the report of `summaries` open, and the folder that holds the file.
fn opened(summaries: &[Summary]) -> Option<(Browser, TempDir)> {
    browser::opened(&html::page(summaries).unwrap())
}

/// Series drawn in the first figure of the curves.
const DRAWN: &str =
    "document.querySelector('#e0-curves figure').querySelectorAll('g[data-series]').length";

#[test]
fn curves_follow_the_legend_and_the_choices() {
    let Some((mut browser, _folder)) = opened(&[experiment::experiment()]) else { return };
    assert_eq!(browser.value("document.querySelectorAll('#e0-curves figure').length"), 6);
    assert_eq!(browser.value(DRAWN), 8);

    // The third policy goes, in the curves and in the table, and comes back.
    browser.value("document.querySelectorAll('.legend button')[2].click()");
    assert_eq!(browser.value(DRAWN), 7);
    let pressed = "document.querySelectorAll('.legend button')[2].getAttribute('aria-pressed')";
    assert_eq!(browser.value(pressed), "false");
    let rows = "[...document.querySelectorAll('#e0-summary tbody tr')].filter((row) => row.checkVisibility()).length";
    assert_eq!(browser.value(rows), 7);
    browser.value("document.querySelectorAll('.legend button')[2].click()");
    assert_eq!(browser.value(DRAWN), 8);

    // Another kind: other lines, another table.
    let line = "document.querySelector('#e0-curves g[data-series] .line').getAttribute('d')";
    let before = browser.value(line);
    browser.value(
        "(() => { const kind = document.querySelector('.choose-kind select'); kind.selectedIndex = 2; \
         kind.dispatchEvent(new Event('change')); })()",
    );
    assert_ne!(browser.value(line), before);
    let title = "document.querySelector('#e0-curves .title').textContent";
    assert_eq!(browser.value(title), "HR, question queries");
    let caption = "[...document.querySelectorAll('#e0-summary caption')].filter((c) => c.checkVisibility()).map((c) => c.textContent.slice(0, 22)).join()";
    assert_eq!(browser.value(caption), "Queries: question (70)");

    // The band can be turned off.
    assert_eq!(browser.value("document.querySelectorAll('#e0-curves .band').length"), 48);
    browser.value(
        "(() => { const band = document.querySelectorAll('.controls select')[1]; band.selectedIndex = 0; \
         band.dispatchEvent(new Event('change')); })()",
    );
    assert_eq!(browser.value("document.querySelectorAll('#e0-curves .band').length"), 0);
    assert_quiet(&browser);
}

#[test]
fn marks_say_what_the_legend_says() {
    let summary = experiment::experiment();
    let tested = |metric: &str, significant: bool| {
        let at = summary.metrics.iter().position(|name| name == metric).unwrap();
        let curves = summary.policies.iter().map(|policy| &policy.kinds[0].curves[at]);
        let tests = curves.flat_map(|curve| &curve.points).filter_map(|p| p.versus_baseline);
        tests.filter(|test| test.significant == significant).count()
    };
    let Some((mut browser, _folder)) = opened(std::slice::from_ref(&summary)) else { return };
    for (figure, metric) in [(0, "HR"), (3, "nDCG@10"), (5, "impact")] {
        for (class, significant) in [("full", true), ("open", false)] {
            let count = format!(
                "document.querySelectorAll('#e0-curves figure')[{figure}].querySelectorAll('g[data-series] .mark.{class}').length"
            );
            assert_eq!(browser.value(&count), tested(metric, significant), "{metric} {class}");
        }
    }
    let dashed = "[...document.querySelector('#e0-curves figure').querySelectorAll('g[data-series]')] \
                  .filter((group) => group.querySelector('.line').hasAttribute('stroke-dasharray')).map((group) => group.dataset.series)";
    assert_eq!(browser.value(dashed), json!(["qoracle (oracle)", "impact-oracle (oracle)"]));
}

#[test]
fn every_chart_is_also_a_table_and_can_be_walked_with_keys() {
    let Some((mut browser, _folder)) = opened(&[experiment::experiment()]) else { return };
    let charts = browser.value("document.querySelectorAll('figure').length");
    browser.press_table_buttons();
    let tables = "[...document.querySelectorAll('figure')].filter((figure) => figure.querySelectorAll('.numbers tbody tr').length > 1 && !figure.querySelector('.stage').checkVisibility()).length";
    assert_eq!(browser.value(tables), charts);
    assert_eq!(browser.value("document.querySelectorAll('#e0-curves figure')[0].querySelectorAll('.numbers tbody tr').length"), 21);
    browser.press_table_buttons();
    assert_eq!(browser.value("document.querySelectorAll('.numbers:not([hidden])').length"), 0);

    browser.value("document.querySelector('#e0-curves .chart').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let tip = browser.value("document.querySelector('#e0-curves .tip').textContent");
    assert!(tip.as_str().unwrap().starts_with("240 pages fetched"), "{tip}");
    browser.press("Escape");
    assert_eq!(browser.value("document.querySelector('#e0-curves .tip').hidden"), true);

    // The mouse finds the checkpoint below it.
    browser
        .value("document.querySelector('#e0-curves .chart').scrollIntoView({ block: 'center' })");
    let middle = browser.value(
        "(() => { const box = document.querySelector('#e0-curves .chart').getBoundingClientRect(); \
         return { type: 'mouseMoved', x: box.left + box.width / 2, y: box.top + box.height / 2 }; })()",
    );
    browser.send("Input.dispatchMouseEvent", &middle);
    browser.wait_until("!document.querySelector('#e0-curves .tip').hidden");
    assert_eq!(browser.value("document.querySelectorAll('#e0-curves .tip tr').length"), 8);

    // Sorting: by speedup, the fastest first.
    browser.value(
        "[...document.querySelector('#e0-summary thead').querySelectorAll('button')].at(2).click()",
    );
    let first = "document.querySelector('#e0-summary tbody tr bdi').textContent";
    assert_eq!(browser.value(first), "impact-oracle");
    assert_quiet(&browser);
}

#[test]
fn it_fits_small_windows_and_both_themes() {
    let Some((mut browser, _folder)) = opened(&[experiment::experiment()]) else { return };
    for width in [1366, 1024, 600] {
        browser.size(width, 768);
        browser.wait_until(&format!("innerWidth === {width}"));
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {wide}");
    }
    let paper = "getComputedStyle(document.body).backgroundColor";
    let mut dark = |on: bool| {
        let value = if on { "dark" } else { "light" };
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        browser.send("Emulation.setEmulatedMedia", &scheme);
        browser.value(paper)
    };
    let (black, white) = (dark(true), dark(false));
    assert_ne!(black, white);
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.value(paper), white);
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.value(paper), black);
}

#[test]
fn odd_summaries_are_drawn_too() {
    let mut bare = experiment::experiment();
    (bare.baseline, bare.kinds) = (None, vec!["all".to_owned()]);
    bare.policies.truncate(2);
    for policy in &mut bare.policies {
        policy.kinds.truncate(1);
        policy.fetched.truncate(1);
        policy.hosts.truncate(1);
        let kind = &mut policy.kinds[0];
        (kind.speedup_relevant, kind.speedup_impact) = (None, None);
        kind.curves[0].points.clear();
        kind.curves[1].points.truncate(1);
        for point in &mut kind.curves[2].points {
            (point.mean, point.sd, point.min, point.max) = (0.0, 0.0, 0.0, 0.0);
        }
    }
    let mut lone = bare.clone();
    lone.policies[0].kinds[0].curves.iter_mut().for_each(|curve| curve.points.clear());
    lone.policies.truncate(1);
    lone.policies[0].hosts[0].shares.clear();
    let scatter = lone.analyses.importance_impact.as_mut().unwrap();
    (scatter.correlation, scatter.line, scatter.cell_width) = (None, None, 0.0);
    scatter.cells = vec![(0.0, 0.0, 1)];
    let hexbin = lone.analyses.quality_neighbours.as_mut().unwrap();
    hexbin.cells.truncate(1);
    lone.analyses.limited_sketches[0].points.truncate(1);
    lone.analyses.limited_sketches[1].points.clear();

    let Some((mut browser, _folder)) = opened(&[bare, lone]) else { return };
    let drawn = browser.value("document.querySelector('main').outerHTML");
    for wrong in ["NaN", "Infinity", "undefined", "[object"] {
        let at = drawn.as_str().unwrap().find(wrong);
        assert!(
            at.is_none(),
            "{wrong}: {}",
            &drawn.as_str().unwrap()[at.unwrap().saturating_sub(200)..][..220]
        );
    }
    browser.press_table_buttons();
    assert_quiet(&browser);
}

/// An experiment of which every name is one text.
fn named(name: &str) -> Summary {
    let mut summary = experiment::experiment();
    for text in [&mut summary.title, &mut summary.kinds[1], &mut summary.metrics[1]] {
        name.clone_into(text);
    }
    summary.provenance.inputs[0].name = name.to_owned();
    summary.provenance.config["policies"][0] = name.into();
    for policy in &mut summary.policies {
        policy.kinds[1].kind = name.to_owned();
        for kind in &mut policy.kinds {
            kind.curves[1].metric = name.to_owned();
        }
        for change in policy.gained.iter_mut().chain(&mut policy.lost) {
            change.query = name.to_owned();
            change.qid = name.to_owned();
        }
        for shares in &mut policy.hosts {
            shares.shares[0].0 = name.to_owned();
        }
    }
    summary.policies[1].name = name.to_owned();
    summary.baseline = Some(name.to_owned());
    summary.analyses.importance_impact.as_mut().unwrap().x = name.to_owned();
    summary.analyses.limited_sketches[0].policy = name.to_owned();
    summary
}

#[test]
fn names_that_are_code_stay_names() {
    let Some((mut browser, folder)) = opened(&[named(PAYLOADS[0])]) else { return };
    for name in PAYLOADS {
        browser::open_anew(&mut browser, &folder, &html::page(&[named(name)]).unwrap());
        browser.press_table_buttons();
        browser.value("document.querySelectorAll('select').forEach((select) => { select.selectedIndex = 1; select.dispatchEvent(new Event('change')); })");
        assert_eq!(browser.value(HARM), "", "{name:?}");
        assert_eq!(browser.value("document.scripts.length"), 2, "{name:?}");
        let heading = printed(name);
        assert_eq!(browser.value("document.querySelector('h2').textContent"), heading);
        let query = "document.querySelector('#e0-queries tbody th.query').textContent";
        assert_eq!(printed(browser.value(query).as_str().unwrap()), heading);
        assert_quiet(&browser);
    }

    // Even markup that got past the escaping would not run: the policy of the page forbids it.
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')",
    );
    browser.value("(() => { const script = document.createElement('script'); script.textContent = 'document.title=2'; document.body.append(script); })()");
    browser.wait_until("document.images[0].complete");
    let last = printed(PAYLOADS[PAYLOADS.len() - 1]);
    assert!(browser.value("document.title").as_str().unwrap().starts_with(&last));
}

#[test]
fn several_experiments_share_a_page_but_no_state() {
    let mut other = experiment::experiment();
    other.title = "Another".to_owned();
    other.policies.truncate(3);
    other.analyses = crate::results::Analyses::default();
    let Some((mut browser, _folder)) = opened(&[experiment::experiment(), other]) else { return };
    assert_eq!(browser.value("document.querySelectorAll('section.experiment').length"), 2);
    browser.value("document.querySelectorAll('#e1 .legend button')[0].click()");
    assert_eq!(browser.value(DRAWN), 8);
    assert_eq!(browser.value(&DRAWN.replace("e0", "e1")), 2);
    let unique = "new Set([...document.querySelectorAll('[id]')].map((node) => node.id)).size === document.querySelectorAll('[id]').length";
    assert_eq!(browser.value(unique), true);
    let links = "[...document.querySelectorAll('nav a')].every((link) => document.querySelector(link.getAttribute('href')))";
    assert_eq!(browser.value(links), true);
    assert_quiet(&browser);
}
