//! What a waiting guard knows of foreign writes, and the reading that is under way.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::read_queue::ReadQueue;
use crate::writes::WriteStep;
use fabdeck_mad::access::{DeviceAttribute, DeviceId, WriteError};

/// Smallest rest of the window for reading: a device without an answer takes three seconds.
pub(crate) const DEADLINE_MARGIN: Duration = Duration::from_secs(4);

/// The result of the last reading.
#[derive(Default)]
pub(crate) struct DriftState {
    pub over: BTreeSet<DeviceAttribute>,
    pub silent: BTreeSet<DeviceId>,
    pub words: Option<String>,
    /// Parts that could not be read.
    pub trouble: Option<String>,
    pub round: Option<DriftRound>,
}

/// A reading that is under way.
pub(crate) struct DriftRound {
    pub queue: ReadQueue,
    pub over: BTreeSet<DeviceAttribute>,
    pub aimed: bool,
}

impl DriftState {
    pub fn is_checking(&self) -> bool {
        self.round.is_some()
    }

    /// Starts a reading from the beginning.
    pub fn begin_round(&mut self, steps: &[WriteStep]) {
        let queue = ReadQueue::new(steps.iter().map(|step| step.slot.at), &self.silent);
        // A part that cannot be read now keeps its last known state.
        self.round = Some(DriftRound { queue, over: self.over.clone(), aimed: false });
    }
}

impl DriftRound {
    pub fn record_part(&mut self, step: &WriteStep, held: Result<Vec<u8>, WriteError>) {
        self.queue.record_answer(step.slot.at, &held);
        if let Ok(held) = held {
            match held == step.new {
                true => self.over.remove(&step.slot),
                false => self.over.insert(step.slot),
            };
        }
    }
}
