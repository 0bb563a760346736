//! Lines of a byte stream, none of them held beyond a cap. Knows no format.

use std::io::{self, BufRead, Read};

/// What was read of the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Its bytes were appended, without the line end.
    Whole,
    /// It has this many bytes, more than the cap; nothing was appended.
    TooLong(u64),
    /// There is none.
    End,
}

/// Reads the next line and appends it to `buffer` if it has at most `cap` bytes; of a longer one
/// never more than `cap + 1` are held.
///
/// # Errors
/// Those of `reader`.
pub(crate) fn read_line(
    reader: &mut impl BufRead,
    cap: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<Line> {
    let start = buffer.len();
    let read = reader.by_ref().take(cap as u64 + 1).read_until(b'\n', buffer)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    } else if read > cap {
        buffer.truncate(start);
        return Ok(Line::TooLong(read as u64 + rest_of_line(reader)?));
    }
    if buffer.len() > start && buffer.last() == Some(&b'\r') {
        buffer.pop();
    }
    Ok(Line::Whole)
}

/// Skips to behind the next line end; gives the bytes skipped before it.
fn rest_of_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(skipped);
        }
        let (used, done) = match memchr::memchr(b'\n', available) {
            Some(at) => (at, true),
            None => (available.len(), false),
        };
        reader.consume(used + usize::from(done));
        skipped += used as u64;
        if done {
            return Ok(skipped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, cap: usize, expected: &str) {
        let mut reader = io::BufReader::with_capacity(3, input.as_bytes());
        let mut shown = Vec::new();
        loop {
            let mut buffer = Vec::new();
            match read_line(&mut reader, cap, &mut buffer).unwrap() {
                Line::Whole => shown.push(String::from_utf8(buffer).unwrap()),
                Line::TooLong(bytes) => shown.push(format!("!{bytes}")),
                Line::End => break,
            }
        }
        assert_eq!(shown.join("|"), expected, "{input:?} at {cap}");
    }

    #[test]
    fn lines_end_at_newlines_and_long_ones_are_skipped() {
        check("", 9, "");
        check("a", 9, "a");
        check("a\nb", 9, "a|b");
        check("a\r\nb\r\n", 9, "a|b");
        check("\n\n", 9, "|");
        check("abcd\nabc\n", 3, "!4|abc");
        check("abcdefghijk\nx\nabcdefgh", 4, "!11|x|!8");
        check("abcd", 3, "!4");
        check("abc", 3, "abc");
    }
}
