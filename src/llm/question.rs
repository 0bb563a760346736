//! The questions: what is shown to the model, cut to a length, and what it may reply.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::{ReplyFault, TextProblem};
use super::key::ApiKey;

/// Characters of a query that are shown.
const QUERY_CHARS: usize = 500;
/// Characters of a link's URL that are shown.
const URL_CHARS: usize = 300;
/// Characters of a link's text that are shown.
const LINK_TEXT_CHARS: usize = 300;
/// Characters of a passage that are shown.
const PASSAGE_CHARS: usize = 2000;
/// Passages that are shown.
pub(super) const MOST_PASSAGES: usize = 20;
/// Links that are judged at a time.
pub(super) const LINKS_PER_CALL: usize = 25;
/// Other wordings that are asked for at a time.
pub(super) const MOST_VARIANTS: usize = 20;
/// Characters of another wording.
pub(super) const VARIANT_CHARS: usize = 200;

/// A link as it is shown to the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkText<'a> {
    /// Its target.
    pub(crate) url: &'a str,
    /// Its anchor, or what else is known of it.
    pub(crate) text: &'a str,
}

/// A question. It serializes as the data that the model is shown.
pub(super) trait Question: Serialize {
    /// The form of a reply. Fields that it does not have are refused.
    type Reply: Serialize + DeserializeOwned;
    /// What the model is told to do with the data.
    const TASK: &'static str;
    /// An example of the form.
    const FORM: &'static str;

    /// Refuses a reply of the right form with values that cannot be.
    fn check(&self, reply: &Self::Reply) -> Result<(), ReplyFault>;

    /// Refuses a reply that gives away the key; numbers cannot.
    fn refuse_secret(&self, _: &Self::Reply, _: Option<&ApiKey>) -> Result<(), ReplyFault> {
        Ok(())
    }
}

/// Asks for other wordings.
#[derive(Debug, Serialize)]
pub(super) struct VariantsQuestion {
    query: String,
    count: usize,
}

/// Other wordings.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variants {
    pub(super) variants: Vec<String>,
}

impl VariantsQuestion {
    pub(super) fn new(query: &str, count: usize) -> Self {
        Self { query: cut(query, QUERY_CHARS), count }
    }
}

impl Question for VariantsQuestion {
    type Reply = Variants;
    const TASK: &'static str = "Give other wordings of `query` that people with the same need would type \
         into a search engine, in its language: at least one, at most `count`, each of at most 200 characters, \
         all different, none of them `query` itself.";
    const FORM: &'static str = r#"{"variants": ["first wording", "second wording"]}"#;

    fn check(&self, reply: &Variants) -> Result<(), ReplyFault> {
        check_texts(&reply.variants, self.count, |variant| variant == self.query.trim())
    }

    fn refuse_secret(&self, reply: &Variants, key: Option<&ApiKey>) -> Result<(), ReplyFault> {
        refuse_secret(&reply.variants, key)
    }
}

/// Asks what people would type to find a page.
#[derive(Debug, Serialize)]
pub(super) struct QueriesQuestion {
    title: String,
    text: String,
    count: usize,
}

/// What people would type.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queries {
    pub(super) queries: Vec<String>,
}

impl QueriesQuestion {
    pub(super) fn new(title: &str, text: &str, count: usize) -> Self {
        Self { title: cut(title, QUERY_CHARS), text: cut(text, PASSAGE_CHARS), count }
    }
}

impl Question for QueriesQuestion {
    type Reply = Queries;
    const TASK: &'static str = "Give queries that people would type into a search engine and that the page with this \
         `title` and `text` answers well, in its language: at least one, at most `count`, each of at most 200 \
         characters, all different.";
    const FORM: &'static str = r#"{"queries": ["first query", "second query"]}"#;

    fn check(&self, reply: &Queries) -> Result<(), ReplyFault> {
        check_texts(&reply.queries, self.count, |_| false)
    }

    fn refuse_secret(&self, reply: &Queries, key: Option<&ApiKey>) -> Result<(), ReplyFault> {
        refuse_secret(&reply.queries, key)
    }
}

/// Asks how promising links are.
#[derive(Debug, Serialize)]
pub(super) struct LinksQuestion {
    query: String,
    links: Vec<ShownLink>,
}

#[derive(Debug, Serialize)]
struct ShownLink {
    url: String,
    text: String,
}

/// How promising links are, in their order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkScores {
    pub(super) scores: Vec<f64>,
}

impl LinksQuestion {
    pub(super) fn new(query: &str, links: &[LinkText<'_>]) -> Self {
        let shown = links.iter().map(|link| {
            let (url, text) = (cut(link.url, URL_CHARS), cut(link.text, LINK_TEXT_CHARS));
            ShownLink { url, text }
        });
        Self { query: cut(query, QUERY_CHARS), links: shown.collect() }
    }
}

impl Question for LinksQuestion {
    type Reply = LinkScores;
    const TASK: &'static str = "Judge each of `links`: how promising is it to fetch its page in search of an \
         answer to `query`, from 0 (useless) to 1 (certain to help)? Give one number for each link, in their \
         order.";
    const FORM: &'static str = r#"{"scores": [0.5, 0.25]}"#;

    fn check(&self, reply: &LinkScores) -> Result<(), ReplyFault> {
        let (found, expected) = (reply.scores.len(), self.links.len());
        if found != expected {
            return Err(ReplyFault::Entries { found, fewest: expected, most: expected });
        }
        reply.scores.iter().enumerate().try_for_each(|(at, score)| in_range(*score, at + 1))
    }
}

/// Asks how far passages answer the query.
#[derive(Debug, Serialize)]
pub(super) struct SufficiencyQuestion {
    query: String,
    passages: Vec<String>,
}

/// How far passages answer the query.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sufficiency {
    pub(super) sufficiency: f64,
}

impl SufficiencyQuestion {
    pub(super) fn new(query: &str, passages: &[&str]) -> Self {
        let shown = passages.iter().take(MOST_PASSAGES).map(|passage| cut(passage, PASSAGE_CHARS));
        Self { query: cut(query, QUERY_CHARS), passages: shown.collect() }
    }
}

impl Question for SufficiencyQuestion {
    type Reply = Sufficiency;
    const TASK: &'static str = "Judge how far `passages` together answer `query`, from 0 (not at all) to 1 \
         (completely). What they do not say does not count.";
    const FORM: &'static str = r#"{"sufficiency": 0.5}"#;

    fn check(&self, reply: &Sufficiency) -> Result<(), ReplyFault> {
        in_range(reply.sufficiency, 1)
    }
}

/// Refuses texts that are too many, none, too long, alike, or no line of text; or that are the query itself.
fn check_texts(
    texts: &[String],
    most: usize,
    is_query: impl Fn(&str) -> bool,
) -> Result<(), ReplyFault> {
    let found = texts.len();
    if found == 0 || found > most {
        return Err(ReplyFault::Entries { found, fewest: 1, most });
    }
    let mut before = HashSet::new();
    for (at, text) in texts.iter().enumerate() {
        let repeated = (!before.insert(text.trim())).then_some(TextProblem::Repeated);
        if let Some(problem) = problem_of(text, &is_query).or(repeated) {
            return Err(ReplyFault::Text { entry: at + 1, problem });
        }
    }
    Ok(())
}

/// What is wrong with a text, whatever the others are.
fn problem_of(text: &str, is_query: impl Fn(&str) -> bool) -> Option<TextProblem> {
    if text.trim().is_empty() {
        Some(TextProblem::Empty)
    } else if text.chars().count() > VARIANT_CHARS {
        Some(TextProblem::TooLong)
    } else if text.chars().any(is_control) {
        Some(TextProblem::Control)
    } else {
        is_query(text.trim()).then_some(TextProblem::Query)
    }
}

/// Refuses texts that hold the key.
fn refuse_secret(texts: &[String], key: Option<&ApiKey>) -> Result<(), ReplyFault> {
    match texts.iter().position(|text| key.is_some_and(|key| key.is_in(text))) {
        Some(at) => Err(ReplyFault::Text { entry: at + 1, problem: TextProblem::Secret }),
        None => Ok(()),
    }
}

fn in_range(number: f64, entry: usize) -> Result<(), ReplyFault> {
    // NaN is in no range.
    if (0.0..=1.0).contains(&number) { Ok(()) } else { Err(ReplyFault::OutOfRange { entry }) }
}

/// The first characters of a text.
fn cut(text: &str, most_chars: usize) -> String {
    text.chars().take(most_chars).collect()
}

/// Characters that steer a terminal or the direction of writing, or that end a line.
fn is_control(c: char) -> bool {
    let steers = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || steers
}
