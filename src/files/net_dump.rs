//! `ibdiagnet2.net_dump`: for each switch a heading and a row for each port, of which the label is read. Columns are
//! found by name; without a heading of columns the first three are label, number and state.
//!
//! ```text
//! "leaf1", Mellanox, 0x0002c90000000201, LID 24
//!   #      : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid      : N#    : NLID : Neighbor Description
//!   1/1/1  : 1   : ACT  : LINK UP : 5   : 4x  : 100 : NO-FEC   : NO-RTR : 0x0002c90000000301 : 1/1/1 : 25   : "spine1"
//! ```

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Guid, PortNum};

use super::FileError;
use super::cables::note_cut;
use super::content::LabelFile;
use super::label_binding::{LabelStatement, read_label};
use super::opensm::{no_content, note_truncated_line};
use super::port_blocks::read_lines;
use super::text::Input;

pub const ID: &str = "net-dump";

/// The first columns of a row.
const LABEL: usize = 0;
const NUMBER: usize = 1;
/// Fewest cells of a row.
const MIN_CELLS: usize = 6;

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines();
    let switch = lines.any(|line| read_heading(line).is_some());
    switch && lines.any(|line| is_columns(line) || read_row(line).is_some())
}

/// The GUID in the heading of a switch: `"leaf1", Mellanox, 0x0002c90000000201, LID 24`. The name may have commas.
fn read_heading(line: &str) -> Option<Guid> {
    let line = line.trim();
    let (_, rest) = line.strip_prefix('"')?.rsplit_once('"')?;
    let (before, lid) = rest.rsplit_once(',')?;
    let lid = lid.trim().strip_prefix("LID")?.trim();
    let guid = before.rsplit(',').next()?.trim().strip_prefix("0x")?;
    lid.bytes().all(|b| b.is_ascii_digit()).then(|| Guid::from_hex(guid).ok()).flatten()
}

fn is_columns(line: &str) -> bool {
    let names: Vec<&str> = line.split(':').map(str::trim).collect();
    names.len() >= MIN_CELLS && names[LABEL] == "#" && matches!(names[NUMBER], "IB#" | "#IB")
}

/// The label and the number of a row.
fn read_row(line: &str) -> Option<(&str, PortNum)> {
    let cells: Vec<&str> = line.split(':').map(str::trim).collect();
    let number = cells.get(NUMBER)?.parse().ok().and_then(PortNum::new)?;
    (cells.len() >= MIN_CELLS).then(|| (cells[LABEL], number))
}

pub fn read(input: Input<'_>) -> Result<LabelFile, Box<FileError>> {
    let mut file = LabelFile::default();
    let mut notes = Notes::new();
    let mut switch = None;
    let mut any = false;
    let whole = read_lines(input, |line, text, place| {
        if line.unended {
            note_truncated_line(&mut notes, place, text);
        } else if let Some(guid) = read_heading(text) {
            (switch, any) = (Some(guid), true);
        } else if text.starts_with('"') {
            // The rows below belong to a switch whose heading cannot be read.
            switch = None;
            note_bad_row(&mut notes, place);
        } else if let Some(guid) = switch
            && !is_columns(text)
        {
            match read_row(text) {
                Some((label, port)) => {
                    let text = read_label(label, &place, &mut notes);
                    file.statements.extend(text.map(|text| LabelStatement { guid, port, text, place }));
                }
                None => note_bad_row(&mut notes, place),
            }
        }
    })?;
    if !whole {
        note_cut(&mut notes, input);
    }
    if !any {
        return Err(no_content(input.name, "heading of a switch with its GUID"));
    }
    file.notes = notes;
    Ok(file)
}

fn note_bad_row(notes: &mut Notes, place: NotePlace) {
    notes.add_partial("FN-424", place, || "a row of the table cannot be read; left out".to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\"leaf, 1\", Mellanox, 0x00000000000000a1, LID 1\n\
        \x20 # : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description\n\
        \x20 1/1/1 : 1 : ACT : LINK UP : 5 : 4x : 100 : NO-FEC : NO-RTR : 0xa3 : 1/1/1 : 3 : \"a: b\"\n\
        \x20 rubbish\n\
        \x20 N/A : 65 : DOWN : POLL : 5 : 4x : 100 : N/A : N/A : : : : \n\n\
        \"leaf 2\", Mellanox, 0xnone, LID 2\n\
        \x20 1/9/9 : 9 : ACT : LINK UP : 5 : 4x : 100 : NO-FEC : NO-RTR : 0xa3 : 1/1/1 : 3 : \"x\"\n";

    #[test]
    fn rows_have_labels_and_a_bad_row_takes_no_other() {
        assert!(looks_like(TEXT));
        let file = read(Input::new("f", TEXT.as_bytes())).unwrap();
        let found: Vec<_> = file
            .statements
            .iter()
            .map(|one| (one.guid, one.port, one.text.as_str(), one.place.line))
            .collect();
        assert_eq!(found, [(Guid(0xA1), PortNum(1), "1/1/1", Some(3))]);
        let codes: Vec<_> = file.notes.iter().map(|note| (note.code, note.count)).collect();
        assert_eq!(codes, [("FN-424", 2)]);
    }

    #[test]
    fn other_text_is_no_dump() {
        for text in
            ["", "\"a\", b, 0x1, LID 1\n", "1/1/1 : 1 : ACT : x : 5 : 4x\n", "\"a\" : 1 : 2 : 3 : 4 : 5\n"]
        {
            assert!(!looks_like(text), "{text}");
        }
        assert!(read(Input::new("f", b"x : 1 : 2\n")).is_err());
    }
}
