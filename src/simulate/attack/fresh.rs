//! Sybils that move on before anybody knows them: the pages of each domain link to those of the next one only,
//! as if there were one for every cycle.

use super::plot::{Attacker, Plot};

/// Domains, one a cycle where a cycle is a hundredth of the pages and a third of them is fetched.
const CYCLES: usize = 30;

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let of_domain = pages.div_ceil(CYCLES);
    let hosts: Vec<String> = (0..pages.div_ceil(of_domain)).map(|_| attacker.host()).collect();
    let mut plot = {
        let owned = (0..pages).map(|at| attacker.page(&hosts[at / of_domain]));
        let owned = owned.collect();
        attacker.sybils(owned)
    };
    for (at, page) in plot.pages.iter_mut().enumerate() {
        let next = (at / of_domain + 1) * of_domain;
        page.links.clear();
        for to in (next..next + of_domain).filter(|to| *to < pages) {
            page.links.extend(attacker.claims(to).into_iter().map(|claim| (to, claim)));
        }
    }
    plot
}
