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
//! A crawl of a baker's site has fetched 251 pages and knows six URLs that nobody has fetched. What is each
//! worth, where two a day ask for rye bread?
//!
//! ```
//! # use prospect::estimate::cache::PlannerCache;
//! # use prospect::estimate::crawl_view::CrawlView;
//! # use prospect::estimate::parts::Part;
//! # use prospect::estimate::predict_entry::predict_entry;
//! # use prospect::estimate::scored_pairs::{BlendInput, ScoredPairs};
//! # use prospect::estimate::settings::EstimateSettings;
//! # use prospect::sketch::served::ServedLists;
//! # use prospect::workload::Query;
//! # use prospect_index::link_context::LinkContextTable;
//! # use prospect_index::bm25::{Bm25, Scorer};
//! # use prospect_index::manifest::{CycleEntry, Epoch, Manifest};
//! # use prospect_index::ngram::{BuildConfig, NgramIndex, Segment, SegmentBuilder};
//! # use prospect_index::page::UrlId;
//! # use prospect_index::page_store::Known;
//! # use prospect_index::text_index::TextIndex;
//! # use prospect_index::words::url_text;
//! # type Done<T> = Result<T, Box<dyn std::error::Error>>;
//! # fn link(known: &mut Known, strings: &mut SegmentBuilder, url: &str, anchor: &str) -> Done<UrlId> {
//! #     let id = known.urls.insert(url, "");
//! #     known.links.push(UrlId(0), id, 0, anchor);
//! #     strings.add(id, &url_text(url))?;
//! #     strings.add(id, anchor)?;
//! #     Ok(id)
//! # }
//! # fn near(found: f64, expected: f64) {
//! #     assert!((found - expected).abs() < 0.005, "{found} {expected}");
//! # }
//! # fn main() -> Done<()> {
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path().join("strings");
//! # std::fs::create_dir(&dir)?;
//! # let (mut known, mut builder) = (Known::default(), SegmentBuilder::new(BuildConfig::default(), &dir)?);
//! # let hub = known.urls.insert("https://bake.test/", "");
//! # known.pages.note(hub, 0, 200, None);
//! # let mut texts = vec![("Baking".to_owned(), "all about rye bread".to_owned())];
//! // The home page links to all: to 250 pages that were fetched in the first cycle …
//! for seq in 1..=250_u32 {
//!     let (anchor, text) = match seq % 5 {
//!         0 => ("Rye bread", "rye bread and more rye ".repeat(1 + seq as usize % 31)),
//!         1 => ("Bread", "white bread for a long day ".repeat(1 + seq as usize % 3)),
//!         _ => ("More", "ovens and stone and steel".to_owned()),
//!     };
//!     let id = link(&mut known, &mut builder, &format!("https://bake.test/old/{seq}"), anchor)?;
//!     known.pages.note(id, seq, 200, None);
//!     texts.push((anchor.to_owned(), text));
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
//! for (url, anchor) in six {
//!     link(&mut known, &mut builder, url, anchor)?;
//! }
//! # builder.finish()?;
//! # let strings = Segment::read(&dir)?;
//! # let matches = NgramIndex::new(vec![&strings])?;
//! # let text = TextIndex::build(&dir.join("text"), texts)?;
//! # let queries = [Query::new("q1", "rye bread", 2.0, "")];
//! # let scorer = Scorer::new(&text, Bm25::default(), 251, ["rye", "bread"])?;
//! // What search returns now: ten pages, of which the last one scores 4.45.
//! let served = ServedLists::build(&scorer, &queries, 10, 251, &known.urls)?;
//! near(served.kth_score(0), 4.45);
//! # let cycles = [0, 1].map(|first_seq| CycleEntry { first_seq, plan: None, streamed: false });
//! # let manifest = Manifest { next_seq: 251, cycles: cycles.to_vec(), ..Manifest::default() };
//! # let input = CrawlView {
//! #     known: &known,
//! #     link_context: &LinkContextTable::default(),
//! #     embeddings: None,
//! #     manifest: &manifest,
//! #     ranks: &Default::default(),
//! #     scorer: &scorer,
//! #     frontier: &matches,
//! #     history: &matches,
//! #     queries: &queries,
//! #     served: &served,
//! #     within: &[],
//! #     epoch: Epoch { number: 1, end_seq: 251, urls: 257 },
//! #     past_picks: &[],
//! #     past_pairs: &Default::default(),
//! # };
//!
//! // Candidates: four of the six hold a word of the query. The other two would be if a page that answers
//! // it linked to them, but the home page is no longer among the best twenty.
//! let (settings, mut cache) = (EstimateSettings::default(), PlannerCache::default());
//! let scored = ScoredPairs::new(&input, &[0], &mut cache, &settings, None)?;
//! let pairs: Vec<_> = scored.pairs().collect();
//! assert_eq!(pairs.iter().map(|pair| pair.url.0 - 250).collect::<Vec<_>>(), [1, 2, 4, 5]);
//!
//! // Features and models: a ridge over the 250 fetched pages expects a score of each pair by how its strings
//! // match. That the word "rye" stands in a host says little here: no page showed what it is worth.
//! assert_eq!(scored.training_pairs(), 250);
//! near(pairs[0].expected_score, 4.36); // /rye-bread, "Rye bread"
//! near(pairs[1].expected_score, 1.36); // /bread/7, "Bread with seeds"
//! near(pairs[2].expected_score, 0.01); // rye.test, "Fields"
//! near(pairs[3].expected_score, 3.68); // /flour, "Flour for rye bread"
//!
//! // Chances to be in the list for good: of pages with about as high an expectation, which fill a bin, the
//! // share that beat what ten pages of all that may come will score.
//! for (pair, chance) in pairs.iter().zip([0.08, 0.08, 0.0, 0.08]) {
//!     near(pair.chance, chance);
//! }
//!
//! // Parts and blend: frequency times chance is the part `query`. What a page is worth whatever is asked
//! // comes beside it: by the page model, and by its in-links. No page has a quality here.
//! let blended = scored.blend(&BlendInput {
//!     queries: &queries,
//!     counted: &[2.0],
//!     served: &served,
//!     settings: &settings,
//!     budget: 3,
//! })?;
//! let first = &blended.urls[0];
//! near(first.parts[Part::Query], 2.0 * 0.08);
//! near(first.parts[Part::Page], 0.082);
//! near(first.parts[Part::Importance], 0.08);
//! near(first.estimate, 0.9 * 0.16 + 0.05 * 0.082 + 0.01 * 0.08);
//!
//! // Defence: no pick of the past broke a promise, and no domain has more URLs than it may take.
//! assert!(blended.urls.iter().all(|url| url.reliability == 1.0 && !url.deferred));
//!
//! // Entry: if all six are fetched at once, what does the batch do to the list? More than stays in it. Nothing has come of
//! // any pick yet, so that each pair is taken to be nearer to the mean of the four than its bin says, which is 0.15.
//! let picks: Vec<_> = blended.urls.iter().map(|url| url.url).collect();
//! let entry = predict_entry(&scored, &served, &picks);
//! near(entry[0][0].chance, 0.1275);
//! # Ok(())
//! # }
//! ```

pub(crate) mod blend;
pub mod cache;
pub mod candidates;
pub(crate) mod change_rate;
pub mod crawl_view;
pub(crate) mod discovery;
pub mod features;
pub(crate) mod fetch_chance;
pub(crate) mod horizon;
pub(crate) mod kept_pairs;
mod learned;
mod link_gain;
pub(crate) mod models;
pub(crate) mod objective;
pub(crate) mod pair_sort;
pub(crate) mod pair_table;
pub(crate) mod pandey_olston;
pub mod parts;
pub mod predict_entry;
pub(crate) mod running_mean;
pub mod scored_pairs;
pub mod settings;
pub(crate) mod site_reliability;
pub(crate) mod slow_start;
pub(crate) mod url_estimate;
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
