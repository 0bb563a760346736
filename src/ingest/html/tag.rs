//! The elements that matter to the reader of a page, by name.

/// What an element means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// `a`
    Link,
    /// `area`
    Area,
    /// `img`
    Image,
    /// `base`
    Base,
    /// `meta`
    Meta,
    /// `link`
    Relation,
    /// `title`
    Title,
    /// `template`
    Inert,
    /// `script` and `style`
    Raw,
    /// `svg`, a drawing with a title, scripts and styles of its own
    Drawing,
    /// `p`, which ends at the next block
    Paragraph,
    /// `html` and `body`
    Root,
    /// `frame` and `iframe`, whose source a crawler follows
    Frame,
    /// Any other element that starts a line of its own or a cell
    Block,
    /// Any other element
    Inline,
}

impl Tag {
    /// By its name in lower case.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"a" => Self::Link,
            b"area" => Self::Area,
            b"img" => Self::Image,
            b"base" => Self::Base,
            b"meta" => Self::Meta,
            b"link" => Self::Relation,
            b"title" => Self::Title,
            b"template" => Self::Inert,
            b"script" | b"style" => Self::Raw,
            b"svg" => Self::Drawing,
            b"p" => Self::Paragraph,
            b"frame" | b"iframe" => Self::Frame,
            b"html" | b"body" => Self::Root,
            b"address" | b"article" | b"aside" | b"blockquote" | b"br" | b"button" | b"caption"
            | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
            | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"h1" | b"h2"
            | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"header" | b"hgroup" | b"hr"
            | b"input" | b"legend" | b"li" | b"listing" | b"main" | b"menu" | b"nav"
            | b"noscript" | b"object" | b"ol" | b"optgroup" | b"option" | b"plaintext" | b"pre"
            | b"search" | b"section" | b"select" | b"summary" | b"table" | b"tbody" | b"td"
            | b"text" | b"textarea" | b"tfoot" | b"th" | b"thead" | b"tr" | b"ul" | b"video"
            | b"xmp" => Self::Block,
            _ => Self::Inline,
        }
    }

    /// Whether text before and after the element's start or end stands apart.
    pub(super) fn breaks_text(self) -> bool {
        matches!(self, Self::Block | Self::Paragraph | Self::Drawing | Self::Frame)
    }
}

/// The lower-case name at the start of a tag, behind its `<` or `</`; names longer than any that
/// matters are cut.
pub(super) fn name_of(tag: &[u8]) -> Name {
    let mut name = Name { bytes: [0; 12], len: 0 };
    let end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    for &byte in tag.iter().take_while(|byte| !end(byte)).take(12) {
        name.bytes[name.len] = byte.to_ascii_lowercase();
        name.len += 1;
    }
    name
}

/// A short name that lives on the stack.
pub(super) struct Name {
    bytes: [u8; 12],
    len: usize,
}

impl std::ops::Deref for Name {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
