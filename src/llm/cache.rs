//! Answered questions: JSON lines, one for each, `{"key":"…","reply":{…}}`, in the order of the answers.
//!
//! The key is the XXH3 hash of the request, which is the model's name and the exact messages; the reply is
//! the checked one, and it is checked again when it is used. All of the file is read into memory
//! when it is opened.
//!
//! Lines are only added. A last line without its end was cut off by a crash: it counts as not there, and is
//! cut off before the next is added. Two processes may use one file: it is read under a shared lock and
//! written under an exclusive one. Each sees what the other had written when it opened the file; what both
//! asked stands there twice, and the last one counts.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

use super::error::LlmError;
use super::question::Question;
use super::reply;

/// Hexadecimal digits of a key.
const KEY_DIGITS: usize = 32;

/// Answered questions by the hash of their request.
#[derive(Debug)]
pub(super) struct Cache {
    answers: HashMap<u128, Answer>,
    file: Option<CacheFile>,
}

#[derive(Debug)]
struct Answer {
    /// Its line, from 1.
    line: usize,
    /// JSON.
    reply: Box<RawValue>,
}

#[derive(Debug)]
struct CacheFile {
    path: PathBuf,
    file: File,
    /// Where the last whole line ends.
    end: u64,
    /// Whole lines.
    lines: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    reply: Box<RawValue>,
}

/// The key of a request.
pub(super) fn hash(request: &[u8]) -> u128 {
    xxh3_128(request)
}

impl Cache {
    /// The answers in a file, which is made if it is not there; without one, none.
    pub(super) fn open(path: Option<PathBuf>) -> Result<Self, LlmError> {
        let mut answers = HashMap::new();
        let file = path.map(|path| CacheFile::open(path, &mut answers)).transpose()?;
        Ok(Self { answers, file })
    }

    /// The remembered answer to a question.
    pub(super) fn reply<Q: Question>(
        &self,
        hash: u128,
        question: &Q,
    ) -> Result<Option<Q::Reply>, LlmError> {
        let Some(answer) = self.answers.get(&hash) else { return Ok(None) };
        match (reply::of_document(question, answer.reply.get()), &self.file) {
            (Ok(reply), _) => Ok(Some(reply)),
            (Err(_), Some(file)) => Err(damaged(&file.path, answer.line)),
            (Err(fault), None) => Err(fault.into()),
        }
    }

    /// Remembers a checked answer.
    pub(super) fn add(&mut self, hash: u128, reply: &impl Serialize) -> Result<(), LlmError> {
        let reply = serde_json::value::to_raw_value(reply)?;
        let mut answer = Answer { line: 0, reply };
        let written = match &mut self.file {
            Some(file) => file.add(hash, &answer.reply),
            None => Ok(0),
        };
        answer.line = *written.as_ref().unwrap_or(&0);
        // It was paid for: it is remembered even where the file cannot be written.
        self.answers.insert(hash, answer);
        written.map(|_| ())
    }
}

impl CacheFile {
    fn open(path: PathBuf, answers: &mut HashMap<u128, Answer>) -> Result<Self, LlmError> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| failed(&path, error))?;
        let mut cache = Self { path, file, end: 0, lines: 0 };
        let bytes = cache.read().map_err(|error| failed(&cache.path, error))?;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            cache.lines += 1;
            cache.end += line.len() as u64;
            let answer = parse(whole).ok_or_else(|| damaged(&cache.path, cache.lines));
            let (hash, reply) = answer?;
            answers.insert(hash, Answer { line: cache.lines, reply });
        }
        Ok(cache)
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.lock_shared()?;
        let read = self.file.read_to_end(&mut bytes);
        self.file.unlock()?;
        read.map(|_| bytes)
    }

    /// Adds a line and gives its number.
    fn add(&mut self, hash: u128, reply: &RawValue) -> Result<usize, LlmError> {
        let line = Line { key: format!("{hash:0KEY_DIGITS$x}"), reply: reply.to_owned() };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        let written = self.file.lock().and_then(|()| {
            let written = self.write(&bytes);
            self.file.unlock().and(written)
        });
        written.map(|()| self.lines).map_err(|error| failed(&self.path, error))
    }

    /// Writes a line behind the last whole one, which may be another process's.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let mut others = Vec::new();
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.read_to_end(&mut others)?;
        let whole = others.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.end += whole as u64;
        self.lines += others.split(|byte| *byte == b'\n').count() - 1;
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line)?;
        self.file.sync_data()?;
        self.end += line.len() as u64;
        self.lines += 1;
        Ok(())
    }
}

fn parse(line: &[u8]) -> Option<(u128, Box<RawValue>)> {
    let line: Line = serde_json::from_slice(line).ok()?;
    let is_key = line.key.len() == KEY_DIGITS && line.key.bytes().all(|b| b.is_ascii_hexdigit());
    let hash = u128::from_str_radix(&line.key, 16).ok()?;
    is_key.then_some((hash, line.reply))
}

fn failed(path: &Path, error: io::Error) -> LlmError {
    LlmError::Cache { path: path.to_owned(), error }
}

fn damaged(path: &Path, line: usize) -> LlmError {
    LlmError::CacheLine { path: path.to_owned(), line }
}
