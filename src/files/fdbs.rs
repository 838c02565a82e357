//! Routes as OpenSM prints them for people and for ibdm (`opensm.fdbs`, `osm.fdbs`, `ibdiagnet.fdbs`), and the
//! multicast tables of `opensm.mcfdbs`. These files do not mark the end of a table.

mod hop_matrix;
mod write;

use fabdeck_fabric::{Guid, Lft, Lid, Mft, NodeTables, PortNum};

use super::FileError;
use super::content::{TableFile, TableSection};
use super::opensm::{
    BAD_LID, CONFLICTING_ENTRIES, SparseGuard, TRUNCATED_SECTION, bad_lid, bad_line, bad_port, no_content,
    no_section, note_stray_line, note_truncated_line, parse_decimal, parse_prefixed_hex, parse_table_lid,
    printable_excerpt, split_leading_hex, split_word,
};
use super::text::{Input, TextLine};

pub use write::write;

pub const ID: &str = "fdbs";

/// OpenSM's own heading; ibdiagnet and older versions write `osm_ucast_mgr_dump_ucast_routes`.
const UNICAST_HEADING: &str = "dump_ucast_routes: Switch 0x";
const MULTICAST_HEADING: &str = "Switch 0x";

pub fn looks_like(head: &str) -> bool {
    let columns = |line: &str| line.starts_with("LID    : ") || line.starts_with("LID : ");
    head.lines().any(|line| line.contains(UNICAST_HEADING))
        || head.lines().any(columns) && head.lines().any(|line| line.starts_with(MULTICAST_HEADING))
}

pub fn read(input: Input<'_>) -> Result<TableFile, Box<FileError>> {
    let mut reader = FdbsReader {
        input,
        file: TableFile::default(),
        open: None,
        longest: 0,
        guard: SparseGuard::new(input.bytes.len()),
    };
    for line in input.lines_with_end(is_whole) {
        reader.read_line(&line?)?;
    }
    reader.finish()
}

/// Whether a last line without a newline is complete, up to its last column: `0x0001 : 001  : 01   : yes`, `0x000D :
/// UNREACHABLE`.
fn is_whole(line: &str) -> bool {
    let last = line.rsplit(':').next().unwrap_or("").trim();
    line.trim_start().starts_with("0x")
        && ["yes", "no", "UNREACHABLE"].iter().any(|word| last.eq_ignore_ascii_case(word))
}

enum Rows {
    Unicast(Lft),
    Multicast(Mft),
    /// `Switch 0x...` alone starts either kind of table.
    Unknown,
}

struct OpenSection {
    node: Guid,
    line: u64,
    rows: Rows,
    /// The number of private tables by the lines `PLFT_NUM`.
    private_tables: u8,
    /// Whether rows belong to a private table after the first, which is no linear table.
    in_private: bool,
    last: Option<Lid>,
    reach: usize,
}

struct FdbsReader<'a> {
    input: Input<'a>,
    file: TableFile,
    open: Option<OpenSection>,
    /// The highest last LID of the tables so far: OpenSM ends all tables at the same LID.
    longest: u16,
    guard: SparseGuard,
}

impl FdbsReader<'_> {
    fn read_line(&mut self, line: &TextLine<'_>) -> Result<(), Box<FileError>> {
        let text = line.text.trim_start();
        if text.starts_with("0x") {
            return self.read_row(line, text);
        }
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if let Some((_, after)) = text.split_once(UNICAST_HEADING) {
            return self.begin_section(line, after, Rows::Unicast(Lft::new()));
        }
        if let Some(after) = text.strip_prefix(MULTICAST_HEADING) {
            return self.begin_section(line, after, Rows::Unknown);
        }
        if let Some(rest) = text.strip_prefix("PLFT_NUM") {
            return self.begin_private_table(line, rest);
        }
        let columns = text.strip_prefix("LID").is_some_and(|rest| rest.trim_start().starts_with(':'));
        if line.unended {
            note_truncated_line(&mut self.file.notes, self.input.line_place(line.number), text);
        } else if columns {
            if let Some(open) = &mut self.open
                && text.contains("Out Port(s)")
            {
                open.rows = Rows::Multicast(Mft::default());
            }
        } else if text.starts_with(':') || text.starts_with('-') {
            return Err(bad_lid(split_word(text).0, self.input.line_place(line.number)));
        } else {
            note_stray_line(&mut self.file.notes, self.input.line_place(line.number), text);
        }
        Ok(())
    }

    fn begin_section(&mut self, line: &TextLine<'_>, after: &str, rows: Rows) -> Result<(), Box<FileError>> {
        self.end_section();
        let guid = split_leading_hex(after).filter(|(_, rest)| rest.trim().is_empty());
        match guid {
            Some((node, _)) if !line.unended => {
                let node = Guid(node);
                self.open = Some(OpenSection {
                    node,
                    line: line.number,
                    rows,
                    private_tables: 0,
                    in_private: false,
                    last: None,
                    reach: 0,
                });
            }
            _ if line.unended => {
                note_truncated_line(&mut self.file.notes, self.input.line_place(line.number), &line.text);
            }
            _ => {
                let wanted = "a heading with the GUID of a switch";
                return Err(bad_line(self.input.line_place(line.number), &line.text, wanted));
            }
        }
        Ok(())
    }

    /// Reads `: 0, top: 0x0004` of ibdiagnet. The first private table is the linear one of the switch.
    fn begin_private_table(&mut self, line: &TextLine<'_>, rest: &str) -> Result<(), Box<FileError>> {
        let place = self.input.line_place(line.number);
        if line.unended {
            note_truncated_line(&mut self.file.notes, place, &line.text);
            return Ok(());
        }
        let rest = rest.trim_start_matches([':', ' ', '\t']);
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let number = parse_decimal(digits).and_then(|number| u8::try_from(number).ok());
        let Some(number) = number else {
            return Err(bad_line(place, &line.text, "the number of a private table (PLFT_NUM: 0)"));
        };
        let Some(open) = &mut self.open else { return Err(no_section(place, &line.text)) };
        open.private_tables = open.private_tables.max(number.saturating_add(1));
        open.in_private = number > 0;
        Ok(())
    }

    fn read_row(&mut self, line: &TextLine<'_>, text: &str) -> Result<(), Box<FileError>> {
        let place = || self.input.line_place(line.number);
        let Some(open) = &mut self.open else {
            if line.unended {
                note_truncated_line(&mut self.file.notes, place(), text);
                return Ok(());
            }
            return Err(no_section(place(), text));
        };
        if open.in_private {
            if line.unended {
                note_truncated_line(&mut self.file.notes, place(), text);
            }
            return Ok(());
        }
        let (lid_word, rest) = text.split_once(':').map_or((text, ""), |(lid, rest)| (lid.trim_end(), rest));
        if let Rows::Multicast(mft) = &mut open.rows {
            if line.unended {
                note_truncated_line(&mut self.file.notes, place(), text);
                return Ok(());
            }
            return read_multicast_row(mft, lid_word, rest, self.input, line.number);
        }
        if let Rows::Unknown = open.rows {
            open.rows = Rows::Unicast(Lft::new());
        }
        let Rows::Unicast(lft) = &mut open.rows else { return Ok(()) };
        let (port_word, behind) = split_word(rest);
        if line.unended {
            note_truncated_line(&mut self.file.notes, place(), text);
            if behind.is_empty() {
                return Ok(());
            }
        }
        let lid = parse_table_lid(lid_word).ok_or_else(|| bad_lid(lid_word, place()))?;
        let port = match port_word {
            "UNREACHABLE" => None,
            digits => match parse_decimal(digits) {
                Some(255) => None,
                Some(port @ 0..=254) => Some(PortNum(port as u8)),
                _ => return Err(bad_port(digits, place())),
            },
        };
        if lft.get(lid).is_some_and(|known| port != Some(known)) {
            let node = open.node;
            self.file.notes.add(CONFLICTING_ENTRIES, place(), || {
                format!("switch {node} has two entries for LID {lid}; the last one counts")
            });
        }
        if port.is_some() {
            self.guard.add_entry(&mut open.reach, lid, place)?;
        }
        lft.set(lid, port);
        open.last = Some(lid);
        Ok(())
    }

    fn end_section(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut tables = NodeTables::default();
        match open.rows {
            Rows::Unicast(lft) => tables.lft = Some(lft),
            Rows::Multicast(mft) => tables.mft = Some(mft),
            Rows::Unknown => {}
        }
        self.longest = self.longest.max(open.last.map_or(0, Lid::value));
        let place = self.input.line_place(open.line);
        self.file.sections.push(TableSection {
            node: open.node,
            tables,
            private_tables: open.private_tables,
            place,
        });
    }

    fn finish(mut self) -> Result<TableFile, Box<FileError>> {
        let mut cut = None;
        if let Some(open) = &self.open
            && !matches!(open.rows, Rows::Multicast(_))
        {
            let last = open.last.map_or(0, Lid::value);
            if last < self.longest || last == 0 {
                let (node, longest) = (open.node, self.longest);
                cut = Some((open.last, Lid::new(longest.into())));
                self.file.notes.add_partial(TRUNCATED_SECTION, self.input.line_place(open.line), || {
                    format!("the last table, of {node}, ends at LID {last}, others at {longest}")
                });
            } else if self.file.sections.is_empty() {
                let node = open.node;
                self.file.open_end = open.last;
                self.file.notes.add(TRUNCATED_SECTION, self.input.line_place(open.line), || {
                    format!("{node} is alone in the file: whether its table, up to LID {last}, is complete cannot be checked")
                });
            }
        }
        self.end_section();
        if let (Some((last, top)), Some(section)) = (cut, self.file.sections.last_mut()) {
            section.tables.mark_unread_after(last, top);
        }
        if self.file.sections.is_empty() {
            return Err(no_content(self.input.name, "table of a switch"));
        }
        Ok(self.file)
    }
}

/// Reads `0xC000 : 0x001  0x003 `.
fn read_multicast_row(
    table: &mut Mft,
    lid_word: &str,
    rest: &str,
    input: Input<'_>,
    line: u64,
) -> Result<(), Box<FileError>> {
    let Some(group @ 0xC000..=0xFFFE) = parse_prefixed_hex(lid_word) else {
        let what = format!("a multicast entry for the LID '{}'", printable_excerpt(lid_word));
        return Err(FileError::new(
            BAD_LID,
            input.line_place(line),
            what,
            "multicast LIDs are 0xc000 to 0xfffe",
        ));
    };
    let mut ports = Vec::new();
    for port in rest.split_whitespace() {
        let number =
            parse_prefixed_hex(port).and_then(|port| u32::try_from(port).ok()).and_then(PortNum::new);
        ports.push(number.ok_or_else(|| bad_port(port, input.line_place(line)))?);
    }
    table.groups.insert(group as u16, ports);
    Ok(())
}

#[cfg(test)]
mod tests;
