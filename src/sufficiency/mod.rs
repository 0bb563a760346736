//! Sufficiency: what a workload still lacks over the pages of a crawl, and whether the crawl has enough.
//!
//! Progressive crawling by information sufficiency (crawl4ai) asks after every batch whether the pages answer a
//! query well enough. Here it is asked for a whole workload, weighted by frequency. [`track`] follows what the pages
//! of every query did, [`parts`] makes numbers of it, [`assess`] puts them together under the statistics of an epoch,
//! and [`verdict`] says go on or stop, with its reason. [`compatible`] is the source's shipped code, which is
//! another algorithm than its document. [`strategy`] has other ways to say how well a query is answered.
//!
//! Coverage never falls when pages are added within a statistics epoch, unless one is replaced. Consistency and
//! redundancy can make sufficiency fall at any time, and a new epoch can move everything.
//!
//! Not here: where pages come from, what is planned, and files.

pub(crate) mod assess;
pub(crate) mod compatible;
mod domain;
pub(crate) mod evaluation_set;
pub(crate) mod near_duplicates;
pub(crate) mod parts;
pub(crate) mod strategy;
pub(crate) mod told;
pub(crate) mod track;
pub(crate) mod validation;
pub(crate) mod verdict;
pub(crate) mod windows;
