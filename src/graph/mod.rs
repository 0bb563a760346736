//! The link graph over known URLs: structure in petgraph's CSR, PageRank by power iteration.
//!
//! Links come from crawled pages only; uncrawled URLs are nodes without out-links. petgraph's own
//! `page_rank` scans all nodes for every node, so the iteration is ours. Its CSR wants sorted edges:
//! a planner makes the graph anew for every plan, and they are brought in order by counting, which
//! is faster than sorting.

use petgraph::csr::Csr;
use prospect_index::link_table::LinkTable;
use rayon::prelude::*;

/// Damping of the published algorithm (Brin and Page, 1998).
const DAMPING: f64 = 0.85;
/// Iterations stop when ranks move by less than this in total, or after [`MAX_ITERATIONS`].
const TOLERANCE: f64 = 1e-9;
const MAX_ITERATIONS: usize = 100;

/// Links known before a `fetch_seq`, by target, with the out-degree of every page.
pub(crate) struct LinkGraph {
    /// Edges from target to source.
    incoming: Csr<(), (), petgraph::Directed, u32>,
    out_degree: Vec<u32>,
}

impl LinkGraph {
    /// The graph of links that were known before `before_seq`, over `urls` known URLs. Two links
    /// of one page to one target are one edge.
    pub(crate) fn new(links: &LinkTable, urls: usize, before_seq: u32) -> Self {
        let known = links.links_before(before_seq);
        Self::of_edges(known.map(|link| (link.to.0, link.from.0)), urls)
    }

    /// The graph of edges from target to source over `nodes` nodes, in any order. Edges that
    /// repeat are one.
    pub(crate) fn of_edges(edges: impl Iterator<Item = (u32, u32)> + Clone, nodes: usize) -> Self {
        // By source, then, in that order, by target: sorted by both.
        let (firsts, targets) = grouped(nodes, edges.map(|(to, from)| (from, to)));
        let by_source = (0..nodes).flat_map(|from| {
            targets[firsts[from]..firsts[from + 1]].iter().map(move |&to| (to, from as u32))
        });
        let (starts, sources) = grouped(nodes, by_source);
        let mut sorted: Vec<(u32, u32)> = Vec::with_capacity(sources.len());
        for to in 0..nodes {
            let of_target = &sources[starts[to]..starts[to + 1]];
            sorted.extend(of_target.iter().map(|&from| (to as u32, from)));
        }
        sorted.dedup();
        let mut out_degree = vec![0; nodes];
        for &(_, from) in &sorted {
            out_degree[from as usize] += 1;
        }
        // The edges are sorted and distinct, which is all that can be wrong with them.
        let mut incoming = Csr::from_sorted_edges(&sorted).unwrap_or_default();
        while incoming.node_count() < nodes {
            incoming.add_node(());
        }
        Self { incoming, out_degree }
    }

    /// PageRank of every URL; sums to 1. Mass of URLs without out-links is spread evenly.
    ///
    /// Costs O(iterations * (URLs + links)); the same for any number of threads.
    pub(crate) fn page_rank(&self) -> Vec<f64> {
        let nodes = self.out_degree.len();
        if nodes == 0 {
            return Vec::new();
        }
        let mut rank = vec![1.0 / nodes as f64; nodes];
        for _ in 0..MAX_ITERATIONS {
            let dangling: f64 =
                rank.iter().zip(&self.out_degree).filter(|(_, d)| **d == 0).map(|(r, _)| r).sum();
            let base = (1.0 - DAMPING + DAMPING * dangling) / nodes as f64;
            let share: Vec<f64> = rank
                .iter()
                .zip(&self.out_degree)
                .map(|(rank, &degree)| if degree == 0 { 0.0 } else { rank / f64::from(degree) })
                .collect();
            let next: Vec<f64> = (0..nodes as u32)
                .into_par_iter()
                .map(|node| {
                    let sources = self.incoming.neighbors_slice(node);
                    base + DAMPING * sources.iter().map(|&s| share[s as usize]).sum::<f64>()
                })
                .collect();
            let moved: f64 = next.iter().zip(&rank).map(|(a, b)| (a - b).abs()).sum();
            rank = next;
            if moved < TOLERANCE {
                break;
            }
        }
        rank
    }
}

/// The values of each key, in the order of the pairs, with the start of each key's and the end of
/// the last.
fn grouped(keys: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; keys + 1];
    for (key, _) in pairs.clone() {
        starts[key as usize + 1] += 1;
    }
    for key in 0..keys {
        starts[key + 1] += starts[key];
    }
    let mut ends = starts.clone();
    let mut values = vec![0; starts[keys]];
    for (key, value) in pairs {
        values[ends[key as usize]] = value;
        ends[key as usize] += 1;
    }
    (starts, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prospect_index::page::UrlId;

    /// Pages, the highest rank first.
    fn order(ranks: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..ranks.len()).collect();
        order.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]));
        order
    }

    #[test]
    fn page_rank_solves_its_equation_and_orders_as_petgraph_does() {
        let mut links = LinkTable::default();
        // Page 5 has no link: its rank is spread. The last link repeats the first.
        let edges = [(0, 1), (0, 2), (1, 2), (2, 0), (2, 5), (3, 2), (4, 2), (4, 3), (0, 1)];
        let mut reference = petgraph::graph::DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..6).map(|_| reference.add_node(())).collect();
        for (seq, (from, to)) in edges.into_iter().enumerate() {
            links.push((UrlId(from), UrlId(to), seq as u32), "");
            reference.update_edge(nodes[from as usize], nodes[to as usize], ());
        }
        let rank = LinkGraph::new(&links, 6, u32::MAX).page_rank();
        assert!((rank.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let out_degree = [2.0, 1.0, 2.0, 1.0, 2.0, 0.0];
        for to in 0..6 {
            let sources = edges[..8].iter().filter(|(_, target)| *target == to);
            let inflow: f64 =
                sources.map(|(from, _)| rank[*from as usize] / out_degree[*from as usize]).sum();
            let expected = 0.15 / 6.0 + 0.85 * (inflow + rank[5] / 6.0);
            assert!((rank[to as usize] - expected).abs() < 1e-8, "{to}: {rank:?}");
        }
        // petgraph leaves the random jump out along existing links, so only the order is compared.
        let theirs = petgraph::algo::page_rank(&reference, 0.85_f64, 200);
        assert_eq!(order(&rank)[..2], order(&theirs)[..2]);
    }

    #[test]
    fn later_links_are_not_seen() {
        let mut links = LinkTable::default();
        links.push((UrlId(0), UrlId(1), 0), "");
        links.push((UrlId(1), UrlId(2), 5), "");
        let early = LinkGraph::new(&links, 3, 5).page_rank();
        assert!(early[1] > early[2]);
        assert_eq!(early.len(), 3);
    }
}
