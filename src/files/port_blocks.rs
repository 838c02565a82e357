//! Text files of ibdiagnet with a block for each port or node between rules of dashes: modules (`.cables`), counters
//! (`.pm`), firmware (`.nodes_info`).
//!
//! ```text
//! -------------------------------------------------------
//! Port=1 Lid=0x0018 GUID=0x0002c90000000201 Port Name=leaf1/P1
//! -------------------------------------------------------
//! Vendor: FS
//! ```

use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{Guid, PortNum};

use super::FileError;
use super::text::{Input, TextLine};

/// The heading of a block of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PortHeading {
    pub(super) guid: Guid,
    pub(super) port: PortNum,
    pub(super) lid: Option<u16>,
}

impl PortHeading {
    /// Reads a heading; `None` for another line.
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let port = words.next()?.strip_prefix("Port=")?.parse().ok().and_then(PortNum::new)?;
        let (mut guid, mut lid) = (None, None);
        for word in words {
            if let Some(hex) = word.strip_prefix("GUID=") {
                guid = guid.or(Guid::from_hex(hex).ok());
            } else if let Some(hex) = word.strip_prefix("Lid=0x") {
                lid = lid.or(u16::from_str_radix(hex, 16).ok());
            } else if word == "Port" {
                // The name of the port follows, and ends the line.
                break;
            }
        }
        Some(Self { guid: guid?, port, lid: lid.filter(|lid| *lid > 0) })
    }
}

/// Whether a line is the heading of a block that cannot be read.
pub(super) fn is_damaged_heading(line: &str) -> bool {
    line.starts_with("Port=") && PortHeading::of(line).is_none()
}

/// Whether a line is a rule of dashes.
pub(super) fn is_rule(line: &str) -> bool {
    line.len() >= 5 && line.bytes().all(|b| b == b'-')
}

/// Calls `each` for every line that is no comment, no rule and not empty. Comments hold the command line, which may
/// contain keys. Whether the file has its end: the comment `File closed at`, or no comments of ibdiagnet at all.
pub(super) fn read_lines(
    input: Input<'_>,
    mut each: impl FnMut(&TextLine<'_>, &str, NotePlace),
) -> Result<bool, Box<FileError>> {
    let (mut framed, mut closed) = (false, false);
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            let comment = comment.trim_start();
            framed |= comment.starts_with("File created at");
            closed |= comment.starts_with("File closed at");
        } else if !text.is_empty() && !is_rule(text) {
            each(&line, text, input.line_place(line.number));
        }
    }
    Ok(closed || !framed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let found = PortHeading::of("Port=12 Lid=0x0018 GUID=0xb0cf Device=54002 Port Name=a GUID=0x1/P1");
        assert_eq!(found, Some(PortHeading { guid: Guid(0xb0cf), port: PortNum(12), lid: Some(0x18) }));
        for line in ["Port=300 GUID=0x1", "Port=1 Lid=0x1", "Vendor: FS", "Port Name=x"] {
            assert_eq!(PortHeading::of(line), None, "{line}");
        }
        assert!(is_damaged_heading("Port=1 Lid=0x1") && !is_damaged_heading("Vendor: FS"));
    }
}
