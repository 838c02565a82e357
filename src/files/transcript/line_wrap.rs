//! Detects lines that a window or a mail wrapped at a width.

use super::super::FileError;
use super::super::content::Content;
use super::super::format::{Format, detect};
use super::super::text::Input;
use super::WRAPPED;
use super::joining_rules::{JoiningRules, LineJoiner, OTHER_RULES, RULES, is_tail_of};
use fabdeck_fabric::observe::NotePlace;

/// Most bytes of a text that is checked: larger files are not copied from a window.
const MOST_BYTES: usize = 16 << 20;
/// Size of the beginning in which joined lines have to show a format.
const HEAD: usize = 64 * 1024;
/// Possible widths of windows and mails.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=300;
/// Fewest wrapped lines that prove wrapping.
const MIN_WRAPPED_LINES: usize = 2;
/// Notes on lines, or ends of lines, that no format has.
const STRAY_LINE_CODES: [&str; 8] =
    ["FN-201", "FN-212", "FN-216", "FN-307", "FN-407", "FN-418", "FN-424", "FN-325"];
/// The note on rows with more cells than columns, as below column names that continue in the next line.
const REPAIRED_ROW: &str = "FN-425";

/// Refuses a text with wrapped lines. The proof has three parts:
///
/// - lines that the format does not know follow lines that fill the width (a prompt or a remark is one such line);
/// - most of the lines that fill the width continue in such a line;
/// - after joining them the text can be read, and the stray lines are gone.
pub(super) fn refuse_wrapped(
    name: &str,
    bytes: &[u8],
    read: Option<&Result<Content, Box<FileError>>>,
) -> Result<(), Box<FileError>> {
    if bytes.len() > MOST_BYTES {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    // Without a content every line may be stray.
    let misread = match read {
        Some(Ok(content)) => Some(misread_lines(content) + count_tails(&text) as u64),
        _ => None,
    };
    if misread.is_some_and(|count| count < MIN_WRAPPED_LINES as u64) {
        return Ok(());
    }
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let Some(width) = lines.iter().map(|line| column_count(line)).max().filter(|max| WIDTHS.contains(max))
    else {
        return Ok(());
    };
    let found = detect(bytes);
    for rules in RULES.iter().chain([&OTHER_RULES]) {
        let detected = found.is_some_and(|format| rules.covers(format.id));
        // The first lines of a wrapped text may look like another format, which cannot read it.
        if !detected && (misread.is_some() || !shows_format(&lines, width, rules)) {
            continue;
        }
        if let Some(count) = count_wrapped(name, &lines, width, rules, misread) {
            return Err(wrapped(name, width, count));
        }
    }
    Ok(())
}

fn wrapped(name: &str, width: usize, count: usize) -> Box<FileError> {
    let continued = if count == 1 { "continues" } else { "continue" };
    let what =
        format!("the lines are wrapped at {width} columns: {count} of them {continued} in the next line");
    let hint =
        "write the output of the tool directly to a file, as in 'ibnetdiscover > net.txt', and use that file";
    FileError::new(WRAPPED, NotePlace::file(name), what, hint)
}

/// Whether the beginning of a text is of a format of these rules once its lines are joined.
fn shows_format(lines: &[&str], width: usize, rules: &JoiningRules) -> bool {
    let mut size = 0;
    let head = lines.iter().take_while(|line| {
        size += line.len() + 1;
        size <= HEAD
    });
    joined_format(&join_lines(&lines[..head.count()], width, rules), rules).is_some()
}

fn joined_format(joined: &JoinedText, rules: &JoiningRules) -> Option<&'static Format> {
    detect(joined.text.as_bytes()).filter(|format| rules.covers(format.id))
}

/// The number of wrapped lines, if joining them by these rules proves that they are wrapped.
fn count_wrapped(
    name: &str,
    lines: &[&str],
    width: usize,
    rules: &JoiningRules,
    misread: Option<u64>,
) -> Option<usize> {
    let joined = join_lines(lines, width, rules);
    // The names of columns are one line and change the reading of all rows.
    let fewest = if rules.rows { 1 } else { MIN_WRAPPED_LINES };
    if joined.count < fewest || joined.count * 2 < joined.full {
        return None;
    }
    let format = joined_format(&joined, rules)?;
    let whole = (format.read)(Input::new(name, joined.text.as_bytes())).ok()?;
    let count = joined.count as u64;
    // Rows of tables that the reader does not use are joined and were no stray lines.
    let expected = if rules.rows { 0 } else { count.div_ceil(2) }.max(MIN_WRAPPED_LINES as u64);
    let is_mended = misread.is_none_or(|before| before.saturating_sub(misread_lines(&whole)) >= expected);
    let few_left = stray_lines(&whole) <= (count / 10).max(1);
    (is_mended && few_left).then_some(joined.count)
}

/// Number of tails on lines of their own, after lines that lack them.
fn count_tails(text: &str) -> usize {
    text.lines().zip(text.lines().skip(1)).filter(|(line, next)| is_tail_of(line, next)).count()
}

fn stray_lines(content: &Content) -> u64 {
    content.notes().iter().filter(|note| STRAY_LINE_CODES.contains(&note.code)).map(|note| note.count).sum()
}

fn misread_lines(content: &Content) -> u64 {
    let repaired = content.notes().iter().filter(|note| note.code == REPAIRED_ROW);
    stray_lines(content) + repaired.map(|note| note.count).sum::<u64>()
}

struct JoinedText {
    text: String,
    /// Number of lines that continue in the next one, and prove it.
    count: usize,
    /// Number of lines that fill the width and have a line after them, without comments.
    full: usize,
}

/// Joins a line with the next one if the first word of the next did not fit and the rules let it continue. Windows
/// fill a line to its last column, mails end it before a word.
fn join_lines(lines: &[&str], width: usize, rules: &JoiningRules) -> JoinedText {
    let mut joined = JoinedText { text: String::new(), count: 0, full: 0 };
    let mut joiner = LineJoiner::new(rules);
    let mut begin = 0;
    for (at, line) in lines.iter().enumerate() {
        joined.text.push_str(line);
        let next = lines.get(at + 1).filter(|next| !line.trim().is_empty() && !next.trim().is_empty());
        let (used, word) = (column_count(line), next.and_then(|next| next.split_whitespace().next()));
        let fills = used == width;
        joined.full += usize::from(fills && word.is_some() && joiner.is_proof(&joined.text[begin..]));
        let no_room =
            |word: &str| fills || used + usize::from(!line.ends_with(' ')) + column_count(word) > width;
        let continues = word.is_some_and(no_room)
            && next.is_some_and(|next| joiner.continues(&joined.text[begin..], line, next, fills));
        if continues {
            joined.count += usize::from(joiner.is_proof(&joined.text[begin..]));
            joined.text.push_str(if fills { "" } else { " " });
        } else {
            joiner.end_line(&joined.text[begin..]);
            joined.text.push('\n');
            begin = joined.text.len();
        }
    }
    joined
}

/// Number of columns of a line, with tab stops at multiples of eight.
fn column_count(line: &str) -> usize {
    line.chars().fold(0, |at, sign| if sign == '\t' { (at / 8 + 1) * 8 } else { at + 1 })
}
