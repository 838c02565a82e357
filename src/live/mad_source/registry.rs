//! Stores pending changes as service records at the subnet manager, all with one name. The query is for one record
//! (Get), not a table: multi-packet tables do not arrive everywhere, and an error status shows several records anyway.

use std::time::Duration;

use zerocopy::{FromZeros, IntoBytes};

use super::question::Reply;
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{
    AddressedMad, LocalPort, MadAddress, Registration, RegistrationLookup, WriteError,
};
use fabdeck_mad::{Mad, MadStatus, Method, ServiceRecord, attribute};

/// The name of all records.
const NAME: &str = "fabdeck: change pending";
/// Length in bytes of the first field for the host name.
const HOST_BYTES: usize = 16;
/// The first byte of service IDs that are administered locally.
const UNASSIGNED: u64 = 2 << 56;

const NO_RECORDS: MadStatus = MadStatus(0x0300);
const TOO_MANY_RECORDS: MadStatus = MadStatus(0x0400);

pub const NO_MANAGER: &str = "FD-4541: no subnet manager is known that could keep the registration";

/// The GID of the port.
pub fn port_gid(port: &LocalPort, prefix: u64) -> Option<[u8; 16]> {
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&prefix.to_be_bytes());
    gid[8..].copy_from_slice(&port.guid?.0.to_be_bytes());
    Some(gid)
}

/// The service ID of a change. IDs differ, because a subnet manager keeps one record for an ID and a port.
fn service_id(change: &str) -> u64 {
    let hash = change.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    UNASSIGNED | hash >> 8
}

fn sa_request(manager: Lid, method: Method, mask: u64, record: ServiceRecord) -> AddressedMad {
    let mut mad = Mad::administration(method, attribute::SERVICE_RECORD, mask);
    *mad.record_mut() = record;
    AddressedMad { address: MadAddress::for_class(manager, mad.class()), mad }
}

pub fn registration_query(manager: Lid) -> AddressedMad {
    let mut record = ServiceRecord::new_zeroed();
    fill(&mut record.name, NAME);
    sa_request(manager, Method::GET, ServiceRecord::NAME, record)
}

pub fn registration_request(manager: Lid, gid: [u8; 16], registration: &Registration) -> AddressedMad {
    let Registration { change, host, epoch, beat, lease, .. } = registration;
    let mut record = change_record(change, gid);
    record.lease = u32::try_from(lease.as_secs()).unwrap_or(u32::MAX - 1).into();
    fill(&mut record.name, NAME);
    // The rest of the host name goes into the fields after the beat.
    let (first, rest) = host.split_at(host.floor_char_boundary(HOST_BYTES));
    fill(record.data16.as_mut_bytes(), first);
    fill(record.data32[1..].as_mut_bytes(), rest);
    fill(&mut record.data8, change);
    record.data32[0] = (*beat).into();
    record.data64[0] = (*epoch).into();
    let told = ServiceRecord::LEASE | ServiceRecord::NAME | ServiceRecord::DATA;
    sa_request(manager, Method::SET, ServiceRecord::ID | ServiceRecord::GID | told, record)
}

pub fn unregistration_request(manager: Lid, gid: [u8; 16], change: &str) -> AddressedMad {
    sa_request(manager, Method::DELETE, ServiceRecord::ID | ServiceRecord::GID, change_record(change, gid))
}

fn change_record(change: &str, gid: [u8; 16]) -> ServiceRecord {
    ServiceRecord { service_id: service_id(change).into(), service_gid: gid, ..ServiceRecord::new_zeroed() }
}

/// Whether a registration was stored or removed.
pub fn check_done(reply: &Reply) -> Result<(), WriteError> {
    match reply {
        Reply::Answer(_) => Ok(()),
        // The record has expired, or another subnet manager is in charge.
        Reply::Refused(NO_RECORDS) => Ok(()),
        Reply::Refused(status) => {
            Err(WriteError::Refused(format!("FD-4542: the subnet manager keeps no registrations: {status}")))
        }
        Reply::Silence => Err(WriteError::Silent(
            "FD-4543: the subnet manager does not answer whether it keeps the registration".to_owned(),
        )),
    }
}

/// The meaning of the answer to a query for registrations.
pub fn read_registered(reply: &Reply) -> RegistrationLookup {
    match reply {
        Reply::Answer(mad) => {
            let record = mad.record::<ServiceRecord>();
            RegistrationLookup::One(Registration {
                change: text(&record.data8),
                host: text(record.data16.as_bytes()) + &text(record.data32[1..].as_bytes()),
                port: Some(record.service_gid),
                epoch: record.data64[0].get(),
                beat: record.data32[0].get(),
                lease: Duration::from_secs(record.lease.get().into()),
            })
        }
        Reply::Refused(NO_RECORDS) => RegistrationLookup::Nothing,
        Reply::Refused(TOO_MANY_RECORDS) => RegistrationLookup::Several,
        reply => RegistrationLookup::NotKept(
            check_done(reply).err().map(|error| error.to_string()).unwrap_or_default(),
        ),
    }
}

/// Copies as much of a text as fits; the rest is zero.
fn fill(bytes: &mut [u8], text: &str) {
    let room = (0..=bytes.len().min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    bytes[..room].copy_from_slice(&text.as_bytes()[..room]);
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).chars().filter(|sign| !sign.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_read_back() {
        let manager = Lid::new(7).unwrap();
        let long = "a-machine-with-a-name-that-is-longer-than-the-field-of-a-record-has-room-for";
        for (host, kept) in [("node01", "node01"), (long, &long[..28])] {
            let registration = Registration {
                change: "12ab34cd".into(),
                host: host.into(),
                port: None,
                epoch: 3,
                beat: 17,
                lease: Duration::from_secs(4200),
            };
            let parcel = registration_request(manager, [7; 16], &registration);
            let told = read_registered(&Reply::Answer(parcel.mad));
            assert_eq!(
                told,
                RegistrationLookup::One(Registration {
                    host: kept.into(),
                    port: Some([7; 16]),
                    ..registration
                })
            );
        }
        assert_eq!(read_registered(&Reply::Refused(NO_RECORDS)), RegistrationLookup::Nothing);
        assert_eq!(read_registered(&Reply::Refused(TOO_MANY_RECORDS)), RegistrationLookup::Several);
        assert!(
            matches!(read_registered(&Reply::Silence), RegistrationLookup::NotKept(why) if why.contains("FD-4543"))
        );
    }
}
