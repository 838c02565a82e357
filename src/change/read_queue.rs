//! Parts of many devices that are to be read, in slices. A device that does not answer costs the time of one question,
//! however many of its parts are queued.

use std::collections::{BTreeMap, BTreeSet};

use fabdeck_mad::access::{Device, WriteError};

/// Parts that are asked for at once.
const STRIDE: usize = 64;
/// As many of these of one device as are on their way to it at once.
const OF_ONE_DEVICE: usize = 8;

/// What is still to be read, and which devices did not answer.
pub(super) struct ReadQueue {
    /// The place of each part in the list that the caller has, with its device.
    left: Vec<(usize, Device)>,
    /// They are not asked again by this queue.
    silent: BTreeSet<Device>,
    /// They did not answer the last time: asked last, and for one part until they answer.
    suspected: BTreeSet<Device>,
    /// The port that everything goes through was lost.
    lost_port: bool,
}

impl ReadQueue {
    /// `devices`: of each part in the caller's list, the device that holds it.
    pub fn new(devices: impl Iterator<Item = Device>, suspected: &BTreeSet<Device>) -> Self {
        let mut left: Vec<(usize, Device)> = devices.enumerate().collect();
        left.sort_by_key(|(_, device)| suspected.contains(device));
        Self { left, silent: BTreeSet::new(), suspected: suspected.clone(), lost_port: false }
    }

    /// The places of the parts that are read next; none: the queue is through.
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

    /// How many parts were not asked for yet.
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
