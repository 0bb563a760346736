//! The page and what it needs, embedded.

/// The page.
pub(super) const HTML: &str = include_str!("assets/index.html");
/// Its script.
pub(super) const SCRIPT: &str = include_str!("assets/app.js");
/// Its style sheet.
pub(super) const STYLE: &str = include_str!("assets/app.css");
