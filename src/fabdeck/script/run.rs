//! Runs a command line: from arguments to an exit code.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::args::GlobalArgs;
use super::column_fit::{DEFAULT_WIDTH, TableLayout};
use super::command_line::{command_line, parse, print_refusal};
use super::config::ConfigFile;
use super::console_options::resolve_console_options;
use super::context::{Context, resolve_options};
use super::option_refusals::refuse_options;
use super::output::Output;
use super::paint::Paint;
use super::terminal_info::{Color, TerminalInfo};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::console::model::console_options::ConsoleOptions;
use crate::operations::changes::change_store;
use crate::system::access::SystemAccess;
use crate::system::thread_priority::lower_thread_priority;

/// Width of help that goes to a file or a pipe.
const HELP_WIDTH: usize = 100;

/// Outcome of a command line.
#[derive(Debug)]
pub enum CliResult {
    Exit(Exit),
    /// The console starts, because there is a terminal and no command.
    Console(Box<ConsoleOptions>),
}

/// Runs one command line, whose first argument is the program's name.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    outside: &dyn SystemAccess,
    terminal: &TerminalInfo,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> CliResult {
    let line = command_line();
    // Help for a file or a pipe has the same width everywhere.
    let line = if terminal.stdout { line } else { line.term_width(HELP_WIDTH) };
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = match parse(&line, &args) {
        Ok(parsed) => parsed,
        Err(refused) => return CliResult::Exit(print_refusal(&refused, &args, terminal, out, err)),
    };
    let (globals, entry) = (&parsed.globals, parsed.entry);
    let mut output = open_output(globals, terminal, out, err);
    if globals.verbose && !terminal.log.is_empty() {
        output.print_message(&terminal.log);
    }
    let is_console = !parsed.names_command() && terminal.console && !globals.json;
    let (config, prepared) = match prepare(&mut output, outside, globals, (terminal, is_console)) {
        Ok(config) => (config, Ok(())),
        Err(failure) => (ConfigFile::default(), Err(failure)),
    };
    let options = resolve_options(globals, &config);
    let mut context = Context {
        globals,
        command_line: &line,
        config,
        outside,
        options: &options,
        output,
        asks: terminal.stdin && terminal.stderr,
        stop: None,
        partial: false,
    };
    let mut takeover_messages = Vec::new();
    if prepared.is_ok() && !entry.resumes_changes {
        change_store::resume_abandoned(context.env(), &mut |line| takeover_messages.push(line.to_owned()));
    }
    let prepared = match prepared {
        // The console shows these messages itself, because its screen hides what was printed before.
        Ok(()) if is_console => match resolve_console_options(&context, takeover_messages.clone()) {
            Ok(options) => return CliResult::Console(Box::new(options)),
            Err(failure) => Err(failure),
        },
        Ok(()) => refuse_options(entry, &parsed.matches, globals),
        Err(failure) => Err(failure),
    };
    takeover_messages.iter().for_each(|line| context.output.print_message(line));
    let ended = prepared.and_then(|()| entry.run(&mut context, &parsed.matches));
    let flushed = context.output.flush().map_err(Failure::from);
    CliResult::Exit(match ended.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit,
        Err(Failure { exit, message, further }) => {
            for message in message.into_iter().chain(further) {
                context.output.print_message(&format!("error: {message}"));
            }
            exit
        }
    })
}

fn open_output<'w>(
    globals: &GlobalArgs,
    terminal: &TerminalInfo,
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
) -> Output<'w> {
    Output {
        out,
        err,
        paint: Paint::default(),
        page: TableLayout::of(terminal),
        margin: terminal.stderr.then(|| terminal.columns.unwrap_or(DEFAULT_WIDTH)),
        json: globals.json,
        verbose: globals.verbose,
        progress: terminal.stderr,
    }
}

/// Reads the configuration and prepares the output.
fn prepare(
    output: &mut Output<'_>,
    outside: &dyn SystemAccess,
    globals: &GlobalArgs,
    (terminal, is_console): (&TerminalInfo, bool),
) -> Result<ConfigFile, Failure> {
    start_thread_pool(globals.threads, is_console)?;
    let config = ConfigFile::load(globals.config.as_deref(), outside.config_file().as_deref())?;
    let color: Option<Color> = globals.color.or(config.color);
    output.paint = Paint::new(color, terminal.stdout && !terminal.no_color);
    let keys = globals.mkey_file.as_ref().or(config.mkey_file.as_ref());
    if let Some(warning) = keys.and_then(|file| key_file_warning(file)) {
        output.print_message(&warning);
    }
    Ok(config)
}

/// Warning about a file of M_Keys that other users can read. A missing file is reported later, by its reader.
fn key_file_warning(file: &Path) -> Option<String> {
    let mode = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?.permissions().mode();
    let name = file.display();
    (mode & 0o077 != 0).then(|| {
        format!(
            "FN-709: {name}: other users can read the file of M_Keys (mode {:03o}); run chmod 600 {name}",
            mode & 0o777
        )
    })
}

/// Sets the size of the thread pool, and lets the console's screen go before it. An existing pool stays, because no answer
/// depends on either.
fn start_thread_pool(threads: Option<usize>, is_console: bool) -> Result<(), Failure> {
    if threads.is_none() && !is_console {
        return Ok(());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    let pool = if is_console { pool.start_handler(|_| lower_thread_priority()) } else { pool };
    let built = pool.build_global();
    let refused = built.err().filter(|error| error.source().is_some());
    refused.map_or(Ok(()), |error| {
        let what = match threads {
            Some(threads) => format!("FD-7204: {threads} threads cannot be started: {error}; use fewer"),
            None => format!("FD-7204: no threads can be started: {error}; try --threads 1"),
        };
        Err(Failure::new(Exit::Failed, what))
    })
}
