//! A cursor over one line, numbers and excerpts of it, and the error of a line.

use crate::FileError;
use fabdeck_fabric::observe::NotePlace;

/// Why a line cannot be read; the reader adds its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineFault {
    pub code: &'static str,
    pub what: String,
    pub hint: &'static str,
}

impl LineFault {
    pub fn new(code: &'static str, what: impl Into<String>, hint: &'static str) -> Self {
        Self { code, what: what.into(), hint }
    }

    pub fn with_place(self, place: NotePlace) -> Box<FileError> {
        FileError::new(self.code, place, self.what, self.hint)
    }
}

/// The rest of a line.
#[derive(Clone, Copy, Debug)]
pub struct LineCursor<'a> {
    pub rest: &'a str,
}

impl<'a> LineCursor<'a> {
    pub fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// Skips blanks; returns whether there were any.
    pub fn skip_blanks(&mut self) -> bool {
        let trimmed = self.rest.trim_start();
        let any = trimmed.len() != self.rest.len();
        self.rest = trimmed;
        any
    }

    pub fn skip_char(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub fn take_digits(&mut self) -> &'a str {
        let end = self.rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    /// The text before a closing character; skips that character too.
    pub fn take_until(&mut self, sign: char) -> Option<&'a str> {
        let (text, rest) = self.rest.split_once(sign)?;
        self.rest = rest;
        Some(text)
    }
}

/// The beginning of a text from a file, for a message.
pub fn excerpt(text: &str) -> &str {
    const SHOWN: usize = 60;
    text.char_indices().nth(SHOWN).map_or(text, |(at, _)| &text[..at])
}

/// Reads a decimal count. One that does not fit becomes `u32::MAX`, which is outside all valid ranges.
pub fn parse_count(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}

/// Reads a number as C's strtoull does with base 0: `0x` hexadecimal, a leading 0 octal, otherwise decimal. Ignores
/// text after the digits, as ibsim does.
pub fn parse_c_number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None if text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_c_reads_them() {
        for (text, number) in [
            ("0x10", Some(16)),
            ("0x200003(200003)", Some(0x20_0003)),
            ("20", Some(20)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("", None),
            ("x", None),
            ("0xffffffffffffffffff", None),
        ] {
            assert_eq!(parse_c_number(text), number, "{text}");
        }
        assert_eq!(parse_count("99999999999999999999"), Some(u32::MAX));
        assert_eq!(parse_count("-1"), None);
    }
}
