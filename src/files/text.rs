//! Text of operators' files: with a byte order mark, CRLF, bytes that are not UTF-8, or no last newline.

use std::borrow::Cow;

use super::FileError;
use fabdeck_fabric::observe::{NotePlace, digits_in_groups};

/// Longest line. No known format has longer ones.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// A file's name (for messages) and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes }
    }

    /// The lines with their numbers, from 1.
    pub fn lines(&self) -> TextLines<'a> {
        TextLines { name: self.name, rest: self.text(), number: 0, whole_end: false }
    }

    /// The lines. A last line without a newline counts as complete if it reads as a whole record.
    pub fn lines_with_end(&self, is_whole: impl FnOnce(&str) -> bool) -> TextLines<'a> {
        let (_, last) = self.split_last_line();
        let whole_end = !last.is_empty()
            && last.len() <= MAX_LINE_BYTES
            && is_whole(&String::from_utf8_lossy(trim_returns(last)));
        TextLines { whole_end, ..self.lines() }
    }

    /// The lines before the last one.
    pub fn lines_before_last(&self) -> TextLines<'a> {
        TextLines { rest: self.split_last_line().0, ..self.lines() }
    }

    /// Whether a line before the last one contains the word.
    pub fn has_before_last(&self, word: &str) -> bool {
        self.split_last_line().0.windows(word.len()).any(|part| part == word.as_bytes())
    }

    fn text(&self) -> &'a [u8] {
        self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(self.bytes)
    }

    /// Splits the text into the lines that end in a newline, and the rest.
    fn split_last_line(&self) -> (&'a [u8], &'a [u8]) {
        let text = self.text();
        text.split_at(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1))
    }

    pub fn line_place(&self, line: u64) -> NotePlace {
        NotePlace::line(self.name, line)
    }
}

/// One line without its end (LF, CRLF or CR CRLF).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<'a> {
    pub number: u64,
    pub text: Cow<'a, str>,
    /// Whether the file ends within this line, or may do so: no newline follows it.
    pub unended: bool,
}

#[derive(Clone, Debug)]
pub struct TextLines<'a> {
    name: &'a str,
    rest: &'a [u8],
    number: u64,
    /// Whether the last line is a whole record even without a newline.
    whole_end: bool,
}

fn trim_returns(mut line: &[u8]) -> &[u8] {
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    line
}

impl<'a> Iterator for TextLines<'a> {
    type Item = Result<TextLine<'a>, Box<FileError>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|b| *b == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = rest;
        if line.len() > MAX_LINE_BYTES {
            self.rest = &[];
            let what = format!("a line of {} bytes", digits_in_groups(line.len()));
            let hint = format!(
                "no known format has lines over {} KiB; check that this is a text file",
                MAX_LINE_BYTES >> 10
            );
            return Some(Err(FileError::new("FD-2001", NotePlace::line(self.name, self.number), what, hint)));
        }
        let text = String::from_utf8_lossy(trim_returns(line));
        let unended = end.is_none() && !self.whole_end;
        Some(Ok(TextLine { number: self.number, text, unended }))
    }
}

/// The time in a comment of ibdiagnet, without its `#`: `Timestamp : 2026-11-21 02:27:15 UTC +0000`.
pub fn parse_timestamp(comment: &str) -> Option<&str> {
    let (name, time) = comment.split_once(':')?;
    let named = ["timestamp", "date", "time"].iter().any(|word| name.trim().eq_ignore_ascii_case(word));
    (named && !time.trim().is_empty()).then(|| time.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        Input::new("t", bytes).lines().map(|l| l.unwrap().text.into_owned()).collect()
    }

    #[test]
    fn marks_and_line_ends_vanish() {
        assert_eq!(lines(b"\xEF\xBB\xBFa\r\nb\r\r\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(lines(b""), [""; 0]);
        assert_eq!(lines(b"\xff\n"), ["\u{fffd}"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let long = vec![b'x'; MAX_LINE_BYTES + 1];
        let error = Input::new("t", &long).lines().next().unwrap().unwrap_err();
        assert_eq!(error.code, "FD-2001");
    }
}
