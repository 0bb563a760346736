//! Numbers of pages as people give them: `12`, or `1.5%` of a collection.

use serde::{Deserialize, Serialize};

/// A number of pages, or a share of those that can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Amount {
    /// So many.
    Pages(u32),
    /// This share, rounded down, at least one.
    Share(f64),
}

impl Amount {
    /// Parses `12` or `1.5%`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => {
                let share = percent.trim().parse::<f64>().ok()? / 100.0;
                (share > 0.0 && share <= 1.0).then_some(Self::Share(share))
            }
            None => text.parse().ok().filter(|&pages| pages > 0).map(Self::Pages),
        }
    }

    /// Pages out of `of`. A share is `max(1, floor(share * of))`.
    pub(crate) fn pages(self, of: u32) -> u32 {
        match self {
            Self::Pages(pages) => pages,
            // A share such as 0.07 of 100 is meant as 7, and falls a hair short in binary.
            Self::Share(share) => ((share * f64::from(of) + 1e-9).floor() as u32).max(1),
        }
    }
}

/// How much is fetched before a policy is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum BatchSize {
    /// So many pages.
    Pages(Amount),
    /// What a polite crawler has time for in so many seconds.
    Seconds(f64),
}

impl BatchSize {
    /// Parses an amount, or `60s`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('s') {
            Some(seconds) => {
                let seconds = seconds.trim().parse::<f64>().ok()?;
                (seconds > 0.0 && seconds.is_finite()).then_some(Self::Seconds(seconds))
            }
            None => Amount::parse(text).map(Self::Pages),
        }
    }

    /// The seconds, where it is a time.
    pub(crate) fn seconds(self) -> Option<f64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Pages(_) => None,
        }
    }

    /// Pages out of `of` at most.
    pub(crate) fn pages(self, of: u32) -> u32 {
        match self {
            Self::Pages(amount) => amount.pages(of),
            Self::Seconds(_) => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_and_at_least_one() {
        let pages = |text: &str| Amount::parse(text).map(|amount| amount.pages(250));
        assert_eq!(
            [pages("1%"), pages("0.1%"), pages("7"), pages("100%")],
            [Some(2), Some(1), Some(7), Some(250)]
        );
        assert_eq!(BatchSize::parse("1.5s"), Some(BatchSize::Seconds(1.5)));
        assert_eq!(BatchSize::parse("3%").and_then(BatchSize::seconds), None);
        assert_eq!(
            ["0s", "-1s", "infs", "s", "5"].map(BatchSize::parse).iter().flatten().count(),
            1
        );
        assert_eq!([pages("0"), pages("0%"), pages("101%"), pages("x")], [None; 4]);
        assert_eq!(
            (1..=100).map(|p| Amount::Share(f64::from(p) / 100.0).pages(100)).collect::<Vec<_>>(),
            (1..=100).collect::<Vec<_>>()
        );
    }
}
