//! One sweep, and the snapshot after it. The process that reads the source has its own snapshot, which
//! follows the fabric.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::counters::{SensorFaultKind, WireVerdict};
use fabdeck_fabric::observe::Sweep;
use fabdeck_fabric::{NodeId, PortId};
use fabdeck_mad::access::{ReadObserver, Source, SourceError};

/// The result of a sweep.
#[derive(Clone, Debug)]
pub struct SweepResult {
    pub sweep: Arc<Sweep>,
    /// The new snapshot, where the fabric or its tables have changed.
    pub look: Option<Arc<Snapshot>>,
    /// The reason why traps are not reported, where they were requested.
    pub unreported: Option<String>,
    /// Number of cabled ports whose link health was read, and of all; `None` once all were, and where none is read.
    pub wire_read: Option<(usize, usize)>,
}

/// The codes of notes about missing trap reports.
const NO_TRAP_NOTES: [&str; 3] = ["FN-532", "FN-533", "FN-534"];

/// What of the health of links makes a new snapshot: links that are to be watched or bad, links of which nothing is known
/// any more, faults of devices, and whether every cabled port has an answer. Everything else is in the next snapshot, because a new one costs a walk over all tables.
#[derive(Default)]
struct WireStanding {
    complete: bool,
    /// Number of cabled ports with an answer, and of all.
    read: (usize, usize),
    worse: Vec<(PortId, WireVerdict)>,
    healthy: BTreeSet<PortId>,
    /// The faults of devices, by kind alone: the degrees of a hot device are in the next snapshot.
    faults: Vec<(NodeId, SensorFaultKind)>,
}

impl WireStanding {
    fn new(look: &Snapshot) -> Self {
        let mut standing = Self { faults: device_faults(look), ..Self::default() };
        if look.observation.wire.ports.is_empty() {
            return standing;
        }
        let cabled = look.fabric().ports().filter(|(_, port)| port.peer.is_some());
        standing.complete = true;
        for (id, _) in cabled {
            let is_read = look.port_wire(id).is_some();
            standing.complete &= is_read;
            standing.read = (standing.read.0 + usize::from(is_read), standing.read.1 + 1);
            let verdict = look.wire_judgement(id).verdict;
            standing.worse.extend((verdict >= WireVerdict::Watch).then_some((id, verdict)));
            standing.healthy.extend((verdict == WireVerdict::Healthy).then_some(id));
        }
        standing
    }

    /// Whether a snapshot with the standing before would be wrong now. More healthy links alone do not make it so.
    fn has_moved(&self, before: &Self) -> bool {
        let worse: BTreeSet<PortId> = self.worse.iter().map(|(id, _)| *id).collect();
        let lost = |id: &PortId| !self.healthy.contains(id) && !worse.contains(id);
        self.complete != before.complete
            || self.worse != before.worse
            || self.faults != before.faults
            || before.healthy.iter().any(lost)
    }
}

fn device_faults(look: &Snapshot) -> Vec<(NodeId, SensorFaultKind)> {
    let known = look.observation.wire.devices.keys().filter_map(|guid| look.fabric().node_by_guid(*guid));
    known.flat_map(|node| look.sensor_faults(node).into_iter().map(move |fault| (node, fault.kind))).collect()
}

/// Reads the counters again. The notes and the reading data of the snapshot stay as they were, as the notes
/// of many sweeps would never end. Missing samples show which nodes did not answer.
pub fn read_sweep(
    source: &mut dyn Source,
    look: &mut Snapshot,
    not_before: Duration,
    watch: &mut dyn ReadObserver,
) -> Result<SweepResult, SourceError> {
    let notes = std::mem::take(&mut look.observation.notes);
    let reading = look.observation.reading.clone();
    // Assumed tables cannot have changed, so the sweep does not compare them.
    let assumed = look.assumed.map(|_| std::mem::take(&mut look.observation.tables));
    let nodes = look.fabric().nodes().len();
    let kinds = look.observation.ticks.by_kind.len();
    let wire = WireStanding::new(look);
    let swept = source.sweep(&mut look.observation, not_before, watch);
    let trap_notes = std::mem::replace(&mut look.observation.notes, notes);
    let unreported =
        trap_notes.iter().find(|note| NO_TRAP_NOTES.contains(&note.code)).map(|note| note.text.clone());
    look.observation.reading = reading;
    match assumed.filter(|_| look.fabric().nodes().len() == nodes) {
        Some(assumed) => look.observation.tables = assumed,
        // With a new node, the assumed routes no longer fit the fabric.
        None if look.assumed.is_some() => (look.assumed, look.routes) = (None, None),
        None => {}
    }
    let sweep = swept?;
    if sweep.fabric.is_some() {
        look.update_names();
    }
    let moved = sweep.fabric.is_some() || sweep.retabled && look.assumed.is_none();
    // The first sweep may add the length of a counter tick, which also makes a new snapshot.
    let moved = moved || look.observation.ticks.by_kind.len() != kinds;
    let wire_now = WireStanding::new(look);
    let moved = moved || wire_now.has_moved(&wire);
    let wire_read = Some(wire_now.read).filter(|(read, of)| read < of);
    let look = moved.then(|| Arc::new(look.clone()));
    Ok(SweepResult { sweep: Arc::new(sweep), look, unreported, wire_read })
}
