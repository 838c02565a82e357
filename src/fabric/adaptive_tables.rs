//! The adaptive tables of a switch: groups of ports, forwarding tables with a group for each LID, and which of these
//! tables a packet uses.

use std::sync::Arc;

use super::{AdaptiveMismatch, AdaptiveSettings, Lft, Lid, PortNum, PortSet, ServiceLevel};

/// How a switch uses the group of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EntryState {
    /// A port of the group, chosen anew only where that keeps the order of a flow.
    Bounded,
    /// Any port of the group.
    Free,
    /// The static port.
    #[default]
    Static,
    /// A port of the group by a hash of the flow.
    Hash,
}

impl EntryState {
    /// All states, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Bounded, Self::Free, Self::Static, Self::Hash];

    /// The code of the state, 0 to 3.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// An entry of an adaptive forwarding table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdaptiveEntry {
    /// The static port; `None` for none.
    pub port: Option<PortNum>,
    /// How the group is used.
    pub state: EntryState,
    /// The group, up to [`AdaptiveEntry::MAX_GROUP`].
    pub group: u16,
}

impl AdaptiveEntry {
    /// The highest group that an entry can have.
    pub const MAX_GROUP: u16 = 0x3FFF;

    fn packed_choice(self) -> u16 {
        u16::from(self.state.code()) << 14 | self.group & Self::MAX_GROUP
    }
}

/// An adaptive forwarding table. The static ports share the memory of the linear table where they are equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AdaptiveLft {
    ports: Lft,
    /// By LID: the state in the highest two bits, and the group.
    choices: Arc<Vec<u16>>,
}

impl AdaptiveLft {
    /// Makes a table from its entries, from LID 0 on. `linear` is the linear table of the switch.
    pub fn from_entries(entries: &[AdaptiveEntry], linear: Option<&Lft>) -> Self {
        let port = |entry: &AdaptiveEntry| entry.port.map_or(super::NO_PATH, PortNum::value);
        let ports = Lft::from_entries(entries.iter().map(port).collect());
        let ports = linear.filter(|linear| **linear == ports).cloned().unwrap_or(ports);
        let mut choices: Vec<u16> = entries.iter().map(|entry| entry.packed_choice()).collect();
        let end = AdaptiveEntry::default().packed_choice();
        choices.truncate(choices.iter().rposition(|choice| *choice != end).map_or(0, |last| last + 1));
        Self { ports, choices: Arc::new(choices) }
    }

    /// Makes a table from its static ports and what [`Self::packed_choices`] gives.
    pub fn from_packed(ports: Lft, choices: Vec<u16>) -> Self {
        Self { ports, choices: Arc::new(choices) }
    }

    /// By LID from 0 on the state in the highest two bits, and the group. LIDs beyond the end are static.
    pub fn packed_choices(&self) -> &[u16] {
        &self.choices
    }

    /// The entry of a LID.
    pub fn entry(&self, lid: Lid) -> AdaptiveEntry {
        let default = AdaptiveEntry { port: self.ports.get(lid), ..AdaptiveEntry::default() };
        self.choices.get(lid.index()).map_or(default, |choice| AdaptiveEntry {
            state: EntryState::ALL[usize::from(choice >> 14)],
            group: choice & AdaptiveEntry::MAX_GROUP,
            ..default
        })
    }

    /// The static ports.
    pub fn static_ports(&self) -> &Lft {
        &self.ports
    }

    /// One more than the highest LID with an entry.
    pub fn len(&self) -> usize {
        self.choices.len().max(self.ports.bytes().len())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The adaptive tables of one switch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AdaptiveTables {
    /// The ports of each group, of all its active sub-groups.
    pub groups: Vec<PortSet>,
    /// The forwarding tables by the number of the PLFT.
    pub tables: Vec<AdaptiveLft>,
    /// The number of the PLFT by ingress port and service level, 16 for each port. PLFT 0 beyond the end.
    pub table_of: Vec<u8>,
}

impl AdaptiveTables {
    /// The number of the PLFT of packets with a service level that come in by a port.
    pub fn table_number(&self, ingress: PortNum, level: ServiceLevel) -> u8 {
        let at = ingress.index() * 16 + usize::from(level.value());
        self.table_of.get(at).copied().unwrap_or(0)
    }

    /// The PLFTs that some packets use, ascending.
    pub fn tables_in_use(&self) -> Vec<u8> {
        let mut used = self.table_of.clone();
        used.push(0);
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The entry for packets with a service level that come in by a port.
    pub fn entry(&self, ingress: PortNum, level: ServiceLevel, lid: Lid) -> AdaptiveEntry {
        let table = self.tables.get(usize::from(self.table_number(ingress, level)));
        table.map_or_else(AdaptiveEntry::default, |table| table.entry(lid))
    }

    /// Compares the static ports of PLFT 0 with the linear table. Returns the first LID that differs.
    pub fn find_port_mismatch(&self, linear: &Lft) -> Option<AdaptiveMismatch> {
        let none = Lft::new();
        let ports = self.tables.first().map_or(&none, AdaptiveLft::static_ports);
        if ports == linear {
            return None;
        }
        let mut lids = (1..=u32::from(Lid::MAX)).filter_map(Lid::new);
        lids.find(|lid| ports.get(*lid) != linear.get(*lid)).map(AdaptiveMismatch::StaticPort)
    }

    /// Compares the static ports of PLFT 0 with the linear table, and looks for groups and tables that are not
    /// defined. Returns the first contradiction. Groups of static entries count where the switch uses them.
    pub fn find_mismatch(&self, linear: &Lft, settings: &AdaptiveSettings) -> Option<AdaptiveMismatch> {
        if let Some(mismatch) = self.find_port_mismatch(linear) {
            return Some(mismatch);
        }
        let missing = |table: &u8| usize::from(*table) >= self.tables.len();
        if let Some(table) = self.tables_in_use().into_iter().filter(|table| *table > 0).find(missing) {
            return Some(AdaptiveMismatch::PrivateTable(table));
        }
        let all = settings.uses_static_groups();
        let undefined = |table: &AdaptiveLft| {
            let mut choices = (0..).zip(table.packed_choices()).skip(1);
            choices.find_map(|(lid, choice)| {
                let (state, group) = (choice >> 14, choice & AdaptiveEntry::MAX_GROUP);
                let used = all || state != u16::from(EntryState::Static.code());
                let lid = Lid::new(lid).filter(|_| used && usize::from(group) >= self.groups.len())?;
                Some(AdaptiveMismatch::Group { lid, group })
            })
        };
        self.tables.iter().find_map(undefined)
    }

    /// The first of these LIDs with a static entry that has group 0, where that group has other ports than the static
    /// one. Whether such an entry has a group is not documented: without one it states group 0 as well.
    pub fn find_open_group(
        &self,
        settings: &AdaptiveSettings,
        lids: impl Iterator<Item = Lid>,
    ) -> Option<Lid> {
        let ports = self.groups.first().filter(|ports| !ports.is_empty())?;
        if !settings.uses_static_groups() {
            return None;
        }
        let used = self.tables_in_use();
        let tables: Vec<&AdaptiveLft> =
            used.iter().filter_map(|table| self.tables.get(usize::from(*table))).collect();
        let is_open = |entry: AdaptiveEntry| {
            let fixed = entry.port.map_or(PortSet::EMPTY, PortSet::of);
            entry.state == EntryState::Static && entry.group == 0 && ports.union(&fixed) != fixed
        };
        let mut lids = lids;
        lids.find(|lid| tables.iter().any(|table| is_open(table.entry(*lid))))
    }

    /// The memory of the tables in bytes, without what the linear table shares.
    pub fn memory_bytes(&self, linear: &Lft) -> usize {
        let own = |table: &AdaptiveLft| {
            let shared = table.ports.bytes().as_ptr() == linear.bytes().as_ptr();
            table.choices.len() * 2 + if shared { 0 } else { table.ports.bytes().len() }
        };
        self.groups.len() * size_of::<PortSet>()
            + self.table_of.len()
            + self.tables.iter().map(own).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lid(lid: u32) -> Lid {
        Lid::new(lid).unwrap()
    }

    fn entries() -> Vec<AdaptiveEntry> {
        let entry = |port, state, group| AdaptiveEntry { port, state, group };
        vec![
            AdaptiveEntry::default(),
            entry(Some(PortNum(7)), EntryState::Free, 1),
            entry(Some(PortNum(3)), EntryState::Static, 0),
            entry(None, EntryState::Hash, 0),
            AdaptiveEntry::default(),
        ]
    }

    #[test]
    fn entries_come_back_and_static_ports_share_the_linear_table() {
        let mut linear = Lft::new();
        linear.set_from(1, &[7, 3]);
        let table = AdaptiveLft::from_entries(&entries(), Some(&linear));
        let back: Vec<AdaptiveEntry> = (1..5).map(|at| table.entry(lid(at))).collect();
        assert_eq!((&back[..], table.len()), (&entries()[1..], 4));
        let tables = AdaptiveTables {
            groups: vec![PortSet::EMPTY; 2],
            tables: vec![table],
            ..AdaptiveTables::default()
        };
        assert_eq!(tables.memory_bytes(&linear), 64 + 8, "two groups, and two bytes for each of four LIDs");
    }

    #[test]
    fn one_lid_that_differs_from_the_linear_table_is_found() {
        let mut linear = Lft::new();
        linear.set_from(1, &[7, 3]);
        let all = AdaptiveTables {
            groups: vec![PortSet::EMPTY; 2],
            tables: vec![AdaptiveLft::from_entries(&entries(), None)],
            ..AdaptiveTables::default()
        };
        let off = AdaptiveSettings::default();
        assert_eq!(all.find_mismatch(&linear, &off), None);
        let mut other = linear.clone();
        other.set(lid(2), Some(PortNum(4)));
        assert_eq!(all.find_mismatch(&other, &off), Some(AdaptiveMismatch::StaticPort(lid(2))));
        other = linear.clone();
        other.set(lid(900), Some(PortNum(4)));
        assert_eq!(all.find_mismatch(&other, &off), Some(AdaptiveMismatch::StaticPort(lid(900))));
        let few = AdaptiveTables { groups: vec![PortSet::EMPTY], ..all.clone() };
        let missing = Some(AdaptiveMismatch::Group { lid: lid(1), group: 1 });
        assert_eq!(few.find_mismatch(&linear, &off), missing);
        let second = AdaptiveTables { table_of: vec![0, 0, 1], ..all };
        assert_eq!(second.find_mismatch(&linear, &off), Some(AdaptiveMismatch::PrivateTable(1)));
    }

    #[test]
    fn groups_of_static_entries_count_where_the_switch_uses_them() {
        let mut linear = Lft::new();
        linear.set_from(1, &[7, 3]);
        let entry =
            |port, group| AdaptiveEntry { port: Some(PortNum(port)), state: EntryState::Static, group };
        let table = |group| AdaptiveTables {
            groups: vec![PortSet::of(PortNum(7)), PortSet::EMPTY],
            tables: vec![AdaptiveLft::from_entries(
                &[AdaptiveEntry::default(), entry(7, 0), entry(3, group)],
                None,
            )],
            ..AdaptiveTables::default()
        };
        let adaptive = AdaptiveSettings { adaptive: true, levels: 1, ..AdaptiveSettings::default() };
        let recovery = AdaptiveSettings { fast_recovery: true, ..adaptive };
        let hash = AdaptiveSettings { hash_forwarding: true, hash_levels: 2, ..adaptive };
        let undefined = Some(AdaptiveMismatch::Group { lid: lid(2), group: 300 });
        for (settings, mismatch, open) in
            [(adaptive, None, None), (recovery, undefined, Some(lid(2))), (hash, undefined, Some(lid(2)))]
        {
            assert_eq!(table(300).find_mismatch(&linear, &settings), mismatch);
            assert_eq!(table(1).find_mismatch(&linear, &settings), None);
            // All ports of group 0 are the static port of LID 1, but not of LID 2.
            let find = |group, top| table(group).find_open_group(&settings, (1..=top).filter_map(Lid::new));
            assert_eq!((find(0, 2), find(0, 1), find(1, 2)), (open, None, None));
        }
        let none = AdaptiveTables { groups: vec![PortSet::EMPTY], ..table(0) };
        assert_eq!(none.find_open_group(&recovery, [lid(2)].into_iter()), None);
    }
}
