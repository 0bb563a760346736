//! What a batch is expected to bring (METHODS 5a), in two quantities that are never mixed: what *enters*,
//! the impact of the fetched picks that are in a list when their cycle is closed, and what *stays*, the impact
//! of those that are in it when the crawl has grown by a quarter since.
//!
//! A ranking score is no expected impact. This is, and it has two sources:
//!
//! - lists that a pick is a candidate of: f(q) V summed over the chances of its pairs to be in them at the close;
//! - lists that nothing pointed to, about half of it in most crawls. That half is steady: if pages were all alike, a
//!   batch would hold its share of all pages in every list, and it gets about the same part of that in each cycle.
//!
//! By query both together are at most what its places allow. Which share of either is realised, and which share
//! of it stays, is learned from closed cycles, each as a mean over them: sums would be those of the first cycles,
//! whose impact is many times that of later ones.

use super::stays::GROWTH;
use crate::results::impact::{Both, ExpectedImpact, LedTo};
use crate::sketch::visibility::Places;
use crate::workload::{Query, QueryId};

/// What a cycle counts for in the next one.
const KEPT: f64 = 0.7;
/// Cycles that the start of a share is worth.
const PRIOR_CYCLES: f64 = 2.0;
/// Share, before there is an outcome, of what a batch would have in lists that nothing pointed to if all pages were
/// alike. Measured over cycles of four collections: 0.2 to 0.4 in the first, 0.3 to 0.8 later (`docs/figures.md`).
const UNFORESEEN: f64 = 0.4;
/// Share, before there is an outcome, of the parts *discovery* that comes by the time that the crawl has grown by a quarter:
/// they are fitted to what pages have led to in all their time, and picks are those of which they say most. Measured
/// over cycles of four collections: 0.2 to 0.5 (`docs/figures.md`).
const LEADING: f64 = 1.0 / 3.0;
/// Standard deviation of the log of realised over expected before there is an outcome: a factor of 3
/// either way is then within the interval.
const PRIOR_SPREAD: f64 = 0.56;
/// Cycles that it is worth: so few, for it is wide on purpose, and cycles are off by a fifth.
const PRIOR_SPREAD_CYCLES: f64 = 0.5;
/// Quantile of the normal distribution for 95 %.
const NORMAL: f64 = 1.96;

/// How often queries are asked together.
pub(crate) fn askings(queries: &[Query]) -> f64 {
    queries.iter().fold(0.0, |sum, query| sum + query.frequency)
}

/// Mean frequency of queries; 0 of none.
pub(crate) fn mean_frequency(queries: &[Query]) -> f64 {
    askings(queries) / queries.len().max(1) as f64
}

/// Lists of queries as they are before a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists<'a> {
    /// The queries.
    pub(crate) queries: &'a [Query],
    /// By query: places that are taken.
    pub(crate) taken: &'a [u32],
    /// What places there are.
    pub(crate) places: Places,
}

/// Sizes of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize {
    /// Its pages, or how many are expected of it.
    picks: f64,
    /// Pages of the crawl once these are fetched.
    pages: f64,
}

impl BatchSize {
    /// Of a batch of `new` pages, or of which so many are expected, in a crawl that has `before`.
    pub(crate) fn beside(before: usize, new: f64) -> Self {
        Self { picks: new, pages: before as f64 + new }
    }

    /// Of a batch of `new` pages that were fetched, in a crawl that has `pages` with them.
    pub(crate) fn within(pages: usize, new: usize) -> Self {
        Self { picks: new as f64, pages: pages as f64 }
    }
}

/// What is said of a batch and a list before the batch is fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    /// How often the query is asked.
    frequency: f64,
    /// Visibility that the batch takes in the list by the chances of its pages.
    foreseen: f64,
    /// Visibility that it takes if all pages are alike.
    alike: f64,
}

impl Said {
    /// Visibility where these shares of both are realised, were there places without end.
    fn wanted(&self, foreseen: f64, unforeseen: f64) -> f64 {
        foreseen * self.foreseen + unforeseen * self.alike
    }

    /// The same, where a list has `most` for the batch.
    fn visible(&self, foreseen: f64, unforeseen: f64, most: f64) -> Visible {
        let wanted = self.wanted(foreseen, unforeseen);
        let visibility = wanted.min(most);
        let kept = if wanted > 0.0 { visibility / wanted } else { 1.0 };
        let unforeseen = kept * unforeseen * self.alike;
        Visible { visibility, of_chance: kept * foreseen, unforeseen }
    }
}

/// What is said of a batch before it is fetched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListChances {
    of_query: Vec<Said>,
    /// How often the queries are asked together.
    askings: f64,
    /// Mean frequency of the queries.
    mean_frequency: f64,
    /// Visibility that so many pages can take in one list.
    most: f64,
    /// What no such batch can exceed.
    ceiling: f64,
}

impl ListChances {
    /// Of a batch with these chances to be in lists of queries.
    pub(crate) fn new(
        chances: impl Iterator<Item = (QueryId, f64)>,
        BatchSize { picks, pages }: BatchSize,
        Lists { queries, taken, places }: Lists<'_>,
    ) -> Self {
        let mut visible = vec![0.0; places.k + 1];
        (1..=places.k).for_each(|rank| visible[rank] = visible[rank - 1] + places.at(rank));
        let of_collection = picks / pages.max(1.0);
        let mut of_query = Vec::with_capacity(queries.len());
        for (query, &taken) in queries.iter().zip(taken) {
            let alike = visible[(taken as usize).min(places.k)] * of_collection;
            of_query.push(Said { frequency: query.frequency, foreseen: 0.0, alike });
        }
        for (query, chance) in chances {
            of_query[query.index()].foreseen += chance * places.mean();
        }
        // Of a number of pages that is expected no more: what so many can take is concave in them.
        let (whole, part) = ((picks as usize).min(places.k), picks.fract());
        let next = visible[(whole + 1).min(places.k)];
        let most = visible[whole] + part * (next - visible[whole]);
        let (askings, mean_frequency) = (askings(queries), mean_frequency(queries));
        Self { of_query, askings, mean_frequency, most, ceiling: askings * most }
    }

    /// Mean frequency of the workload's queries; 0 of none.
    pub(crate) fn mean_frequency(&self) -> f64 {
        self.mean_frequency
    }

    /// How often its queries are asked together.
    pub(crate) fn askings(&self) -> f64 {
        self.askings
    }

    /// What no such batch can exceed.
    pub(crate) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// Impact, where these shares of what chances say and of what comes unforeseen are realised: of a query at most
    /// f(q) times the visibility that the pages can take.
    fn impact(&self, foreseen: f64, unforeseen: f64) -> f64 {
        let of_query =
            |said: &Said| said.frequency * said.wanted(foreseen, unforeseen).min(self.most);
        self.of_query.iter().fold(0.0, |sum, said| sum + of_query(said)).min(self.ceiling)
    }
}

/// A mean over closed cycles, of which later ones count for more, from a start that is worth some.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CycleMean {
    start: f64,
    /// Cycles that the start is worth.
    worth: f64,
    sum: f64,
    cycles: f64,
}

impl CycleMean {
    const fn new(start: f64, worth: f64) -> Self {
        Self { start, worth, sum: 0.0, cycles: 0.0 }
    }

    fn add(&mut self, value: f64) {
        self.sum = KEPT * self.sum + value;
        self.cycles = KEPT * self.cycles + 1.0;
    }

    fn mean(&self) -> f64 {
        (self.worth * self.start + self.sum) / (self.worth + self.cycles)
    }

    /// Takes in the share of what was `said` that came, with a place of mean frequency that was as at the start: where
    /// little was said, little is learned. The start fades as cycles do.
    fn add_share(&mut self, came: f64, said: f64, mean_frequency: f64) {
        self.worth *= KEPT;
        self.add((came + mean_frequency * self.start) / (said + mean_frequency));
    }
}

/// What a closed cycle teaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CycleImpact<'a> {
    /// What chances said of its fetched picks.
    pub(crate) chances: &'a ListChances,
    /// Whether they come from the same source as those of the batch that something is expected of: from outcomes, or
    /// from what is assumed before the first one, which is off by another factor.
    pub(crate) same_source: bool,
    /// Impact at the close in lists that the picks were candidates of.
    pub(crate) foreseen: f64,
    /// Impact at the close in all lists.
    pub(crate) realised: f64,
    /// Impact when the crawl had grown by a quarter; none while it is not known.
    pub(crate) stayed: Option<f64>,
    /// By then, the parts *discovery* of its fetched picks and what these led to, where the parts say something.
    pub(crate) led_to: Option<LedTo>,
}

/// Which shares of what is said of a batch are realised, and how far cycles are from what is expected by them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RealisedShares {
    /// Of chances to be in lists.
    foreseen: CycleMean,
    /// Of what comes unforeseen if all pages are alike.
    unforeseen: CycleMean,
    /// Of what enters, what stays.
    staying: CycleMean,
    /// Of the parts *discovery*.
    leading: CycleMean,
    /// Squares of the log of realised over expected.
    squares: Both<CycleMean>,
    /// Cycles they are learned from.
    cycles: Both<usize>,
    mean_frequency: f64,
}

impl RealisedShares {
    /// Before any cycle is closed, of a workload with this mean frequency.
    pub(crate) fn start(mean_frequency: f64) -> Self {
        let squares = CycleMean::new(PRIOR_SPREAD * PRIOR_SPREAD, PRIOR_SPREAD_CYCLES);
        let share = |start| CycleMean::new(start, PRIOR_CYCLES);
        Self {
            foreseen: share(1.0),
            unforeseen: share(UNFORESEEN),
            // Pages to come are taken to be like those there.
            staying: share(1.0 / GROWTH),
            leading: share(LEADING),
            squares: Both { enters: squares, stays: squares },
            cycles: Both::default(),
            mean_frequency,
        }
    }

    /// Learned from closed cycles, the oldest first, of a workload with this mean frequency.
    pub(crate) fn learned<'a>(
        cycles: impl Iterator<Item = CycleImpact<'a>>,
        mean_frequency: f64,
    ) -> Self {
        let mut shares = Self::start(mean_frequency);
        cycles.for_each(|cycle| shares.learn(cycle));
        shares
    }

    /// Takes in the next closed cycle.
    pub(crate) fn learn(&mut self, cycle: CycleImpact<'_>) {
        let CycleImpact { chances, same_source, foreseen, realised, stayed, led_to } = cycle;
        // A cycle of which nothing came says nothing.
        if chances.most <= 0.0 {
            return;
        }
        // Its own, in case its log was of another time.
        let unit = chances.mean_frequency;
        self.cycles.enters += 1;
        self.cycles.stays += usize::from(stayed.is_some());
        // Queries that nobody asks have no impact to learn from.
        if unit <= 0.0 {
            return;
        }
        // How far off the cycle was by what was known before it; an entry more or less is no surprise.
        let squared = |came: f64, expected: f64| ((came + unit) / (expected + unit)).ln().powi(2);
        let expected = self.enters(chances);
        self.squares.enters.add(squared(realised, expected));
        if let Some(stayed) = stayed {
            self.squares.stays.add(squared(stayed, self.staying.mean() * expected));
            self.staying.add_share(stayed, realised, unit);
        }
        if let Some(LedTo { predicted, realised }) = led_to {
            self.leading.add_share(realised, predicted, unit);
        }
        if same_source {
            self.foreseen.add_share(foreseen, chances.impact(1.0, 0.0), unit);
        }
        let alike = |sum, said: &Said| sum + said.frequency * said.alike;
        let said = chances.of_query.iter().fold(0.0, alike);
        // Where lists were all but empty next to nothing was said, and what filled them says nothing of later.
        self.unforeseen.add_share((realised - foreseen).clamp(0.0, said), said, unit);
    }

    /// Impact that a batch is expected to have in lists at the close of its cycle.
    pub(crate) fn enters(&self, chances: &ListChances) -> f64 {
        chances.impact(self.foreseen.mean(), self.unforeseen.mean())
    }

    /// What picks with this sum of parts *discovery* are expected to have led to when the crawl has grown by a quarter.
    pub(crate) fn leads_to(&self, discovery: f64) -> f64 {
        self.leading.mean() * discovery
    }

    /// What is expected of a batch.
    pub(crate) fn expected(&self, chances: &ListChances) -> Both<ExpectedImpact> {
        let impact = self.enters(chances);
        let ceiling = chances.ceiling;
        let stays = (self.staying.mean() * impact).min(ceiling);
        let enters = self.within(impact, ceiling, self.squares.enters, self.cycles.enters);
        let stays = self.within(stays, ceiling, self.squares.stays, self.cycles.stays);
        // What stays has entered.
        let (low, high) =
            (stays.low.min(enters.low), stays.high.min(enters.high).max(stays.impact));
        Both { enters, stays: ExpectedImpact { low, high, ..stays } }
    }

    /// An impact with its interval, as cycles were off so far.
    fn within(
        &self,
        impact: f64,
        ceiling: f64,
        squares: CycleMean,
        cycles: usize,
    ) -> ExpectedImpact {
        let factor = factor(squares);
        // Whether an entry more or less comes is beside it; of a batch with few, none may.
        let count = self.counted(impact + self.mean_frequency);
        let half = |off: f64| (off * impact).hypot(count);
        ExpectedImpact {
            impact,
            low: (impact - half(1.0 - 1.0 / factor)).max(0.0),
            high: (impact + half(factor - 1.0)).min(ceiling),
            ceiling,
            cycles,
        }
    }

    /// How far impact is off with 95 % confidence by which entries come and which do not, each worth a place of mean
    /// frequency.
    fn counted(&self, impact: f64) -> f64 {
        NORMAL * (self.mean_frequency * impact).sqrt()
    }

    /// By query, what a batch is expected to have in its list.
    pub(crate) fn by_query(&self, chances: &ListChances) -> Vec<Visible> {
        let (foreseen, unforeseen) = (self.foreseen.mean(), self.unforeseen.mean());
        let lists = chances.of_query.iter();
        lists.map(|said| said.visible(foreseen, unforeseen, chances.most)).collect()
    }

    /// The interval that holds 95 % of what a change of the batch comes to at the close, whose gains and losses are
    /// expected to be these: they are off as batches are, but not together, and entries come or not. A part of a batch
    /// is off by more than all of it, so that the start counts here as it does for shares.
    pub(crate) fn interval(&self, gains: f64, losses: f64) -> (f64, f64) {
        let factor = factor(CycleMean { worth: PRIOR_CYCLES, ..self.squares.enters });
        let (over, under) = (factor - 1.0, 1.0 - 1.0 / factor);
        let change = gains - losses;
        let count = self.counted(gains + losses);
        let half = |gains: f64, losses: f64| gains.hypot(losses).hypot(count);
        (change - half(under * gains, over * losses), change + half(over * gains, under * losses))
    }
}

/// Visibility of a batch in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Visible {
    /// All of it.
    pub(crate) visibility: f64,
    /// What a chance of one to be in the list comes to in it, in places of mean visibility.
    pub(crate) of_chance: f64,
    /// What of it no candidate brings.
    pub(crate) unforeseen: f64,
}

/// By which factor what comes is off at most, with 95 % confidence.
fn factor(squares: CycleMean) -> f64 {
    (NORMAL * squares.mean().sqrt()).exp()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn queries(frequencies: &[f64]) -> Vec<Query> {
        let query =
            |(at, frequency): (usize, &f64)| Query::new(&at.to_string(), "w", *frequency, "");
        frequencies.iter().enumerate().map(query).collect()
    }

    /// Of a batch that is a twentieth of all pages.
    fn chances(
        pairs: &[(u32, f64)],
        picks: usize,
        queries: &[Query],
        places: Places,
    ) -> ListChances {
        let pairs = pairs.iter().map(|&(query, chance)| (QueryId(query), chance));
        let taken = vec![places.k as u32; queries.len()];
        let lists = Lists { queries, taken: &taken, places };
        ListChances::new(pairs, BatchSize::within(20 * picks, picks), lists)
    }

    fn cycle(chances: &ListChances, foreseen: f64, realised: f64) -> CycleImpact<'_> {
        let (stayed, led_to) = (None, None);
        CycleImpact { chances, same_source: true, foreseen, realised, stayed, led_to }
    }

    fn learned(cycles: &[CycleImpact<'_>]) -> RealisedShares {
        RealisedShares::learned(cycles.iter().copied(), 1.0)
    }

    /// 500 picks, of which so many enter lists for certain.
    fn entering(entries: usize, queries: &[Query]) -> ListChances {
        let pairs: Vec<(u32, f64)> = (0..entries as u32).map(|at| (at % 100, 1.0)).collect();
        chances(&pairs, 500, queries, Places::from(10))
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 0.01 * expected.abs(), "{found} {expected}");
    }

    #[test]
    fn chances_and_what_comes_unforeseen_add_up_to_what_places_allow() {
        let (queries, places) = (queries(&[2.0, 1.0, 5.0]), Places::from(10));
        let of = |pairs: &[(u32, f64)], picks| chances(pairs, picks, &queries, places);
        let foreseen = |pairs: &[(u32, f64)], picks| of(pairs, picks).impact(1.0, 0.0);
        assert_eq!(foreseen(&[(0, 0.5), (0, 0.25), (1, 0.9)], 3), 2.0 * 0.75 + 0.9);
        assert_eq!(foreseen(&[(0, 0.5); 40], 40), 20.0, "ten places");
        assert_eq!(foreseen(&[(0, 0.5); 40], 3), 6.0, "three pages");
        // A twentieth of all pages has half a place in each list of ten.
        assert_eq!(of(&[], 40).impact(1.0, 1.0), 4.0);
        assert_eq!(of(&[(0, 0.5)], 40).impact(1.0, 0.5), 2.0 * 0.75 + 6.0 * 0.25);
        assert_eq!(of(&[(0, 0.5); 20], 40).impact(1.0, 1.0), 20.0 + 3.0, "ten places");
        assert_eq!(of(&[], 3).ceiling, 24.0);
        assert_eq!(of(&[], 1_000).ceiling, 80.0);
    }

    /// Of so many pages beside 100, one of which has this chance to be in a list.
    fn beside_hundred(pages: f64, chance: f64) -> ListChances {
        let lists = Lists { queries: &queries(&[10.0]), taken: &[10], places: Places::from(10) };
        let pairs = std::iter::once((QueryId(0), chance));
        ListChances::new(pairs, BatchSize::beside(100, pages), lists)
    }

    #[test]
    fn half_a_page_brings_half_of_what_one_may() {
        assert_eq!(beside_hundred(0.5, 0.5).impact(1.0, 0.0), 5.0);
        assert_eq!(beside_hundred(0.5, 0.9).impact(1.0, 0.0), 5.0, "it is half a page at most");
        assert_eq!(beside_hundred(0.0, 0.0).ceiling, 0.0);
        assert_eq!(beside_hundred(9.5, 0.0).ceiling, 95.0);
        assert_eq!(beside_hundred(10.5, 0.0).ceiling, 100.0);
    }

    #[test]
    fn a_cycle_of_which_nothing_came_teaches_nothing() {
        let (queries, places) = (queries(&[2.0, 1.0]), Places::from(10));
        let nothing = ListChances::new(
            std::iter::empty(),
            BatchSize::within(60, 0),
            Lists { queries: &queries, taken: &[3, 0], places },
        );
        let batch = chances(&[(0, 0.5)], 40, &queries, places);
        let found = learned(&[cycle(&nothing, 0.0, 0.0)]).expected(&batch);
        assert_eq!(found, learned(&[]).expected(&batch));
        assert_eq!(found.enters.cycles, 0);
    }

    #[test]
    fn before_an_outcome_the_start_is_expected_with_a_wide_interval() {
        let queries = queries(&[1.0; 100]);
        let expected = learned(&[]).expected(&entering(100, &queries));
        // 100 by chances, and 0.4 of the half place that pages have in each of 100 lists.
        let Both { enters, stays } = expected;
        near(enters.impact, 120.0);
        near(stays.impact, 120.0 / 1.25);
        // A factor of three, and 1.96 times the root of 121 entries beside it.
        near(enters.low, 120.0 - 80f64.hypot(21.56));
        near(enters.high, 120.0 + 240f64.hypot(21.56));
        assert_eq!((enters.cycles, enters.ceiling), (0, 1_000.0));
    }

    #[test]
    fn each_share_is_learned_from_its_own_outcomes() {
        let queries = queries(&[1.0; 100]);
        let of = entering(500, &queries);
        let mut cycles = [cycle(&of, 250.0, 285.0); 12];
        let shares = learned(&cycles);
        // Half of what chances say, 0.7 of what would come if pages were alike; the start has all but faded.
        near(shares.foreseen.mean(), 0.505);
        near(shares.unforeseen.mean(), 0.697);
        near(shares.enters(&entering(100, &queries)), 0.505 * 100.0 + 0.697 * 50.0);
        let wide = learned(&[]).expected(&of).enters;
        let Both { enters, stays } = shares.expected(&of);
        assert!(enters.high / enters.low < wide.high / wide.low, "{enters:?}");
        assert_eq!((enters.cycles, stays.cycles), (12, 0));
        near(stays.impact, enters.impact / 1.25);
        // What stayed is known of the first eight.
        cycles[..8].iter_mut().for_each(|cycle| cycle.stayed = Some(114.0));
        let Both { enters: again, stays } = learned(&cycles).expected(&of);
        assert_eq!((again, stays.cycles), (enters, 8));
        near(stays.impact, enters.impact * 0.415);
        // Chances that were told otherwise say nothing of these.
        for cycle in &mut cycles {
            cycle.same_source = false;
        }
        let shares = learned(&cycles);
        assert_eq!(shares.foreseen.mean(), 1.0);
        assert!(shares.unforeseen.mean() > 0.5);
    }

    /// What is expected, before an outcome, of 20 picks with these chances to enter the only list.
    fn of_twenty(pairs: &[(u32, f64)]) -> ExpectedImpact {
        let batch = chances(pairs, 20, &queries(&[7.0]), Places::from(10));
        RealisedShares::learned(std::iter::empty(), 7.0).expected(&batch).enters
    }

    #[test]
    fn of_few_entries_none_may_come_and_one_is_no_surprise() {
        let few = of_twenty(&[(0, 0.5); 4]);
        assert!(few.low == 0.0 && few.high > 2.0 * few.impact, "{few:?}");
        let none = of_twenty(&[]);
        assert!(none.low == 0.0 && none.high > 7.0, "{none:?}");
    }

    #[test]
    fn a_first_cycle_of_great_impact_is_one_of_many() {
        let queries = queries(&[1.0; 100]);
        let (great, small) = (entering(900, &queries), entering(90, &queries));
        let mut cycles = vec![cycle(&great, 90.0, 90.0)];
        cycles.extend([cycle(&small, 90.0, 90.0); 8]);
        let share = learned(&cycles).foreseen.mean();
        assert!(share > 0.95, "{share}");
    }

    #[test]
    fn what_pages_lead_to_is_expected_as_it_came_of_earlier_ones() {
        let queries = queries(&[1.0; 100]);
        let chances = entering(900, &queries);
        near(learned(&[]).leads_to(90.0), 30.0);
        let mut cycles = [cycle(&chances, 900.0, 900.0); 20];
        near(learned(&cycles).leads_to(90.0), 30.0);
        for cycle in &mut cycles {
            cycle.led_to = Some(LedTo { predicted: 1e6, realised: 1e5 });
        }
        near(learned(&cycles).leads_to(90.0), 9.0);
    }

    #[test]
    fn lists_that_were_all_but_empty_do_not_say_what_comes_later() {
        let queries = queries(&[1.0; 100]);
        // A crawl from one page, of whose 100 lists one has it; then 800 places are taken, unforeseen.
        let taken: Vec<u32> = (0..100).map(|at| u32::from(at == 0)).collect();
        let lists = Lists { queries: &queries, taken: &taken, places: Places::from(10) };
        let size = BatchSize::within(101, 100);
        let first = ListChances::new(std::iter::empty(), size, lists);
        let shares = learned(&[cycle(&first, 0.0, 800.0)]);
        assert!(shares.unforeseen.mean() < 0.7, "{shares:?}");
    }

    #[test]
    fn changes_are_as_uncertain_as_batches() {
        let shares = learned(&[]);
        let (low, high) = shares.interval(1e6, 0.0);
        let factor = factor(shares.squares.enters);
        assert!((low / 1e6 - 1.0 / factor).abs() < 1e-3, "of many entries as of a batch");
        assert!((high / 1e6 - factor).abs() < 1e-3);
        let (low, high) = shares.interval(100.0, 100.0);
        assert!(low < -200.0 && (low + high).abs() < 1e-9, "{low} {high}");
        assert_eq!(shares.interval(0.0, 0.0), (0.0, 0.0));
        let nothing = ListChances::default();
        let shares = RealisedShares::learned([cycle(&nothing, 0.0, 0.0)].into_iter(), 0.0);
        let Both { enters, stays } = shares.expected(&nothing);
        assert_eq!((enters.impact, enters.high, stays.impact), (0.0, 0.0, 0.0));
    }

    proptest! {
        #[test]
        fn nothing_is_expected_beyond_the_ceiling(
            frequencies in vec(0.0f64..1e6, 1..6),
            pairs in vec((0u32..6, 0.0f64..1.0), 0..80),
            picks in 0usize..40,
            past in vec((0.0f64..60.0, 0.0f64..1e7, 0.0f64..1e7, 0.0f64..1e7), 0..5),
            visibility in prop_oneof!["top", "log", "geometric"],
        ) {
            let queries = queries(&frequencies);
            let places = Places { k: 10, visibility: visibility.parse().unwrap() };
            let mut pairs = pairs;
            pairs.retain(|(query, _)| (*query as usize) < queries.len());
            let said: Vec<ListChances> =
                past.iter().map(|past| chances(&[(0, past.0)], 40, &queries, places)).collect();
            let past = said.iter().zip(&past).map(|(said, past)| CycleImpact {
                stayed: Some(past.3),
                ..cycle(said, past.1.min(past.2), past.2)
            });
            let batch = chances(&pairs, picks, &queries, places);
            let shares = RealisedShares::learned(past, batch.mean_frequency());
            let visible: f64 = (1..=picks.min(10)).map(|rank| places.at(rank)).sum();
            let ceiling = visible * frequencies.iter().sum::<f64>();
            let Both { enters, stays } = shares.expected(&batch);
            for found in [enters, stays] {
                prop_assert!(found.impact <= ceiling * (1.0 + 1e-9), "{found:?} {ceiling}");
                prop_assert!(found.high <= found.ceiling && found.low <= found.impact);
                prop_assert!(found.low >= 0.0 && found.impact.is_finite());
            }
            prop_assert!(stays.low <= enters.low && stays.high <= enters.high.max(stays.impact));
            let visible = shares.by_query(&batch);
            let sum: f64 = visible.iter().zip(&frequencies).map(|(v, f)| v.visibility * f).sum();
            prop_assert!((sum - enters.impact).abs() <= 1e-9 * (1.0 + sum), "{sum} {enters:?}");
        }
    }
}
