//! The name of a node: the operator's node-name-map, then its description, then its GUID.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::device_index::{DeviceIndex, host_word, node_with_guid, parse_guid};
use super::label_index::{LabelIndex, SheetProblem};
use super::port_labels::{GUESS_SIGN, NodePlace, PortLabel, PortLabels};
use super::{Fabric, Guid, HostRules, NamedHost, Node, NodeId, NodeKind, PortId};

/// The names that the operator gives to nodes, by GUID, as in a node-name-map file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    /// The names.
    pub by_guid: BTreeMap<Guid, String>,
    /// The rules that read host names from adapter names.
    pub hosts: HostRules,
    /// The labels of ports and the places of nodes.
    pub labels: PortLabels,
}

/// The names in use for the nodes of one fabric: the operator's, and else the node descriptions.
#[derive(Clone, Debug)]
pub struct Names {
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, Vec<NodeId>>,
    alike_switches: bool,
    hosts: HostRules,
    labels: LabelIndex,
}

impl Names {
    /// Makes the names of a fabric.
    pub fn new(fabric: &Fabric, map: &NameMap) -> Self {
        let names: Vec<Box<str>> = fabric.nodes().map(|(_, node)| name_of(node, map).into()).collect();
        let mut by_name: FxHashMap<Box<str>, Vec<NodeId>> = FxHashMap::default();
        for (at, name) in names.iter().enumerate() {
            by_name.entry(name.clone()).or_default().push(NodeId(at as u32));
        }
        let is_switch = |id: &&NodeId| fabric.node(**id).is_switch();
        let alike_switches = by_name.values().any(|bearers| bearers.iter().filter(is_switch).count() > 1);
        let labels = LabelIndex::default();
        let mut names = Self { names, by_name, alike_switches, hosts: map.hosts.clone(), labels };
        if map.labels.sheet.is_empty() {
            names.labels = LabelIndex::new(fabric, &map.labels, |_| Vec::new());
            return names;
        }
        let devices = DeviceIndex::new(fabric, &names);
        names.labels = LabelIndex::new(fabric, &map.labels, |device| devices.find(device));
        names
    }

    /// The label of a port.
    pub fn label(&self, port: PortId) -> Option<&PortLabel> {
        self.labels.labels.get(&port)
    }

    /// The place of a node.
    pub fn place(&self, node: NodeId) -> Option<&NodePlace> {
        self.labels.places.get(&node)
    }

    /// What is wrong with lines of the operator's sheet.
    pub fn sheet_problems(&self) -> &[SheetProblem] {
        &self.labels.problems
    }

    /// The ports of a node with a label. Guesses count only if no known label fits.
    pub fn ports_labelled(&self, fabric: &Fabric, node: NodeId, label: &str) -> Vec<PortId> {
        let label = label.trim().trim_end_matches(GUESS_SIGN);
        let fits = |guess: bool| {
            let of = move |id: &PortId| {
                let known = self.label(*id).filter(|known| known.is_guess() == guess);
                known.is_some_and(|known| known.text.eq_ignore_ascii_case(label))
            };
            fabric.ports_of(node).map(|(id, _)| id).filter(of).collect::<Vec<_>>()
        };
        let known = fits(false);
        if known.is_empty() { fits(true) } else { known }
    }

    /// The rules that read host names from adapter names.
    pub fn host_rules(&self) -> &HostRules {
        &self.hosts
    }

    /// Whether two switches have the same name.
    pub fn has_duplicate_switches(&self) -> bool {
        self.alike_switches
    }

    /// The name of a node.
    pub fn name(&self, id: NodeId) -> &str {
        &self.names[id.index()]
    }

    /// A text that names this node only: its name, or its GUID where several nodes have the same name.
    pub fn unique_name(&self, fabric: &Fabric, id: NodeId) -> String {
        match self.nodes_named(self.name(id)) {
            [_] if parse_guid(self.name(id)).is_none() => self.name(id).to_owned(),
            _ => fabric.node(id).guid().to_string(),
        }
    }

    /// The nodes with exactly this name, in the fabric's order.
    pub fn nodes_named(&self, name: &str) -> &[NodeId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The nodes that a text may mean: by GUID, by name, or by the first word of an adapter's name (`node7` for
    /// `node7 HCA-1`). Several where the text is ambiguous.
    pub fn find(&self, fabric: &Fabric, text: &str, kind: Option<NodeKind>) -> Vec<NodeId> {
        let wanted = |id: &NodeId| kind.is_none_or(|kind| fabric.node(*id).facts.kind == kind);
        // A GUID names its owner even where another node has it as its description: elements keep their meaning.
        if let Some(id) = parse_guid(text).and_then(|guid| node_with_guid(fabric, guid)).filter(wanted) {
            return vec![id];
        }
        let named: Vec<NodeId> = self.nodes_named(text.trim()).iter().copied().filter(wanted).collect();
        if !named.is_empty() {
            return named;
        }
        let by_host = |id: &NodeId| {
            let is = match self.hosts.host_of(self.name(*id)) {
                Some(host) => host == NamedHost::Host(text.trim().to_owned()),
                None => host_word(self.name(*id)) == Some(text.trim()),
            };
            fabric.node(*id).facts.kind != NodeKind::Switch && is
        };
        fabric.nodes().map(|(id, _)| id).filter(wanted).filter(by_host).collect()
    }

    /// Names that resemble a text, as hints for an error.
    pub fn similar_names(&self, text: &str) -> Vec<&str> {
        let wanted = text.trim().to_lowercase();
        let mut close: Vec<&str> = self
            .by_name
            .keys()
            .map(AsRef::as_ref)
            .filter(|name: &&str| {
                let name = name.to_lowercase();
                !wanted.is_empty() && (name.contains(&wanted) || wanted.contains(&name))
            })
            .collect();
        close.sort_unstable_by_key(|name| (name.len(), *name));
        close.truncate(3);
        match close.is_empty() {
            // `spine2` for `spine-2`.
            true => super::similar_words(&wanted, self.by_name.keys().map(AsRef::as_ref)),
            false => close,
        }
    }
}

fn name_of(node: &Node, map: &NameMap) -> String {
    if let Some(name) = map.by_guid.get(&node.guid()) {
        return name.clone();
    }
    match node.facts.description.trim() {
        "" => node.guid().to_string(),
        description => description.to_owned(),
    }
}
