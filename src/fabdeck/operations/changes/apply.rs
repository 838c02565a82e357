//! Applies a plan and waits: the one way of the command, runbook steps and watches over jobs. Front ends differ in whom
//! they ask and in how they wait. A console takes the same steps, of `asked_change`, and its operator answers later.

use std::time::{Duration, Instant};

use super::asked_change::{ChangeQuestion, QuestionFrontEnd, QuestionOutcome, ask_about};
use super::changer::Acceptance;
use super::preparation::{DriverOptions, NothingToDo, PreparedChange};
use super::{guard_requests, refusal_audit};
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use crate::operations::operation::Reporter;
use crate::system::stop_flag::{StopFlag, StopWatch};
use fabdeck_change::{ChangeDir, ChangePhase, ChangeStatus, ChangeStore, Plan};
use fabdeck_mad::access::ReadObserver;

/// Time to wait for the end of a rollback after a failed apply.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a plan is applied.
pub struct ApplyOptions<'t> {
    pub source: &'t str,
    pub driver: &'t DriverOptions,
    pub acceptance: &'t Acceptance,
    /// What the audit trail says of a refusal: `apply reroute.plan`.
    pub audited_as: String,
}

/// What a front end does while a plan is applied, besides asking. Its question ends with an error if the answer is not
/// yes.
pub trait ApplyFrontEnd: QuestionFrontEnd {
    /// Records the id of a change before the change exists.
    fn record_id(&mut self, _id: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether a change of a simulator in this process waits for its confirmation until it is rolled back.
    fn waits_in_process(&self) -> bool {
        false
    }

    /// Waits until the change is read back or rolled back.
    fn wait(
        &mut self,
        env: Env<'_>,
        store: &ChangeStore,
        dir: &ChangeDir,
        first: ChangeStatus,
    ) -> Result<ChangeStatus, Failure>;
}

/// What became of a plan.
pub enum ApplyOutcome {
    /// Everything that the plan writes is in place already.
    NothingToDo(NothingToDo),
    Begun(ChangeStatus),
    /// The change ended with its simulator, which is of this process; with the lines that its guard logged.
    EndedInProcess(ChangeStatus, Vec<String>),
}

/// Applies a plan. Refusals are written to the audit trail.
pub fn apply(
    env: Env<'_>,
    options: &ApplyOptions<'_>,
    read: (Plan, String),
    watch: &mut dyn ReadObserver,
    front: &mut dyn ApplyFrontEnd,
) -> Result<ApplyOutcome, Failure> {
    apply_unaudited(env, options, read, watch, front).map_err(|failure| {
        let (source, what) = (options.source, &options.audited_as);
        refusal_audit::audit_source_refusal(env, source, what, failure, &mut |line| front.report_line(line))
    })
}

fn apply_unaudited(
    env: Env<'_>,
    options: &ApplyOptions<'_>,
    read: (Plan, String),
    watch: &mut dyn ReadObserver,
    front: &mut dyn ApplyFrontEnd,
) -> Result<ApplyOutcome, Failure> {
    let ApplyOptions { source, driver, acceptance, .. } = options;
    let question = ChangeQuestion { source, driver, accepted: Some(&acceptance.accepted) };
    let (asked, actuator) = match ask_about(env, question, read, watch, front)? {
        (QuestionOutcome::Asked(asked), actuator) => (asked, actuator),
        (QuestionOutcome::NothingToDo(nothing), _) => return Ok(ApplyOutcome::NothingToDo(nothing)),
    };
    let accepted = asked.accept(acceptance)?;
    if let Some(mut actuator) = actuator {
        let (status, lines) = accepted.run_in_process(actuator.as_mut(), front.waits_in_process())?;
        return Ok(ApplyOutcome::EndedInProcess(status, lines));
    }
    front.record_id(accepted.id())?;
    let (store, dir) = accepted.begin(env, &mut |line| front.report_line(line))?;
    let first = ChangeStatus::of(&dir.read.state);
    front.wait(env, &store, &dir, first).map(ApplyOutcome::Begun)
}

/// The front end of runbook steps and of watches over jobs, which ask no question.
pub struct UnattendedFrontEnd<'f> {
    pub reporter: &'f mut dyn Reporter,
    pub stop: &'f StopFlag,
    /// Records the id of a change before the change exists.
    pub record_id: &'f mut dyn FnMut(&str) -> Result<(), Failure>,
}

impl QuestionFrontEnd for UnattendedFrontEnd<'_> {
    fn report_line(&mut self, line: &str) {
        self.reporter.report_line(line);
    }

    fn ask(&mut self, change: &PreparedChange) -> Result<(), Failure> {
        change.unregistered_warning().iter().for_each(|warning| self.report_line(warning));
        Ok(())
    }
}

impl ApplyFrontEnd for UnattendedFrontEnd<'_> {
    fn record_id(&mut self, id: &str) -> Result<(), Failure> {
        (self.record_id)(id)
    }

    /// Ends early if the run is asked to end, and if a rollback takes long: the guard retries an unreachable fabric for
    /// an hour.
    fn wait(
        &mut self,
        env: Env<'_>,
        store: &ChangeStore,
        dir: &ChangeDir,
        first: ChangeStatus,
    ) -> Result<ChangeStatus, Failure> {
        let (mut status, mut back) = (first, None);
        let mut goes_on = |phase: ChangePhase| match phase {
            ChangePhase::Applying => true,
            ChangePhase::RollingBack => back.get_or_insert_with(Instant::now).elapsed() < ROLLBACK_TIMEOUT,
            _ => false,
        };
        while goes_on(status.phase) && !self.stop.is_requested() {
            std::thread::sleep(POLL_INTERVAL);
            status = guard_requests::read_status(env, store, dir)?;
        }
        Ok(status)
    }
}

/// Applies a plan without a question; `None` means that everything the plan writes is in place already.
pub fn apply_unattended(
    env: Env<'_>,
    options: &ApplyOptions<'_>,
    read: (Plan, String),
    mut front: UnattendedFrontEnd<'_>,
) -> Result<Option<ChangeStatus>, Failure> {
    Ok(match apply(env, options, read, &mut StopWatch(front.stop), &mut front)? {
        ApplyOutcome::NothingToDo(nothing) => {
            nothing.warning().iter().for_each(|warning| front.report_line(warning));
            None
        }
        ApplyOutcome::Begun(status) | ApplyOutcome::EndedInProcess(status, _) => Some(status),
    })
}
