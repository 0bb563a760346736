//! Tests that look inside: what many modules of this crate do together. They are compiled into its own tests
//! (`cargo test -p prospect-index inside::`), so that nothing has to be public for a test's sake.

mod support;

mod bm25_is_exact;
mod checkpoints_are_exact;
mod frontier_is_incremental;
mod ngram_matches_naive;
mod store_schemas;
mod store_survives;
mod tables_are_kept;
mod text_around_links;
mod text_index_of_texts;
