//! Reads the adaptive tables of switches that need them: groups up to the top one, which private table packets use, and
//! the forwarding tables. What is read is compared with the linear table before it is believed.
//!
//! Tables are read again only after a change of the switch's settings or of its linear table. A switch that refused them
//! or did not answer is not asked again in the session.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::adaptive::{AdaptiveAnswer, AdaptiveAnswers};
use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::PortReader;
use super::tables::{last_used_lid, switch_nodes, to_silence};
use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveLft, AdaptiveMismatch, AdaptiveSettings, AdaptiveSwitch, AdaptiveTableState,
    AdaptiveTables, EntryState, Guid, Lft, Lid, PortSet, Tables,
};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{AdaptiveGroupBlock, AdaptiveLftBlock, PortLevelTables, Smp, attribute};

/// An unanswered query is sent once more at most.
const RETRIES: u32 = 1;

/// Adaptive tables of a switch, and what they belong to.
#[derive(Clone, Debug)]
pub struct KnownAdaptiveTables {
    settings: AdaptiveSettings,
    linear: Lft,
    state: AdaptiveTableState,
}

impl KnownAdaptiveTables {
    /// Whether the switch answered with its tables.
    pub fn is_read(&self) -> bool {
        !matches!(self.state, AdaptiveTableState::NoAnswer | AdaptiveTableState::Absent)
    }

    /// Whether the tables need not be read again.
    fn is_current(&self, settings: &AdaptiveSettings, linear: &Lft) -> bool {
        !self.is_read() || (self.settings == *settings && self.linear == *linear)
    }
}

/// A block of the adaptive tables of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TableBlock {
    Groups(u16),
    PortLevels(u8),
    Forwarding(u8, u16),
}

impl TableBlock {
    fn request(self) -> (u16, u32) {
        match self {
            Self::Groups(block) => (attribute::ADAPTIVE_GROUPS, AdaptiveGroupBlock::modifier(block, 0, 0)),
            Self::PortLevels(block) => (attribute::PORT_LEVEL_TABLES, block.into()),
            Self::Forwarding(table, block) => {
                (attribute::ADAPTIVE_FORWARDING, AdaptiveLftBlock::modifier(block.into(), table))
            }
        }
    }

    fn name(self) -> String {
        match self {
            Self::Groups(block) => format!("adaptive group block {block}"),
            Self::PortLevels(block) => format!("PortSLToPLFT block {block}"),
            Self::Forwarding(table, block) => format!("adaptive LFT block {block} of PLFT {table}"),
        }
    }
}

/// The tables of a switch while they are read.
#[derive(Debug)]
struct PartialTables {
    settings: AdaptiveSettings,
    /// The last LID in use.
    top: u16,
    /// Masks of entries; a group has one for each active sub-group.
    masks: Vec<PortSet>,
    entries: Vec<Vec<AdaptiveEntry>>,
    table_of: Vec<u8>,
    other_table: Option<(Lid, u8)>,
    high_group: Option<(Lid, u16)>,
    /// Why a block is missing.
    failed: Option<AdaptiveTableState>,
}

/// The switches whose adaptive tables have to be read, in the order of the nodes.
fn outdated_switches(
    nodes: &[DiscoveredNode],
    tables: &Tables,
    answers: &AdaptiveAnswers,
) -> Vec<(usize, AdaptiveSettings)> {
    let none = Lft::new();
    let needs = |(at, node): (usize, &DiscoveredNode)| {
        let Some(AdaptiveAnswer::Stated(settings)) = answers.get(&node.guid) else { return None };
        let linear = tables.lft(node_id(at)).unwrap_or(&none);
        let known = answers.tables.get(&node.guid);
        let current = known.is_some_and(|known| known.is_current(settings, linear));
        (settings.needs_tables() && !current && node.switch_info.is_some()).then_some((at, *settings))
    };
    switch_nodes(nodes).filter_map(needs).collect()
}

/// Reads the adaptive tables that are not known. Returns them by switch.
pub fn read_adaptive_tables(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    tables: &Tables,
    answers: &AdaptiveAnswers,
) -> Result<Vec<(Guid, KnownAdaptiveTables)>, SourceError> {
    // Without a linear table there is nothing to compare with.
    let outdated = if tables.only.is_none() && tables.has_forwarding() {
        outdated_switches(nodes, tables, answers)
    } else {
        Vec::new()
    };
    if outdated.is_empty() {
        return Ok(Vec::new());
    }
    let mut phase = reader.open_phase::<(usize, TableBlock)>("adaptive tables");
    let retries = phase.exchange.retries().min(RETRIES);
    let wanted: Vec<(usize, BlockCounts)> =
        outdated.iter().map(|(at, settings)| (*at, BlockCounts::of(&nodes[*at], settings))).collect();
    let mut partial: Vec<Option<PartialTables>> = nodes.iter().map(|_| None).collect();
    for (at, settings) in &outdated {
        let top = nodes[*at].switch_info.as_ref().map_or(0, last_used_lid);
        partial[*at] = Some(PartialTables::new(*settings, top));
    }
    let expected = wanted.iter().map(|(_, counts)| counts.total()).sum();
    let each = wanted.into_iter().flat_map(|(at, counts)| counts.blocks().map(move |block| (at, block)));
    // Blocks of a switch that failed once are not asked.
    let stopped = Rc::new(RefCell::new(FxHashSet::default()));
    let failed = Rc::clone(&stopped);
    let open = each.filter(move |(at, _)| !failed.borrow().contains(at));
    let questions = open.map(move |(at, block)| {
        let (attribute, modifier) = block.request();
        let parcel = directed_get(attribute, modifier, &nodes[at].route, nodes[at].m_key.0);
        Question { parcel, target: at as u32, retries, tag: (at, block) }
    });
    phase.exchange.feed(expected, questions);
    while let Some(((at, block), reply)) = phase.next()? {
        let Some(held) = partial.get_mut(at).and_then(Option::as_mut) else { continue };
        match reply {
            Reply::Answer(mad) => held.take(block, &Smp(mad)),
            // A refusal is the normal "no" of a device without the attribute.
            Reply::Refused(status) if status.is_unsupported() => {
                held.failed.get_or_insert(AdaptiveTableState::Absent);
                stopped.borrow_mut().insert(at);
            }
            failed if held.failed.is_none() => {
                held.failed = Some(AdaptiveTableState::NoAnswer);
                stopped.borrow_mut().insert(at);
                phase.log.silent.push(to_silence(&nodes[at], block.name(), &failed));
            }
            _ => {}
        }
    }
    phase.end();
    let none = Lft::new();
    let finish = |(at, settings): (usize, AdaptiveSettings)| {
        let linear = tables.lft(node_id(at)).unwrap_or(&none);
        let state = partial[at].take()?.finish(linear);
        Some((nodes[at].guid, KnownAdaptiveTables { settings, linear: linear.clone(), state }))
    };
    Ok(outdated.into_iter().filter_map(finish).collect())
}

/// The most private tables that are read: the number that the count 0 stands for.
const MAX_PRIVATE_TABLES: u8 = 36;

/// How many blocks a switch has of each kind.
#[derive(Clone, Copy, Debug)]
struct BlockCounts {
    groups: u16,
    ports: u8,
    tables: u8,
    /// Of each forwarding table.
    forwarding: u16,
}

impl BlockCounts {
    fn of(node: &DiscoveredNode, settings: &AdaptiveSettings) -> Self {
        let entries = (u32::from(settings.group_top) + 1) * u32::from(settings.sub_groups.max(1));
        let top = node.switch_info.as_ref().map_or(0, last_used_lid);
        let tables = settings.private_tables.unwrap_or(0).clamp(1, MAX_PRIVATE_TABLES);
        Self {
            groups: u16::try_from(entries.div_ceil(AdaptiveGroupBlock::ENTRIES as u32)).unwrap_or(u16::MAX),
            ports: if tables == 1 { 0 } else { node.port_count / PortLevelTables::PORTS as u8 + 1 },
            tables,
            forwarding: top / AdaptiveLftBlock::LIDS as u16 + 1,
        }
    }

    fn total(&self) -> u64 {
        let forwarding = u64::from(self.tables) * u64::from(self.forwarding);
        u64::from(self.groups) + u64::from(self.ports) + forwarding
    }

    /// Groups, the tables of ports and levels, then the forwarding tables.
    fn blocks(self) -> impl Iterator<Item = TableBlock> {
        let groups = (0..self.groups).map(TableBlock::Groups);
        let ports = (0..self.ports).map(TableBlock::PortLevels);
        let forwarding = (0..self.tables).flat_map(move |table| {
            (0..self.forwarding).map(move |block| TableBlock::Forwarding(table, block))
        });
        groups.chain(ports).chain(forwarding)
    }
}

impl PartialTables {
    fn new(settings: AdaptiveSettings, top: u16) -> Self {
        Self {
            settings,
            top,
            masks: Vec::new(),
            entries: Vec::new(),
            table_of: Vec::new(),
            other_table: None,
            high_group: None,
            failed: None,
        }
    }

    fn take(&mut self, block: TableBlock, answer: &Smp) {
        match block {
            TableBlock::Groups(block) => {
                let data = answer.data::<AdaptiveGroupBlock>();
                let first = usize::from(block) * AdaptiveGroupBlock::ENTRIES;
                for entry in 0..AdaptiveGroupBlock::ENTRIES {
                    put(&mut self.masks, first + entry, data.ports(entry));
                }
            }
            TableBlock::PortLevels(block) => {
                let rows = answer.data::<PortLevelTables>().tables;
                let first = usize::from(block) * PortLevelTables::PORTS * 16;
                let all = rows.as_flattened().iter().enumerate();
                all.for_each(|(at, table)| put(&mut self.table_of, first + at, *table));
            }
            TableBlock::Forwarding(table, block) => {
                let table = usize::from(table);
                if self.entries.len() <= table {
                    self.entries.resize(table + 1, Vec::new());
                }
                let first = usize::from(block) * AdaptiveLftBlock::LIDS;
                for (at, held) in answer.data::<AdaptiveLftBlock>().entries.iter().enumerate() {
                    let (entry, group_table) = held.decode();
                    self.check(first + at, entry, group_table);
                    put(&mut self.entries[table], first + at, entry);
                }
            }
        }
    }

    fn check(&mut self, at: usize, entry: AdaptiveEntry, group_table: u8) {
        let Some(lid) = Lid::new(at as u32).filter(|_| entry.state != EntryState::Static) else { return };
        if group_table != 0 {
            self.other_table.get_or_insert((lid, group_table));
        }
        if entry.group > AdaptiveEntry::MAX_GROUP {
            self.high_group.get_or_insert((lid, entry.group));
        }
    }

    fn finish(self, linear: &Lft) -> AdaptiveTableState {
        if let Some(failed) = self.failed {
            return failed;
        }
        let each = usize::from(self.settings.sub_groups.max(1));
        let union = |masks: &[PortSet]| masks.iter().fold(PortSet::EMPTY, |all, mask| all.union(mask));
        let used = (usize::from(self.settings.group_top) + 1) * each;
        let masks = &self.masks[..used.min(self.masks.len())];
        let top = usize::from(self.top) + 1;
        let tables = self.entries.into_iter().map(|mut entries| {
            // There is no LID 0, and what lies above the top is left over from an earlier use.
            entries.truncate(top);
            entries.first_mut().into_iter().for_each(|none| *none = AdaptiveEntry::default());
            AdaptiveLft::from_entries(&entries, Some(linear))
        });
        let tables = AdaptiveTables {
            groups: masks.chunks(each).map(union).collect(),
            tables: tables.collect(),
            table_of: if self.table_of.iter().all(|table| *table == 0) { Vec::new() } else { self.table_of },
        };
        // A layout that is not the known one shows in the static ports first.
        let mismatch = tables.find_mismatch(linear);
        let other = self.other_table.map(|(lid, table)| AdaptiveMismatch::GroupTable { lid, table });
        let high = self.high_group.map(|(lid, group)| AdaptiveMismatch::Group { lid, group });
        match mismatch.or(other).or(high) {
            Some(mismatch) => AdaptiveTableState::NotUnderstood(mismatch),
            None => AdaptiveTableState::Read(Arc::new(tables)),
        }
    }
}

fn put<T: Clone + Default>(list: &mut Vec<T>, at: usize, value: T) {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    list[at] = value;
}

/// Stores in the tables of each switch what it answered. Returns whether anything has changed.
pub fn store_adaptive(nodes: &[DiscoveredNode], tables: &mut Tables, answers: &AdaptiveAnswers) -> bool {
    let mut changed = false;
    let none = Lft::new();
    for (at, node) in switch_nodes(nodes) {
        let Some(answer) = answers.get(&node.guid) else { continue };
        let mut switch = AdaptiveSwitch::new(answer.statement());
        let linear = tables.lft(node_id(at)).unwrap_or(&none);
        let current = answers.tables.get(&node.guid).filter(|known| {
            switch
                .settings()
                .is_some_and(|settings| settings.needs_tables() && known.is_current(settings, linear))
        });
        if let Some(known) = current {
            switch.tables = known.state.clone();
        }
        let held = &mut tables.node_mut(node_id(at)).adaptive;
        if held.as_ref() != Some(&switch) {
            *held = Some(switch);
            changed = true;
        }
    }
    changed
}
