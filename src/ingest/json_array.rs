//! One JSON array, element by element: only the element at hand is held, whatever the length of the array. Where an
//! element ends is told by its brackets and quotation marks; whether it is JSON, its reader finds out.

use std::io::{self, BufRead};

/// What was read of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// The text of an element was appended, which starts in this line, from 1.
    Whole(u64),
    /// An element that starts in this line has so many bytes, more than the cap; nothing was appended.
    TooLong(u64, u64),
    /// The array is closed, and nothing follows.
    End,
}

/// Why an array cannot be read on.
#[derive(Debug)]
pub(crate) enum ArrayError {
    /// The reader failed.
    Io(io::Error),
    /// It is none, for this reason.
    Fault(&'static str),
}

impl From<io::Error> for ArrayError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A place in an array.
pub(crate) struct JsonArray {
    /// The line at hand, from 1.
    pub(crate) line: u64,
    /// Elements so far.
    pub(crate) elements: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Behind `[`.
    First,
    /// Behind a comma.
    Next,
    /// Behind `]`.
    Closed,
    Ended,
}

/// What ends an element.
enum Closing {
    Comma,
    Bracket,
    File,
}

const OPEN: &str = "the JSON array is not closed with ]";
const MORE: &str = "something follows the end of the JSON array";

impl JsonArray {
    /// Takes the bracket that opens an array, if the first character is one.
    ///
    /// # Errors
    /// Those of `reader`.
    pub(crate) fn open(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut array = Self { line: 1, elements: 0, state: State::First };
        if array.skip_blank(reader)? != Some(b'[') {
            return Ok(None);
        }
        reader.consume(1);
        Ok(Some(array))
    }

    /// Reads the next element, and appends it to `text` if it has at most `cap` bytes.
    ///
    /// # Errors
    /// Those of `reader`; the array is not closed, or something follows it.
    pub(crate) fn next(
        &mut self,
        reader: &mut impl BufRead,
        cap: usize,
        text: &mut Vec<u8>,
    ) -> Result<Element, ArrayError> {
        if self.state == State::Ended {
            return Ok(Element::End);
        }
        match (self.skip_blank(reader)?, self.state) {
            (None, State::Closed) => return Ok(Element::End),
            (Some(_), State::Closed) => return Err(self.fault(MORE)),
            (None, _) => return Err(self.fault(OPEN)),
            (Some(b']'), State::First) => {
                reader.consume(1);
                self.state = State::Closed;
                return self.next(reader, cap, text);
            }
            _ => {}
        }
        let (line, start) = (self.line, text.len());
        let (closing, bytes) = self.element(reader, cap, text)?;
        match closing {
            Closing::File => {
                text.truncate(start);
                return Err(self.fault(OPEN));
            }
            Closing::Comma => self.state = State::Next,
            Closing::Bracket => self.state = State::Closed,
        }
        self.elements += 1;
        if bytes > cap as u64 {
            return Ok(Element::TooLong(line, bytes));
        }
        text.truncate(start + text[start..].trim_ascii_end().len());
        Ok(Element::Whole(line))
    }

    /// The next byte that is not white space; it is not taken.
    fn skip_blank(&mut self, reader: &mut impl BufRead) -> io::Result<Option<u8>> {
        loop {
            let available = available(reader)?;
            if available.is_empty() {
                return Ok(None);
            }
            let blank = available.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = available.get(blank).copied();
            self.line += newlines(&available[..blank]);
            reader.consume(blank);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Appends the element at hand to `text` while it is within `cap`; gives what follows it, and its bytes.
    fn element(
        &mut self,
        reader: &mut impl BufRead,
        cap: usize,
        text: &mut Vec<u8>,
    ) -> io::Result<(Closing, u64)> {
        let (start, mut bytes, mut place) = (text.len(), 0, Within::default());
        loop {
            let available = available(reader)?;
            if available.is_empty() {
                return Ok((Closing::File, bytes));
            }
            let end = available.iter().position(|byte| place.ends_at(*byte));
            let used = end.unwrap_or(available.len());
            bytes += used as u64;
            if bytes > cap as u64 {
                text.truncate(start);
            } else {
                text.extend_from_slice(&available[..used]);
            }
            self.line += newlines(&available[..used]);
            let closing = end.map(|at| match available[at] {
                b',' => Closing::Comma,
                _ => Closing::Bracket,
            });
            reader.consume(used + usize::from(closing.is_some()));
            if let Some(closing) = closing {
                return Ok((closing, bytes));
            }
        }
    }

    /// Nothing is read behind a fault.
    fn fault(&mut self, what: &'static str) -> ArrayError {
        self.state = State::Ended;
        ArrayError::Fault(what)
    }
}

/// Where in an element a byte stands.
#[derive(Default)]
struct Within {
    depth: u64,
    quoted: bool,
    escaped: bool,
}

impl Within {
    /// Whether the element ends before this byte, which is the one after those that were asked for before.
    fn ends_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b',' | b']' if self.depth == 0 => return true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
    }
}

/// What the reader has at hand; nothing at the end.
fn available(reader: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // Borrowed anew, since the borrow of a loop would not end.
            Ok(_) => return reader.fill_buf(),
        }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of an array, one character at a time: elements with their lines, those over `cap` with their
    /// length, and how it ends.
    fn read(input: &str, cap: usize) -> String {
        let mut reader = io::BufReader::with_capacity(1, input.as_bytes());
        let Some(mut array) = JsonArray::open(&mut reader).unwrap() else { return "none".into() };
        let mut shown = Vec::new();
        loop {
            let mut text = b"before ".to_vec();
            let found = match array.next(&mut reader, cap, &mut text) {
                Ok(Element::Whole(line)) => format!("{line}:{}", String::from_utf8(text).unwrap()),
                Ok(Element::TooLong(line, bytes)) => format!("{line}!{bytes}"),
                Ok(Element::End) => break,
                Err(ArrayError::Fault(what)) => what.to_owned(),
                Err(ArrayError::Io(error)) => panic!("{error}"),
            };
            shown.push(found.replace("before ", ""));
        }
        shown.join(" | ")
    }

    #[test]
    fn elements_end_at_their_comma_and_the_array_at_its_bracket() {
        for (input, expected) in [
            ("[]", ""),
            ("  [ \n ] \n", ""),
            ("{}", "none"),
            ("", "none"),
            ("[1,\n {\"a\": [1, \"]},\\\"\"]}\n, []]", "1:1 | 2:{\"a\": [1, \"]},\\\"\"]} | 3:[]"),
            ("[123456789012345678901,2]", "1!21 | 1:2"),
            ("[1,2", &format!("1:1 | {OPEN}")),
            ("[1,", &format!("1:1 | {OPEN}")),
            ("[", OPEN),
            ("[1] 2", &format!("1:1 | {MORE}")),
            ("[] ,", MORE),
        ] {
            assert_eq!(read(input, 20), expected, "{input}");
        }
    }
}
