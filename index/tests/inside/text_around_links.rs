//! Text around links, from records to what is known of a URL.

use crate::ingest::{ingest_all, prepare};
use crate::limits::BOUNDS;
use crate::link_context::{PER_URL, word_numbers};
use crate::page::{Outlink, PageRecord, UrlId};
use crate::store::{Store, StoreOptions};
use crate::words::Analyzer;

fn page(number: usize, text: &str, links: &[(&str, &str, &str)]) -> PageRecord {
    let outlinks = links.iter().map(|(path, anchor, around)| {
        let (anchor, around) = ((*anchor).to_owned(), (*around).to_owned());
        Outlink { around, ..Outlink::from((format!("https://e.test/{path}"), anchor)) }
    });
    PageRecord {
        url: format!("https://e.test/{number}"),
        text: text.to_owned(),
        outlinks: outlinks.collect(),
        ..PageRecord::default()
    }
}

/// A page with three links to one URL, of which the first says nothing and the second what no other page says.
fn with_three_links(number: usize) -> PageRecord {
    let told = format!("word{number}");
    page(number, "", &[("rye", "", ""), ("rye", "rye", &told), ("rye", "bread", "later")])
}

/// Texts around the links of a page, in order.
fn around(record: PageRecord) -> Vec<String> {
    let links = prepare(record).unwrap().links.into_iter();
    links.map(|link| link.shown.around).collect()
}

#[test]
fn an_input_that_tells_is_believed_and_any_other_is_searched() {
    let text = "Bake a dense rye bread, or a light one.";
    let links = [("rye", "rye bread", ""), ("light", "light one", "")];
    assert_eq!(
        around(page(0, text, &links)),
        ["bake a dense or a light one", "bake a dense rye bread or a"]
    );
    let told = [("rye", "rye bread", ""), ("light", "light one", " told  by the\ncrawler ")];
    assert_eq!(around(page(0, text, &told)), ["", "told by the crawler"]);
    let long = "é".repeat(BOUNDS.around_chars + 9);
    let cut = prepare(page(0, "", &[("rye", "", &long)])).unwrap();
    assert_eq!(cut.links[0].shown.around.chars().count(), BOUNDS.around_chars);
}

#[test]
fn what_current_pages_say_is_known_in_fetch_order() {
    let dir = tempfile::tempdir().unwrap();
    ingest_all(dir.path(), (0..3).map(with_three_links).collect(), "first").unwrap();
    // A page that is fetched again and no longer has the link.
    ingest_all(dir.path(), vec![page(1, "", &[])], "second").unwrap();
    let third = 10..10 + 2 * PER_URL;
    ingest_all(dir.path(), third.map(with_three_links).collect(), "third").unwrap();
    let store = Store::open(dir.path(), &StoreOptions::default()).unwrap();
    let known = store.known().unwrap();
    let table = store.link_context(&known, None).unwrap();
    let rye = known.urls.get("https://e.test/rye").unwrap();
    let said: Vec<(UrlId, Vec<u32>)> =
        table.of(rye, u32::MAX).map(|around| (around.from, around.words.to_vec())).collect();
    let expected = [0, 2, 10, 11, 12, 13, 14, 15].map(|number| {
        let from = known.urls.get(&format!("https://e.test/{number}")).unwrap();
        (from, word_numbers(&Analyzer::default(), &format!("word{number}")))
    });
    assert_eq!(said, expected);
    assert_eq!(table.of(rye, 3).count(), 2, "before the second ingest");
}
