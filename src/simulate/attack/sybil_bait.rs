//! Sybils whose texts hold what links claim, so that no promise is broken.

use super::plot::{Attacker, Plot};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize, domains: Option<u32>) -> Plot {
    let mut owned = attacker.newcomers(pages, domains);
    for (at, page) in owned.iter_mut().enumerate() {
        let claims = attacker.claims(at);
        page.title.clone_from(&claims[0]);
        page.text = attacker.answer(&claims);
    }
    attacker.sybils(owned)
}
