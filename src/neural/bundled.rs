//! The model inside this binary, which scores pages where none is named.

use super::ModelSource;

/// The bundled quality model, if this build has one.
pub fn bundled() -> Option<ModelSource> {
    // With the files in `src/neural/bundled/`, this is
    //     Some(ModelSource::Files {
    //         name: "bundled",
    //         model: include_bytes!("bundled/model.onnx"),
    //         tokenizer: include_bytes!("bundled/tokenizer.json"),
    //         settings: include_str!("bundled/model.toml"),
    //         head: None,
    //     })
    None
}
