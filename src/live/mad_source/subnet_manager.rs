//! Finds the subnet manager in charge, by the local port's PortInfo. It is asked by LID, then by directed route, since
//! tables may not lead to it.

use super::discovery_state::DiscoveredNode;
use super::get_request::{directed_get, lid_get};
use super::keys::Keys;
use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_fabric::observe::SubnetManager;
use fabdeck_fabric::{Fabric, Guid, Lid};
use fabdeck_mad::access::{AddressedMad, SourceError};
use fabdeck_mad::{SmInfo, Smp, attribute};

/// Finds the subnet manager. `None` if no subnet manager has been at work, or it does not answer.
pub fn find_manager(
    reader: &mut PortReader<'_>,
    fabric: &Fabric,
    nodes: &[DiscoveredNode],
    lid: Option<u16>,
) -> Result<Option<SubnetManager>, SourceError> {
    // Without an answer from the local port, which has its own note, the subnet manager is unknown.
    let Some(lid) = lid else { return Ok(None) };
    let Some(lid) = Lid::new(lid.into()) else {
        reader.log.note("FN-524", || {
            "no subnet manager has configured this port (its SM LID is 0): requests by LID, \
         such as for counters, get no answer; start one (opensm)"
                .to_owned()
        });
        return Ok(None);
    };
    let owner = fabric.port_by_lid(lid).map(|port| fabric.port(port).node);
    let owner = owner.and_then(|node| nodes.get(node.index()));
    let key = owner.map_or_else(|| reader.keys().key_for(None), |node| node.m_key.0);
    let mut phase = reader.open_phase::<bool>("manager");
    let retries = phase.exchange.retries();
    let ask = |parcel, retries, last| Question { parcel, target: 0, retries, tag: last };
    phase.exchange.ask(ask(lid_get(attribute::SM_INFO, 0, lid, key), 0, owner.is_none() && retries == 0));
    let mut manager = None;
    while let Some((last, reply)) = phase.next()? {
        match reply {
            Reply::Answer(mad) => {
                manager = Some(to_subnet_manager(&Smp(mad)));
            }
            // Tables may not lead to it, so the second query takes the known route, with all retries.
            _ if !last => {
                let parcel = match owner {
                    Some(node) => directed_get(attribute::SM_INFO, 0, &node.route, key),
                    None => lid_get(attribute::SM_INFO, 0, lid, key),
                };
                phase.exchange.ask(ask(parcel, retries, true));
            }
            _ => {}
        }
    }
    if manager.is_none() {
        phase.log.note_partial("FN-525", || format!("the subnet manager at LID {lid} does not answer"));
    }
    phase.end();
    Ok(manager)
}

/// The subnet manager, by its own answer.
pub fn to_subnet_manager(answer: &Smp) -> SubnetManager {
    let info = answer.data::<SmInfo>();
    let state = info.state().map(str::to_owned);
    SubnetManager { guid: Guid(info.guid.get()), state, priority: Some(info.priority()) }
}

/// A sweep's query to the subnet manager, over the known route.
pub fn manager_query(fabric: &Fabric, nodes: &[DiscoveredNode], lid: Lid, keys: &Keys) -> AddressedMad {
    let port = fabric.port_by_lid(lid).map(|port| fabric.port(port));
    let owner = port.and_then(|port| Some((nodes.get(port.node.index())?, port.number.value())));
    match owner {
        Some((node, port)) => directed_get(attribute::SM_INFO, 0, node.route_to(port), node.m_key.0),
        None => lid_get(attribute::SM_INFO, 0, lid, keys.key_for(None)),
    }
}
