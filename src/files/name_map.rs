//! The operator's names of nodes (node-name-map): `0x0008f104003f125c "IB1 (Rack 11 slot 1)"`, read by the rules of
//! OpenSM and the diagnostic tools.

use std::collections::btree_map::Entry;

use fabdeck_fabric::Guid;

use super::FileError;
use super::content::NameFile;
use super::opensm::{bad_line, no_content, note_truncated_line, parse_prefixed_hex};
use super::text::Input;

pub const ID: &str = "node-name-map";

/// A GUID with a second name.
const DUPLICATE_GUID: &str = "FN-334";
/// A name of which the tools read only the beginning.
const CUT_NAME: &str = "FN-335";
/// A GUID without a name.
const NO_NAME: &str = "FN-336";

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| {
        let (guid, rest) = split_entry(line);
        parse_prefixed_hex(guid).is_some() && rest.trim_start().starts_with('"')
    })
}

fn split_entry(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(line.len());
    line.split_at(end)
}

pub fn read(input: Input<'_>) -> Result<NameFile, Box<FileError>> {
    let mut file = NameFile::default();
    let mut any = false;
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim_start();
        any |= !text.is_empty();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let place = || input.line_place(line.number);
        let (guid, rest) = split_entry(text);
        let rest = rest.trim_start();
        // A quoted name is complete with its second quote.
        if line.unended && !(rest.starts_with('"') && rest.get(1..).is_some_and(|name| name.contains('"'))) {
            note_truncated_line(&mut file.notes, place(), text);
            continue;
        }
        let Some(guid) = parse_prefixed_hex(guid).map(Guid) else {
            return Err(bad_line(place(), text, "a GUID (0x and up to 16 hexadecimal digits) with a name"));
        };
        let name = parse_name(rest);
        if name.is_empty() {
            file.notes.add(NO_NAME, place(), || format!("{guid} has no name here"));
            continue;
        }
        if rest.starts_with('"') && !rest.get(1 + name.len()..).is_some_and(|rest| rest.starts_with('"')) {
            file.notes.add(CUT_NAME, place(), || {
                format!("the name of {guid} ends at a # or without a quote: '{name}', as the tools read it")
            });
        }
        match file.names.by_guid.entry(guid) {
            Entry::Vacant(free) => {
                free.insert(name.to_owned());
            }
            Entry::Occupied(known) => file.notes.add(DUPLICATE_GUID, place(), || {
                format!("{guid} is '{}' already; the first name counts, as for the tools", known.get())
            }),
        }
    }
    if !any {
        return Err(no_content(input.name, "name of a node"));
    }
    Ok(file)
}

/// The tools take the text between the first quotes or comment marks, wherever those are.
fn parse_name(rest: &str) -> &str {
    let name = rest.trim_start_matches(['"', '#']);
    name.split(['"', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
