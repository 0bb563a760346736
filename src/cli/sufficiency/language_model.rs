//! Options of a language model, and what it is asked: other wordings of queries, and what it thinks of those that
//! lack most. Nothing is planned by what it says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::campaign::OpenStore;
use crate::campaign::evidence::{Evidence, evidence};
use crate::campaign::plan::Plan;
use crate::cli::Global;
use crate::cli::output::{Failure, say};
use crate::llm::{ApiKey, LinkText, Llm, LlmError, LlmSettings};
use crate::report::number::counted;
use crate::workload::Workload;

/// Wordings of a query that are asked for.
const WORDINGS: usize = 5;

/// Which model is asked, and how much.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct LlmArgs {
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

/// A model that is asked as long as it answers and there are calls left.
pub(super) struct Asked {
    llm: Llm,
    /// Why nothing more is asked.
    stopped: Option<LlmError>,
}

impl LlmArgs {
    /// The model, if one is named.
    pub(super) fn model(&self) -> Result<Option<Asked>, Failure> {
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
        Ok(Some(Asked { llm: Llm::new(settings)?, stopped: None }))
    }
}

impl Asked {
    /// What it answers, if it is still asked. A budget that is spent, and an endpoint that does not answer, end it; a
    /// reply that is of no use does not.
    fn ask<T>(&mut self, question: impl FnOnce(&mut Llm) -> Result<T, LlmError>) -> Option<T> {
        if self.stopped.is_some() {
            return None;
        }
        match question(&mut self.llm) {
            Ok(answer) => Some(answer),
            Err(LlmError::Reply(_)) => None,
            Err(error) => {
                self.stopped = Some(error);
                None
            }
        }
    }

    /// Other wordings of the queries at these places of a workload, in this order, by place.
    pub(super) fn wordings(
        &mut self,
        workload: &Workload,
        places: &[usize],
    ) -> BTreeMap<usize, Vec<String>> {
        let mut found = BTreeMap::new();
        for &at in places {
            let text = &workload.queries[at].text;
            if let Some(wordings) = self.ask(|llm| llm.variants(text, WORDINGS)) {
                found.insert(at, wordings);
            }
        }
        found
    }

    /// What it thinks of queries of a plan, by place there; none where it gave no answer of use.
    pub(super) fn opinions(
        &mut self,
        open: &OpenStore,
        plan: &Plan,
        places: &[usize],
    ) -> Result<Vec<Option<Opinion>>, Failure> {
        let shown = evidence(open, plan, places)?;
        let queries = places.iter().map(|&at| &plan.workload.queries[at].text);
        Ok(queries.zip(&shown).map(|(query, shown)| self.opinion(query, shown)).collect())
    }

    fn opinion(&mut self, query: &str, Evidence { passages, links }: &Evidence) -> Option<Opinion> {
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let sufficiency = self.ask(|llm| llm.sufficiency(query, &passages))?;
        let texts: Vec<LinkText<'_>> =
            links.iter().map(|(url, text)| LinkText { url, text }).collect();
        let scores = self.ask(|llm| llm.judge_links(query, &texts))?;
        let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        Some(Opinion {
            sufficiency,
            best_link: best.map(|(at, score)| (links[at].0.clone(), *score)),
        })
    }

    /// Tells what was asked, and why no more.
    pub(super) fn tell(&self, global: &Global) {
        let counts = self.llm.counts();
        let mut line = format!(
            "language model: {}, {} remembered, {} of no use",
            counted(counts.calls as u64, "request"),
            counted(counts.from_cache as u64, "answer"),
            counts.refused
        );
        if let Some(error) = &self.stopped {
            line += &format!("; no more is asked: {error}");
        }
        say(global, &line);
    }
}
