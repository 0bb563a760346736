//! Near-duplicates: pages that share at least nine tenths of their runs of three words (Broder, "On the
//! resemblance and containment of documents", 1997), found exactly by a self-join with prefix filter (Bayardo,
//! Ma, Srikant, "Scaling up all pairs similarity search", WWW 2007).

use std::collections::{HashMap, HashSet};

use prospect_index::page::UrlId;
use prospect_index::words::Analyzer;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Words of a shingle.
const SHINGLE_WORDS: usize = 3;
/// Jaccard similarity from which on pages are near-duplicates, as numerator and denominator.
const ALIKE: (usize, usize) = (9, 10);
/// Places in which shingles are counted, to find rare ones.
const COUNTERS: usize = 1 << 20;

/// The distinct shingles of a page, as hashes, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shingles(Vec<u64>);

impl Shingles {
    /// Of a page's title and text; a page of fewer words than a shingle has all of them as one.
    pub(crate) fn of(title: &str, text: &str) -> Self {
        let mut shingler = Shingler::default();
        let plain = Analyzer::default();
        plain.for_each_word(title, |word| shingler.take(word));
        plain.for_each_word(text, |word| shingler.take(word));
        let Shingler { last, mut hashes, .. } = shingler;
        if hashes.is_empty() && !last.is_empty() {
            hashes.push(xxh3_64(last.join(" ").as_bytes()));
        }
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// Whether two pages are near-duplicates.
    fn are_alike(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        let common = |shared: usize| shared * ALIKE.1 >= (a.len() + b.len() - shared) * ALIKE.0;
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            // As many as can still be shared.
            if !common(shared + (a.len() - i).min(b.len() - j)) {
                return false;
            }
            match a[i].cmp(&b[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
            }
        }
        shared > 0 && common(shared)
    }
}

/// Makes shingles of words that come one after the other.
#[derive(Default)]
struct Shingler {
    /// The last words, as many as a shingle has at most.
    last: Vec<String>,
    /// Room for the text of a shingle.
    run: String,
    /// The shingles so far.
    hashes: Vec<u64>,
}

impl Shingler {
    fn take(&mut self, word: &str) {
        if self.last.len() == SHINGLE_WORDS {
            self.last.rotate_left(1);
            self.last.pop();
        }
        self.last.push(word.to_owned());
        if self.last.len() == SHINGLE_WORDS {
            self.run.clear();
            for word in &self.last {
                self.run.push_str(word);
                self.run.push(' ');
            }
            self.hashes.push(xxh3_64(self.run.as_bytes()));
        }
    }
}

/// Which of some pages are near-duplicates of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NearDuplicates {
    pairs: HashSet<(UrlId, UrlId)>,
}

impl NearDuplicates {
    /// Among these pages. Takes 8 bytes for each distinct shingle of a page, and time that grows with the pages
    /// that share a rare one.
    pub(crate) fn among(mut pages: Vec<(UrlId, Shingles)>) -> Self {
        pages.retain(|(_, shingles)| !shingles.0.is_empty());
        pages.sort_by_key(|(url, shingles)| (shingles.0.len(), *url));
        let prefixes = prefixes(&pages);
        let mut holders: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, prefix) in prefixes.iter().enumerate() {
            for &shingle in prefix {
                holders.entry(shingle).or_default().push(at as u32);
            }
        }
        let found = pages.par_iter().enumerate().flat_map_iter(|(at, (url, shingles))| {
            let smaller = prefixes[at].iter().filter_map(|shingle| holders.get(shingle));
            let mut smaller: Vec<u32> = smaller
                .flat_map(|holders| holders.iter().copied().take_while(|&other| other < at as u32))
                .filter(|&other| {
                    pages[other as usize].1.0.len() * ALIKE.1 >= shingles.0.len() * ALIKE.0
                })
                .collect();
            smaller.sort_unstable();
            smaller.dedup();
            let alike = |&other: &u32| pages[other as usize].1.are_alike(shingles);
            smaller.retain(alike);
            smaller.into_iter().map(|other| ordered(*url, pages[other as usize].0))
        });
        Self { pairs: found.collect() }
    }

    /// Whether two of the pages are near-duplicates.
    pub(crate) fn are_alike(&self, a: UrlId, b: UrlId) -> bool {
        self.pairs.contains(&ordered(a, b))
    }

    /// Share of the pages of a list that are near-duplicates of an earlier one; 0 of an empty list.
    pub(crate) fn redundancy(&self, list: &[(UrlId, f64)]) -> f64 {
        let is_repeated =
            |at: &usize| list[..*at].iter().any(|(other, _)| self.are_alike(list[*at].0, *other));
        let repeated = (0..list.len()).filter(is_repeated).count();
        repeated as f64 / list.len().max(1) as f64
    }
}

fn ordered(a: UrlId, b: UrlId) -> (UrlId, UrlId) {
    (a.min(b), a.max(b))
}

/// By page: its rarest shingles, so many that near-duplicates share at least one of them.
fn prefixes(pages: &[(UrlId, Shingles)]) -> Vec<Vec<u64>> {
    let mut counts = vec![0_u32; COUNTERS];
    let place = |shingle: u64| shingle as usize % COUNTERS;
    for &shingle in pages.iter().flat_map(|(_, shingles)| &shingles.0) {
        counts[place(shingle)] += 1;
    }
    let prefixes = pages.par_iter().map(|(_, Shingles(all))| {
        // Two sets of Jaccard similarity t share at least t |x| of the elements of either.
        let length = all.len() - (all.len() * ALIKE.0).div_ceil(ALIKE.1) + 1;
        let mut rarest = all.clone();
        rarest.sort_unstable_by_key(|&shingle| (counts[place(shingle)], shingle));
        rarest.truncate(length);
        rarest
    });
    prefixes.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_of_three_words_tell_pages_apart() {
        let of = |text: &str| Shingles::of("", text);
        assert_eq!(of("a b c d").0.len(), 2);
        assert_eq!(of("a b c a b c").0.len(), 3);
        assert_eq!((of("a b").0.len(), of("?!").0.len()), (1, 0));
        assert_eq!(Shingles::of("a b", "c d"), of("A b, C d"));
        assert!(of("a b c d").are_alike(&of("a b c d")) && !of("a b c").are_alike(&of("b c d")));
    }

    #[test]
    fn a_list_repeats_itself_as_often_as_a_page_is_like_an_earlier_one() {
        let text: Vec<String> = (0..60).map(|at| format!("w{at}")).collect();
        let other = [&text[..59], &["x".to_owned()]].concat();
        let texts = [text.join(" "), other.join(" "), "quite another page".into(), text.join(" ")];
        let pages = texts.iter().enumerate();
        let pages = pages.map(|(at, text)| (UrlId(at as u32), Shingles::of("", text))).collect();
        let found = NearDuplicates::among(pages);
        let list: Vec<(UrlId, f64)> = (0..4).map(|at| (UrlId(at), 1.0)).collect();
        assert_eq!(found.redundancy(&list), 0.5);
        assert_eq!((found.redundancy(&list[2..]), found.redundancy(&[])), (0.0, 0.0));
    }

    proptest! {
        /// The join finds what comparing all with all finds.
        #[test]
        fn the_join_is_exact(sets in prop::collection::vec(prop::collection::btree_set(0_u64..25, 0..25), 0..25)) {
            let pages: Vec<(UrlId, Shingles)> = sets
                .iter()
                .enumerate()
                .map(|(at, set)| (UrlId(at as u32), Shingles(set.iter().copied().collect())))
                .collect();
            let found = NearDuplicates::among(pages.clone());
            for (a, first) in &pages {
                for (b, second) in pages.iter().filter(|(b, _)| b > a) {
                    let shared = first.0.iter().filter(|hash| second.0.contains(hash)).count();
                    let all = first.0.len() + second.0.len() - shared;
                    let alike = all > 0 && shared * 10 >= 9 * all;
                    prop_assert_eq!(found.are_alike(*a, *b), alike);
                }
            }
        }
    }
}
