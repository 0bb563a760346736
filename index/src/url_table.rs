//! Known URLs in memory: `UrlId` to canonical URL and back, and to its host. Append-only.
//!
//! Costs the bytes of the URLs plus about 20 bytes each; of those that are mapped, what is touched.

use crate::error::StoreError;
use crate::mapped::Column;
use crate::mapped::image::{ImageReader, ImageWriter};
use crate::mapped::texts::{Strings, Texts};
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
    urls: Strings,
    /// By URL: number of its host, in the order of their first URLs.
    hosts: Column<u32>,
    host_names: Strings,
    /// URLs whose spelling first seen is not the canonical one, ascending, and that spelling.
    spelt: Column<u32>,
    spellings: Texts,
}

impl UrlTable {
    /// Known URLs.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// How many of them are in no file that is mapped.
    pub(crate) fn len_in_memory(&self) -> usize {
        self.hosts.tail().len()
    }

    /// All ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = UrlId> + Clone + use<> {
        (0..self.urls.len() as u32).map(UrlId)
    }

    /// The canonical URL.
    ///
    /// # Panics
    /// If the id is not of this table.
    pub fn url(&self, id: UrlId) -> &str {
        self.urls.text(id.0)
    }

    /// The spelling first seen: what outputs print.
    pub fn spelling(&self, id: UrlId) -> &str {
        let found = self.spelt.find(id.0);
        found.map_or_else(|| self.url(id), |place| self.spellings.text(place))
    }

    /// Number of the host of a URL, below [`Self::hosts`].
    ///
    /// # Panics
    /// If the id is not of this table.
    pub fn host(&self, id: UrlId) -> u32 {
        self.hosts.at(id.index())
    }

    /// Hosts of all URLs.
    pub fn hosts(&self) -> usize {
        self.host_names.len()
    }

    /// The id of a canonical URL.
    pub fn get(&self, canonical: &str) -> Option<UrlId> {
        self.urls.get(canonical).map(UrlId)
    }

    /// The id of a canonical URL, given now if it has none; `spelling` is kept if it is new and
    /// spelt otherwise.
    pub fn insert(&mut self, canonical: &str, spelling: &str) -> UrlId {
        let (id, is_new) = self.urls.insert(canonical);
        if is_new {
            if spelling != canonical && !spelling.is_empty() {
                self.spelt.push(id);
                self.spellings.push(spelling);
            }
            self.hosts.push(self.host_names.insert(url::host(canonical)).0);
        }
        UrlId(id)
    }

    /// Writes the table as files that are mapped.
    pub(crate) fn write(&self, image: &mut ImageWriter) -> Result<(), StoreError> {
        self.urls.write(image, "urls")?;
        image.column("url-hosts", &[self.hosts.mapped(), self.hosts.tail()])?;
        self.host_names.write(image, "hosts")?;
        image.column("spelt", &[self.spelt.mapped(), self.spelt.tail()])?;
        self.spellings.write(image, "spellings")
    }

    /// The table of such files, if they are whole.
    pub(crate) fn read(image: &ImageReader) -> Option<Self> {
        let table = Self {
            urls: Strings::read(image, "urls")?,
            hosts: image.column("url-hosts")?,
            host_names: Strings::read(image, "hosts")?,
            spelt: image.column("spelt")?,
            spellings: Texts::read(image, "spellings")?,
        };
        let fits =
            table.hosts.len() == table.urls.len() && table.spelt.len() == table.spellings.len();
        fits.then_some(table)
    }
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
