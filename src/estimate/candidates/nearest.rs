//! Candidates by meaning: of all known URLs, crawled or not, the [`NEAREST`] to each query by the words of
//! the URL and its first anchor, where there is an embedding model.
//!
//! Every URL is looked at once, when the first link to it becomes known, which costs two products of vectors
//! for every query; and what a query keeps depends on no other query.

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::vectors::Vector;
use rayon::prelude::*;

use crate::estimate::features::similarity::Embeddings;

/// Nearest URLs that a query keeps.
pub(crate) const NEAREST: usize = 100;
/// URLs that queries are compared with at a time, few enough that their vectors stay at hand.
const BATCH: usize = 512;

/// By query: its nearest URLs of all that are known. Costs 8 bytes for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    /// URLs that were looked at.
    seen: usize,
    /// Those of them that no link led to, and that are no candidates until one does.
    unlinked: Vec<UrlId>,
    /// By query: cosines and URLs, the nearest first.
    of_query: Vec<Vec<(f32, UrlId)>>,
}

impl Nearest {
    /// Of URLs that pages fetched before `end_seq` link to.
    pub(crate) fn before(known: &Known, embeddings: &Embeddings<'_>, end_seq: u32) -> Self {
        let mut nearest = Self::default();
        nearest.look_at(known, embeddings, end_seq);
        nearest
    }

    /// Looks at the URLs that are new since the last call, which was for the same queries.
    pub(crate) fn update(&mut self, known: &Known, embeddings: &Embeddings<'_>) {
        self.look_at(known, embeddings, u32::MAX);
    }

    fn look_at(&mut self, known: &Known, embeddings: &Embeddings<'_>, end_seq: u32) {
        let queries: Vec<Option<Vector<'_>>> =
            (0..embeddings.asked.len()).map(|at| embeddings.query(at)).collect();
        self.of_query.resize_with(queries.len(), Vec::new);
        let new = (self.seen..known.urls.len()).map(|id| UrlId(id as u32));
        let is_linked = |url: &UrlId| known.links.incoming(*url, end_seq).next().is_some();
        let (linked, unlinked): (Vec<UrlId>, Vec<UrlId>) =
            self.unlinked.iter().copied().chain(new).partition(is_linked);
        (self.seen, self.unlinked) = (known.urls.len(), unlinked);
        let vectors: Vec<(UrlId, [Option<Vector<'_>>; 2])> =
            linked.into_iter().map(|url| (url, first_seen_as(known, embeddings, url))).collect();
        for batch in vectors.chunks(BATCH) {
            self.of_query.par_iter_mut().zip(&queries).for_each(|(nearest, query)| {
                let Some(query) = *query else { return };
                for (url, of) in batch {
                    offer(nearest, *url, query, of);
                }
            });
        }
    }

    /// The nearest URLs of a query, the nearest first.
    pub(crate) fn of(&self, query: usize) -> impl Iterator<Item = UrlId> {
        self.of_query.get(query).into_iter().flatten().map(|(_, url)| *url)
    }
}

/// Keeps a URL of these vectors where it is among the nearest of a query; of equals the one of the lower
/// id.
fn offer(
    nearest: &mut Vec<(f32, UrlId)>,
    url: UrlId,
    query: Vector<'_>,
    of: &[Option<Vector<'_>>; 2],
) {
    let cosines = of.iter().flatten().map(|vector| vector.cosine(query));
    let cosine = cosines.fold(0.0_f32, f32::max);
    let low = nearest.get(NEAREST - 1).map_or(0.0, |(low, _)| *low);
    if cosine > 0.0 && cosine >= low {
        let before =
            |other: &(f32, UrlId)| other.0 > cosine || (other.0 == cosine && other.1 < url);
        nearest.insert(nearest.partition_point(before), (cosine, url));
        nearest.truncate(NEAREST);
    }
}

/// The words of a URL and its first anchor.
fn first_seen_as<'a>(
    known: &Known,
    embeddings: &Embeddings<'a>,
    url: UrlId,
) -> [Option<Vector<'a>>; 2] {
    let first = known.links.incoming(url, u32::MAX).next();
    let anchor = first.map_or(NONE, |link| embeddings.rows.anchors[link.anchor as usize]);
    let rows = [embeddings.rows.urls[url.index()], anchor];
    rows.map(|row| (row != NONE).then(|| embeddings.strings.vector(row)))
}

#[cfg(test)]
mod tests {
    use prospect_index::vectors::VectorTable;

    use super::*;
    use crate::estimate::features::similarity::StringRows;

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
            known.links.push((hub, to, 0), &anchor);
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
    fn queries_keep_their_nearest_whatever_else_is_asked() {
        let (queries, asked) = queries(40);
        let (known, strings) = linked(2_000);
        let mut rows = StringRows::default();
        rows.update(&known, &strings);
        let all = Embeddings {
            strings: &strings,
            rows: &rows,
            titles: &[],
            queries: &queries,
            asked: &asked,
        };
        let nearest = Nearest::before(&known, &all, 1);
        for (query, row) in asked.iter().enumerate() {
            let anchor = |url: &UrlId| strings.row(&format!("anchor {}", url.0 - 1));
            let vector = queries.vector(*row);
            let cosine = |url: &UrlId| strings.vector(anchor(url)).cosine(vector);
            let mut urls: Vec<UrlId> = known.urls.ids().skip(1).collect();
            urls.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
            let found: Vec<UrlId> = nearest.of(query).collect();
            assert_eq!(found, urls[..NEAREST]);
            let alone = Embeddings { asked: std::slice::from_ref(row), ..all };
            assert!(Nearest::before(&known, &alone, 1).of(0).eq(found));
        }
        assert_eq!(Nearest::before(&known, &all, 0).of(0).count(), 0, "no link was there");
    }

    #[test]
    fn the_nearest_are_the_same_step_by_step() {
        let (queries, asked) = queries(30);
        let (all, strings) = linked(700);
        let (mut rows, mut at_once) = (StringRows::default(), Nearest::default());
        rows.update(&all, &strings);
        let whole = Embeddings {
            strings: &strings,
            rows: &rows,
            titles: &[],
            queries: &queries,
            asked: &asked,
        };
        at_once.update(&all, &whole);

        let (mut known, mut rows_so_far, mut steps) =
            (Known::default(), StringRows::default(), Nearest::default());
        for url in all.urls.ids() {
            known.urls.insert(all.urls.url(url), "");
        }
        let mut links = all.links.links_from(0).collect::<Vec<_>>();
        // In another order, and some URLs are known before a link leads to them.
        links.reverse();
        for part in links.chunks(97) {
            for link in part {
                known.links.push((link.from, link.to, link.seq), all.links.anchor(link.anchor));
            }
            rows_so_far.update(&known, &strings);
            steps.update(&known, &Embeddings { rows: &rows_so_far, ..whole });
        }
        assert_eq!(steps.of_query, at_once.of_query);
    }
}
