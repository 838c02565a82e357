//! The guard of one change: the only process that writes. Everything else sends requests to it.
//!
//! ```text
//! begun ─> writing ─> read back ─>  notices  ─> applied ──confirm──> confirmed     (in five phases also notices before)
//!             │            │            │           │ deadline, rollback
//!             └────────────┴────────────┴───────────┴──> rolling back ─> rolled back, or incomplete
//! ```

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use jiff::SignedDuration;

use super::clock_steps::ClockStepWatch;
use super::drift_state::{DEADLINE_MARGIN, DriftState};
use super::protocol::{ChangeStatus, GuardAnswer, GuardRequest, QueuedRequest};
use super::refusal_log::RefusalLog;
use super::registration_state::RegistrationState;
use super::rollback_outlook::{RollbackOutlook, find_defects, first_unreached, switched_ports};
use super::trail_writer::{SHORT_TIMEOUT, TrailWriter};
use super::window::{deadline_now, window_left};
use crate::audit::AuditEntry;
use crate::change_dir::UNKNOWN_WRITES;
use crate::change_store::ChangeStore;
use crate::clock::{Clocks, Stopwatch};
use crate::driver::{Driver, Halt, verify_writes};
use crate::journal::{ChangePhase, ChangeState, Journal, JournalError, JournalRecord, RollbackRemainder};
use crate::plan::Plan;
use crate::writes::{WriteStep, to_hex};
use fabdeck_mad::access::{NoObserver, ReadOptions};

/// How often a waiting guard checks the time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// How often a waiting guard reads back what it wrote.
const DRIFT_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// The pause between two slices of such a reading.
const SLICE_PAUSE: Duration = Duration::from_millis(20);
/// Number of requests that are answered between two steps of the work.
const REQUESTS_PER_TURN: usize = 8;
/// The longest window, extensions included.
const MAX_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// The part that is left if a rollback would lose paths and no user asked for it.
pub const EVERYTHING_LEFT: &str = "everything";

/// Why a guard starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardMode {
    /// To apply a change that has just begun.
    Apply,
    /// To take over a change whose guard has ended.
    TakeOver,
}

/// One change, and everything that a guard needs to keep it.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Guard<'a> {
    pub plan: &'a Plan,
    pub journal: Journal,
    pub state: ChangeState,
    /// The state folder with the audit trail. `None` for a simulator that ends with the process.
    pub home: Option<&'a ChangeStore>,
    pub driver: &'a mut dyn Driver,
    pub orders: &'a Receiver<QueuedRequest>,
    pub clock: &'a dyn Clocks,
    pub log: &'a mut dyn FnMut(&str),
    /// How long a rollback retries on an unreachable fabric before it ends incomplete.
    pub patience: SignedDuration,
    /// What keeps the guard from working.
    pub trouble: Option<String>,
    /// Whether the process is to end (SIGTERM). A waiting change is left to the next guard.
    pub stop: &'a dyn Fn() -> bool,
    /// Starts another second process where the one beside the guard is gone. Called every ten seconds of the wait.
    pub tend_second: &'a dyn Fn(),
    pub memory: GuardMemory,
}

/// What a guard remembers while it works; every guard begins with the default.
#[derive(Debug, Default)]
pub struct GuardMemory {
    /// Whether the journal lacks the record that the rollback has begun, because its disk failed.
    pub(crate) owes_record: bool,
    /// Lines that could not be appended to the audit trail so far.
    pending_lines: Vec<AuditEntry>,
    /// Whether the subnet manager certainly took no notice, so that no host knows of the change.
    pub(crate) unheard: bool,
    /// Whether certainly nothing was written.
    pub(crate) untouched: bool,
    /// Whether a part has its old bytes, or none answered, after a takeover: a rollback by the guard before may have begun.
    pub(crate) return_unknown: bool,
    /// Whether the change ended because hosts did not leave the base LIDs.
    unanswered: bool,
    /// Whether hosts needed more than one round to leave the base LIDs.
    pub(crate) waited: bool,
    /// That the wall clock was set while the change waited.
    pub(super) stepped: Option<String>,
    pub(crate) registering: RegistrationState,
    refusals: RefusalLog,
}

impl Guard<'_> {
    /// Keeps the change until it has ended, and returns how it ended.
    pub fn run(mut self, errand: GuardMode) -> ChangeState {
        self.memory.untouched = !self.state.has_possible_writes();
        self.memory.refusals = RefusalLog::for_trail(self.home, &self.state.begun.id);
        let steps = self.steps();
        if steps.len() != self.state.begun.writes.len() {
            (self.log)(UNKNOWN_WRITES);
            return self.state;
        }
        if let Some(trouble) = self.trouble.clone() {
            let user = self.user();
            self.audit("trouble", &user, &trouble);
        }
        let ended = match (errand, self.state.phase) {
            (GuardMode::Apply, ChangePhase::Applying) => self.apply(&steps),
            (GuardMode::TakeOver, ChangePhase::Applied) => {
                self.find_routes(&steps);
                self.resume_registration();
                self.resume_wait(&steps)
            }
            (GuardMode::TakeOver, ChangePhase::Applying) => {
                let why = match self.memory.untouched {
                    true => "the guard ended before anything was written",
                    false => "the guard ended while it wrote",
                };
                self.roll_back(&steps, why, false)
            }
            (GuardMode::TakeOver, ChangePhase::RollingBack) => {
                let (why, asked) = (self.state.why.clone().unwrap_or_default(), self.state.asked);
                self.roll_back(&steps, &why, asked)
            }
            _ => Ok(()),
        };
        if let Err(error) = ended {
            // The writes are rolled back already, or the next guard finds them in the journal.
            (self.log)(&error.to_string());
        }
        if !self.state.phase.is_pending() {
            self.unregister();
        }
        self.memory.refusals.flush();
        self.trail().flush();
        self.state
    }

    fn trail(&mut self) -> TrailWriter<'_> {
        let change = self.state.begun.id.clone();
        // A rollback does not wait for the lock of the trail.
        let patience =
            if self.state.phase == ChangePhase::RollingBack { Duration::ZERO } else { SHORT_TIMEOUT };
        TrailWriter {
            home: self.home,
            change,
            clock: self.clock,
            log: self.log,
            pending_lines: &mut self.memory.pending_lines,
            patience,
        }
    }

    /// The writes as bytes. The journal was checked when the change began.
    fn steps(&self) -> Vec<WriteStep> {
        self.state.begun.writes.iter().filter_map(|write| write.to_step().ok()).collect()
    }

    pub(crate) fn time(&self) -> String {
        self.clock.now().to_string()
    }

    /// Writes a record durably, then a line of the audit trail.
    pub(crate) fn record(
        &mut self,
        record: JournalRecord,
        what: &str,
        user: &str,
        detail: &str,
    ) -> Result<(), JournalError> {
        self.journal.append_durably(&record)?;
        self.state.apply(&record);
        self.audit(what, user, detail);
        Ok(())
    }

    pub(crate) fn audit(&mut self, what: &str, user: &str, detail: &str) {
        self.trail().add(what, user, detail);
    }

    /// Refuses a request. The refusal is written to the audit trail before it is returned.
    pub(crate) fn refuse(&mut self, order: &QueuedRequest, why: String) {
        if let Some(line) =
            self.memory.refusals.add(order.ask.user(), &format!("{}: {why}", order.ask.command_name()))
        {
            (self.log)(&line);
        }
        // The caller may have closed its end.
        let _ = order.reply.send(GuardAnswer::Refused { why });
    }

    /// Waits for a request.
    pub(crate) fn next_request(&self, time: Duration) -> Result<QueuedRequest, RecvTimeoutError> {
        let mut order = Err(RecvTimeoutError::Timeout);
        self.clock.wait(time, &mut |most| {
            order = self.orders.recv_timeout(most);
            !matches!(order, Err(RecvTimeoutError::Timeout))
        });
        order
    }

    pub(crate) fn user(&self) -> String {
        self.state.begun.user.clone()
    }

    /// Reads the fabric, and finds routes for MADs that avoid the ports which the change switches.
    pub(crate) fn find_routes(&mut self, steps: &[WriteStep]) {
        match self.driver.surveyor().read_fabric(ReadOptions::default(), &mut NoObserver) {
            Ok(_) => _ = self.driver.surveyor().avoid_ports(&switched_ports(steps)),
            Err(error) => (self.log)(&error.to_string()),
        }
    }

    /// Writes the plan, unless something speaks against it: then the refusal is recorded and nothing is written.
    fn apply(&mut self, steps: &[WriteStep]) -> Result<(), JournalError> {
        if let Some(why) = self.objection(steps) {
            return self.end_refused(&why);
        }
        if let Some(why) = self.register_first()? {
            return self.end_refused(&why);
        }
        let user = self.user();
        let opensm = self.state.begun.opensm.as_ref().and_then(|site| site.named_process());
        let opensm = opensm.map_or_else(String::new, |process| format!("; OpenSM is {process}"));
        let plan = &self.state.begun.plan;
        self.audit("writing", &user, &format!("{} writes of plan {plan}{opensm}", steps.len()));
        self.memory.untouched = true;
        let done = self.leave_base();
        let done = done.and_then(|()| self.check_still_fits(steps)).and_then(|()| self.write(steps));
        let done = done.and_then(|()| self.return_to_base());
        if let Err(halt) = done.and_then(|()| self.notify_hosts()) {
            self.memory.unanswered = halt.is_unanswered();
            let why = halt.to_string();
            return self.roll_back(steps, &why, false);
        }
        let window = Duration::from_secs(self.state.begun.window_s);
        let (time, deadline) = (self.time(), (self.clock.now() + window).to_string());
        let ends = Some(self.clock.boot_time().plus(window));
        let applied = JournalRecord::Applied { time, deadline: deadline.clone(), ends };
        match self.record(applied, "applied", &user, &format!("to be confirmed until {deadline}")) {
            Ok(()) => self.wait(steps, ClockStepWatch::new(self.clock)),
            Err(error) => self.roll_back(steps, &error.to_string(), false),
        }
    }

    /// Ends the change before its first write.
    fn end_refused(&mut self, why: &str) -> Result<(), JournalError> {
        let (time, user) = (self.time(), self.user());
        self.record(JournalRecord::Refused { time, why: why.to_owned() }, "refused", &user, why)
    }

    /// Why the change may not be applied: above all, the fabric differs from the one that the plan was made for.
    pub(crate) fn objection(&mut self, steps: &[WriteStep]) -> Option<String> {
        if self.plan.hash != self.state.begun.plan {
            return Some("FD-5627: the plan beside the journal is not the one that was begun".to_owned());
        }
        if let Some(trouble) = &self.trouble {
            return Some(trouble.clone());
        }
        let wanted =
            ReadOptions { tables: true, lanes: self.plan.fingerprint.has_lanes(), ..ReadOptions::default() };
        let look = match self.driver.surveyor().read_fabric(wanted, &mut NoObserver) {
            Ok(look) => look,
            Err(error) => return Some(error.to_string()),
        };
        let manager = look.subnet_manager.as_ref().map(|manager| manager.guid);
        if let Some(stale) = self.plan.find_difference(&look.fabric, &look.tables, manager) {
            let first = stale.words(&|key| self.plan.node_name(key));
            return Some(format!("FD-5625: the plan is stale: {first}; make a new plan"));
        }
        let lost = self.driver.surveyor().avoid_ports(&switched_ports(steps));
        first_unreached(&lost, steps).map(|(device, _)| {
            format!("FD-5626: without the ports that the plan disables no MAD can reach {device}")
        })
    }

    /// Writes, reads back, and certifies the tables that were read.
    fn write(&mut self, steps: &[WriteStep]) -> Result<(), Halt> {
        if !self.journal.is_durable() {
            return Err(Halt::NotDurable);
        }
        // Without this record the next guard knows that nothing was written, and that equal bytes come from another
        // writer.
        let record = JournalRecord::Writing { time: self.time() };
        self.journal.append_durably(&record)?;
        self.state.apply(&record);
        self.memory.untouched = false;
        let (orders, told, trouble) = (self.orders, &mut self.state, self.trouble.as_deref());
        let refusals = &self.memory.refusals;
        let written = self.driver.write(steps, &mut self.journal, &mut |done| {
            told.written = done;
            answer_some(orders, told, trouble, refusals)
        });
        if let Err(Halt::Altered { step, holds, .. }) = &written {
            self.note_altered(*step, holds);
        }
        written?;
        verify_writes(self.driver, steps)?;
        let look = self
            .driver
            .surveyor()
            .read_fabric(ReadOptions { tables: true, ..ReadOptions::default() }, &mut NoObserver);
        let look = look.map_err(|error| Halt::Asked(error.to_string()))?;
        if let Some(change) = self.plan.foreign_write(&look.fabric, &look.tables) {
            return Err(Halt::Beside(change.words(&|key| self.plan.node_name(key))));
        }
        let found = find_defects(&look.fabric, &look.tables, self.plan);
        let expected = self.plan.certificate_defects();
        if found.exceeds(expected) {
            return Err(Halt::Asked(format!(
                "the tables that were read back have {} pairs without a path and {} cycles, those of the plan {} and \
                 {}",
                found.pairs, found.cycles, expected.0, expected.1
            )));
        }
        Ok(())
    }

    /// If the journal fails, only this guard knows that these bytes come from the change.
    fn note_altered(&mut self, step: usize, holds: &[u8]) {
        let record = JournalRecord::Altered { time: self.time(), write: step as u64, holds: to_hex(holds) };
        let _ = self.journal.append_durably(&record);
        self.state.apply(&record);
    }

    /// Waits for a confirmation or the deadline.
    pub(super) fn wait(
        &mut self,
        steps: &[WriteStep],
        mut clock_steps: ClockStepWatch,
    ) -> Result<(), JournalError> {
        let mut looked = self.clock.boot_time();
        let mut seen = DriftState::default();
        self.begin_window();
        loop {
            let now = self.clock.boot_time();
            if let Some(step) = clock_steps.step(self.clock) {
                self.report_clock_step(step);
            }
            let left = window_left(&self.state, self.clock);
            if left.is_zero() {
                let why = self.expiry_reason();
                return self.roll_back(steps, &why, false);
            }
            self.renew_registration();
            if self.is_stopping() {
                return Ok(());
            }
            if !seen.is_checking() && looked.until(&now).is_none_or(|passed| passed >= DRIFT_CHECK_INTERVAL) {
                looked = now;
                (self.tend_second)();
                seen.begin_round(steps);
            }
            let since = Stopwatch::start(self.clock);
            self.check_drift(steps, &mut seen, left);
            let left = left.saturating_sub(since.elapsed());
            let turn =
                if seen.is_checking() && left >= DEADLINE_MARGIN { SLICE_PAUSE } else { POLL_INTERVAL };
            let order = match self.next_request(left.min(turn)) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) => continue,
                // All senders are closed, so no request can come; the deadline still holds.
                Err(RecvTimeoutError::Disconnected) => {
                    self.clock.sleep(left.min(turn));
                    continue;
                }
            };
            match &order.ask {
                GuardRequest::Status => self.answer(&order, &seen),
                GuardRequest::NameOpensm { user, process } => _ = self.name_opensm(&order, user, process),
                GuardRequest::Confirm { user } => {
                    if self.can_be_confirmed(steps, &order) {
                        return self.confirm(steps, &order, user, &mut seen);
                    }
                }
                GuardRequest::GoOn { .. } => self.refuse(&order, nothing_awaited_text(&self.state)),
                GuardRequest::Extend { user, seconds } => {
                    if let Err(error) = self.extend(&order, user, *seconds) {
                        return self.roll_back_undurable(steps, &order, &error);
                    }
                }
                GuardRequest::RollBack { user, anyway } => {
                    if !anyway && let Some(why) = self.warning(steps) {
                        self.refuse(&order, why);
                        continue;
                    }
                    self.answer(&order, &seen);
                    // If the comparison failed, the rollback compares again, unless the user forces it.
                    return self.roll_back(steps, &format!("requested by {user}"), *anyway);
                }
            }
        }
    }

    /// Whether the guard ends here: a newer guard has the change, or a signal came, which the audit trail notes.
    fn is_stopping(&mut self) -> bool {
        if self.memory.registering.superseded {
            (self.log)("a newer guard has this change; this one writes nothing more");
            return true;
        }
        let ends = (self.stop)();
        if ends {
            let user = self.user();
            self.audit("guard ended", &user, "by a signal; the change waits for the next guard");
        }
        ends
    }

    pub(super) fn answer(&self, order: &QueuedRequest, seen: &DriftState) {
        let drift = seen.words.clone();
        let trouble = self.trouble.iter().chain(&seen.trouble).chain(&self.memory.stepped);
        let trouble = trouble.chain(&self.memory.registering.trouble);
        let trouble: Vec<&str> = trouble.map(String::as_str).collect();
        let trouble = (!trouble.is_empty()).then(|| trouble.join("; "));
        let deadline = deadline_now(&self.state, self.clock);
        let status = ChangeStatus { drift, trouble, deadline, ..ChangeStatus::of(&self.state) };
        // The caller may have closed its end.
        let _ = order.reply.send(GuardAnswer::Status(status));
    }

    fn extend(&mut self, order: &QueuedRequest, user: &str, seconds: u64) -> Result<(), JournalError> {
        let longer = Duration::from_secs(seconds.min(MAX_WINDOW.as_secs()));
        let rest = window_left(&self.state, self.clock);
        if rest.is_zero() {
            let why = "FD-5655: the time to confirm the change is over; it cannot be extended and is rolled back now".to_owned();
            self.refuse(order, why);
            return Ok(());
        }
        let left = rest + longer;
        if left > MAX_WINDOW {
            let why = "FD-5653: the time to confirm a change can be at most one day; ask for less".to_owned();
            self.refuse(order, why);
            return Ok(());
        }
        let (time, deadline) = (self.time(), (self.clock.now() + left).to_string());
        let ends = Some(self.clock.boot_time().plus(left));
        let record =
            JournalRecord::Extended { time, user: user.to_owned(), deadline: deadline.clone(), ends };
        self.record(record, "extended", user, &format!("until {deadline}"))?;
        self.answer(order, &DriftState::default());
        Ok(())
    }

    /// What speaks against a rollback, for the user who asks for it.
    fn warning(&mut self, steps: &[WriteStep]) -> Option<String> {
        let outlook = RollbackOutlook::evaluate(self.driver.surveyor(), self.plan, steps).ok()?;
        let (RollbackOutlook { staying, back }, before) = (outlook, self.state.begun.lost_before);
        (!outlook.is_rollback_no_worse(before)).then(|| {
            format!(
                "FD-5654: the fabric has changed since: after a rollback {} pairs have no path and {} cycles exist, \
                 without it {} and {}; make a new plan, or roll back with --force",
                back.pairs, back.cycles, staying.pairs, staying.cycles
            )
        })
    }

    /// Rolls the change back, unless no user asked for it and it would lose more paths.
    pub(crate) fn roll_back(
        &mut self,
        steps: &[WriteStep],
        why: &str,
        asked: bool,
    ) -> Result<(), JournalError> {
        if self.is_superseded() {
            // Another guard keeps the change, and may have confirmed it. This write fails as superseded.
            return self.journal.append_record(&JournalRecord::Written { count: self.state.written });
        }
        let (time, user) = (self.time(), self.user());
        let recorded = match self.state.phase {
            ChangePhase::RollingBack => Ok(()),
            _ => self.record(
                JournalRecord::Returning { time, why: why.to_owned(), asked, retries: None },
                "rolling back",
                &user,
                why,
            ),
        };
        if recorded.is_err() {
            self.owe_record(why, asked);
        }
        let Some(left) = self.restore_with_retries(steps) else { return Ok(()) };
        self.record_owed()?;
        if self.memory.unanswered && self.memory.untouched && left.is_empty() {
            let time = self.time();
            return self.record(
                JournalRecord::Refused { time, why: why.to_owned() },
                "refused",
                &user,
                "nothing was written, and the hosts that had left are back",
            );
        }
        let detail =
            left.iter().map(|left| format!("{}: {}", left.what, left.why)).collect::<Vec<_>>().join("; ");
        let what = if left.is_empty() { "rolled back" } else { "rollback incomplete" };
        let returned = JournalRecord::Returned { time: self.time(), left };
        self.record_with_retries(&returned, (what, &user, &detail))
    }

    /// Restores the tables of a reachable fabric once, and returns what is left.
    pub(crate) fn restore(&mut self, steps: &[WriteStep]) -> Vec<RollbackRemainder> {
        if self.memory.untouched {
            // Nothing was written here: parts with the plan's bytes come from another writer, and stay.
            return self.return_to_base_again();
        }
        let outlook = RollbackOutlook::evaluate(self.driver.surveyor(), self.plan, steps).ok();
        self.driver.surveyor().avoid_ports(&switched_ports(steps));
        let (before, asked) = (self.state.begun.lost_before, self.state.asked);
        if let Some(RollbackOutlook { staying, back }) =
            outlook.filter(|outlook| !asked && !outlook.is_rollback_no_worse(before))
        {
            let why = format!(
                "after a rollback {} pairs have no path, without it {}; a person has to decide: make a new plan, or \
                 roll back with --force",
                back.pairs, staying.pairs
            );
            return vec![RollbackRemainder { what: EVERYTHING_LEFT.to_owned(), why }];
        }
        // Flows leave the lanes before the lanes are rolled back.
        let mut left = self.recall_hosts();
        self.leave_base_again();
        let (orders, told, trouble) = (self.orders, &mut self.state, self.trouble.as_deref());
        let refusals = &self.memory.refusals;
        let all = steps.len() as u64;
        let before = told.altered.clone();
        let mut altered = before.clone();
        left.extend(self.driver.roll_back(steps, &mut altered, &mut |done| {
            told.written = all.saturating_sub(done);
            // Requests are answered, and cannot stop the rollback.
            let _ = answer_some(orders, told, trouble, refusals);
        }));
        altered.retain(|step, holds| before.get(step) != Some(holds));
        altered.iter().for_each(|(step, holds)| self.note_altered(*step, holds));
        left.extend(self.return_to_base_again());
        left
    }

    /// Answers the requests that came meanwhile. A request to roll back is an error that ends the work.
    pub(crate) fn answer_all(&mut self, orders: Vec<QueuedRequest>) -> Result<(), String> {
        let mut end = Ok(());
        for order in orders {
            end = end.and(answer_one(&order, &self.state, self.trouble.as_deref(), &self.memory.refusals));
        }
        end
    }
}

/// The refusal of requests that the change cannot take in this phase.
pub(crate) fn busy_text(state: &ChangeState) -> String {
    let ChangeState { begun, phase, .. } = state;
    let next = match phase {
        ChangePhase::RollingBack => "it can no longer be confirmed or extended",
        _ => "send the request again when that is done",
    };
    format!("FD-5655: change {} is {}; {next}", begun.id, phase.title())
}

/// Answers some of the requests that came during the work, and leaves the others for later: the fabric has priority. A
/// request to roll back is an error that ends the work.
fn answer_some(
    orders: &Receiver<QueuedRequest>,
    told: &ChangeState,
    trouble: Option<&str>,
    refusals: &RefusalLog,
) -> Result<(), String> {
    for order in orders.try_iter().take(REQUESTS_PER_TURN) {
        answer_one(&order, told, trouble, refusals)?;
    }
    Ok(())
}

fn answer_one(
    order: &QueuedRequest,
    told: &ChangeState,
    trouble: Option<&str>,
    refusals: &RefusalLog,
) -> Result<(), String> {
    let status = || {
        GuardAnswer::Status(ChangeStatus { trouble: trouble.map(str::to_owned), ..ChangeStatus::of(told) })
    };
    let (answer, end) = match &order.ask {
        GuardRequest::Status => (status(), Ok(())),
        GuardRequest::RollBack { user, .. } if told.phase == ChangePhase::Applying => {
            (status(), Err(format!("requested by {user}")))
        }
        // It goes back already, so the caller waits for the end like the one who asked first.
        GuardRequest::RollBack { anyway, .. }
            if told.phase == ChangePhase::RollingBack && (!anyway || told.asked) =>
        {
            (status(), Ok(()))
        }
        ask => {
            let why = if matches!(ask, GuardRequest::GoOn { .. }) {
                nothing_awaited_text(told)
            } else {
                busy_text(told)
            };
            refusals.add(ask.user(), &format!("{}: {why}", ask.command_name()));
            (GuardAnswer::Refused { why }, Ok(()))
        }
    };
    // The caller may have closed its end.
    let _ = order.reply.send(answer);
    end
}

/// The refusal of a request to go on.
fn nothing_awaited_text(told: &ChangeState) -> String {
    let ChangeState { begun, phase, .. } = told;
    format!(
        "FD-5664: change {} is {} and does not wait for hosts, so --go-on does nothing",
        begun.id,
        phase.title()
    )
}
