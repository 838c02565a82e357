//! Which port of a fabric an end of a planned cable means.

use fabdeck_fabric::{DeviceIndex, Fabric, Names, NodeId, NodeKind, PortNum, guess_label};
use fabdeck_files::cabling::{PlannedEnd, PortText};

/// What an end of a plan means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PortMatch {
    Known(NodeId, u8),
    /// No node has the name: the device is not in the fabric.
    NoDevice,
    /// The text fits no single port, and why.
    Unclear(String),
}

/// Finds the ports that a plan means. One index serves a whole plan.
pub(super) struct PlanPorts<'f> {
    fabric: &'f Fabric,
    names: &'f Names,
    devices: DeviceIndex<'f>,
}

impl<'f> PlanPorts<'f> {
    pub(super) fn new(fabric: &'f Fabric, names: &'f Names) -> Self {
        Self { fabric, names, devices: DeviceIndex::new(fabric, names) }
    }

    /// By GUID where the plan has one, else by name; of a host with several adapters by the port.
    pub(super) fn find(&self, end: &PlannedEnd) -> PortMatch {
        let by_guid = end.guid.and_then(|guid| {
            let kinds = end.kind.map_or(NodeKind::ALL.to_vec(), |kind| vec![kind]);
            let by_node = kinds.into_iter().find_map(|kind| self.fabric.node_of(kind, guid));
            by_node.or_else(|| self.fabric.port_by_guid(guid).map(|port| self.fabric.port(port).node))
        });
        // A node that was replaced has another GUID and the same name.
        let mut nodes = match by_guid {
            Some(node) => vec![node],
            None if end.device.is_empty() => Vec::new(),
            None => self.named_devices(end),
        };
        if let Some(kind) = end.kind {
            nodes.retain(|node| self.fabric.node(*node).facts.kind == kind);
        }
        nodes.retain(|node| !self.fabric.node(*node).facts.is_aggregation());
        if nodes.is_empty() {
            return PortMatch::NoDevice;
        }
        match self.part(&nodes, &end.port) {
            Ok((node, port)) => self.port_of(node, port, end),
            Err(why) => PortMatch::Unclear(format!("{}: {why}", end.name())),
        }
    }

    /// The nodes of a name. Where no node has it, the device may be a host whose part the port names: `host4` and
    /// `mlx5_0` are the node `host4 mlx5_0`.
    fn named_devices(&self, end: &PlannedEnd) -> Vec<NodeId> {
        let nodes = self.devices.find(&end.device);
        match (&end.port, nodes.is_empty()) {
            (PortText::Part(part, _), true) => self.devices.find(&format!("{} {part}", end.device)),
            _ => nodes,
        }
    }

    /// The node of several that the port means, and the port that is left to find.
    fn part(&self, nodes: &[NodeId], port: &PortText) -> Result<(NodeId, PortText), String> {
        let of_part = |words: &[String]| {
            let fits = |node: &&NodeId| {
                let name = self.fabric.node(**node).facts.description.to_lowercase();
                let own: Vec<&str> = name.split([' ', '/', ':', ';']).collect();
                words.iter().all(|word| own.contains(&word.as_str()))
            };
            nodes.iter().filter(fits).copied().collect::<Vec<_>>()
        };
        match (nodes, port) {
            (nodes, PortText::Part(part, number)) => {
                let words: Vec<String> = part.to_lowercase().split('/').map(str::to_owned).collect();
                match (of_part(&words).as_slice(), nodes) {
                    ([node], _) => Ok((*node, PortText::Number(*number))),
                    // A host with one adapter, whatever its name says of it.
                    ([], [node]) if !self.fabric.node(*node).is_switch() => {
                        Ok((*node, PortText::Number(*number)))
                    }
                    ([], [node]) => Ok((*node, PortText::Label(port.to_string()))),
                    (found, _) => Err(format!("{} of its nodes have the part '{part}'", found.len())),
                }
            }
            ([node], PortText::Board { .. }) => {
                Err(format!("{} is one switch, without boards", self.names.name(*node)))
            }
            (nodes, PortText::Board { board, chip, port }) => {
                let chips = [format!("l{board}"), format!("l{board:02}")]
                    .map(|board| of_part(&[board, format!("u{chip}")]));
                let [plain, padded] = chips;
                let chips = if plain.is_empty() { padded } else { plain };
                match chips.as_slice() {
                    [node] => Ok((*node, PortText::Number(*port))),
                    found => Err(format!(
                        "{} of its {} nodes are chip {chip} of board {board}",
                        found.len(),
                        nodes.len()
                    )),
                }
            }
            ([node], port) => Ok((*node, port.clone())),
            (nodes, PortText::Number(number)) => self.adapter_by_order(nodes, *number),
            (nodes, port) => {
                let by_label = of_part(&[port.to_string().to_lowercase()]);
                match by_label.as_slice() {
                    [node] => Ok((*node, PortText::Number(1))),
                    _ => Err(format!("{} nodes have this name; the plan needs a GUID", nodes.len())),
                }
            }
        }
    }

    /// Port 2 of a host with several adapters of one port each is its second adapter, in the order of their numbers.
    fn adapter_by_order(&self, nodes: &[NodeId], number: u8) -> Result<(NodeId, PortText), String> {
        let ordered = |node: &NodeId| {
            let name = self.fabric.node(*node).facts.description.clone();
            let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
            let order: u32 = name[name.len() - digits..].parse().ok()?;
            let facts = &self.fabric.node(*node).facts;
            (facts.kind == NodeKind::ChannelAdapter && facts.port_count == 1).then_some((order, *node))
        };
        let mut own: Vec<(u32, NodeId)> = nodes.iter().filter_map(ordered).collect();
        own.sort_unstable();
        own.dedup_by_key(|(order, _)| *order);
        let several =
            || format!("{} nodes have this name; the plan needs a GUID, or the adapter", nodes.len());
        let chosen = own.get(usize::from(number) - 1).filter(|_| own.len() == nodes.len());
        chosen.map(|(_, node)| (*node, PortText::Number(1))).ok_or_else(several)
    }

    fn port_of(&self, node: NodeId, port: PortText, end: &PlannedEnd) -> PortMatch {
        let facts = &self.fabric.node(node).facts;
        let name = || end.name();
        match port {
            PortText::Number(number) if facts.port_count > 0 && number > facts.port_count => {
                PortMatch::Unclear(format!("{}: it has {} ports", name(), facts.port_count))
            }
            PortText::Number(number) => PortMatch::Known(node, number),
            other => match self.labelled(node, &other.to_string()).as_slice() {
                [number] => PortMatch::Known(node, *number),
                [] => PortMatch::Unclear(format!("{}: no port of it has this label", name())),
                several => {
                    PortMatch::Unclear(format!("{}: {} ports of it have this label", name(), several.len()))
                }
            },
        }
    }

    /// The ports with a label; those without a cable, which a dump leaves out, by the rule of the model.
    fn labelled(&self, node: NodeId, label: &str) -> Vec<u8> {
        let known = self.names.ports_labelled(self.fabric, node, label);
        if !known.is_empty() {
            return known.into_iter().map(|port| self.fabric.port(port).number.value()).collect();
        }
        let facts = &self.fabric.node(node).facts;
        let guessed = |number: &u8| guess_label(facts, PortNum(*number)).is_some_and(|own| own == label);
        (1..=facts.port_count).filter(guessed).collect()
    }
}
