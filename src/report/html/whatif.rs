//! The page of `prospect whatif --html`.

use crate::results::whatif::WhatIf;

/// The page.
///
/// # Errors
/// When a value cannot be JSON, which the types of an answer do not allow.
pub fn page(found: &WhatIf) -> Result<String, serde_json::Error> {
    serde_json::to_string(found)
}
