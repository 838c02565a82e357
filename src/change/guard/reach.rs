//! The rollback over a fabric that may be unreachable: the change stays pending, and the guard retries.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::ask::{Answer, Ask, Order, Status};
use super::keeper::{Keeper, busy};
use super::outlook::switched;
use crate::clock::{BootTime, Clocks, Stopwatch};
use crate::journal::{Left, Record};
use crate::writes::Step;
use fabdeck_mad::access::{Device, Unwatched, Wanted};

/// How long the rollback retries on an unreachable fabric. After that, a user has to ask for the rollback again.
pub const OUT_OF_REACH: SignedDuration = SignedDuration::from_hours(1);
/// The shortest and the longest pause between two tries; each pause is twice the one before.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// The longest wait in one turn, so that the second process sees progress.
const TURN_MOST: Duration = Duration::from_secs(5);

/// Since when the fabric is unreachable. The time since boot counts, which cannot be set.
struct Unreached {
    time: Timestamp,
    since: BootTime,
}

impl Unreached {
    fn now(clock: &dyn Clocks) -> Self {
        Self { time: clock.now(), since: clock.boot_time() }
    }

    fn waited(&self, clock: &dyn Clocks) -> Duration {
        self.since.until(&clock.boot_time()).unwrap_or_default()
    }
}

impl Keeper<'_> {
    /// Restores what can be restored. A fabric that becomes unreachable meanwhile is waited for, too.
    pub(super) fn go_back(&mut self, steps: &[Step]) -> Vec<Left> {
        let mut since = None;
        loop {
            self.reach(steps, &mut since);
            let left = self.restore(steps);
            if left.is_empty() || self.is_over(since.as_ref()) || self.unseen(steps).is_none() {
                return left;
            }
        }
    }

    fn is_over(&self, since: Option<&Unreached>) -> bool {
        let patience = Duration::try_from(self.patience).unwrap_or_default();
        since.is_some_and(|since| since.waited(self.clock) >= patience)
    }

    /// Waits until a switch of the fabric answers, or the patience is over. `since` is when the first try failed.
    fn reach(&mut self, steps: &[Step], since: &mut Option<Unreached>) {
        let (user, before) = (self.user(), self.trouble.clone());
        let (mut pause, mut tries) = (PAUSES[0], 0_u32);
        while let Some(why) = self.unseen(steps) {
            let begun = since.get_or_insert_with(|| Unreached::now(self.clock)).time;
            tries += 1;
            if tries == 1 {
                self.audit("out of reach", &user, &why);
            }
            if self.is_over(since.as_ref()) {
                let detail = format!("nothing was seen of the fabric since {begun}");
                self.audit("given up", &user, &detail);
                break;
            }
            let often = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
            let away =
                format!("FD-5658: the fabric is out of reach since {begun}, and was tried {often}: {why}");
            self.trouble = Some(before.iter().cloned().chain([away]).collect::<Vec<_>>().join("; "));
            self.bide(pause);
            pause = (pause * 2).min(PAUSES[1]);
        }
        self.trouble = before;
        if tries > 0 && !self.is_over(since.as_ref()) {
            self.audit("within reach again", &user, "");
        }
    }

    /// Why no switch of the fabric answers, or why the subnet manager is not ready. `None`: the rollback can go on.
    fn unseen(&mut self, steps: &[Step]) -> Option<String> {
        let look = match self.driver.surveyor().look(Wanted::default(), &mut Unwatched) {
            Ok(look) => look,
            Err(error) => return Some(error.to_string()),
        };
        self.driver.surveyor().keep_off(&switched(steps));
        let switches = &self.told.begun.switches;
        let ours = |guid| {
            switches.contains(&format!("{guid}"))
                || steps.iter().any(|step| step.slot.at == Device::Switch(guid))
        };
        let seen = look.fabric.switches().any(|(_, node)| ours(node.guid()));
        if seen { self.driver.await_manager() } else { Some("none of its switches can be seen".to_owned()) }
    }

    /// Answers requests for this long. A request to roll back ends the wait at once.
    fn bide(&mut self, pause: Duration) {
        let since = Stopwatch::start(self.clock);
        loop {
            let left = pause.saturating_sub(since.elapsed());
            match self.next_order(left.min(TURN_MOST)) {
                Ok(order) => {
                    if self.heard(&order) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) if left <= TURN_MOST => return,
                Err(RecvTimeoutError::Timeout) => {}
                // All senders are closed, so no request can come; the wait goes on.
                Err(RecvTimeoutError::Disconnected) if left.is_zero() => return,
                Err(RecvTimeoutError::Disconnected) => self.clock.sleep(left.min(TURN_MOST)),
            }
        }
    }

    /// Answers a request. Whether the rollback is tried at once.
    fn heard(&mut self, order: &Order) -> bool {
        let at_once = match &order.ask {
            Ask::Status => false,
            Ask::RollBack { user, anyway } => {
                if *anyway && !self.told.asked {
                    self.force(user);
                }
                true
            }
            Ask::NameOpensm { user, process } => return self.name_opensm(order, user, process),
            _ => {
                let why = busy(&self.told);
                self.refuse(order, why);
                return false;
            }
        };
        let status = Status { trouble: self.trouble.clone(), ..Status::of(&self.told) };
        // The caller may have closed its end.
        let _ = order.reply.send(Answer::Status(status));
        at_once
    }

    /// Uses another process of OpenSM from now on, also in the guards that follow. Whether it worked.
    pub(super) fn name_opensm(&mut self, order: &Order, user: &str, process: &str) -> bool {
        if let Err(why) = self.driver.name_opensm(process) {
            self.refuse(order, why);
            return false;
        }
        let (user, process) = (user.to_owned(), process.to_owned());
        let record = Record::OpensmNamed { time: self.time(), user: user.clone(), process: process.clone() };
        if let Err(error) = self.record(record, "OpenSM's process named", &user, &process) {
            // This guard uses the process all the same.
            (self.say)(&error.to_string());
        }
        let status = Status { trouble: self.trouble.clone(), ..Status::of(&self.told) };
        // The caller may have closed its end.
        let _ = order.reply.send(Answer::Status(status));
        true
    }

    /// From now on the rollback goes on even where it loses paths.
    fn force(&mut self, user: &str) {
        let why = self.told.why.clone().unwrap_or_default();
        let record = Record::Returning { time: self.time(), why, asked: true };
        if let Err(error) = self.record(record, "rolling back", user, "even where that loses paths") {
            (self.say)(&error.to_string());
            self.told.asked = true;
        }
    }
}
