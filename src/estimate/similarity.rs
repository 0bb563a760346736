//! How close URLs are to queries in meaning: cosines of sentence embeddings of the query with the words
//! of the URL, the anchors that lead to it, and the titles of the pages that show them.
//!
//! Beside features of pairs this gives candidates that share no word with the query: its nearest URLs.
//! Every URL is looked at once, when it becomes known: with its words and its first anchor it is offered
//! to the [`QUERIES_PER_URL`] queries it is nearest to, each of which keeps its [`NEAREST`] best ones,
//! crawled or not. That costs two products of vectors for every URL and query.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::vectors::{Vector, VectorTable};
use prospect_index::words;
use rayon::prelude::*;

/// Number of features.
pub const COUNT: usize = 3;
/// Nearest URLs that a query keeps.
pub const NEAREST: usize = 100;
/// Queries that a URL can be among the nearest of.
pub const QUERIES_PER_URL: usize = 10;
/// Links to a URL that features are read from, in order of discovery.
const LINKS: usize = 50;
/// URLs that are compared with all queries at a time.
const BATCH: usize = 4_096;

/// Vectors by an embedding model of all that pairs are compared by. Rows are [`NONE`] for empty strings.
#[derive(Clone, Copy)]
pub struct Embeddings<'a> {
    /// Vectors of strings and titles.
    pub strings: &'a VectorTable,
    /// Rows of the strings.
    pub rows: &'a StringRows,
    /// By `fetch_seq`: row of the title.
    pub titles: &'a [u32],
    /// Vectors of queries.
    pub queries: &'a VectorTable,
    /// By query: its row there.
    pub asked: &'a [u32],
}

/// Where the vectors of URLs and anchors are in a table. Costs 4 bytes a URL and anchor.
#[derive(Clone, Debug, Default)]
pub struct StringRows {
    /// By URL id: row of its words.
    urls: Vec<u32>,
    /// By number of the anchor.
    anchors: Vec<u32>,
}

/// The words of a URL, as models read them: those of its path and query, or of its host if there are
/// none.
pub fn url_text(url: &str) -> String {
    let text = words::url_text(url);
    let (host, path) = text.split_once('/').unwrap_or((&text, ""));
    let of_path = words::words(path).join(" ");
    if of_path.is_empty() { words::words(host).join(" ") } else { of_path }
}

impl StringRows {
    /// Takes in the URLs and anchors that are new since the last call.
    pub fn update(&mut self, known: &Known, table: &VectorTable) {
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
    fn query(&self, at: usize) -> Option<Vector<'_>> {
        let row = self.asked.get(at).copied().filter(|&row| row != NONE)?;
        Some(self.queries.vector(row))
    }
}

/// The embeddings beside one query, while its candidates are looked at by one thread.
pub struct NearQuery<'a> {
    embeddings: &'a Embeddings<'a>,
    known: &'a Known,
    query: Option<Vector<'a>>,
    /// By row: cosine.
    cosines: HashMap<u32, f32>,
}

impl<'a> NearQuery<'a> {
    /// For the query of an index.
    pub fn new(embeddings: &'a Embeddings<'a>, known: &'a Known, at: usize) -> Self {
        Self { embeddings, known, query: embeddings.query(at), cosines: HashMap::new() }
    }

    fn cosine(&mut self, row: u32) -> f32 {
        let Some(query) = self.query.filter(|_| row != NONE) else { return 0.0 };
        let vector = self.embeddings.strings.vector(row);
        *self.cosines.entry(row).or_insert_with(|| vector.cosine(query))
    }

    /// Features of a URL from links of pages fetched before `before_seq`: the cosine of the query with
    /// its words, with the nearest anchor, and with the nearest title of a page that links to it.
    pub fn features(&mut self, url: UrlId, before_seq: u32) -> [f32; COUNT] {
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
        [words, anchor, title]
    }
}

/// By query: its nearest URLs of all that are known. Costs 8 bytes for each.
#[derive(Clone, Debug, Default)]
pub struct Nearest {
    /// URLs that were looked at.
    seen: usize,
    /// Those of them that no link led to, and that are no candidates until one does.
    unlinked: Vec<UrlId>,
    /// By query: cosines and URLs, the nearest first.
    of_query: Vec<Vec<(f32, UrlId)>>,
}

impl Nearest {
    /// Looks at the URLs that are new since the last call, which was for the same queries.
    pub fn update(&mut self, known: &Known, embeddings: &Embeddings<'_>) {
        let queries = embeddings.asked.len();
        self.of_query.resize_with(queries, Vec::new);
        let vectors: Vec<Option<Vector<'_>>> =
            (0..queries).map(|at| embeddings.query(at)).collect();
        let new = (self.seen..known.urls.len()).map(|id| UrlId(id as u32));
        let is_linked = |url: &UrlId| known.links.incoming(*url, u32::MAX).next().is_some();
        let (linked, unlinked): (Vec<UrlId>, Vec<UrlId>) =
            self.unlinked.iter().copied().chain(new).partition(is_linked);
        (self.seen, self.unlinked) = (known.urls.len(), unlinked);
        for batch in linked.chunks(BATCH) {
            let offers: Vec<Vec<(u32, f32)>> =
                batch.par_iter().map(|&url| offers(known, embeddings, url, &vectors)).collect();
            for (&url, offers) in batch.iter().zip(offers) {
                for (query, cosine) in offers {
                    self.of_query[query as usize].push((cosine, url));
                }
            }
            for nearest in &mut self.of_query {
                // Of equals the one that was known first.
                nearest.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                nearest.truncate(NEAREST);
            }
        }
    }

    /// The nearest URLs of a query, the nearest first.
    pub fn of(&self, query: usize) -> impl Iterator<Item = UrlId> {
        self.of_query.get(query).into_iter().flatten().map(|(_, url)| *url)
    }
}

/// The queries that a URL is nearest to, with its cosines.
fn offers(
    known: &Known,
    embeddings: &Embeddings<'_>,
    url: UrlId,
    queries: &[Option<Vector<'_>>],
) -> Vec<(u32, f32)> {
    let first = known.links.incoming(url, u32::MAX).next();
    let anchor = first.map_or(NONE, |link| embeddings.rows.anchors[link.anchor as usize]);
    let rows = [embeddings.rows.urls[url.index()], anchor];
    let known_rows = rows.into_iter().filter(|&row| row != NONE);
    let vectors: Vec<Vector<'_>> = known_rows.map(|row| embeddings.strings.vector(row)).collect();
    let cosine = |query: Vector<'_>| {
        vectors.iter().map(|vector| vector.cosine(query)).fold(0.0_f32, f32::max)
    };
    let cosines = queries.iter().enumerate();
    let mut near: Vec<(u32, f32)> = cosines
        .filter_map(|(at, query)| Some((at as u32, cosine((*query)?))))
        .filter(|(_, cosine)| *cosine > 0.0)
        .collect();
    let nearer = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if near.len() > QUERIES_PER_URL {
        near.select_nth_unstable_by(QUERIES_PER_URL, nearer);
        near.truncate(QUERIES_PER_URL);
    }
    near
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

    #[test]
    fn models_read_the_words_of_paths() {
        let text = |url| url_text(url);
        assert_eq!(text("https://www.a.test/wiki/Jane_Austen?id=7"), "wiki jane austen id 7");
        assert_eq!(text("https://www.a.test/"), "www a test");
        assert_eq!(text("https://a.test/caf%C3%A9"), "café");
    }

    #[test]
    fn features_are_of_links_that_were_there() {
        let strings = table(&[("one page", 80.0), ("near", 10.0), ("far", 60.0), ("title", 30.0)]);
        let queries = table(&[("query", 0.0)]);
        let mut known = Known::default();
        let to = known.urls.insert("https://a.test/one_page", "");
        let from = known.urls.insert("https://b.test/", "");
        known.links.push(from, to, 4, "far");
        known.links.push(from, to, 7, "near");
        known.links.push(to, to, 8, "far");
        let mut rows = StringRows::default();
        rows.update(&known, &strings);
        assert_eq!(rows.urls[from.index()], NONE, "it was not embedded");
        let title = strings.row("title");
        let titles = [NONE, NONE, NONE, NONE, NONE, NONE, NONE, title, title];
        let asked = [queries.row("query"), NONE];
        let embeddings = Embeddings {
            strings: &strings,
            rows: &rows,
            titles: &titles,
            queries: &queries,
            asked: &asked,
        };
        let mut view = NearQuery::new(&embeddings, &known, 0);
        let [url, anchor, title] = view.features(to, 5);
        assert!(near(url, 80.0) && near(anchor, 60.0) && title == 0.0, "{url} {anchor} {title}");
        let [_, anchor, title] = view.features(to, 8);
        assert!(near(anchor, 10.0) && near(title, 30.0), "{anchor} {title}");
        assert_eq!(NearQuery::new(&embeddings, &known, 1).features(to, 8), [0.0; COUNT]);
    }

    /// A page that shows `links` links, the anchor of each in a direction of its own.
    fn linked(links: u32) -> (Known, VectorTable) {
        let mut known = Known::default();
        let hub = known.urls.insert("https://hub.test/", "");
        let mut strings = VectorTable::new(2);
        for at in 0..links {
            let to = known.urls.insert(&format!("https://a.test/{at}"), "");
            let anchor = format!("anchor {at}");
            let (sin, cos) = (at as f32 * 0.7).sin_cos();
            strings.add(&anchor, &[cos, sin]);
            known.links.push(hub, to, 0, &anchor);
        }
        (known, strings)
    }

    fn queries(count: u32) -> (VectorTable, Vec<u32>) {
        let mut table = VectorTable::new(2);
        for at in 0..count {
            let (sin, cos) = (at as f32).sin_cos();
            table.add(&at.to_string(), &[cos, sin]);
        }
        let rows = (0..count).map(|at| table.row(&at.to_string())).collect();
        (table, rows)
    }

    #[test]
    fn queries_keep_their_nearest_and_urls_have_few_queries() {
        let (queries, asked) = queries(40);
        let (known, strings) = linked(2_000);
        let (mut rows, mut nearest) = (StringRows::default(), Nearest::default());
        rows.update(&known, &strings);
        let embeddings = Embeddings {
            strings: &strings,
            rows: &rows,
            titles: &[],
            queries: &queries,
            asked: &asked,
        };
        nearest.update(&known, &embeddings);
        let mut times: HashMap<UrlId, usize> = HashMap::new();
        for query in 0..40 {
            let of: Vec<UrlId> = nearest.of(query).collect();
            assert_eq!(of.len(), NEAREST);
            for url in of {
                *times.entry(url).or_default() += 1;
            }
        }
        assert!(times.values().all(|&times| times <= QUERIES_PER_URL));
    }

    #[test]
    fn the_nearest_are_the_same_step_by_step() {
        let (queries, asked) = queries(30);
        let (all, strings) = linked(700);
        let (mut rows, mut at_once) = (StringRows::default(), Nearest::default());
        rows.update(&all, &strings);
        let of = |known: &Known, nearest: &mut Nearest, rows: &StringRows| {
            let embeddings = Embeddings {
                strings: &strings,
                rows,
                titles: &[],
                queries: &queries,
                asked: &asked,
            };
            nearest.update(known, &embeddings);
        };
        of(&all, &mut at_once, &rows);

        let (mut known, mut rows, mut steps) =
            (Known::default(), StringRows::default(), Nearest::default());
        for url in all.urls.ids() {
            known.urls.insert(all.urls.url(url), "");
        }
        let mut links = all.links.links().to_vec();
        // In another order, and some URLs are known before a link leads to them.
        links.reverse();
        for part in links.chunks(97) {
            for link in part {
                known.links.push(link.from, link.to, link.seq, all.links.anchor(link.anchor));
            }
            rows.update(&known, &strings);
            of(&known, &mut steps, &rows);
        }
        assert_eq!(steps.of_query, at_once.of_query);
    }
}
