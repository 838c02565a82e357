//! Sends entries to the journal of systemd by its native protocol, and to a syslog daemon by its local socket.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

/// Where the journal and the syslog daemon listen.
pub const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";
pub const SYSLOG_SOCKET: &str = "/dev/log";

/// A local socket that takes entries as datagrams. It is opened for each entry, so that it outlives a restart of the
/// daemon.
#[derive(Clone, Debug)]
pub struct LogSocket {
    path: PathBuf,
}

impl LogSocket {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Whether a daemon listens.
    pub fn probe(&self) -> io::Result<()> {
        UnixDatagram::unbound()?.connect(&self.path)
    }

    /// Sends an entry, without waiting for a daemon that reads too slowly. One that is too large for a datagram is an error.
    pub fn send(&self, entry: &[u8]) -> io::Result<()> {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to(entry, &self.path).map(|_| ())
    }
}

/// An entry of the journal from fields by name. Names have capital letters, digits and underscores.
pub fn journal_entry(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut entry = Vec::new();
    for (name, value) in fields {
        entry.extend_from_slice(name.as_bytes());
        if value.contains('\n') {
            // A value with line breaks follows its length.
            entry.push(b'\n');
            entry.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            entry.push(b'=');
        }
        entry.extend_from_slice(value.as_bytes());
        entry.push(b'\n');
    }
    entry
}

/// An entry of the local syslog socket (RFC 3164 without time and host, which the daemon adds). `level` is 0 to 7.
pub fn syslog_entry(level: u8, message: &str) -> Vec<u8> {
    /// The facility of daemons.
    const DAEMON: u8 = 3;
    format!("<{}>fabdeck[{}]: {message}", DAEMON * 8 + level.min(7), std::process::id()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_bytes_of_their_protocols() {
        let entry = journal_entry(&[("MESSAGE", "a=b"), ("FABDECK_TEXT", "a\nb")]);
        assert_eq!(entry, b"MESSAGE=a=b\nFABDECK_TEXT\n\x03\0\0\0\0\0\0\0a\nb\n");
        let syslog = String::from_utf8(syslog_entry(4, "a link is down")).unwrap();
        assert_eq!(syslog, format!("<28>fabdeck[{}]: a link is down", std::process::id()));
    }

    #[test]
    fn a_socket_that_is_not_there_is_an_error_and_one_that_comes_later_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let socket = LogSocket::new(&path);
        assert!(socket.send(b"lost").is_err());
        let daemon = UnixDatagram::bind(&path).unwrap();
        socket.send(b"kept").unwrap();
        let mut entry = [0; 16];
        let length = daemon.recv(&mut entry).unwrap();
        assert_eq!(&entry[..length], b"kept");
    }
}
