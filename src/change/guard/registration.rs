//! A pending change is registered with the subnet manager, so that other machines see it and write nothing beside it.
//!
//! The registration outlives its guard, since a change is still pending if its machine is down. The guard renews it,
//! which a restarted subnet manager needs too. If no subnet manager stores it, the change goes on without.

use std::time::Duration;

use super::guard_run::Guard;
use super::registration_state::registration_conflict;
use super::window::window_left;
use crate::journal::{ChangePhase, JournalError, JournalRecord};
use crate::system::{LocalSystem, System};
use fabdeck_mad::access::{Registration, RegistrationLookup};

/// How often the registration is renewed; below, how often it is retried if no subnet manager stores it.
const RENEW_INTERVAL: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_secs(20);
/// Smallest rest of the window for a request to the subnet manager, whose silence takes some seconds.
const MANAGER_MARGIN: Duration = Duration::from_secs(15);
/// How long the registration outlasts the window of a change without a guard: its machine may return and roll it back.
const LIFETIME_MARGIN: Duration = Duration::from_secs(3600);
/// No other machine takes a change over whose registration was renewed this short a time ago.
const SAFE_AGE: Duration = Duration::from_secs(40);

impl Guard<'_> {
    /// Registers the change before the first write. Two machines that register at the same time see each other, and
    /// neither goes on.
    pub(crate) fn register_first(&mut self) -> Result<Option<String>, JournalError> {
        // A simulator that ends with this process has no other machines.
        if self.home.is_none() {
            return Ok(None);
        }
        let id = self.state.begun.id.clone();
        let found = self.driver.surveyor().read_registration();
        match &found {
            RegistrationLookup::One(other) if self.is_over_here(other) => {
                // The end of that change did not reach the subnet manager.
                let _ = self.driver.unregister(other);
            }
            found => {
                if let Some(why) = registration_conflict(found, &id) {
                    return Ok(Some(why));
                }
            }
        }
        if let RegistrationLookup::NotKept(why) = found {
            self.note_unregistered(&why);
            return Ok(None);
        }
        let window = Duration::from_secs(self.state.begun.window_s);
        if !self.register_anew(window)? {
            return Ok(None);
        }
        let found = self.driver.surveyor().read_registration();
        let why = registration_conflict(&found, &id);
        if why.is_some() {
            self.unregister();
        }
        Ok(why)
    }

    /// Whether the registration belongs to a change of the same state folder that has ended.
    fn is_over_here(&self, other: &Registration) -> bool {
        let kept = self.home.and_then(|home| home.find(&other.change).ok());
        kept.is_some_and(|kept| !kept.read.state.phase.is_pending())
    }

    /// Replaces the registration of the previous guard by one with its own epoch.
    ///
    /// Failures are logged only: a journal that fails must not stop a rollback.
    pub(crate) fn resume_registration(&mut self) {
        // A rollback does not wait for a subnet manager.
        if self.home.is_none() || window_left(&self.state, self.clock) < MANAGER_MARGIN {
            return;
        }
        match self.driver.surveyor().read_registration() {
            RegistrationLookup::NotKept(why) => self.note_unregistered(&why),
            found => {
                self.memory.registering.trouble = registration_conflict(&found, &self.state.begun.id);
                self.replace_registration(&found);
                if let Err(error) = self.register_anew(window_left(&self.state, self.clock)) {
                    (self.log)(&error.to_string());
                }
            }
        }
    }

    /// Removes the previous guard's registration: through another port, it would stay beside the new one.
    fn replace_registration(&mut self, found: &RegistrationLookup) {
        if let RegistrationLookup::One(before) = found
            && before.change == self.state.begun.id
        {
            let _ = self.driver.unregister(before);
        }
    }

    /// Writes the journal first, then registers.
    fn register_anew(&mut self, window: Duration) -> Result<bool, JournalError> {
        // A journal in memory has no epochs.
        let epoch = self.journal.epoch().max(1);
        let host = self.home.map(|home| home.system().host_name()).unwrap_or_default();
        let (time, boot, user) = (self.time(), self.clock.boot_time().boot, self.user());
        let record = JournalRecord::Registered { time, host: host.clone(), boot, epoch };
        self.record(
            record,
            "registered",
            &user,
            &format!("for {host} with the subnet manager, number {epoch}"),
        )?;
        let lease = window + LIFETIME_MARGIN;
        let change = self.state.begun.id.clone();
        let registration = Registration { change, host, port: None, epoch, beat: 0, lease };
        match self.driver.register(&registration) {
            Ok(()) => {
                self.memory.registering.held = Some(registration);
                self.memory.registering.renewed = Some(self.clock.boot_time());
                self.memory.registering.due = Some(self.clock.boot_time().plus(RENEW_INTERVAL));
                Ok(true)
            }
            Err(error) => {
                self.note_unregistered(&error.to_string());
                Ok(false)
            }
        }
    }

    fn note_unregistered(&mut self, why: &str) {
        let user = self.user();
        self.audit("not registered", &user, &format!("other machines do not see this change: {why}"));
        self.memory.registering.due = Some(self.clock.boot_time().plus(RETRY_INTERVAL));
    }

    /// Renews the registration when due, and checks for a newer guard or another machine.
    pub(crate) fn renew_registration(&mut self) {
        let now = self.clock.boot_time();
        let is_due = self
            .memory
            .registering
            .due
            .as_ref()
            .is_some_and(|due| due.until(&now).is_some_and(|late| !late.is_zero()));
        let left = match self.state.phase {
            ChangePhase::Applied => window_left(&self.state, self.clock),
            _ => Duration::from_secs(self.state.begun.window_s),
        };
        if !is_due || left < MANAGER_MARGIN {
            return;
        }
        // A failure is retried, but not at every turn.
        self.memory.registering.due = Some(now.plus(RETRY_INTERVAL));
        let found = self.driver.surveyor().read_registration();
        if let RegistrationLookup::NotKept(_) = found {
            return;
        }
        self.memory.registering.trouble = registration_conflict(&found, &self.state.begun.id);
        let Some(held) = &mut self.memory.registering.held else {
            // A subnet manager that stores registrations is back. If the journal fails, the guard retries.
            let _ = self.register_anew(left);
            return;
        };
        if let RegistrationLookup::One(other) = &found
            && other.change == held.change
            && other.epoch > held.epoch
        {
            // Any machine can register anything, so the journal decides.
            self.memory.registering.superseded = self.journal.is_superseded();
            self.memory.registering.trouble =
                Some(format!("machine {} has registered this change too, with a higher number", other.host));
            self.memory.registering.due = Some(now.plus(RENEW_INTERVAL));
            return;
        }
        held.beat = held.beat.wrapping_add(1);
        held.lease = left + LIFETIME_MARGIN;
        if self.driver.register(&held.clone()).is_ok() {
            self.memory.registering.due = Some(now.plus(RENEW_INTERVAL));
            self.memory.registering.renewed = Some(self.clock.boot_time());
        }
    }

    /// Whether another guard keeps the change, or has ended it. The journal says so. Where it cannot be read, as in a shared
    /// folder that is out of reach, the subnet manager does: a registration that was not renewed for long, and is gone or
    /// replaced, was taken over by another machine.
    pub(super) fn is_superseded(&mut self) -> bool {
        if !self.journal.is_unreadable() {
            return self.journal.is_superseded();
        }
        let (now, renewed) = (self.clock.boot_time(), self.memory.registering.renewed.as_ref());
        let is_recent = renewed.and_then(|at| at.until(&now)).is_none_or(|age| age < SAFE_AGE);
        let Some(held) = self.memory.registering.held.clone().filter(|_| !is_recent) else { return false };
        let is_taken_over = match self.driver.surveyor().read_registration() {
            RegistrationLookup::NotKept(_) => false,
            RegistrationLookup::One(found) => found.change != held.change || found.epoch > held.epoch,
            RegistrationLookup::Nothing | RegistrationLookup::Several => true,
        };
        if is_taken_over {
            self.journal.mark_superseded();
        }
        is_taken_over
    }

    /// Removes the registration, so that other machines can begin a change. A previous guard may have made it.
    pub(crate) fn unregister(&mut self) {
        if self.home.is_none()
            || self.state.epoch == 0
            || std::mem::replace(&mut self.memory.registering.ended, true)
        {
            return;
        }
        let user = self.user();
        let found = self.driver.surveyor().read_registration();
        let change = self.state.begun.id.clone();
        let own = match found {
            RegistrationLookup::One(found) if found.change == change => Some(found),
            RegistrationLookup::Nothing => None,
            _ => self.memory.registering.held.clone(),
        };
        let Some(own) = own else { return };
        match self.driver.unregister(&own) {
            Ok(()) => self.audit("unregistered", &user, ""),
            Err(error) => {
                self.audit("unregistered", &user, &format!("the registration ends with its lease: {error}"))
            }
        }
    }
}

/// The name of this machine.
pub fn host_name() -> String {
    LocalSystem.host_name()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_of_this_machine_is_that_of_the_kernel() {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(super::host_name(), kernel.trim());
        assert!(!super::host_name().is_empty());
    }
}
