//! The report as text: what an HTML file may hold, and what a terminal shows.

use super::experiment;
use crate::report::read::{ReadError, read};
use crate::report::{figures, html, terminal};
use crate::results::{Analyses, Summary};

fn page(summaries: &[Summary]) -> String {
    html::page(summaries).unwrap()
}

/// The values of an attribute, wherever it stands in the markup before the script.
fn attributes<'a>(markup: &'a str, name: &str) -> Vec<&'a str> {
    let open = format!(" {name}=\"");
    markup.split(&open).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// A section of the page, by its id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let part = page.split(&format!("id=\"{id}\"")).nth(1).unwrap();
    part.split("</section>").next().unwrap()
}

#[test]
fn the_same_summaries_give_the_same_bytes() {
    assert_eq!(page(&[experiment::experiment()]), page(&[experiment::experiment()]));
}

#[test]
fn a_page_loads_nothing() {
    let page = page(&[experiment::experiment(), experiment::experiment()]);
    assert!(attributes(&page, "href").iter().all(|to| to.starts_with('#') || *to == "data:,"));
    assert_eq!(attributes(&page, "src"), Vec::<&str>::new());
    // The one address is the name of SVG, which nothing is loaded from.
    let addresses = page.matches("http://").count() + page.matches("https://").count();
    assert_eq!(addresses, page.matches("\"http://www.w3.org/2000/svg\"").count());
    for loader in [
        "url(",
        "@import",
        "@font-face",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
        "EventSource",
        "sendBeacon",
        "<iframe",
        "<object",
        "<embed",
        "<form",
        "<base",
    ] {
        assert!(!page.contains(loader), "{loader}");
    }
    for danger in ["innerHTML", "outerHTML", "document.write", "eval(", "new Function", " style=\""]
    {
        assert!(!page.contains(danger), "{danger}");
    }
    let policy = attributes(&page, "content")[0];
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn a_page_says_what_it_was_made_from_and_what_its_words_mean() {
    let summary = experiment::experiment();
    let page = page(std::slice::from_ref(&summary));
    for expected in [
        "k1 = 1.2, b = 0.75",
        "5f0c9d3ab1e2c477",
        "web.jsonl.zst",
        "&quot;seed_sets&quot;: 5",
        "two-proportion z-test",
        "(oracle)",
        "Harvest rate: pages fetched",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for input in &summary.provenance.inputs {
        assert!(page.contains(&input.xxh3));
    }
}

#[test]
fn a_page_leaves_out_what_a_summary_lacks() {
    let mut summary = experiment::experiment();
    summary.analyses = Analyses::default();
    (summary.ablation, summary.manipulation) = (None, None);
    summary.kinds.truncate(1);
    for policy in &mut summary.policies {
        policy.kinds.truncate(1);
        policy.hosts.clear();
        policy.gained.clear();
        policy.lost.clear();
    }
    let page = page(&[summary]);
    for part in [
        "analyses",
        "kinds",
        "hosts",
        "queries",
        "ablation",
        "counterfactual",
        "whatif",
        "manipulation",
    ] {
        assert!(!page.contains(&format!("id=\"e0-{part}\"")), "{part}");
    }
    assert!(page.contains("id=\"e0-curves\""));
}

#[test]
fn an_ablation_has_a_table_with_a_row_for_the_policy_and_every_group() {
    let summary = experiment::experiment();
    let page = page(std::slice::from_ref(&summary));
    let part = section(&page, "e0-ablation");
    assert_eq!(part.matches("<tr><th scope=\"row\"").count(), 3);
    assert!(part.contains("impact after 3,600 pages fetched"), "{part}");
    assert!(part.contains("what anchors says"), "{part}");
    assert_eq!(part.matches("<td>–</td>").count(), 3, "a speedup that there is not");
    let text = terminal::tables(&summary, Some("all"));
    let table = text.split("ablation of prospect, impact after 3,600").nth(1).unwrap();
    for expected in ["2.400 ±0.240", "-0.300 ±0.030*", "0.020 ±0.002*"] {
        assert!(table.contains(expected), "{expected}: {table}");
    }
    assert!(!terminal::tables(&summary, Some("question")).contains("ablation"));
    let figures = figures::figures(std::slice::from_ref(&summary), None).unwrap();
    let group = &figures["experiments"][0]["ablation"]["policies"][0]["groups"][1];
    assert_eq!(group["group"], "anchors");
    assert_eq!(group["change"]["speedup_relevant"]["mean"], 0.02);
}

#[test]
fn counterfactual_estimates_have_a_table_with_a_row_for_every_batch() {
    let summary = experiment::experiment();
    let page = page(std::slice::from_ref(&summary));
    let part = section(&page, "e0-counterfactual");
    assert_eq!(part.matches("<tr><th scope=\"row\"").count(), 2);
    assert!(part.contains("page part &lt;b&gt;") && !part.contains("<b>"), "{part}");
    let text = terminal::tables(&summary, Some("all"));
    let table = text.split("100 draws of 459 out of 20,123 URLs").nth(1).unwrap();
    for expected in
        ["20.0 % explored", "83.0 %", "1.2 % ±6.1 % (0.97)", "345,678 pairs of the best"]
    {
        assert!(table.contains(expected), "{expected}: {table}");
        assert!(part.contains(expected), "{expected}: {part}");
    }
}

#[test]
fn scenarios_have_a_table_with_a_row_for_each() {
    let summary = experiment::experiment();
    let page = page(std::slice::from_ref(&summary));
    let part = section(&page, "e0-whatif");
    assert_eq!(part.matches("<tr><th scope=\"row\"").count(), 2);
    assert!(part.contains("&lt;b&gt;hot") && !part.contains("<b>"), "{part}");
    let text = terminal::tables(&summary, Some("all"));
    let table = text.split("2 scenarios after 10 % of the pages").nth(1).unwrap();
    for expected in ["363.3", "300.0", "0.900 ±0.050", "0.120 ±0.030", "0.314"] {
        assert!(table.contains(expected), "{expected}: {table}");
        assert!(part.contains(expected), "{expected}: {part}");
    }
}

#[test]
fn attackers_have_a_table_with_a_row_for_every_policy_and_attack() {
    let summary = experiment::experiment();
    let page = page(std::slice::from_ref(&summary));
    let part = section(&page, "e0-manipulation");
    assert_eq!(part.matches("<tr><th scope=\"row\"").count(), 2 * summary.policies.len());
    assert!(part.contains("after 3,600 pages fetched"), "{part}");
    assert!(part.contains("121 pages on 1 host, linked from 121 honest ones"), "{part}");
    assert_eq!(part.matches("<td>–</td>").count(), 2, "no ratio where none was met");
    let text = terminal::tables(&summary, Some("all"));
    let tables = text.split("manipulation, after 3,600 pages fetched").nth(1).unwrap();
    assert!(tables.contains("link-farm:10: 121 pages on 1 host"), "{tables}");
    assert!(tables.contains("0.0460 ±0.0046"), "{tables}");
    assert!(!terminal::tables(&summary, Some("question")).contains("manipulation"));
}

#[test]
fn names_become_text() {
    let mut summary = experiment::experiment();
    summary.title = "</title><script>alert(1)</script>".to_owned();
    summary.policies[0].gained = summary.policies[1].gained.clone();
    summary.policies[0].gained[0].query =
        "</script><img src=x onerror=alert(1)>\u{2028}".to_owned();
    summary.policies[2].name = "a\" onclick=\"b".to_owned();
    let attack = &mut summary.manipulation.as_mut().unwrap().attacks[0];
    attack.attack = "<script>".to_owned();
    attack.policies[0].policy = "a\" onclick=\"b".to_owned();
    let page = page(&[summary]);
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<img") && !page.contains('\u{2028}') && !page.contains("a\" onclick"));
}

#[test]
fn tables_fit_a_terminal() {
    let mut summary = experiment::experiment();
    let text = terminal::tables(&summary, None);
    let long = text.lines().find(|line| line.chars().count() > 100);
    assert_eq!(long, None);
    summary.policies[0].name =
        "a policy whose name is longer than any table has room for".to_owned();
    summary.policies[1].name = "bell\u{7} and\u{1b}[31m colour".to_owned();
    let text = terminal::tables(&summary, Some("all"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains(['\u{7}', '\u{1b}']), "{text}");
    assert!(!text.contains("of 1 set"), "{text}");
    // A policy that reached no level of the baseline in all seed sets but one, and two that differ at their ends.
    let mut few = experiment::experiment();
    let speedup = few.policies[6].kinds[0].speedup_relevant.as_mut().unwrap();
    speedup.values.truncate(1);
    few.policies[5].name = "prospect+explore=0.2+without=inherited".to_owned();
    few.policies[6].name = "prospect+explore=0.2+without=anchors".to_owned();
    let text = terminal::tables(&few, Some("all"));
    assert!(text.contains("]* of 1 set"), "{text}");
    assert!(text.contains("of the seed sets alone"), "{text}");
    assert!(text.contains("=inherited") && text.contains("=anchors"), "{text}");
    assert!(page(&[few]).contains("<small>of 1 set</small>"));
}

#[test]
fn tables_of_a_kind() {
    let text = terminal::tables(&experiment::experiment(), Some("question"));
    assert_eq!(text, include_str!("../report/terminal.txt"), "\n{text}");
}

#[test]
fn figures_name_their_schema_and_hold_the_main_figures() {
    let summary = experiment::experiment();
    let json = figures::figures(std::slice::from_ref(&summary), Some("keyword")).unwrap();
    assert_eq!(json["schema"], "prospect.report/1");
    let kinds = json["experiments"][0]["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 1);
    let prospect = &kinds[0]["policies"][6];
    assert_eq!(prospect["policy"], "prospect");
    let area = &summary.policies[6].kinds[1].curves[0].area;
    assert_eq!(prospect["metrics"]["HR"]["area"]["mean"], area.mean);
}

#[test]
fn a_summary_is_read_back_and_one_that_does_not_fit_together_is_refused() {
    let summary = experiment::experiment();
    // Reading moves a figure by its last bit at most, which no report shows.
    let again = read(&serde_json::to_string(&summary).unwrap()).unwrap();
    assert_eq!(page(&[again]), page(&[summary]));
    let refused = |change: fn(&mut Summary)| {
        let mut summary = experiment::experiment();
        change(&mut summary);
        read(&serde_json::to_string(&summary).unwrap()).unwrap_err()
    };
    assert!(matches!(refused(|s| s.schema.push('0')), ReadError::Schema { .. }));
    assert!(matches!(refused(|s| s.policies.clear()), ReadError::Empty("policies")));
    let shape = refused(|s| drop(s.policies[3].kinds.pop()));
    assert!(matches!(shape, ReadError::Shape { what: "query kinds", .. }), "{shape}");
    let shape = refused(|s| s.policies[3].kinds[0].curves.swap(0, 1));
    assert!(matches!(shape, ReadError::Shape { what: "metrics", .. }), "{shape}");
}
