//! The port of a sample. Tools name it by node GUID, by port GUID or by LID.

use crate::observe::CounterSample;
use crate::{Fabric, Guid, Lid, NodeId, PortId};

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
