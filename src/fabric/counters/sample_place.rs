//! The port of a sample. Tools name it by node GUID, by port GUID or by LID.

use crate::observe::CounterSample;
use crate::{Fabric, Guid, Lid, NodeId, Port, PortId};

/// The node of a sample; `None` when the fabric does not have it.
pub fn sample_node(fabric: &Fabric, sample: &CounterSample) -> Option<NodeId> {
    let by_guid = |guid: Guid| {
        fabric.node_by_guid(guid).or_else(|| fabric.port_by_guid(guid).map(|port| fabric.port(port).node))
    };
    let by_lid = |lid: u16| fabric.port_by_lid(Lid::new(lid.into())?).map(|port| fabric.port(port).node);
    sample.node.and_then(by_guid).or_else(|| sample.lid.and_then(by_lid))
}

/// The port of a sample; `None` when the fabric does not have it, and for a sample of all ports of a node together.
pub fn sample_port(fabric: &Fabric, sample: &CounterSample) -> Option<PortId> {
    fabric.port_of(sample_node(fabric, sample)?, sample.port?)
}

/// The first sample of a port. A sweep has its samples in the order of the ports, so it is searched; samples of files may
/// have any order, and are read through.
pub fn find_sample<'s>(
    fabric: &Fabric,
    samples: &'s [CounterSample],
    port: PortId,
) -> Option<&'s CounterSample> {
    let is_wanted = |sample: &&CounterSample| sample_port(fabric, sample) == Some(port);
    let at = samples.partition_point(|sample| sample_port(fabric, sample).is_some_and(|other| other < port));
    if let Some(found) = samples.get(at).filter(is_wanted) {
        return Some(found);
    }
    let Port { node, number, facts, .. } = fabric.port(port);
    let guids = [Some(fabric.node(*node).guid()), facts.guid];
    // Most samples are ruled out by their own port and GUID, without a search in the fabric.
    let may_be = |sample: &&CounterSample| {
        sample.port == Some(*number) && (sample.node.is_none() || guids.contains(&sample.node))
    };
    samples.iter().filter(may_be).find(is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::FabricBuilder;
    use crate::{NodeFacts, NodeKind, PortNum};

    #[test]
    fn a_sample_is_found_in_any_order() {
        let mut builder = FabricBuilder::new();
        for node in 1..=5 {
            let key = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(node), 4, "s")).unwrap();
            for port in 1..=4 {
                builder.port(key, PortNum(port));
            }
        }
        let fabric = builder.finish();
        let sample = |(_, port): (PortId, &Port)| CounterSample {
            node: Some(fabric.node(port.node).guid()),
            port: Some(port.number),
            ..CounterSample::default()
        };
        let mut samples: Vec<CounterSample> = fabric.ports().map(sample).collect();
        // One port is silent, one has two samples, and one sample has an unknown node.
        samples.remove(7);
        samples.insert(3, samples[3].clone());
        samples[12].node = Some(Guid(99));
        for turned in 0..samples.len() {
            samples.rotate_left(usize::from(turned > 0));
            for (port, _) in fabric.ports() {
                let of_port = |sample: &&CounterSample| sample_port(&fabric, sample) == Some(port);
                let found = find_sample(&fabric, &samples, port);
                assert_eq!(found.is_some(), samples.iter().any(|sample| of_port(&sample)), "{port:?}");
                assert!(found.is_none_or(|sample| of_port(&sample)), "{port:?}");
            }
        }
    }
}
