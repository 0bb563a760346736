//! What was found about the quality scores of collections, as `prospect quality analyze` shows it.

use serde::{Deserialize, Serialize};

use super::{Interval, Scatter};

/// Name and version of the format.
pub const SCHEMA: &str = "prospect.quality-analyze/1";

/// All of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QualityAnalysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of Prospect.
    pub version: String,
    /// The column that was read.
    pub column: String,
    /// One entry a file, in the order given.
    pub collections: Vec<QualityCollection>,
    /// Lower end of the first bin of all histograms; absent where nothing has a score.
    pub low: Option<f64>,
    /// Upper end of the last bin.
    pub high: Option<f64>,
    /// Every pair of collections.
    pub distances: Vec<Distance>,
}

/// One collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QualityCollection {
    /// Name without folders.
    pub name: String,
    /// Rows of the file that are documents.
    pub rows: u64,
    /// Rows that could not be read.
    pub skipped: u64,
    /// Rows of a URL that comes again later; the last one counts.
    pub repeated: u64,
    /// Rows whose URL cannot be read; they count as pages without links.
    pub without_url: u64,
    /// Pages: rows less those that are repeated.
    pub pages: u64,
    /// Pages with a score.
    pub scored: u64,
    /// Of the scores; absent where there is none.
    pub distribution: Option<Distribution>,
    /// Pages with a score by bin.
    pub histogram: Vec<u64>,
    /// Quality of a page against the mean of the pages it links to; absent without a column of
    /// links.
    pub neighbours: Option<Scatter>,
    /// Judged pages against the others; absent without judgements.
    pub relevance: Option<Relevance>,
}

/// Figures of a distribution; quantiles are linear between neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// 5th percentile.
    pub p05: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (n - 1); 0 for one value.
    pub sd: f64,
}

/// Pages that are relevant to some query against all others, of those with a score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Relevance {
    /// Relevant URLs of the judgements that are no page of the collection.
    pub missing: u64,
    /// Scores of relevant pages.
    pub relevant: Option<Distribution>,
    /// Scores of the others, judged or not.
    pub others: Option<Distribution>,
    /// Relevant pages by bin.
    pub relevant_histogram: Vec<u64>,
    /// Others by bin.
    pub others_histogram: Vec<u64>,
    /// How well each figure tells relevant pages from others.
    pub aucs: Vec<Auc>,
}

/// Area under the ROC curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Auc {
    /// The figure that pages are ordered by.
    pub by: String,
    /// The area with its 95 % interval.
    pub area: Interval,
}

/// Jensen-Shannon distance of two collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Place of the first in [`QualityAnalysis::collections`].
    pub a: usize,
    /// Place of the second.
    pub b: usize,
    /// The distance, from 0 to the root of ln 2; absent where one has no score.
    pub distance: Option<f64>,
}
