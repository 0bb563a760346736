//! The report: what simulations found, for readers. [`read`] takes a `summary.json`, [`terminal`]
//! makes tables of it for a terminal, [`figures`] the same as JSON, and [`html`] one page with
//! charts that opens anywhere, offline.
//!
//! It turns [`Summary`](crate::results::Summary) values into texts and decides nothing: no figure
//! is computed here but for rounding. It opens no file and knows no clock, so the same summaries
//! give the same bytes. What policies, metrics and tests are called and mean for a reader is in
//! [`glossary`].

mod ablation;
mod counterfactual;
pub(crate) mod figures;
pub(crate) mod glossary;
pub(crate) mod html;
mod manipulation;
pub(crate) mod number;
pub(crate) mod quality;
pub(crate) mod read;
mod scenarios;
pub(crate) mod terminal;
mod trials;
