//! The session with its screen: runs the effects and shows the frames.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::mpsc::UnboundedSender;

use super::fault_injection;
use super::screen_cast::ScreenCast;
use super::session_recorder::SessionRecorder;
use super::terminal::{TerminalScreen, is_in_foreground, restore};
use super::terminal_ground::TerminalGround;
use super::themes::Themes;
use super::workers::{WorkerMessage, Workers};
use crate::catalogue::exit::Exit;
use crate::catalogue::severity::Severity;
use crate::console::drawing::frame::{Appearance, draw_with_targets};
use crate::console::drawing::screen_svg::{PictureGround, screen_svg};
use crate::console::drawing::theme::Role;
use crate::console::event_loop::event::{SessionEvent, SessionHeader, SessionInput};
use crate::console::event_loop::theme_choice::wanted_theme;
use crate::console::event_loop::update::{next_wake_ms, update};
use crate::console::features::jobs::jobs_model::JobsModel;
use crate::console::features::panes::kept_sizes::read_pane_sizes;
use crate::console::features::views::open_view::begin_opening;
use crate::console::model::console_options::ConsoleOptions;
use crate::console::model::effect::Effect;
use crate::console::model::keymap::Keymap;
use crate::console::model::messages::LogMessage;
use crate::console::model::mouse::ClickTargets;
use crate::console::model::state::SessionState;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::watch::history_clock::HistoryClock;
use crate::system::local_access::LocalSystemAccess;

pub struct App {
    pub state: SessionState,
    screen: TerminalScreen,
    threads: Workers,
    themes: Themes,
    appearance: Appearance,
    ground: TerminalGround,
    /// What the theme was chosen by.
    theme_of: ThemeKey,
    begun: Instant,
    /// Whether something changed since the last frame.
    stale: bool,
    /// What of the frame on the screen can be clicked.
    targets: ClickTargets,
    /// Whether the shell has the terminal.
    pub away: bool,
    /// File for the events of the session, with `--record-events`.
    record: Option<SessionRecorder>,
    /// Files that were not written completely, and why.
    pub unwritten: Vec<String>,
    /// Exit code, once the session is about to end.
    pub exit: Option<Exit>,
}

/// What decides which theme is drawn with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct ThemeKey {
    chosen: Option<String>,
    source: String,
    ground: TerminalGround,
}

impl App {
    pub fn open(
        machine: Arc<LocalSystemAccess>,
        opening: ConsoleOptions,
        keymap: Keymap,
        themes: Themes,
        appearance: Appearance,
        words: UnboundedSender<WorkerMessage>,
    ) -> io::Result<Self> {
        let mut screen = TerminalScreen::take(words.clone())?;
        if themes.follows_ground(&opening.source) {
            screen.ask_ground();
        }
        let (mut state, effects) = SessionState::open(opening.source.clone(), keymap, TerminalScreen::size());
        state.options.clone_from(&opening.options);
        state.known.watch.settings.clone_from(&opening.watch);
        let now = jiff::Zoned::now();
        state.known.line.setting = opening.slow_line;
        state.known.clock = Some(HistoryClock {
            at_ms: 0,
            unix_ms: now.timestamp().as_millisecond(),
            utc_offset_s: now.offset().seconds(),
        });
        state.screens.links.opens_by_trouble = true;
        state.request = std::mem::take(&mut state.request).with_lanes(None, opening.given.supposed_lanes);
        state.writing.clone_from(&opening.writing);
        state.mouse = opening.mouse;
        screen.set_mouse(state.mouse);
        state.known.jobs = JobsModel::with_settings(opening.jobs.clone());
        if let Some(view) = opening.open.clone() {
            begin_opening(&mut state, view);
        }
        let named = opening.given.source.is_some();
        let sizes = read_pane_sizes(&*machine);
        let unread = sizes.as_ref().err().cloned();
        state.panes.sizes = sizes.unwrap_or_default();
        for line in opening.messages.iter().chain(&unread) {
            // The line arrives once the session runs.
            let _ = words.send(WorkerMessage::Happened(SessionInput::Message(line.clone())));
        }
        state.themes = themes.names();
        let named_source = opening.source.clone();
        let threads = Workers::new(machine, Arc::new(opening), words);
        let mut app = Self {
            state,
            screen,
            threads,
            themes,
            appearance,
            ground: TerminalGround::default(),
            theme_of: ThemeKey { source: named_source, ..ThemeKey::default() },
            begun: Instant::now(),
            stale: true,
            targets: ClickTargets::default(),
            away: false,
            record: None,
            unwritten: Vec::new(),
            exit: None,
        };
        // The first frame is shown before anything is read.
        app.show()?;
        app.run_effects(effects)?;
        if !named {
            app.threads.report_adapters();
        }
        Ok(app)
    }

    /// Starts the record of the session's events, from its first state on.
    pub fn record(&mut self, mut record: SessionRecorder) {
        self.unwritten.extend(record.begin(&SessionHeader::from_state(&self.state)));
        self.record = Some(record);
    }

    pub fn handle(&mut self, mut what: SessionInput) -> io::Result<()> {
        if let SessionInput::Mouse(mouse) = &mut what {
            mouse.target = self.targets.at(mouse.x, mouse.y).cloned();
        }
        let at_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let event = SessionEvent { at_ms, what };
        let remark = self.record.as_mut().and_then(|record| record.add(&event));
        self.unwritten.extend(remark);
        if self.is_answer(&event.what) {
            self.screen.expect_answer();
        }
        let effects = update(&mut self.state, event);
        self.stale = true;
        self.apply_theme();
        self.screen.set_mouse(self.state.mouse);
        self.run_effects(effects)
    }

    /// Whether the operator waits for what follows from an event.
    fn is_answer(&self, what: &SessionInput) -> bool {
        match what {
            SessionInput::Tick | SessionInput::Progress { .. } => false,
            // Readings and what is derived from them come in quiet tasks.
            SessionInput::Finished { task, .. } => {
                self.state.tasks.running_tasks().iter().any(|running| running.id == *task)
            }
            _ => true,
        }
    }

    pub fn receive(&mut self, message: WorkerMessage) -> io::Result<()> {
        match message {
            WorkerMessage::Happened(input) => self.handle_task_message(input),
            WorkerMessage::Sent(Ok(())) => match self.screen.mark_ready() {
                Some(is_slow) => self.handle(SessionInput::LineSpeed { is_slow }),
                None => Ok(()),
            },
            // The other end of the terminal is closed.
            WorkerMessage::Sent(Err(error))
                if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) =>
            {
                self.end(Exit::Hangup);
                Ok(())
            }
            WorkerMessage::Sent(Err(error)) => Err(error),
            WorkerMessage::Ground(ground) => {
                self.set_ground(ground);
                Ok(())
            }
            WorkerMessage::HungUp => {
                self.end(Exit::Hangup);
                Ok(())
            }
            WorkerMessage::Panicked => {
                self.end(Exit::Bug);
                Ok(())
            }
        }
    }

    /// Time until the session has to act by itself, without an event from outside.
    pub fn idle_time(&self) -> Option<Duration> {
        let wake = next_wake_ms(&self.state).map(Duration::from_millis);
        let wake = wake.map(|at| at.saturating_sub(self.begun.elapsed()));
        let frame = self.hold_time().filter(|_| self.stale);
        wake.into_iter().chain(frame).min()
    }

    /// Time until a frame may be sent over a slow line. The time that a change has left runs down with each second.
    fn hold_time(&self) -> Option<Duration> {
        let is_held =
            self.state.known.line.is_slow() && self.state.known.changes.pending_rows().next().is_none();
        self.screen.hold_time().filter(|_| is_held)
    }

    /// Handles a message of a background task.
    fn handle_task_message(&mut self, input: SessionInput) -> io::Result<()> {
        if let SessionInput::Finished { task, outcome } = &input {
            self.threads.forget_task(*task);
            // The outcome of a cancelled task is not used.
            if let Some(snapshot) = outcome.opened_snapshot()
                && self.state.tasks.get(*task).is_some()
            {
                self.threads.adopt_source(*task, snapshot);
            }
            if let Some((to, error)) = outcome.unwritten_file().filter(|_| self.exit.is_some()) {
                self.unwritten.push(unwritten_message(to, error));
            }
        }
        self.handle(input)
    }

    /// Takes over what the terminal says of its ground.
    fn set_ground(&mut self, ground: TerminalGround) {
        self.ground = ground;
        self.apply_theme();
    }

    /// Chooses the theme again where something changed that decides it. The adapter behind a live fabric is known only
    /// with its snapshot; a theme may be configured for that adapter.
    fn apply_theme(&mut self) {
        let device = self.state.snapshot().and_then(|snapshot| snapshot.device());
        let key = ThemeKey {
            chosen: wanted_theme(&self.state).map(str::to_owned),
            source: device.unwrap_or_else(|| self.state.source.clone()),
            ground: self.ground,
        };
        if key == self.theme_of {
            return;
        }
        match self.themes.theme(key.chosen.as_deref(), &key.source, key.ground) {
            Ok(theme) => self.appearance.theme = theme,
            Err(error) => self.state.log_message(Severity::Error, error),
        }
        self.theme_of = key;
        self.stale = true;
    }

    /// The first exit code wins.
    pub fn end(&mut self, exit: Exit) {
        self.exit.get_or_insert(exit);
    }

    /// Releases what the session opened.
    pub fn shut_down(&mut self) {
        self.threads.shut_down();
    }

    /// Message about changes that stay pending after the session; the alternate screen hides what the console showed
    /// of them.
    pub fn parting_message(&self) -> Option<String> {
        let ours = matches!(self.state.writing, WriteAccess::Asked | WriteAccess::Simulated);
        self.state.known.changes.leave_warning().filter(|_| ours && self.exit != Some(Exit::Hangup))
    }

    pub fn is_writing(&self) -> bool {
        self.threads.unwritten_files().next().is_some()
    }

    /// Cancels plans that are still being written after the time to wait, and lists them as unwritten.
    pub fn cancel_plans(&mut self) {
        let late: Vec<_> = self.threads.unwritten_files().map(|(task, to)| (task, to.to_owned())).collect();
        for (task, to) in late {
            self.threads.cancel(task);
            self.unwritten.push(unwritten_message(&to, "writing took too long"));
        }
    }

    /// Shows a frame if the state changed and the terminal writer is ready for one.
    pub fn show(&mut self) -> io::Result<()> {
        if !self.stale || !self.screen.is_ready() || self.hold_time().is_some() {
            return Ok(());
        }
        self.stale = false;
        fault_injection::panic_if_injected("draw");
        let (frame, targets) = self.frame();
        self.targets = targets;
        self.screen.show(frame, self.appearance.theme.blank())?;
        match self.screen.take_cast_end() {
            Some(why) => self.handle(SessionInput::Message(why)),
            None => Ok(()),
        }
    }

    /// The frame of the state, and what of it can be clicked.
    fn frame(&self) -> (Buffer, ClickTargets) {
        let size = self.state.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        let targets = draw_with_targets(&self.state, &self.appearance, &mut buffer);
        (buffer, targets)
    }

    /// Writes the screen as a picture.
    fn save_picture(&self, to: PathBuf) {
        let text = self.appearance.theme.style(Role::Text).fg.unwrap_or_default();
        let title = format!("fabdeck: {}", self.state.source);
        let picture = screen_svg(&self.frame().0, PictureGround::for_text(text), &title);
        self.threads.write_file(to, picture.into_bytes(), "the picture", "give :svg another name");
    }

    /// Begins to record what the terminal gets.
    fn begin_cast(&mut self, to: &Path) -> io::Result<()> {
        let title = format!("fabdeck: {}", self.state.source);
        let file = to.display();
        if self.screen.is_cast() {
            let text = "the terminal is recorded already; :cast ends that";
            return self.handle(SessionInput::Message(text.to_owned()));
        }
        let text = match ScreenCast::create(to, self.state.size, &title) {
            Ok(cast) => {
                self.screen.begin_cast(cast);
                format!("the terminal is recorded to {file}; :cast ends that")
            }
            Err(error) => format!("nothing is recorded to {file}: {error}"),
        };
        self.handle(SessionInput::Message(text))
    }

    fn end_cast(&mut self) -> io::Result<()> {
        let text = match self.screen.end_cast() {
            Some(cast) => format!("the recording of the terminal is in {}", cast.path().display()),
            None => "the terminal is not recorded: give :cast a file that does not exist yet".to_owned(),
        };
        self.handle(SessionInput::Message(text))
    }

    /// Takes the terminal back after the shell, or after another program changed its modes; does nothing while the
    /// shell has it.
    pub fn resume(&mut self) -> io::Result<()> {
        self.away = !is_in_foreground();
        if self.away {
            return Ok(());
        }
        self.screen.enter()?;
        self.handle(SessionInput::Resized(TerminalScreen::size()))?;
        self.handle(SessionInput::Resumed)
    }

    /// Returns the terminal to the shell and stops the process until SIGCONT. The event loop handles that signal, and
    /// any that ends the session.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        self.away = true;
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        Ok(())
    }

    /// Stops the process again if SIGCONT arrived while the shell still has the terminal.
    pub fn stay_suspended(&mut self) -> io::Result<()> {
        if is_in_foreground() { self.resume() } else { self.suspend() }
    }

    fn run_effects(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Begin { task, job } => self.threads.begin(task, job),
                Effect::Cancel(task) => self.threads.cancel(task),
                Effect::Enter(entry) => self.threads.record_entry(entry),
                Effect::Copy(text) => self.screen.copy_to_clipboard(&text)?,
                Effect::Log(messages) => messages.iter().for_each(log_message),
                Effect::SavePicture(to) => self.save_picture(to),
                Effect::BeginCast(to) => self.begin_cast(&to)?,
                Effect::EndCast => self.end_cast()?,
                Effect::Redraw => self.screen.invalidate(),
                Effect::Suspend => self.suspend()?,
                Effect::Leave => self.end(Exit::Done),
                Effect::Interrupt => self.end(Exit::Interrupted),
            }
        }
        Ok(())
    }
}

fn log_message(message: &LogMessage) {
    match message.severity {
        Severity::Error => tracing::error!(text = message.text, "console"),
        Severity::Warning => tracing::warn!(text = message.text, "console"),
        Severity::Info => tracing::info!(text = message.text, "console"),
    }
}

fn unwritten_message(to: &Path, why: &str) -> String {
    format!("FD-9002: nothing was written to {}: {why}", to.display())
}
