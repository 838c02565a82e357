//! Generates the pages of `docs/` that follow from tables: commands, fields, exit codes, keys.

use std::fmt::Write;

use crate::session::interactive::{ACTIONS, Action, KeyScope, SCREENS};
use crate::session::{self, COMMANDS, Column, Danger, HOT_FIELDS, ViewId};

use super::Exit;
use super::args::command_line;

const GENERATED_NOTICE: &str =
    "<!-- Made from the source by `FABDECK_UPDATE_DOCS=1 cargo test --test suite docs`. -->\n";

/// Text of `docs/commands.md`.
pub fn commands_page() -> String {
    let line = command_line();
    let mut page = format!("# Commands\n\n{GENERATED_NOTICE}\n");
    page.push_str(
        "Data goes to stdout, messages to stderr. `--json` prints one object with `schema`, `source`, `partial` and \
         `notes`; its schemas are in [schemas](schemas). `-` is stdin or stdout. Only `apply` asks a question, on a terminal.\n",
    );
    page.push_str("\n## Global options\n\n");
    push_arguments(&mut page, &line);
    for entry in COMMANDS {
        let Some(command) = find(&line, entry.name) else { continue };
        if command.is_subcommand_required_set() {
            continue;
        }
        push_command(&mut page, entry, &command);
    }
    page
}

fn find(line: &clap::Command, name: &str) -> Option<clap::Command> {
    name.split(' ').try_fold(line.clone(), |at, word| at.find_subcommand(word).cloned())
}

fn push_command(page: &mut String, entry: &session::Command, command: &clap::Command) {
    let usage = usage(command, entry.name);
    push(page, format_args!("\n## {}\n\n{}. {}\n\n", entry.name, entry.summary, entry.details));
    push(page, format_args!("    {usage}\n\n"));
    push(page, format_args!("Needs {}; {}.\n", entry.needs.title(), entry.danger.title()));
    if command.get_arguments().next().is_some() {
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

fn push_arguments(page: &mut String, command: &clap::Command) {
    page.push_str("| argument | what it does |\n|---|---|\n");
    for argument in command.get_arguments() {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
        let takes_value = argument.get_action().takes_values();
        let values = if takes_value && !values.is_empty() { values.join(" ") } else { String::new() };
        let what = [help, values].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        push(page, format_args!("| `{}` | {} |\n", cell(&spelling(argument)), cell(&what)));
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
        "A field serves `--fields`, `--filter`, `--sort` and is the key in JSON. Tables show the marked ones unless \
         `--fields` names others; JSON has all of them, `null` for an unknown value.\n\n\
         A filter is a text that any field may contain, or `FIELD OP VALUE` with `=`, `!=`, `<`, `<=`, `>`, `>=` or `~` \
         (contains this text, in any case; \
         no regular expression). `==` is `=`. A comma means \"and\", as does a second `--filter`; double quotes keep \
         commas as they are. Numbers compare as numbers, widths, speeds and states by what they mean \
         (`speed<EDR`). `none` matches an unknown value. `~LETTERS` matches a shown text with these letters in this \
         order, in any case and with other letters between them (`~spn` finds spine-2).\n",
    );
    for view in ViewId::ALL {
        push(&mut page, format_args!("\n## {}\n\n", view.command()));
        push_fields(&mut page, view.columns().into_iter());
        if view.has_source_columns() {
            page.push_str("\nEach counter of the source is a further field, under its name.\n");
        }
    }
    push(&mut page, format_args!("\n## The screen Hot-spots\n\n"));
    push_fields(&mut page, HOT_FIELDS.iter().map(|field| &field.column));
    page
}

fn push_fields<'c>(page: &mut String, columns: impl Iterator<Item = &'c Column>) {
    page.push_str("| field | title | kind | unit | shown | meaning |\n|---|---|---|---|---|---|\n");
    for column in columns {
        let shown = if column.shown { "yes" } else { "" };
        let (kind, unit, about) = (column.kind.title(), column.unit, cell(&column.about));
        let (id, title) = (&column.id, &column.title);
        push(page, format_args!("| `{id}` | {title} | {kind} | {unit} | {shown} | {about} |\n"));
    }
}

/// Text of `docs/exit-codes.md`.
pub fn exit_codes_page() -> String {
    let mut page = format!("# Exit codes\n\n{GENERATED_NOTICE}\n| code | name | meaning |\n|---|---|---|\n");
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
        "Each key runs an action, and each action has a word: `:` and the word do the same. `[keys]` in the configuration \
         binds other keys, as in `mark = [\"f\", \"x\"]`. In help, the log, details and the tour the same keys scroll, \
         turn pages and close, and `/` searches help. In an input line, Enter accepts the line or the selected \
         suggestion, Esc cancels, Tab completes the common beginning of all suggestions and then selects one, as the \
         arrow keys do, and Ctrl-U clears the line. A name with blanks needs quotes. Ctrl-C ends the session \
         everywhere; where that would end a change it asks first, and a second Ctrl-C within a second ends the session.\n\n\
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
