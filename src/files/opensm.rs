//! Shared parts of the readers and writers of OpenSM's dumps: words, the order of nodes, numbers in a line, and the
//! codes of damaged tables.

use super::FileError;
pub(super) use fabdeck_fabric::observe::is_printable;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, NodeKind, PortNum};

/// A LID that cannot be in a table.
pub(super) const BAD_LID: &str = "FD-2301";
/// A port number that cannot exist.
pub(super) const BAD_PORT: &str = "FD-2302";
/// A line that begins as one of the format and continues otherwise.
pub(super) const BAD_LINE: &str = "FD-2303";
/// An entry before the heading of its node.
pub(super) const NO_SECTION: &str = "FD-2304";
/// An impossible virtual lane, or a damaged row of lanes.
pub(super) const BAD_LANE: &str = "FD-2305";
/// A span of LIDs that no port can own.
pub(super) const BAD_SPAN: &str = "FD-2306";
/// The file holds nothing of the format.
pub(super) const NO_CONTENT: &str = "FD-2307";
/// Tables that would take far more memory than the file's size justifies.
pub(super) const SPARSE_TABLES: &str = "FD-2308";

/// The file ends within a line; incomplete values are left out.
pub(super) const TRUNCATED_LINE: &str = "FN-301";
/// A section without its end, or with another number of lines than it states.
pub(super) const TRUNCATED_SECTION: &str = "FN-302";
/// The tool reported an error between the lines.
pub(super) const TOOL_ERROR: &str = "FN-303";
/// Entries that the tool printed without having read them; they are left out.
pub(super) const UNREAD_BLOCK: &str = "FN-304";
/// Two entries of a table for one key.
pub(super) const CONFLICTING_ENTRIES: &str = "FN-305";
/// Two owners of one LID.
pub(super) const TWO_OWNERS: &str = "FN-306";
/// A line that is no part of the format.
pub(super) const FOREIGN_LINE: &str = "FN-307";
/// A LID outside the unicast range in a topology; it counts as unknown.
pub(super) const UNKNOWN_LID: &str = "FN-308";
/// Entries that a written file leaves out.
pub(super) const ENTRIES_LEFT_OUT: &str = "FN-309";

/// OpenSM's words for a kind of node.
pub(super) fn kind_label(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch => "Switch",
        NodeKind::ChannelAdapter => "Channel Adapter",
        NodeKind::Router => "Router",
    }
}

/// Sort key of OpenSM's dumps. OpenSM stores GUIDs in network order and sorts them as numbers of a little-endian
/// machine.
pub(super) fn dump_key(guid: Guid) -> u64 {
    guid.0.swap_bytes()
}

/// The switches in the order of OpenSM's dumps.
pub(super) fn switches_in_dump_order(fabric: &Fabric) -> Vec<NodeId> {
    let mut order: Vec<NodeId> = fabric.switches().map(|(id, _)| id).collect();
    order.sort_by_key(|id| dump_key(fabric.node(*id).guid()));
    order
}

/// The GUID for a node's port; on a switch that of port 0.
pub(super) fn port_guid(fabric: &Fabric, node: NodeId, number: PortNum) -> Option<Guid> {
    let facts = &fabric.node(node).facts;
    let number = if facts.kind == NodeKind::Switch { PortNum::MANAGEMENT } else { number };
    let stated = fabric.port_of(node, number).and_then(|port| fabric.port(port).facts.guid);
    stated.or_else(|| (facts.kind == NodeKind::Switch).then_some(facts.guid))
}

/// The base LID of a switch; 0 if unknown, as the tools print it.
pub(super) fn switch_lid(fabric: &Fabric, node: NodeId) -> u16 {
    let port = fabric.port_of(node, PortNum::MANAGEMENT);
    port.and_then(|port| fabric.port(port).facts.lid).map_or(0, Lid::value)
}

/// Splits off the first blank-delimited word.
pub(super) fn split_word(text: &str) -> (&str, &str) {
    // Works on bytes instead of characters, because it runs for each word of files of a gigabyte.
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let start = text.as_bytes().iter().position(|b| !blank(b)).unwrap_or(text.len());
    let (_, text) = text.split_at(start);
    let end = text.as_bytes().iter().position(blank).unwrap_or(text.len());
    text.split_at(end)
}

/// Reads hexadecimal digits: no sign, at most 64 bits.
pub(super) fn parse_hex(digits: &str) -> Option<u64> {
    let fine = (1..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    fine.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// Reads `0x` and hexadecimal digits.
pub(super) fn parse_prefixed_hex(word: &str) -> Option<u64> {
    word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).and_then(parse_hex)
}

/// Reads decimal digits, without a sign.
pub(super) fn parse_decimal(digits: &str) -> Option<u32> {
    let fine = (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fine.then(|| digits.parse().ok()).flatten()
}

/// Splits off leading hexadecimal digits.
pub(super) fn split_leading_hex(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((parse_hex(digits)?, rest))
}

/// Splits off leading decimal digits.
pub(super) fn split_leading_decimal(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((parse_decimal(digits)?, rest))
}

/// The beginning of a text for a message, without unprintable characters.
pub(super) fn printable_excerpt(text: &str) -> String {
    let sign = |c: char| match c {
        c if c.is_whitespace() || c.is_ascii_control() => ' ',
        c if is_printable(c) => c,
        _ => '?',
    };
    let mut shown: String = text.trim().chars().take(80).map(sign).collect();
    if text.trim().chars().nth(80).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Limits of the memory for tables, which take a byte for each LID up to the highest. A file with few entries at high
/// LIDs may use the first number of bytes, or this multiple of its own size. It may never use more than the last
/// number: 5,000 switches with all LIDs.
const SPARE_BYTES: usize = 64 << 20;
const SPARE_FACTOR: usize = 64;
const MAX_BYTES: usize = 256 << 20;

/// Limits the memory of tables in proportion to the size of the file.
pub(super) struct SparseGuard {
    used: usize,
    allowed: usize,
}

impl SparseGuard {
    pub(super) fn new(file_bytes: usize) -> Self {
        Self { used: 0, allowed: file_bytes.saturating_mul(SPARE_FACTOR).clamp(SPARE_BYTES, MAX_BYTES) }
    }

    /// Counts an entry; `reach` is one past the highest LID of its table so far.
    pub(super) fn add_entry(
        &mut self,
        reach: &mut usize,
        lid: Lid,
        place: impl FnOnce() -> NotePlace,
    ) -> Result<(), Box<FileError>> {
        if lid.index() < *reach {
            return Ok(());
        }
        self.used += lid.index() + 1 - *reach;
        *reach = lid.index() + 1;
        if self.used <= self.allowed {
            return Ok(());
        }
        let what = "tables that need far more memory than the size of the file";
        let hint = "check that this is a dump of forwarding tables: these list every LID in use";
        Err(FileError::new(SPARSE_TABLES, place(), what, hint))
    }
}

pub(super) fn bad_line(place: NotePlace, text: &str, wanted: &str) -> Box<FileError> {
    let what = format!("'{}' is not {wanted}", printable_excerpt(text));
    FileError::new(BAD_LINE, place, what, "take the dump again, or correct this line")
}

/// The LID of a table entry; `None` if no port can own it.
pub(super) fn parse_table_lid(word: &str) -> Option<Lid> {
    Lid::new(u32::try_from(parse_prefixed_hex(word)?).ok()?)
}

pub(super) fn bad_lid(word: &str, place: NotePlace) -> Box<FileError> {
    let what = format!("an entry for the LID '{}'", printable_excerpt(word));
    FileError::new(BAD_LID, place, what, "a table has entries for 0x0001 to 0xbfff only")
}

pub(super) fn bad_port(word: &str, place: NotePlace) -> Box<FileError> {
    let what = format!("the port number '{}'", printable_excerpt(word));
    FileError::new(BAD_PORT, place, what, "ports are 0 to 254, and 255 is an entry without a path")
}

pub(super) fn no_section(place: NotePlace, text: &str) -> Box<FileError> {
    let what = format!("'{}' comes before the line that names its switch", printable_excerpt(text));
    FileError::new(NO_SECTION, place, what, "the beginning of the dump is missing; take it again")
}

pub(super) fn no_content(file: &str, wanted: &str) -> Box<FileError> {
    let hint = "check that the file is not empty and of this format";
    FileError::new(NO_CONTENT, NotePlace::file(file), format!("no {wanted} in the file"), hint)
}

pub(super) fn note_truncated_line(notes: &mut Notes, place: NotePlace, text: &str) {
    notes.add_partial(TRUNCATED_LINE, place, || {
        format!("the file ends within the line '{}'; incomplete values are left out", printable_excerpt(text))
    });
}

/// Notes a line that is not part of a format. An error of the tool means that data is missing.
pub(super) fn note_stray_line(notes: &mut Notes, place: NotePlace, text: &str) {
    if is_tool_error(text) {
        notes.add_partial(TOOL_ERROR, place, || {
            format!("the tool reported an error: '{}'", printable_excerpt(text))
        });
    } else {
        notes.add(FOREIGN_LINE, place, || {
            format!("'{}' is no line of this format; skipped", printable_excerpt(text))
        });
    }
}

fn is_tool_error(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let begins = ["ibwarn", "ibpanic", "iberror", "ibdebug", "subnget"];
    let holds = ["fail", "error", "timeout", "timed out", "warning"];
    begins.iter().any(|word| text.starts_with(word)) || holds.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_signs_and_no_surprises() {
        assert_eq!(parse_prefixed_hex("0x1F"), Some(31));
        for text in ["0x", "1f", "0x+1", "0x-1", "0x11112222333344445", "-0x1"] {
            assert_eq!(parse_prefixed_hex(text), None, "{text}");
        }
        for text in ["", "+1", "-1", "1x", "9999999999"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
        assert_eq!(split_leading_decimal("012 : x"), Some((12, " : x")));
        assert_eq!(split_leading_hex("2c9: 'x'"), Some((0x2c9, ": 'x'")));
    }

    #[test]
    fn the_order_of_the_dumps_is_that_of_swapped_bytes() {
        assert!(dump_key(Guid(0x0100)) < dump_key(Guid(0x0001)));
        assert!(dump_key(Guid(0x0001)) < dump_key(Guid(0x0002)));
    }

    #[test]
    fn no_file_is_long_enough_for_endless_tables() {
        let mut guard = SparseGuard::new(usize::MAX);
        let top = Lid::new(0xbfff).unwrap();
        let mut fill = || guard.add_entry(&mut 0, top, NotePlace::default);
        assert!((0..5_000).all(|_| fill().is_ok()));
        let refused = (0..1_000).find_map(|_| fill().err()).unwrap();
        assert_eq!(refused.code, SPARSE_TABLES);
    }

    #[test]
    fn tool_errors_differ_from_noise() {
        assert!(is_tool_error("ibwarn: [2345] mad_rpc: _do_madrpc failed; dport (Lid 5)"));
        assert!(!is_tool_error("[root@mgmt ~]# cat dump"));
    }
}
