//! Rows of the tables of ibdiagnet that no other view has.

use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::observe::{FileTable, FileTableRow};
use fabdeck_fabric::{NodeId, PortId};

/// The number of a table, and of a row in it; without, the row names the columns that nothing reads.
pub type FileRow = (usize, Option<usize>);

type RowField = Field<FileRow>;

pub const FILE_TABLES: View<FileRow> =
    View::new(FILE_TABLE_FIELDS, "the source has no tables of ibdiagnet that other views lack");

static FILE_TABLE_FIELDS: &[RowField] = &[
    RowField::new("table", "TABLE", FieldKind::Text, "name of the table in the file", |l, &at| {
        l.observation.file_tables.get(at.0).map(|table| table.name.as_str()).into()
    }),
    RowField::new("node", "NODE", FieldKind::Text, "node that the row is about", |l, &at| {
        node(l, at).map(|node| l.name(node)).into()
    })
    .node_name(),
    RowField::new("guid", "GUID", FieldKind::Guid, "GUID that the row has", |l, &at| {
        row(l, at).and_then(|(_, row)| row.node).into()
    })
    .on_request(),
    RowField::new("port", "PORT", FieldKind::Number, "port that the row is about", |l, &at| {
        row(l, at).and_then(|(_, row)| row.port).into()
    })
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, &at| match port(l, at) {
        Some(port) => label_value(l, port),
        None => Value::Missing,
    })
    .when_known(),
    RowField::new(
        "stated",
        "STATED",
        FieldKind::Text,
        "the columns of the row by their names, without those that may hold a key; of a table that other views have, the \
         names of the columns that are not read",
        |l, &at| stated(l, at).into(),
    ),
];

/// The rows, in the order of the file.
pub fn file_tables(look: &Snapshot) -> Rows<'_, FileRow> {
    let tables = look.observation.file_tables.iter().enumerate();
    let rows = tables.flat_map(|(at, table)| {
        let unread = table.rows.is_empty().then_some((at, None));
        (0..table.rows.len()).map(move |row| (at, Some(row))).chain(unread)
    });
    FILE_TABLES.rows(look, rows.collect::<Vec<_>>())
}

fn row(look: &Snapshot, (table, row): FileRow) -> Option<(&FileTable, &FileTableRow)> {
    let table = look.observation.file_tables.get(table)?;
    Some((table, table.rows.get(row?)?))
}

fn stated(look: &Snapshot, at: FileRow) -> Option<String> {
    match row(look, at) {
        Some((table, row)) => Some(table.row_text(row)),
        None => Some(format!("not read: {}", look.observation.file_tables.get(at.0)?.columns.join(", "))),
    }
}

/// The node of a row, which may have the GUID of a port.
fn node(look: &Snapshot, at: FileRow) -> Option<NodeId> {
    let (_, row) = row(look, at)?;
    let (fabric, guid) = (look.fabric(), row.node?);
    fabric.node_by_guid(guid).or_else(|| fabric.port_by_guid(guid).map(|port| fabric.port(port).node))
}

fn port(look: &Snapshot, at: FileRow) -> Option<PortId> {
    let (_, row) = row(look, at)?;
    look.fabric().port_of(node(look, at)?, row.port?)
}
