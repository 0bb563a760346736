//! No attack, to hold the others against: one site of as many pages, found and linked like theirs,
//! whose URLs, anchors and texts aim at no query.

use super::plot::{Attacker, Plot, neighbours};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let host = attacker.host();
    let owned = (0..pages).map(|at| {
        let mut page = attacker.page(&host);
        page.links = neighbours(at, pages).map(|to| (to, attacker.word())).collect();
        page
    });
    let owned = owned.collect();
    let doors = (0..pages).map(|at| (at, attacker.word()));
    Plot::new(owned, doors)
}
