//! What every road has to do, and how it is known that it did.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::journal::{Journal, JournalError, Left};
use crate::writes::Step;
use fabdeck_fabric::Lid;
use fabdeck_mad::Repath;
use fabdeck_mad::access::{Part, Registration, Slot, Surveyor, WriteError};

/// Parts that are asked for at once.
pub(super) const STRIDE: usize = 64;

/// Why it did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    #[error(
        "FD-5621: {slot} is not as the plan found it: somebody else has written there; nothing was written over it"
    )]
    Drift { slot: Slot },
    #[error(
        "FD-5622: {slot} was written and reads back otherwise: somebody else writes there, or the switch took it wrong"
    )]
    Otherwise { slot: Slot },
    #[error(
        "FD-5630: {slot} reads back otherwise, though the switch answered that it holds what was sent: somebody else has \
         written there since"
    )]
    Overwritten { slot: Slot },
    /// Of the step with this number the device answered other bytes than were sent.
    #[error("{error}")]
    Altered { step: usize, error: String, holds: Vec<u8> },
    #[error("FD-5629: while it was written somebody else wrote beside it: {0}")]
    Beside(String),
    #[error(transparent)]
    Write(WriteError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What only this road knows, in its own words.
    #[error("{0}")]
    Road(String),
    #[error("FD-5623: it was ended: {0}")]
    Asked(String),
    #[error(
        "FD-5661: it is not known that {0} left the base LIDs, so nothing was written; look after their agents, or apply it \
         with --unanswered wait or go-on"
    )]
    Unanswered(String),
    #[error(
        "FD-5662: it is not known that {0} left the base LIDs, and going on without them is not shown to be safe, so nothing \
         was written"
    )]
    Unsafe(String),
    #[error(
        "FD-5624: a write was about to go out before its journal was durable; this is a bug in fabdeck, and nothing \
         more was written"
    )]
    NotDurable,
}

impl Halt {
    /// Hosts did not follow, and nobody asked for an end.
    pub fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered(_) | Self::Unsafe(_))
    }
}

/// Whoever waits: told how many writes are settled; a reason ends it before the next write.
pub type Heed<'a> = &'a mut dyn FnMut(u64) -> Result<(), String>;

/// Bytes that devices answered instead of those that were sent to them, by the number of the step.
pub type AlteredWrites = BTreeMap<usize, Vec<u8>>;

/// Why no process of OpenSM can be named.
pub const NOT_THROUGH_OPENSM: &str =
    "FD-5645: the change does not go through OpenSM: there is no process to name; leave out --opensm-process";

/// A road to a fabric.
pub trait Driver {
    /// Who reads the fabric, whatever the road.
    fn surveyor(&mut self) -> &mut dyn Surveyor;

    /// Brings the fabric to what the steps lead to, from what they found there. The journal holds all of them durably.
    fn write(&mut self, steps: &[Step], journal: &mut Journal, heed: Heed<'_>) -> Result<(), Halt>;

    /// Tells hosts through the subnet manager which flows to move; who of these has answered within this time.
    fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError>;

    /// Registers the change with the subnet manager, for other machines to see.
    fn register(&mut self, registration: &Registration) -> Result<(), WriteError>;

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError>;

    /// Why a rollback has to wait for the subnet manager that does its writes; `None`: it need not.
    fn await_manager(&mut self) -> Option<String> {
        None
    }

    /// Has OpenSM told by another process from now on.
    fn name_opensm(&mut self, _: &str) -> Result<(), String> {
        Err(NOT_THROUGH_OPENSM.to_owned())
    }

    /// Whether each Set's answer is compared with what was sent, so that what reads back otherwise later is a foreign write.
    fn compares_answers(&self) -> bool {
        false
    }

    /// Brings it back to what was before, as far as it holds what the steps wrote, or what devices made of that; `told` hears
    /// how many are settled.
    fn take_back(
        &mut self,
        steps: &[Step],
        altered: &mut AlteredWrites,
        told: &mut dyn FnMut(u64),
    ) -> Vec<Left>;
}

/// Reads everything back.
pub fn verify(driver: &mut dyn Driver, steps: &[Step]) -> Result<(), Halt> {
    let compared = driver.compares_answers();
    for steps in steps.chunks(STRIDE) {
        for (step, held) in steps.iter().zip(read(driver.surveyor(), steps.iter())) {
            if held.map_err(Halt::Write)? != step.new {
                let slot = step.slot;
                // The answer to a port's state is not compared: the link makes the state.
                let foreign = compared && !matches!(slot.part, Part::Port(_));
                return Err(if foreign { Halt::Overwritten { slot } } else { Halt::Otherwise { slot } });
            }
        }
    }
    Ok(())
}

/// What does not hold what it held before the change.
pub fn not_back(surveyor: &mut dyn Surveyor, steps: &[Step]) -> Vec<Left> {
    let mut left = Vec::new();
    for steps in steps.chunks(STRIDE) {
        for (step, held) in steps.iter().zip(read(surveyor, steps.iter())) {
            let why = match held {
                Ok(held) if held == step.old => continue,
                Ok(_) => "it reads back otherwise".to_owned(),
                Err(error) => error.to_string(),
            };
            left.push(Left { what: step.slot.to_string(), why });
        }
    }
    left
}

pub(super) fn read<'s>(
    surveyor: &mut dyn Surveyor,
    steps: impl Iterator<Item = &'s Step>,
) -> Vec<Result<Vec<u8>, WriteError>> {
    let slots: Vec<Slot> = steps.map(|step| step.slot).collect();
    surveyor.read(&slots)
}
