//! Runs a command line: from arguments to an exit code.

use crate::script::changes::apply;
use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::FromArgMatches;

use super::args::{CaptureAction, Cli, CliCommand, GlobalArgs, command_line};
use super::column_fit::{DEFAULT_WIDTH, TableLayout};
use super::config::ConfigFile;
use super::console_options::ConsoleOptions;
use super::context::{Context, resolve_options};
use super::output::Output;
use super::paint::Paint;
use super::terminal_info::Color;
use super::terminal_info::TerminalInfo;
use super::{
    agent, capture, changes, check, convert, generate, hotspots, identity, jobs, lanes, overview, plan,
    record, route, shell, show, simulate, sources, trace, whatif,
};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_store;
use crate::operations::plans::link_service::LinkService;
use crate::operations::preview::engine_names;
use crate::script::changes::decision_commands;
use crate::script::run_command::command;
use crate::system::access::SystemAccess;

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
    let parsed = parse(line, &args);
    let cli = match parsed {
        Ok(cli) => cli,
        Err(refused) => return CliResult::Exit(print_refusal(&refused, &args, terminal, out, err)),
    };
    let mut output = open_output(&cli.globals, terminal, out, err);
    if cli.globals.verbose && !terminal.log.is_empty() {
        output.print_message(&terminal.log);
    }
    let (config, prepared) = match prepare(&mut output, outside, &cli.globals, terminal) {
        Ok(config) => (config, Ok(())),
        Err(failure) => (ConfigFile::default(), Err(failure)),
    };
    let options = resolve_options(&cli.globals, &config);
    let mut context = Context {
        globals: &cli.globals,
        config,
        outside,
        options: &options,
        output,
        asks: terminal.stdin && terminal.stderr,
        stop: None,
        partial: false,
    };
    let console = cli.action.is_none() && terminal.console && !cli.globals.json;
    let mut takeover_messages = Vec::new();
    if prepared.is_ok() && !matches!(cli.action, Some(CliCommand::Guard(_))) {
        change_store::resume_abandoned(context.env(), &mut |line| takeover_messages.push(line.to_owned()));
    }
    let prepared = match prepared
        .and_then(|()| if console { ConsoleOptions::of(&context).map(Some) } else { Ok(None) })
    {
        // The console shows these messages itself, because its screen hides what was printed before.
        Ok(Some(options)) => {
            return CliResult::Console(Box::new(ConsoleOptions { messages: takeover_messages, ..options }));
        }
        Ok(None) => refuse_events(&cli.globals),
        Err(failure) => Err(failure),
    };
    takeover_messages.iter().for_each(|line| context.output.print_message(line));
    let ended = prepared.and_then(|()| dispatch(&mut context, cli.action.as_ref()));
    let flushed = context.output.flush().map_err(Failure::from);
    CliResult::Exit(match ended.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            if let Some(message) = message {
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
    terminal: &TerminalInfo,
) -> Result<ConfigFile, Failure> {
    globals.threads.map_or(Ok(()), set_thread_count)?;
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

/// Sets the size of the thread pool. An existing pool stays, because no answer depends on the size.
fn set_thread_count(threads: usize) -> Result<(), Failure> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let refused = built.err().filter(|error| error.source().is_some());
    refused.map_or(Ok(()), |error| {
        let what = format!("FD-7204: {threads} threads cannot be started: {error}; use fewer");
        Err(Failure::new(Exit::Failed, what))
    })
}

fn dispatch(context: &mut Context<'_, '_>, action: Option<&CliCommand>) -> Result<Exit, Failure> {
    refuse_assumption(context.globals, action)?;
    refuse_time(context.globals, action)?;
    refuse_traps(context.globals, action)?;
    match action {
        None => overview::run(context),
        Some(CliCommand::Sources { identity: false }) => sources::run(context),
        Some(CliCommand::Sources { identity: true }) => identity::run(context),
        Some(CliCommand::Show(show)) => show::run(context, show),
        Some(CliCommand::Trace(args)) => trace::run(context, args),
        Some(CliCommand::Check(args)) => check::run(context, args),
        Some(CliCommand::Hotspots(args)) => hotspots::run(context, args),
        Some(CliCommand::Lanes(args)) => lanes::run(context, args),
        Some(CliCommand::Jobs(args)) => jobs::run(context, args),
        Some(CliCommand::Whatif(args)) => whatif::run(context, args),
        Some(CliCommand::Route(args)) => route::run(context, args),
        Some(CliCommand::Plan(action)) => plan::run(context, action),
        Some(CliCommand::Disable(args)) => changes::service::run(context, args, LinkService::Disable),
        Some(CliCommand::Enable(args)) => changes::service::run(context, args, LinkService::Enable),
        Some(CliCommand::Apply(args)) => apply::apply_with_audit(context, args),
        Some(CliCommand::Run(args)) => command::run(context, args),
        Some(CliCommand::Confirm(args)) => decision_commands::confirm(context, args),
        Some(CliCommand::Extend(args)) => decision_commands::extend(context, args),
        Some(CliCommand::Rollback(args)) => decision_commands::roll_back(context, args),
        Some(CliCommand::Changes(args)) => decision_commands::changes(context, args),
        Some(CliCommand::Guard(args)) => changes::guard::run(context, args),
        Some(CliCommand::Generate(args)) => generate::run(context, args),
        Some(CliCommand::Convert(args)) => convert::run(context, args),
        Some(CliCommand::Simulate(args)) => simulate::run(context, args),
        Some(CliCommand::Record(args)) => record::run(context, args),
        Some(CliCommand::Agent(args)) => agent::run(context, args),
        Some(CliCommand::Capture(action)) => capture::run(context, action),
        Some(CliCommand::Completions { shell }) => shell::completions(context, *shell),
        Some(CliCommand::Man { dir }) => shell::man(context, dir.as_deref()),
    }
}

/// Refuses `--record-events` with a command, which has no events to record.
fn refuse_events(globals: &GlobalArgs) -> Result<(), Failure> {
    let refused = || {
        Failure::usage(
            "FD-7206: --record-events is for the console: fabdeck on a terminal, without a command",
        )
    };
    globals.record_events.as_ref().map_or(Ok(()), |_| Err(refused()))
}

/// Refuses `--traps` with a command that reads only once.
fn refuse_traps(globals: &GlobalArgs, action: Option<&CliCommand>) -> Result<(), Failure> {
    match action {
        None | Some(CliCommand::Hotspots(_) | CliCommand::Record(_)) => Ok(()),
        Some(_) if !globals.traps => Ok(()),
        Some(_) => Err(Failure::usage(
            "FD-7207: --traps is for commands that watch counters: the console, hotspots and record",
        )),
    }
}

/// Refuses `--assume` with a command that follows no forwarding tables, which would otherwise ignore it silently.
fn refuse_assumption(globals: &GlobalArgs, action: Option<&CliCommand>) -> Result<(), Failure> {
    use super::args::ShowAction;
    let Some(id) = &globals.assume else { return Ok(()) };
    engine_names::engine_named(id)?;
    match action {
        Some(CliCommand::Show(
            ShowAction::Tables { .. } | ShowAction::Users { .. } | ShowAction::Links(_) | ShowAction::Jobs(_),
        )) => Ok(()),
        Some(CliCommand::Jobs(args)) if args.action.is_none() => Ok(()),
        Some(CliCommand::Trace(_) | CliCommand::Check(_) | CliCommand::Whatif(_) | CliCommand::Route(_)) => {
            Ok(())
        }
        Some(CliCommand::Simulate(args)) if args.serve.is_none() => Ok(()),
        Some(CliCommand::Plan(_)) => Err(Failure::usage(
            "FD-7205: leave out --assume: a plan states which tables were assumed when it was made",
        )),
        _ => Err(unused_assumption_failure()),
    }
}

/// Refuses `--at` with a command that reads no capture, which would otherwise ignore it silently.
fn refuse_time(globals: &GlobalArgs, action: Option<&CliCommand>) -> Result<(), Failure> {
    let reads_capture = match action {
        None
        | Some(CliCommand::Show(_) | CliCommand::Trace(_) | CliCommand::Check(_) | CliCommand::Hotspots(_)) => {
            true
        }
        Some(CliCommand::Lanes(_) | CliCommand::Whatif(_) | CliCommand::Route(_) | CliCommand::Plan(_)) => {
            true
        }
        Some(CliCommand::Jobs(args)) => args.action.is_none(),
        Some(CliCommand::Simulate(args)) => args.serve.is_none(),
        Some(CliCommand::Sources { identity }) => *identity,
        Some(CliCommand::Convert(_) | CliCommand::Capture(CaptureAction::Note { .. })) => true,
        _ => false,
    };
    if globals.at.is_none() || reads_capture {
        return Ok(());
    }
    Err(Failure::usage(
        "FD-7207: --at selects a moment of a capture, which this command does not read; leave it out",
    ))
}

pub(super) fn unused_assumption_failure() -> Failure {
    Failure::usage(
        "FD-7203: --assume is for check, trace, whatif, route, simulate --pattern, jobs, show jobs, show tables, show users and the field efi of show links: \
         other commands do not follow forwarding tables",
    )
}

/// Parses the arguments. Every error of clap except help and version is a usage error, with code 64 instead of clap's
/// 2. An unknown command that exists as a file or folder is the source: `fabdeck x.fdcap` opens it.
fn parse(line: clap::Command, args: &[OsString]) -> Result<Cli, clap::Error> {
    let read = |args: &[OsString]| {
        let matches = line.clone().try_get_matches_from(args);
        matches.and_then(|matches| Cli::from_arg_matches(&matches))
    };
    let refused = match read(args) {
        Err(refused) if unknown_word(&refused).is_some() => refused,
        parsed => return parsed,
    };
    let is_source = |word: &OsString| {
        let named = unknown_word(&refused).is_some_and(|unknown| word.to_str() == Some(unknown));
        named && Path::new(word).exists()
    };
    let Some(at) = args.iter().skip(1).position(is_source) else { return Err(refused) };
    let mut args = args.to_vec();
    args.insert(at + 1, "--source".into());
    read(&args)
}

/// The word in the place of a command.
fn unknown_word(refused: &clap::Error) -> Option<&str> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let wanted = refused.kind() == ErrorKind::InvalidSubcommand;
    match refused.get(ContextKind::InvalidSubcommand).filter(|_| wanted) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// The command before an unknown word.
fn command_before<'a>(args: &'a [OsString], word: &str) -> Option<&'a str> {
    let line = command_line();
    let before = args.iter().skip(1).filter_map(|arg| arg.to_str()).take_while(|arg| *arg != word);
    before.filter(|arg| line.find_subcommand(arg).is_some()).last()
}

fn print_refusal<'w>(
    refused: &clap::Error,
    args: &[OsString],
    terminal: &TerminalInfo,
    out: &'w mut (dyn Write + 'w),
    err: &'w mut (dyn Write + 'w),
) -> Exit {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    let is_help = matches!(refused.kind(), DisplayHelp | DisplayVersion);
    let prefix = if is_help { "" } else { "fabdeck: " };
    let (stream, colour) = if is_help { (out, terminal.stdout) } else { (err, terminal.stderr) };
    let text = refused.render();
    let text = if colour && !terminal.no_color { text.ansi().to_string() } else { text.to_string() };
    // A closed stream is ignored.
    let _ = write!(stream, "{prefix}{text}").and_then(|()| stream.flush());
    if let Some(word) = unknown_word(refused) {
        let hint = match command_before(args, word) {
            Some(command) => {
                format!("'{command}' has no '{word}': 'fabdeck {command} --help' lists its arguments")
            }
            None => format!(
                "'{word}' is neither a command nor an existing file or folder: 'fabdeck PATH' opens a source, \
                 'fabdeck --help' lists the commands"
            ),
        };
        let _ = writeln!(stream, "\n  {hint}");
    }
    if !is_help && args.iter().any(|word| word.to_str().is_some_and(|word| word.ends_with(','))) {
        let _ = writeln!(
            stream,
            "\n  tip: write a list without blanks after its commas, or in quotes: a,b or 'a, b'"
        );
    }
    if is_help { Exit::Done } else { Exit::Usage }
}
