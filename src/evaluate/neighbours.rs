//! Quality of pages against the mean quality of the pages they link to (Pezzuti et al., 2025).

use std::collections::BTreeMap;

use super::statistics::{least_squares, pearson};
use crate::results::Scatter;

/// Hexagons along x.
const HEXAGONS: f64 = 30.0;

/// Mean quality of those of the linked pages that have one; none where none has.
pub(crate) fn mean_quality(
    linked: impl Iterator<Item = u32>,
    quality: impl Fn(u32) -> Option<f64>,
) -> Option<f64> {
    let (sum, count) = linked
        .filter_map(quality)
        .fold((0.0, 0u32), |(sum, count), quality| (sum + quality, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Qualities of pages (x) and the means of the pages they link to (y), in hexagons, with correlation
/// and regression line.
pub(crate) fn scatter(xs: &[f64], ys: &[f64]) -> Scatter {
    let (cells, cell_width) = hexagons(xs, ys);
    Scatter {
        x: "quality of the page".to_owned(),
        y: "mean quality of the pages it links to".to_owned(),
        pages: xs.len() as u32,
        correlation: pearson(xs, ys),
        line: least_squares(xs, ys),
        cells,
        cell_width,
    }
}

/// Points counted in a grid of hexagons (Carr et al., JASA 1987): of two staggered lattices, each
/// point belongs to the nearest centre, distances being those of axes scaled to one width.
fn hexagons(xs: &[f64], ys: &[f64]) -> (Vec<(f64, f64, u32)>, f64) {
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
    let mut centres = Vec::with_capacity(cells.len());
    for ((x, y), count) in cells {
        let (x, y) = (x as f64 / 2.0, y as f64 / 2.0 * step);
        centres.push((x0 + x / HEXAGONS * width, y0 + y / HEXAGONS * height, count));
    }
    (centres, width / HEXAGONS)
}

/// The least value, and how far the greatest lies above it: at least a little, for it divides.
fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, (high - low).max(1e-9))
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
