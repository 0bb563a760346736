//! Whether a crawl has enough, and why.

use serde::{Deserialize, Serialize};

use super::strategy::embedding::EmbeddingSummary;
use super::windows::window_pages;

/// Saturation from which on a query, or a workload, is saturated.
pub(crate) const SATURATED: f64 = 0.8;
/// What may still be added to the scores of the best pages where a crawl is settled: of 0.5 to 8 %, the largest that
/// stopped no planned crawl of three collections before it had 95 % of its final nDCG@10 (docs/sufficiency.md, "Where would
/// rules have stopped?").
pub(crate) const SETTLED: f64 = 0.01;
/// Share of the impact by page of the first planned pages under which more pages gain nothing.
const GAIN_FLOOR: f64 = 0.1;
/// Sufficiency that is enough where nothing else is said.
pub(crate) const THETA: f64 = 0.7;
/// Quantile of the normal distribution for 95 %.
pub(super) const NORMAL: f64 = 1.96;

/// What a query still lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueryClass {
    /// Nothing: its sufficiency is enough.
    Sufficient,
    /// More results are entering its list.
    Growing,
    /// Few results enter its list any more.
    Saturated,
    /// Nothing that is known and not fetched has a chance to enter its list.
    Hopeless,
}

impl QueryClass {
    /// All, the best first.
    pub(crate) const ALL: [Self; 4] =
        [Self::Sufficient, Self::Growing, Self::Saturated, Self::Hopeless];

    /// Of a query with this sufficiency and saturation, for which the frontier has something or not.
    pub(crate) fn of(sufficiency: f64, saturation: f64, has_candidates: bool, theta: f64) -> Self {
        if sufficiency >= theta {
            Self::Sufficient
        } else if !has_candidates {
            Self::Hopeless
        } else if saturation >= SATURATED {
            Self::Saturated
        } else {
            Self::Growing
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sufficient => "sufficient",
            Self::Growing => "growing",
            Self::Saturated => "saturated",
            Self::Hopeless => "hopeless",
        }
    }
}

/// A reason to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StopReason {
    /// Nothing is left in the frontier, the scope, the budget or the time.
    Exhausted,
    /// The sufficiency of the workload is enough.
    Sufficient,
    /// Fetching all that can be reached would add little to the scores of the best pages, of a crawl that is planned.
    Settled,
    /// The nearest pages come no nearer to the queries' wordings, nor are they far from wordings that nobody planned
    /// for. Only vectors tell.
    Learned,
    /// The next batch is expected to bring too little.
    NoGain,
    /// Results enter lists at a small share of the first rate.
    Saturated,
}

/// Why there is nothing to plan, and nothing in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Exhausted {
    /// The frontier has nothing that may be asked for.
    Frontier,
    /// The list that the plan is held to has nothing that may be.
    List,
    /// What it has is out of scope.
    Scope,
    /// Caps leave no place for what it has.
    Caps,
    /// There is no time for what it has.
    Time,
}

/// How far the impact of pages has fallen since the first window, with the interval that holds 95 % of what other
/// queries of the kind would say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Saturation {
    /// The share that is gone.
    pub(crate) mean: f64,
    /// Lower end of its interval.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

impl Saturation {
    /// Of a workload, by the impact of every query by page: in the first window with any, and in the last ones. One
    /// minus the ratio of the sums; its interval by the delta method over queries (Cochran, "Sampling techniques",
    /// 1977, section 6). None before there is anything to compare.
    pub(crate) fn of(rates: &[(f64, f64)]) -> Option<Self> {
        let first: f64 = rates.iter().map(|(first, _)| first).sum();
        let last: f64 = rates.iter().map(|(_, last)| last).sum();
        if first <= 0.0 {
            return None;
        }
        let (ratio, count) = (last / first, rates.len() as f64);
        let squares: f64 = rates.iter().map(|(first, last)| (last - ratio * first).powi(2)).sum();
        // One query says nothing about others.
        let error = if rates.len() < 2 {
            f64::INFINITY
        } else {
            (squares * count / (count - 1.0)).sqrt() / first
        };
        let at = |ratio: f64| (1.0 - ratio).clamp(0.0, 1.0);
        let (low, high) = (at(ratio + NORMAL * error), at(ratio - NORMAL * error));
        Some(Self { mean: at(ratio), low, high })
    }
}

/// What the next batch is expected to bring by page, and what is too little.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Gain {
    /// Impact expected to enter lists, by page.
    pub(crate) per_page: f64,
    /// Lower end of its interval, learned from past cycles.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
    /// A tenth of what the first planned pages brought by page; none before they did.
    pub(crate) floor: Option<f64>,
}

/// What is too little by page in a crawl of so many `pages`: a tenth of what the first window of planned pages brought, by the
/// new pages of closed cycles and what entered lists with them, the oldest first. None before there are as many.
pub(crate) fn gain_floor(
    cycles: impl IntoIterator<Item = (usize, f64)>,
    pages: usize,
) -> Option<f64> {
    let wanted = window_pages(pages);
    let (mut fetched, mut impact) = (0, 0.0);
    for (new, realised) in cycles {
        if fetched >= wanted {
            break;
        }
        (fetched, impact) = (fetched + new, impact + realised);
    }
    (fetched >= wanted).then(|| GAIN_FLOOR * impact / fetched as f64)
}

impl StopReason {
    /// All, the strongest first.
    pub(crate) const ALL: [Self; 6] = [
        Self::Exhausted,
        Self::Sufficient,
        Self::Settled,
        Self::Learned,
        Self::NoGain,
        Self::Saturated,
    ];
    /// Those that stop a crawl where nothing else is said. The others stop every planned crawl of `simulate --stop` before it
    /// has 95 % of what it will have.
    pub(crate) const DEFAULT: [Self; 3] = [Self::Exhausted, Self::Sufficient, Self::Settled];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Sufficient => "sufficient",
            Self::Settled => "settled",
            Self::Learned => "learned",
            Self::NoGain => "no-gain",
            Self::Saturated => "saturated",
        }
    }
}

/// Go on, or stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// Whether to stop.
    pub(crate) stop: bool,
    /// Why, the strongest first.
    pub(crate) reasons: Vec<StopReason>,
    /// Reasons that hold, and stop nothing by themselves here.
    pub(crate) signs: Vec<StopReason>,
    /// What is exhausted, where something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exhausted: Option<Exhausted>,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Signals {
    /// Sufficiency of the workload.
    pub(crate) sufficiency: f64,
    /// What is enough.
    pub(crate) theta: f64,
    /// What fetching all that can be reached would add to the scores of the best pages, as a share of what they are.
    pub(crate) growth: Option<f64>,
    /// Whether the last third of the crawl was fetched in the order of plans, the best first; else what comes may be better
    /// than what came.
    pub(crate) planned: bool,
    /// Saturation of the workload.
    pub(crate) saturation: Option<Saturation>,
    /// The workload as vectors have it, where they judge.
    pub(crate) learning: Option<EmbeddingSummary>,
    /// What the next batch is expected to bring.
    pub(crate) gain: Option<Gain>,
    /// What is exhausted, if nothing is left to fetch.
    pub(crate) exhausted: Option<Exhausted>,
}

impl Signals {
    /// The verdict where these reasons stop a crawl.
    pub(crate) fn verdict(&self, stop_on: &[StopReason]) -> Verdict {
        let (reasons, signs): (Vec<_>, Vec<_>) =
            self.reasons().into_iter().partition(|reason| stop_on.contains(reason));
        Verdict { stop: !reasons.is_empty(), reasons, signs, exhausted: self.exhausted }
    }

    /// The reasons that hold, the strongest first.
    fn reasons(&self) -> Vec<StopReason> {
        StopReason::ALL.into_iter().filter(|reason| self.holds(*reason)).collect()
    }

    fn holds(&self, reason: StopReason) -> bool {
        match reason {
            StopReason::Exhausted => self.exhausted.is_some(),
            StopReason::Sufficient => self.sufficiency >= self.theta,
            StopReason::Settled => {
                self.planned && self.growth.is_some_and(|share| share <= SETTLED)
            }
            StopReason::Learned => self.learning.is_some_and(|found| found.has_learned()),
            StopReason::NoGain => {
                self.gain.is_some_and(|gain| gain.floor.is_some_and(|floor| gain.per_page < floor))
            }
            StopReason::Saturated => self.saturation.is_some_and(|found| found.low >= SATURATED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_in_their_order() {
        let class = |sufficiency, saturation, candidates| {
            QueryClass::of(sufficiency, saturation, candidates, 0.7)
        };
        assert_eq!(class(0.7, 0.9, false), QueryClass::Sufficient);
        assert_eq!(class(0.6, 0.9, false), QueryClass::Hopeless);
        assert_eq!(class(0.6, 0.8, true), QueryClass::Saturated);
        assert_eq!(class(0.6, 0.7, true), QueryClass::Growing);
    }

    #[test]
    fn every_signal_can_stop_a_crawl() {
        let go_on = Signals {
            sufficiency: 0.5,
            theta: 0.7,
            growth: Some(SETTLED + 0.01),
            planned: true,
            learning: None,
            saturation: Some(Saturation { mean: 0.85, low: 0.79, high: 0.9 }),
            gain: Some(Gain { per_page: 1.0, low: 0.0, high: 9.0, floor: Some(0.9) }),
            exhausted: None,
        };
        assert!(go_on.reasons().is_empty());
        let saturation = Some(Saturation { mean: 0.85, low: 0.8, high: 0.9 });
        let gain = Some(Gain { per_page: 0.8, low: 0.0, high: 9.0, floor: Some(0.9) });
        let stops = |signals: Signals| signals.reasons();
        assert_eq!(stops(Signals { theta: 0.5, ..go_on }), [StopReason::Sufficient]);
        assert_eq!(stops(Signals { growth: Some(SETTLED), ..go_on }), [StopReason::Settled]);
        assert!(stops(Signals { growth: Some(0.0), planned: false, ..go_on }).is_empty());
        assert_eq!(stops(Signals { saturation, ..go_on }), [StopReason::Saturated]);
        assert_eq!(stops(Signals { gain, ..go_on }), [StopReason::NoGain]);
        let exhausted = Some(Exhausted::Scope);
        assert_eq!(stops(Signals { exhausted, ..go_on }), [StopReason::Exhausted]);
        let unknown = Some(Gain { per_page: 0.0, low: 0.0, high: 9.0, floor: None });
        assert!(
            stops(Signals { gain: unknown, saturation: None, growth: None, ..go_on }).is_empty()
        );
    }

    #[test]
    fn reasons_that_are_not_asked_for_are_signs() {
        let saturation = Some(Saturation { mean: 0.9, low: 0.85, high: 0.95 });
        let exhausted = Some(Exhausted::Frontier);
        let signals = Signals { theta: 0.7, saturation, exhausted, ..Signals::default() };
        let verdict = signals.verdict(&StopReason::DEFAULT);
        let (reasons, signs) = (vec![StopReason::Exhausted], vec![StopReason::Saturated]);
        assert_eq!(verdict, Verdict { stop: true, reasons, signs, exhausted });
        assert!(signals.verdict(&[StopReason::Saturated]).stop);
        assert!(!signals.verdict(&[StopReason::NoGain]).stop);
    }

    #[test]
    fn the_floor_is_a_tenth_of_what_the_first_window_brought() {
        let cycles = [(60, 120.0), (50, 100.0), (500, 1.0)];
        assert_eq!(gain_floor(cycles, 110), Some(0.2));
        assert_eq!(gain_floor(cycles[..1].iter().copied(), 60), None);
        // A larger crawl has larger windows: 150 pages of 15,000.
        let floor = gain_floor(cycles, 15_000).unwrap();
        assert!((floor - 0.1 * 221.0 / 610.0).abs() < 1e-12, "{floor}");
    }

    #[test]
    fn saturation_is_as_sure_as_queries_agree() {
        let agree = Saturation::of(&vec![(1.0, 0.1); 50]).unwrap();
        assert!((agree.mean - 0.9).abs() < 1e-12 && (agree.high - agree.low).abs() < 1e-9);
        let mixed: Vec<(f64, f64)> =
            (0..50).map(|at| (1.0, if at % 2 == 0 { 0.0 } else { 0.2 })).collect();
        let mixed = Saturation::of(&mixed).unwrap();
        assert!((mixed.mean - 0.9).abs() < 1e-12 && mixed.low < 0.9 && mixed.high > 0.9);
        let one = Saturation::of(&[(1.0, 0.1)]).unwrap();
        assert_eq!((one.low, one.high), (0.0, 1.0));
        assert_eq!((Saturation::of(&[]), Saturation::of(&[(0.0, 0.0)])), (None, None));
    }
}
