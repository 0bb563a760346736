//! Compression of what is written.

use std::io::{self, BufWriter, Write};

use flate2::write::GzEncoder;

use super::Compression;

type Out = BufWriter<Box<dyn Write + Send>>;

/// Bytes, compressed.
pub(super) enum Packed {
    Plain(Out),
    Gzip(GzEncoder<Out>),
    Zstd(zstd::Encoder<'static, Out>),
}

impl Packed {
    pub(super) fn new(out: Box<dyn Write + Send>, compression: Compression) -> io::Result<Self> {
        let out = BufWriter::with_capacity(256 << 10, out);
        Ok(match compression {
            Compression::Plain => Self::Plain(out),
            Compression::Gzip => Self::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Compression::Zstd => Self::Zstd(zstd::Encoder::new(out, 0)?),
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out.finish()?,
            Self::Zstd(out) => out.finish()?,
        }
        .flush()
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
        }
    }
}
