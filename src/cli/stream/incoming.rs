//! Records as they come on standard input, in groups. A thread reads, so that a crawler is not held up while a plan is
//! made, and planning by time does not wait for a line.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::signals;
use crate::ingest::stream::{StreamLine, StreamLines};

/// Bytes of records that are taken in whatever is still to come: they are held in memory.
const GROUP_BYTES: usize = 64 << 20;
/// How long a group that is not full waits for another record.
const QUIET: Duration = Duration::from_mins(1);
/// The same where nothing is in flight, and nobody knows how many will come.
const QUIET_AT_FIRST: Duration = Duration::from_secs(1);

/// When records are taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Every {
    /// When so many have come.
    Records(usize),
    /// So long after the first of them.
    Time(Duration),
}

impl Every {
    /// A number of records, or a time: `50`, `500ms`, `1s`, `2m`.
    pub(super) fn parse(given: &str) -> Result<Self, String> {
        let expected = || "expected a number of records, or a time: 50, 500ms, 1s, 2m".to_owned();
        let letters = |c: char| c.is_ascii_alphabetic();
        let (number, unit) = given.split_at(given.trim_end_matches(letters).len());
        if unit.is_empty() {
            let records = number.parse().ok().filter(|records| *records > 0);
            return records.map(Self::Records).ok_or_else(expected);
        }
        let seconds = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            _ => return Err(expected()),
        };
        let number = number.parse::<f64>().map_err(|_| expected())?;
        let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())?;
        if time.is_zero() { Err(expected()) } else { Ok(Self::Time(time)) }
    }

    /// Records after which no other is waited for: as many as are asked for, or as a group has.
    fn most(self, in_flight: usize) -> usize {
        let asked = if in_flight == 0 { usize::MAX } else { in_flight };
        match self {
            Self::Records(records) => records.min(asked),
            Self::Time(_) => asked,
        }
    }
}

/// Records that come on standard input.
pub(super) struct Incoming {
    messages: Receiver<Message>,
    every: Every,
    /// Whether there will be no other.
    pub(super) has_ended: bool,
    /// Whether a signal said so.
    pub(super) was_stopped: bool,
}

/// What the thread that reads says, and the one that waits for signals.
enum Message {
    Line(io::Result<StreamLine>),
    End,
    Stop,
}

/// What came next.
enum Next {
    Line(StreamLine),
    /// Nothing in time.
    Nothing,
    End,
}

impl Incoming {
    /// Reads on, at most so many records ahead. A crawler that reports what it was asked for, and no more than that,
    /// is never kept waiting while it has room for so many.
    pub(super) fn start(every: Every, ahead: usize) -> Self {
        let (sender, messages) = sync_channel(ahead);
        let stop = sender.clone();
        signals::on_first(move || _ = stop.send(Message::Stop));
        thread::spawn(move || {
            for line in StreamLines::new(io::stdin().lock()) {
                let is_last = line.is_err();
                if sender.send(Message::Line(line)).is_err() || is_last {
                    return;
                }
            }
            let _ = sender.send(Message::End);
        });
        Self { messages, every, has_ended: false, was_stopped: false }
    }

    /// Waits for the next group, while so many URLs are in flight.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(super) fn group(&mut self, in_flight: usize) -> io::Result<Vec<StreamLine>> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        let mut until = None;
        while group.len() < self.every.most(in_flight) && bytes < GROUP_BYTES {
            match self.next(until)? {
                Next::Line(line) => {
                    bytes += line.bytes();
                    group.push(line);
                    until = Some(self.until(until, in_flight));
                }
                Next::Nothing | Next::End => break,
            }
        }
        Ok(group)
    }

    /// What has come so far, without waiting.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(super) fn rest(&mut self) -> io::Result<Vec<StreamLine>> {
        let mut rest = Vec::new();
        while let Ok(message) = self.messages.try_recv() {
            if let Next::Line(line) = self.said(message)? {
                rest.push(line);
            }
        }
        Ok(rest)
    }

    /// Until when another record is waited for, one having come now.
    fn until(&self, before: Option<Instant>, in_flight: usize) -> Instant {
        let now = Instant::now();
        match (self.every, before) {
            (Every::Time(_), Some(before)) => before,
            (Every::Time(time), None) => now + time,
            (Every::Records(_), _) if in_flight == 0 => now + QUIET_AT_FIRST,
            (Every::Records(_), _) => now + QUIET,
        }
    }

    fn next(&mut self, until: Option<Instant>) -> io::Result<Next> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let received = match left {
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(left) => self.messages.recv_timeout(left),
        };
        match received {
            Ok(message) => self.said(message),
            Err(RecvTimeoutError::Timeout) => Ok(Next::Nothing),
            Err(RecvTimeoutError::Disconnected) => self.said(Message::End),
        }
    }

    fn said(&mut self, message: Message) -> io::Result<Next> {
        if let Message::Line(line) = message {
            return line.map(Next::Line);
        }
        self.has_ended = true;
        self.was_stopped |= matches!(message, Message::Stop);
        Ok(Next::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_a_number_of_records_or_of_a_time() {
        let time = |millis| Ok(Every::Time(Duration::from_millis(millis)));
        assert_eq!(Every::parse("50"), Ok(Every::Records(50)));
        assert_eq!(Every::parse("1s"), time(1_000));
        assert_eq!(Every::parse("1.5s"), time(1_500));
        assert_eq!(Every::parse("500ms"), time(500));
        assert_eq!(Every::parse("2m"), time(120_000));
        for wrong in ["", "0", "0s", "-1s", "s", "1h", "1.5", "soon"] {
            assert!(Every::parse(wrong).unwrap_err().contains("50, 500ms"), "{wrong}");
        }
    }

    #[test]
    fn no_group_waits_for_more_than_is_in_flight() {
        let second = Every::Time(Duration::from_secs(1));
        assert_eq!([0, 30, 200].map(|asked| Every::Records(50).most(asked)), [50, 30, 50]);
        assert_eq!([0, 30].map(|asked| second.most(asked)), [usize::MAX, 30]);
    }
}
