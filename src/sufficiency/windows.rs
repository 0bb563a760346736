//! Windows: the stretches of a crawl that are compared where METHODS, section 4, says cycle.

/// Fewest pages of a window.
const FEWEST_PAGES: usize = 100;
/// A window has at least one page for so many that were fetched before it.
const PAGES_BEFORE: usize = 100;

/// A stretch of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Record of its first page.
    pub(crate) first_seq: u32,
    /// The record behind that of its last page.
    pub(crate) end_seq: u32,
    /// Its pages.
    pub(crate) pages: usize,
}

/// Pages of the window that begins when so many pages were fetched: 1 % of them, at least 100.
pub(crate) fn window_pages(before: usize) -> usize {
    (before / PAGES_BEFORE).max(FEWEST_PAGES)
}

/// Cuts the records that brought a page, in order, into whole windows; what is left behind the last one is of none.
/// Pages that are fetched later change no window of before.
pub(crate) fn windows(pages: impl Iterator<Item = u32>) -> Vec<Window> {
    let mut windows = Vec::new();
    let (mut before, mut open) = (0, None::<Window>);
    for seq in pages {
        let mut window = open.unwrap_or(Window { first_seq: seq, end_seq: seq, pages: 0 });
        window = Window { end_seq: seq + 1, pages: window.pages + 1, ..window };
        open = Some(window);
        if window.pages >= window_pages(before) {
            before += window.pages;
            windows.push(window);
            open = None;
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_the_crawl_and_keep_their_ends() {
        let some = windows(0..11_000);
        assert!(some[..100].iter().all(|window| window.pages == 100));
        assert_eq!(some[100], Window { first_seq: 10_000, end_seq: 10_100, pages: 100 });
        assert_eq!(windows(0..30_000)[..some.len()], some);
        assert!(windows(0..30_000).last().unwrap().pages > 200);
        // Records without a page are passed over.
        let odd = windows((0..500).filter(|seq| seq % 2 == 1));
        assert_eq!((odd.len(), odd[0].end_seq, odd[1].first_seq), (2, 200, 201));
    }
}
