//! Steps that write to the fabric, and steps that decide about a change.

use std::time::Duration;

use super::crew::{Done, Hands};
use crate::runbook::{Apply, Did, Found, TakenBack, Trouble};
use crate::script::changing::{
    Means, Terms, apply_step, change_status, confirm_step, exit_code, refuse_findings, road, roll_back_step,
};
use crate::script::{Ending, Exit, Failure, plan};
use crate::session::interactive::Acceptance;
use crate::session::{Sent, counted, fit, judge, time_of_day};
use fabdeck_change::{Phase, Plan};
use fabdeck_mad::access::Wanted;

/// Time that a run waits for a rollback; the guard continues it beyond that.
const PATIENCE: Duration = Duration::from_secs(25);

impl Hands<'_, '_, '_> {
    /// The plan of an `apply` step.
    fn read(&mut self, apply: &Apply) -> Result<(Plan, String), Failure> {
        match &apply.plan {
            Some(file) => match self.files.get(file) {
                Some(made) => Ok(made.clone()),
                None => plan::read_with_text(file),
            },
            None => self
                .made
                .take()
                .ok_or_else(|| Failure::new(Exit::Failed, "FD-9211: no plan was made that could be applied")),
        }
    }

    pub fn apply(&mut self, apply: &Apply) -> Done {
        let read = self.read(apply)?;
        let plan = read.0.clone();
        let values = vec![("writes".to_owned(), Found::count(plan.writes.len() as u64))];
        if self.dry {
            let words = self.rehearse(plan.clone(), apply)?;
            self.applied = Some(plan);
            return Ok(Did { values, rehearsed: true, ..Did::said(words) });
        }
        let road = road(apply.opensm, apply.opensm_conf.clone(), apply.opensm_console, apply.beside_manager);
        let (accepted, window, unanswered) = (apply.accept.clone(), apply.window, apply.unanswered);
        let acceptance = Acceptance { accepted, window, unanswered };
        let terms = Terms { source: &self.source, road: &road, acceptance: &acceptance, by: "in a run" };
        let means = Means { outside: self.context.outside, given: &self.given };
        let (journal, pending, output) = (&mut self.journal, &mut self.pending, &mut self.context.output);
        let status = apply_step(
            means,
            &terms,
            read,
            &mut Ending(&self.stop),
            &mut |line| output.say(line),
            &mut |id| {
                // If the run ends from here on, it rolls this change back.
                *pending = Some(id.to_owned());
                journal.as_mut().map_or(Ok(()), |journal| journal.change(id))
            },
        );
        let status = match status {
            Ok(Some(status)) => status,
            Ok(None) => {
                self.applied = Some(plan);
                let words = "nothing to do: all that the plan writes stands there already";
                return Ok(Did { values, ..Did::said(words) });
            }
            Err(failure) => {
                self.forget_unless_begun();
                return Err(failure.into());
            }
        };
        if status.phase.is_pending() {
            self.heed()?;
        }
        let change = Some(status.id.clone());
        if status.phase != Phase::Applied {
            // The change has ended by itself, so there is nothing to roll back, unless its rollback is incomplete.
            self.pending = self.pending.take().filter(|_| status.phase == Phase::Incomplete);
            let why = status.why.clone().unwrap_or_default();
            let words = format!("change {} is {}: {why}", status.id, status.phase.title());
            return Err(Trouble { exit: exit_code(&status).code(), words, change }.into());
        }
        self.applied = Some(plan);
        let until = status.deadline.as_deref().filter(|_| !self.context.globals.no_times).map(time_of_day);
        let until = until.unwrap_or_else(|| "its deadline".to_owned());
        let words = format!(
            "change {} is applied: {} read back; it goes back by itself at {until}",
            status.id,
            counted(status.writes as usize, "write", "writes")
        );
        Ok(Did { values, change, ..Did::said(words) })
    }

    /// Forgets a change that was refused before it was begun.
    fn forget_unless_begun(&mut self) {
        let begun = self.pending.as_ref().is_some_and(|id| change_status(self.means(), id).is_some());
        if !begun {
            self.pending = None;
        }
    }

    /// Refuses what `apply` refuses, except for what only the guard can find.
    fn rehearse(&mut self, plan: Plan, apply: &Apply) -> Result<String, Failure> {
        let lanes = plan::knows_lanes(&plan);
        let (look, _) = self.look(Wanted { tables: true, lanes, ..Wanted::default() })?;
        let judged = judge(&look, &plan, &fit(&look, &plan), (false, Sent::Unsaid))?;
        let writes = counted(plan.writes.len(), "write", "writes");
        self.lead(plan.clone())?;
        refuse_findings(&judged, &plan, &look, apply.opensm, &apply.accept)?;
        self.pending = Some("rehearsed".to_owned());
        Ok(format!(
            "not applied: it would be {writes}, with a window of {} s; looks from here on are of what it leads to",
            apply.window.as_secs()
        ))
    }

    pub fn confirm(&mut self) -> Done {
        let Some(id) = self.pending.clone() else { return Ok(nothing_pending()) };
        if self.dry {
            self.pending = None;
            return Ok(Did { rehearsed: true, ..Did::said("not confirmed: nothing was applied") });
        }
        let means = Means { outside: self.context.outside, given: &self.given };
        let output = &mut self.context.output;
        match confirm_step(means, &id, &mut |line| output.say(line)) {
            Ok(status) if status.phase == Phase::Confirmed => {
                self.pending = None;
                Ok(Did { change: Some(id.clone()), ..Did::said(format!("change {id} is confirmed")) })
            }
            Ok(status) => Err(self.gone(&id, status.phase, String::new()).into()),
            Err(failure) => match change_status(self.means(), &id) {
                Some(status) if !status.phase.is_pending() => {
                    Err(self.gone(&id, status.phase, failure.message.unwrap_or_default()).into())
                }
                _ => Err(failure.into()),
            },
        }
    }

    /// Failure for a change that rolled back before it was confirmed.
    fn gone(&mut self, id: &str, phase: Phase, why: String) -> Trouble {
        if phase == Phase::RolledBack {
            self.pending = None;
            self.applied = None;
        }
        let exit = match phase {
            Phase::Incomplete => Exit::RollbackIncomplete,
            _ => Exit::RolledBack,
        };
        let words = format!("change {id} is {}: {why}", phase.title());
        Trouble { exit: exit.code(), words, change: Some(id.to_owned()) }
    }

    pub fn rollback(&mut self) -> Done {
        let Some(id) = self.pending.clone() else { return Ok(nothing_pending()) };
        let back = self.taken_back();
        if !back.complete {
            let exit = Exit::RollbackIncomplete.code();
            return Err(Trouble { exit, words: back.words, change: Some(id) }.into());
        }
        let change = Some(id).filter(|_| !self.dry);
        Ok(Did { change, rehearsed: self.dry, ..Did::said(back.words) })
    }

    /// Rolls back the change that is not confirmed.
    pub fn taken_back(&mut self) -> TakenBack {
        let id = self.pending.take().unwrap_or_default();
        self.applied = None;
        if self.dry {
            self.led.pop();
            let words = "not rolled back: nothing was applied".to_owned();
            return TakenBack { change: id, state: None, words, complete: true };
        }
        let means = Means { outside: self.context.outside, given: &self.given };
        let output = &mut self.context.output;
        let ended = roll_back_step(means, &id, PATIENCE, &mut |line| output.say(line));
        let (state, why) = match ended {
            Ok(status) => (Some(status.phase), status.why.filter(|_| status.phase != Phase::RolledBack)),
            Err(failure) => (change_status(means, &id).map(|status| status.phase), failure.message),
        };
        let complete = state == Some(Phase::RolledBack);
        let title = state.map_or("not there", Phase::title);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let goes_on = match state {
            Some(phase) if phase.is_pending() => "; its guard goes on with it",
            _ => "",
        };
        if !complete {
            self.pending = Some(id.clone()).filter(|_| state.is_some_and(Phase::is_pending));
        }
        let words = format!("change {id} is {title}{why}{goes_on}");
        TakenBack { change: id, state: Some(title.to_owned()), words, complete }
    }
}

fn nothing_pending() -> Did {
    Did::said("nothing is pending: there was nothing to write, or it was taken back already")
}
