//! Adaptive routing of switches as records: what each stated, and its tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::switching::{HexTable, rename_nodes};
use fabdeck_fabric::{
    AdaptiveLft, AdaptiveMismatch, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState, AdaptiveTables,
    Fabric, Guid, Lid, PortNum, PortSet, Tables,
};

/// Adaptive routing of switches. Switches that are left out did not change, or nothing is known of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AdaptiveTableRecord {
    /// Whether this record replaces all earlier ones.
    whole: bool,
    nodes: BTreeMap<String, NodeAdaptive>,
}

/// Adaptive routing of one switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct NodeAdaptive {
    statement: AdaptiveStatement,
    tables: TablesRecord,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TablesRecord {
    NotRead,
    NoAnswer,
    Absent,
    NotUnderstood(AdaptiveMismatch),
    Read {
        /// The ports of each group.
        groups: Vec<Vec<u8>>,
        plfts: Vec<PrivateTable>,
        /// The private table by ingress port and service level, 16 for each port.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        table_of: Vec<u8>,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PrivateTable {
    /// The static ports; left out where they are those of the linear table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ports: Option<HexTable>,
    /// Four hexadecimal digits for each LID from 0 on: the state in the highest two bits, and the group.
    entries: String,
}

impl AdaptiveTableRecord {
    /// All switches, or those that changed since `before`, in records that fit into frames; empty if nothing changed.
    pub fn of(fabric: &Fabric, tables: &Tables, before: Option<&Tables>) -> Vec<Self> {
        let known =
            |id| before.and_then(|before| before.nodes.get(id)).and_then(|held| held.adaptive.as_ref());
        let gone = before.is_some_and(|before| {
            let had = before.nodes.iter().filter(|(_, held)| held.adaptive.is_some());
            had.into_iter().any(|(id, _)| tables.nodes.get(id).is_none_or(|now| now.adaptive.is_none()))
        });
        if gone {
            let all = Self::of(fabric, tables, None);
            return if all.is_empty() { vec![Self { whole: true, nodes: BTreeMap::new() }] } else { all };
        }
        let changed = tables.nodes.iter().filter_map(|(id, held)| Some((id, held, held.adaptive.as_ref()?)));
        let nodes: BTreeMap<String, NodeAdaptive> = changed
            .filter(|(id, _, adaptive)| known(id) != Some(*adaptive))
            .map(|(id, held, adaptive)| (fabric.node_key(*id), NodeAdaptive::of(adaptive, held.lft.as_ref())))
            .collect();
        match nodes.is_empty() {
            true => Vec::new(),
            false => Self { whole: before.is_none(), nodes }.split(),
        }
    }

    fn split(self) -> Vec<Self> {
        const MOST: usize = 8 << 20;
        let (mut all, mut size) = (vec![Self { whole: self.whole, nodes: BTreeMap::new() }], 0);
        for (key, held) in self.nodes {
            let more = held.size();
            if size > 0 && size + more > MOST {
                all.push(Self { whole: false, nodes: BTreeMap::new() });
                size = 0;
            }
            size += more;
            if let Some(last) = all.last_mut() {
                last.nodes.insert(key, held);
            }
        }
        all
    }

    /// Replaces the GUIDs that name switches.
    pub fn anonymize(&mut self, guid: impl Fn(Guid) -> Guid) {
        self.nodes = rename_nodes(std::mem::take(&mut self.nodes), guid);
    }

    pub fn apply(self, fabric: &Fabric, tables: &mut Tables) -> Result<(), String> {
        if self.whole {
            tables.nodes.values_mut().for_each(|held| held.adaptive = None);
        }
        for (key, held) in self.nodes {
            let node = fabric
                .node_by_key(&key)
                .ok_or_else(|| format!("adaptive tables of '{key}', which is no node of this fabric"))?;
            let entry = tables.node_mut(node);
            entry.adaptive = Some(held.into_switch(entry.lft.as_ref())?);
        }
        Ok(())
    }
}

impl NodeAdaptive {
    fn of(adaptive: &AdaptiveSwitch, linear: Option<&fabdeck_fabric::Lft>) -> Self {
        let tables = match &adaptive.tables {
            AdaptiveTableState::NotRead => TablesRecord::NotRead,
            AdaptiveTableState::NoAnswer => TablesRecord::NoAnswer,
            AdaptiveTableState::Absent => TablesRecord::Absent,
            AdaptiveTableState::NotUnderstood(mismatch) => TablesRecord::NotUnderstood(*mismatch),
            AdaptiveTableState::Read(tables) => {
                let ports = |group: &PortSet| group.iter().map(PortNum::value).collect();
                let plft = |table: &AdaptiveLft| PrivateTable {
                    ports: (Some(table.static_ports()) != linear)
                        .then(|| HexTable(table.static_ports().clone())),
                    entries: table.packed_choices().iter().map(|choice| format!("{choice:04x}")).collect(),
                };
                TablesRecord::Read {
                    groups: tables.groups.iter().map(ports).collect(),
                    plfts: tables.tables.iter().map(plft).collect(),
                    table_of: tables.table_of.clone(),
                }
            }
        };
        Self { statement: adaptive.statement, tables }
    }

    /// About how many bytes of a line it takes.
    fn size(&self) -> usize {
        let TablesRecord::Read { groups, plfts, table_of } = &self.tables else { return 300 };
        let groups: usize = groups.iter().map(|ports| 3 + 4 * ports.len()).sum();
        let ports = |plft: &PrivateTable| plft.ports.as_ref().map_or(0, |ports| 2 * ports.0.bytes().len());
        groups + 4 * table_of.len() + plfts.iter().map(|plft| plft.entries.len() + ports(plft)).sum::<usize>()
    }

    fn into_switch(self, linear: Option<&fabdeck_fabric::Lft>) -> Result<AdaptiveSwitch, String> {
        let tables = match self.tables {
            TablesRecord::NotRead => AdaptiveTableState::NotRead,
            TablesRecord::NoAnswer => AdaptiveTableState::NoAnswer,
            TablesRecord::Absent => AdaptiveTableState::Absent,
            TablesRecord::NotUnderstood(mismatch) => AdaptiveTableState::NotUnderstood(mismatch),
            TablesRecord::Read { groups, plfts, table_of } => {
                let group = |ports: Vec<u8>| ports.into_iter().map(PortNum).collect();
                let plft = |plft: PrivateTable| {
                    let ports = plft.ports.map(|ports| ports.0).or_else(|| linear.cloned());
                    Ok::<_, String>(AdaptiveLft::from_packed(
                        ports.unwrap_or_default(),
                        parse_entries(&plft.entries)?,
                    ))
                };
                AdaptiveTableState::Read(Arc::new(AdaptiveTables {
                    groups: groups.into_iter().map(group).collect(),
                    tables: plfts.into_iter().map(plft).collect::<Result<_, _>>()?,
                    table_of,
                }))
            }
        };
        Ok(AdaptiveSwitch { statement: self.statement, tables })
    }
}

fn parse_entries(text: &str) -> Result<Vec<u16>, String> {
    let wrong =
        || "entries of an adaptive table that are not four hexadecimal digits for each LID".to_owned();
    let (quads, rest) = text.as_bytes().as_chunks::<4>();
    if !rest.is_empty() || quads.len() > usize::from(Lid::MAX) + 1 {
        return Err(wrong());
    }
    let digits = |quad: &[u8; 4]| {
        let text = std::str::from_utf8(quad).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        text.and_then(|text| u16::from_str_radix(text, 16).ok()).ok_or_else(wrong)
    };
    quads.iter().map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{AdaptiveEntry, AdaptiveSettings, EntryState, Lft, NodeId};

    /// A fabric whose switches are in all states.
    fn case() -> (Fabric, Tables) {
        let fabric = generate(&"kary,k=2,n=3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut tables = Tables::default();
        let mut linear = Lft::new();
        linear.set_from(1, &[1, 2, 3]);
        let entry = |port, state, group| AdaptiveEntry { port: Some(PortNum(port)), state, group };
        let entries = [
            AdaptiveEntry::default(),
            entry(1, EntryState::Free, 1),
            entry(2, EntryState::Bounded, 0),
            entry(3, EntryState::Hash, 300),
        ];
        let other = [AdaptiveEntry::default(), entry(9, EntryState::Static, 0)];
        let read = AdaptiveTables {
            groups: vec![PortSet::EMPTY, [1, 200].map(PortNum).into_iter().collect()],
            tables: vec![
                AdaptiveLft::from_entries(&entries, Some(&linear)),
                AdaptiveLft::from_entries(&other, Some(&linear)),
            ],
            table_of: vec![0, 1],
        };
        let settings =
            AdaptiveSettings { adaptive: true, levels: 7, lane_input: Some(0), ..Default::default() };
        let stated = AdaptiveStatement::Stated(settings);
        let states = [
            (stated, AdaptiveTableState::Read(Arc::new(read))),
            (stated, AdaptiveTableState::NotUnderstood(AdaptiveMismatch::StaticPort(Lid::new(2).unwrap()))),
            (
                stated,
                AdaptiveTableState::NotUnderstood(AdaptiveMismatch::Group {
                    lid: Lid::new(3).unwrap(),
                    group: 9,
                }),
            ),
            (stated, AdaptiveTableState::NoAnswer),
            (stated, AdaptiveTableState::Absent),
            (AdaptiveStatement::Stated(AdaptiveSettings::default()), AdaptiveTableState::NotRead),
            (AdaptiveStatement::Absent, AdaptiveTableState::NotRead),
            (AdaptiveStatement::NoAnswer, AdaptiveTableState::NotRead),
        ];
        for (at, (statement, held)) in (0..).zip(states) {
            let node = tables.node_mut(NodeId(at));
            node.lft = Some(linear.clone());
            node.adaptive = Some(AdaptiveSwitch { statement, tables: held });
        }
        (fabric, tables)
    }

    fn apply(records: Vec<AdaptiveTableRecord>, fabric: &Fabric, tables: &mut Tables) {
        for record in records {
            let line = serde_json::to_string(&record).unwrap();
            let back: AdaptiveTableRecord = serde_json::from_str(&line).unwrap();
            back.apply(fabric, tables).unwrap();
        }
    }

    #[test]
    fn every_state_comes_back_and_a_change_is_written_alone() {
        let (fabric, tables) = case();
        let mut bare = tables.clone();
        bare.nodes.values_mut().for_each(|held| held.adaptive = None);
        let mut back = bare.clone();
        apply(AdaptiveTableRecord::of(&fabric, &tables, None), &fabric, &mut back);
        assert_eq!(back, tables);
        assert!(AdaptiveTableRecord::of(&fabric, &tables, Some(&tables)).is_empty());
        let mut later = tables.clone();
        later.node_mut(NodeId(1)).adaptive = Some(AdaptiveSwitch::new(AdaptiveStatement::NoAnswer));
        let changes = AdaptiveTableRecord::of(&fabric, &later, Some(&tables));
        assert_eq!((changes.len(), changes[0].nodes.len(), changes[0].whole), (1, 1, false));
        apply(changes, &fabric, &mut back);
        assert_eq!(back, later);
        // What is no longer known is taken back by a whole record.
        later.node_mut(NodeId(0)).adaptive = None;
        apply(AdaptiveTableRecord::of(&fabric, &later, Some(&back.clone())), &fabric, &mut back);
        assert_eq!(back, later);
    }

    #[test]
    fn damaged_entries_are_refused() {
        for text in ["4", "40000", "400g", "+123", "é00"] {
            assert!(parse_entries(text).is_err(), "{text}");
        }
        assert!(parse_entries(&"4000".repeat(0xC001)).is_err());
        assert_eq!(parse_entries("400080ff"), Ok(vec![0x4000, 0x80FF]));
    }
}
