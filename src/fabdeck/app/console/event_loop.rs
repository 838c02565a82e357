//! The event loop of a session: keys, messages of threads, signals and time. All waiting events are handled before a
//! frame is drawn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::app::App;
use super::input_thread::{spawn_input_thread, watch_for_hangup};
use super::session_recorder::SessionRecorder;
use super::terminal::restore;
use super::terminal_writer::write_after_exit;
use super::themes::Themes;
use super::workers::WorkerMessage;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::console::drawing::frame::Appearance;
use crate::console::event_loop::event::SessionInput;
use crate::console::model::console_options::ConsoleOptions;
use crate::console::model::keymap::Keymap;
use crate::system::local_access::LocalSystemAccess;

/// Interval of ticks while a task is under way.
const TICK: Duration = Duration::from_millis(500);
/// Delay before the process stops again when SIGCONT arrives while it is in the background.
const SUSPENDED_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time that plans have to reach their file after the operator quits.
const PLAN_WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a session until its end.
pub fn run_event_loop(
    machine: LocalSystemAccess,
    opening: ConsoleOptions,
    no_color: bool,
    utf8: bool,
) -> Result<Exit, Failure> {
    let refused = |text: String| Failure::new(Exit::BadInput, text);
    let keymap = Keymap::with_overrides(&opening.keys).map_err(|error| refused(error.to_string()))?;
    let wardrobe = Themes::new(&opening, no_color);
    let appearance = wardrobe.appearance(&opening, utf8).map_err(refused)?;
    let record = opening.record_events.as_deref().map(SessionRecorder::create).transpose();
    let record = record.map_err(|text| Failure::new(Exit::Failed, text))?;
    let failed =
        |error: io::Error| Failure::new(Exit::Failed, format!("FD-9001: the terminal failed: {error}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
    let ended = runtime
        .block_on(run_session(machine, opening, keymap, (wardrobe, appearance), record))
        .map_err(failed)?;
    match ended.unwritten.is_empty() {
        true => Ok(ended.exit),
        false => {
            let exit = if ended.exit == Exit::Done { Exit::Failed } else { ended.exit };
            Err(Failure::new(exit, ended.unwritten.join("; ")))
        }
    }
}

/// Result of a session.
struct SessionEnd {
    exit: Exit,
    /// Files that were not written completely, and why.
    unwritten: Vec<String>,
}

/// Signals that end or interrupt a session.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    go_on: Signal,
    /// SIGTTIN, raised by a read while the shell has the terminal. It is caught so that it cannot stop the process
    /// before a signal to end it is handled.
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

async fn run_session(
    machine: LocalSystemAccess,
    opening: ConsoleOptions,
    keymap: Keymap,
    looks: (Themes, Appearance),
    record: Option<SessionRecorder>,
) -> io::Result<SessionEnd> {
    let mut signals = Signals::catch()?;
    let (to_words, mut words) = unbounded_channel();
    watch_for_hangup(to_words.clone());
    // Simulators of this process keep their state between two readings.
    let machine = Arc::new(machine.with_persistent_simulators());
    let mut desk = App::open(machine, opening, keymap, looks, to_words)?;
    if let Some(record) = record {
        desk.record(record);
    }
    let mut inputs = spawn_input_thread();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let busy = !desk.state.tasks.running_tasks().is_empty();
        let rests = desk.idle_time();
        tokio::select! {
            // What ends the session is handled before what continues it.
            biased;
            _ = signals.interrupt.recv() => desk.end(Exit::Interrupted),
            _ = signals.terminate.recv() => desk.end(Exit::Terminated),
            _ = signals.hangup.recv() => desk.end(Exit::Hangup),
            _ = signals.stop.recv() => desk.suspend()?,
            _ = signals.go_on.recv() => desk.resume()?,
            Some(word) = words.recv() => desk.receive(word)?,
            input = inputs.recv() => match input {
                Some(what) => desk.handle(what)?,
                // The terminal is closed, so no key can come.
                None => desk.end(Exit::Hangup),
            },
            _ = ticks.tick(), if busy => desk.handle(SessionInput::Tick)?,
            () = tokio::time::sleep(rests.unwrap_or_default()), if rests.is_some() && !desk.away => {
                desk.handle(SessionInput::Tick)?;
            }
            () = tokio::time::sleep(SUSPENDED_POLL_INTERVAL), if desk.away => desk.stay_suspended()?,
        }
        drain(&mut desk, &mut inputs, &mut words)?;
        if let Some(exit) = desk.exit {
            restore();
            wait_for_plans(&mut desk, &mut words).await?;
            desk.shut_down();
            desk.parting_message()
                .into_iter()
                .for_each(|words| write_after_exit(format!("fabdeck: {words}\n")));
            return Ok(SessionEnd { exit, unwritten: std::mem::take(&mut desk.unwritten) });
        }
        desk.show()?;
    }
}

/// Waits for plans that are being written, because an operator who requests a plan and quits still wants the file.
async fn wait_for_plans(desk: &mut App, words: &mut UnboundedReceiver<WorkerMessage>) -> io::Result<()> {
    let deadline = tokio::time::Instant::now() + PLAN_WRITE_TIMEOUT;
    while desk.is_writing() {
        match tokio::time::timeout_at(deadline, words.recv()).await {
            // Whether the terminal took the last frame no longer matters.
            Ok(Some(WorkerMessage::Sent(_))) => {}
            Ok(Some(word)) => desk.receive(word)?,
            Ok(None) | Err(_) => {
                desk.cancel_plans();
                break;
            }
        }
    }
    Ok(())
}

/// Handles all waiting events, so that a held key or a storm of resizes costs one frame.
fn drain(
    desk: &mut App,
    inputs: &mut UnboundedReceiver<SessionInput>,
    words: &mut UnboundedReceiver<WorkerMessage>,
) -> io::Result<()> {
    while desk.exit.is_none() {
        match (inputs.try_recv(), words.try_recv()) {
            (Err(_), Err(_)) => break,
            (input, word) => {
                if let Ok(what) = input {
                    desk.handle(what)?;
                }
                if let Ok(word) = word {
                    desk.receive(word)?;
                }
            }
        }
    }
    Ok(())
}
