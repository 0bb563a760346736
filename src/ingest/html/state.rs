//! What is known of a document while it is read: fed with start tags, texts and ends of elements,
//! it ends as an [`HtmlPage`]. Knows the meaning of elements, not the parser.

use encoding_rs::Encoding;
use prospect_index::limits;
use url::Url;

use super::link::{ANCHOR_BYTES, Attribute, RawLink, has_word, redirect_target};
use super::page::HtmlPage;
use super::tag::{Tag, name_of};
use super::text::{Collapsed, References};
use crate::ingest::record::{Cuts, Links, Spelling, is_web, resolved, without_fragment};

/// What servers call the page of a folder.
const HOME: [&str; 4] = ["index", "home", "default", "main"];
/// Parameters that say where somebody came from.
const TRACKING: [&str; 4] = ["gclid", "fbclid", "msclkid", "ref"];

/// What is to happen when an element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Title,
    /// The link at this position.
    Link(usize),
    Inert,
    Drawing,
    Hidden,
    /// The hidden paragraph of this number.
    HiddenParagraph(usize),
}

#[derive(Default)]
pub(super) struct HtmlState {
    title: Option<Collapsed>,
    in_title: bool,
    text: Collapsed,
    references: References,
    /// Where in the document the text read so far ends.
    text_end: usize,
    links: Vec<RawLink>,
    open_link: Option<usize>,
    /// Open elements whose text and links are not the page's.
    inert: usize,
    /// Open SVG drawings.
    drawings: usize,
    /// Open elements whose text is not shown.
    hidden: usize,
    /// The open hidden paragraph, by number, and how many there were.
    hidden_paragraph: Option<usize>,
    hidden_paragraphs: usize,
    base: Option<String>,
    canonical: Option<String>,
    noindex: bool,
    nofollow: bool,
}

impl HtmlState {
    /// An element starts. Says what its end will mean.
    pub(super) fn start(&mut self, tag: Tag, attribute: Attribute) -> Option<End> {
        match tag {
            Tag::Title | Tag::Raw if self.drawings > 0 => return Some(self.start_inert()),
            Tag::Inert => return Some(self.start_inert()),
            Tag::Title => return Some(self.start_title()),
            Tag::Drawing => {
                self.start_block();
                self.drawings += 1;
                return Some(End::Drawing);
            }
            Tag::Paragraph | Tag::Block => self.start_block(),
            Tag::Frame => {
                self.start_block();
                self.frame(attribute);
            }
            Tag::Raw | Tag::Root | Tag::Inline => {}
            _ if self.inert > 0 => {}
            Tag::Link => return self.start_link(attribute),
            Tag::Area => self.area(attribute),
            Tag::Image => self.image(attribute),
            Tag::Base => {
                if self.base.is_none() {
                    self.base = attribute("href");
                }
            }
            Tag::Meta => self.meta(attribute),
            Tag::Relation => self.relation(attribute),
        }
        None
    }

    /// The element that just started has the attribute `hidden`.
    pub(super) fn start_hidden(&mut self, tag: Tag) -> Option<End> {
        match tag {
            // Some sites hide all of the page until a script has run.
            Tag::Root => None,
            Tag::Paragraph => {
                self.hidden_paragraphs += 1;
                self.hidden_paragraph = Some(self.hidden_paragraphs);
                Some(End::HiddenParagraph(self.hidden_paragraphs))
            }
            _ => {
                self.hidden += 1;
                Some(End::Hidden)
            }
        }
    }

    /// An element ends.
    pub(super) fn end(&mut self, end: End) {
        match end {
            End::Title => self.in_title = false,
            End::Link(at) => {
                if self.open_link == Some(at) {
                    self.open_link = None;
                }
            }
            End::Inert => self.inert = self.inert.saturating_sub(1),
            End::Drawing => self.drawings = self.drawings.saturating_sub(1),
            End::Hidden => self.hidden = self.hidden.saturating_sub(1),
            End::HiddenParagraph(number) => {
                if self.hidden_paragraph == Some(number) {
                    self.hidden_paragraph = None;
                }
            }
        }
    }

    /// Whether the text read so far may end within a character reference.
    pub(super) fn is_reference_open(&self) -> bool {
        self.references.is_open()
    }

    /// Where in the document the text read so far ends, in bytes.
    pub(super) fn text_end(&self) -> usize {
        self.text_end
    }

    /// Text is about to come that ends at `text_end`; `markup` lies between it and the last.
    ///
    /// The ends of blocks are found here, rather than asking the parser to tell of each. An end
    /// tag inside a comment or an attribute counts too, and does no more harm than a space.
    pub(super) fn skip_markup(&mut self, markup: &[u8], text_end: usize) {
        self.text_end = text_end;
        let mut tags = memchr::memchr_iter(b'<', markup);
        if tags.any(|at| ends_block(&markup[at + 1..])) {
            self.break_here();
        }
    }

    /// A piece of a text node, its character references not decoded.
    pub(super) fn text(&mut self, chunk: &str, last: bool) {
        let mut references = std::mem::take(&mut self.references);
        self.literal_text(&references.decode(chunk, last));
        self.references = references;
    }

    /// A piece of text without character references.
    pub(super) fn literal_text(&mut self, text: &str) {
        if self.in_title {
            if let Some(title) = &mut self.title {
                title.push(text, limits::BOUNDS.title_bytes);
            }
            return;
        }
        if self.inert > 0 {
            return;
        }
        if let Some(at) = self.open_link {
            self.links[at].anchor.push(text, ANCHOR_BYTES);
        }
        if self.hidden == 0 && self.hidden_paragraph.is_none() {
            self.text.push(text, limits::BOUNDS.text_bytes);
        }
    }

    fn break_here(&mut self) {
        self.text.break_here();
        if let Some(at) = self.open_link {
            self.links[at].anchor.break_here();
        }
    }

    fn start_block(&mut self) {
        self.hidden_paragraph = None;
        self.break_here();
    }

    fn start_inert(&mut self) -> End {
        self.inert += 1;
        End::Inert
    }

    fn start_title(&mut self) -> End {
        if self.title.is_some() || self.inert > 0 {
            return self.start_inert();
        }
        self.title = Some(Collapsed::default());
        self.in_title = true;
        End::Title
    }

    fn start_link(&mut self, attribute: Attribute) -> Option<End> {
        // A link cannot hold a link: the next one ends it.
        self.open_link = None;
        self.links.push(RawLink::of(attribute)?);
        let at = self.links.len() - 1;
        self.open_link = Some(at);
        Some(End::Link(at))
    }

    fn area(&mut self, attribute: Attribute) {
        if let Some(link) = RawLink::of(attribute) {
            let image_text = attribute("alt").unwrap_or_default();
            self.links.push(RawLink { image_text, ..link });
        }
    }

    fn frame(&mut self, attribute: Attribute) {
        if let Some(href) = attribute("src").filter(|_| self.inert == 0) {
            let image_text = attribute("title").unwrap_or_default();
            self.links.push(RawLink { href, image_text, ..RawLink::default() });
        }
    }

    fn image(&mut self, attribute: Attribute) {
        if let Some(at) = self.open_link
            && self.links[at].image_text.is_empty()
            && let Some(alt) = attribute("alt")
        {
            self.links[at].image_text = alt;
        }
    }

    fn meta(&mut self, attribute: Attribute) {
        let content = || attribute("content").unwrap_or_default();
        if attribute("name").is_some_and(|name| name.trim().eq_ignore_ascii_case("robots")) {
            for word in content().split([',', ' ']).map(str::trim) {
                let none = word.eq_ignore_ascii_case("none");
                self.noindex |= none || word.eq_ignore_ascii_case("noindex");
                self.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
            }
        } else if attribute("http-equiv")
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("refresh"))
            && let Some(target) = redirect_target(&content())
        {
            self.links.push(RawLink { href: target.to_owned(), ..RawLink::default() });
        }
    }

    fn relation(&mut self, attribute: Attribute) {
        if self.canonical.is_none() && has_word(attribute("rel"), "canonical") {
            self.canonical = attribute("href").filter(|href| !href.trim().is_empty());
        }
    }

    /// The page, its links resolved against the base that the document names; queries of links are of its encoding.
    pub(super) fn finish(mut self, document_url: &Url, encoding: &'static Encoding) -> HtmlPage {
        let mut cuts = Cuts::default();
        let mut title = self.title.take().unwrap_or_default().into_string();
        cuts.title(&mut title);
        let mut text = std::mem::take(&mut self.text).into_string();
        cuts.text(&mut text);
        let base = self.base.as_deref().and_then(|base| document_url.join(base.trim()).ok());
        // Every relative link costs the length of the base.
        let fits = |base: &Url| is_web(base) && base.as_str().len() <= limits::BOUNDS.url_bytes;
        let base = base.filter(fits).unwrap_or_else(|| document_url.clone());
        cuts.add("noindex", u32::from(self.noindex));
        let canonical = self.canonical_url(document_url, (&base, encoding), &mut cuts);
        let mut links = Links::new(document_url, &base, Spelling::Parsed).of_page_in(encoding);
        for mut link in self.links {
            if self.nofollow || link.nofollow {
                cuts.add("nofollow", 1);
            } else {
                let href = std::mem::take(&mut link.href);
                links.push((href, link.anchor_text()).into(), &mut cuts);
            }
        }
        let (outlinks, _) = links.finish();
        let (noindex, cuts) = (self.noindex, cuts.into_vec());
        HtmlPage { title, text, outlinks, canonical, noindex, cuts }
    }

    fn canonical_url(
        &self,
        document: &Url,
        (base, encoding): (&Url, &'static Encoding),
        cuts: &mut Cuts,
    ) -> Option<String> {
        let named = self.canonical.as_deref()?.trim();
        let url = resolved(named, Some(base), encoding).ok().filter(is_web)?;
        if url.host() != document.host() {
            cuts.add("foreign-canonical", 1);
            return None;
        }
        if url.query().is_none() && is_home(&url) && !(is_home(document) && is_tracked(document)) {
            cuts.add("home-canonical", 1);
            return None;
        }
        let url = without_fragment(url);
        (url != without_fragment(document.clone()) && url.len() <= limits::BOUNDS.url_bytes)
            .then_some(url)
    }
}

/// Whether a URL may be that of a site's home page: one that has no name, or such a one.
fn is_home(url: &Url) -> bool {
    let path = url.path().trim_matches('/');
    let name = path.split('.').next().unwrap_or_default();
    path.is_empty() || (!path.contains('/') && HOME.contains(&name.to_ascii_lowercase().as_str()))
}

/// Whether the query of a URL says nothing but where somebody came from; one that has none does not.
fn is_tracked(url: &Url) -> bool {
    url.query_pairs().all(|(key, _)| key.starts_with("utm_") || TRACKING.contains(&&*key))
}

/// Whether a tag, from behind its `<`, is the end of a block.
fn ends_block(tag: &[u8]) -> bool {
    let name = tag.strip_prefix(b"/");
    name.is_some_and(|name| Tag::of(&name_of(name)).breaks_text())
}
