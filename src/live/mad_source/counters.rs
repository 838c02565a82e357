//! Reads the raw counters of ports from their performance agents, by LID.

use super::discovery_state::{DiscoveredNode, node_id};
use super::question::{Question, Reply};
use super::reader::{OpenPhase, PhaseLog, PortReader};
use super::tables::to_silence;
use fabdeck_fabric::observe::{Counter, CounterKind, CounterSample, CounterValues};
use fabdeck_fabric::{Fabric, Lid, NodeKind, PortNum};
use fabdeck_mad::access::{AddressedMad, MadAddress, SourceError};
use fabdeck_mad::{ClassPortInfo, CounterBlock, Mad, Method, PortCounters, PortCountersExtended, attribute};

#[derive(Clone, Copy, Debug)]
enum CounterQuestion {
    /// The capabilities of the agent.
    Abilities,
    Narrow(ClassPortInfo),
    Wide(ClassPortInfo),
}

/// What was asked, and the ports that the answer is about: those of an agent, or one.
type CounterTag = (CounterQuestion, Vec<CountedPort>);

/// A port with counters, and the LID of its agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedPort {
    pub node: usize,
    pub number: u8,
    pub lid: Lid,
}

/// Reads one sample for each port that can be asked, in the order of the ports.
pub fn read_counters(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
) -> Result<Vec<CounterSample>, SourceError> {
    let mut phase = reader.open_phase::<CounterTag>("counters");
    let mut agents = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        agents.extend(agents_of(phase.log, fabric, at, node));
    }
    // Most agents have both blocks of counters.
    let expected = agents.iter().map(|ports| 1 + 2 * ports.len() as u64).sum();
    let retries = phase.exchange.retries();
    // The ports of an agent are asked as soon as it answers: the questions of all ports at once would take much memory.
    let first_questions = agents.into_iter().map(move |ports| {
        question(attribute::CLASS_PORT_INFO, 0, (CounterQuestion::Abilities, ports), retries)
    });
    phase.exchange.feed(expected, first_questions);
    let mut samples = std::collections::BTreeMap::<(usize, u8), CounterSample>::new();
    while let Some(((asked, ports), reply)) = phase.next()? {
        let node = &nodes[ports[0].node];
        let mad = match reply {
            Reply::Answer(mad) => mad,
            failed => {
                phase.log.silent.push(to_silence(node, question_text(asked, &ports), &failed));
                continue;
            }
        };
        match asked {
            CounterQuestion::Abilities => {
                ask_ports(&mut phase, *mad.performance_data::<ClassPortInfo>(), &ports)
            }
            CounterQuestion::Narrow(abilities) => {
                let block = mad.performance_data::<PortCounters>();
                add_values(&mut samples, node, ports[0], block.values(), |counter| {
                    has_counter(&abilities, counter)
                });
            }
            CounterQuestion::Wide(abilities) => {
                let block = mad.performance_data::<PortCountersExtended>();
                add_values(&mut samples, node, ports[0], block.values(), |counter| {
                    has_counter(&abilities, counter)
                });
            }
        }
    }
    phase.end();
    Ok(samples.into_values().collect())
}

/// The ports of a node by their performance agent: the ports of a switch share one, each port of an adapter has its
/// own.
pub(crate) fn agents_of(
    told: &mut PhaseLog,
    fabric: &Fabric,
    at: usize,
    node: &DiscoveredNode,
) -> Vec<Vec<CountedPort>> {
    let ports = ports_of(fabric, at);
    if ports.is_empty() && fabric.ports_of(node_id(at)).any(|(_, port)| port.peer.is_some()) {
        let guid = node.guid;
        told.note_partial("FN-523", || {
            format!("{guid} has no LID, so its counters cannot be read; a subnet manager assigns LIDs")
        });
    }
    let agents: Vec<Vec<CountedPort>> = match node.kind {
        NodeKind::Switch => vec![ports],
        _ => ports.into_iter().map(|port| vec![port]).collect(),
    };
    agents.into_iter().filter(|ports| !ports.is_empty()).collect()
}

/// The ports of a node, and the LID to ask them by. Of a switch, ports with the link down or a silent peer count too,
/// since their counters show the cause.
fn ports_of(fabric: &Fabric, at: usize) -> Vec<CountedPort> {
    let switch = fabric.node(node_id(at)).is_switch();
    let cabled = fabric
        .ports_of(node_id(at))
        .filter(|(_, port)| port.peer.is_some() || switch && port.number != PortNum::MANAGEMENT);
    let port = |(id, port): (_, &fabdeck_fabric::Port)| {
        let (lid, _) = fabric.address_of(id)?;
        Some(CountedPort { node: at, number: port.number.value(), lid })
    };
    cabled.filter_map(port).collect()
}

fn ask_ports(phase: &mut OpenPhase<'_, '_, CounterTag>, abilities: ClassPortInfo, ports: &[CountedPort]) {
    let retries = phase.exchange.retries();
    for port in ports {
        let narrow = (CounterQuestion::Narrow(abilities), vec![*port]);
        phase.exchange.ask(question(attribute::PORT_COUNTERS, port.number, narrow, retries));
        if abilities.has_extended_counters() {
            let wide = (CounterQuestion::Wide(abilities), vec![*port]);
            phase.exchange.ask(question(attribute::PORT_COUNTERS_EXTENDED, port.number, wide, retries));
        }
    }
}

fn question(attribute: u16, port: u8, tag: CounterTag, retries: u32) -> Question<CounterTag> {
    let CountedPort { node, lid, .. } = tag.1[0];
    Question { parcel: counter_query(lid, attribute, port), target: node as u32, retries, tag }
}

/// A Get to the agent at a LID. fabdeck never sets counters, so it never clears them.
pub(crate) fn counter_query(lid: Lid, attribute: u16, port: u8) -> AddressedMad {
    let mad = Mad::performance(Method::GET, attribute, port);
    let address = MadAddress::for_class(lid, mad.class());
    AddressedMad { mad, address }
}

fn question_text(asked: CounterQuestion, ports: &[CountedPort]) -> String {
    match asked {
        CounterQuestion::Abilities => format!("ClassPortInfo of the counters at LID {}", ports[0].lid),
        CounterQuestion::Narrow(_) => format!("PortCounters {}", ports[0].number),
        CounterQuestion::Wide(_) => format!("PortCountersExtended {}", ports[0].number),
    }
}

/// Whether an agent has a counter. Some fields were added later, and zero in a field that a device does not fill is no
/// count.
pub(crate) fn has_counter(abilities: &ClassPortInfo, counter: &Counter) -> bool {
    match (counter, counter.kind()) {
        (Counter::PortXmitWait, _) => abilities.has_xmit_wait(),
        (Counter::QP1Dropped, _) => abilities.has_qp1_dropped(),
        (
            Counter::PortUnicastXmitPkts
            | Counter::PortUnicastRcvPkts
            | Counter::PortMulticastXmitPkts
            | Counter::PortMulticastRcvPkts,
            _,
        ) => abilities.has_cast_counters(),
        (wide, Some(CounterKind::Error | CounterKind::Wait)) if wide.bits() == Some(64) => {
            abilities.has_additional_extended()
        }
        _ => true,
    }
}

fn add_values(
    samples: &mut std::collections::BTreeMap<(usize, u8), CounterSample>,
    node: &DiscoveredNode,
    port: CountedPort,
    values: Vec<(Counter, u64)>,
    wanted: impl Fn(&Counter) -> bool,
) {
    let sample = samples.entry((port.node, port.number)).or_insert_with(|| empty_sample(node, port));
    for (counter, value) in values.into_iter().filter(|(counter, _)| wanted(counter)) {
        sample.values.insert(counter, Some(value));
    }
    sample.values.shrink_to_fit();
}

/// The sample of a port without an answer so far.
pub(crate) fn empty_sample(node: &DiscoveredNode, port: CountedPort) -> CounterSample {
    CounterSample {
        node: Some(node.guid),
        lid: Some(port.lid.value()),
        port: Some(PortNum(port.number)),
        values: CounterValues::new(),
    }
}
