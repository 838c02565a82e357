//! Rows of multicast tables: one column for each port, or a mask in hexadecimal.

use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{Mft, PortNum};

use super::super::FileError;
use super::super::opensm::{BAD_LID, bad_line, bad_port, printable_excerpt, split_leading_hex};

const FIRST_GROUP: u64 = 0xC000;
const LAST_GROUP: u64 = 0xFFFE;
/// Number of groups in one MAD, and the bits of the block in the attribute modifier; the others select the port mask.
const GROUPS_PER_BLOCK: u32 = 32;
const BLOCK_MASK: u32 = 0x1FF;

#[derive(Default)]
pub(super) struct MulticastReader {
    table: Mft,
    /// Whether the rows hold masks (`Port Mask` in the heading) instead of columns.
    masks: bool,
}

impl MulticastReader {
    pub(super) fn read_heading(&mut self, text: &str) {
        self.masks |= text.starts_with("MLid") && text.trim().ends_with("Port Mask");
    }

    pub(super) fn read_row(
        &mut self,
        text: &str,
        place: impl Fn() -> NotePlace,
    ) -> Result<(), Box<FileError>> {
        let wanted = "a row of a multicast table";
        let (group, ports) = text
            .get(2..)
            .and_then(split_leading_hex)
            .filter(|(_, ports)| ports.is_empty() || ports.starts_with("      "))
            .ok_or_else(|| bad_line(place(), text, wanted))?;
        if !(FIRST_GROUP..=LAST_GROUP).contains(&group) {
            let what = format!("a multicast entry for the LID '{}'", printable_excerpt(text));
            return Err(FileError::new(BAD_LID, place(), what, "multicast LIDs are 0xc000 to 0xfffe"));
        }
        let ports = ports.get(6..).unwrap_or_default();
        let members = if self.masks { parse_mask(ports) } else { parse_columns(ports) };
        let members = members.ok_or_else(|| bad_line(place(), text, wanted))?;
        let mut numbers = Vec::with_capacity(members.len());
        for member in members {
            numbers.push(PortNum::new(member).ok_or_else(|| bad_port(&member.to_string(), place()))?);
        }
        if !numbers.is_empty() {
            self.table.groups.insert(group as u16, numbers);
        }
        Ok(())
    }

    pub(super) fn into_table(self) -> Mft {
        self.table
    }
}

/// Whether a line is between the heading of the section and its rows; one such line is all digits and blanks.
pub(super) fn is_heading(text: &str) -> bool {
    let text = text.trim();
    let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b' ');
    digits || text.starts_with("MLid") || text.starts_with("Ports:")
}

/// Reads `x   x`: two characters for each port from 0.
fn parse_columns(ports: &str) -> Option<Vec<u32>> {
    let mut members = Vec::new();
    for (at, mark) in ports.bytes().enumerate() {
        match mark {
            b' ' => {}
            b'x' if at % 2 == 0 => members.push((at / 2) as u32),
            _ => return None,
        }
    }
    Some(members)
}

/// Reads `000a8000`: four digits for each sixteen ports, the lowest port in the lowest bit.
fn parse_mask(ports: &str) -> Option<Vec<u32>> {
    let digits = ports.trim();
    if !digits.len().is_multiple_of(4) || !digits.is_ascii() {
        return None;
    }
    let mut members = Vec::new();
    for (chunk, digits) in digits.as_bytes().chunks(4).enumerate() {
        let digits = std::str::from_utf8(digits).ok()?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let mask = u16::from_str_radix(digits, 16).ok()?;
        members.extend((0..16).filter(|bit| mask & (1 << bit) != 0).map(|bit| chunk as u32 * 16 + bit));
    }
    Some(members)
}

pub(super) fn remove_block(table: &mut Mft, packed: u32) {
    let first = FIRST_GROUP as u32 + (packed & BLOCK_MASK) * GROUPS_PER_BLOCK;
    table.groups.retain(|group, _| !(first..first + GROUPS_PER_BLOCK).contains(&u32::from(*group)));
}
