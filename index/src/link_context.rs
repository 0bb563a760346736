//! Text around links: what a page says right before and after a link, which often tells more of what
//! is behind it than the anchor (Hersovici et al., "The shark-search algorithm", WWW 1998; Pant,
//! "Deriving link-context from HTML tag tree", DMKD 2003).
//!
//! [`locate`] finds it in the text of a page. [`LinkContextTable`] has the words around the first
//! [`PER_URL`] links to each URL, so that what is known of a URL is bounded however many link to it.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::StoreError;
use crate::mapped::image::{ImageReader, ImageWriter};
use crate::mapped::lists::Lists;
use crate::page::UrlId;
use crate::words::{Analyzer, for_each_word};

/// Words that are taken on each side of a link.
pub(crate) const WINDOW: usize = 10;
/// Pages that link to a URL whose texts around the link are kept.
pub(crate) const PER_URL: usize = 8;
/// Words of a text that are compared with an anchor's, at most, to find it.
const MOST_COMPARED: usize = 20_000;

/// Number of a word, whatever is asked: two words share one with a chance of 2^-32.
pub fn word_number(word: &str) -> u32 {
    xxh3_64(word.as_bytes()) as u32
}

/// Numbers of the distinct words of a text, ascending, as `analyzer` makes them.
pub fn word_numbers(analyzer: &Analyzer, text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    analyzer.for_each_word(text, |word| numbers.push(word_number(word)));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Text around each of some links, given by their anchors in document order: up to [`WINDOW`] words on
/// each side in lower case, without the anchor; empty where the text does not have the anchor.
///
/// An anchor is looked for behind the one before, so that links with the same anchor have each their
/// own place, and from the start where it is not there. Costs the sorting of the text's words, and for an anchor the
/// places of its rarest word, of which at most [`MOST_COMPARED`] words are compared: behind them it counts as not
/// found, or a page that repeats what its anchors almost say would take the product of both.
///
/// ```
/// use prospect_index::link_context::locate;
///
/// let text = "Breads of the north: rye bread, dense and dark; and crisp bread.";
/// let around = locate(text, ["Rye bread", "white bread"].into_iter());
/// assert_eq!(around[0], "breads of the north dense and dark and crisp bread");
/// assert_eq!(around[1], ""); // the text does not have it
/// ```
pub fn locate<'a>(text: &str, anchors: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut search = AnchorSearch { text, words: None, behind: 0 };
    anchors.map(|anchor| search.around(anchor)).collect()
}

/// Anchors that are looked for in a text, one behind the other.
struct AnchorSearch<'a> {
    text: &'a str,
    /// The words of the text, once an anchor has any.
    words: Option<Words>,
    /// The word behind the last anchor that was found.
    behind: usize,
}

impl AnchorSearch<'_> {
    /// Text around the next anchor.
    fn around(&mut self, anchor: &str) -> String {
        let mut numbers = Vec::new();
        for_each_word(anchor, |word| numbers.push(word_number(word)));
        if numbers.is_empty() {
            return String::new();
        }
        let words = self.words.get_or_insert_with(|| Words::of(self.text));
        let found = words.find(&numbers, self.behind).or_else(|| words.find(&numbers, 0));
        let Some(start) = found else { return String::new() };
        self.behind = start + numbers.len();
        words.around(start, self.behind)
    }
}

/// The words of a text, in lower case.
#[derive(Default)]
struct Words {
    text: String,
    /// Where each word ends in the text; a space follows.
    ends: Vec<usize>,
    numbers: Vec<u32>,
    /// Every word's number and its place, ascending.
    places: Vec<(u32, u32)>,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut words = Self::default();
        for_each_word(text, |word| {
            words.text.push_str(word);
            words.ends.push(words.text.len());
            words.text.push(' ');
            words.numbers.push(word_number(word));
        });
        words.places = (0..).zip(&words.numbers).map(|(at, &number)| (number, at)).collect();
        words.places.sort_unstable();
        words
    }

    /// Places of a word, ascending.
    fn places(&self, number: u32) -> &[(u32, u32)] {
        let start = self.places.partition_point(|&(other, _)| other < number);
        let len = self.places[start..].partition_point(|&(other, _)| other == number);
        &self.places[start..start + len]
    }

    /// Where a run of words starts, at word `from` or later.
    fn find(&self, run: &[u32], from: usize) -> Option<usize> {
        let places = run.iter().map(|&number| self.places(number)).enumerate();
        let (offset, places) = places.min_by_key(|(_, places)| places.len())?;
        let first = places.partition_point(|&(_, at)| (at as usize) < from + offset);
        let mut compared = 0;
        for &(_, at) in &places[first..] {
            let start = at as usize - offset;
            let words = self.numbers.get(start..start + run.len())?;
            let same = words.iter().zip(run).take_while(|(word, wanted)| word == wanted).count();
            if same == run.len() {
                return Some(start);
            }
            compared += same + 1;
            if compared > MOST_COMPARED {
                return None;
            }
        }
        None
    }

    /// The words before `start` and those from `end` on.
    fn around(&self, start: usize, end: usize) -> String {
        let before = self.slice(start.saturating_sub(WINDOW), start);
        let after = self.slice(end, (end + WINDOW).min(self.ends.len()));
        let gap = if before.is_empty() || after.is_empty() { "" } else { " " };
        [before, gap, after].concat()
    }

    fn slice(&self, from: usize, to: usize) -> &str {
        if from >= to {
            return "";
        }
        let start = from.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        &self.text[start..self.ends[to - 1]]
    }
}

/// Words around links to each URL, in the order in which the pages were fetched.
///
/// Costs 16 bytes a link, 12 a URL and 4 a word; equal texts, as menus have them, are kept once. Of those that are mapped,
/// what is touched.
#[derive(Clone, Debug, Default)]
pub struct LinkContextTable {
    /// Of the file, by URL: page, record and text of each link, in fetch order.
    mapped: Lists<[u32; 3]>,
    /// Those that came since.
    rows: Vec<Row>,
    /// By URL, of these.
    ends: Vec<Ends>,
    /// By text.
    words: Lists<u32>,
    /// Text by the hash of its words, of those that came since.
    texts: HashMap<u64, u32>,
    /// Rows of the store's segments that were read.
    pub(crate) read_rows: u64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    from: UrlId,
    seq: u32,
    text: u32,
    next: u32,
}

/// First and last row of a URL, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    first: u32,
    last: u32,
    rows: u32,
}

/// Words around a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkContext<'a> {
    /// Page that shows the link.
    pub from: UrlId,
    /// Numbers of the words, ascending.
    pub words: &'a [u32],
}

impl LinkContextTable {
    /// Adds the words around a link that is known since the record `seq`, ascending; links come in the order of
    /// their pages' current versions. One link of a page counts,
    /// the first that has words around it, and [`PER_URL`] pages; a page says nothing of itself.
    pub fn push(&mut self, from: UrlId, to: UrlId, seq: u32, words: &[u32]) {
        if words.is_empty() || from == to {
            return;
        }
        if self.ends.len() <= to.index() {
            self.ends.resize(to.index() + 1, Ends::default());
        }
        let (ends, mapped) = (self.ends[to.index()], self.mapped.of(to.index()));
        let last = mapped.last().map(|[page, ..]| UrlId(*page));
        let last = if ends.rows > 0 { Some(self.rows[ends.last as usize].from) } else { last };
        if last == Some(from) || mapped.len() + ends.rows as usize >= PER_URL {
            return;
        }
        let text = self.text(words);
        let row = self.rows.len() as u32;
        self.rows.push(Row { from, seq, text, next: row });
        if ends.rows > 0 {
            self.rows[ends.last as usize].next = row;
        }
        let first = if ends.rows > 0 { ends.first } else { row };
        self.ends[to.index()] = Ends { first, last: row, rows: ends.rows + 1 };
    }

    /// The number of a text, which is kept if it is new.
    fn text(&mut self, words: &[u32]) -> u32 {
        let next = self.words.len() as u32;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let known = *self.texts.entry(xxh3_64(&bytes)).or_insert(next);
        if known != next && self.words_of(known) == words {
            return known;
        }
        self.words.push(words);
        next
    }

    /// How many links are in no file that is mapped.
    pub(crate) fn count_in_memory(&self) -> usize {
        self.rows.len()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.mapped.cells() + self.rows.len()
    }

    fn words_of(&self, text: u32) -> &[u32] {
        self.words.of(text as usize)
    }

    /// Words around links to a URL that were known before `before_seq`, in fetch order.
    pub fn of(&self, to: UrlId, before_seq: u32) -> impl Iterator<Item = LinkContext<'_>> {
        self.rows_of(to)
            .filter(move |[_, seq, _]| *seq < before_seq)
            .map(|[page, _, text]| LinkContext { from: UrlId(page), words: self.words_of(text) })
    }

    /// Page, record and text of each link to a URL.
    fn rows_of(&self, to: UrlId) -> impl Iterator<Item = [u32; 3]> + '_ {
        let ends = self.ends.get(to.index()).copied().unwrap_or_default();
        let first = (ends.rows > 0).then_some(ends.first);
        let rows = std::iter::successors(first, |&row| {
            let next = self.rows[row as usize].next;
            (next != row).then_some(next)
        });
        let row = |row: u32| self.rows[row as usize];
        let rows = rows.map(row).map(|row| [row.from.0, row.seq, row.text]);
        self.mapped.of(to.index()).iter().copied().chain(rows)
    }

    /// Writes the table as files that are mapped.
    pub(crate) fn write(&self, image: &mut ImageWriter) -> Result<(), StoreError> {
        let mut rows = Lists::default();
        for url in 0..self.mapped.len().max(self.ends.len()) as u32 {
            rows.push(&self.rows_of(UrlId(url)).collect::<Vec<_>>());
        }
        rows.write(image, "rows")?;
        self.words.write(image, "words")
    }

    /// The table of such files, if they are whole.
    pub(crate) fn read(image: &ImageReader) -> Option<Self> {
        let (mapped, words) = (Lists::read(image, "rows")?, Lists::read(image, "words")?);
        Some(Self { mapped, words, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(text: &str, anchors: &[&str]) -> Vec<String> {
        locate(text, anchors.iter().copied())
    }

    #[test]
    fn the_text_around_an_anchor_is_without_it() {
        let text = "Breads of the north: rye bread, dense and dark; and crisp bread.";
        let found = located(text, &["Rye Bread", "crisp bread"]);
        assert_eq!(found[0], "breads of the north dense and dark and crisp bread");
        assert_eq!(found[1], "breads of the north rye bread dense and dark and");
        assert_eq!(located("rye bread", &["rye bread"]), [""]);
        assert_eq!(located("", &["rye"]), [""]);
        assert_eq!(located("bread", &["", "!", "rye bread", "bread rye"]), ["", "", "", ""]);
    }

    #[test]
    fn no_more_words_than_the_window() {
        let words: Vec<String> = (0..50).map(|word| format!("w{word}")).collect();
        let around = &located(&words.join(" "), &["w25"])[0];
        assert_eq!(*around, [&words[15..25], &words[26..36]].concat().join(" "));
    }

    #[test]
    fn the_same_anchor_again_has_the_next_place_and_a_missed_one_is_looked_for_from_the_start() {
        let text = "alpha more beta more gamma";
        let found = located(text, &["more", "more", "more", "gamma", "alpha"]);
        let expected = ["alpha beta more gamma", "alpha more beta gamma", "alpha beta more gamma"];
        assert_eq!(found[..3], expected);
        assert_eq!(found[3..], ["alpha more beta more", "more beta more gamma"]);
    }

    /// As [`locate`], by looking at every place.
    fn located_plainly(text: &str, anchors: &[Vec<u32>]) -> Vec<Option<usize>> {
        let numbers = Words::of(text).numbers;
        let (mut located, mut behind) = (Vec::new(), 0);
        for run in anchors {
            let at = |from: usize| {
                (from..numbers.len()).find(|&start| numbers[start..].starts_with(run))
            };
            let found = at(behind).or_else(|| at(0)).filter(|_| !run.is_empty());
            behind = found.map_or(behind, |start| start + run.len());
            located.push(found);
        }
        located
    }

    /// Numbers of the words of an anchor, in their order.
    fn run(anchor: &str) -> Vec<u32> {
        let mut numbers = Vec::new();
        for_each_word(anchor, |word| numbers.push(word_number(word)));
        numbers
    }

    proptest::proptest! {
        #[test]
        fn the_rarest_word_leads_to_the_same_place(
            text in "[abc ]{0,80}",
            anchors in proptest::collection::vec("[abcd ]{0,8}", 0..8),
        ) {
            let runs: Vec<Vec<u32>> = anchors.iter().map(|anchor| run(anchor)).collect();
            let expected = located_plainly(&text, &runs);
            let words = Words::of(&text);
            let around = |(found, run): (&Option<usize>, &Vec<u32>)| {
                found.map_or_else(String::new, |at| words.around(at, at + run.len()))
            };
            let expected: Vec<String> = expected.iter().zip(&runs).map(around).collect();
            let found = locate(&text, anchors.iter().map(String::as_str));
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_text_that_almost_says_its_anchors_costs_no_product() {
        // 20,000 links of 100 words each, every place of which nearly fits: 10^11 comparisons by all places.
        let text = format!("{}b ", "a ".repeat(99)).repeat(1_000);
        let anchor = format!("b {}", "a ".repeat(100));
        let anchors = vec![anchor.as_str(); 20_000];
        let start = std::time::Instant::now();
        assert!(locate(&text, anchors.into_iter()).iter().all(String::is_empty));
        assert!(start.elapsed() < std::time::Duration::from_mins(1));
    }

    #[test]
    fn links_known_before_a_cycle_come_first_and_no_more_than_a_few_count() {
        let mut table = LinkContextTable::default();
        let (to, words) = (UrlId(3), word_numbers(&Analyzer::default(), "Dense, dark: dense"));
        assert_eq!(words.len(), 2);
        table.push(UrlId(0), to, 0, &[]);
        table.push(to, to, 0, &words);
        table.push(UrlId(0), to, 0, &words);
        table.push(UrlId(0), to, 0, &[7]);
        for seq in 1..20 {
            table.push(UrlId(seq + 10), to, seq, &[7, 9]);
        }
        assert_eq!(table.rows.len(), PER_URL);
        assert_eq!(table.of(to, 0).count(), 0);
        let first = LinkContext { from: UrlId(0), words: &words };
        assert_eq!(table.of(to, 1).collect::<Vec<_>>(), [first]);
        assert_eq!(table.of(to, 2).last(), Some(LinkContext { from: UrlId(11), words: &[7, 9] }));
        assert_eq!(table.of(to, u32::MAX).count(), PER_URL);
        assert_eq!(table.of(UrlId(9), u32::MAX).count(), 0);
        assert_eq!(table.words.cells(), 4, "equal texts are kept once");
    }
}
