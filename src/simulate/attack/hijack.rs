//! Sybils that links of good repute lead to: comments are posted on pages that answer a query that they claim
//! to answer, too.

use super::plot::{Attacker, Plot};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize, domains: Option<u32>) -> Plot {
    let owned = attacker.newcomers(pages, domains);
    let mut plot = attacker.sybils(owned);
    for door in &mut plot.doors {
        door.on = attacker.rival(door.to);
    }
    plot
}
