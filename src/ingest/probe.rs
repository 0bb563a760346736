//! Looks at the first bytes of an input and tells what it is: first by magic bytes, then by
//! extension, which counts more where it is that of an archive and the first bytes are of nothing certain. Reads a few kilobytes; knows formats only through [`FORMATS`].

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::input::{InputCompression, is_utf16};
use super::{FORMATS, IngestError, InputFormat, Unfit, html, urls, warc};

/// Raw bytes looked at: enough for the first block of a zstd frame (at most 128 KiB).
const RAW_HEAD_BYTES: u64 = 256 << 10;
/// Decompressed bytes looked at.
const HEAD_BYTES: u64 = 4 << 10;
const EXPECTED: &str = "JSON, WARC (both plain, .gz or .zst), Parquet or HTML";

/// An input whose first bytes have been looked at.
pub(super) struct Probe {
    /// As the user named it.
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

pub(super) enum Content {
    Directory,
    /// A file, or with `reader` a stream that can be read only once, from its start.
    Bytes {
        compression: InputCompression,
        /// The first bytes, decompressed as far as they can be.
        head: Vec<u8>,
        /// Whether it starts with a dictionary of its zstd frames, without which none can be decoded.
        has_dictionary: bool,
        /// Bytes of the file.
        size: Option<u64>,
        reader: Option<Box<dyn Read + Send>>,
    },
}

impl Probe {
    /// # Errors
    /// The path does not exist, cannot be read, or is an empty file.
    pub(super) fn of_path(path: &Path) -> Result<Self, IngestError> {
        let shown = path.display().to_string();
        let io = |source| IngestError::io(shown.clone(), 0, source);
        let metadata = std::fs::metadata(path).map_err(io)?;
        let content = if metadata.is_dir() {
            Content::Directory
        } else {
            let mut file = File::open(path).map_err(io)?;
            let raw = read_head(&mut file).map_err(io)?;
            if metadata.is_file() {
                Content::of_head(&raw, Some(metadata.len()), None)
            } else {
                // A pipe: what was read of it does not come a second time.
                let whole = Cursor::new(raw.clone()).chain(file);
                Content::of_head(&raw, None, Some(Box::new(whole)))
            }
        };
        Self { path: path.to_owned(), content }.refuse_empty()
    }

    /// # Errors
    /// The stream fails or is empty.
    pub(super) fn of_reader(
        name: &str,
        mut reader: Box<dyn Read + Send>,
    ) -> Result<Self, IngestError> {
        let raw = read_head(&mut reader).map_err(|source| IngestError::io(name, 0, source))?;
        let whole = Cursor::new(raw.clone()).chain(reader);
        let content = Content::of_head(&raw, None, Some(Box::new(whole)));
        Self { path: PathBuf::from(name), content }.refuse_empty()
    }

    fn refuse_empty(self) -> Result<Self, IngestError> {
        match &self.content {
            Content::Bytes { head, compression: InputCompression::Plain, .. }
                if head.is_empty() =>
            {
                Err(IngestError::Empty { path: self.shown() })
            }
            _ => Ok(self),
        }
    }

    /// The path, for messages.
    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// How its bytes are compressed.
    pub(super) fn compression(&self) -> InputCompression {
        match self.content {
            Content::Bytes { compression, .. } => compression,
            Content::Directory => InputCompression::Plain,
        }
    }

    /// Its bytes from the first, as they are.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(super) fn into_stream(self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self.content {
            Content::Bytes { reader: Some(reader), .. } => reader,
            _ => Box::new(File::open(&self.path)?),
        })
    }

    /// Extension without the dot, in lower case, below `.gz` or `.zst`.
    pub(super) fn extension(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_owned())
    }

    /// The format it is in.
    ///
    /// # Errors
    /// It is in none.
    pub(super) fn format(&self) -> Result<&'static InputFormat, IngestError> {
        if let Some(error) = self.refuse_utf16() {
            return Err(error);
        }
        if self.is_named_archive() {
            return Ok(&warc::FORMAT);
        }
        if let Some(format) = FORMATS.iter().find(|format| (format.recognises)(self)) {
            return Ok(format);
        }
        if let Content::Bytes { head, .. } = &self.content
            && let Some(found) = foreign_type(head)
        {
            return Err(self.wrong_type(found.to_owned(), Unfit::Foreign));
        }
        if let Content::Bytes { head, .. } = &self.content
            && let Some(format) = urls::certain_format(head)
        {
            let unfit = if format.has_statuses { Unfit::Statuses } else { Unfit::Urls };
            return Err(self.wrong_type(format!("a file of URLs ({})", format.name), unfit));
        }
        match &self.content {
            Content::Bytes { reader: Some(_), head, .. } if skip_blank(head).starts_with(b"<") => {
                Err(self.wrong_type("markup on a stream".to_owned(), Unfit::StreamedMarkup))
            }
            // Anything else on a stream is what its name says, or tried as JSON lines: nothing but its lines
            // can tell.
            Content::Bytes { reader: Some(_), .. } => {
                let named = self.by_extension().filter(|format| format.reads_compressed);
                Ok(named.unwrap_or(&FORMATS[0]))
            }
            Content::Bytes { head, compression, .. } => {
                self.format_by_extension(head, *compression)
            }
            Content::Directory => Err(IngestError::NoHtmlFiles { path: self.shown() }),
        }
    }

    fn format_by_extension(
        &self,
        head: &[u8],
        compression: InputCompression,
    ) -> Result<&'static InputFormat, IngestError> {
        let found = describe(head);
        match (self.by_extension(), compression) {
            (Some(format), _) if format.reads_compressed => Ok(format),
            (Some(format), InputCompression::Plain) => Ok(format),
            (Some(format), _) => Err(self.wrong_type(
                format!("{}-compressed {}", compression.name(), format.name),
                Unfit::Compressed,
            )),
            (None, InputCompression::Plain) => {
                Err(self.wrong_type(found.to_owned(), Unfit::Foreign))
            }
            // The content may not even be decodable so far; reading it tells what is wrong.
            (None, _) if head.is_empty() => Ok(&FORMATS[0]),
            (None, _) => Err(self
                .wrong_type(format!("{} in {} data", found, compression.name()), Unfit::Foreign)),
        }
    }

    /// Whether its name says WARC and its first bytes nothing that is certain: where the first record is damaged they
    /// may look like markup or JSON, and the others are still to be had.
    fn is_named_archive(&self) -> bool {
        let Content::Bytes { head, .. } = &self.content else { return false };
        foreign_type(head).is_none()
            && !is_other_text(skip_blank(head))
            && self.by_extension().is_some_and(|format| format.name == warc::FORMAT.name)
    }

    fn by_extension(&self) -> Option<&'static InputFormat> {
        let extension = self.extension();
        FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
    }

    /// HTML is read in any encoding; what is read by lines is UTF-8.
    fn refuse_utf16(&self) -> Option<IngestError> {
        let Content::Bytes { head, .. } = &self.content else { return None };
        let is_html = self.by_extension().is_some_and(|format| format.name == html::FORMAT.name);
        let wrong = || self.wrong_type("UTF-16 text".to_owned(), Unfit::Utf16);
        (is_utf16(head) && !is_html).then(wrong)
    }

    fn wrong_type(&self, found: String, unfit: Unfit) -> IngestError {
        IngestError::WrongType { path: self.shown(), found, expected: EXPECTED, unfit }
    }
}

impl Content {
    fn of_head(raw: &[u8], size: Option<u64>, reader: Option<Box<dyn Read + Send>>) -> Self {
        let compression = InputCompression::of(raw);
        let mut head = Vec::new();
        if let Ok(decoder) = compression.decoder(raw) {
            // An error is met again, and reported with its place, when the input is read.
            let _ = decoder.take(HEAD_BYTES).read_to_end(&mut head);
        }
        let has_dictionary = raw.starts_with(&warc::DICTIONARY_MAGIC);
        Self::Bytes { compression, head, has_dictionary, size, reader }
    }
}

fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.by_ref().take(RAW_HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// The text behind a UTF-8 byte order mark and white space.
pub(super) fn skip_blank(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

/// Types that people hand over by mistake: offset, magic bytes, name.
const FOREIGN: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ARROW1", "an Arrow file"),
    (0, b"ORC", "an ORC file"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"filedesc:", "an ARC file, of before WARC"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\0", "xz data"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x7fELF", "a program (ELF)"),
    (0, b"\x1f\x8b", "gzip data inside compressed data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data inside compressed data"),
];

/// What `head`, decompressed, is, where that is certainly none of our formats.
pub(crate) fn foreign_type(head: &[u8]) -> Option<&'static str> {
    FOREIGN
        .iter()
        .find(|(at, magic, _)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)))
        .map(|&(_, _, name)| name)
}

/// Whether a text begins as JSON, markup or a list of URLs does, by more than a character.
fn is_other_text(text: &[u8]) -> bool {
    let second = text.get(1..).unwrap_or_default().trim_ascii_start().first();
    let is_json =
        matches!((text.first(), second), (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{')));
    let start = text[..text.len().min(9)].to_ascii_lowercase();
    let begins = |with: &&str| start.starts_with(with.as_bytes());
    is_json || ["<html", "<!doctype", "<?xml", "http:", "https:"].iter().any(begins)
}

fn describe(head: &[u8]) -> &'static str {
    match skip_blank(head) {
        [b'<', ..] => "XML or unknown markup",
        _ if head.contains(&0) => "unknown binary data",
        _ => "plain text",
    }
}
