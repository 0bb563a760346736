//! Our statistics against SciPy's, whose figures lie in `statistics/scipy.json`
//! (`statistics/make_scipy.py` makes them), and what is promised where SciPy has no answer.

use crate::evaluate::statistics::{
    RESAMPLES, bonferroni, holm, mean_interval, paired_bootstrap, paired_t_test, pearson,
    pearson_interval, resamples_for, two_proportion_z_test,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    pairs: Vec<Pairs>,
    z_test: Vec<Proportions>,
    holm: Vec<Family>,
    mean_interval: Vec<Few>,
}

#[derive(Deserialize)]
struct Pairs {
    a: Vec<f64>,
    b: Vec<f64>,
    t_test: f64,
    pearson: f64,
    bootstrap: [f64; 2],
}

#[derive(Deserialize)]
struct Proportions {
    counts: [u64; 4],
    p: f64,
}

#[derive(Deserialize)]
struct Family {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct Few {
    values: Vec<f64>,
    interval: [f64; 2],
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("../statistics/scipy.json")).unwrap()
}

/// Equal to ten digits, however small.
#[track_caller]
fn close(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found:e} is not {expected:e}");
}

#[test]
fn tests_and_intervals_are_those_of_scipy() {
    let expected = expected();
    for pairs in &expected.pairs {
        close(paired_t_test(&pairs.a, &pairs.b), pairs.t_test);
        close(paired_t_test(&pairs.b, &pairs.a), pairs.t_test);
        close(pearson(&pairs.a, &pairs.b), pairs.pearson);
        let interval = pearson_interval(&pairs.a, &pairs.b);
        assert_eq!(interval.is_some(), pairs.a.len() > 3);
    }
    for Proportions { counts: [hits_a, all_a, hits_b, all_b], p } in expected.z_test {
        close(two_proportion_z_test(hits_a, all_a, hits_b, all_b), p);
    }
    for few in expected.mean_interval {
        let found = mean_interval(&few.values).unwrap();
        close(found.low, few.interval[0]);
        close(found.high, few.interval[1]);
        assert_eq!(found.values, few.values);
    }
}

#[test]
fn corrections_for_many_tests() {
    for Family { p, adjusted } in expected().holm {
        for (found, expected) in holm(&p).into_iter().zip(adjusted) {
            close(Some(found), expected);
        }
    }
    assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
    assert_eq!(bonferroni(&[0.01, 0.4, 0.25]), [0.03, 1.0, 0.75]);
    assert!(holm(&[]).is_empty() && bonferroni(&[]).is_empty());
}

#[test]
fn a_bootstrap_interval_is_near_that_of_a_long_one() {
    for (seed, pairs) in expected().pairs.iter().enumerate().filter(|(_, p)| p.a.len() >= 40) {
        let differences: Vec<f64> = pairs.a.iter().zip(&pairs.b).map(|(a, b)| a - b).collect();
        let found = paired_bootstrap(&[differences], 10_000, seed as u64).unwrap().interval;
        let width = pairs.bootstrap[1] - pairs.bootstrap[0];
        for (end, expected) in [found.low, found.high].into_iter().zip(pairs.bootstrap) {
            let off = (end.unwrap() - expected).abs() / width;
            assert!(off < 0.03, "seed {seed}: {end:?} is {off} of the width from {expected}");
        }
    }
}

#[test]
fn a_bootstrap_is_the_same_for_any_number_of_threads() {
    let difference = |by: u32, at: u32| f64::from(at * by % 97) / 97.0;
    let row = |by: u32| (0..97).map(|at| difference(by, at)).collect::<Vec<f64>>();
    let differences = [row(37), row(11), row(5)];
    let bootstrap = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| paired_bootstrap(&differences, RESAMPLES, 3).unwrap())
    };
    assert_eq!(bootstrap(1), bootstrap(7));
    assert_ne!(bootstrap(1), paired_bootstrap(&differences, RESAMPLES, 4).unwrap());
}

/// Where all queries of a set agree, only the sets are drawn, and the other way round.
#[test]
fn a_bootstrap_over_sets_and_queries_draws_of_both() {
    let by_set = [-0.5, 1.0, 1.5, 2.0, 2.5].map(|value| vec![value; 40]);
    let alone = [vec![-0.5, 1.0, 1.5, 2.0, 2.5]];
    let width = |differences: &[Vec<f64>]| {
        let found = paired_bootstrap(differences, RESAMPLES, 1).unwrap();
        assert!((found.interval.mean - 1.3).abs() < 1e-12);
        (found.interval.high.unwrap() - found.interval.low.unwrap(), found.p.unwrap())
    };
    let (sets, (queries, p)) = (width(&by_set), width(&alone));
    assert!((sets.0 - queries).abs() < 0.05 * queries, "{sets:?}, {queries}");
    assert!((sets.1 - p).abs() < 0.01, "{sets:?}, {p}");
    // Few samples have the negative one so often that they are below 0.
    assert!((0.001..0.05).contains(&p), "{p}");
    // A spread of sets that the mean over sets does not show.
    let mean: Vec<f64> = vec![1.3; 40];
    assert!(width(&[mean]).0 < 1e-9);
}

#[test]
fn inputs_without_spread_or_without_enough_of_it() {
    assert_eq!(paired_t_test(&[1.0], &[2.0]), None);
    assert_eq!(paired_t_test(&[], &[]), None);
    assert_eq!(paired_t_test(&[0.3, 0.7], &[0.3, 0.7]), Some(1.0));
    assert_eq!(paired_t_test(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0]), Some(0.0));
    assert_eq!(two_proportion_z_test(0, 0, 1, 2), None);
    assert_eq!(two_proportion_z_test(0, 9, 0, 5), Some(1.0));
    assert_eq!(two_proportion_z_test(9, 9, 5, 5), Some(1.0));
    assert_eq!(pearson(&[0.1; 7], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
    assert_eq!(pearson(&[], &[]), None);
    close(pearson(&[1.0, 2.0], &[3.0, 5.0]), 1.0);
    // Fisher's z of 28 pairs has a standard error of a fifth.
    let x: Vec<f64> = (0..28).map(|at| f64::from(at % 2)).collect();
    let y: Vec<f64> =
        (0..28).map(|at| f64::from(u8::from(at % 4 == 0 || at % 4 == 2 && at > 13))).collect();
    let r = pearson(&x, &y).unwrap();
    let found = pearson_interval(&x, &y).unwrap();
    close(found.low.map(f64::atanh), r.atanh() - 1.959_963_984_540_054 / 5.0);
    close(found.high.map(f64::atanh), r.atanh() + 1.959_963_984_540_054 / 5.0);
    assert_eq!(mean_interval(&[]), None);
    let one = mean_interval(&[0.4]).unwrap();
    assert_eq!((one.mean, one.low, one.high), (0.4, None, None));
    let same = mean_interval(&[0.1; 3]).unwrap();
    assert_eq!((same.low, same.high), (Some(same.mean), Some(same.mean)));
    assert_eq!(paired_bootstrap(&[], RESAMPLES, 1), None);
    assert_eq!(paired_bootstrap(&[vec![], vec![]], RESAMPLES, 1), None);
    let one = paired_bootstrap(&[vec![0.5]], RESAMPLES, 1).unwrap();
    assert_eq!((one.interval.low, one.p), (None, None));
    let none = paired_bootstrap(&[vec![0.5, 0.6]], 0, 1).unwrap();
    assert_eq!((none.interval.high, none.p), (None, None));
    let equal = paired_bootstrap(&[vec![0.0; 9]], RESAMPLES, 1).unwrap();
    assert_eq!(equal.p, Some(1.0));
}

#[test]
fn whatever_is_tested_together_a_difference_can_be_told() {
    assert_eq!([1, 10].map(|tests| resamples_for(tests, 0.01)), [RESAMPLES; 2]);
    for (tests, level) in [(1, 0.05), (11, 0.01), (27, 0.01), (100, 0.001)] {
        let above =
            paired_bootstrap(&[vec![1.0, 2.0, 3.0]], resamples_for(tests, level), 1).unwrap();
        let corrected = holm(&vec![above.p.unwrap(); tests]);
        assert!(corrected.iter().all(|&p| p < level), "{tests} {level} {corrected:?}");
    }
}
