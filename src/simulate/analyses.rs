//! Looks at a collection as a whole: importance against impact, quality of neighbours, and which
//! hosts a crawl visits.

use std::collections::BTreeMap;

use super::summary::Findings;
use crate::evaluate::neighbours::{self, mean_quality};
use crate::evaluate::statistics::{least_squares, pearson};
use crate::results::{Analyses, HostShares, Scatter};

/// Hosts that are told apart.
const HOSTS: usize = 8;

/// All analyses but limited sketches.
pub(crate) fn of(findings: &Findings<'_>) -> Analyses {
    Analyses {
        importance_impact: importance_impact(findings),
        quality_neighbours: quality_neighbours(findings),
        limited_sketches: Vec::new(),
        counterfactual: Vec::new(),
        whatif: Vec::new(),
    }
}

/// In-links in the collection against true impact, one cell a pair of values.
fn importance_impact(findings: &Findings<'_>) -> Option<Scatter> {
    let collection = findings.inputs.collection;
    let pages = collection.pages as usize;
    let inlinks: Vec<f64> =
        collection.inlinks()[..pages].iter().map(|&count| f64::from(count)).collect();
    let impact = &findings.kinds.first()?.impact[..pages];
    let mut cells: BTreeMap<(u64, u64), u32> = BTreeMap::new();
    for (x, y) in inlinks.iter().zip(impact) {
        // Both are at least 0, where the order of bits is that of the numbers.
        *cells.entry((x.to_bits(), y.to_bits())).or_insert(0) += 1;
    }
    let cells = cells.into_iter();
    Some(Scatter {
        x: "in-links in the collection".to_owned(),
        y: "true impact".to_owned(),
        pages: pages as u32,
        correlation: pearson(&inlinks, impact),
        line: least_squares(&inlinks, impact),
        cells: cells.map(|((x, y), n)| (f64::from_bits(x), f64::from_bits(y), n)).collect(),
        cell_width: 0.0,
    })
}

/// Quality of a page against the mean quality of the pages it links to: pages with at least one link
/// to a page with a score.
fn quality_neighbours(findings: &Findings<'_>) -> Option<Scatter> {
    let (collection, quality) = (findings.inputs.collection, findings.inputs.quality?);
    let of_page =
        |page: u32| Some(quality[page as usize]).filter(|score| *score > crate::policy::NO_QUALITY);
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for page in 0..collection.pages {
        let linked = collection.links(page).iter().copied();
        if let (Some(own), Some(mean)) = (of_page(page), mean_quality(linked, of_page)) {
            xs.push(own);
            ys.push(mean);
        }
    }
    Some(neighbours::scatter(&xs, &ys))
}

/// Shares of the collection's largest hosts at each checkpoint, means over seed sets.
pub(crate) fn hosts(findings: &Findings<'_>, policy: usize) -> Vec<HostShares> {
    let collection = findings.inputs.collection;
    let mut sizes = vec![0u32; collection.hosts.len()];
    for &host in &collection.host[..collection.pages as usize] {
        sizes[host as usize] += 1;
    }
    let mut largest: Vec<usize> = (0..sizes.len()).collect();
    largest.sort_by_key(|&host| (std::cmp::Reverse(sizes[host]), host));
    largest.truncate(HOSTS);
    let orders = &findings.crawls.orders[policy];
    let shortest = orders.iter().map(|order| order.pages.len()).min().unwrap_or(0);
    let reached = findings.crawls.checkpoints.iter().filter(|&&at| at as usize <= shortest);
    reached
        .map(|&pages| {
            let mut counts = vec![0u32; largest.len() + 1];
            for page in orders.iter().flat_map(|order| &order.pages[..pages as usize]) {
                let host = collection.host[*page as usize] as usize;
                let at = largest.iter().position(|&large| large == host);
                counts[at.unwrap_or(largest.len())] += 1;
            }
            let all = f64::from(pages) * orders.len() as f64;
            let names = largest.iter().map(|&host| collection.hosts[host].clone());
            let names = names.chain(["(other)".to_owned()]);
            let shares = names.zip(&counts).map(|(name, &count)| (name, f64::from(count) / all));
            HostShares { pages, shares: shares.collect() }
        })
        .collect()
}
