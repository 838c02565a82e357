//! Executes the steps of a runbook and holds what they produced: marks, plans, applied changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::journal::RunJournal;
use crate::runbook::{Crew, Did, Expected, Found, Mark, Seen, TakenBack, Task, Trouble, Wait};
use crate::script::changing::{Given, Means};
use crate::script::context::Context;
use crate::script::levels::{self, InForce};
use crate::script::{Failure, Stop, plan};
use crate::session::{Look, marks};
use fabdeck_change::Plan;
use fabdeck_fabric::Faults;
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::Wanted;
use fabdeck_routing::Refusal;

/// Interval between two checks of the stop flag.
pub const TURN: Duration = Duration::from_millis(50);

pub struct Hands<'c, 'a, 'o> {
    pub context: &'c mut Context<'a, 'o>,
    pub source: String,
    pub given: Given,
    pub dry: bool,
    pub stop: Stop,
    began: Instant,
    /// Elements marked as failed, as the runbook names them.
    pub marks: Vec<String>,
    /// Plan of the last step that made one, until it is applied.
    pub made: Option<(Plan, String)>,
    /// Plans by the files that steps wrote; a rehearsal stores them here too.
    pub files: BTreeMap<PathBuf, (Plan, String)>,
    /// The plan that was applied last and is in force; `verify` compares with it.
    pub applied: Option<Plan>,
    /// Running jobs as the last `jobs` step read them.
    pub jobs: Option<Arc<JobList>>,
    /// Plans that a rehearsal applied, in their order; each snapshot is led through them.
    pub led: Vec<Plan>,
    /// Id of the change that is not decided yet.
    pub pending: Option<String>,
    /// Why the following steps cannot be rehearsed with certainty.
    pub uncertain: Option<String>,
    pub journal: Option<RunJournal>,
    /// Values of the current step, in case it ends the run.
    pub found: Vec<(String, Found)>,
}

/// Result of a step, before its error is converted for the report.
pub type Done = Result<Did, Stopped>;

/// Why a step does not go on.
pub enum Stopped {
    Failure(Failure),
    Trouble(Trouble),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Failure(refusal.into())
    }
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl<'c, 'a, 'o> Hands<'c, 'a, 'o> {
    pub fn new(
        context: &'c mut Context<'a, 'o>,
        (source, given): (String, Given),
        dry: bool,
        journal: Option<RunJournal>,
    ) -> Self {
        let stop = context.outside.stop();
        Self {
            context,
            source,
            given,
            dry,
            stop,
            began: Instant::now(),
            marks: Vec::new(),
            made: None,
            files: BTreeMap::new(),
            applied: None,
            jobs: None,
            led: Vec::new(),
            pending: None,
            uncertain: None,
            journal,
            found: Vec::new(),
        }
    }

    pub fn means(&self) -> Means<'_> {
        Means { outside: self.context.outside, given: &self.given }
    }

    /// Reads the fabric. In a rehearsal the snapshot shows it as the plans so far would have made it.
    pub fn look(&mut self, wanted: Wanted) -> Result<(Look, InForce), Failure> {
        let looked = self.looked(wanted)?;
        self.context.partial |= looked.0.observation.partial();
        Ok(looked)
    }

    fn looked(&mut self, wanted: Wanted) -> Result<(Look, InForce), Failure> {
        if !wanted.tables {
            return Ok((self.context.look(wanted)?, InForce::unasked(None)));
        }
        let lanes = wanted.lanes || self.led.iter().chain(&self.applied).any(plan::knows_lanes);
        let wanted = Wanted { lanes, ..wanted };
        if self.led.is_empty() {
            return levels::look(self.context, wanted, (None, false));
        }
        let (mut look, in_force) = levels::look_only(self.context, wanted)?;
        for led in &self.led {
            plan::lead(self.context, &mut look, led)?;
        }
        Ok((look, in_force))
    }

    /// The marks that exist in the snapshot; an element that is already gone needs no mark.
    pub fn faults(&self, look: &Look) -> Faults {
        let mut faults = Faults::new();
        for element in &self.marks {
            if let Ok(one) = marks(look, std::slice::from_ref(element)) {
                for marked in one.iter() {
                    faults.mark(marked);
                }
            }
        }
        faults
    }

    /// Sleeps for a time, or until the run is asked to end.
    pub fn pause(&self, time: Duration) {
        let since = Instant::now();
        while since.elapsed() < time && !self.stop.is_asked() {
            std::thread::sleep(TURN.min(time.saturating_sub(since.elapsed())));
        }
    }

    fn done(&mut self, task: &Task) -> Done {
        match task {
            Task::Expect(Expected::Rows(rows)) => self.expect(rows),
            Task::Expect(Expected::Values(_)) => Ok(Did::default()),
            Task::Fail(elements) => self.fail(elements),
            Task::Unmark(elements) => Ok(self.unmark(elements)),
            Task::Preview { engines } => self.preview(engines),
            Task::Route(route) => self.route(route),
            Task::Disable(element) => self.service(element, crate::session::Service::Disable),
            Task::Enable(element) => self.service(element, crate::session::Service::Enable),
            Task::Lanes(propose) => self.lanes(propose),
            Task::Apply(apply) => self.apply(apply),
            Task::Wait(Wait::Time(time)) => self.wait(*time),
            Task::Wait(Wait::Until { rows, timeout, every }) => self.wait_until(rows, *timeout, *every),
            Task::Wait(Wait::File { file, timeout, every }) => self.wait_for_file(file, *timeout, *every),
            Task::Verify { accept } => self.verify(accept),
            Task::Compare => self.compare(),
            Task::Jobs(jobs) => self.jobs(jobs),
            Task::Hotspots { interval, count } => self.hotspots(*interval, *count),
            Task::Confirm => self.confirm(),
            Task::Rollback => self.rollback(),
            Task::Record { file, time, interval } => self.record(file, *time, *interval),
            Task::Run(program) => self.run(program),
            Task::Notify { text, file } => self.notify(text, file.as_deref()),
        }
    }
}

impl Crew for Hands<'_, '_, '_> {
    fn dry(&self) -> bool {
        self.dry
    }

    fn stopped(&self) -> bool {
        self.stop.is_asked()
    }

    fn time(&mut self) -> Option<String> {
        (!self.context.globals.no_times).then(|| Timestamp::now().to_string())
    }

    fn seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn say(&mut self, line: &str) {
        self.context.output.say(line);
    }

    fn mark(&mut self, mark: Mark<'_>) -> Result<(), Trouble> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.mark(mark))
    }

    fn carry_out(&mut self, task: &Task) -> Result<Did, Trouble> {
        (self.context.partial, self.found) = (false, Vec::new());
        self.done(task).map_err(|stopped| match stopped {
            Stopped::Trouble(trouble) => trouble,
            Stopped::Failure(failure) => Trouble {
                exit: failure.exit.code(),
                words: failure.message.unwrap_or_default(),
                change: self.pending.clone(),
            },
        })
    }

    fn seen(&mut self) -> Seen {
        Seen { partial: self.context.partial, values: std::mem::take(&mut self.found) }
    }

    fn pending(&self) -> Option<String> {
        self.pending.clone()
    }

    fn take_back(&mut self) -> TakenBack {
        self.taken_back()
    }
}
