//! An applied change that a guard takes over. The journal says that it waits, so it waits until its deadline.
//!
//! A part with its old bytes has two explanations: another tool wrote it, or the guard before had begun the rollback
//! while its disk failed, so that the journal has no record of it. The fabric cannot tell which. The change is therefore
//! not rolled back before its deadline, and cannot be confirmed while parts of it are missing.

use super::clock_steps::ClockStepWatch;
use super::drift_state::DriftState;
use super::guard_run::Guard;
use super::protocol::QueuedRequest;
use crate::journal::{JournalError, JournalRecord};
use crate::writes::WriteStep;
use fabdeck_mad::access::DeviceAttribute;

/// What parts of the change hold after a takeover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoundParts {
    /// No part answered.
    Nothing,
    /// A part holds what it held before the change.
    OldBytes,
    NewBytes,
}

const HALF_BACK: &str = "FD-5647: a part has its old value: another tool wrote it, or the guard before this one had \
 begun the rollback and could not record it; so the change cannot be confirmed. It is rolled back at its deadline; \
 'fabdeck rollback' does that now";

const UNKNOWN: &str = "FD-5647: the fabric does not answer, so it is not known whether the guard before this one had \
 begun the rollback; confirm the change again when the fabric answers";

impl Guard<'_> {
    fn read_parts(&mut self, steps: &[WriteStep]) -> FoundParts {
        let slots: Vec<DeviceAttribute> = steps.iter().map(|step| step.slot).collect();
        let held = self.driver.surveyor().read(&slots);
        let mut known = held.iter().zip(steps).filter_map(|(held, step)| Some((held.as_ref().ok()?, step)));
        let mut found = FoundParts::Nothing;
        if known.any(|(held, step)| {
            found = FoundParts::NewBytes;
            *held == step.old
        }) {
            return FoundParts::OldBytes;
        }
        found
    }

    /// Goes on with an applied change.
    pub(super) fn resume_wait(&mut self, steps: &[WriteStep]) -> Result<(), JournalError> {
        self.memory.return_unknown = self.read_parts(steps) != FoundParts::NewBytes;
        let clock_steps = ClockStepWatch::since_record(&self.state, self.clock);
        self.wait(steps, clock_steps)
    }

    /// Whether the change may be confirmed. Where a part was missing or no switch answered at the takeover, the written
    /// attributes are read once more. A refusal is sent to the asker here.
    pub(super) fn can_be_confirmed(&mut self, steps: &[WriteStep], order: &QueuedRequest) -> bool {
        if !self.memory.return_unknown {
            return true;
        }
        // This also finds routes to switches that are reached again.
        self.find_routes(steps);
        let found = self.read_parts(steps);
        self.memory.return_unknown = found != FoundParts::NewBytes;
        match found {
            FoundParts::NewBytes => {}
            FoundParts::Nothing => self.refuse(order, UNKNOWN.to_owned()),
            FoundParts::OldBytes => self.refuse(order, HALF_BACK.to_owned()),
        }
        !self.memory.return_unknown
    }

    /// Records the confirmation and answers the request.
    pub(crate) fn confirm(
        &mut self,
        steps: &[WriteStep],
        order: &QueuedRequest,
        user: &str,
        seen: &mut DriftState,
    ) -> Result<(), JournalError> {
        self.check_before_confirm(steps, seen);
        let record = JournalRecord::Confirmed { time: self.time(), user: user.to_owned() };
        match self.record(record, "confirmed", user, "") {
            Ok(()) => {
                self.answer(order, seen);
                Ok(())
            }
            Err(error) => self.roll_back_undurable(steps, order, &error),
        }
    }

    /// A decision that cannot be stored durably is refused, and the change is rolled back.
    pub(crate) fn roll_back_undurable(
        &mut self,
        steps: &[WriteStep],
        order: &QueuedRequest,
        error: &JournalError,
    ) -> Result<(), JournalError> {
        let why = error.to_string();
        self.refuse(
            order,
            format!(
                "{why}; a decision that cannot be recorded does not count, so the change is rolled back now"
            ),
        );
        self.roll_back(steps, &why, false)
    }
}
