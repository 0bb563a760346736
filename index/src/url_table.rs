//! Known URLs in memory: `UrlId` to canonical URL and back. Append-only.
//!
//! Costs the bytes of the URLs plus about 16 bytes each.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::page::UrlId;

/// The URL table of a store.
#[derive(Clone, Debug, Default)]
pub struct UrlTable {
    text: String,
    ends: Vec<usize>,
    lookup: HashTable<u32>,
    /// Spelling first seen, where it is not the canonical one.
    spellings: BTreeMap<u32, Box<str>>,
}

impl UrlTable {
    /// Known URLs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no URL is known.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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
        let Self { text, ends, lookup, .. } = self;
        let hash = |&id: &u32| xxh3_64(slice(text, ends, id as usize).as_bytes());
        lookup.insert_unique(xxh3_64(canonical.as_bytes()), id, hash);
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
}
