//! The tables of a file: their position, whether they are complete, and their rows by column name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::FileError;
use crate::counters_text::{PortField, is_absent, parse_number, parse_port};
use crate::csv::read_row;
use crate::text::{Input, TextLine, TextLines, parse_timestamp};
use fabdeck_fabric::observe::{NotePlace, Notes, digits_in_groups};
use fabdeck_fabric::{Guid, PortNum};

/// Most columns. Real tables have up to about two hundred.
const COLUMN_LIMIT: usize = 1024;

/// A line that opens or closes a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Marker<'a> {
    Start(&'a str),
    End(&'a str),
}

impl<'a> Marker<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let line = line.trim();
        // The name of a table may hold brackets and digits, but no comma or blank as rows and prose do.
        let name = |text: &'a str| {
            let fits = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b"_()-".contains(&b);
            (!text.is_empty() && text.bytes().all(fits)).then_some(text)
        };
        match line.strip_prefix("START_") {
            Some(rest) => name(rest).map(Self::Start),
            None => line.strip_prefix("END_").and_then(name).map(Self::End),
        }
    }
}

/// One table.
#[derive(Clone, Debug)]
pub(super) struct Section<'a> {
    pub(super) name: String,
    input: Input<'a>,
    line: u64,
    /// The lines after the opening one.
    lines: TextLines<'a>,
    unread: UnreadColumns,
}

/// By table: the columns that nothing reads, by their position.
type UnreadColumns = Rc<RefCell<BTreeMap<String, BTreeMap<usize, String>>>>;

/// All tables of a file, in file order.
pub(super) struct CsvTables<'a> {
    input: Input<'a>,
    sections: Vec<Section<'a>>,
    /// The time of the dump as the file writes it, if a comment has it.
    pub(super) time: Option<String>,
    unread: UnreadColumns,
}

impl<'a> CsvTables<'a> {
    /// Finds the tables. Notes a table without its end, because the rest may be missing.
    pub(super) fn scan(input: Input<'a>, notes: &mut Notes) -> Result<Self, Box<FileError>> {
        let mut tables = Self { input, sections: Vec::new(), time: None, unread: Rc::default() };
        // Name and line of the open table, for notes.
        let mut open: Option<(String, u64)> = None;
        let mut lines = input.lines();
        while let Some(line) = lines.next() {
            let line = line?;
            match Marker::of(&line.text) {
                Some(Marker::Start(name)) => {
                    if let Some((cut, at)) = open.replace((name.to_owned(), line.number)) {
                        note_unended_table(&input, &cut, at, notes);
                    }
                    let (name, lines, unread) = (name.to_owned(), lines.clone(), tables.unread.clone());
                    tables.add(Section { name, input, line: line.number, lines, unread }, notes);
                }
                Some(Marker::End(name)) => match open.take() {
                    Some((opened, at)) if opened != name => note_unended_table(&input, &opened, at, notes),
                    _ => {}
                },
                None if open.is_none() && tables.time.is_none() => tables.time = parse_time(&line),
                None => {}
            }
        }
        if let Some((cut, at)) = open {
            note_unended_table(&input, &cut, at, notes);
        }
        Ok(tables)
    }

    fn add(&mut self, section: Section<'a>, notes: &mut Notes) {
        // The first table of a name counts. Files have about a hundred tables; in a hostile file with more than 1,024
        // duplicates are not searched.
        let known = self.sections.len() < 1024 && self.get_table(&section.name).is_some();
        if known {
            let name = &section.name;
            if name == "NODES" {
                notes.add_grave("FN-558", section.place(), || {
                    "a second dump begins here and is not read; give each dump as a file of its own"
                        .to_owned()
                });
            }
            notes.add("FN-423", section.place(), || format!("a second table {name}; the first counts"));
        } else {
            self.sections.push(section);
        }
    }

    /// The columns that nothing read so far, by table: of tables that were read.
    pub(super) fn unread_columns(&self) -> Vec<(String, Vec<String>)> {
        let unread = self.unread.borrow();
        let tables = unread.iter().filter(|(_, columns)| !columns.is_empty());
        tables.map(|(table, columns)| (table.clone(), columns.values().cloned().collect())).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Section<'a>> {
        self.sections.iter()
    }

    pub(super) fn get_table(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// A table that every complete file has: without it the reading is partial.
    pub(super) fn get_required(&self, name: &str, notes: &mut Notes) -> Option<&Section<'a>> {
        let found = self.get_table(name);
        if found.is_none() {
            notes.add_partial("FN-422", NotePlace::file(self.input.name), || {
                format!("there is no table {name}; the file may be cut")
            });
        }
        found
    }

    /// Compares the tables with the file's own list of tables; a listed table that is absent was cut off.
    pub(super) fn check_index(&self, notes: &mut Notes) -> Result<(), Box<FileError>> {
        let Some(index) = self.get_table("INDEX_TABLE") else { return Ok(()) };
        let known: FxHashSet<&str> = self.sections.iter().map(|section| section.name.as_str()).collect();
        let mut absent = Vec::new();
        index.read_rows(
            notes,
            None,
            |columns| columns.find(&["Name", "Section"]),
            |name, row, _| {
                let name = row.cell(name.or(Some(0)));
                if !known.contains(name) {
                    absent.push((row.place(), name.to_owned()));
                }
            },
        )?;
        for (place, name) in absent {
            notes.add_partial("FN-422", place, || {
                let name: String = name.chars().take(40).collect();
                format!("the table {name} is listed but absent; the file may be cut")
            });
        }
        Ok(())
    }
}

fn note_unended_table(input: &Input<'_>, name: &str, line: u64, notes: &mut Notes) {
    notes.add_partial("FN-421", input.line_place(line), || {
        format!("the table {name} has no END_{name}; the file may be cut")
    });
}

fn parse_time(line: &TextLine<'_>) -> Option<String> {
    let time = parse_timestamp(line.text.trim().strip_prefix('#')?)?;
    (!line.unended).then(|| time.to_owned())
}

/// The column names of a table.
pub(super) struct SectionColumns {
    pub(super) names: Vec<String>,
    /// The columns that are read.
    read: RefCell<BTreeSet<usize>>,
}

impl SectionColumns {
    /// The names, in the order of the columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Notes that these columns are read, beside those that are found by name.
    pub(super) fn mark_read(&self, columns: impl IntoIterator<Item = usize>) {
        self.read.borrow_mut().extend(columns);
    }

    /// The first column with one of the names, in the order of the names. Case and underscores vary between versions
    /// (`NodeGuid`, `NodeGUID`, `node_guid`).
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        let found =
            names.iter().find_map(|name| self.names.iter().position(|column| same_column(column, name)));
        self.mark_read(found);
        found
    }

    fn unread(&self) -> BTreeMap<usize, String> {
        let read = self.read.borrow();
        let unread =
            self.names.iter().enumerate().filter(|(at, name)| !read.contains(at) && !name.is_empty());
        unread.map(|(at, name)| (at, name.chars().take(60).collect())).collect()
    }
}

fn same_column(column: &str, name: &str) -> bool {
    let plain = |text: &'_ str| {
        text.bytes().filter(|b| *b != b'_').map(|b| b.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    plain(column) == plain(name)
}

/// One row with a cell for each column.
pub(super) struct Row<'r> {
    cells: &'r [Cow<'r, str>],
    input: Input<'r>,
    pub(super) line: u64,
}

impl Row<'_> {
    /// A cell without surrounding blanks; empty if the table has no such column.
    pub(super) fn cell(&self, column: Option<usize>) -> &str {
        column.and_then(|at| self.cells.get(at)).map_or("", |cell| cell.trim())
    }

    /// A cell with its blanks.
    pub(super) fn raw_cell(&self, column: Option<usize>) -> &str {
        column.and_then(|at| self.cells.get(at)).map_or("", |cell| cell.as_ref())
    }

    pub(super) fn place(&self) -> NotePlace {
        self.input.line_place(self.line)
    }

    pub(super) fn input(&self) -> &Input<'_> {
        &self.input
    }

    /// Notes that a row is left out because of one cell. The note does not show the cell, because keys may be nearby.
    pub(super) fn note_unreadable(&self, what: &str, notes: &mut Notes) {
        notes.add_partial("FN-426", self.place(), || {
            format!("the {what} of this row cannot be read; row left out")
        });
    }
}

/// A number, or `None` for a cell without a value. Some versions write -1 for none, into columns of hexadecimal numbers
/// too.
pub(super) fn read_number(
    row: &Row<'_>,
    column: Option<usize>,
    what: &str,
    notes: &mut Notes,
) -> Option<u64> {
    let text = row.cell(column);
    if is_absent(text) || text == "-1" {
        return None;
    }
    let value = parse_number(text);
    if value.is_none() {
        notes.add("FN-433", row.place(), || format!("the {what} of this row is no number: read as unknown"));
    }
    value
}

impl<'a> Section<'a> {
    pub(super) fn place(&self) -> NotePlace {
        self.input.line_place(self.line)
    }

    /// Calls `each` for the rows that name a node.
    pub(super) fn read_nodes<C>(
        &self,
        notes: &mut Notes,
        pick: impl FnOnce(&SectionColumns) -> C,
        mut each: impl FnMut(Guid, &C, &Row<'_>, &mut Notes),
    ) -> Result<(), Box<FileError>> {
        let pick = |columns: &SectionColumns| (columns.find(&["NodeGUID", "GUID"]), pick(columns));
        self.read_rows(notes, None, pick, |(node, picked), row, notes| {
            match Guid::from_hex(row.cell(*node)) {
                Ok(node) => each(node, picked, row, notes),
                Err(_) => row.note_unreadable("NodeGUID", notes),
            }
        })
    }

    /// Calls `each` for the rows that name a port.
    pub(super) fn read_ports<C>(
        &self,
        notes: &mut Notes,
        pick: impl FnOnce(&SectionColumns) -> C,
        mut each: impl FnMut((Guid, PortNum), &C, &Row<'_>, &mut Notes),
    ) -> Result<(), Box<FileError>> {
        let pick = |columns: &SectionColumns| (columns.find(&["PortNum", "PortNumber"]), pick(columns));
        self.read_nodes(notes, pick, |node, (port, picked), row, notes| {
            match parse_port(row.cell(*port)).and_then(PortField::number) {
                Some(port) => each((node, port), picked, row, notes),
                None => row.note_unreadable("port number", notes),
            }
        })
    }

    /// The number of rows, of which none is read.
    pub(super) fn row_count(&self) -> u64 {
        let lines =
            self.lines.clone().map_while(Result::ok).take_while(|line| Marker::of(&line.text).is_none());
        let filled = lines.filter(|line| !line.text.trim().is_empty() && !line.text.starts_with('#'));
        (filled.count() as u64).saturating_sub(1)
    }

    /// Calls `each` for all rows. `pick` finds columns once; `free_text` names a column that may hold unquoted commas.
    pub(super) fn read_rows<C>(
        &self,
        notes: &mut Notes,
        free_text: Option<&str>,
        pick: impl FnOnce(&SectionColumns) -> C,
        mut each: impl FnMut(&C, &Row<'_>, &mut Notes),
    ) -> Result<(), Box<FileError>> {
        let mut lines = self.lines.clone();
        let Some(columns) = self.read_header(&mut lines, notes)? else { return Ok(()) };
        let free_text = free_text.and_then(|name| columns.find(&[name]));
        let width = columns.names.len();
        let picked = pick(&columns);
        self.note_columns(&columns);
        for line in lines {
            let line = line?;
            if Marker::of(&line.text).is_some() {
                break;
            }
            if line.unended {
                // The missing end of the table is noted already; a cell of this row may be cut too.
                break;
            }
            if line.text.trim().is_empty() {
                continue;
            }
            let mut cells = Vec::with_capacity(width);
            let fits = read_row(&line.text, &mut cells).is_ok()
                && repair_row(&mut cells, width, free_text, || self.input.line_place(line.number), notes);
            if fits {
                each(&picked, &Row { cells: &cells, input: self.input, line: line.number }, notes);
            } else if !line.text.starts_with('#') {
                // A comment fits no table, but a node may be named '#7'.
                notes.add_partial("FN-424", self.input.line_place(line.number), || {
                    format!("a row of {} does not fit its {width} columns; left out", self.name)
                });
            }
        }
        Ok(())
    }

    /// Keeps which columns nothing reads: a table may be read in several parts.
    fn note_columns(&self, columns: &SectionColumns) {
        let mut all = self.unread.borrow_mut();
        let unread = columns.unread();
        all.entry(self.name.clone())
            .and_modify(|known| known.retain(|at, _| unread.contains_key(at)))
            .or_insert(unread);
    }

    /// Reads the column names: the first line of the table.
    fn read_header(
        &self,
        lines: &mut TextLines<'a>,
        notes: &mut Notes,
    ) -> Result<Option<SectionColumns>, Box<FileError>> {
        for line in lines {
            let line = line?;
            if Marker::of(&line.text).is_some() || line.unended {
                break;
            }
            if line.text.trim().is_empty() || line.text.starts_with('#') {
                continue;
            }
            let mut cells = Vec::new();
            if read_row(&line.text, &mut cells).is_err() {
                break;
            }
            // A comma after the last name is no column.
            while cells.last().is_some_and(|cell| cell.trim().is_empty()) {
                cells.pop();
            }
            if cells.len() > COLUMN_LIMIT {
                let what = format!("{} columns in the table {}", cells.len(), self.name);
                let hint = format!("no known version has over {} columns", digits_in_groups(COLUMN_LIMIT));
                return Err(FileError::new("FD-2404", self.input.line_place(line.number), what, hint));
            }
            let names = cells.iter().map(|cell| cell.trim().to_owned()).collect();
            return Ok(Some(SectionColumns { names, read: RefCell::default() }));
        }
        notes.add_partial("FN-436", self.place(), || format!("the table {} has no column names", self.name));
        Ok(None)
    }
}

/// Whether a row has one cell for each column, after repairs that leave no doubt.
fn repair_row(
    cells: &mut Vec<Cow<'_, str>>,
    width: usize,
    free_text: Option<usize>,
    place: impl Fn() -> NotePlace,
    notes: &mut Notes,
) -> bool {
    while cells.len() > width && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    if let Some(at) = free_text
        && cells.len() > width
    {
        let end = at + 1 + cells.len() - width;
        let joined = cells[at..end].join(",");
        cells.splice(at..end, [Cow::Owned(joined)]);
        notes.add("FN-425", place(), || {
            "commas without quotes in a node description; read as part of the description".to_owned()
        });
    }
    cells.len() == width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers() {
        assert_eq!(Marker::of(" START_NODES\r"), Some(Marker::Start("NODES")));
        assert_eq!(Marker::of("END_PM_INFO"), Some(Marker::End("PM_INFO")));
        for line in ["START_", "START_nodes", "START_A,B", "# START_NODES", "0x1,END_X"] {
            assert_eq!(Marker::of(line), None, "{line}");
        }
    }

    #[test]
    fn columns_by_any_spelling() {
        let names = ["NodeGuid", "Port_Num", "lid"].map(str::to_owned).to_vec();
        let columns = SectionColumns { names, read: RefCell::default() };
        assert_eq!(columns.find(&["NodeGUID"]), Some(0));
        assert_eq!(columns.find(&["PortNumber", "PortNum"]), Some(1));
        assert_eq!(columns.find(&["LMC"]), None);
        assert_eq!(columns.unread(), BTreeMap::from([(2, "lid".to_owned())]));
    }
}
