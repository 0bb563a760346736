//! Attacks on a crawl: pages of a manipulator that want to be fetched, added to a collection
//! before the crawls start, and what they got.
//!
//! An attacker owns a share of the collection. It knows the words of the planning workload, which
//! is the worst case, and nothing else; hijackers also know which honest pages answer them. Its texts hold
//! no word that is asked for, but for those of bait. As many honest pages as it owns, drawn at random
//! but for hijackers, each carry one link to it, as a spammed comment does, which sybils repeat with
//! many anchors; its pages link to each other. Policies and the planner are not told.
//!
//! [`Attack`] makes the pages, one file a kind; [`attacked`] puts what is known of the honest pages
//! over the attacked collection, [`gains`] measures a crawl, [`summary`] sets all beside the crawls
//! of the honest collection. Everything here is drawn from the
//! seed of the experiment.

mod anchor_stuffing;
pub(crate) mod attacked;
mod bait_and_switch;
mod control;
mod fresh;
pub(crate) mod gains;
mod hijack;
mod junk;
mod kinds;
mod link_farm;
mod mimic;
mod newcomers;
mod plot;
mod query_log;
pub(crate) mod summary;
mod sybil;
mod sybil_bait;
mod url_stuffing;

use std::collections::BTreeMap;

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::error::StoreError;
use prospect_index::ingest::{PreparedLink, PreparedPage, prepare};
use prospect_index::page::{Outlink, PageRecord, UrlId};
use prospect_index::url::UrlError;
use prospect_index::words::Analyzer;

use self::junk::Junk;
use self::plot::{Attacker, Owned, Plot};
use super::added::AddedPages;
use super::collection::Collection;
use super::start::shuffled;
use crate::policy::Page;
use crate::sketch::DEFAULT_K;
use crate::sketch::served::ServedLists;
use crate::workload::{Query, Workload};

pub(crate) use kinds::AttackKind;
pub(crate) use kinds::{ATTACKS, DOMAINS, LOG_PERCENT};

/// Number of the seed set that the honest pages with a link to the attacker are drawn as; crawls
/// count theirs from 1.
const DRAWN_AS: u32 = 0;

/// Why there is no attack.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AttackError {
    /// None has this name.
    #[error("there is no attack {given:?}; there are {}, and `all`", known())]
    Unknown {
        /// What was asked for.
        given: String,
    },
    /// A kind without its number, or with one out of range.
    #[error(
        "attack {given:?}: N domains from {} to {}, or P percent from {} to {}, were expected behind a colon",
        DOMAINS.start(),
        DOMAINS.end(),
        LOG_PERCENT.start(),
        LOG_PERCENT.end()
    )]
    Number {
        /// What was asked for.
        given: String,
    },
    /// The share of the collection that the attacker owns is too small.
    #[error("{kind} needs {needed} pages of its own, and the attacker's share is {owned}")]
    TooSmall {
        /// The attack.
        kind: String,
        /// Pages it needs.
        needed: usize,
        /// Pages it owns.
        owned: usize,
    },
    /// There is no query to aim at.
    #[error("the workload has no query to aim at")]
    NoQuery,
    /// It cannot be found out which honest pages answer which query.
    #[error(transparent)]
    Answers(#[from] prospect_index::error::StoreError),
    /// A URL that was made up cannot be one.
    #[error("a made-up URL: {0}")]
    Url(#[from] prospect_index::url::UrlError),
}

fn known() -> String {
    ATTACKS.map(|(name, _)| name).join(", ")
}

/// The attacks of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttackSettings {
    /// Kinds, each once.
    pub(crate) kinds: Vec<AttackKind>,
    /// Share of the attacked collection that an attacker owns, between 0 and 1.
    pub(crate) share: f64,
}

/// What an attack is aimed at.
pub(crate) struct Victim<'a> {
    /// The honest pages.
    pub(crate) collection: &'a Collection,
    /// The queries that the attacker knows.
    pub(crate) planning: &'a Workload,
    /// The queries whose words its texts keep clear of, beside those.
    pub(crate) evaluation: &'a Workload,
}

/// An attack, ready to be added to the collection.
#[derive(Debug)]
pub(crate) struct Attack {
    /// What it is.
    pub(crate) kind: AttackKind,
    /// Its pages, and the links to them from honest pages.
    pub(crate) added: AddedPages,
    /// Queries that it asks, with their frequencies.
    pub(crate) queries: Vec<Query>,
}

impl Attack {
    /// An attacker that owns `share` (0 to 1, both excluded) of the attacked collection, rounded
    /// to pages.
    ///
    /// # Errors
    /// The share is too small for the attack, or there is no query.
    pub(crate) fn new(
        kind: AttackKind,
        victim: &Victim<'_>,
        share: f64,
        seed: u64,
    ) -> Result<Self, AttackError> {
        let Victim { collection, planning, evaluation } = victim;
        let owned = (f64::from(collection.pages) * share / (1.0 - share)).round() as usize;
        let needed = kind.least_pages();
        if owned < needed {
            return Err(AttackError::TooSmall { kind: kind.label(), needed, owned });
        }
        if planning.queries.is_empty() {
            return Err(AttackError::NoQuery);
        }
        let junk = Junk::new(seed, planning.words().chain(evaluation.words()));
        let mut attacker = Attacker::new(&planning.queries, answers(kind, victim)?, junk);
        let plot = plot(kind, &mut attacker, owned, collection);
        let added = added(&plot, collection, seed)?;
        let queries = queries(kind, &plot, planning, collection.text.analyzer());
        Ok(Self { kind, added, queries })
    }
}

/// By query of the workload: honest pages that answer it, for who wants to know.
fn answers(kind: AttackKind, victim: &Victim<'_>) -> Result<Vec<Vec<Page>>, StoreError> {
    if !matches!(kind, AttackKind::Hijack(_) | AttackKind::Mimic(_)) {
        return Ok(Vec::new());
    }
    let Victim { collection, planning, .. } = victim;
    let (pages, queries) = (collection.pages, &planning.queries);
    let scorer = Scorer::new(&collection.text, Bm25::default(), pages, planning.words())?;
    let served = ServedLists::build(&scorer, queries, DEFAULT_K, pages, &collection.urls)?;
    let pages = |list: Vec<(UrlId, f64)>| list.into_iter().map(|(url, _)| url.0).collect();
    Ok(served.lists.into_iter().map(pages).collect())
}

/// The queries of a plot: together its share of the log.
fn queries(kind: AttackKind, plot: &Plot, planning: &Workload, analyzer: &Analyzer) -> Vec<Query> {
    let share = kind.share_of_log();
    let asked: f64 = planning.queries.iter().map(|query| query.frequency).sum();
    let frequency = asked * share / (1.0 - share) / plot.queries.len().max(1) as f64;
    let own = plot.queries.iter().enumerate();
    let made = |at, text| Query::new(&format!("attacker-{at}"), text, frequency, "");
    own.map(|(at, text)| made(at, text).into_words_of(analyzer)).collect()
}

fn plot(kind: AttackKind, attacker: &mut Attacker<'_>, owned: usize, honest: &Collection) -> Plot {
    match kind {
        AttackKind::Control => control::plot(attacker, owned),
        AttackKind::Newcomers(domains) | AttackKind::Quality(domains) => {
            newcomers::plot(attacker, owned, domains)
        }
        AttackKind::AnchorStuffing => anchor_stuffing::plot(attacker, owned),
        AttackKind::UrlStuffing => url_stuffing::plot(attacker, owned),
        AttackKind::LinkFarm(domains) => link_farm::plot(attacker, owned, domains as usize),
        AttackKind::BaitAndSwitch => bait_and_switch::plot(attacker, owned),
        AttackKind::Sybil(domains) => sybil::plot(attacker, owned, domains),
        AttackKind::SybilBait(domains) => sybil_bait::plot(attacker, owned, domains),
        AttackKind::Hijack(domains) => hijack::plot(attacker, owned, domains),
        AttackKind::Mimic(domains) => mimic::plot(attacker, owned, domains, honest),
        AttackKind::Fresh => fresh::plot(attacker, owned),
        AttackKind::QueryLog(_) => query_log::plot(attacker, owned),
    }
}

/// The plot as pages, with a link from as many honest pages.
fn added(plot: &Plot, collection: &Collection, seed: u64) -> Result<AddedPages, AttackError> {
    let pages = plot.pages.iter().map(|own| page(plot, own));
    let pages: Vec<PreparedPage> = pages.collect::<Result<_, _>>()?;
    let mut links: BTreeMap<String, Vec<PreparedLink>> = BTreeMap::new();
    let mut anywhere = shuffled(collection, seed, DRAWN_AS).into_iter();
    // As many as there are pages of the attacker, whatever doors there are.
    for door in plot.doors.iter().cycle().take(pages.len()) {
        let Some(honest) = door.on.or_else(|| anywhere.next()) else { break };
        let (canonical, spelling) = pages[door.to].url();
        let of_page = links.entry(collection.urls.url(UrlId(honest)).to_owned()).or_default();
        of_page.extend(door.anchors.iter().map(|anchor| PreparedLink {
            canonical: canonical.to_owned(),
            shown: stuffed(spelling, anchor),
        }));
    }
    Ok(AddedPages { pages, links })
}

/// A link with an anchor: who stuffs anchors stuffs what is beside them.
fn stuffed(url: &str, anchor: &str) -> Outlink {
    Outlink { around: anchor.to_owned(), ..Outlink::from((url, anchor)) }
}

/// A page of the plot as a crawler would find it.
fn page(plot: &Plot, own: &Owned) -> Result<PreparedPage, UrlError> {
    let links = own.links.iter();
    let outlinks = links.map(|(to, anchor)| stuffed(&plot.pages[*to].url, anchor)).collect();
    prepare(PageRecord {
        url: own.url.clone(),
        title: own.title.clone(),
        text: own.text.clone(),
        outlinks,
        ..PageRecord::default()
    })
}
