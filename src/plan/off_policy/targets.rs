//! Batches that a plan could have picked from its frontier instead.

use prospect_index::page::UrlId;

use crate::estimate::parts::{Part, Parts};
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::caps::SoFar;
use crate::plan::{SelectionSettings, select_only};

/// What a URL is ranked by, from the parts of its estimate and their blend.
pub(crate) type Order = fn(Parts, f64) -> f64;

/// Batches that everyone may want to know the value of: their name, and what URLs are ranked by.
pub(crate) const ORDERS: [(&str, Order); 4] = [
    ("greedy", |_, estimate| estimate),
    ("query parts", |parts, _| parts[Part::Query] + parts[Part::Locality]),
    ("page part", |parts, _| parts[Part::Page]),
    ("importance part", |parts, _| parts[Part::Importance]),
];

/// The batch that a plan would pick without exploration if URLs were ranked by `value`: in the order
/// of the URLs given, whether each is in it.
pub(crate) fn best(
    ranked: impl Iterator<Item = (UrlId, f64)> + Clone,
    selection: &SelectionSettings,
    so_far: SoFar<'_>,
) -> Vec<bool> {
    let greedy = SelectionSettings { explore: 0.0, ..*selection };
    let mut wanted = vec![false; so_far.urls.len()];
    let urls = ranked.clone().map(|(url, value)| UrlEstimate::valued(url, value));
    let urls: Vec<UrlEstimate> = urls.collect();
    for pick in select_only(&urls, so_far, &greedy).picks {
        wanted[pick.estimate.url.index()] = true;
    }
    ranked.map(|(url, _)| wanted[url.index()]).collect()
}
