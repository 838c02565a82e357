//! Applies the proposals of a watch over jobs: a proposal becomes a change like any other. The watch then reads the
//! fabric again and confirms the change. If it cannot read the fabric, it does not confirm, and the guard rolls the
//! change back.

use std::time::{Duration, Instant};

use super::list_source::POLL_INTERVAL;
use super::watch_event::{JobWatchEvent, JobWatchFrontEnd};
use super::watch_mark::WatchMark;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::nothing_to_do;
use crate::operations::changes::applied_plan::find_deviation;
use crate::operations::changes::apply::{ApplyOptions, UnattendedFrontEnd, apply_unattended};
use crate::operations::changes::change_control::{
    change_folder as state_folder, confirm as confirm_step, guard_status as look_at_change,
    refuse_without_right, roll_back as roll_back_step,
};
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::DriverOptions;
use crate::operations::operation::Operation;
use crate::system::stop_flag::StopFlag;
use fabdeck_change::{ChangePhase, ChangeStatus, Plan};

/// Pause between two attempts to read the status of a change.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Time after the window of a change from which on its end counts as unknown.
const OVERDUE_TOLERANCE: Duration = Duration::from_secs(300);
/// Time to wait for a rollback before the next request to the guard.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(25);

/// Applies the proposals of a watch.
pub struct JobPlanApplier {
    driver: DriverOptions,
    acceptance: Acceptance,
    source: String,
    mark: WatchMark,
}

/// Whether the watch may propose routes for the same jobs again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AfterApply {
    Done,
    /// The plan was not applied, for a reason that can pass.
    Retry,
}

impl JobPlanApplier {
    /// Creates the applier; refuses at once if no proposal could ever be applied.
    pub fn new(
        front: &mut dyn JobWatchFrontEnd,
        (driver, acceptance): &(DriverOptions, Acceptance),
    ) -> Result<Self, Failure> {
        let Operation { env, reporter, .. } = front.operation();
        let source = env.named_source()?.to_owned();
        refuse_without_right(env, &source)?;
        let mark = WatchMark::of(&state_folder(env, &source)?);
        if let Some(why) = mark.reason() {
            reporter.report_line(&why);
        }
        Ok(Self { driver: driver.clone(), acceptance: acceptance.clone(), source, mark })
    }

    /// Applies a plan, and confirms or rolls back the change, or leaves it to its guard.
    pub fn apply(
        &self,
        front: &mut dyn JobWatchFrontEnd,
        stop: &StopFlag,
        text: String,
    ) -> Result<AfterApply, Failure> {
        if let Some(why) = self.mark.reason() {
            front.report_event(&JobWatchEvent::NotApplied { why }, None)?;
            return Ok(AfterApply::Retry);
        }
        let read = |error| Failure::new(Exit::Bug, format!("FD-7923: {error}"));
        let plan = Plan::read(&text).map_err(read)?;
        let mut begun = None;
        let status = self.apply_plan(front, stop, (plan.clone(), text), &mut begun);
        let id = match (status, begun) {
            (Ok(Some(status)), _) if status.phase != ChangePhase::Refused => {
                if status.phase == ChangePhase::Applied {
                    let deadline = status.deadline.clone().filter(|_| !front.operation().env.given.no_times);
                    let (change, writes) = (status.id.clone(), status.writes);
                    front.report_event(&JobWatchEvent::Applied { change, writes, deadline }, None)?;
                }
                status.id
            }
            // The change began, although this process lost track of it.
            (Err(_), Some(id)) if self.is_begun(front, &id) => id,
            (status, begun) => {
                if begun.is_some() {
                    self.mark.remove()?;
                }
                let why = match status {
                    Ok(None) => nothing_to_do("the plan", plan.writes.len()),
                    Ok(Some(status)) => status.why.unwrap_or_default(),
                    Err(failure) => failure.message.unwrap_or_default(),
                };
                if !stop.is_requested() {
                    front.report_event(&JobWatchEvent::NotApplied { why }, None)?;
                }
                return Ok(AfterApply::Retry);
            }
        };
        self.decide(front, stop, &id, &plan)?;
        Ok(AfterApply::Done)
    }

    /// Whether the change began. An unknown state counts as begun, because only a change that certainly does not
    /// exist leaves no mark.
    fn is_begun(&self, front: &mut dyn JobWatchFrontEnd, id: &str) -> bool {
        match look_at_change(front.operation().env, id) {
            Ok(status) => status.phase != ChangePhase::Refused,
            Err(failure) => failure.exit != Exit::Usage,
        }
    }

    fn apply_plan(
        &self,
        front: &mut dyn JobWatchFrontEnd,
        stop: &StopFlag,
        read: (Plan, String),
        begun: &mut Option<String>,
    ) -> Result<Option<ChangeStatus>, Failure> {
        let options = ApplyOptions {
            source: &self.source,
            driver: &self.driver,
            acceptance: &self.acceptance,
            audited_as: format!("apply of {}, by a watch over jobs", read.0.engine),
        };
        let Operation { env, reporter, .. } = front.operation();
        let mut record_id = |id: &str| {
            self.mark.set(id)?;
            *begun = Some(id.to_owned());
            Ok(())
        };
        apply_unattended(
            env,
            &options,
            read,
            UnattendedFrontEnd { reporter, stop, record_id: &mut record_id },
        )
    }

    /// Confirms a change that is as planned, rolls back one that is not, and leaves the rest to the guard.
    fn decide(
        &self,
        front: &mut dyn JobWatchFrontEnd,
        stop: &StopFlag,
        id: &str,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let since = Instant::now();
        let mut why = "the window ended before the change could be checked".to_owned();
        loop {
            let status = look_at_change(front.operation().env, id);
            if let Ok(status) = &status
                && !status.phase.is_pending()
            {
                return self.report_end(front, status, &why);
            }
            if stop.is_requested() {
                front
                    .operation()
                    .reporter
                    .report_line(&format!("change {id} is left to its guard, which rolls it back"));
                return Ok(());
            }
            if since.elapsed() > self.acceptance.window + OVERDUE_TOLERANCE {
                let marked = self.mark.write_reason(&why);
                front
                    .report_event(&JobWatchEvent::Failed { change: id.to_owned(), state: None, why }, None)?;
                return marked;
            }
            if status.is_ok_and(|status| status.phase == ChangePhase::Applied) {
                match find_deviation(&mut front.operation(), plan, &[]) {
                    Ok(None) => match self.confirm(front, id) {
                        Ok(()) => continue,
                        Err(failure) => why = failure.message.unwrap_or_default(),
                    },
                    Ok(Some(deviation)) => {
                        front.operation().reporter.report_line(&deviation);
                        why = deviation;
                        self.roll_back(front, id);
                    }
                    // A change that could not be read is not confirmed.
                    Err(unread) => why = unread,
                }
            }
            wait_before_retry(stop);
        }
    }

    fn confirm(&self, front: &mut dyn JobWatchFrontEnd, id: &str) -> Result<(), Failure> {
        let Operation { env, reporter, .. } = front.operation();
        confirm_step(env, id, &mut |line| reporter.report_line(line)).map(drop)
    }

    /// Rolls a change back; if that fails, the guard does it at the deadline.
    fn roll_back(&self, front: &mut dyn JobWatchFrontEnd, id: &str) {
        let Operation { env, reporter, .. } = front.operation();
        let ended = roll_back_step(env, id, ROLLBACK_TIMEOUT, &mut |line| reporter.report_line(line));
        if let Err(Failure { message: Some(message), .. }) = ended {
            front.operation().reporter.report_line(&message);
        }
    }

    fn report_end(
        &self,
        front: &mut dyn JobWatchFrontEnd,
        status: &ChangeStatus,
        why: &str,
    ) -> Result<(), Failure> {
        let change = status.id.clone();
        if status.phase == ChangePhase::Confirmed {
            self.mark.remove()?;
            return front.report_event(&JobWatchEvent::Confirmed { change }, None);
        }
        let why = match &status.why {
            Some(guard) if guard != why => format!("{guard}; {why}"),
            _ => why.to_owned(),
        };
        let marked = self.mark.write_reason(&format!("the change is {}: {why}", status.phase.title()));
        let event = match status.phase {
            ChangePhase::RolledBack => JobWatchEvent::RolledBack { change, why },
            phase => JobWatchEvent::Failed { change, state: Some(phase.title().to_owned()), why },
        };
        front.report_event(&event, None)?;
        marked
    }
}

fn wait_before_retry(stop: &StopFlag) {
    let since = Instant::now();
    while since.elapsed() < RETRY_DELAY && !stop.is_requested() {
        std::thread::sleep(POLL_INTERVAL);
    }
}
