//! Reads one HTML document with `lol_html`, in one pass.
//!
//! `lol_html` is a tokenizer with a stack of open elements, not a tree builder: an element left
//! open ends with its parent. Links are closed by the next link, as in a browser, and a hidden
//! paragraph by the next block.
//!
//! Visible is what no `script`, `style`, `noscript`, `template`, `iframe`, SVG title or `hidden`
//! attribute holds; style sheets are not read. Links inside hidden elements are kept (menus open
//! on a click), those inside `template` and `noscript` are not.

use std::cell::RefCell;
use std::rc::Rc;

use encoding_rs::Encoding;
use lol_html::html_content::{Element, TextChunk, TextType};
use lol_html::{HtmlRewriter, MemorySettings, Settings, doc_text, element};
use prospect_index::limits;
use url::Url;

use super::page::HtmlPage;
use super::state::HtmlState;
use super::tag::{Tag, name_of};
use crate::ingest::charset;

/// What the parser may hold of one document: an unfinished token, which may be all of it, and the
/// stack of open elements.
const PARSER_BYTES: usize = limits::BOUNDS.html_bytes + (96 << 20);

/// A document that is not read to its end.
#[derive(Debug, thiserror::Error)]
#[error("the parser gave up: {0}")]
pub(crate) struct HtmlError(String);

/// Reads the HTML document `bytes`, found at `document_url`: title, visible text, links,
/// canonical URL and robots directives. `said` is the encoding that the server named.
///
/// Never fails on malformed markup or encoding; undecodable bytes become U+FFFD.
///
/// # Errors
/// The document is nested so deeply that the parser runs out of the memory it may use (far beyond
/// 100,000 open elements).
pub(crate) fn extract_html(
    bytes: &[u8],
    document_url: &Url,
    said: Option<&'static Encoding>,
) -> Result<HtmlPage, HtmlError> {
    let (html, encoding) = charset::to_utf8(bytes, said, document_url);
    let state = Rc::new(RefCell::new(HtmlState::default()));
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES))
        .append_document_content_handler(doc_text!(|chunk| {
            on_text(&mut state.borrow_mut(), &html, chunk);
            Ok(())
        }))
        .append_element_content_handler(element!("*", |element| {
            on_element(&state, &html, element);
            Ok(())
        }));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(&html).map_err(|error| HtmlError(error.to_string()))?;
    rewriter.end().map_err(|error| HtmlError(error.to_string()))?;
    let state = std::mem::take(&mut *state.borrow_mut());
    Ok(state.finish(document_url, encoding))
}

fn on_text(state: &mut HtmlState, html: &[u8], chunk: &TextChunk<'_>) {
    // The parser ends most text nodes with an empty chunk.
    if chunk.as_str().is_empty() && !state.is_reference_open() {
        return;
    }
    let place = chunk.source_location().bytes();
    state.skip_markup(html.get(state.text_end()..place.start).unwrap_or_default(), place.end);
    let last = chunk.last_in_text_node();
    match chunk.text_type() {
        // Scripts, style sheets, frames and what is shown without scripts.
        TextType::ScriptData | TextType::RawText => {}
        TextType::Data | TextType::RCData => state.text(chunk.as_str(), last),
        TextType::PlainText | TextType::CDataSection => state.literal_text(chunk.as_str()),
    }
}

fn on_element(state: &Rc<RefCell<HtmlState>>, html: &[u8], element: &mut Element<'_, '_>) {
    let source = html.get(element.source_location().bytes()).unwrap_or_default();
    let tag = Tag::of(&name_of(source.get(1..).unwrap_or_default()));
    let (end, hidden_end) = {
        let mut state = state.borrow_mut();
        let attribute = |name: &str| attribute(element, source, name);
        let end = state.start(tag, &attribute);
        let hidden = mentions(source, "hidden") && element.has_attribute("hidden");
        (end, if hidden { state.start_hidden(tag) } else { None })
    };
    for end in [end, hidden_end].into_iter().flatten() {
        let Some(handlers) = element.end_tag_handlers() else {
            state.borrow_mut().end(end);
            continue;
        };
        let state = Rc::clone(state);
        handlers.push(Box::new(move |_| {
            state.borrow_mut().end(end);
            Ok(())
        }));
    }
}

/// The value of an attribute of an element with this `source`, decoded.
fn attribute(element: &Element<'_, '_>, source: &[u8], name: &str) -> Option<String> {
    let value = if mentions(source, name) { element.get_attribute(name) } else { None };
    value.map(super::text::attribute)
}

/// Looking at the tag's bytes first spares most elements the parsing of their attributes.
fn mentions(tag: &[u8], name: &str) -> bool {
    let name = name.as_bytes();
    let first = name[0];
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), tag).any(|at| {
        tag.get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}
