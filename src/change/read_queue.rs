//! Reads parts of many devices in slices. A device without an answer costs the time of one request, however many of its
//! parts are queued.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_mad::access::{DeviceId, WriteError};

/// Number of parts that are requested at once.
const SLICE_PARTS: usize = 64;
/// Number of parts of one device that are requested at once.
const MAX_PER_DEVICE: usize = 8;

/// The parts that are left to read, and the devices that did not answer.
pub(super) struct ReadQueue {
    /// The index of each part in the caller's list, and its device.
    left: Vec<(usize, DeviceId)>,
    /// Devices that did not answer, and are not asked again by this queue.
    silent: BTreeSet<DeviceId>,
    /// Devices that did not answer the last time. They are asked last, for one part until they answer.
    suspected: BTreeSet<DeviceId>,
    /// Whether the local port was lost.
    lost_port: bool,
}

impl ReadQueue {
    /// `devices`: the device of each part in the caller's list.
    pub fn new(devices: impl Iterator<Item = DeviceId>, suspected: &BTreeSet<DeviceId>) -> Self {
        let mut left: Vec<(usize, DeviceId)> = devices.enumerate().collect();
        left.sort_by_key(|(_, device)| suspected.contains(device));
        Self { left, silent: BTreeSet::new(), suspected: suspected.clone(), lost_port: false }
    }

    /// The indices of the parts to read next; empty at the end.
    pub fn next_slice(&mut self) -> Vec<usize> {
        let (mut slice, mut asked) = (Vec::new(), BTreeMap::<DeviceId, usize>::new());
        self.left.retain(|(at, device)| {
            if slice.len() == SLICE_PARTS {
                return true;
            }
            if self.silent.contains(device) {
                return false;
            }
            let count = asked.entry(*device).or_default();
            *count += 1;
            let most = if self.suspected.contains(device) { 1 } else { MAX_PER_DEVICE };
            if *count <= most {
                slice.push(*at);
            }
            *count > most
        });
        slice
    }

    /// Records whether a device answered.
    pub fn record_answer(&mut self, device: DeviceId, held: &Result<Vec<u8>, WriteError>) {
        match held {
            Ok(_) => _ = self.suspected.remove(&device),
            Err(WriteError::Gone(_)) => self.lost_port = true,
            Err(_) => _ = self.silent.insert(device),
        }
    }

    /// Number of parts that were not requested so far.
    pub fn remaining(&self) -> usize {
        self.left.len()
    }

    pub fn silent_devices(&self) -> &BTreeSet<DeviceId> {
        &self.silent
    }

    pub fn has_lost_local_port(&self) -> bool {
        self.lost_port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Guid;

    #[test]
    fn a_lost_local_port_makes_no_device_silent() {
        let [one, other] = [1, 2].map(|guid| DeviceId::Switch(Guid(guid)));
        let mut queue = ReadQueue::new([one, one, other].into_iter(), &BTreeSet::new());
        assert_eq!(queue.next_slice(), [0, 1, 2]);
        queue.record_answer(one, &Ok(Vec::new()));
        assert!(!queue.has_lost_local_port());
        queue.record_answer(one, &Err(WriteError::Gone("unplugged".to_owned())));
        assert!(queue.has_lost_local_port() && queue.silent_devices().is_empty());
        queue.record_answer(other, &Err(WriteError::Silent("no answer".to_owned())));
        assert_eq!(*queue.silent_devices(), BTreeSet::from([other]));
    }
}
