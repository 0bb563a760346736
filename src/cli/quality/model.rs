//! Which model scores: the one place where the command line meets the loading of models.

use std::path::PathBuf;

use crate::cli::Global;
use crate::cli::output::Failure;
use crate::neural::QualityModel;
use crate::neural::text_length::{self, TextLength};

/// Options that choose a model.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct ModelOptions {
    /// `bundled`, a directory with a model, or `text-length`, the baseline that counts words.
    #[arg(long, value_name = "MODEL", default_value = "bundled")]
    model: String,
    /// Run the model with this ONNX Runtime library instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    onnxruntime: Option<PathBuf>,
    /// Keep scores by text and model in this directory, and take them from there; `none` keeps none.
    #[arg(long, value_name = "DIR", default_value = "none")]
    score_cache: String,
}

/// Loads the model.
pub(super) fn load(
    options: &ModelOptions,
    global: &Global,
) -> Result<Box<dyn QualityModel>, Failure> {
    if options.model == text_length::NAME {
        return Ok(Box::new(TextLength));
    }
    // What loads a model from a directory, and the cache around it, belong here.
    let _ = (&options.onnxruntime, &options.score_cache, global.threads);
    let error = anyhow::anyhow!("--model {}: this build has no neural models", options.model);
    Err(Failure::input(error, "--model text-length scores without one, by the number of words"))
}
