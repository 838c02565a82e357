//! Reads the tick of PortXmitWait, once for one port of each kind of device and speed.

use std::collections::BTreeMap;

use super::counters::{agents_of, counter_query};
use super::discovery_state::{DiscoveredNode, node_id};
use super::question::{Question, Reply};
use super::reader::{PhaseLog, PortReader};
use fabdeck_fabric::observe::{TickKind, Ticks};
use fabdeck_fabric::{Fabric, PortNum};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{PortSamplesControl, attribute};

/// Reads the ticks of unknown kinds. A kind without an answer is not asked again and stays unknown, which is no loss.
/// Ports with a subnet manager are not asked: for an attribute that the agent does not know, ibsim passes the query to
/// the subnet manager's program, and OpenSM crashes.
pub fn read_ticks(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    known: &Ticks,
    mute: impl Fn(usize) -> bool,
) -> Result<Ticks, SourceError> {
    let mut ticks = known.clone();
    let mut ports = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate().filter(|(at, node)| !node.memory.silent && !mute(*at)) {
        let new = fabric.ports_of(node_id(at)).any(|(id, port)| {
            let kind = TickKind::for_port(fabric, id).filter(|_| port.number != PortNum::MANAGEMENT);
            kind.is_some_and(|kind| !ticks.by_kind.contains_key(&kind) && !ports.contains_key(&kind))
        });
        if !new {
            continue;
        }
        // A port without a LID was noted when its counters were read.
        for port in agents_of(&mut PhaseLog::default(), fabric, at, node).into_iter().flatten() {
            let id = fabric.port_of(node_id(at), PortNum(port.number));
            let kind = id.and_then(|id| TickKind::for_port(fabric, id));
            let manager = node.manages.contains(&port.number);
            if let Some(kind) = kind.filter(|kind| !manager && !ticks.by_kind.contains_key(kind)) {
                ports.entry(kind).or_insert(port);
            }
        }
    }
    if ports.is_empty() {
        return Ok(ticks);
    }
    let mut phase = reader.open_phase::<TickKind>("ticks");
    let retries = phase.exchange.retries();
    for (kind, port) in &ports {
        let parcel = counter_query(port.lid, attribute::PORT_SAMPLES_CONTROL, port.number);
        phase.exchange.ask(Question { parcel, target: port.node as u32, retries, tag: *kind });
    }
    while let Some((kind, reply)) = phase.next()? {
        let tick = match &reply {
            Reply::Answer(mad) => Some(mad.performance_data::<PortSamplesControl>().tick),
            Reply::Refused(_) | Reply::Silence => None,
        };
        ticks.by_kind.insert(kind, tick);
    }
    phase.end();
    Ok(ticks)
}
