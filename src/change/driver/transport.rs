//! The trait of all drivers, and how their writes are verified.

use std::time::Duration;

use crate::journal::{Journal, JournalError, RollbackRemainder};
use crate::writes::{AlteredWrites, WriteStep};
use fabdeck_fabric::Lid;
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{AttributePart, DeviceAttribute, Registration, Surveyor, WriteError};

/// Number of parts that are read at once.
pub(crate) const PARTS_PER_READ: usize = 64;

/// Why a change stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    #[error(
        "FD-5621: {slot} is no longer what it was when the plan was made: another tool has written it. fabdeck left it as it is; make a new plan"
    )]
    Drift { slot: DeviceAttribute },
    #[error(
        "FD-5622: {slot} was written and reads back differently: another tool writes there, or the switch stored it wrongly; find the tool, often the subnet manager"
    )]
    Otherwise { slot: DeviceAttribute },
    #[error(
        "FD-5630: {slot} reads back differently, though the switch confirmed the value that was sent: another tool has \
         written there since; find the tool, often the subnet manager"
    )]
    Overwritten { slot: DeviceAttribute },
    /// The device answered the step with this number with other bytes than were sent.
    #[error("{error}")]
    Altered { step: usize, error: String, holds: Vec<u8> },
    #[error(
        "FD-5629: another tool wrote to the fabric during the change: {0}; find the tool, often the subnet manager, then make a new plan"
    )]
    Beside(String),
    #[error(transparent)]
    Write(WriteError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An error of one driver, in its own words.
    #[error("{0}")]
    Road(String),
    #[error("FD-5623: the change was stopped: {0}")]
    Asked(String),
    #[error(
        "FD-5661: it is not known whether {0} left the base LIDs, so nothing was written; check their agents, or \
         apply the plan with --unanswered wait or go-on"
    )]
    Unanswered(String),
    #[error(
        "FD-5662: it is not known whether {0} left the base LIDs, and continuing without them is not shown to be \
         safe, so nothing was written"
    )]
    Unsafe(String),
    #[error(
        "FD-5624: a write was about to go out before its journal was durable; this is a bug in fabdeck, and nothing \
         more was written"
    )]
    NotDurable,
}

impl Halt {
    /// Whether hosts did not follow, and the change stops for that alone.
    pub fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered(_) | Self::Unsafe(_))
    }
}

/// Called with the number of settled writes; an error stops the change before the next write.
pub type ProgressCheck<'a> = &'a mut dyn FnMut(u64) -> Result<(), String>;

/// Message for a driver that has no process of OpenSM to name.
pub const NOT_VIA_OPENSM: &str =
    "FD-5645: the change does not go through OpenSM: there is no process to name; leave out --opensm-process";

/// Writes to a fabric, directly or through OpenSM.
pub trait Driver {
    /// The reader of the fabric, whatever the driver.
    fn surveyor(&mut self) -> &mut dyn Surveyor;

    /// Applies the steps to a fabric in the state that they expect. The journal already holds all steps durably.
    fn write(
        &mut self,
        steps: &[WriteStep],
        journal: &mut Journal,
        heed: ProgressCheck<'_>,
    ) -> Result<(), Halt>;

    /// Sends path-change notices to hosts through the subnet manager. Returns which of `whom` have answered within
    /// `patience`.
    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError>;

    /// Registers the change with the subnet manager, where other machines see it.
    fn register(&mut self, registration: &Registration) -> Result<(), WriteError>;

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError>;

    /// Why a rollback has to wait for the subnet manager that does its writes. `None`: it can start.
    fn await_manager(&mut self) -> Option<String> {
        None
    }

    /// Uses another process of OpenSM from now on.
    fn name_opensm(&mut self, _: &str) -> Result<(), String> {
        Err(NOT_VIA_OPENSM.to_owned())
    }

    /// Whether each Set's answer is compared with what was sent. If so, a part that later differs was written by
    /// another writer.
    fn compares_answers(&self) -> bool {
        false
    }

    /// Restores the old values of parts that hold what the steps wrote, or what devices made of it. The callback gets
    /// the number of settled steps.
    fn roll_back(
        &mut self,
        steps: &[WriteStep],
        altered: &mut AlteredWrites,
        told: &mut dyn FnMut(u64),
    ) -> Vec<RollbackRemainder>;
}

/// Reads every part back and compares it with what was written.
pub fn verify_writes(driver: &mut dyn Driver, steps: &[WriteStep]) -> Result<(), Halt> {
    let compared = driver.compares_answers();
    for steps in steps.chunks(PARTS_PER_READ) {
        for (step, held) in steps.iter().zip(read_steps(driver.surveyor(), steps.iter())) {
            if held.map_err(Halt::Write)? != step.new {
                let slot = step.slot;
                // A port's answer is not compared: the state follows from the link.
                let foreign = compared && !matches!(slot.part, AttributePart::Port(_));
                return Err(if foreign { Halt::Overwritten { slot } } else { Halt::Otherwise { slot } });
            }
        }
    }
    Ok(())
}

/// The parts that do not hold what they held before the change.
pub fn find_unrestored(surveyor: &mut dyn Surveyor, steps: &[WriteStep]) -> Vec<RollbackRemainder> {
    let mut left = Vec::new();
    for steps in steps.chunks(PARTS_PER_READ) {
        for (step, held) in steps.iter().zip(read_steps(surveyor, steps.iter())) {
            let why = match held {
                Ok(held) if held == step.old => continue,
                Ok(_) => "it reads back differently".to_owned(),
                Err(error) => error.to_string(),
            };
            left.push(RollbackRemainder { what: step.slot.to_string(), why });
        }
    }
    left
}

pub(crate) fn read_steps<'s>(
    surveyor: &mut dyn Surveyor,
    steps: impl Iterator<Item = &'s WriteStep>,
) -> Vec<Result<Vec<u8>, WriteError>> {
    let slots: Vec<DeviceAttribute> = steps.map(|step| step.slot).collect();
    surveyor.read(&slots)
}
