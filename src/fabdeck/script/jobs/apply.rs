//! `jobs watch --apply`: a proposal becomes a change like any other. The watch then reads the fabric again and
//! confirms the change. If it cannot read the fabric, it does not confirm, and the guard rolls the change back.

use std::time::{Duration, Instant};

use super::event::{JobWatchEvent, print};
use super::job_args::WatchApplyArgs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::nothing_to_do;
use crate::operations::changes::change_control::{
    ApplyOptions, apply as apply_step, change_folder as state_folder, confirm as confirm_step,
    driver_options, guard_status as look_at_change, refuse_without_right, roll_back as roll_back_step,
};
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::DriverOptions;
use crate::operations::changes::verification::{drift_message, hides_part, open_findings};
use crate::operations::jobs::list_source::POLL_INTERVAL;
use crate::operations::jobs::watch_mark::WatchMark;
use crate::operations::lanes::lanes_in_force;
use crate::operations::plans::plan_file;
use crate::operations::plans::plan_verdict::check_after_change;
use crate::script::changes::args::DriverChoice;
use crate::script::context::Context;
use crate::system::stop_flag::{StopFlag, StopWatch};
use fabdeck_change::{ChangePhase, ChangeStatus, Plan};
use fabdeck_fabric::Faults;
use fabdeck_mad::access::ReadOptions;

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
    pub fn new(context: &mut Context<'_, '_>, choice: &WatchApplyArgs) -> Result<Option<Self>, Failure> {
        if !choice.apply {
            return Ok(None);
        }
        let means = context.env();
        let source = means.named_source()?.to_owned();
        refuse_without_right(means, &source)?;
        let mark = WatchMark::of(&state_folder(means, &source)?);
        if let Some(why) = mark.reason() {
            context.output.print_message(&why);
        }
        let opensm = choice.via == DriverChoice::Opensm;
        let driver =
            driver_options(opensm, choice.opensm_conf.clone(), choice.opensm_console, choice.beside_manager);
        let (accepted, window) = (Vec::new(), choice.confirm_within);
        let acceptance = Acceptance { accepted, window, unanswered: choice.unanswered.unanswered() };
        Ok(Some(Self { driver, acceptance, source, mark }))
    }

    /// Applies a plan, and confirms or rolls back the change, or leaves it to its guard.
    pub fn apply(
        &self,
        context: &mut Context<'_, '_>,
        stop: &StopFlag,
        text: String,
    ) -> Result<AfterApply, Failure> {
        if let Some(why) = self.mark.reason() {
            print(context, &JobWatchEvent::NotApplied { why })?;
            return Ok(AfterApply::Retry);
        }
        let read = |error| Failure::new(Exit::Bug, format!("FD-7923: {error}"));
        let plan = Plan::read(&text).map_err(read)?;
        let mut begun = None;
        let status = self.apply_plan(context, stop, (plan.clone(), text), &mut begun);
        let id = match (status, begun) {
            (Ok(Some(status)), _) if status.phase != ChangePhase::Refused => {
                if status.phase == ChangePhase::Applied {
                    let deadline = status.deadline.clone().filter(|_| !context.globals.no_times);
                    let (change, writes) = (status.id.clone(), status.writes);
                    print(context, &JobWatchEvent::Applied { change, writes, deadline })?;
                }
                status.id
            }
            // The change began, although this process lost track of it.
            (Err(_), Some(id)) if self.is_begun(context, &id) => id,
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
                    print(context, &JobWatchEvent::NotApplied { why })?;
                }
                return Ok(AfterApply::Retry);
            }
        };
        self.decide(context, stop, &id, &plan)?;
        Ok(AfterApply::Done)
    }

    /// Whether the change began. An unknown state counts as begun, because only a change that certainly does not
    /// exist leaves no mark.
    fn is_begun(&self, context: &Context<'_, '_>, id: &str) -> bool {
        match look_at_change(context.env(), id) {
            Ok(status) => status.phase != ChangePhase::Refused,
            Err(failure) => failure.exit != Exit::Usage,
        }
    }

    fn apply_plan(
        &self,
        context: &mut Context<'_, '_>,
        stop: &StopFlag,
        read: (Plan, String),
        begun: &mut Option<String>,
    ) -> Result<Option<ChangeStatus>, Failure> {
        let options = ApplyOptions {
            source: &self.source,
            road: &self.driver,
            acceptance: &self.acceptance,
            by: "by a watch over jobs",
        };
        let means = context.env();
        let output = &mut context.output;
        apply_step(
            means,
            &options,
            read,
            &mut StopWatch(stop),
            &mut |line| output.print_message(line),
            &mut |id| {
                self.mark.set(id)?;
                *begun = Some(id.to_owned());
                Ok(())
            },
        )
    }

    /// Confirms a change that is as planned, rolls back one that is not, and leaves the rest to the guard.
    fn decide(
        &self,
        context: &mut Context<'_, '_>,
        stop: &StopFlag,
        id: &str,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let since = Instant::now();
        let mut why = "the window ended before the change could be checked".to_owned();
        loop {
            let status = look_at_change(context.env(), id);
            if let Ok(status) = &status
                && !status.phase.is_pending()
            {
                return self.report_end(context, status, &why);
            }
            if stop.is_requested() {
                context
                    .output
                    .print_message(&format!("change {id} is left to its guard, which rolls it back"));
                return Ok(());
            }
            if since.elapsed() > self.acceptance.window + OVERDUE_TOLERANCE {
                let marked = self.mark.write_reason(&why);
                print(context, &JobWatchEvent::Failed { change: id.to_owned(), state: None, why })?;
                return marked;
            }
            if status.is_ok_and(|status| status.phase == ChangePhase::Applied) {
                match self.deviation(context, plan) {
                    Ok(None) => match self.confirm(context, id) {
                        Ok(()) => continue,
                        Err(failure) => why = failure.message.unwrap_or_default(),
                    },
                    Ok(Some(deviation)) => {
                        context.output.print_message(&deviation);
                        why = deviation;
                        self.roll_back(context, id);
                    }
                    // A change that could not be read is not confirmed.
                    Err(unread) => why = unread,
                }
            }
            wait_before_retry(stop);
        }
    }

    fn confirm(&self, context: &mut Context<'_, '_>, id: &str) -> Result<(), Failure> {
        let means = context.env();
        let output = &mut context.output;
        confirm_step(means, id, &mut |line| output.print_message(line)).map(drop)
    }

    /// Rolls a change back; if that fails, the guard does it at the deadline.
    fn roll_back(&self, context: &mut Context<'_, '_>, id: &str) {
        let means = context.env();
        let output = &mut context.output;
        let ended = roll_back_step(means, id, ROLLBACK_TIMEOUT, &mut |line| output.print_message(line));
        if let Err(Failure { message: Some(message), .. }) = ended {
            context.output.print_message(&message);
        }
    }

    fn report_end(
        &self,
        context: &mut Context<'_, '_>,
        status: &ChangeStatus,
        why: &str,
    ) -> Result<(), Failure> {
        let change = status.id.clone();
        if status.phase == ChangePhase::Confirmed {
            self.mark.remove()?;
            return print(context, &JobWatchEvent::Confirmed { change });
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
        print(context, &event)?;
        marked
    }

    /// What differs from the plan in a reading independent of the guard's; an error if that is unknown.
    fn deviation(&self, context: &mut Context<'_, '_>, plan: &Plan) -> Result<Option<String>, String> {
        let message_of = |failure: Failure| failure.message.unwrap_or_default();
        let wanted =
            ReadOptions { tables: true, lanes: plan_file::plan_has_lanes(plan), ..ReadOptions::default() };
        let (snapshot, in_force) =
            lanes_in_force::read_snapshot(&mut context.operation(), wanted, (None, false))
                .map_err(message_of)?;
        if hides_part(&snapshot.observation) {
            return Err("part of the fabric did not answer, so the change cannot be checked".to_owned());
        }
        if let Some(drift) = drift_message(&snapshot, plan) {
            return Ok(Some(format!("FD-7818: the fabric differs from the applied plan: {drift}")));
        }
        let report = check_after_change((&snapshot, Some(plan)), &Faults::new(), in_force.sent())
            .map_err(|refusal| message_of(refusal.into()))?;
        let open = open_findings(&report, &[]);
        Ok((!open.is_empty()).then(|| format!("FD-7818: findings after the change: {}", open.join("; "))))
    }
}

fn wait_before_retry(stop: &StopFlag) {
    let since = Instant::now();
    while since.elapsed() < RETRY_DELAY && !stop.is_requested() {
        std::thread::sleep(POLL_INTERVAL);
    }
}
