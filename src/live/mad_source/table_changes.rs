//! Stores the tables that sweeps read, and reports differences from the known ones. The first reading of a part is the
//! reference for later ones; a snapshot with tables provides it.

use std::collections::{BTreeMap, BTreeSet};

use super::discovery_state::{DiscoveredNode, Groups, node_id};
use super::fabric_events::changed_entries;
use super::table_rotation::TableReadings;
use super::tables::{FIRST_GROUP, group_count, groups_of_block, last_used_lid};
use fabdeck_fabric::observe::{ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, FabricEvent};
use fabdeck_fabric::{
    Arbitration, BLOCK_LIDS, Guid, Lft, Lid, NO_PATH, NodeId, PortNum, Sl2Vl, Tables, block_of,
};

/// Number of entries of a table that are listed; the others are counted.
const MAX_NAMES: usize = 4;

/// The kinds of tables that the snapshot has. The sweeps alone know the others.
#[derive(Clone, Copy, Debug)]
struct HeldTables {
    forwarding: bool,
    groups: bool,
    lanes: bool,
    arbitration: bool,
}

impl HeldTables {
    fn of(tables: &Tables) -> Self {
        let all = || tables.nodes.values();
        Self {
            forwarding: all().any(|held| held.lft.is_some()),
            groups: all().any(|held| held.mft.is_some()),
            lanes: all().any(|held| !held.sl2vl.is_empty()),
            arbitration: all().any(|held| !held.arbitration.is_empty()),
        }
    }
}

/// The differences, by node.
#[derive(Debug, Default)]
struct TableDifferences {
    blocks: BTreeMap<usize, BTreeSet<u16>>,
    entries: BTreeMap<usize, Vec<ChangedEntry>>,
    groups: BTreeMap<usize, Vec<ChangedGroup>>,
    lanes: BTreeMap<usize, Vec<ChangedLanes>>,
    arbitration: BTreeMap<usize, Vec<ChangedArbitration>>,
}

/// The tables of the snapshot during the comparison.
struct TableComparison<'t> {
    tables: &'t mut Tables,
    held: HeldTables,
    /// Whether the tables of the snapshot have changed.
    moved: bool,
}

/// Stores what was read. Returns the events, and whether the tables of the snapshot have changed.
pub fn update_tables(
    nodes: &mut [DiscoveredNode],
    tables: &mut Tables,
    read: TableReadings,
    manager: Option<Lid>,
) -> (Vec<FabricEvent>, bool) {
    let held = HeldTables::of(tables);
    let mut taking = TableComparison { tables, held, moved: false };
    let mut differ = TableDifferences::default();
    for (at, node) in nodes.iter_mut().enumerate() {
        let (entries, groups) = taking.truncate_tables(node, node_id(at));
        if !entries.is_empty() {
            differ
                .blocks
                .entry(at)
                .or_default()
                .extend(entries.iter().map(|entry| block_with_lid(entry.lid)));
            differ.entries.entry(at).or_default().extend(entries);
        }
        if !groups.is_empty() {
            differ.groups.entry(at).or_default().extend(groups);
        }
    }
    for (at, block, ports) in read.blocks {
        let entries = taking.compare_block(&mut nodes[at], node_id(at), block, ports);
        if !entries.is_empty() {
            differ.blocks.entry(at).or_default().insert(block);
            differ.entries.entry(at).or_default().extend(entries);
        }
    }
    for (at, block, groups) in read.groups {
        let changed = taking.compare_groups(&mut nodes[at], node_id(at), block, groups);
        if !changed.is_empty() {
            differ.groups.entry(at).or_default().extend(changed);
        }
    }
    for (at, ports, row) in read.lanes {
        let changed = taking.compare_lanes(&mut nodes[at], node_id(at), ports, row);
        if let Some(changed) = changed {
            differ.lanes.entry(at).or_default().push(changed);
        }
    }
    for (at, port, weights) in read.weights {
        let changed = taking.compare_arbitration(&mut nodes[at], node_id(at), port, weights);
        if let Some(changed) = changed {
            differ.arbitration.entry(at).or_default().push(changed);
        }
    }
    (differ.into_news(nodes, manager), taking.moved)
}

fn block_with_lid(lid: Lid) -> u16 {
    lid.value() / BLOCK_LIDS
}

impl TableComparison<'_> {
    /// Shortens the tables of a switch to the sizes that it reports. Known entries and groups beyond are routes no
    /// longer, and no sweep reads their blocks again.
    fn truncate_tables(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
    ) -> (Vec<ChangedEntry>, Vec<ChangedGroup>) {
        let Some(info) = node.switch_info else { return Default::default() };
        let (last, count) = (last_used_lid(&info), group_count(&info));
        let before = node.memory.tops.replace((last, count));
        let (lower, fewer) = before.map_or((true, true), |before| (last < before.0, count < before.1));
        let entries = if lower { self.remove_entries_above(node, id, last) } else { Vec::new() };
        (entries, if fewer { self.remove_groups_beyond(node, id, count) } else { Vec::new() })
    }

    fn remove_entries_above(&mut self, node: &mut DiscoveredNode, id: NodeId, top: u16) -> Vec<ChangedEntry> {
        let mut gone: BTreeMap<Lid, PortNum> = BTreeMap::new();
        let above = |block: u16, offset: usize| {
            Lid::new(u32::from(block) * u32::from(BLOCK_LIDS) + offset as u32).filter(|lid| lid.value() > top)
        };
        for (block, ports) in &mut node.memory.blocks {
            for (offset, port) in ports.iter_mut().enumerate().filter(|(_, port)| **port != NO_PATH) {
                if let Some(lid) = above(*block, offset) {
                    gone.insert(lid, PortNum(std::mem::replace(port, NO_PATH)));
                }
            }
        }
        if let Some(held) = self.tables.nodes.get_mut(&id) {
            let (unread, last) = (held.unread.len(), top / BLOCK_LIDS);
            held.unread.retain(|block| *block <= last);
            self.moved |= held.unread.len() < unread;
            if let Some(lft) = held.lft.as_mut().filter(|lft| lft.bytes().len() > usize::from(top) + 1) {
                let routed: Vec<_> = lft.routed_lids().filter(|(lid, _)| lid.value() > top).collect();
                self.moved |= !routed.is_empty();
                routed.iter().rev().for_each(|(lid, _)| lft.set(*lid, None));
                gone.extend(routed);
            }
        }
        gone.into_iter().map(|(lid, port)| ChangedEntry { lid, before: Some(port), now: None }).collect()
    }

    /// Removes the groups beyond the number that the switch reports.
    fn remove_groups_beyond(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
        count: u16,
    ) -> Vec<ChangedGroup> {
        let first = FIRST_GROUP.saturating_add(count);
        let mut gone = Groups::new();
        for groups in node.memory.groups.values_mut() {
            gone.extend(groups.split_off(&first));
        }
        if let Some(mft) = self.tables.nodes.get_mut(&id).and_then(|held| held.mft.as_mut()) {
            let beyond = mft.groups.split_off(&first);
            self.moved |= !beyond.is_empty();
            gone.extend(beyond);
        }
        let gone = gone.into_iter().filter(|(_, ports)| !ports.is_empty());
        gone.map(|(group, before)| ChangedGroup { group, before, now: Vec::new() }).collect()
    }

    fn compare_block(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
        block: u16,
        mut ports: [u8; BLOCK_LIDS as usize],
    ) -> Vec<ChangedEntry> {
        let top = node.switch_info.as_ref().map_or(0, last_used_lid);
        let first = block * BLOCK_LIDS;
        for (offset, port) in ports.iter_mut().enumerate() {
            if first + offset as u16 > top || first + offset as u16 == 0 {
                *port = NO_PATH;
            }
        }
        let asked = self.tables.only.as_ref().is_none_or(|only| only.contains(&block));
        if !self.held.forwarding || !asked {
            let before = node.memory.blocks.insert(block, ports);
            return before.map_or_else(Vec::new, |before| changed_entries(block, top, &before, &ports));
        }
        let held = self.tables.node_mut(id);
        if held.lft.is_none() {
            // The switch was missing when the tables were read.
            held.unread = (0..=top / BLOCK_LIDS).collect();
        }
        let lft = held.lft.get_or_insert_with(Lft::new);
        let entries = changed_entries(block, top, &block_of(lft.bytes(), block), &ports);
        entries.iter().for_each(|entry| lft.set(entry.lid, entry.now));
        let unread = held.unread.remove(&block);
        self.moved |= unread || !entries.is_empty();
        if !unread {
            return entries;
        }
        let before = node.memory.blocks.remove(&block);
        before.map_or_else(Vec::new, |before| changed_entries(block, top, &before, &ports))
    }

    fn compare_groups(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
        block: u16,
        now: Groups,
    ) -> Vec<ChangedGroup> {
        if !now.is_empty() {
            node.memory.last_groups = node.memory.last_groups.max(Some(block));
        }
        let known = self.tables.nodes.get(&id).is_some_and(|held| held.mft.is_some());
        node.memory.groups_in_turns |= self.held.groups && !known;
        let mut before = None;
        if self.held.groups {
            let mft = &mut self.tables.node_mut(id).mft.get_or_insert_default().groups;
            let here = groups_of_block(block);
            let told: Groups =
                mft.range(here.clone()).map(|(group, ports)| (*group, ports.clone())).collect();
            if told != now {
                mft.retain(|group, _| !here.contains(group));
                mft.extend(now.clone());
            }
            self.moved |= told != now || !known;
            before = Some(told).filter(|_| !node.memory.groups_in_turns);
        }
        let before = before.or_else(|| node.memory.groups.insert(block, now.clone()));
        let Some(before) = before else { return Vec::new() };
        let all: BTreeSet<u16> = before.keys().chain(now.keys()).copied().collect();
        let ports = |groups: &Groups, group: u16| groups.get(&group).cloned().unwrap_or_default();
        let pair = |group: &u16| ChangedGroup {
            group: *group,
            before: ports(&before, *group),
            now: ports(&now, *group),
        };
        all.iter().map(pair).filter(|group| group.before != group.now).collect()
    }

    fn compare_lanes(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
        (from, to): (u8, u8),
        now: Sl2Vl,
    ) -> Option<ChangedLanes> {
        let ports = (PortNum(from), PortNum(to));
        let before = match self.held.lanes {
            true => {
                let before = self.tables.node_mut(id).sl2vl.insert(ports, now);
                self.moved |= before != Some(now);
                before
            }
            false => node.memory.lanes.insert((from, to), now),
        };
        let before = before.filter(|before| *before != now)?;
        Some(ChangedLanes { from: ports.0, to: ports.1, before, now })
    }

    fn compare_arbitration(
        &mut self,
        node: &mut DiscoveredNode,
        id: NodeId,
        port: u8,
        mut now: Arbitration,
    ) -> Option<ChangedArbitration> {
        let number = PortNum(port);
        let before = match self.held.arbitration {
            true => {
                let tables = &mut self.tables.node_mut(id).arbitration;
                // The limit is part of PortInfo, which was not read again.
                now.high_limit = tables.get(&number).map_or(now.high_limit, |before| before.high_limit);
                let before = tables.insert(number, now.clone());
                self.moved |= before.as_ref() != Some(&now);
                before
            }
            false => node.memory.weights.insert(port, now.clone()),
        };
        let before = before.filter(|before| (&before.high, &before.low) != (&now.high, &now.low))?;
        Some(ChangedArbitration { port: number, before, now })
    }
}

impl TableDifferences {
    /// One event for each node and kind of table: the number of differences, and the first ones.
    fn into_news(self, nodes: &[DiscoveredNode], manager: Option<Lid>) -> Vec<FabricEvent> {
        let guid = |at: usize| -> Guid { nodes[at].guid };
        let Self { mut blocks, entries, groups, lanes, arbitration } = self;
        let mut news = Vec::new();
        news.extend(entries.into_iter().map(|(at, mut entries)| {
            entries.sort_by_key(|entry| entry.lid);
            let blocks = blocks.remove(&at).unwrap_or_default().into_iter().collect();
            let (entries, first) = count_and_truncate(entries);
            FabricEvent::TableDrift { switch: guid(at), blocks, entries, first, manager }
        }));
        news.extend(groups.into_iter().map(|(at, groups)| {
            let (entries, first) = count_and_truncate(groups);
            FabricEvent::GroupDrift { switch: guid(at), entries, first, manager }
        }));
        news.extend(lanes.into_iter().map(|(at, lanes)| {
            let (entries, first) = count_and_truncate(lanes);
            FabricEvent::LanesDrift { node: guid(at), entries, first, manager }
        }));
        news.extend(arbitration.into_iter().map(|(at, weights)| {
            let (entries, first) = count_and_truncate(weights);
            FabricEvent::ArbitrationDrift { node: guid(at), entries, first, manager }
        }));
        news
    }
}

/// The number of items, and the first ones.
fn count_and_truncate<T>(mut all: Vec<T>) -> (usize, Vec<T>) {
    let count = all.len();
    all.truncate(MAX_NAMES);
    (count, all)
}
