//! Every cap in one table. A record that exceeds one is cut or skipped, and the cut is counted under the name given
//! here; an option or a whole file that exceeds one is refused.

/// A URL longer than this after canonicalisation is not stored (bytes).
pub const URL_BYTES: usize = 8_192;
/// Anchor texts are cut to this many Unicode scalar values.
pub const ANCHOR_CHARS: usize = 200;
/// The text around a link is cut to this many Unicode scalar values.
pub const AROUND_CHARS: usize = 400;
/// Links kept per page, in document order, after self-links and duplicates are dropped.
pub const OUTLINKS_PER_PAGE: usize = 2_000;
/// Links of one page to one target that are kept, the first ones: each has another anchor.
pub(crate) const ANCHORS_PER_TARGET: usize = 100;
/// Links kept per page beside the first to each target, in document order.
pub const REPEATED_LINKS_PER_PAGE: usize = 2_000;
/// Page text is cut to this many bytes, at a character boundary.
pub const TEXT_BYTES: usize = 1 << 20;
/// Titles are cut to this many bytes, at a character boundary.
pub const TITLE_BYTES: usize = 4_096;
/// One input line (a JSON record) longer than this is skipped (bytes).
pub const LINE_BYTES: usize = 64 << 20;
/// One HTML file larger than this is read only up to here (bytes).
pub const HTML_BYTES: usize = 32 << 20;
/// Words of one query that are used; later ones are ignored and counted.
pub const QUERY_WORDS: usize = 64;
/// A text file that is read whole (queries, settings, lists of URLs), decompressed, may have this many bytes.
pub const TEXT_FILE_BYTES: usize = 256 << 20;
/// A line of judgements or of a run may have this many bytes.
pub const LIST_LINE_BYTES: usize = 64 << 10;
/// Judgements, or results of a run, in one file.
pub const LIST_LINES: usize = 10_000_000;
/// Largest window of zstd data, as a power of two: 128 MiB, what `zstd --long` writes. A few bytes can ask for any.
pub const ZSTD_WINDOW_LOG: u32 = 27;
/// Threads beyond which a number is a mistake.
pub const THREADS: usize = 1_024;
/// Seed sets of one experiment: each is a crawl by every policy.
pub const SEED_SETS: u32 = 1_000;
/// Longest word n-gram that can be indexed: three token ids and a local id share a 128-bit sort key.
pub const NGRAM_WORDS: usize = 3;

/// The table, for documentation and `prospect formats`: name, value, unit, what happens beyond it.
pub const TABLE: &[(&str, usize, &str, &str)] = &[
    ("url", URL_BYTES, "bytes", "the URL is dropped"),
    ("anchor", ANCHOR_CHARS, "characters", "the anchor text is cut"),
    ("around", AROUND_CHARS, "characters", "the text around a link is cut"),
    ("outlinks", OUTLINKS_PER_PAGE, "links per page", "later links are dropped"),
    ("anchors", ANCHORS_PER_TARGET, "anchors of a page for one target", "later ones are dropped"),
    (
        "repeated",
        REPEATED_LINKS_PER_PAGE,
        "links per page to targets that it links to already",
        "later ones are dropped",
    ),
    ("text", TEXT_BYTES, "bytes", "the text is cut"),
    ("title", TITLE_BYTES, "bytes", "the title is cut"),
    ("line", LINE_BYTES, "bytes", "the record is skipped"),
    ("html", HTML_BYTES, "bytes", "the rest of the file is not read"),
    ("query", QUERY_WORDS, "words", "later words are ignored"),
    (
        "text file",
        TEXT_FILE_BYTES,
        "bytes of queries, settings or URLs, decompressed",
        "it is refused",
    ),
    ("list line", LIST_LINE_BYTES, "bytes of a line of judgements or a run", "the file is refused"),
    ("list", LIST_LINES, "lines of judgements or a run", "the file is refused"),
    ("zstd window", 1 << ZSTD_WINDOW_LOG, "bytes", "the data is refused"),
    ("threads", THREADS, "threads", "the option is refused"),
    ("seed sets", SEED_SETS as usize, "seed sets of an experiment", "the option is refused"),
    ("n-gram", NGRAM_WORDS, "words", "a larger n is refused"),
];

/// Cuts `text` to at most `bytes` bytes at a character boundary; true if something was cut.
///
/// ```
/// use prospect_index::limits::cut_bytes;
///
/// // The second é begins at byte 5 and would end at byte 7.
/// let mut text = "résumé".to_owned();
/// assert!(cut_bytes(&mut text, 7));
/// assert_eq!(text, "résum");
/// assert!(!cut_bytes(&mut text, 7));
/// ```
pub fn cut_bytes(text: &mut String, bytes: usize) -> bool {
    if text.len() <= bytes {
        return false;
    }
    let end = (0..=bytes).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.truncate(end);
    true
}

/// Cuts `text` to at most `chars` Unicode scalar values; true if something was cut.
///
/// ```
/// use prospect_index::limits::cut_chars;
///
/// let mut text = "résumé".to_owned();
/// assert!(!cut_chars(&mut text, 6));
/// assert!(cut_chars(&mut text, 2));
/// assert_eq!(text, "ré");
/// ```
pub fn cut_chars(text: &mut String, chars: usize) -> bool {
    match text.char_indices().nth(chars) {
        Some((at, _)) => {
            text.truncate(at);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_on_character_boundaries() {
        let mut text = "aé€".to_owned();
        assert!(cut_bytes(&mut text, 4));
        assert_eq!(text, "aé");
        let mut text = "aé€x".to_owned();
        assert!(cut_chars(&mut text, 3));
        assert_eq!(text, "aé€");
        assert!(!cut_chars(&mut text, 3));
    }
}
