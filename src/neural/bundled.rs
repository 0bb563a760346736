//! The model inside this binary, which scores pages where none is named. `bundled/CARD.md` tells
//! what it was trained on, its figures and its limits.

use super::ModelSource;

/// The bundled quality model; none in a build without the feature `neural`.
///
/// ```
/// use prospect::neural::{ModelSource, bundled};
///
/// let Some(ModelSource::Files { name, model, head, .. }) = bundled() else {
///     panic!("this build has no neural models");
/// };
/// assert_eq!(name, "bundled");
/// assert!(!model.is_empty() && head.is_none());
/// ```
pub fn bundled() -> Option<ModelSource> {
    #[cfg(feature = "neural")]
    return Some(ModelSource::Files {
        name: "bundled",
        model: include_bytes!("bundled/model.onnx"),
        tokenizer: include_bytes!("bundled/tokenizer.json"),
        settings: include_str!("bundled/model.toml"),
        head: None,
    });
    #[cfg(not(feature = "neural"))]
    None
}
