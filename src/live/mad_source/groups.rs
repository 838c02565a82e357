//! Reads multicast groups from the subnet manager, and asks for each port which groups it is in. Without the manager's key
//! it states members only where a port is named, and not how they are joined: the GID of the port and the join state are
//! zero then (IBA 15.2.5.17). Where a table arrives in part, groups and members are asked for one by
//! one, by the multicast LIDs of the forwarding tables.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use super::question::{Question, Reply};
use super::reader::PortReader;
use super::record_table::{TableReply, read_table};
use fabdeck_fabric::observe::{DeviceAnswer, JoinState, MulticastGroup, MulticastGroups};
use fabdeck_fabric::{Fabric, Guid, Lid, PartitionKey, Tables};
use fabdeck_mad::access::{AddressedMad, DEFAULT_PREFIX, MadAddress, SourceError};
use fabdeck_mad::{
    MAD_SIZE, Mad, McMemberRecord, Method, RECORD_AT, RecordTransfer, TransferError, attribute,
};

/// Most queries for members. A fabric with more memberships has the others by its forwarding tables alone.
const MAX_MEMBER_QUERIES: usize = 32_768;
/// Most queries for groups by their multicast LID; switches have up to 16,383.
const MAX_GROUP_QUERIES: usize = 4_096;

/// The manager, and what is known of its fabric.
#[derive(Clone, Copy)]
struct GroupScope<'f> {
    fabric: &'f Fabric,
    tables: &'f Tables,
    manager: Lid,
    subnet_prefix: Option<u64>,
}

/// Reads all groups from the manager at a LID, with the members that it states.
pub fn read_groups(
    reader: &mut PortReader<'_>,
    (fabric, tables): (&Fabric, &Tables),
    (manager, subnet_prefix): (Lid, Option<u64>),
) -> Result<MulticastGroups, SourceError> {
    let scope = GroupScope { fabric, tables, manager, subnet_prefix };
    reader.begin_single("group records");
    let read = read_answers(reader, scope);
    reader.end_single();
    read
}

fn read_answers(reader: &mut PortReader<'_>, scope: GroupScope<'_>) -> Result<MulticastGroups, SourceError> {
    let mut drafts = GroupDrafts::default();
    let answer = match read_group_table(reader, scope.manager, group_query(0))? {
        TableReply::Whole(transfer) => drafts.add_groups(&transfer),
        TableReply::Part(transfer, error) => {
            let understood = drafts.add_groups(&transfer);
            read_missing_groups(reader, scope, &mut drafts, error)?;
            understood
        }
        TableReply::Refused(status) => {
            reader.log.note_partial("FN-565", || {
                format!("the subnet manager refused to list multicast groups (status {status:#06x})")
            });
            DeviceAnswer::Absent
        }
        TableReply::Silence => {
            reader.log.note_partial("FN-565", || {
                "the subnet manager did not answer about multicast groups".to_owned()
            });
            DeviceAnswer::Silent
        }
    };
    let members = match answer {
        DeviceAnswer::Known(()) if !drafts.groups.is_empty() => read_members(reader, scope, &mut drafts)?,
        _ => DeviceAnswer::NotAsked,
    };
    Ok(MulticastGroups { answer, members, groups: drafts.groups.into_values().collect() })
}

/// Groups by multicast LID and GID.
#[derive(Debug, Default)]
struct GroupDrafts {
    groups: BTreeMap<(u16, Ipv6Addr), MulticastGroup>,
}

impl GroupDrafts {
    fn add_groups(&mut self, transfer: &RecordTransfer) -> DeviceAnswer<()> {
        let Some(records) = transfer.records::<McMemberRecord>() else { return DeviceAnswer::Implausible };
        records.iter().filter(|record| record.is_plausible()).for_each(|record| _ = self.group_mut(record));
        DeviceAnswer::Known(())
    }

    fn group_mut(&mut self, record: &McMemberRecord) -> &mut MulticastGroup {
        let (mgid, mlid) = (Ipv6Addr::from(record.mgid), record.mlid.get());
        self.groups.entry((mlid, mgid)).or_insert_with(|| MulticastGroup {
            mgid,
            mlid,
            key: PartitionKey::new(record.partition_key.get()),
            level: record.service_level(),
            members: BTreeMap::new(),
        })
    }

    /// Adds what the manager said of a port.
    fn add_members(&mut self, port: Guid, records: &[McMemberRecord]) {
        let of_port = |record: &&McMemberRecord| {
            record.is_plausible() && record.port_guid().is_none_or(|guid| guid == port)
        };
        for record in records.iter().filter(of_port) {
            self.group_mut(record).members.insert(port, JoinState(record.join_state()));
        }
    }

    fn multicast_lids(&self) -> BTreeSet<u16> {
        self.groups.keys().map(|(mlid, _)| *mlid).collect()
    }
}

/// Asks for the groups of the multicast LIDs that forwarding tables have and the table of groups lacks.
fn read_missing_groups(
    reader: &mut PortReader<'_>,
    scope: GroupScope<'_>,
    drafts: &mut GroupDrafts,
    error: TransferError,
) -> Result<(), SourceError> {
    let forwarded = scope.tables.nodes.values().filter_map(|held| held.mft.as_ref());
    let forwarded: BTreeSet<u16> = forwarded.flat_map(|mft| mft.groups.keys().copied()).collect();
    let known = drafts.multicast_lids();
    let missing: Vec<u16> = forwarded.difference(&known).copied().take(MAX_GROUP_QUERIES).collect();
    let mut phase = reader.open_phase::<()>("groups");
    let retries = phase.exchange.retries();
    for mlid in missing {
        let mut mad = group_query(McMemberRecord::MLID);
        mad.record_mut::<McMemberRecord>().mlid = mlid.into();
        phase.exchange.ask(Question { parcel: addressed(scope.manager, mad), target: 0, retries, tag: () });
    }
    while let Some(((), reply)) = phase.next()? {
        if let Reply::Answer(mad) = reply {
            let mut transfer = RecordTransfer::default();
            transfer.take(&mad);
            drafts.add_groups(&transfer);
        }
    }
    phase.end();
    let open = forwarded.difference(&drafts.multicast_lids()).count();
    let words = || {
        format!(
            "the table of multicast groups arrived in part ({error}); further groups were asked for by the multicast LIDs \
             of forwarding tables: {open} of these are not known, and groups without a tree may be missing"
        )
    };
    match (error, open) {
        (TransferError::FirstPacket, 0) => reader.log.note("FN-564", words),
        _ => reader.log.note_partial("FN-564", words),
    }
    Ok(())
}

/// Asks for each port which groups it is in.
fn read_members(
    reader: &mut PortReader<'_>,
    scope: GroupScope<'_>,
    drafts: &mut GroupDrafts,
) -> Result<DeviceAnswer<()>, SourceError> {
    let fabric = scope.fabric;
    let ends = fabric.ports().filter(|(id, port)| {
        fabric.address_of(*id).is_some() && !fabric.node(port.node).is_switch() && port.peer.is_some()
    });
    let guids: Vec<Guid> = ends.filter_map(|(_, port)| port.facts.guid).collect();
    let (mut asked, mut cut) = (0, Vec::new());
    for guid in guids {
        asked += 1;
        if asked > MAX_MEMBER_QUERIES {
            note_unasked_members(reader);
            break;
        }
        match read_group_table(reader, scope.manager, member_query(scope, guid, None))? {
            TableReply::Whole(transfer) => {
                let Some(records) = transfer.records::<McMemberRecord>() else {
                    return Ok(DeviceAnswer::Implausible);
                };
                drafts.add_members(guid, &records);
            }
            TableReply::Part(transfer, _) => {
                drafts.add_members(guid, &transfer.records::<McMemberRecord>().unwrap_or_default());
                cut.push(guid);
            }
            // The manager states no members without its key, or is gone: further ports would be asked in vain.
            TableReply::Refused(_) => return Ok(DeviceAnswer::Absent),
            TableReply::Silence => return Ok(DeviceAnswer::Silent),
        }
    }
    read_cut_members(reader, scope, drafts, &cut)?;
    Ok(DeviceAnswer::Known(()))
}

/// Asks for each group whether these ports are in it: their lists of groups arrived in part.
fn read_cut_members(
    reader: &mut PortReader<'_>,
    scope: GroupScope<'_>,
    drafts: &mut GroupDrafts,
    ports: &[Guid],
) -> Result<(), SourceError> {
    let open = |port: &Guid| {
        let groups = drafts.groups.values().filter(|group| !group.members.contains_key(port));
        let lids: BTreeSet<u16> = groups.map(|group| group.mlid).collect();
        lids.into_iter().map(move |mlid| (*port, mlid)).collect::<Vec<_>>()
    };
    let mut queries: Vec<(Guid, u16)> = ports.iter().flat_map(open).collect();
    if queries.is_empty() {
        return Ok(());
    }
    if queries.len() > MAX_MEMBER_QUERIES {
        note_unasked_members(reader);
        queries.truncate(MAX_MEMBER_QUERIES);
    }
    let mut phase = reader.open_phase::<Guid>("members");
    let retries = phase.exchange.retries();
    let expected = queries.len() as u64;
    let questions = queries.into_iter().map(move |(port, mlid)| Question {
        parcel: addressed(scope.manager, member_query(scope, port, Some(mlid))),
        target: 0,
        retries,
        tag: port,
    });
    phase.exchange.feed(expected, questions);
    while let Some((port, reply)) = phase.next()? {
        if let Reply::Answer(mad) = reply {
            let mut transfer = RecordTransfer::default();
            transfer.take(&mad);
            drafts.add_members(port, &transfer.records::<McMemberRecord>().unwrap_or_default());
        }
    }
    phase.end();
    Ok(())
}

/// Reads a table of groups. A packet of a transfer without a number is the whole table if it has room for another record.
fn read_group_table(
    reader: &mut PortReader<'_>,
    manager: Lid,
    query: Mad,
) -> Result<TableReply, SourceError> {
    const PACKET_RECORDS: usize = (MAD_SIZE - RECORD_AT) / size_of::<McMemberRecord>();
    Ok(match read_table(reader, manager, query)? {
        TableReply::Part(transfer, TransferError::FirstPacket) => {
            let records = transfer.records::<McMemberRecord>().unwrap_or_default();
            let count = records.iter().filter(|record| record.is_plausible()).count();
            match count < PACKET_RECORDS {
                true => TableReply::Whole(transfer),
                false => TableReply::Part(transfer, TransferError::FirstPacket),
            }
        }
        other => other,
    })
}

fn note_unasked_members(reader: &mut PortReader<'_>) {
    reader.log.note_partial("FN-566", || {
        format!("the members of multicast groups take more than {MAX_MEMBER_QUERIES} queries: further ones were not asked for")
    });
}

fn group_query(mask: u64) -> Mad {
    Mad::administration(Method::GET_TABLE, attribute::MC_MEMBER_RECORD, mask)
}

/// A query for the groups of a port, or for its membership in those of a multicast LID.
fn member_query(scope: GroupScope<'_>, port: Guid, mlid: Option<u16>) -> Mad {
    let mask = McMemberRecord::PORT_GID | if mlid.is_some() { McMemberRecord::MLID } else { 0 };
    let mut mad = group_query(mask);
    let record = mad.record_mut::<McMemberRecord>();
    let (prefix, interface) = record.port_gid.split_at_mut(8);
    prefix.copy_from_slice(&scope.subnet_prefix.unwrap_or(DEFAULT_PREFIX).to_be_bytes());
    interface.copy_from_slice(&port.0.to_be_bytes());
    record.mlid = mlid.unwrap_or(0).into();
    mad
}

fn addressed(manager: Lid, mad: Mad) -> AddressedMad {
    AddressedMad { address: MadAddress::for_class(manager, mad.class()), mad }
}
