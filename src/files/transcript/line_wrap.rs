//! Detects lines that a window or a mail wrapped at a width.

use super::super::FileError;
use super::super::content::Content;
use super::super::format::detect;
use super::super::text::Input;
use super::super::topology_text::{LineKind, classify};
use super::WRAPPED;
use fabdeck_fabric::observe::NotePlace;

/// Most bytes of a text that is checked: larger files are not copied from a window.
const MOST_BYTES: usize = 16 << 20;
/// Possible widths of windows and mails.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=300;
/// Fewest wrapped lines that prove wrapping.
const MIN_WRAPPED_LINES: usize = 2;
/// Notes on lines, or ends of lines, that no format has.
const STRAY_LINE_CODES: [&str; 8] =
    ["FN-201", "FN-212", "FN-216", "FN-307", "FN-407", "FN-418", "FN-424", "FN-325"];

/// Refuses a text with wrapped lines. Its content has stray lines, or cannot be read, and after joining the lines it
/// has none.
pub(super) fn refuse_wrapped(
    name: &str,
    bytes: &[u8],
    read: Option<&Result<Content, Box<FileError>>>,
) -> Result<(), Box<FileError>> {
    let plain = matches!(read, Some(Ok(content)) if stray_lines(content) == 0);
    if bytes.len() > MOST_BYTES {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    if plain && count_tails(&text) < MIN_WRAPPED_LINES {
        return Ok(());
    }
    let Some(joined) = join_lines(&text) else { return Ok(()) };
    let Some(format) = detect(joined.text.as_bytes()) else { return Ok(()) };
    let Ok(whole) = (format.read)(Input::new(name, joined.text.as_bytes())) else { return Ok(()) };
    if stray_lines(&whole) * 10 > joined.count as u64 {
        return Ok(());
    }
    let JoinedText { width, count, .. } = joined;
    let what = format!("the lines are wrapped at {width} columns: {count} of them continue in the next line");
    let hint =
        "write the output of the tool directly to a file, as in 'ibnetdiscover > net.txt', and use that file";
    Err(FileError::new(WRAPPED, NotePlace::file(name), what, hint))
}

/// Beginnings of the words after a node or a cable. When a line is wrapped before them, they look like a comment.
const TAILS: [&str; 2] = ["# \"", "# lid "];

fn is_tail(line: &str) -> bool {
    TAILS.iter().any(|tail| line.starts_with(tail))
}

/// Whether a line is of a node or a cable, without the words that ibnetdiscover prints after it.
fn lacks_tail(line: &str) -> bool {
    !line.contains('#') && matches!(classify(line), LineKind::Port(_) | LineKind::Record(..))
}

/// Number of tails on lines of their own, after lines that lack them.
fn count_tails(text: &str) -> usize {
    text.lines().zip(text.lines().skip(1)).filter(|(line, next)| is_tail(next) && lacks_tail(line)).count()
}

fn stray_lines(content: &Content) -> u64 {
    content.notes().iter().filter(|note| STRAY_LINE_CODES.contains(&note.code)).map(|note| note.count).sum()
}

struct JoinedText {
    text: String,
    width: usize,
    count: usize,
}

/// Joins a line with the next one if the first word of the next did not fit. Windows fill a line to its last column,
/// mails end it before a word.
fn join_lines(text: &str) -> Option<JoinedText> {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let width = lines.iter().map(|line| column_count(line)).max()?;
    if !WIDTHS.contains(&width) {
        return None;
    }
    let (mut joined, mut count) = (String::with_capacity(text.len()), 0);
    for (at, line) in lines.iter().enumerate() {
        joined.push_str(line);
        let next = lines.get(at + 1).filter(|next| {
            !line.trim().is_empty() && (may_continue(next) || is_tail(next) && lacks_tail(line))
        });
        let word = next.and_then(|next| next.split_whitespace().next());
        let used = column_count(line);
        match word {
            Some(_) if used == width => count += 1,
            Some(word) if used + usize::from(!line.ends_with(' ')) + column_count(word) > width => {
                count += 1;
                joined.push(' ');
            }
            _ => joined.push('\n'),
        }
    }
    (count >= MIN_WRAPPED_LINES).then_some(JoinedText { text: joined, width, count })
}

/// Whether a line may be the continuation of another. Lines of a dump may all have the greatest length, but they begin
/// as lines of the format.
fn may_continue(line: &str) -> bool {
    let begins = ["0x", "START_", "END_"].iter().any(|word| line.starts_with(word));
    !begins && matches!(classify(line), LineKind::Noise | LineKind::ToolError)
}

/// Number of columns of a line, with tab stops at multiples of eight.
fn column_count(line: &str) -> usize {
    line.chars().fold(0, |at, sign| if sign == '\t' { (at / 8 + 1) * 8 } else { at + 1 })
}
