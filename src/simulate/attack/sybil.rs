//! Sybils: throw-away domains with a page of junk or a few, each link to which claims that it answers many
//! queries.

use super::plot::{Attacker, Plot};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize, domains: Option<u32>) -> Plot {
    let owned = attacker.newcomers(pages, domains);
    attacker.sybils(owned)
}
