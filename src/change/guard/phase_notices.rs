//! The five phases of a change. Hosts get the notice to leave the base LIDs (1) and answer (2). Tables change (3).
//! Hosts get the notice to return and answer (4). The change waits to be confirmed (5).
//!
//! A rollback has the same phases around its writes, with one difference: it does not wait for hosts that do not
//! answer.

use std::time::Duration;

use super::guard_run::Guard;
use super::notices::{ANSWER_TIMEOUT, HostAnswers, hosts_not_back, list_names};
use super::protocol::{ChangeStatus, GuardAnswer, GuardRequest};
use crate::clock::Stopwatch;
use crate::driver::Halt;
use crate::journal::{JournalError, JournalRecord, RollbackRemainder};
use crate::plan_phases::{PlanPhases, SilentHostAction};
use crate::writes::WriteStep;
use fabdeck_fabric::Lid;
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::WriteError;

/// Interval between two checks for requests while the guard waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Guard<'_> {
    /// Phases 1 and 2: the first write waits until all hosts have answered that they left the base LIDs. An operator,
    /// or the option for unanswered notices, can decide to go on without some hosts.
    pub(crate) fn leave_base(&mut self) -> Result<(), Halt> {
        let Some(phases) = self.state.begun.phases.clone() else { return Ok(()) };
        let words = format!("phase 1 of 5: {} hosts are to leave the base LIDs", phases.hosts.len());
        let begun = Stopwatch::start(self.clock);
        let (window, unanswered) =
            (Duration::from_secs(self.state.begun.window_s), self.state.begun.unanswered);
        let (time, user) = (self.time(), self.user());
        self.record(JournalRecord::Notifying { time, back: false }, "notifying", &user, &words)?;
        let mut known: Option<Vec<String>> = None;
        loop {
            let asked = begun.elapsed();
            let told = self.send_phase_notices(&phases, false).map_err(|error| {
                self.memory.unheard = known.is_none() && !matches!(error, WriteError::Gone(_));
                Halt::Write(error)
            })?;
            let silent = told.1.clone();
            if known.as_ref() != Some(&silent) {
                let (record, words) = self.answers_record(told);
                self.record(record, "notified", &user, &format!("phase 2 of 5: {words}"))?;
                known = Some(silent.clone());
            }
            let decided = self.read_decision(&phases, &silent)?;
            if silent.is_empty() || decided {
                return Ok(());
            }
            let who = list_names(&silent);
            match unanswered {
                SilentHostAction::Wait if begun.elapsed() < window => {
                    self.memory.waited = true;
                    if self.wait_for_decision(
                        &begun,
                        (asked + ANSWER_TIMEOUT).min(window),
                        &phases,
                        &silent,
                    )? {
                        return Ok(());
                    }
                }
                SilentHostAction::GoOn if phases.safe_without == Some(true) => {
                    return Ok(self.record_go_on(&user, &who)?);
                }
                SilentHostAction::GoOn => return Err(Halt::Unsafe(who)),
                SilentHostAction::Stop | SilentHostAction::Wait => return Err(Halt::Unanswered(who)),
            }
        }
    }

    /// Waits until the time of a round is over. A round ends early if hosts answer that their hooks failed, and would
    /// otherwise repeat at once.
    fn wait_for_decision(
        &mut self,
        begun: &Stopwatch<'_>,
        end: Duration,
        phases: &PlanPhases,
        silent: &[String],
    ) -> Result<bool, Halt> {
        while begun.elapsed() < end {
            self.clock.sleep(POLL_INTERVAL);
            self.renew_registration();
            if self.read_decision(phases, silent)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the requests that came meanwhile. Whether the operator decided to go on without the silent hosts.
    fn read_decision(&mut self, phases: &PlanPhases, silent: &[String]) -> Result<bool, Halt> {
        let mut others = Vec::new();
        let mut decided = false;
        while let Ok(order) = self.orders.try_recv() {
            let GuardRequest::GoOn { user } = &order.ask else {
                others.push(order);
                continue;
            };
            let (user, who) = (user.clone(), list_names(silent));
            if !silent.is_empty() && phases.safe_without != Some(true) {
                self.refuse(&order, not_shown_safe_text(&self.state.begun.id, &who));
                continue;
            }
            if !silent.is_empty()
                && !decided
                && let Err(error) = self.record_go_on(&user, &who)
            {
                // The change ends because the journal failed, whatever other callers ask. Each caller gets that answer.
                self.refuse(&order, error.to_string());
                others.extend(self.orders.try_iter());
                let _ = self.answer_all(others);
                return Err(error.into());
            }
            decided = true;
            // The caller may have closed its end.
            let _ = order.reply.send(GuardAnswer::Status(ChangeStatus::of(&self.state)));
        }
        self.answer_all(others).map_err(Halt::Asked)?;
        Ok(decided)
    }

    /// Checks the fabric again after a long wait for hosts: it may have changed.
    pub(crate) fn check_still_fits(&mut self, steps: &[WriteStep]) -> Result<(), Halt> {
        if !self.memory.waited {
            return Ok(());
        }
        self.objection(steps).map_or(Ok(()), |why| Err(Halt::Asked(why)))
    }

    fn record_go_on(&mut self, user: &str, who: &str) -> Result<(), JournalError> {
        let record = JournalRecord::GoingOn { time: self.time(), user: user.to_owned() };
        self.record(record, "going on", user, &format!("without {who}, as requested"))
    }

    /// Phase 4: hosts that do not return stay on high LIDs, which work as before, and are listed.
    pub(crate) fn return_to_base(&mut self) -> Result<(), Halt> {
        let Some(phases) = self.state.begun.phases.clone() else { return Ok(()) };
        self.audit("written", &self.user(), "phase 3 of 5: the tables of base LIDs are written");
        let (time, user) = (self.time(), self.user());
        let words = "phase 4 of 5: hosts are to come back to base LIDs";
        self.record(JournalRecord::Notifying { time, back: true }, "notifying", &user, words)?;
        let told = self.send_phase_notices(&phases, true).map_err(Halt::Write)?;
        let (record, words) = self.answers_record(told);
        Ok(self.record(record, "notified", &user, &format!("phase 4 of 5: {words}"))?)
    }

    /// Before a rollback, hosts leave the base LIDs once more, if they answer. If certainly nothing was written, they
    /// need not.
    pub(crate) fn leave_base_again(&mut self) {
        let Some(phases) = self.state.begun.phases.clone().filter(|_| !self.memory.untouched) else { return };
        let (time, user) = (self.time(), self.user());
        let words = "hosts are to leave the base LIDs before tables go back";
        self.record_or_log(JournalRecord::Notifying { time, back: false }, "notifying", &user, words);
        match self.send_phase_notices(&phases, false) {
            Ok(told) => {
                let silent = told.1.len();
                let (record, words) = self.answers_record(told);
                let plainly = if silent > 0 { "; tables go back while their flows may be there" } else { "" };
                self.record_or_log(record, "notified", &user, &format!("{words}{plainly}"));
            }
            Err(error) => {
                let words = format!("{error}; tables go back while flows may be on base LIDs");
                self.audit("not told", &user, &words);
            }
        }
    }

    /// After a rollback, hosts return to base LIDs. Returns the hosts that may not be back. If nothing was written and
    /// the answers are known, a host that never said that it left has nothing to return from.
    pub(crate) fn return_to_base_again(&mut self) -> Vec<RollbackRemainder> {
        let Some(phases) = self.state.begun.phases.clone() else { return Vec::new() };
        if !self.state.hosts.may_have_moved() {
            return Vec::new();
        }
        let (time, user) = (self.time(), self.user());
        let words = "hosts are to come back to base LIDs";
        self.record_or_log(JournalRecord::Notifying { time, back: true }, "notifying", &user, words);
        match self.send_phase_notices(&phases, true) {
            Ok(told) => {
                let known = self.memory.untouched && (self.state.knows_who_left || self.memory.unheard);
                let may_have_left = |host: &&String| !known || self.state.away.contains(*host);
                let left = hosts_not_back(told.1.iter().filter(may_have_left));
                let (record, words) = self.answers_record(told);
                self.record_or_log(record, "notified", &user, &words);
                left
            }
            // No host got the notice, so no host left.
            Err(_) if self.memory.unheard && self.memory.untouched => Vec::new(),
            Err(error) => {
                let why = format!("they got no notice to return to base LIDs: {error}");
                vec![RollbackRemainder { what: "hosts".to_owned(), why }]
            }
        }
    }

    /// Sends all hosts the notice to leave the base LIDs, or to return to them.
    fn send_phase_notices(&mut self, phases: &PlanPhases, back: bool) -> Result<HostAnswers, WriteError> {
        let notices: Vec<PathNotice> = phases.notice(self.next_round(), back).into_iter().collect();
        let ports = phases.hosts.iter().map(|host| &host.port);
        let hosts = ports.filter_map(|port| Some((Lid::new(port.lid.into())?, port.name.clone()))).collect();
        self.send_notices(&notices, hosts)
    }
}

fn not_shown_safe_text(id: &str, who: &str) -> String {
    format!(
        "FD-5663: it is not known whether {who} left the base LIDs, and continuing without them is not shown to be \
         safe; check their agents, or roll the change back: 'fabdeck rollback {id}'"
    )
}
