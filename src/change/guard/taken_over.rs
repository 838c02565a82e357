//! An applied change that a guard takes over. The guard before may have begun to take it back while its disk failed, so that
//! the journal still says that the change waits: the fabric tells.

use super::ask::Order;
use super::keeper::Keeper;
use crate::journal::JournalError;
use crate::writes::Step;
use fabdeck_mad::access::Slot;

/// What parts of the change hold after a takeover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// No part answered.
    Nothing,
    /// A part holds what it held before the change.
    OldBytes,
    NewBytes,
}

/// What becomes of a request to confirm a change.
pub(super) enum Confirmation {
    Allowed,
    NotYet,
    /// The change went back, or could not.
    TakenBack(Result<(), JournalError>),
}

const RETURN_BEGUN: &str =
    "a part holds what it held before: the guard before this one had begun to take the change back";

const UNKNOWN: &str = "FD-5647: nothing of the fabric answers, so whether the guard before this one had begun to take the change \
                       back is not known; confirm it again when the fabric answers";

impl Keeper<'_> {
    fn found_parts(&mut self, steps: &[Step]) -> Found {
        let slots: Vec<Slot> = steps.iter().map(|step| step.slot).collect();
        let held = self.driver.surveyor().read(&slots);
        let mut known = held.iter().zip(steps).filter_map(|(held, step)| Some((held.as_ref().ok()?, step)));
        let mut found = Found::Nothing;
        if known.any(|(held, step)| {
            found = Found::NewBytes;
            *held == step.old
        }) {
            return Found::OldBytes;
        }
        found
    }

    /// Goes on with an applied change, or takes it back where that was begun.
    pub(super) fn wait_on(&mut self, steps: &[Step]) -> Result<(), JournalError> {
        let found = self.found_parts(steps);
        self.return_unknown = found == Found::Nothing;
        match found {
            Found::OldBytes => self.take_back(steps, RETURN_BEGUN, false),
            Found::Nothing | Found::NewBytes => self.wait(steps),
        }
    }

    /// Whether the change may be confirmed; looks once more where nothing answered at the takeover. What is refused here is
    /// answered.
    pub(super) fn confirmation(&mut self, steps: &[Step], order: &Order) -> Confirmation {
        if !self.return_unknown {
            return Confirmation::Allowed;
        }
        // A look opens the way to the fabric again.
        self.aim(steps);
        let found = self.found_parts(steps);
        self.return_unknown = found == Found::Nothing;
        match found {
            Found::NewBytes => Confirmation::Allowed,
            Found::Nothing => {
                self.refuse(order, UNKNOWN.to_owned());
                Confirmation::NotYet
            }
            Found::OldBytes => {
                self.refuse(order, RETURN_BEGUN.to_owned());
                Confirmation::TakenBack(self.take_back(steps, RETURN_BEGUN, false))
            }
        }
    }
}
