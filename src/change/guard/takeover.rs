//! An applied change that a guard takes over. The guard before may have begun to take it back while its disk failed, so that
//! the journal still says that the change waits: the fabric tells.

use super::confirmation::Confirmation;
use super::drift_state::DriftState;
use super::guard_run::GuardRun;
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

const RETURN_BEGUN: &str = "a part has its old value: the guard before this one had begun the rollback";

const UNKNOWN: &str = "FD-5647: the fabric does not answer, so it is not known whether the guard before this one had \
 begun the rollback; confirm the change again when the fabric answers";

impl GuardRun<'_> {
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

    /// Goes on with an applied change, or takes it back where that was begun.
    pub(crate) fn resume_wait(&mut self, steps: &[WriteStep]) -> Result<(), JournalError> {
        let found = self.read_parts(steps);
        self.return_unknown = found == FoundParts::Nothing;
        match found {
            FoundParts::OldBytes => self.roll_back(steps, RETURN_BEGUN, false),
            FoundParts::Nothing | FoundParts::NewBytes => self.wait(steps),
        }
    }

    /// Decides whether the change may be confirmed. Where no switch answered at the takeover, the written attributes are read
    /// once more. A refusal is sent to the asker here.
    pub(crate) fn settle_confirmation(&mut self, steps: &[WriteStep], order: &QueuedRequest) -> Confirmation {
        if !self.return_unknown {
            return Confirmation::Allowed;
        }
        // This also finds routes to switches that are reached again.
        self.find_routes(steps);
        let found = self.read_parts(steps);
        self.return_unknown = found == FoundParts::Nothing;
        match found {
            FoundParts::NewBytes => Confirmation::Allowed,
            FoundParts::Nothing => {
                self.refuse(order, UNKNOWN.to_owned());
                Confirmation::NotYet
            }
            FoundParts::OldBytes => {
                self.refuse(order, RETURN_BEGUN.to_owned());
                Confirmation::TakenBack(self.roll_back(steps, RETURN_BEGUN, false))
            }
        }
    }

    /// Records the confirmation and answers the request.
    pub(crate) fn confirm(
        &mut self,
        steps: &[WriteStep],
        order: &QueuedRequest,
        (user, seen): (&str, &mut DriftState),
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
