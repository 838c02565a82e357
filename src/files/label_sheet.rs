//! The operator's sheet of labels and places: a table with a heading, in any order of columns, separated by commas,
//! semicolons or tabs.
//!
//! ```text
//! site,room,row,rack,u,device,port,label
//! HQ,hall 2,B,B7,31,leaf3,,
//! HQ,hall 2,B,B7,31,leaf3,3,2/1
//! ```

use std::borrow::Cow;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Guid, NodePlace, PortNum, SheetRow};

use super::FileError;
use super::content::LabelFile;
use super::csv::read_cells;
use super::label_binding::read_label;
use super::text::Input;

pub const ID: &str = "label-sheet";

/// A line that cannot be used.
const BAD_LINE: &str = "FN-464";
/// A second column of one meaning.
const SECOND_COLUMN: &str = "FN-465";

/// The meaning of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SheetColumn {
    Site,
    Room,
    Row,
    Rack,
    Unit,
    Device,
    Guid,
    Port,
    Label,
    Slot,
    Cage,
    Breakout,
}

impl SheetColumn {
    /// The columns with their names, without blanks and signs, in small letters.
    const NAMES: [(Self, &'static [&'static str]); 12] = [
        (Self::Site, &["site", "campus", "datacenter", "dc"]),
        (Self::Room, &["room", "hall", "datahall"]),
        (Self::Row, &["row"]),
        (Self::Rack, &["rack", "cabinet"]),
        (Self::Unit, &["u", "unit", "ru", "rackunit", "uheight"]),
        (Self::Device, &["device", "node", "name", "switch", "host", "hostname", "devicename", "nodename"]),
        (Self::Guid, &["guid", "nodeguid"]),
        (Self::Port, &["port", "portnumber", "portnum", "ibport"]),
        (Self::Label, &["label", "portlabel", "frontpanel"]),
        (Self::Slot, &["slot"]),
        (Self::Cage, &["cage"]),
        (Self::Breakout, &["breakout", "split"]),
    ];

    fn of(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        let known = Self::NAMES.iter().find(|(_, names)| names.contains(&plain.as_str()));
        known.map(|(column, _)| *column)
    }

    /// Whether the column names a device.
    fn is_name(self) -> bool {
        matches!(self, Self::Device | Self::Guid)
    }

    /// Whether the column states something about a device or a port.
    fn is_statement(self) -> bool {
        !self.is_name() && !matches!(self, Self::Port | Self::Slot | Self::Breakout)
    }
}

/// The heading: the separator, and the meaning of each column.
struct SheetHeading {
    separator: char,
    columns: Vec<Option<SheetColumn>>,
}

impl SheetHeading {
    /// Reads a heading; `None` for another line. It has a device or a GUID, and something about them.
    fn of(line: &str) -> Option<Self> {
        let count = |separator: char| line.matches(separator).count();
        let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| count(*separator))?;
        let mut cells = Vec::new();
        read_cells(line, separator, &mut cells).ok()?;
        let columns: Vec<_> = cells.iter().map(|cell| SheetColumn::of(cell.trim())).collect();
        let has = |wanted: fn(SheetColumn) -> bool| columns.iter().flatten().any(|column| wanted(*column));
        (has(SheetColumn::is_name) && has(SheetColumn::is_statement)).then_some(Self { separator, columns })
    }

    /// The cell of a column; `-` and `TBD` are no value. Of two columns with one meaning the first counts.
    fn cell<'c>(&self, cells: &'c [Cow<'_, str>], wanted: SheetColumn) -> Option<&'c str> {
        let at = self.columns.iter().position(|column| *column == Some(wanted))?;
        let text = cells.get(at)?.trim();
        (!text.is_empty() && text != "-" && !text.eq_ignore_ascii_case("tbd")).then_some(text)
    }

    fn note_second_columns(&self, place: &NotePlace, notes: &mut Notes) {
        for (at, column) in self.columns.iter().enumerate().filter(|(_, column)| column.is_some()) {
            if self.columns[..at].contains(column) {
                notes.add(SECOND_COLUMN, place.clone(), || {
                    format!("column {} has the meaning of an earlier one and is not read", at + 1)
                });
            }
        }
    }

    fn read_row(
        &self,
        cells: &[Cow<'_, str>],
        place: &NotePlace,
        notes: &mut Notes,
    ) -> Result<SheetRow, String> {
        let cell = |column| self.cell(cells, column);
        let mut value = |column| cell(column).and_then(|text| read_label(text, place, notes));
        let node_place = NodePlace {
            site: value(SheetColumn::Site),
            room: value(SheetColumn::Room),
            row: value(SheetColumn::Row),
            rack: value(SheetColumn::Rack),
            unit: value(SheetColumn::Unit),
        };
        let label = value(SheetColumn::Label).or_else(|| {
            let parts = [value(SheetColumn::Slot), value(SheetColumn::Cage), value(SheetColumn::Breakout)];
            parts[1].is_some().then(|| parts.into_iter().flatten().collect::<Vec<_>>().join("/"))
        });
        let device = match (cell(SheetColumn::Guid), cell(SheetColumn::Device)) {
            (Some(guid), _) => match Guid::from_hex(guid) {
                Ok(guid) => guid.to_string(),
                Err(_) => return Err("the GUID cannot be read".to_owned()),
            },
            (None, Some(name)) => name.to_owned(),
            (None, None) => return Err("neither a device nor a GUID".to_owned()),
        };
        let port = match cell(SheetColumn::Port) {
            None => None,
            Some(text) => {
                let number = text.parse().ok().and_then(PortNum::new);
                Some(number.ok_or("the port is no number; write labels into a column 'label'")?)
            }
        };
        if label.is_some() && port.is_none() {
            return Err("a label without the number of its port".to_owned());
        }
        Ok(SheetRow {
            device,
            port,
            label,
            place: node_place,
            file: place.file.clone(),
            line: place.line.unwrap_or(0),
        })
    }
}

fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

pub fn looks_like(head: &str) -> bool {
    head.lines().find(|line| !is_skipped(line)).is_some_and(|line| SheetHeading::of(line).is_some())
}

pub fn read(input: Input<'_>) -> Result<LabelFile, Box<FileError>> {
    let mut file = LabelFile::default();
    let mut heading = None;
    for line in input.lines() {
        let line = line?;
        if is_skipped(&line.text) {
            continue;
        }
        let place = input.line_place(line.number);
        let Some(known) = &heading else {
            let Some(found) = SheetHeading::of(&line.text) else { return Err(no_heading(place)) };
            found.note_second_columns(&place, &mut file.notes);
            heading = Some(found);
            continue;
        };
        let mut cells = Vec::new();
        let row = match read_cells(&line.text, known.separator, &mut cells) {
            Ok(()) if cells.iter().all(|cell| cell.trim().is_empty()) => continue,
            Ok(()) => known.read_row(&cells, &place, &mut file.notes),
            Err(error) => Err(error.to_string()),
        };
        match row {
            Ok(row) => file.sheet.push(row),
            Err(what) => file.notes.add_partial(BAD_LINE, place, || format!("{what}: the line is left out")),
        }
    }
    match heading {
        Some(_) => Ok(file),
        None => Err(no_heading(input.line_place(1))),
    }
}

fn no_heading(place: NotePlace) -> Box<FileError> {
    let hint = "the first line names the columns: 'device' or 'guid', and some of port, label, slot, cage, breakout, site, \
                room, row, rack, u";
    FileError::new("FD-2421", place, "this is no heading of a sheet of labels", hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &str) -> LabelFile {
        read(Input::new("f", text.as_bytes())).unwrap()
    }

    fn shown(file: &LabelFile) -> Vec<String> {
        let port = |row: &SheetRow| row.port.map_or("-".to_owned(), |port| port.to_string());
        let label = |row: &SheetRow| row.label.clone().unwrap_or_default();
        file.sheet
            .iter()
            .map(|row| {
                format!("{}:{} {} {}|{}", row.line, row.device, port(row), label(row), row.place.text())
            })
            .collect()
    }

    #[test]
    fn columns_are_found_in_any_order_with_any_separator() {
        let rows = ["2:leaf3 3 2/1|rack B7, U 31", "3:leaf3 - |room hall 2"];
        for text in [
            "rack,U,Device,Port,Label,Hall\nB7,31,leaf3,3,2/1,\n-,TBD,leaf3,,,hall 2\n",
            "\u{feff}Hall;Port Label;port number;Node Name;Rack Unit;Cabinet;remark\r\n;2/1;3;leaf3;31;B7;x\r\n\"hall 2\";;;leaf3;;;\r\n",
            "switch\tport\tlabel\track\tu\troom\nleaf3\t3\t2/1\tB7\t31\nleaf3\t\t\t\t\thall 2",
        ] {
            assert!(looks_like(text.trim_start_matches('\u{feff}')), "{text}");
            let file = read_text(text);
            assert_eq!(
                (shown(&file), file.notes.iter().count()),
                (rows.map(str::to_owned).to_vec(), 0),
                "{text}"
            );
        }
    }

    #[test]
    fn a_label_is_made_of_slot_cage_and_breakout() {
        let file = read_text("guid,port,slot,cage,breakout\n0xa1,3,1,2,1\n0xa1,4,,2,\n0xa1,5,1,,1\n");
        let guid = "0x00000000000000a1";
        let rows = [format!("2:{guid} 3 1/2/1|"), format!("3:{guid} 4 2|"), format!("4:{guid} 5 |")];
        assert_eq!(shown(&file), rows);
    }

    #[test]
    fn a_bad_line_takes_no_other() {
        let text = "# remark\ndevice,guid,port,label,name\nleaf1,,1,a\n,,2,b\nleaf1,0xnone,2,b\nleaf1,,1/2,b\nleaf1,,,b\n\
            leaf1,,999,b\n\"leaf1,,2,b\nleaf1,,2,c\n,,,\n";
        let file = read_text(text);
        assert_eq!(shown(&file), ["3:leaf1 1 a|", "10:leaf1 2 c|"]);
        let notes: Vec<_> = file.notes.iter().map(|note| (note.code, note.first.line, note.count)).collect();
        assert_eq!(notes, [("FN-464", Some(4), 6), ("FN-465", Some(2), 1)]);
    }

    #[test]
    fn other_text_is_no_sheet() {
        for text in ["", "device,port\nleaf1,1\n", "rack,u\nB7,1\n", "leaf1 3 2/1\n", "0xa1 \"leaf1\"\n"] {
            assert!(!looks_like(text), "{text}");
            let error = read(Input::new("f", text.as_bytes())).unwrap_err();
            assert_eq!(error.code, "FD-2421", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_sheet_panics(body in "[a1,;\t\"\n-]{0,60}") {
            let _ = read(Input::new("f", format!("device,port,label,rack\n{body}").as_bytes()));
        }
    }
}
