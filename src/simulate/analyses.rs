//! Looks at a collection as a whole: importance against impact, quality of neighbours, and which
//! hosts a crawl visits.

use std::collections::BTreeMap;

use super::summary::Findings;
use crate::evaluate::statistics::pearson;
use crate::results::{Analyses, HostShares, Scatter};

/// Hosts that are told apart.
const HOSTS: usize = 8;
/// Hexagons along x.
const HEXAGONS: f64 = 30.0;

/// All analyses but limited sketches.
pub fn of(findings: &Findings<'_>) -> Analyses {
    Analyses {
        importance_impact: importance_impact(findings),
        quality_neighbours: quality_neighbours(findings),
        limited_sketches: Vec::new(),
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
        line: line(&inlinks, impact),
        cells: cells.map(|((x, y), n)| (f64::from_bits(x), f64::from_bits(y), n)).collect(),
        cell_width: 0.0,
    })
}

/// Quality of a page against the mean quality of the pages it links to, in hexagons (Pezzuti et
/// al., 2025): pages with at least one link to a page with a score.
fn quality_neighbours(findings: &Findings<'_>) -> Option<Scatter> {
    let (collection, quality) = (findings.inputs.collection, findings.inputs.quality?);
    let scored = |page: &u32| quality[*page as usize] > crate::policy::NO_QUALITY;
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for page in (0..collection.pages).filter(scored) {
        let links = collection.links(page).iter().filter(|to| scored(to));
        let (sum, count) =
            links.fold((0.0, 0u32), |(sum, count), &to| (sum + quality[to as usize], count + 1));
        if count > 0 {
            xs.push(quality[page as usize]);
            ys.push(sum / f64::from(count));
        }
    }
    let (cells, cell_width) = hexagons(&xs, &ys);
    Some(Scatter {
        x: "quality of the page".to_owned(),
        y: "mean quality of the pages it links to".to_owned(),
        pages: xs.len() as u32,
        correlation: pearson(&xs, &ys),
        line: line(&xs, &ys),
        cells,
        cell_width,
    })
}

/// Points counted in a grid of hexagons (Carr et al., JASA 1987): of two staggered lattices, each
/// point belongs to the nearest centre, distances being those of axes scaled to one width.
fn hexagons(xs: &[f64], ys: &[f64]) -> (Vec<(f64, f64, u32)>, f64) {
    let range = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, (high - low).max(1e-9))
    };
    if xs.is_empty() {
        return (Vec::new(), 0.0);
    }
    let ((x0, width), (y0, height)) = (range(xs), range(ys));
    let step = 3f64.sqrt();
    let mut cells: BTreeMap<(i64, i64), u32> = BTreeMap::new();
    for (x, y) in xs.iter().zip(ys) {
        let (x, y) = ((x - x0) / width * HEXAGONS, (y - y0) / height * HEXAGONS);
        let (i, j) = (x.round(), (y / step).round());
        let (k, l) = ((x - 0.5).round() + 0.5, (y / step - 0.5).round() + 0.5);
        let distance = |cx: f64, cy: f64| (x - cx).powi(2) + (y - cy * step).powi(2);
        let (cx, cy) = if distance(i, j) <= distance(k, l) { (i, j) } else { (k, l) };
        *cells.entry(((2.0 * cx) as i64, (2.0 * cy) as i64)).or_insert(0) += 1;
    }
    let centre = |(x, y): (i64, i64)| {
        let (x, y) = (x as f64 / 2.0, y as f64 / 2.0 * step);
        (x0 + x / HEXAGONS * width, y0 + y / HEXAGONS * height)
    };
    let cells = cells.into_iter().map(|(cell, count)| {
        let (x, y) = centre(cell);
        (x, y, count)
    });
    (cells.collect(), width / HEXAGONS)
}

/// Least squares; none where x does not vary.
fn line(xs: &[f64], ys: &[f64]) -> Option<(f64, f64)> {
    let n = xs.len() as f64;
    let (mx, my) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let sxx: f64 = xs.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = xs.iter().zip(ys).map(|(x, y)| (x - mx) * (y - my)).sum();
    (sxx > 0.0).then(|| (my - sxy / sxx * mx, sxy / sxx))
}

/// Shares of the collection's largest hosts at each checkpoint, means over seed sets.
pub fn hosts(findings: &Findings<'_>, policy: usize) -> Vec<HostShares> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_the_nearest_hexagon() {
        let xs: Vec<f64> = (0..1000).map(|i| f64::from(i * 37 % 1000) / 100.0).collect();
        let ys: Vec<f64> = (0..1000).map(|i| f64::from(i * 91 % 1000) / 50.0).collect();
        let (cells, width) = hexagons(&xs, &ys);
        assert_eq!(cells.iter().map(|cell| cell.2).sum::<u32>(), 1000);
        assert!((width - 9.99 / 30.0).abs() < 1e-12);
        assert!(cells.len() > 300, "{}", cells.len());
    }
}
