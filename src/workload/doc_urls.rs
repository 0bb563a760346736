//! Documents of collections that name them by ids, and the URLs that these have. I/O is one file.
//!
//! Test collections judge documents by ids (`ir_datasets`: `doc_id`; BEIR: `_id`; TREC: `docno`), and a crawl knows pages by
//! URLs. A map leads from one to the other: a table, or the collection itself where its records have both.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::fields::{DOCUMENT, URL};
use super::text::open_records;
use super::{WorkloadError, shown};
use crate::ingest::keys::plain;

/// URLs by document id, as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocUrls {
    urls: HashMap<String, String>,
}

impl DocUrls {
    /// Reads a map: `id<TAB>url` a line, or JSON lines with an id and a URL among whatever else; records without a URL are
    /// passed over. Memory: ids and URLs.
    ///
    /// # Errors
    /// The file cannot be read, a line is neither, an id has two URLs, or there is none.
    pub(crate) fn load(path: &Path) -> Result<Self, WorkloadError> {
        let file = shown(path);
        let mut urls: HashMap<String, String> = HashMap::new();
        let mut last = 0;
        for next in open_records(path)? {
            let (line, content) = next?;
            let failed = |what: String| WorkloadError::DocUrl { file: file.clone(), line, what };
            let is_first = last == 0;
            last = line;
            let Some((id, url)) = pair(content.trim(), is_first).map_err(failed)? else {
                continue;
            };
            if let Some(other) = urls.get(&id).filter(|other| **other != url) {
                let what = format!("document {id:?} has the URL {url}, and {other} above");
                return Err(failed(what));
            }
            urls.insert(id, url);
        }
        if urls.is_empty() {
            let what = "no line has the id of a document and its URL".to_owned();
            return Err(WorkloadError::DocUrl { file, line: last.max(1), what });
        }
        Ok(Self { urls })
    }

    /// URLs by id.
    pub(crate) fn into_map(self) -> HashMap<String, String> {
        self.urls
    }

    /// The URL of a document.
    pub(crate) fn url(&self, id: &str) -> Option<&str> {
        self.urls.get(id).map(String::as_str)
    }
}

/// Id and URL of a line; none of headings, which only the first can be, and of a record without a URL.
fn pair(line: &str, is_first: bool) -> Result<Option<(String, String)>, String> {
    if line.starts_with('{') {
        let record: serde_json::Map<String, Value> =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        let (id, url) = (text_of(&record, DOCUMENT), text_of(&record, URL));
        return match (id, url) {
            (Some(id), Some(url)) => Ok(Some((id, url))),
            (_, None) => Ok(None),
            (None, _) => Err("the record has no id (doc_id, docno, _id or id)".to_owned()),
        };
    }
    let cut = line.split_once('\t').or_else(|| line.split_once(char::is_whitespace));
    let Some((id, url)) = cut.map(|(id, url)| (id.trim(), url.trim())) else {
        return Err("one field; `id<TAB>url` was expected".to_owned());
    };
    let is_heading = is_first && !url.contains(':') && DOCUMENT.contains(&plain(id).as_str());
    if id.contains("://") && !url.contains("://") {
        return Err("the URL stands before the id; `id<TAB>url` was expected".to_owned());
    }
    Ok((!is_heading).then(|| (id.to_owned(), url.to_owned())))
}

/// The value of a record under the first of these names that it has, if it is text or a number.
pub(super) fn text_of(record: &serde_json::Map<String, Value>, names: &[&str]) -> Option<String> {
    let value = names.iter().find_map(|name| {
        record.iter().find(|(key, value)| plain(key) == *name && !value.is_null()).map(|(_, v)| v)
    })?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<DocUrls, WorkloadError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("docs.tsv");
        std::fs::write(&path, text).unwrap();
        DocUrls::load(&path)
    }

    #[test]
    fn tables_have_a_heading_or_none() {
        let urls = of("doc_id\turl\nD1\thttps://a.test/1\nD2 https://a.test/2\n").unwrap();
        assert_eq!(urls.url("D1"), Some("https://a.test/1"));
        assert_eq!(urls.url("D2"), Some("https://a.test/2"));
        assert_eq!(urls.url("doc_id"), None);
    }

    #[test]
    fn records_of_collections_are_a_map() {
        let text = r#"{"docno":"D1","text":"x","URL":"https://a.test/1"}
{"ClueWeb22-ID":"clueweb22-en0000-00-00000","URL":"https://a.test/2"}
{"id":3,"url":"https://a.test/3"}"#;
        let urls = of(text).unwrap();
        let found = ["D1", "clueweb22-en0000-00-00000", "3"].map(|id| urls.url(id).unwrap());
        assert_eq!(found, ["https://a.test/1", "https://a.test/2", "https://a.test/3"]);
    }

    #[track_caller]
    fn fails(text: &str, what: &str) {
        let error = of(text).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }

    #[test]
    fn what_is_no_map_is_told_with_its_line() {
        fails("D1\thttps://a.test/1\nD2\n", ":2: one field");
        fails("{\"_id\":\"D1\"}\n", ":1: no line has the id");
        fails("https://a.test/1\tD1\n", ":1: the URL stands before the id");
        fails("{\"url\":\"https://a.test/1\"}\n", ":1: the record has no id");
        fails("D1\thttps://a.test/1\nD1\thttps://a.test/2\n", ":2: document \"D1\" has the URL");
        fails("doc_id\turl\n", ":1: no line has the id");
    }
}
