//! Tables of labels and places: PORT_HIERARCHY_INFO and PHYSICAL_HIERARCHY_INFO.

use super::section::{CsvTables, Row, SectionColumns};
use crate::FileError;
use crate::label_binding::read_label;
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{LabelOrigin, NodePlace, PortLabel, PortLabels};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &["PORT_HIERARCHY_INFO", "PHYSICAL_HIERARCHY_INFO"];

/// The parts of a place with their columns: site, room, row, rack, unit. No table has rows of racks.
const PLACE_COLUMNS: [&[&str]; 5] =
    [&["CampusSerialNum"], &["RoomSerialNum"], &["RowSerialNum"], &["RackSerialNum"], &["SystemTopUNum"]];

/// Reads labels and places. Of two labels of a port the first counts.
pub(super) fn read(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<PortLabels, Box<FileError>> {
    let mut labels = PortLabels::default();
    if let Some(section) = tables.get_table("PORT_HIERARCHY_INFO") {
        let pick = |columns: &SectionColumns| columns.find(&["Label"]);
        section.read_ports(notes, pick, |at, column, row, notes| {
            let Some(text) = read_label(row.cell(*column), &row.place(), notes) else { return };
            if let Some(held) = labels.add(at, PortLabel { text, origin: LabelOrigin::File }) {
                notes.add("FN-463", row.place(), || {
                    format!("port {} of {} has another label here; '{}' counts", at.1, at.0, held.text)
                });
            }
        })?;
    }
    if let Some(section) = tables.get_table("PHYSICAL_HIERARCHY_INFO") {
        let pick = |columns: &SectionColumns| PLACE_COLUMNS.map(|names| columns.find(names));
        section.read_nodes(notes, pick, |node, columns, row, notes| {
            let place = read_place(row, *columns, notes);
            if !place.is_empty() {
                labels.places.entry(node).or_default().fill(&place);
            }
        })?;
    }
    Ok(labels)
}

fn read_place(row: &Row<'_>, columns: [Option<usize>; 5], notes: &mut Notes) -> NodePlace {
    let [site, room, line, rack, unit] =
        columns.map(|column| read_label(row.cell(column), &row.place(), notes).filter(|text| text != "0"));
    NodePlace { site, room, row: line, rack, unit }
}
