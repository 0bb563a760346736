//! The bytes of a WARC file, decompressed member by member.
//!
//! A file is plain, or members of gzip or frames of zstd one after another: one for each record, as the
//! standard asks, or one for all, or any number that pays no heed to records. A damaged member ends where it
//! is damaged, and reading goes on at the next one that starts behind its own start. Knows no record.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use prospect_index::limits::BOUNDS;

use crate::ingest::input::{InputCompression, explained};

/// How far back a damaged member is searched for the start of the next: damage may be noticed some way
/// behind where it is.
const KEPT_BYTES: usize = 1 << 20;
const READ_BYTES: usize = 128 << 10;
/// First bytes of a frame that holds a dictionary of the frames behind it (IIPC, zstd for WARC).
pub(in crate::ingest) const DICTIONARY_MAGIC: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Longest dictionary: the largest that the reference tools train is some hundred kilobytes.
const DICTIONARY_BYTES: u64 = 64 << 20;

/// What there was to read.
#[derive(Debug)]
pub(super) enum Piece {
    /// Bytes, which were appended.
    Bytes,
    /// A member ended, and another one may follow.
    MemberEnd,
    /// The rest of the member cannot be decoded.
    Damaged(String),
    /// The input ends.
    End,
}

/// A stream of members.
pub(super) struct Members {
    compression: InputCompression,
    dictionary: Vec<u8>,
    state: State,
}

enum State {
    /// Before a member.
    Between(Raw),
    Plain(Raw),
    Gzip(GzDecoder<Raw>),
    Zstd(zstd::Decoder<'static, Raw>),
    /// The decoder could not be made, or everything was read.
    Done,
}

impl Members {
    pub(super) fn new(reader: Box<dyn Read + Send>, compression: InputCompression) -> Self {
        let raw = Raw { inner: reader, bytes: Vec::new(), at: 0, member: Some(0), failed: None };
        Self { compression, dictionary: Vec::new(), state: State::Between(raw) }
    }

    /// Whether the end of a member tells that nothing of it is missing.
    pub(super) fn is_checked(&self) -> bool {
        self.compression != InputCompression::Plain
    }

    /// Appends some of what comes next to `buffer`.
    ///
    /// # Errors
    /// The file cannot be read; what is in it is no error.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Piece> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Done => Ok(Piece::End),
            State::Between(raw) => self.start(raw, buffer),
            State::Plain(mut raw) => {
                let bytes = raw.fill_buf()?;
                if bytes.is_empty() {
                    return Ok(Piece::End);
                }
                let count = bytes.len();
                buffer.extend_from_slice(bytes);
                raw.consume(count);
                self.state = State::Plain(raw);
                Ok(Piece::Bytes)
            }
            State::Gzip(decoder) => {
                self.decode(decoder, buffer, State::Gzip, GzDecoder::into_inner)
            }
            State::Zstd(decoder) => {
                self.decode(decoder, buffer, State::Zstd, zstd::Decoder::finish)
            }
        }
    }

    /// Reads on with a decoder, which is kept as a state while its member lasts, and taken apart then.
    fn decode<D: Read>(
        &mut self,
        mut decoder: D,
        buffer: &mut Vec<u8>,
        keep: fn(D) -> State,
        take_apart: fn(D) -> Raw,
    ) -> io::Result<Piece> {
        match append(&mut decoder, buffer) {
            Ok(0) => {
                self.state = State::Between(take_apart(decoder));
                Ok(Piece::MemberEnd)
            }
            Ok(_) => {
                self.state = keep(decoder);
                Ok(Piece::Bytes)
            }
            Err(error) => self.damaged(take_apart(decoder), &explained(error)),
        }
    }

    fn start(&mut self, mut raw: Raw, buffer: &mut Vec<u8>) -> io::Result<Piece> {
        if self.compression == InputCompression::Zstd {
            self.skip_frames(&mut raw)?;
        }
        if raw.fill_buf()?.is_empty() {
            return Ok(Piece::End);
        }
        if !raw.has_start(self.compression)? {
            // The one before may have been damaged so that it swallowed the start of this one unnoticed.
            return self.go_on(raw, "is damaged (no member starts where one ends)");
        }
        raw.member = Some(raw.at);
        self.state = match self.compression {
            InputCompression::Plain => State::Plain(raw),
            InputCompression::Gzip => State::Gzip(GzDecoder::new(raw)),
            InputCompression::Zstd => {
                let mut decoder =
                    zstd::Decoder::with_dictionary(raw, &self.dictionary)?.single_frame();
                decoder.window_log_max(BOUNDS.zstd_window_log)?;
                State::Zstd(decoder)
            }
        };
        self.read(buffer)
    }

    fn damaged(&mut self, mut raw: Raw, error: &io::Error) -> io::Result<Piece> {
        if let Some(failed) = raw.failed.take() {
            return Err(failed);
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            self.go_on(raw, "ends too early")
        } else if error.kind() == io::ErrorKind::Unsupported {
            self.go_on(raw, &error.to_string())
        } else {
            self.go_on(raw, &format!("is damaged ({error})"))
        }
    }

    /// Goes on behind what is damaged.
    fn go_on(&mut self, mut raw: Raw, what: &str) -> io::Result<Piece> {
        if raw.go_to_next(self.compression)? {
            self.state = State::Between(raw);
        }
        Ok(Piece::Damaged(format!("the {} data {what}", self.compression.name())))
    }

    /// Skips frames without data; what one of them says of a dictionary holds for all that follow.
    fn skip_frames(&mut self, raw: &mut Raw) -> io::Result<()> {
        while let Some(head) = raw.peek::<8>()? {
            let [kind, a, b, c, size @ ..] = head;
            if (a, b, c) != (0x2a, 0x4d, 0x18) || !(0x50..=0x5f).contains(&kind) {
                break;
            }
            let size = u64::from(u32::from_le_bytes(size));
            raw.consume(8);
            if [kind, a, b, c] == DICTIONARY_MAGIC && size <= DICTIONARY_BYTES {
                let mut dictionary = Vec::new();
                raw.by_ref().take(size).read_to_end(&mut dictionary)?;
                let dictionary = unpacked(dictionary);
                // Frames that need one that is damaged are damaged ones.
                let is_usable = zstd::Decoder::with_dictionary(io::empty(), &dictionary).is_ok();
                self.dictionary = if is_usable { dictionary } else { Vec::new() };
            } else {
                io::copy(&mut raw.by_ref().take(size), &mut io::sink())?;
            }
        }
        Ok(())
    }
}

/// A dictionary, which may be compressed itself.
fn unpacked(dictionary: Vec<u8>) -> Vec<u8> {
    if !dictionary.starts_with(&ZSTD_MAGIC) {
        return dictionary;
    }
    let mut unpacked = Vec::new();
    match zstd::Decoder::new(dictionary.as_slice()) {
        // What cannot be decoded makes the frames that need it damaged ones.
        Ok(decoder) => match decoder.take(DICTIONARY_BYTES).read_to_end(&mut unpacked) {
            Ok(_) => unpacked,
            Err(_) => dictionary,
        },
        Err(_) => dictionary,
    }
}

/// Appends one read of `reader` to `buffer`.
fn append(reader: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let start = buffer.len();
    buffer.resize(start + READ_BYTES, 0);
    let read = loop {
        match reader.read(&mut buffer[start..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    buffer.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}

/// The compressed bytes, the last of them kept.
struct Raw {
    inner: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    /// What is consumed of `bytes`.
    at: usize,
    /// Where the member starts; none once its start is no longer kept.
    member: Option<usize>,
    /// Why the file could not be read; decoders may report it as damage.
    failed: Option<io::Error>,
}

impl Raw {
    /// Reads more behind what is there; false at the end of the file.
    fn more(&mut self) -> io::Result<bool> {
        if self.at > 2 * KEPT_BYTES {
            let drop = self.at - KEPT_BYTES;
            self.bytes.drain(..drop);
            self.at -= drop;
            self.member = self.member.and_then(|member| member.checked_sub(drop));
        }
        match append(&mut self.inner, &mut self.bytes) {
            Ok(count) => Ok(count > 0),
            Err(error) => {
                self.failed = Some(io::Error::new(error.kind(), error.to_string()));
                Err(error)
            }
        }
    }

    /// The next bytes, not consumed; none if there are fewer.
    fn peek<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        while self.bytes.len() < self.at + N {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(self.bytes[self.at..].first_chunk().copied())
    }

    /// Whether what comes next may be a member.
    fn has_start(&mut self, compression: InputCompression) -> io::Result<bool> {
        Ok(match compression {
            InputCompression::Plain => true,
            InputCompression::Gzip => self.peek()? == Some([0x1f, 0x8b, 8]),
            InputCompression::Zstd => self.peek()? == Some(ZSTD_MAGIC),
        })
    }

    /// Goes to the first start of a member behind that of the damaged one; false if there is none.
    fn go_to_next(&mut self, compression: InputCompression) -> io::Result<bool> {
        // Where the start is no longer kept, all that is kept lies behind it.
        self.at = self.member.map_or(0, |member| member + 1);
        loop {
            if let Some(found) = next_start(&self.bytes[self.at..], compression) {
                self.at += found;
                return Ok(true);
            }
            // The start may lie across what is there and what is not.
            self.at = self.bytes.len().saturating_sub(START_BYTES - 1).max(self.at);
            self.member = None;
            if !self.more()? {
                return Ok(false);
            }
        }
    }
}

/// Bytes that a start of a member is told by.
const START_BYTES: usize = 10;

/// Where the first member starts in `bytes`.
fn next_start(bytes: &[u8], compression: InputCompression) -> Option<usize> {
    match compression {
        InputCompression::Plain => None,
        // Magic, deflate, no reserved flag; then, behind the time, what compressors and systems are known.
        InputCompression::Gzip => bytes.windows(START_BYTES).position(|head| {
            head[..3] == [0x1f, 0x8b, 8]
                && head[3] < 0x20
                && matches!(head[8], 0 | 2 | 4)
                && matches!(head[9], 0..=13 | 255)
        }),
        InputCompression::Zstd => {
            bytes.windows(START_BYTES).position(|head| head.starts_with(&ZSTD_MAGIC))
        }
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Raw {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.bytes.len() {
            self.more()?;
        }
        Ok(&self.bytes[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}
