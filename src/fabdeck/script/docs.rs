//! Generates the pages of `docs/` that follow from tables: commands, fields, exit codes, keys.

use std::fmt::Write;

use super::command_entry::CommandEntry;
use super::command_line::command_line;
use super::commands::COMMANDS;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::field::Column;
use crate::console::event_loop::actions::ACTIONS;
use crate::console::features::screens::SCREENS;
use crate::console::model::action::{Action, KeyScope};
use crate::operations::view_id::ViewId;
use crate::operations::watch::hot_ports::HOT_PORTS;

const GENERATED_NOTICE: &str =
    "<!-- Made from the source by `FABDECK_UPDATE_DOCS=1 cargo test --test suite docs`. -->\n";

/// Text of `docs/commands.md`.
pub fn commands_page() -> String {
    let line = command_line();
    let mut page = format!("# Commands\n\n{GENERATED_NOTICE}\n");
    page.push_str(
        "Look up a command, its arguments and examples. Words of InfiniBand and of fabdeck are in the \
         [glossary](glossary.md), exit codes in [exit codes](exit-codes.md). Data goes to stdout, messages to stderr. \
         `--json` prints one object with `schema`, `source`, `partial` (true: part of the source did not answer or \
         could not be read) and `notes` (remarks on the reading); its schemas are in [schemas](schemas). `-` is stdin \
         or stdout. Only `apply` asks a question, on a terminal.\n",
    );
    page.push_str("\n## Global options\n\n");
    push_arguments(&mut page, &line);
    for entry in COMMANDS {
        let Some(command) = find(&line, entry.name) else { continue };
        if entry.is_group() {
            continue;
        }
        push_command(&mut page, entry, &command);
    }
    page
}

fn find(line: &clap::Command, name: &str) -> Option<clap::Command> {
    name.split(' ').try_fold(line.clone(), |at, word| at.find_subcommand(word).cloned())
}

fn push_command(page: &mut String, entry: &CommandEntry, command: &clap::Command) {
    let usage = usage(command, entry.name);
    push(page, format_args!("\n## {}\n\n{}. {}\n\n", entry.name, entry.summary, entry.details));
    push(page, format_args!("    {usage}\n\n"));
    push(page, format_args!("Needs {}; {}.\n", entry.needs.title(), entry.danger.title()));
    if listed_arguments(command).next().is_some() {
        page.push('\n');
        push_arguments(page, command);
    }
    if !entry.examples.is_empty() {
        page.push_str("\nExamples:\n\n");
        for example in entry.examples {
            push(page, format_args!("    {example}\n"));
        }
    }
}

fn usage(command: &clap::Command, name: &str) -> String {
    let text = command.clone().bin_name(format!("fabdeck {name}")).render_usage().to_string();
    text.strip_prefix("Usage: ").unwrap_or(&text).trim_end().to_owned()
}

/// The arguments that `--help` shows too.
fn listed_arguments(command: &clap::Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().filter(|argument| !argument.is_hide_set())
}

fn push_arguments(page: &mut String, command: &clap::Command) {
    page.push_str("| argument | what it does |\n|---|---|\n");
    for argument in listed_arguments(command) {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let what = [help, values_of(argument)]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ")
            + &default_of(argument);
        push(page, format_args!("| `{}` | {} |\n", cell(&spelling(argument)), cell(&what)));
    }
}

/// The values that an argument can have, each with its meaning where it has a text.
fn values_of(argument: &clap::Arg) -> String {
    if !argument.get_action().takes_values() {
        return String::new();
    }
    let named: Vec<(String, Option<String>)> = argument
        .get_possible_values()
        .iter()
        .map(|value| (format!("`{}`", value.get_name()), value.get_help().map(ToString::to_string)))
        .collect();
    if named.iter().all(|(_, meaning)| meaning.is_none()) {
        return named.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
    }
    let with_meaning = |(name, meaning): (String, Option<String>)| {
        meaning.map_or(name.clone(), |text| format!("{name} ({text})"))
    };
    named.into_iter().map(with_meaning).collect::<Vec<_>>().join(", ")
}

fn default_of(argument: &clap::Arg) -> String {
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    match argument.get_action().takes_values() && !defaults.is_empty() {
        true => format!(" (default: {})", defaults.join(", ")),
        false => String::new(),
    }
}

fn spelling(argument: &clap::Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let value = value.filter(|_| argument.get_action().takes_values());
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let flag: Vec<String> = short.into_iter().chain(long).collect();
    match (flag.is_empty(), value) {
        (true, value) => value.unwrap_or_else(|| argument.get_id().as_str().to_uppercase()),
        (false, Some(value)) => format!("{} {value}", flag.join(", ")),
        (false, None) => flag.join(", "),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Text of `docs/fields.md`.
pub fn fields_page() -> String {
    let mut page = format!("# Fields\n\n{GENERATED_NOTICE}\n");
    page.push_str(
        "Choose the columns (`--fields`), rows (`--filter`) and order (`--sort`) of a table by these fields; a field \
         is also its key in JSON. A table shows fields marked \"yes\" unless `--fields` names others; JSON has all, \
         `null` for an unknown value. Words: [glossary](glossary.md).\n\n\
         | filter | rows that it keeps |\n|---|---|\n\
         | `TEXT` | any field contains TEXT, in any case |\n\
         | `FIELD=VALUE` | the field has this value. Also `==`, `!=`, `<`, `<=`, `>`, `>=`. Numbers compare as \
         numbers, widths, speeds and states by meaning (`speed<EDR`) |\n\
         | `FIELD~TEXT` | the field contains TEXT, in any case; TEXT is no regular expression |\n\
         | `FIELD=none` | the value is unknown |\n\
         | `~LETTERS` | a shown text has these letters in this order, in any case, and maybe others between them \
         (`~spn` finds spine-2) |\n\
         | `A,B`, or a second `--filter` | both filters hold. Double quotes keep a comma: \
         `name=\"rack 1, slot 2\"` |\n",
    );
    for view in ViewId::ALL {
        push(&mut page, format_args!("\n## {}\n\n", view.command()));
        push_fields(&mut page, view.columns());
        if view.has_source_columns() {
            page.push_str("\nEach counter of the source is a further field, under its name.\n");
        }
    }
    push(&mut page, format_args!("\n## The screen Hot-spots\n\n"));
    push_fields(&mut page, HOT_PORTS.columns());
    page
}

fn push_fields(page: &mut String, columns: Vec<&Column>) {
    page.push_str(
        "| field | column title | kind of value | unit | shown by default | meaning |\n|---|---|---|---|---|---|\n",
    );
    for column in columns {
        let shown = if column.shown { "yes" } else { "" };
        let (kind, unit, about) = (column.kind.title(), column.unit, cell(&column.about));
        let (id, title) = (&column.id, &column.title);
        push(page, format_args!("| `{id}` | {title} | {kind} | {unit} | {shown} | {about} |\n"));
    }
}

/// Text of `docs/exit-codes.md`.
pub fn exit_codes_page() -> String {
    let mut page = format!("# Exit codes\n\n{GENERATED_NOTICE}\n");
    page.push_str(
        "Every command ends with one of these codes, for scripts to test. Words: [glossary](glossary.md).\n\n\
         | code | name | meaning |\n|---|---|---|\n",
    );
    for exit in Exit::ALL {
        push(&mut page, format_args!("| {} | {} | {} |\n", exit.code(), exit.name(), exit.meaning()));
    }
    page
}

/// Writing to a `String` cannot fail.
fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(text);
}

/// Text of `docs/keys.md`.
pub fn keys_page() -> String {
    let mut page = format!("# Keys of the console\n\n{GENERATED_NOTICE}\n");
    page.push_str(
        "- Press a key, or type `:` and the word of its action.\n\
         - `:` goes to anything: the name of a node or a cable, a GUID, a LID, a port (`leaf[7]`), a part of the \
         map (`pod20`), a problem, a job, a change, an event, an action. `!` narrows the list to problems, `>` to actions, `@` to times, `#` to jobs. Enter \
         goes to the row at the cursor, Tab goes to the next group, Ctrl-P shows the line before. An action runs when \
         its word, or a beginning that no other action has, is typed, or when its row is chosen.\n\
         - `[keys]` in the configuration binds other keys: `mark = [\"f\", \"x\"]`.\n\
         - Help, log, details, tour: the same keys scroll, turn pages and close; `/` searches help.\n\
         - Input line: Enter accepts the line or the selected suggestion, Esc cancels. Tab completes the common \
         beginning of all suggestions, then selects one, as the arrow keys do. Ctrl-U clears the line. A name with \
         blanks needs quotes.\n\
         - Ctrl-C ends the session everywhere. If that would end a change it asks first, and a second Ctrl-C within a \
         second ends the session.\n\n\
         Screens:\n\n",
    );
    for screen in SCREENS {
        push(&mut page, format_args!("- `{}` {}: {}\n", screen.number, screen.title, screen.about));
    }
    let places =
        std::iter::once(KeyScope::Everywhere).chain(SCREENS.iter().map(|screen| KeyScope::On(screen.id)));
    for place in places {
        let actions: Vec<&Action> = ACTIONS.iter().filter(|action| action.place == place).collect();
        if actions.is_empty() {
            continue;
        }
        push(&mut page, format_args!("\n## On {place}\n\n| key | word | what it does |\n|---|---|---|\n"));
        for action in actions {
            let keys: Vec<String> = action.keys.iter().map(|key| format!("`{key}`")).collect();
            // A bar would end the table cell, even inside of code.
            let word = format!("{} {}", action.id, action.argument.replace('|', "\\|"));
            let danger = match action.danger {
                Danger::None => String::new(),
                danger => format!(" ({})", danger.title()),
            };
            push(
                &mut page,
                format_args!("| {} | `{}` | {}{danger} |\n", keys.join(" "), word.trim_end(), action.title),
            );
        }
    }
    page
}
