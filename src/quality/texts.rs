//! The text of a document that a model reads: some of its columns, joined by a space.

use crate::documents::{BadRow, DocumentBatch, DocumentError, Value};
use crate::neural::document;

/// The names of a column of titles.
const TITLE: &str = "title";
/// The names of a column of text, the first that is there counts.
const TEXTS: &[&str] = &["plain_text", "text", "content", "body"];
/// A longer text has no score: no page is that long, and models read its beginning only.
pub(crate) const TEXT_BYTES: usize = 16 << 20;

/// Names of columns that are texts.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    [TITLE].into_iter().chain(TEXTS.iter().copied())
}

/// Why a document has no text to score.
pub(crate) type NoText = BadRow;

/// The columns that make the text: those asked for, or by name `title` and the first of
/// `plain_text`, `text`, `content`, `body`.
///
/// # Errors
/// There is none of them.
pub(crate) fn columns(
    file: &str,
    columns: &[String],
    asked: Option<&[String]>,
) -> Result<Vec<String>, DocumentError> {
    let has = |name: &str| columns.iter().any(|column| column == name);
    if let Some(asked) = asked {
        return match asked.iter().find(|name| !has(name)) {
            Some(name) => Err(no_column(file, format!("{name:?}"), columns)),
            None => Ok(asked.to_vec()),
        };
    }
    let text = TEXTS.iter().find(|name| has(name));
    let found: Vec<String> = [TITLE]
        .iter()
        .filter(|name| has(name))
        .chain(text)
        .map(|name| (*name).to_owned())
        .collect();
    if found.is_empty() {
        let missing = format!("of text ({})", names().collect::<Vec<_>>().join(", "));
        return Err(no_column(file, missing, columns));
    }
    Ok(found)
}

fn no_column(file: &str, missing: String, columns: &[String]) -> DocumentError {
    DocumentError::NoColumn { path: file.to_owned(), missing, columns: columns.to_vec() }
}

/// The texts of a batch, or why there is none to score.
pub(crate) fn of_batch(batch: &DocumentBatch, columns: &[String]) -> Vec<Result<String, NoText>> {
    let values = batch.values(columns);
    values.into_iter().enumerate().map(|(row, values)| text(batch, row, columns, values)).collect()
}

fn text(
    batch: &DocumentBatch,
    row: usize,
    columns: &[String],
    values: Vec<Value<'_>>,
) -> Result<String, NoText> {
    let none = |reason, detail: String| NoText { reason, place: batch.place(row), detail };
    let mut parts = Vec::with_capacity(columns.len());
    for (column, value) in columns.iter().zip(values) {
        match value {
            Value::Null => {}
            Value::Text(part) => parts.push(part),
            Value::Json(json) => {
                let start: String = json.chars().take(40).collect();
                return Err(none("wrong-type", format!("{column} is no text but {start}")));
            }
        }
    }
    let text = document(&parts);
    if text.trim().is_empty() {
        return Err(none("no-text", format!("{} empty", columns.join(" and "))));
    }
    if text.len() > TEXT_BYTES {
        let detail = format!("{} bytes, at most {TEXT_BYTES}", text.len());
        return Err(none("text-too-long", detail));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::columns;

    fn names(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn text_columns_are_found_by_name() {
        for (there, expected) in [
            ("id url title plain_text language", "title plain_text"),
            ("url title text outlinks", "title text"),
            ("content", "content"),
            ("title", "title"),
        ] {
            assert_eq!(columns("f", &names(there), None).unwrap(), names(expected), "{there}");
        }
        let error = columns("f", &names("id html"), None).unwrap_err();
        let expected = "f: there is no column of text (title, plain_text, text, content, body); \
                        it has id, html";
        assert_eq!(error.to_string(), expected);
        assert!(columns("f", &names("a"), Some(&names("b"))).is_err());
    }
}
