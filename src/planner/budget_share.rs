//! A budget that is a share of the URLs that may be planned.

/// A share of the URLs that may be planned: above 0, at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BudgetShare(f64);

impl BudgetShare {
    /// The share of what is written before the percent sign; none where that is no share.
    pub(crate) fn parse(percent: &str) -> Option<Self> {
        let share = percent.trim().parse::<f64>().ok()? / 100.0;
        (share > 0.0 && share <= 1.0).then_some(Self(share))
    }

    /// So much of `urls`, rounded up; a budget is at least one.
    pub(crate) fn of(self, urls: usize) -> usize {
        ((self.0 * urls as f64).ceil() as usize).clamp(1, urls.max(1))
    }

    /// As people write it.
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_and_at_least_one() {
        for (percent, urls, expected) in
            [("10", 263, Some(27)), ("10", 0, Some(1)), ("0.1", 5, Some(1)), ("100", 7, Some(7))]
        {
            assert_eq!(BudgetShare::parse(percent).map(|share| share.of(urls)), expected);
        }
        for percent in ["0", "-1", "101", "NaN", "inf", "", "ten"] {
            assert!(BudgetShare::parse(percent).is_none(), "{percent}");
        }
    }
}
