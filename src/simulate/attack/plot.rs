//! What every kind of attack is put together from: pages of junk, anchors that repeat queries, and
//! rings of links.

use prospect_index::limits::BOUNDS;

use super::junk::Junk;
use crate::policy::Page;
use crate::workload::Query;

/// Queries that a page aims at.
pub(super) const AIMED: usize = 20;
/// Queries that a link claims its target answers, an anchor each.
const CLAIMS: usize = 30;
/// Pages of the ring that a page links to.
const NEIGHBOURS: usize = 10;
/// Words of a page's text.
const TEXT_WORDS: usize = 100;
/// Words of its title.
const TITLE_WORDS: usize = 4;
/// Names that stay free (RFC 2606).
const TOP_LEVEL: &str = "invalid";

/// The pages of an attacker, and how a crawler gets there.
pub(super) struct Plot {
    pub(super) pages: Vec<Owned>,
    /// Links that pages of others are made to carry, in turn.
    pub(super) doors: Vec<Door>,
    /// Queries of its own.
    pub(super) queries: Vec<String>,
}

/// A link to a page of the attacker, by its place, with the anchor.
pub(super) type Link = (usize, String);

/// A link that a page of somebody else is made to carry.
pub(super) struct Door {
    /// The attacker's page.
    pub(super) to: usize,
    /// The link is repeated for each.
    pub(super) anchors: Vec<String>,
    /// The page that carries it; none for any.
    pub(super) on: Option<Page>,
}

impl Door {
    /// On any page, with an anchor.
    pub(super) fn anywhere((to, anchor): Link) -> Self {
        Self { to, anchors: vec![anchor], on: None }
    }
}

impl Plot {
    /// These pages with links from anywhere.
    pub(super) fn new(pages: Vec<Owned>, doors: impl Iterator<Item = Link>) -> Self {
        Self { pages, doors: doors.map(Door::anywhere).collect(), queries: Vec::new() }
    }
}

/// A page of an attacker.
#[derive(Default)]
pub(super) struct Owned {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) links: Vec<Link>,
}

/// What an attacker knows, and its source of junk.
pub(super) struct Attacker<'a> {
    queries: &'a [Query],
    /// By query: honest pages that answer it, the best first.
    answers: Vec<Vec<Page>>,
    junk: Junk<'a>,
}

impl<'a> Attacker<'a> {
    /// `queries` is not empty.
    pub(super) fn new(queries: &'a [Query], answers: Vec<Vec<Page>>, junk: Junk<'a>) -> Self {
        Self { queries, answers, junk }
    }

    /// Junk on so many new domains in turn, or on one for each page.
    pub(super) fn newcomers(&mut self, pages: usize, domains: Option<u32>) -> Vec<Owned> {
        let domains = domains.map_or(pages, |domains| domains as usize);
        let hosts: Vec<String> = (0..domains).map(|_| self.host()).collect();
        (0..pages).map(|at| self.page(&hosts[at % domains])).collect()
    }

    /// Sybils: every link to page `at` is repeated with all that it claims, from the ring and from anywhere.
    pub(super) fn sybils(&self, mut pages: Vec<Owned>) -> Plot {
        let claims: Vec<Vec<String>> = (0..pages.len()).map(|at| self.claims(at)).collect();
        let length = pages.len();
        for (at, page) in pages.iter_mut().enumerate() {
            for to in neighbours(at, length) {
                page.links.extend(claims[to].iter().map(|claim| (to, claim.clone())));
            }
        }
        let doors = claims.into_iter().enumerate();
        let doors = doors.map(|(to, anchors)| Door { to, anchors, on: None }).collect();
        Plot { pages, doors, queries: Vec::new() }
    }

    /// Queries that links claim page `at` answers, verbatim.
    pub(super) fn claims(&self, at: usize) -> Vec<String> {
        self.claimed(at).map(|query| self.queries[query].text.clone()).collect()
    }

    /// The same by place in the workload.
    fn claimed(&self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let length = self.queries.len();
        (0..CLAIMS.min(length)).map(move |next| (at * CLAIMS + next) % length)
    }

    /// An honest page that answers the first query that page `at` claims to.
    pub(super) fn rival(&self, at: usize) -> Option<Page> {
        let of_query = self.claimed(at).find_map(|query| self.answers.get(query))?;
        (!of_query.is_empty()).then(|| of_query[at % of_query.len()])
    }

    /// A host of its own, as the start of a URL: every one is another registrable domain.
    pub(super) fn host(&mut self) -> String {
        format!("https://{}.{TOP_LEVEL}", self.junk.word())
    }

    /// A word that nobody asks for.
    pub(super) fn word(&mut self) -> String {
        self.junk.word()
    }

    /// A page of junk below `folder`.
    pub(super) fn page(&mut self, folder: &str) -> Owned {
        Owned {
            url: format!("{folder}/{}.html", self.junk.word()),
            title: self.junk.text(TITLE_WORDS),
            text: self.junk.text(TEXT_WORDS),
            links: Vec::new(),
        }
    }

    /// The queries that page `at` aims at: the next ones of the workload, which is begun anew at
    /// its end.
    pub(super) fn aimed(&self, at: usize) -> impl Iterator<Item = &'a Query> + use<'a> {
        let queries = self.queries;
        let start = at * AIMED;
        (0..AIMED.min(queries.len())).map(move |next| &queries[(start + next) % queries.len()])
    }

    /// One of the queries that page `at` aims at, verbatim; others for other `turn`s.
    pub(super) fn query(&self, at: usize, turn: usize) -> String {
        let turn = turn % AIMED.min(self.queries.len());
        self.aimed(at).nth(turn).map_or_else(String::new, |query| query.text.clone())
    }

    /// All queries that page `at` aims at, verbatim, in as few anchors as hold them.
    pub(super) fn stuffed(&self, at: usize) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for query in self.aimed(at) {
            let more = query.text.chars().count() + 1;
            match anchors.last_mut() {
                Some(anchor) if anchor.chars().count() + more <= BOUNDS.anchor_chars => {
                    anchor.push(' ');
                    anchor.push_str(&query.text);
                }
                _ => anchors.push(query.text.clone()),
            }
        }
        anchors
    }

    /// The text of a page that answers the queries it aims at.
    pub(super) fn on_topic(&mut self, at: usize) -> String {
        let aimed: Vec<String> = self.aimed(at).map(|query| query.text.clone()).collect();
        self.answer(&aimed)
    }

    /// The text of a page that answers these queries.
    pub(super) fn answer(&mut self, queries: &[String]) -> String {
        let mut text = String::new();
        for query in queries {
            text += &format!("{query} {} ", self.junk.text(2));
        }
        text
    }
}

/// Places that follow `at` in a ring of `length`, itself left out.
pub(super) fn neighbours(at: usize, length: usize) -> impl Iterator<Item = usize> {
    (1..=NEIGHBOURS.min(length.saturating_sub(1))).map(move |step| (at + step) % length)
}
