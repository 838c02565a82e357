//! How many terminals send over each switch to each LID. Most rows are short lists: a switch over which nothing goes but
//! what its own terminals send is left out. Where many differ, a row is a byte for each switch.

/// The byte of a count that is stored apart.
const LARGE: u8 = u8::MAX;

/// A row for each LID, with a count for each switch.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceCounts {
    /// The terminals of each switch.
    terminals: Vec<u16>,
    rows: Vec<SourceRow>,
}

/// A switch and its count.
type SwitchCount = (u32, u16);

/// The counts of one LID as they are stored.
#[derive(Clone, Debug)]
pub(super) enum SourceRow {
    /// The counts that differ from the terminals of their switch, by switch.
    Listed(Box<[SwitchCount]>),
    /// A byte for each switch, and the counts that do not fit into one, by switch.
    Bytes(Box<[u8]>, Box<[SwitchCount]>),
}

/// The counts of one LID.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountRow<'c> {
    terminals: &'c [u16],
    row: &'c SourceRow,
}

impl SourceRow {
    /// Stores the counts of all switches in the form that takes less memory.
    pub(super) fn new(counts: &[u16], terminals: &[u16]) -> Self {
        let all = || counts.iter().zip(0..).map(|(count, switch)| (switch, *count));
        let differing = || all().zip(terminals).filter(|((_, count), own)| count != *own);
        if differing().count() * size_of::<SwitchCount>() <= counts.len() {
            return Self::Listed(differing().map(|(count, _)| count).collect());
        }
        let bytes = counts.iter().map(|count| u8::try_from(*count).unwrap_or(LARGE));
        Self::Bytes(bytes.collect(), all().filter(|(_, count)| *count >= u16::from(LARGE)).collect())
    }

    /// A row without counts of its own: over each switch send the terminals behind it.
    pub(super) fn as_terminals() -> Self {
        Self::Listed(Box::default())
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Listed(counts) => size_of_val(&**counts),
            Self::Bytes(bytes, large) => bytes.len() + size_of_val(&**large),
        }
    }
}

impl SourceCounts {
    pub(super) fn new(terminals: Vec<u16>, rows: Vec<SourceRow>) -> Self {
        Self { terminals, rows }
    }

    /// Consecutive rows.
    pub(super) fn rows(&self, rows: std::ops::Range<usize>) -> impl Iterator<Item = CountRow<'_>> {
        self.rows[rows].iter().map(|row| CountRow { terminals: &self.terminals, row })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.rows) + self.rows.iter().map(SourceRow::memory_bytes).sum::<usize>()
    }
}

impl CountRow<'_> {
    /// The terminals that send over a switch.
    pub(super) fn get(self, switch: u32) -> u64 {
        let find = |counts: &[SwitchCount]| {
            let at = counts.binary_search_by_key(&switch, |(at, _)| *at).ok()?;
            counts.get(at).map(|(_, count)| *count)
        };
        let count = match self.row {
            SourceRow::Listed(counts) => find(counts).unwrap_or_else(|| self.terminals[switch as usize]),
            SourceRow::Bytes(bytes, large) => match bytes[switch as usize] {
                LARGE => find(large).unwrap_or(LARGE.into()),
                count => count.into(),
            },
        };
        count.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows as they are read back, and which of them are lists.
    fn read(rows: &[&[u16]], terminals: &[u16]) -> (Vec<Vec<u64>>, Vec<bool>) {
        let stored: Vec<SourceRow> = rows.iter().map(|row| SourceRow::new(row, terminals)).collect();
        let listed = stored.iter().map(|row| matches!(row, SourceRow::Listed(_))).collect();
        let counts = SourceCounts::new(terminals.to_vec(), stored);
        let all = |row: CountRow<'_>| (0..terminals.len() as u32).map(|at| row.get(at)).collect();
        (counts.rows(0..rows.len()).map(all).collect(), listed)
    }

    #[test]
    fn counts_of_any_size_are_read_back() {
        let rows: [&[u16]; 3] = [&[0, 254, 255, 256], &[65_535, 0, 1, 300], &[7, 7, 7, 7]];
        let (counts, listed) = read(&rows, &[7; 4]);
        let wanted = rows.map(|row| row.iter().map(|count| u64::from(*count)).collect::<Vec<_>>());
        assert_eq!((counts, listed), (wanted.to_vec(), vec![false, false, true]));
    }

    #[test]
    fn a_row_lists_what_differs_from_the_terminals() {
        let terminals: Vec<u16> = (0..32).map(|at| if at < 20 { 300 } else { 0 }).collect();
        let mut row = terminals.clone();
        // A switch without a path, one that is crossed, and one over which its own terminals send and others.
        (row[3], row[25], row[5]) = (0, 4_000, 301);
        let mut other = row.clone();
        (other[6], other[7]) = (1, 2);
        let (counts, listed) = read(&[&row, &other], &terminals);
        let wide = |row: &[u16]| row.iter().map(|count| u64::from(*count)).collect::<Vec<_>>();
        assert_eq!((counts, listed), (vec![wide(&row), wide(&other)], vec![true, false]));
    }
}
