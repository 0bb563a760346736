//! Sites of URLs, and the mean outcome of each site as of any cycle.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url::SiteLevel;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

/// Site of every known URL.
pub struct Sites {
    level: SiteLevel,
    of_url: Vec<u32>,
    count: usize,
}

impl Sites {
    /// Chooses the level and numbers the sites by first appearance.
    pub fn new(urls: &UrlTable) -> Self {
        let level = SiteLevel::of(urls.ids().map(|id| urls.url(id)));
        let ids: Vec<UrlId> = urls.ids().collect();
        let names: Vec<String> = ids.par_iter().map(|&id| level.site(urls.url(id))).collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of_url = Vec::with_capacity(names.len());
        for name in names {
            let next = numbers.len() as u32;
            of_url.push(*numbers.entry(name).or_insert(next));
        }
        Self { level, of_url, count: numbers.len() }
    }

    /// What "site" means here.
    pub fn level(&self) -> SiteLevel {
        self.level
    }

    /// Number of the site of a URL.
    pub fn of(&self, url: UrlId) -> u32 {
        self.of_url[url.index()]
    }

    /// Sites.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Outcomes that a site's mean is shrunk by towards the mean of all.
const PRIOR_OUTCOMES: f64 = 10.0;

/// Mean outcome by site over the outcomes added so far, shrunk towards the mean of all while a
/// site has few.
#[derive(Clone, Debug, Default)]
pub struct SiteMeans {
    sums: Vec<(f64, f64)>,
    all: (f64, f64),
}

impl SiteMeans {
    /// No outcome, for `sites` sites.
    pub fn new(sites: usize) -> Self {
        Self { sums: vec![(0.0, 0.0); sites], all: (0.0, 0.0) }
    }

    /// Adds an outcome.
    pub fn add(&mut self, site: u32, outcome: f64) {
        for sum in [&mut self.sums[site as usize], &mut self.all] {
            sum.0 += outcome;
            sum.1 += 1.0;
        }
    }

    /// Mean of a site; 0 before the first outcome of all.
    pub fn mean(&self, site: u32) -> f64 {
        let prior = if self.all.1 == 0.0 { 0.0 } else { self.all.0 / self.all.1 };
        let (sum, count) = self.sums[site as usize];
        (sum + PRIOR_OUTCOMES * prior) / (count + PRIOR_OUTCOMES)
    }
}
