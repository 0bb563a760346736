//! What is read from one HTML document, and the record made of it.

use prospect_index::page::{Outlink, PageRecord};
use url::Url;

/// A record and what was cut from it.
pub(super) type HtmlRecord = (PageRecord, Vec<(&'static str, u32)>);

/// An HTML document, reduced to what a search engine and a crawler need of it; within the caps of
/// [`limits`](prospect_index::limits).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HtmlPage {
    /// Text of the first `<title>`, white space collapsed.
    pub(crate) title: String,
    /// Visible text of the body, white space collapsed, a space at every block boundary.
    pub(crate) text: String,
    /// Links of `a`, `area`, frames and `meta refresh`, in document order: absolute, http(s), without
    /// fragments. Repeated targets are kept where their anchors differ.
    pub(crate) outlinks: Vec<Outlink>,
    /// The canonical URL that the document names, if it is another one of the same host.
    pub(crate) canonical: Option<String>,
    /// Whether the document asks not to be indexed.
    pub(crate) noindex: bool,
    /// What was cut, dropped or noted, by name, and how often.
    pub(crate) cuts: Vec<(&'static str, u32)>,
}

impl HtmlPage {
    /// The record of this document, found at `document_url`, and what was cut from it. A canonical
    /// URL becomes the record's URL, and the document's the one that was requested. A document that
    /// asks not to be indexed gives its links only: it cannot be a search result.
    pub(crate) fn into_record(self, document_url: &Url) -> HtmlRecord {
        let document = document_url.as_str().to_owned();
        let (url, requested_url) = match self.canonical {
            Some(canonical) => (canonical, Some(document)),
            None => (document, None),
        };
        let (title, text) =
            if self.noindex { (String::new(), String::new()) } else { (self.title, self.text) };
        let record = PageRecord {
            url,
            title,
            text,
            outlinks: self.outlinks,
            requested_url,
            ..PageRecord::default()
        };
        (record, self.cuts)
    }
}
