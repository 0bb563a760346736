//! What is read from HTML documents, case by case.

use url::Url;

use super::extract_html;
use super::page::HtmlPage;

const DOCUMENT: &str = "https://e.org/dir/page.html";

fn extract(html: &[u8]) -> HtmlPage {
    extract_html(html, &Url::parse(DOCUMENT).unwrap(), None).unwrap()
}

fn text(html: &str, expected: &str) {
    assert_eq!(extract(html.as_bytes()).text, expected, "text of {html}");
}

fn title(html: &str, expected: &str) {
    assert_eq!(extract(html.as_bytes()).title, expected, "title of {html}");
}

/// Links as `url=anchor`, those of the site shortened to their path.
fn links(html: &str, expected: &[&str]) {
    let page = extract(html.as_bytes());
    let show = |url: &str| url.strip_prefix("https://e.org").unwrap_or(url).to_owned();
    let found: Vec<String> =
        page.outlinks.iter().map(|link| format!("{}={}", show(&link.url), link.anchor)).collect();
    assert_eq!(found, expected, "links of {html}");
}

fn cuts(html: &str, expected: &[(&str, u32)]) {
    assert_eq!(extract(html.as_bytes()).cuts, expected, "cuts of {html}");
}

fn canonical(html: &str, expected: Option<&str>) {
    assert_eq!(extract(html.as_bytes()).canonical.as_deref(), expected, "canonical of {html}");
}

#[test]
fn the_title_is_the_first_one_collapsed_and_decoded() {
    title("", "");
    title("<title>A</title>", "A");
    title("<TITLE>\n A \t B\n</TITLE><title>C</title>", "A B");
    title("<title>a &amp; b &#8212; &eacute;</title>", "a & b — é");
    title("<title>a <b>b</b></title>", "a <b>b</b>");
    title("<svg><title>icon</title></svg><title>page</title>", "page");
    title("<title></title><title>late</title>", "");
    title("<title>never closed", "never closed");
}

#[test]
fn text_is_what_people_see() {
    text("plain", "plain");
    text("<html><head><title>t</title></head><body> a  b\n</body></html>", "a b");
    text("<head><title>t</title><body>no end of head", "no end of head");
    text("a<script>if (1 < 2) { x('<p>') }</script>b", "ab");
    text("<SCRIPT>x</SCRIPT><Style>p{}</Style>b", "b");
    text("a<noscript>on</noscript><template>t<b>u</b></template>b", "a b");
    text("a<iframe>frame</iframe>b", "a b");
    text("<svg><title>icon</title><style>s{}</style><text>shown</text></svg>b", "shown b");
    text("<p hidden>x</p>y", "y");
    text("<div hidden><p>x<p>y</div>z", "z");
    text("<div HIDDEN=until-found>x</div>z", "z");
    text("<div class=hidden>x</div>z", "x z");
    text("<div data-hidden>x</div>z", "x z");
    text("<p hidden>x<p>y", "y");
    text("<span hidden>x</span>y", "y");
    text("<input hidden>y", "y");
    text("<body hidden>y", "y");
    text("<!-- a --> b <!-- > -->c", "b c");
    text("<!doctype html><?php echo ?>b", "b");
    text("<![CDATA[x]]>y", "y");
    text("<svg><text><![CDATA[a &amp; b]]></text></svg>", "a &amp; b");
    text("<svg><style/><path/></svg><svg/>a", "a");
    text("<textarea>a &lt;b&gt;</textarea>", "a <b>");
}

#[test]
fn words_run_together_only_within_a_line() {
    text("<p>a</p><p>b</p>", "a b");
    text("a<div>b</div>c", "a b c");
    text("a<br>b<BR/>c<hr>d", "a b c d");
    text("<b>a</b>b<i>c</i>", "abc");
    text("<code>Vec</code>&lt;<a href=x>T</a>&gt;", "Vec<T>");
    text("<ul><li>a<li>b</ul>c", "a b c");
    text("<table><tr><td>a<td>b</tr><tr><th>c</th></tr></table>d", "a b c d");
    text("<h1>a</h1>b", "a b");
    text("a<span> b</span> c", "a b c");
    text("a<img alt=x>b<wbr>c", "abc");
    text("<my-element>a</my-element>b", "ab");
    text("<select><option>a<option>b</select>c", "a b c");
}

#[test]
fn character_references_are_decoded() {
    text("a&nbsp;b &lt;c&gt; &copy; &#65;&#x42; &amp;amp;", "a b <c> © AB &amp;");
    text("AT&T &unknown; &", "AT&T &unknown; &");
    text("&notit; &hellip; &hellip", "¬it; … &hellip");
}

#[test]
fn queries_of_links_are_written_in_the_encoding_of_their_page() {
    let shift_jis = b"<meta charset=shift_jis><link rel=canonical href='/x?q=\x8d\x91'><a href='/s?q=\x8d\x91\x95\xf3&u=%E5'>a</a>\
        <a href='/\x8d\x91'>b</a>";
    let page = extract(shift_jis);
    let urls: Vec<&str> = page.outlinks.iter().map(|link| link.url.as_str()).collect();
    // A path is always written in UTF-8.
    assert_eq!(urls, ["https://e.org/s?q=%8D%91%95%F3&u=%E5", "https://e.org/%E5%9B%BD"]);
    assert_eq!(page.canonical.as_deref(), Some("https://e.org/x?q=%8D%91"));
    let page = extract(b"<meta charset=iso-8859-1><a href='?t=m\xfcnze'>a</a>");
    assert_eq!(page.outlinks[0].url, "https://e.org/dir/page.html?t=m%FCnze");
    // What the encoding lacks is a reference there, as in a browser.
    let page = extract(b"<meta charset=iso-8859-1><a href='/?t=&#26085;\xfc&amp;x'>a</a>");
    assert_eq!(page.outlinks[0].url, "https://e.org/?t=%26%2326085%3B%FC&x");
    links("<meta charset=utf-8><a href='/?t=m\u{fc}nze'>a</a>", &["/?t=m%C3%BCnze=a"]);
}

#[test]
fn encodings_are_brought_to_unicode() {
    let page = extract(b"<meta charset=iso-8859-1><title>caf\xe9</title><a href='/\xfc'>\xe9</a>");
    assert_eq!(page.title, "café");
    assert_eq!(page.outlinks[0].url, "https://e.org/%C3%BC");
    assert_eq!(extract(b"\xff\xfe<\x00p\x00>\x00\xe9\x00").text, "é");
    assert_eq!(extract(b"caf\xe9 au lait").text, "café au lait");
    assert_eq!(extract("\u{feff}<p>é".as_bytes()).text, "é");
    assert_eq!(extract(b"a\0b").text, "a\0b");
}

#[test]
fn links_are_absolute_with_their_texts() {
    links("<a href=x>a</a>", &["/dir/x=a"]);
    links("<A HREF='/x'> a <b>b</b>\n c </A>", &["/x=a b c"]);
    links("<a href=x><div>a</div><div>b</div></a>", &["/dir/x=a b"]);
    links("<a href='http://o.net/?a=1&amp;b=2#f'>a &amp; b</a>", &["http://o.net/?a=1&b=2=a & b"]);
    links("<a href='?a=1&copy=2'>a</a>", &["/dir/page.html?a=1&copy=2=a"]);
    links("<a href=//o.net>a</a>", &["https://o.net/=a"]);
    links("<a href=' \n x '>a</a>", &["/dir/x=a"]);
    links("<area href=x alt='the map'>", &["/dir/x=the map"]);
    links("<a name=x>a</a><a>b</a>", &[]);
    links("<a href=#x>a</a><a href=''>b</a>", &[]);
    links("<a href=mailto:a@b.c>a</a><a href='javascript:x()'>b</a><a href=ftp://f/>c</a>", &[]);
    links("<!-- <a href=x>a</a> --><script>'<a href=y>'</script>", &[]);
    links("<svg><a href=x><text>a</text></a></svg>", &["/dir/x=a"]);
    links("<div hidden><a href=x>a</a></div>", &["/dir/x=a"]);
    links("<template><a href=x>a</a></template><noscript><a href=y>b</a></noscript>", &[]);
}

#[test]
fn a_link_without_text_is_named_by_its_image_or_title() {
    links("<a href=x><img src=i alt='an  image'></a>", &["/dir/x=an image"]);
    links("<a href=x title='a &quot;t&quot;'></a>", &["/dir/x=a \"t\""]);
    links("<a href=x title=t><img src=i alt=''></a>", &["/dir/x=t"]);
    links("<a href=x title=t>text<img alt=i></a>", &["/dir/x=text"]);
    links("<a href=x></a>", &["/dir/x="]);
}

#[test]
fn links_end_where_the_next_begins_or_their_parent_ends() {
    links("<a href=x>a<a href=y>b</a>c", &["/dir/x=a", "/dir/y=b"]);
    links("<p><a href=x>a</p>b", &["/dir/x=a"]);
    links("<a href=x>a", &["/dir/x=a"]);
    links("<a href=x>a<a>b</a>c</a>", &["/dir/x=a"]);
    links("</a><a href=x>a</a></a>", &["/dir/x=a"]);
    links("<div><a href=x>a<div><a href=y>b</div>c</div>d", &["/dir/x=a", "/dir/y=b"]);
}

#[test]
fn repeated_links_are_kept_for_their_anchors() {
    links("<a href=x>a</a><a href=x#f>a</a><a href=x>b</a>", &["/dir/x=a", "/dir/x=b"]);
}

#[test]
fn the_first_base_resolves_every_link() {
    links("<a href=x>a</a><base href=/b/><base href=/c/>", &["/b/x=a"]);
    links(
        "<base target=_top><base href=https://o.net/d/><a href=x>a</a>",
        &["https://o.net/d/x=a"],
    );
    links("<base href=javascript:x><a href=x>a</a>", &["/dir/x=a"]);
}

#[test]
fn robots_directives_are_followed() {
    links("<a rel='noopener NoFollow' href=x>a</a><a rel=nofollower href=y>b</a>", &["/dir/y=b"]);
    links("<a href=x>a</a><meta name=Robots content='noindex, NOFOLLOW'>", &[]);
    links("<meta name=robots content=none><a href=x>a</a>", &[]);
    cuts("<meta name=robots content=none><a href=x>a</a>", &[("noindex", 1), ("nofollow", 1)]);
    cuts("<a rel=nofollow href=x>a</a><a href='http://['>b</a>", &[("nofollow", 1), ("link", 1)]);
    assert!(extract(b"<meta name=robots content=noindex>").noindex);
    assert!(!extract(b"<meta name=robots content=noarchive>").noindex);
}

#[test]
fn a_canonical_url_counts_on_the_same_host_only() {
    canonical("<link rel=canonical href=/c>", Some("https://e.org/c"));
    canonical(
        "<link rel='alternate CANONICAL' href='/c?a=1&amp;b=2#f'>",
        Some("https://e.org/c?a=1&b=2"),
    );
    canonical("<link rel=canonical href=/c><link rel=canonical href=/d>", Some("https://e.org/c"));
    canonical("<link rel=canonical href=http://e.org/c>", Some("http://e.org/c"));
    canonical("<link rel=canonical href=page.html>", None);
    canonical("<link rel=canonical href=''>", None);
    canonical("<link rel=canonical href=https://o.net/c>", None);
    cuts("<link rel=canonical href=https://o.net/c>", &[("foreign-canonical", 1)]);
    // Sites that name their home page on every page by mistake would have one page.
    canonical("<link rel=canonical href=/>", None);
    cuts("<link rel=canonical href=https://e.org/>", &[("home-canonical", 1)]);
    for home in ["https://e.org/?utm_source=x", "https://e.org/index.html", "https://e.org/Home/"] {
        let page = extract_html(b"<link rel=canonical href=/>", &Url::parse(home).unwrap(), None);
        assert_eq!(page.unwrap().canonical.as_deref(), Some("https://e.org/"), "{home}");
    }
    let other = Url::parse("https://e.org/index.php?id=3").unwrap();
    let page = extract_html(b"<link rel=canonical href=/>", &other, None).unwrap();
    assert_eq!(page.canonical, None);
    canonical("<link rel=canonical href='/?p=7'>", Some("https://e.org/?p=7"));
    let url = Url::parse(DOCUMENT).unwrap();
    let (record, _) = extract(b"<link rel=canonical href=/c>").into_record(&url);
    assert_eq!(record.url, "https://e.org/c");
    assert_eq!(record.requested_url.as_deref(), Some(DOCUMENT));
}

#[test]
fn a_frame_is_a_link() {
    links("<iframe src=toc.html title=Contents></iframe>", &["/dir/toc.html=Contents"]);
    links("<frameset><frame src=x></frameset>", &["/dir/x="]);
    links("<iframe></iframe><template><iframe src=x></iframe></template>", &[]);
}

#[test]
fn a_quick_refresh_is_a_link() {
    links("<meta http-equiv=refresh content='0; url=x'>", &["/dir/x="]);
    links("<META HTTP-EQUIV=Refresh content=\"0;URL='x?a=1&amp;b'\">", &["/dir/x?a=1&b="]);
    links("<meta http-equiv=refresh content='5,x'>", &["/dir/x="]);
    links("<meta http-equiv=refresh content='0'>", &[]);
    links("<meta http-equiv=refresh content='30; url=x'>", &[]);
    links("<meta http-equiv=refresh content='; url=x'>", &[]);
    text("<meta http-equiv=refresh content='0;url=x'><p>Moved", "Moved");
}

#[test]
fn caps_are_kept_and_counted() {
    let long = "word ".repeat(300_000);
    cuts(&format!("<p>{long}"), &[("text", 1)]);
    cuts(&format!("<title>{}</title>", &long[..5_000]), &[("title", 1)]);
    let html = format!("<a href=x>{}</a>", "é".repeat(201));
    cuts(&html, &[("anchor", 1)]);
    assert_eq!(extract(html.as_bytes()).outlinks[0].anchor.chars().count(), 200);
    cuts(&format!("<a href='{}'>a</a>", "x".repeat(9_000)), &[("url", 1)]);
    let pair = |n: u32| [format!("<a href={n}>a</a>"), format!("<a href={n}>b</a>")];
    let many: String = (0..2_005).flat_map(pair).collect();
    cuts(&many, &[("outlinks", 10)]);
    assert_eq!(extract(many.as_bytes()).outlinks.len(), 4_000);
}

#[test]
fn malformed_documents_are_read_as_far_as_they_go() {
    text("<p a='>x", "");
    text("a<", "a<");
    text("a</", "a</");
    text("<!-- never closed", "");
    text("<>a</>b", "<>ab");
    text("<p <b>a", "a");
    text(&format!("{}x{}", "<div><b>".repeat(100_000), "</div>".repeat(50_000)), "x");
    text(&format!("<p {}>x", "a=b ".repeat(100_000)), "x");
    text(&"</p>".repeat(100_000), "");
}

#[test]
fn nesting_without_bounds_is_refused() {
    let html = "<b>".repeat(4_000_000);
    assert!(extract_html(html.as_bytes(), &Url::parse(DOCUMENT).unwrap(), None).is_err());
}
