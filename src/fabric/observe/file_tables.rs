//! Tables of a file that no other part of an observation has: their rows, by the names of the columns.

use crate::{Guid, PortNum};

/// A value of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileValue {
    /// A number.
    Number(u64),
    /// A word, or a number with a point.
    Word(Box<str>),
}

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileTableRow {
    /// The node that the row is about.
    pub node: Option<Guid>,
    /// The port that the row is about.
    pub port: Option<PortNum>,
    /// A value for each column; `None` for a cell without one.
    pub values: Vec<Option<FileValue>>,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileTable {
    /// The name of the table.
    pub name: String,
    /// The columns that are kept, without those of node and port.
    pub columns: Vec<String>,
    /// The rows that could be read. A table without rows has the columns that nothing reads.
    pub rows: Vec<FileTableRow>,
}

impl FileTable {
    /// The values of a row as a text: `tree_radix 252, tree_table_size 64`.
    pub fn row_text(&self, row: &FileTableRow) -> String {
        let value = |value: &FileValue| match value {
            FileValue::Number(number) => number.to_string(),
            FileValue::Word(word) => word.to_string(),
        };
        let cells = self.columns.iter().zip(&row.values);
        let known = cells.filter_map(|(name, cell)| Some(format!("{name} {}", value(cell.as_ref()?))));
        known.collect::<Vec<_>>().join(", ")
    }
}
