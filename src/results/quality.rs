//! What was found about the quality scores of collections, as `prospect quality analyze` shows it.

use serde::{Deserialize, Serialize};

use super::{Interval, Scatter};

/// Name and version of the format.
pub(crate) const SCHEMA: &str = "prospect.quality-analyze/1";

/// All of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct QualityAnalysis {
    /// [`SCHEMA`].
    pub(crate) schema: String,
    /// Version of Prospect.
    pub(crate) version: String,
    /// The column that was read.
    pub(crate) column: String,
    /// One entry a file, in the order given.
    pub(crate) collections: Vec<QualityCollection>,
    /// Lower end of the first bin of all histograms; absent where nothing has a score.
    pub(crate) low: Option<f64>,
    /// Upper end of the last bin.
    pub(crate) high: Option<f64>,
    /// Every pair of collections.
    pub(crate) distances: Vec<Distance>,
}

/// One collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct QualityCollection {
    /// Name without folders.
    pub(crate) name: String,
    /// Rows of the file that are documents.
    pub(crate) rows: u64,
    /// Rows that could not be read.
    pub(crate) skipped: u64,
    /// Rows of a URL that comes again later; the last one counts.
    pub(crate) repeated: u64,
    /// Rows whose URL cannot be read; they count as pages without links.
    pub(crate) without_url: u64,
    /// Pages: rows less those that are repeated.
    pub(crate) pages: u64,
    /// Pages with a score.
    pub(crate) scored: u64,
    /// Of the scores; absent where there is none.
    pub(crate) distribution: Option<Distribution>,
    /// Pages with a score by bin.
    pub(crate) histogram: Vec<u64>,
    /// Quality of a page against the mean of the pages it links to; absent without a column of
    /// links.
    pub(crate) neighbours: Option<Scatter>,
    /// Judged pages against the others; absent without judgements.
    pub(crate) relevance: Option<Relevance>,
}

/// Figures of a distribution; quantiles are linear between neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Distribution {
    /// Values.
    pub(crate) count: u64,
    /// Smallest.
    pub(crate) min: f64,
    /// 5th percentile.
    pub(crate) p05: f64,
    /// 25th percentile.
    pub(crate) p25: f64,
    /// Median.
    pub(crate) median: f64,
    /// 75th percentile.
    pub(crate) p75: f64,
    /// 95th percentile.
    pub(crate) p95: f64,
    /// Largest.
    pub(crate) max: f64,
    /// Mean.
    pub(crate) mean: f64,
    /// Standard deviation (n - 1); 0 for one value.
    pub(crate) sd: f64,
}

/// Pages that are relevant to some query against all others, of those with a score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Relevance {
    /// Relevant URLs of the judgements that are no page of the collection.
    pub(crate) missing: u64,
    /// Scores of relevant pages.
    pub(crate) relevant: Option<Distribution>,
    /// Scores of the others, judged or not.
    pub(crate) others: Option<Distribution>,
    /// Relevant pages by bin.
    pub(crate) relevant_histogram: Vec<u64>,
    /// Others by bin.
    pub(crate) others_histogram: Vec<u64>,
    /// How well each figure tells relevant pages from others.
    pub(crate) aucs: Vec<Auc>,
}

/// Area under the ROC curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Auc {
    /// The figure that pages are ordered by.
    pub(crate) by: String,
    /// The area with its 95 % interval.
    pub(crate) area: Interval,
}

/// Jensen-Shannon distance of two collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Distance {
    /// Place of the first in [`QualityAnalysis::collections`].
    pub(crate) a: usize,
    /// Place of the second.
    pub(crate) b: usize,
    /// The distance, from 0 to the root of ln 2; absent where one has no score.
    #[allow(clippy::struct_field_names, reason = "its name in the schema")]
    pub(crate) distance: Option<f64>,
}
