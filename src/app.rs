//! The process: arguments, streams, the log, signals and the exit code.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

mod bug;
mod log;
mod screen;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::script::{self, Exit, Machine, Stop, Terminal};

/// Runs the program from the arguments of the process.
pub fn run() -> ExitCode {
    panic::set_hook(Box::new(bug::report));
    let log = log::open();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), arguments = ?std::env::args_os().skip(1).collect::<Vec<_>>(), "started");
    let stop = Stop::default();
    let machine = Machine::new(stop.clone());
    let exit = supervise(&stop, move || command(&machine, log));
    tracing::info!(code = exit.code(), name = exit.name(), "ended");
    // The worker may still be in a blocking read when a signal ended us; nothing waits for it.
    ExitCode::from(exit)
}

/// How long a command that heeds the wish to stop may take to put things away.
const FAREWELL: Duration = Duration::from_secs(2);

/// The one loop of the process: whatever comes first, the worker's end or a signal. Its exit code stands then; a worker
/// that has something to put away is given the time for it.
fn supervise(stop: &Stop, work: impl FnOnce() -> Exit + Send + 'static) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        // Without a runtime there are no signals to catch; their default is to end the process.
        Err(_) => return panic::catch_unwind(panic::AssertUnwindSafe(work)).unwrap_or(Exit::Bug),
    };
    let (at_end, ended) = mpsc::channel::<()>();
    let exit = runtime.block_on(async {
        let (sender, done) = oneshot::channel();
        // A panic drops the senders, which is how the loop learns of a bug.
        std::thread::spawn(move || {
            let _at_end = at_end;
            sender.send(work())
        });
        tokio::select! {
            exit = done => exit.unwrap_or(Exit::Bug),
            exit = caught(SignalKind::hangup(), Exit::Hangup) => exit,
            exit = caught(SignalKind::interrupt(), Exit::Interrupted) => exit,
            exit = caught(SignalKind::terminate(), Exit::Terminated) => exit,
        }
    });
    if matches!(exit, Exit::Hangup | Exit::Interrupted | Exit::Terminated) && io::stderr().is_terminal() {
        // Whatever line of progress stands there goes, and with it the ^C that the terminal put behind it.
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
    stop.ask();
    if stop.is_heeded() {
        // Its end closes the channel; nothing is ever sent.
        let _ = ended.recv_timeout(FAREWELL);
    }
    exit
}

/// Ends when the signal comes; never, when it cannot be caught.
async fn caught(kind: SignalKind, exit: Exit) -> Exit {
    let caught = (!is_ignored(ignored_signals(), kind)).then(|| signal(kind).ok()).flatten();
    match caught {
        Some(mut signals) => {
            signals.recv().await;
            exit
        }
        None => std::future::pending().await,
    }
}

fn command(machine: &Machine, log: String) -> Exit {
    let terminal = Terminal {
        stdout: io::stdout().is_terminal(),
        stderr: io::stderr().is_terminal(),
        no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        columns: if io::stdout().is_terminal() { screen::columns() } else { None },
        utf8: screen::shows_unicode(),
        log,
    };
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout());
    script::run(std::env::args_os(), machine, &terminal, &mut out, &mut io::stderr())
}

/// Signals that whoever started the process wants ignored (`nohup`, a shell's background jobs); catching them would
/// take that wish away.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_ignored(mask: u64, kind: SignalKind) -> bool {
    let bit = kind.as_raw_value() - 1;
    u32::try_from(bit).is_ok_and(|bit| bit < u64::BITS && mask >> bit & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_in_the_work_ends_with_its_own_code() {
        let stop = Stop::default();
        assert_eq!(supervise(&stop, || Exit::Findings), Exit::Findings);
        assert_eq!(supervise(&stop, || panic!("a test of what a bug does")), Exit::Bug);
    }

    #[test]
    fn the_mask_of_ignored_signals_counts_from_one() {
        assert!(is_ignored(0x1, SignalKind::hangup()));
        assert!(!is_ignored(0x1, SignalKind::interrupt()));
        assert!(is_ignored(0x4002, SignalKind::terminate()));
    }
}
