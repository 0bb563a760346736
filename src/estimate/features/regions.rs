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
use xxhash_rust::xxh3::xxh3_64;

use crate::estimate::running_mean::RunningMean;
use crate::estimate::url_parts::path;

/// Kinds of regions: host, section, directory, pattern.
pub(crate) const KINDS: usize = 4;
/// Of a kind: the kind of the region around it, towards whose mean a mean is drawn.
const AROUND: [Option<usize>; KINDS] = [None, Some(0), Some(1), Some(1)];
/// Pages that the mean around is worth.
const PRIOR_PAGES: f64 = 4.0;

/// Regions of every known URL, numbered by kind in order of appearance. Costs 16 bytes a URL and some 24 a region: names
/// are known by their host and a hash, so that a host which makes names of one hash mixes up its own regions alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    of_url: [Vec<u32>; KINDS],
    numbers: [HashMap<(u32, u64), u32>; KINDS],
}

impl Regions {
    /// Takes in new URLs.
    pub(crate) fn update(&mut self, urls: &UrlTable) {
        let new = self.of_url[0].len()..urls.len();
        let hashes = |name: &mut String, id| hashes(urls.url(UrlId(id as u32)), name);
        let hashes: Vec<[u64; KINDS]> = new.into_par_iter().map_init(String::new, hashes).collect();
        let kinds = self.of_url.par_iter_mut().zip(&mut self.numbers).enumerate();
        kinds.for_each(|(kind, (of_url, numbers))| {
            let start = of_url.len() as u32;
            of_url.extend((start..).zip(&hashes).map(|(id, hashes)| {
                let next = numbers.len() as u32;
                *numbers.entry((urls.host(UrlId(id)), hashes[kind])).or_insert(next)
            }));
        });
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

/// Hashes of the names of a URL's regions, made in `name`.
fn hashes(address: &str, name: &mut String) -> [u64; KINDS] {
    let mut hashes = [0; KINDS];
    for_each_name(address, name, |kind, name| hashes[kind] = xxh3_64(name.as_bytes()));
    hashes
}

/// The names of a URL's regions by kind, one after the other in `name`.
fn for_each_name(address: &str, name: &mut String, mut take: impl FnMut(usize, &str)) {
    let host = url::host(address);
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let path = &path(address)[1..];
    let (directory, last) = path.rsplit_once('/').unwrap_or(("", path));
    let section = directory.split('/').next().unwrap_or("");
    let (stem, extension) = last.rsplit_once('.').unwrap_or((last, ""));
    name.clear();
    name.push_str(host);
    take(0, name);
    for (kind, part) in [(1, section), (2, directory)] {
        name.truncate(host.len());
        name.push('/');
        name.push_str(part);
        take(kind, name);
    }
    name.truncate(host.len() + 1);
    let mut in_number = false;
    for character in directory.chars() {
        let digit = character.is_ascii_digit();
        if !digit {
            name.push(character);
        } else if !in_number {
            name.push('0');
        }
        in_number = digit;
    }
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let kind = match (stem.len(), digits) {
        (0, _) => "",
        (_, 0) => "name",
        (all, digits) if 2 * digits > all => "number",
        _ => "numbered",
    };
    for part in ["/", kind, ".", extension] {
        name.push_str(part);
    }
    for key in query.split('&').filter_map(|part| part.split('=').next()) {
        name.push('?');
        name.push_str(key);
    }
    take(3, name);
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

    fn names(address: &str) -> [String; KINDS] {
        let mut names: [String; KINDS] = Default::default();
        for_each_name(address, &mut String::new(), |kind, name| name.clone_into(&mut names[kind]));
        names
    }

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
