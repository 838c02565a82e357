//! Time limit of unpacking. This module has no clock: a callback of the caller says whether to continue. It is called
//! after every 16 KiB that a decoder reads or writes, and after every 512 reads.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};

/// Largest part of input that a decoder gets; it can be stopped between two parts.
const CHUNK_BYTES: usize = 16 << 10;
/// Reads between two calls of the callback. Some decoders read byte by byte, and a call for each byte would cost more
/// than the byte.
const READS_PER_CHECK: u32 = 512;

/// Calls back to ask whether unpacking may continue.
pub struct TimeLimit<'a> {
    may_go_on: &'a dyn Fn() -> bool,
    is_over: Cell<bool>,
    bytes: Cell<usize>,
    reads: Cell<u32>,
}

impl fmt::Debug for TimeLimit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeLimit").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl<'a> TimeLimit<'a> {
    pub fn new(may_go_on: &'a dyn Fn() -> bool) -> Self {
        Self { may_go_on, is_over: Cell::new(false), bytes: Cell::new(0), reads: Cell::new(0) }
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.is_over.get()
    }

    /// Counts a step of work. When the time is over, each step is an error.
    pub(super) fn count_work(&self, bytes: usize) -> io::Result<()> {
        self.bytes.set(self.bytes.get() + bytes);
        self.reads.set(self.reads.get() + 1);
        if self.bytes.get() >= CHUNK_BYTES || self.reads.get() >= READS_PER_CHECK {
            self.bytes.set(0);
            self.reads.set(0);
            if !(self.may_go_on)() {
                self.is_over.set(true);
            }
        }
        match self.is_over.get() {
            true => Err(io::Error::other("unpacking takes too long")),
            false => Ok(()),
        }
    }
}

/// Packed input of a decoder.
pub(super) struct TimedInput<'a> {
    bytes: Cursor<&'a [u8]>,
    pace: &'a TimeLimit<'a>,
}

impl<'a> TimedInput<'a> {
    pub(super) fn new(bytes: &'a [u8], pace: &'a TimeLimit<'a>) -> Self {
        Self { bytes: Cursor::new(bytes), pace }
    }
}

impl Read for TimedInput<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(CHUNK_BYTES);
        let count = self.bytes.read(&mut into[..most])?;
        self.pace.count_work(count)?;
        Ok(count)
    }
}

impl BufRead for TimedInput<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.pace.count_work(0)?;
        let rest = self.bytes.fill_buf()?;
        Ok(&rest[..rest.len().min(CHUNK_BYTES)])
    }

    fn consume(&mut self, count: usize) {
        self.bytes.consume(count);
        // The error comes with the next part.
        let _ = self.pace.count_work(count);
    }
}

impl Seek for TimedInput<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pace.count_work(0)?;
        self.bytes.seek(to)
    }
}

/// Reads a stream to its end, but at most one byte beyond the limit.
pub(super) fn read_up_to(reader: impl Read, limit: u64, pace: &TimeLimit<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader = reader.take(limit.saturating_add(1));
    loop {
        let before = bytes.len();
        reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        if bytes.len() == before {
            return Ok(bytes);
        }
        pace.count_work(bytes.len() - before)?;
    }
}
