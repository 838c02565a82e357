//! OpenSM's console: one client at a time, a prompt after each answer, and no authentication.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const PROMPT: &[u8] = b"OpenSM $ ";
/// OpenSM stands still until this question is answered: no sweep, no trap.
const TAKEN: &[u8] = b"(y/n)? ";
const CONNECT: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer in bytes; `dump_conf` has about 20,000.
const MOST: usize = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    #[error("nothing answers there: {0}")]
    Unreachable(std::io::Error),
    #[error("somebody else has it open, and it bears one client")]
    Taken,
    #[error("what answers there is not OpenSM's console")]
    Other,
}

/// A session with the console. Dropping it sends `quit`.
#[derive(Debug)]
pub struct Console {
    stream: TcpStream,
    patience: Duration,
}

impl Console {
    pub fn open(at: SocketAddr) -> Result<Self, ConsoleError> {
        Self::open_within(at, PATIENCE)
    }

    fn open_within(at: SocketAddr, patience: Duration) -> Result<Self, ConsoleError> {
        let stream = TcpStream::connect_timeout(&at, CONNECT).map_err(ConsoleError::Unreachable)?;
        stream.set_write_timeout(Some(patience)).map_err(ConsoleError::Unreachable)?;
        let mut console = Self { stream, patience };
        console.answer()?;
        Ok(console)
    }

    /// Sends a command and returns the answer.
    pub fn ask(&mut self, command: &str) -> Result<String, ConsoleError> {
        self.stream.write_all(format!("{command}\n").as_bytes()).map_err(ConsoleError::Unreachable)?;
        self.answer()
    }

    /// Reads up to the next prompt.
    fn answer(&mut self) -> Result<String, ConsoleError> {
        let begun = Instant::now();
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        loop {
            if said.ends_with(PROMPT) {
                return Ok(String::from_utf8_lossy(&said).into_owned());
            }
            if said.ends_with(TAKEN) {
                self.stream.write_all(b"n\n").map_err(ConsoleError::Unreachable)?;
                return Err(ConsoleError::Taken);
            }
            let left = self.patience.saturating_sub(begun.elapsed());
            if left.is_zero() || said.len() > MOST {
                return Err(ConsoleError::Other);
            }
            self.stream.set_read_timeout(Some(left)).map_err(ConsoleError::Unreachable)?;
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(ConsoleError::Unreachable(ErrorKind::UnexpectedEof.into())),
                Ok(count) => said.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(ConsoleError::Other);
                }
                Err(error) => return Err(ConsoleError::Unreachable(error)),
            }
        }
    }
}

impl Drop for Console {
    /// Waits until OpenSM has closed the session; before that, the next session would be a second one.
    fn drop(&mut self) {
        if self.stream.write_all(b"quit\n").is_err() {
            return;
        }
        let begun = Instant::now();
        let mut rest = [0; 4096];
        while begun.elapsed() < CONNECT {
            let patient = self.stream.set_read_timeout(Some(CONNECT));
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
    fn played(words: &'static [&'static str]) -> (SocketAddr, thread::JoinHandle<String>) {
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

    #[test]
    fn a_session_asks_and_quits() {
        let (at, heard) = played(&["OpenSM $ ", "   SM State : Master\nOpenSM $ "]);
        let mut console = Console::open(at).unwrap();
        assert!(console.ask("status").unwrap().contains("Master"));
        drop(console);
        assert_eq!(heard.join().unwrap(), "status\nquit\n");
    }

    #[test]
    fn a_session_of_somebody_else_is_left_to_him() {
        let (at, heard) =
            played(&["OpenSM Console connection already in use\n   kill other session (y/n)? "]);
        assert!(matches!(Console::open(at), Err(ConsoleError::Taken)));
        assert!(heard.join().unwrap().starts_with("n\n"));
    }

    #[test]
    fn what_is_no_console_is_told() {
        let (at, _) = played(&["220 mail\n"]);
        let short = Duration::from_millis(200);
        assert!(matches!(Console::open_within(at, short), Err(ConsoleError::Other)));
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(matches!(Console::open(gone), Err(ConsoleError::Unreachable(_))));
    }
}
