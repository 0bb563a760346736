//! Text around links, from records to what is known of a URL.

use crate::ingest::{ingest_all, prepare};
use crate::limits::AROUND_CHARS;
use crate::link_context::{PER_URL, word_numbers};
use crate::page::{Outlink, PageRecord, UrlId};
use crate::store::{Store, StoreOptions};
use crate::words::Analyzer;

fn page(number: usize, text: &str, links: &[(&str, &str, &str)]) -> PageRecord {
    let link = |&(path, anchor, around): &(&str, &str, &str)| Outlink {
        url: format!("https://e.test/{path}"),
        anchor: anchor.to_owned(),
        around: around.to_owned(),
    };
    PageRecord {
        url: format!("https://e.test/{number}"),
        text: text.to_owned(),
        outlinks: links.iter().map(link).collect(),
        ..PageRecord::default()
    }
}

/// Texts around the links of a page, in order.
fn around(record: PageRecord) -> Vec<String> {
    prepare(record).unwrap().links().map(|link| link.around.to_owned()).collect()
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
    let long = "é".repeat(AROUND_CHARS + 9);
    let cut = prepare(page(0, "", &[("rye", "", &long)])).unwrap();
    assert_eq!(cut.links().next().unwrap().around.chars().count(), AROUND_CHARS);
}

#[test]
fn what_current_pages_say_is_known_in_fetch_order() {
    let dir = tempfile::tempdir().unwrap();
    let records = |range: std::ops::Range<usize>| {
        let one = |number: usize| {
            let told = format!("word{number}");
            page(number, "", &[("rye", "", ""), ("rye", "rye", &told), ("rye", "bread", "later")])
        };
        range.map(one).collect::<Vec<_>>()
    };
    ingest_all(dir.path(), records(0..3), "first").unwrap();
    // A page that is fetched again and no longer has the link.
    ingest_all(dir.path(), vec![page(1, "", &[])], "second").unwrap();
    ingest_all(dir.path(), records(10..10 + 2 * PER_URL), "third").unwrap();
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
