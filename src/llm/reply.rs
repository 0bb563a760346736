//! From the bytes of a reply to the checked answer in it.

use serde::Deserialize;

use super::error::ReplyFault;
use super::question::Question;

/// What is read of a chat completion; endpoints add much of their own.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

/// The answer in a chat completion.
pub(super) fn of_completion<Q: Question>(
    question: &Q,
    completion: &[u8],
) -> Result<Q::Reply, ReplyFault> {
    let completion: Completion =
        serde_json::from_slice(completion).map_err(|_| ReplyFault::NoCompletion)?;
    let choice = completion.choices.first().ok_or(ReplyFault::NoCompletion)?;
    of_document(question, without_fence(&choice.message.content))
}

/// The answer in a JSON document.
pub(super) fn of_document<Q: Question>(
    question: &Q,
    document: &str,
) -> Result<Q::Reply, ReplyFault> {
    // What serde_json says has texts of the document in it; where it is has none.
    let reply = serde_json::from_str(document).map_err(|error| ReplyFault::Form {
        expected: Q::FORM,
        line: error.line(),
        column: error.column(),
    })?;
    question.check(&reply)?;
    Ok(reply)
}

/// A text without the Markdown fence around it: many models put JSON into one, whatever they are told.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).unwrap_or(text)
}
