//! A budget that is a share of the URLs that may be planned.

/// A share of the URLs that may be planned, in percent: above 0, at most 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BudgetShare {
    /// As it was written.
    pub(crate) percent: f64,
}

impl BudgetShare {
    /// The share of what is written before the percent sign; none where that is no share.
    pub(crate) fn parse(percent: &str) -> Option<Self> {
        let percent = percent.trim().parse::<f64>().ok()?;
        (percent > 0.0 && percent <= 100.0).then_some(Self { percent })
    }

    /// So much of `urls`, rounded up; a budget is at least one.
    pub(crate) fn of(self, urls: usize) -> usize {
        // What is meant as a whole number may be a hair more in binary.
        let share = self.percent * urls as f64 / 100.0 - 1e-9;
        (share.ceil() as usize).clamp(1, urls.max(1))
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
        for percent in 1..=100 {
            let share = BudgetShare::parse(&percent.to_string()).unwrap();
            assert_eq!((share.of(100), share.percent), (percent, percent as f64));
        }
        for percent in ["0", "-1", "101", "NaN", "inf", "", "ten"] {
            assert!(BudgetShare::parse(percent).is_none(), "{percent}");
        }
    }
}
