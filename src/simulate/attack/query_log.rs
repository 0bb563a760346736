//! Demand that is made up: the attacker asks queries of its own, which its pages answer, each on a domain of
//! its own.

use super::plot::{Attacker, Plot, neighbours};

/// Words of a query.
const WORDS: usize = 3;

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let mut owned = attacker.newcomers(pages, None);
    let asked = |_| (0..WORDS).map(|_| attacker.word()).collect::<Vec<_>>().join(" ");
    let queries: Vec<String> = (0..pages).map(asked).collect();
    for (at, page) in owned.iter_mut().enumerate() {
        page.title.clone_from(&queries[at]);
        page.text = attacker.answer(&queries[at..=at]);
        page.links = neighbours(at, pages).map(|to| (to, queries[to].clone())).collect();
    }
    let doors = queries.clone().into_iter().enumerate();
    Plot { queries, ..Plot::new(owned, doors) }
}
