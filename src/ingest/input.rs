//! Byte streams: counted and hashed as they are read, then decompressed. Knows no format.

use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::MultiGzDecoder;
use prospect_index::limits::BOUNDS;
use xxhash_rust::xxh3::Xxh3;

const READ_BYTES: usize = 256 << 10;

/// How a stream is compressed, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputCompression {
    Plain,
    Gzip,
    Zstd,
}

impl InputCompression {
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or a skippable frame (magic 0x184D2A50 to 5F), as `zstd --long` may write.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// `raw`, decompressed. Concatenated members and frames are read as one.
    pub(crate) fn decoder<'a>(
        self,
        raw: impl Read + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let raw = BufReader::with_capacity(READ_BYTES, raw);
        Ok(match self {
            Self::Plain => Box::new(raw),
            Self::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(raw)?;
                decoder.window_log_max(BOUNDS.zstd_window_log)?;
                Box::new(Explained(decoder))
            }
        })
    }
}

/// A zstd decoder that says what a window beyond the bound needs.
struct Explained<R>(R);

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(explained)
    }
}

/// An error of a decoder. The library tells a window that is too large in words alone; it becomes
/// [`io::ErrorKind::Unsupported`] with the way out.
pub(super) fn explained(error: io::Error) -> io::Error {
    if !error.to_string().contains("too much memory") {
        return error;
    }
    let most = 1_u64 << BOUNDS.zstd_window_log >> 20;
    let what = format!(
        "needs a window of more than {most} MiB (unpack it first, or compress it again without the long mode, which takes less memory)"
    );
    io::Error::new(io::ErrorKind::Unsupported, what)
}

/// Whether text that starts so is UTF-16: by its mark, or as its ASCII has a zero byte beside each letter.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    matches!(
        head,
        [0xff, 0xfe, ..]
            | [0xfe, 0xff, ..]
            | [1..=0x7f, 0, 1..=0x7f, 0, ..]
            | [0, 1..=0x7f, 0, 1..=0x7f, ..]
    )
}

/// What was read of one raw stream so far; shared between the stream and whoever asks.
#[derive(Clone)]
pub(crate) struct Tally(Arc<Shared>);

struct Shared {
    bytes: AtomicU64,
    hash: Mutex<Xxh3>,
}

impl Tally {
    /// A tally of the stream called `name` in the fingerprint.
    pub(crate) fn new(name: &str) -> Self {
        let mut hash = Xxh3::new();
        update_with_name(&mut hash, name);
        Self(Arc::new(Shared { bytes: AtomicU64::new(0), hash: Mutex::new(hash) }))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// The fingerprint of the name and all bytes so far.
    pub(crate) fn fingerprint(&self) -> String {
        let hash = self.0.hash.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{:032x}", hash.digest128())
    }

    fn add(&self, bytes: &[u8]) {
        self.0.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.0.hash.lock().unwrap_or_else(PoisonError::into_inner).update(bytes);
    }
}

/// The fingerprint of an input of several parts, by theirs.
pub(super) fn of_parts(parts: impl Iterator<Item = String>) -> String {
    let mut hash = Xxh3::new();
    parts.for_each(|part| hash.update(part.as_bytes()));
    format!("{:032x}", hash.digest128())
}

/// Feeds a name with its length, so that names and contents cannot run into each other.
pub(crate) fn update_with_name(hash: &mut Xxh3, name: &str) {
    hash.update(&(name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
}

/// A raw stream that reports to a [`Tally`].
pub(crate) struct Tallied<R> {
    pub(crate) inner: R,
    pub(crate) tally: Tally,
}

impl<R: Read> Read for Tallied<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.tally.add(&buffer[..count]);
        Ok(count)
    }
}
