//! A list of URLs that a plan is held to, whichever of them are known when it is made.

use prospect_index::page_store::Known;
use prospect_index::storage::Checksum;
use prospect_index::url;

/// See the module.
pub(crate) struct UrlList {
    canonical: Vec<String>,
    /// Lines that are no URL.
    others: usize,
    checksum: String,
}

impl UrlList {
    /// Reads a URL a line; what is none is left out.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (mut canonical, mut others) = (Vec::new(), 0);
        for line in lines {
            match url::canonical(line) {
                Ok(url) => canonical.push(url),
                Err(_) => others += 1,
            }
        }
        Self { canonical, others, checksum: Checksum::of(text.as_bytes()) }
    }

    /// What of it cannot be planned now, in words; none where there is nothing to say.
    pub(crate) fn left_out(&self, known: &Known) -> Option<String> {
        let unknown = self.canonical.iter().filter(|url| known.urls.get(url).is_none()).count();
        let counts = [(self.others, "are no URL"), (unknown, "are not known to the store")];
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
        let all = self.canonical.len() + self.others;
        (!told.is_empty()).then(|| format!("of {all} lines {}", told.join(", ")))
    }

    /// Identifies it.
    pub(crate) fn checksum(&self) -> &str {
        &self.checksum
    }

    /// By URL id, whether it is on the list. Unknown ones are left out, since nothing leads to them.
    pub(crate) fn within(&self, known: &Known) -> Vec<bool> {
        let mut within = vec![false; known.urls.len()];
        for id in self.canonical.iter().filter_map(|url| known.urls.get(url)) {
            within[id.index()] = true;
        }
        within
    }
}
