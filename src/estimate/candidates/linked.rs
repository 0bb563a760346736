//! Candidates by locality: URLs that the pages which answer a query best link to, whatever their strings
//! say (topical locality: Davison, SIGIR 2000).

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::link_table::Link;
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, PageTable};

use crate::estimate::horizon::Horizon;

/// Best pages of a query whose links are followed.
pub(crate) const ANSWERS: usize = 20;
/// Links of such a page that are followed, in document order.
pub(crate) const LINKS: usize = 300;

/// Which pages' links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerPages {
    /// Those that answer a query best now.
    Now,
    /// Those that did at some time, as long as they did: for candidates as they were known then.
    AtAnyTime,
}

/// A page that was among the answers, from after its own `fetch_seq` until that of the page which
/// took its place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::estimate) struct AnswerSpan {
    /// The record that fetched it first.
    first: u32,
    /// The one that gave the version that answers.
    seq: u32,
    until: u32,
}

impl AnswerPages {
    /// The pages whose links are followed, given the `scores` of a query.
    pub(super) fn of(
        self,
        pages: &PageTable,
        scorer: &Scorer<'_>,
        scores: &Scores,
    ) -> Vec<AnswerSpan> {
        let has_versions = pages.replaced_since(0);
        let first = |seq| {
            let own = || pages.record(seq).and_then(|(url, _)| pages.first_seq(url));
            if has_versions { own().unwrap_or(seq) } else { seq }
        };
        let scored = scorer.scored(scores).map(|(seq, _, score)| (seq, score));
        match self {
            Self::Now => best_answers(scored, first),
            Self::AtAnyTime => {
                answers(scored.map(|(seq, score)| (first(seq), seq, score)).collect())
            }
        }
    }
}

/// URLs that were candidates while one of these pages was an answer, ascending.
pub(in crate::estimate) fn candidates(
    known: &Known,
    answers: &[AnswerSpan],
    horizon: &impl Horizon,
) -> Vec<UrlId> {
    let mut urls = Vec::new();
    for answer in answers {
        let is_known = |link: &&Link| {
            let is_known = |before| answer.answers_at(before) && link.since < before;
            horizon.of(link.to).is_some_and(is_known)
        };
        // Links are those of the page as it is now.
        let page = known.pages.record(answer.seq).and_then(|(url, _)| known.pages.page_seq(url));
        let of_page = known.links.of_page(page.unwrap_or(answer.seq));
        urls.extend(of_page.iter().take(LINKS).filter(is_known).map(|link| link.to));
    }
    urls.sort_unstable();
    urls.dedup();
    urls
}

impl AnswerSpan {
    /// Of a page that is an answer now: the record that fetched it first, and the one that gave its version.
    pub(in crate::estimate) fn now(first: u32, seq: u32) -> Self {
        Self { first, seq, until: u32::MAX }
    }

    /// Whether the page was an answer to who knows the pages with a `fetch_seq` below `before`.
    fn answers_at(&self, before: u32) -> bool {
        self.first < before && before <= self.until
    }
}

/// The [`ANSWERS`] best of these pages, given by record with their scores; of equals those whose `first` record came first.
fn best_answers(
    scored: impl Iterator<Item = (u32, f64)>,
    first: impl Fn(u32) -> u32,
) -> Vec<AnswerSpan> {
    let mut pages: Vec<(u32, f64)> = scored.filter(|(_, score)| *score > 0.0).collect();
    if pages.len() > ANSWERS {
        let (_, &mut (_, low), _) =
            pages.select_nth_unstable_by(ANSWERS - 1, |a, b| b.1.total_cmp(&a.1));
        pages.retain(|(_, score)| *score >= low);
    }
    let mut pages: Vec<(f64, u32, u32)> =
        pages.into_iter().map(|(seq, score)| (score, first(seq), seq)).collect();
    pages.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    pages.truncate(ANSWERS);
    pages.into_iter().map(|(_, first, seq)| AnswerSpan::now(first, seq)).collect()
}

/// All of these pages that were among the [`ANSWERS`] best at some time, as the crawl went on.
fn answers(mut pages: Vec<(u32, u32, f64)>) -> Vec<AnswerSpan> {
    // They come in a few runs, one of each word, which a stable sort merges.
    pages.sort_by_key(|(first, ..)| *first);
    let mut all: Vec<AnswerSpan> = Vec::new();
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(ANSWERS + 1);
    for (first, seq, score) in pages {
        let low = best.get(ANSWERS - 1).map_or(0.0, |(low, _)| *low);
        if score <= low {
            continue;
        }
        let at = best.partition_point(|(other, _)| *other >= score);
        best.insert(at, (score, all.len()));
        all.push(AnswerSpan::now(first, seq));
        if best.len() > ANSWERS
            && let Some((_, out)) = best.pop()
        {
            all[out].until = first;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use prospect_index::bm25::Bm25;
    use prospect_index::text_index::TextIndex;

    #[test]
    fn the_best_are_those_that_are_answers_still() {
        let dir = tempfile::tempdir().unwrap();
        // Many pages of equal scores, and a few without the word.
        let text = |page: u32| {
            let times = page * 7 % 5;
            format!("{}{}", "rye ".repeat(times as usize), "bread ".repeat(5 - times as usize))
        };
        let texts = (0..120).map(|page| (String::new(), text(page)));
        let index = TextIndex::build(&dir.path().join("text"), texts).unwrap();
        let scorer = Scorer::new(&index, Bm25::default(), 120, ["rye"]).unwrap();
        let mut scores = Scores::default();
        for end in [3, 30, 120] {
            scorer.score(&scorer.term_ids(&["rye".to_owned()]), 0..end, &mut scores).unwrap();
            let pages = PageTable::default();
            let mut best = AnswerPages::Now.of(&pages, &scorer, &scores);
            best.sort_unstable();
            let still = AnswerPages::AtAnyTime.of(&pages, &scorer, &scores).into_iter();
            let still: Vec<AnswerSpan> = still.filter(|answer| answer.until == u32::MAX).collect();
            assert_eq!(best, still);
            assert_eq!(best.len(), ANSWERS.min(end as usize * 4 / 5));
        }
    }
}
