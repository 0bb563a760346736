//! Tests that look inside: what many modules of the library do together, which no command prints. They
//! are compiled into the library's own tests (`cargo test --lib inside::`), so that nothing has to be public
//! for a test's sake. Tests of the command line lie beside this folder.

#[path = "../common/browser.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/documents.rs"]
mod documents;
mod experiment;
#[path = "../common/kept_stores.rs"]
mod kept_stores;
#[path = "../common/payloads.rs"]
mod payloads;
#[path = "../attack/shapes.rs"]
mod shapes;
#[path = "../common/simulation.rs"]
mod simulation;
#[path = "../../benches/synthetic/mod.rs"]
mod synthetic;
mod toy;

mod assessment;
mod attacks;
mod crawl_orders;
mod explanation;
mod hostile_pages;
mod hostile_urls;
mod ingest_sources;
mod kept_basis;
mod link_gain;
mod mutated_inputs;
#[cfg(feature = "neural")]
mod neural_models;
mod parsers;
mod quality_resume;
mod report;
mod report_in_browser;
mod reranking;
mod served_lists;
mod statistics;
mod store_schemas;
mod sufficiency;
mod trec_eval;
mod whatif_answers;
mod whatif_page;
