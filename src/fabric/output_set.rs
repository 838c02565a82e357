//! The ports by which a packet may leave a switch.

use super::{AdaptiveDoubt, EntryState, Lft, Lid, NodeTables, PortNum, PortSet, ServiceLevel};

/// The ports by which a packet may leave a switch. It is empty where the switch has no entry, and drops the packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct OutputSet {
    /// The static port.
    pub fixed: Option<PortNum>,
    /// All ports, the static one included.
    pub ports: PortSet,
}

impl OutputSet {
    /// The ports of a static port and a group.
    pub fn new(fixed: Option<PortNum>, group: PortSet) -> Self {
        let alone = fixed.map_or(PortSet::EMPTY, PortSet::of);
        Self { fixed, ports: group.union(&alone) }
    }

    /// The set without the port by which a packet comes in. Only the static port can lead back.
    pub fn without_ingress(mut self, ingress: PortNum) -> Self {
        if self.fixed != Some(ingress) {
            self.ports.remove(ingress);
        }
        self
    }

    /// Whether the static port leads back.
    pub fn turns_back(&self, ingress: PortNum) -> bool {
        self.fixed == Some(ingress) && ingress != PortNum::MANAGEMENT
    }
}

impl NodeTables {
    /// Why the ports by which packets to these LIDs may leave are not known. Tables of another linear table, as one of
    /// a plan, are not understood. Neither are those of a file that have an undefined group or private table.
    pub fn adaptive_doubt(&self, lids: impl Iterator<Item = Lid>) -> Option<AdaptiveDoubt> {
        let adaptive = self.adaptive.as_ref()?;
        if let Some(doubt) = adaptive.doubt() {
            return Some(doubt);
        }
        let none = Lft::new();
        let (settings, tables) = adaptive.tables_in_force()?;
        let mismatch = tables.find_mismatch(self.lft.as_ref().unwrap_or(&none), settings);
        let open = || tables.find_open_group(settings, lids).map(AdaptiveDoubt::GroupZero);
        mismatch.map(AdaptiveDoubt::NotUnderstood).or_else(open)
    }

    /// The ports that a forwarding table of the switch gives packets with a service level to a LID, the ingress port
    /// included. `None`: not known. Switches without private tables have table 0 only.
    pub fn table_outputs(&self, table: u8, level: ServiceLevel, lid: Lid) -> Option<OutputSet> {
        let Some(adaptive) = self.adaptive.as_ref().filter(|adaptive| adaptive.needs_tables()) else {
            let port = self.lft.as_ref().and_then(|lft| lft.get(lid));
            return Some(OutputSet::new(port, PortSet::EMPTY));
        };
        let (settings, tables) = adaptive.tables_in_force()?;
        let entry = tables.tables.get(usize::from(table)).map(|table| table.entry(lid)).unwrap_or_default();
        if !settings.uses_group(entry.state, level) {
            return Some(OutputSet::new(entry.port, PortSet::EMPTY));
        }
        let group = tables.groups.get(usize::from(entry.group)).copied();
        let group = match entry.state {
            // A static entry need not have a group.
            EntryState::Static => group.unwrap_or_default(),
            _ => group?,
        };
        Some(OutputSet::new(entry.port, group))
    }

    /// The ports by which packets with a service level, which came in by a port, may leave to a LID. `None`: not known.
    /// Loads, failures nearby and notifications decide among them.
    pub fn outputs(&self, ingress: PortNum, level: ServiceLevel, lid: Lid) -> Option<OutputSet> {
        let tables = self.adaptive.as_ref().and_then(|adaptive| adaptive.tables_in_force());
        let table = tables.map_or(0, |(_, tables)| tables.table_number(ingress, level));
        Some(self.table_outputs(table, level, lid)?.without_ingress(ingress))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        AdaptiveEntry, AdaptiveLft, AdaptiveMismatch, AdaptiveSettings, AdaptiveStatement, AdaptiveSwitch,
        AdaptiveTableState, AdaptiveTables,
    };

    fn level(level: u32) -> ServiceLevel {
        ServiceLevel::new(level).unwrap()
    }

    /// LIDs 1 to 4 have static port 1, group 0 (ports 2 and 3) and the four states; LID 5 has neither.
    fn node(settings: AdaptiveSettings) -> NodeTables {
        let entry = |state| AdaptiveEntry { port: Some(PortNum(1)), state, group: 0 };
        let mut entries = vec![AdaptiveEntry::default()];
        entries.extend(EntryState::ALL.map(entry));
        entries.push(AdaptiveEntry { port: None, state: EntryState::Free, group: 1 });
        let tables = AdaptiveTables {
            groups: vec![[2, 3].map(PortNum).into_iter().collect(), PortSet::EMPTY],
            tables: vec![AdaptiveLft::from_entries(&entries, None)],
            ..AdaptiveTables::default()
        };
        let mut lft = Lft::new();
        lft.set_from(1, &[1, 1, 1, 1]);
        let adaptive = AdaptiveSwitch {
            statement: AdaptiveStatement::Stated(settings),
            tables: AdaptiveTableState::Read(Arc::new(tables)),
        };
        NodeTables { lft: Some(lft), adaptive: Some(adaptive), ..NodeTables::default() }
    }

    /// How many outputs packets of a level have to LIDs 1 to 5.
    fn counts(settings: AdaptiveSettings, on: u32) -> [u32; 5] {
        let node = node(settings);
        let lids = [1, 2, 3, 4, 5].map(|lid| Lid::new(lid).unwrap());
        lids.map(|lid| node.outputs(PortNum(9), level(on), lid).unwrap().ports.count())
    }

    #[test]
    fn outputs_follow_state_level_and_what_is_on() {
        let off = AdaptiveSettings {
            hash_levels: 0b10,
            levels: 0b1,
            private_tables: Some(0),
            ..AdaptiveSettings::default()
        };
        let adaptive = AdaptiveSettings { adaptive: true, ..off };
        let recovery = AdaptiveSettings { fast_recovery: true, ..off };
        let hash = AdaptiveSettings { hash_forwarding: true, ..off };
        // Bounded, Free, Static, HBF, and an entry without ports.
        for (settings, level, expected) in [
            (off, 0, [1, 1, 1, 1, 0]),
            (adaptive, 0, [3, 3, 1, 3, 0]),
            (adaptive, 1, [1, 1, 1, 3, 0]),
            (recovery, 0, [3, 3, 3, 3, 0]),
            (recovery, 1, [3, 3, 3, 3, 0]),
            (AdaptiveSettings { adaptive: true, ..recovery }, 1, [3, 3, 3, 3, 0]),
            (hash, 0, [1, 1, 1, 3, 0]),
            (hash, 1, [3, 3, 3, 3, 0]),
            (AdaptiveSettings { adaptive: true, ..hash }, 0, [3, 3, 1, 3, 0]),
            (AdaptiveSettings { weighted_hash: true, ..off }, 0, [3, 3, 3, 3, 0]),
            (AdaptiveSettings { failure_notices: true, ..adaptive }, 0, [3, 3, 1, 3, 0]),
        ] {
            assert_eq!(counts(settings, level), expected, "{settings:?} on level {level}");
        }
    }

    #[test]
    fn a_packet_goes_back_by_the_static_port_only() {
        let node = node(AdaptiveSettings { adaptive: true, levels: 1, ..AdaptiveSettings::default() });
        let outputs = |ingress| node.outputs(PortNum(ingress), level(0), Lid::new(2).unwrap()).unwrap();
        let ports = |ingress| outputs(ingress).ports.iter().map(PortNum::value).collect::<Vec<_>>();
        assert_eq!((ports(9), ports(2), ports(1)), (vec![1, 2, 3], vec![1, 3], vec![1, 2, 3]));
        assert!(outputs(1).turns_back(PortNum(1)) && !outputs(2).turns_back(PortNum(2)));
    }

    #[test]
    fn outputs_without_known_tables_are_not_known() {
        let on = AdaptiveSettings { adaptive: true, levels: 1, ..AdaptiveSettings::default() };
        let mut held = node(on);
        let ask = |node: &NodeTables| node.outputs(PortNum(9), level(0), Lid::new(2).unwrap());
        for tables in [AdaptiveTableState::NotRead, AdaptiveTableState::NoAnswer] {
            held.adaptive = Some(AdaptiveSwitch { statement: AdaptiveStatement::Stated(on), tables });
            assert_eq!(ask(&held), None);
        }
        held.adaptive = Some(AdaptiveSwitch::new(AdaptiveStatement::NoAnswer));
        assert_eq!(ask(&held), None);
        held.adaptive = Some(AdaptiveSwitch::new(AdaptiveStatement::Absent));
        assert_eq!(ask(&held).unwrap().ports.count(), 1);
        let off = AdaptiveSettings::default();
        held.adaptive = Some(AdaptiveSwitch::new(AdaptiveStatement::Stated(off)));
        assert_eq!(ask(&held), None, "private tables are not known");
        let off = AdaptiveSettings { private_tables: Some(0), ..off };
        held.adaptive = Some(AdaptiveSwitch::new(AdaptiveStatement::Stated(off)));
        assert_eq!(ask(&held).unwrap().ports.count(), 1);
    }

    #[test]
    fn a_file_with_undefined_groups_and_private_tables_leaves_a_doubt() {
        let known = AdaptiveSettings {
            private_tables: Some(1),
            lane_input: Some(0),
            adaptive: true,
            levels: 1,
            ..AdaptiveSettings::default()
        };
        let lids = || (1..=4).filter_map(Lid::new);
        let doubt = |settings, change: &dyn Fn(&mut AdaptiveTables)| {
            let mut held = node(settings);
            if let Some(AdaptiveSwitch { tables: AdaptiveTableState::Read(tables), .. }) = &mut held.adaptive
            {
                change(Arc::make_mut(tables));
            }
            held.adaptive_doubt(lids())
        };
        let not_understood = |mismatch| Some(AdaptiveDoubt::NotUnderstood(mismatch));
        assert_eq!(doubt(known, &|_| ()), None);
        let few = |tables: &mut AdaptiveTables| tables.groups.truncate(1);
        let last = Lid::new(5).unwrap();
        let missing = AdaptiveMismatch::Group { lid: last, group: 1 };
        assert_eq!(doubt(known, &few), not_understood(missing));
        let plft = |tables: &mut AdaptiveTables| tables.table_of = vec![5];
        assert_eq!(doubt(known, &plft), not_understood(AdaptiveMismatch::PrivateTable(5)));
        // LID 3 is static; whether its group 0 is "no group" is not known.
        let recovery = AdaptiveSettings { fast_recovery: true, ..known };
        let third = Lid::new(3).unwrap();
        assert_eq!(doubt(recovery, &|_| ()), Some(AdaptiveDoubt::GroupZero(third)));
        let empty = |tables: &mut AdaptiveTables| tables.groups[0] = PortSet::EMPTY;
        assert_eq!(doubt(recovery, &empty), None);
    }

    #[test]
    fn the_ingress_port_and_the_level_select_a_private_table() {
        let settings = AdaptiveSettings { private_tables: Some(2), ..AdaptiveSettings::default() };
        let mut node = node(settings);
        let entry = |port| AdaptiveEntry { port: Some(PortNum(port)), ..AdaptiveEntry::default() };
        let table = |port| AdaptiveLft::from_entries(&[AdaptiveEntry::default(), entry(port)], None);
        let mut table_of = vec![0; 3 * 16];
        table_of[2 * 16 + 5] = 1;
        let tables = AdaptiveTables { tables: vec![table(1), table(8)], table_of, ..Default::default() };
        if let Some(adaptive) = &mut node.adaptive {
            adaptive.tables = AdaptiveTableState::Read(Arc::new(tables));
        }
        let fixed = |ingress, on| {
            node.outputs(PortNum(ingress), level(on), Lid::new(1).unwrap()).unwrap().fixed.unwrap().value()
        };
        assert_eq!([fixed(2, 5), fixed(2, 4), fixed(1, 5), fixed(77, 5)], [8, 1, 1, 1]);
    }
}
