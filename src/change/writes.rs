//! The exact writes that lead from the tables in force to routes, block by block, with the bytes in place now.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan_lanes::from_hex;
use super::surviving_fabric::SurvivingFabric;
use fabdeck_fabric::{
    BLOCK_LIDS, Fabric, Guid, Lane, Lft, Lid, NO_PATH, NodeId, NodeTables, PortNum, Routes, Tables, VlWeight,
    block_of,
};
use fabdeck_mad::SlToVl;
use fabdeck_mad::access::{AttributePart, DeviceAttribute, DeviceId};

/// The device that a write is for, by GUID.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteTarget {
    Switch(String),
    Adapter(String),
}

impl WriteTarget {
    pub fn guid(&self) -> &str {
        let (Self::Switch(guid) | Self::Adapter(guid)) = self;
        guid
    }

    /// The device; `None` if the text is not a GUID.
    pub fn device(&self) -> Option<DeviceId> {
        let guid = Guid::from_hex(self.guid()).ok()?;
        Some(match self {
            Self::Switch(_) => DeviceId::Switch(guid),
            Self::Adapter(_) => DeviceId::Adapter(guid),
        })
    }
}

/// One part of one switch or adapter. Applying it takes one SMP.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanWrite {
    #[serde(flatten)]
    pub at: WriteTarget,
    #[serde(flatten)]
    pub part: AttributePart,
    /// The bytes before, two hexadecimal digits each.
    pub old: String,
    pub new: String,
}

/// A write in the bytes that its device gets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteStep {
    pub slot: DeviceAttribute,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// Bytes that devices answered instead of those that were sent, by the number of the step.
pub type AlteredWrites = BTreeMap<usize, Vec<u8>>;

impl PlanWrite {
    /// A write to a switch.
    pub fn for_switch(guid: Guid, part: AttributePart, old: &[u8], new: &[u8]) -> Self {
        Self { at: WriteTarget::Switch(guid.to_string()), part, old: to_hex(old), new: to_hex(new) }
    }

    /// A write to an adapter, which has an SL2VL table and arbitration only.
    pub fn for_adapter(guid: Guid, part: AttributePart, old: &[u8], new: &[u8]) -> Self {
        Self { at: WriteTarget::Adapter(guid.to_string()), part, old: to_hex(old), new: to_hex(new) }
    }

    /// The switch or adapter that the write is for, if the fabric has it.
    pub fn node(&self, fabric: &Fabric) -> Option<NodeId> {
        self.at.device()?.node(fabric)
    }

    /// The switch that the write is for; `None` if it is for an adapter.
    pub fn switch(&self, fabric: &Fabric) -> Option<NodeId> {
        self.node(fabric).filter(|id| fabric.node(*id).is_switch())
    }

    /// The write as bytes, or what is wrong with it.
    pub fn to_step(&self) -> Result<WriteStep, &'static str> {
        let at = self.at.device().ok_or("its switch or adapter is not a GUID")?;
        match self.part {
            AttributePart::Lanes([0, 1..=u8::MAX]) | AttributePart::Arbitration([1..=u8::MAX, 1..=4]) => {}
            _ if matches!(at, DeviceId::Adapter(_)) => {
                return Err(
                    "of an adapter the lanes from port 0 to one of its own are written, and that port's arbitration",
                );
            }
            AttributePart::Block(block) if block > Lid::MAX / BLOCK_LIDS => {
                return Err("there is no such block");
            }
            AttributePart::Arbitration([_, place]) if !(1..=4).contains(&place) => {
                return Err("arbitration has parts 1 to 4");
            }
            _ => {}
        }
        let read = |text: &str| from_hex(text).filter(|bytes| bytes.len() == self.part.byte_count());
        let (Some(old), Some(new)) = (read(&self.old), read(&self.new)) else {
            return Err("its bytes are not as many as what it writes has, two hexadecimal digits each");
        };
        let switched = |bytes: &[u8]| bytes.iter().all(|byte| *byte <= 1);
        if matches!(self.part, AttributePart::Port(_)) && !(switched(&old) && switched(&new)) {
            return Err("a port is 00 (disabled) or 01");
        }
        Ok(WriteStep { slot: DeviceAttribute { at, part: self.part }, old, new })
    }

    /// One block of a switch's forwarding table.
    pub(super) fn block_in(held: &NodeTables, block: u16) -> [u8; BLOCK_LIDS as usize] {
        block_of(held.lft.as_ref().map_or(&[], |lft| lft.bytes()), block)
    }

    /// Stores the bytes of one part in tables, if the part is in a table. A row of arbitration that was unknown gets
    /// the entries that have a weight. A known row keeps its length, which is what the device supports.
    pub(super) fn put_part(part: AttributePart, bytes: &[u8], held: &mut NodeTables) {
        match part {
            AttributePart::Block(block) => {
                let lft = held.lft.get_or_insert_with(Lft::new);
                for (lid, port) in lids_of(block).zip(bytes) {
                    let Some(lid) = Lid::new(lid) else { continue };
                    lft.set(lid, (*port != NO_PATH).then_some(PortNum(*port)));
                }
            }
            AttributePart::Lanes([from, to]) => {
                let Ok(pairs) = <[u8; 8]>::try_from(bytes) else { return };
                held.sl2vl.insert((PortNum(from), PortNum(to)), SlToVl { pairs }.table());
            }
            AttributePart::Arbitration([port, place]) => put_arbitration(held, PortNum(port), place, bytes),
            // Neither is in a table: LinearFDBTop limits the used part of the LFT, and a port belongs to the fabric.
            AttributePart::LinearTop(()) | AttributePart::Port(_) => {}
        }
    }
}

/// The LIDs of a block.
pub(super) fn lids_of(block: u16) -> impl Iterator<Item = u32> {
    let first = u32::from(block) * u32::from(BLOCK_LIDS);
    first..first + u32::from(BLOCK_LIDS)
}

/// Stores one of the four parts of a port's arbitration; each priority has two parts.
fn put_arbitration(held: &mut NodeTables, port: PortNum, place: u8, bytes: &[u8]) {
    const TURNS: usize = 32;
    let turns = bytes.as_chunks::<2>().0;
    let used = turns.iter().rposition(|turn| turn[1] > 0).map_or(0, |last| last + 1);
    if used == 0 && !held.arbitration.contains_key(&port) {
        return;
    }
    let table = held.arbitration.entry(port).or_default();
    let row = if place <= 2 { &mut table.low } else { &mut table.high };
    let first = if place.is_multiple_of(2) { TURNS } else { 0 };
    if row.len() == first {
        row.resize(first + used, VlWeight { lane: Lane::default(), weight: 0 });
    }
    for (at, turn) in turns.iter().enumerate() {
        let Some(held) = row.get_mut(first + at) else { break };
        let lane = Lane::new(u32::from(turn[0] & 0xF)).unwrap_or_default();
        *held = VlWeight { lane, weight: turn[1] };
    }
}

/// Why no plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error(
        "FD-5501: the forwarding table of {switch} was not read, so no plan can be made; read the fabric again, or mark \
         the switch as failed"
    )]
    NoTable { switch: String },
    #[error("FD-5502: block {block} of the forwarding table of {switch} could not be read; read it again")]
    Unread { switch: String, block: u16 },
    #[error(
        "FD-5503: an SL2VL table of {node} was not read, and these routes change it; read the fabric with its lanes, give a \
         dump of them beside the topology, or mark the node as failed"
    )]
    NoLanes { node: String },
}

/// The writes of forwarding tables in the order of the switches, then of the blocks. Blocks that stay as they are and failed switches have
/// no write. Errors call a switch by its name.
pub(super) fn block_writes(
    standing: &SurvivingFabric<'_>,
    tables: &Tables,
    routes: &Routes,
    name: &dyn Fn(NodeId) -> String,
) -> Result<Vec<PlanWrite>, PlanError> {
    let mut writes = Vec::new();
    for (id, node) in standing.fabric.switches().filter(|(id, _)| standing.contains(*id)) {
        let switch = node.guid().to_string();
        let called = || format!("{} ({switch})", name(id));
        let held = tables.nodes.get(&id).filter(|held| held.lft.is_some());
        let Some(lft) = held.and_then(|held| held.lft.as_ref()) else {
            return Err(PlanError::NoTable { switch: called() });
        };
        let new = routes.row(id.0);
        for block in 0..block_count(lft, new) {
            let (old, new) = (block_of(lft.bytes(), block), block_of(new, block));
            if old == new {
                continue;
            }
            if is_unread(tables, id, block) {
                return Err(PlanError::Unread { switch: called(), block });
            }
            writes.push(PlanWrite::for_switch(node.guid(), AttributePart::Block(block), &old, &new));
        }
    }
    Ok(writes)
}

fn is_unread(tables: &Tables, id: NodeId, block: u16) -> bool {
    tables.nodes.get(&id).is_some_and(|held| held.unread.contains(&block))
}

fn block_count(lft: &Lft, new: &[u8]) -> u16 {
    lft.bytes().len().max(new.len()).div_ceil(BLOCK_LIDS.into()) as u16
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Faults, Lid, PortNum};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    #[test]
    fn only_differing_blocks_are_written() {
        let fabric = generate(&"kary,k=3,n=3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            tables.node_mut(id).lft = Some(routes.lft(id.0));
        }
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        let writes = |tables: &Tables, routes: &Routes| {
            super::block_writes(&standing, tables, routes, &|id| format!("node{}", id.0))
        };
        assert_eq!(writes(&tables, &routes), Ok(Vec::new()));
        let mut other = routes.clone();
        other.set(2, Lid::new(1).unwrap(), Some(PortNum(1)));
        other.set(2, Lid::new(2).unwrap(), None);
        let changed = writes(&tables, &other).unwrap();
        assert_eq!((changed.len(), changed[0].part), (1, AttributePart::Block(0)));
        assert_eq!(changed[0].at, WriteTarget::Switch(fabric.node(NodeId(2)).guid().to_string()));
        assert_eq!((changed[0].old.len(), &changed[0].new[2..6]), (128, "01ff"));
        tables.node_mut(NodeId(2)).unread.insert(0);
        assert!(matches!(writes(&tables, &other), Err(PlanError::Unread { block: 0, .. })));
        tables.node_mut(NodeId(1)).lft = None;
        let missing = writes(&tables, &other).unwrap_err().to_string();
        assert!(missing.contains("of node1 (0x"), "{missing}");
        let mut faults = Faults::default();
        faults.mark(ElementId::Node(NodeId(1)));
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        assert_eq!(super::block_writes(&standing, &tables, &routes, &|_| String::new()), Ok(Vec::new()));
    }

    #[test]
    fn parts_have_one_word_names() {
        let (guid, part) = (Guid(0xA), AttributePart::Lanes([0, 2]));
        let switch = PlanWrite::for_switch(guid, AttributePart::Port(1), &[1], &[0]);
        let text = serde_json::to_string(&switch).unwrap();
        assert_eq!(text, r#"{"switch":"0x000000000000000a","port":1,"old":"01","new":"00"}"#);
        let adapter = PlanWrite::for_adapter(guid, part, &[0; 8], &[1; 8]);
        let text = serde_json::to_string(&adapter).unwrap();
        assert!(text.starts_with(r#"{"adapter":"0x000000000000000a","sl2vl":[0,2],"#), "{text}");
        for write in [switch, adapter] {
            let text = serde_json::to_string(&write).unwrap();
            assert_eq!(serde_json::from_str::<PlanWrite>(&text).unwrap(), write);
        }
    }

    #[test]
    fn of_an_adapter_lanes_are_written_and_nothing_else() {
        let step = |part: AttributePart| {
            let bytes = vec![0; part.byte_count()];
            PlanWrite::for_adapter(Guid(0xA), part, &bytes, &bytes).to_step()
        };
        for part in [
            AttributePart::Lanes([0, 1]),
            AttributePart::Arbitration([2, 1]),
            AttributePart::Arbitration([1, 4]),
        ] {
            let step = step(part).unwrap();
            let port = if part == AttributePart::Arbitration([2, 1]) { 2 } else { 1 };
            assert_eq!(step.slot.destination(), (DeviceId::Adapter(Guid(0xA)), port));
        }
        for part in [
            AttributePart::Lanes([0, 0]),
            AttributePart::Lanes([1, 1]),
            AttributePart::Arbitration([0, 1]),
            AttributePart::Arbitration([1, 5]),
            AttributePart::Block(0),
            AttributePart::LinearTop(()),
            AttributePart::Port(1),
        ] {
            assert!(step(part).is_err(), "{part}");
        }
    }

    #[test]
    fn arbitration_that_was_not_known_gets_the_turns_that_count() {
        let mut held = NodeTables::default();
        let mut bytes = [0; 64];
        let put = |bytes: &[u8; 64], held: &mut NodeTables| {
            PlanWrite::put_part(AttributePart::Arbitration([1, 1]), bytes, held);
        };
        put(&bytes, &mut held);
        assert!(held.arbitration.is_empty());
        bytes[..4].copy_from_slice(&[0, 64, 1, 8]);
        put(&bytes, &mut held);
        let weights = |held: &NodeTables| {
            let low = &held.arbitration[&PortNum(1)].low;
            low.iter().map(|turn| (turn.lane.value(), turn.weight)).collect::<Vec<_>>()
        };
        assert_eq!(weights(&held), [(0, 64), (1, 8)]);
        // A known row keeps the length that its device supports.
        bytes[4..6].copy_from_slice(&[2, 4]);
        put(&bytes, &mut held);
        assert_eq!(weights(&held), [(0, 64), (1, 8)]);
    }
}
