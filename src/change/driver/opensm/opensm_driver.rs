//! The driver through OpenSM: it puts files in place, tells OpenSM, and reads the switches until they hold the new
//! tables.

use std::time::Duration;

use super::file_swap::{RestoredFiles, StagedFiles, SwapRecord, resolve_link};
use super::judgement::{OpensmJudgement, judge_plan};
use super::plan_files::first_difference;
use super::refusal::{OpensmError, OpensmRefusal};
use super::site::{OpensmCommand, OpensmReport};
use super::status::OpensmStatus;
use crate::clock::Stopwatch;
use crate::driver::transport::{Driver, Halt, PARTS_PER_READ, ProgressCheck, find_unrestored, read_steps};
use crate::journal::{Journal, JournalRecord, RollbackRemainder};
use crate::opensm_site::OpensmSite;
use crate::plan::Plan;
use crate::system::System;
use crate::writes::{AlteredWrites, WriteStep};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Lid, Tables};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{
    Actuator, NoObserver, ReadOptions, Registration, SourceError, Surveyor, WriteError,
};

/// Interval between two readings.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long an engine that takes over may change the tables once more.
const SETTLE_TIME: Duration = Duration::from_secs(2);
/// Largest number of paths whose service level is checked.
const SAMPLED_PATHS: usize = 1024;

/// The result of a check before anything is written.
#[derive(Debug)]
pub struct OpensmCheck {
    /// Why the change is impossible; empty if it is possible.
    pub refusals: Vec<OpensmRefusal>,
    /// Warnings for an operator who goes on.
    pub remarks: Vec<String>,
}

/// Changes a fabric through the OpenSM that is in charge of it.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct OpensmDriver<'a> {
    actuator: Box<dyn Actuator + 'a>,
    plan: &'a Plan,
    /// The id of the change; empty where a plan is only checked.
    change: &'a str,
    site: OpensmSite,
    system: &'a dyn System,
    /// Whether the disk failed when OpenSM's files were restored.
    has_failed_disk: bool,
}

impl<'a> OpensmDriver<'a> {
    pub fn new(
        actuator: Box<dyn Actuator + 'a>,
        (plan, change): (&'a Plan, &'a str),
        site: OpensmSite,
        system: &'a dyn System,
    ) -> Self {
        Self { actuator, plan, change, site, system, has_failed_disk: false }
    }

    /// Finds everything that speaks against a change through OpenSM. Nothing is written.
    pub fn check(&mut self) -> OpensmCheck {
        let judged = self.observe().map_err(OpensmRefusal::from).and_then(|look| self.judge(&look));
        match judged {
            Ok((judged, _)) => OpensmCheck { refusals: judged.refusals, remarks: judged.remarks },
            Err(refusal) => OpensmCheck { refusals: vec![refusal], remarks: Vec::new() },
        }
    }

    fn observe(&mut self) -> Result<Observation, SourceError> {
        self.actuator.read_fabric(ReadOptions { tables: true, ..ReadOptions::default() }, &mut NoObserver)
    }

    fn judge(&self, look: &Observation) -> Result<(OpensmJudgement, OpensmReport), OpensmRefusal> {
        let told = self.site.query(self.system)?;
        let steps: Vec<WriteStep> =
            self.plan.writes.iter().filter_map(|write| write.to_step().ok()).collect();
        Ok((judge_plan(self.system, &told, self.plan, &steps, look), told))
    }

    /// Checks that no other writer has changed the parts that the plan writes.
    fn check_drift(&mut self, steps: &[WriteStep]) -> Result<(), Halt> {
        for steps in steps.chunks(PARTS_PER_READ) {
            for (step, held) in steps.iter().zip(read_steps(&mut *self.actuator, steps.iter())) {
                let held = held.map_err(Halt::Write)?;
                if held != step.old && held != step.new {
                    return Err(Halt::Drift { slot: step.slot });
                }
            }
        }
        Ok(())
    }

    /// Waits until the switches hold all steps, and OpenSM reports that it is done.
    fn wait_settled(
        &mut self,
        steps: &[WriteStep],
        since: &Stopwatch<'a>,
        heed: ProgressCheck<'_>,
    ) -> Result<(), Halt> {
        let mut open: Vec<&WriteStep> = steps.iter().collect();
        loop {
            let mut what = None;
            open = self.unsettled_steps(open, &mut what)?;
            heed((steps.len() - open.len()) as u64).map_err(Halt::Asked)?;
            let status = self.site.status(self.system);
            let alone = self.plan.is_level_move_only();
            let at_work = |status: &OpensmStatus| (alone || status.engine == "file") && status.is_done();
            let done = status.as_ref().is_none_or(at_work);
            if open.is_empty() && done {
                return Ok(());
            }
            if since.elapsed() >= self.site.patience {
                let said = status.map_or_else(String::new, |status| {
                    format!(
                        " (OpenSM reports: engine {}, {} errors, {} MADs outstanding)",
                        status.engine, status.errors, status.outstanding
                    )
                });
                let what = what
                    .unwrap_or_else(|| "the switches hold all of them, but OpenSM is not done".to_owned());
                let seconds = self.site.patience.as_secs();
                return Err(to_halt(&OpensmError::Waited { seconds, what, said }));
            }
            self.system.sleep(POLL_INTERVAL);
        }
    }

    /// The steps that the switches do not hold so far; `what` gets the first of them.
    fn unsettled_steps<'s>(
        &mut self,
        steps: Vec<&'s WriteStep>,
        what: &mut Option<String>,
    ) -> Result<Vec<&'s WriteStep>, Halt> {
        let mut open = Vec::new();
        for steps in steps.chunks(PARTS_PER_READ) {
            let held = read_steps(&mut *self.actuator, steps.iter().copied());
            for (step, held) in steps.iter().zip(held) {
                if held.map_err(Halt::Write)? != step.new {
                    what.get_or_insert_with(|| step.slot.to_string());
                    open.push(*step);
                }
            }
        }
        Ok(open)
    }

    /// Checks the service levels of a sample of paths against the plan.
    fn check_levels(&mut self, fabric: &Fabric, outcome: &Tables, since: &Stopwatch<'a>) -> Result<(), Halt> {
        let routes = self.plan.routes(fabric, outcome);
        let pairs = sample_paths(fabric);
        loop {
            let given = self.actuator.read_levels(&pairs);
            let wrong: Vec<_> = pairs
                .iter()
                .zip(&given)
                .filter(|((_, to), given)| {
                    given.map(|level| level.value()) != Some(routes.lane(0, *to).value())
                })
                .collect();
            let Some(((_, to), given)) = wrong.first() else { return Ok(()) };
            if since.elapsed() >= self.site.patience {
                let given = given.map_or_else(|| "nothing".to_owned(), |level| level.value().to_string());
                let more = match wrong.len() {
                    1 => String::new(),
                    count => format!("; {count} of {} paths differ", pairs.len()),
                };
                let planned = routes.lane(0, *to).value();
                return Err(to_halt(&OpensmError::Level { lid: to.value(), given, planned, more }));
            }
            self.system.sleep(POLL_INTERVAL);
        }
    }

    /// The note of the files that this plan has put in place, if any.
    fn read_swap_record(&self) -> Result<Option<SwapRecord>, RollbackRemainder> {
        let left = |what: &str, why: String| RollbackRemainder { what: what.to_owned(), why };
        // If OpenSM has ended, its configuration still says where the files are.
        let config =
            self.site.query(self.system).map(|told| told.config).or_else(|_| self.site.config(self.system));
        let alone = self.plan.is_level_move_only();
        let file =
            match config.map(|config| if alone { Some(config.policy_file()) } else { config.lfts_file() }) {
                Ok(Some(file)) => resolve_link(self.system, &file),
                Ok(None) => return Err(left("OpenSM's files", "its configuration names none".to_owned())),
                Err(refusal) => return Err(left("OpenSM's files", refusal.to_string())),
            };
        let note = SwapRecord::read_for(self.system, &file)
            .map_err(|error| left(&file.display().to_string(), error.to_string()))?;
        Ok(note.filter(|note| note.is_of(self.change, &self.plan.hash)))
    }

    fn send_signal(&self, call: OpensmCommand) -> Option<RollbackRemainder> {
        let rung = self.site.open_any_signal(self.system).map_err(|refusal| refusal.to_string());
        let rung = rung.and_then(|bell| bell.send(self.system, call).map_err(|failed| failed.to_string()));
        rung.err().map(|why| RollbackRemainder { what: "OpenSM".to_owned(), why })
    }

    /// Waits until all steps are rolled back; returns those that are not, and whether OpenSM may still set the plan's.
    /// OpenSM may have read the plan's file without having set its tables yet. If the switches hold the old tables from
    /// the beginning, they are watched until it has read the file that is back, which it does after that work, or until
    /// it would have set the plan's tables. Once it has set them, it gets as long again to load the old ones.
    fn wait_restored(
        &mut self,
        note: &SwapRecord,
        steps: &[WriteStep],
        mut may_set_plan: bool,
        told: &mut dyn FnMut(u64),
    ) -> (Vec<RollbackRemainder>, bool) {
        let mut since = Stopwatch::start(self.system);
        loop {
            let is_loading = note.was_read(self.system);
            let left = find_unrestored(&mut *self.actuator, steps);
            told(steps.len().saturating_sub(left.len()) as u64);
            if may_set_plan && !left.is_empty() && self.holds_plan(steps) {
                (may_set_plan, since) = (false, Stopwatch::start(self.system));
            }
            may_set_plan &= !is_loading;
            if (left.is_empty() && !may_set_plan) || since.elapsed() >= self.site.patience {
                return (left, may_set_plan);
            }
            self.system.sleep(POLL_INTERVAL);
        }
    }

    /// Whether a switch holds what the plan writes.
    fn holds_plan(&mut self, steps: &[WriteStep]) -> bool {
        steps.chunks(PARTS_PER_READ).any(|steps| {
            let held = read_steps(&mut *self.actuator, steps.iter());
            steps.iter().zip(held).any(|(step, held)| held.is_ok_and(|held| held == step.new))
        })
    }

    /// Restores the files and has OpenSM load them. The copies are deleted only once the switches hold the old tables,
    /// since a later rollback would need them.
    fn restore_files(
        &mut self,
        note: &SwapRecord,
        steps: &[WriteStep],
        told: &mut dyn FnMut(u64),
    ) -> Vec<RollbackRemainder> {
        let is_unread = note.is_active(self.system) || !note.was_read(self.system);
        let may_set_plan = !steps.is_empty() && is_unread;
        let RestoredFiles { mut left, may_succeed_later } = note.put_back(self.system);
        self.has_failed_disk = may_succeed_later;
        note.watch_reading(self.system);
        if let Some(silent) = self.send_signal(OpensmCommand::Load) {
            left.push(silent);
            left.extend(find_unrestored(&mut *self.actuator, steps));
            return left;
        }
        let (unrestored, may_set_plan) = self.wait_restored(note, steps, may_set_plan, told);
        let stopped = if may_set_plan { self.site.open_any_signal(self.system).err() } else { None };
        if !unrestored.is_empty() || stopped.is_some() {
            left.extend(unrestored);
            left.extend(
                stopped
                    .map(|refusal| RollbackRemainder { what: "OpenSM".to_owned(), why: refusal.to_string() }),
            );
            return left;
        }
        if note.is_stand_in(self.system) {
            left.extend(self.remove_stand_in(note));
            left.extend(find_unrestored(&mut *self.actuator, steps));
        }
        let closed = if left.is_empty() { note.finish(self.system) } else { Ok(()) };
        let why = |error: std::io::Error| RollbackRemainder {
            what: "OpenSM's files".to_owned(),
            why: error.to_string(),
        };
        left.extend(closed.err().map(why));
        left
    }

    /// Removes the stand-in, so that the next engine continues from those tables.
    fn remove_stand_in(&mut self, note: &SwapRecord) -> Vec<RollbackRemainder> {
        if let Err(error) = note.remove_stand_in(self.system) {
            return vec![RollbackRemainder { what: "OpenSM's files".to_owned(), why: error.to_string() }];
        }
        let left: Vec<RollbackRemainder> = self.send_signal(OpensmCommand::Sweep).into_iter().collect();
        let since = Stopwatch::start(self.system);
        while left.is_empty() && since.elapsed() < SETTLE_TIME {
            // Without a console the end cannot be seen.
            if self.site.status(self.system).is_some_and(|status| status.engine != "file" && status.is_done())
            {
                break;
            }
            self.system.sleep(POLL_INTERVAL);
        }
        left
    }
}

fn to_halt(failed: &OpensmError) -> Halt {
    Halt::Road(failed.to_string())
}

impl Driver for OpensmDriver<'_> {
    fn surveyor(&mut self) -> &mut dyn Surveyor {
        &mut *self.actuator
    }

    fn write(
        &mut self,
        steps: &[WriteStep],
        journal: &mut Journal,
        heed: ProgressCheck<'_>,
    ) -> Result<(), Halt> {
        let look = self.observe().map_err(|error| Halt::Road(error.to_string()))?;
        let (judged, _) = self.judge(&look).map_err(|refusal| Halt::Road(refusal.to_string()))?;
        if let Some(refusal) = judged.refusals.first() {
            return Err(Halt::Road(refusal.to_string()));
        }
        self.check_drift(steps)?;
        heed(0).map_err(Halt::Asked)?;
        // Opens the channel first: without it, no file may change.
        let bell = self.site.open_signal(self.system).map_err(|refusal| Halt::Road(refusal.to_string()))?;
        let file = judged.files.first().map(|(file, _)| file.clone()).unwrap_or_default();
        let disk = |error| Halt::Road(OpensmRefusal::Disk { file: file.clone(), error }.to_string());
        let staged = StagedFiles::prepare(
            self.system,
            (self.change, &self.plan.hash),
            &judged.files,
            judged.stand_in.as_deref(),
        );
        staged.map_err(disk)?.activate(self.system).map_err(disk)?;
        bell.send(self.system, OpensmCommand::Load).map_err(|failed| to_halt(&failed))?;
        let since = Stopwatch::start(self.system);
        self.wait_settled(steps, &since, heed)?;
        let after = self.observe().map_err(|error| Halt::Road(error.to_string()))?;
        if let Some(what) = first_difference(&after.fabric, &judged.outcome, &after.tables) {
            return Err(to_halt(&OpensmError::Elsewhere { what }));
        }
        if judged.levels {
            self.check_levels(&after.fabric, &judged.outcome, &since)?;
        }
        Ok(journal.append_record(&JournalRecord::Written { count: steps.len() as u64 })?)
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.actuator.notify(notices, whom, patience)
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.actuator.register(registration)
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        self.actuator.unregister(registration)
    }

    fn name_opensm(&mut self, process: &str) -> Result<(), String> {
        let mut site = self.site.clone();
        site.name_process(process);
        site.check_named_process(self.system).map_err(|why| OpensmRefusal::NoProcess(why).to_string())?;
        self.site = site;
        Ok(())
    }

    /// Restores the files at once: an OpenSM that starts meanwhile has to load the old tables. After a disk that failed the
    /// rollback waits once more, even where the files are back now.
    fn await_manager(&mut self) -> Option<String> {
        let note = self.read_swap_record().ok().flatten()?;
        let refusal = self.site.open_any_signal(self.system).err();
        if refusal.is_none() && !self.has_failed_disk {
            return None;
        }
        let RestoredFiles { left, may_succeed_later } = note.put_back(self.system);
        note.watch_reading(self.system);
        self.has_failed_disk = may_succeed_later;
        let left = left.iter().map(|left| format!("{}: {}", left.what, left.why));
        let reasons: Vec<String> = refusal.iter().map(ToString::to_string).chain(left).collect();
        let is_back = || "OpenSM's files are back after its disk had failed".to_owned();
        Some(if reasons.is_empty() { is_back() } else { reasons.join("; ") })
    }

    /// Restores all files at once, and so all switches. If there was no file, the tables that were in force are loaded
    /// first. Otherwise the next engine would start from the plan's tables, and could keep entries of them.
    fn roll_back(
        &mut self,
        steps: &[WriteStep],
        _: &mut AlteredWrites,
        told: &mut dyn FnMut(u64),
    ) -> Vec<RollbackRemainder> {
        match self.read_swap_record() {
            Ok(Some(note)) => self.restore_files(&note, steps, told),
            // No file was put in place.
            Ok(None) => find_unrestored(&mut *self.actuator, steps),
            Err(error) => {
                let mut left = vec![error];
                left.extend(find_unrestored(&mut *self.actuator, steps));
                left
            }
        }
    }
}

/// One path to each destination, each from another source. In large fabrics every n-th only, up to a limit.
fn sample_paths(fabric: &Fabric) -> Vec<(Lid, Lid)> {
    let hosts = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch() && port.peer.is_some());
    let lids: Vec<Lid> = hosts.filter_map(|(_, port)| port.facts.lid).collect();
    let count = lids.len();
    let all = (0..count).map(|at| (lids[(at + count / 2) % count], lids[at]));
    let apart = all.filter(|(from, to)| from != to);
    apart.step_by(count.div_ceil(SAMPLED_PATHS).max(1)).collect()
}
