//! Forwarding tables, block by block as far as each switch says that its table goes.

use super::discovery::directed;
use super::exchange::{Question, Reply};
use super::found::{FoundNode, node_id};
use super::reader::Reader;
use crate::access::SourceError;
use crate::fabric::{BLOCK_LIDS, Lft, Lid, NO_PATH, NodeKind, PortNum, Tables};
use crate::mad::{LftBlock, MftBlock, Smp, SwitchInfo, attribute};
use crate::observe::Silence;

/// The first LID that addresses a group.
const FIRST_GROUP: u16 = 0xC000;
/// Groups in one block, ports in one position of it.
const BLOCK_GROUPS: u16 = 32;
const POSITION_PORTS: u8 = 16;

/// What every switch forwards unicast packets by: all blocks, or those that the tables say are the only ones wanted.
pub fn read_forwarding(
    reader: &mut Reader<'_>,
    nodes: &[FoundNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let only = tables.only.clone();
    let wanted = |info: &SwitchInfo| {
        let all = 0..=top(info) / BLOCK_LIDS;
        all.filter(|block| only.as_ref().is_none_or(|only| only.contains(block))).collect::<Vec<u16>>()
    };
    let mut phase = reader.phase::<(usize, u16)>("tables");
    let mut blocks = 0;
    for (at, node) in switches(nodes) {
        let Some(info) = node.switch_info else {
            let guid = node.guid;
            phase.told.note_partial("FN-522", || {
                format!("{guid} did not say how far its tables go (SwitchInfo), so they were not read")
            });
            continue;
        };
        tables.entry(node_id(at)).lft = Some(Lft::new());
        blocks += wanted(&info).len() as u64;
    }
    let retries = phase.exchange.retries();
    let told = switches(nodes).filter_map(|(at, node)| Some((at, node, node.switch_info?)));
    let each_block =
        told.flat_map(|(at, node, info)| wanted(&info).into_iter().map(move |block| (at, node, block)));
    phase.exchange.feed(
        blocks,
        each_block.map(move |(at, node, block)| {
            let modifier = u32::from(block);
            let parcel = directed(attribute::LINEAR_FORWARDING, modifier, &node.route, node.m_key.0);
            Question { parcel, target: at as u32, retries, tag: (at, block) }
        }),
    );
    while let Some(((at, block), reply)) = phase.next()? {
        let node = &nodes[at];
        match reply {
            Reply::Answer(mad) => {
                let last = node.switch_info.as_ref().map_or(0, top);
                take_block(tables, at, block, last, Smp(mad).data::<LftBlock>());
            }
            failed => {
                tables.entry(node_id(at)).unread.insert(block);
                phase.told.silent.push(silence(node, format!("LFT block {block}"), &failed));
            }
        }
    }
    phase.end();
    Ok(())
}

/// The last LID of a table that is in use; a switch that nobody has set up says 0.
pub(super) fn top(info: &SwitchInfo) -> u16 {
    info.linear_top.get().min(Lid::MAX)
}

/// Entries above the top are left over from an earlier use.
fn take_block(tables: &mut Tables, at: usize, block: u16, top: u16, data: &LftBlock) {
    let lft = tables.entry(node_id(at)).lft.get_or_insert_default();
    for (offset, port) in data.ports.iter().enumerate() {
        let lid = u32::from(block) * u32::from(BLOCK_LIDS) + offset as u32;
        let Some(lid) = Lid::new(lid).filter(|lid| lid.value() <= top && *port != NO_PATH) else { continue };
        lft.set(lid, Some(PortNum(*port)));
    }
}

/// What every switch forwards packets of groups by.
pub fn read_multicast(
    reader: &mut Reader<'_>,
    nodes: &[FoundNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let mut phase = reader.phase::<(usize, u16, u8)>("multicast");
    let each = move || switches(nodes).filter_map(|(at, node)| Some((at, node, node.switch_info?)));
    let blocks = |info: &SwitchInfo| groups(info).div_ceil(BLOCK_GROUPS);
    let positions = |node: &FoundNode| node.port_count / POSITION_PORTS + 1;
    let mut expected = 0;
    for (at, node, info) in each() {
        tables.entry(node_id(at)).mft.get_or_insert_default();
        expected += u64::from(blocks(&info)) * u64::from(positions(node));
    }
    let retries = phase.exchange.retries();
    let questions = each().flat_map(move |(at, node, info)| {
        let places =
            (0..blocks(&info)).flat_map(move |block| (0..positions(node)).map(move |place| (block, place)));
        places.map(move |(block, position)| {
            let modifier = MftBlock::modifier(u32::from(block), position);
            let parcel = directed(attribute::MULTICAST_FORWARDING, modifier, &node.route, node.m_key.0);
            Question { parcel, target: at as u32, retries, tag: (at, block, position) }
        })
    });
    phase.exchange.feed(expected, questions);
    while let Some(((at, block, position), reply)) = phase.next()? {
        let node = &nodes[at];
        match reply {
            Reply::Answer(mad) => take_groups(tables, at, block, position, node, Smp(mad).data::<MftBlock>()),
            failed => {
                let asked = format!("MFT block {block} position {position}");
                phase.told.silent.push(silence(node, asked, &failed));
            }
        }
    }
    phase.end();
    Ok(())
}

/// How many groups a switch may hold: up to the top that it says, or all that it has room for.
fn groups(info: &SwitchInfo) -> u16 {
    let room = info.multicast_capacity.get().min(0xFFFF - FIRST_GROUP);
    match info.multicast_top.get() {
        // Switches that do not have the field say 0.
        0 => room,
        top if top < FIRST_GROUP => 0,
        top => (top - FIRST_GROUP + 1).min(room),
    }
}

fn take_groups(tables: &mut Tables, at: usize, block: u16, position: u8, node: &FoundNode, data: &MftBlock) {
    let mft = tables.entry(node_id(at)).mft.get_or_insert_default();
    for entry in 0..usize::from(BLOCK_GROUPS) {
        let ports: Vec<PortNum> =
            data.ports(entry, position).filter(|port| port.value() <= node.port_count).collect();
        if ports.is_empty() {
            continue;
        }
        let group = FIRST_GROUP + block * BLOCK_GROUPS + entry as u16;
        let held = mft.groups.entry(group).or_default();
        held.extend(ports);
        held.sort_unstable();
        held.dedup();
    }
}

pub(super) fn switches(nodes: &[FoundNode]) -> impl Iterator<Item = (usize, &FoundNode)> {
    nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch)
}

/// What is told of a question to a known node that brought nothing.
pub(super) fn silence(node: &FoundNode, asked: String, reply: &Reply) -> Silence {
    let refusal = match reply {
        Reply::Refused(status) => Some(status.to_string()),
        _ => None,
    };
    Silence { route: node.route.clone(), asked, node: Some(node.guid), peer: None, refusal }
}
