//! The guard of one change. It alone writes; whoever wants something asks it.
//!
//! ```text
//! begun ─> writing ─> read back ─> applied ──confirm──> confirmed
//!             │            │          │ deadline, rollback
//!             └────────────┴──────────┴──> rolling back ─> rolled back, or incomplete
//! ```

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::ask::{Answer, Ask, Order, Status};
use super::outlook::{Outlook, switched, wrong};
use crate::access::{Unwatched, Wanted};
use crate::change::audit::Entry;
use crate::change::driver::{Driver, Halt, verify};
use crate::change::home::Home;
use crate::change::journal::{Journal, JournalError, Left, Phase, Record, Told};
use crate::change::plan::Plan;
use crate::change::writes::Step;

/// How often a guard that waits looks at the time.
const TURN: Duration = Duration::from_millis(250);
/// How often it reads back what it wrote while it waits.
const LOOK_AFTER: SignedDuration = SignedDuration::from_secs(10);
/// No window is longer, however often it is extended.
const WINDOW_MOST: SignedDuration = SignedDuration::from_hours(24);

/// What a guard comes for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errand {
    /// To apply a change that was begun just now.
    Apply,
    /// To take over one whose guard is gone.
    TakeOver,
}

/// One change and all that keeping it takes.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Guard<'a> {
    pub plan: &'a Plan,
    pub journal: Journal,
    pub told: Told,
    /// Where its audit trail is; none for a simulator that ends with the process.
    pub home: Option<&'a Home>,
    pub driver: &'a mut dyn Driver,
    pub orders: &'a Receiver<Order>,
    pub now: &'a dyn Fn() -> Timestamp,
    pub say: &'a mut dyn FnMut(&str),
}

impl Guard<'_> {
    /// Keeps the change until it is over, and says how it ended.
    pub fn keep(mut self, errand: Errand) -> Told {
        let steps = self.steps();
        if steps.len() != self.told.begun.writes.len() {
            (self.say)(
                "FD-5628: the journal holds writes that this version does not know: nothing is written or taken back by it",
            );
            return self.told;
        }
        let ended = match (errand, self.told.phase) {
            (Errand::Apply, Phase::Applying) => self.apply(&steps),
            (Errand::TakeOver, Phase::Applied) => {
                self.aim(&steps);
                self.wait(&steps)
            }
            (Errand::TakeOver, Phase::Applying) => {
                self.take_back(&steps, "the guard ended while it wrote", false)
            }
            (Errand::TakeOver, Phase::RollingBack) => {
                let why = self.told.why.clone().unwrap_or_default();
                self.take_back(&steps, &why, false)
            }
            _ => Ok(()),
        };
        if let Err(error) = ended {
            // What was written is taken back already, or stands in the journal for whoever takes over.
            (self.say)(&error.to_string());
        }
        self.told
    }

    /// As bytes; the journal was checked when it was begun.
    fn steps(&self) -> Vec<Step> {
        self.told.begun.writes.iter().filter_map(|write| write.step().ok()).collect()
    }

    fn time(&self) -> String {
        (self.now)().to_string()
    }

    /// A record that outlives the machine, and a line of the audit trail. The trail follows the journal: a line that
    /// cannot be added is said, and ends nothing.
    fn record(&mut self, record: Record, what: &str, user: &str, detail: &str) -> Result<(), JournalError> {
        self.journal.keep(&record)?;
        self.told.take(&record);
        self.audit(what, user, detail);
        Ok(())
    }

    fn audit(&mut self, what: &str, user: &str, detail: &str) {
        (self.say)(&format!("{what}{}{detail}", if detail.is_empty() { "" } else { ": " }));
        let Some(home) = self.home else { return };
        let entry = Entry {
            time: self.time(),
            user: user.to_owned(),
            pid: std::process::id(),
            what: what.to_owned(),
            change: Some(self.told.begun.id.clone()),
            detail: detail.to_owned(),
        };
        if let Err(error) = home.audit(&entry) {
            (self.say)(&error.to_string());
        }
    }

    fn user(&self) -> String {
        self.told.begun.user.clone()
    }

    /// Looks at the fabric and finds ways that the change does not cut.
    fn aim(&mut self, steps: &[Step]) -> Option<Vec<crate::fabric::Guid>> {
        let wanted = Wanted { tables: true, ..Wanted::default() };
        if let Err(error) = self.driver.surveyor().look(wanted, &mut Unwatched) {
            (self.say)(&error.to_string());
            return None;
        }
        Some(self.driver.surveyor().keep_off(&switched(steps)))
    }

    fn apply(&mut self, steps: &[Step]) -> Result<(), JournalError> {
        if let Some(why) = self.objection(steps) {
            let (time, user) = (self.time(), self.user());
            return self.record(Record::Refused { time, why: why.clone() }, "refused", &user, &why);
        }
        let user = self.user();
        self.audit("writing", &user, &format!("{} writes of plan {}", steps.len(), self.told.begun.plan));
        if let Err(halt) = self.write(steps) {
            let why = halt.to_string();
            return self.take_back(steps, &why, false);
        }
        let deadline = (self.now)() + SignedDuration::from_secs(self.told.begun.window_s as i64);
        let (time, deadline) = (self.time(), deadline.to_string());
        let applied = Record::Applied { time, deadline: deadline.clone() };
        match self.record(applied, "applied", &user, &format!("to be confirmed until {deadline}")) {
            Ok(()) => self.wait(steps),
            Err(error) => self.take_back(steps, &error.to_string(), false),
        }
    }

    /// Why the change may not be applied: the fabric is another one than the plan is for.
    fn objection(&mut self, steps: &[Step]) -> Option<String> {
        if self.plan.hash != self.told.begun.plan {
            return Some("FD-5627: the plan beside the journal is not the one that was begun".to_owned());
        }
        let wanted =
            Wanted { tables: true, lanes: !self.plan.fingerprint.lanes.is_empty(), ..Wanted::default() };
        let look = match self.driver.surveyor().look(wanted, &mut Unwatched) {
            Ok(look) => look,
            Err(error) => return Some(error.to_string()),
        };
        let manager = look.subnet_manager.as_ref().map(|manager| manager.guid);
        if let Some(stale) = self.plan.stale(&look.fabric, &look.tables, manager) {
            let first = stale.words(&|key| self.plan.named(key));
            return Some(format!("FD-5625: the plan is stale: {first}"));
        }
        let lost = self.driver.surveyor().keep_off(&switched(steps));
        let written = |guid: &&crate::fabric::Guid| steps.iter().any(|step| step.slot.switch == **guid);
        lost.iter().find(written).map(|guid| {
            format!("FD-5626: without the ports that the plan disables there is no way left to switch {guid}")
        })
    }

    /// Writes, reads back, and judges what was read.
    fn write(&mut self, steps: &[Step]) -> Result<(), Halt> {
        let Self { journal, driver, orders, told, .. } = self;
        if !journal.is_durable() {
            return Err(Halt::NotDurable);
        }
        driver.write(steps, journal, &mut |done| {
            told.written = done;
            heed(orders, told)
        })?;
        verify(driver.surveyor(), steps)?;
        let look = self.driver.surveyor().look(Wanted { tables: true, ..Wanted::default() }, &mut Unwatched);
        let look = look.map_err(|error| Halt::Asked(error.to_string()))?;
        let found = wrong(&look.fabric, &look.tables, self.plan);
        let expected = self.plan.wrongs();
        if found.pairs > expected.0 || found.circles > expected.1 {
            return Err(Halt::Asked(format!(
                "what was read back loses {} pairs and has {} circles, and the plan has {} and {}",
                found.pairs, found.circles, expected.0, expected.1
            )));
        }
        Ok(())
    }

    /// Keeps the time until somebody confirms, or nobody did.
    fn wait(&mut self, steps: &[Step]) -> Result<(), JournalError> {
        let mut looked = (self.now)();
        let mut drift = None;
        loop {
            let now = (self.now)();
            let Some(deadline) = self.deadline().filter(|deadline| *deadline > now) else {
                return self.take_back(steps, "nobody confirmed it in time", false);
            };
            if now.duration_since(looked) >= LOOK_AFTER {
                (looked, drift) = (now, self.look_after(steps, drift));
            }
            let left = Duration::try_from(deadline.duration_since(now)).unwrap_or_default();
            let order = match self.orders.recv_timeout(left.min(TURN)) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) => continue,
                // Nobody can ask any more; the time goes on.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(left.min(TURN));
                    continue;
                }
            };
            match &order.ask {
                Ask::Status => self.answer(&order, drift.clone()),
                Ask::Confirm { user } => {
                    let record = Record::Confirmed { time: self.time(), user: user.clone() };
                    let user = user.clone();
                    return match self.record(record, "confirmed", &user, "") {
                        Ok(()) => {
                            self.answer(&order, drift);
                            Ok(())
                        }
                        Err(error) => {
                            let why = error.to_string();
                            let _ = order.reply.send(Answer::Refused { why: why.clone() });
                            self.take_back(steps, &why, false)
                        }
                    };
                }
                Ask::Extend { user, seconds } => {
                    let (user, seconds) = (user.clone(), *seconds);
                    if let Err(error) = self.extend(&order, &user, seconds, now) {
                        let why = error.to_string();
                        let _ = order.reply.send(Answer::Refused { why: why.clone() });
                        return self.take_back(steps, &why, false);
                    }
                }
                Ask::RollBack { user, anyway } => {
                    let (user, anyway) = (user.clone(), *anyway);
                    if !anyway && let Some(why) = self.warning(steps) {
                        let _ = order.reply.send(Answer::Refused { why });
                        continue;
                    }
                    self.answer(&order, drift);
                    return self.take_back(steps, &format!("asked for by {user}"), true);
                }
            }
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.told.deadline.as_ref().and_then(|deadline| deadline.parse().ok())
    }

    fn answer(&self, order: &Order, drift: Option<String>) {
        // Whoever asked may be gone.
        let _ = order.reply.send(Answer::Status(Status { drift, ..Status::of(&self.told) }));
    }

    fn extend(
        &mut self,
        order: &Order,
        user: &str,
        seconds: u64,
        now: Timestamp,
    ) -> Result<(), JournalError> {
        let longer = SignedDuration::from_secs(seconds.min(WINDOW_MOST.as_secs() as u64) as i64);
        let until = self.deadline().unwrap_or(now) + longer;
        if until.duration_since(now) > WINDOW_MOST {
            let why =
                "FD-5653: a change that waits longer than a day for its confirmation is none".to_owned();
            let _ = order.reply.send(Answer::Refused { why });
            return Ok(());
        }
        let (time, deadline) = (self.time(), until.to_string());
        let record = Record::Extended { time, user: user.to_owned(), deadline: deadline.clone() };
        self.record(record, "extended", user, &format!("until {deadline}"))?;
        self.answer(order, None);
        Ok(())
    }

    /// Reads back what was written. What somebody else wrote over is told once, and not fought.
    fn look_after(&mut self, steps: &[Step], known: Option<String>) -> Option<String> {
        let found = match verify(self.driver.surveyor(), steps) {
            Err(Halt::Otherwise { slot }) => Some(format!("{slot} is not as it was written any more")),
            _ => None,
        };
        if found != known
            && let Some(what) = &found
        {
            let user = self.user();
            self.audit("drift", &user, what);
        }
        found
    }

    /// What speaks against going back, for somebody who can decide.
    fn warning(&mut self, steps: &[Step]) -> Option<String> {
        let outlook = Outlook::of(self.driver.surveyor(), self.plan, steps).ok()?;
        let (Outlook { staying, back }, before) = (outlook, self.told.begun.lost_before);
        (!outlook.back_is_no_worse(before)).then(|| {
            format!(
                "FD-5654: the fabric has changed since: going back loses {} pairs and leaves {} circles, staying {} and {}; \
                 make a new plan, or roll back with --force",
                back.pairs, back.circles, staying.pairs, staying.circles
            )
        })
    }

    /// Takes the change back, unless nobody asked for it and it would make things worse.
    fn take_back(&mut self, steps: &[Step], why: &str, asked: bool) -> Result<(), JournalError> {
        let (time, user) = (self.time(), self.user());
        let recorded = match self.told.phase {
            Phase::RollingBack => Ok(()),
            _ => self.record(Record::Returning { time, why: why.to_owned() }, "rolling back", &user, why),
        };
        if recorded.is_err() {
            // The fabric comes first: the bytes to go back to are at hand, and the journal still says that it is pending.
            (self.told.phase, self.told.why) = (Phase::RollingBack, Some(why.to_owned()));
        }
        self.aim(steps);
        let outlook = Outlook::of(self.driver.surveyor(), self.plan, steps).ok();
        self.driver.surveyor().keep_off(&switched(steps));
        let before = self.told.begun.lost_before;
        let left = match outlook.filter(|outlook| !asked && !outlook.back_is_no_worse(before)) {
            Some(Outlook { staying, back }) => vec![Left {
                what: "everything".to_owned(),
                why: format!(
                    "going back loses {} pairs, staying {}; a person has to decide: make a new plan",
                    back.pairs, staying.pairs
                ),
            }],
            None => {
                let Self { driver, told, orders, .. } = self;
                let all = steps.len() as u64;
                driver.take_back(steps, &mut |done| {
                    told.written = all.saturating_sub(done);
                    // Orders are answered, and cannot stop it.
                    let _ = heed(orders, told);
                })
            }
        };
        recorded?;
        let detail =
            left.iter().map(|left| format!("{}: {}", left.what, left.why)).collect::<Vec<_>>().join("; ");
        let what = if left.is_empty() { "rolled back" } else { "rollback incomplete" };
        let time = self.time();
        self.record(Record::Returned { time, left }, what, &user, &detail)
    }
}

/// Answers whoever asks while work is under way; the wish to go back is a reason to end it.
fn heed(orders: &Receiver<Order>, told: &Told) -> Result<(), String> {
    while let Ok(order) = orders.try_recv() {
        let busy = || Answer::Refused {
            why: format!(
                "FD-5655: change {} is {}; ask again when that is done",
                told.begun.id,
                told.phase.title()
            ),
        };
        let (answer, end) = match &order.ask {
            Ask::Status => (Answer::Status(Status::of(told)), None),
            Ask::RollBack { user, .. } if told.phase == Phase::Applying => {
                (Answer::Status(Status::of(told)), Some(format!("asked for by {user}")))
            }
            _ => (busy(), None),
        };
        let _ = order.reply.send(answer);
        if let Some(why) = end {
            return Err(why);
        }
    }
    Ok(())
}
