//! Sites of URLs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use crate::estimate::url_parts::{SITE_GROUPS, SiteLevel};

/// Site of every known URL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    choice: LevelChoice,
    /// The level of `of_url`.
    level: Option<SiteLevel>,
    of_url: Arc<Vec<u32>>,
    numbers: HashMap<String, u32>,
}

/// Groups that the known URLs make at the coarse levels, as far as the choice needs them.
#[derive(Clone, Debug, Default)]
struct LevelChoice {
    groups: [HashSet<String>; 2],
    /// URLs looked at, by level.
    seen: [usize; 2],
}

const COARSE: [SiteLevel; 2] = [SiteLevel::Domain, SiteLevel::Host];

impl LevelChoice {
    /// [`SiteLevel::of`] all URLs, of which those seen earlier are not looked at again.
    fn update(&mut self, urls: &UrlTable) -> SiteLevel {
        for (at, level) in COARSE.into_iter().enumerate() {
            let (groups, seen) = (&mut self.groups[at], &mut self.seen[at]);
            while groups.len() < SITE_GROUPS && *seen < urls.len() {
                let site = level.site(urls.url(UrlId(*seen as u32)));
                if !groups.contains(site.as_ref()) {
                    groups.insert(site.into_owned());
                }
                *seen += 1;
            }
            if groups.len() >= SITE_GROUPS {
                return level;
            }
        }
        SiteLevel::Directory
    }
}

impl Sites {
    /// Chooses the level and numbers the sites by first appearance. Equal to starting anew: URLs
    /// seen earlier are looked at again only if the level changes.
    pub(crate) fn update(&mut self, urls: &UrlTable) {
        let level = self.choice.update(urls);
        if self.level != Some(level) {
            self.level = Some(level);
            self.of_url = Arc::default();
            self.numbers.clear();
        }
        let of_url = Arc::make_mut(&mut self.of_url);
        let ids: Vec<UrlId> = urls.ids().skip(of_url.len()).collect();
        let names: Vec<Cow<'_, str>> = ids.par_iter().map(|&id| level.site(urls.url(id))).collect();
        for name in names {
            let next = self.numbers.len() as u32;
            let known = self.numbers.get(name.as_ref()).copied();
            of_url.push(known.unwrap_or(next));
            if known.is_none() {
                self.numbers.insert(name.into_owned(), next);
            }
        }
    }

    /// What "site" means here; `None` before the first update.
    pub(crate) fn level(&self) -> Option<SiteLevel> {
        self.level
    }

    /// Number of the site of a URL.
    pub(crate) fn of(&self, url: UrlId) -> u32 {
        self.of_url[url.index()]
    }

    /// By URL: the number of its site.
    pub(crate) fn of_urls(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.of_url)
    }

    /// Sites.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_brought_up_to_date_are_those_made_anew() {
        let mut urls = UrlTable::default();
        let mut kept = Sites::default();
        for step in 0..130 {
            let host = if step < 60 { step % 3 } else { step };
            urls.insert(&format!("https://www.h{host}.test/d{}/{step}", step % 5), "");
            kept.update(&urls);
            let mut anew = Sites::default();
            anew.update(&urls);
            assert_eq!(kept.level(), Some(SiteLevel::of(urls.ids().map(|id| urls.url(id)))));
            assert_eq!((kept.level(), &kept.of_url), (anew.level(), &anew.of_url), "{step}");
        }
        assert_eq!(kept.level(), Some(SiteLevel::Domain));
    }
}
