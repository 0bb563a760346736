//! Queries as JSON: an object a line, or one array of objects. No I/O.

use serde_json::Value;
use serde_json::value::RawValue;

use super::formats::{At, Numbered};
use super::{Query, fields};

type Object = serde_json::Map<String, Value>;

/// The queries of lines.
///
/// # Errors
/// The first line that is none, from 1, and what was found and expected there.
pub(super) fn lines(text: &str) -> Result<Numbered, At> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let numbered =
        |(at, line): (usize, &str)| Ok((at + 1, query(line).map_err(|what| (at + 1, what))?));
    lines.map(numbered).collect()
}

/// The keys of the first object; none where it is no object.
pub(super) fn first_keys(text: &str) -> Vec<String> {
    let text = text.trim_start().trim_start_matches('[');
    let first = serde_json::Deserializer::from_str(text).into_iter::<Object>().next();
    first.and_then(Result::ok).map_or_else(Vec::new, |object| object.keys().cloned().collect())
}

/// The query of an object.
fn query(line: &str) -> Result<Query, String> {
    let object: Object = serde_json::from_str(line)
        .map_err(|error| error.to_string().replace(" at line 1 column ", " at column "))?;
    let places = fields::Places::of(object.keys().map(String::as_str));
    let (Some(_), Some(_)) = (places.qid, places.text) else {
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let missing = if places.qid.is_none() {
            "no id (qid, query_id, _id or id)"
        } else {
            "no query (query, text, title or question)"
        };
        return Err(format!("the object has {missing}; its keys are {}", keys.join(", ")));
    };
    let values = object.iter().map(|(key, value)| written(key, value));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    places.query(0, |place| values.get(place).map(String::as_str))
}

/// The queries of an array.
///
/// # Errors
/// The first line that is none, from 1, and what was found and expected there.
pub(super) fn array(text: &str) -> Result<Numbered, At> {
    let items: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| (error.line(), error.to_string()))?;
    let mut queries = Vec::with_capacity(items.len());
    for item in items {
        // Items are slices of the text.
        let before = item.get().as_ptr().addr() - text.as_ptr().addr();
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..before]).count();
        queries.push((line, query(item.get()).map_err(|what| (line, what))?));
    }
    Ok(queries)
}

/// A value as it would be written in a table; what is no text and no number has no part in a query.
fn written(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Object(_) => Ok(String::new()),
        Value::Bool(_) | Value::Array(_)
            if fields::Places::of(std::iter::once(key)).count() == 0 =>
        {
            Ok(String::new())
        }
        _ => Err(format!("{key} is {value}; a text or a number was expected")),
    }
}
