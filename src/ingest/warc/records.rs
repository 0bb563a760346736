//! Records of a WARC file: heads and blocks, whatever is wrong with them.
//!
//! A record that is cut or damaged costs itself. Reading goes on at the next head: at a line that starts with
//! `WARC/1.`, or at a member that does. Where a record's length is wrong, its block ends at the next head.
//!
//! *Memory.* Of a block at most [`BLOCK_BYTES`] are kept, whatever its length. Where something inside a
//! block looks like a head, what follows is held until the block's end, up to [`HELD_BYTES`]: so far a record
//! whose length is wrong can swallow others that come back.

use std::io;

use memchr::memmem;
use prospect_index::limits;

use super::fields::{Fields, head_end};
use super::http::is_http;
use super::members::{Members, Piece};

/// What is kept of a block: a head and a document.
pub(super) const BLOCK_BYTES: usize = limits::BOUNDS.html_bytes + HEAD_BYTES;
/// Longest head of a record, and of an HTTP message.
const HEAD_BYTES: usize = 256 << 10;
/// What is held behind something that may be the next record's head.
const HELD_BYTES: usize = 32 << 20;
/// A head, at the start of a line.
const MARK: &[u8] = b"\nWARC/1.";
/// How a record starts.
const START: &[u8] = b"WARC/";
/// Consumed bytes are dropped when there are so many of them.
const DROPPED_BYTES: usize = 1 << 20;

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    /// Its place in the file, counted from 1.
    pub(super) number: u64,
    /// Its named fields.
    pub(super) fields: Fields,
    /// Its block, as far as it is kept.
    pub(super) block: Vec<u8>,
    /// Whether its length was not what it says.
    pub(super) wrong_length: bool,
}

/// What comes next in a file.
#[derive(Debug)]
pub(super) enum Item {
    Record(Record),
    /// The record of this number is lost.
    Lost(u64, String),
}

/// Says how much of a block matters.
pub(super) trait Taste {
    /// Whether the block of a record is kept.
    fn wants(&self, fields: &Fields) -> bool;
    /// Whether a block that starts with this head, up to and with its empty line, is kept behind it.
    fn wants_body(&self, head: &[u8]) -> bool;
}

/// Reads records one after another.
pub(super) struct Records<T> {
    members: Members,
    taste: T,
    buffer: Vec<u8>,
    /// What is consumed of it.
    at: usize,
    /// What comes behind the buffer, if that is not just more bytes.
    stop: Option<Stop>,
    number: u64,
}

enum Stop {
    /// A member: the bytes that it starts with, and what stops behind them.
    Member(Vec<u8>, Option<Box<Stop>>),
    Damaged(String),
    End,
}

impl<T: Taste + Copy> Records<T> {
    pub(super) fn new(members: Members, taste: T) -> Self {
        Self { members, taste, buffer: Vec::new(), at: 0, stop: None, number: 0 }
    }

    /// The next record, or that one is lost; none at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Item>> {
        loop {
            self.at += self.blank_from(0)?;
            if self.at < self.buffer.len() {
                self.number += 1;
                return self.record().map(Some);
            }
            match self.stop.take() {
                Some(Stop::Member(bytes, next)) => self.enter(&bytes, next),
                Some(Stop::Damaged(what)) => {
                    self.number += 1;
                    return Ok(Some(Item::Lost(self.number, what)));
                }
                Some(Stop::End) | None => {
                    self.stop = Some(Stop::End);
                    return Ok(None);
                }
            }
        }
    }

    fn record(&mut self) -> io::Result<Item> {
        if !self.starts_here(0)? {
            return self.lose("here no WARC record starts");
        }
        let Some(head) = self.head()? else {
            return self.lose("its head has no end");
        };
        if let Some(found) = memmem::find(&self.buffer[self.at..self.at + head], MARK) {
            self.at += found + 1;
            return Ok(Item::Lost(self.number, "another record starts in its head".to_owned()));
        }
        let fields = Fields::parse(&self.buffer[self.at..self.at + head]);
        let length = fields.get("content-length").and_then(|length| length.parse::<u64>().ok());
        let Some(length) = length else {
            return self.lose("its head has no Content-Length");
        };
        self.at += head;
        let mut kept = Kept::new(self.taste, &fields);
        match self.block(length, &mut kept)? {
            Block::Whole | Block::OtherLength if kept.too_long_head => Ok(Item::Lost(
                self.number,
                format!("its block has a head beyond {HEAD_BYTES} bytes"),
            )),
            Block::Whole => Ok(self.given(fields, kept.block, false)),
            Block::OtherLength => Ok(self.given(fields, kept.block, true)),
            Block::Lost(what) => Ok(Item::Lost(self.number, what)),
        }
    }

    fn given(&self, fields: Fields, block: Vec<u8>, wrong_length: bool) -> Item {
        Item::Record(Record { number: self.number, fields, block, wrong_length })
    }

    /// Length of the head, its empty line included; none if it has no end.
    fn head(&mut self) -> io::Result<Option<usize>> {
        loop {
            let bytes = &self.buffer[self.at..];
            if let Some(end) = head_end(&bytes[..bytes.len().min(HEAD_BYTES)]) {
                return Ok(Some(end));
            }
            if bytes.len() >= HEAD_BYTES || !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Consumes a block, and what lies between it and the next head.
    fn block(&mut self, length: u64, kept: &mut Kept<T>) -> io::Result<Block> {
        // Read so far of the block, from `at`; and whether `at` stands at what may be the next head.
        let (mut read, mut left, mut held) = (0, length, false);
        while left > 0 && !(held && read > HELD_BYTES) {
            let there = self.buffer.len() - self.at - read;
            if there == 0 {
                if !self.fill()? {
                    break;
                }
                continue;
            }
            let take = there.min(usize::try_from(left).unwrap_or(usize::MAX));
            let start = self.at + read;
            left -= take as u64;
            if held {
                read += take;
                continue;
            }
            // A mark may lie across what was seen and what is new, or across the end of the head, if that is
            // not where it should be.
            let from = start.saturating_sub(MARK.len() - 1).max(self.at.saturating_sub(1));
            let seen = &self.buffer[from..start + take];
            let found = memmem::find(seen, MARK).map(|found| from + found + 1);
            if let Some(mark) = found {
                // What lies before the mark is the block's in any case.
                kept.push(&self.buffer[start.min(mark)..mark]);
                kept.take_back(start.saturating_sub(mark));
                (self.at, read, held) = (mark, start + take - mark, true);
            } else {
                kept.push(&self.buffer[start..start + take]);
                read += take;
                let consumed = read.saturating_sub(MARK.len() - 1);
                (self.at, read) = (self.at + consumed, read - consumed);
            }
        }
        self.end_of_block(length, left, (read, held), kept)
    }

    fn end_of_block(
        &mut self,
        length: u64,
        left: u64,
        (read, held): (usize, bool),
        kept: &mut Kept<T>,
    ) -> io::Result<Block> {
        if left == 0 {
            let blank = self.blank_from(read)?;
            let is_end = self.at + read + blank == self.buffer.len();
            let is_whole = match &self.stop {
                Some(Stop::Damaged(_)) if is_end => false,
                _ => is_end || self.starts_here(read + blank)?,
            };
            if is_whole {
                if held {
                    // It was no head after all; what was held is the block's.
                    kept.push(&self.buffer[self.at..self.at + read]);
                }
                self.at += read + blank;
                return Ok(Block::Whole);
            }
        }
        if held {
            kept.end_before_head();
            return Ok(Block::OtherLength);
        }
        if left > 0 {
            self.at += read;
            return Ok(match self.stop.take() {
                Some(head @ Stop::Member(..)) => {
                    self.stop = Some(head);
                    kept.end_before_head();
                    Block::OtherLength
                }
                Some(Stop::Damaged(what)) => Block::Lost(what),
                // What is compressed and whole was not cut.
                Some(Stop::End) if self.members.is_checked() => {
                    self.stop = Some(Stop::End);
                    kept.end_before_head();
                    Block::OtherLength
                }
                end => {
                    self.stop = end;
                    let got = length - left;
                    Block::Lost(format!("its block ends after {got} of {length} bytes"))
                }
            });
        }
        // The next head may have started in the block and end behind it.
        while self.buffer.len() < self.at + read + MARK.len() && self.fill()? {}
        let near = &self.buffer[self.at..self.buffer.len().min(self.at + read + MARK.len() - 1)];
        if let Some(found) = memmem::find(near, MARK) {
            kept.take_back(read.saturating_sub(found + 1));
            kept.end_before_head();
            self.at += found + 1;
            return Ok(Block::OtherLength);
        }
        self.at += read;
        Ok(self.go_to_head()?.map_or(Block::OtherLength, Block::Lost))
    }

    /// Gives up the record that starts here.
    fn lose(&mut self, why: &str) -> io::Result<Item> {
        self.at += 1;
        let damage = self.go_to_head()?;
        Ok(Item::Lost(self.number, damage.unwrap_or_else(|| why.to_owned())))
    }

    /// Goes to the next head, or to where bytes end; says what is damaged there.
    fn go_to_head(&mut self) -> io::Result<Option<String>> {
        loop {
            // From the byte before: it may be the line end that a head stands behind.
            let from = self.at.saturating_sub(1);
            if let Some(found) = memmem::find(&self.buffer[from..], MARK) {
                self.at = from + found + 1;
                return Ok(None);
            }
            self.at = self.buffer.len().saturating_sub(MARK.len() - 1).max(self.at);
            if !self.fill()? {
                self.at = self.buffer.len();
                return Ok(match self.stop.take() {
                    Some(Stop::Damaged(what)) => Some(what),
                    other => {
                        self.stop = other;
                        None
                    }
                });
            }
        }
    }

    /// How many line ends follow from `offset` behind what is consumed.
    fn blank_from(&mut self, offset: usize) -> io::Result<usize> {
        let mut blank = 0;
        loop {
            match self.buffer.get(self.at + offset + blank) {
                Some(b'\r' | b'\n') => blank += 1,
                Some(_) => return Ok(blank),
                None => {
                    if !self.fill_from_member()? {
                        return Ok(blank);
                    }
                }
            }
        }
    }

    /// Whether a record starts at `offset` behind what is consumed.
    fn starts_here(&mut self, offset: usize) -> io::Result<bool> {
        while self.buffer.len() < self.at + offset + START.len() {
            if !self.fill()? {
                return Ok(false);
            }
        }
        Ok(self.buffer[self.at + offset..].starts_with(START))
    }

    /// Reads more, from the next member if it goes on with this one's record; false at a stop.
    fn fill(&mut self) -> io::Result<bool> {
        loop {
            if self.fill_from_member()? {
                return Ok(true);
            }
            match self.stop.take() {
                Some(Stop::Member(bytes, next)) if !bytes.starts_with(START) => {
                    self.enter(&bytes, next);
                    if !bytes.is_empty() {
                        return Ok(true);
                    }
                    if self.stop.is_some() {
                        return Ok(false);
                    }
                }
                stop => {
                    self.stop = stop;
                    return Ok(false);
                }
            }
        }
    }

    /// Reads more of the member; false at a stop, as its end is one.
    fn fill_from_member(&mut self) -> io::Result<bool> {
        if self.stop.is_some() {
            return Ok(false);
        }
        if self.at > DROPPED_BYTES {
            // One byte stays: it may be a line end that a head stands behind.
            self.buffer.drain(..self.at - 1);
            self.at = 1;
        }
        self.stop = match self.members.read(&mut self.buffer)? {
            Piece::Bytes => return Ok(true),
            Piece::MemberEnd => Some(self.next_member()?),
            Piece::Damaged(what) => Some(Stop::Damaged(what)),
            Piece::End => Some(Stop::End),
        };
        Ok(false)
    }

    /// Looks at what the next member starts with.
    fn next_member(&mut self) -> io::Result<Stop> {
        let (mut bytes, mut stop) = (Vec::new(), None);
        while bytes.len() < START.len() && stop.is_none() {
            match self.members.read(&mut bytes)? {
                Piece::Bytes | Piece::MemberEnd => {}
                Piece::Damaged(what) => stop = Some(Box::new(Stop::Damaged(what))),
                Piece::End => stop = Some(Box::new(Stop::End)),
            }
        }
        Ok(Stop::Member(bytes, stop))
    }

    /// Goes on with a member.
    fn enter(&mut self, bytes: &[u8], next: Option<Box<Stop>>) {
        self.buffer.extend_from_slice(bytes);
        self.stop = next.map(|next| *next);
    }
}

enum Block {
    Whole,
    OtherLength,
    Lost(String),
}

/// What is kept of a block.
struct Kept<T> {
    taste: T,
    block: Vec<u8>,
    wants_more: bool,
    /// Whether the head of the block has been seen.
    has_head: bool,
    too_long_head: bool,
}

impl<T: Taste> Kept<T> {
    fn new(taste: T, fields: &Fields) -> Self {
        let wants_more = taste.wants(fields);
        let has_head = !fields.get("content-type").is_some_and(is_http);
        Self { taste, block: Vec::new(), wants_more, has_head, too_long_head: false }
    }

    /// Takes back the last bytes.
    fn take_back(&mut self, count: usize) {
        if self.wants_more && self.block.len() < BLOCK_BYTES {
            self.block.truncate(self.block.len().saturating_sub(count));
        }
    }

    /// The block ends before a head, from which two line ends part it.
    fn end_before_head(&mut self) {
        for _ in 0..2 {
            for end in *b"\n\r" {
                if self.block.last() == Some(&end) {
                    self.block.pop();
                }
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if !self.wants_more {
            return;
        }
        let start = self.block.len();
        let room = BLOCK_BYTES - start;
        self.block.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.has_head {
            return;
        }
        let from = start.saturating_sub(3);
        if let Some(end) = head_end(&self.block[from..]).map(|end| from + end) {
            self.has_head = true;
            if !self.taste.wants_body(&self.block[..end]) {
                self.block.truncate(end);
                self.wants_more = false;
            }
        } else if self.block.len() > HEAD_BYTES {
            (self.too_long_head, self.wants_more) = (true, false);
        }
    }
}
