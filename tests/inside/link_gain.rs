//! What the reading `link-gain` makes of links, by hand, and that what queries lack changes what is picked.

use prospect_index::ingest::ingest_all;
use prospect_index::page::{Outlink, PageRecord};

use crate::campaign::OpenStore;
use crate::campaign::plan::{Beside, plan};
use crate::campaign::planned::Plan;
use crate::estimate::features::match_rule::MatchRule;
use crate::estimate::settings::ImpactReading;
use crate::planner::settings::{Demand, PlanSettings};
use crate::workload::{Query, Workload};

fn page(url: &str, text: &str, links: &[(&str, &str)]) -> PageRecord {
    PageRecord {
        url: url.to_owned(),
        text: text.to_owned(),
        outlinks: links.iter().copied().map(Outlink::from).collect(),
        ..PageRecord::default()
    }
}

fn planned(pages: Vec<PageRecord>, queries: &[Query], settings: &PlanSettings) -> Named {
    let dir = tempfile::tempdir().unwrap();
    ingest_all(dir.path(), pages, "pages").unwrap();
    let open = OpenStore::open(dir.path(), "a test", 3).unwrap();
    let workload = Workload { queries: queries.to_vec() };
    let plan = plan(&open, &workload, &[], settings, Beside::Others).unwrap();
    let name = |url| open.known.urls.url(url).to_owned();
    let picks = plan.choice.batch.picks.iter().map(|pick| name(pick.estimate.url)).collect();
    let pairs = plan.scored.pairs().map(|pair| (name(pair.url), pair.chance)).collect();
    Named { picks, pairs, plan }
}

/// A plan with the names of its URLs.
struct Named {
    picks: Vec<String>,
    pairs: Vec<(String, f64)>,
    plan: Plan,
}

fn link_gain(budget: usize) -> PlanSettings {
    let mut settings = PlanSettings::new(budget);
    settings.estimate.reading = ImpactReading::LinkGain;
    settings.estimate.rule = MatchRule { rho: 0.0, ..MatchRule::default() };
    settings.estimate.defended = false;
    settings.selection.explore = 0.0;
    settings
}

#[test]
fn links_gain_by_relevance_novelty_and_authority() {
    // Texts around links hold none of the words.
    let pages = vec![
        page(
            "https://a.test/",
            "a list of links",
            &[
                ("https://b.test/rye", "rye bread"),
                ("https://b.test/sourdough/rye", "rye"),
                ("https://c.test/bread", "bread"),
                ("https://d.test/about", "about"),
            ],
        ),
        page("https://a.test/2", "another list", &[("https://c.test/bread", "bread")]),
        page("https://a.test/3", "rye bread b test c d", &[]),
    ];
    let queries = [Query::new("1", "rye bread", 1.0, "")];
    let Named { picks, pairs, .. } = planned(pages, &queries, &link_gain(3));
    // "about" holds no word of the query. Both words are in one page, and weigh the same. What is new: of b, test,
    // rye, bread nothing; of b, test, sourdough, rye one word in four.
    let chance = |url: &str| pairs.iter().find(|(own, _)| own == url).map(|(_, chance)| *chance);
    let (rye, sourdough) = ("https://b.test/rye", "https://b.test/sourdough/rye");
    assert_eq!(chance("https://d.test/about"), None);
    let new = chance(sourdough).unwrap();
    // Two pages link to /bread, which has the most authority; one links to /rye and to /sourdough alike.
    let (all, half) = (chance(rye).unwrap(), chance("https://c.test/bread").unwrap());
    assert!((half - 0.5 * 1e-9).abs() < 1e-12, "relevance 1/2, nothing new, authority 1: {half}");
    let authority = all / 1e-9;
    assert!(authority > 0.3 && authority < 0.9, "{authority}");
    assert!((new - 0.5 * 0.25 * authority).abs() < 1e-6, "{new} {authority}");
    assert_eq!(picks[0], sourdough, "{picks:?}");
}

#[test]
fn what_queries_lack_changes_what_is_picked() {
    // Twelve pages answer "rye bread", none "oat cake", which is asked a little less often.
    let mut pages: Vec<PageRecord> = (0..12)
        .map(|at| page(&format!("https://a.test/{at}"), &format!("rye bread number {at}"), &[]))
        .collect();
    let links = [("https://b.test/1", "rye bread"), ("https://b.test/2", "oat cake")];
    pages.push(page("https://a.test/", "oat cake of b test 1 2 is not linked by name", &links));
    let queries = [Query::new("1", "rye bread", 1.2, ""), Query::new("2", "oat cake", 1.0, "")];
    let asked = link_gain(1);
    let lack = PlanSettings { demand: Demand::Lack, ..asked.clone() };
    // Words of neither link are new, and both have the same authority.
    assert_eq!(planned(pages.clone(), &queries, &asked).picks, ["https://b.test/1"]);
    let found = planned(pages, &queries, &lack);
    assert_eq!(found.picks, ["https://b.test/2"]);
    assert!(found.plan.scored.pairs().count() == 2);
}
