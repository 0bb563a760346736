//! One JSON array, element by element: only the element at hand is held, whatever the length of the
//! array. Where an element ends is told by its brackets and quotation marks; whether it is JSON, its
//! reader finds out.

use std::io::{self, BufRead};

use prospect_index::limits;

use super::DocumentError;
use super::objects::{JsonToken, Texts};
use super::text_stream::TextStream;

pub(super) struct JsonArray {
    stream: TextStream,
    /// The line at hand, from 1.
    line: u64,
    elements: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Behind `[`.
    First,
    /// Behind an element.
    Next,
    Ended,
}

/// What ends an element.
enum End {
    Comma,
    Bracket,
    File,
}

impl JsonArray {
    pub(super) fn new(stream: TextStream) -> Result<Self, DocumentError> {
        let mut own = Self { stream, line: 1, elements: 0, state: State::First };
        match own.skip_blank()? {
            Some(b'[') => own.stream.reader.consume(1),
            Some(_) => {
                let (path, found) = (own.stream.name.to_string(), "something else".to_owned());
                return Err(DocumentError::WrongFormat { path, expected: "a JSON array", found });
            }
            None => return Err(DocumentError::Empty { path: own.stream.name.to_string() }),
        }
        Ok(own)
    }

    /// The next byte that is not white space; it is not taken.
    fn skip_blank(&mut self) -> Result<Option<u8>, DocumentError> {
        loop {
            let available = match self.stream.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.stream.error(self.line, error)),
            };
            if available.is_empty() {
                return Ok(None);
            }
            let blank = available.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = available.get(blank).copied();
            self.line += newlines(&available[..blank]);
            self.stream.reader.consume(blank);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn fault(&self, what: &'static str) -> DocumentError {
        let path = self.stream.name.to_string();
        DocumentError::Array { path, line: self.line, what, elements: self.elements }
    }

    /// Reads the element at hand into `text` while it fits; gives what follows it, and whether it was
    /// whole.
    fn element(&mut self, text: &mut Vec<u8>) -> Result<(End, bool), DocumentError> {
        let (mut depth, mut quoted, mut escaped, mut whole) = (0u64, false, false, true);
        loop {
            let available = match self.stream.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.stream.error(self.line, error)),
            };
            if available.is_empty() {
                return Ok((End::File, whole));
            }
            let mut end = None;
            let mut used = 0;
            for &byte in available {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if quoted => escaped = true,
                    b'"' => quoted = !quoted,
                    _ if quoted => {}
                    b',' if depth == 0 => end = Some(End::Comma),
                    b']' if depth == 0 => end = Some(End::Bracket),
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if end.is_some() {
                    break;
                }
                used += 1;
            }
            if text.len() + used > limits::BOUNDS.line_bytes {
                whole = false;
                text.clear();
            }
            if whole {
                text.extend_from_slice(&available[..used]);
            }
            self.line += newlines(&available[..used]);
            self.stream.reader.consume(used);
            if let Some(end) = end {
                self.stream.reader.consume(1);
                return Ok((end, whole));
            }
        }
    }
}

impl Texts for JsonArray {
    const MAY_BE_EMPTY: bool = true;

    fn next(&mut self) -> Result<JsonToken, DocumentError> {
        if self.state == State::Ended {
            return Ok(JsonToken::End);
        }
        match self.skip_blank()? {
            None => return Err(self.fault("the JSON array is not closed with ]")),
            Some(b']') if self.state == State::First => {
                self.stream.reader.consume(1);
                self.state = State::Ended;
                return self.nothing_more().map(|()| JsonToken::End);
            }
            Some(_) => {}
        }
        let line = self.line;
        let mut text = Vec::new();
        let (end, whole) = self.element(&mut text)?;
        text.truncate(text.trim_ascii_end().len());
        match end {
            End::File => return Err(self.fault("the JSON array is not closed with ]")),
            End::Comma => self.state = State::Next,
            End::Bracket => {
                self.state = State::Ended;
                self.nothing_more()?;
            }
        }
        self.elements += 1;
        Ok(if whole { JsonToken::Text(text, line) } else { JsonToken::TooLong(line) })
    }

    fn stream(&self) -> &TextStream {
        &self.stream
    }
}

impl JsonArray {
    fn nothing_more(&mut self) -> Result<(), DocumentError> {
        match self.skip_blank()? {
            None => Ok(()),
            Some(_) => Err(self.fault("something follows the end of the JSON array")),
        }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
