//! Figures as text: thousands separators, and as many decimals as a column needs.

use std::fmt::Display;

use crate::results::Interval;

/// A number with its noun, of which there are many but for one.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    with_noun(thousands(number), noun)
}

/// The same of a number as it is written.
pub(crate) fn with_noun(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {noun}");
    }
    let (stem, ending) = match noun.strip_suffix('y') {
        Some(stem) => (stem, "ies"),
        None => (noun, if noun.ends_with("ch") { "es" } else { "s" }),
    };
    format!("{number} {stem}{ending}")
}

/// One more count in a list of counts, such as `, 3 moved`; nothing where there is none.
pub(crate) fn and_counted(number: u64, what: &str) -> String {
    if number == 0 { String::new() } else { format!(", {number} {what}") }
}

/// How often something is asked: `once`, `2.5 times`.
pub(crate) fn times(count: f64) -> String {
    if count == 1.0 { "once".to_owned() } else { format!("{count} times") }
}

/// A whole number with separators: `12,345`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Decimals that a column with these figures needs, so that its largest shows three or four
/// digits.
pub(crate) fn decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let largest = values.into_iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    match largest {
        0.1..10.0 => 3,
        10.0..100.0 => 2,
        100.0..1000.0 => 1,
        1000.0.. => 0,
        0.01..0.1 => 4,
        _ if largest > 0.0 => 6,
        _ => 3,
    }
}

/// A figure with so many decimals; separators where there is none.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if decimals == 0 && (0.0..1e15).contains(&value) {
        return thousands(value.round() as u64);
    }
    let text = format!("{value:.decimals$}");
    // A small loss is not "-0.000".
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// A figure with its interval: `0.412 ±0.014` where it reaches as far to both sides, else
/// `0.412 [0.398, 0.430]`.
pub(crate) fn with_interval(interval: &Interval, decimals: usize) -> String {
    let mean = fixed(interval.mean, decimals);
    let (Some(low), Some(high)) = (interval.low, interval.high) else { return mean };
    let below = fixed(interval.mean - low, decimals);
    let above = fixed(high - interval.mean, decimals);
    if below == above {
        return format!("{mean} ±{above}");
    }
    format!("{mean} [{}, {}]", fixed(low, decimals), fixed(high, decimals))
}

/// Whether the interval lies on one side of `value`.
pub(crate) fn excludes(interval: &Interval, value: f64) -> bool {
    matches!((interval.low, interval.high), (Some(low), Some(high)) if low > value || high < value)
}

/// The figure to six digits: what a chart can show, in few bytes.
pub(crate) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::{counted, decimals, fixed, short, thousands, with_interval, with_noun};
    use crate::results::Interval;

    #[test]
    fn figures_are_written_for_readers() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), expected);
        }
        for (told, expected) in [
            (with_noun(0, "page"), "0 pages"),
            (with_noun(1, "judged query"), "1 judged query"),
            (with_noun(2000, "query"), "2000 queries"),
            (counted(2000, "failed fetch"), "2,000 failed fetches"),
        ] {
            assert_eq!(told, expected);
        }
        for (largest, expected) in
            [(0.0, "0.000"), (0.5, "0.500"), (12.0, "12.00"), (0.02, "0.0200"), (12e3, "12,000")]
        {
            assert_eq!(fixed(largest, decimals([largest, 0.0])), expected);
        }
        assert_eq!(fixed(-0.0001, 3), "0.000");
        assert_eq!(short(0.123_456_789), 0.123_457);
    }

    #[test]
    fn an_interval_that_is_not_symmetric_shows_its_ends() {
        let interval = |low, high| Interval { mean: 1.5, low, high, values: Vec::new() };
        assert_eq!(with_interval(&interval(Some(1.4), Some(1.6)), 2), "1.50 ±0.10");
        assert_eq!(with_interval(&interval(Some(1.4), Some(1.9)), 2), "1.50 [1.40, 1.90]");
        assert_eq!(with_interval(&interval(None, None), 2), "1.50");
    }
}
