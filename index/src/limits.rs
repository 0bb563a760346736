//! Every cap in one table. A record that exceeds one is cut or skipped, and the cut is counted under the name given
//! here; an option or a whole file that exceeds one is refused.

/// Bounds of records, and of what somebody gives: files, and options.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// A URL longer than this after canonicalisation is not stored (bytes).
    pub url_bytes: usize,
    /// Anchor texts are cut to this many Unicode scalar values.
    pub anchor_chars: usize,
    /// The text around a link is cut to this many Unicode scalar values.
    pub around_chars: usize,
    /// Links kept per page, in document order, after self-links and duplicates are dropped.
    pub outlinks_per_page: usize,
    /// Links of one page to one target that are kept, the first ones: each has another anchor.
    pub anchors_per_target: usize,
    /// Page text is cut to this many bytes, at a character boundary.
    pub text_bytes: usize,
    /// Titles are cut to this many bytes, at a character boundary.
    pub title_bytes: usize,
    /// Words of one query that are used; later ones are ignored and counted.
    pub query_words: usize,
    /// Longest word n-gram that can be indexed: three token ids and a local id share a 128-bit sort key.
    pub ngram_words: usize,
    /// One input line (a JSON record) longer than this is skipped (bytes).
    pub line_bytes: usize,
    /// One HTML file larger than this is read only up to here (bytes).
    pub html_bytes: usize,
    /// Links kept per page beside the first to each target, in document order.
    pub repeated_links: usize,
    /// A text file that is read whole (queries, settings, lists of URLs), decompressed, may have this many bytes.
    pub text_file_bytes: usize,
    /// A line of judgements or of a run may have this many bytes.
    pub list_line_bytes: usize,
    /// Judgements, or results of a run, in one file.
    pub list_lines: usize,
    /// Bytes of them, decompressed: they are held in memory.
    pub list_bytes: usize,
    /// Largest window of zstd data, as a power of two: what `zstd --long` writes. A few bytes can ask for any.
    pub zstd_window_log: u32,
    /// Threads beyond which a number is a mistake.
    pub threads: usize,
    /// Seed sets of one experiment: each is a crawl by every policy.
    pub seed_sets: u32,
    /// Trials of a check of one experiment: each is a batch that is carried out.
    pub trials: usize,
}

/// The bounds.
pub const BOUNDS: Bounds = Bounds {
    url_bytes: 8_192,
    anchor_chars: 200,
    around_chars: 400,
    outlinks_per_page: 2_000,
    anchors_per_target: 100,
    text_bytes: 1 << 20,
    title_bytes: 4_096,
    query_words: 64,
    ngram_words: 3,
    line_bytes: 64 << 20,
    html_bytes: 32 << 20,
    repeated_links: 2_000,
    text_file_bytes: 256 << 20,
    list_line_bytes: 64 << 10,
    list_lines: 10_000_000,
    list_bytes: 1 << 30,
    zstd_window_log: 27,
    threads: 1_024,
    seed_sets: 1_000,
    trials: 100_000,
};

/// The table, for documentation and `prospect formats`: name, value, unit, what happens beyond it.
pub const TABLE: &[(&str, usize, &str, &str)] = &[
    ("url", BOUNDS.url_bytes, "bytes", "the URL is dropped"),
    ("anchor", BOUNDS.anchor_chars, "characters", "the anchor text is cut"),
    ("around", BOUNDS.around_chars, "characters", "the text around a link is cut"),
    ("outlinks", BOUNDS.outlinks_per_page, "links per page", "later links are dropped"),
    (
        "anchors",
        BOUNDS.anchors_per_target,
        "anchors of a page for one target",
        "later ones are dropped",
    ),
    (
        "repeated",
        BOUNDS.repeated_links,
        "links per page to targets that it links to already",
        "later ones are dropped",
    ),
    ("text", BOUNDS.text_bytes, "bytes", "the text is cut"),
    ("title", BOUNDS.title_bytes, "bytes", "the title is cut"),
    ("line", BOUNDS.line_bytes, "bytes", "the record is skipped"),
    ("html", BOUNDS.html_bytes, "bytes", "the rest of the file is not read"),
    ("query", BOUNDS.query_words, "words", "later words are ignored"),
    (
        "text file",
        BOUNDS.text_file_bytes,
        "bytes of queries, settings or URLs, decompressed",
        "it is refused",
    ),
    (
        "list line",
        BOUNDS.list_line_bytes,
        "bytes of a line of judgements or a run",
        "the file is refused",
    ),
    ("list", BOUNDS.list_lines, "lines of judgements or a run", "the file is refused"),
    (
        "list bytes",
        BOUNDS.list_bytes,
        "bytes of judgements or a run, decompressed",
        "the file is refused",
    ),
    ("zstd window", 1 << BOUNDS.zstd_window_log, "bytes", "the data is refused"),
    ("threads", BOUNDS.threads, "threads", "the option is refused"),
    ("seed sets", BOUNDS.seed_sets as usize, "seed sets of an experiment", "the option is refused"),
    ("trials", BOUNDS.trials, "trials of a check of an experiment", "the option is refused"),
    ("n-gram", BOUNDS.ngram_words, "words", "a larger n is refused"),
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
