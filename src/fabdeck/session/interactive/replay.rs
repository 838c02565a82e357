//! The replay of a recorded session. It performs the tasks again, and their results must equal the recorded
//! digests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::driver::{Changing, Lister, Recording, Sweeper, worked};
use super::effect::{Effect, Job, Outcome};
use super::event::{Beginning, Event, Happening, Written, WrittenHappening};
use super::keymap::{Keymap, KeymapError};
use super::running_jobs::JobsSeen;
use super::state::State;
use super::tasks::TaskId;
use super::update::update;
use crate::session::Look;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("FD-6310: line 1 does not say how the session began: {0}")]
    Beginning(String),
    #[error("FD-6314: the session began with keys that this program does not have: {0}")]
    Keys(KeymapError),
    #[error("FD-6311: event {number} cannot be read: {what}")]
    Unreadable { number: usize, what: String },
    #[error("FD-6312: event {number} ends task {task} that was never begun: events are missing before it")]
    Unknown { number: usize, task: u64 },
    #[error(
        "FD-6313: event {number}: {what} came out differently this time; the source or the program is another"
    )]
    Differs { number: usize, what: &'static str },
}

/// Replays the lines of a recorded session and returns the final state. `look` is the snapshot of the source.
pub fn replay<'l>(look: &Arc<Look>, lines: impl IntoIterator<Item = &'l str>) -> Result<State, ReplayError> {
    replay_watched(look, (Sweeper::default(), Recording::default()), lines)
}

/// Replays a session with a watch or a recording, which provide the same sweeps and moments again.
pub fn replay_watched<'l>(
    look: &Arc<Look>,
    (sweeper, recorded): (Sweeper, Recording),
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<State, ReplayError> {
    let mut lines = lines.into_iter();
    let beginning = begun(lines.next().unwrap_or_default())?;
    let keymap = Keymap::with(&beginning.keys).map_err(ReplayError::Keys)?;
    let (mut state, effects) = State::open(beginning.source, keymap, beginning.size);
    state.options = beginning.options;
    state.writing = beginning.writing;
    state.known.watch.settings = beginning.watch.unwrap_or_default();
    state.known.jobs = JobsSeen::begun(beginning.jobs.unwrap_or_default());
    let mut again = Again { look: look.clone(), sweeper, recorded, state, jobs: BTreeMap::new() };
    again.begin(effects);
    for (at, line) in lines.enumerate() {
        let number = at + 1;
        let written: Written = serde_json::from_str(line)
            .map_err(|error| ReplayError::Unreadable { number, what: error.to_string() })?;
        let what = again.happening(number, written.what)?;
        let effects = update(&mut again.state, Event { at_ms: written.at_ms, what });
        again.begin(effects);
    }
    Ok(again.state)
}

fn begun(line: &str) -> Result<Beginning, ReplayError> {
    let beginning: Beginning =
        serde_json::from_str(line).map_err(|error| ReplayError::Beginning(error.to_string()))?;
    match beginning.format {
        Beginning::FORMAT => Ok(beginning),
        other => Err(ReplayError::Beginning(format!("this program knows no format {other}"))),
    }
}

struct Again {
    look: Arc<Look>,
    sweeper: Sweeper,
    recorded: Recording,
    state: State,
    /// Tasks that were begun and have not ended.
    jobs: BTreeMap<TaskId, Job>,
}

impl Again {
    fn begin(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Begin { task, job } = effect {
                self.jobs.insert(task, job);
            }
        }
    }

    fn happening(&mut self, number: usize, what: WrittenHappening) -> Result<Happening, ReplayError> {
        Ok(match what {
            WrittenHappening::Key(key) => Happening::Key(key),
            WrittenHappening::Paste(text) => Happening::Paste(text),
            WrittenHappening::Resized(size) => Happening::Resized(size),
            WrittenHappening::Tick => Happening::Tick,
            WrittenHappening::Progress { task, done, of } => Happening::Progress { task, done, of },
            WrittenHappening::Told(text) => Happening::Told(text),
            WrittenHappening::Resumed => Happening::Resumed,
            WrittenHappening::Sighted { task, digest } => {
                let fabric = self.look.fabric().clone();
                let observation = fabdeck_fabric::observe::Observation { fabric, ..Default::default() };
                let own = self.look.observation.names.clone();
                let look = Arc::new(Look::new(&self.look.source, observation, &own));
                same(number, "the fabric", &Outcome::Looked(Ok(look.clone())), &digest)?;
                Happening::Sighted { task, look }
            }
            WrittenHappening::Finished { task, digest, took_ms, whole } => {
                let job = self.jobs.remove(&task).ok_or(ReplayError::Unknown { number, task: task.0 })?;
                if self.state.tasks.get(task).is_none() {
                    // A cancelled task has no effect, so its result need not be computed.
                    return Ok(Happening::Tick);
                }
                if let Some(whole) = whole {
                    return Ok(Happening::Finished { task, outcome: (*whole).into() });
                }
                let mut outcome = {
                    let (mut changing, mut lister) = (Changing::default(), Lister::default());
                    let outside = (&mut self.sweeper, &mut self.recorded, &mut changing, &mut lister);
                    worked(&job, &Ok(self.look.clone()), outside, &mut Vec::new())
                };
                same(number, "what work brought", &outcome, &digest)?;
                if let (Outcome::Proposed { took_ms: took, .. }, Some(ms)) = (&mut outcome, took_ms) {
                    *took = ms;
                }
                Happening::Finished { task, outcome }
            }
        })
    }
}

fn same(number: usize, what: &'static str, outcome: &Outcome, digest: &str) -> Result<(), ReplayError> {
    (outcome.digest() == digest).then_some(()).ok_or(ReplayError::Differs { number, what })
}
