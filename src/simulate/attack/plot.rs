//! What every kind of attack is put together from: pages of junk, anchors that repeat queries, and
//! rings of links.

use prospect_index::limits::ANCHOR_CHARS;

use super::junk::Junk;
use crate::workload::Query;

/// Queries that a page aims at.
pub(super) const AIMED: usize = 20;
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
}

/// A link to a page of the attacker, by its place, with the anchor.
pub(super) type Door = (usize, String);

/// A page of an attacker.
#[derive(Default)]
pub(super) struct Owned {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) links: Vec<Door>,
}

/// What an attacker knows, and its source of junk.
pub(super) struct Attacker<'a> {
    queries: &'a [Query],
    junk: Junk<'a>,
}

impl<'a> Attacker<'a> {
    /// `queries` is not empty.
    pub(super) fn new(queries: &'a [Query], junk: Junk<'a>) -> Self {
        Self { queries, junk }
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
                Some(anchor) if anchor.chars().count() + more <= ANCHOR_CHARS => {
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
        let mut text = String::new();
        for query in self.aimed(at) {
            text += &format!("{} {} ", query.text, self.junk.text(2));
        }
        text
    }
}

/// Places that follow `at` in a ring of `length`, itself left out.
pub(super) fn neighbours(at: usize, length: usize) -> impl Iterator<Item = usize> {
    (1..=NEIGHBOURS.min(length.saturating_sub(1))).map(move |step| (at + step) % length)
}
