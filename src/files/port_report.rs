//! The port report of `ibnetdiscover -p`: one line for each port, with its peer if it has one.
//!
//! ```text
//! SW     5  4 0x0000000000200003 4x SDR - SW     8  4 0x0000000000200005 ( 'leaf3' - 'spine1' )
//! SW     5  6 0x0000000000200003 4x SDR                                    'leaf3'
//! ```
//!
//! GUIDs are those of ports. All ports of a switch have the GUID of the switch; for an adapter the report lacks the
//! node's GUID.

use std::collections::BTreeMap;

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeKey, NodeKind, PortNum};

use super::FileError;
use super::content::TopologyFile;
use super::limit::check_node_count;
use super::text::Input;
use super::topology_text::{
    CableClaim, LineFault, LineKind, classify, excerpt, join_cables, note_duplicates, note_noise, note_rate,
    note_truncated, note_unknown_lid, parse_count,
};

pub const ID: &str = "port-report";

/// Whether the beginning of a file has a whole line of the report.
pub fn looks_like(head: &str) -> bool {
    head.lines().any(is_whole)
}

pub fn read(input: Input<'_>) -> Result<TopologyFile, Box<FileError>> {
    let mut notes = Notes::new();
    let mut rows = Vec::new();
    // Rows borrow names from the lines, so the lines are kept.
    let lines = input.lines_with_end(is_whole).collect::<Result<Vec<_>, _>>()?;
    for line in &lines {
        let place = input.line_place(line.number);
        let row = if starts_row(&line.text) { parse_row(&line.text).map(Some) } else { Ok(None) };
        if line.unended {
            note_truncated(&mut notes, place.clone(), !matches!(row, Ok(Some(_))));
            rows.extend(row.ok().flatten().map(|row| (line.number, row)));
            continue;
        }
        match row.map_err(|fault| fault.with_place(place.clone()))? {
            Some(row) => rows.push((line.number, row)),
            None => note_other_line(&mut notes, place, &line.text),
        }
    }
    if rows.is_empty() {
        let hint = "its lines begin with SW, CA or RT and a LID";
        return Err(FileError::new("FD-2101", NotePlace::file(input.name), "no port in the file", hint));
    }
    build(input.name, &rows, notes)
}

/// Whether a line is a whole row. Only a row with its closing quote or bracket can be read.
fn is_whole(line: &str) -> bool {
    starts_row(line) && parse_row(line).is_ok()
}

fn note_other_line(notes: &mut Notes, place: NotePlace, text: &str) {
    match classify(text) {
        LineKind::Blank | LineKind::Comment(_) => {}
        LineKind::ToolError => notes.add_partial("FN-202", place, || {
            format!("'{}' is an error message of the tool: a device did not answer", excerpt(text.trim()))
        }),
        _ => note_noise(notes, place, text),
    }
}

/// One end of a row.
#[derive(Clone, Copy, Debug)]
struct RowEnd<'a> {
    kind: NodeKind,
    lid: Option<Lid>,
    port: PortNum,
    guid: Guid,
    name: &'a str,
}

#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    near: RowEnd<'a>,
    far: Option<RowEnd<'a>>,
    width: Option<LinkWidth>,
    speed: Option<LinkSpeed>,
    /// Width and speed, as the file writes them.
    rate: (&'a str, &'a str),
    /// Whether the names can be split in several ways (`'a' - 'b' - 'c'`).
    ambiguous: bool,
}

/// Whether a line begins with the kind and the LID of a port.
pub(super) fn starts_row(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next().is_some_and(|word| parse_kind(word).is_some())
        && words.next().is_some_and(|word| word.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()))
}

fn parse_kind(word: &str) -> Option<NodeKind> {
    match word {
        "SW" => Some(NodeKind::Switch),
        "CA" => Some(NodeKind::ChannelAdapter),
        "RT" => Some(NodeKind::Router),
        _ => None,
    }
}

/// The next word; `rest` is what follows it.
fn take_word<'a>(rest: &mut &'a str) -> &'a str {
    let text = rest.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    *rest = behind;
    word
}

fn fault(what: impl Into<String>) -> LineFault {
    let hint = "a port is printed as: SW 5 4 0x0123456789abcdef 4x EDR 'name'";
    LineFault::new("FD-2110", what, hint)
}

fn parse_row(line: &str) -> Result<Row<'_>, LineFault> {
    let mut rest = line;
    let mut near = parse_row_end(&mut rest)?;
    let (width, speed) = (take_word(&mut rest), take_word(&mut rest));
    let mut row = Row {
        near,
        far: None,
        width: LinkWidth::from_word(width),
        speed: LinkSpeed::from_word(speed),
        rate: (width, speed),
        ambiguous: false,
    };
    let names = rest.trim();
    let Some(peer) = names.strip_prefix('-') else {
        let name = names.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
        near.name = name.ok_or_else(|| fault("a port without the name of its node in quotes"))?;
        row.near = near;
        return Ok(row);
    };
    let mut rest = peer;
    let mut far = parse_row_end(&mut rest)?;
    let names = rest.trim().strip_prefix('(').and_then(|names| names.strip_suffix(')')).map(str::trim);
    let inner = names.and_then(|names| names.strip_prefix('\'')).and_then(|names| names.strip_suffix('\''));
    let both = inner.and_then(|names| names.split_once("' - '"));
    (near.name, far.name) = both.ok_or_else(|| fault("a cable without the names of its two nodes"))?;
    row.ambiguous = far.name.contains("' - '");
    (row.near, row.far) = (near, Some(far));
    Ok(row)
}

fn parse_row_end<'a>(rest: &mut &'a str) -> Result<RowEnd<'a>, LineFault> {
    let kind = parse_kind(take_word(rest)).ok_or_else(|| fault("a peer that is neither SW, CA nor RT"))?;
    let lid = take_word(rest);
    let digits = lid.strip_prefix('-').unwrap_or(lid);
    let value = parse_count(digits).ok_or_else(|| fault(format!("'{}' is no LID", excerpt(lid))))?;
    let lid = if digits.len() == lid.len() { Lid::new(value) } else { None };
    let port = take_word(rest);
    let port = parse_count(port)
        .and_then(PortNum::new)
        .filter(|port| *port != PortNum::MANAGEMENT)
        .ok_or_else(|| {
            LineFault::new(
                "FD-2104",
                format!("'{}' is no port", excerpt(port)),
                "ports are numbered from 1 to 254",
            )
        })?;
    let guid = take_word(rest);
    let guid = Guid::from_hex(guid).map_err(|e| fault(e.to_string()))?;
    Ok(RowEnd { kind, lid, port, guid, name: "" })
}

/// Node GUIDs of adapters, derived from the GUIDs of their ports:
///
/// - Ports of the same name whose GUIDs are g plus their numbers are one adapter with the GUID g (older adapters).
/// - All others are adapters of one port, with the GUID of that port (newer adapters).
struct AdapterGuids<'a> {
    shared: BTreeMap<(u64, &'a str), Vec<PortNum>>,
}

impl<'a> AdapterGuids<'a> {
    fn from_rows(rows: &[(u64, Row<'a>)]) -> Self {
        let mut shared: BTreeMap<(u64, &str), Vec<PortNum>> = BTreeMap::new();
        for side in rows.iter().flat_map(|(_, row)| [Some(row.near), row.far]).flatten() {
            if side.kind != NodeKind::Switch {
                let ports = shared.entry((base_guid(&side), side.name)).or_default();
                if !ports.contains(&side.port) {
                    ports.push(side.port);
                }
            }
        }
        shared.retain(|_, ports| ports.len() > 1);
        Self { shared }
    }

    fn node_guid(&self, side: &RowEnd<'a>) -> Guid {
        let joined = side.kind != NodeKind::Switch && self.shared.contains_key(&(base_guid(side), side.name));
        if joined { Guid(base_guid(side)) } else { side.guid }
    }
}

fn base_guid(side: &RowEnd<'_>) -> u64 {
    side.guid.0.wrapping_sub(u64::from(side.port.value()))
}

fn build(file: &str, rows: &[(u64, Row<'_>)], mut notes: Notes) -> Result<TopologyFile, Box<FileError>> {
    let adapters = AdapterGuids::from_rows(rows);
    let mut builder = FabricBuilder::new();
    let mut claims = Vec::new();
    for (number, row) in rows {
        let place = || NotePlace::line(file, *number);
        let key = add_node(&mut builder, &adapters, &row.near, true);
        check_node_count(builder.len(), place)?;
        note_row(&mut notes, &place, row);
        let facts = builder.node_mut(key);
        facts.port_count = facts.port_count.max(row.near.port.value());
        set_port_state(&mut builder, key, &row.near);
        let Some(far) = &row.far else { continue };
        let port = builder.port(key, row.near.port);
        (port.width, port.speed) = (port.width.or(row.width), port.speed.or(row.speed));
        let peer = add_node(&mut builder, &adapters, far, false);
        check_node_count(builder.len(), place)?;
        let far_guid = Some(far.guid).filter(|_| far.kind != NodeKind::Switch);
        let (near, far_end) = ((key, row.near.port), (peer, far.port));
        claims.push(CableClaim { near, far: far_end, line: *number, far_lid: far.lid, far_guid });
    }
    join_cables(&mut builder, &claims, &mut notes, file)?;
    let fabric = builder.finish();
    note_duplicates(&mut notes, file, &fabric);
    Ok(TopologyFile { fabric, notes, ..TopologyFile::default() })
}

fn add_node(
    builder: &mut FabricBuilder,
    adapters: &AdapterGuids<'_>,
    side: &RowEnd<'_>,
    answered: bool,
) -> NodeKey {
    let guid = adapters.node_guid(side);
    let key = match builder.find(side.kind, guid) {
        Some(key) => key,
        None => {
            let facts = NodeFacts::known_from_peer(side.kind, guid, side.name);
            builder.add_node(facts).unwrap_or_else(|known| known)
        }
    };
    builder.node_mut(key).answered |= answered;
    key
}

/// Adds what a row says of its own port.
fn set_port_state(builder: &mut FabricBuilder, key: NodeKey, side: &RowEnd<'_>) {
    let is_switch = side.kind == NodeKind::Switch;
    let addressed = if is_switch { PortNum::MANAGEMENT } else { side.port };
    let facts = builder.port(key, addressed);
    facts.lid = facts.lid.or(side.lid);
    facts.guid = facts.guid.or(Some(side.guid));
    builder.port(key, side.port);
}

fn note_row(notes: &mut Notes, place: &impl Fn() -> NotePlace, row: &Row<'_>) {
    if row.near.lid.is_none() {
        note_unknown_lid(notes, place());
    }
    // A port without a cable has no active rate.
    if row.far.is_some() && (row.width.is_none() || row.speed.is_none()) {
        let (width, speed) = row.rate;
        note_rate(notes, place(), &format!("{width} {speed}"));
    }
    if row.ambiguous {
        notes.add("FN-242", place(), || {
            let (near, far) = (row.near.name, row.far.map_or("", |far| far.name));
            format!("names with ' - ' in them: read as '{}' and '{}'", excerpt(near), excerpt(far))
        });
    }
    if row.near.kind != NodeKind::Switch {
        notes.add("FN-241", place(), || {
            "the report has GUIDs of ports alone: adapters are identified by these".to_owned()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
CA    11  2 0x0000000000100009 4x QDR - SW     5  2 0x0000000000200003 ( 'host 1 HCA-1' - ' leaf ' )
CA    10  1 0x0000000000100008 4x QDR - SW     5  1 0x0000000000200003 ( 'host 1 HCA-1' - ' leaf ' )
SW     5  8 0x0000000000200003 4x SDR                                    ' leaf '
SW     5  4 0x0000000000200003 12x FDR10 - CA  12  1 0x0000000000300001 ( ' leaf ' - 'it's (a) - name' )
SW     5  2 0x0000000000200003 4x QDR - CA    11  2 0x0000000000100009 ( ' leaf ' - 'host 1 HCA-1' )
SW     5  1 0x0000000000200003 4x QDR - CA    10  1 0x0000000000100008 ( ' leaf ' - 'host 1 HCA-1' )
";

    #[test]
    fn nodes_ports_and_cables() {
        assert!(looks_like(REPORT));
        let file = read(Input::new("r", REPORT.as_bytes())).unwrap();
        let fabric = &file.fabric;
        let switch = fabric.node(fabric.node_by_guid(Guid(0x20_0003)).unwrap());
        assert_eq!((switch.facts.port_count, switch.facts.description.as_str()), (8, " leaf "));
        let host = fabric.node(fabric.node_by_guid(Guid(0x10_0007)).unwrap());
        assert_eq!((host.facts.port_count, host.facts.answered), (2, true));
        let alone = fabric.node(fabric.node_by_guid(Guid(0x30_0001)).unwrap());
        assert_eq!((alone.facts.description.as_str(), alone.facts.answered), ("it's (a) - name", false));
        assert_eq!(fabric.links().len(), 3);
        assert!(fabric.port_by_lid(Lid::new(5).unwrap()).is_some());
        assert!(file.notes.has("FN-206") && file.notes.has("FN-241") && !file.notes.has("FN-242"));
    }

    #[test]
    fn unknown_rates_are_noted() {
        for (rate, noted) in [("4x QDR", false), ("4x ZDR", true), ("3x QDR", true)] {
            let text = format!("SW 5 4 0x20 {rate} - SW 8 4 0x21 ( 'a' - 'b' )\n");
            let file = read(Input::new("r", text.as_bytes())).unwrap();
            assert_eq!(file.notes.has("FN-212"), noted, "{rate}");
        }
    }

    #[test]
    fn damage_has_its_line() {
        for (text, code) in [
            ("SW 5 4 0x20 4x SDR - ", "FD-2110"),
            ("SW 5 4 0x20 4x SDR leaf", "FD-2110"),
            ("SW 5 255 0x20 4x SDR 'leaf'", "FD-2104"),
            ("SW 5 4 0xzz 4x SDR 'leaf'", "FD-2110"),
        ] {
            let text = format!("SW 5 1 0x20 4x SDR 'leaf'\n{text}\n");
            let error = read(Input::new("r", text.as_bytes())).unwrap_err();
            assert_eq!((error.code, error.place.line), (code, Some(2)), "{text}");
        }
        assert_eq!(read(Input::new("r", b"nothing\n")).unwrap_err().code, "FD-2101");
        assert!(!looks_like("SWAP 1 2\nCA certificate\n"));
    }
}
