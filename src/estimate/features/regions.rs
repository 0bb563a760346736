//! Regions of a site that a URL lies in, and what the pages fetched of each were worth.
//!
//! Real sites have large barren regions, such as timelines, source listings and calendars, and the
//! outcomes of a few pages tell them. A region is a host, a section (the first directory), a
//! directory, or a pattern: the directory with its numbers made alike, the kind of name, the
//! extension, and the keys of the query.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use crate::estimate::running_mean::RunningMean;

/// Kinds of regions: host, section, directory, pattern.
pub(crate) const KINDS: usize = 4;
/// Of a kind: the kind of the region around it, towards whose mean a mean is drawn.
const AROUND: [Option<usize>; KINDS] = [None, Some(0), Some(1), Some(1)];
/// Pages that the mean around is worth.
const PRIOR_PAGES: f64 = 4.0;

/// Regions of every known URL, numbered by kind in order of appearance. Costs 16 bytes a URL and
/// the names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    of_url: [Vec<u32>; KINDS],
    numbers: [HashMap<String, u32>; KINDS],
}

impl Regions {
    /// Takes in new URLs.
    pub(crate) fn update(&mut self, urls: &UrlTable) {
        let ids: Vec<UrlId> = urls.ids().skip(self.of_url[0].len()).collect();
        let names: Vec<[String; KINDS]> = ids.par_iter().map(|&id| names(urls.url(id))).collect();
        for of_url in names {
            for (kind, name) in of_url.into_iter().enumerate() {
                let next = self.numbers[kind].len() as u32;
                self.of_url[kind].push(*self.numbers[kind].entry(name).or_insert(next));
            }
        }
    }

    /// Host of a URL.
    pub(crate) fn host(&self, url: UrlId) -> u32 {
        self.of_url[0][url.index()]
    }

    /// Regions of a URL, by kind.
    pub(crate) fn of(&self, url: UrlId) -> [u32; KINDS] {
        std::array::from_fn(|kind| self.of_url[kind][url.index()])
    }
}

fn names(address: &str) -> [String; KINDS] {
    let host = url::host(address);
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let path = &url::path(address)[1..];
    let (directory, last) = path.rsplit_once('/').unwrap_or(("", path));
    let section = directory.split('/').next().unwrap_or("");
    let (name, extension) = last.rsplit_once('.').unwrap_or((last, ""));
    let mut pattern = format!("{host}/");
    let mut in_number = false;
    for character in directory.chars() {
        let digit = character.is_ascii_digit();
        if !digit {
            pattern.push(character);
        } else if !in_number {
            pattern.push('0');
        }
        in_number = digit;
    }
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let kind = match (name.len(), digits) {
        (0, _) => "",
        (_, 0) => "name",
        (all, digits) if 2 * digits > all => "number",
        _ => "numbered",
    };
    pattern = format!("{pattern}/{kind}.{extension}");
    for key in query.split('&').filter_map(|part| part.split('=').next()) {
        pattern.push('?');
        pattern.push_str(key);
    }
    [host.to_owned(), format!("{host}/{section}"), format!("{host}/{directory}"), pattern]
}

/// What the fetched pages of each region were worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionMeans {
    of_region: [Vec<RunningMean>; KINDS],
    all: RunningMean,
}

impl RegionMeans {
    /// Adds a fetched page.
    pub(crate) fn add(&mut self, regions: [u32; KINDS], value: f64) {
        for (seen, region) in self.of_region.iter_mut().zip(regions) {
            let at = region as usize;
            if seen.len() <= at {
                seen.resize(at + 1, RunningMean::default());
            }
            seen[at].add(value);
        }
        self.all.add(value);
    }

    /// Mean over all pages; 0 without one.
    pub(crate) fn mean(&self) -> f64 {
        self.all.mean().unwrap_or(0.0)
    }

    /// By kind: the mean of the region, drawn towards that of the region around it while it has
    /// few pages, and its pages.
    pub(crate) fn of(&self, regions: [u32; KINDS]) -> [(f64, u32); KINDS] {
        let mut found = [(0.0, 0); KINDS];
        for (kind, region) in regions.into_iter().enumerate() {
            let prior = AROUND[kind].map_or(self.mean(), |around| found[around].0);
            let seen = self.of_region[kind].get(region as usize).copied().unwrap_or_default();
            found[kind] = (seen.towards(prior, PRIOR_PAGES), seen.count());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_urls() {
        let expected = |of: [&str; KINDS]| of.map(str::to_owned);
        assert_eq!(
            names("https://a.test/wiki/2012/05/log.php?day=3&view=all"),
            expected([
                "a.test",
                "a.test/wiki",
                "a.test/wiki/2012/05",
                "a.test/wiki/0/0/name.php?day?view"
            ])
        );
        assert_eq!(
            names("https://a.test/"),
            expected(["a.test", "a.test/", "a.test/", "a.test//.?"])
        );
        let [_, _, _, page] = names("https://a.test/p/a12.html");
        let [_, _, _, number] = names("https://a.test/p/2012-12");
        assert_eq!([page.as_str(), &number], ["a.test/p/number.html?", "a.test/p/number.?"]);
    }

    #[test]
    fn means_are_drawn_towards_what_lies_around() {
        let mut means = RegionMeans::default();
        assert_eq!(means.of([0; KINDS]), [(0.0, 0); KINDS]);
        // Section 0 of host 0 is barren, section 1 is not.
        for step in 0..40 {
            means.add([0, step % 2, step % 2, step % 2], f64::from(step % 2) * 2.0);
        }
        assert_eq!(means.mean(), 1.0);
        let [host, barren, ..] = means.of([0, 0, 9, 9]);
        assert_eq!(host, (1.0, 40));
        assert!(barren.0 < 0.2 && barren.1 == 20);
        // A directory that nothing is known of takes after its section.
        let found = means.of([0, 0, 9, 9]);
        assert_eq!((found[2], found[3]), ((barren.0, 0), (barren.0, 0)));
    }
}
