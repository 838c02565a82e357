//! Prefixes of lines: line numbers, times, syslog headers, quote marks of mails.

use super::super::FileError;
use super::super::format::detect;
use super::{MIXED_PREFIX, PARTIAL_PREFIX, PREFIX};
use fabdeck_fabric::observe::{NotePlace, Notes};

/// Most prefixes in front of each other, as in a quoted log.
pub(super) const MAX_PREFIXES: usize = 3;

/// Size of the beginning of a file that is examined first.
const HEAD: usize = 64 * 1024;

/// A kind of prefix. `length` returns its number of bytes in a line, including one blank after it.
struct PrefixKind {
    title: &'static str,
    remove: &'static str,
    length: fn(&str) -> Option<usize>,
    /// Whether the numbers rise from line to line.
    rising: bool,
    /// Whether no line of a dump begins like this.
    foreign: bool,
}

const KINDS: [PrefixKind; 5] = [
    PrefixKind {
        title: "a syslog header",
        remove: "the time, host and program",
        length: syslog_length,
        rising: false,
        foreign: true,
    },
    PrefixKind {
        title: "a time with the level of a log",
        remove: "the times and levels",
        length: log_level_length,
        rising: false,
        foreign: true,
    },
    PrefixKind { title: "a time", remove: "the times", length: time_length, rising: false, foreign: false },
    PrefixKind {
        title: "a line number",
        remove: "the line numbers",
        length: number_length,
        rising: true,
        foreign: false,
    },
    PrefixKind {
        title: "the quote mark of a mail",
        remove: "the '>'",
        length: quote_length,
        rising: false,
        foreign: true,
    },
];

/// The lines at the beginning of a file.
fn head(bytes: &[u8]) -> &[u8] {
    match bytes.len() <= HEAD {
        true => bytes,
        false => &bytes[..bytes[..HEAD].iter().rposition(|b| *b == b'\n').map_or(HEAD, |at| at + 1)],
    }
}

/// Removes the prefix that all lines have; `None` if there is none in front of a known format.
pub(super) fn strip_prefixes(
    name: &str,
    bytes: &[u8],
    notes: &mut Notes,
) -> Result<Option<Vec<u8>>, Box<FileError>> {
    let (whole, head) = (bytes.len() <= HEAD, head(bytes));
    for kind in &KINDS {
        let (matched, of) = count_prefixed(kind, head);
        if of < 2 || matched * 2 < of || !hides_format(&strip_prefix(kind.length, head), MAX_PREFIXES - 1) {
            continue;
        }
        let (matched, of) = if whole { (matched, of) } else { count_prefixed(kind, bytes) };
        if matched == of {
            notes.add(PREFIX, NotePlace::file(name), || {
                format!("removed from the beginning of every line: {}", kind.title)
            });
            return Ok(Some(strip_prefix(kind.length, bytes)));
        }
        if detect(head).is_none() {
            return Err(mixed_prefix(name, kind, matched, of));
        }
    }
    if detect(head).is_some() {
        note_partial_prefix(name, head, notes);
        return Ok(None);
    }
    Ok(strip_common_words(name, bytes, notes))
}

/// Names the prefix of some first lines in a text with a known format that cannot be read.
pub(super) fn refuse_partial_prefix(name: &str, text: &[u8]) -> Result<(), Box<FileError>> {
    let head = head(text);
    for kind in KINDS.iter().filter(|kind| kind.foreign) {
        if count_prefixed(kind, head).0 > 1 {
            let (matched, of) = count_prefixed(kind, text);
            return Err(mixed_prefix(name, kind, matched, of));
        }
    }
    Ok(())
}

/// Notes prefixes of some first lines in a text with a known format, because readers do not understand these lines.
fn note_partial_prefix(name: &str, head: &[u8], notes: &mut Notes) {
    for kind in KINDS.iter().filter(|kind| kind.foreign) {
        let (matched, of) = count_prefixed(kind, head);
        if matched > 1 {
            notes.add_partial(PARTIAL_PREFIX, NotePlace::file(name), || {
                format!(
                    "{matched} of the first {of} lines begin with {} and are not read; remove {} there",
                    kind.title, kind.remove
                )
            });
        }
    }
}

fn mixed_prefix(name: &str, kind: &PrefixKind, matched: usize, of: usize) -> Box<FileError> {
    let what = format!("{} is in front of {matched} of {of} lines, and not of the others", kind.title);
    let hint =
        format!("remove {} in front of the lines, and lines that are no part of the dump", kind.remove);
    FileError::new(MIXED_PREFIX, NotePlace::file(name), what, hint)
}

/// Whether a format appears, possibly after more prefixes.
fn hides_format(text: &[u8], more: usize) -> bool {
    let below = |kind: &PrefixKind| {
        let (matched, of) = count_prefixed(kind, text);
        of >= 2 && matched == of && hides_format(&strip_prefix(kind.length, text), more - 1)
    };
    detect(text).is_some() || more > 0 && KINDS.iter().any(below)
}

/// Number of lines with the prefix, and number of lines that are not blank.
fn count_prefixed(kind: &PrefixKind, bytes: &[u8]) -> (usize, usize) {
    let (mut matched, mut of, mut last) = (0, 0, None);
    for line in lines(bytes).filter(|line| !line.trim().is_empty()) {
        of += 1;
        let Some(length) = (kind.length)(&line) else { continue };
        let number = line[..length].trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
        if kind.rising && (number.is_none() || number <= last) {
            continue;
        }
        last = number;
        matched += 1;
    }
    (matched, of)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes.split(|b| *b == b'\n').map(|line| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)))
}

fn strip_prefix(length: fn(&str) -> Option<usize>, bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for line in lines(bytes) {
        text.extend_from_slice(&line.as_bytes()[length(&line).unwrap_or(0)..]);
        text.push(b'\n');
    }
    text.pop();
    text
}

/// Removes words that all lines begin with, such as names of hosts from `pdsh` or of files from `grep`.
fn strip_common_words(name: &str, bytes: &[u8], notes: &mut Notes) -> Option<Vec<u8>> {
    let mut filled = lines(bytes).filter(|line| !line.trim().is_empty());
    let mut same = filled.next()?.into_owned();
    let mut of = 1;
    for line in filled {
        let alike = same.char_indices().zip(line.chars()).find(|((_, a), b)| a != b);
        let length = alike.map_or(same.len().min(line.len()), |((at, _), _)| at);
        // A line without further text may lack the final blank.
        if !(line.len() == length && same.trim_end() == line.trim_end()) {
            same.truncate(length);
        }
        of += 1;
        if same.is_empty() {
            return None;
        }
    }
    let end = same.rfind([' ', '\t', ':', '>', '|']).map(|at| at + 1)?;
    same.truncate(end);
    let mut text = Vec::with_capacity(bytes.len());
    for line in lines(bytes) {
        let rest = line.strip_prefix(same.as_str()).or_else(|| line.strip_prefix(same.trim_end()));
        text.extend_from_slice(rest.unwrap_or(&line).as_bytes());
        text.push(b'\n');
    }
    text.pop();
    (of >= 2 && detect(&text).is_some()).then(|| {
        let shown: String = same.trim_end().chars().filter(|c| !c.is_control()).take(40).collect();
        notes.add(PREFIX, NotePlace::file(name), || {
            format!("removed from the beginning of every line: '{shown}'")
        });
        text
    })
}

/// Extends a length by one blank; at the end of the line there is none.
fn end_after_blank(line: &str, at: usize) -> Option<usize> {
    match line.as_bytes().get(at) {
        None => Some(at),
        Some(b' ' | b'\t') => Some(at + 1),
        Some(_) => None,
    }
}

/// Matches `   12<TAB>`, `12:`, `12) `, `12 `.
fn number_length(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let at = start + digit_count(&line[start..], 1..=9)?;
    match line.as_bytes().get(at) {
        Some(b':' | b'|') => Some(at + 1),
        Some(b')') => end_after_blank(line, at + 1),
        _ => end_after_blank(line, at),
    }
}

/// Matches `> `, `>> `, `> > `.
fn quote_length(line: &str) -> Option<usize> {
    let at = line.len() - line.trim_start_matches([' ', '>']).len();
    let marks = line[..at].rfind('>')? + 1;
    line.starts_with('>').then(|| end_after_blank(line, marks).unwrap_or(marks))
}

/// Matches `Nov 21 02:27:15 host program[123]: `, with any form of time and possibly a priority (`<30>`) in front, and
/// the header of RFC 5424.
fn syslog_length(line: &str) -> Option<usize> {
    let start = priority_length(line).unwrap_or(0);
    let Some(time) = time_length(&line[start..]) else { return rfc_5424_length(line, start) };
    let time = start + time;
    let mut words = line[time..].split(' ');
    let (host, program) = (words.next()?, words.next()?);
    let fits =
        !host.is_empty() && !host.contains(['"', '[', '=']) && program.len() > 1 && program.ends_with(':');
    fits.then(|| end_after_blank(line, time + host.len() + 1 + program.len()))?
}

/// Matches the priority in front of a syslog header: `<30>`.
fn priority_length(line: &str) -> Option<usize> {
    let rest = line.strip_prefix('<')?;
    let digits = digit_count(rest, 1..=3)?;
    rest[digits..].starts_with('>').then_some(digits + 2)
}

/// Matches the header of RFC 5424 after its priority: version, time, host, program, process, message and structured
/// data, as in `<30>1 2026-11-21T02:27:15Z mgmt ibnet 12 - - `. The version is the first one, and the time may be `-`.
fn rfc_5424_length(line: &str, start: usize) -> Option<usize> {
    const WORDS: usize = 4;
    let mut at = start + line[start..].strip_prefix("1 ").filter(|_| start > 0).map(|_| 2)?;
    at += if line[at..].starts_with("- ") { 2 } else { time_length(&line[at..])? };
    for _ in 0..WORDS {
        at += line[at..].find(' ').filter(|length| *length > 0)? + 1;
    }
    if line[at..].starts_with('-') {
        return end_after_blank(line, at + 1);
    }
    while line[at..].starts_with('[') {
        at += line[at..].find(']')? + 1;
    }
    end_after_blank(line, at).filter(|_| line[..at].ends_with(']'))
}

/// Matches a time and the level of a log after it: `2026-11-21 02:27:15,123 INFO `, also in brackets, between `-`, or
/// with a colon.
fn log_level_length(line: &str) -> Option<usize> {
    const LEVELS: [&str; 10] =
        ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERR", "ERROR", "CRITICAL", "FATAL"];
    let mut at = time_length(line)?;
    let dashed = line[at..].starts_with("- ");
    at += if dashed { 2 } else { 0 };
    let open = usize::from(line[at..].starts_with('['));
    let letters = line[at + open..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = &line[at + open..at + open + letters];
    LEVELS.iter().find(|level| level.eq_ignore_ascii_case(word))?;
    at += open + letters;
    at += if open == 1 { line[at..].starts_with(']').then_some(1)? } else { 0 };
    at += usize::from(line[at..].starts_with(':'));
    // Levels of one log are padded to the same width.
    let padding = line[at..].len() - line[at..].trim_start_matches(' ').len();
    match dashed && line[at..].trim_start_matches(' ').starts_with("- ") {
        true => Some(at + padding + 2),
        false => end_after_blank(line, at),
    }
}

/// Matches a time in one of the usual forms, with or without brackets: `2026-11-21 02:27:15.123`,
/// `2026-11-21T02:27:15Z`, `Nov 21 02:27:15`, `Sat Nov 21 02:27:15 2026`, `02:27:15`, `[12345.678901]`,
/// `1795228035.5`.
fn time_length(line: &str) -> Option<usize> {
    let open = usize::from(line.starts_with('['));
    let text = &line[open..];
    let blanks = text.len() - text.trim_start().len();
    let moment = clock_length(text)
        .or_else(|| {
            let day = date_length(text)?;
            Some(day + clock_length(&text[day..])?)
        })
        .or_else(|| {
            let seconds = blanks + digit_count(&text[blanks..], 1..=10)?;
            let fraction = text[seconds..].strip_prefix('.')?;
            (open == 1 || seconds == 10).then_some(seconds + 1 + digit_count(fraction, 1..=9)?)
        })?;
    let mut at = open + moment;
    if open == 1 {
        at += line[at..].starts_with(']').then_some(1)?;
    }
    at += usize::from(line[at..].starts_with(':'));
    end_after_blank(line, at)
}

/// Matches a day and its separator from the time: `2026-11-21T`, `2026/11/21 `, `Nov 21 `, `Sat Nov 21 `.
fn date_length(text: &str) -> Option<usize> {
    if digit_count(text, 4..=4).is_some() {
        let parts = text.as_bytes().get(..11)?;
        let sign = |at: usize| matches!(parts[at], b'-' | b'/' | b'.');
        let numbers = [5, 6, 8, 9].iter().all(|at| parts[*at].is_ascii_digit());
        return (sign(4) && sign(7) && numbers && matches!(parts[10], b'T' | b' ' | b'_')).then_some(11);
    }
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const DAYS: &str = "MonTueWedThuFriSatSun";
    let named = |at: usize, names: &str| {
        let word = text.get(at..at + 3)?;
        (names.as_bytes().chunks(3).any(|name| name == word.as_bytes()) && text[at + 3..].starts_with(' '))
            .then_some(at + 4)
    };
    let month = named(0, DAYS).and_then(|at| named(at, MONTHS)).or_else(|| named(0, MONTHS))?;
    let blanks = text[month..].len() - text[month..].trim_start_matches(' ').len();
    let day = month + blanks + digit_count(&text[month + blanks..], 1..=2)?;
    text[day..].starts_with(' ').then_some(day + 1)
}

/// Matches `02:27:15`, optionally with a fraction, a zone or a year after it.
fn clock_length(text: &str) -> Option<usize> {
    let parts = text.as_bytes().get(..8)?;
    let numbers = [0, 1, 3, 4, 6, 7].iter().all(|at| parts[*at].is_ascii_digit());
    if !numbers || parts[2] != b':' || parts[5] != b':' {
        return None;
    }
    let mut at = 8;
    if let Some(fraction) = text[at..].strip_prefix(['.', ',']) {
        at += 1 + digit_count(fraction, 1..=9)?;
    }
    let zone = &text[at..];
    at += match zone.as_bytes().first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') => 1 + zone[1..].bytes().take_while(|b| b.is_ascii_digit() || *b == b':').count(),
        _ => 0,
    };
    let year = text[at..].strip_prefix(' ').and_then(|rest| digit_count(rest, 4..=4));
    let named =
        text[at..].starts_with(" 20") && text.as_bytes().get(at + 5).is_none_or(|b| *b == b' ' || *b == b']');
    Some(at + year.filter(|_| named).map_or(0, |year| year + 1))
}

/// Number of digits at the beginning of a text, if it is within bounds.
fn digit_count(text: &str, bounds: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    bounds.contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_in_every_form() {
        for prefix in [
            "2026-11-21 02:27:15 ",
            "2026-11-21 02:27:15.123: ",
            "2026-11-21T02:27:15Z ",
            "2026/11/21 02:27:15,5 ",
            "[2026-11-21T02:27:15+01:00] ",
            "Nov 21 02:27:15 ",
            "Nov  1 02:27:15 ",
            "Sat Nov 21 02:27:15 2026 ",
            "[Sat Nov 21 02:27:15 2026] ",
            "02:27:15 ",
            "[02:27:15] ",
            "[12345.678901] ",
            "[    5.678901] ",
            "1795228035.5 ",
        ] {
            for rest in ["Switch\t8 \"S-1\"", "[1]\t\"S-1\"[2]", "# a comment", ""] {
                assert_eq!(time_length(&format!("{prefix}{rest}")), Some(prefix.len()), "{prefix}{rest}");
            }
        }
        for prefix in [
            "Nov 21 02:27:15 mgmt ibnet[12]: ",
            "2026-11-21T02:27:15+0100 mgmt root: ",
            "<30>Nov  1 02:27:15 mgmt ibnet[12]: ",
            "<30>1 2026-11-21T02:27:15Z mgmt ibnet 12 - - ",
            "<165>1 - mgmt ibnet - ID7 [a@1 b=\"c\"][d@2] ",
        ] {
            assert_eq!(syslog_length(&format!("{prefix}Switch 8")), Some(prefix.len()), "{prefix}");
        }
        for (prefix, rest) in
            [("  12\t", "x"), ("7:", "x"), ("7 ", "x"), ("7", ""), ("12) ", "x"), ("12)", "")]
        {
            assert_eq!(number_length(&format!("{prefix}{rest}")), Some(prefix.len()), "{prefix}");
        }
        for prefix in [
            "2026-11-21 02:27:15,123 INFO ",
            "2026-11-21 02:27:15,123 - WARNING - ",
            "Nov 21 02:27:15 [error]: ",
        ] {
            assert_eq!(log_level_length(&format!("{prefix}Switch 8")), Some(prefix.len()), "{prefix}");
        }
        for (prefix, rest) in [("> ", "x"), (">", "x"), ("> > ", "x"), (">> ", "\tx"), (">", "")] {
            assert_eq!(quote_length(&format!("{prefix}{rest}")), Some(prefix.len()), "{prefix}");
        }
        for line in
            ["Switch\t8", "[1]\t\"S-1\"", "[1](7) \"S-1\"", "0x0001 001", "vendid=0x2c9", "1   3   : 0"]
        {
            assert_eq!(
                (time_length(line), syslog_length(line), quote_length(line), log_level_length(line)),
                (None, None, None, None),
                "{line}"
            );
        }
    }
}
