//! Writes from fabdeck itself, as Sets. A fabric has no locks, so each part is compared with what the plan found before
//! it is written.

use std::time::Duration;

use super::transport::{Driver, Halt, PARTS_PER_READ, ProgressCheck, find_unrestored, read_steps};
use crate::journal::{Journal, JournalRecord, RollbackRemainder};
use crate::writes::{AlteredWrites, WriteStep};
use fabdeck_fabric::Lid;
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{Actuator, Registration, Surveyor, WriteError};

/// Number of parts that are read at once before they are written. A comparison ages: the last of these parts is written
/// only after all the others.
const COMPARED_AT_ONCE: usize = 8;

/// Sends one Set for each step, in the order of the plan.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct DirectDriver<'a>(pub &'a mut dyn Actuator);

impl Driver for DirectDriver<'_> {
    fn surveyor(&mut self) -> &mut dyn Surveyor {
        self.0
    }

    fn write(
        &mut self,
        steps: &[WriteStep],
        journal: &mut Journal,
        heed: ProgressCheck<'_>,
    ) -> Result<(), Halt> {
        let mut settled = 0;
        let failed = |step: u64, error| match error {
            WriteError::Altered { what: error, holds } => Halt::Altered { step: step as usize, error, holds },
            error => Halt::Write(error),
        };
        for marked in steps.chunks(PARTS_PER_READ) {
            for steps in marked.chunks(COMPARED_AT_ONCE) {
                let held = read_steps(self.0, steps.iter());
                for (step, held) in steps.iter().zip(held) {
                    heed(settled).map_err(Halt::Asked)?;
                    let held = held.map_err(Halt::Write)?;
                    // A part that already holds the new bytes was not written here: another writer may want the same,
                    // and may undo it later.
                    if held != step.old {
                        return Err(Halt::Drift { slot: step.slot });
                    }
                    self.0.write(&step.slot, &step.new).map_err(|error| failed(settled, error))?;
                    settled += 1;
                }
            }
            journal.append_record(&JournalRecord::Written { count: settled })?;
        }
        heed(settled).map_err(Halt::Asked)
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.0.notify(notices, whom, patience)
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.0.register(registration)
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.0.unregister(registration)
    }

    fn compares_answers(&self) -> bool {
        true
    }

    /// Undoes the last write first, so that the fabric passes through the states of the way there in reverse.
    fn roll_back(
        &mut self,
        steps: &[WriteStep],
        altered: &mut AlteredWrites,
        told: &mut dyn FnMut(u64),
    ) -> Vec<RollbackRemainder> {
        let mut left = Vec::new();
        let mut settled = 0;
        let all = steps.len();
        for steps in steps.rchunks(COMPARED_AT_ONCE) {
            let held = read_steps(self.0, steps.iter().rev());
            for (step, held) in steps.iter().rev().zip(held) {
                let at = all - 1 - settled as usize;
                let undone = held.and_then(|held| self.undo_step(step, &held, altered.get(&at)));
                if let Err(error) = undone {
                    if let WriteError::Altered { holds, .. } = &error {
                        altered.insert(at, holds.clone());
                    }
                    left.push(RollbackRemainder { what: step.slot.to_string(), why: error.to_string() });
                }
                settled += 1;
                told(settled);
            }
        }
        if left.is_empty() { find_unrestored(self.0, steps) } else { left }
    }
}

impl DirectDriver<'_> {
    /// Bytes that the device made of a write come from this change too, and are overwritten.
    fn undo_step(
        &mut self,
        step: &WriteStep,
        held: &[u8],
        altered: Option<&Vec<u8>>,
    ) -> Result<(), WriteError> {
        if held == step.old {
            return Ok(());
        }
        if held != step.new && altered.is_none_or(|altered| held != altered) {
            return Err(WriteError::Refused("another tool has written there since".to_owned()));
        }
        self.0.write(&step.slot, &step.old)
    }
}
