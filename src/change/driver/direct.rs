//! Sets from fabdeck itself. Every part is compared with what the plan found there before it is written, for a fabric
//! has no locks.

use super::road::{Driver, Halt, Heed, STRIDE, not_back, read};
use crate::access::{Actuator, Surveyor, WriteError};
use crate::change::journal::{Journal, Left, Record};
use crate::change::writes::Step;

/// One datagram a step, in the order of the plan.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Direct<'a>(pub &'a mut dyn Actuator);

impl Driver for Direct<'_> {
    fn surveyor(&mut self) -> &mut dyn Surveyor {
        self.0
    }

    fn write(&mut self, steps: &[Step], journal: &mut Journal, heed: Heed<'_>) -> Result<(), Halt> {
        let mut settled = 0;
        for steps in steps.chunks(STRIDE) {
            let held = read(self.0, steps.iter());
            for (step, held) in steps.iter().zip(held) {
                heed(settled).map_err(Halt::Asked)?;
                let held = held.map_err(Halt::Write)?;
                if held == step.old {
                    self.0.write(&step.slot, &step.new).map_err(Halt::Write)?;
                } else if held != step.new {
                    return Err(Halt::Drift { slot: step.slot });
                }
                settled += 1;
            }
            journal.mark(&Record::Written { count: settled })?;
        }
        heed(settled).map_err(Halt::Asked)
    }

    /// The last write first, so that the fabric passes through the states of the way there.
    fn take_back(&mut self, steps: &[Step], told: &mut dyn FnMut(u64)) -> Vec<Left> {
        let mut left = Vec::new();
        let mut settled = 0;
        for steps in steps.rchunks(STRIDE) {
            let held = read(self.0, steps.iter().rev());
            for (step, held) in steps.iter().rev().zip(held) {
                if let Err(error) = held.and_then(|held| self.undo(step, &held)) {
                    left.push(Left { what: step.slot.to_string(), why: error.to_string() });
                }
                settled += 1;
                told(settled);
            }
        }
        if left.is_empty() { not_back(self.0, steps) } else { left }
    }
}

impl Direct<'_> {
    fn undo(&mut self, step: &Step, held: &[u8]) -> Result<(), WriteError> {
        if held == step.old {
            return Ok(());
        }
        if held != step.new {
            return Err(WriteError::Refused("somebody else has written there since".to_owned()));
        }
        self.0.write(&step.slot, &step.old)
    }
}
