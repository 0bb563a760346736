//! Why a URL is planned or not, as one tree that every place shows: the command line as text and JSON, the
//! page as tables.
//!
//! An estimate is a [`Factor`]: a named number and the numbers that it is the sum or the product of. Who shows
//! it walks the tree and knows no part and no factor by name, so that a new one is shown everywhere once it
//! stands here. What is printed multiplies and adds up to what URLs are ranked by, whatever the objective.

use prospect_index::fetch_outcome::{FailureKind, FetchOutcome, NO_ANSWER, ROBOTS};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, Known};
use serde::Serialize;

use super::reasons::Reasons;
use crate::estimate::blend::Blend;
use crate::estimate::objective::Objective;
use crate::estimate::parts::Part;
use crate::estimate::slow_start::DEFERRED;
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::explore::Pool;
use crate::plan::export::QueryReason;
use crate::plan::position;
use crate::plan::revisits::Revisit;
use crate::planner::choose::Choice;
use crate::planner::retries::{Retries, TRIES, Wait};
use crate::planner::settings::PlanSettings;

/// Schema of an [`Explanation`] as JSON.
pub(crate) const SCHEMA: &str = "prospect.explain/2";
/// Queries of a URL, and links to it, at most.
const QUERIES: usize = 20;
const LINKS: usize = 50;

/// A number, and what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Factor {
    /// Its name.
    pub(crate) name: &'static str,
    /// The number.
    pub(crate) value: f64,
    /// What it says, and what it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// What gives the number; none where it is given.
    #[serde(flatten)]
    pub(crate) made_of: Option<MadeOf>,
}

/// How numbers make another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MadeOf {
    /// They are added.
    Sum(Vec<Factor>),
    /// They are multiplied.
    Product(Vec<Factor>),
}

impl Factor {
    fn given(name: &'static str, value: f64) -> Self {
        Self { name, value, note: None, made_of: None }
    }

    fn sum(name: &'static str, terms: Vec<Self>) -> Self {
        let value = terms.iter().fold(0.0, |sum, term| sum + term.value);
        Self { name, value, note: None, made_of: Some(MadeOf::Sum(terms)) }
    }

    /// A product of one is that one.
    fn product(name: &'static str, mut terms: Vec<Self>) -> Self {
        if terms.len() == 1 {
            return Self { name, ..terms.remove(0) };
        }
        let value = terms.iter().fold(1.0, |product, term| product * term.value);
        Self { name, value, note: None, made_of: Some(MadeOf::Product(terms)) }
    }

    fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }
}

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    /// [`SCHEMA`].
    pub(crate) schema: &'static str,
    /// The URL, in the spelling first seen.
    pub(crate) url: String,
    /// What is known of its fetch.
    pub(crate) state: String,
    /// The plan in the store, where it is explained by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan_id: Option<String>,
    /// Position in the batch, from 1, if it is picked.
    pub(crate) planned_rank: Option<usize>,
    /// Where it comes from, if it is picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pool: Option<Pool>,
    /// Whether it was drawn at random.
    #[serde(skip)]
    pub(crate) is_drawn: bool,
    /// Whether an open plan of the store has asked for it, and nobody reported it.
    pub(crate) in_flight: bool,
    /// The other spelling of the page that it is not planned for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_page_as: Option<String>,
    /// URLs that were to be picked.
    pub(crate) budget: usize,
    /// Position in the frontier by estimate, from 1, if it may be planned.
    pub(crate) frontier_rank: Option<usize>,
    /// URLs of the frontier.
    pub(crate) frontier: usize,
    /// The cap that held it back.
    pub(crate) held_back_by: Option<&'static str>,
    /// Crawled pages that link to it.
    pub(crate) inlinks: u32,
    /// Quality expected of it, as a log-probability, where any is known.
    pub(crate) quality: Option<f64>,
    /// What the batch was to bring the most of.
    pub(crate) objective: Objective,
    /// What it is ranked by, in impact units, if it may be planned.
    pub(crate) estimate: Option<Factor>,
    /// What it would be to fetch its page again, where plans may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revisit: Option<RevisitCandidate>,
    /// The queries that count most.
    pub(crate) queries: Vec<QueryReason>,
    /// The first links to it.
    pub(crate) links: Vec<LinkFrom>,
    /// Who names it without a link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) named_by: Vec<NamedBy>,
}

impl Explanation {
    /// What is known of a URL where no plan is open.
    pub(crate) fn without_plan(known: &Known, retries: &Retries, id: UrlId) -> Self {
        Self {
            schema: SCHEMA,
            url: known.urls.spelling(id).to_owned(),
            state: fetch_state(known, retries, id),
            plan_id: None,
            planned_rank: None,
            pool: None,
            is_drawn: false,
            in_flight: false,
            same_page_as: None,
            budget: 0,
            frontier_rank: None,
            frontier: 0,
            held_back_by: None,
            inlinks: known.links.inlinks(id, u32::MAX),
            quality: None,
            objective: Objective::default(),
            estimate: None,
            revisit: None,
            queries: Vec::new(),
            links: links(known, id),
            named_by: Vec::new(),
        }
    }
}

/// A page that may be fetched again.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct RevisitCandidate {
    /// Its rank among those that may, from 1.
    pub(crate) rank: usize,
    /// How many may.
    pub(crate) of: usize,
    /// Chance that its text has changed.
    pub(crate) chance: f64,
    /// Impact that it has in the lists.
    pub(crate) impact: f64,
    /// Impact that a visit now brings until the next plan.
    pub(crate) value: f64,
    /// Estimate of a new URL that is expected to bring as much.
    pub(crate) estimate: f64,
}

/// What a list or a map of a site says of the URL.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NamedBy {
    /// The kind of file.
    pub(crate) source: String,
    /// When it changed last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) lastmod: String,
    /// How much it counts on its site, from 0 to 1.
    pub(crate) priority: Option<f64>,
}

/// A link to the URL.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LinkFrom {
    /// The page.
    pub(crate) from: String,
    /// The text of the link.
    pub(crate) anchor: String,
}

/// A plan with all that its explanations are read from.
pub(crate) struct Explained<'a> {
    /// What its estimates rest on.
    pub(crate) reasons: Reasons<'a>,
    /// The batch, and how it came about.
    pub(crate) choice: &'a Choice,
    /// How it was made.
    pub(crate) settings: &'a PlanSettings,
    /// What a scenario multiplies estimates with, by URL of the scored pairs; empty for 1.
    pub(crate) factors: &'a [f64],
    /// What waits after failed fetches.
    pub(crate) retries: &'a Retries,
}

impl Explained<'_> {
    /// Why a URL is in the batch or not.
    pub(crate) fn explain(&self, id: UrlId) -> Explanation {
        let Self { reasons, choice, settings, .. } = self;
        let (known, batch) = (reasons.known, &choice.batch);
        let at = position(&batch.ranking, id);
        let url = at.map(|at| &batch.ranking[at]);
        let held_back = batch.held_back.iter().find(|(rank, _)| Some(*rank as usize) == at);
        let picked = batch.picks.iter().position(|pick| pick.estimate.url == id);
        Explanation {
            state: self.state(id),
            planned_rank: picked.map(|at| at + 1),
            pool: picked.map(|at| batch.picks[at].pool),
            is_drawn: picked.is_some_and(|at| batch.picks[at].is_drawn()),
            budget: settings.selection.budget,
            frontier_rank: at.map(|at| at + 1),
            frontier: batch.ranking.len(),
            held_back_by: held_back.map(|(_, cap)| cap.name()),
            quality: url.and_then(|url| url.quality),
            objective: settings.estimate.objective,
            estimate: url.map(|url| self.estimate(url)),
            revisit: self.revisit(id),
            queries: reasons.of(id, QUERIES),
            ..Explanation::without_plan(known, self.retries, id)
        }
    }

    fn revisit(&self, id: UrlId) -> Option<RevisitCandidate> {
        let all = &self.choice.revisits;
        let at = all.iter().position(|revisit| revisit.url == id)?;
        let Revisit { chance, impact, value, estimate, .. } = all[at];
        Some(RevisitCandidate { rank: at + 1, of: all.len(), chance, impact, value, estimate })
    }

    /// What is known of a URL's fetch, and why it is left out of plans.
    fn state(&self, id: UrlId) -> String {
        let known = self.reasons.known;
        let state = fetch_state(known, self.retries, id);
        // What was written can be read.
        let scope = self.settings.scope.compile().ok();
        match scope.filter(|scope| !scope.holds(&known.urls, id)) {
            Some(_) => format!("{state}; out of the scope of the plan"),
            None => state,
        }
    }

    /// What a URL is ranked by. With the objectives that are sums over URLs it is what the URL promises, bit
    /// by bit; others leave a share of that, or add to a promise of nothing.
    fn estimate(&self, url: &UrlEstimate) -> Factor {
        let mut terms = vec![self.blend(url)];
        terms.extend(self.reservations(url).into_iter().filter(|factor| factor.value != 1.0));
        let promise = terms.iter().fold(1.0, |product, term| product * term.value);
        let objective = self.settings.estimate.objective;
        let left = |value| Factor::given(objective.name(), value).noted(left_by(objective));
        if promise == 0.0 && url.estimate != 0.0 {
            let terms = vec![Factor::product("promise", terms), left(url.estimate)];
            return Factor::sum("estimate", terms);
        }
        if promise != url.estimate {
            terms.push(left(url.estimate / promise));
        }
        Factor { value: url.estimate, ..Factor::product("estimate", terms) }
    }

    /// What is held against a URL, and what a scenario lets it count for, in the order in which estimates are
    /// multiplied with it.
    fn reservations(&self, url: &UrlEstimate) -> [Factor; 5] {
        let slow_start = if url.deferred { DEFERRED } else { 1.0 };
        let known = self.reasons.known;
        let of_fetches = match known.pages.fetch(url.url) {
            Fetch::Failed { .. } => {
                "share of pages among later answers to URLs that had failed, as this one has"
            }
            _ => {
                "share of fetches that succeeded, of its host and its type; where there were few, of all"
            }
        };
        [
            Factor::given("site reliability", url.reliability)
                .noted("past picks of its site, or of others as new, kept less of what they promised"),
            Factor::given("chance to be fetched", url.fetch)
                .noted(of_fetches),
            Factor::given("chance to have a text", url.text)
                .noted("share of pages that had one, of its type; where there were few, of all"),
            Factor::given("slow start", slow_start).noted(
                "deferred behind the URLs of others: its domain has had as much as it may have of a batch, or only young domains link to it",
            ),
            Factor::given("host", self.host_factor(url.url))
                .noted("what the scenario lets its host count for"),
        ]
    }

    /// The parts, in the order in which estimates add them.
    fn blend(&self, url: &UrlEstimate) -> Factor {
        let Blend { weights } = self.choice.blended.blend;
        let part = |part: Part| self.part(part, weights[part], url);
        Factor::sum("blend", Part::ALL.map(part).into()).noted("impact units")
    }

    /// A part with its weight.
    fn part(&self, part: Part, weight: f64, url: &UrlEstimate) -> Factor {
        let terms = vec![Factor::given("weight", weight), Factor::given("value", url.parts[part])];
        Factor::product(part.name(), terms).noted(self.evidence(part, url))
    }

    /// What a part is, and what it rests on.
    fn evidence(&self, part: Part, url: &UrlEstimate) -> String {
        let rests_on = match part {
            Part::Query | Part::Locality => {
                let pairs = self.reasons.scored.pairs_of(url.url);
                let queries = pairs.filter(|pair| Part::of_pair(pair.matches) == part).count();
                format!("; queries: {queries}")
            }
            Part::Importance => format!("; in-links: {}", url.inlinks),
            Part::Quality => match url.quality {
                Some(quality) => format!("; expected quality {quality:.2}"),
                None => "; no quality known".to_owned(),
            },
            Part::Page | Part::Discovery => String::new(),
        };
        format!("{}{rests_on}", part.meaning())
    }

    /// What a scenario multiplies the estimate of a URL with.
    fn host_factor(&self, id: UrlId) -> f64 {
        let place = self.reasons.scored.urls().binary_search_by_key(&id, |known| known.url);
        place.ok().and_then(|place| self.factors.get(place)).copied().unwrap_or(1.0)
    }
}

/// Why an objective ranks by another number than the sum of what URLs promise.
fn left_by(objective: Objective) -> &'static str {
    match objective {
        Objective::Served => "what the rest of the batch leaves of it",
        Objective::Expected => "what is left of it",
    }
}

/// The first links to a URL.
fn links(known: &Known, id: UrlId) -> Vec<LinkFrom> {
    let links = known.links.incoming(id, u32::MAX).take(LINKS);
    links
        .map(|link| LinkFrom {
            from: known.urls.spelling(link.from).to_owned(),
            anchor: known.links.anchor(link.anchor).to_owned(),
        })
        .collect()
}

/// What is known of a URL's fetch.
fn fetch_state(known: &Known, retries: &Retries, url: UrlId) -> String {
    let what = match known.pages.fetch(url) {
        Fetch::Never => "not crawled".to_owned(),
        Fetch::Page { seq } => format!("crawled, as record {seq}"),
        Fetch::Failed { status: NO_ANSWER, .. } => "its fetch had no answer".to_owned(),
        Fetch::Failed { status: ROBOTS, .. } => "robots.txt forbids its fetch".to_owned(),
        Fetch::Failed { status, .. } => match FetchOutcome::from(status) {
            FetchOutcome::Failed(FailureKind::Denied) => {
                format!("its fetch was denied, status {status}")
            }
            _ => format!("its fetch failed with status {status}"),
        },
        Fetch::Redirected { seq } => match known.pages.record(seq) {
            Some((target, _)) => format!("it redirects to {}", known.urls.spelling(target)),
            None => "it redirects to another URL".to_owned(),
        },
    };
    match retries.wait(known, url) {
        None => what,
        Some(Wait::Failed { tries, cycles }) => {
            let of = if known.pages.page_seq(url).is_some() { "" } else { &format!(" of {TRIES}") };
            format!("{what}; {tries}{of} tries, it waits {}", cycles_of(cycles))
        }
        Some(Wait::Host { outages, cycles }) => format!(
            "{what}; its host failed as a whole for {}, and waits {}",
            cycles_of(outages),
            cycles_of(cycles)
        ),
        Some(Wait::GivenUp) => format!("{what}; given up after {TRIES} tries"),
        Some(Wait::Refused) => {
            format!(
                "{what}; it did not come when it was asked for again, or led elsewhere, and is not asked for now"
            )
        }
    }
}

fn cycles_of(count: u32) -> String {
    format!("{count} cycle{}", if count == 1 { "" } else { "s" })
}
