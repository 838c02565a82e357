//! The steps from a plan to a change, for every front end: prepare, refuse, ask, accept, begin. The operator of a
//! command answers at once and the operator of a console later, so a change that was asked about is a value.

use std::sync::Arc;

use jiff::Timestamp;

use super::change_exit::{change_id, user};
use super::changer::Acceptance;
use super::in_process::{GuardThreadInput, InProcessChanges, apply_alone};
use super::preparation::{DriverOptions, NothingToDo, PreparedChange, prepare};
use super::{acceptance, change_store, seen_changes};
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{
    BeginRecord, ChangeDir, ChangeStatus, ChangeStore, Clocks as _, Plan, SystemClocks, host_name,
};
use fabdeck_mad::access::{Actuator, ReadObserver};

/// What to ask about.
#[derive(Clone, Copy)]
pub struct ChangeQuestion<'q> {
    pub source: &'q str,
    pub driver: &'q DriverOptions,
    /// Names of the findings that were accepted before the question; `None` where the operator accepts them with the
    /// answer.
    pub accepted: Option<&'q [String]>,
}

/// Who asks before a change.
pub trait QuestionFrontEnd {
    fn report_line(&mut self, _line: &str) {}

    /// Reports what helps with findings that are not accepted.
    fn report_unaccepted(&mut self, _change: &PreparedChange) {}

    /// Says what will be written, and asks whether to. An error refuses the change; a front end whose operator answers
    /// later returns at once.
    fn ask(&mut self, change: &PreparedChange) -> Result<(), Failure>;
}

/// What became of a question.
pub enum QuestionOutcome {
    /// Everything that the plan writes is in place already.
    NothingToDo(NothingToDo),
    Asked(Box<AskedChange>),
}

/// A checked plan that only waits for the operator's acceptance.
pub struct AskedChange {
    pub plan: Arc<(Plan, String)>,
    /// First record of the journal, still without user and time.
    begun: BeginRecord,
    /// Findings against the plan, by the name under which each is accepted.
    findings: Vec<(&'static str, String)>,
    /// Whether the source is a simulator of this process, with which the change ends.
    own: bool,
    simulated: bool,
}

/// A change that the operator accepted. Its time and its user are those of the acceptance.
pub struct AcceptedChange {
    plan: Arc<(Plan, String)>,
    begun: BeginRecord,
    own: bool,
    simulated: bool,
}

/// Compares a plan with the fabric, refuses what may not be applied, and asks. Returns the actuator of a simulator in
/// this process beside the change, because that simulator lives in it.
pub fn ask_about(
    env: Env<'_>,
    question: ChangeQuestion<'_>,
    read: (Plan, String),
    watch: &mut dyn ReadObserver,
    front: &mut dyn QuestionFrontEnd,
) -> Result<(QuestionOutcome, Option<Box<dyn Actuator>>), Failure> {
    let (plan, text) = read;
    let mut change = match prepare(env, question.source, plan, text, question.driver, watch)? {
        Ok(change) => change,
        Err(nothing) => return Ok((QuestionOutcome::NothingToDo(nothing), None)),
    };
    if let Some(accepted) = question.accepted
        && let Err(refused) = acceptance::refuse_unaccepted(&change.found, accepted)
    {
        front.report_unaccepted(&change);
        return Err(refused);
    }
    change.refuse(env, question.driver, &mut |line| front.report_line(line))?;
    front.ask(&change)?;
    let begun = change.begin_record(env, question.driver)?;
    let PreparedChange { plan, text, found: findings, own, simulated, actuator, .. } = change;
    let asked = AskedChange { plan: Arc::new((plan, text)), begun, findings, own, simulated };
    Ok((QuestionOutcome::Asked(Box::new(asked)), actuator.filter(|_| own)))
}

impl AskedChange {
    /// Takes the operator's answer; refuses findings that it does not accept.
    pub fn accept(&self, acceptance: &Acceptance) -> Result<AcceptedChange, Failure> {
        acceptance::refuse_unaccepted(&self.findings, &acceptance.accepted)?;
        let mut begun = BeginRecord {
            time: Timestamp::now().to_string(),
            user: user(),
            pid: std::process::id(),
            host: host_name(),
            boot: SystemClocks.boot_time().boot,
            window_s: acceptance.window.as_secs(),
            accepted: acceptance.accepted.clone(),
            unanswered: acceptance.unanswered,
            ..self.begun.clone()
        };
        begun.id = change_id(&begun);
        Ok(AcceptedChange { plan: self.plan.clone(), begun, own: self.own, simulated: self.simulated })
    }
}

impl AcceptedChange {
    pub fn id(&self) -> &str {
        &self.begun.id
    }

    /// Whether the change is to a simulator of this process, with which it ends.
    pub fn is_in_process(&self) -> bool {
        self.own
    }

    /// Begins the change in its folder: the journal is durable, and a guard starts.
    pub fn begin(
        self,
        env: Env<'_>,
        report: &mut dyn FnMut(&str),
    ) -> Result<(ChangeStore, ChangeDir), Failure> {
        let store = change_store::open_for_source(env, self.simulated)?;
        // `PreparedChange::refuse` has reported the unreadable changes.
        let (dir, lock) = store.begin(self.begun, &self.plan.1).map_err(change_store::store_failure)?;
        seen_changes::record_phase(env.outside, &dir.read.state.begun.id, dir.read.state.phase);
        // The guard waits for this lock. If this process dies in between, nothing is written and the journal says so.
        drop(lock);
        let remark =
            change_store::start_guard(env, &store, &["--begin", &dir.read.state.begun.id], &dir.log())?;
        remark.iter().for_each(|remark| report(remark));
        Ok((store, dir))
    }

    /// Begins the change with a guard in a thread of this process, and returns its id.
    pub fn begin_in_process(
        self,
        changes: &InProcessChanges,
        thread: impl FnOnce(Arc<(Plan, String)>) -> GuardThreadInput,
    ) -> Result<String, Failure> {
        changes.begin(self.begun, thread(self.plan))
    }

    /// Runs the change in this thread to its end, and returns its status with the lines that its guard logged. Without
    /// `waits` the change is confirmed at once, because no later command can confirm it.
    pub fn run_in_process(
        self,
        actuator: &mut dyn Actuator,
        waits: bool,
    ) -> Result<(ChangeStatus, Vec<String>), Failure> {
        let mut lines = Vec::new();
        let status = apply_alone(&self.plan.0, self.begun, actuator, waits, &mut lines)?;
        Ok((status, lines))
    }
}
