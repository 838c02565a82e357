//! The line to the terminal. A thread of its own writes to it: one that takes nothing any more (a connection that
//! hangs) must not keep the session from its signals.

use std::io::{self, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::terminal::is_taken;
use super::threads::Word;

/// How long a line that takes nothing may keep the process from its end.
const FAREWELL: Duration = Duration::from_secs(1);

pub struct Line {
    to_write: Sender<Vec<u8>>,
}

impl Line {
    pub fn open(words: UnboundedSender<Word>) -> Self {
        let (to_write, waiting) = channel::<Vec<u8>>();
        thread::spawn(move || {
            for bytes in waiting {
                // The loop may have ended in the meantime.
                let _ = words.send(Word::Sent(write(&bytes)));
            }
        });
        Self { to_write }
    }

    /// `Word::Sent` comes when they are on their way.
    pub fn send(&self, bytes: Vec<u8>) {
        let _ = self.to_write.send(bytes);
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    // Whoever gave the terminal back waits for this lock, and what comes later would stand on the screen of the shell.
    if is_taken() {
        out.write_all(bytes)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes behind all else, and waits for it as long as that is worth it.
pub fn farewell(bytes: Vec<u8>) {
    in_time(move || {
        let mut out = io::stdout().lock();
        // Whoever hung up has no terminal to restore.
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
    });
}

/// What the shell's screen is to show after a session; it may be the line of the session that takes nothing.
pub fn last_words(text: String) {
    // Whoever closed stderr cannot be told.
    in_time(move || drop(io::stderr().write_all(text.as_bytes())));
}

fn in_time(write: impl FnOnce() + Send + 'static) {
    let (done, end) = channel();
    let written = move || {
        write();
        let _ = done.send(());
    };
    if thread::Builder::new().spawn(written).is_ok() {
        let _ = end.recv_timeout(FAREWELL);
    }
}
