//! Known URLs in memory: `UrlId` to canonical URL and back, and to its host. Append-only.
//!
//! Costs the bytes of the URLs plus about 20 bytes each.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::page::UrlId;
use crate::url;

/// The URL table of a store.
///
/// ```
/// use prospect_index::url_table::UrlTable;
///
/// let mut urls = UrlTable::default();
/// let home = urls.insert("https://a.test/", "https://A.test");
/// let page = urls.insert("https://a.test/page", "https://a.test/page");
/// assert_eq!(urls.insert("https://a.test/", "https://a.test/#top"), home);
/// assert_eq!(urls.url(home), "https://a.test/");
/// assert_eq!(urls.spelling(home), "https://A.test"); // the first one
/// assert_eq!(urls.get("https://a.test/page"), Some(page));
/// assert_eq!(urls.host(home), urls.host(page));
/// assert_eq!((urls.len(), urls.hosts()), (2, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct UrlTable {
    text: String,
    ends: Vec<usize>,
    lookup: HashTable<u32>,
    /// By URL: number of its host, in the order of their first URLs.
    hosts: Vec<u32>,
    /// The first URL of each host.
    first_of_host: HashTable<u32>,
    /// Spelling first seen, where it is not the canonical one.
    spellings: BTreeMap<u32, Box<str>>,
}

impl UrlTable {
    /// Known URLs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = UrlId> + Clone + use<> {
        (0..self.ends.len() as u32).map(UrlId)
    }

    /// The canonical URL.
    ///
    /// # Panics
    /// If the id is not of this table.
    pub fn url(&self, id: UrlId) -> &str {
        slice(&self.text, &self.ends, id.index())
    }

    /// The spelling first seen: what outputs print.
    pub fn spelling(&self, id: UrlId) -> &str {
        self.spellings.get(&id.0).map_or(self.url(id), |spelling| spelling)
    }

    /// Number of the host of a URL, below [`Self::hosts`].
    ///
    /// # Panics
    /// If the id is not of this table.
    pub fn host(&self, id: UrlId) -> u32 {
        self.hosts[id.index()]
    }

    /// Hosts of all URLs.
    pub fn hosts(&self) -> usize {
        self.first_of_host.len()
    }

    /// The id of a canonical URL.
    pub fn get(&self, canonical: &str) -> Option<UrlId> {
        let same = |&id: &u32| self.url(UrlId(id)) == canonical;
        self.lookup.find(xxh3_64(canonical.as_bytes()), same).copied().map(UrlId)
    }

    /// The id of a canonical URL, given now if it has none; `spelling` is kept if it is new and
    /// spelt otherwise.
    pub fn insert(&mut self, canonical: &str, spelling: &str) -> UrlId {
        if let Some(id) = self.get(canonical) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(canonical);
        self.ends.push(self.text.len());
        if spelling != canonical && !spelling.is_empty() {
            self.spellings.insert(id, spelling.into());
        }
        let Self { text, ends, lookup, hosts, first_of_host, .. } = self;
        let url_of = |id: u32| slice(text, ends, id as usize);
        let hash = |&id: &u32| xxh3_64(url_of(id).as_bytes());
        lookup.insert_unique(xxh3_64(canonical.as_bytes()), id, hash);
        let host_of = |id: u32| url::host(url_of(id));
        let hash = |&id: &u32| xxh3_64(host_of(id).as_bytes());
        let same = |&first: &u32| host_of(first) == host_of(id);
        let number = if let Some(&first) = first_of_host.find(hash(&id), same) {
            hosts[first as usize]
        } else {
            first_of_host.insert_unique(hash(&id), id, hash);
            first_of_host.len() as u32 - 1
        };
        hosts.push(number);
        UrlId(id)
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], at: usize) -> &'a str {
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &text[start..ends[at]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable_and_the_first_spelling_stays() {
        let mut table = UrlTable::default();
        let a = table.insert("https://a.example/", "https://A.example");
        let b = table.insert("https://b.example/", "https://b.example/");
        assert_eq!(table.insert("https://a.example/", "HTTPS://a.example"), a);
        assert_eq!((a, b, table.len()), (UrlId(0), UrlId(1), 2));
        assert_eq!(table.spelling(a), "https://A.example");
        assert_eq!(table.spelling(b), "https://b.example/");
        assert_eq!(table.get("https://c.example/"), None);
    }

    #[test]
    fn hosts_are_numbered_by_their_first_urls() {
        let mut table = UrlTable::default();
        let url = |at: u32| format!("https://h{}.example:8{}/{at}", at % 700, at % 2);
        let ids: Vec<UrlId> = (0..2_000).map(|at| table.insert(&url(at), "")).collect();
        table.insert(&url(5), "");
        assert_eq!(table.hosts(), 700);
        for (at, id) in ids.into_iter().enumerate() {
            assert_eq!(table.host(id) as usize, at % 700);
        }
    }
}
