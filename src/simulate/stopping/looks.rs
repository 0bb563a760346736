//! What rules see of a crawl at the end of each window.

use super::super::SimulateError;
use super::super::collection::Collection;
use super::super::crawl::{CrawlOrder, Start};
use super::super::epochs::{FollowedCrawl, Seen};
use super::Stopping;
use super::judges::Judges;
use crate::policy::Page;
use crate::sufficiency::assess::{AssessedQueries, Frontier, WorkloadSufficiency, redundancies};
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::sufficiency::verdict::{Saturation, THETA};
use crate::sufficiency::windows::Window;

/// What can be seen of a crawl at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Pages fetched, failed ones among them, those crawled before the start left out.
    pub(super) fetched: u32,
    pub(super) sufficiency: f64,
    pub(super) saturation: Option<Saturation>,
    /// What fetching all that can be reached would add to the scores of the best pages, as a share of what they are.
    pub(super) growth: Option<f64>,
    /// How many times steeper entries came before the knee.
    pub(super) knee: f64,
    /// Whether vectors say that nothing is learned any more.
    pub(super) learned: bool,
    /// Whether crawl4ai's shipped code would stop.
    pub(super) compatible: bool,
}

/// One crawl, as rules see it.
pub(super) struct Trace {
    pub(super) looks: Vec<Look>,
    /// By pages fetched, where a rule may stop and at the end: nDCG@10 as a share of the final one.
    pub(super) ndcg: Option<Vec<f64>>,
    /// Whether there is a final one, or no judgement that could tell.
    pub(super) finds: bool,
    /// By pages fetched: share of the impact of the whole crawl.
    pub(super) impact: Vec<f64>,
    pub(super) pages: u32,
    /// Where the oracle stops.
    pub(super) oracle: Option<u32>,
    /// Where the policy expected too little of the next batch.
    pub(super) no_gain: Option<u32>,
    /// Whether pages are fetched in the order of learned chances.
    pub(super) planned: bool,
}

impl Stopping<'_> {
    /// What can be seen at the end of each window.
    pub(super) fn looks(
        &self,
        queries: &AssessedQueries,
        alike: &NearDuplicates,
        fetched: &[Page],
        (windows, known): (&[Window], &[usize]),
    ) -> Result<Vec<Look>, SimulateError> {
        let (collection, bm25) = (self.measure.collection, self.measure.settings.plan.bm25);
        let crawl = FollowedCrawl { collection, queries, bm25, fetched, windows };
        let ends: Vec<u32> = windows.iter().map(|window| window.end_seq).collect();
        let mut looks = Vec::with_capacity(windows.len());
        let mut judges = self.judges(queries);
        crawl.look_at(&ends, &mut |seen| {
            looks.push(self.look(&seen, (fetched, known), alike, &mut judges)?);
            Ok(())
        })?;
        Ok(looks)
    }

    fn look(
        &self,
        seen: &Seen<'_>,
        (fetched, known): (&[Page], &[usize]),
        alike: &NearDuplicates,
        judges: &mut Judges<'_>,
    ) -> Result<Look, SimulateError> {
        let Seen { at, statistics: epoch, tracks, crawled, .. } = *seen;
        let sufficiency = if self.measure.settings.stops_by_sufficiency() {
            let parts = epoch.parts(tracks, crawled, &redundancies(tracks, alike))?;
            let frequencies = epoch.queries().iter().map(|query| query.frequency);
            WorkloadSufficiency::of(frequencies.zip(&parts), THETA).sufficiency
        } else {
            0.0
        };
        let windows = &crawled.windows[..=at];
        let from = at.checked_sub(1).map_or(0, |before| windows[before].end_seq);
        let (learned, compatible) =
            judges.now(&fetched[from as usize..windows[at].end_seq as usize])?;
        let entered = epoch.entered(tracks, windows);
        Ok(Look {
            fetched: windows[at].end_seq,
            sufficiency,
            saturation: epoch.saturation(tracks, windows),
            growth: epoch.growth(tracks, crawled.pages, windows).map(|growth| {
                let discovered = known[at + 1] - known[growth.windows.start];
                let waiting = known[at + 1] - windows[at].end_seq as usize;
                growth.left(Frontier { waiting, discovered })
            }),
            knee: knee(&entered, windows),
            learned,
            compatible,
        })
    }
}

/// How many times steeper results came before the knee than behind it: at the window whose point is farthest above
/// the line from the start to now.
fn knee(entered: &[f64], windows: &[Window]) -> f64 {
    let all: f64 = entered.iter().sum();
    let pages: usize = windows.iter().map(|window| window.pages).sum();
    let (mut found, mut fetched) = (0.0, 0);
    let mut knee = (0.0, 0.0, 0);
    for (impact, window) in entered.iter().zip(windows) {
        (found, fetched) = (found + impact, fetched + window.pages);
        let above = found - all * fetched as f64 / pages.max(1) as f64;
        if above > knee.0 {
            knee = (above, found, fetched);
        }
    }
    let (_, before, at) = knee;
    if at == 0 || at == pages {
        return 0.0;
    }
    (before / at as f64) / ((1.0 + all - before) / (pages - at) as f64)
}

/// The batches of a crawl as windows.
pub(super) fn batches(order: &CrawlOrder, start: &Start) -> Vec<Window> {
    let before = start.crawled.len() as u32;
    let (mut batches, mut first_seq) = (Vec::new(), before);
    for end_seq in order.batch_ends.iter().map(|end| before + end) {
        batches.push(Window { first_seq, end_seq, pages: (end_seq - first_seq) as usize });
        first_seq = end_seq;
    }
    batches
}

/// URLs that are known at the start, and by window at its end, fetched ones among them.
pub(super) fn known_urls(
    collection: &Collection,
    start: &Start,
    fetched: &[Page],
    windows: &[Window],
) -> Vec<usize> {
    // Of what no page has shown, a crawl that knows all pages knows no more than another.
    let pages = collection.pages as usize;
    let mut known = vec![false; collection.urls.len()];
    known[..pages].fill(start.all_known);
    let mut count = if start.all_known { pages } else { 0 };
    let mut meet = |page: Page| usize::from(!std::mem::replace(&mut known[page as usize], true));
    count += start.seeds.iter().map(|&page| meet(page)).sum::<usize>();
    let mut at = 0;
    let mut by_window = vec![count];
    for window in windows {
        while at < window.end_seq as usize {
            count += meet(fetched[at]);
            count += collection.links(fetched[at]).iter().map(|&link| meet(link)).sum::<usize>();
            at += 1;
        }
        by_window.push(count);
    }
    by_window
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_a_steep_curve_ends() {
        let windows: Vec<Window> = (0..10)
            .map(|at| Window { first_seq: at * 100, end_seq: at * 100 + 100, pages: 100 })
            .collect();
        let straight = knee(&[100.0; 10], &windows);
        assert!(straight < 1.5, "{straight}");
        let steep = [1000.0, 1000.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0];
        let found = knee(&steep, &windows);
        assert!((found - 10.0 / (81.0 / 800.0)).abs() < 1e-9, "{found}");
        assert_eq!(knee(&[], &[]), 0.0);
    }
}
