//! The port of a client: MADs over the socket of a simulator in another process.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::inbox::FrameBuffer;
use super::peer::is_timeout;
use super::socket_file::connect_with_timeout;
use super::wire::{DATAGRAM_FRAME, Frame, RefusalReason, WireError, encode};
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort, SourceError,
};

/// Timeout for the server's answer to the hello.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one write may block.
const WRITE_TIMEOUT: Duration = Duration::from_millis(50);
/// Number of bytes that are collected before a write, unless the client waits for an answer.
const FLUSH_BYTES: usize = 64 * DATAGRAM_FRAME;
/// A server that leaves this many bytes unread is taken for stopped.
const MAX_OUTBOX_BYTES: usize = 4096 * DATAGRAM_FRAME;
const MAX_NODE_NAME_BYTES: usize = 255;
const START_HINT: &str = "start one with 'fabdeck --source sim:NAME simulate --serve SOCKET', or wait until it prints that it is serving";

/// Connects to a served simulator, at a node or where the server chooses.
pub fn connect(path: &Path, at: Option<&str>) -> Result<ReadPort, SourceError> {
    Ok(ReadPort::new(SocketPort::connect(path, at)?))
}

struct SocketPort {
    path: PathBuf,
    stream: UnixStream,
    local: LocalPort,
    start: Instant,
    inbox: FrameBuffer,
    outbox: Vec<u8>,
    /// Number of bytes in the outbox that is worth a system call.
    flush_at: usize,
    /// The read timeout of the stream; setting it costs a system call.
    read_within: Option<Duration>,
}

impl fmt::Debug for SocketPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketPort")
            .field("path", &self.path)
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

impl SocketPort {
    fn connect(path: &Path, at: Option<&str>) -> Result<Self, SourceError> {
        let shown = path.display();
        if let Some(node) = at.filter(|node| node.len() > MAX_NODE_NAME_BYTES) {
            let what = format!(
                "the node of '{shown}' is named with {} bytes, and names have at most {MAX_NODE_NAME_BYTES}",
                node.len()
            );
            return Err(SourceError::Name {
                code: "FD-4307",
                what,
                hint: "give its name or its GUID".into(),
            });
        }
        let stream = connect_with_timeout(path).map_err(|why| connect_error(path, &why))?;
        let mut hello = Vec::new();
        encode::hello(at, &mut hello);
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(|why| connect_error(path, &why))?;
        // A server that refuses before it reads has sent its reason. The read below finds the reason, or the end.
        let _ = (&stream).write_all(&hello);
        let mut port = Self {
            path: path.to_owned(),
            stream,
            local: unattached_port(),
            start: Instant::now(),
            inbox: FrameBuffer::new(),
            outbox: Vec::new(),
            flush_at: FLUSH_BYTES,
            read_within: None,
        };
        port.local = port.read_welcome()?;
        Ok(port)
    }

    fn read_welcome(&mut self) -> Result<LocalPort, SourceError> {
        loop {
            match self.inbox.next_frame() {
                Ok(Some(Frame::Welcome(local))) => return Ok(local),
                Ok(Some(Frame::Refusal(refusal))) => {
                    return Err(refusal_error(&self.path, refusal.reason, refusal.text));
                }
                Ok(Some(_)) => return Err(not_a_server(&self.path, "it does not begin with a welcome")),
                Ok(None) => {}
                Err(other @ WireError::Version { .. }) => {
                    let what =
                        format!("the simulator at '{}' has another version: {other}", self.path.display());
                    let hint = "use the same version of fabdeck on both sides".into();
                    return Err(SourceError::Unreachable { code: "FD-4305", what, hint });
                }
                Err(garbage) => return Err(not_a_server(&self.path, &garbage.to_string())),
            }
            if self.now() >= WELCOME_TIMEOUT {
                return Err(not_a_server(
                    &self.path,
                    &format!("it sent nothing for {} s", WELCOME_TIMEOUT.as_secs()),
                ));
            }
            match self.read_until(WELCOME_TIMEOUT) {
                Ok(1..) => {}
                Err(why) if is_timeout(why.kind()) => {}
                // A reset is an end too: the other side did not read the hello.
                Ok(0) | Err(_) => {
                    return Err(not_a_server(&self.path, "it closed the connection without an answer"));
                }
            }
        }
    }

    /// Reads once and blocks until `until` at most, or less: a shorter timeout of the stream serves many calls, and the
    /// caller repeats.
    fn read_until(&mut self, until: Duration) -> io::Result<usize> {
        let left = until.saturating_sub(self.now());
        if left.is_zero() {
            self.stream.set_nonblocking(true)?;
            let read = self.inbox.fill(&mut &self.stream);
            self.stream.set_nonblocking(false)?;
            return read;
        }
        let fits = self.read_within.is_some_and(|within| within <= left && within >= left / 2);
        if !fits {
            // The system counts in ticks, and a timeout below one tick would be none.
            let within = (left / 4 * 3).max(Duration::from_millis(1));
            self.stream.set_read_timeout(Some(within))?;
            self.read_within = Some(within);
        }
        match self.inbox.fill(&mut &self.stream) {
            Err(why) if why.kind() == ErrorKind::Interrupted => Err(ErrorKind::WouldBlock.into()),
            read => read,
        }
    }

    /// Writes the outbox, as far as the server takes it now.
    fn flush(&mut self) -> Result<(), PortError> {
        let mut written = 0;
        while written < self.outbox.len() {
            match (&self.stream).write(self.outbox.get(written..).unwrap_or_default()) {
                Ok(count) => written += count,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if is_timeout(why.kind()) => break,
                // The server's last frame may still be in the stream, so the reader reports why it ended.
                Err(_) => written = self.outbox.len(),
            }
        }
        self.outbox.drain(..written);
        // A server that takes nothing now is not tried again for every MAD: each try may block.
        self.flush_at = self.outbox.len() + FLUSH_BYTES;
        if self.outbox.len() < MAX_OUTBOX_BYTES {
            return Ok(());
        }
        let what = format!("the simulator at '{}' no longer reads datagrams", self.path.display());
        Err(PortError::Gone { code: "FD-4313", what, hint: "check whether it is stopped or hangs".into() })
    }

    fn closed_error(&self) -> PortError {
        let what = format!("the simulator at '{}' ended", self.path.display());
        PortError::Gone { code: "FD-4310", what, hint: START_HINT.into() }
    }
}

impl Clock for SocketPort {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl MadPort for SocketPort {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, _: Duration) -> Result<(), PortError> {
        encode::datagram(parcel, &mut self.outbox);
        if self.outbox.len() >= self.flush_at { self.flush() } else { Ok(()) }
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        let mut looked = false;
        loop {
            match self.inbox.next_frame() {
                Ok(Some(Frame::Datagram(datagram))) => {
                    return Ok(Some(PortEvent::Mad(datagram.to_addressed_mad())));
                }
                Ok(Some(Frame::Refusal(refusal))) => {
                    let (path, text) = (self.path.display(), refusal.text);
                    let what = format!("the simulator at '{path}' ended the connection: {text}");
                    return Err(PortError::Gone { code: "FD-4311", what, hint: START_HINT.into() });
                }
                Ok(Some(_)) => return Err(protocol_error(&self.path, "a second welcome")),
                Err(garbage) => return Err(protocol_error(&self.path, &garbage.to_string())),
                Ok(None) => {}
            }
            if looked && self.now() >= until {
                return Ok(None);
            }
            // Frames that have arrived come first, so a full window takes one write and one read.
            self.flush()?;
            match self.read_until(until) {
                Ok(1..) => {}
                Err(why) if is_timeout(why.kind()) => {}
                Ok(0) | Err(_) => return Err(self.closed_error()),
            }
            looked = true;
        }
    }
}

impl Drop for SocketPort {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// The local port until the welcome.
fn unattached_port() -> LocalPort {
    let (name, number) = (String::new(), fabdeck_fabric::PortNum(0));
    LocalPort { name, number, guid: None, lid: None, manager_lid: None, simulated: true }
}

fn connect_error(path: &Path, why: &io::Error) -> SourceError {
    let path = path.display();
    let (code, what, hint) = match why.kind() {
        ErrorKind::NotFound => ("FD-4301", format!("there is no socket '{path}'"), START_HINT),
        ErrorKind::ConnectionRefused => {
            ("FD-4302", format!("no process listens on '{path}': its simulator ended"), START_HINT)
        }
        ErrorKind::PermissionDenied => (
            "FD-4303",
            format!("'{path}' cannot be reached: {why}"),
            "a simulator serves only the user who started it; ask that user, or start one of your own",
        ),
        _ => ("FD-4303", format!("'{path}' cannot be reached: {why}"), START_HINT),
    };
    SourceError::Unreachable { code, what, hint: hint.into() }
}

fn not_a_server(path: &Path, why: &str) -> SourceError {
    let what =
        format!("what listens on '{}' does not answer as a simulator of fabdeck: {why}", path.display());
    let hint = "check the path, and whether its process hangs".into();
    SourceError::Unreachable { code: "FD-4304", what, hint }
}

fn refusal_error(path: &Path, reason: RefusalReason, text: &str) -> SourceError {
    let what = format!("the simulator at '{}' refuses: {text}", path.display());
    match reason {
        RefusalReason::Node => {
            SourceError::Name { code: "FD-4306", what, hint: "it is 'at=' that names the node".into() }
        }
        _ => SourceError::Unreachable { code: "FD-4308", what, hint: "try again later".into() },
    }
}

fn protocol_error(path: &Path, why: &str) -> PortError {
    let what = format!("the simulator at '{}' sent an invalid datagram: {why}", path.display());
    PortError::Gone { code: "FD-4312", what, hint: "start it again; if it happens again, report it".into() }
}
