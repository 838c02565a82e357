//! SL2VL tables in the format of ibdm. Each line has a switch, an in-port, an out-port, and two lanes in each byte:
//! `0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef`.

use std::io::{self, Write};

use fabdeck_fabric::{
    Fabric, Guid, Lane, NodeId, NodeKind, NodeTables, PortNum, ServiceLevel, Sl2Vl, Tables,
};

use super::FileError;
use super::content::{TableFile, TableSection};
use super::opensm::{
    BAD_LANE, CONFLICTING_ENTRIES, bad_line, bad_port, dump_key, no_content, note_stray_line,
    note_truncated_line, parse_decimal, parse_prefixed_hex, printable_excerpt,
};
use super::text::Input;

pub const ID: &str = "slvl";

const LANE_BYTES: usize = 8;

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| {
        let words: Vec<&str> = line.split_whitespace().take(4 + LANE_BYTES).collect();
        match words.as_slice() {
            [guid, from, to, lanes @ ..] if lanes.len() == LANE_BYTES => {
                parse_prefixed_hex(guid).is_some()
                    && parse_decimal(from).is_some()
                    && parse_decimal(to).is_some()
                    && lanes.iter().all(|byte| byte.len() == 4 && parse_prefixed_hex(byte).is_some())
            }
            _ => false,
        }
    })
}

pub fn read(input: Input<'_>) -> Result<TableFile, Box<FileError>> {
    let mut file = TableFile::default();
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        let place = || input.line_place(line.number);
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        // The last byte is complete if it has both digits.
        let whole =
            !line.unended || text.split_whitespace().nth(2 + LANE_BYTES).is_some_and(|byte| byte.len() == 4);
        if !whole {
            note_truncated_line(&mut file.notes, place(), text);
            continue;
        }
        if !text.starts_with("0x") {
            note_stray_line(&mut file.notes, place(), text);
            continue;
        }
        let mut words = text.split_whitespace();
        let node = words.next().and_then(parse_prefixed_hex).map(Guid);
        let node = node.ok_or_else(|| bad_line(place(), text, "a row of lanes with the GUID of a switch"))?;
        let mut port = || {
            let digits = words.next().unwrap_or_default();
            parse_decimal(digits).and_then(PortNum::new).ok_or_else(|| bad_port(digits, place()))
        };
        let key = (port()?, port()?);
        let lanes = parse_lanes(words).ok_or_else(|| {
            let hint = "a row has eight bytes, two lanes in each";
            FileError::new(BAD_LANE, place(), format!("the lanes of '{}'", printable_excerpt(text)), hint)
        })?;
        if file.sections.last().is_none_or(|section| section.node != node) {
            file.sections.push(TableSection {
                node,
                tables: NodeTables::default(),
                private_tables: 0,
                place: place(),
            });
        }
        let Some(section) = file.sections.last_mut() else { continue };
        if section.tables.sl2vl.insert(key, lanes).is_some_and(|known| known != lanes) {
            file.notes.add(CONFLICTING_ENTRIES, place(), || {
                format!(
                    "{node} has two rows for in port {} and out port {}; the last one counts",
                    key.0, key.1
                )
            });
        }
    }
    if file.sections.is_empty() {
        return Err(no_content(input.name, "row of lanes"));
    }
    Ok(file)
}

fn parse_lanes<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Sl2Vl> {
    let mut table = Sl2Vl::default();
    for byte in 0..LANE_BYTES as u32 {
        let pair = parse_prefixed_hex(words.next()?).filter(|pair| *pair <= 0xFF)? as u32;
        table.set(ServiceLevel::new(byte * 2)?, Lane::new(pair >> 4)?);
        table.set(ServiceLevel::new(byte * 2 + 1)?, Lane::new(pair & 0xF)?);
    }
    words.next().is_none().then_some(table)
}

/// Writes the SL2VL tables of switches; ibdm reads no others.
pub fn write(fabric: &Fabric, tables: &Tables, out: &mut dyn Write) -> io::Result<()> {
    let mut order: Vec<NodeId> =
        tables.nodes.keys().copied().filter(|id| fabric.node(*id).facts.kind == NodeKind::Switch).collect();
    order.sort_by_key(|id| dump_key(fabric.node(*id).guid()));
    for id in order {
        let Some(held) = tables.nodes.get(&id) else { continue };
        for ((from, to), lanes) in &held.sl2vl {
            write!(out, "{} {from} {to}", fabric.node(id).guid())?;
            let mut levels = (0..=u32::from(ServiceLevel::MAX)).filter_map(ServiceLevel::new);
            while let (Some(even), Some(odd)) = (levels.next(), levels.next()) {
                write!(out, " 0x{:x}{:x}", lanes.lane(even).value(), lanes.lane(odd).value())?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
