//! Which request a response answers: the one beside it.
//!
//! Crawlers write a request before its response (wget) or behind it (Heritrix, warcio, Browsertrix). Either names the
//! other in `WARC-Concurrent-To`; where neither names one, they have the same target.

use super::fields::Fields;
use super::page::target;
use super::records::{Item, Record};

/// A request, or a response.
pub(super) struct Exchange {
    pub(super) is_request: bool,
    /// Of a request: its method, if that is not GET.
    pub(super) method: Option<String>,
    id: Option<String>,
    beside: Vec<String>,
    target: String,
}

impl Exchange {
    /// That of an item; none if it is neither.
    pub(super) fn of(item: &Item) -> Option<Self> {
        let Item::Record(Record { fields, block, .. }) = item else { return None };
        let kind = fields.get("warc-type")?.to_ascii_lowercase();
        let is_request = kind == "request";
        if !is_request && !["response", "revisit"].contains(&kind.as_str()) {
            return None;
        }
        let method = method(block).filter(|method| is_request && method != "GET");
        let beside = fields.named("warc-concurrent-to").map(str::to_owned).collect();
        Some(Self {
            is_request,
            method,
            id: id(fields),
            beside,
            target: target(fields)?.to_owned(),
        })
    }

    /// Whether one is the answer to the other.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let names = |a: &Self, b: &Self| b.id.as_ref().is_some_and(|id| a.beside.contains(id));
        let name_none = self.beside.is_empty() && other.beside.is_empty();
        names(self, other) || names(other, self) || (name_none && self.target == other.target)
    }
}

fn id(fields: &Fields) -> Option<String> {
    fields.get("warc-record-id").map(str::to_owned)
}

/// The method of a request, which its first line starts with.
pub(super) fn method(block: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(block.split(|&byte| byte == b'\n').next()?);
    let (method, rest) = line.trim_end().split_once(' ')?;
    let is_request = rest.rsplit(' ').next().is_some_and(|version| version.starts_with("HTTP/"));
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_request && is_method).then(|| method.to_owned())
}
