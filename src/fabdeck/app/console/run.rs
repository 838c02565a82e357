//! The one loop of a session: keys, words of threads, signals, time. Everything that waits is taken in before a frame
//! is drawn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::desk::Desk;
use super::inputs::{inputs, watch_for_the_end};
use super::line::last_words;
use super::record::Record;
use super::terminal::restore;
use super::threads::Word;
use super::wardrobe::Wardrobe;
use crate::console::Appearance;
use crate::script::{Exit, Failure, Machine, Opening};
use crate::session::interactive::{Happening, Keymap};

/// How often time that passes is taken in while something is under way.
const TICK: Duration = Duration::from_millis(500);
/// How long somebody who is woken while the shell has the terminal looks around for a signal before he sleeps on.
const AWAY: Duration = Duration::from_millis(100);
/// How long a plan may take into its file when somebody leaves.
const FAREWELL: Duration = Duration::from_secs(2);

/// Runs a session until somebody leaves it.
pub fn run(machine: Machine, opening: Opening, no_color: bool, utf8: bool) -> Result<Exit, Failure> {
    let refused = |text: String| Failure::new(Exit::BadInput, text);
    let keymap = Keymap::with(&opening.keys).map_err(|error| refused(error.to_string()))?;
    let wardrobe = Wardrobe::new(&opening, no_color);
    let appearance = wardrobe.appearance(&opening, utf8).map_err(refused)?;
    let record = opening.record_events.as_deref().map(Record::create).transpose();
    let record = record.map_err(|text| Failure::new(Exit::Failed, text))?;
    let failed =
        |error: io::Error| Failure::new(Exit::Failed, format!("FD-9001: the terminal failed: {error}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
    let ended = runtime
        .block_on(session(machine, opening, keymap, (wardrobe, appearance), record))
        .map_err(failed)?;
    match ended.unwritten.is_empty() {
        true => Ok(ended.exit),
        false => {
            let exit = if ended.exit == Exit::Done { Exit::Failed } else { ended.exit };
            Err(Failure::new(exit, ended.unwritten.join("; ")))
        }
    }
}

/// How a session ended.
struct Ended {
    exit: Exit,
    /// Files that were not written as they should have been, and why.
    unwritten: Vec<String>,
}

/// Signals that end or interrupt a session.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    go_on: Signal,
    /// Keys are typed that are for the shell. Nobody listens, but caught it does not stop the process, with a signal to
    /// end it perhaps not heard yet.
    _not_for_us: Signal,
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
            _not_for_us: raw(rustix::process::Signal::TTIN.as_raw())?,
        })
    }
}

async fn session(
    machine: Machine,
    opening: Opening,
    keymap: Keymap,
    looks: (Wardrobe, Appearance),
    record: Option<Record>,
) -> io::Result<Ended> {
    let mut signals = Signals::catch()?;
    let (to_words, mut words) = unbounded_channel();
    watch_for_the_end(to_words.clone());
    // What became of a simulator of this process is there at the next look.
    let machine = Arc::new(machine.with_simulators_kept());
    let mut desk = Desk::open(machine, opening, keymap, looks, to_words)?;
    if let Some(record) = record {
        desk.record(record);
    }
    let mut inputs = inputs();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let busy = !desk.state.tasks.running().is_empty();
        let rests = desk.rests();
        tokio::select! {
            // What ends a session comes before what goes on with it.
            biased;
            _ = signals.interrupt.recv() => desk.end(Exit::Interrupted),
            _ = signals.terminate.recv() => desk.end(Exit::Terminated),
            _ = signals.hangup.recv() => desk.end(Exit::Hangup),
            _ = signals.stop.recv() => desk.suspend()?,
            _ = signals.go_on.recv() => desk.resume()?,
            Some(word) = words.recv() => desk.hear(word)?,
            input = inputs.recv() => match input {
                Some(what) => desk.happen(what)?,
                // Nobody can type any more.
                None => desk.end(Exit::Hangup),
            },
            _ = ticks.tick(), if busy => desk.happen(Happening::Tick)?,
            () = tokio::time::sleep(rests.unwrap_or_default()), if rests.is_some() && !desk.away => {
                desk.happen(Happening::Tick)?;
            }
            () = tokio::time::sleep(AWAY), if desk.away => desk.still_away()?,
        }
        drain(&mut desk, &mut inputs, &mut words)?;
        if let Some(exit) = desk.exit {
            restore();
            farewell(&mut desk, &mut words).await?;
            desk.leave();
            desk.parting().into_iter().for_each(|words| last_words(format!("fabdeck: {words}\n")));
            return Ok(Ended { exit, unwritten: std::mem::take(&mut desk.unwritten) });
        }
        desk.show()?;
    }
}

/// Waits for plans that are on their way into a file: who asks for one and leaves wants it.
async fn farewell(desk: &mut Desk, words: &mut UnboundedReceiver<Word>) -> io::Result<()> {
    let deadline = tokio::time::Instant::now() + FAREWELL;
    while desk.is_writing() {
        match tokio::time::timeout_at(deadline, words.recv()).await {
            // Whether the line took the last frame does not matter any more.
            Ok(Some(Word::Sent(_))) => {}
            Ok(Some(word)) => desk.hear(word)?,
            Ok(None) | Err(_) => {
                desk.let_plans_go();
                break;
            }
        }
    }
    Ok(())
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
