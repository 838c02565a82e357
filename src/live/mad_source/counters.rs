//! Reads the raw counters of ports from their performance agents, by LID.

use super::found::{FoundNode, node_id};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, Reader, Told};
use super::tables::silence;
use fabdeck_fabric::observe::{Counter, CounterKind, CounterSample, CounterValues};
use fabdeck_fabric::{Fabric, Lid, NodeKind, PortNum};
use fabdeck_mad::access::{Address, Parcel, SourceError};
use fabdeck_mad::{ClassPortInfo, CounterBlock, Mad, Method, PortCounters, PortCountersExtended, attribute};

#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The capabilities of the agent.
    Abilities,
    Narrow(ClassPortInfo),
    Wide(ClassPortInfo),
}

/// A port with counters, and the LID of its agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub node: usize,
    pub number: u8,
    pub lid: Lid,
}

/// Reads one sample for each port that can be asked, in the order of the ports.
pub fn read_counters(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    nodes: &[FoundNode],
) -> Result<Vec<CounterSample>, SourceError> {
    let mut phase = reader.phase::<(Asked, Vec<Port>)>("counters");
    for (at, node) in nodes.iter().enumerate() {
        let agents = agents_of(phase.told, fabric, at, node);
        for ports in agents {
            let lid = ports[0].lid;
            ask(&mut phase, at, lid, attribute::CLASS_PORT_INFO, 0, (Asked::Abilities, ports));
        }
    }
    let mut samples = std::collections::BTreeMap::<(usize, u8), CounterSample>::new();
    while let Some(((asked, ports), reply)) = phase.next()? {
        let node = &nodes[ports[0].node];
        let mad = match reply {
            Reply::Answer(mad) => mad,
            failed => {
                phase.told.silent.push(silence(node, words(asked, &ports), &failed));
                continue;
            }
        };
        match asked {
            Asked::Abilities => ask_ports(&mut phase, *mad.performance_data::<ClassPortInfo>(), &ports),
            Asked::Narrow(abilities) => {
                let block = mad.performance_data::<PortCounters>();
                take(&mut samples, node, ports[0], block.values(), |counter| has(&abilities, counter));
            }
            Asked::Wide(abilities) => {
                let block = mad.performance_data::<PortCountersExtended>();
                take(&mut samples, node, ports[0], block.values(), |counter| has(&abilities, counter));
            }
        }
    }
    phase.end();
    Ok(samples.into_values().collect())
}

/// The ports of a node by their performance agent: the ports of a switch share one, each port of an adapter has its
/// own.
pub(super) fn agents_of(told: &mut Told, fabric: &Fabric, at: usize, node: &FoundNode) -> Vec<Vec<Port>> {
    let ports = ports_of(fabric, at);
    if ports.is_empty() && fabric.ports_of(node_id(at)).any(|(_, port)| port.peer.is_some()) {
        let guid = node.guid;
        told.note_partial("FN-523", || {
            format!("{guid} has no LID, so its counters cannot be asked for; a subnet manager gives LIDs")
        });
    }
    let agents: Vec<Vec<Port>> = match node.kind {
        NodeKind::Switch => vec![ports],
        _ => ports.into_iter().map(|port| vec![port]).collect(),
    };
    agents.into_iter().filter(|ports| !ports.is_empty()).collect()
}

/// The ports of a node, and the LID to ask them by. Of a switch, ports with the link down or a silent peer count too,
/// since their counters show the cause.
fn ports_of(fabric: &Fabric, at: usize) -> Vec<Port> {
    let switch = fabric.node(node_id(at)).is_switch();
    let cabled = fabric
        .ports_of(node_id(at))
        .filter(|(_, port)| port.peer.is_some() || switch && port.number != PortNum::MANAGEMENT);
    let port = |(id, port): (_, &fabdeck_fabric::Port)| {
        let (lid, _) = fabric.address_of(id)?;
        Some(Port { node: at, number: port.number.value(), lid })
    };
    cabled.filter_map(port).collect()
}

fn ask_ports(phase: &mut OpenPhase<'_, '_, (Asked, Vec<Port>)>, abilities: ClassPortInfo, ports: &[Port]) {
    for port in ports {
        let (node, lid, number) = (port.node, port.lid, port.number);
        ask(phase, node, lid, attribute::PORT_COUNTERS, number, (Asked::Narrow(abilities), vec![*port]));
        if abilities.extended_counters() {
            let tag = (Asked::Wide(abilities), vec![*port]);
            ask(phase, node, lid, attribute::PORT_COUNTERS_EXTENDED, number, tag);
        }
    }
}

fn ask(
    phase: &mut OpenPhase<'_, '_, (Asked, Vec<Port>)>,
    node: usize,
    lid: Lid,
    attribute: u16,
    port: u8,
    tag: (Asked, Vec<Port>),
) {
    let retries = phase.exchange.retries();
    phase.exchange.ask(Question { parcel: get(lid, attribute, port), target: node as u32, retries, tag });
}

/// A Get to the agent at a LID. fabdeck never sets counters, so it never clears them.
pub(super) fn get(lid: Lid, attribute: u16, port: u8) -> Parcel {
    let mad = Mad::performance(Method::GET, attribute, port);
    let address = Address::of(lid, mad.class());
    Parcel { mad, address }
}

fn words(asked: Asked, ports: &[Port]) -> String {
    match asked {
        Asked::Abilities => format!("ClassPortInfo of the counters at LID {}", ports[0].lid),
        Asked::Narrow(_) => format!("PortCounters {}", ports[0].number),
        Asked::Wide(_) => format!("PortCountersExtended {}", ports[0].number),
    }
}

/// Whether an agent has a counter. Some fields were added later, and zero in a field that a device does not fill is no
/// count.
pub(super) fn has(abilities: &ClassPortInfo, counter: &Counter) -> bool {
    match (counter, counter.kind()) {
        (Counter::PortXmitWait, _) => abilities.xmit_wait(),
        (Counter::QP1Dropped, _) => abilities.qp1_dropped(),
        (
            Counter::PortUnicastXmitPkts
            | Counter::PortUnicastRcvPkts
            | Counter::PortMulticastXmitPkts
            | Counter::PortMulticastRcvPkts,
            _,
        ) => abilities.counts_by_cast(),
        (wide, Some(CounterKind::Error | CounterKind::Wait)) if wide.bits() == Some(64) => {
            abilities.additional_extended()
        }
        _ => true,
    }
}

fn take(
    samples: &mut std::collections::BTreeMap<(usize, u8), CounterSample>,
    node: &FoundNode,
    port: Port,
    values: Vec<(Counter, u64)>,
    wanted: impl Fn(&Counter) -> bool,
) {
    let sample = samples.entry((port.node, port.number)).or_insert_with(|| blank(node, port));
    for (counter, value) in values.into_iter().filter(|(counter, _)| wanted(counter)) {
        sample.values.insert(counter, Some(value));
    }
    sample.values.shrink();
}

/// The sample of a port without an answer so far.
pub(super) fn blank(node: &FoundNode, port: Port) -> CounterSample {
    CounterSample {
        node: Some(node.guid),
        lid: Some(port.lid.value()),
        port: Some(PortNum(port.number)),
        values: CounterValues::new(),
    }
}
