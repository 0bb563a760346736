//! What another batch of the same frontier would have earned, from the outcomes of the batch that was
//! fetched.
//!
//! Of URLs that both batches hold, the outcome is known, and counts as it is. One that was drawn at random stands
//! for others of the batch that might have been drawn and were not, as many as the inverse of its probability says:
//! inverse propensity (Horvitz and Thompson, 1952).
//! Doubly robust (Dudík, Langford and Li, 2011) says the same of what estimates had left unforeseen, and
//! adds what they had foreseen: exact if either is right, and far less scattered where estimates are
//! worth something. Estimates were made before the batch, to rank; the ratio of its outcomes to them tells their
//! unit. Where nothing of a batch is unknown, as of the one that was fetched, no draw stands for anything, and its value is
//! what it earned.
//!
//! Pages of a batch take places from each other, so outcomes depend on what else was fetched, and the
//! sum above is what the other batch would earn if its pages met with as much competition as those of
//! the batch that was. If it is larger, they would meet with more. How fast returns diminish is
//! seen from each half of the batch alone: if the whole earns `2^e` times what half of it does, `x`
//! times as much on that scale is worth `x^e` times as much, if all of it is after the same places,
//! and `x` times as much if it is after others. The value lies in the middle. What the URLs of a part of the batch lost to the
//! other half is known of each: a part of half its size or less would have that, too. Halves that share no place do not show that no
//! pages do: one pick more is counted as if it had lost what a pick is worth.
//!
//! An interval covers both ends, and the chance of the draw, and which places the URLs of a batch happen to be after:
//! places are few and of different worth, so that what is gained or lost by competition is scattered like a sum of as
//! many losses as were seen between the halves (compound Poisson). The variance of an outcome around its
//! estimate is taken to grow with the estimate, by a factor that the whole batch tells; a few draws
//! that happened to hit the other batch would not.

use serde::Serialize;

/// Standard deviations of a normal variable that 95 % lie within.
const NORMAL: f64 = 1.96;

/// Parts that a batch is cut into, to see how fast its returns diminish.
pub(crate) const HALVES: u64 = 2;

/// The half of its batch that a URL belongs to.
pub(crate) fn half_of(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes()) % HALVES
}

/// A URL of the frontier that a plan chose from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Logged {
    /// Impact that was expected.
    pub(crate) estimate: f64,
    /// Probability with which it was picked.
    pub(crate) propensity: f64,
    /// Whether it was picked.
    pub(crate) picked: bool,
    /// What became of it, if it was picked and that is known.
    pub(crate) outcome: Option<Outcome>,
}

/// What became of a pick; all 0 of a failed fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Impact that it has.
    pub(crate) impact: f64,
    /// Impact that it would have without the other half of the batch.
    pub(crate) in_half: f64,
}

/// An estimated value with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Estimated {
    /// The value.
    pub(crate) value: f64,
    /// Half the width of the interval.
    pub(crate) half_width: f64,
}

impl Estimated {
    /// Whether the interval holds a value.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (value - self.value).abs() <= self.half_width
    }
}

/// What a batch would have earned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Counterfactual {
    /// URLs of the batch.
    pub(crate) urls: usize,
    /// Of them, in the batch that was fetched as well.
    pub(crate) shared: usize,
    /// Of them, without a chance to be picked, so that nothing but their estimates is known.
    pub(crate) unsupported: usize,
    /// Impact that those of the batch that was fetched are known to have.
    pub(crate) known: f64,
    /// Sum of their estimates, in units of outcomes.
    pub(crate) expected: f64,
    /// By inverse propensity.
    pub(crate) inverse_propensity: Estimated,
    /// Doubly robust.
    pub(crate) doubly_robust: Estimated,
}

/// What the URLs of `batch`, told by position in `logged`, would have earned.
pub(crate) fn counterfactual(logged: &[Logged], batch: &[bool]) -> Counterfactual {
    let picked = || logged.iter().filter(|url| url.picked);
    let known = || logged.iter().filter_map(|url| Some((url.estimate, url.outcome?.impact)));
    // What was not reported may be anything: as if it had been left out at random.
    let reported = known().count() as f64 / picked().count().max(1) as f64;
    let count = known().count().max(1) as f64;
    // Estimates rank; what they are in units of outcomes, the batch tells.
    let (all, came) = known()
        .fold((0.0, 0.0), |(all, came), (estimate, outcome)| (all + estimate, came + outcome));
    let unit = if all > 0.0 && came > 0.0 { came / all } else { 1.0 };
    let mean = unit * all / count;
    let squares = known().map(|(estimate, outcome)| (outcome - unit * estimate).powi(2));
    let scale = squares.sum::<f64>() / (2.0 * mean * count).max(1e-12);
    let returns = Returns::of(logged);
    let mut found = Counterfactual::default();
    let (mut undrawn, mut unreported) = (Unknown::default(), Unknown::default());
    let (mut guessed, mut lost) = (0.0, 0.0);
    for (url, _) in logged.iter().zip(batch).filter(|(_, wanted)| **wanted) {
        let expected = unit * url.estimate;
        found.urls += 1;
        found.shared += usize::from(url.picked);
        found.expected += expected;
        let outcome = url.outcome.map(|outcome| outcome.impact);
        found.known += outcome.unwrap_or(0.0);
        lost += url.outcome.map_or(0.0, |outcome| returns.lost(outcome));
        if outcome.is_none() {
            guessed += expected;
        }
        if url.propensity * reported <= 0.0 {
            found.unsupported += 1;
            continue;
        }
        let variance = scale * (expected + mean);
        let rest = Rest { outcome, expected, variance };
        let others = (1.0 - url.propensity) / (url.propensity * reported);
        undrawn.add(&rest, outcome.is_none() && !url.picked, 1.0 - url.propensity, others);
        if url.picked {
            let others = (1.0 - reported) / reported;
            unreported.add(&rest, outcome.is_none(), 1.0 - reported, others);
        }
    }
    let [undrawn, unreported] = [undrawn, unreported].map(Unknown::scaled);
    let of = |pick: fn(&Unknown) -> (f64, f64)| [pick(&undrawn), pick(&unreported)];
    found.inverse_propensity = estimated(found.known, of(|of| of.outcomes));
    found.doubly_robust = estimated(found.known + guessed, of(|of| of.rests));
    for estimated in [&mut found.inverse_propensity, &mut found.doubly_robust] {
        *estimated = returns.with_competition(*estimated, lost);
    }
    found
}

/// What is known and two sums with their variances, together.
fn estimated(known: f64, unknown: [(f64, f64); 2]) -> Estimated {
    let [(one, of_one), (other, of_other)] = unknown;
    Estimated { value: known + one + other, half_width: NORMAL * (of_one + of_other).sqrt() }
}

/// What a URL tells of others.
struct Rest {
    outcome: Option<f64>,
    expected: f64,
    variance: f64,
}

/// URLs of a batch whose outcome is not known for one reason, and what those that are known say of them: what was not drawn,
/// and what was not reported, for which nothing stands but what was.
#[derive(Default)]
struct Unknown {
    /// How many there are, and how many were to be expected.
    urls: f64,
    expected: f64,
    /// Sum, and variance, of the outcomes that draws stand for, and of what estimates left unforeseen of them.
    outcomes: (f64, f64),
    rests: (f64, f64),
}

impl Unknown {
    /// A URL of the batch, which is one of these with this chance, and stands for so many if its outcome is known.
    fn add(&mut self, rest: &Rest, is_unknown: bool, chance: f64, others: f64) {
        let &Rest { outcome, expected, variance } = rest;
        self.urls += f64::from(u8::from(is_unknown));
        self.expected += chance;
        if let Some(impact) = outcome {
            self.outcomes.0 += others * impact;
            self.rests.0 += others * (impact - expected);
        }
        self.outcomes.1 += others * (variance + expected.powi(2));
        self.rests.1 += others * variance;
    }

    /// Draws stand for others as far as there are any: of the batch that was fetched there are none.
    fn scaled(self) -> Self {
        let left = if self.urls > 0.0 { (self.urls / self.expected).min(1.0) } else { 0.0 };
        let scaled = |(sum, variance): (f64, f64)| (left * sum, left.powi(2) * variance);
        let (outcomes, rests) = (scaled(self.outcomes), scaled(self.rests));
        Self { outcomes, rests, ..self }
    }
}

/// How returns of a batch diminish with its size.
struct Returns {
    /// Impact of the batch.
    impact: f64,
    /// What it grows with, as a power of the size: 1 without competition.
    exponent: f64,
    /// Variance of what competition takes, for each unit of it: mean square of the losses over their mean.
    scatter: f64,
    /// What each pick is taken to have lost beside what was seen.
    unseen: f64,
}

impl Returns {
    fn of(logged: &[Logged]) -> Self {
        let outcomes = || logged.iter().filter_map(|url| url.outcome);
        let impact = outcomes().map(|outcome| outcome.impact).sum::<f64>();
        // One loss that was not seen: that of all that a pick is worth.
        let unseen = impact / outcomes().count().max(1) as f64;
        let losses = || outcomes().map(|outcome| outcome.in_half - outcome.impact).chain([unseen]);
        let lost = losses().sum::<f64>().max(0.0);
        // Mean of the two halves.
        let half = f64::midpoint(impact, lost);
        let exponent = if impact > 0.0 { (impact / half).log2().clamp(0.0, 1.0) } else { 1.0 };
        let squares = losses().map(|loss| loss.powi(2)).sum::<f64>();
        let scatter = if lost > 0.0 { squares / lost } else { 0.0 };
        let unseen = unseen / outcomes().count().max(1) as f64;
        Self { impact, exponent, scatter, unseen }
    }

    /// What the other half took from a pick.
    fn lost(&self, outcome: Outcome) -> f64 {
        (outcome.in_half - outcome.impact).max(0.0) + self.unseen
    }

    /// From the competition that the batch met with to that of a batch which earns so much more or less, and whose URLs `lost`
    /// so much to the other half.
    fn with_competition(&self, estimated: Estimated, lost: f64) -> Estimated {
        if self.impact <= 0.0 || estimated.value < 0.0 {
            return estimated;
        }
        let size = estimated.value / self.impact;
        let mut most = if size > 0.0 { self.impact * size.powf(self.exponent) } else { 0.0 };
        if size < 1.0 {
            most = most.max(estimated.value + lost * (2.0 * (1.0 - size)).min(1.0));
        }
        // To the first order, an error shrinks with the slope.
        let rate = if size > 0.0 { self.exponent * most / estimated.value } else { 1.0 };
        let slope = f64::midpoint(1.0, rate);
        let apart = (estimated.value - most).abs();
        let competition = (apart / 2.0).hypot(NORMAL * (self.scatter * apart).sqrt());
        let value = f64::midpoint(estimated.value, most);
        Estimated { value, half_width: competition + slope * estimated.half_width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number from 0 to 1.
    fn noise(at: u64, salt: u64) -> f64 {
        let bits = xxhash_rust::xxh3::xxh3_64_with_seed(&at.to_le_bytes(), salt);
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn outcome(at: u64) -> f64 {
        let expected = 40.0 / (at as f64 + 10.0);
        (0.5 * expected + f64::from(u8::from(noise(at, 1) < expected / 4.0))).min(4.0)
    }

    /// A frontier of 2,000 URLs by estimate, with outcomes that follow the estimates by half. The
    /// best 80 are picked, and 1 of 10 of the next 200, which `trial` decides.
    fn frontier(trial: u64) -> (Vec<Logged>, Vec<f64>) {
        let of = |impact| Outcome { impact, in_half: impact };
        let logged = (0..2_000).map(|at| {
            let propensity = match at {
                0..80 => 1.0,
                80..280 => 0.1,
                _ => 0.0,
            };
            let picked = noise(at, 2 + trial) < propensity;
            let estimate = 40.0 / (at as f64 + 10.0);
            Logged { estimate, propensity, picked, outcome: picked.then(|| of(outcome(at))) }
        });
        (logged.collect(), (0..2_000).map(outcome).collect())
    }

    fn value(truth: &[f64], batch: &[bool]) -> f64 {
        truth.iter().zip(batch).filter(|(_, wanted)| **wanted).map(|(value, _)| value).sum()
    }

    #[test]
    fn the_batch_that_was_fetched_earned_what_it_earned() {
        let (logged, truth) = frontier(0);
        let batch: Vec<bool> = logged.iter().map(|url| url.picked).collect();
        let found = counterfactual(&logged, &batch);
        assert_eq!((found.shared, found.unsupported), (found.urls, 0));
        for estimated in [found.inverse_propensity, found.doubly_robust] {
            assert!((estimated.value - value(&truth, &batch)).abs() < 1e-9);
            assert!(estimated.half_width < 1e-9);
        }
        // Without what was drawn it would have met with less competition, if there was any.
        let batch: Vec<bool> = logged.iter().map(|url| url.propensity == 1.0).collect();
        let found = counterfactual(&logged, &batch);
        assert_eq!((found.urls, found.shared, found.unsupported), (80, 80, 0));
        for estimated in [found.inverse_propensity, found.doubly_robust] {
            let off = estimated.value - value(&truth, &batch);
            assert!((0.0..0.01 * estimated.value).contains(&off), "{estimated:?} {off}");
            assert!(off < estimated.half_width && estimated.holds(value(&truth, &batch)));
        }
    }

    /// Impact of each of `fetched` among 40 queries, each with a frequency of its own and room for three of them: the best.
    fn competing(pages: &[[(u64, f64); 3]], fetched: &[bool]) -> Vec<f64> {
        let mut impact = vec![0.0; pages.len()];
        for query in 0..40 {
            let score = |at: usize| pages[at].iter().find(|(of, _)| *of == query).map(|of| of.1);
            let mut found: Vec<(f64, usize)> = (0..pages.len())
                .filter(|&at| fetched[at])
                .filter_map(|at| Some((score(at)?, at)))
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, at) in found.into_iter().take(3) {
                impact[at] += 1.0 + (40.0 * noise(query, 7)).floor();
            }
        }
        impact
    }

    /// Story: of ten picks of forty, all fetched and reported, a list was said to be worth twice what it had earned and would
    /// have, and another half of it, and no interval held: they told of the mean of such lists alone.
    #[test]
    fn a_part_of_the_batch_is_worth_what_it_would_have_earned_alone() {
        let (mut held, mut parts, mut sums, mut width) = (0, 0, (0.0, 0.0), 0.0);
        let (mut most, mut alone) = (0.0, 0.0);
        for web in 0..20 {
            let salt = |at: usize, of: u64| noise(at as u64, 100 * web + of);
            let wants = |at, of| ((40.0 * salt(at, of)) as u64, salt(at, of + 9));
            let pages: Vec<[(u64, f64); 3]> =
                (0..40).map(|at| [1, 2, 3].map(|of| wants(at, of))).collect();
            let all = competing(&pages, &[true; 40]);
            let half = |of: usize| -> Vec<bool> { (0..40).map(|at| at % 2 == of).collect() };
            let halves = [0, 1].map(|of| competing(&pages, &half(of)));
            let logged: Vec<Logged> = (0..40)
                .map(|at| Outcome { impact: all[at], in_half: halves[at % 2][at] })
                .map(|outcome| Logged {
                    estimate: 20.0,
                    propensity: 1.0,
                    picked: true,
                    outcome: Some(outcome),
                })
                .collect();
            for (share, part) in [0.15, 0.3, 0.5, 0.7, 0.85].into_iter().zip(20_u64..) {
                let batch: Vec<bool> = (0..40).map(|at| salt(at, part) < share).collect();
                let truth = value(&competing(&pages, &batch), &batch);
                let found = counterfactual(&logged, &batch).doubly_robust;
                held += u32::from(found.holds(truth));
                (sums.0, sums.1) = (sums.0 + found.value, sums.1 + truth);
                width += found.half_width;
                parts += 1;
            }
            // Those that others left nothing would have earned something without them.
            let nothing: Vec<bool> = all.iter().map(|impact| *impact == 0.0).collect();
            let truth = value(&competing(&pages, &nothing), &nothing);
            let found = counterfactual(&logged, &nothing).doubly_robust;
            (most, alone) = (most + found.value + found.half_width, alone + truth);
        }
        assert!(width < 0.5 * sums.1, "{width} {sums:?}");
        assert!(alone > 0.0 && most > 0.5 * alone, "{most} {alone}");
        assert!((sums.0 / sums.1 - 1.0).abs() < 0.1, "{sums:?}");
        assert!(held * 10 >= parts * 9, "{held} of {parts}");
    }

    #[test]
    fn intervals_hold_the_truth_and_estimates_are_right_in_the_mean() {
        let trials = 400;
        // Every third of the first 240.
        let batch: Vec<bool> = (0..2_000).map(|at| at < 240 && at % 3 == 0).collect();
        let truth = value(&frontier(0).1, &batch);
        let (mut held, mut sums) = ([0; 2], [0.0; 2]);
        for trial in 0..trials {
            let found = counterfactual(&frontier(trial).0, &batch);
            let both = [found.inverse_propensity, found.doubly_robust];
            assert!(both[1].half_width < both[0].half_width);
            for (at, estimated) in both.iter().enumerate() {
                held[at] += u32::from(estimated.holds(truth));
                sums[at] += estimated.value;
            }
        }
        for at in 0..2 {
            assert!((sums[at] / trials as f64 / truth - 1.0).abs() < 0.05, "{} {truth}", sums[at]);
            assert!(f64::from(held[at]) >= 0.9 * trials as f64, "{}", held[at]);
        }
    }

    #[test]
    fn more_of_a_batch_meets_with_more_competition() {
        let (mut logged, _) = frontier(0);
        let batch: Vec<bool> = (0..2_000).map(|at| at < 280).collect();
        let without = counterfactual(&logged, &batch).doubly_robust;
        // Half of the batch earns 3 of 4 of what all of it does.
        let mut impact = 0.0;
        for outcome in logged.iter_mut().filter_map(|url| url.outcome.as_mut()) {
            outcome.in_half = 1.5 * outcome.impact;
            impact += outcome.impact;
        }
        let with = counterfactual(&logged, &batch).doubly_robust;
        let most = (without.value / impact).powf((4.0_f64 / 3.0).log2());
        // But for the loss that was not seen.
        let expected = f64::midpoint(without.value / impact, most);
        assert!((with.value / impact - expected).abs() < 0.02, "{with:?} {expected}");
        assert!(impact < with.value && with.value < without.value);
        assert!(with.holds(without.value) && with.holds(most * impact));
        // The batch that was fetched is worth what it earned, draws and all.
        let fetched: Vec<bool> = logged.iter().map(|url| url.picked).collect();
        assert!((value(&frontier(0).1, &fetched) - impact).abs() < 1e-9);
        let found = counterfactual(&logged, &fetched);
        for estimated in [found.inverse_propensity, found.doubly_robust] {
            assert!((estimated.value - impact).abs() < 1e-9 && estimated.half_width < 1e-9);
        }
        assert!((found.known - impact).abs() < 1e-9);
    }

    /// Story: one greedy pick of sixty was not reported, and the draws, which stood for hundreds each, stood for it: the batch
    /// was worth twice what it had earned.
    #[test]
    fn what_was_not_reported_is_like_the_rest_of_the_batch() {
        let (mut logged, _) = frontier(0);
        for url in logged.iter_mut().filter(|url| url.propensity < 1.0) {
            url.propensity /= 40.0;
        }
        let fetched: Vec<bool> = logged.iter().map(|url| url.picked).collect();
        let earned = counterfactual(&logged, &fetched).known;
        for lost in [1, 5] {
            for url in logged.iter_mut().take(60).skip(60 - lost) {
                url.outcome = None;
            }
            let found = counterfactual(&logged, &fetched);
            for estimated in [found.inverse_propensity, found.doubly_robust] {
                assert!(
                    (estimated.value / earned - 1.0).abs() < 0.1,
                    "{lost}: {found:?}, {earned}"
                );
                assert!((0.0..0.2 * earned).contains(&estimated.half_width), "{found:?}");
            }
        }
    }

    #[test]
    fn what_was_not_reported_widens_and_what_had_no_chance_is_told() {
        let (mut logged, _) = frontier(0);
        let batch: Vec<bool> = (0..2_000).map(|at| !(100..1_990).contains(&at)).collect();
        let before = counterfactual(&logged, &batch);
        assert_eq!(before.unsupported, 10);
        for url in logged.iter_mut().step_by(4) {
            url.outcome = None;
        }
        let after = counterfactual(&logged, &batch);
        assert!(after.doubly_robust.half_width > before.doubly_robust.half_width);
        let change = after.doubly_robust.value / before.doubly_robust.value;
        assert!((change - 1.0).abs() < 0.3, "{change}");
        assert!(counterfactual(&[], &[]).doubly_robust.value == 0.0);
    }
}
