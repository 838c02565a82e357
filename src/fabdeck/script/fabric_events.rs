//! Events of a fabric during a watch, as JSON.

use serde::Serialize;

use crate::catalogue::json_type::{JsonType, json_type, json_type_of, words_schema};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::fabric_events::{
    FABRIC_EVENT_WORDS, end_name, fabric_event_text, fabric_event_word, manager_port, node_name,
    producer_word, trap_name, weights_words,
};
use fabdeck_fabric::observe::{
    ChangedEntry, ChangedGroup, ChangedLanes, FabricEvent, KnownManager, PortIdentity,
};
use fabdeck_fabric::{Arbitration, Guid, Lid, PortNum};

json_type! {
    /// JSON of one event. Keys that do not apply are empty or null.
    pub struct FabricEventObject {
        what: EventWord,
        trouble: bool,
        text: String,
        ports: Vec<EventPort>,
        node: Option<String>,
        guid: Option<Guid>,
        flapped: Option<Flaps>,
        manager: Option<ManagerChange>,
        drift: Option<Drift>,
        trap: Option<TrapReport>,
    }

    struct EventPort {
        port: String,
        guid: Guid,
    }

    /// How often a link went down.
    struct Flaps {
        downed: u64,
        recovered: u64,
    }

    /// The old and the new master subnet manager.
    struct ManagerChange {
        before: ManagerRow,
        now: ManagerRow,
    }

    struct ManagerRow {
        lid: Option<Lid>,
        port: Option<String>,
        guid: Option<Guid>,
        state: Option<String>,
        priority: Option<u8>,
    }

    /// Differences of tables. Each kind of table has a list, and at most one list is not empty.
    #[derive(Default)]
    struct Drift {
        blocks: Vec<u16>,
        entries: usize,
        first: Vec<ChangedEntry>,
        groups: Vec<ChangedGroup>,
        lanes: Vec<ChangedLanes>,
        arbitration: Vec<ArbitrationDrift>,
        manager_lid: Option<Lid>,
    }

    struct ArbitrationDrift {
        port: PortNum,
        before: LaneWeights,
        now: LaneWeights,
    }

    struct LaneWeights {
        high: String,
        low: String,
    }

    /// The report of the subnet manager, with the fields of its trap.
    struct TrapReport {
        number: u16,
        name: &'static str,
        issuer_lid: Option<Lid>,
        producer: &'static str,
        lid: Option<Lid>,
        port: Option<PortNum>,
        port_guid: Option<Guid>,
    }
}

json_type_of! {
    struct ChangedEntry { lid, before, now }

    struct ChangedGroup { group, before, now }

    struct ChangedLanes { from, to, before, now }
}

/// The word for an event.
#[derive(Serialize)]
struct EventWord(&'static str);

impl JsonType for EventWord {
    fn schema() -> serde_json::Value {
        words_schema(FABRIC_EVENT_WORDS)
    }
}

impl FabricEventObject {
    pub fn new(snapshot: &Snapshot, event: &FabricEvent) -> Self {
        let (ends, node): (Vec<&PortIdentity>, _) = match event {
            FabricEvent::LinkDown { a, b }
            | FabricEvent::LinkUp { a, b }
            | FabricEvent::RateChanged { a, b, .. }
            | FabricEvent::LinkFlapped { a, b, .. } => (vec![a, b], None),
            FabricEvent::Recabled { at, before, now } => (vec![at, before, now], None),
            FabricEvent::NodeAppeared { node }
            | FabricEvent::NodeSilent { node }
            | FabricEvent::NodeAnswers { node } => (Vec::new(), Some(*node)),
            FabricEvent::Trap { node, .. } => (Vec::new(), *node),
            FabricEvent::ManagerChanged { .. }
            | FabricEvent::JobsChanged { .. }
            | FabricEvent::JobsSilent { .. } => (Vec::new(), None),
            FabricEvent::TableDrift { switch: node, .. }
            | FabricEvent::GroupDrift { switch: node, .. }
            | FabricEvent::LanesDrift { node, .. }
            | FabricEvent::ArbitrationDrift { node, .. } => (Vec::new(), Some(*node)),
        };
        let port = |end: &PortIdentity| EventPort { port: end_name(snapshot, *end), guid: end.0 };
        Self {
            what: EventWord(fabric_event_word(event)),
            trouble: event.is_trouble(),
            text: fabric_event_text(snapshot, event),
            ports: ends.into_iter().map(port).collect(),
            node: node.map(|node| node_name(snapshot, node)),
            guid: node,
            flapped: flaps(event),
            manager: manager_change(snapshot, event),
            drift: drift(event),
            trap: trap_report(event),
        }
    }
}

fn trap_report(event: &FabricEvent) -> Option<TrapReport> {
    let FabricEvent::Trap { number, issuer, producer, lid, port, guid, .. } = event else { return None };
    Some(TrapReport {
        number: *number,
        name: trap_name(*number),
        issuer_lid: *issuer,
        producer: producer_word(*producer),
        lid: *lid,
        port: *port,
        port_guid: *guid,
    })
}

fn flaps(event: &FabricEvent) -> Option<Flaps> {
    match *event {
        FabricEvent::LinkFlapped { downed, recovered, .. } => Some(Flaps { downed, recovered }),
        _ => None,
    }
}

fn manager_change(snapshot: &Snapshot, event: &FabricEvent) -> Option<ManagerChange> {
    let row = |known: &KnownManager| {
        let manager = known.manager.as_ref();
        ManagerRow {
            lid: known.lid,
            port: manager_port(snapshot, known),
            guid: manager.map(|manager| manager.guid),
            state: manager.and_then(|manager| manager.state.clone()),
            priority: manager.and_then(|manager| manager.priority),
        }
    };
    match event {
        FabricEvent::ManagerChanged { before, now } => {
            Some(ManagerChange { before: row(before), now: row(now) })
        }
        _ => None,
    }
}

fn drift(event: &FabricEvent) -> Option<Drift> {
    let mut drift = Drift::default();
    let (entries, manager) = match event {
        FabricEvent::TableDrift { blocks, entries, first, manager, .. } => {
            drift.blocks.clone_from(blocks);
            drift.first.clone_from(first);
            (entries, manager)
        }
        FabricEvent::GroupDrift { entries, first, manager, .. } => {
            drift.groups.clone_from(first);
            (entries, manager)
        }
        FabricEvent::LanesDrift { entries, first, manager, .. } => {
            drift.lanes.clone_from(first);
            (entries, manager)
        }
        FabricEvent::ArbitrationDrift { entries, first, manager, .. } => {
            let ports = first.iter().map(|one| ArbitrationDrift {
                port: one.port,
                before: LaneWeights::from(&one.before),
                now: LaneWeights::from(&one.now),
            });
            drift.arbitration = ports.collect();
            (entries, manager)
        }
        _ => return None,
    };
    Some(Drift { entries: *entries, manager_lid: *manager, ..drift })
}

impl From<&Arbitration> for LaneWeights {
    fn from(table: &Arbitration) -> Self {
        Self { high: weights_words(&table.high), low: weights_words(&table.low) }
    }
}
