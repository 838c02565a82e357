//! The labels of the ports and the places of the nodes of one fabric.

use rustc_hash::FxHashMap;

use super::port_labels::{LabelOrigin, NodePlace, PortLabel, PortLabels, SheetRow, guess_label};
use super::{Fabric, NodeId, PortId};

/// What is wrong with a line of a sheet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SheetProblem {
    /// The sheet.
    pub file: String,
    /// The line.
    pub line: u64,
    /// What is wrong.
    pub text: String,
}

/// Labels and places, by the ids of a fabric.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelIndex {
    pub(super) labels: FxHashMap<PortId, PortLabel>,
    pub(super) places: FxHashMap<NodeId, NodePlace>,
    pub(super) problems: Vec<SheetProblem>,
}

impl LabelIndex {
    /// Binds labels to a fabric: those by GUID, the lines of a sheet, and the guesses by the rules of models.
    /// `find_devices` gives the nodes that the name of a device may mean.
    pub(super) fn new(
        fabric: &Fabric,
        stated: &PortLabels,
        find_devices: impl Fn(&str) -> Vec<NodeId>,
    ) -> Self {
        let mut index = Self::default();
        for ((guid, number), label) in &stated.ports {
            let node = fabric.node_by_guid(*guid);
            if let Some(port) = node.and_then(|node| fabric.port_of(node, *number)) {
                index.labels.insert(port, label.clone());
            }
        }
        index.bind_sheet(fabric, &stated.sheet, find_devices);
        // A sheet comes before files, as with labels.
        for (guid, place) in &stated.places {
            if let Some(node) = fabric.node_by_guid(*guid) {
                index.places.entry(node).or_default().fill(place);
            }
        }
        for (id, port) in fabric.ports() {
            let guess = || guess_label(&fabric.node(port.node).facts, port.number);
            if let std::collections::hash_map::Entry::Vacant(free) = index.labels.entry(id)
                && let Some(text) = guess()
            {
                free.insert(PortLabel { text, origin: LabelOrigin::Rule });
            }
        }
        index
    }

    fn bind_sheet(&mut self, fabric: &Fabric, rows: &[SheetRow], find_devices: impl Fn(&str) -> Vec<NodeId>) {
        let mut found: FxHashMap<&str, Vec<NodeId>> = FxHashMap::default();
        for row in rows {
            let nodes = found.entry(&row.device).or_insert_with(|| find_devices(&row.device));
            let fault = match nodes.as_slice() {
                [node] => self.bind_row(fabric, row, *node).err(),
                [] => Some(format!("no node is called '{}'", row.device)),
                several => Some(format!("{} nodes are called '{}'", several.len(), row.device)),
            };
            self.problems.extend(fault.map(|text| {
                let (file, line) = (row.file.clone(), row.line);
                SheetProblem { file, line, text }
            }));
        }
    }

    fn bind_row(&mut self, fabric: &Fabric, row: &SheetRow, node: NodeId) -> Result<(), String> {
        if !row.place.is_empty() {
            self.places.entry(node).or_default().fill(&row.place);
        }
        let Some((number, text)) = row.port.zip(row.label.as_ref()) else { return Ok(()) };
        let port = fabric.port_of(node, number);
        let port = port.ok_or_else(|| format!("{} has no known port {number}", row.device))?;
        let label = PortLabel { text: text.clone(), origin: LabelOrigin::Sheet };
        match self.labels.insert(port, label) {
            Some(before) if before.origin == LabelOrigin::Sheet && before.text != *text => {
                let first = before.text.clone();
                self.labels.insert(port, before);
                Err(format!("port {number} of {} is '{first}' already; the first label counts", row.device))
            }
            _ => Ok(()),
        }
    }
}
