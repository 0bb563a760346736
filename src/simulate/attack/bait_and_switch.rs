//! Bait and switch: a site whose first pages answer queries, so that what was fetched of it looks
//! good, and whose later pages are junk behind anchors of the same form.

use super::plot::{Attacker, Plot, neighbours};

/// One in so many pages is bait.
const BAIT_EVERY: usize = 5;

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let host = attacker.host();
    let bait = (pages / BAIT_EVERY).max(1);
    let owned = (0..pages).map(|at| {
        let mut page = attacker.page(&host);
        let query = |to: usize| (to, attacker.query(to, at));
        if at < bait {
            page.links = neighbours(at, bait).map(query).collect();
            page.links.extend((bait + at..pages).step_by(bait).map(query));
            page.title = attacker.query(at, 0);
            page.text = attacker.on_topic(at);
        } else {
            page.links = neighbours(at - bait, pages - bait).map(|to| query(bait + to)).collect();
        }
        page
    });
    let owned = owned.collect();
    let doors = (0..bait).map(|at| (at, attacker.query(at, at)));
    Plot::new(owned, doors)
}
