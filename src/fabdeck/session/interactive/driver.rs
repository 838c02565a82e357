//! A session for tests and replays, without a process: it performs each task at once, until none is left. It
//! uses the same `update` as the console.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::changing::{Changer, Unchanging, Writing};
use super::effect::{Effect, Job, Outcome};
use super::event::{Beginning, Event, Happening};
use super::frame::Size;
use super::key::Key;
use super::keymap::Keymap;
use super::running_jobs::JobsFrom;
use super::state::State;
use super::timeline::{Recorded, Unrecorded};
use super::update::update;
use super::watch::{Swept, WatchSettings};
use crate::session::{Look, Made};
use fabdeck_files::job_lists::JobList;
use fabdeck_routing::NoPulse;

#[derive(Debug)]
pub struct Driver {
    pub state: State,
    pub copied: Vec<String>,
    /// The files and texts of plans that were written.
    pub written: Vec<(std::path::PathBuf, String)>,
    /// The header and all events of the session, in their recorded form.
    pub events: Vec<String>,
    look: Result<Arc<Look>, String>,
    sweeper: Sweeper,
    recorded: Recording,
    pub changing: Changing,
    pub lister: Lister,
    /// Time of the last sweep.
    swept_ms: u64,
    effects: VecDeque<Effect>,
}

/// The function that reads the counters again, not before the given time of the source's clock.
pub struct Sweeper(pub Box<dyn FnMut(Duration) -> Result<Swept, String>>);

impl Default for Sweeper {
    fn default() -> Self {
        Self(Box::new(|_| Err("nobody reads counters here".to_owned())))
    }
}

impl std::fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sweeper")
    }
}

/// The recording of the source.
pub struct Recording(pub Box<dyn Recorded>);

impl Default for Recording {
    fn default() -> Self {
        Self(Box::new(Unrecorded))
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recording")
    }
}

/// A list of jobs, or the reason why there is none.
type Listed = Result<JobList, String>;

/// The function that reads the list of running jobs.
pub struct Lister(pub Box<dyn FnMut(&JobsFrom) -> Listed>);

impl Default for Lister {
    fn default() -> Self {
        Self(Box::new(|_| Err("nobody lists jobs here".to_owned())))
    }
}

impl std::fmt::Debug for Lister {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lister")
    }
}

/// The access to changes of the fabric.
pub struct Changing(pub Box<dyn Changer>);

impl Default for Changing {
    fn default() -> Self {
        Self(Box::new(Unchanging))
    }
}

impl std::fmt::Debug for Changing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changing")
    }
}

impl Driver {
    /// Opens a session on an existing snapshot, and runs it until it is idle.
    pub fn open(look: Look, size: Size) -> Self {
        Self::with(Ok(Arc::new(look)), size)
    }

    pub fn with(look: Result<Arc<Look>, String>, size: Size) -> Self {
        Self::bound(look, size, Keymap::default())
    }

    /// Opens a session with the given keymap.
    pub fn bound(look: Result<Arc<Look>, String>, size: Size, keymap: Keymap) -> Self {
        let source = look.as_ref().map_or_else(|_| "nowhere".to_owned(), |look| look.source.clone());
        let outside = (Sweeper::default(), Recording::default(), Changing::default());
        Self::run(look, outside, State::open(source, keymap, size))
    }

    /// Opens a session with a watch, which the sweeper feeds.
    pub fn watching(look: Look, sweeper: Sweeper, settings: WatchSettings, size: Size) -> Self {
        let (mut state, effects) = State::open(look.source.clone(), Keymap::default(), size);
        state.known.watch.settings = settings;
        let outside = (sweeper, Recording::default(), Changing::default());
        Self::run(Ok(Arc::new(look)), outside, (state, effects))
    }

    /// Opens a session with a recording: a capture, or the recording of a watch.
    pub fn recorded(
        look: Look,
        (sweeper, recording): (Sweeper, Recording),
        settings: WatchSettings,
        size: Size,
    ) -> Self {
        let (mut state, effects) = State::open(look.source.clone(), Keymap::default(), size);
        state.known.watch.settings = settings;
        Self::run(Ok(Arc::new(look)), (sweeper, recording, Changing::default()), (state, effects))
    }

    /// Opens a session that may write to the fabric.
    pub fn changing(look: Look, changing: Changing, writing: Writing, size: Size) -> Self {
        let (mut state, effects) = State::open(look.source.clone(), Keymap::default(), size);
        state.writing = writing;
        let outside = (Sweeper::default(), Recording::default(), changing);
        Self::run(Ok(Arc::new(look)), outside, (state, effects))
    }

    /// Opens a session that may write and has a watch.
    pub fn deciding(
        look: Look,
        (sweeper, settings): (Sweeper, WatchSettings),
        (changing, writing): (Changing, Writing),
        size: Size,
    ) -> Self {
        let (mut state, effects) = State::open(look.source.clone(), Keymap::default(), size);
        (state.known.watch.settings, state.writing) = (settings, writing);
        Self::run(Ok(Arc::new(look)), (sweeper, Recording::default(), changing), (state, effects))
    }

    fn run(
        look: Result<Arc<Look>, String>,
        (sweeper, recorded, changing): (Sweeper, Recording, Changing),
        (state, effects): (State, Vec<Effect>),
    ) -> Self {
        let begun = serde_json::to_string(&Beginning::of(&state));
        let mut driver = Self {
            state,
            copied: Vec::new(),
            written: Vec::new(),
            events: begun.into_iter().collect(),
            look,
            sweeper,
            recorded,
            changing,
            lister: Lister::default(),
            swept_ms: 0,
            effects: effects.into(),
        };
        driver.settle();
        driver
    }

    /// Presses keys given as text (`2 / leaf enter f`), and runs until idle after each.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for key in Key::sequence(keys) {
            self.happen(Happening::Key(key));
        }
        self
    }

    pub fn happen(&mut self, what: Happening) -> &mut Self {
        self.feed(what);
        self.settle();
        self
    }

    /// Advances the clock.
    pub fn pass(&mut self, ms: u64) -> &mut Self {
        self.state.now_ms += ms;
        self.happen(Happening::Tick)
    }

    fn feed(&mut self, what: Happening) {
        let event = Event { at_ms: self.state.now_ms, what };
        self.events.extend(serde_json::to_string(&event.written()));
        self.effects.extend(update(&mut self.state, event));
    }

    fn settle(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Begin { task, job } => {
                    // A task that was cancelled before its turn does not run.
                    if self.state.tasks.get(task).is_some() {
                        let outcome = {
                            let (sweeper, recorded) = (&mut self.sweeper, &mut self.recorded);
                            let outside = (sweeper, recorded, &mut self.changing, &mut self.lister);
                            worked(&job, &self.look, outside, &mut self.written)
                        };
                        if matches!(outcome, Outcome::Swept(Ok(_))) {
                            self.swept_ms = self.state.now_ms;
                        }
                        self.feed(Happening::Finished { task, outcome });
                    }
                }
                Effect::Copy(text) => self.copied.push(text),
                Effect::Enter(entry) => {
                    let after = Duration::from_millis(self.state.now_ms.saturating_sub(self.swept_ms));
                    self.recorded.0.enter(after, &entry);
                }
                Effect::Cancel(_)
                | Effect::Log(_)
                | Effect::Redraw
                | Effect::Suspend
                | Effect::Leave
                | Effect::Interrupt => {}
            }
        }
    }
}

/// Performs a task at once; plans are written to memory.
pub(super) fn worked(
    job: &Job,
    look: &Result<Arc<Look>, String>,
    (sweeper, recorded, changing, lister): (&mut Sweeper, &mut Recording, &mut Changing, &mut Lister),
    written: &mut Vec<(std::path::PathBuf, String)>,
) -> Outcome {
    match (job.run(&NoPulse), job) {
        (Some(outcome), _) => outcome,
        (None, Job::Write { plan, to }) => {
            let result = plan.text(Made::default()).map(|text| written.push((to.clone(), text)));
            Outcome::Written { to: to.clone(), result }
        }
        (None, Job::Sweep { not_before }) => Outcome::Swept((sweeper.0)(*not_before)),
        (None, Job::Save { to }) => {
            let result = recorded.0.whole().map(drop);
            Outcome::Saved { to: to.clone(), result }
        }
        (None, Job::Unroll) => Outcome::Unrolled(recorded.0.unroll()),
        (None, Job::Seek(seek)) => Outcome::Sought(recorded.0.seek(*seek, &NoPulse).map(Box::new)),
        (None, Job::Offer(planned)) => Outcome::Offered(changing.0.offer(planned).map(Box::new)),
        (None, Job::Apply { offer, acceptance }) => Outcome::Begun(changing.0.begin(offer, acceptance)),
        (None, Job::Lanes(asked)) => Outcome::Lanes(changing.0.lanes(asked).map(Box::new)),
        (None, Job::ListJobs(from)) => Outcome::Listed((lister.0)(from).map(Box::new)),
        (None, Job::Changes) => Outcome::Changes(changing.0.changes()),
        (None, Job::Compare) => Outcome::Compared(changing.0.compare()),
        (None, Job::Ask { id, ask }) => Outcome::Asked { id: id.clone(), result: changing.0.ask(id, ask) },
        (None, _) => Outcome::Looked(look.clone()),
    }
}
