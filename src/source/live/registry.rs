//! Pending changes as service records at the subnet manager: one record of fabdeck's own service for each port that a
//! guard works through. One record is asked for, not a table: a table over several packets does not come through
//! everywhere, and that there are several is told without it.

use std::time::Duration;

use zerocopy::FromZeros;

use super::question::Reply;
use crate::access::{Address, LocalPort, Parcel, Registered, Registration, WriteError};
use crate::fabric::Lid;
use crate::mad::{Mad, Method, ServiceRecord, Status, attribute};

/// In the range of services that nobody assigns: 2, and the name.
const SERVICE: u64 = u64::from_be_bytes(*b"\x02fabdeck");
/// How the name of a record begins; the machine follows.
const NAME: &str = "fabdeck change, ";

const NO_RECORDS: Status = Status(0x0300);
const TOO_MANY_RECORDS: Status = Status(0x0400);

pub const NO_MANAGER: &str = "FD-4541: no subnet manager is known that would keep it";

/// The name of the port in the subnet.
pub fn gid(port: &LocalPort, prefix: u64) -> Option<[u8; 16]> {
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&prefix.to_be_bytes());
    gid[8..].copy_from_slice(&port.guid?.0.to_be_bytes());
    Some(gid)
}

fn parcel(manager: Lid, method: Method, mask: u64, record: ServiceRecord) -> Parcel {
    let mut mad = Mad::administration(method, attribute::SERVICE_RECORD, ServiceRecord::ID | mask);
    *mad.record_mut() = ServiceRecord { service_id: SERVICE.into(), ..record };
    Parcel { address: Address::of(manager, mad.class()), mad }
}

pub fn asks(manager: Lid) -> Parcel {
    parcel(manager, Method::GET, 0, ServiceRecord::new_zeroed())
}

pub fn registers(manager: Lid, gid: [u8; 16], registration: &Registration) -> Parcel {
    let Registration { change, host, epoch, beat, lease } = registration;
    let mut record = ServiceRecord { service_gid: gid, ..ServiceRecord::new_zeroed() };
    record.lease = u32::try_from(lease.as_secs()).unwrap_or(u32::MAX - 1).into();
    fill(&mut record.name, &format!("{NAME}{host}"));
    fill(&mut record.data8, change);
    record.data32[0] = (*beat).into();
    record.data64[0] = (*epoch).into();
    let mask = ServiceRecord::GID | ServiceRecord::LEASE | ServiceRecord::NAME | ServiceRecord::DATA;
    parcel(manager, Method::SET, mask, record)
}

pub fn unregisters(manager: Lid, gid: [u8; 16]) -> Parcel {
    let record = ServiceRecord { service_gid: gid, ..ServiceRecord::new_zeroed() };
    parcel(manager, Method::DELETE, ServiceRecord::GID, record)
}

/// Whether a registration was taken, or is gone.
pub fn is_done(reply: &Reply) -> Result<(), WriteError> {
    match reply {
        Reply::Answer(_) => Ok(()),
        // It ended by itself, or the manager is another one.
        Reply::Refused(NO_RECORDS) => Ok(()),
        Reply::Refused(status) => {
            Err(WriteError::Refused(format!("FD-4542: the subnet manager keeps no registrations: {status}")))
        }
        Reply::Silence => Err(WriteError::Silent(
            "FD-4543: the subnet manager does not answer whether it keeps the registration".to_owned(),
        )),
    }
}

/// What the answer to `asks` says.
pub fn told(reply: &Reply) -> Registered {
    match reply {
        Reply::Answer(mad) => {
            let record = mad.record::<ServiceRecord>();
            let name = text(&record.name);
            Registered::One(Registration {
                change: text(&record.data8),
                host: name.strip_prefix(NAME).unwrap_or(&name).to_owned(),
                epoch: record.data64[0].get(),
                beat: record.data32[0].get(),
                lease: Duration::from_secs(record.lease.get().into()),
            })
        }
        Reply::Refused(NO_RECORDS) => Registered::Nothing,
        Reply::Refused(TOO_MANY_RECORDS) => Registered::Several,
        reply => Registered::NotKept(is_done(reply).err().map(|error| error.to_string()).unwrap_or_default()),
    }
}

/// As much of a text as there is room for; the rest is zero.
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
    fn what_is_registered_is_what_is_told() {
        let manager = Lid::new(7).unwrap();
        let long = "a-machine-with-a-name-that-is-longer-than-the-field-of-a-record-has-room-for";
        for (host, kept) in [("node01", "node01"), (long, &long[..48])] {
            let registration = Registration {
                change: "12ab34cd".into(),
                host: host.into(),
                epoch: 3,
                beat: 17,
                lease: Duration::from_secs(4200),
            };
            let parcel = registers(manager, [7; 16], &registration);
            let told = told(&Reply::Answer(parcel.mad));
            assert_eq!(told, Registered::One(Registration { host: kept.into(), ..registration }));
        }
        assert_eq!(told(&Reply::Refused(NO_RECORDS)), Registered::Nothing);
        assert_eq!(told(&Reply::Refused(TOO_MANY_RECORDS)), Registered::Several);
        assert!(matches!(told(&Reply::Silence), Registered::NotKept(why) if why.contains("FD-4543")));
    }
}
