//! `sources`.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::context::Context;
use super::open::{CatalogueEntry, CatalogueKey};
use super::output::plain;
use super::{Adapter, Exit, Failure, Found};

#[derive(serde::Serialize)]
struct Simulated<'a> {
    source: String,
    keys: &'a str,
    about: &'a str,
}

impl<'a> From<&'a CatalogueEntry> for Simulated<'a> {
    fn from(entry: &'a CatalogueEntry) -> Self {
        let CatalogueEntry { name, keys, about } = entry;
        Self { source: format!("sim:{name}"), keys, about }
    }
}

/// What a machine and a folder have.
struct Sources {
    adapters: Vec<Adapter>,
    catalogue: Vec<CatalogueEntry>,
    common_keys: Vec<CatalogueKey>,
    captures: Vec<Found>,
}

pub fn run(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("sources")?;
    let outside = context.outside;
    let sources = Sources {
        adapters: outside.adapters(),
        catalogue: outside.catalogue(),
        common_keys: outside.common_keys(),
        captures: outside.captures(),
    };
    if !context.output.json {
        write_text(context.output.out, &sources)?;
        return Ok(Exit::Done);
    }
    let mut object = context.plain_object("sources")?;
    object.list("adapters", sources.adapters.iter())?;
    object.list("simulators", sources.catalogue.iter().map(Simulated::from))?;
    object.list("common_keys", sources.common_keys.iter())?;
    object.list("captures", sources.captures.iter())?;
    object.end()?;
    Ok(Exit::Done)
}

fn write_text(out: &mut dyn Write, sources: &Sources) -> io::Result<()> {
    let Sources { adapters, catalogue, common_keys, captures } = sources;
    writeln!(out, "Files in this folder")?;
    if captures.is_empty() {
        writeln!(out, "  none of a known format")?;
    }
    let width = captures.iter().map(|found| plain(&found.path).width()).max().unwrap_or(0);
    for Found { path, format, title } in captures {
        let path = plain(path);
        let gap = " ".repeat(width.saturating_sub(path.width()));
        writeln!(out, "  {path}{gap}  {format}: {title}")?;
    }
    writeln!(out, "\nAdapters of this machine (live access comes later)")?;
    if adapters.is_empty() {
        writeln!(out, "  none found")?;
    }
    for Adapter { name, node_guid, ports } in adapters {
        let guid = node_guid.as_deref().unwrap_or("GUID not told");
        writeln!(out, "  {}  {guid}  ports: {ports}", plain(name))?;
    }
    writeln!(out, "\nGenerated fabrics")?;
    let width = catalogue.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for CatalogueEntry { name, keys, about } in catalogue {
        writeln!(out, "  sim:{name:width$}  {about}")?;
        if !keys.is_empty() {
            writeln!(out, "      {:width$}  {keys}", "")?;
        }
    }
    let width = common_keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
    writeln!(out, "\nKeys that all of them understand, after a comma each")?;
    for CatalogueKey { name, default, meaning } in common_keys {
        writeln!(out, "  {name:width$}  {meaning} (default: {default})")?;
    }
    Ok(())
}
