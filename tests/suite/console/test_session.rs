//! A session for tests and replays, without a process: it performs each task at once, until none is left. It
//! uses the same `update` as the console.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::event_loop::event::{SessionEvent, SessionHeader, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::views::console_view::ConsoleView;
use fabdeck::console::features::views::open_view::begin_opening;
use fabdeck::console::features::watch::sweep_cycle::SweepOutcome;
use fabdeck::console::features::watch::watch_state::WatchSettings;
use fabdeck::console::model::background_task::{BackgroundTask, TaskOutcome};
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::SessionState;
use fabdeck::console::model::task_services::TaskServices;
use fabdeck::console::model::tasks::TaskId;
use fabdeck::operations::changes::changer::{Changer, NoChanger, WriteAccess};
use fabdeck::operations::event_store::ledger_reader::StoredLedger;
use fabdeck::operations::jobs::job_request::JobListSource;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::replay::replay_frame::{FrameSource, NoRecording};
use fabdeck::operations::watch::sweep::SweepResult;
use fabdeck::system::access::SystemAccess;
use fabdeck_files::job_lists::JobList;
use fabdeck_routing::NoProgress;

#[derive(Debug)]
pub struct TestSession {
    pub state: SessionState,
    pub copied: Vec<String>,
    /// The files and texts of plans that were written.
    pub written: Vec<(std::path::PathBuf, String)>,
    /// The header and all events of the session, in their recorded form.
    pub events: Vec<String>,
    look: Result<Arc<Snapshot>, String>,
    sweeper: Sweeper,
    recorded: ReplayBox,
    pub changing: ChangerBox,
    pub lister: JobLister,
    /// The system with the state folder of the user.
    pub system: UserSystem,
    /// What a watch stored of the cables.
    pub ledger: Option<Arc<StoredLedger>>,
    /// Time of the last sweep.
    swept_ms: u64,
    effects: VecDeque<Effect>,
}

/// The function that reads the counters again, not before the given time of the source's clock.
pub struct Sweeper(pub Box<dyn FnMut(Duration) -> Result<SweepResult, String>>);

impl Default for Sweeper {
    fn default() -> Self {
        Self(Box::new(|_| Err("this session reads no counters".to_owned())))
    }
}

impl std::fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sweeper")
    }
}

/// The recording of the source.
pub struct ReplayBox(pub Box<dyn FrameSource>);

impl Default for ReplayBox {
    fn default() -> Self {
        Self(Box::new(NoRecording))
    }
}

impl std::fmt::Debug for ReplayBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recording")
    }
}

/// A list of jobs, or the reason why there is none.
type JobListResult = Result<JobList, String>;

/// The function that reads the list of running jobs.
pub struct JobLister(pub Box<dyn FnMut(&JobListSource) -> JobListResult>);

impl Default for JobLister {
    fn default() -> Self {
        Self(Box::new(|_| Err("this session lists no jobs".to_owned())))
    }
}

impl std::fmt::Debug for JobLister {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lister")
    }
}

/// The system of the user, where the session has one.
#[derive(Default)]
pub struct UserSystem(pub Option<Box<dyn SystemAccess>>);

impl std::fmt::Debug for UserSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UserSystem")
    }
}

/// The access to changes of the fabric.
pub struct ChangerBox(pub Box<dyn Changer>);

impl Default for ChangerBox {
    fn default() -> Self {
        Self(Box::new(NoChanger))
    }
}

impl std::fmt::Debug for ChangerBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changing")
    }
}

impl TestSession {
    /// Opens a session on an existing snapshot, and runs it until it is idle.
    pub fn open(look: Snapshot, size: Size) -> Self {
        Self::with_snapshot(Ok(Arc::new(look)), size)
    }

    pub fn with_snapshot(look: Result<Arc<Snapshot>, String>, size: Size) -> Self {
        Self::with_keymap(look, size, Keymap::default())
    }

    /// Opens a session with the given keymap.
    pub fn with_keymap(look: Result<Arc<Snapshot>, String>, size: Size, keymap: Keymap) -> Self {
        let source = look.as_ref().map_or_else(|_| "nowhere".to_owned(), |look| look.source.clone());
        let outside = (Sweeper::default(), ReplayBox::default(), ChangerBox::default());
        Self::start(look, outside, SessionState::open(source, keymap, size))
    }

    /// Opens a session with a watch, which the sweeper feeds.
    pub fn open_watching(look: Snapshot, sweeper: Sweeper, settings: WatchSettings, size: Size) -> Self {
        let (mut state, effects) = SessionState::open(look.source.clone(), Keymap::default(), size);
        state.known.watch.settings = settings;
        let outside = (sweeper, ReplayBox::default(), ChangerBox::default());
        Self::start(Ok(Arc::new(look)), outside, (state, effects))
    }

    /// Opens a watched session at a view, as `--open` does; no key is pressed.
    pub fn open_at(
        look: Snapshot,
        sweeper: Sweeper,
        settings: WatchSettings,
        size: Size,
        view: ConsoleView,
    ) -> Self {
        let (mut state, effects) = SessionState::open(look.source.clone(), Keymap::default(), size);
        state.known.watch.settings = settings;
        begin_opening(&mut state, view);
        let outside = (sweeper, ReplayBox::default(), ChangerBox::default());
        let mut driver = Self::begin(Ok(Arc::new(look)), outside, (state, effects));
        driver.run_until_idle();
        driver
    }

    /// Opens a session with a recording: a capture, or the recording of a watch.
    pub fn open_recorded(
        look: Snapshot,
        (sweeper, recording): (Sweeper, ReplayBox),
        settings: WatchSettings,
        size: Size,
    ) -> Self {
        let (mut state, effects) = SessionState::open(look.source.clone(), Keymap::default(), size);
        state.known.watch.settings = settings;
        Self::start(Ok(Arc::new(look)), (sweeper, recording, ChangerBox::default()), (state, effects))
    }

    /// Opens a session that may write to the fabric.
    pub fn open_changing(look: Snapshot, changing: ChangerBox, writing: WriteAccess, size: Size) -> Self {
        let (mut state, effects) = SessionState::open(look.source.clone(), Keymap::default(), size);
        state.writing = writing;
        let outside = (Sweeper::default(), ReplayBox::default(), changing);
        Self::start(Ok(Arc::new(look)), outside, (state, effects))
    }

    /// Opens a session that may write and has a watch.
    pub fn open_watching_changing(
        look: Snapshot,
        (sweeper, settings): (Sweeper, WatchSettings),
        (changing, writing): (ChangerBox, WriteAccess),
        size: Size,
    ) -> Self {
        let (mut state, effects) = SessionState::open(look.source.clone(), Keymap::default(), size);
        (state.known.watch.settings, state.writing) = (settings, writing);
        Self::start(Ok(Arc::new(look)), (sweeper, ReplayBox::default(), changing), (state, effects))
    }

    fn start(
        look: Result<Arc<Snapshot>, String>,
        outside: (Sweeper, ReplayBox, ChangerBox),
        opened: (SessionState, Vec<Effect>),
    ) -> Self {
        let mut driver = Self::begin(look, outside, opened);
        driver.open_map();
        driver.run_until_idle();
        driver.show_tree();
        driver
    }

    fn begin(
        look: Result<Arc<Snapshot>, String>,
        (sweeper, recorded, changing): (Sweeper, ReplayBox, ChangerBox),
        (state, effects): (SessionState, Vec<Effect>),
    ) -> Self {
        let begun = serde_json::to_string(&SessionHeader::from_state(&state));
        Self {
            state,
            copied: Vec::new(),
            written: Vec::new(),
            events: begun.into_iter().collect(),
            look,
            sweeper,
            recorded,
            changing,
            lister: JobLister::default(),
            system: UserSystem::default(),
            ledger: None,
            swept_ms: 0,
            effects: effects.into(),
        }
    }

    /// Turns from the drawn map to the tree, where most tests begin. The key is recorded; messages stay unread.
    fn show_tree(&mut self) {
        let seen = self.state.seen;
        self.press("V");
        self.state.seen = seen;
    }

    /// Goes to the Map, where most tests begin: a session opens on Health. The key comes before anything is read, so it
    /// dismisses no message.
    fn open_map(&mut self) {
        let map = self.state.keymap.find_action("screen-map");
        if let Some(key) = map.and_then(|map| map.first_key(&self.state.keymap)) {
            self.update_state(SessionInput::Key(key));
        }
    }

    /// Presses keys given as text (`2 / leaf enter f`), and runs until idle after each.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for key in Key::parse_sequence(keys) {
            self.send_input(SessionInput::Key(key));
        }
        self
    }

    pub fn send_input(&mut self, what: SessionInput) -> &mut Self {
        self.update_state(what);
        self.run_until_idle();
        self
    }

    /// Advances the clock.
    pub fn advance_ms(&mut self, ms: u64) -> &mut Self {
        self.state.now_ms += ms;
        self.send_input(SessionInput::Tick)
    }

    fn update_state(&mut self, what: SessionInput) {
        let event = SessionEvent { at_ms: self.state.now_ms, what };
        self.events.extend(serde_json::to_string(&event.to_recorded()));
        self.effects.extend(update(&mut self.state, event));
    }

    fn run_until_idle(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Begin { task, job } => {
                    // A task that was cancelled before its turn does not run.
                    if self.state.tasks.get(task).is_some() {
                        let services = &mut TestServices {
                            look: &self.look,
                            sweeper: &mut self.sweeper,
                            recorded: &mut self.recorded,
                            changing: &mut self.changing,
                            lister: &mut self.lister,
                            system: self.system.0.as_deref(),
                            ledger: self.ledger.clone(),
                            written: &mut self.written,
                            took_ms: 0,
                        };
                        let outcome = job.run(services, &NoProgress).unwrap();
                        if outcome.downcast::<SweepOutcome>().is_some_and(|outcome| outcome.0.is_ok()) {
                            self.swept_ms = self.state.now_ms;
                        }
                        self.update_state(SessionInput::Finished { task, outcome });
                    }
                }
                Effect::Copy(text) => self.copied.push(text),
                Effect::Enter(entry) => {
                    let after = Duration::from_millis(self.state.now_ms.saturating_sub(self.swept_ms));
                    self.recorded.0.add_entry(after, &entry);
                }
                Effect::Cancel(_)
                | Effect::Log(_)
                | Effect::SavePicture(_)
                | Effect::BeginCast(_)
                | Effect::EndCast
                | Effect::Redraw
                | Effect::Suspend
                | Effect::Leave
                | Effect::Interrupt => {}
            }
        }
    }
}

/// The services of a session without a process. Plans are written to memory.
pub struct TestServices<'t> {
    pub look: &'t Result<Arc<Snapshot>, String>,
    pub sweeper: &'t mut Sweeper,
    pub recorded: &'t mut ReplayBox,
    pub changing: &'t mut ChangerBox,
    pub lister: &'t mut JobLister,
    pub system: Option<&'t dyn SystemAccess>,
    pub ledger: Option<Arc<StoredLedger>>,
    pub written: &'t mut Vec<(PathBuf, String)>,
    pub took_ms: u64,
}

/// What services refer to.
#[derive(Default)]
pub struct NoServices {
    look: Option<Result<Arc<Snapshot>, String>>,
    sweeper: Sweeper,
    recorded: ReplayBox,
    changing: ChangerBox,
    lister: JobLister,
    written: Vec<(PathBuf, String)>,
}

impl<'t> TestServices<'t> {
    /// Services that have nothing to give.
    pub fn nothing(nothing: &'t mut NoServices) -> Self {
        let NoServices { look, sweeper, recorded, changing, lister, written } = nothing;
        let look = look.get_or_insert_with(|| Err("this session has no source".to_owned()));
        Self { look, sweeper, recorded, changing, lister, system: None, ledger: None, written, took_ms: 0 }
    }
}

impl TaskServices for TestServices<'_> {
    fn read_snapshot(&mut self) -> Result<Arc<Snapshot>, String> {
        self.look.clone()
    }

    fn read_sweep(&mut self, not_before: Duration) -> Result<SweepResult, String> {
        (self.sweeper.0)(not_before)
    }

    fn recording(&mut self) -> &mut dyn FrameSource {
        self.recorded.0.as_mut()
    }

    fn changes(&mut self) -> &mut dyn Changer {
        self.changing.0.as_mut()
    }

    fn list_jobs(&mut self, from: &JobListSource) -> Option<Result<JobList, String>> {
        Some((self.lister.0)(from))
    }

    fn system(&self) -> Option<&dyn SystemAccess> {
        self.system
    }

    fn link_ledger(&mut self, _: &Snapshot) -> Option<Arc<StoredLedger>> {
        self.ledger.clone()
    }

    fn plan_origin(&self) -> PlanOrigin {
        PlanOrigin::default()
    }

    fn write_file(&mut self, to: &Path, content: &[u8], _: &str) -> Result<(), String> {
        // Captures are not text, and no test reads them here.
        self.written.extend(String::from_utf8(content.to_vec()).ok().map(|text| (to.to_owned(), text)));
        Ok(())
    }

    fn elapsed_ms(&self) -> u64 {
        self.took_ms
    }
}

/// Performs a task that needs nothing of the process.
pub fn run_alone(job: &dyn BackgroundTask) -> Box<dyn TaskOutcome> {
    job.run(&mut TestServices::nothing(&mut NoServices::default()), &NoProgress).unwrap()
}

/// The first task of this kind that effects begin.
pub fn begun_task<T: BackgroundTask>(effects: &[Effect]) -> Option<(TaskId, Arc<dyn BackgroundTask>)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Begin { task, job } => job.downcast::<T>().map(|_| (*task, job.clone())),
        _ => None,
    })
}

/// The task that the first effect begins, which is of this kind.
pub fn first_task<T: BackgroundTask>(effects: &[Effect]) -> (TaskId, Arc<dyn BackgroundTask>) {
    begun_task::<T>(effects.get(..1).unwrap_or_default()).unwrap_or_else(|| panic!("{effects:?}"))
}
