//! Forwarding tables as OpenSM dumps them (`opensm-lfts.dump`), and as `dump_lfts`, `dump_fts` and `ibroute` print
//! them. Each switch has a heading, a line for each LID, and a line with their number. `dump_fts -M` and `ibroute -M`
//! print multicast tables in the same form.

mod multicast;
mod write;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Guid, Lft, Lid, NodeTables, PortNum};

use super::FileError;
use super::content::{TableFile, TableSection};
use super::opensm::{
    CONFLICTING_ENTRIES, SparseGuard, TRUNCATED_SECTION, TWO_OWNERS, UNKNOWN_LID, UNREAD_BLOCK, bad_lid,
    bad_line, bad_port, no_content, no_section, note_stray_line, note_truncated_line, parse_decimal,
    parse_prefixed_hex, parse_table_lid, split_leading_decimal, split_leading_hex, split_word,
};
use super::text::{Input, TextLine};
use multicast::MulticastReader;

pub use write::write;

pub const ID: &str = "lfts";

/// Number of LIDs in one MAD.
const LIDS_PER_BLOCK: usize = 64;

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| {
        let line = line.trim_start();
        (line.starts_with("Unicast lids") || line.starts_with("Multicast mlids")) && line.contains(" guid 0x")
    })
}

pub fn read(input: Input<'_>) -> Result<TableFile, Box<FileError>> {
    let mut reader = LftsReader::new(input);
    for line in input.lines() {
        reader.read_line(&line?)?;
    }
    reader.finish()
}

/// The rows of the current section.
enum SectionRows {
    Unicast(Lft),
    Multicast(MulticastReader),
}

struct OpenSection {
    node: Guid,
    line: u64,
    rows: SectionRows,
    count: u64,
    /// One past the highest LID with an entry.
    reach: usize,
    /// The LID of the last row, and the last LID in the heading.
    last: Option<Lid>,
    range_end: Option<Lid>,
    /// The highest LID of the heading, if OpenSM wrote it: OpenSM counts LIDs up to the highest, routed or not.
    top: Option<u32>,
    /// A LID that the tools do not print although their heading includes it.
    promised: Option<Lid>,
    ended: Option<u32>,
}

/// A block that the tool could not read; it prints the previous block instead.
struct UnreadBlock {
    node: Guid,
    block: u32,
    multicast: bool,
    line: u64,
}

struct LftsReader<'a> {
    input: Input<'a>,
    file: TableFile,
    open: Option<OpenSection>,
    /// Owner of each LID, 0 where none is stated. A vector, because the file of a full subnet states each owner
    /// thousands of times.
    owners: Vec<u64>,
    heading_owners: Vec<(Lid, Guid)>,
    unread: Vec<UnreadBlock>,
    guard: SparseGuard,
}

impl<'a> LftsReader<'a> {
    fn new(input: Input<'a>) -> Self {
        Self {
            input,
            file: TableFile::default(),
            open: None,
            owners: Vec::new(),
            heading_owners: Vec::new(),
            unread: Vec::new(),
            guard: SparseGuard::new(input.bytes.len()),
        }
    }

    fn read_line(&mut self, line: &TextLine<'_>) -> Result<(), Box<FileError>> {
        let text = line.text.trim_start();
        if text.starts_with("0x") {
            return self.read_row(line, text);
        }
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if text.starts_with("Unicast lids") || text.starts_with("Multicast mlids") {
            return self.begin_section(line, text);
        }
        if let Some(count) = parse_count(text) {
            if let Some(open) = &mut self.open {
                open.ended = Some(count);
            }
            return Ok(());
        }
        if let Some(open) = &mut self.open {
            match &mut open.rows {
                SectionRows::Multicast(multicast) if multicast::is_heading(text) => {
                    multicast.read_heading(text);
                    return Ok(());
                }
                SectionRows::Unicast(_) if is_row_without_lid(text) && !line.unended => {
                    return Err(bad_lid(split_word(text).0, self.input.line_place(line.number)));
                }
                _ => {}
            }
        }
        if let Some(unread) = parse_unread_block(text, line.number) {
            self.unread.push(unread);
        } else if line.unended {
            note_truncated_line(&mut self.file.notes, self.input.line_place(line.number), text);
        } else if !is_known_heading(text) {
            note_stray_line(&mut self.file.notes, self.input.line_place(line.number), text);
        }
        Ok(())
    }

    fn begin_section(&mut self, line: &TextLine<'_>, text: &str) -> Result<(), Box<FileError>> {
        self.end_section();
        let Some(heading) = parse_heading(text, line.unended) else {
            if line.unended {
                note_truncated_line(&mut self.file.notes, self.input.line_place(line.number), text);
                return Ok(());
            }
            return Err(bad_line(
                self.input.line_place(line.number),
                text,
                "a heading with the GUID of a switch",
            ));
        };
        if let Some(lid) = heading.lid {
            match Lid::new(lid) {
                Some(lid) => self.heading_owners.push((lid, heading.node)),
                None => self.file.notes.add(UNKNOWN_LID, self.input.line_place(line.number), || {
                    format!(
                        "the switch {} has LID {lid}, which is no unicast LID: read as unknown",
                        heading.node
                    )
                }),
            }
        }
        let rows = if text.starts_with('U') {
            SectionRows::Unicast(Lft::new())
        } else {
            SectionRows::Multicast(MulticastReader::default())
        };
        let Heading { node, top, promised, range_end, .. } = heading;
        self.open = Some(OpenSection {
            node,
            line: line.number,
            rows,
            count: 0,
            reach: 0,
            last: None,
            range_end,
            top,
            promised,
            ended: None,
        });
        Ok(())
    }

    fn read_row(&mut self, line: &TextLine<'_>, text: &str) -> Result<(), Box<FileError>> {
        let Some(open) = &mut self.open else {
            return Err(no_section(self.input.line_place(line.number), text));
        };
        match &mut open.rows {
            SectionRows::Unicast(_) => self.read_unicast_row(line, text),
            SectionRows::Multicast(multicast) => {
                if line.unended {
                    note_truncated_line(&mut self.file.notes, self.input.line_place(line.number), text);
                    return Ok(());
                }
                open.count += 1;
                multicast.read_row(text, || self.input.line_place(line.number))
            }
        }
    }

    fn read_unicast_row(&mut self, line: &TextLine<'_>, text: &str) -> Result<(), Box<FileError>> {
        let place = || self.input.line_place(line.number);
        let (lid_word, rest) = split_word(text);
        let (port_word, rest) = split_word(rest);
        if line.unended {
            note_truncated_line(&mut self.file.notes, place(), text);
            if rest.is_empty() {
                return Ok(());
            }
        }
        let port = match parse_decimal(port_word) {
            Some(255) => None,
            Some(port @ 0..=254) => Some(PortNum(port as u8)),
            _ => return Err(bad_port(port_word, place())),
        };
        let Some(open) = &mut self.open else { return Ok(()) };
        let SectionRows::Unicast(lft) = &mut open.rows else { return Ok(()) };
        open.count += 1;
        let Some(lid) = parse_table_lid(lid_word) else {
            // With -a the tools print the unused entry of LID 0 too.
            let unused = port.is_none() && parse_prefixed_hex(lid_word) == Some(0);
            return if unused { Ok(()) } else { Err(bad_lid(lid_word, place())) };
        };
        match lft.get(lid) {
            Some(known) if port != Some(known) => self.file.notes.add(CONFLICTING_ENTRIES, place(), || {
                let node = open.node;
                format!("switch {node} has two entries for LID {lid}; the last one counts, as for OpenSM")
            }),
            _ => {}
        }
        if port.is_some() {
            self.guard.add_entry(&mut open.reach, lid, place)?;
        }
        lft.set(lid, port);
        open.last = Some(lid);
        open.promised = open.promised.filter(|promised| *promised != lid);
        if let Some(guid) = parse_owner(rest, line.unended) {
            self.add_owner(line.number, lid, guid);
        }
        Ok(())
    }

    fn add_owner(&mut self, line: u64, lid: Lid, guid: u64) {
        if lid.index() >= self.owners.len() {
            self.owners.resize(lid.index() + 1, 0);
        }
        let known = &mut self.owners[lid.index()];
        if *known == 0 {
            *known = guid;
        } else if *known != guid {
            let known = Guid(*known);
            self.file.notes.add(TWO_OWNERS, self.input.line_place(line), || {
                format!("LID {lid} belongs to {} here and to {known} before; the first counts", Guid(guid))
            });
        }
    }

    fn end_section(&mut self) {
        let Some(open) = self.open.take() else { return };
        let place = self.input.line_place(open.line);
        let mut tables = NodeTables::default();
        let unicast = matches!(open.rows, SectionRows::Unicast(_));
        match open.ended {
            None => {
                // The LIDs of the heading beyond the cut are unread.
                if unicast {
                    tables.mark_unread_after(open.last, open.range_end);
                }
                self.file.notes.add_partial(TRUNCATED_SECTION, place.clone(), || {
                    format!("the table of {} ends without the line that counts its LIDs", open.node)
                });
            }
            Some(stated) => {
                let (counted, what) = match open.top {
                    Some(top) => (u64::from(top), "lists LIDs up to"),
                    None => (open.count, "has this number of lines:"),
                };
                if u64::from(stated) != counted {
                    // It is unknown which rows are missing.
                    if unicast {
                        tables.mark_unread_after(None, open.range_end);
                    }
                    self.file.notes.add_partial(TRUNCATED_SECTION, place.clone(), || {
                        format!("the table of {} states {stated} LIDs and {what} {counted}", open.node)
                    });
                }
            }
        }
        if let Some(lid) = open.promised {
            tables.mark_unread_after(Some(lid), Some(lid));
            self.file.notes.add_partial(UNREAD_BLOCK, place.clone(), || {
                let node = open.node;
                format!("the tool leaves out the last LID, {lid}, of {node}: it does so at multiples of {LIDS_PER_BLOCK}")
            });
        }
        match open.rows {
            SectionRows::Unicast(lft) => tables.lft = Some(lft),
            SectionRows::Multicast(multicast) => tables.mft = Some(multicast.into_table()),
        }
        self.file.sections.push(TableSection { node: open.node, tables, private_tables: 0, place });
    }

    fn finish(mut self) -> Result<TableFile, Box<FileError>> {
        self.end_section();
        if self.file.sections.is_empty() {
            return Err(no_content(self.input.name, "table of a switch"));
        }
        let unread = std::mem::take(&mut self.unread);
        for block in &unread {
            let place = self.input.line_place(block.line);
            remove_block(&mut self.file.sections, block, &mut self.file.notes, place);
        }
        for (lid, guid) in self.owners.iter().enumerate().filter(|(_, guid)| **guid != 0) {
            if let Some(lid) = Lid::new(lid as u32) {
                self.file.owners.insert(lid, Guid(*guid));
            }
        }
        for (lid, guid) in self.heading_owners {
            self.file.owners.entry(lid).or_insert(guid);
        }
        Ok(self.file)
    }
}

fn remove_block(sections: &mut [TableSection], unread: &UnreadBlock, notes: &mut Notes, place: NotePlace) {
    let what = if unread.multicast { "multicast table" } else { "table" };
    notes.add_partial(UNREAD_BLOCK, place, || {
        format!(
            "the tool could not read block {} of the {what} of {}; it is left out",
            unread.block, unread.node
        )
    });
    for section in sections.iter_mut().filter(|section| section.node == unread.node) {
        if let (Some(mft), true) = (&mut section.tables.mft, unread.multicast) {
            multicast::remove_block(mft, unread.block);
        }
        if let (Some(lft), false) = (&mut section.tables.lft, unread.multicast) {
            let mut read = Lft::new();
            for (lid, port) in
                lft.routed_lids().filter(|(lid, _)| lid.index() / LIDS_PER_BLOCK != unread.block as usize)
            {
                read.set(lid, Some(port));
            }
            *lft = read;
            section.tables.unread.extend(u16::try_from(unread.block));
        }
    }
}

struct Heading {
    node: Guid,
    lid: Option<u32>,
    top: Option<u32>,
    promised: Option<Lid>,
    range_end: Option<Lid>,
}

/// Reads `Unicast lids [0-14] of switch Lid 2 guid 0x0002c90100000000 ('leaf0'):`.
fn parse_heading(text: &str, unended: bool) -> Option<Heading> {
    let (before, after) = text.split_once(" guid 0x")?;
    let (guid, rest) = split_leading_hex(after)?;
    if !(rest.starts_with([' ', '\t']) || rest.is_empty() && !unended) {
        return None;
    }
    let lid = before
        .split_once(" switch Lid ")
        .and_then(|(_, rest)| split_leading_decimal(rest))
        .map(|(lid, _)| lid);
    // Other tools write their range in hexadecimal and count lines. They read blocks of 64 up to the last LID, and
    // miss that one if a block begins with it.
    let range = before.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(range, _)| range);
    let last = range.and_then(|range| range.split_once('-')).map_or("", |(_, last)| last);
    let promised = parse_table_lid(last).filter(|lid| lid.index().is_multiple_of(LIDS_PER_BLOCK));
    let promised = promised.filter(|_| text.starts_with('U'));
    let top = parse_decimal(last);
    let range_end = top.map_or_else(|| parse_table_lid(last), Lid::new);
    Some(Heading { node: Guid(guid), lid, top, promised, range_end })
}

/// Reads `702 valid lids dumped`.
fn parse_count(text: &str) -> Option<u32> {
    let (count, rest) = split_leading_decimal(text)?;
    let rest = rest.trim();
    let rest = rest.strip_prefix("valid ").unwrap_or(rest);
    matches!(rest, "lids dumped" | "mlids dumped").then_some(count)
}

/// The owner in the text after an entry. The name follows the GUID, so the first mention counts.
fn parse_owner(rest: &str, unended: bool) -> Option<u64> {
    let (_, after) = rest.split_once(" portguid 0x")?;
    let (guid, rest) = split_leading_hex(after)?;
    let whole = match rest.as_bytes().first() {
        Some(next) => matches!(next, b':' | b')' | b' ' | b'\t'),
        None => !unended,
    };
    (whole && guid != 0).then_some(guid)
}

/// Whether a line has a port and no LID, or an invalid LID (`-1 003`).
fn is_row_without_lid(text: &str) -> bool {
    let (first, rest) = split_word(text);
    let number = first.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b'x' | b'X' | b'-' | b'+'));
    let begins = first.as_bytes().first().is_some_and(|b| b.is_ascii_digit() || *b == b'-');
    let goes_on = rest.trim_start().bytes().next();
    number && begins && goes_on.is_none_or(|b| b.is_ascii_digit() || matches!(b, b'#' | b':' | b'(' | b'-'))
}

fn is_known_heading(text: &str) -> bool {
    let text = text.trim();
    let table = text.starts_with("Lid ") && text.ends_with("Destination") || text.starts_with("Port ");
    table || text.contains("replaced by dump_fts") || text.starts_with("Switch multicast mlid capability")
}

/// Reads `SubnGet(LFT) failed on switch 'name' DR path ... Node GUID 0x2c9 SMA LID 2; MAD status 0x110 AM 0x3`.
fn parse_unread_block(text: &str, line: u64) -> Option<UnreadBlock> {
    let multicast = text.starts_with("SubnGet(MFT) failed");
    if !multicast && !text.starts_with("SubnGet(LFT) failed") {
        return None;
    }
    let (_, after) = text.rsplit_once(" Node GUID 0x")?;
    let (node, rest) = split_leading_hex(after)?;
    let (_, block) = rest.rsplit_once(" AM 0x")?;
    let (block, _) = split_leading_hex(block)?;
    Some(UnreadBlock { node: Guid(node), block: u32::try_from(block).ok()?, multicast, line })
}

#[cfg(test)]
mod tests;
