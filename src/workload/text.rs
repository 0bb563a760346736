//! Text files as they come: plain or compressed, a file or standard input.

use std::io::Read;
use std::path::Path;

use super::WorkloadError;
use crate::ingest::foreign_type;
use crate::ingest::input::is_utf16;

/// A path in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The lines of a file that say something, trimmed, as [`open_text`] reads it.
///
/// # Errors
/// See [`open_text`].
pub(crate) fn open_lines(path: &Path) -> Result<Vec<String>, WorkloadError> {
    let text = open_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// The text of a file, decompressed by its first bytes; `-` is standard input.
///
/// # Errors
/// It cannot be read, is certainly no text, or is not UTF-8.
pub(crate) fn open_text(path: &Path) -> Result<String, WorkloadError> {
    let file = shown(path);
    let failed = |source| WorkloadError::Read { file: file.clone(), source };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).map_err(failed)?;
        bytes = plain;
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        bytes = zstd::decode_all(&bytes[..]).map_err(failed)?;
    }
    if is_utf16(&bytes) {
        return Err(WorkloadError::Utf16 { file });
    }
    if let Some(found) = foreign_type(&bytes) {
        return Err(WorkloadError::Foreign { file, found });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..valid]).count();
        WorkloadError::NotUtf8 { file: file.clone(), line }
    })
}
