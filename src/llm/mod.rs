//! A language model behind a chat endpoint that the user names, for four questions of a crawl: how a query may be
//! worded otherwise, which links are promising for it, how far passages answer it, and which queries a page answers.
//!
//! What a model says is never trusted. A reply is one JSON document of a fixed form ([`question`]) or
//! it is refused, and nothing in it becomes a path, a URL or a command here. Texts of pages go out as
//! quotations in JSON, cut to a length. Calls have a budget ([`Llm`] counts them), each has a time-out
//! ([`endpoint`]), and answered questions are remembered, in a file if there is one ([`cache`]).
//!
//! Not here: what is made of the answers, and where queries, links and passages come from.

mod cache;
mod endpoint;
mod error;
mod key;
mod question;
mod reply;
#[cfg(test)]
mod stub;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

pub(crate) use self::error::LlmError;
pub(crate) use self::key::ApiKey;
pub(crate) use self::question::LinkText;

use self::cache::Cache;
use self::endpoint::Endpoint;
use self::question::{LINKS_PER_CALL, LinksQuestion, MOST_VARIANTS, Question};
use self::question::{QueriesQuestion, SufficiencyQuestion, VariantsQuestion};

/// Further tries after a failure that may pass.
const RETRIES: usize = 2;
/// Pause before the first of them; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// Which model is asked, and how much.
#[derive(Clone, Debug)]
pub(crate) struct LlmSettings {
    /// The endpoint without `/chat/completions`, for example `http://localhost:8080/v1`.
    pub(crate) url: String,
    /// The model's name at the endpoint.
    pub(crate) model: String,
    /// Sent as a bearer token.
    pub(crate) key: Option<ApiKey>,
    /// HTTP requests that may be sent, second tries among them.
    pub(crate) most_calls: usize,
    /// For a whole HTTP request: from looking up the host to the last byte of the reply.
    pub(crate) timeout: Duration,
    /// File of answered questions; without it they are remembered in memory only.
    pub(crate) cache: Option<PathBuf>,
}

/// What was asked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LlmCounts {
    /// HTTP requests sent.
    pub(crate) calls: usize,
    /// Questions answered without one.
    pub(crate) from_cache: usize,
    /// Replies that did not have the form asked for.
    pub(crate) refused: usize,
}

/// A language model that can be asked.
///
/// Temperature and seed are fixed, so that an endpoint that heeds them gives the same answer again; a
/// remembered answer is the same in any case.
#[derive(Debug)]
pub(crate) struct Llm {
    endpoint: Endpoint,
    model: String,
    key: Option<ApiKey>,
    most_calls: usize,
    cache: Cache,
    counts: LlmCounts,
}

impl Llm {
    /// A client of the endpoint, which is not yet called. The cache is read.
    ///
    /// # Errors
    /// The URL or the key cannot be used, or the cache is damaged or cannot be used.
    pub(crate) fn new(settings: LlmSettings) -> Result<Self, LlmError> {
        let LlmSettings { url, model, key, most_calls, timeout, cache } = settings;
        let endpoint = Endpoint::new(&url, key.as_ref(), timeout)?;
        let cache = Cache::open(cache)?;
        Ok(Self { endpoint, model, key, most_calls, cache, counts: LlmCounts::default() })
    }

    /// Requests that may be sent at most.
    pub(crate) fn most_calls(&self) -> usize {
        self.most_calls
    }

    /// What was asked so far.
    pub(crate) fn counts(&self) -> LlmCounts {
        self.counts
    }

    /// Other wordings of a query: at least one and at most `count`, or at most [`MOST_VARIANTS`]; all
    /// differ from each other and from the query.
    ///
    /// # Errors
    /// The model gives no answer of this form, or the budget is spent.
    pub(crate) fn variants(&mut self, query: &str, count: usize) -> Result<Vec<String>, LlmError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let question = VariantsQuestion::new(query, count.min(MOST_VARIANTS));
        Ok(self.ask(&question)?.variants)
    }

    /// Queries that a page answers: at least one and at most `count`, or at most [`MOST_VARIANTS`]; all differ.
    ///
    /// # Errors
    /// The model gives no answer of this form, or the budget is spent.
    pub(crate) fn queries(
        &mut self,
        (title, text): (&str, &str),
        count: usize,
    ) -> Result<Vec<String>, LlmError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let question = QueriesQuestion::new(title, text, count.min(MOST_VARIANTS));
        Ok(self.ask(&question)?.queries)
    }

    /// By link, how promising it is to follow it for this query, in [0, 1]. Links are judged
    /// [`LINKS_PER_CALL`] at a time.
    ///
    /// # Errors
    /// The model gives no answer of this form, or the budget is spent.
    pub(crate) fn judge_links(
        &mut self,
        query: &str,
        links: &[LinkText<'_>],
    ) -> Result<Vec<f64>, LlmError> {
        let mut scores = Vec::with_capacity(links.len());
        for links in links.chunks(LINKS_PER_CALL) {
            scores.extend(self.ask(&LinksQuestion::new(query, links))?.scores);
        }
        Ok(scores)
    }

    /// How far these passages answer the query, in [0, 1]; no passages do not at all. The first
    /// [`MOST_PASSAGES`](question::MOST_PASSAGES) are shown.
    ///
    /// # Errors
    /// The model gives no answer of this form, or the budget is spent.
    pub(crate) fn sufficiency(&mut self, query: &str, passages: &[&str]) -> Result<f64, LlmError> {
        if passages.is_empty() {
            return Ok(0.0);
        }
        Ok(self.ask(&SufficiencyQuestion::new(query, passages))?.sufficiency)
    }

    /// The checked answer to a question, remembered or asked for.
    fn ask<Q: Question>(&mut self, question: &Q) -> Result<Q::Reply, LlmError> {
        let body = endpoint::body(&self.model, question)?;
        let hash = cache::hash(&body);
        if let Some(reply) = self.cache.reply(hash, question)? {
            self.counts.from_cache += 1;
            return Ok(reply);
        }
        let mut outcome = self.exchange(question, &body);
        if matches!(outcome, Err(LlmError::Reply(_))) && self.may_call() {
            outcome = self.exchange(question, &body);
        }
        let reply = outcome?;
        self.cache.add(hash, &reply)?;
        Ok(reply)
    }

    /// Asks and checks what is replied.
    fn exchange<Q: Question>(&mut self, question: &Q, body: &[u8]) -> Result<Q::Reply, LlmError> {
        let reply = self.send(body).and_then(|completion| {
            let reply = reply::of_completion(question, &completion)?;
            question.refuse_secret(&reply, self.key.as_ref())?;
            Ok(reply)
        });
        if matches!(reply, Err(LlmError::Reply(_))) {
            self.counts.refused += 1;
        }
        reply
    }

    /// Sends a request, again where the failure may pass.
    fn send(&mut self, body: &[u8]) -> Result<Vec<u8>, LlmError> {
        if !self.may_call() {
            return Err(LlmError::BudgetSpent { most_calls: self.most_calls });
        }
        let mut pause = PAUSE;
        let mut retries = RETRIES;
        loop {
            self.counts.calls += 1;
            match self.endpoint.post(body) {
                Err(error) if error.may_pass() && retries > 0 && self.may_call() => {
                    thread::sleep(pause);
                    pause *= 2;
                    retries -= 1;
                }
                outcome => return outcome,
            }
        }
    }

    fn may_call(&self) -> bool {
        self.counts.calls < self.most_calls
    }
}
