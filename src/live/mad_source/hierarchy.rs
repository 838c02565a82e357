//! Reads the labels of ports (HierarchyInfo) from devices that say that they have the attribute: one question for each
//! cabled port and session. One port of each kind of device comes first; a kind that refuses or stays silent is not asked
//! further.

use std::collections::BTreeMap;

use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::kind_refusals::DeviceKind;
use super::question::{Question, Reply};
use super::reader::{PhaseLog, PortReader};
use super::wire_topic::of_kind;
use fabdeck_fabric::observe::{DeviceAnswer, PortHierarchies, PortHierarchy, device_labels};
use fabdeck_fabric::{Fabric, Guid, PortNum};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{HierarchyInfo, PortCapabilities, Smp};

/// An unanswered query is sent once more at most, whatever the policy says.
const RETRIES: u32 = 1;

type HierarchyAnswer = DeviceAnswer<PortHierarchy>;

/// A node and the number of one of its ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AskedPort {
    node: usize,
    port: u8,
}

/// The answers of a session.
#[derive(Clone, Debug, Default)]
pub struct HierarchyMemory {
    /// What the first device of a kind said for its kind.
    kinds: BTreeMap<DeviceKind, (DeviceAnswer<()>, Guid)>,
    /// The answers, with the number of ports of the node: a switch has another one when its ports are split.
    answers: BTreeMap<(Guid, PortNum), (u8, HierarchyAnswer)>,
}

/// Asks the ports that have no answer so far. Returns the answers of all ports of the fabric.
pub fn read_hierarchies(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    memory: &mut HierarchyMemory,
) -> Result<PortHierarchies, SourceError> {
    let asked = memory.ports_to_ask(fabric, nodes);
    if !asked.is_empty() && !reader.is_ibsim() {
        memory.ask(reader, fabric, nodes, asked)?;
    }
    let known = memory.answers.iter().filter(|((guid, _), _)| fabric.node_by_guid(*guid).is_some());
    let stated = PortHierarchies { ports: known.map(|(at, (_, answer))| (*at, *answer)).collect() };
    note_doubted(&mut reader.log, fabric, &stated);
    Ok(stated)
}

fn kind_of(fabric: &Fabric, node: usize) -> DeviceKind {
    let facts = &fabric.node(node_id(node)).facts;
    (facts.vendor_id.unwrap_or(0), facts.device_id.unwrap_or(0))
}

impl HierarchyMemory {
    fn ports_to_ask(&self, fabric: &Fabric, nodes: &[DiscoveredNode]) -> Vec<AskedPort> {
        let has_attribute = |node: &DiscoveredNode| {
            let capable =
                node.capabilities.is_some_and(|has| has.mask & PortCapabilities::HIERARCHY_INFO != 0);
            capable && !node.memory.silent && !node.memory.cut_off
        };
        let mut ports = Vec::new();
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| has_attribute(node)) {
            let cabled = fabric.ports_of(node_id(at)).filter(|(_, port)| port.peer.is_some());
            let open = cabled.map(|(_, port)| port.number).filter(|number| {
                let known = self.answers.get(&(node.guid, *number));
                known.is_none_or(|(count, _)| *count != node.port_count)
            });
            ports.extend(open.map(|number| AskedPort { node: at, port: number.value() }));
        }
        ports
    }

    fn ask(
        &mut self,
        reader: &mut PortReader<'_>,
        fabric: &Fabric,
        nodes: &[DiscoveredNode],
        asked: Vec<AskedPort>,
    ) -> Result<(), SourceError> {
        let mut phase = reader.open_phase::<AskedPort>("labels");
        let retries = phase.exchange.retries().min(RETRIES);
        let mut waiting: BTreeMap<DeviceKind, Vec<AskedPort>> = BTreeMap::new();
        for port in asked {
            let kind = kind_of(fabric, port.node);
            match (self.kinds.get(&kind), waiting.get_mut(&kind)) {
                (None, Some(rest)) => rest.push(port),
                (None, None) => {
                    waiting.insert(kind, Vec::new());
                    phase.exchange.ask(question(nodes, port, retries));
                }
                (Some((DeviceAnswer::Known(()), _)), _) => phase.exchange.ask(question(nodes, port, retries)),
                (Some(settled), _) => {
                    let settled = *settled;
                    self.store_settled(nodes, port, settled);
                }
            }
        }
        while let Some((port, reply)) = phase.next()? {
            let (answer, settles) = read_reply(&reply);
            self.store(nodes, port, answer);
            let kind = kind_of(fabric, port.node);
            let Some(rest) = waiting.remove(&kind) else { continue };
            let state = match answer {
                DeviceAnswer::Absent if settles => DeviceAnswer::Absent,
                DeviceAnswer::Silent if settles => DeviceAnswer::Silent,
                _ => DeviceAnswer::Known(()),
            };
            self.kinds.insert(kind, (state, nodes[port.node].guid));
            for port in rest {
                match state {
                    DeviceAnswer::Known(()) => phase.exchange.ask(question(nodes, port, retries)),
                    _ => self.store_settled(nodes, port, self.kinds[&kind]),
                }
            }
        }
        phase.end();
        Ok(())
    }

    fn store(&mut self, nodes: &[DiscoveredNode], port: AskedPort, answer: HierarchyAnswer) {
        let node = &nodes[port.node];
        self.answers.insert((node.guid, PortNum(port.port)), (node.port_count, answer));
    }

    /// Stores what the first device of a kind said as the answer of a port that is not asked.
    fn store_settled(
        &mut self,
        nodes: &[DiscoveredNode],
        port: AskedPort,
        (state, first): (DeviceAnswer<()>, Guid),
    ) {
        let answer = match (of_kind(state, first), state) {
            (DeviceAnswer::OfKind(outcome, device), _) if nodes[port.node].guid != first => {
                DeviceAnswer::OfKind(outcome, device)
            }
            (_, DeviceAnswer::Absent) => DeviceAnswer::Absent,
            _ => DeviceAnswer::Silent,
        };
        self.store(nodes, port, answer);
    }
}

fn question(nodes: &[DiscoveredNode], port: AskedPort, retries: u32) -> Question<AskedPort> {
    let node = &nodes[port.node];
    let modifier = HierarchyInfo::modifier(port.port, 0);
    let parcel = directed_get(HierarchyInfo::ATTRIBUTE, modifier, node.route_to(port.port), node.m_key.0);
    Question { parcel, target: port.node as u32, retries, tag: port }
}

/// The answer in a reply, and whether it holds for the kind of the device. A busy device, or one that does not accept the
/// port, says nothing about its kind.
fn read_reply(reply: &Reply) -> (HierarchyAnswer, bool) {
    match reply {
        Reply::Answer(mad) => {
            (DeviceAnswer::Known(Smp(mad.clone()).data::<HierarchyInfo>().hierarchy()), false)
        }
        Reply::Refused(status) if status.is_busy() => (DeviceAnswer::Silent, false),
        Reply::Refused(status) if status.is_unsupported() => (DeviceAnswer::Absent, true),
        Reply::Refused(status) if status.is_invalid_field() => (DeviceAnswer::Absent, false),
        Reply::Refused(_) => (DeviceAnswer::Silent, false),
        Reply::Silence => (DeviceAnswer::Silent, true),
    }
}

/// Notes the devices whose answers are not used.
fn note_doubted(log: &mut PhaseLog, fabric: &Fabric, stated: &PortHierarchies) {
    let (_, doubted) = device_labels(fabric, stated);
    let Some(first) = doubted.first() else { return };
    log.note("FN-572", || {
        format!(
            "what {} of the devices state about the labels of their ports (HierarchyInfo) contradicts itself or the \
             rule of their model, as at {first}: it is not used",
            doubted.len()
        )
    });
}
