//! URL spam: one site whose URLs are made of queries, a folder each; anchors are junk.

use prospect_index::limits::cut_chars;
use prospect_index::words::words;

use super::plot::{Attacker, Plot, neighbours};

/// Queries in a URL. More would make it longer than any honest one.
const QUERIES: usize = 3;
/// Characters of a folder, so that no workload makes URLs of a length that nobody can fetch.
const FOLDER_CHARS: usize = 200;

pub(super) fn plot(attacker: &mut Attacker<'_>, pages: usize) -> Plot {
    let host = attacker.host();
    let owned = (0..pages).map(|at| {
        let folders: Vec<String> = (0..QUERIES).map(|turn| folder(attacker, at, turn)).collect();
        let mut page = attacker.page(&format!("{host}/{}", folders.join("/")));
        page.links = neighbours(at, pages).map(|to| (to, attacker.word())).collect();
        page
    });
    let owned = owned.collect();
    let doors = (0..pages).map(|at| (at, attacker.word()));
    Plot::new(owned, doors)
}

/// The words of a query that the page at a place is aimed at.
fn folder(attacker: &Attacker<'_>, at: usize, turn: usize) -> String {
    let mut folder = words(&attacker.query(at, turn)).join("-");
    cut_chars(&mut folder, FOLDER_CHARS);
    folder
}
