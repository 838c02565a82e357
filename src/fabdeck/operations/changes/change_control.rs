//! Waits for changes and decides about them: the one way of commands, runbooks and watches over jobs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::change_exit::{exit_of_status, user};
use super::change_row::{phase_of_five_words, silent_words, waiting_words};
use super::overdue::GuardWatch;
use super::preparation::{DriverOptions, fabric_record};
use super::{acceptance, change_store, guard_requests, seen_changes};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::environment::Env;
use crate::operations::plans::plan_verdict::PlanVerdict;
use fabdeck_change::{ChangeDir, ChangePhase, ChangeStatus, ChangeStore, GuardRequest, OpensmSite, Plan};

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Builds the driver options from a runbook's step.
pub fn driver_options(
    opensm: bool,
    conf: Option<PathBuf>,
    console: Option<SocketAddr>,
    beside_manager: bool,
) -> DriverOptions {
    let usual = OpensmSite::default();
    let conf = conf.unwrap_or_else(|| usual.conf.clone());
    let conf = std::path::absolute(&conf).unwrap_or(conf);
    DriverOptions { site: opensm.then_some(OpensmSite { conf, console, ..usual }), beside_manager }
}

/// Folder of the reports of runs, beside the changes; it is created if it does not exist.
pub fn change_folder(means: Env<'_>, source: &str) -> Result<PathBuf, Failure> {
    Ok(change_store::open_for_source(means, source.starts_with("sim:"))?.folder().to_owned())
}

/// Refuses, before anything is done, a source that may not be written to or has a pending change.
pub fn refuse_unwritable(means: Env<'_>, source: &str, look: &Snapshot) -> Result<(), Failure> {
    refuse_without_right(means, source)?;
    let here = fabric_record(source, look)?;
    // `apply` reports the unreadable changes that it steps over.
    change_store::refuse_pending_change(means, source.starts_with("sim:"), &here).map(|_| ())
}

/// Refuses a source without the right to write, and simulators of this process.
pub fn refuse_without_right(means: Env<'_>, source: &str) -> Result<(), Failure> {
    if means.outside.is_own_simulator(source) {
        return Err(Failure::new(
            Exit::Refused,
            "FD-9238: a simulator in this process is a new one at every step, so a change to it would not last; \
             serve one: fabdeck --source sim:demo simulate --serve SOCKET, and name it with --source sim:SOCKET",
        ));
    }
    drop(means.outside.actuator(source, &means.given.reach, &means.given.right)?);
    Ok(())
}

/// Refuses what `apply` refuses of a judged plan.
pub fn refuse_findings(
    judged: &PlanVerdict,
    plan: &Plan,
    look: &Snapshot,
    opensm: bool,
    accepted: &[String],
) -> Result<(), Failure> {
    acceptance::refuse_unaccepted(&acceptance::plan_findings(judged, plan, look, opensm), accepted)
}

/// Exit code of a step that applied a plan.
pub fn exit_code(status: &ChangeStatus) -> Exit {
    exit_of_status(status)
}

/// Confirms a change.
pub fn confirm(means: Env<'_>, id: &str, say: &mut dyn FnMut(&str)) -> Result<ChangeStatus, Failure> {
    confirm_as(means, id, user(), say)
}

/// Confirms a change by a program, which the journal names beside the user: `ada (by policy)`.
pub fn confirm_by_program(
    means: Env<'_>,
    id: &str,
    program: &str,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeStatus, Failure> {
    confirm_as(means, id, format!("{} (by {program})", user()), say)
}

fn confirm_as(
    means: Env<'_>,
    id: &str,
    user: String,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeStatus, Failure> {
    let status = guard_requests::send_order(means, id, &GuardRequest::Confirm { user }, say)?;
    seen_changes::record_phase(means.outside, id, status.phase);
    Ok(status)
}

/// Rolls a change back and waits for the end of that, at most for `patience`.
pub fn roll_back(
    means: Env<'_>,
    id: &str,
    patience: Duration,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeStatus, Failure> {
    let ask = GuardRequest::RollBack { user: user(), anyway: false };
    let mut status = match guard_requests::send_order(means, id, &ask, say) {
        Ok(status) => status,
        // The change may have rolled back by itself.
        Err(failure) => match journal_status(means, id) {
            Some(status) if status.phase == ChangePhase::RolledBack => status,
            _ => return Err(failure),
        },
    };
    let (home, kept) = change_store::find_change(means, id)?;
    let since = Instant::now();
    while status.phase.is_pending() && since.elapsed() < patience {
        std::thread::sleep(POLL_INTERVAL);
        status = guard_requests::read_status(means, &home, &kept)?;
    }
    seen_changes::record_phase(means.outside, id, status.phase);
    Ok(status)
}

/// Status of a change from its journal.
pub fn journal_status(means: Env<'_>, id: &str) -> Option<ChangeStatus> {
    let (_, ChangeDir { read, .. }) = change_store::find_change(means, id).ok()?;
    Some(ChangeStatus::of(&read.state))
}

/// Status of a change from its guard. A change without a guard gets one, because otherwise no process would roll it
/// back.
pub fn guard_status(means: Env<'_>, id: &str) -> Result<ChangeStatus, Failure> {
    let (home, kept) = change_store::find_change(means, id)?;
    guard_requests::read_status(means, &home, &kept)
}

/// What happens while an operation waits for a change.
pub enum WaitEvent<'e> {
    Line(&'e str),
    Status(&'e ChangeStatus),
}

/// Follows a change until its status fulfils a condition. Trouble of its guard is reported once. An error if the guard
/// works no more and none replaces it.
pub fn wait_until(
    means: Env<'_>,
    home: &ChangeStore,
    kept: &ChangeDir,
    first: ChangeStatus,
    so: impl Fn(&ChangeStatus) -> bool,
    report: &mut dyn FnMut(WaitEvent<'_>),
) -> Result<ChangeStatus, Failure> {
    let mut status = Ok(first);
    let (mut troubled, mut waited, mut told) = (false, false, 0u8);
    let (mut watch, id) = (GuardWatch::start(), &kept.read.state.begun.id);
    while status.as_ref().is_ok_and(|status| !so(status)) {
        std::thread::sleep(POLL_INTERVAL);
        status = guard_requests::read_status(means, home, kept);
        if status.as_ref().is_ok_and(|status| !so(status)) {
            watch.check(home, id, &mut |line| report(WaitEvent::Line(line)))?;
        }
        let Ok(status) = &status else { break };
        if let Some(trouble) = status.trouble.as_deref().filter(|_| !troubled) {
            report(WaitEvent::Line(trouble));
            troubled = true;
        }
        // Phases that passed between two polls are reported too.
        let phase = status.phase_of_five.unwrap_or(0);
        (told + 1..=phase).filter_map(phase_of_five_words).for_each(|words| report(WaitEvent::Line(&words)));
        told = told.max(phase);
        if status.waits && !waited {
            let silent = silent_words(&status.silent).unwrap_or_default();
            report(WaitEvent::Line(&format!("{silent}: {}", waiting_words(&status.id))));
            waited = true;
        }
        report(WaitEvent::Status(status));
    }
    status
}

/// Names OpenSM's process and rolls back: the rollback may wait for nothing else.
pub fn name_and_roll_back(
    means: Env<'_>,
    id: &str,
    anyway: bool,
    process: &str,
    say: &mut dyn FnMut(&str),
) -> Result<ChangeStatus, Failure> {
    if let Some(status) = guard_requests::restart_rollback(means, id, anyway, Some(process), say)? {
        return Ok(status);
    }
    let named = GuardRequest::NameOpensm { user: user(), process: process.to_owned() };
    let status = guard_requests::send_order(means, id, &named, say)?;
    if status.phase == ChangePhase::RollingBack && !anyway {
        // The rollback waited only for OpenSM.
        return Ok(status);
    }
    guard_requests::send_order(means, id, &GuardRequest::RollBack { user: user(), anyway }, say)
}
