//! What models read of candidate pairs and of pages, all of it known before the fetch.

pub mod group;
pub mod link_context;
pub mod page;
pub mod page_ranks;
pub mod pair;
pub mod regions;
pub mod similarity;
pub mod sites;
pub mod strings;
pub mod table;
