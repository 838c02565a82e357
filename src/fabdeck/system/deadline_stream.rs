//! A connection whose reads and writes end at a time, however slowly the other side sends and takes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// A connection with a deadline. Beyond it reads and writes fail with `TimedOut`.
#[derive(Debug)]
pub struct DeadlineStream {
    stream: TcpStream,
    until: Instant,
}

impl DeadlineStream {
    pub fn new(stream: TcpStream, until: Instant) -> Self {
        Self { stream, until }
    }

    pub fn set_deadline(&mut self, until: Instant) {
        self.until = until;
    }

    /// Waits for the first byte, and leaves it to be read.
    pub fn peek(&self) -> io::Result<u8> {
        let mut first = [0];
        self.stream.set_read_timeout(Some(self.time_left()?))?;
        match self.stream.peek(&mut first).map_err(as_timeout)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(first[0]),
        }
    }

    /// Declares that nothing more is written.
    pub fn finish(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    fn time_left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// A timeout of the system comes as an operation that would have to wait.
fn as_timeout(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for DeadlineStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.time_left()?))?;
        self.stream.read(bytes).map_err(as_timeout)
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.time_left()?))?;
        self.stream.write(bytes).map_err(as_timeout)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
