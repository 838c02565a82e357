//! `completions` and `man`.

use std::io;
use std::path::Path;

use clap_complete::Shell;

use super::args::command_line;
use super::context::Context;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::system::output_file;

const NAME: &str = "fabdeck";

pub fn completions(context: &mut Context<'_, '_>, shell: Shell) -> Result<Exit, Failure> {
    context.refuse_filter("completions")?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), NAME, &mut script);
    if context.output.json {
        let mut object = context.object_without_snapshot("completions")?;
        object.field("shell", &shell.to_string())?;
        object.field("script", &String::from_utf8_lossy(&script))?;
        object.end()?;
    } else {
        context.output.out.write_all(&script)?;
    }
    Ok(Exit::Done)
}

/// A man page.
#[derive(serde::Serialize)]
struct ManPage {
    name: String,
    text: String,
}

pub fn man(context: &mut Context<'_, '_>, dir: Option<&Path>) -> Result<Exit, Failure> {
    context.refuse_filter("man")?;
    let mut pages = vec![page(NAME, &command_line())?];
    if dir.is_some() {
        pages_below(&command_line(), NAME, &mut pages)?;
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
        let mut object = context.object_without_snapshot("man")?;
        object.field("dir", &dir.map(|dir| dir.display().to_string()))?;
        object.list("pages", pages.iter())?;
        object.end()?;
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
