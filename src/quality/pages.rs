//! Pages of a collection as an analysis holds them: score, length, in-links, and whether they are
//! relevant, by URL.

use std::collections::HashMap;

use ::url::Url;
use prospect_index::{url, words};
use xxhash_rust::xxh3::xxh3_128;

use super::analysis::{AnalysisSettings, Open};
use super::{QualityError, texts};
use crate::documents::{DocumentBatch, Value};
use crate::evaluate::neighbours;
use crate::results::Scatter;
use crate::results::quality::QualityCollection;

/// Name of the column of addresses.
pub(super) const URL: &str = "url";

/// Pages of a collection.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) by_url: HashMap<u128, u32>,
    pub(super) quality: Vec<Option<f64>>,
    /// The row that counts.
    row: Vec<u64>,
    pub(super) words: Vec<u32>,
    pub(super) inlinks: Vec<u32>,
    pub(super) relevant: Vec<bool>,
}

/// Reads the pages of a collection with their scores.
pub(super) fn read_pages(
    columns: &[String],
    settings: &AnalysisSettings,
    open: &mut Open<'_>,
    found: &mut QualityCollection,
) -> Result<Pages, QualityError> {
    let text = match settings.relevant {
        Some(_) => texts::columns(&found.name, columns, None).unwrap_or_default(),
        None => Vec::new(),
    };
    let named = [URL.to_owned(), settings.column.clone()];
    let mut source = open(Some(&[&named[..], &text].concat()))?;
    let (mut pages, mut any) = (Pages::default(), columns.contains(&settings.column));
    while let Some(batch) = source.next_batch()? {
        found.skipped += batch.bad.len() as u64;
        let lengths = if text.is_empty() { Vec::new() } else { lengths(&batch, &text) };
        for (row, values) in batch.values(&named).iter().enumerate() {
            any |= values[1] != Value::Null;
            let address = address(&values[0]);
            if address.is_none() && values[0] != Value::Null {
                found.without_url += 1;
            }
            let page = pages.at(address.as_deref(), found);
            pages.quality[page] = values[1].number();
            pages.row[page] = found.rows;
            pages.words[page] = lengths.get(row).copied().unwrap_or(0);
            pages.relevant[page] = match (&settings.relevant, &address) {
                (Some(relevant), Some(address)) => relevant.contains(address),
                _ => false,
            };
            found.rows += 1;
        }
    }
    if !any {
        let (file, column) = (found.name.clone(), settings.column.clone());
        return Err(QualityError::NoScores { file, column, columns: columns.to_vec() });
    }
    Ok(pages)
}

/// Words of each document.
fn lengths(batch: &DocumentBatch, columns: &[String]) -> Vec<u32> {
    let texts = texts::of_batch(batch, columns);
    texts
        .iter()
        .map(|text| text.as_ref().map_or(0, |text| words::words(text).len() as u32))
        .collect()
}

impl Pages {
    /// The place of a page, made if it is new; each row without an address is a page of its own.
    fn at(&mut self, address: Option<&str>, found: &mut QualityCollection) -> usize {
        let next = self.quality.len();
        if let Some(address) = address {
            let known = *self.by_url.entry(hash(address)).or_insert(next as u32) as usize;
            if known < next {
                found.repeated += 1;
                return known;
            }
        }
        self.quality.push(None);
        self.row.push(0);
        self.words.push(0);
        self.inlinks.push(0);
        self.relevant.push(false);
        next
    }
}

/// What tells a canonical URL from others.
pub(super) fn hash(address: &str) -> u128 {
    xxh3_128(address.as_bytes())
}

fn address(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => url::canonical(text).ok(),
        _ => None,
    }
}

/// Counts in-links, and sets each page with a score beside the pages it links to.
pub(super) fn read_links(
    column: &str,
    pages: &mut Pages,
    open: &mut Open<'_>,
) -> Result<Scatter, QualityError> {
    let named = [URL.to_owned(), column.to_owned()];
    let mut source = open(Some(&named))?;
    let (mut row, mut xs, mut ys) = (0, Vec::new(), Vec::new());
    while let Some(batch) = source.next_batch()? {
        for values in batch.values(&named) {
            let at = row;
            row += 1;
            let Some(own) = address(&values[0]) else { continue };
            let Some(&page) = pages.by_url.get(&hash(&own)) else { continue };
            if pages.row[page as usize] != at {
                continue;
            }
            let linked = linked(&own, page, &values[1], &pages.by_url);
            for &target in &linked {
                pages.inlinks[target as usize] += 1;
            }
            let quality = |page: u32| pages.quality[page as usize];
            let mean = neighbours::mean_quality(linked.iter().copied(), quality);
            if let (Some(own), Some(mean)) = (quality(page), mean) {
                xs.push(own);
                ys.push(mean);
            }
        }
    }
    Ok(neighbours::scatter(&xs, &ys))
}

/// The pages of the collection that a page links to, each once, itself left out.
fn linked(own: &str, page: u32, links: &Value<'_>, by_url: &HashMap<u128, u32>) -> Vec<u32> {
    let base = Url::parse(own).ok();
    let mut found: Vec<u32> = Vec::new();
    for link in links.addresses() {
        let absolute = url::canonical(&link).ok().or_else(|| {
            let joined = base.as_ref()?.join(&link).ok()?;
            url::canonical(joined.as_str()).ok()
        });
        let target = absolute.and_then(|address| by_url.get(&hash(&address)).copied());
        if let Some(target) = target.filter(|target| *target != page) {
            found.push(target);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
