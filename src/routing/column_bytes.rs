//! What rows say of some LIDs, fetched before anything is made of it, so that the waits for memory overlap: each row lies
//! in a memory page of its own. Of LIDs in sequence more are fetched than were asked for.

use std::ops::Range;

use super::problem::Destination;
use fabdeck_fabric::{NO_PATH, Routes};

/// The LIDs that are fetched of each row where LIDs come in sequence: some lines of memory.
const LIDS_AHEAD: usize = 256;

/// The entries of all switches for some LIDs.
#[derive(Debug)]
pub(super) struct ColumnBytes<'r> {
    routes: &'r Routes,
    switches: usize,
    /// The entries of each switch for the LIDs of the last batch.
    batch: Vec<u8>,
    width: usize,
    /// The same for LIDs in sequence.
    ahead: Vec<u8>,
    held: Range<usize>,
    /// The LID behind the last batch.
    next: usize,
    /// Where the last batch begins among the LIDs that are held; `None` where it was fetched alone.
    place: Option<usize>,
}

impl<'r> ColumnBytes<'r> {
    pub(super) fn new(routes: &'r Routes, switches: usize) -> Self {
        Self {
            routes,
            switches,
            batch: Vec::new(),
            width: 0,
            ahead: Vec::new(),
            held: 0..0,
            next: usize::MAX,
            place: None,
        }
    }

    pub(super) fn routes(&self) -> &'r Routes {
        self.routes
    }

    /// Fetches the entries for a batch of LIDs.
    pub(super) fn fetch(&mut self, batch: &[Destination]) {
        let runs: Vec<Range<usize>> = batch
            .chunk_by(|a, b| a.lid.index() + 1 == b.lid.index())
            .map(|run| run[0].lid.index()..run[0].lid.index() + run.len())
            .collect();
        self.width = batch.len();
        self.place = match &runs[..] {
            [run] => self.place_ahead(run),
            _ => None,
        };
        if self.place.is_none() {
            self.batch.resize(batch.len() * self.switches, NO_PATH);
            for (switch, mut bytes) in self.batch.chunks_exact_mut(batch.len()).enumerate() {
                for run in &runs {
                    let (own, others) = bytes.split_at_mut(run.len());
                    copy_entries(self.routes.row(switch as u32), run.clone(), own);
                    bytes = others;
                }
            }
        }
        self.next = runs.last().map_or(usize::MAX, |run| run.end);
    }

    /// The place of a run among the LIDs that are held; they are fetched if it goes on where the last one ended.
    fn place_ahead(&mut self, run: &Range<usize>) -> Option<usize> {
        let is_held = |held: &Range<usize>| held.start <= run.start && run.end <= held.end;
        if !is_held(&self.held) {
            let ahead = run.start..(run.start + LIDS_AHEAD).min(self.routes.stride());
            if run.start != self.next || !is_held(&ahead) {
                return None;
            }
            self.ahead.resize(ahead.len() * self.switches, NO_PATH);
            for (switch, bytes) in self.ahead.chunks_exact_mut(ahead.len()).enumerate() {
                copy_entries(self.routes.row(switch as u32), ahead.clone(), bytes);
            }
            self.held = ahead;
        }
        Some(run.start - self.held.start)
    }

    /// The entries of each switch for the last batch.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let (bytes, stride, place) = match self.place {
            Some(place) => (&self.ahead, self.held.len(), place),
            None => (&self.batch, self.width, 0),
        };
        bytes.chunks_exact(stride.max(1)).map(move |row| &row[place..place + self.width])
    }
}

/// Copies entries of a row; behind its end there are no paths.
fn copy_entries(row: &[u8], lids: Range<usize>, to: &mut [u8]) {
    match row.get(lids.clone()) {
        Some(ports) => to.copy_from_slice(ports),
        None => to.iter_mut().zip(lids).for_each(|(port, lid)| {
            *port = row.get(lid).copied().unwrap_or(NO_PATH);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Lid, PortNum};

    #[test]
    fn entries_are_those_of_the_rows_however_lids_come() {
        let top = 1000u32;
        let mut routes = Routes::empty(3, Lid::new(top));
        for (switch, lid) in (0..3).flat_map(|switch| (1..=top).map(move |lid| (switch, lid))) {
            let port = PortNum((lid * 7 + switch) as u8 % 200);
            routes.set(switch, Lid::new(lid).unwrap(), Some(port).filter(|_| lid % 13 != 0));
        }
        let mut bytes = ColumnBytes::new(&routes, 3);
        let batches: [&[u32]; 9] = [
            &[1, 2, 3],
            &[4, 5, 6, 7],
            &[8],
            &[300, 20, 21],
            &[22, 23],
            &[9, 10],
            &[990, 991],
            &[992, 993, 994, 995, 996, 997, 998, 999, 1000],
            &[1001],
        ];
        for lids in batches {
            let ends: Vec<Destination> = lids
                .iter()
                .map(|lid| Destination { lid: Lid::new(*lid).unwrap(), port: PortNum(1) })
                .collect();
            bytes.fetch(&ends);
            let rows: Vec<Vec<u8>> = bytes.rows().map(<[u8]>::to_vec).collect();
            let wanted = |switch: u32| {
                let entry = |lid: &u32| routes.row(switch).get(*lid as usize).copied().unwrap_or(NO_PATH);
                lids.iter().map(entry).collect::<Vec<u8>>()
            };
            assert_eq!(rows, (0..3).map(wanted).collect::<Vec<_>>(), "{lids:?}");
        }
    }
}
