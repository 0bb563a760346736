//! Estimators: what fetching an uncrawled URL would bring, from what is known before the fetch.
//!
//! An estimate is made in stages, each a folder or a file that knows none of the later ones:
//!
//! | stage | question | where |
//! |---|---|---|
//! | candidates | which URLs may answer a query? | [`candidates`]: by words, by links, by meaning |
//! | features | what is known of a pair, and of a page? | [`features`], in one table |
//! | models | how will a pair score, what is a page worth? | [`models`] |
//! | scored pairs | how likely is each pair to be in the list for good? | [`scored_pairs`] |
//! | blend | what is a URL worth, all parts together? | [`parts`], [`blend`] |
//! | defence | who broke promises, who is new? | [`site_reliability`], [`slow_start`] |
//! | entry | what will the batch as a whole do to the lists? | [`predict_entry`] |
//! | changes | how likely has a fetched page changed since? | [`change_rate`] |
//! | what is led to | what did fetched pages lead to, as label and as outcome? | [`discovery`] |
//!
//! Constants that say which URLs are picked were halved and doubled one by one: `docs/ablation.md`, "Constants".
//!
//! That is the path that is on by default; [`pandey_olston`] is the published one, a score tree and a
//! point estimate, and [`link_gain`] ranks as progressive crawling does. Not here: which URLs are picked, and files.
//!
//! # One query and six URLs
//!
//! A crawl of a baker's site has fetched 1,001 pages and knows six URLs that nobody has fetched. What is each
//! worth, where two a day ask for rye bread?
//!
//! ```
//! # use prospect::campaign::OpenStore;
//! # use prospect::campaign::plan::{Beside, plan};
//! # use prospect::estimate::parts::Part;
//! # use prospect::planner::options::GivenOptions;
//! # use prospect::planner::settings::PlanSettings;
//! # use prospect::workload::{Query, Workload};
//! # use prospect_index::ingest::ingest_all;
//! # use prospect_index::page::{Outlink, PageRecord};
//! # fn page(url: &str, title: &str, text: &str, outlinks: Vec<Outlink>) -> PageRecord {
//! #     let [url, title, text] = [url, title, text].map(str::to_owned);
//! #     PageRecord { url, title, text, outlinks, ..PageRecord::default() }
//! # }
//! # fn near(found: f64, expected: f64) {
//! #     assert!((found - expected).abs() < 0.005, "{found} {expected}");
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! // The home page links to all: to 1,000 pages that were fetched after it …
//! let (mut links, mut pages) = (Vec::new(), Vec::new());
//! for number in 1..=1_000_usize {
//!     let (anchor, text) = match number % 5 {
//!         0 => ("Rye bread", "rye bread and more rye ".repeat(1 + number % 31)),
//!         1 => ("Bread", "white bread for a long day ".repeat(1 + number % 3)),
//!         _ => ("More", "ovens and stone and steel".to_owned()),
//!     };
//!     let url = format!("https://bake.test/old/{number}");
//!     links.push((url.as_str(), anchor).into());
//!     pages.push(page(&url, anchor, &text, Vec::new()));
//! }
//! // … and to the six.
//! let six = [
//!     ("https://bake.test/rye-bread", "Rye bread"),
//!     ("https://bake.test/bread/7", "Bread with seeds"),
//!     ("https://bake.test/about", "About us"),
//!     ("https://rye.test/", "Fields"),
//!     ("https://mill.test/flour", "Flour for rye bread"),
//!     ("https://bake.test/photos", ""),
//! ];
//! links.extend(six.map(Outlink::from));
//! let home = page("https://bake.test/", "Baking", "all about rye bread", links);
//! ingest_all(directory.path(), vec![home], "home")?;
//! ingest_all(directory.path(), pages, "the others")?;
//!
//! let open = OpenStore::open(directory.path(), "an example", 3)?;
//! let workload = Workload { queries: vec![Query::new("q1", "rye bread", 2.0, "")] };
//! let mut settings = PlanSettings::new(6);
//! GivenOptions::default().with("explore", 0)?.apply(&mut settings)?;
//! let plan = plan(&open, &workload, &[], &settings, Beside::Others)?;
//!
//! // What search returns now: ten pages, of which the last one scores 4.49.
//! let (_, score) = plan.served.lists[0][9];
//! near(score, 4.49);
//!
//! // Candidates: four of the six hold a word of the query. The other two would be if a page that answers
//! // it linked to them, but the home page is no longer among the best twenty.
//! let pairs: Vec<_> = plan.scored.pairs().collect();
//! let candidates: Vec<_> = pairs.iter().map(|pair| open.known.urls.url(pair.url)).collect();
//! assert_eq!(candidates, [0, 1, 3, 4].map(|of_six| six[of_six].0));
//!
//! // Features and models: a ridge over 460 fetched pages, the 400 that hold a word and some of those that are linked
//! // alike, expects a score of each pair by how its strings match. That the word "rye" stands in a host says little
//! // here: no page showed what it is worth.
//! assert_eq!(plan.scored.training_pairs(), 460);
//! near(pairs[0].expected_score, 4.39); // /rye-bread, "Rye bread"
//! near(pairs[1].expected_score, 1.25); // /bread/7, "Bread with seeds"
//! near(pairs[2].expected_score, 0.01); // rye.test, "Fields"
//! near(pairs[3].expected_score, 3.62); // /flour, "Flour for rye bread"
//!
//! // Chances to be in the list for good: of pages with about as high an expectation, which fill a bin, the
//! // share that beat what ten pages of all that may come will score. Two hundred pages of rye bread leave room for few.
//! for (pair, chance) in pairs.iter().zip([0.035, 0.0, 0.0, 0.0]) {
//!     near(pair.chance, chance);
//! }
//!
//! // Parts and blend: frequency times chance is the part `query`. What a page is worth whatever is asked
//! // comes beside it: by the page model, and by its in-links. No page has a quality here.
//! let picks = &plan.choice.batch.picks;
//! let first = picks[0].estimate;
//! assert_eq!(first.url, pairs[0].url);
//! near(first.parts[Part::Query], 2.0 * 0.035);
//! near(first.parts[Part::Page], 0.032);
//! near(first.parts[Part::Importance], 0.02);
//! near(first.estimate, 0.9 * 0.07 + 0.05 * 0.032 + 0.01 * 0.02);
//!
//! // Defence: no pick of the past broke a promise, and no domain has more URLs than it may take.
//! assert!(picks.iter().all(|pick| pick.estimate.reliability == 1.0 && !pick.estimate.deferred));
//! # Ok(())
//! # }
//! ```

pub(crate) mod blend;
pub(crate) mod cache;
pub(crate) mod candidates;
pub(crate) mod change_rate;
pub(crate) mod crawl_view;
pub(crate) mod discovery;
pub mod features;
pub(crate) mod fetch_chance;
pub(crate) mod horizon;
pub(crate) mod kept_pairs;
mod learned;
mod link_gain;
pub(crate) mod models;
pub(crate) mod objective;
mod page_impact;
pub(crate) mod pair_sort;
pub(crate) mod pair_table;
pub(crate) mod pandey_olston;
pub mod parts;
pub(crate) mod predict_entry;
pub(crate) mod running_mean;
pub mod scored_pairs;
pub mod settings;
pub(crate) mod site_reliability;
pub(crate) mod slow_start;
pub(crate) mod url_estimate;
pub(crate) mod url_parts;
mod vouching;

/// Why estimates cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The index cannot be read.
    #[error(transparent)]
    Store(#[from] prospect_index::error::StoreError),
    /// A query cannot be matched with the n-gram index.
    #[error(transparent)]
    Ngram(#[from] prospect_index::ngram::NgramError),
    /// A model could not be fitted.
    #[error("cannot fit the {model}: {what}")]
    Fit {
        /// The model.
        model: &'static str,
        /// What the library said.
        what: String,
    },
}
