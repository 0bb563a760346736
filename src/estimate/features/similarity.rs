//! How close URLs are to queries in meaning: cosines of sentence embeddings of the query with the words
//! of the URL, the anchors that lead to it, and the titles of the pages that show them.
//!
//! Candidates that share no word with the query are found by the same vectors
//! ([`nearest`](crate::estimate::candidates::nearest)).

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::vectors::{Vector, VectorTable};
use prospect_index::words;

use super::table::{Feature, FeatureRow};

/// Links to a URL that features are read from, in order of discovery.
const LINKS: usize = 50;

/// Vectors by an embedding model of all that pairs are compared by. Rows are [`NONE`] for empty strings.
#[derive(Clone, Copy)]
pub(crate) struct Embeddings<'a> {
    /// Vectors of strings and titles.
    pub(crate) strings: &'a VectorTable,
    /// Rows of the strings.
    pub(crate) rows: &'a StringRows,
    /// By `fetch_seq`: row of the title.
    pub(crate) titles: &'a [u32],
    /// Vectors of queries.
    pub(crate) queries: &'a VectorTable,
    /// By query: its row there.
    pub(crate) asked: &'a [u32],
}

/// Where the vectors of URLs and anchors are in a table. Costs 4 bytes a URL and anchor.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringRows {
    /// By URL id: row of its words.
    pub(in crate::estimate) urls: Vec<u32>,
    /// By number of the anchor.
    pub(in crate::estimate) anchors: Vec<u32>,
}

/// The words of a URL, as models read them: those of its path and query, or of its host if there are
/// none.
pub(crate) fn url_text(url: &str) -> String {
    let text = words::url_text(url);
    let (host, path) = text.split_once('/').unwrap_or((&text, ""));
    let of_path = plain(path);
    if of_path.is_empty() { plain(host) } else { of_path }
}

/// Runs of letters and digits in lower case: models cut scripts without spaces themselves.
fn plain(text: &str) -> String {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl StringRows {
    /// The row of a URL's words.
    pub(crate) fn url(&self, url: UrlId) -> u32 {
        self.urls[url.index()]
    }

    /// The row of an anchor, given by number.
    pub(crate) fn anchor(&self, anchor: u32) -> u32 {
        self.anchors[anchor as usize]
    }

    /// Takes in the URLs and anchors that are new since the last call.
    pub(crate) fn update(&mut self, known: &Known, table: &VectorTable) {
        for id in self.urls.len()..known.urls.len() {
            self.urls.push(table.row(&url_text(known.urls.url(UrlId(id as u32)))));
        }
        for id in self.anchors.len()..known.links.anchors() {
            self.anchors.push(table.row(known.links.anchor(id as u32)));
        }
    }
}

impl Embeddings<'_> {
    /// The vector of a query, given by index.
    pub(in crate::estimate) fn query(&self, at: usize) -> Option<Vector<'_>> {
        let row = self.asked.get(at).copied().filter(|&row| row != NONE)?;
        Some(self.queries.vector(row))
    }
}

/// The embeddings beside one query, while its candidates are looked at by one thread.
pub(crate) struct NearQuery<'a> {
    embeddings: &'a Embeddings<'a>,
    known: &'a Known,
    query: Option<Vector<'a>>,
    /// By row: cosine.
    cosines: HashMap<u32, f32>,
}

impl<'a> NearQuery<'a> {
    /// For the query of an index.
    pub(crate) fn new(embeddings: &'a Embeddings<'a>, known: &'a Known, at: usize) -> Self {
        Self { embeddings, known, query: embeddings.query(at), cosines: HashMap::new() }
    }

    fn cosine(&mut self, row: u32) -> f32 {
        let Some(query) = self.query.filter(|_| row != NONE) else { return 0.0 };
        let vector = self.embeddings.strings.vector(row);
        *self.cosines.entry(row).or_insert_with(|| vector.cosine(query))
    }

    /// Adds the features of a URL from links of pages fetched before `before_seq`: the cosine of the query
    /// with its words, with the nearest anchor, and with the nearest title of a page that links to it.
    pub(crate) fn add(&mut self, row: &mut FeatureRow, url: UrlId, before_seq: u32) {
        let Embeddings { rows, titles, .. } = *self.embeddings;
        let words = self.cosine(rows.urls[url.index()]);
        let (mut anchor, mut title) = (0.0_f32, 0.0_f32);
        for link in self.known.links.incoming(url, before_seq).take(LINKS) {
            anchor = anchor.max(self.cosine(rows.anchors[link.anchor as usize]));
            if link.from != url
                && let Some(&row) = titles.get(link.seq as usize)
            {
                title = title.max(self.cosine(row));
            }
        }
        row[Feature::UrlCosine] = words;
        row[Feature::AnchorCosine] = anchor;
        row[Feature::TitleCosine] = title;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of the table by direction, in degrees.
    fn table(angles: &[(&str, f32)]) -> VectorTable {
        let mut table = VectorTable::new(2);
        for (text, degrees) in angles {
            let (sin, cos) = degrees.to_radians().sin_cos();
            table.add(text, &[cos, sin]);
        }
        table
    }

    fn near(a: f32, degrees: f32) -> bool {
        (a - degrees.to_radians().cos()).abs() < 0.02
    }

    /// Cosines of a URL, its nearest anchor and its nearest title.
    fn features(mut query: NearQuery<'_>, url: UrlId, before_seq: u32) -> [f32; 3] {
        let mut row = FeatureRow::default();
        query.add(&mut row, url, before_seq);
        [Feature::UrlCosine, Feature::AnchorCosine, Feature::TitleCosine].map(|at| row[at])
    }

    #[test]
    fn models_read_the_words_of_paths() {
        let text = |url| url_text(url);
        assert_eq!(text("https://www.a.test/wiki/Jane_Austen?id=7"), "wiki jane austen id 7");
        assert_eq!(text("https://www.a.test/"), "www a test");
        assert_eq!(text("https://a.test/caf%C3%A9"), "café");
    }

    #[test]
    fn features_are_of_links_that_were_there() {
        let strings = table(&[
            ("one page", 80.0),
            ("near", 10.0),
            ("far", 60.0),
            ("title", 30.0),
            ("own", 1.0),
        ]);
        let queries = table(&[("query", 0.0)]);
        let mut known = Known::default();
        let to = known.urls.insert("https://a.test/one_page", "");
        let from = known.urls.insert("https://b.test/", "");
        known.links.push((from, to, 4), "far");
        known.links.push((from, to, 7), "near");
        known.links.push((to, to, 8), "far");
        let mut rows = StringRows::default();
        rows.update(&known, &strings);
        assert_eq!(rows.urls[from.index()], NONE, "it was not embedded");
        let title = strings.row("title");
        let titles = [NONE, NONE, NONE, NONE, NONE, NONE, NONE, title, strings.row("own")];
        let asked = [queries.row("query"), NONE];
        let embeddings = Embeddings {
            strings: &strings,
            rows: &rows,
            titles: &titles,
            queries: &queries,
            asked: &asked,
        };
        let features = |at, end| features(NearQuery::new(&embeddings, &known, at), to, end);
        let [url, anchor, title] = features(0, 5);
        assert!(near(url, 80.0) && near(anchor, 60.0) && title == 0.0, "{url} {anchor} {title}");
        // A page's link to itself has an anchor, and no title counts for it.
        let [_, anchor, title] = features(0, 9);
        assert!(near(anchor, 10.0) && near(title, 30.0), "{anchor} {title}");
        assert_eq!(features(1, 9), [0.0; 3]);
    }
}
