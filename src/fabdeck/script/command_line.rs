//! The command line: built from the command table, and parsed.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::{ArgMatches, Args, FromArgMatches};

use super::args::GlobalArgs;
use super::command_entry::CommandEntry;
use super::commands::overview::OVERVIEW;
use super::commands::{COMMANDS, find_command};
use super::terminal_info::TerminalInfo;
use crate::catalogue::exit::Exit;
use crate::console::drawing::theme::theme_names;

const AFTER_HELP: &str = "Without a command the console opens, on the fabric of --source or on sim:demo. Without a terminal the fabric is printed in numbers.";

/// A parsed command line.
#[derive(Debug)]
pub struct ParsedCommandLine {
    pub globals: GlobalArgs,
    /// The named command, otherwise `OVERVIEW`.
    pub entry: &'static CommandEntry,
    /// The arguments of the command.
    pub matches: ArgMatches,
}

impl ParsedCommandLine {
    pub fn names_command(&self) -> bool {
        self.entry.name != OVERVIEW.name
    }

    fn new(mut matches: ArgMatches) -> Result<Self, clap::Error> {
        let globals = GlobalArgs::from_arg_matches(&matches)?;
        let mut words = Vec::new();
        while let Some((word, below)) = matches.remove_subcommand() {
            words.push(word);
            matches = below;
        }
        let entry = find_command(&words.join(" ")).unwrap_or(&OVERVIEW);
        Ok(Self { globals, entry, matches })
    }
}

/// Builds the whole command line from the command table.
pub fn command_line() -> clap::Command {
    let themes = format!("Theme of the console: {}, or the name of your own", theme_names());
    // `augment_args` describes the command by the comment on the arguments, so the description follows it.
    let line = GlobalArgs::augment_args(clap::Command::new("fabdeck").version(env!("CARGO_PKG_VERSION")))
        .about("A terminal console for InfiniBand fabric operations")
        .after_help(AFTER_HELP)
        .mut_arg("theme", |arg| arg.help(themes));
    add_commands(line, "")
}

/// Adds the commands of a group; the group without a name has the commands of one word.
fn add_commands(line: clap::Command, group: &str) -> clap::Command {
    let word_in_group = |entry: &CommandEntry| {
        let word = match group {
            "" => entry.name,
            _ => entry.name.strip_prefix(group)?.strip_prefix(' ')?,
        };
        (!word.contains(' ')).then_some(word)
    };
    COMMANDS
        .iter()
        .filter_map(|entry| Some((word_in_group(entry)?, entry)))
        .fold(line, |line, (word, entry)| {
            line.subcommand(add_commands(described_command(word, entry), entry.name))
        })
}

fn described_command(word: &'static str, entry: &CommandEntry) -> clap::Command {
    let has_commands = COMMANDS
        .iter()
        .any(|other| other.name.strip_prefix(entry.name).is_some_and(|rest| rest.starts_with(' ')));
    let described = entry
        .add_arguments(clap::Command::new(word))
        .about(entry.summary)
        .long_about(format!("{}\n\n{}", entry.summary, entry.details))
        .args_conflicts_with_subcommands(has_commands && !entry.is_group());
    match entry.examples {
        [] => described,
        examples => described.after_help(format!("Examples:\n  {}", examples.join("\n  "))),
    }
}

/// Parses the arguments. Every error of clap except help and version is a usage error, with code 64 instead of clap's
/// 2. An unknown command that exists as a file or folder is the source: `fabdeck x.fdcap` opens it.
pub fn parse(line: &clap::Command, args: &[OsString]) -> Result<ParsedCommandLine, clap::Error> {
    let read = |args: &[OsString]| line.clone().try_get_matches_from(args).and_then(ParsedCommandLine::new);
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

pub fn print_refusal<'w>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_table_is_on_the_command_line() {
        let line = command_line();
        for entry in COMMANDS {
            let found = entry.name.split(' ').try_fold(&line, |at, word| at.find_subcommand(word));
            assert!(found.is_some(), "{}", entry.name);
        }
        line.debug_assert();
    }
}
