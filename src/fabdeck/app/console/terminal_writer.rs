//! Writes to the terminal in a thread of its own. A terminal that accepts no more output (a connection that hangs) must
//! not keep the session from its signals.

use std::io::{self, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::terminal::is_taken;
use super::workers::WorkerMessage;

/// Time for which a blocked terminal can delay the end of the process.
const EXIT_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

pub struct TerminalWriter {
    to_write: Sender<Vec<u8>>,
}

impl TerminalWriter {
    pub fn open(words: UnboundedSender<WorkerMessage>) -> Self {
        let (to_write, waiting) = channel::<Vec<u8>>();
        thread::spawn(move || {
            for bytes in waiting {
                // The loop may have ended in the meantime.
                let _ = words.send(WorkerMessage::Sent(write(&bytes)));
            }
        });
        Self { to_write }
    }

    /// Queues bytes. The writer thread sends a message to the event loop when they are written.
    pub fn send(&self, bytes: Vec<u8>) {
        let _ = self.to_write.send(bytes);
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // The thread that restored the terminal waits for this lock; later output would end up on the screen of the
    // shell.
    if is_taken() {
        out.write_all(bytes)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes after all queued output and waits for it for a limited time.
pub fn write_last(bytes: Vec<u8>) {
    run_within_timeout(move || {
        let mut out = io::stdout().lock();
        // After a hangup there is no terminal to restore.
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
    });
}

/// Writes text for the shell's screen after the session; the terminal may be blocked.
pub fn write_after_exit(text: String) {
    // A closed stderr leaves no place for an error message.
    run_within_timeout(move || drop(io::stderr().write_all(text.as_bytes())));
}

fn run_within_timeout(write: impl FnOnce() + Send + 'static) {
    let (done, end) = channel();
    let written = move || {
        write();
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(written).is_ok() {
        let _ = end.recv_timeout(EXIT_WRITE_TIMEOUT);
    }
}
