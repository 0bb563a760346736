//! What quality scores tell about a collection: their distribution, whether good pages link to good
//! pages, how far two collections are apart, and whether relevant pages score higher.
//!
//! Files are read twice, in batches; in memory are some 100 bytes a page. Pages are told apart by a
//! 128-bit hash of their canonical URL; of several rows of one URL the last counts.

use std::collections::HashSet;

use super::QualityError;
use super::pages::{Pages, URL, hash, read_links, read_pages};
use crate::documents::{DocumentError, DocumentSource};
use crate::evaluate::auc;
use crate::evaluate::divergence::{BINS, histogram, jensen_shannon_distance};
use crate::evaluate::statistics::percentile;
use crate::results::quality::{
    Auc, Distance, Distribution, QualityAnalysis, QualityCollection, Relevance, SCHEMA,
};

/// Names of a column of links, the first that is there counts.
pub(crate) const LINKS: &[&str] = &["outgoing_links", "outlinks", "links"];

/// What to look at.
#[derive(Clone, Debug)]
pub(crate) struct AnalysisSettings {
    /// Column of the scores.
    pub(crate) column: String,
    /// Column of the links; by default one of [`LINKS`], if there is one.
    pub(crate) links: Option<String>,
    /// Canonical URLs that are relevant to some query.
    pub(crate) relevant: Option<HashSet<String>>,
}

/// A collection with its scores; figures that need the others are made by [`compare`].
#[derive(Clone, Debug, Default)]
pub(crate) struct CollectedPages {
    found: QualityCollection,
    scores: Vec<f64>,
    relevant: Vec<f64>,
    others: Vec<f64>,
}

/// Opens a file with these columns, or with all of them.
pub(crate) type Open<'a> =
    dyn FnMut(Option<&[String]>) -> Result<Box<dyn DocumentSource>, DocumentError> + 'a;

/// Reads one collection; `open` opens its file anew.
///
/// # Errors
/// The file cannot be read, or has no column of scores.
pub(crate) fn gather(
    name: &str,
    settings: &AnalysisSettings,
    open: &mut Open<'_>,
) -> Result<CollectedPages, QualityError> {
    let columns = open(None)?.columns().to_vec();
    let has = |name: &str| columns.iter().any(|column| column == name);
    let links = match &settings.links {
        Some(asked) if !has(asked) => {
            let missing = format!("{asked:?}");
            let path = name.to_owned();
            return Err(DocumentError::NoColumn { path, missing, columns }.into());
        }
        Some(asked) => Some(asked.clone()),
        None => LINKS.iter().find(|name| has(name)).map(|name| (*name).to_owned()),
    };
    let mut found = QualityCollection { name: name.to_owned(), ..QualityCollection::default() };
    let mut pages = read_pages(&columns, settings, open, &mut found)?;
    if let Some(links) = links.filter(|_| has(URL)) {
        found.neighbours = Some(read_links(&links, &mut pages, open)?);
    }
    let scores: Vec<f64> = pages.quality.iter().flatten().copied().collect();
    (found.pages, found.scored) = (pages.quality.len() as u64, scores.len() as u64);
    found.distribution = distribution(&scores);
    let mut gathered = CollectedPages { found, scores, ..CollectedPages::default() };
    if let Some(relevant) = &settings.relevant {
        judge(&mut gathered, &pages, relevant);
    }
    Ok(gathered)
}

/// Sets relevant pages beside the others.
fn judge(gathered: &mut CollectedPages, pages: &Pages, relevant: &HashSet<String>) {
    // All figures over the pages with a score, so that areas can be compared.
    let quality = |page: usize| pages.quality[page];
    let length = |page: usize| quality(page).map(|_| f64::from(pages.words[page]));
    let inlinks = |page: usize| quality(page).map(|_| f64::from(pages.inlinks[page]));
    let mut aucs = vec![area(pages, "quality", &quality), area(pages, "text length", &length)];
    if gathered.found.neighbours.is_some() {
        aucs.push(area(pages, "in-links", &inlinks));
    }
    let there = relevant.iter().filter(|url| pages.by_url.contains_key(&hash(url))).count();
    gathered.relevant = of_group(pages, true, &quality);
    gathered.others = of_group(pages, false, &quality);
    gathered.found.relevance = Some(Relevance {
        missing: (relevant.len() - there) as u64,
        relevant: distribution(&gathered.relevant),
        others: distribution(&gathered.others),
        aucs: aucs.into_iter().flatten().collect(),
        ..Relevance::default()
    });
}

/// How well a figure tells relevant pages from the others.
fn area(pages: &Pages, by: &str, figure: &dyn Fn(usize) -> Option<f64>) -> Option<Auc> {
    let area = auc::auc(&of_group(pages, true, figure), &of_group(pages, false, figure))?;
    Some(Auc { by: by.to_owned(), area })
}

/// A figure of the relevant pages, or of the others, where they have it.
fn of_group(pages: &Pages, relevant: bool, figure: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
    let group = (0..pages.quality.len()).filter(|page| pages.relevant[*page] == relevant);
    group.filter_map(figure).collect()
}

/// The analysis of all collections: histograms over their joint range, and distances.
pub(crate) fn compare(column: &str, version: &str, gathered: &[CollectedPages]) -> QualityAnalysis {
    let all = || gathered.iter().flat_map(|one| &one.scores).copied();
    let low = all().min_by(f64::total_cmp);
    let high = all().max_by(f64::total_cmp);
    let range = low.zip(high);
    let mut collections = Vec::new();
    for one in gathered {
        let mut found = one.found.clone();
        found.histogram = bins(&one.scores, range);
        if let Some(relevance) = &mut found.relevance {
            relevance.relevant_histogram = bins(&one.relevant, range);
            relevance.others_histogram = bins(&one.others, range);
        }
        collections.push(found);
    }
    let mut distances = Vec::new();
    for b in 1..collections.len() {
        for a in 0..b {
            let (of_a, of_b) = (&collections[a].histogram, &collections[b].histogram);
            distances.push(Distance { a, b, distance: jensen_shannon_distance(of_a, of_b) });
        }
    }
    let (column, version) = (column.to_owned(), version.to_owned());
    QualityAnalysis {
        schema: SCHEMA.to_owned(),
        version,
        column,
        collections,
        low,
        high,
        distances,
    }
}

/// The histogram of values over a range; nothing in any bin where there is none.
fn bins(values: &[f64], range: Option<(f64, f64)>) -> Vec<u64> {
    match range {
        Some((low, high)) => histogram(values, low, high, BINS),
        None => vec![0; BINS],
    }
}

fn distribution(values: &[f64]) -> Option<Distribution> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share| percentile(&sorted, share);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(Distribution {
        count: values.len() as u64,
        min: at(0.0)?,
        p05: at(0.05)?,
        p25: at(0.25)?,
        median: at(0.5)?,
        p75: at(0.75)?,
        p95: at(0.95)?,
        max: at(1.0)?,
        mean,
        sd: (squares / (values.len().max(2) - 1) as f64).sqrt(),
    })
}
