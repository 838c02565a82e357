//! Services that ports offer, stored at the manager until their lease ends.

use std::collections::BTreeMap;
use std::time::Duration;

use fabdeck_mad::{Mad, Method, ServiceRecord};

use super::administration_status::{INVALID_REQUEST, NO_RECORDS, TOO_MANY_RECORDS, UNSUPPORTED};

/// Most services; more are refused.
const MAX_SERVICES: usize = 256;

/// Services by service id and port, with the end of the lease.
#[derive(Debug, Default)]
pub struct RegisteredServices(BTreeMap<(u64, [u8; 16]), (ServiceRecord, Duration)>);

impl RegisteredServices {
    pub fn answer_request(&mut self, answer: &mut Mad, now: Duration) -> Result<(), u16> {
        self.0.retain(|_, (_, end)| *end > now);
        let mask = answer.administration_header().component_mask.get();
        let asked = *answer.record::<ServiceRecord>();
        let key = (asked.service_id.get(), asked.service_gid);
        let names_one = mask & ServiceRecord::ID != 0 && mask & ServiceRecord::GID != 0;
        match answer.method() {
            Method::SET if !names_one || asked.lease.get() == 0 => Err(INVALID_REQUEST),
            Method::SET if self.0.len() >= MAX_SERVICES && !self.0.contains_key(&key) => Err(INVALID_REQUEST),
            Method::SET => {
                self.0.insert(key, (asked, now + Duration::from_secs(asked.lease.get().into())));
                Ok(())
            }
            Method::DELETE if !names_one => Err(INVALID_REQUEST),
            Method::DELETE => self.0.remove(&key).map(drop).ok_or(NO_RECORDS),
            Method::GET if mask & (ServiceRecord::ID | ServiceRecord::NAME) != 0 => {
                let fits = |record: &ServiceRecord| {
                    let by = |bit: u64, same: bool| mask & bit == 0 || same;
                    by(ServiceRecord::ID, record.service_id == asked.service_id)
                        && by(ServiceRecord::GID, record.service_gid == asked.service_gid)
                        && by(ServiceRecord::NAME, record.name == asked.name)
                };
                let mut found = self.0.values().map(|(record, _)| *record).filter(fits);
                let first = found.next().ok_or(NO_RECORDS)?;
                if found.next().is_some() {
                    return Err(TOO_MANY_RECORDS);
                }
                *answer.record_mut() = first;
                Ok(())
            }
            _ => Err(UNSUPPORTED),
        }
    }
}
