//! Matches tables and LIDs of files with a fabric by GUID, and checks whether both are of the same time.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lid, Lmc, NodeId, NodeKind, NodeTables, PortId, PortNum, Tables,
};

use super::content::{LidFile, TableFile, TableSection};
use super::opensm::TRUNCATED_SECTION;

/// Tables of a node that the fabric does not have.
const UNKNOWN_NODE: &str = "FN-341";
/// A LID that belongs to another port in the file than in the fabric: one of the two is of another time.
const LID_OF_OTHER_PORT: &str = "FN-342";
/// A fabric without LIDs: the LIDs of the tables identify no ports.
const NO_LIDS: &str = "FN-343";
/// A switch without a table.
const NO_TABLE: &str = "FN-344";
/// An entry to a port that the switch does not have.
const NO_SUCH_PORT: &str = "FN-345";
/// A table that differs from one that was there before.
const TABLE_REPLACED: &str = "FN-346";
/// A LID of the file that disagrees with the fabric's.
const LID_DISAGREES: &str = "FN-347";
/// A port that the fabric does not have.
const UNKNOWN_PORT: &str = "FN-348";

impl TableFile {
    /// Adds the tables of this file to the nodes of a fabric, and replaces earlier tables.
    pub fn apply_to(&self, fabric: &Fabric, tables: &mut Tables, notes: &mut Notes) {
        let mut served = FxHashSet::default();
        for section in &self.sections {
            let Some(target) = SectionTarget::find(fabric, section) else {
                notes.add(UNKNOWN_NODE, section.place.clone(), || {
                    format!("{} is no node of this fabric; its tables are left out", section.node)
                });
                continue;
            };
            served.insert(target.node);
            check_ports(fabric, target.node, section, notes);
            store_section(fabric, &target, section, tables.node_mut(target.node), notes);
            self.check_table_end(fabric, section, tables.node_mut(target.node), notes);
        }
        self.check_owners(fabric, notes);
        self.check_complete(fabric, &served, notes);
    }

    /// The switches with private forwarding tables, and their number.
    pub fn private_tables(&self) -> impl Iterator<Item = (Guid, u8)> {
        let numbered = self.sections.iter().filter(|section| section.private_tables > 0);
        numbered.map(|section| (section.node, section.private_tables))
    }

    /// Whether the file has a forwarding table of a node that is not in the fabric.
    pub fn has_foreign_tables(&self, fabric: &Fabric) -> bool {
        self.sections
            .iter()
            .any(|section| section.tables.lft.is_some() && SectionTarget::find(fabric, section).is_none())
    }

    /// Marks the LIDs beyond the end of a file's only table as unread, if the fabric has such LIDs.
    fn check_table_end(
        &self,
        fabric: &Fabric,
        section: &TableSection,
        held: &mut NodeTables,
        notes: &mut Notes,
    ) {
        let Some((last, top)) = self.open_end.zip(fabric.top_lid()).filter(|(last, top)| last < top) else {
            return;
        };
        held.mark_unread_after(Some(last), Some(top));
        notes.add_partial(TRUNCATED_SECTION, section.place.clone(), || {
            format!("the table of {} ends at LID {last}, and the fabric has LIDs up to {top}", section.node)
        });
    }

    fn table_place(&self) -> NotePlace {
        self.sections.first().map_or_else(NotePlace::default, |section| NotePlace::file(&section.place.file))
    }

    fn check_owners(&self, fabric: &Fabric, notes: &mut Notes) {
        if fabric.top_lid().is_none() {
            if !self.sections.is_empty() {
                notes.add(NO_LIDS, self.table_place(), || {
                    "the fabric has no LIDs: whether these tables belong to it cannot be checked".to_owned()
                });
            }
            return;
        }
        for (lid, owner) in &self.owners {
            let known = fabric.port_by_lid(*lid);
            let agrees = known.is_some_and(|port| is_same_port(fabric, port, *owner));
            if !agrees {
                notes.add(LID_OF_OTHER_PORT, self.table_place(), || {
                    let known = known.map_or_else(|| "no port".to_owned(), |port| node_label(fabric, fabric.port(port).node));
                    let owner = match owner_node(fabric, *owner) {
                        Some(node) => node_label(fabric, node),
                        None => format!("{owner}, which the fabric lacks,"),
                    };
                    format!("LID {lid} belongs to {owner} in this file and to {known} in the fabric; check that both are of the same \
                         time")
                });
            }
        }
    }

    /// Notes switches without a table: a complete dump has one for each switch.
    fn check_complete(&self, fabric: &Fabric, served: &FxHashSet<NodeId>, notes: &mut Notes) {
        let whole = |section: &TableSection| section.tables.lft.is_some() || !section.tables.sl2vl.is_empty();
        if !self.sections.iter().any(whole) {
            return;
        }
        for (id, node) in fabric.switches().filter(|(id, node)| node.facts.answered && !served.contains(id)) {
            notes.add_partial(NO_TABLE, self.table_place(), || {
                format!("the file has no table of switch {} ({})", node_label(fabric, id), node.guid())
            });
        }
    }
}

/// The node of a section; lanes of an adapter are listed under its port's GUID.
struct SectionTarget {
    node: NodeId,
    port: Option<PortNum>,
}

impl SectionTarget {
    fn find(fabric: &Fabric, section: &TableSection) -> Option<Self> {
        let switch = fabric.node_by_guid(section.node).filter(|id| is_switch(fabric, *id));
        let by_port = || fabric.port_by_guid(section.node).map(|port| fabric.port(port));
        if let Some(node) = switch {
            return Some(Self { node, port: None });
        }
        if let Some(port) = by_port() {
            let number = (!is_switch(fabric, port.node)).then_some(port.number);
            return Some(Self { node: port.node, port: number });
        }
        fabric.node_by_guid(section.node).map(|node| Self { node, port: None })
    }
}

fn is_switch(fabric: &Fabric, node: NodeId) -> bool {
    fabric.node(node).facts.kind == NodeKind::Switch
}

fn node_label(fabric: &Fabric, node: NodeId) -> String {
    let facts = &fabric.node(node).facts;
    match facts.description.trim() {
        "" => facts.guid.to_string(),
        name => format!("'{name}'"),
    }
}

fn owner_node(fabric: &Fabric, guid: Guid) -> Option<NodeId> {
    fabric.port_by_guid(guid).map(|port| fabric.port(port).node).or_else(|| fabric.node_by_guid(guid))
}

/// Whether a GUID in a file identifies this port. Files may name the node instead, and not all dumps have GUIDs of
/// ports.
fn is_same_port(fabric: &Fabric, port: PortId, guid: Guid) -> bool {
    let port = fabric.port(port);
    match port.facts.guid {
        Some(known) if known == guid => true,
        Some(_) => fabric.node(port.node).guid() == guid,
        None => owner_node(fabric, guid).is_none_or(|owner| owner == port.node),
    }
}

fn check_ports(fabric: &Fabric, node: NodeId, section: &TableSection, notes: &mut Notes) {
    let count = fabric.node(node).facts.port_count;
    if count == 0 {
        return;
    }
    let mut beyond = |port: PortNum, what: &str| {
        if port.value() > count {
            notes.add(NO_SUCH_PORT, section.place.clone(), || {
                format!(
                    "{what} of {} leads to port {port}, and the node's highest port is {count}",
                    node_label(fabric, node)
                )
            });
        }
    };
    let NodeTables { lft, mft, sl2vl, .. } = &section.tables;
    lft.iter().flat_map(|lft| lft.routed_lids()).for_each(|(_, port)| beyond(port, "the table"));
    mft.iter()
        .flat_map(|mft| mft.groups.values())
        .flatten()
        .for_each(|port| beyond(*port, "the multicast table"));
    sl2vl.keys().for_each(|(from, to)| beyond((*from).max(*to), "the SL2VL table"));
}

/// Stores the tables of a section at their node. A note names each table that differs from an earlier one.
fn store_section(
    fabric: &Fabric,
    target: &SectionTarget,
    section: &TableSection,
    held: &mut NodeTables,
    notes: &mut Notes,
) {
    let mut replaced = |what: &str| {
        notes.add(TABLE_REPLACED, section.place.clone(), || {
            format!(
                "{what} of {} differs from the one read before; this one is used",
                node_label(fabric, target.node)
            )
        });
    };
    if section.tables.lft.is_some() {
        held.unread.clone_from(&section.tables.unread);
    }
    if let Some(lft) = &section.tables.lft
        && held.lft.replace(lft.clone()).is_some_and(|known| known != *lft)
    {
        replaced("the forwarding table");
    }
    if let Some(mft) = &section.tables.mft
        && held.mft.replace(mft.clone()).is_some_and(|known| known != *mft)
    {
        replaced("the multicast table");
    }
    for ((from, to), lanes) in &section.tables.sl2vl {
        // Rows of an adapter name no egress port (0): the port is the one whose GUID heads the section.
        let to = target.port.filter(|_| *to == PortNum::MANAGEMENT).unwrap_or(*to);
        if held.sl2vl.insert((*from, to), *lanes).is_some_and(|known| known != *lanes) {
            replaced("the SL2VL table");
        }
    }
    for (port, arbitration) in &section.tables.arbitration {
        if held.arbitration.insert(*port, arbitration.clone()).is_some_and(|known| known != *arbitration) {
            replaced("the arbitration table");
        }
    }
}

impl LidFile {
    /// The fabric with LIDs of this file for ports that have none. A LID that another port has is not given again.
    pub fn assign_lids(&self, file: &str, fabric: &Fabric, notes: &mut Notes) -> Fabric {
        let mut wanted: BTreeMap<PortId, (Lid, Lmc)> = BTreeMap::new();
        let mut switches: BTreeMap<NodeId, (Lid, Lmc)> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for (guid, (lid, lmc)) in &self.lids {
            let Some(owner) = GuidOwner::find(fabric, *guid) else {
                notes
                    .add(UNKNOWN_PORT, NotePlace::file(file), || format!("{guid} is no port of this fabric"));
                continue;
            };
            let known = owner.address(fabric);
            if known.is_some_and(|known| known != (*lid, *lmc)) {
                notes.add(LID_DISAGREES, NotePlace::file(file), || {
                    let known = known.map_or(0, |(lid, _)| lid.value());
                    format!(
                        "{} has LID {known} in the fabric and {lid} in this file; the fabric's is used",
                        node_label(fabric, owner.node())
                    )
                });
            }
            let span = lid.value()..lid.value().saturating_add(lmc.lid_count());
            let free = span.clone().all(|lid| {
                let held = Lid::new(u32::from(lid)).and_then(|lid| fabric.port_by_lid(lid));
                held.is_none() && !taken.contains(&lid)
            });
            if known.is_some() || !free {
                continue;
            }
            taken.extend(span);
            match owner {
                GuidOwner::Switch(node) => switches.insert(node, (*lid, *lmc)),
                GuidOwner::Port(port, _) => wanted.insert(port, (*lid, *lmc)),
            };
        }
        rebuild(fabric, &wanted, &switches)
    }
}

/// The owner of a GUID in guid2lid: a switch (by the GUID of its port 0) or a port of another node.
#[derive(Clone, Copy)]
enum GuidOwner {
    Switch(NodeId),
    Port(PortId, NodeId),
}

impl GuidOwner {
    fn find(fabric: &Fabric, guid: Guid) -> Option<Self> {
        if let Some(port) = fabric.port_by_guid(guid) {
            let node = fabric.port(port).node;
            return Some(if is_switch(fabric, node) { Self::Switch(node) } else { Self::Port(port, node) });
        }
        fabric.node_by_guid(guid).filter(|node| is_switch(fabric, *node)).map(Self::Switch)
    }

    fn node(self) -> NodeId {
        match self {
            Self::Switch(node) | Self::Port(_, node) => node,
        }
    }

    fn address(self, fabric: &Fabric) -> Option<(Lid, Lmc)> {
        let port = match self {
            Self::Switch(node) => fabric.port_of(node, PortNum::MANAGEMENT)?,
            Self::Port(port, _) => port,
        };
        fabric.address_of(port)
    }
}

fn rebuild(
    fabric: &Fabric,
    ports: &BTreeMap<PortId, (Lid, Lmc)>,
    switches: &BTreeMap<NodeId, (Lid, Lmc)>,
) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut keys = Vec::new();
    for (id, node) in fabric.nodes() {
        // Nodes of a fabric differ in kind or GUID, so the builder never knows one already.
        let key = builder.add_node(node.facts.clone()).unwrap_or_else(|known| known);
        for (port, known) in fabric.ports_of(id) {
            let facts = builder.port(key, known.number);
            *facts = known.facts.clone();
            if let Some((lid, lmc)) = ports.get(&port) {
                (facts.lid, facts.lmc) = (Some(*lid), *lmc);
            }
        }
        if let Some((lid, lmc)) = switches.get(&id) {
            let facts = builder.port(key, PortNum::MANAGEMENT);
            (facts.lid, facts.lmc) = (Some(*lid), *lmc);
        }
        keys.push(key);
    }
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, number)| (keys[node.index()], number));
        // The cables come from a fabric, where each port has one peer, so they cannot contradict.
        let _ = builder.connect(a, b);
    }
    builder.finish()
}

#[cfg(test)]
mod tests;
