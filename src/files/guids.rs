//! Lists of GUIDs, one a line, as OpenSM reads them for roots, compute nodes, I/O nodes and routing orders. Text after
//! the GUID is a comment.

use std::io::{self, Write};

use rustc_hash::FxHashSet;

use fabdeck_fabric::Guid;

use super::FileError;
use super::content::GuidFile;
use super::opensm::{
    bad_line, no_content, note_truncated_line, parse_decimal, parse_hex, parse_prefixed_hex,
};
use super::text::Input;

pub const ID: &str = "guids";

/// A GUID that is in the list twice.
const DUPLICATE_GUID: &str = "FN-331";
/// A GUID without `0x`, which OpenSM would read as a decimal number.
const NO_HEX_PREFIX: &str = "FN-332";

const DIGITS: usize = 16;

/// Whether all lines are GUIDs. A number or quoted name after the GUID belongs to other formats.
pub fn looks_like(head: &str) -> bool {
    let mut any = false;
    // The last line of the first 8 KiB may be cut.
    for line in head.split_inclusive('\n').filter(|line| line.ends_with('\n') || head.len() < 8 * 1024) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (guid, rest) = split_entry(line);
        let rest = rest.trim_start();
        let number = rest.split_whitespace().next().is_some_and(|next| {
            parse_decimal(next).is_some()
                || parse_prefixed_hex(next).is_some()
                || parse_prefixed_hex(guid).is_none()
        });
        // A short number may mean anything; GUIDs of real nodes begin with a vendor.
        let fine =
            parse_guid(guid).is_some_and(|(guid, _)| guid.0 > u64::from(u32::MAX) || guid_is_padded(line));
        if !fine || number || rest.starts_with(['"', '\'', ':', '{', '=']) {
            return false;
        }
        any = true;
    }
    any
}

fn guid_is_padded(line: &str) -> bool {
    split_entry(line).0.len() == "0x".len() + DIGITS
}

/// Splits a line after the GUID, which ends at a blank or at a comment.
fn split_entry(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(line.len());
    line.split_at(end)
}

fn parse_guid(word: &str) -> Option<(Guid, bool)> {
    if let Some(value) = parse_prefixed_hex(word) {
        return Some((Guid(value), true));
    }
    (word.len() == DIGITS).then(|| parse_hex(word)).flatten().map(|value| (Guid(value), false))
}

pub fn read(input: Input<'_>) -> Result<GuidFile, Box<FileError>> {
    let mut file = GuidFile::default();
    let mut known = FxHashSet::default();
    let mut any = false;
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        any |= !text.is_empty();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let place = || input.line_place(line.number);
        let (word, rest) = split_entry(text);
        if line.unended && rest.is_empty() && word.len() < "0x".len() + DIGITS {
            note_truncated_line(&mut file.notes, place(), text);
            file.cut = Some(line.number);
            continue;
        }
        let found = parse_guid(word).filter(|(guid, _)| *guid != Guid(0));
        let Some((guid, marked)) = found else {
            return Err(bad_line(place(), text, "a GUID (0x and up to 16 hexadecimal digits)"));
        };
        if !marked {
            file.notes.add(NO_HEX_PREFIX, place(), || {
                format!("'{word}' lacks 0x; read as hexadecimal, unlike OpenSM")
            });
        }
        if known.insert(guid) {
            file.guids.push(guid);
            file.lines.push(line.number);
        } else {
            file.notes.add(DUPLICATE_GUID, place(), || format!("{guid} is in the list already"));
        }
    }
    // An empty list is valid; an empty file is not.
    if !any {
        return Err(no_content(input.name, "GUID"));
    }
    Ok(file)
}

pub fn write(guids: &[Guid], out: &mut dyn Write) -> io::Result<()> {
    guids.iter().try_for_each(|guid| writeln!(out, "{guid}"))
}

#[cfg(test)]
mod tests;
