//! OpenSM's console: one client at a time, a prompt after each answer, and no authentication.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::console_user::read_peer_user;
use crate::user_names;

const PROMPT: &[u8] = b"OpenSM $ ";
/// OpenSM stands still until this question is answered: no sweep, no trap.
const TAKEN_PROMPT: &[u8] = b"(y/n)? ";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer in bytes; `dump_conf` has about 20,000.
const MAX_ANSWER_BYTES: usize = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum OpensmConsoleError {
    #[error("nothing answers: {0}")]
    Unreachable(std::io::Error),
    #[error("another client is connected, and the console accepts only one")]
    Taken,
    #[error("what answers is not OpenSM's console")]
    Other,
    #[error("a process of {user} answers there, and OpenSM belongs to root or to the user of this command")]
    Foreign { user: String },
    #[error("the kernel does not show which user's process answers there")]
    Unidentified,
}

/// A session with the console. Dropping it sends `quit`.
#[derive(Debug)]
pub struct OpensmConsole {
    stream: TcpStream,
    patience: Duration,
}

impl OpensmConsole {
    /// Opens a session with a process of one of these users. While OpenSM is down, any user of the host can listen at
    /// its port.
    pub fn open(at: SocketAddr, users: &[u32]) -> Result<Self, OpensmConsoleError> {
        Self::open_within(at, users, ANSWER_TIMEOUT)
    }

    fn open_within(at: SocketAddr, users: &[u32], patience: Duration) -> Result<Self, OpensmConsoleError> {
        let stream =
            TcpStream::connect_timeout(&at, CONNECT_TIMEOUT).map_err(OpensmConsoleError::Unreachable)?;
        stream.set_write_timeout(Some(patience)).map_err(OpensmConsoleError::Unreachable)?;
        let mut console = Self { stream, patience };
        console.read_answer()?;
        // The other end shows its user only once its process has accepted the connection, so after its first answer.
        match read_peer_user(&console.stream).map_err(OpensmConsoleError::Unreachable)? {
            Some(user) if users.contains(&user) => Ok(console),
            Some(user) => Err(OpensmConsoleError::Foreign { user: user_names::user_label(user) }),
            // A console of another host is the operator's choice, and has no user here.
            None if at.ip().is_loopback() => Err(OpensmConsoleError::Unidentified),
            None => Ok(console),
        }
    }

    /// Sends a command and returns the answer.
    pub fn send_command(&mut self, command: &str) -> Result<String, OpensmConsoleError> {
        self.stream.write_all(format!("{command}\n").as_bytes()).map_err(OpensmConsoleError::Unreachable)?;
        self.read_answer()
    }

    /// Reads up to the next prompt.
    fn read_answer(&mut self) -> Result<String, OpensmConsoleError> {
        let begun = Instant::now();
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        loop {
            if said.ends_with(PROMPT) {
                return Ok(String::from_utf8_lossy(&said).into_owned());
            }
            if said.ends_with(TAKEN_PROMPT) {
                self.stream.write_all(b"n\n").map_err(OpensmConsoleError::Unreachable)?;
                return Err(OpensmConsoleError::Taken);
            }
            let left = self.patience.saturating_sub(begun.elapsed());
            if left.is_zero() || said.len() > MAX_ANSWER_BYTES {
                return Err(OpensmConsoleError::Other);
            }
            self.stream.set_read_timeout(Some(left)).map_err(OpensmConsoleError::Unreachable)?;
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(OpensmConsoleError::Unreachable(ErrorKind::UnexpectedEof.into())),
                Ok(count) => said.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(OpensmConsoleError::Other);
                }
                Err(error) => return Err(OpensmConsoleError::Unreachable(error)),
            }
        }
    }
}

impl Drop for OpensmConsole {
    /// Waits until OpenSM has closed the session; before that, the next session would be a second one.
    fn drop(&mut self) {
        if self.stream.write_all(b"quit\n").is_err() {
            return;
        }
        let begun = Instant::now();
        let mut rest = [0; 4096];
        while begun.elapsed() < CONNECT_TIMEOUT {
            let patient = self.stream.set_read_timeout(Some(CONNECT_TIMEOUT));
            if patient.is_err() || !matches!(self.stream.read(&mut rest), Ok(1..)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// A console that sends these words, and returns what it received.
    fn scripted_console(words: &'static [&'static str]) -> (SocketAddr, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let thread = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = String::new();
            for word in words {
                stream.write_all(word.as_bytes()).unwrap();
                let mut piece = [0; 256];
                let count = stream.read(&mut piece).unwrap_or(0);
                heard.push_str(&String::from_utf8_lossy(&piece[..count]));
            }
            heard
        });
        (at, thread)
    }

    fn own_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_console_of_another_user_is_refused() {
        let (at, heard) = scripted_console(&["OpenSM $ "]);
        let refused = OpensmConsole::open(at, &[own_user() + 1]).unwrap_err();
        assert!(matches!(refused, OpensmConsoleError::Foreign { .. }), "{refused}");
        assert_eq!(heard.join().unwrap(), "quit\n");
    }

    #[test]
    fn a_session_asks_and_quits() {
        let (at, heard) = scripted_console(&["OpenSM $ ", "   SM State : Master\nOpenSM $ "]);
        let mut console = OpensmConsole::open(at, &[own_user()]).unwrap();
        assert!(console.send_command("status").unwrap().contains("Master"));
        drop(console);
        assert_eq!(heard.join().unwrap(), "status\nquit\n");
    }

    #[test]
    fn a_session_of_another_client_is_left_alone() {
        let (at, heard) =
            scripted_console(&["OpenSM Console connection already in use\n   kill other session (y/n)? "]);
        assert!(matches!(OpensmConsole::open(at, &[own_user()]), Err(OpensmConsoleError::Taken)));
        assert!(heard.join().unwrap().starts_with("n\n"));
    }

    #[test]
    fn other_services_are_reported() {
        let (at, _) = scripted_console(&["220 mail\n"]);
        let short = Duration::from_millis(200);
        assert!(matches!(
            OpensmConsole::open_within(at, &[own_user()], short),
            Err(OpensmConsoleError::Other)
        ));
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(matches!(OpensmConsole::open(gone, &[own_user()]), Err(OpensmConsoleError::Unreachable(_))));
    }
}
