//! Subnet administration at the manager's port: path records, node records, subscriptions to traps, services, multicast
//! groups. Tables of subscriptions have their first packet only, those of groups all packets.

use std::time::Duration;

use zerocopy::FromZeros;
use zerocopy::network_endian::U16;

use fabdeck_fabric::{Guid, Lid};
use fabdeck_mad::{InformInfo, InformInfoRecord, Mad, Method, NodeRecord, PathRecord, attribute, trap};

use super::administration_status::{INVALID_REQUEST, NO_RECORDS, TOO_MANY_RECORDS, UNSUPPORTED};
use super::device::{PortRef, SimulatedDevice};
use super::simulated_fabric::SimulatedFabric;
use super::subnet::{node_description, node_info};

/// 4096 bytes, exactly.
const MTU: u8 = 2 << 6 | 5;

impl SimulatedFabric {
    /// `from` is the LID of the sender.
    pub(super) fn answer_administration(&mut self, request: &Mad, from: u16, now: Duration) -> Option<Mad> {
        if !self.is_manager_answering() || request.method().is_response() {
            return None;
        }
        let mut answer = request.clone();
        let (method, what) = (request.method(), request.header().attribute.get());
        let done = match (method, what) {
            (Method::GET, attribute::PATH_RECORD) => self.path_record(&mut answer),
            (Method::GET, attribute::NODE_RECORD) => self.node_record(&mut answer),
            (Method::GET, attribute::CLASS_PORT_INFO) => {
                let info = answer.record_mut::<fabdeck_mad::ClassPortInfo>();
                *info = fabdeck_mad::ClassPortInfo::new_zeroed();
                (info.base_version, info.class_version) = (1, 2);
                Ok(())
            }
            (Method::SET, attribute::INFORM_INFO) => {
                let asked = *request.record::<InformInfo>();
                self.subscribe(from, asked).then_some(()).ok_or(INVALID_REQUEST)
            }
            (Method::GET | Method::GET_TABLE, attribute::INFORM_INFO_RECORD) => {
                self.inform_records(&mut answer, method == Method::GET_TABLE)
            }
            (Method::GET_TABLE, attribute::MC_MEMBER_RECORD) => {
                match self.group_table(&mut answer, from, now) {
                    // The last acknowledgement gets no answer.
                    Ok(None) => return None,
                    Ok(Some(())) => Ok(()),
                    Err(status) => Err(status),
                }
            }
            (_, attribute::SERVICE_RECORD) => self.services.answer_request(&mut answer, now),
            _ => Err(UNSUPPORTED),
        };
        let header = answer.header_mut();
        header.method =
            if method == Method::GET_TABLE { Method::GET_TABLE_RESPONSE } else { Method::GET_RESPONSE }.0;
        header.status = done.err().unwrap_or(0).into();
        Some(answer)
    }

    /// A path exists if the tables lead from one end to the other, and both are in one partition.
    fn path_record(&mut self, answer: &mut Mad) -> Result<(), u16> {
        self.fill_tables();
        let mask = answer.administration_header().component_mask.get();
        let asked = *answer.record::<PathRecord>();
        let end = |lid_bit: u64, lid: u16, gid_bit: u64, gid: &[u8; 16]| match (
            mask & lid_bit != 0,
            mask & gid_bit != 0,
        ) {
            (true, _) => self.port_by_lid(lid).map(|plug| (plug, lid)),
            (false, true) => self.port_by_gid(gid).map(|plug| (plug, self.lid_of(plug))),
            (false, false) => None,
        };
        const DESTINATION_GID: u64 = 1 << 2;
        const SOURCE_GID: u64 = 1 << 3;
        let from = end(PathRecord::SOURCE_LID, asked.source_lid.get(), SOURCE_GID, &asked.source_gid);
        let to = end(
            PathRecord::DESTINATION_LID,
            asked.destination_lid.get(),
            DESTINATION_GID,
            &asked.destination_gid,
        );
        let ((from, from_lid), (to, to_lid)) = from.zip(to).ok_or(INVALID_REQUEST)?;
        self.follow_lid(from, to_lid).filter(|end| end.at.0 == to.0).ok_or(NO_RECORDS)?;
        let key = self.shared_key(from, to).ok_or(NO_RECORDS)?;
        let record = answer.record_mut::<PathRecord>();
        *record = PathRecord::new_zeroed();
        (record.source_lid, record.destination_lid) = (from_lid.into(), to_lid.into());
        (record.source_gid, record.destination_gid) = (self.gid_of(from), self.gid_of(to));
        record.reversible_count = 0x81;
        record.partition_key = key.into();
        record.mtu = MTU;
        // Exactly 100 Gb/s; the packet life time of a short path.
        (record.rate, record.packet_life) = (2 << 6 | 16, 2 << 6 | 18);
        Ok(())
    }

    fn node_record(&mut self, answer: &mut Mad) -> Result<(), u16> {
        const LID: u64 = 1;
        let asked = *answer.record::<NodeRecord>();
        let by_lid = answer.administration_header().component_mask.get() & LID != 0;
        let lid = asked.lid.get();
        let plug = by_lid.then(|| self.port_by_lid(lid)).flatten().ok_or(NO_RECORDS)?;
        let device = self.device(plug.0);
        let record = answer.record_mut::<NodeRecord>();
        *record = NodeRecord::new_zeroed();
        record.lid = lid.into();
        (record.info, record.description) = (node_info(device, plug.1), node_description(device));
        Ok(())
    }

    /// The subscriptions of one port; the first packet of a table.
    fn inform_records(&self, answer: &mut Mad, table: bool) -> Result<(), u16> {
        let by_gid = InformInfoRecord::SUBSCRIBER_GID;
        if answer.administration_header().component_mask.get() != by_gid {
            return Err(INVALID_REQUEST);
        }
        let gid = answer.record::<InformInfoRecord>().subscriber_gid;
        let found = self.subscriptions_of(&gid);
        let held = found.len().min(InformInfoRecord::MAX_PER_PACKET);
        if !table && held != 1 {
            return Err(if held == 0 { NO_RECORDS } else { TOO_MANY_RECORDS });
        }
        let records = answer.record_mut::<[InformInfoRecord; InformInfoRecord::MAX_PER_PACKET]>();
        *records = FromZeros::new_zeroed();
        for (number, (record, inform)) in (0..).zip(records.iter_mut().zip(&found)) {
            (record.subscriber_gid, record.subscriber_enum) = (gid, U16::new(number));
            record.inform = *inform;
        }
        let header = answer.administration_header_mut();
        header.attribute_offset = (size_of::<InformInfoRecord>() as u16 / 8).into();
        if table {
            // RMPP flags: active, first packet, and last packet if this one holds all records.
            (header.rmpp_version, header.rmpp_type) = (1, 1);
            header.rmpp_flags = 0b011 | u8::from(held == found.len()) << 2;
            header.segment = 1.into();
            header.payload_length = (20 + held as u32 * size_of::<InformInfoRecord>() as u32).into();
        }
        Ok(())
    }

    fn subscriptions_of(&self, gid: &[u8; 16]) -> Vec<InformInfo> {
        let Some(plug) = self.port_by_gid(gid) else { return Vec::new() };
        let device = self.device(plug.0);
        let theirs = self.subscribers().iter().filter(|((lid, ..), _)| device.has_lid_at(plug.1, *lid));
        let own =
            [trap::UNPATH, trap::REPATH].into_iter().filter(|number| self.is_agent_subscribed(plug, *number));
        let own = own.map(|number| InformInfo::single_trap(number, true));
        theirs.map(|(_, inform)| *inform).chain(own).collect()
    }

    pub(super) fn port_by_lid(&self, lid: u16) -> Option<PortRef> {
        let owns = |(node, port): &PortRef| self.device(*node).has_lid_at(*port, lid);
        let planned = self.snapshot.port_by_lid(Lid::new(lid.into())?).map(|port| self.snapshot.port(port));
        let plug = planned.map(|port| (port.node.0, port.number.value())).filter(owns);
        // LIDs may have been set since the fabric was built.
        let plugs = |(node, device): (usize, &SimulatedDevice)| {
            let last = if device.is_switch() { 0 } else { device.port_count() };
            (u8::from(!device.is_switch())..=last).map(move |port| (node as u32, port))
        };
        plug.or_else(|| self.devices.iter().enumerate().flat_map(plugs).find(owns))
    }

    fn port_by_gid(&self, gid: &[u8; 16]) -> Option<PortRef> {
        let guid = Guid(u64::from_be_bytes(*gid.last_chunk::<8>()?));
        let by_port = self.snapshot.port_by_guid(guid).map(|port| self.snapshot.port(port));
        let plug = by_port.map(|port| (port.node.0, port.number.value()));
        let by_node = || self.snapshot.node_by_guid(guid).map(|node| (node.0, 0));
        // Devices have GUIDs of their own where the fabric has none.
        let made_up = || {
            let ports = |device: &SimulatedDevice| device.ports.iter().position(|socket| socket.guid == guid);
            let devices = (0u32..).zip(&self.devices);
            devices.filter_map(|(node, device)| Some((node, ports(device)? as u8))).next()
        };
        plug.or_else(by_node).or_else(made_up)
    }

    pub(super) fn gid_of(&self, (node, port): PortRef) -> [u8; 16] {
        let device = self.device(node);
        let guid = device.port(device.managed_port(port)).map_or(device.guid, |socket| socket.guid);
        let mut gid = [0; 16];
        gid[..8].copy_from_slice(&fabdeck_mad::access::DEFAULT_PREFIX.to_be_bytes());
        gid[8..].copy_from_slice(&guid.0.to_be_bytes());
        gid
    }
}
