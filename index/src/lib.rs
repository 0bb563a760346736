//! The on-disk side of Prospect: everything that must survive a crash, and everything that is
//! searched.
#![doc = ""]

pub mod bm25;
pub mod check;
pub mod columns;
pub mod derived;
pub mod error;
pub mod frontier;
pub mod ingest;
pub mod limits;
pub mod link_table;
pub mod manifest;
pub mod ngram;
pub mod page;
pub mod page_store;
pub mod storage;
pub mod store;
pub mod text_index;
pub mod url;
pub mod url_table;
pub mod words;
