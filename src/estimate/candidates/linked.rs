//! Candidates by locality: URLs that the pages which answer a query best link to, whatever their strings
//! say (topical locality: Davison, SIGIR 2000).

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::link_table::LinkTable;
use prospect_index::page::UrlId;

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
pub(super) struct AnswerSpan {
    seq: u32,
    until: u32,
}

impl AnswerPages {
    /// The pages whose links are followed, given the `scores` of a query.
    pub(super) fn of(self, scorer: &Scorer<'_>, scores: &Scores) -> Vec<AnswerSpan> {
        match self {
            Self::Now => best_answers(scorer, scores),
            Self::AtAnyTime => answers(scorer, scores),
        }
    }
}

/// URLs that were candidates while one of these pages was an answer, ascending.
pub(super) fn candidates(
    links: &LinkTable,
    answers: &[AnswerSpan],
    horizon: &impl Horizon,
) -> Vec<UrlId> {
    let mut urls = Vec::new();
    for answer in answers {
        let known = |&to: &UrlId| horizon.of(to).is_some_and(|before| answer.answers_at(before));
        let of_page = links.of_page(answer.seq).iter();
        urls.extend(of_page.take(LINKS).map(|link| link.to).filter(known));
    }
    urls.sort_unstable();
    urls.dedup();
    urls
}

impl AnswerSpan {
    /// Whether the page was an answer to who knows the pages with a `fetch_seq` below `before`.
    fn answers_at(&self, before: u32) -> bool {
        self.seq < before && before <= self.until
    }
}

/// The [`ANSWERS`] best pages, of equals the first.
fn best_answers(scorer: &Scorer<'_>, scores: &Scores) -> Vec<AnswerSpan> {
    let all = scorer.scored(scores).map(|(seq, _, score)| (seq, score));
    let mut pages: Vec<(u32, f64)> = all.filter(|(_, score)| *score > 0.0).collect();
    if pages.len() > ANSWERS {
        pages.select_nth_unstable_by(ANSWERS, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        pages.truncate(ANSWERS);
    }
    pages.into_iter().map(|(seq, _)| AnswerSpan { seq, until: u32::MAX }).collect()
}

/// All pages that were among the [`ANSWERS`] best at some time, as the crawl went on.
fn answers(scorer: &Scorer<'_>, scores: &Scores) -> Vec<AnswerSpan> {
    let mut pages: Vec<(u32, f64)> =
        scorer.scored(scores).map(|(seq, _, score)| (seq, score)).collect();
    pages.sort_unstable_by_key(|(seq, _)| *seq);
    let mut all: Vec<AnswerSpan> = Vec::new();
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(ANSWERS + 1);
    for (seq, score) in pages {
        let low = best.get(ANSWERS - 1).map_or(0.0, |(low, _)| *low);
        if score <= low {
            continue;
        }
        let at = best.partition_point(|(other, _)| *other >= score);
        best.insert(at, (score, all.len()));
        all.push(AnswerSpan { seq, until: u32::MAX });
        if best.len() > ANSWERS
            && let Some((_, out)) = best.pop()
        {
            all[out].until = seq;
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
            let mut best = best_answers(&scorer, &scores);
            best.sort_unstable();
            let still = answers(&scorer, &scores).into_iter();
            let still: Vec<AnswerSpan> = still.filter(|answer| answer.until == u32::MAX).collect();
            assert_eq!(best, still);
            assert_eq!(best.len(), ANSWERS.min(end as usize * 4 / 5));
        }
    }
}
