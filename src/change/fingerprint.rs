//! The fabric that a plan was made for, in enough detail to name the first difference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::surviving_fabric::SurvivingFabric;
use fabdeck_fabric::{Guid, Lft, NodeId, NodeKind, PortId, PortState, ServiceLevel, Tables};
use fabdeck_mad::access::DeviceId;

/// Hashes by node and by table. Sixteen hexadecimal digits distinguish the states of one node; they do not resist
/// forgery. Elements that were marked as failed are not covered, nor what depends on them alone: they may have been
/// removed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The hash over everything below.
    pub whole: String,
    pub subnet_manager: Option<String>,
    /// The hash of kind, ports, LIDs and cables of each node, by kind and GUID.
    pub nodes: BTreeMap<String, String>,
    /// The hash of each switch's forwarding table, by GUID.
    pub tables: BTreeMap<String, String>,
    /// The lane tables of each switch, by GUID; empty if the plan does not depend on lanes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lanes: BTreeMap<String, LaneFingerprint>,
    /// The lane tables of each adapter that the plan writes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapters: BTreeMap<String, LaneFingerprint>,
}

/// The hashes of a device's lane tables. A table that was unknown then does not count as a difference now.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaneFingerprint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sl2vl: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<String>,
    /// The operational lanes of the device's ports, and of the ports at the other ends of their cables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operational: Option<String>,
}

const TABLE: &str = "the forwarding table of ";
const SL2VL: &str = "the SL2VL table of ";
const ARBITRATION: &str = "the lane arbitration of ";

/// The first difference between two fingerprints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FabricChange {
    /// A part of a node, by kind and GUID, and what happened to it. The part is text such as `the forwarding table of
    /// `.
    Node {
        what: &'static str,
        node: String,
        became: &'static str,
    },
    Manager {
        before: String,
        now: String,
    },
}

impl FabricChange {
    /// Whether a forwarding table has changed, and nothing that comes before tables.
    pub fn is_table_change(&self) -> bool {
        matches!(self, Self::Node { what: TABLE, .. })
    }

    /// Whether a lane table has changed, and nothing that comes before these.
    pub fn is_lane_change(&self) -> bool {
        matches!(self, Self::Node { what: SL2VL | ARBITRATION, .. })
    }

    /// The difference as a sentence, with the names of nodes.
    pub fn words(&self, named: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Node { what, node, became } => format!("{what}{} {became}", named(node)),
            Self::Manager { before, now } => format!("the subnet manager was {before} and is {now}"),
        }
    }
}

impl Fingerprint {
    pub fn of(standing: &SurvivingFabric<'_>, tables: &Tables) -> Self {
        let fabric = standing.fabric;
        let manager = standing.manager.map(|guid| guid.to_string());
        let mut print = Self { subnet_manager: manager, ..Self::default() };
        for (id, node) in fabric.nodes().filter(|(id, _)| standing.contains(*id)) {
            print.nodes.insert(fabric.node_key(id), node_hash(standing, id));
            if let Some(lft) = tables.lft(id).filter(|_| node.is_switch()) {
                print.tables.insert(node.guid().to_string(), digits(&blake3::hash(lft.bytes())));
            }
        }
        print.whole = print.hash_of_all();
        print
    }

    /// Whether every table in the fingerprint is empty.
    pub fn is_without_tables(&self) -> bool {
        let empty = digits(&blake3::hash(Lft::new().bytes()));
        self.tables.values().all(|table| *table == empty)
    }

    /// Adds the lane tables of switches.
    pub fn with_lanes(mut self, standing: &SurvivingFabric<'_>, tables: &Tables) -> Self {
        let switches = standing.fabric.switches().filter(|(id, _)| standing.contains(*id));
        let prints =
            switches.map(|(id, node)| (node.guid().to_string(), lane_fingerprint(standing, tables, id)));
        self.lanes = prints.collect();
        self.whole = self.hash_of_all();
        self
    }

    /// Adds the lane tables of these adapters, by GUID.
    pub fn with_adapters<'g>(
        mut self,
        standing: &SurvivingFabric<'_>,
        tables: &Tables,
        guids: impl IntoIterator<Item = &'g str>,
    ) -> Self {
        for guid in guids {
            let node =
                Guid::from_hex(guid).ok().and_then(|guid| DeviceId::Adapter(guid).node(standing.fabric));
            if let Some(id) = node.filter(|id| standing.contains(*id)) {
                self.adapters.insert(guid.to_owned(), lane_fingerprint(standing, tables, id));
            }
        }
        self.whole = self.hash_of_all();
        self
    }

    /// Whether the fingerprint covers lane tables.
    pub fn has_lanes(&self) -> bool {
        !self.lanes.is_empty() || !self.adapters.is_empty()
    }

    fn hash_of_all(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(self.subnet_manager.as_deref().unwrap_or("none"));
        for (key, hash) in self.nodes.iter().chain(&self.tables) {
            add(key);
            add(hash);
        }
        for (key, print) in self.lanes.iter().chain(&self.adapters) {
            add(key);
            for hash in [&print.sl2vl, &print.arbitration, &print.operational] {
                add(hash.as_deref().unwrap_or("none"));
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The first difference in `now`.
    pub fn first_difference(&self, now: &Self) -> Option<FabricChange> {
        let word = |manager: &Option<String>| manager.clone().unwrap_or_else(|| "none".to_owned());
        let (before, after) = (word(&self.subnet_manager), word(&now.subnet_manager));
        let nodes = || {
            first_map_difference("the node ", &self.nodes, &now.nodes, ["is gone", "is new"], &str::to_owned)
        };
        let tables = || {
            let words = ["is unknown now", "was not known"];
            first_map_difference(TABLE, &self.tables, &now.tables, words, &switch_key)
        };
        let manager = || (before != after).then_some(FabricChange::Manager { before, now: after });
        nodes().or_else(tables).or_else(|| self.first_lane_difference(now)).or_else(manager)
    }

    /// The first forwarding table that is known in both fingerprints, and differs.
    pub fn table_changed(&self, now: &Self) -> Option<FabricChange> {
        let changed = |key: &&String| now.tables.get(*key).is_some_and(|hash| *hash != self.tables[*key]);
        let guid = self.tables.keys().find(changed)?;
        Some(FabricChange::Node { what: TABLE, node: switch_key(guid), became: "has changed" })
    }

    fn first_lane_difference(&self, now: &Self) -> Option<FabricChange> {
        let none = LaneFingerprint::default();
        let switches =
            self.lanes.iter().map(|(guid, before)| (switch_key(guid), before, now.lanes.get(guid)));
        let adapters = self.adapters.iter().map(|(guid, before)| {
            (format!("{} {guid}", NodeKind::ChannelAdapter.word()), before, now.adapters.get(guid))
        });
        switches.chain(adapters).find_map(|(node, before, after)| {
            let after = after.unwrap_or(&none);
            let parts = [
                (SL2VL, &before.sl2vl, &after.sl2vl),
                (ARBITRATION, &before.arbitration, &after.arbitration),
                ("the number of lanes at ports of ", &before.operational, &after.operational),
            ];
            let (what, _, after) = parts.into_iter().find(|(_, a, b)| a.is_some() && a != b)?;
            let became = if after.is_some() { "has changed" } else { "is unknown now" };
            Some(FabricChange::Node { what, node, became })
        })
    }
}

fn switch_key(guid: &str) -> String {
    format!("switch {guid}")
}

fn first_map_difference(
    what: &'static str,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    [gone, new]: [&'static str; 2],
    node: &dyn Fn(&str) -> String,
) -> Option<FabricChange> {
    let change = |key: &str, became| FabricChange::Node { what, node: node(key), became };
    let lost = before.keys().find(|key| !after.contains_key(*key)).map(|key| change(key, gone));
    let come = || after.keys().find(|key| !before.contains_key(*key)).map(|key| change(key, new));
    let changed = || {
        let changed = before.iter().find(|(key, hash)| after.get(*key) != Some(hash));
        changed.map(|(key, _)| change(key, "has changed"))
    };
    lost.or_else(come).or_else(changed)
}

fn digits(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}

/// The hash of what routes depend on in a node: its kind, the ports that are cabled and up, and its LIDs.
fn node_hash(standing: &SurvivingFabric<'_>, id: NodeId) -> String {
    let (fabric, mut hasher) = (standing.fabric, blake3::Hasher::new());
    let node = fabric.node(id);
    hasher.update(node.facts.kind.word().as_bytes());
    hasher.update(&[node.facts.port_count]);
    for (port_id, port) in fabric.ports_of(id) {
        let peer = standing.peer(port_id);
        // No path leads to a port without a cable, whatever its LID.
        let own = node.is_switch() && port.number.value() == 0;
        if let Some(lid) = port.facts.lid.filter(|_| own || peer.is_some()) {
            hasher.update(&[port.number.value(), 1, port.facts.lmc.value()]);
            hasher.update(&lid.value().to_le_bytes());
        }
        let Some(peer) = peer else { continue };
        let far = fabric.port(peer);
        let down = [port, far].iter().any(|end| end.facts.state == Some(PortState::Down));
        hasher.update(&[port.number.value(), if down { 3 } else { 2 }, far.number.value()]);
        hasher.update(&fabric.node(far.node).guid().0.to_le_bytes());
    }
    digits(&hasher.finalize())
}

fn lane_fingerprint(standing: &SurvivingFabric<'_>, tables: &Tables, id: NodeId) -> LaneFingerprint {
    let fabric = standing.fabric;
    let cabled: Vec<PortId> =
        fabric.ports_of(id).map(|(port, _)| port).filter(|port| standing.peer(*port).is_some()).collect();
    let works = |number| cabled.iter().any(|port| fabric.port(*port).number == number);
    let held = tables.nodes.get(&id);
    let mut sl2vl = blake3::Hasher::new();
    for ((from, to), row) in held.iter().flat_map(|held| &held.sl2vl) {
        if works(*to) && (from.value() == 0 || works(*from)) {
            sl2vl.update(&[from.value(), to.value()]);
            let levels = (0..16).filter_map(ServiceLevel::new);
            levels.for_each(|level| _ = sl2vl.update(&[row.lane(level).value()]));
        }
    }
    let mut arbitration = blake3::Hasher::new();
    for (port, table) in held.iter().flat_map(|held| &held.arbitration).filter(|(port, _)| works(**port)) {
        arbitration.update(&[port.value(), table.high_limit, table.high.len() as u8, table.low.len() as u8]);
        for entry in table.high.iter().chain(&table.low) {
            arbitration.update(&[entry.lane.value(), entry.weight]);
        }
    }
    let mut operational = blake3::Hasher::new();
    let mut told = false;
    for port in &cabled {
        let ends = [Some(*port), standing.peer(*port)].map(|end| fabric.port(end?).facts.operational_lanes);
        told |= ends.iter().any(Option::is_some);
        operational.update(&[fabric.port(*port).number.value()]);
        operational.update(&ends.map(|lanes| lanes.unwrap_or(0)));
    }
    let print = |told: bool, hasher: &blake3::Hasher| told.then(|| digits(&hasher.finalize()));
    LaneFingerprint {
        sl2vl: print(held.is_some_and(|held| !held.sl2vl.is_empty()), &sl2vl),
        arbitration: print(held.is_some_and(|held| !held.arbitration.is_empty()), &arbitration),
        operational: print(told, &operational),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric, Faults, Lane, Lft, Lid, PortNum, Sl2Vl};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn words(before: &Fingerprint, now: &Fingerprint) -> Option<String> {
        before.first_difference(now).map(|change| change.words(&|node| format!("<{node}>")))
    }

    #[test]
    fn the_first_difference_is_named() {
        let plain = fabric("kary,k=2,n=2");
        let none = Faults::new();
        let print = |fabric: &Fabric, tables: &Tables, manager| {
            Fingerprint::of(&SurvivingFabric::new(fabric, &none, Some(Guid(manager))), tables)
        };
        let mut tables = Tables::default();
        tables.node_mut(NodeId(0)).lft = Some(Lft::from_entries(vec![255, 1, 2]));
        let before = print(&plain, &tables, 7);
        assert_eq!(words(&before, &print(&plain, &tables, 7)), None);
        let other = words(&before, &print(&plain, &tables, 8)).unwrap();
        assert!(other.contains("manager was 0x0000000000000007 and is 0x0000000000000008"), "{other}");
        let broken = fabric("kary,k=2,n=2,faults=1");
        let other = words(&before, &print(&broken, &tables, 7)).unwrap();
        assert!(other.starts_with("the node <switch 0x") && other.ends_with("has changed"), "{other}");
        tables.node_mut(NodeId(0)).lft.get_or_insert_default().set(Lid::new(2).unwrap(), Some(PortNum(3)));
        let other = words(&before, &print(&plain, &tables, 7)).unwrap();
        assert!(other.starts_with("the forwarding table of <switch 0x"), "{other}");
    }

    /// The plan was made for a fabric without the failed elements, so it still holds when they are removed.
    #[test]
    fn what_failed_may_be_gone() {
        let whole = fabric("kary,k=3,n=3");
        let broken = fabric("kary,k=3,n=3,faults=2,seed=4");
        let missing = |port: &(PortId, &fabdeck_fabric::Port)| {
            let (id, port) = port;
            let there = broken.port_of(port.node, port.number);
            whole.port(*id).link.is_some() && there.is_none_or(|there| broken.port(there).link.is_none())
        };
        let mut faults = Faults::new();
        whole.ports().filter(missing).for_each(|(_, port)| {
            let id = port.link.unwrap();
            faults.mark(ElementId::Link(id));
        });
        assert_eq!(faults.len(), 2);
        let (none, unmarked) = (Tables::default(), Faults::new());
        let print = |fabric: &Fabric, faults: &Faults| {
            Fingerprint::of(&SurvivingFabric::new(fabric, faults, None), &none)
        };
        let made = print(&whole, &faults);
        assert_eq!(words(&made, &print(&broken, &unmarked)), None);
        assert!(words(&made, &print(&whole, &unmarked)).is_some());
        // A failed leaf excludes its hosts too.
        let leaf = whole.nodes().find(|(_, node)| !node.is_switch()).unwrap().0;
        let leaf = whole.ports_of(leaf).find_map(|(port, _)| whole.peer(port)).unwrap();
        faults.mark(ElementId::Node(whole.port(leaf).node));
        let made = print(&whole, &faults);
        assert_eq!(made.nodes.len(), whole.nodes().len() - 4);
    }

    #[test]
    fn lanes_that_changed_are_named() {
        let fabric = fabric("kary,k=2,n=2");
        let (none, mut tables) = (Faults::new(), Tables::default());
        let standing = SurvivingFabric::new(&fabric, &none, None);
        let print = |tables: &Tables| Fingerprint::of(&standing, tables).with_lanes(&standing, tables);
        let unknown = print(&tables);
        let to = fabric.ports_of(NodeId(1)).find(|(_, port)| port.link.is_some()).unwrap().1.number;
        tables.node_mut(NodeId(1)).sl2vl.insert((PortNum(0), to), Sl2Vl::default());
        tables.node_mut(NodeId(1)).arbitration.insert(to, Default::default());
        let before = print(&tables);
        assert_eq!((words(&unknown, &before), words(&before, &before)), (None, None));
        assert_ne!(unknown.whole, before.whole);
        let mut other = tables.clone();
        let row = other.node_mut(NodeId(1)).sl2vl.values_mut().next().unwrap();
        row.set(ServiceLevel::new(3).unwrap(), Lane::new(1).unwrap());
        let found = words(&before, &print(&other)).unwrap();
        assert!(found.starts_with("the SL2VL table of <switch") && found.ends_with("changed"), "{found}");
        let found = words(&before, &unknown).unwrap();
        assert!(found.ends_with("is unknown now"), "{found}");
        tables.node_mut(NodeId(1)).arbitration.values_mut().for_each(|table| table.high_limit = 9);
        assert!(words(&before, &print(&tables)).unwrap().starts_with("the lane arbitration of"));
    }
}
