//! The page of `prospect whatif --html`: all plans side by side, then a section a scenario. Tables are
//! HTML, charts are drawn from data in the page, nothing is loaded.

mod tables;

use serde_json::{Value, json};

use self::tables::{caps, hosts, plans, queries, signed, uncovered, urls};
use super::{head, script, tail};
use crate::report::glossary;
use crate::report::number::{counted, decimals, fixed, short, thousands};
use crate::results::whatif::{
    BudgetCurve, BudgetPoint, Difference, HostChange, PlanFigures, RevisitFigures, ScenarioFigures,
    StoreState, WhatIf, WhatIfQueryChange,
};
use crate::web::{self, escape, isolated};

const PARTS_OF_SCRIPT: &[&str] = &[web::BARS, web::PLANS, include_str!("../assets/whatif.js")];
/// What the plan without a scenario is called.
const TODAY: &str = "today";

/// The page.
///
/// # Errors
/// When a value cannot be JSON, which the types of an answer do not allow.
pub(crate) fn page(found: &WhatIf) -> Result<String, serde_json::Error> {
    let title = match &found.scenarios[..] {
        [one] => format!("What if: {}", one.name),
        more => format!("What if: {}", counted(more.len() as u64, "scenario")),
    };
    let script = script(PARTS_OF_SCRIPT);
    let mut out = head(&title, &script);
    out += &contents(found);
    out += "<main>\n";
    out += &overview(found);
    for (at, scenario) in found.scenarios.iter().enumerate() {
        out += &section(scenario, at + 1)?;
    }
    out += "</main>\n";
    Ok(out + &tail(&data(found), &script)?)
}

fn contents(found: &WhatIf) -> String {
    let mut out =
        String::from("<nav aria-label=\"Contents\"><ol>\n<li><a href=\"#s0\">All plans</a></li>\n");
    for (at, scenario) in found.scenarios.iter().enumerate() {
        out += &format!("<li><a href=\"#s{}\">{}</a></li>\n", at + 1, isolated(&scenario.name));
    }
    out + "</ol></nav>\n"
}

fn overview(found: &WhatIf) -> String {
    let mut out = String::from(
        "<section class=\"experiment\" id=\"s0\" data-experiment=\"0\">\n<h2>All plans</h2>\n",
    );
    out += &lead(&found.state, &found.base);
    out += &plans(found);
    out += "<div class=\"view\" data-view=\"budget\"></div>\n";
    out += &uncovered(&found.base.uncovered, TODAY);
    out += DEFINITIONS;
    out + "</section>\n"
}

const DEFINITIONS: &str = "<h3>Definitions</h3>\n<dl>\n\
    <dt>Impact</dt><dd>In askings: query frequencies, summed over the result lists that a page is \
    expected to be in when the batch is fetched; the brackets hold 95 % of what comes. What stays of it is what \
    it still has when the crawl has grown by a quarter.</dd>\n\
    <dt>Planning again is worth</dt><dd>Impact of the scenario's plan less that of today's batch \
    under the scenario. Where it is below 0, caps or a smaller budget do not allow today's \
    batch.</dd>\n\
    <dt>Knee</dt><dd>Where the curve of impact against budget lies farthest above the straight line \
    to its end (Satopää et al., 2011).</dd>\n\
    <dt>Price of a cap</dt><dd>Impact that the batch would have more without it.</dd>\n</dl>\n";

fn lead(state: &StoreState, base: &PlanFigures) -> String {
    format!(
        "<p>Plan {}{} of {}, for {} with {}; {} by BM25 (k1 {}, b {}). Today {} of {} are \
         picked.</p>\n",
        isolated(&state.plan_id),
        if state.on_base {
            ", as what all scenarios share has it (called today here),"
        } else {
            ""
        },
        counted(state.pages as u64, "page"),
        counted(state.queries as u64, "query"),
        counted(state.pairs as u64, "candidate pair"),
        escape(&glossary::lists(state.k, state.visibility.as_deref())),
        state.k1,
        state.b,
        thousands(base.picks as u64),
        counted(base.frontier as u64, "URL"),
    ) + &revisits(base).map_or(String::new(), |again| format!("<p class=\"note\">{again}</p>\n"))
}

/// Pages that a batch fetches again, in words.
fn revisits(plan: &PlanFigures) -> Option<String> {
    let RevisitFigures { urls, changed, impact } = plan.revisits?;
    Some(format!(
        "{} fetched again, {} of which are expected to have changed; their impact in the lists is {}, beside that above.",
        counted(urls as u64, "page"),
        fixed(changed, 1),
        fixed(impact, 1),
    ))
}

fn section(scenario: &ScenarioFigures, at: usize) -> Result<String, serde_json::Error> {
    let Difference { entering, leaving, moving, gaining, losing, .. } = &scenario.difference;
    let mut out = format!(
        "<section class=\"experiment\" id=\"s{at}\" data-experiment=\"{at}\">\n<h2>{}</h2>\n",
        isolated(&scenario.name)
    );
    out += &summary(scenario);
    let said = serde_json::to_string_pretty(&scenario.scenario)?;
    out += &format!("<details>\n<summary>The scenario</summary>\n<pre>{}</pre>\n", escape(&said));
    out += "</details>\n";
    out += "<h3>Queries</h3>\n<div class=\"view\" data-view=\"gaining losing\"></div>\n";
    out += &queries("Queries that gain", gaining);
    out += &queries("Queries that lose", losing);
    out += "<h3>Hosts</h3>\n<div class=\"view\" data-view=\"hosts\"></div>\n";
    out += &hosts(&scenario.difference.hosts);
    out += "<h3>URLs</h3>\n";
    let of = &scenario.difference;
    out += &urls("URLs that enter", entering, of.entering_count);
    out += &urls("URLs that leave", leaving, of.leaving_count);
    out += &urls("URLs that move", moving, of.moving_count);
    out += &caps(&scenario.plan.caps, scenario.plan.held_back);
    out += &uncovered(&scenario.plan.uncovered, &scenario.name);
    Ok(out + "</section>\n")
}

fn summary(scenario: &ScenarioFigures) -> String {
    let ScenarioFigures { plan, difference, .. } = scenario;
    let enters = &plan.expected_impact.enters;
    let places = decimals([enters.impact, difference.unchanged_batch]);
    let mut out = format!(
        "<p>Expected impact {} ({} to {}, {}): {} against today ({} to {}). Today's batch would have {} \
         here, and planning again brings {}",
        fixed(enters.impact, places),
        fixed(enters.low, places),
        fixed(enters.high, places),
        glossary::learned(enters.cycles),
        signed(difference.impact, places),
        signed(difference.low, places),
        signed(difference.high, places),
        fixed(difference.unchanged_batch, places),
        signed(enters.impact - difference.unchanged_batch, places),
    );
    out += &format!(
        ". Of the picks {} stay, {} enter and {} leave; {} of those that stay move.</p>\n",
        thousands(difference.kept as u64),
        thousands(difference.entering_count as u64),
        thousands(difference.leaving_count as u64),
        thousands(difference.moving_count as u64),
    );
    let mut notes: Vec<String> = revisits(plan).into_iter().collect();
    if scenario.matched_queries > 0 {
        let matched = scenario.matched_queries;
        let queries = if matched == 1 { "query is" } else { "queries are" };
        notes.push(format!("{matched} {queries} new and had to be matched with the frontier."));
    }
    if scenario.slow {
        notes.push("All pairs had to be estimated again.".to_owned());
    }
    if !notes.is_empty() {
        out += &format!("<p class=\"note\">{}</p>\n", notes.join(" "));
    }
    out
}

/// What the charts draw: for the section of all plans, then for each scenario.
fn data(found: &WhatIf) -> Value {
    let plan = |name: &str, plan: &PlanFigures| json!({ "name": name, "plan": { "budget": plan.budget, "curve": curve(&plan.curve) } });
    let today = std::iter::once(plan(TODAY, &found.base));
    let scenarios = found.scenarios.iter().map(|one| plan(&one.name, &one.plan));
    let overview = json!({ "plans": today.chain(scenarios).collect::<Value>() });
    std::iter::once(overview).chain(found.scenarios.iter().map(changes)).collect()
}

/// What the charts of a scenario draw: what becomes of hosts, and of queries.
fn changes(scenario: &ScenarioFigures) -> Value {
    let Difference { hosts, gaining, losing, .. } = &scenario.difference;
    let host =
        |host: &HostChange| json!([host.host, short(host.impact_before), short(host.impact_after)]);
    json!({
        "hosts": hosts.iter().map(host).collect::<Value>(),
        "gaining": gaining.iter().map(askings).collect::<Value>(),
        "losing": losing.iter().map(askings).collect::<Value>(),
    })
}

fn curve(curve: &BudgetCurve) -> Value {
    let point =
        |point: &BudgetPoint| json!({ "budget": point.budget, "impact": short(point.impact) });
    json!({
        "points": curve.points.iter().map(point).collect::<Value>(),
        "knee": curve.knee.as_ref().map(point),
        "shadow_price": short(curve.shadow_price),
    })
}

fn askings(change: &WhatIfQueryChange) -> Value {
    json!([change.query, short(change.askings_before()), short(change.askings_after())])
}
