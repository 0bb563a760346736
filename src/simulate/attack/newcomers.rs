//! The control on new domains: aimless pages like those of [`super::control`], a few on each.

use super::plot::{Attacker, Plot, neighbours};

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize, domains: Option<u32>) -> Plot {
    let mut owned = attacker.newcomers(pages, domains);
    for (at, page) in owned.iter_mut().enumerate() {
        page.links = neighbours(at, pages).map(|to| (to, attacker.word())).collect();
    }
    let doors: Vec<_> = (0..pages).map(|at| (at, attacker.word())).collect();
    Plot::new(owned, doors.into_iter())
}
