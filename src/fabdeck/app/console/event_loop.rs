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
    system: LocalSystemAccess,
    opening: ConsoleOptions,
    no_color: bool,
    utf8: bool,
) -> Result<Exit, Failure> {
    let refused = |text: String| Failure::new(Exit::BadInput, text);
    let keymap = Keymap::with_overrides(&opening.keys).map_err(|error| refused(error.to_string()))?;
    let themes = Themes::new(&opening, no_color);
    let appearance = themes.appearance(&opening, utf8).map_err(refused)?;
    let record = opening.record_events.as_deref().map(SessionRecorder::create).transpose();
    let record = record.map_err(|text| Failure::new(Exit::Failed, text))?;
    let failed = |what: &str| Failure::new(Exit::Failed, format!("FD-9001: {what}"));
    let no_runtime = |error: io::Error| {
        failed(&format!("the console cannot start: {error}; check the limit of open files (ulimit -n)"))
    };
    let lost_terminal = |error: io::Error| {
        failed(&format!("the terminal failed: {error}; run 'reset', then start the console again"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(no_runtime)?;
    let ended = runtime
        .block_on(run_session(system, opening, keymap, themes, appearance, record))
        .map_err(lost_terminal)?;
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
    system: LocalSystemAccess,
    opening: ConsoleOptions,
    keymap: Keymap,
    themes: Themes,
    appearance: Appearance,
    record: Option<SessionRecorder>,
) -> io::Result<SessionEnd> {
    let mut signals = Signals::catch()?;
    let (to_words, mut words) = unbounded_channel();
    watch_for_hangup(to_words.clone());
    let to_answers = to_words.clone();
    // Simulators of this process keep their state between two readings.
    let system = Arc::new(system.with_persistent_simulators());
    let mut app = App::open(system, opening, keymap, themes, appearance, to_words)?;
    if let Some(record) = record {
        app.record(record);
    }
    let mut inputs = spawn_input_thread(to_answers);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let busy = !app.state.tasks.running_tasks().is_empty();
        let rests = app.idle_time();
        tokio::select! {
            // What ends the session is handled before what continues it.
            biased;
            _ = signals.interrupt.recv() => app.end(Exit::Interrupted),
            _ = signals.terminate.recv() => app.end(Exit::Terminated),
            _ = signals.hangup.recv() => app.end(Exit::Hangup),
            _ = signals.stop.recv() => app.suspend()?,
            _ = signals.go_on.recv() => app.resume()?,
            Some(word) = words.recv() => app.receive(word)?,
            input = inputs.recv() => match input {
                Some(what) => app.handle(what)?,
                // The terminal is closed, so no key can come.
                None => app.end(Exit::Hangup),
            },
            _ = ticks.tick(), if busy => app.handle(SessionInput::Tick)?,
            () = tokio::time::sleep(rests.unwrap_or_default()), if rests.is_some() && !app.away => {
                app.handle(SessionInput::Tick)?;
            }
            () = tokio::time::sleep(SUSPENDED_POLL_INTERVAL), if app.away => app.stay_suspended()?,
        }
        drain(&mut app, &mut inputs, &mut words)?;
        if let Some(exit) = app.exit {
            restore();
            wait_for_plans(&mut app, &mut words).await?;
            app.shut_down();
            app.parting_message()
                .into_iter()
                .for_each(|words| write_after_exit(format!("fabdeck: {words}\n")));
            return Ok(SessionEnd { exit, unwritten: std::mem::take(&mut app.unwritten) });
        }
        app.show()?;
    }
}

/// Waits for plans that are being written, because an operator who requests a plan and quits still wants the file.
async fn wait_for_plans(app: &mut App, words: &mut UnboundedReceiver<WorkerMessage>) -> io::Result<()> {
    let deadline = tokio::time::Instant::now() + PLAN_WRITE_TIMEOUT;
    while app.is_writing() {
        match tokio::time::timeout_at(deadline, words.recv()).await {
            // Whether the terminal took the last frame no longer matters.
            Ok(Some(WorkerMessage::Sent(_))) => {}
            Ok(Some(word)) => app.receive(word)?,
            Ok(None) | Err(_) => {
                app.cancel_plans();
                break;
            }
        }
    }
    Ok(())
}

/// Handles all waiting events, so that a held key or a storm of resizes costs one frame.
fn drain(
    app: &mut App,
    inputs: &mut UnboundedReceiver<SessionInput>,
    words: &mut UnboundedReceiver<WorkerMessage>,
) -> io::Result<()> {
    while app.exit.is_none() {
        match (inputs.try_recv(), words.try_recv()) {
            (Err(_), Err(_)) => break,
            (input, word) => {
                if let Ok(what) = input {
                    app.handle(what)?;
                }
                if let Ok(word) = word {
                    app.receive(word)?;
                }
            }
        }
    }
    Ok(())
}
