//! The process: arguments, streams, the log, signals and the exit code.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

mod bug;
mod console;
mod log;
mod screen;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use fabdeck_change::COMMAND_THREAD;

use crate::catalogue::exit::Exit;
use crate::console::model::console_options::ConsoleOptions;
use crate::script;
use crate::script::run::CliResult;
use crate::script::terminal_info::TerminalInfo;
use crate::system::allocator::return_large_pieces;
use crate::system::local_access::LocalSystemAccess;
use crate::system::stop_flag::StopFlag;

/// Runs the program from the arguments of the process.
pub fn run() -> ExitCode {
    return_large_pieces();
    panic::set_hook(Box::new(bug::report));
    let log = log::open_log();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), arguments = ?std::env::args_os().skip(1).collect::<Vec<_>>(), "started");
    let stop = StopFlag::default();
    let machine = LocalSystemAccess::new(stop.clone()).with_kept_refusals();
    let console_machine = machine.clone();
    let (no_color, utf8, log_text) = (no_color(), screen::shows_unicode(), log.clone());
    let exit = match supervise(&stop, move || run_command(&machine, log)) {
        CliResult::Exit(exit) => exit,
        CliResult::Console(opening) => run_console(console_machine, *opening, no_color, utf8, &log_text),
    };
    tracing::info!(code = exit.code(), name = exit.name(), "ended");
    // A worker may still block in a read when a signal ends the process; nothing waits for it.
    ExitCode::from(exit)
}

/// Runs the console, which catches signals in an event loop of its own.
fn run_console(
    machine: LocalSystemAccess,
    opening: ConsoleOptions,
    no_color: bool,
    utf8: bool,
    log: &str,
) -> Exit {
    let session =
        panic::AssertUnwindSafe(|| console::event_loop::run_event_loop(machine, opening, no_color, utf8));
    let ended = panic::catch_unwind(session).unwrap_or(Ok(Exit::Bug));
    console::terminal::restore();
    match ended {
        // The session can end regularly although one of its threads panicked.
        Ok(_) if bug::has_occurred() => {
            console::terminal_writer::write_after_exit(format!("fabdeck: {log}\n"));
            Exit::Bug
        }
        Ok(exit) => exit,
        Err(failure) => {
            let message = failure.message.unwrap_or_default();
            console::terminal_writer::write_after_exit(format!("fabdeck: error: {message}\n"));
            failure.exit
        }
    }
}

/// Time that a command with a stop handler has for its cleanup.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits for the worker's end or for a signal, whichever comes first, and returns the exit code of that. A worker
/// that handles the stop flag gets time for its cleanup.
fn supervise(stop: &StopFlag, work: impl FnOnce() -> CliResult + Send + 'static) -> CliResult {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        // Without a runtime no signal is caught; their default action ends the process.
        Err(_) => {
            return panic::catch_unwind(panic::AssertUnwindSafe(work)).unwrap_or(CliResult::Exit(Exit::Bug));
        }
    };
    let (at_end, ended) = mpsc::channel::<()>();
    let ended_how = runtime.block_on(async {
        let (sender, done) = oneshot::channel();
        // A panic drops the senders, which is how the loop notices a bug.
        let worker = std::thread::Builder::new().name(COMMAND_THREAD.to_owned());
        let started = worker.spawn(move || {
            let _at_end = at_end;
            sender.send(work())
        });
        if started.is_err() {
            return CliResult::Exit(Exit::Failed);
        }
        tokio::select! {
            ended = done => ended.unwrap_or(CliResult::Exit(Exit::Bug)),
            exit = wait_for_signal(SignalKind::hangup(), Exit::Hangup) => CliResult::Exit(exit),
            exit = wait_for_signal(SignalKind::interrupt(), Exit::Interrupted) => CliResult::Exit(exit),
            exit = wait_for_signal(SignalKind::terminate(), Exit::Terminated) => CliResult::Exit(exit),
        }
    });
    let by_signal = matches!(ended_how, CliResult::Exit(Exit::Hangup | Exit::Interrupted | Exit::Terminated));
    if by_signal && io::stderr().is_terminal() {
        // Clears the line of progress, and with it the `^C` that the terminal echoed behind it.
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
    if matches!(ended_how, CliResult::Console(_)) {
        return ended_how;
    }
    stop.request();
    if stop.has_listener() {
        // The worker's end closes the channel; nothing is ever sent over it.
        let _ = ended.recv_timeout(stop.shutdown_timeout().unwrap_or(SHUTDOWN_TIMEOUT));
    }
    ended_how
}

/// Returns when the signal arrives; never, if the signal cannot be caught.
async fn wait_for_signal(kind: SignalKind, exit: Exit) -> Exit {
    let caught = (!is_ignored(ignored_signals(), kind)).then(|| signal(kind).ok()).flatten();
    match caught {
        Some(mut signals) => {
            signals.recv().await;
            exit
        }
        None => std::future::pending().await,
    }
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn run_command(machine: &LocalSystemAccess, log: String) -> CliResult {
    let terminal = TerminalInfo {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
        stderr: io::stderr().is_terminal(),
        no_color: no_color(),
        columns: if io::stdout().is_terminal() || io::stderr().is_terminal() {
            screen::columns()
        } else {
            None
        },
        utf8: screen::shows_unicode(),
        console: io::stdin().is_terminal() && io::stdout().is_terminal(),
        log,
    };
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout());
    script::run::run(std::env::args_os(), machine, &terminal, &mut out, &mut io::stderr())
}

/// Mask of the signals that the parent process set to ignored (`nohup`, a shell's background jobs). Catching them
/// would override that.
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
        let stop = StopFlag::default();
        let exit = |ended: CliResult| match ended {
            CliResult::Exit(exit) => exit,
            CliResult::Console(_) => panic!("no console was asked for"),
        };
        assert_eq!(exit(supervise(&stop, || CliResult::Exit(Exit::Findings))), Exit::Findings);
        assert_eq!(exit(supervise(&stop, || panic!("a test of what a bug does"))), Exit::Bug);
    }

    #[test]
    fn the_mask_of_ignored_signals_counts_from_one() {
        assert!(is_ignored(0x1, SignalKind::hangup()));
        assert!(!is_ignored(0x1, SignalKind::interrupt()));
        assert!(is_ignored(0x4002, SignalKind::terminate()));
    }
}
