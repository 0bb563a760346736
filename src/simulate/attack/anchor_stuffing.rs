//! Anchor text spam: one site whose pages link to each other with anchors that hold query after
//! query.

use super::plot::{Attacker, Plot, neighbours};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let host = attacker.host();
    let anchors: Vec<Vec<String>> = (0..pages).map(|at| attacker.stuffed(at)).collect();
    let owned = (0..pages).map(|at| {
        let mut page = attacker.page(&host);
        for to in neighbours(at, pages) {
            page.links.extend(anchors[to].iter().map(|anchor| (to, anchor.clone())));
        }
        page
    });
    let owned = owned.collect();
    // Comments show other parts of what a page aims at.
    let doors = anchors.iter().enumerate().map(|(at, own)| (at, own[at % own.len()].clone()));
    Plot::new(owned, doors)
}
