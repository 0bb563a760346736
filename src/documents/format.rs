//! Which format a file is in: as the user says, by its name, or by its first bytes.

use std::path::Path;

use crate::ingest::input;

/// A format of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFormat {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON array of objects.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// WARC: the pages that an archive holds. It is read and not written.
    Warc,
}

/// Compression of a text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// None.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl DocumentFormat {
    /// Its name, and the extension of its files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Warc => "warc",
        }
    }

    /// For messages.
    pub(super) const fn shown(self) -> &'static str {
        match self {
            Self::Parquet => "a Parquet file",
            Self::Csv => "CSV with a header",
            Self::Json => "a JSON array",
            Self::JsonLines => "JSON lines",
            Self::Warc => "WARC",
        }
    }

    /// By the extension of a name, below `.gz` or `.zst`. `.json` may be an array or lines.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "parquet" | "pq" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "warc" | "wat" | "wet" => Some(Self::Warc),
            _ => None,
        }
    }

    /// By the first bytes, decompressed; CSV cannot be told.
    pub(super) fn of_head(head: &[u8]) -> Option<Self> {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        match text {
            _ if head.starts_with(b"PAR1") => Some(Self::Parquet),
            _ if head.starts_with(b"WARC/") => Some(Self::Warc),
            [b'[', ..] => Some(Self::Json),
            [b'{', ..] => Some(Self::JsonLines),
            _ => None,
        }
    }
}

impl Compression {
    /// By the extension of a name.
    pub(crate) fn of_name(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// The extension, with its dot.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}

impl From<input::InputCompression> for Compression {
    fn from(compression: input::InputCompression) -> Self {
        match compression {
            input::InputCompression::Plain => Self::Plain,
            input::InputCompression::Gzip => Self::Gzip,
            input::InputCompression::Zstd => Self::Zstd,
        }
    }
}

/// Whether columns and their types must be looked for before the first row can be written.
pub(crate) const fn needs_shape(from: DocumentFormat, to: DocumentFormat) -> bool {
    match from {
        DocumentFormat::Parquet | DocumentFormat::Warc => false,
        DocumentFormat::Csv => !matches!(to, DocumentFormat::Csv),
        DocumentFormat::Json | DocumentFormat::JsonLines => {
            matches!(to, DocumentFormat::Csv | DocumentFormat::Parquet)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell_the_format() {
        let cases = [
            ("a.parquet", Some(DocumentFormat::Parquet)),
            ("a.CSV.gz", Some(DocumentFormat::Csv)),
            ("x/a.jsonl.zst", Some(DocumentFormat::JsonLines)),
            ("a.json", Some(DocumentFormat::Json)),
            ("a.warc.gz", Some(DocumentFormat::Warc)),
            ("a.warc.wet.zst", Some(DocumentFormat::Warc)),
            ("a.gz", None),
            ("a", None),
        ];
        for (name, expected) in cases {
            assert_eq!(DocumentFormat::of_name(Path::new(name)), expected, "{name}");
        }
        assert_eq!(DocumentFormat::of_head(b"\xef\xbb\xbf \n[{"), Some(DocumentFormat::Json));
        assert_eq!(DocumentFormat::of_head(b"id,title"), None);
    }
}
