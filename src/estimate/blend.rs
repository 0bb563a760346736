//! The blend of the parts of an estimate, with weights fitted on what past picks turned out to be.
//!
//! Parts are chances to be in lists for good, summed, or regressions of the impact that pages have kept. So what
//! they are fitted to is of the same kind: the impact that past picks have in the lists of today, and not what
//! they had at the close of their cycle, when lists held the best of little.
//!
//! Early parts are too small, all of them, by factors of up to two hundred: nothing is known yet. That says
//! nothing of how much one part is worth beside another, so the scale is fitted apart, by least squares of
//! outcomes on the blend that the user starts from, and taken out of the weights again. Proportions are then
//! fitted by a ridge that draws them towards the start by [`PRIOR_PICKS`] picks, weights not negative and none
//! beyond [`MOST`] times its start: before the first outcome the blend is the start, and it moves as outcomes
//! come in. Picks are those that looked best, so outcomes say more about the top of the ranking, where picks
//! are made, than about its tail. What a pick leads to is known much later, so the weight of *discovery* is not
//! fitted: it is its start over the scale, of which the start counts as [`PRIOR_PICKS`] picks of scale 1, and at
//! most [`MOST`] times the start.

use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, PageTable};
use serde::{Deserialize, Serialize};

use super::parts::{Part, Parts};

/// Parts that are fitted.
const PARTS: usize = Part::OF_THE_PAGE.len();
/// Outcomes that the start is worth.
const PRIOR_PICKS: f64 = 200.0;
/// Weight of a part over its start at most.
const MOST: f64 = 10.0;

/// A fetched pick: what each part had promised, and what it brought, in impact units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickOutcome {
    /// The URL.
    pub(crate) url: UrlId,
    /// The parts as of the plan.
    pub(crate) parts: Parts,
    /// Realised impact at the close of its cycle.
    pub(crate) realised: f64,
    /// Whether its plan was for the queries that are planned for now.
    pub(crate) same_queries: bool,
}

impl PickOutcome {
    /// The same as one of the page that came, which is where impact is, for whoever looks at that of now.
    pub(super) fn at_its_page(self, pages: &PageTable) -> Self {
        Self { url: page_by(pages, self.url), ..self }
    }
}

/// The page that came by asking for a URL: its own, or a new one where it led to.
pub(crate) fn page_by(pages: &PageTable, url: UrlId) -> UrlId {
    match pages.fetch(url) {
        Fetch::Redirected { seq } => pages.discovered_by(seq).unwrap_or(url),
        _ => url,
    }
}

/// Weights of the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Blend {
    /// By part.
    pub(crate) weights: Parts,
    /// Outcomes they were fitted on; 0 if they are the start.
    pub(crate) outcomes: usize,
}

impl Blend {
    /// Weights that are not fitted.
    pub(crate) fn fixed(weights: Parts) -> Self {
        Self { weights, outcomes: 0 }
    }

    /// Fits the weights, from `start`, to the impact that past picks with these parts have now.
    pub(crate) fn fit(start: Parts, outcomes: &[(Parts, f64)]) -> Self {
        let Some(scale) = scale(start.of_the_page(), outcomes) else { return Self::fixed(start) };
        // Normal equations of the ridge: (X'X + D) w = X'y + D start, in units of the scale.
        let mut left = [[0.0; PARTS]; PARTS];
        let mut right = [0.0; PARTS];
        for (parts, impact) in outcomes {
            let parts = parts.array();
            for a in 0..PARTS {
                for b in 0..PARTS {
                    left[a][b] += parts[a] * parts[b];
                }
                right[a] += parts[a] * impact / scale;
            }
        }
        // The scale of few outcomes says little: the start counts as picks of scale 1.
        let picks = outcomes.len() as f64;
        let scale_of_discovery = (picks * scale + PRIOR_PICKS) / (picks + PRIOR_PICKS);
        let mut fitted = start;
        fitted[Part::Discovery] = start[Part::Discovery] * scale_of_discovery.recip().min(MOST);
        for (at, part) in Part::OF_THE_PAGE.into_iter().enumerate() {
            let ridge = PRIOR_PICKS * left[at][at] / picks;
            left[at][at] += ridge;
            right[at] += ridge * start[part];
            // A part that was always 0 keeps its start.
            if left[at][at] == 0.0 {
                (left[at][at], right[at]) = (1.0, start[part]);
            }
        }
        let weights = not_negative(&left, &right);
        for (part, weight) in Part::OF_THE_PAGE.into_iter().zip(weights) {
            fitted[part] = weight.min(MOST * start[part]);
        }
        Self { weights: fitted, outcomes: outcomes.len() }
    }

    /// Share that outcomes have in the weights, beside the start.
    pub(crate) fn learned(&self) -> f64 {
        self.outcomes as f64 / (self.outcomes as f64 + PRIOR_PICKS)
    }

    /// The blended estimate.
    pub(crate) fn of(&self, parts: Parts) -> f64 {
        self.weights.dot(&parts)
    }

    /// The same of the page itself, without what it leads to: what its own outcome can keep.
    pub(super) fn of_the_page(&self, parts: Parts) -> f64 {
        self.of(parts.of_the_page())
    }

    /// The share that this has in the whole; 1 of nothing.
    pub(crate) fn share_of_the_page(&self, parts: Parts) -> f64 {
        let whole = self.of(parts);
        if whole == 0.0 { 1.0 } else { self.of_the_page(parts) / whole }
    }
}

impl std::fmt::Display for Blend {
    /// As a sum, each weight before the name of its part; a part that weighs nothing is no part.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = self.weights.iter().filter(|(_, weight)| *weight != 0.0);
        let terms = parts.map(|(part, weight)| format!("{weight:.2} {}", part.name()));
        formatter.write_str(&terms.collect::<Vec<_>>().join(" + "))
    }
}

/// What outcomes are of a blend of their parts, by least squares; `None` where there is none, or nothing
/// came of any.
fn scale(weights: Parts, outcomes: &[(Parts, f64)]) -> Option<f64> {
    let (mut squares, mut products) = (0.0, 0.0);
    for (parts, impact) in outcomes {
        let blended = weights.dot(parts);
        squares += blended * blended;
        products += blended * impact;
    }
    let scale = products / squares;
    (scale.is_finite() && scale > 0.0).then_some(scale)
}

/// The weights of least `w'Lw - 2 w'r` with no weight below 0: of all choices which parts may be
/// positive, the best that is feasible. With five parts that are fitted there are 32.
fn not_negative(left: &[[f64; PARTS]; PARTS], right: &[f64; PARTS]) -> [f64; PARTS] {
    let mut best = ([0.0; PARTS], 0.0);
    for choice in 1..1_u32 << PARTS {
        let free: Vec<usize> = (0..PARTS).filter(|at| choice >> at & 1 == 1).collect();
        let Some(weights) = solve(left, right, &free) else { continue };
        if weights.iter().any(|&weight| weight < 0.0) {
            continue;
        }
        let mut value = 0.0;
        for a in 0..PARTS {
            value -= 2.0 * weights[a] * right[a];
            value += (0..PARTS).map(|b| weights[a] * left[a][b] * weights[b]).sum::<f64>();
        }
        if value < best.1 {
            best = (weights, value);
        }
    }
    best.0
}

/// Solves the equations of the `free` parts, the others 0, by elimination with pivots. None where
/// they do not determine the weights.
fn solve(
    left: &[[f64; PARTS]; PARTS],
    right: &[f64; PARTS],
    free: &[usize],
) -> Option<[f64; PARTS]> {
    let size = free.len();
    let mut rows: Vec<Vec<f64>> = free
        .iter()
        .map(|&a| free.iter().map(|&b| left[a][b]).chain([right[a]]).collect())
        .collect();
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs()))?;
        rows.swap(at, pivot);
        let top = rows[at].clone();
        if top[at].abs() < f64::MIN_POSITIVE {
            return None;
        }
        for row in (0..size).filter(|&row| row != at) {
            let factor = rows[row][at] / top[at];
            for (value, above) in rows[row].iter_mut().zip(&top) {
                *value -= factor * above;
            }
        }
    }
    let mut weights = [0.0; PARTS];
    for (at, &part) in free.iter().enumerate() {
        weights[part] = rows[at][size] / rows[at][at];
    }
    weights.iter().all(|weight| weight.is_finite()).then_some(weights)
}

#[cfg(test)]
mod tests {
    use proptest::array;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Story: a site had moved to https, every pick was a redirect, and the blend learned that no part is worth anything.
    #[test]
    fn a_pick_that_led_to_its_page_is_valued_by_that() {
        let mut known = prospect_index::page_store::Known::default();
        let [asked, page] =
            ["http://a.test/", "https://a.test/"].map(|url| known.urls.insert(url, ""));
        let pick =
            |url| PickOutcome { url, parts: Parts::default(), realised: 1.0, same_queries: true };
        assert_eq!(pick(asked).at_its_page(&known.pages).url, asked, "nothing came yet");
        known.pages.note(page, 0, 200, Some(asked));
        assert_eq!([asked, page].map(|url| pick(url).at_its_page(&known.pages).url), [page; 2]);
    }

    fn outcomes(count: u32, impact: impl Fn([f64; PARTS]) -> f64) -> Vec<(Parts, f64)> {
        let value = |step: u32, by: u32| f64::from(step.wrapping_mul(by) >> 20 & 255) / 255.0;
        let of =
            |step| [1, 2, 3, 5, 7].map(|by| value(step + 1, 2_654_435_761_u32.wrapping_mul(by)));
        let outcome = |parts: [f64; PARTS]| (fitted(parts), impact(parts));
        (0..count).map(of).map(outcome).collect()
    }

    /// Numbers of the parts that are fitted; no discovery.
    fn fitted(parts: [f64; PARTS]) -> Parts {
        Parts::of(|part| parts.get(part as usize).copied().unwrap_or(0.0))
    }

    /// Weights over the first one, of the parts that are fitted.
    fn proportions(weights: Parts) -> Parts {
        Parts::of(|part| weights[part] / weights[Part::Query]).of_the_page()
    }

    fn close(found: Parts, expected: Parts, error: f64) {
        for ((_, found), (_, expected)) in found.iter().zip(expected.iter()) {
            assert!((found - expected).abs() < error, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_blend_reads_as_a_sum() {
        let text = "0.90 query + 0.05 locality + 0.05 page + 0.01 importance + 0.05 quality + 0.10 discovery";
        assert_eq!(Blend::fixed(Parts::START).to_string(), text);
    }

    proptest! {
        #[test]
        fn weights_stay_between_0_and_a_bound(
            seen in vec((array::uniform6(0.0f64..1e3), 0.0f64..1e6), 0..40),
        ) {
            let seen: Vec<(Parts, f64)> =
                seen.into_iter().map(|(parts, impact)| (Parts::from(parts), impact)).collect();
            let found = Blend::fit(Parts::START, &seen);
            for (part, weight) in found.weights.iter() {
                prop_assert!((0.0..=MOST * Parts::START[part]).contains(&weight), "{found}");
            }
        }
    }

    #[test]
    fn without_outcomes_the_blend_is_the_start() {
        assert_eq!(Blend::fit(Parts::START, &[]), Blend::fixed(Parts::START));
        let found = Blend::fit(Parts::START, &outcomes(2, |_| 0.5)).weights;
        close(found.of_the_page(), Parts::START.of_the_page(), 0.05);
    }

    #[test]
    fn many_outcomes_give_the_proportions_that_made_them_in_any_unit() {
        let truth = fitted([0.8, 0.0, 0.1, 0.02, 0.2]);
        for unit in [1e-3, 1.0, 1e4] {
            let made = |parts| unit * Blend::fixed(truth).of(fitted(parts));
            let found = Blend::fit(Parts::START, &outcomes(100_000, made));
            close(proportions(found.weights), proportions(truth), 0.02);
            assert!((0.5..2.0).contains(&found.weights[Part::Query]), "{found}");
        }
    }

    #[test]
    fn a_few_picks_do_not_turn_the_ranking_over() {
        // What estimates did not foresee at all: five pages of 40 lists each.
        let mut seen = outcomes(5, |_| 40.0);
        for (parts, _) in &mut seen {
            *parts = Parts::of(|part| parts[part] * 1e-3);
        }
        let found = Blend::fit(Parts::START, &seen);
        assert!((0.02..0.03).contains(&found.learned()), "{}", found.learned());
        close(found.weights.of_the_page(), Parts::START.of_the_page(), 0.05);
        // Nor where next to nothing came: what pages lead to, of which they say nothing, does not take their place.
        let poor = Blend::fit(Parts::START, &outcomes(5, |_| 1e-4)).weights;
        close(poor, Parts::START, 0.05);
    }

    #[test]
    fn what_pages_lead_to_is_no_outcome_of_theirs_and_weighs_as_much_of_the_scale_as_it_started_with()
     {
        let made = |parts| 20.0 * Blend::fixed(Parts::START).of(fitted(parts));
        let seen = outcomes(5_000, made);
        let mut with = seen.clone();
        for (at, (parts, _)) in with.iter_mut().enumerate() {
            parts[Part::Discovery] = at as f64;
        }
        let found = Blend::fit(Parts::START, &with);
        assert_eq!(found, Blend::fit(Parts::START, &seen));
        let expected = Parts::START[Part::Discovery] / 20.0;
        assert!((found.weights[Part::Discovery] / expected - 1.0).abs() < 0.05, "{found}");
        assert_eq!(found.of_the_page(with[9].0), found.of(seen[9].0));
        let share = found.share_of_the_page(with[9].0);
        assert!((share * found.of(with[9].0) / found.of(seen[9].0) - 1.0).abs() < 1e-9, "{share}");
        assert!(0.0 < share && share < 1.0);
        assert_eq!(found.share_of_the_page(Parts::default()), 1.0);
    }

    #[test]
    fn nothing_that_came_says_nothing() {
        assert_eq!(Blend::fit(Parts::START, &outcomes(9, |_| 0.0)), Blend::fixed(Parts::START));
    }

    #[test]
    fn no_weight_is_negative_and_a_part_that_says_nothing_keeps_its_start() {
        let made = |parts: [f64; PARTS]| (parts[0] - parts[1]).max(0.0);
        let weights = Blend::fit(Parts::START, &outcomes(10_000, made)).weights;
        assert_eq!(weights[Part::Locality], 0.0);
        let mut silent = outcomes(10_000, made);
        for (parts, _) in &mut silent {
            parts[Part::Quality] = 0.0;
        }
        assert_eq!(
            Blend::fit(Parts::START, &silent).weights[Part::Quality],
            Parts::START[Part::Quality]
        );
    }
}
