//! The one loop of a session: keys, words of threads, signals, time. Everything that waits is taken in before a frame
//! is drawn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::desk::Desk;
use super::threads::Word;
use super::wardrobe::Wardrobe;
use crate::console::{Appearance, happening};
use crate::script::{Exit, Failure, Machine, Opening};
use crate::session::interactive::{Happening, Keymap};

/// How often time that passes is taken in while something is under way.
const TICK: Duration = Duration::from_millis(500);

/// Runs a session until somebody leaves it.
pub fn run(machine: Machine, opening: Opening, no_color: bool, utf8: bool) -> Result<Exit, Failure> {
    let refused = |text: String| Failure::new(Exit::BadInput, text);
    let keymap = Keymap::with(&opening.keys).map_err(|error| refused(error.to_string()))?;
    let wardrobe = Wardrobe::new(&opening, no_color);
    let appearance = wardrobe.appearance(&opening, utf8).map_err(refused)?;
    let failed =
        |error: io::Error| Failure::new(Exit::Failed, format!("FD-9001: the terminal failed: {error}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
    runtime.block_on(session(machine, opening, keymap, (wardrobe, appearance))).map_err(failed)
}

/// Signals that end or interrupt a session.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    go_on: Signal,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        let raw = |number: i32| signal(SignalKind::from_raw(number));
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            stop: raw(rustix::process::Signal::TSTP.as_raw())?,
            go_on: raw(rustix::process::Signal::CONT.as_raw())?,
        })
    }
}

async fn session(
    machine: Machine,
    opening: Opening,
    keymap: Keymap,
    looks: (Wardrobe, Appearance),
) -> io::Result<Exit> {
    let mut signals = Signals::catch()?;
    let (to_words, mut words) = unbounded_channel();
    let mut desk = Desk::open(Arc::new(machine), opening, keymap, looks, to_words)?;
    let mut inputs = inputs();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let busy = !desk.state.tasks.running().is_empty();
        tokio::select! {
            input = inputs.recv() => match input {
                Some(what) => desk.happen(what)?,
                // Nobody can type any more: the terminal is gone.
                None => desk.exit = Some(Exit::Hangup),
            },
            Some(word) = words.recv() => desk.hear(word)?,
            _ = signals.interrupt.recv() => desk.exit = Some(Exit::Interrupted),
            _ = signals.terminate.recv() => desk.exit = Some(Exit::Terminated),
            _ = signals.hangup.recv() => desk.exit = Some(Exit::Hangup),
            _ = signals.stop.recv() => desk.suspend()?,
            _ = signals.go_on.recv() => desk.resume()?,
            _ = ticks.tick(), if busy => desk.happen(Happening::Tick)?,
        }
        drain(&mut desk, &mut inputs, &mut words)?;
        if let Some(exit) = desk.exit {
            return Ok(exit);
        }
        desk.show()?;
    }
}

/// Takes in what waits, so that a held key or a storm of resizes costs one frame.
fn drain(
    desk: &mut Desk,
    inputs: &mut UnboundedReceiver<Happening>,
    words: &mut UnboundedReceiver<Word>,
) -> io::Result<()> {
    while desk.exit.is_none() {
        match (inputs.try_recv(), words.try_recv()) {
            (Err(_), Err(_)) => break,
            (input, word) => {
                if let Ok(what) = input {
                    desk.happen(what)?;
                }
                if let Ok(word) = word {
                    desk.hear(word)?;
                }
            }
        }
    }
    Ok(())
}

/// Keys from a thread of their own: reading a terminal blocks. The channel closes when the terminal is gone.
fn inputs() -> UnboundedReceiver<Happening> {
    let (to_loop, inputs) = unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = crossterm::event::read() {
            if let Some(what) = happening(event)
                && to_loop.send(what).is_err()
            {
                break;
            }
        }
    });
    inputs
}
