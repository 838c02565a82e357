//! `sources`.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::column_fit::TableLayout;
use super::context::Context;
use super::output::MIN_COLUMNS;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::source_list::{SourceList, list_sources};
use crate::system::access::{CatalogueEntry, CatalogueKey};
use crate::system::adapter_row::AdapterRow;
use crate::system::source_files::SourceFile;
use fabdeck_fabric::observe::escape_unprintable;

#[derive(serde::Serialize)]
struct SimulatedSource<'a> {
    source: String,
    keys: &'a str,
    about: &'a str,
}

impl<'a> From<&'a CatalogueEntry> for SimulatedSource<'a> {
    fn from(entry: &'a CatalogueEntry) -> Self {
        let CatalogueEntry { name, keys, about } = entry;
        Self { source: format!("sim:{name}"), keys, about }
    }
}

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("sources")?;
    let sources = list_sources(context.outside);
    if !context.output.json {
        write_text(context.output.out, context.output.page, &sources)?;
        return Ok(Exit::Done);
    }
    let mut object = context.object_without_snapshot("sources")?;
    object.list("adapters", sources.adapters.iter())?;
    object.field("adapters_error", &sources.adapters_error)?;
    object.list("simulators", sources.catalogue.iter().map(SimulatedSource::from))?;
    object.list("common_keys", sources.common_keys.iter())?;
    object.list("simulator_keys", sources.simulator_keys.iter())?;
    object.list("captures", sources.captures.iter())?;
    object.end()?;
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
