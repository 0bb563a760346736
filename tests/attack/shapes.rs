//! Shapes of URLs and pages that a parser, a decoder or a rule on hosts could stumble over. Tests make strings of them
//! and count or time what reading them costs.

#![allow(dead_code, reason = "each test binary uses a part")]

/// What comes before, what is repeated, what comes behind.
pub type Shape<'a> = (&'a str, &'a str, &'a str);

pub const SHAPES: &[Shape] = &[
    // Escapes that hide escapes.
    ("https://a.test/", "%", ""),
    ("https://a.test/", "%25", ""),
    ("https://a.test/", "%%32%35", "61"),
    ("https://a.test/%", "25", ""),
    ("https://a.test/%", "36%", "1"),
    ("https://a.test/", "%2", ""),
    ("https://a.test/", "%61", ""),
    ("https://a.test/", "%6", "1"),
    ("https://a.test/", "%%%", "36"),
    ("https://a.test/", "%2e", ""),
    ("https://a.test/", "%2E%2e/", ""),
    ("https://a.test/x/", "%%32e%2e/", "y"),
    ("https://a.test/x", "/%%32e%%32e", "/y"),
    ("https://a.test/", "%2f", ""),
    ("https://a.test/", "%5c", ""),
    ("https://a.test/", "%00", ""),
    ("https://a.test/", "%e9%2F", ""),
    ("https://a.test/", "%zz", ""),
    ("https://a.test/?", "%%36%31", ""),
    ("https://a.test/?", "%7e", ""),
    ("https://a.test/?a=", "%26", ""),
    ("https://a.test/?", "%2525", ""),
    ("https://", "%61", ".test/"),
    ("https://", "%%36%31", ".test/"),
    ("https://a.test/#", "%%36%31", ""),
    // Segments.
    ("https://a.test/", "../", ""),
    ("https://a.test/", "a/../", ""),
    ("https://a.test/", "a/", "b"),
    ("https://a.test/", "./", ""),
    ("https://a.test/", ".", ""),
    ("https://a.test/", "/", ""),
    ("https://a.test/", "\\", ""),
    ("https://a.test", "\\..", ""),
    ("https://a.test/", ".%2e/", ""),
    ("https://a.test/", ";", ""),
    // Queries.
    ("https://a.test/?", "&", ""),
    ("https://a.test/?", "a=1&", ""),
    ("https://a.test/", "?", ""),
    ("https://a.test/?", "'", ""),
    ("https://a.test/", "#", ""),
    // Hosts, users and ports.
    ("https://", "a.", "test/"),
    ("https://", ".", "a.test/"),
    ("https://", "a", ".test/"),
    ("https://", "xn--a-", ".test/"),
    ("https://xn--", "a", "-.test/"),
    ("https://", "xn--e1afmkfd.", "test/"),
    ("https://", "ü", ".test/"),
    ("https://", "ü.", "test/"),
    ("https://", "\u{1100}\u{1161}", ".test/"),
    ("https://", "a\u{301}", ".test/"),
    ("https://", "\u{301}\u{316}", ".test/"),
    ("https://", "\u{ad}", "a.test/"),
    ("https://", "\u{5d0}1", ".test/"),
    ("https://", "@", "a.test/"),
    ("https://", "a@", "a.test/"),
    ("https://", "a:", "@a.test/"),
    ("https://a.test:", "0", "80/"),
    ("https://", "1.", "1/"),
    ("https://0x", "0", "1/"),
    ("https://[", ":", "1]/"),
    ("https://[", "1:", "1]/"),
    ("https:", "/", "a.test/"),
    // Letters and what is left out.
    ("https://a.test/", "é", ""),
    ("https://a.test/", "\u{10ffff}", ""),
    ("https://a.test/", "\t", ""),
    ("https://a.test/", "a\n", ""),
    (" ", " ", "https://a.test/"),
    ("https://a.test/", " ", "x"),
    ("https://a.test/", "\"<>`", ""),
    ("", "https:", "//a.test/"),
];

/// A string of this shape, of at most so many bytes.
pub fn made((before, unit, behind): Shape, bytes: usize) -> String {
    let room = bytes.saturating_sub(before.len() + behind.len());
    [before, &unit.repeat(room / unit.len()), behind].concat()
}

/// Pages: what is repeated between `before` and `behind`; `{}` is the number of the repetition.
pub const PAGES: &[Shape] = &[
    ("", "<a href=\"/{}\">words of {}</a> ", ""),
    ("", "<a href=\"/\">anchor {}</a> ", ""),
    ("", "<a href=/{}>", ""),
    ("", "<a href=#{}>x</a>", ""),
    ("", "<a href=a/../{}/../b>x</a>", ""),
    ("", "<a><a href=x>", "</a>"),
    ("", "<a href='/%%36%31{}'>%%36%31</a>", ""),
    ("<p>a b a b a b a b</p>", "<a href=/{}>a a b b {} a</a>", ""),
    ("", "a <a href=/{}>a a a a a a a a a a b</a>", ""),
    ("", "<b>", ""),
    ("", "<div><b>", "x"),
    ("", "</p>", ""),
    ("", "<p>", ""),
    ("", "<p hidden>x", ""),
    ("", "<svg><title>", ""),
    ("", "<table><tr><td>", ""),
    ("", "<", ""),
    ("", "<!--", ""),
    ("", "<!-- ", "-->"),
    ("", "<![CDATA[", ""),
    ("<a ", "x{}=y ", ">"),
    ("<a href='", "x", "'>"),
    ("", "&", ""),
    ("", "&amp", ""),
    ("", "&#38;", ""),
    ("", "&#x0000000", ""),
    ("<title>", "a ", "</title>"),
    ("<script>", "</scrip", "</script>"),
    ("<script>", "<!--<script>", "</script>"),
    ("<textarea>", "</", ""),
    ("<meta name=robots content='", "noindex,", "'>"),
    ("", "<meta http-equiv=refresh content='0;url=/{}'>", ""),
    ("", "<link rel=canonical href=/{}>", ""),
    ("", "<img alt='{}'>", ""),
    ("<a href=x>", "<img alt='{}'>", "</a>"),
    ("", "<base href=/{}/>", ""),
    ("", "\u{ad}", ""),
    ("", "a\u{301}", ""),
    ("", "\u{0}", ""),
    ("", "\r\n", ""),
];

/// A page of this shape, of about so many bytes.
pub fn page((before, unit, behind): Shape, bytes: usize) -> String {
    let mut page = before.to_owned();
    let mut number = 0;
    while page.len() + behind.len() < bytes {
        page += &unit.replace("{}", &number.to_string());
        number += 1;
    }
    page + behind
}

/// A page of links whose URLs have this shape, each another one, of about so many bytes.
pub fn page_of_links(shape: Shape, link: usize, bytes: usize) -> String {
    let url = made(shape, link).replace(['"', '<'], "x");
    page(("", &format!("<a href=\"{url}{{}}\">{{}}</a>"), ""), bytes)
}

/// A page with a long base, and as many short links as it has room for.
pub fn page_with_base(base: usize, bytes: usize) -> String {
    let base = format!("<base href=\"/{}/\">", "a".repeat(base));
    page((&base, "<a href={}>", ""), bytes)
}
