//! SL2VL tables as OpenSM dumps them (`opensm-sl2vl.dump`). Each port with a LID has a section, named by its port
//! GUID; a switch has a row for each in-port and out-port.

use std::io::{self, Write};

use fabdeck_fabric::{
    Fabric, Guid, Lane, Lid, NodeId, NodeKind, NodeTables, PortNum, ServiceLevel, Sl2Vl, Tables,
};

use super::FileError;
use super::content::{TableFile, TableSection};
use super::opensm::{
    BAD_LANE, CONFLICTING_ENTRIES, TRUNCATED_SECTION, TWO_OWNERS, UNKNOWN_LID, bad_line, bad_port, dump_key,
    kind_label, no_content, no_section, note_stray_line, note_truncated_line, parse_decimal, port_guid,
    split_leading_hex, split_word,
};
use super::text::{Input, TextLine};
use super::topology_text::clean_name;

pub const ID: &str = "sl2vl";

const COLUMNS: &str = "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15";
const RULE: &str = "#--------------------------------------------------------";

const KINDS: [NodeKind; 3] = [NodeKind::Switch, NodeKind::ChannelAdapter, NodeKind::Router];

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| line.starts_with("#in out :"))
        || head.lines().any(|line| parse_section_guid(line).is_some())
}

/// Reads `Switch 0x0002c90100000000, base LID 2, "leaf0"`.
fn parse_section_guid(line: &str) -> Option<(Guid, &str)> {
    let after = KINDS.iter().find_map(|kind| line.trim_start().strip_prefix(kind_label(*kind)))?;
    let (guid, rest) = split_leading_hex(after.strip_prefix(" 0x")?)?;
    let rest = rest.strip_prefix(", base LID ")?;
    Some((Guid(guid), rest))
}

pub fn read(input: Input<'_>) -> Result<TableFile, Box<FileError>> {
    let mut reader = Sl2VlReader { input, file: TableFile::default(), open: None };
    for line in input.lines() {
        reader.read_line(&line?)?;
    }
    reader.end_section();
    if reader.file.sections.is_empty() {
        return Err(no_content(input.name, "table of lanes"));
    }
    Ok(reader.file)
}

struct OpenSection {
    section: TableSection,
    /// Number of ruled lines so far: one below the heading, one at the end.
    rules: u32,
}

struct Sl2VlReader<'a> {
    input: Input<'a>,
    file: TableFile,
    open: Option<OpenSection>,
}

impl Sl2VlReader<'_> {
    fn read_line(&mut self, line: &TextLine<'_>) -> Result<(), Box<FileError>> {
        let text = line.text.trim();
        let place = || self.input.line_place(line.number);
        if text.is_empty() {
            return Ok(());
        }
        if text.starts_with('#') {
            let rule = text.starts_with("#---") && (!line.unended || text.len() >= RULE.len());
            if let (Some(open), true) = (&mut self.open, rule) {
                open.rules += 1;
            }
            return Ok(());
        }
        if let Some((guid, rest)) = parse_section_guid(text) {
            return self.begin_section(line, guid, rest);
        }
        if line.unended {
            note_truncated_line(&mut self.file.notes, place(), text);
            return Ok(());
        }
        if !text.starts_with(|c: char| c.is_ascii_digit()) || !text.contains(':') {
            note_stray_line(&mut self.file.notes, place(), text);
            return Ok(());
        }
        let (ports, lanes) = text.split_once(':').unwrap_or((text, ""));
        let Some(open) = &mut self.open else { return Err(no_section(place(), text)) };
        let (in_port, rest) = split_word(ports);
        let (out_port, rest) = split_word(rest);
        if !rest.trim().is_empty() {
            return Err(bad_line(place(), text, "a row of lanes for an in port and an out port"));
        }
        let number = |digits: &str| {
            parse_decimal(digits)
                .and_then(PortNum::new)
                .ok_or_else(|| bad_port(digits, self.input.line_place(line.number)))
        };
        let key = (number(in_port)?, number(out_port)?);
        let lanes = parse_lanes(lanes).ok_or_else(|| {
            let hint = "a row has sixteen lanes of 0 to 15";
            FileError::new(
                BAD_LANE,
                self.input.line_place(line.number),
                format!("the lanes '{}'", lanes.trim()),
                hint,
            )
        })?;
        if open.section.tables.sl2vl.insert(key, lanes).is_some_and(|known| known != lanes) {
            let node = open.section.node;
            self.file.notes.add(CONFLICTING_ENTRIES, self.input.line_place(line.number), || {
                format!(
                    "{node} has two rows for in port {} and out port {}; the last one counts",
                    key.0, key.1
                )
            });
        }
        Ok(())
    }

    fn begin_section(&mut self, line: &TextLine<'_>, node: Guid, rest: &str) -> Result<(), Box<FileError>> {
        self.end_section();
        let place = self.input.line_place(line.number);
        let digits = rest.split(',').next().unwrap_or_default();
        if line.unended && !rest.contains(',') {
            note_truncated_line(&mut self.file.notes, place, &line.text);
            return Ok(());
        }
        match parse_decimal(digits).and_then(Lid::new) {
            Some(lid) => {
                let known = *self.file.owners.entry(lid).or_insert(node);
                if known != node {
                    self.file.notes.add(TWO_OWNERS, place.clone(), || {
                        format!("LID {lid} belongs to {node} here and to {known} before; the first counts")
                    });
                }
            }
            None => self.file.notes.add(UNKNOWN_LID, place.clone(), || {
                format!("{node} has the LID '{digits}', which is no unicast LID: read as unknown")
            }),
        }
        let section = TableSection { node, tables: NodeTables::default(), private_tables: 0, place };
        self.open = Some(OpenSection { section, rules: 0 });
        Ok(())
    }

    fn end_section(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.rules < 2 {
            let node = open.section.node;
            self.file.notes.add_partial(TRUNCATED_SECTION, open.section.place.clone(), || {
                format!("the lanes of {node} end without their closing line")
            });
        }
        self.file.sections.push(open.section);
    }
}

fn parse_lanes(text: &str) -> Option<Sl2Vl> {
    let mut table = Sl2Vl::default();
    let mut words = text.split_whitespace();
    for sl in 0..=u32::from(ServiceLevel::MAX) {
        let lane = Lane::new(parse_decimal(words.next()?)?)?;
        table.set(ServiceLevel::new(sl)?, lane);
    }
    words.next().is_none().then_some(table)
}

/// Writes the SL2VL tables of all nodes that have any. Rows of switches are sorted by out-port, then in-port. Each
/// port of an adapter has its own section; its row is stored under in-port 0 and its own number.
pub fn write(fabric: &Fabric, tables: &Tables, out: &mut dyn Write) -> io::Result<()> {
    for (_, id, port) in ports_in_dump_order(fabric, tables) {
        let Some(held) = tables.nodes.get(&id) else { continue };
        let facts = &fabric.node(id).facts;
        let guid = port_guid(fabric, id, port).unwrap_or(facts.guid);
        let lid = fabric.port_of(id, port).and_then(|port| fabric.address_of(port));
        let lid = lid.map_or(0, |(lid, _)| lid.value());
        let (kind, name) = (kind_label(facts.kind), clean_name(&facts.description));
        writeln!(out, "{kind} {guid}, base LID {lid}, \"{name}\"\n{COLUMNS}\n{RULE}")?;
        let mut rows: Vec<(u8, u8, Sl2Vl)> =
            held.sl2vl.iter().map(|((from, to), lanes)| (to.value(), from.value(), *lanes)).collect();
        if facts.kind == NodeKind::Switch {
            rows.sort_unstable_by_key(|(to, from, _)| (*to, *from));
        } else {
            rows.retain(|(to, _, _)| *to == port.value());
            rows.iter_mut().for_each(|row| (row.0, row.1) = (0, 0));
        }
        for (to, from, lanes) in rows {
            write!(out, "{from:<3} {to:<3} :")?;
            for sl in (0..=u32::from(ServiceLevel::MAX)).filter_map(ServiceLevel::new) {
                write!(out, " {:<2}", lanes.lane(sl).value())?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{RULE}\n")?;
    }
    Ok(())
}

/// The ports that have a section, by port GUID in OpenSM's dump order.
fn ports_in_dump_order(fabric: &Fabric, tables: &Tables) -> Vec<(u64, NodeId, PortNum)> {
    let mut sections = Vec::new();
    for (id, held) in tables.nodes.iter().filter(|(_, held)| !held.sl2vl.is_empty()) {
        let facts = &fabric.node(*id).facts;
        let mut ports: Vec<PortNum> = match facts.kind {
            NodeKind::Switch => vec![PortNum::MANAGEMENT],
            _ => held.sl2vl.keys().map(|(_, out)| *out).collect(),
        };
        ports.dedup();
        let key = |port: PortNum| dump_key(port_guid(fabric, *id, port).unwrap_or(facts.guid));
        sections.extend(ports.into_iter().map(|port| (key(port), *id, port)));
    }
    sections.sort_unstable();
    sections
}

#[cfg(test)]
mod tests;
