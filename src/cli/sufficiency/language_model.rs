//! Options of a language model, and what it is asked: other wordings of queries, and what it thinks of those that
//! lack most. Nothing is planned by what it says.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::cli::Global;
use crate::cli::output::{Failure, say};
use crate::llm::{ApiKey, Llm, LlmSettings};
use crate::report::number::counted;
use crate::sufficiency::strategy::language_model::AskedModel;

/// Which model is asked, and how much.
#[derive(clap::Args, Clone, Debug)]
pub(in crate::cli) struct LlmArgs {
    /// Ask a language model at this OpenAI-compatible endpoint, such as `http://localhost:8080/v1`, what it thinks of the
    /// queries that are listed. Texts of pages are sent there.
    #[arg(id = "llm_url", long = "llm-url", value_name = "URL", requires = "llm_model")]
    url: Option<String>,
    /// The model's name there.
    #[arg(id = "llm_model", long = "llm-model", value_name = "NAME", requires = "llm_url")]
    model: Option<String>,
    /// Variable of the environment that has its key.
    #[arg(id = "llm_key", long = "llm-key", value_name = "VARIABLE", requires = "llm_url")]
    key: Option<String>,
    /// Requests at most, those that are sent again included.
    #[arg(
        id = "llm_calls",
        long = "llm-calls",
        value_name = "N",
        default_value_t = 100,
        requires = "llm_url"
    )]
    calls: usize,
    /// Seconds that a request may take.
    #[arg(
        id = "llm_seconds",
        long = "llm-seconds",
        value_name = "SECONDS",
        default_value_t = 60,
        requires = "llm_url"
    )]
    seconds: u64,
    /// Where answers are remembered: JSON lines.
    #[arg(id = "llm_cache", long = "llm-cache", value_name = "FILE", requires = "llm_url")]
    cache: Option<PathBuf>,
}

/// What a model says of a query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Opinion {
    /// How far the pages of its list answer it.
    pub(super) sufficiency: f64,
    /// The link that it finds the most promising, with its score.
    pub(super) best_link: Option<(String, f64)>,
}

impl LlmArgs {
    /// The model, if one is named.
    pub(in crate::cli) fn model(&self) -> Result<Option<AskedModel>, Failure> {
        let (Some(url), Some(model)) = (&self.url, &self.model) else { return Ok(None) };
        let key = match &self.key {
            Some(variable) => {
                let value = std::env::var(variable).map_err(|_| {
                    let error = anyhow::anyhow!("there is no variable {variable}");
                    Failure::input(
                        error,
                        "--llm-key names the variable of the environment that has the key",
                    )
                })?;
                Some(ApiKey::from(value))
            }
            None => None,
        };
        let settings = LlmSettings {
            url: url.clone(),
            model: model.clone(),
            key,
            most_calls: self.calls,
            timeout: Duration::from_secs(self.seconds),
            cache: self.cache.clone(),
        };
        Ok(Some(AskedModel::new(Llm::new(settings)?)))
    }
}

/// Tells what was asked, and why no more.
pub(in crate::cli) fn tell(model: &AskedModel, global: &Global) {
    let (counts, stopped) = model.state();
    let mut line = format!(
        "language model: {}, {} remembered, {} of no use",
        counted(counts.calls as u64, "request"),
        counted(counts.from_cache as u64, "answer"),
        counts.refused
    );
    if let Some(error) = stopped {
        line += &format!("; no more is asked: {error}");
    }
    say(global, &line);
}
