//! Multicast groups at the subnet manager, and tables of records that take more than one packet.

use std::net::Ipv6Addr;
use std::time::Duration;

use fabdeck_fabric::{NodeId, PartitionKey, PortNum};
use fabdeck_mad::{MAX_SEGMENTS, Mad, McMemberRecord, record_segments, rmpp};
use zerocopy::{FromZeros, IntoBytes};

use super::administration_status::{INVALID_REQUEST, NO_RECORDS};
use super::device::FIRST_GROUP;
use super::simulated_fabric::SimulatedFabric;
use super::simulated_groups::{PendingTable, SimulatedGroup, TransferFault};

/// The group of IP over InfiniBand that all hosts are in, in the default partition.
const BROADCAST: Ipv6Addr = Ipv6Addr::new(0xFF12, 0x401B, 0xFFFF, 0, 0, 0, 0xFFFF, 0xFFFF);
/// Most transfers that wait for an acknowledgement.
const MAX_TRANSFERS: usize = 64;
/// An acknowledgement that is repeated within this time does not repeat the segment: duplicates would multiply.
const REPEAT_TIME: Duration = Duration::from_millis(100);

impl SimulatedFabric {
    /// Adds a group. Without `add_group_tree` it has a forwarding tree only with the multicast LID of the broadcast group.
    pub fn add_group(
        &mut self,
        mgid: Ipv6Addr,
        mlid: u16,
        key: PartitionKey,
        members: &[(NodeId, PortNum, u8)],
    ) {
        let members = members.iter().map(|(node, port, state)| ((node.0, port.value()), *state)).collect();
        self.group_records.groups.push(SimulatedGroup { mgid, mlid, key, level: 0, members });
    }

    /// Gives a multicast LID the forwarding tree of the broadcast group, which leads to all hosts.
    pub fn add_group_tree(&mut self, mlid: u16) {
        self.fill_tables();
        let Some(entry) = mlid.checked_sub(FIRST_GROUP) else { return };
        for device in self.devices.iter_mut().filter(|device| device.is_switch()) {
            let tree: Vec<(u8, u16)> = (0..16)
                .filter_map(|position| Some((position, device.tables.multicast.get(&(0, position))?[0])))
                .collect();
            for (position, mask) in tree {
                let block = device.tables.multicast.entry((entry / 32, position)).or_insert([0; 32]);
                block[usize::from(entry % 32)] = mask;
            }
        }
    }

    /// Sets how tables of more than one packet are sent.
    pub fn set_transfer_fault(&mut self, fault: TransferFault) {
        self.group_records.fault = fault;
    }

    /// The answer to a query for groups, or to the acknowledgement of a segment.
    pub(super) fn group_table(
        &mut self,
        answer: &mut Mad,
        from: u16,
        now: Duration,
    ) -> Result<Option<()>, u16> {
        let header = *answer.administration_header();
        let place = (from, answer.header().transaction.get());
        if answer.is_transfer_control() {
            return Ok(self.next_segment(answer, place, (header.segment.get(), now)));
        }
        if let TransferFault::Refuse(status) = self.group_records.fault {
            return Err(status);
        }
        let records = self.group_rows(answer)?;
        if records.is_empty() {
            return Err(NO_RECORDS);
        }
        let bytes: Vec<u8> = records.iter().flat_map(|record| record.as_bytes().to_vec()).collect();
        let mut segments = record_segments(answer, &bytes, size_of::<McMemberRecord>());
        self.spoil(&mut segments);
        let first = segments.first().cloned().ok_or(INVALID_REQUEST)?;
        let transfers = &mut self.group_records.transfers;
        if transfers.len() >= MAX_TRANSFERS {
            transfers.pop_first();
        }
        transfers.insert(place, PendingTable { segments, acknowledged: 0, sent_at: now });
        *answer = first;
        Ok(Some(()))
    }

    /// Sends the segment behind the acknowledged ones; nothing behind the last one.
    fn next_segment(
        &mut self,
        answer: &mut Mad,
        place: (u16, u64),
        (acknowledged, now): (u32, Duration),
    ) -> Option<()> {
        let (fault, transfers) = (self.group_records.fault, &mut self.group_records.transfers);
        let transfer = transfers.get_mut(&place)?;
        let repeated = acknowledged <= transfer.acknowledged && fault != TransferFault::Repeat;
        if repeated && now < transfer.sent_at + REPEAT_TIME {
            return None;
        }
        let Some(next) = transfer.segments.get(acknowledged as usize) else {
            transfers.remove(&place);
            return None;
        };
        let silent = matches!(fault, TransferFault::Silence(at) if acknowledged + 1 >= at);
        if silent || fault == TransferFault::Unnumbered {
            return None;
        }
        *answer = next.clone();
        (transfer.acknowledged, transfer.sent_at) = (acknowledged, now);
        Some(())
    }

    fn spoil(&self, segments: &mut [Mad]) {
        let last = segments.len().saturating_sub(1);
        let template = segments.first().cloned();
        for (at, mad) in segments.iter_mut().enumerate() {
            let header = mad.administration_header_mut();
            match self.group_records.fault {
                TransferFault::Abort(segment) if at as u32 + 1 == segment => {
                    (header.rmpp_type, header.rmpp_status) = (rmpp::ABORT, 118);
                }
                TransferFault::Length(length) if at == last => header.payload_length = length.into(),
                TransferFault::Unnumbered => {
                    (header.rmpp_version, header.rmpp_type, header.rmpp_flags) = (0, 0, rmpp::ACTIVE);
                    (header.segment, header.payload_length) = (0.into(), 0.into());
                }
                TransferFault::Stride(bytes) => header.attribute_offset = (bytes / 8).into(),
                TransferFault::Repeat => *mad = template.clone().unwrap_or_default(),
                _ => {}
            }
        }
        debug_assert!(segments.len() as u32 <= MAX_SEGMENTS);
    }

    /// The records that a query is for: one for each group, or the memberships of a port.
    fn group_rows(&self, asked: &Mad) -> Result<Vec<McMemberRecord>, u16> {
        let header = asked.administration_header();
        let (mask, trusted) = (header.component_mask.get(), header.sm_key.get() != 0);
        if mask & !(McMemberRecord::PORT_GID | McMemberRecord::MLID) != 0 {
            return Err(INVALID_REQUEST);
        }
        let wanted = *asked.record::<McMemberRecord>();
        let of_port = (mask & McMemberRecord::PORT_GID != 0).then_some(wanted.port_gid);
        let all = std::iter::once(self.broadcast_group()).chain(self.group_records.groups.iter().cloned());
        let mut rows = Vec::new();
        for group in all {
            if mask & McMemberRecord::MLID != 0 && wanted.mlid.get() != group.mlid {
                continue;
            }
            let state = match of_port {
                None => 1,
                Some(gid) => match group.members.iter().find(|(port, _)| self.gid_of(**port) == gid) {
                    Some((_, state)) => *state,
                    None => continue,
                },
            };
            // How a port is joined is stated to holders of the manager's key alone.
            let (port, state) = match trusted {
                true => (of_port.unwrap_or_default(), state),
                false => ([0; 16], 0),
            };
            rows.push(group_record(&group, port, state));
        }
        Ok(rows)
    }

    fn broadcast_group(&self) -> SimulatedGroup {
        let ends = self.snapshot.ports().filter(|(_, port)| {
            !self.device(port.node.0).is_switch() && port.peer.is_some() && !self.device(port.node.0).silent
        });
        let members = ends.map(|(_, port)| ((port.node.0, port.number.value()), 1)).collect();
        let key = PartitionKey::DEFAULT_FULL;
        SimulatedGroup { mgid: BROADCAST, mlid: FIRST_GROUP, key, level: 0, members }
    }
}

fn group_record(group: &SimulatedGroup, port_gid: [u8; 16], state: u8) -> McMemberRecord {
    let mut record = McMemberRecord::new_zeroed();
    (record.mgid, record.port_gid) = (group.mgid.octets(), port_gid);
    record.queue_key = 0x0B1B.into();
    record.mlid = group.mlid.into();
    // Exactly 2048 bytes and 10 Gb/s, and the packet life time of a short path.
    (record.mtu, record.rate, record.packet_life) = (2 << 6 | 4, 2 << 6 | 3, 2 << 6 | 18);
    record.partition_key = group.key.bits().into();
    record.level_flow_hop = (u32::from(group.level) << 28).into();
    record.scope_state = 2 << 4 | state;
    record
}
