//! Sitemaps (sitemaps.org): `loc`, `lastmod` and `priority` of each `url`; of an index of sitemaps the `loc` of each
//! `sitemap` is told as what is to be fetched first.

use std::io::{self, BufRead, BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::super::BadReason;
use super::super::charset::Xml;
use super::super::record::{excerpt, page_url};
use super::{Found, UrlFormat, UrlReader, UrlRecord};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "sitemap",
    description: "XML sitemaps: loc, lastmod, priority; of an index, which sitemaps to fetch",
    has_statuses: false,
    recognises: |head| head.starts_with('<'),
    read: |reader| Box::new(Sitemap::new(reader)),
};

/// Longest element or text that is read, in bytes.
const EVENT_BYTES: usize = 1 << 20;
/// Longest text of an element, in bytes.
const TEXT_BYTES: usize = 64 << 10;

struct Sitemap {
    reader: Reader<Counted>,
    buffer: Vec<u8>,
    /// What the entry that is read says.
    entry: Option<UrlRecord>,
    /// The prefix of its name, with the colon.
    prefix: String,
    /// Text of the element that is read.
    text: String,
    /// Whether there was an entry.
    any: bool,
    ended: bool,
}

/// A stream that knows its line.
struct Counted {
    inner: BufReader<Xml<Box<dyn Read + Send>>>,
    lines: u64,
    /// Bytes since the last event: they are in memory.
    held: usize,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.held > EVENT_BYTES {
            let what = format!("more than {EVENT_BYTES} bytes without an element");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let taken = &self.inner.buffer()[..amount];
        self.lines += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.held += amount;
        self.inner.consume(amount);
    }
}

impl Sitemap {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        let inner = BufReader::with_capacity(256 << 10, Xml::new(reader));
        let mut reader = Reader::from_reader(Counted { inner, lines: 0, held: 0 });
        // What is not closed in one entry must not end the file.
        reader.config_mut().check_end_names = false;
        // Nor must a query of a URL that nobody escaped.
        reader.config_mut().allow_dangling_amp = true;
        let (buffer, prefix, text) = (Vec::new(), String::new(), String::new());
        Self { reader, buffer, entry: None, prefix, text, any: false, ended: false }
    }

    fn line(&self) -> u64 {
        self.reader.get_ref().lines + 1
    }

    /// Takes what an element says of the entry.
    fn take(&mut self, name: &str) {
        let text = std::mem::take(&mut self.text);
        let (text, Some(record)) = (text.trim(), &mut self.entry) else { return };
        match name {
            "loc" if record.url.is_empty() => text.clone_into(&mut record.url),
            "lastmod" if !text.is_empty() => record.lastmod = Some(text.to_owned()),
            "priority" => record.priority = text.parse().ok().filter(|p| (0.0..=1.0).contains(p)),
            _ => {}
        }
    }

    fn end_entry(&mut self) -> Option<Found> {
        let record = self.entry.take()?;
        self.any = true;
        let found = if record.url.contains(char::REPLACEMENT_CHARACTER) {
            // Bytes of another encoding than the file names, or a name that nobody has defined.
            let what = format!("{}: it has characters that cannot be read", excerpt(&record.url));
            Err((BadReason::InvalidUrl, what))
        } else {
            page_url(&record.url).map(|(url, _)| UrlRecord { url, ..record })
        };
        Some((self.line(), found))
    }

    /// Takes one event.
    fn step(&mut self) -> Result<Option<Found>, quick_xml::Error> {
        self.buffer.clear();
        self.reader.get_mut().held = 0;
        match self.reader.read_event_into(&mut self.buffer)? {
            Event::Start(element) => {
                let (name, local) = (element.name(), element.local_name());
                if matches!(local.as_ref(), "url" | "sitemap") {
                    let whole: &str = name.as_ref();
                    whole[..whole.len() - local.as_ref().len()].clone_into(&mut self.prefix);
                    let is_sitemap = local.as_ref() == "sitemap";
                    self.entry = Some(UrlRecord { is_sitemap, ..UrlRecord::default() });
                }
                self.text.clear();
            }
            Event::End(element) => {
                let name = element.name();
                // Elements of other vocabularies, such as those of images, have another prefix.
                if let Some(local) = name.as_ref().strip_prefix(self.prefix.as_str()) {
                    if matches!(local, "url" | "sitemap") {
                        return Ok(self.end_entry());
                    }
                    let local = local.to_owned();
                    self.take(&local);
                }
            }
            Event::Text(text) if self.text.len() < TEXT_BYTES => {
                self.text += &text;
            }
            Event::CData(text) if self.text.len() < TEXT_BYTES => {
                self.text += &text;
            }
            Event::GeneralRef(name) if self.text.len() < TEXT_BYTES => {
                let decoded = match name.resolve_char_ref()? {
                    Some(character) => Some(character.to_string()),
                    None => quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned),
                };
                self.text += decoded.as_deref().unwrap_or("\u{fffd}");
            }
            Event::Eof => {
                self.ended = true;
                if !self.any {
                    let what = "there is no url and no sitemap in it".to_owned();
                    return Ok(Some((self.line(), Err((BadReason::InvalidRecord, what)))));
                }
            }
            _ => {}
        }
        Ok(None)
    }
}

impl UrlReader for Sitemap {
    fn next(&mut self) -> io::Result<Option<Found>> {
        while !self.ended {
            match self.step() {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(quick_xml::Error::Io(error)) => {
                    return Err(io::Error::new(error.kind(), error.to_string()));
                }
                Err(error) => {
                    // Nobody knows where the next entry starts.
                    self.ended = true;
                    let what = (BadReason::InvalidRecord, format!("no XML from here on: {error}"));
                    return Ok(Some((self.line(), Err(what))));
                }
            }
        }
        Ok(None)
    }
}
