//! Finds out which hosts have an agent that subscribed. The subnet manager is asked for the subscriptions of each host:
//! a table of all in several packets does not arrive everywhere.

use super::levels::path_query;
use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{AddressedMad, MadAddress, SourceError};
use fabdeck_mad::{InformInfoRecord, Mad, Method, PathRecord, attribute, trap};

/// For each LID, whether its port is subscribed to notices; `None` if unknown.
pub fn read_subscribers(
    reader: &mut PortReader<'_>,
    (manager, from): (Lid, Lid),
    lids: &[Lid],
) -> Result<Vec<Option<bool>>, SourceError> {
    let gids = read_gids(reader, (manager, from), lids)?;
    let mut told = vec![None; lids.len()];
    let mut phase = reader.open_phase::<usize>("subscriptions");
    let retries = phase.exchange.retries();
    let known = gids.iter().enumerate().filter_map(|(at, gid)| Some((at, (*gid)?)));
    for (tag, gid) in known {
        phase.exchange.ask(Question { parcel: subscription_query(manager, gid), target: 0, retries, tag });
    }
    while let Some((at, reply)) = phase.next()? {
        let (Reply::Answer(mad), Some(gid)) = (reply, gids[at]) else { continue };
        let records = InformInfoRecord::list_of_subscriber(&mad, &gid);
        let wants = records.iter().any(|record| record.inform.has_trap(trap::REPATH));
        // Records that do not fit into one packet may be missing.
        let all = records.len() < InformInfoRecord::MAX_PER_PACKET;
        told[at] = (wants || all).then_some(wants);
    }
    phase.end();
    Ok(told)
}

/// The GIDs of ports, from path records to them, which contain the subnet prefix.
fn read_gids(
    reader: &mut PortReader<'_>,
    (manager, from): (Lid, Lid),
    lids: &[Lid],
) -> Result<Vec<Option<[u8; 16]>>, SourceError> {
    let mut gids = vec![None; lids.len()];
    let mut phase = reader.open_phase::<usize>("path records");
    let retries = phase.exchange.retries();
    for (tag, lid) in lids.iter().enumerate() {
        phase.exchange.ask(Question { parcel: path_query(manager, from, *lid), target: 0, retries, tag });
    }
    while let Some((at, reply)) = phase.next()? {
        let Reply::Answer(mad) = reply else { continue };
        let record = mad.record::<PathRecord>();
        let meant = record.destination_lid.get() == lids[at].value();
        gids[at] = meant.then_some(record.destination_gid);
    }
    phase.end();
    Ok(gids)
}

fn subscription_query(manager: Lid, gid: [u8; 16]) -> AddressedMad {
    let by_gid = InformInfoRecord::SUBSCRIBER_GID;
    let mut mad = Mad::administration(Method::GET_TABLE, attribute::INFORM_INFO_RECORD, by_gid);
    mad.record_mut::<InformInfoRecord>().subscriber_gid = gid;
    AddressedMad { address: MadAddress::for_class(manager, mad.class()), mad }
}
