//! Reads P_Key tables: of ports that send and receive packets themselves, and of switch ports that drop packets by their
//! P_Key. A table is read block by block up to the first block without an entry, because subnet managers fill tables
//! from the beginning.

use std::collections::BTreeMap;

use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::PortReader;
use super::tables::to_silence;
use fabdeck_fabric::observe::{
    DeviceAnswer, NotePlace, Notes, PartitionEnforcement, PartitionTables, PortPartitions,
};
use fabdeck_fabric::{Fabric, NodeKind, PartitionKey, PhysicalState, Port, PortNum};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{PKeyBlock, Smp, attribute};

/// Most blocks that are read of a table. Adapters have up to 128 entries, which are four blocks.
const MAX_BLOCKS: u16 = 32;

/// A block of the table of a port, and the number of blocks of that table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct TablePlace {
    node: usize,
    port: u8,
    block: u16,
    blocks: u16,
}

/// Reads the tables of all ports with a link, and of port 0 of switches.
pub fn read_partitions(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
) -> Result<PartitionTables, SourceError> {
    let mut tables = PartitionTables::default();
    let mut places = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for (number, enforcement) in ports_of(fabric, at, node) {
            if enforcement.is_none_or(PartitionEnforcement::is_on) {
                let blocks = block_count(node, enforcement.is_some());
                places.push(TablePlace { node: at, port: number, block: 0, blocks });
            }
            let said = PortPartitions { keys: DeviceAnswer::NotAsked, enforcement };
            tables.ports.insert((node.guid, PortNum(number)), said);
        }
    }
    let answers = ask_tables(reader, nodes, places)?;
    for ((at, port), keys) in answers {
        if let Some(said) = tables.ports.get_mut(&(nodes[at].guid, PortNum(port))) {
            said.keys = keys;
        }
    }
    Ok(tables)
}

type TableAnswers = BTreeMap<(usize, u8), DeviceAnswer<Vec<PartitionKey>>>;

/// Asks for the first block of each table, and for further ones where a block has entries.
fn ask_tables(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    places: Vec<TablePlace>,
) -> Result<TableAnswers, SourceError> {
    let mut answers = TableAnswers::new();
    let mut phase = reader.open_phase::<TablePlace>("partitions");
    let (retries, expected) = (phase.exchange.retries(), places.len() as u64);
    phase.exchange.feed(expected, places.into_iter().map(move |place| question(nodes, place, retries)));
    while let Some((place, reply)) = phase.next()? {
        let node = &nodes[place.node];
        let held = answers.entry((place.node, place.port)).or_insert(DeviceAnswer::NotAsked);
        match reply {
            Reply::Answer(mad) => {
                let keys: Vec<_> = Smp(mad).data::<PKeyBlock>().keys().collect();
                let goes_on = !keys.is_empty() && place.block + 1 < place.blocks;
                if !keys.is_empty() && place.block + 1 == MAX_BLOCKS {
                    note_long_table(&mut phase.log.notes, &phase.log.source, node, place.port);
                }
                match held {
                    DeviceAnswer::Known(known) => known.extend(keys),
                    _ => *held = DeviceAnswer::Known(keys),
                }
                if goes_on {
                    let next = TablePlace { block: place.block + 1, ..place };
                    phase.exchange.ask(question(nodes, next, retries));
                }
            }
            // A device may refuse a block behind its last one, whatever it said about the size of its table.
            Reply::Refused(status) if place.block > 0 && status.is_invalid_field() => {}
            Reply::Refused(status) if status.is_unsupported() || status.is_invalid_field() => {
                *held = DeviceAnswer::Absent;
            }
            // The entries before a missing block are not all of the table.
            failed => {
                *held = DeviceAnswer::Silent;
                let asked = format!("P_Key table of port {} block {}", place.port, place.block);
                phase.log.silent.push(to_silence(node, asked, &failed));
            }
        }
    }
    phase.end();
    Ok(answers)
}

fn note_long_table(notes: &mut Notes, source: &str, node: &DiscoveredNode, port: u8) {
    let most = MAX_BLOCKS * PKeyBlock::ENTRIES;
    notes.add_partial("FN-563", NotePlace::file(source.to_owned()), || {
        format!(
            "port {port} of {} filled {most} entries of its P_Key table: further ones were not read",
            node.guid
        )
    });
}

fn question(nodes: &[DiscoveredNode], place: TablePlace, retries: u32) -> Question<TablePlace> {
    let node = &nodes[place.node];
    let switch_port = (node.kind == NodeKind::Switch).then_some(place.port);
    let modifier = PKeyBlock::modifier(switch_port, place.block);
    let route = node.route_to(place.port);
    let parcel = directed_get(attribute::P_KEY_TABLE, modifier, route, node.m_key.0);
    Question { parcel, target: place.node as u32, retries, tag: place }
}

/// The number of blocks of a table. The size of the tables of external ports is another one than that of the others,
/// which is at least one entry.
fn block_count(node: &DiscoveredNode, external: bool) -> u16 {
    let entries = match external {
        true => node.switch_info.map_or(0, |info| info.partition_enforcement_capacity.get()),
        false => node.partition_capacity,
    };
    entries.div_ceil(PKeyBlock::ENTRIES).clamp(1, MAX_BLOCKS)
}

/// The ports to list, external ports of switches with what they enforce. External ports that drop nothing are listed
/// where a host or a router is attached.
fn ports_of<'n>(
    fabric: &'n Fabric,
    at: usize,
    node: &'n DiscoveredNode,
) -> impl Iterator<Item = (u8, Option<PartitionEnforcement>)> + 'n {
    let switch = node.kind == NodeKind::Switch;
    let linked =
        |port: &Port| port.peer.is_some() || port.facts.physical_state == Some(PhysicalState::LinkUp);
    let to_end =
        move |port: &Port| port.peer.is_some_and(|peer| !fabric.node(fabric.port(peer).node).is_switch());
    fabric.ports_of(node_id(at)).filter_map(move |(_, port)| {
        let number = port.number.value();
        if number == 0 || !switch {
            return (linked(port) || number == 0 && switch).then_some((number, None));
        }
        let enforcement = enforcement_of(node, number)?;
        (linked(port) && (enforcement.is_on() || to_end(port))).then_some((number, Some(enforcement)))
    })
}

/// What an external port of a switch enforces; `None` if the switch did not report its capacity.
fn enforcement_of(node: &DiscoveredNode, port: u8) -> Option<PartitionEnforcement> {
    let info = node.switch_info?;
    if info.partition_enforcement_capacity.get() == 0 {
        return Some(PartitionEnforcement::Cannot);
    }
    let (inbound, outbound) = node.enforces.get(&port).copied().unwrap_or_default();
    Some(PartitionEnforcement::from_bits(inbound, outbound))
}
