//! Rules by their names, and where they stop a crawl.

use crate::policy::amount::Amount;
use crate::sufficiency::verdict::{SATURATED, THETA};

use super::looks::{Look, Trace};

/// How many times steeper results come before the knee than behind it (Cormack and Grossman, "Engineering quality
/// and reliability in technology-assisted review", SIGIR 2016).
const KNEE_RATIO: f64 = 6.0;

/// A rule that stops crawls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StopRule {
    /// The sufficiency of the workload is at least this.
    Sufficiency(f64),
    /// The lower end of the saturation's interval is at least [`SATURATED`].
    Saturated,
    /// The next batch is expected to bring by page less than a tenth of what the first planned pages brought, as the policy
    /// itself expects it.
    NoGain,
    /// Vectors of titles: nothing is learned any more, and that holds for wordings that are held out.
    Learned,
    /// What crawl4ai's shipped code goes by.
    Compatible,
    /// The crawl is planned, and fetching all that can be reached would add at most this to the scores of the best pages, as
    /// a share.
    Settled(f64),
    /// The curve of what entered lists has a knee.
    Knee,
    /// So many pages are fetched, as a number or as a share of those that can be.
    Fixed(Amount),
    /// Never.
    Never,
    /// The crawl has 95 % of what it will have: no crawler knows that.
    Oracle,
}

impl StopRule {
    /// A rule by its name.
    pub(crate) fn parse(given: &str) -> Option<Self> {
        let (name, value) = given.split_once(':').map_or((given, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("sufficiency", None) => Some(Self::Sufficiency(THETA)),
            ("sufficiency", Some(value)) => {
                let theta: f64 = value.parse().ok()?;
                (theta > 0.0 && theta <= 1.0).then_some(Self::Sufficiency(theta))
            }
            ("settled", Some(value)) => {
                let percent = value.strip_suffix('%')?.parse::<f64>().ok()?;
                (percent > 0.0 && percent <= 100.0).then_some(Self::Settled(percent / 100.0))
            }
            ("saturated", None) => Some(Self::Saturated),
            ("no-gain", None) => Some(Self::NoGain),
            ("learned", None) => Some(Self::Learned),
            ("compatible", None) => Some(Self::Compatible),
            ("knee", None) => Some(Self::Knee),
            ("fixed", Some(value)) => Amount::parse(value).map(Self::Fixed),
            ("never", None) => Some(Self::Never),
            ("oracle", None) => Some(Self::Oracle),
            _ => None,
        }
    }

    /// What can be written, for people.
    pub(crate) const NAMES: &str = "sufficiency:0.7, settled:1%, saturated, no-gain, learned, compatible, knee, \
                                    fixed:20%, never and oracle";

    /// Its name.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Sufficiency(theta) => format!("sufficiency:{theta}"),
            Self::Settled(share) => format!("settled:{}", percent(share)),
            Self::Saturated => "saturated".to_owned(),
            Self::NoGain => "no-gain".to_owned(),
            Self::Learned => "learned".to_owned(),
            Self::Compatible => "compatible".to_owned(),
            Self::Knee => "knee".to_owned(),
            Self::Fixed(Amount::Pages(pages)) => format!("fixed:{pages}"),
            Self::Fixed(Amount::Share(share)) => format!("fixed:{}", percent(share)),
            Self::Never => "never".to_owned(),
            Self::Oracle => "oracle".to_owned(),
        }
    }

    /// Whether it needs to know how well queries are answered.
    pub(crate) fn reads_sufficiency(self) -> bool {
        matches!(self, Self::Sufficiency(_))
    }

    /// Pages fetched when it stops a crawl; none if it never does.
    pub(super) fn stop(self, trace: &Trace, fetchable: u32) -> Option<u32> {
        let looks = &trace.looks;
        let first = |holds: &dyn Fn(&Look) -> bool| {
            looks.iter().find(|look| holds(look)).map(|look| look.fetched)
        };
        match self {
            Self::Sufficiency(theta) => first(&|look| look.sufficiency >= theta),
            Self::Saturated => {
                first(&|look| look.saturation.is_some_and(|found| found.low >= SATURATED))
            }
            Self::Settled(_) if !trace.planned => None,
            Self::Settled(share) => {
                first(&|look| look.growth.is_some_and(|growth| growth <= share))
            }
            Self::NoGain => trace.no_gain,
            Self::Learned => first(&|look| look.learned),
            Self::Compatible => first(&|look| look.compatible),
            Self::Knee => first(&|look| look.knee >= KNEE_RATIO),
            Self::Fixed(amount) => Some(amount.pages(fetchable)).filter(|&at| at < trace.pages),
            Self::Never => None,
            Self::Oracle => trace.oracle,
        }
    }
}

fn percent(share: f64) -> String {
    // What is meant as a round number may be a hair off in binary.
    let round = (share * 1e6).round() / 1e4;
    let percent = 100.0 * share;
    format!("{}%", if (round - percent).abs() <= 1e-9 * percent { round } else { percent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_named() {
        for name in [
            "sufficiency:0.7",
            "saturated",
            "no-gain",
            "learned",
            "compatible",
            "knee",
            "fixed:20%",
            "fixed:300",
            "never",
            "oracle",
        ] {
            assert_eq!(StopRule::parse(name).map(StopRule::name).as_deref(), Some(name));
        }
        assert_eq!(StopRule::parse("sufficiency"), Some(StopRule::Sufficiency(0.7)));
        for wrong in [
            "sufficiency:2",
            "settled",
            "settled:0.1",
            "sufficiency:x",
            "fixed",
            "knee:3",
            "soon",
            "",
        ] {
            assert_eq!(StopRule::parse(wrong), None, "{wrong}");
        }
    }
}
