//! The driver through OpenSM: it puts files in place, tells OpenSM, and reads the switches until they hold the new
//! tables.

use std::time::{Duration, Instant};

use super::files::{Note, Staged, real};
use super::judge::{Judged, judge};
use super::made::difference;
use super::reach::{Call, OpensmSite, Told};
use super::refusal::{Failed, Refusal};
use super::status::Status;
use crate::driver::road::{AlteredWrites, Driver, Halt, Heed, STRIDE, not_back, read};
use crate::journal::{Journal, Left, Record};
use crate::plan::Plan;
use crate::writes::Step;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Lid, Tables};
use fabdeck_mad::Repath;
use fabdeck_mad::access::{Actuator, Registration, SourceError, Surveyor, Unwatched, Wanted, WriteError};

/// Interval between two readings.
const TURN: Duration = Duration::from_millis(100);
/// How long an engine that takes over may change the tables once more.
const SETTLE: Duration = Duration::from_secs(2);
/// Largest number of paths whose service level is checked.
const SAMPLE: usize = 1024;

/// The result of a check before anything is written.
#[derive(Debug)]
pub struct Checked {
    /// Why the change is impossible; empty if it is possible.
    pub refusals: Vec<Refusal>,
    /// Warnings for an operator who goes on.
    pub remarks: Vec<String>,
}

/// Changes a fabric through the OpenSM that is in charge of it.
#[allow(missing_debug_implementations, reason = "nothing of it can be shown")]
pub struct Opensm<'a> {
    actuator: Box<dyn Actuator + 'a>,
    plan: &'a Plan,
    site: OpensmSite,
}

impl<'a> Opensm<'a> {
    pub fn new(actuator: Box<dyn Actuator + 'a>, plan: &'a Plan, site: OpensmSite) -> Self {
        Self { actuator, plan, site }
    }

    /// Finds everything that speaks against a change through OpenSM. Nothing is written.
    pub fn check(&mut self) -> Checked {
        let judged = self.look().map_err(Refusal::from).and_then(|look| self.judge(&look));
        match judged {
            Ok((judged, _)) => Checked { refusals: judged.refusals, remarks: judged.remarks },
            Err(refusal) => Checked { refusals: vec![refusal], remarks: Vec::new() },
        }
    }

    fn look(&mut self) -> Result<Observation, SourceError> {
        self.actuator.look(Wanted { tables: true, ..Wanted::default() }, &mut Unwatched)
    }

    fn judge(&self, look: &Observation) -> Result<(Judged, Told), Refusal> {
        let told = self.site.ask()?;
        let steps: Vec<Step> = self.plan.writes.iter().filter_map(|write| write.step().ok()).collect();
        Ok((judge(&told, self.plan, &steps, look), told))
    }

    /// Checks that no other writer has changed the parts that the plan writes.
    fn no_drift(&mut self, steps: &[Step]) -> Result<(), Halt> {
        for steps in steps.chunks(STRIDE) {
            for (step, held) in steps.iter().zip(read(&mut *self.actuator, steps.iter())) {
                let held = held.map_err(Halt::Write)?;
                if held != step.old && held != step.new {
                    return Err(Halt::Drift { slot: step.slot });
                }
            }
        }
        Ok(())
    }

    /// Waits until the switches hold all steps, and OpenSM reports that it is done.
    fn wait(&mut self, steps: &[Step], until: Instant, heed: Heed<'_>) -> Result<(), Halt> {
        let mut open: Vec<&Step> = steps.iter().collect();
        loop {
            let mut what = None;
            open = self.not_yet(open, &mut what)?;
            heed((steps.len() - open.len()) as u64).map_err(Halt::Asked)?;
            let status = self.site.status();
            let alone = self.plan.moves_levels_alone();
            let at_work = |status: &Status| (alone || status.engine == "file") && status.is_done();
            let done = status.as_ref().is_none_or(at_work);
            if open.is_empty() && done {
                return Ok(());
            }
            if Instant::now() >= until {
                let said = status.map_or_else(String::new, |status| {
                    format!(
                        " (OpenSM says: engine {}, {} errors, {} datagrams under way)",
                        status.engine, status.errors, status.outstanding
                    )
                });
                let what =
                    what.unwrap_or_else(|| "all of them stand there, but OpenSM is not done".to_owned());
                let seconds = self.site.patience.as_secs();
                return Err(road(&Failed::Waited { seconds, what, said }));
            }
            std::thread::sleep(TURN);
        }
    }

    /// The steps that the switches do not hold so far; `what` gets the first of them.
    fn not_yet<'s>(
        &mut self,
        steps: Vec<&'s Step>,
        what: &mut Option<String>,
    ) -> Result<Vec<&'s Step>, Halt> {
        let mut open = Vec::new();
        for steps in steps.chunks(STRIDE) {
            let held = read(&mut *self.actuator, steps.iter().copied());
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
    fn levels(&mut self, fabric: &Fabric, outcome: &Tables, until: Instant) -> Result<(), Halt> {
        let routes = self.plan.routes(fabric, outcome);
        let pairs = sample(fabric);
        loop {
            let given = self.actuator.levels(&pairs);
            let wrong: Vec<_> = pairs
                .iter()
                .zip(&given)
                .filter(|((_, to), given)| {
                    given.map(|level| level.value()) != Some(routes.lane(0, *to).value())
                })
                .collect();
            let Some(((_, to), given)) = wrong.first() else { return Ok(()) };
            if Instant::now() >= until {
                let given = given.map_or_else(|| "nothing".to_owned(), |level| level.value().to_string());
                let more = match wrong.len() {
                    1 => String::new(),
                    count => format!("; {count} of {} paths differ", pairs.len()),
                };
                let planned = routes.lane(0, *to).value();
                return Err(road(&Failed::Level { lid: to.value(), given, planned, more }));
            }
            std::thread::sleep(TURN);
        }
    }

    /// The note of the files that this plan has put in place, if any.
    fn note(&self) -> Result<Option<Note>, Left> {
        let left = |what: &str, why: String| Left { what: what.to_owned(), why };
        // If OpenSM has ended, its configuration still says where the files are.
        let config = self.site.ask().map(|told| told.config).or_else(|_| self.site.config());
        let alone = self.plan.moves_levels_alone();
        let file = match config.map(|config| if alone { Some(config.policy()) } else { config.lfts_file() }) {
            Ok(Some(file)) => real(&file),
            Ok(None) => return Err(left("OpenSM's files", "its configuration names none".to_owned())),
            Err(refusal) => return Err(left("OpenSM's files", refusal.to_string())),
        };
        let note = Note::of(&file).map_err(|error| left(&file.display().to_string(), error.to_string()))?;
        Ok(note.filter(|note| note.plan == self.plan.hash))
    }

    fn ring(&self, call: Call) -> Option<Left> {
        let rung = self.site.any_bell().map_err(|refusal| refusal.to_string());
        let rung = rung.and_then(|bell| bell.ring(call).map_err(|failed| failed.to_string()));
        rung.err().map(|why| Left { what: "OpenSM".to_owned(), why })
    }

    /// Waits until all steps are rolled back.
    fn wait_back(&mut self, steps: &[Step], told: &mut dyn FnMut(u64)) {
        let until = Instant::now() + self.site.patience;
        loop {
            let left = not_back(&mut *self.actuator, steps).len();
            told(steps.len().saturating_sub(left) as u64);
            if left == 0 || Instant::now() >= until {
                return;
            }
            std::thread::sleep(TURN);
        }
    }

    /// Restores the files and has OpenSM load them. The copies are deleted only once the switches hold the old tables,
    /// since a later rollback would need them.
    fn restore_files(&mut self, note: &Note, steps: &[Step], told: &mut dyn FnMut(u64)) -> Vec<Left> {
        let mut left = note.put_back();
        let silent = self.ring(Call::Load);
        let loaded = silent.is_none();
        left.extend(silent);
        if loaded {
            self.wait_back(steps, told);
        }
        if !loaded || !not_back(&mut *self.actuator, steps).is_empty() {
            return left;
        }
        if note.stands_in() {
            left.extend(self.leave(note));
        }
        let closed = if left.is_empty() { note.close() } else { Ok(()) };
        let why = |error: std::io::Error| Left { what: "OpenSM's files".to_owned(), why: error.to_string() };
        left.extend(closed.err().map(why));
        left
    }

    /// Removes the stand-in, so that the next engine continues from those tables.
    fn leave(&mut self, note: &Note) -> Vec<Left> {
        if let Err(error) = note.leave() {
            return vec![Left { what: "OpenSM's files".to_owned(), why: error.to_string() }];
        }
        let left: Vec<Left> = self.ring(Call::Sweep).into_iter().collect();
        let until = Instant::now() + SETTLE;
        while left.is_empty() && Instant::now() < until {
            // Without a console the end cannot be seen.
            if self.site.status().is_some_and(|status| status.engine != "file" && status.is_done()) {
                break;
            }
            std::thread::sleep(TURN);
        }
        left
    }
}

fn road(failed: &Failed) -> Halt {
    Halt::Road(failed.to_string())
}

impl Driver for Opensm<'_> {
    fn surveyor(&mut self) -> &mut dyn Surveyor {
        &mut *self.actuator
    }

    fn write(&mut self, steps: &[Step], journal: &mut Journal, heed: Heed<'_>) -> Result<(), Halt> {
        let look = self.look().map_err(|error| Halt::Road(error.to_string()))?;
        let (judged, _) = self.judge(&look).map_err(|refusal| Halt::Road(refusal.to_string()))?;
        if let Some(refusal) = judged.refusals.first() {
            return Err(Halt::Road(refusal.to_string()));
        }
        self.no_drift(steps)?;
        heed(0).map_err(Halt::Asked)?;
        // Opens the channel first: without it, no file may change.
        let bell = self.site.bell().map_err(|refusal| Halt::Road(refusal.to_string()))?;
        let file = judged.files.first().map(|(file, _)| file.clone()).unwrap_or_default();
        let disk = |error| Halt::Road(Refusal::Disk { file: file.clone(), error }.to_string());
        let staged = Staged::prepare(&self.plan.hash, &judged.files, judged.stand_in.as_deref());
        staged.map_err(disk)?.arm().map_err(disk)?;
        bell.ring(Call::Load).map_err(|failed| road(&failed))?;
        let until = Instant::now() + self.site.patience;
        self.wait(steps, until, heed)?;
        let after = self.look().map_err(|error| Halt::Road(error.to_string()))?;
        if let Some(what) = difference(&after.fabric, &judged.outcome, &after.tables) {
            return Err(road(&Failed::Elsewhere { what }));
        }
        if judged.levels {
            self.levels(&after.fabric, &judged.outcome, until)?;
        }
        Ok(journal.mark(&Record::Written { count: steps.len() as u64 })?)
    }

    fn notify(
        &mut self,
        notices: &[Repath],
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
        site.check_named().map_err(|why| Refusal::NoProcess(why).to_string())?;
        self.site = site;
        Ok(())
    }

    /// Restores the files at once: an OpenSM that starts meanwhile has to load the old tables.
    fn await_manager(&mut self) -> Option<String> {
        let note = self.note().ok().flatten()?;
        let refusal = self.site.any_bell().err()?;
        let left = note.put_back();
        let left = left.iter().map(|left| format!("; {}: {}", left.what, left.why)).collect::<String>();
        Some(format!("{refusal}{left}"))
    }

    /// Restores all files at once, and so all switches. If there was no file, the tables that were in force are loaded
    /// first. Otherwise the next engine would start from the plan's tables, and could keep entries of them.
    fn take_back(&mut self, steps: &[Step], _: &mut AlteredWrites, told: &mut dyn FnMut(u64)) -> Vec<Left> {
        let mut left = Vec::new();
        match self.note() {
            // No file was put in place.
            Ok(None) => {}
            Err(error) => left.push(error),
            Ok(Some(note)) => left = self.restore_files(&note, steps, told),
        }
        left.extend(not_back(&mut *self.actuator, steps));
        left
    }
}

/// One path to each destination, each from another source. In large fabrics every n-th only, up to a limit.
fn sample(fabric: &Fabric) -> Vec<(Lid, Lid)> {
    let hosts = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch() && port.peer.is_some());
    let lids: Vec<Lid> = hosts.filter_map(|(_, port)| port.facts.lid).collect();
    let count = lids.len();
    let all = (0..count).map(|at| (lids[(at + count / 2) % count], lids[at]));
    let apart = all.filter(|(from, to)| from != to);
    apart.step_by(count.div_ceil(SAMPLE).max(1)).collect()
}
