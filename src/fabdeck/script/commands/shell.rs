//! `completions` and `man`.

use std::io;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::summary::count_words;
use crate::script::answer::{Lines, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;

pub const COMPLETIONS: CommandEntry = CommandEntry::new(
    "completions",
    "Print completions for a shell",
    "For bash: `fabdeck completions bash > ~/.local/share/bash-completion/completions/fabdeck`.",
)
.examples(&["fabdeck completions bash"])
.runs(&CommandFunction(completions))
.json(&[JsonSchema::answer::<CompletionsAnswer>("completions").without_source()]);

pub const MAN: CommandEntry = CommandEntry::new(
    "man",
    "Print the man page",
    "In troff on stdout; with --dir a page for each command is written there.",
)
.danger(Danger::WritesFile)
.examples(&["fabdeck man | man -l -", "fabdeck man --dir ~/.local/share/man/man1"])
.runs(&CommandFunction(man))
.json(&[JsonSchema::answer::<ManAnswer<'_>>("man").without_source()]);

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to print completions for
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

const NAME: &str = "fabdeck";

fn completions(context: &mut Context<'_, '_>, args: &CompletionsArgs) -> Result<Exit, Failure> {
    let shell = args.shell;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut context.command_line.clone(), NAME, &mut script);
    if context.output.json {
        let script = String::from_utf8_lossy(&script).into_owned();
        let answer = CompletionsAnswer { shell: shell.to_string(), script };
        context.write_plain_answer("completions", answer)?;
    } else {
        context.output.out.write_all(&script)?;
    }
    Ok(Exit::Done)
}

json_answer! {
    struct CompletionsAnswer {
        shell: String,
        script: String,
    }

    struct ManAnswer<'a> {
        dir: Option<String>,
        pages: Lines<'a, &'a ManPage>,
    }
}

json_type! {
    /// A man page.
    struct ManPage {
        name: String,
        text: String,
    }
}

fn man(context: &mut Context<'_, '_>, args: &ManArgs) -> Result<Exit, Failure> {
    let dir = args.dir.as_deref();
    let mut pages = vec![page(NAME, context.command_line)?];
    if dir.is_some() {
        pages_below(context.command_line, NAME, &mut pages)?;
    }
    if let Some(dir) = dir {
        let failed = |error: io::Error| Failure::writing(&dir.display().to_string(), &error);
        std::fs::create_dir_all(dir).map_err(failed)?;
        for page in &pages {
            output_file::write(
                context.output.out,
                &dir.join(format!("{}.1", page.name)),
                page.text.as_bytes(),
            )?;
        }
    }
    if context.output.json {
        let dir = dir.map(|dir| dir.display().to_string());
        context.write_plain_answer("man", ManAnswer { dir, pages: Lines::of(&pages) })?;
    } else if let (None, Some(page)) = (dir, pages.first()) {
        context.output.out.write_all(page.text.as_bytes())?;
    } else if let Some(dir) = dir {
        let pages = count_words(pages.len(), "page", "pages");
        context.output.print_message(&format!("{pages} written to {}", dir.display()));
    }
    Ok(Exit::Done)
}

fn pages_below(command: &clap::Command, name: &str, pages: &mut Vec<ManPage>) -> io::Result<()> {
    for sub in command.get_subcommands() {
        let name = format!("{name}-{}", sub.get_name());
        // A page shows the whole command line; clap knows that only for the root command.
        let titled = sub.clone().name(name.clone()).bin_name(name.replace('-', " "));
        pages.push(page(&name, &titled)?);
        pages_below(sub, &name, pages)?;
    }
    Ok(())
}

fn page(name: &str, command: &clap::Command) -> io::Result<ManPage> {
    let man = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    if command.get_after_help().is_some() {
        man.render_extra_section(&mut text)?;
    }
    exit_status(&mut text)?;
    Ok(ManPage { name: name.to_owned(), text: String::from_utf8_lossy(&text).into_owned() })
}

fn exit_status(text: &mut Vec<u8>) -> io::Result<()> {
    use io::Write;
    writeln!(text, ".SH \"EXIT STATUS\"")?;
    for exit in Exit::ALL {
        writeln!(text, ".TP\n{}\n{}", exit.code(), exit.meaning().replace('-', "\\-"))?;
    }
    Ok(())
}
