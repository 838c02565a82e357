//! The replay of a recorded session. It performs the tasks again, and their results must equal the recorded
//! digests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::test_session::{NoServices, ReplayBox, Sweeper, TestServices};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::event_loop::event::{
    RecordedEvent, RecordedInput, SessionEvent, SessionHeader, SessionInput,
};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::jobs::jobs_model::JobsModel;
use fabdeck::console::features::snapshot_change::SnapshotOutcome;
use fabdeck::console::features::views::console_view::ConsoleView;
use fabdeck::console::features::views::open_view::begin_opening;
use fabdeck::console::model::background_task::{BackgroundTask, TaskOutcome};
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::keymap::{Keymap, KeymapError};
use fabdeck::console::model::state::SessionState;
use fabdeck::console::model::tasks::TaskId;
use fabdeck_routing::NoProgress;

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
    Differs { number: usize, what: String },
}

/// Replays the lines of a recorded session and returns the final state. `look` is the snapshot of the source.
pub fn replay<'l>(
    look: &Arc<Snapshot>,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<SessionState, ReplayError> {
    replay_watched(look, (Sweeper::default(), ReplayBox::default()), lines)
}

/// Replays a session with a watch or a recording, which provide the same sweeps and moments again.
pub fn replay_watched<'l>(
    look: &Arc<Snapshot>,
    (sweeper, recorded): (Sweeper, ReplayBox),
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<SessionState, ReplayError> {
    let mut lines = lines.into_iter();
    let beginning = parse_header(lines.next().unwrap_or_default())?;
    let keymap = Keymap::with_overrides(&beginning.keys).map_err(ReplayError::Keys)?;
    let (mut state, effects) = SessionState::open(beginning.source, keymap, beginning.size);
    state.options = beginning.options;
    state.writing = beginning.writing;
    state.known.watch.settings = beginning.watch.unwrap_or_default();
    state.known.clock = beginning.clock;
    state.panes.sizes = beginning.panes;
    state.mouse = beginning.mouse;
    state.screens.links.opens_by_trouble = beginning.trouble_first;
    state.known.line.setting = beginning.slow_line;
    if let Some(view) = beginning.open.as_deref().and_then(|line| ConsoleView::parse(line).ok()) {
        begin_opening(&mut state, view);
    }
    state.known.jobs = JobsModel::with_settings(beginning.jobs.unwrap_or_default());
    let mut again = SessionReplay { look: look.clone(), sweeper, recorded, state, jobs: BTreeMap::new() };
    again.begin(effects);
    for (at, line) in lines.enumerate() {
        let number = at + 1;
        let written: RecordedEvent = serde_json::from_str(line)
            .map_err(|error| ReplayError::Unreadable { number, what: error.to_string() })?;
        let what = again.restore_input(number, written.what)?;
        let effects = update(&mut again.state, SessionEvent { at_ms: written.at_ms, what });
        again.begin(effects);
    }
    Ok(again.state)
}

fn parse_header(line: &str) -> Result<SessionHeader, ReplayError> {
    let beginning: SessionHeader =
        serde_json::from_str(line).map_err(|error| ReplayError::Beginning(error.to_string()))?;
    match beginning.format {
        SessionHeader::SESSION_FORMAT => Ok(beginning),
        other => Err(ReplayError::Beginning(format!("this program knows no format {other}"))),
    }
}

struct SessionReplay {
    look: Arc<Snapshot>,
    sweeper: Sweeper,
    recorded: ReplayBox,
    state: SessionState,
    /// Tasks that were begun and have not ended.
    jobs: BTreeMap<TaskId, Arc<dyn BackgroundTask>>,
}

impl SessionReplay {
    fn begin(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Begin { task, job } = effect {
                self.jobs.insert(task, job);
            }
        }
    }

    fn restore_input(&mut self, number: usize, what: RecordedInput) -> Result<SessionInput, ReplayError> {
        Ok(match what {
            RecordedInput::Key(key) => SessionInput::Key(key),
            RecordedInput::Mouse(mouse) => SessionInput::Mouse(mouse),
            RecordedInput::Paste(text) => SessionInput::Paste(text),
            RecordedInput::Resized(size) => SessionInput::Resized(size),
            RecordedInput::Tick => SessionInput::Tick,
            RecordedInput::Progress { task, done, of } => SessionInput::Progress { task, done, of },
            RecordedInput::Told(text) => SessionInput::Message(text),
            RecordedInput::LineSpeed { is_slow } => SessionInput::LineSpeed { is_slow },
            RecordedInput::Resumed => SessionInput::Resumed,
            RecordedInput::Sighted { task, digest } => {
                let fabric = self.look.fabric().clone();
                let observation = fabdeck_fabric::observe::Observation { fabric, ..Default::default() };
                let own = self.look.observation.names.clone();
                let look = Arc::new(Snapshot::new(&self.look.source, observation, &own));
                check_digest(number, "the fabric", &SnapshotOutcome(Ok(look.clone())), &digest)?;
                SessionInput::Sighted { task, look }
            }
            RecordedInput::Finished { task, digest, took_ms, whole } => {
                let job = self.jobs.remove(&task).ok_or(ReplayError::Unknown { number, task: task.0 })?;
                if self.state.tasks.get(task).is_none() {
                    // The result of a cancelled task is not used, so any result stands for it. A tick would not do: it
                    // begins tasks.
                    let outcome = Box::new(SnapshotOutcome(Err("cancelled".to_owned())));
                    return Ok(SessionInput::Finished { task, outcome });
                }
                if let Some(whole) = whole {
                    let outcome = job.restore(&whole).ok_or_else(|| ReplayError::Unreadable {
                        number,
                        what: format!("{job:?} has no such outcome"),
                    })?;
                    return Ok(SessionInput::Finished { task, outcome });
                }
                let (look, mut nothing) = (Ok(self.look.clone()), NoServices::default());
                let services = &mut TestServices {
                    look: &look,
                    sweeper: &mut self.sweeper,
                    recorded: &mut self.recorded,
                    took_ms: took_ms.unwrap_or(0),
                    ..TestServices::nothing(&mut nothing)
                };
                let outcome = job.run(services, &NoProgress).unwrap();
                check_digest(number, &task_name(&*job), &*outcome, &digest)?;
                SessionInput::Finished { task, outcome }
            }
        })
    }
}

fn check_digest(
    number: usize,
    what: &str,
    outcome: &dyn TaskOutcome,
    digest: &str,
) -> Result<(), ReplayError> {
    (outcome.digest() == digest)
        .then_some(())
        .ok_or_else(|| ReplayError::Differs { number, what: what.to_owned() })
}

/// The name of the type of a task.
fn task_name(job: &dyn BackgroundTask) -> String {
    format!("{job:?}").chars().take_while(|letter| letter.is_ascii_alphanumeric()).collect()
}
