//! Time for unpacking. Nothing here has a clock: whoever gives the bytes says when it has been long enough, and is asked
//! after every so many bytes that a decoder takes in or gives out.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};

/// Decoders get their bytes in parts of this size at most, and are stopped between two parts.
const PART: usize = 16 << 10;
/// Some decoders read byte by byte; asking each time would cost more than the byte.
const READS: u32 = 512;

/// Asks whether unpacking may go on.
pub struct Pace<'a> {
    may_go_on: &'a dyn Fn() -> bool,
    is_over: Cell<bool>,
    bytes: Cell<usize>,
    reads: Cell<u32>,
}

impl fmt::Debug for Pace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pace").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

impl<'a> Pace<'a> {
    pub fn new(may_go_on: &'a dyn Fn() -> bool) -> Self {
        Self { may_go_on, is_over: Cell::new(false), bytes: Cell::new(0), reads: Cell::new(0) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Counts a step of work. Once the time is over, every step is an error.
    pub(super) fn step(&self, bytes: usize) -> io::Result<()> {
        self.bytes.set(self.bytes.get() + bytes);
        self.reads.set(self.reads.get() + 1);
        if self.bytes.get() >= PART || self.reads.get() >= READS {
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

/// Packed bytes on their way into a decoder.
pub(super) struct PacedInput<'a> {
    bytes: Cursor<&'a [u8]>,
    pace: &'a Pace<'a>,
}

impl<'a> PacedInput<'a> {
    pub(super) fn new(bytes: &'a [u8], pace: &'a Pace<'a>) -> Self {
        Self { bytes: Cursor::new(bytes), pace }
    }
}

impl Read for PacedInput<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(PART);
        let count = self.bytes.read(&mut into[..most])?;
        self.pace.step(count)?;
        Ok(count)
    }
}

impl BufRead for PacedInput<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.pace.step(0)?;
        let rest = self.bytes.fill_buf()?;
        Ok(&rest[..rest.len().min(PART)])
    }

    fn consume(&mut self, count: usize) {
        self.bytes.consume(count);
        // An error comes with the next part.
        let _ = self.pace.step(count);
    }
}

impl Seek for PacedInput<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pace.step(0)?;
        self.bytes.seek(to)
    }
}

/// Reads a stream to its end, and no further than one byte past the limit.
pub(super) fn read_up_to(reader: impl Read, limit: u64, pace: &Pace<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader = reader.take(limit.saturating_add(1));
    loop {
        let before = bytes.len();
        reader.by_ref().take(PART as u64).read_to_end(&mut bytes)?;
        if bytes.len() == before {
            return Ok(bytes);
        }
        pace.step(bytes.len() - before)?;
    }
}
