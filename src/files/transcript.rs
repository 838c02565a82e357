//! Removes what terminals, mails or logs add to text: UTF-16, colours, prefixes of lines, wrapped lines. An addition
//! to all lines is removed; for one to some lines a message names it.

mod joining_rules;
mod line_prefix;
mod line_wrap;

use std::borrow::Cow;

use super::capture_format;
use super::content::Content;
use super::file_error::FileError;
use super::format::{Format, detect};
use super::text::Input;
use fabdeck_fabric::observe::{NotePlace, Notes, digits_in_groups};

/// Some lines have a prefix, and others do not.
const MIXED_PREFIX: &str = "FD-2007";
/// The same in a text that can still be read.
const PARTIAL_PREFIX: &str = "FN-560";
/// Long lines continue in the next one.
const WRAPPED: &str = "FD-2008";
/// The same kind of prefix in front of all lines, which was removed.
const PREFIX: &str = "FN-551";
const UTF_16: &str = "FN-552";
const COLOURS: &str = "FN-553";
const ZEROS: &str = "FN-554";

/// Fewest zeros in a row that are a hole in the file, and not the padding of a name.
const HOLE_BYTES: usize = 64;

/// Reads a file in any format; `None` if it is of no known format.
pub fn read(
    name: &str,
    bytes: &[u8],
    notes: &mut Notes,
) -> Result<Option<(&'static Format, Content)>, Box<FileError>> {
    let found = detect(bytes);
    if let Some(format) = found.filter(|format| format.id == capture_format::ID) {
        return (format.read)(Input::new(name, bytes)).map(|content| Some((format, content)));
    }
    let text = plain_text(name, bytes, notes)?;
    note_zeros(name, &text, notes);
    let Some(format) = detect(&text) else {
        return line_wrap::refuse_wrapped(name, &text, None).map(|()| None);
    };
    let content = (format.read)(Input::new(name, &text));
    if content.is_err() {
        line_prefix::refuse_partial_prefix(name, &text)?;
    }
    line_wrap::refuse_wrapped(name, &text, Some(&content))?;
    content.map(|content| Some((format, content)))
}

/// The text without additions of a terminal, mail or log.
pub fn plain_text<'a>(
    name: &str,
    bytes: &'a [u8],
    notes: &mut Notes,
) -> Result<Cow<'a, [u8]>, Box<FileError>> {
    let mut text = Cow::Borrowed(bytes);
    if let Some(decoded) = from_utf_16(&text) {
        notes.add(UTF_16, NotePlace::file(name), || "the text is UTF-16 and was decoded".to_owned());
        text = Cow::Owned(decoded.into_bytes());
    }
    if let Some((plain, count)) = without_colours(&text) {
        notes.add(COLOURS, NotePlace::file(name), || {
            let sequences = if count == 1 { "sequence" } else { "sequences" };
            let count = digits_in_groups(count);
            format!("{count} terminal {sequences} (such as colours) left out")
        });
        text = Cow::Owned(plain);
    }
    for _ in 0..line_prefix::MAX_PREFIXES {
        let Some(shorter) = line_prefix::strip_prefixes(name, &text, notes)? else { break };
        text = Cow::Owned(shorter);
    }
    Ok(text)
}

/// Decodes UTF-16, recognized by its mark, or by a zero in every second byte at the beginning.
fn from_utf_16(bytes: &[u8]) -> Option<String> {
    const HEAD: usize = 512;
    let (rest, big) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (rest, false),
        [0xFE, 0xFF, rest @ ..] => (rest, true),
        _ => {
            let head = &bytes[..bytes.len().min(HEAD) & !1];
            let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|b| **b == 0).count();
            let (first, second, half) = (zeros(0), zeros(1), head.len() / 2);
            match half >= 8 {
                true if first == 0 && second * 10 >= half * 9 => (bytes, false),
                true if second == 0 && first * 10 >= half * 9 => (bytes, true),
                _ => return None,
            }
        }
    };
    let unit = |pair: &[u8]| match big {
        true => u16::from_be_bytes([pair[0], pair[1]]),
        false => u16::from_le_bytes([pair[0], pair[1]]),
    };
    let signs = char::decode_utf16(rest.chunks_exact(2).map(unit));
    Some(signs.map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Removes terminal commands and counts them. If no line begins with one they stay, because they may be part of a
/// name.
fn without_colours(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    const ESCAPE: u8 = 0x1B;
    let begins = bytes.first() == Some(&ESCAPE) || bytes.windows(2).any(|pair| pair == [b'\n', ESCAPE]);
    if !begins {
        return None;
    }
    let (mut plain, mut count) = (Vec::with_capacity(bytes.len()), 0);
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|b| *b == ESCAPE) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + escape_length(&rest[at..])..];
        count += 1;
    }
    plain.extend_from_slice(rest);
    Some((plain, count))
}

/// The length of the terminal command at the beginning of a text; 1 if the command does not end within the line.
fn escape_length(text: &[u8]) -> usize {
    let line = &text[..text.iter().position(|b| *b == b'\n').unwrap_or(text.len())];
    let end = match line.get(1) {
        Some(b'[') => line.iter().skip(2).position(|b| (0x40..=0x7E).contains(b)).map(|at| at + 3),
        Some(b']') => line.iter().position(|b| *b == 0x07).map(|at| at + 1),
        Some(b'(' | b')') => Some(3),
        Some(_) => Some(2),
        None => None,
    };
    end.filter(|end| *end <= line.len()).unwrap_or(1)
}

/// Notes zero bytes. No text contains them: an editor put them there, or the copy of a damaged disk.
fn note_zeros(name: &str, text: &[u8], notes: &mut Notes) {
    if !text.contains(&0) {
        return;
    }
    let (mut count, mut run, mut longest, mut line, mut first) = (0u64, 0, 0, 1u64, None);
    for byte in text {
        line += u64::from(*byte == b'\n');
        run = if *byte == 0 { run + 1 } else { 0 };
        count += u64::from(*byte == 0);
        longest = longest.max(run);
        if *byte == 0 && first.is_none() {
            first = Some(line);
        }
    }
    let Some(first) = first else { return };
    let place = NotePlace::line(name, first);
    match longest >= HOLE_BYTES {
        true => notes.add_partial(ZEROS, place, || {
            let (count, longest) = (digits_in_groups(count), digits_in_groups(longest));
            format!("{count} bytes of zero, {longest} of them in a row: a part of the text is missing here")
        }),
        false => notes.add(ZEROS, place, || {
            let bytes = if count == 1 { "byte" } else { "bytes" };
            format!("{} {bytes} of zero in the text", digits_in_groups(count))
        }),
    }
}
