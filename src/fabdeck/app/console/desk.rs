//! The session with its screen: runs the effects and shows the frames.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::mpsc::UnboundedSender;

use super::fault;
use super::record::Record;
use super::terminal::{Screen, in_foreground, restore};
use super::threads::{Threads, Word};
use super::wardrobe::Wardrobe;
use crate::console::{Appearance, draw};
use crate::script::{Exit, Machine, Opening};
use crate::session::interactive::{
    Beginning, Effect, Event, Happening, JobsSeen, Keymap, Message, Outcome, Severity, State, Writing,
    update, wakes_ms,
};

pub struct Desk {
    pub state: State,
    screen: Screen,
    threads: Threads,
    wardrobe: Wardrobe,
    appearance: Appearance,
    /// Adapter for which the theme was chosen, once it is known.
    dressed_for: Option<String>,
    begun: Instant,
    /// Whether something changed since the last frame.
    stale: bool,
    /// Whether the shell has the terminal.
    pub away: bool,
    /// File that receives the events of the session, where `--record-events` asks for it.
    record: Option<Record>,
    /// Files that were not written completely, and why.
    pub unwritten: Vec<String>,
    /// Exit code, once the session is about to end.
    pub exit: Option<Exit>,
}

impl Desk {
    pub fn open(
        machine: Arc<Machine>,
        opening: Opening,
        keymap: Keymap,
        (wardrobe, appearance): (Wardrobe, Appearance),
        words: UnboundedSender<Word>,
    ) -> io::Result<Self> {
        let screen = Screen::take(words.clone())?;
        let (mut state, effects) = State::open(opening.source.clone(), keymap, Screen::size());
        state.options.clone_from(&opening.options);
        state.known.watch.settings.clone_from(&opening.watch);
        state.request = std::mem::take(&mut state.request).with_lanes(None, opening.supposed_lanes);
        state.writing.clone_from(&opening.writing);
        state.known.jobs = JobsSeen::begun(opening.jobs.clone());
        let named = opening.named;
        for line in &opening.told {
            // The line arrives once the session runs.
            let _ = words.send(Word::Happened(Happening::Told(line.clone())));
        }
        let threads = Threads::new(machine, Arc::new(opening), words);
        let mut desk = Self {
            state,
            screen,
            threads,
            wardrobe,
            appearance,
            dressed_for: None,
            begun: Instant::now(),
            stale: true,
            away: false,
            record: None,
            unwritten: Vec::new(),
            exit: None,
        };
        // The first frame is shown before anything is read.
        desk.show()?;
        desk.carry_out(effects)?;
        if !named {
            desk.threads.look_for_adapters();
        }
        Ok(desk)
    }

    /// Starts the record of the session's events, from its first state on.
    pub fn record(&mut self, mut record: Record) {
        self.unwritten.extend(record.begin(&Beginning::of(&self.state)));
        self.record = Some(record);
    }

    pub fn happen(&mut self, what: Happening) -> io::Result<()> {
        let at_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let event = Event { at_ms, what };
        let remark = self.record.as_mut().and_then(|record| record.add(&event));
        self.unwritten.extend(remark);
        let effects = update(&mut self.state, event);
        self.stale = true;
        self.carry_out(effects)
    }

    pub fn hear(&mut self, word: Word) -> io::Result<()> {
        match word {
            Word::Happened(happening) => self.work(happening),
            Word::Sent(Ok(())) => {
                self.screen.sent();
                Ok(())
            }
            // The other end of the terminal is closed.
            Word::Sent(Err(error)) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                self.end(Exit::Hangup);
                Ok(())
            }
            Word::Sent(Err(error)) => Err(error),
            Word::HungUp => {
                self.end(Exit::Hangup);
                Ok(())
            }
            Word::Panicked => {
                self.end(Exit::Bug);
                Ok(())
            }
        }
    }

    /// Time until the session has to act by itself, without an event from outside.
    pub fn rests(&self) -> Option<Duration> {
        let at = Duration::from_millis(wakes_ms(&self.state)?);
        Some(at.saturating_sub(self.begun.elapsed()))
    }

    /// Handles a message of a background task.
    fn work(&mut self, happening: Happening) -> io::Result<()> {
        if let Happening::Finished { task, outcome } = &happening {
            self.threads.ended(*task);
            // The result of a cancelled task is not used.
            if let Outcome::Looked(Ok(look)) = outcome
                && self.state.tasks.get(*task).is_some()
            {
                self.threads.looked(*task, look);
            }
            if let Outcome::Written { to, result: Err(error) } | Outcome::Saved { to, result: Err(error) } =
                outcome
                && self.exit.is_some()
            {
                self.unwritten.push(unwritten(to, error));
            }
        }
        let may_tell_device = matches!(happening, Happening::Sighted { .. } | Happening::Finished { .. });
        self.happen(happening)?;
        if may_tell_device {
            self.dress();
        }
        Ok(())
    }

    /// The adapter behind a live fabric is known only with its snapshot; a theme may be configured for that adapter.
    fn dress(&mut self) {
        let device = self.state.look().and_then(|look| look.device());
        let Some(device) = device.filter(|device| self.dressed_for.as_ref() != Some(device)) else { return };
        match self.wardrobe.theme(&device) {
            Ok(theme) => self.appearance.theme = theme,
            Err(error) => self.state.say(Severity::Error, error),
        }
        self.dressed_for = Some(device);
        self.stale = true;
    }

    /// The first exit code wins.
    pub fn end(&mut self, exit: Exit) {
        self.exit.get_or_insert(exit);
    }

    /// Releases what the session opened.
    pub fn leave(&mut self) {
        self.threads.leave();
    }

    /// Message about changes that stay pending after the session; the alternate screen hides what the console showed
    /// of them.
    pub fn parting(&self) -> Option<String> {
        let ours = matches!(self.state.writing, Writing::Asked | Writing::Simulated);
        self.state.known.changes.parting().filter(|_| ours && self.exit != Some(Exit::Hangup))
    }

    pub fn is_writing(&self) -> bool {
        self.threads.plans().next().is_some()
    }

    /// Cancels plans that are still being written after the time to wait, and lists them as unwritten.
    pub fn let_plans_go(&mut self) {
        let late: Vec<_> = self.threads.plans().map(|(task, to)| (task, to.to_owned())).collect();
        for (task, to) in late {
            self.threads.cancel(task);
            self.unwritten.push(unwritten(&to, "it took too long"));
        }
    }

    /// Shows a frame if the state changed and the terminal writer is ready for one.
    pub fn show(&mut self) -> io::Result<()> {
        if !self.stale || !self.screen.is_ready() {
            return Ok(());
        }
        self.stale = false;
        fault::panics("draw");
        let size = self.state.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        draw(&self.state, &self.appearance, &mut buffer);
        self.screen.show(buffer, self.appearance.theme.blank())
    }

    /// Takes the terminal back after the shell, or after another program changed its modes; does nothing while the
    /// shell has it.
    pub fn resume(&mut self) -> io::Result<()> {
        self.away = !in_foreground();
        if self.away {
            return Ok(());
        }
        self.screen.enter()?;
        self.happen(Happening::Resized(Screen::size()))?;
        self.happen(Happening::Resumed)
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
    pub fn still_away(&mut self) -> io::Result<()> {
        if in_foreground() { self.resume() } else { self.suspend() }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Begin { task, job } => self.threads.begin(task, job),
                Effect::Cancel(task) => self.threads.cancel(task),
                Effect::Enter(entry) => self.threads.enter(entry),
                Effect::Copy(text) => self.screen.copy(&text)?,
                Effect::Log(said) => said.iter().for_each(logged),
                Effect::Redraw => self.screen.forget(),
                Effect::Suspend => self.suspend()?,
                Effect::Leave => self.end(Exit::Done),
                Effect::Interrupt => self.end(Exit::Interrupted),
            }
        }
        Ok(())
    }
}

fn logged(message: &Message) {
    match message.severity {
        Severity::Error => tracing::error!(said = message.text, "console"),
        Severity::Warning => tracing::warn!(said = message.text, "console"),
        Severity::Said => tracing::info!(said = message.text, "console"),
    }
}

fn unwritten(to: &Path, why: &str) -> String {
    format!("FD-9002: nothing was written to {}: {why}", to.display())
}
