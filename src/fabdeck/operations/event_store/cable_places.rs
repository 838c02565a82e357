//! Cables of a snapshot, by their ports and modules.

use super::stored_batch::LinkEnds;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::ledger::cable_history::CableSighting;
use crate::operations::watch::port_values::port_identity;
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{LinkId, PortId};

/// The ends of a link in their order.
pub fn link_ends(a: PortIdentity, b: PortIdentity) -> LinkEnds {
    if b < a { [b, a] } else { [a, b] }
}

/// The ends of a link of a snapshot.
pub fn ends_of_link(look: &Snapshot, link: LinkId) -> LinkEnds {
    let link = look.fabric().link(link);
    let [a, b] = [link.a, link.b].map(|port| port_identity(look.fabric(), port));
    link_ends(a, b)
}

pub fn port_of(look: &Snapshot, (guid, number): PortIdentity) -> Option<PortId> {
    look.fabric().port_of(look.fabric().node_by_guid(guid)?, number)
}

/// The ends in the order in which sweeps report a link: that of the ports in the fabric.
pub fn ends_as_named(look: &Snapshot, [a, b]: LinkEnds) -> LinkEnds {
    match (port_of(look, a), port_of(look, b)) {
        (Some(first), Some(second)) if second < first => [b, a],
        _ => [a, b],
    }
}

/// The place of the cable between two ports, with what is known of its modules.
pub fn place_of(look: &Snapshot, ends: LinkEnds) -> CableSighting {
    let end = |identity: PortIdentity| {
        let Some(port) = port_of(look, identity) else {
            return (identity, format!("{}[{}]", identity.0, identity.1), None);
        };
        let module = look.port_wire(port).and_then(|wire| wire.module.known());
        let serial = module.and_then(|module| module.serial.as_deref()).map(str::trim);
        let serial = serial.filter(|serial| !serial.is_empty()).map(str::to_owned);
        (identity, look.port_name(port), serial)
    };
    CableSighting::new(end(ends[0]), end(ends[1]))
}
