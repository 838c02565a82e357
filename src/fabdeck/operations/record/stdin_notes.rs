//! Reads notes from standard input during a recording.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, sync_channel};

use jiff::Timestamp;

use fabdeck_files::capture::fits_note;

/// Largest number of lines that wait for the next sweep; beyond it the writer of stdin waits.
const MAX_WAITING_LINES: usize = 1024;
/// Longer lines are not accepted as notes.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// A line with its time in milliseconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StdinNote {
    Note(i64, String),
    TooLong,
}

/// Reads standard input to its end, in a thread of its own, because a line can arrive at any time.
pub fn start_reading() -> Receiver<StdinNote> {
    let (send, receive) = sync_channel(MAX_WAITING_LINES);
    std::thread::spawn(move || read_lines(io::stdin().lock(), |line| send.send(line).is_ok()));
    receive
}

/// Sends every line that is not empty, until the receiver closes.
fn read_lines(mut input: impl BufRead, mut send: impl FnMut(StdinNote) -> bool) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let taken = input.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line);
        if !taken.is_ok_and(|taken| taken > 0) {
            return;
        }
        let whole = line.ends_with(b"\n") || line.len() as u64 <= MAX_LINE_BYTES;
        let text = String::from_utf8_lossy(&line);
        let note = match text.trim() {
            _ if !whole => {
                if input.skip_until(b'\n').is_err() {
                    return;
                }
                StdinNote::TooLong
            }
            "" => continue,
            text if !fits_note(text) => StdinNote::TooLong,
            text => StdinNote::Note(Timestamp::now().as_millisecond(), text.to_owned()),
        };
        if !send(note) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_notes_and_too_long_ones_are_skipped() {
        let long = "x".repeat(100_000);
        let quotes = "\"".repeat(60_000);
        let text = format!("one\r\n\n  \n{long}\ntwo \u{e4}\n{quotes}\nlast");
        let mut notes = Vec::new();
        read_lines(text.as_bytes(), |line| {
            notes.push(match line {
                StdinNote::Note(time, text) => {
                    assert!(time > 0);
                    text
                }
                StdinNote::TooLong => "too long".to_owned(),
            });
            true
        });
        assert_eq!(notes, ["one", "too long", "two \u{e4}", "too long", "last"]);
        let mut first = Vec::new();
        read_lines(text.as_bytes(), |line| {
            first.push(line);
            false
        });
        assert_eq!(first.len(), 1, "reading ends when the receiver closes");
    }
}
