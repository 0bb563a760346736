//! Words: the one rule by which queries, page texts, URLs and anchors are cut into terms.
//!
//! Unicode lower-case, split at every character that is not alphanumeric, so that `_ / . -` split
//! URLs. A URL is percent-decoded first, its host written with its letters, and its scheme dropped. Stop lists, stems and
//! folded accents are options of a store ([`Analyzer`]); without them words stay as they are cut here.
//!
//! Marks belong to the letter before them, but for those that say how it looks. A word with marks, or with letters that
//! stand for others (full or half width, ligatures of Arabic), is brought to the compatibility form NFKC, in which the same letters are the same characters.
//! Scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and Korean, whose words carry
//! their particles, become overlapping pairs of letters, as in Lucene's CJK analysis: `全文検索` is `全文 文検 検索`. One
//! letter alone is a word.

mod analyzer;

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::url::{after_scheme, host};

pub use analyzer::{Analyzer, Language, WordOptions};

/// What a byte says of the word that it is in; 0 where it is in none.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const BEYOND_ASCII: u8 = 4;

const BYTES: [u8; 256] = {
    let (mut kinds, mut byte) = ([0; 256], 0);
    while byte < 256 {
        let kind = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => LOWER,
            b'A'..=b'Z' => UPPER,
            0x80.. => BEYOND_ASCII,
            _ => 0,
        };
        kinds[byte] = kind;
        byte += 1;
    }
    kinds
};

/// Calls `take` with every word of `text` in order, in lower case.
pub(crate) fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let (bytes, mut lower, mut at) = (text.as_bytes(), String::new(), 0);
    while at < bytes.len() {
        // Up to a byte that is in no word: most words have no other letters than those of ASCII.
        let (start, mut kinds) = (at, 0);
        while let Some(kind) = bytes.get(at).map(|&byte| BYTES[byte as usize])
            && kind != 0
        {
            kinds |= kind;
            at += 1;
        }
        let run = &text[start..at];
        match kinds {
            0 => {}
            LOWER => take(run),
            _ if kinds & BEYOND_ASCII == 0 => {
                lower.clear();
                lower.push_str(run);
                lower.make_ascii_lowercase();
                take(&lower);
            }
            _ => for_each_formed(run, &mut lower, &mut take),
        }
        at += 1;
    }
}

/// The same for letters of any script.
fn for_each_formed(text: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    for word in text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()) {
        if word.chars().any(needs_form) {
            let formed: String = word.nfkc().collect();
            let words = formed.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty());
            words.for_each(|word| spelled(word, lower, take));
        } else {
            spelled(word, lower, take);
        }
    }
}

/// Whether a character is part of a word. Marks before any letter are dropped later.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Whether a character is a mark on a letter; there are none before Latin, its extensions included.
fn is_mark(c: char) -> bool {
    c > '\u{2ff}' && is_combining_mark(c)
}

/// Whether a word with this character may be written in another way. Latin letters and numbers in other dress (ligatures,
/// circled, Roman) stay as they are.
fn needs_form(c: char) -> bool {
    let is_letter =
        matches!(c, '\u{370}'..='\u{1dff}' | '\u{2e80}'..='\u{faff}' | '\u{fb13}'..='\u{1ffff}');
    is_mark(c) || (is_letter && is_nfkc_quick(std::iter::once(c)) != IsNormalized::Yes)
}

/// Whether a mark says how the letter before it is to be drawn, and nothing of what it is.
fn is_of_looks(mark: char) -> bool {
    matches!(mark, '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{20dd}'..='\u{20e4}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Takes a word in lower case, in pairs of letters where its script has no spaces.
fn spelled(word: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    lower.clear();
    for c in word.chars() {
        if is_mark(c) {
            // Without a letter before it, a mark is no word.
            if !lower.is_empty() && !is_of_looks(c) {
                lower.push(c);
            }
            continue;
        }
        // Some lower-case forms carry a combining mark, which is not alphanumeric.
        let folded = c.to_lowercase().filter(|c| c.is_alphanumeric());
        // At the end of a word sigma is written in another form, which capitals do not tell.
        lower.extend(folded.map(|c| if c == 'ς' { 'σ' } else { c }));
    }
    if lower.is_empty() {
        return;
    }
    if !lower.chars().any(is_unspaced) {
        return take(lower);
    }
    let mut rest = lower.as_str();
    while let Some(first) = rest.chars().next() {
        let is_pairs = is_unspaced(first);
        let end = rest.find(|c| !is_mark(c) && is_unspaced(c) != is_pairs);
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        if is_pairs {
            pairs(run, take);
        } else {
            take(run);
        }
        rest = after;
    }
}

/// Takes overlapping pairs of letters, each with its marks; or the one letter that there is.
fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let starts = run.char_indices().filter(|(_, c)| !is_mark(*c)).map(|(at, _)| at);
    let mut starts: Vec<usize> = starts.collect();
    if starts.len() < 2 {
        return take(run);
    }
    starts.push(run.len());
    for letters in starts.windows(3) {
        take(&run[letters[0]..letters[2]]);
    }
}

/// Whether a letter is of a script whose words are not told apart by spaces, or of Korean.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// The words of `text` in order.
///
/// ```
/// use prospect_index::words::words;
///
/// assert_eq!(words("Don't crawl C++ in Zürich!"), ["don", "t", "crawl", "c", "in", "zürich"]);
/// assert_eq!(words("snake_case"), ["snake", "case"]);
/// assert!(words("?!").is_empty());
/// ```
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_word(text, |word| out.push(word.to_owned()));
    out
}

/// The part of a URL that is cut into words: percent-decoded, without its scheme, its host in letters where canonical
/// URLs have the `xn--` form.
///
/// Bytes that are not UTF-8 after decoding become U+FFFD, which is no word character.
///
/// ```
/// use prospect_index::words::{url_text, words};
///
/// let text = url_text("https://a.test/wiki/Focused%20crawler?lang=en");
/// assert_eq!(text, "a.test/wiki/Focused crawler?lang=en");
/// assert_eq!(words(&text), ["a", "test", "wiki", "focused", "crawler", "lang", "en"]);
/// assert_eq!(url_text("https://xn--bcher-kva.example/caf%C3%A9"), "bücher.example/café");
/// ```
pub fn url_text(url: &str) -> Cow<'_, str> {
    let (rest, host) = (after_scheme(url), host(url));
    if !host.contains("xn--") {
        return decoded(rest);
    }
    let (letters, _) = idna::domain_to_unicode(host);
    decoded(&rest.replacen(host, &letters, 1)).into_owned().into()
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_at_everything_that_is_not_alphanumeric() {
        let cases = [
            ("Hello, World", "hello world"),
            ("snake_case-and/path.html", "snake case and path html"),
            ("don't", "don t"),
            ("Ünïcode ÄÖ 2x", "ünïcode äö 2x"),
            ("  ", ""),
            ("İstanbul", "istanbul"),
            ("C++ & C#", "c c"),
            ("Ο Δρόμος, ΟΔΌΣ, οδός", "ο δρόμοσ οδόσ οδόσ"),
            ("Foo™ ½ x² ﬁne “quoted”", "foo ½ x² ﬁne quoted"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn bytes_of_ascii_split_as_letters_of_any_script_do(text in "[aB7 ._é文がｶ\u{301}™²İß]{0,12}|.{0,20}") {
            let (mut plainly, mut lower) = (Vec::new(), String::new());
            for_each_formed(&text, &mut lower, &mut |word: &str| plainly.push(word.to_owned()));
            proptest::prop_assert_eq!(words(&text), plainly);
        }
    }

    #[test]
    fn scripts_without_spaces_become_pairs_of_letters() {
        let cases = [
            ("全文検索", "全文 文検 検索"),
            ("搜索", "搜索"),
            ("山", "山"),
            ("Rustで検索エンジンを作る", "rust で検 検索 索エ エン ンジ ジン ンを を作 作る"),
            ("東京2020年", "東京 2020 年"),
            ("ﾊﾝｶｸ ＡＢＣ", "ハン ンカ カク abc"),
            ("がか\u{3099}", "がが"),
            ("검색 엔진", "검색 엔진"),
            ("ค้นหาเว็บ", "ค้น นห หา าเ เว็ ว็บ"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_the_same_wherever_it_stands() {
        // The vowel of the first is two characters in NFKC, whatever marks stand beside it.
        for (word, text) in [("ทำงาน", "การทำงานที่บ้าน"), ("क़लम", "क़लम की"), ("カメラ", "ﾃﾞｼﾞﾀﾙｶﾒﾗ")]
        {
            let (own, all) = (words(word), words(text));
            assert!(own.iter().all(|pair| all.contains(pair)), "{own:?} {all:?}");
        }
    }

    #[test]
    fn marks_belong_to_their_letters() {
        let cases = [
            ("Cafe\u{301} CAFÉ", "café café"),
            ("हिन्दी खोज", "हिन्दी खोज"),
            ("مُحَرِّك بحث", "مُحَرِّك بحث"),
            ("ﻣﺤﺮﻙ", "محرك"),
            ("Step 1\u{fe0f}\u{20e3} rust", "step 1 rust"),
            ("葛\u{e0100}城", "葛城"),
            ("\u{2764}\u{fe0f}", ""),
            ("שָׁלוֹם", "שָׁלוֹם"),
            ("поиско\u{301}вый", "поиско\u{301}вый"),
            ("\u{301}", ""),
            ("a \u{301}b", "a b"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_url_loses_its_scheme_and_its_escapes() {
        let text = url_text("https://en.example.org/wiki/A%20B_%C3%A9?q=1");
        assert_eq!(words(&text).join(" "), "en example org wiki a b é q 1");
    }
}
