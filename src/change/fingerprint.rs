//! Which fabric a plan was made for, in enough detail to name the first thing that is different now.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fabric::{Fabric, Guid, NodeId, PortState, Tables};

/// Hashes by node and by table. Sixteen digits tell two states of one node apart; whoever forges a fabric has other
/// ways than to forge a hash.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Over everything below.
    pub whole: String,
    pub subnet_manager: Option<String>,
    /// Kind, ports, LIDs and cables of each node, by GUID.
    pub nodes: BTreeMap<String, String>,
    /// The forwarding table of each switch, by GUID.
    pub tables: BTreeMap<String, String>,
}

impl Fingerprint {
    pub fn of(fabric: &Fabric, tables: &Tables, manager: Option<Guid>) -> Self {
        let mut print = Self { subnet_manager: manager.map(|guid| guid.to_string()), ..Self::default() };
        for (id, node) in fabric.nodes() {
            // A switch and an adapter in one box may share a GUID.
            let key = format!("{} {}", node.facts.kind.word(), node.guid());
            print.nodes.insert(key, node_hash(fabric, id));
        }
        for (id, node) in fabric.switches() {
            if let Some(lft) = tables.lft(id) {
                print.tables.insert(node.guid().to_string(), digits(&blake3::hash(lft.bytes())));
            }
        }
        print.whole = print.hash_of_all();
        print
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
        hasher.finalize().to_hex().to_string()
    }

    /// Whether it says of itself what it holds: a file that was edited by hand does not.
    pub fn is_sound(&self) -> bool {
        self.whole == self.hash_of_all()
    }

    /// The first thing that is different in `now`, in words.
    pub fn first_difference(&self, now: &Self) -> Option<String> {
        let by_key = |kind: &str, before: &BTreeMap<String, String>, after: &BTreeMap<String, String>| {
            let gone = before
                .keys()
                .find(|key| !after.contains_key(*key))
                .map(|key| format!("{kind} {key} is gone"));
            let new = || {
                after.keys().find(|key| !before.contains_key(*key)).map(|key| format!("{kind} {key} is new"))
            };
            let changed = || {
                let changed = before.iter().find(|(key, hash)| after.get(*key) != Some(hash));
                changed.map(|(key, _)| format!("{kind} {key} has changed"))
            };
            gone.or_else(new).or_else(changed)
        };
        by_key("the node", &self.nodes, &now.nodes)
            .or_else(|| by_key("the forwarding table of", &self.tables, &now.tables))
            .or_else(|| {
                let word = |manager: &Option<String>| manager.clone().unwrap_or_else(|| "nobody".to_owned());
                let (before, after) = (word(&self.subnet_manager), word(&now.subnet_manager));
                (before != after).then(|| format!("the subnet manager was {before} and is {after}"))
            })
    }
}

fn digits(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}

/// What of a node decides over routes: where it is, what is cabled and up, and the LIDs it is reached by.
fn node_hash(fabric: &Fabric, id: NodeId) -> String {
    let mut hasher = blake3::Hasher::new();
    let facts = &fabric.node(id).facts;
    hasher.update(facts.kind.word().as_bytes());
    hasher.update(&[facts.port_count]);
    for (port_id, port) in fabric.ports_of(id) {
        if let Some(lid) = port.facts.lid {
            hasher.update(&[port.number.value(), 1, port.facts.lmc.value()]);
            hasher.update(&lid.value().to_le_bytes());
        }
        let Some(peer) = fabric.peer(port_id) else { continue };
        let far = fabric.port(peer);
        let down = [port, far].iter().any(|end| end.facts.state == Some(PortState::Down));
        hasher.update(&[port.number.value(), if down { 3 } else { 2 }, far.number.value()]);
        hasher.update(&fabric.node(far.node).guid().0.to_le_bytes());
    }
    digits(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Lft, Lid, PortNum};
    use crate::generate::{Spec, generate};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
    }

    #[test]
    fn the_first_difference_is_named() {
        let plain = fabric("kary,k=2,n=2");
        let mut tables = Tables::default();
        tables.entry(NodeId(0)).lft = Some(Lft::of(vec![255, 1, 2]));
        let before = Fingerprint::of(&plain, &tables, Some(Guid(7)));
        assert!(before.is_sound());
        assert_eq!(before.first_difference(&Fingerprint::of(&plain, &tables, Some(Guid(7)))), None);
        let other = before.first_difference(&Fingerprint::of(&plain, &tables, Some(Guid(8)))).unwrap();
        assert!(other.contains("manager was 0x0000000000000007 and is 0x0000000000000008"), "{other}");
        let broken = fabric("kary,k=2,n=2,faults=1");
        let other = before.first_difference(&Fingerprint::of(&broken, &tables, Some(Guid(7)))).unwrap();
        assert!(other.starts_with("the node switch 0x") && other.ends_with("has changed"), "{other}");
        tables.entry(NodeId(0)).lft.get_or_insert_default().set(Lid::new(2).unwrap(), Some(PortNum(3)));
        let other = before.first_difference(&Fingerprint::of(&plain, &tables, Some(Guid(7)))).unwrap();
        assert!(other.starts_with("the forwarding table of 0x"), "{other}");
        let edited = Fingerprint { subnet_manager: None, ..before };
        assert!(!edited.is_sound());
    }
}
