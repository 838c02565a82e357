//! The rollback over a fabric that may be unreachable: the change stays pending, and the guard retries.

use std::collections::BTreeSet;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::guard_run::{Guard, busy_text};
use super::protocol::{ChangeStatus, GuardAnswer, GuardRequest, QueuedRequest};
use super::rollback_outlook::switched_ports;
use super::window::retry_time_left;
use crate::clock::Stopwatch;
use crate::journal::{ChangePhase, JournalError, JournalRecord, RetryLimit, RollbackRemainder};
use crate::writes::WriteStep;
use fabdeck_fabric::Guid;
use fabdeck_mad::access::{DeviceId, NoObserver, ReadOptions};

/// How long the rollback retries on an unreachable fabric, in all its guards. After that, a user has to ask for the rollback again.
pub const UNREACHABLE_TIMEOUT: SignedDuration = SignedDuration::from_hours(1);
/// The shortest and the longest pause between two tries; each pause is twice the one before.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// The longest wait in one turn, so that the second process sees progress.
const MAX_TURN: Duration = Duration::from_secs(5);

impl Guard<'_> {
    /// Restores what can be restored. A fabric that becomes unreachable meanwhile is waited for, too. `None`: the process
    /// has to end, and the next guard retries.
    pub(super) fn restore_with_retries(&mut self, steps: &[WriteStep]) -> Option<Vec<RollbackRemainder>> {
        let mut since = None;
        loop {
            if !self.wait_for_fabric(steps, &mut since) {
                return None;
            }
            let left = self.restore(steps);
            if left.is_empty() || self.is_timed_out() || self.outage_reason(steps).is_none() {
                return Some(left);
            }
        }
    }

    /// Begins a rollback whose record the disk refused. The fabric comes first: the old bytes are in memory.
    pub(crate) fn owe_record(&mut self, why: &str, asked: bool) {
        (self.state.phase, self.state.why, self.state.asked) =
            (ChangePhase::RollingBack, Some(why.to_owned()), asked);
        self.memory.owes_record = true;
    }

    fn returning_record(&self) -> JournalRecord {
        let why = self.state.why.clone().unwrap_or_default();
        JournalRecord::Returning {
            time: self.time(),
            why,
            asked: self.state.asked,
            retries: self.state.retries.clone(),
        }
    }

    /// Writes the record that is owed, if the disk works again. Until then the journal has the change as waiting, or a
    /// decision that was refused because the disk failed at its record.
    fn try_owed_record(&mut self) {
        if self.memory.owes_record {
            let (record, user) = (self.returning_record(), self.user());
            let recovered = self.journal.recover();
            let recorded =
                recovered.and_then(|()| self.record(record, "rolling back", &user, "recorded late"));
            self.memory.owes_record = recorded.is_err();
        }
    }

    /// Writes the record that is owed, and waits for the disk.
    pub(crate) fn record_owed(&mut self) -> Result<(), JournalError> {
        if !std::mem::take(&mut self.memory.owes_record) {
            return Ok(());
        }
        let (record, user) = (self.returning_record(), self.user());
        self.record_with_retries(&record, ("rolling back", &user, "recorded late"))
    }

    fn is_timed_out(&self) -> bool {
        let limit = self.state.retries.as_ref();
        limit.is_some_and(|limit| retry_time_left(limit, &self.state, self.clock).is_zero())
    }

    /// Begins to count at the first try that fails, and returns when that was. The guards that follow find the limit in
    /// the journal, and none of them retries longer.
    fn begin_retries(&mut self) -> Timestamp {
        let whole = Duration::try_from(self.patience).unwrap_or_default();
        let here = self.clock.boot_time();
        let left = match &self.state.retries {
            Some(limit) => retry_time_left(limit, &self.state, self.clock).min(whole),
            None => whole,
        };
        let since = self.clock.now() - (whole - left);
        if !self.state.retries.as_ref().is_some_and(|limit| here.is_of_run_of(&limit.ends)) {
            let deadline = (self.clock.now() + left).to_string();
            self.state.retries = Some(RetryLimit { deadline, ends: here.plus(left) });
            // A record that is owed has the limit too.
            if !self.memory.owes_record
                && let Err(error) = self.journal.append_durably(&self.returning_record())
            {
                (self.log)(&error.to_string());
                // Where the disk was full for this moment alone the end can still be recorded.
                let _ = self.journal.recover();
            }
        }
        since
    }

    /// Whether the process is to end and may: the journal has the rollback, so the next guard goes on with it.
    fn is_ending(&self) -> bool {
        !self.memory.owes_record && (self.stop)()
    }

    /// Waits until a switch of the fabric answers, or the time for retries is over. `since` is when the first try failed.
    /// False: the process has to end.
    fn wait_for_fabric(&mut self, steps: &[WriteStep], since: &mut Option<Timestamp>) -> bool {
        let (user, before) = (self.user(), self.trouble.clone());
        let (mut pause, mut tries) = (RETRY_PAUSES[0], 0_u32);
        while let Some(why) = self.outage_reason(steps) {
            let begun = match *since {
                Some(begun) => begun,
                None => *since.insert(self.begin_retries()),
            };
            tries += 1;
            if tries == 1 {
                self.audit("out of reach", &user, &why);
            }
            if self.is_timed_out() {
                let detail = format!("the rollback has not been possible since {begun}: {why}");
                self.audit("given up", &user, &detail);
                break;
            }
            let often = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
            let away = format!(
                "FD-5658: the rollback has not been possible since {begun}; it was tried {often}: {why}"
            );
            self.trouble = Some(before.iter().cloned().chain([away]).collect::<Vec<_>>().join("; "));
            self.wait_answering(pause);
            if self.is_ending() {
                self.trouble = before;
                self.audit("guard ended", &user, "by a signal; the rollback waits for the next guard");
                return false;
            }
            pause = (pause * 2).min(RETRY_PAUSES[1]);
        }
        self.trouble = before;
        if tries > 0 && !self.is_timed_out() {
            self.audit("within reach again", &user, "");
        }
        true
    }

    /// Why no switch of the fabric answers, or why the subnet manager is not ready. `None`: the rollback can go on.
    fn outage_reason(&mut self, steps: &[WriteStep]) -> Option<String> {
        let look = match self.driver.surveyor().read_fabric(ReadOptions::default(), &mut NoObserver) {
            Ok(look) => look,
            Err(error) => return Some(error.to_string()),
        };
        self.driver.surveyor().avoid_ports(&switched_ports(steps));
        let switches = &self.state.begun.switches;
        let seen = look.fabric.switches().any(|(_, node)| is_own_switch(switches, steps, node.guid()));
        if seen { self.driver.await_manager() } else { Some("none of its switches can be seen".to_owned()) }
    }

    /// Writes a record on a disk that may be full or have failed: retries for as long as an unreachable fabric is
    /// retried. Without it the journal still says that the change waits, and a later guard could confirm it.
    pub(crate) fn record_with_retries(
        &mut self,
        record: &JournalRecord,
        (what, user, detail): (&str, &str, &str),
    ) -> Result<(), JournalError> {
        const RETRY_INTERVAL: Duration = Duration::from_secs(1);
        let patience = Duration::try_from(self.patience).unwrap_or_default();
        let (since, before) = (Stopwatch::start(self.clock), self.trouble.clone());
        let recorded = loop {
            let recovered = self.journal.recover();
            let recorded = recovered.and_then(|()| self.record(record.clone(), what, user, detail));
            let Err(error) = &recorded else { break recorded };
            let gives_up = self.home.is_none() || since.elapsed() >= patience || (self.stop)();
            if gives_up || self.journal.is_superseded() {
                break recorded;
            }
            let late = format!("{error}; the rollback is done, and the guard records it once the disk works");
            self.trouble = Some(before.iter().cloned().chain([late]).collect::<Vec<_>>().join("; "));
            // Requests are answered meanwhile: the change is rolling back.
            match self.next_request(RETRY_INTERVAL) {
                Ok(order) => _ = self.answer_all(vec![order]),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.clock.sleep(RETRY_INTERVAL),
            }
        };
        self.trouble = before;
        recorded
    }

    /// Answers requests for this long. A request to roll back ends the wait at once, and so does a signal.
    fn wait_answering(&mut self, pause: Duration) {
        let since = Stopwatch::start(self.clock);
        loop {
            self.try_owed_record();
            if self.is_ending() {
                return;
            }
            let left = pause.saturating_sub(since.elapsed());
            match self.next_request(left.min(MAX_TURN)) {
                Ok(order) => {
                    if self.answer_while_waiting(&order) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) if left <= MAX_TURN => return,
                Err(RecvTimeoutError::Timeout) => {}
                // All senders are closed, so no request can come; the wait goes on.
                Err(RecvTimeoutError::Disconnected) if left.is_zero() => return,
                Err(RecvTimeoutError::Disconnected) => self.clock.sleep(left.min(MAX_TURN)),
            }
        }
    }

    /// Answers a request. Whether the rollback is tried at once.
    fn answer_while_waiting(&mut self, order: &QueuedRequest) -> bool {
        let at_once = match &order.ask {
            GuardRequest::Status => false,
            GuardRequest::RollBack { user, anyway } => {
                if *anyway && !self.state.asked {
                    self.force_rollback(user);
                }
                true
            }
            GuardRequest::NameOpensm { user, process } => return self.name_opensm(order, user, process),
            _ => {
                let why = busy_text(&self.state);
                self.refuse(order, why);
                return false;
            }
        };
        let status = ChangeStatus { trouble: self.trouble.clone(), ..ChangeStatus::of(&self.state) };
        // The caller may have closed its end.
        let _ = order.reply.send(GuardAnswer::Status(status));
        at_once
    }

    /// Uses another process of OpenSM from now on, also in the guards that follow. Whether it worked.
    pub(crate) fn name_opensm(&mut self, order: &QueuedRequest, user: &str, process: &str) -> bool {
        if let Err(why) = self.driver.name_opensm(process) {
            self.refuse(order, why);
            return false;
        }
        let (user, process) = (user.to_owned(), process.to_owned());
        let record =
            JournalRecord::OpensmNamed { time: self.time(), user: user.clone(), process: process.clone() };
        if let Err(error) = self.record(record, "OpenSM's process named", &user, &process) {
            // This guard uses the process all the same.
            (self.log)(&error.to_string());
        }
        let status = ChangeStatus { trouble: self.trouble.clone(), ..ChangeStatus::of(&self.state) };
        // The caller may have closed its end.
        let _ = order.reply.send(GuardAnswer::Status(status));
        true
    }

    /// From now on the rollback goes on even where it loses paths.
    fn force_rollback(&mut self, user: &str) {
        let why = self.state.why.clone().unwrap_or_default();
        let record = JournalRecord::Returning { time: self.time(), why, asked: true, retries: None };
        if let Err(error) = self.record(record, "rolling back", user, "even if that loses paths") {
            (self.log)(&error.to_string());
            self.state.asked = true;
        }
    }
}

/// Whether a switch is one of the change: of its fabric, as the journal has it, or one that it writes. Journals of older
/// versions have no switches.
fn is_own_switch(switches: &BTreeSet<String>, steps: &[WriteStep], guid: Guid) -> bool {
    switches.contains(&guid.to_string()) || steps.iter().any(|step| step.slot.at == DeviceId::Switch(guid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::access::{AttributePart, DeviceAttribute};

    #[test]
    fn a_journal_without_switches_knows_those_that_it_writes() {
        let slot = DeviceAttribute { at: DeviceId::Switch(Guid(7)), part: AttributePart::Block(0) };
        let steps = [WriteStep { slot, old: Vec::new(), new: Vec::new() }];
        let own = |known: &[u64]| {
            let switches = known.iter().map(|guid| Guid(*guid).to_string()).collect();
            [7, 8].map(|guid| is_own_switch(&switches, &steps, Guid(guid)))
        };
        assert_eq!((own(&[]), own(&[8])), ([true, false], [true, true]));
    }
}
