//! Detects lines that a window or a mail wrapped at a width.

use super::super::FileError;
use super::super::content::Content;
use super::super::format::detect;
use super::super::text::Input;
use super::super::topology_text::{LineKind, classify};
use super::WRAPPED;
use fabdeck_fabric::observe::Place;

/// Most bytes of a text that is checked: larger files are not copied from a window.
const MOST_BYTES: usize = 16 << 20;
/// Possible widths of windows and mails.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=300;
/// Fewest wrapped lines that prove wrapping.
const FEWEST: usize = 2;
/// Notes on lines, or ends of lines, that no format has.
const STRAY: [&str; 8] = ["FN-201", "FN-212", "FN-216", "FN-307", "FN-407", "FN-418", "FN-424", "FN-325"];

/// Refuses a text with wrapped lines. Its content has stray lines, or cannot be read, and after joining the lines it
/// has none.
pub(super) fn check(
    name: &str,
    bytes: &[u8],
    read: Option<&Result<Content, Box<FileError>>>,
) -> Result<(), Box<FileError>> {
    let plain = matches!(read, Some(Ok(content)) if stray(content) == 0);
    if bytes.len() > MOST_BYTES {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    if plain && count_tails(&text) < FEWEST {
        return Ok(());
    }
    let Some(joined) = join(&text) else { return Ok(()) };
    let Some(format) = detect(joined.text.as_bytes()) else { return Ok(()) };
    let Ok(whole) = (format.read)(Input::new(name, joined.text.as_bytes())) else { return Ok(()) };
    if stray(&whole) * 10 > joined.count as u64 {
        return Ok(());
    }
    let Joined { width, count, .. } = joined;
    let what = format!("the lines are wrapped at {width} columns: {count} of them go on in the next line");
    let hint =
        "write the dump into a file where it is taken, as in 'ibnetdiscover > net.txt', and send that file";
    Err(FileError::new(WRAPPED, Place::file(name), what, hint))
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

fn stray(content: &Content) -> u64 {
    content.notes().iter().filter(|note| STRAY.contains(&note.code)).map(|note| note.count).sum()
}

struct Joined {
    text: String,
    width: usize,
    count: usize,
}

/// Joins a line with the next one if the first word of the next did not fit. Windows fill a line to its last column,
/// mails end it before a word.
fn join(text: &str) -> Option<Joined> {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let width = lines.iter().map(|line| columns(line)).max()?;
    if !WIDTHS.contains(&width) {
        return None;
    }
    let (mut joined, mut count) = (String::with_capacity(text.len()), 0);
    for (at, line) in lines.iter().enumerate() {
        joined.push_str(line);
        let next = lines
            .get(at + 1)
            .filter(|next| !line.trim().is_empty() && (goes_on(next) || is_tail(next) && lacks_tail(line)));
        let word = next.and_then(|next| next.split_whitespace().next());
        let used = columns(line);
        match word {
            Some(_) if used == width => count += 1,
            Some(word) if used + usize::from(!line.ends_with(' ')) + columns(word) > width => {
                count += 1;
                joined.push(' ');
            }
            _ => joined.push('\n'),
        }
    }
    (count >= FEWEST).then_some(Joined { text: joined, width, count })
}

/// Whether a line may be the continuation of another. Lines of a dump may all have the greatest length, but they begin
/// as lines of the format.
fn goes_on(line: &str) -> bool {
    let begins = ["0x", "START_", "END_"].iter().any(|word| line.starts_with(word));
    !begins && matches!(classify(line), LineKind::Noise | LineKind::ToolError)
}

/// Number of columns of a line, with tab stops at multiples of eight.
fn columns(line: &str) -> usize {
    line.chars().fold(0, |at, sign| if sign == '\t' { (at / 8 + 1) * 8 } else { at + 1 })
}
