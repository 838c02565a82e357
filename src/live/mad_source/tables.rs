//! Reads forwarding tables, block by block up to the top that each switch reports.

use super::discovery_state::{DiscoveredNode, Groups, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_fabric::observe::MissingAnswer;
use fabdeck_fabric::{BLOCK_LIDS, Lft, Lid, NodeKind, PortNum, Tables};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{LftBlock, MftBlock, Smp, SwitchInfo, attribute};

/// The first multicast LID.
pub(crate) const FIRST_GROUP: u16 = 0xC000;
/// Number of groups in one block; below, number of ports in one position.
const BLOCK_GROUPS: u16 = 32;
const POSITION_PORTS: u8 = 16;

/// Reads the unicast tables of every switch: all blocks, or only those that the tables are limited to.
pub fn read_forwarding(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let only = tables.only.clone();
    let wanted = |info: &SwitchInfo| {
        let all = 0..=last_used_lid(info) / BLOCK_LIDS;
        all.filter(|block| only.as_ref().is_none_or(|only| only.contains(block))).collect::<Vec<u16>>()
    };
    let mut phase = reader.open_phase::<(usize, u16)>("tables");
    let mut blocks = 0;
    for (at, node) in switch_nodes(nodes) {
        let Some(info) = node.switch_info else {
            let guid = node.guid;
            phase.log.note_partial("FN-522", || {
                format!("{guid} did not report the size of its tables (SwitchInfo), so they were not read")
            });
            continue;
        };
        tables.node_mut(node_id(at)).lft = Some(Lft::with_room_to(last_used_lid(&info)));
        blocks += wanted(&info).len() as u64;
    }
    let retries = phase.exchange.retries();
    let told = switch_nodes(nodes).filter_map(|(at, node)| Some((at, node, node.switch_info?)));
    let each_block =
        told.flat_map(|(at, node, info)| wanted(&info).into_iter().map(move |block| (at, node, block)));
    phase.exchange.feed(
        blocks,
        each_block.map(move |(at, node, block)| {
            let modifier = u32::from(block);
            let parcel = directed_get(attribute::LINEAR_FORWARDING, modifier, &node.route, node.m_key.0);
            Question { parcel, target: at as u32, retries, tag: (at, block) }
        }),
    );
    while let Some(((at, block), reply)) = phase.next()? {
        let node = &nodes[at];
        match reply {
            Reply::Answer(mad) => {
                let last = node.switch_info.as_ref().map_or(0, last_used_lid);
                take_block(tables, at, block, last, Smp(mad).data::<LftBlock>());
            }
            failed => {
                tables.node_mut(node_id(at)).unread.insert(block);
                phase.log.silent.push(to_silence(node, format!("LFT block {block}"), &failed));
            }
        }
    }
    phase.end();
    tables.nodes.values_mut().filter_map(|held| held.lft.as_mut()).for_each(Lft::shrink_to_fit);
    Ok(())
}

/// The last LID of a table in use; 0 if no subnet manager has set the switch up.
pub(crate) fn last_used_lid(info: &SwitchInfo) -> u16 {
    info.linear_top.get().min(Lid::MAX)
}

/// Stores a block. Entries above the top are left over from an earlier use.
fn take_block(tables: &mut Tables, at: usize, block: u16, top: u16, data: &LftBlock) {
    let lft = tables.node_mut(node_id(at)).lft.get_or_insert_default();
    let first = usize::from(block) * usize::from(BLOCK_LIDS);
    let used = (usize::from(top) + 1).saturating_sub(first).min(data.ports.len());
    // There is no LID 0.
    let unused = usize::from(first == 0).min(used);
    lft.set_from(first + unused, &data.ports[unused..used]);
}

/// A block of a switch's groups, and the position, which stands for 16 of its ports.
type Place = (usize, u16, u8);

/// Reads the multicast tables of every switch.
pub fn read_multicast(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    tables: &mut Tables,
) -> Result<(), SourceError> {
    let each = || switch_nodes(nodes).filter_map(|(at, node)| Some((at, node, node.switch_info?)));
    let mut expected = 0;
    for (at, node, info) in each() {
        tables.node_mut(node_id(at)).mft.get_or_insert_default();
        expected += u64::from(group_blocks(&info)) * u64::from(position_count(node));
    }
    let places = each().flat_map(|(at, node, info)| {
        (0..group_blocks(&info))
            .flat_map(move |block| (0..position_count(node)).map(move |place| (at, block, place)))
    });
    ask_groups(reader, nodes, (expected, places), |(at, block, position), data| {
        let Some(data) = data else { return };
        let mft = tables.node_mut(node_id(at)).mft.get_or_insert_default();
        take_groups(&mut mft.groups, (block, position), &nodes[at], data);
    })
}

/// Reads some blocks of groups; `take` gets no data for a block without an answer.
pub fn ask_groups(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    (expected, places): (u64, impl Iterator<Item = Place>),
    mut take: impl FnMut(Place, Option<&MftBlock>),
) -> Result<(), SourceError> {
    let mut phase = reader.open_phase::<Place>("multicast");
    let retries = phase.exchange.retries();
    let questions = places.map(move |(at, block, position)| {
        let node = &nodes[at];
        let modifier = MftBlock::modifier(u32::from(block), position);
        let parcel = directed_get(attribute::MULTICAST_FORWARDING, modifier, &node.route, node.m_key.0);
        Question { parcel, target: at as u32, retries, tag: (at, block, position) }
    });
    phase.exchange.feed(expected, questions);
    while let Some((place, reply)) = phase.next()? {
        match reply {
            Reply::Answer(mad) => take(place, Some(Smp(mad).data::<MftBlock>())),
            failed => {
                let (at, block, position) = place;
                let asked = format!("MFT block {block} position {position}");
                phase.log.silent.push(to_silence(&nodes[at], asked, &failed));
                take(place, None);
            }
        }
    }
    phase.end();
    Ok(())
}

/// Number of blocks that the groups of a switch may fill.
pub(crate) fn group_blocks(info: &SwitchInfo) -> u16 {
    group_count(info).div_ceil(BLOCK_GROUPS)
}

/// Number of positions that cover all ports.
pub(crate) fn position_count(node: &DiscoveredNode) -> u8 {
    node.port_count / POSITION_PORTS + 1
}

/// The multicast LIDs of a block.
pub(crate) fn groups_of_block(block: u16) -> std::ops::RangeInclusive<u16> {
    let first = FIRST_GROUP.saturating_add(block.saturating_mul(BLOCK_GROUPS));
    first..=first.saturating_add(BLOCK_GROUPS - 1)
}

/// Number of groups that a switch may hold: up to its reported top, or its whole capacity.
pub(crate) fn group_count(info: &SwitchInfo) -> u16 {
    let room = info.multicast_capacity.get().min(0xFFFF - FIRST_GROUP);
    match info.multicast_top.get() {
        // Switches without this field report 0.
        0 => room,
        top if top < FIRST_GROUP => 0,
        top => (top - FIRST_GROUP + 1).min(room),
    }
}

/// Adds the ports of a block's groups, except groups beyond the last one of the switch.
pub(crate) fn take_groups(
    groups: &mut Groups,
    (block, position): (u16, u8),
    node: &DiscoveredNode,
    data: &MftBlock,
) {
    let held = node.switch_info.as_ref().map_or(u16::MAX, self::group_count);
    let told = groups_of_block(block).enumerate();
    for (entry, group) in told.filter(|(_, group)| group - FIRST_GROUP < held) {
        let ports: Vec<PortNum> =
            data.ports(entry, position).filter(|port| port.value() <= node.port_count).collect();
        if ports.is_empty() {
            continue;
        }
        let held = groups.entry(group).or_default();
        held.extend(ports);
        held.sort_unstable();
        held.dedup();
    }
}

pub(crate) fn switch_nodes(nodes: &[DiscoveredNode]) -> impl Iterator<Item = (usize, &DiscoveredNode)> {
    nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch)
}

/// The silence of a known node that did not answer a query.
pub(crate) fn to_silence(node: &DiscoveredNode, asked: String, reply: &Reply) -> MissingAnswer {
    let refusal = match reply {
        Reply::Refused(status) => Some(status.to_string()),
        _ => None,
    };
    MissingAnswer { route: node.route.clone(), asked, node: Some(node.guid), peer: None, refusal }
}
