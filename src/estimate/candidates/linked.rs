//! Candidates by locality: URLs that the pages which answer a query best link to, whatever their strings
//! say (topical locality: Davison, SIGIR 2000).

use prospect_index::bm25::Contender;
use prospect_index::link_table::Link;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

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
    /// The pages whose links are followed, of those that were among the [`ANSWERS`] best of a query when they were
    /// fetched, in that order.
    pub(super) fn of(self, contenders: &[Contender]) -> Vec<AnswerSpan> {
        let now = |page: Contender| AnswerSpan::now(page.first, page.seq);
        match self {
            Self::Now => best_answers(contenders.to_vec()).into_iter().map(now).collect(),
            Self::AtAnyTime => answers(contenders),
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
        let is_known =
            |link: &&Link| horizon.of(link.to).is_some_and(|before| answer.leads_by(link, before));
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

    /// Whether the page was an answer, and had the link, to who knows the pages with a `fetch_seq` below `before`.
    fn leads_by(&self, link: &Link, before: u32) -> bool {
        self.first < before && before <= self.until && link.since < before
    }
}

/// The [`ANSWERS`] best of these pages, which are in the order of their fetch; of equals those that came first.
pub(in crate::estimate) fn best_answers(mut pages: Vec<Contender>) -> Vec<Contender> {
    pages.sort_by(|a, b| b.score.total_cmp(&a.score));
    pages.truncate(ANSWERS);
    // One of these is kept for each query.
    pages.shrink_to_fit();
    pages
}

/// All of these pages that were among the [`ANSWERS`] best at some time, as the crawl went on.
fn answers(pages: &[Contender]) -> Vec<AnswerSpan> {
    let mut all: Vec<AnswerSpan> = Vec::new();
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(ANSWERS + 1);
    for &Contender { first, seq, score, .. } in pages {
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
    use prospect_index::bm25::{Bm25, Scorer};
    use prospect_index::text_index::TextIndex;

    #[test]
    fn the_best_are_those_that_are_answers_still() {
        let dir = tempfile::tempdir().unwrap();
        // Many pages of equal scores, and a few without the word.
        let texts = (0..120_usize).map(|page| {
            let times = page * 7 % 5;
            (String::new(), "rye ".repeat(times) + &"bread ".repeat(5 - times))
        });
        let index = TextIndex::build(&dir.path().join("text"), texts).unwrap();
        let scorer = Scorer::new(&index, Bm25::default(), 120, ["rye"]).unwrap();
        let query = scorer.term_ids(&["rye".to_owned()]);
        for end in [3, 30, 120] {
            let postings = scorer.ordered(query.iter().copied(), 0..end, |seq, _| seq).unwrap();
            let contenders = scorer.contenders(&query, &postings, ANSWERS);
            let mut best = AnswerPages::Now.of(&contenders);
            best.sort_unstable();
            let still = AnswerPages::AtAnyTime.of(&contenders).into_iter();
            let still: Vec<AnswerSpan> = still.filter(|answer| answer.until == u32::MAX).collect();
            assert_eq!(best, still);
            assert_eq!(best.len(), ANSWERS.min(end as usize * 4 / 5));
        }
    }
}
