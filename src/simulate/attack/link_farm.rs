//! A spam farm: many domains, each of which links to every target with one of the queries it aims
//! at, so that each target has in-links and anchors from as many sites.

use super::plot::{Attacker, Owned, Plot, neighbours};

/// Half of the pages are the farm's, at least one a domain; the others are the targets.
pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize, domains: usize) -> Plot {
    let farm = (pages / 2).max(domains);
    let targets = pages - farm;
    let hosts: Vec<String> = (0..domains).map(|_| attacker.host()).collect();
    let own = attacker.host();
    let mut owned: Vec<Owned> = (0..farm).map(|at| attacker.page(&hosts[at % domains])).collect();
    owned.extend((0..targets).map(|_| attacker.page(&own)));
    for (at, page) in owned[..farm].iter_mut().enumerate() {
        page.links = neighbours(at, farm).map(|to| (to, attacker.query(to, at))).collect();
    }
    for at in 0..targets {
        let to = farm + at;
        for domain in 0..domains {
            let of_domain = (farm - domain).div_ceil(domains);
            let from = domain + domains * (at % of_domain);
            owned[from].links.push((to, attacker.query(to, domain)));
        }
        let ring = neighbours(at, targets).map(|next| farm + next);
        owned[to].links = ring.map(|next| (next, attacker.query(next, at))).collect();
    }
    let doors = (0..farm).map(|at| (at, attacker.query(at, at)));
    Plot::new(owned, doors)
}
