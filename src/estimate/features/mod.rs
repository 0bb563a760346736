//! What models read of candidate pairs and of pages, all of it known before the fetch.

pub(crate) mod first_links;
pub(crate) mod group;
pub(crate) mod link_context;
pub mod match_rule;
pub(crate) mod page;
pub(crate) mod page_ranks;
pub(crate) mod page_terms;
pub(crate) mod pair;
pub(crate) mod regions;
pub(crate) mod similarity;
pub(crate) mod sites;
pub(crate) mod strings;
pub(crate) mod table;
