//! Impact that is expected, as text.

use crate::report::glossary;
use crate::results::impact::ExpectedImpact;

/// An expected impact, how sure it is, and the most that can come.
pub(crate) fn expected(expected: &ExpectedImpact) -> String {
    let ExpectedImpact { impact, low, high, ceiling, cycles } = expected;
    let learned = glossary::learned(*cycles);
    format!("{impact:.1} expected ({low:.1} to {high:.1}, {learned}; at most {ceiling:.1})")
}
