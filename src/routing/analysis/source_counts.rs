//! How many terminals send over each switch to each LID. Nearly all of these counts fit into a byte: those of a full
//! subnet take 172 MB and 30 MB for the larger ones, instead of 344 MB.

use std::ops::Range;

/// The byte of a count that is stored apart.
const LARGE: u8 = u8::MAX;

/// A row for each LID, with a count for each switch.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceCounts {
    switches: usize,
    bytes: Vec<u8>,
    /// The counts that do not fit into a byte, by row and switch.
    large: Vec<LargeCount>,
    /// Where the larger counts of each row begin, and their end.
    large_from: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LargeCount {
    row: u32,
    switch: u32,
    count: u16,
}

/// The counts of one LID.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountRow<'c> {
    bytes: &'c [u8],
    large: &'c [LargeCount],
}

/// Consecutive rows that are filled together.
#[derive(Debug)]
pub(super) struct CountRows<'c> {
    first: u32,
    switches: usize,
    bytes: &'c mut [u8],
}

impl SourceCounts {
    pub(super) fn new(rows: usize, switches: usize) -> Self {
        Self { switches, bytes: vec![0; rows * switches], large: Vec::new(), large_from: Vec::new() }
    }

    /// All rows, to fill.
    pub(super) fn rows_mut(&mut self) -> CountRows<'_> {
        CountRows { first: 0, switches: self.switches, bytes: &mut self.bytes }
    }

    /// Takes the larger counts, in the order of rows and switches.
    pub(super) fn set_large(&mut self, large: Vec<LargeCount>) {
        let rows = self.bytes.len().checked_div(self.switches).unwrap_or(0) as u32;
        let begin = |row: u32| large.partition_point(|count| count.row < row) as u32;
        self.large_from = (0..=rows).map(begin).collect();
        self.large = large;
        self.large.shrink_to_fit();
    }

    /// Consecutive rows.
    pub(super) fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = CountRow<'_>> {
        rows.map(|row| {
            let [from, to] = [row, row + 1].map(|at| self.large_from.get(at).map_or(0, |at| *at as usize));
            CountRow {
                bytes: &self.bytes[row * self.switches..(row + 1) * self.switches],
                large: &self.large[from..to],
            }
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.large) + size_of_val(&*self.large_from)
    }
}

impl<'c> CountRows<'c> {
    /// Splits off the first rows; returns them and the rest.
    pub(super) fn split_at(self, rows: usize) -> (Self, Self) {
        let (own, others) = self.bytes.split_at_mut(rows * self.switches);
        let of = |first, bytes| Self { first, switches: self.switches, bytes };
        (of(self.first, own), of(self.first + rows as u32, others))
    }

    /// Sets the counts of a row, given as (switch, count), and appends the larger ones to `large`.
    pub(super) fn set_row(
        &mut self,
        row: usize,
        counts: impl Iterator<Item = (u32, u16)>,
        large: &mut Vec<LargeCount>,
    ) {
        let bytes = &mut self.bytes[row * self.switches..(row + 1) * self.switches];
        let before = large.len();
        for (switch, count) in counts {
            bytes[switch as usize] = u8::try_from(count).unwrap_or(LARGE);
            if count >= u16::from(LARGE) {
                large.push(LargeCount { row: self.first + row as u32, switch, count });
            }
        }
        large[before..].sort_unstable();
    }
}

impl CountRow<'_> {
    /// The terminals that send over a switch.
    pub(super) fn get(self, switch: u32) -> u64 {
        match self.bytes[switch as usize] {
            LARGE => {
                let at = self.large.binary_search_by_key(&switch, |count| count.switch);
                at.map_or(u64::from(LARGE), |at| self.large[at].count.into())
            }
            count => count.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_any_size_are_read_back() {
        let rows: [[u16; 4]; 3] = [[0, 254, 255, 256], [65_535, 0, 1, 300], [7, 7, 7, 7]];
        let mut counts = SourceCounts::new(3, 4);
        let (mut first, mut rest) = counts.rows_mut().split_at(1);
        let mut large = Vec::new();
        let of_row = |row: [u16; 4]| [3, 1, 0, 2].into_iter().map(move |at: u32| (at, row[at as usize]));
        first.set_row(0, of_row(rows[0]), &mut large);
        rest.set_row(0, of_row(rows[1]), &mut large);
        rest.set_row(1, of_row(rows[2]), &mut large);
        assert_eq!(large.len(), 4);
        counts.set_large(large);
        let read = counts.rows(0..3).map(|row| [0, 1, 2, 3].map(|switch| row.get(switch)));
        assert_eq!(read.collect::<Vec<_>>(), rows.map(|row| row.map(u64::from)));
    }
}
