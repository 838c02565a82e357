//! The entries of routes. Those that were read share the memory of the tables, which are 188 MB in a full subnet; those
//! that are computed are one block, to be filled in parallel.

use std::sync::Arc;

use super::{Lft, NO_PATH};

/// A row of egress ports for each switch, all of the same length.
#[derive(Clone, Debug, Default)]
pub struct RouteRows {
    /// How many LIDs a row has, from 0 on.
    stride: usize,
    entries: RowEntries,
}

#[derive(Clone, Debug)]
enum RowEntries {
    Block(Vec<u8>),
    Shared(Vec<Arc<Vec<u8>>>),
}

impl Default for RowEntries {
    fn default() -> Self {
        Self::Block(Vec::new())
    }
}

impl RouteRows {
    /// Makes rows without any path.
    pub fn empty(switches: usize, stride: usize) -> Self {
        Self { stride, entries: RowEntries::Block(vec![NO_PATH; switches * stride]) }
    }

    /// Makes rows of forwarding tables. Shorter ones are copied to the length of the longest.
    pub fn from_tables(tables: &[Option<&Lft>]) -> Self {
        let stride = tables.iter().flatten().map(|lft| lft.bytes().len()).max().unwrap_or(0);
        let row = |table: &Option<&Lft>| match table {
            Some(lft) if lft.bytes().len() == stride => lft.shared_bytes(),
            _ => {
                let mut row = vec![NO_PATH; stride];
                let bytes = table.map_or(&[][..], Lft::bytes);
                row[..bytes.len()].copy_from_slice(bytes);
                Arc::new(row)
            }
        };
        Self { stride, entries: RowEntries::Shared(tables.iter().map(row).collect()) }
    }

    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of switches.
    pub fn len(&self) -> usize {
        match &self.entries {
            _ if self.stride == 0 => 0,
            RowEntries::Block(block) => block.len() / self.stride,
            RowEntries::Shared(rows) => rows.len(),
        }
    }

    /// The row of a switch; empty without one.
    pub fn row(&self, switch: usize) -> &[u8] {
        match &self.entries {
            RowEntries::Block(block) => {
                let start = switch * self.stride;
                block.get(start..start + self.stride).unwrap_or_default()
            }
            RowEntries::Shared(rows) => rows.get(switch).map_or(&[][..], |row| row),
        }
    }

    /// The row of a switch, to change; `None` without one.
    pub fn row_mut(&mut self, switch: usize) -> Option<&mut [u8]> {
        let start = switch * self.stride;
        match &mut self.entries {
            RowEntries::Block(block) => block.get_mut(start..start + self.stride),
            RowEntries::Shared(rows) => rows.get_mut(switch).map(|row| Arc::make_mut(row).as_mut_slice()),
        }
    }

    /// All bytes, row after row.
    pub fn block_mut(&mut self) -> &mut [u8] {
        if let RowEntries::Shared(rows) = &self.entries {
            self.entries = RowEntries::Block(rows.iter().flat_map(|row| row.iter().copied()).collect());
        }
        match &mut self.entries {
            RowEntries::Block(block) => block,
            RowEntries::Shared(_) => &mut [],
        }
    }
}

/// Rows are equal by their entries, wherever these are.
impl PartialEq for RouteRows {
    fn eq(&self, other: &Self) -> bool {
        self.stride == other.stride
            && self.len() == other.len()
            && (0..self.len()).all(|switch| self.row(switch) == other.row(switch))
    }
}

impl Eq for RouteRows {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_equal_length_are_shared_until_a_row_changes() {
        let [long, short] = [vec![1, 2, 3], vec![NO_PATH, 4]].map(Lft::from_entries);
        let mut rows = RouteRows::from_tables(&[Some(&long), Some(&short), None]);
        assert_eq!((rows.len(), rows.stride()), (3, 3));
        assert_eq!(rows.row(0).as_ptr(), long.bytes().as_ptr(), "the same memory");
        assert_eq!(rows.row(1), [NO_PATH, 4, NO_PATH]);
        assert_eq!((rows.row(2), rows.row(3)), (&[NO_PATH; 3][..], &[][..]));
        let mut block = rows.clone();
        assert_eq!(block.block_mut().len(), 9);
        assert_eq!(block, rows);
        rows.row_mut(0).unwrap()[0] = 9;
        assert_eq!((rows.row(0)[0], long.bytes()[0]), (9, 1), "what was read stays");
        assert_ne!(block, rows);
        assert!(rows.row_mut(3).is_none() && block.row_mut(3).is_none());
    }
}
