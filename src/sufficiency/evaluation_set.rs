//! Queries with judgements and other wordings, made of crawled pages alone: what a title, a heading or an anchor says
//! of a page is a query that the page answers (the source evaluates progressive crawling on such a set).
//!
//! A phrase of 2 to 8 distinct words makes a query if it leads to few pages; what stands on many, such as the name of
//! a site in its titles, or "read more", tells none of them apart. The pages that a phrase leads to are relevant to it.
//! Other phrases of a query's first page are its other wordings.
//!
//! Such queries are known items: easier than what people ask, since their words stand in a page or on the way to it.
//! They tell whether figures move together, and not how good a search is.

use std::collections::{BTreeMap, BTreeSet};

use prospect_index::page::UrlId;
use prospect_index::words::Analyzer;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Distinct words of a query.
const WORDS: std::ops::RangeInclusive<usize> = 2..=8;
/// Pages that a phrase may lead to.
const MOST_PAGES: usize = 3;
/// Pages that must link with an anchor for it to be what others call a page.
const FEWEST_LINKS: usize = 2;
/// Other wordings of a query.
const MOST_WORDINGS: usize = 5;
/// Characters of a line that can be a heading.
const HEADING_CHARS: usize = 80;
/// What parts of titles stand between.
const SEPARATORS: [&str; 7] = [" | ", " - ", " – ", " — ", " :: ", " · ", " » "];

/// Where a query comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A part of a title.
    Title,
    /// What pages call another one.
    Anchor,
    /// A short line of a text that has lines.
    Heading,
    /// A language model that was shown the page.
    Model,
}

impl Origin {
    /// All.
    pub(crate) const ALL: [Self; 4] = [Self::Title, Self::Anchor, Self::Heading, Self::Model];

    /// Its name, which is the kind of its queries.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Anchor => "anchor",
            Self::Heading => "heading",
            Self::Model => "llm",
        }
    }
}

/// A query that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MadeQuery {
    /// Its text.
    pub(crate) text: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Pages that answer it, ascending.
    pub(crate) relevant: Vec<UrlId>,
    /// Other wordings.
    pub(crate) wordings: Vec<String>,
}

/// A phrase by its words: how it is spelled where it was first seen, and the pages that it leads to, with how many
/// pages say so.
#[derive(Clone, Debug, Default)]
struct Phrase {
    text: String,
    pages: BTreeMap<UrlId, usize>,
}

/// What pages are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phrases {
    by_words: BTreeMap<(Origin, String), Phrase>,
    /// Fetched pages.
    fetched: BTreeSet<UrlId>,
    /// Makes the words by which phrases are the same.
    analyzer: Analyzer,
}

impl Phrases {
    /// None yet, of pages whose words `analyzer` makes.
    pub(crate) fn new(analyzer: &Analyzer) -> Self {
        Self { analyzer: analyzer.clone(), ..Self::default() }
    }

    /// Takes in a fetched page.
    pub(crate) fn add_page(&mut self, url: UrlId, title: &str, text: &str) {
        self.fetched.insert(url);
        for part in parts(title) {
            self.add(Origin::Title, part, url);
        }
        for line in headings(text) {
            self.add(Origin::Heading, line, url);
        }
    }

    /// Takes in the anchors with which one page links to a URL.
    pub(crate) fn add_anchors<'a>(&mut self, url: UrlId, anchors: impl Iterator<Item = &'a str>) {
        let mut said = BTreeSet::new();
        for anchor in anchors {
            if key(&self.analyzer, anchor).is_some_and(|words| said.insert(words)) {
                self.add(Origin::Anchor, anchor, url);
            }
        }
    }

    /// Takes in a query that a model gave for a page; whether it can be one.
    pub(crate) fn add_of_model(&mut self, url: UrlId, query: &str) {
        self.add(Origin::Model, query, url);
    }

    fn add(&mut self, origin: Origin, text: &str, url: UrlId) {
        let Some(words) = key(&self.analyzer, text) else { return };
        let phrase = self.by_words.entry((origin, words)).or_default();
        if phrase.text.is_empty() {
            phrase.text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        *phrase.pages.entry(url).or_insert(0) += 1;
    }

    /// Up to `most` queries of each origin, drawn by `seed`; one that two origins give is of the first.
    pub(crate) fn queries(&self, origins: &[Origin], most: usize, seed: u64) -> Vec<MadeQuery> {
        let mut of_page: BTreeMap<UrlId, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for ((_, words), phrase) in self.by_words.iter().filter(|(_, own)| own.is_telling()) {
            for &url in phrase.pages.keys() {
                of_page.entry(url).or_default().insert((words, &phrase.text));
            }
        }
        let (mut taken, mut made) = (BTreeSet::new(), Vec::new());
        for &origin in origins {
            let own = self.by_words.iter().filter(|((of, _), phrase)| {
                *of == origin && phrase.is_telling() && self.has_page(origin, phrase)
            });
            let mut drawn: Vec<(u64, &str, &Phrase)> = own
                .map(|((_, words), phrase)| {
                    (xxh3_64_with_seed(words.as_bytes(), seed), words.as_str(), phrase)
                })
                .collect();
            drawn.sort_unstable_by_key(|(hash, words, _)| (*hash, *words));
            let new = drawn.into_iter().filter(|(_, words, _)| taken.insert(*words)).take(most);
            made.extend(
                new.collect::<Vec<_>>()
                    .into_iter()
                    .map(|(_, words, phrase)| self.query(origin, words, phrase, &of_page)),
            );
        }
        made
    }

    fn query(
        &self,
        origin: Origin,
        words: &str,
        phrase: &Phrase,
        of_page: &BTreeMap<UrlId, BTreeSet<(&str, &str)>>,
    ) -> MadeQuery {
        let pages = phrase.pages.keys().copied();
        let relevant: Vec<UrlId> = pages.filter(|url| self.fetched.contains(url)).collect();
        let others = relevant.first().and_then(|first| of_page.get(first)).into_iter().flatten();
        let mut seen = BTreeSet::from([words]);
        let others = others.filter(|(other, _)| seen.insert(other)).map(|(_, text)| *text);
        let wordings = others.take(MOST_WORDINGS).map(str::to_owned).collect();
        MadeQuery { text: phrase.text.clone(), origin, relevant, wordings }
    }

    /// Whether somebody looked at a page for it, and it was fetched.
    fn has_page(&self, origin: Origin, phrase: &Phrase) -> bool {
        let links = phrase.pages.values().max().copied().unwrap_or(0);
        let is_said = origin != Origin::Anchor || links >= FEWEST_LINKS;
        is_said && phrase.pages.keys().any(|url| self.fetched.contains(url))
    }

    /// Fetched pages in an order that `seed` draws, for a model to look at.
    pub(crate) fn drawn_pages(&self, most: usize, seed: u64) -> Vec<UrlId> {
        let hash = |url: &UrlId| xxh3_64_with_seed(&url.0.to_le_bytes(), seed);
        let mut pages: Vec<UrlId> = self.fetched.iter().copied().collect();
        pages.sort_unstable_by_key(|url| (hash(url), *url));
        pages.truncate(most);
        pages
    }
}

impl Phrase {
    /// Whether it tells pages apart.
    fn is_telling(&self) -> bool {
        self.pages.len() <= MOST_PAGES
    }
}

/// The distinct words of a phrase, in order, if they can be a query.
fn key(analyzer: &Analyzer, text: &str) -> Option<String> {
    // What steers a terminal or the direction of writing is typed by nobody.
    let steers = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.chars().any(|c| (c.is_control() && !c.is_whitespace()) || steers(c)) {
        return None;
    }
    let mut distinct = analyzer.words(text);
    distinct.sort_unstable();
    distinct.dedup();
    let has_letters = distinct.iter().any(|word| word.chars().any(char::is_alphabetic));
    // Of a script without spaces two pairs of letters are a word.
    let is_pair = |word: &&String| !word.is_ascii() && word.chars().count() == 2;
    let pairs = distinct.iter().filter(is_pair).count();
    let count = distinct.len() - pairs / 2;
    (has_letters && WORDS.contains(&count)).then(|| distinct.join(" "))
}

/// The parts of a title.
fn parts(title: &str) -> Vec<&str> {
    let mut parts = vec![title];
    for separator in SEPARATORS {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    parts
}

/// Lines that look like headings: short, without an end of a sentence, before a longer one. A text of one line has
/// none.
fn headings(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let pairs = lines.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|(line, next)| is_heading(line, next)).map(|(line, _)| line).collect()
}

fn is_heading(line: &str, next: &str) -> bool {
    let is_short = line.chars().count() <= HEADING_CHARS;
    let is_open = !line.ends_with(['.', ',', ';', ':', '!']);
    is_short && is_open && next.chars().count() > HEADING_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_PAGES: [Origin; 3] = [Origin::Title, Origin::Anchor, Origin::Heading];

    fn url(at: u32) -> UrlId {
        UrlId(at)
    }

    fn phrases() -> Phrases {
        let mut phrases = Phrases::default();
        let long = "A sentence that is long enough to stand below a heading, with more than eighty characters in all.";
        for at in 0..6 {
            let title = format!("Bread number {at} at home | The Bread Site");
            let text = format!("Read on\n{long}\nHow to feed starter {at}\n{long}");
            phrases.add_page(url(at), &title, if at < 2 { &text } else { long });
        }
        for _ in 0..2 {
            phrases.add_anchors(url(1), ["The second loaf", "the second loaf!"].into_iter());
            phrases.add_anchors(url(9), ["Never fetched page"].into_iter());
        }
        // One page that says it twice is one that says it.
        phrases.add_anchors(url(2), ["Said once only", "said once, only"].into_iter());
        (0..6).for_each(|at| phrases.add_anchors(url(at), ["Read more"].into_iter()));
        phrases
    }

    #[test]
    fn what_stands_on_many_pages_makes_no_query() {
        let made = phrases().queries(&OF_PAGES, 100, 1);
        let texts = |origin: Origin| -> BTreeSet<&str> {
            made.iter().filter(|own| own.origin == origin).map(|own| own.text.as_str()).collect()
        };
        assert_eq!(texts(Origin::Title).len(), 6);
        assert!(texts(Origin::Title).contains("Bread number 0 at home"));
        assert_eq!(texts(Origin::Anchor), BTreeSet::from(["The second loaf"]));
        let headings = ["How to feed starter 0", "How to feed starter 1", "Read on"];
        assert_eq!(texts(Origin::Heading), BTreeSet::from(headings));
    }

    #[test]
    fn pages_that_a_phrase_leads_to_are_relevant_and_their_other_phrases_say_the_same() {
        let made = phrases().queries(&[Origin::Anchor, Origin::Heading], 100, 1);
        let loaf = made.iter().find(|own| own.text == "The second loaf").unwrap();
        assert_eq!(loaf.relevant, [url(1)]);
        assert!(loaf.wordings.contains(&"Bread number 1 at home".to_owned()), "{loaf:?}");
        assert!(!loaf.wordings.contains(&loaf.text));
        let read_on = made.iter().find(|own| own.text == "Read on").unwrap();
        assert_eq!(read_on.relevant, [url(0), url(1)]);
    }

    #[test]
    fn a_draw_is_the_same_again_and_another_with_another_seed() {
        let of = |most, seed| phrases().queries(&[Origin::Title], most, seed);
        assert_eq!(of(3, 1), of(3, 1));
        assert_eq!(of(3, 1)[..], of(6, 1)[..3]);
        assert!((2..20).any(|seed| of(3, seed) != of(3, 1)));
    }

    #[test]
    fn only_what_can_be_typed_is_a_query() {
        for (text, is_query) in [
            ("rye bread", true),
            ("rye", false),
            ("rye rye", false),
            ("12 34", false),
            ("a b c d e f g h", true),
            ("a b c d e f g h i", false),
            ("如何建立全文搜索引擎", true),
            ("rye bread\u{1b}[2J", false),
            ("rye \u{202e}daerb", false),
        ] {
            assert_eq!(key(&Analyzer::default(), text).is_some(), is_query, "{text}");
        }
        assert_eq!(parts("A - B | C"), ["A", "B", "C"]);
        assert!(headings("one line only").is_empty());
    }
}
