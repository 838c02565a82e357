//! Reads parts of many devices in slices. A device without an answer costs the time of one request, however many of its
//! parts are queued.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_mad::access::{Device, WriteError};

/// Number of parts that are requested at once.
const STRIDE: usize = 64;
/// Number of parts of one device that are requested at once.
const OF_ONE_DEVICE: usize = 8;

/// The parts that are left to read, and the devices that did not answer.
pub(super) struct ReadQueue {
    /// The index of each part in the caller's list, and its device.
    left: Vec<(usize, Device)>,
    /// Devices that did not answer, and are not asked again by this queue.
    silent: BTreeSet<Device>,
    /// Devices that did not answer the last time. They are asked last, for one part until they answer.
    suspected: BTreeSet<Device>,
    /// Whether the local port was lost.
    lost_port: bool,
}

impl ReadQueue {
    /// `devices`: the device of each part in the caller's list.
    pub fn new(devices: impl Iterator<Item = Device>, suspected: &BTreeSet<Device>) -> Self {
        let mut left: Vec<(usize, Device)> = devices.enumerate().collect();
        left.sort_by_key(|(_, device)| suspected.contains(device));
        Self { left, silent: BTreeSet::new(), suspected: suspected.clone(), lost_port: false }
    }

    /// The indices of the parts to read next; empty at the end.
    pub fn slice(&mut self) -> Vec<usize> {
        let (mut slice, mut asked) = (Vec::new(), BTreeMap::<Device, usize>::new());
        self.left.retain(|(at, device)| {
            if slice.len() == STRIDE {
                return true;
            }
            if self.silent.contains(device) {
                return false;
            }
            let count = asked.entry(*device).or_default();
            *count += 1;
            let most = if self.suspected.contains(device) { 1 } else { OF_ONE_DEVICE };
            if *count <= most {
                slice.push(*at);
            }
            *count > most
        });
        slice
    }

    /// Records whether a device answered.
    pub fn take(&mut self, device: Device, held: &Result<Vec<u8>, WriteError>) {
        match held {
            Ok(_) => _ = self.suspected.remove(&device),
            Err(WriteError::Gone(_)) => self.lost_port = true,
            Err(_) => _ = self.silent.insert(device),
        }
    }

    /// Number of parts that were not requested so far.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    pub fn silent(&self) -> &BTreeSet<Device> {
        &self.silent
    }

    pub fn has_lost_port(&self) -> bool {
        self.lost_port
    }
}
