//! Steps that write to the fabric, and steps that decide about a change.

use std::time::Duration;

use super::runner::{Runner, StepResult};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::{count_words, nothing_to_do};
use crate::operations::changes::apply::{ApplyOptions, UnattendedFrontEnd, apply_unattended};
use crate::operations::changes::change_control::{
    confirm as confirm_step, driver_options, exit_code, journal_status as change_status, refuse_findings,
    roll_back as roll_back_step,
};
use crate::operations::changes::change_row::time_of_day;
use crate::operations::changes::changer::Acceptance;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::{check_plan_fit, judge_plan};
use crate::operations::preview::comparison::PathScope;
use crate::runbook::execute::{PendingRollback, StepFailure, StepOutput};
use crate::runbook::steps::ApplyTask;
use crate::runbook::values::StepValue;
use fabdeck_change::{ChangePhase, Plan};
use fabdeck_mad::access::ReadOptions;

/// Time that a run waits for a rollback; afterwards the guard continues the rollback alone.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(25);

impl Runner<'_> {
    /// The plan of an `apply` step.
    fn plan_to_apply(&mut self, apply: &ApplyTask) -> Result<(Plan, String), Failure> {
        match &apply.plan {
            Some(file) => match self.files.get(file) {
                Some(made) => Ok(made.clone()),
                None => plan_file::read_with_text(file),
            },
            None => self
                .made
                .take()
                .ok_or_else(|| Failure::new(Exit::Failed, "FD-9211: no earlier step made a plan to apply; add such a step, or name a file with 'plan'")),
        }
    }

    pub fn apply(&mut self, apply: &ApplyTask) -> StepResult {
        let read = self.plan_to_apply(apply)?;
        let plan = read.0.clone();
        let values = vec![("writes".to_owned(), StepValue::count(plan.writes.len() as u64))];
        if self.dry {
            let words = self.rehearse(plan.clone(), apply)?;
            self.applied = Some(plan);
            return Ok(StepOutput { values, rehearsed: true, ..StepOutput::with_text(words) });
        }
        let driver = driver_options(
            apply.opensm,
            apply.opensm_conf.clone(),
            apply.opensm_console,
            apply.beside_manager,
        );
        let (accepted, window, unanswered) = (apply.accept.clone(), apply.window, apply.unanswered);
        let acceptance = Acceptance { accepted, window, unanswered };
        let options = ApplyOptions {
            source: &self.source,
            driver: &driver,
            acceptance: &acceptance,
            audited_as: format!("apply of {}, in a run", plan.engine),
        };
        let (journal, pending) = (&mut self.journal, &mut self.pending);
        let front = UnattendedFrontEnd {
            reporter: &mut *self.operation.reporter,
            stop: &self.stop,
            record_id: &mut |id| {
                // A run that ends after this point rolls the change back.
                *pending = Some(id.to_owned());
                journal.as_mut().map_or(Ok(()), |journal| journal.record_change(id))
            },
        };
        let status = apply_unattended(self.operation.env, &options, read, front);
        let status = match status {
            Ok(Some(status)) => status,
            Ok(None) => {
                let words = nothing_to_do("the plan", plan.writes.len());
                self.applied = Some(plan);
                return Ok(StepOutput { values, ..StepOutput::with_text(words) });
            }
            Err(failure) => {
                self.clear_unless_begun();
                return Err(failure.into());
            }
        };
        if status.phase.is_pending() {
            self.check_stop()?;
        }
        let change = Some(status.id.clone());
        if status.phase != ChangePhase::Applied {
            // The change has ended by itself, so there is nothing to roll back, unless its rollback is incomplete.
            self.pending = self.pending.take().filter(|_| status.phase == ChangePhase::Incomplete);
            let why = status.why.clone().unwrap_or_default();
            let words = format!("change {} is {}: {why}", status.id, status.phase.title());
            return Err(StepFailure { exit: exit_code(&status).code(), words, change }.into());
        }
        self.applied = Some(plan);
        let until =
            status.deadline.as_deref().filter(|_| !self.operation.env.given.no_times).map(time_of_day);
        let until = until.unwrap_or_else(|| "its deadline".to_owned());
        let words = format!(
            "change {} is applied: {} read back; it is rolled back at {until} unless it is confirmed",
            status.id,
            count_words(status.writes as usize, "write", "writes")
        );
        Ok(StepOutput { values, change, ..StepOutput::with_text(words) })
    }

    /// Clears the pending change if it was refused before it began.
    fn clear_unless_begun(&mut self) {
        let begun = self.pending.as_ref().is_some_and(|id| change_status(self.operation.env, id).is_some());
        if !begun {
            self.pending = None;
        }
    }

    /// Makes the checks of `apply` without a write, except those that only the guard can make.
    fn rehearse(&mut self, plan: Plan, apply: &ApplyTask) -> Result<String, Failure> {
        let lanes = plan_file::plan_has_lanes(&plan);
        let (snapshot, _) =
            self.read_snapshot(ReadOptions { tables: true, lanes, ..ReadOptions::default() })?;
        let judged = judge_plan(&snapshot, &plan, &check_plan_fit(&snapshot, &plan), PathScope::TERMINALS)?;
        let writes = count_words(plan.writes.len(), "write", "writes");
        self.apply_to_snapshot(plan.clone())?;
        refuse_findings(&judged, &plan, &snapshot, apply.opensm, &apply.accept)?;
        self.pending = Some("rehearsed".to_owned());
        Ok(format!(
            "not applied: the step would apply {writes} with a window of {} s; later steps read the fabric as planned",
            apply.window.as_secs()
        ))
    }

    pub fn confirm(&mut self) -> StepResult {
        let Some(id) = self.pending.clone() else { return Ok(nothing_pending()) };
        if self.dry {
            self.pending = None;
            return Ok(StepOutput {
                rehearsed: true,
                ..StepOutput::with_text("not confirmed: nothing was applied")
            });
        }
        let means = self.operation.env;
        let reporter = &mut self.operation.reporter;
        match confirm_step(means, &id, &mut |line| reporter.report_line(line)) {
            Ok(status) if status.phase == ChangePhase::Confirmed => {
                self.pending = None;
                Ok(StepOutput {
                    change: Some(id.clone()),
                    ..StepOutput::with_text(format!("change {id} is confirmed"))
                })
            }
            Ok(status) => Err(self.rolled_back_failure(&id, status.phase, String::new()).into()),
            Err(failure) => match change_status(self.operation.env, &id) {
                Some(status) if !status.phase.is_pending() => Err(self
                    .rolled_back_failure(&id, status.phase, failure.message.unwrap_or_default())
                    .into()),
                _ => Err(failure.into()),
            },
        }
    }

    /// Failure for a change that rolled back before it was confirmed.
    fn rolled_back_failure(&mut self, id: &str, phase: ChangePhase, why: String) -> StepFailure {
        if phase == ChangePhase::RolledBack {
            self.pending = None;
            self.applied = None;
        }
        let exit = match phase {
            ChangePhase::Incomplete => Exit::RollbackIncomplete,
            _ => Exit::RolledBack,
        };
        let words = format!("change {id} is {}: {why}", phase.title());
        StepFailure { exit: exit.code(), words, change: Some(id.to_owned()) }
    }

    pub fn rollback(&mut self) -> StepResult {
        let Some(id) = self.pending.clone() else { return Ok(nothing_pending()) };
        let back = self.roll_back_pending();
        if !back.complete {
            let exit = Exit::RollbackIncomplete.code();
            return Err(StepFailure { exit, words: back.words, change: Some(id) }.into());
        }
        let change = Some(id).filter(|_| !self.dry);
        Ok(StepOutput { change, rehearsed: self.dry, ..StepOutput::with_text(back.words) })
    }

    /// Rolls back the change that is not confirmed.
    pub fn roll_back_pending(&mut self) -> PendingRollback {
        let id = self.pending.take().unwrap_or_default();
        self.applied = None;
        if self.dry {
            self.rehearsed_plans.pop();
            let words = "not rolled back: nothing was applied".to_owned();
            return PendingRollback { change: id, state: None, words, complete: true };
        }
        let means = self.operation.env;
        let reporter = &mut self.operation.reporter;
        let ended = roll_back_step(means, &id, ROLLBACK_TIMEOUT, &mut |line| reporter.report_line(line));
        let (state, why) = match ended {
            Ok(status) => {
                (Some(status.phase), status.why.filter(|_| status.phase != ChangePhase::RolledBack))
            }
            Err(failure) => (change_status(means, &id).map(|status| status.phase), failure.message),
        };
        let complete = state == Some(ChangePhase::RolledBack);
        let title = state.map_or("not there", ChangePhase::title);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let continued = match state {
            Some(phase) if phase.is_pending() => "; its guard continues",
            _ => "",
        };
        if !complete {
            self.pending = Some(id.clone()).filter(|_| state.is_some_and(ChangePhase::is_pending));
        }
        let shown = state.map_or("in an unknown state", ChangePhase::title);
        let words = format!("change {id} is {shown}{why}{continued}");
        PendingRollback { change: id, state: Some(title.to_owned()), words, complete }
    }
}

fn nothing_pending() -> StepOutput {
    StepOutput::with_text(
        "nothing is pending: there was nothing to write, or the change was rolled back already",
    )
}
