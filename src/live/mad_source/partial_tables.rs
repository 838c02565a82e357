//! The adaptive tables of a switch while they are read: which blocks are asked for, and what the answers make.

use std::sync::Arc;

use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveLft, AdaptiveMismatch, AdaptiveSettings, AdaptiveTableState, AdaptiveTables,
    EntryState, Lft, Lid, PortSet,
};
use fabdeck_mad::{AdaptiveGroupBlock, AdaptiveLftBlock, PortLevelTables, Smp, attribute};

/// The most private tables of a switch that are read. Subnet managers use four at most.
const MAX_PRIVATE_TABLES: usize = 8;

/// A block of the adaptive tables of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableBlock {
    Groups(u16),
    PortLevels(u8),
    Forwarding(u8, u16),
}

impl TableBlock {
    pub fn request(self) -> (u16, u32) {
        match self {
            Self::Groups(block) => (attribute::ADAPTIVE_GROUPS, AdaptiveGroupBlock::modifier(block, 0, 0)),
            Self::PortLevels(block) => (attribute::PORT_LEVEL_TABLES, block.into()),
            Self::Forwarding(table, block) => {
                (attribute::ADAPTIVE_FORWARDING, AdaptiveLftBlock::modifier(block.into(), table))
            }
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Groups(block) => format!("adaptive group block {block}"),
            Self::PortLevels(block) => format!("PortSLToPLFT block {block}"),
            Self::Forwarding(table, block) => format!("adaptive LFT block {block} of PLFT {table}"),
        }
    }
}

/// The blocks of a switch that are asked for.
#[derive(Clone, Debug, Default)]
pub struct BlockList {
    ports: u8,
    groups: u16,
    /// The private tables.
    tables: Vec<u8>,
    /// The blocks of each of them.
    forwarding: u16,
}

impl BlockList {
    /// The blocks that say which private table packets use; none where there is one table.
    pub fn port_levels(settings: &AdaptiveSettings, port_count: u8) -> Self {
        let has_several = settings.private_tables.is_some_and(|tables| tables > 1);
        let ports = if has_several { port_count / PortLevelTables::PORTS as u8 + 1 } else { 0 };
        Self { ports, ..Self::default() }
    }

    pub fn len(&self) -> u64 {
        let forwarding = self.tables.len() as u64 * u64::from(self.forwarding);
        u64::from(self.groups) + u64::from(self.ports) + forwarding
    }

    pub fn blocks(self) -> impl Iterator<Item = TableBlock> {
        let ports = (0..self.ports).map(TableBlock::PortLevels);
        let groups = (0..self.groups).map(TableBlock::Groups);
        let forwarding = self.tables.into_iter().flat_map(move |table| {
            (0..self.forwarding).map(move |block| TableBlock::Forwarding(table, block))
        });
        ports.chain(groups).chain(forwarding)
    }
}

/// The tables of a switch while they are read.
#[derive(Debug)]
pub struct PartialTables {
    settings: AdaptiveSettings,
    /// The last LID in use.
    top: u16,
    port_count: u8,
    /// Masks of entries; a group has one for each active sub-group.
    masks: Vec<PortSet>,
    entries: Vec<Vec<AdaptiveEntry>>,
    table_of: Vec<u8>,
    other_table: Option<(Lid, u8)>,
    high_group: Option<(Lid, u16)>,
    /// Why a block is missing.
    failed: Option<AdaptiveTableState>,
}

impl PartialTables {
    pub fn new(settings: AdaptiveSettings, top: u16, port_count: u8) -> Self {
        Self {
            settings,
            top,
            port_count,
            masks: Vec::new(),
            entries: Vec::new(),
            table_of: Vec::new(),
            other_table: None,
            high_group: None,
            failed: None,
        }
    }

    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// States why the tables are not known. The first reason counts.
    pub fn fail(&mut self, reason: AdaptiveTableState) {
        self.failed.get_or_insert(reason);
    }

    /// The blocks to ask for once it is known which private tables packets use; only groups where the rest is known.
    /// `None`: the tables cannot be read.
    pub fn select_blocks(&mut self, only_groups: bool) -> Option<BlockList> {
        self.table_of.truncate((usize::from(self.port_count) + 1) * 16);
        if let Err(mismatch) = self.check_counts() {
            self.fail(AdaptiveTableState::NotUnderstood(mismatch));
        }
        if self.has_failed() {
            return None;
        }
        Some(BlockList {
            ports: 0,
            groups: self.group_blocks() as u16,
            tables: if only_groups { Vec::new() } else { self.tables_in_use() },
            forwarding: self.top / AdaptiveLftBlock::LIDS as u16 + 1,
        })
    }

    fn tables_in_use(&self) -> Vec<u8> {
        AdaptiveTables { table_of: self.table_of.clone(), ..AdaptiveTables::default() }.tables_in_use()
    }

    fn group_blocks(&self) -> u32 {
        let entries = (u32::from(self.settings.group_top) + 1) * u32::from(self.settings.sub_groups.max(1));
        entries.div_ceil(AdaptiveGroupBlock::ENTRIES as u32)
    }

    fn check_counts(&self) -> Result<(), AdaptiveMismatch> {
        let blocks = self.group_blocks();
        if blocks > AdaptiveGroupBlock::BLOCKS {
            return Err(AdaptiveMismatch::GroupBlocks(blocks));
        }
        let (used, count) = (self.tables_in_use(), self.settings.private_tables.unwrap_or(0).max(1));
        if let Some(table) = used.iter().find(|table| **table >= count) {
            return Err(AdaptiveMismatch::PrivateTable(*table));
        }
        match used.len() > MAX_PRIVATE_TABLES {
            true => Err(AdaptiveMismatch::PrivateTableCount(used.len() as u8)),
            false => Ok(()),
        }
    }

    pub fn take(&mut self, block: TableBlock, answer: &Smp) {
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
        // What lies above the top is left over from an earlier use.
        let used = entry.state != EntryState::Static || self.settings.uses_static_groups();
        let Some(lid) = Lid::new(at as u32).filter(|_| used && at <= usize::from(self.top)) else { return };
        if group_table != 0 {
            self.other_table.get_or_insert((lid, group_table));
        }
        if entry.group > AdaptiveEntry::MAX_GROUP {
            self.high_group.get_or_insert((lid, entry.group));
        }
    }

    fn groups(&self) -> Vec<PortSet> {
        let each = usize::from(self.settings.sub_groups.max(1));
        let union = |masks: &[PortSet]| masks.iter().fold(PortSet::EMPTY, |all, mask| all.union(mask));
        let used = (usize::from(self.settings.group_top) + 1) * each;
        self.masks[..used.min(self.masks.len())].chunks(each).map(union).collect()
    }

    /// The tables, compared with the linear one. `known` are those of which only the groups were read again.
    pub fn finish(self, linear: &Lft, known: Option<&AdaptiveTables>) -> AdaptiveTableState {
        let groups = self.groups();
        if let Some(failed) = self.failed {
            return failed;
        }
        let top = usize::from(self.top) + 1;
        let tables = self.entries.into_iter().map(|mut entries| {
            entries.truncate(top);
            // There is no LID 0.
            entries.first_mut().into_iter().for_each(|none| *none = AdaptiveEntry::default());
            AdaptiveLft::from_entries(&entries, Some(linear))
        });
        let tables = match known {
            Some(known) => AdaptiveTables { groups, ..known.clone() },
            None => AdaptiveTables {
                groups,
                tables: tables.collect(),
                table_of: if self.table_of.iter().all(|table| *table == 0) {
                    Vec::new()
                } else {
                    self.table_of
                },
            },
        };
        // A layout that is not the known one shows in the static ports first.
        let mismatch = tables.find_mismatch(linear, &self.settings);
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

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::PortNum;
    use fabdeck_mad::{AdaptiveLftEntry, Class, Mad, Method};

    fn answer(fill: impl FnOnce(&mut Smp)) -> Smp {
        let mut smp = Smp(Mad::new(Class::SUBNET_DIRECTED, Method::GET_RESPONSE, 0, 0));
        fill(&mut smp);
        smp
    }

    fn count(settings: AdaptiveSettings, table_of: &[u8]) -> Result<BlockList, AdaptiveTableState> {
        let mut held = PartialTables::new(settings, 48_000, 40);
        held.table_of = table_of.to_vec();
        held.select_blocks(false).ok_or_else(|| held.finish(&Lft::new(), None))
    }

    #[test]
    fn only_private_tables_in_use_are_read_and_what_cannot_be_numbered_is_not_understood() {
        let of = |private_tables, group_top, sub_groups| AdaptiveSettings {
            private_tables: Some(private_tables),
            group_top,
            sub_groups,
            ..AdaptiveSettings::default()
        };
        let not_understood = AdaptiveTableState::NotUnderstood;
        assert_eq!(BlockList::port_levels(&of(36, 0, 1), 40).len(), 11);
        assert_eq!(BlockList::port_levels(&of(1, 0, 1), 40).len(), 0);
        // 36 tables of 3,001 blocks exist; packets use two of them.
        let list = count(of(36, 9, 1), &[0, 7, 7]).unwrap();
        assert_eq!((list.len(), list.tables), (5 + 2 * 3001, vec![0, 7]));
        let nine: Vec<u8> = (0..9).collect();
        let many = count(of(36, 9, 1), &nine).unwrap_err();
        assert_eq!(many, not_understood(AdaptiveMismatch::PrivateTableCount(9)));
        assert!(count(of(36, 9, 1), &nine[..8]).is_ok());
        assert_eq!(count(of(2, 9, 1), &[2]).unwrap_err(), not_understood(AdaptiveMismatch::PrivateTable(2)));
        // The rows of ports that the switch does not have mean nothing.
        assert!(count(of(2, 9, 1), &[vec![0; 41 * 16], vec![99; 48]].concat()).is_ok());
        assert_eq!(count(of(0, 4095, 2), &[]).unwrap().groups, 4096);
        assert_eq!(
            count(of(0, 4095, 3), &[]).unwrap_err(),
            not_understood(AdaptiveMismatch::GroupBlocks(6144))
        );
    }

    #[test]
    fn static_entries_are_checked_where_their_groups_serve() {
        let mut linear = Lft::new();
        linear.set_from(1, &[3]);
        let read = |fast_recovery, group, table| {
            let settings =
                AdaptiveSettings { adaptive: true, levels: 1, fast_recovery, ..Default::default() };
            let mut held = PartialTables::new(settings, 1, 4);
            let entry = AdaptiveEntry { port: Some(PortNum(3)), state: EntryState::Static, group };
            let none = AdaptiveLftEntry::encode(AdaptiveEntry::default(), 0);
            let mut block = AdaptiveLftBlock { entries: [none; AdaptiveLftBlock::LIDS] };
            block.entries[1] = AdaptiveLftEntry::encode(entry, table);
            // LID 9 lies above the top.
            block.entries[9] = AdaptiveLftEntry::encode(entry, 5);
            held.take(TableBlock::Groups(0), &answer(|_| ()));
            held.take(TableBlock::Forwarding(0, 0), &answer(|smp| *smp.data_mut() = block));
            held.finish(&linear, None)
        };
        let lid = Lid::new(1).unwrap();
        for (group, table, mismatch) in [
            (0, 0, None),
            (0, 2, Some(AdaptiveMismatch::GroupTable { lid, table: 2 })),
            (300, 0, Some(AdaptiveMismatch::Group { lid, group: 300 })),
            (0x4000, 0, Some(AdaptiveMismatch::Group { lid, group: 0x4000 })),
        ] {
            assert!(matches!(read(false, group, table), AdaptiveTableState::Read(_)));
            match (read(true, group, table), mismatch) {
                (AdaptiveTableState::NotUnderstood(found), Some(mismatch)) => assert_eq!(found, mismatch),
                (AdaptiveTableState::Read(_), None) => {}
                (state, _) => panic!("{group} {table}: {state:?}"),
            }
        }
    }
}
