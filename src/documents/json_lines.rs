//! JSON lines: one object a line. Empty lines and CRLF line ends are fine.

use std::io;

use prospect_index::limits;

use super::DocumentError;
use super::objects::{JsonToken, Texts};
use super::text_stream::TextStream;
use crate::ingest::lines::{Line, read_line};

pub(super) struct JsonLines {
    stream: TextStream,
    line: u64,
}

impl JsonLines {
    pub(super) fn new(stream: TextStream) -> Self {
        Self { stream, line: 0 }
    }

    fn read(&mut self) -> io::Result<JsonToken> {
        loop {
            let mut text = Vec::new();
            let read = read_line(&mut self.stream.reader, limits::BOUNDS.line_bytes, &mut text)?;
            self.line += 1;
            match read {
                Line::End => return Ok(JsonToken::End),
                Line::TooLong(_) => return Ok(JsonToken::TooLong(self.line)),
                Line::Whole if text.trim_ascii().is_empty() => {}
                Line::Whole => return Ok(JsonToken::Text(text, self.line)),
            }
        }
    }
}

impl Texts for JsonLines {
    const MAY_BE_EMPTY: bool = false;

    fn next(&mut self) -> Result<JsonToken, DocumentError> {
        self.read().map_err(|error| self.stream.error(self.line + 1, error))
    }

    fn stream(&self) -> &TextStream {
        &self.stream
    }
}
