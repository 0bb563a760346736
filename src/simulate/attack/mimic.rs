//! Hijackers whose URLs look like those of the pages that link to them: the same names of hosts below domains
//! of their own, the same folders and endings.

use prospect_index::url;

use super::plot::{Attacker, Plot};
use crate::estimate::url_parts::path;
use crate::simulate::collection::Collection;
use prospect_index::page::UrlId;

pub(super) fn plot(
    attacker: &mut Attacker<'_>,
    pages: usize,
    domains: Option<u32>,
    honest: &Collection,
) -> Plot {
    let mut plot = super::hijack::plot(attacker, pages, domains);
    for door in &plot.doors {
        let Some(rival) = door.on else { continue };
        let page = &mut plot.pages[door.to];
        page.url = like(honest.urls.url(UrlId(rival)), url::host(&page.url), &attacker.word());
    }
    plot
}

/// A URL like `rival`, of a page with this name on the attacker's `domain`.
fn like(rival: &str, domain: &str, name: &str) -> String {
    let host = url::host(rival);
    let below = host.strip_suffix(url::registrable_domain(host)).unwrap_or("");
    let path = path(rival);
    let path = path.split('?').next().unwrap_or(path);
    let (folder, last) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = last.rsplit_once('.').map_or(String::new(), |(_, ending)| format!(".{ending}"));
    format!("https://{below}{domain}{folder}/{name}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_look_like_those_of_rivals() {
        let like = |rival| like(rival, "junk.invalid", "word");
        assert_eq!(
            like("https://www.cs.rye.test/~baker/oven.html"),
            "https://www.cs.junk.invalid/~baker/word.html"
        );
        assert_eq!(like("https://rye.test/?page=1"), "https://junk.invalid/word");
    }
}
