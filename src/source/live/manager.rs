//! The subnet manager in charge, as the port that is looked from was told: asked by its LID, and over its directed
//! route, for tables may not lead there.

use super::discovery::{by_lid, directed};
use super::exchange::{Question, Reply};
use super::found::FoundNode;
use super::reader::Reader;
use crate::access::SourceError;
use crate::fabric::{Fabric, Guid, Lid};
use crate::mad::{SmInfo, Smp, attribute};
use crate::observe::SubnetManager;

/// `None` where no manager has been at work, or it does not answer.
pub fn find_manager(
    reader: &mut Reader<'_>,
    fabric: &Fabric,
    nodes: &[FoundNode],
    lid: Option<u16>,
) -> Result<Option<SubnetManager>, SourceError> {
    // Without an answer from the local port, which is told by itself, nothing is known of a manager.
    let Some(lid) = lid else { return Ok(None) };
    let Some(lid) = Lid::new(lid.into()) else {
        reader.told.note("FN-524", || "no subnet manager has set this port up: its SM LID is 0".to_owned());
        return Ok(None);
    };
    let owner = fabric.port_by_lid(lid).map(|port| fabric.port(port).node);
    let owner = owner.and_then(|node| nodes.get(node.index()));
    let key = owner.map_or_else(|| reader.keys().of(None), |node| node.m_key.0);
    let mut phase = reader.phase::<()>("manager");
    let retries = phase.exchange.retries();
    let mut ask = |parcel| phase.exchange.ask(Question { parcel, target: 0, retries, tag: () });
    // Both ways at once: who waits for a manager that is gone waits for one time-out, not for two.
    ask(by_lid(attribute::SM_INFO, 0, lid, key));
    if let Some(node) = owner {
        ask(directed(attribute::SM_INFO, 0, &node.route, key));
    }
    let mut manager = None;
    while let Some(((), reply)) = phase.next()? {
        if let Reply::Answer(mad) = reply {
            let smp = Smp(mad);
            let info = smp.data::<SmInfo>();
            let state = info.state().map(str::to_owned);
            manager = Some(SubnetManager { guid: Guid(info.guid.get()), state });
            break;
        }
    }
    if manager.is_none() {
        phase.told.note_partial("FN-525", || format!("the subnet manager at LID {lid} does not answer"));
    }
    phase.end();
    Ok(manager)
}
