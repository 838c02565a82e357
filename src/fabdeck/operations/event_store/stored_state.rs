//! Everything that batches add up to. The file `ledger` has it up to a batch, and the log has the batches after it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use fabdeck_change::{ChainHash, ChainedLines, chain_line};
use serde::{Deserialize, Serialize};

use super::error_counters::ErrorCounters;
use super::event_log::read_batches;
use super::store_error::StoreError;
use super::stored_batch::{LinkEnds, OpenChange, OpenProblem, StoredBatch, StoredEvent};
use crate::operations::ledger::cable_history::CableHistory;
use crate::operations::ledger::link_ledger::LinkLedger;
use crate::system::store_disk::StoreDisk;
use fabdeck_fabric::observe::PortIdentity;

/// The file with the state.
pub const LEDGER_FILE: &str = "ledger";

const SCHEMA: &str = "fabdeck.link-ledger/1";

/// The counts of many days pack well and fast.
const PACKING_LEVEL: i32 = 1;

/// How often the state is read anew if the writer replaces it meanwhile.
const MAX_ATTEMPTS: u32 = 5;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredState {
    /// The last batch in it.
    pub batch: u64,
    /// The number of the last event.
    pub event: u64,
    pub time_ms: i64,
    pub is_unreadable: bool,
    pub problems: BTreeMap<String, OpenProblem>,
    pub changes: BTreeMap<String, OpenChange>,
    /// Confirmed changes that the fabric did not hold any more when it was compared.
    pub overwritten: BTreeSet<String>,
    pub ports: BTreeMap<PortIdentity, ErrorCounters>,
    /// Ports whose counters were read.
    pub known_ports: BTreeSet<PortIdentity>,
    pub links: BTreeSet<LinkEnds>,
    pub ledger: LinkLedger,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateLine {
    Head {
        schema: String,
        batch: u64,
        event: u64,
        time_ms: i64,
        is_unreadable: bool,
    },
    Problem(String, OpenProblem),
    Change(String, OpenChange),
    Overwritten(Vec<String>),
    KnownPorts(Vec<PortIdentity>),
    Links(Vec<LinkEnds>),
    Ports(Vec<(PortIdentity, ErrorCounters)>),
    Cable(Box<CableHistory>),
    /// The last line: a file without it is cut off.
    End {
        cables: usize,
    },
}

/// Entries on a line of a list.
const LIST_LINE: usize = 1000;

impl StoredState {
    /// Adds a batch. One that is in the state already changes nothing.
    pub fn apply(&mut self, batch: &StoredBatch) {
        if batch.batch <= self.batch {
            return;
        }
        (self.batch, self.time_ms) = (batch.batch, batch.time_ms);
        for stored in &batch.events {
            self.apply_event(stored);
        }
        for cable in &batch.cables {
            self.ledger.apply(&cable.place, &cable.counts, batch.time_ms);
        }
        self.ports.extend(batch.ports.iter().cloned());
        self.known_ports.extend(&batch.new_ports);
        for ends in &batch.links_down {
            self.links.remove(ends);
        }
        self.links.extend(&batch.links_up);
    }

    fn apply_event(&mut self, stored: &StoredEvent) {
        let StoredEvent { event, problem, change } = stored;
        self.event = self.event.max(event.number);
        let id = event.subject.clone();
        match (event.kind.as_str(), problem, change) {
            (_, Some(problem), _) => drop(self.problems.insert(id, problem.clone())),
            (_, _, Some(change)) => drop(self.changes.insert(id, change.clone())),
            ("problem-ended", ..) => drop(self.problems.remove(&id)),
            ("change-overwritten", ..) => drop(self.overwritten.insert(id)),
            ("change-stands", ..) => drop(self.overwritten.remove(&id)),
            ("change-decided", ..) => drop(self.changes.remove(&id)),
            ("fabric-unreadable", ..) => self.is_unreadable = true,
            ("fabric-readable", ..) => self.is_unreadable = false,
            _ => {}
        }
    }

    /// The state as bytes of its file: chained lines, packed.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut packer = zstd::stream::Encoder::new(Vec::new(), PACKING_LEVEL)?;
        packer.include_checksum(true)?;
        self.write_lines(&mut packer)?;
        packer.finish()
    }

    fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut link = ChainHash::default();
        let mut add = |line: &StateLine| -> io::Result<()> {
            let (line, next) = chain_line(link, &serde_json::to_string(line)?);
            link = next;
            out.write_all(line.as_bytes())
        };
        let Self { batch, event, time_ms, is_unreadable, .. } = *self;
        add(&StateLine::Head { schema: SCHEMA.to_owned(), batch, event, time_ms, is_unreadable })?;
        for (id, problem) in &self.problems {
            add(&StateLine::Problem(id.clone(), problem.clone()))?;
        }
        for (id, change) in &self.changes {
            add(&StateLine::Change(id.clone(), change.clone()))?;
        }
        let overwritten: Vec<String> = self.overwritten.iter().cloned().collect();
        overwritten.chunks(LIST_LINE).try_for_each(|some| add(&StateLine::Overwritten(some.to_vec())))?;
        let known: Vec<PortIdentity> = self.known_ports.iter().copied().collect();
        known.chunks(LIST_LINE).try_for_each(|some| add(&StateLine::KnownPorts(some.to_vec())))?;
        let links: Vec<LinkEnds> = self.links.iter().copied().collect();
        links.chunks(LIST_LINE).try_for_each(|some| add(&StateLine::Links(some.to_vec())))?;
        let ports: Vec<_> = self.ports.iter().map(|(port, values)| (*port, values.clone())).collect();
        ports.chunks(LIST_LINE).try_for_each(|some| add(&StateLine::Ports(some.to_vec())))?;
        let mut cables = 0;
        for cable in self.ledger.histories() {
            add(&StateLine::Cable(Box::new(cable.clone())))?;
            cables += 1;
        }
        add(&StateLine::End { cables })
    }

    /// Reads the bytes of the file.
    fn decode(bytes: &[u8], place: &str) -> Result<Self, StoreError> {
        let foreign = |what: String| StoreError::Foreign { place: format!("{place}/{LEDGER_FILE}"), what };
        let text = zstd::stream::decode_all(bytes)
            .map_err(|error| foreign(format!("it cannot be unpacked: {error}")))?;
        let lines = ChainedLines::read(&text)
            .map_err(|error| StoreError::Damaged { place: place.to_owned(), error })?;
        let (mut state, mut cables, mut is_whole) = (Self::default(), Vec::new(), false);
        for (at, (offset, line)) in lines.lines.iter().enumerate() {
            let line: StateLine = serde_json::from_str(line)
                .map_err(|error| foreign(format!("offset {offset}: the line is not understood: {error}")))?;
            match line {
                StateLine::Head { schema, batch, event, time_ms, is_unreadable } => {
                    if schema != SCHEMA || at > 0 {
                        return Err(foreign(format!("its schema is {schema}")));
                    }
                    state = Self { batch, event, time_ms, is_unreadable, ..Self::default() };
                }
                StateLine::Problem(id, problem) => drop(state.problems.insert(id, problem)),
                StateLine::Change(id, change) => drop(state.changes.insert(id, change)),
                StateLine::Overwritten(ids) => state.overwritten.extend(ids),
                StateLine::KnownPorts(ports) => state.known_ports.extend(ports),
                StateLine::Links(links) => state.links.extend(links),
                StateLine::Ports(ports) => state.ports.extend(ports),
                StateLine::Cable(cable) => cables.push(*cable),
                StateLine::End { cables: wanted } => is_whole = wanted == cables.len(),
            }
        }
        if !is_whole {
            return Err(foreign("it has no end".to_owned()));
        }
        state.ledger = LinkLedger::from_histories(cables);
        Ok(state)
    }

    /// Reads the state of a store with all batches. `report` gets what is damaged in the log.
    pub fn load(
        disk: &dyn StoreDisk,
        place: &str,
        report: &mut dyn FnMut(String),
    ) -> Result<Self, StoreError> {
        let failed = |error| StoreError::Disk { place: place.to_owned(), what: "read", error };
        for attempt in 1.. {
            let mut state = match disk.read(LEDGER_FILE, 0) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
                read => Self::decode(&read.map_err(failed)?, place)?,
            };
            let batches = read_batches(disk, state.batch, place, report)?;
            // The writer replaced the state meanwhile, and deleted segments that were not read.
            let is_gap = batches.first().is_some_and(|first| first.batch > state.batch + 1);
            if is_gap && attempt < MAX_ATTEMPTS {
                continue;
            }
            batches.iter().for_each(|batch| state.apply(batch));
            return Ok(state);
        }
        Ok(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::ledger::cable_history::{CableCounts, CableSighting};
    use fabdeck_fabric::{Guid, PortNum};

    #[test]
    fn a_state_is_read_as_it_was_written_and_a_part_of_it_is_refused() {
        let end = |node| ((Guid(node), PortNum(1)), format!("n{node}"), None);
        let place = CableSighting::new(end(1), end(2));
        let mut state = StoredState { batch: 7, event: 9, time_ms: 5, ..StoredState::default() };
        state.links.insert(place.ends);
        state.known_ports.extend((0..2500).map(|node| (Guid(node), PortNum(1))));
        state.changes.insert("c".into(), OpenChange { number: 1, overdue: true });
        state.overwritten.insert("d".into());
        state.ledger.apply(&place, &CableCounts { problems: 1, ..CableCounts::default() }, 5);
        let bytes = state.encode().unwrap();
        assert_eq!(StoredState::decode(&bytes, "p").unwrap(), state);
        for at in 0..bytes.len() {
            assert!(StoredState::decode(&bytes[..at], "p").is_err(), "{at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            // A bit that changes nothing about what is unpacked is no damage.
            assert!(
                StoredState::decode(&damaged, "p").is_ok_and(|read| read == state)
                    || StoredState::decode(&damaged, "p").is_err(),
                "{at}"
            );
        }
        // Whole lines that are missing at the end.
        let mut text = Vec::new();
        state.write_lines(&mut text).unwrap();
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        for end in 0..lines.len() {
            let packed = zstd::stream::encode_all(&lines[..end].concat()[..], 1).unwrap();
            assert!(StoredState::decode(&packed, "p").is_err(), "{end}");
        }
    }
}
