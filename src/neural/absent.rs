//! The loaders of a build without the feature `neural`: they say how to build one that can.

use super::{Embedder, ModelSource, NeuralError, PairModel, QualityModel, Runtime};

/// Refuses.
///
/// # Errors
/// Always [`NeuralError::NotBuilt`].
pub(crate) fn load_quality(
    _: &ModelSource,
    _: &Runtime,
) -> Result<Box<dyn QualityModel>, NeuralError> {
    Err(NeuralError::NotBuilt)
}

/// Refuses.
///
/// # Errors
/// Always [`NeuralError::NotBuilt`].
pub(crate) fn load_pairs(_: &ModelSource, _: &Runtime) -> Result<Box<dyn PairModel>, NeuralError> {
    Err(NeuralError::NotBuilt)
}

/// Refuses.
///
/// # Errors
/// Always [`NeuralError::NotBuilt`].
pub(crate) fn load_embedder(
    _: &ModelSource,
    _: &Runtime,
) -> Result<Box<dyn Embedder>, NeuralError> {
    Err(NeuralError::NotBuilt)
}

/// Nothing runs.
pub(crate) fn runs_on() -> Option<String> {
    None
}

/// Nothing runs.
pub(crate) fn runs_on_gpu() -> bool {
    false
}

/// Texts that a call should have.
pub(crate) fn texts_a_call() -> usize {
    super::TEXTS_A_CALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::Device;

    #[test]
    fn a_build_without_models_says_how_to_get_one_with_them() {
        let source = ModelSource::Directory("m".into());
        let error =
            load_quality(&source, &Runtime { library: None, threads: 1, device: Device::Cpu })
                .err()
                .unwrap();
        assert!(error.to_string().contains("feature `neural`"), "{error}");
    }
}
