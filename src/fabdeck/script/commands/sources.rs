//! `sources`.

use std::io::{self, Write};

use clap::Args;
use unicode_width::UnicodeWidthStr;

use super::identity;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::source_list::{SourceList, list_sources};
use crate::script::answer::{Lines, json_answer};
use crate::script::column_fit::TableLayout;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::output::MIN_COLUMNS;
use crate::system::access::{CatalogueEntry, CatalogueKey};
use crate::system::adapter_row::AdapterRow;
use crate::system::source_files::SourceFile;
use fabdeck_fabric::observe::escape_unprintable;

pub const SOURCES: CommandEntry = CommandEntry::new(
    "sources",
    "List the available sources",
    "The generated fabrics with their keys, the files of known formats in the current folder (recognized by \
     content), and the adapters of this machine with their ports.",
)
.examples(&["fabdeck sources", "fabdeck sources --json"])
.runs(&CommandFunction(list_or_identify))
.at(OptionUse::UsedWith(|matches| matches.get_flag("identity")))
.json(&[
    JsonSchema::answer::<SourcesAnswer<'_>>("sources").without_source(),
    JsonSchema::answer::<identity::IdentityAnswer>("identity").titled("sources --identity"),
]);

#[derive(Debug, Args)]
pub struct SourcesArgs {
    /// Print the configuration entry that permits writes to the fabric of --source
    #[arg(long)]
    identity: bool,
}

fn list_or_identify(context: &mut Context<'_, '_>, args: &SourcesArgs) -> Result<Exit, Failure> {
    match args.identity {
        true => identity::run(context),
        false => run(context),
    }
}

json_type! {
    struct SimulatedSource<'a> {
        source: String,
        keys: &'a str,
        about: &'a str,
    }
}

json_answer! {
    struct SourcesAnswer<'a> {
        adapters: Lines<'a, &'a AdapterRow>,
        adapters_error: Option<&'a str>,
        simulators: Lines<'a, SimulatedSource<'a>>,
        common_keys: Lines<'a, &'a CatalogueKey>,
        simulator_keys: Lines<'a, &'a CatalogueKey>,
        captures: Lines<'a, &'a SourceFile>,
    }
}

impl<'a> From<&'a CatalogueEntry> for SimulatedSource<'a> {
    fn from(entry: &'a CatalogueEntry) -> Self {
        let CatalogueEntry { name, keys, about } = entry;
        Self { source: format!("sim:{name}"), keys, about }
    }
}

fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let sources = list_sources(context.outside, context.options.reach.library);
    if !context.output.json {
        write_text(context.output.out, context.output.page, &sources)?;
        return Ok(Exit::Done);
    }
    let answer = SourcesAnswer {
        adapters: Lines::of(&sources.adapters),
        adapters_error: sources.adapters_error.as_deref(),
        simulators: Lines::of(sources.catalogue.iter().map(SimulatedSource::from)),
        common_keys: Lines::of(&sources.common_keys),
        simulator_keys: Lines::of(&sources.simulator_keys),
        captures: Lines::of(&sources.captures),
    };
    context.write_plain_answer("sources", answer)?;
    Ok(Exit::Done)
}

fn write_text(out: &mut dyn Write, page: TableLayout, sources: &SourceList) -> io::Result<()> {
    let SourceList { catalogue, captures, .. } = sources;
    writeln!(out, "Files in this folder")?;
    if captures.is_empty() {
        writeln!(out, "  none of a known format")?;
    }
    let width = captures.iter().map(|found| escape_unprintable(&found.path).width()).max().unwrap_or(0);
    for SourceFile { path, format, title } in captures {
        let path = escape_unprintable(path);
        let gap = " ".repeat(width.saturating_sub(path.width()));
        writeln!(out, "  {path}{gap}  {format}: {title}")?;
    }
    write_adapters(out, sources)?;
    writeln!(out, "\nGenerated fabrics")?;
    let width = catalogue.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for CatalogueEntry { name, keys, about } in catalogue {
        write_description(out, page, &format!("  sim:{name:width$}  "), about)?;
        if !keys.is_empty() {
            write_description(out, page, &format!("      {:width$}  ", ""), keys)?;
        }
    }
    write_keys(out, page, "Keys of all generated fabrics, each after a comma", &sources.common_keys)?;
    write_keys(out, page, "Keys of the simulator, for --source sim:NAME", &sources.simulator_keys)
}

fn write_adapters(out: &mut dyn Write, sources: &SourceList) -> io::Result<()> {
    writeln!(out, "\nAdapters of this machine")?;
    if let Some(error) = &sources.adapters_error {
        writeln!(out, "  cannot be listed: {error}")?;
    } else if sources.adapters.is_empty() {
        writeln!(out, "  none found")?;
    }
    for AdapterRow { name, node_guid, port_list, .. } in &sources.adapters {
        writeln!(out, "  {}  {}", escape_unprintable(name), node_guid.as_deref().unwrap_or("GUID unknown"))?;
        for port in port_list {
            let or_unknown = |word: Option<&'static str>| word.unwrap_or("state unknown");
            let lid = port.lid.map_or_else(|| "no LID".to_owned(), |lid| format!("LID {lid}"));
            let (state, physical) = (or_unknown(port.state), or_unknown(port.physical_state));
            let rate = port.rate_gbps;
            writeln!(
                out,
                "    {}  {state}/{physical}, {lid}, {rate} Gbit/s, {}",
                escape_unprintable(&port.source),
                port.link_layer
            )?;
            if port.link_layer == "InfiniBand" && port.classes != "all classes" {
                writeln!(out, "      carries {}", escape_unprintable(&port.classes))?;
            }
        }
    }
    Ok(())
}

fn write_keys(out: &mut dyn Write, page: TableLayout, title: &str, keys: &[CatalogueKey]) -> io::Result<()> {
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
    writeln!(out, "\n{title}")?;
    for CatalogueKey { name, default, meaning } in keys {
        write_description(
            out,
            page,
            &format!("  {name:width$}  "),
            &format!("{meaning} (default: {default})"),
        )?;
    }
    Ok(())
}

/// Prints a sentence beside a name, wrapped on a narrow terminal.
fn write_description(out: &mut dyn Write, page: TableLayout, name: &str, text: &str) -> io::Result<()> {
    let room = page.prose_width().map_or(usize::MAX, |all| all.saturating_sub(name.width()).max(MIN_COLUMNS));
    let lines = if text.width() > room { wrap_text(text, room) } else { vec![text.to_owned()] };
    let indent = format!("\n{}", " ".repeat(name.width()));
    writeln!(out, "{name}{}", lines.join(&indent))
}
