//! The session with its screen: effects are carried out, frames are shown.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::mpsc::UnboundedSender;

use super::terminal::{Screen, restore};
use super::threads::{Threads, Word};
use super::wardrobe::Wardrobe;
use crate::console::{Appearance, draw};
use crate::script::{Exit, Machine, Opening};
use crate::session::interactive::{Effect, Event, Happening, Keymap, Severity, State, update};

pub struct Desk {
    pub state: State,
    screen: Screen,
    threads: Threads,
    wardrobe: Wardrobe,
    appearance: Appearance,
    /// The adapter that the theme was chosen for, once it is known.
    dressed_for: Option<String>,
    begun: Instant,
    /// Something happened since the last frame.
    stale: bool,
    /// The end, once it is decided.
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
        let screen = Screen::take()?;
        let (mut state, effects) = State::open(opening.source.clone(), keymap, Screen::size());
        state.options.clone_from(&opening.options);
        let named = opening.named;
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
            exit: None,
        };
        // The first frame stands before anything is read.
        desk.show()?;
        desk.carry_out(effects)?;
        if !named {
            desk.threads.look_for_adapters();
        }
        Ok(desk)
    }

    pub fn happen(&mut self, what: Happening) -> io::Result<()> {
        let at_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let effects = update(&mut self.state, Event { at_ms, what });
        self.stale = true;
        self.carry_out(effects)
    }

    pub fn hear(&mut self, word: Word) -> io::Result<()> {
        match word {
            Word::Progress { task, done, of } => self.happen(Happening::Progress { task, done, of }),
            Word::Sighted { task, look } => {
                self.happen(Happening::Sighted { task, look })?;
                self.dress();
                Ok(())
            }
            Word::Finished { task, outcome } => {
                self.threads.ended(task);
                self.happen(Happening::Finished { task, outcome })?;
                self.dress();
                Ok(())
            }
            Word::Told(text) => self.happen(Happening::Told(text)),
            Word::Panicked => {
                self.exit = Some(Exit::Bug);
                Ok(())
            }
        }
    }

    /// Which adapter a live fabric is seen from is known with the look; a theme may be tied to it.
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

    /// Shows what changed, if anything did.
    pub fn show(&mut self) -> io::Result<()> {
        if !self.stale {
            return Ok(());
        }
        self.stale = false;
        let size = self.state.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.width, size.height));
        draw(&self.state, &self.appearance, &mut buffer);
        self.screen.show(buffer)
    }

    /// Another program had the terminal.
    pub fn resume(&mut self) -> io::Result<()> {
        self.screen.enter()?;
        self.happen(Happening::Resized(Screen::size()))?;
        self.happen(Happening::Resumed)
    }

    /// Gives the terminal to the shell and stops until it is given back.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
        self.resume()
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Begin { task, job } => self.threads.begin(task, job),
                Effect::Cancel(task) => self.threads.cancel(task),
                Effect::Copy(text) => self.screen.copy(&text)?,
                Effect::Redraw => self.screen.forget(),
                Effect::Suspend => self.suspend()?,
                Effect::Leave => self.exit = Some(Exit::Done),
                Effect::Interrupt => self.exit = Some(Exit::Interrupted),
            }
        }
        Ok(())
    }
}
