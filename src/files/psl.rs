//! The service level of each path, in the format of ibdmchk (`-c`): source node, destination LID, level, as in
//! `0x0002c90000000201 17 3`. In routes that fabdeck computed, the level is the number of the lane.

use std::io::{self, Write};

use fabdeck_fabric::observe::{NotePlace, Notes, PolicyLevels};
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, NodeKind, PathLevelTable, PortNum, Routes, ServiceLevel};

use super::FileError;
use super::content::PolicyFile;
use super::opensm::{
    CONFLICTING_ENTRIES, bad_line, no_content, note_truncated_line, parse_decimal, parse_prefixed_hex,
};
use super::text::Input;

pub const ID: &str = "psl";

/// Digits of a GUID behind its `0x`.
const DIGITS: usize = 16;

/// A node whose ports use different lanes to a destination.
const PORTS_DISAGREE: &str = "FN-361";

/// Most lines: a file of half a gigabyte.
pub const MAX_LINES: usize = 20_000_000;

/// A sending node, with the switches that its ports are cabled to; a switch has only itself. An adapter with several
/// ports sends from one to the other.
struct SendingNode {
    node: NodeId,
    switches: Vec<NodeId>,
}

impl SendingNode {
    fn sends_to(&self, owner: NodeId) -> bool {
        owner != self.node || self.switches.len() > 1
    }
}

/// Reads a path and its level: `0x0002c90000000201 17 3`.
fn parse_entry(line: &str) -> Option<(Guid, Lid, ServiceLevel)> {
    let mut words = line.split_whitespace();
    let (guid, lid, level) = (words.next()?, words.next()?, words.next()?);
    let guid = parse_prefixed_hex(guid).filter(|value| *value != 0 && guid.len() == "0x".len() + DIGITS)?;
    let (lid, level) = (Lid::new(parse_decimal(lid)?)?, ServiceLevel::new(parse_decimal(level)?)?);
    words.next().is_none().then_some((Guid(guid), lid, level))
}

fn has_content(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Whether the first line with content is a path with its level.
pub fn looks_like(head: &str) -> bool {
    head.lines().map(str::trim).find(|line| has_content(line)).is_some_and(|line| parse_entry(line).is_some())
}

/// Reads the levels of paths.
pub fn read(input: Input<'_>) -> Result<PolicyFile, Box<FileError>> {
    let (mut table, mut notes) = (PathLevelTable::default(), Notes::new());
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        if !has_content(text) {
            continue;
        }
        let place = || input.line_place(line.number);
        let found = parse_entry(text);
        // A 1 at the end of the file may be the beginning of 10 to 15.
        if line.unended && found.is_none_or(|(_, _, level)| level.value() == 1 && text.ends_with(" 1")) {
            note_truncated_line(&mut notes, place(), text);
            continue;
        }
        let wanted = "the GUID of a source (0x and 16 digits), a LID and a service level of 0 to 15";
        let (source, lid, level) = found.ok_or_else(|| bad_line(place(), text, wanted))?;
        let known = table.sources.entry(source).or_default().insert(lid, level);
        if known.is_some_and(|known| known != level) {
            notes.add(CONFLICTING_ENTRIES, place(), || {
                format!("the path from {source} to LID {lid} has two service levels; the last one counts")
            });
        }
    }
    if table.sources.is_empty() {
        return Err(no_content(input.name, "service level of a path"));
    }
    Ok(PolicyFile { levels: PolicyLevels::ByPath(table), notes })
}

/// Number of lines that the file will have.
pub fn line_count(fabric: &Fabric) -> usize {
    sending_nodes(fabric).len().saturating_mul(destinations(fabric).len())
}

/// Writes the levels of all paths, including those of switches.
pub fn write(fabric: &Fabric, routes: &Routes, out: &mut dyn Write) -> io::Result<Notes> {
    let mut notes = Notes::new();
    let ends = destinations(fabric);
    for sender in sending_nodes(fabric) {
        let guid = fabric.node(sender.node).guid();
        let Some((first, others)) = sender.switches.split_first() else { continue };
        for (lid, owner) in ends.iter().filter(|(_, owner)| sender.sends_to(*owner)) {
            let lane = routes.lane(first.0, *lid);
            writeln!(out, "{guid} {lid} {}", lane.value())?;
            if others.iter().any(|switch| routes.lane(switch.0, *lid) != lane) {
                let owner = fabric.node(*owner).guid();
                notes.add(PORTS_DISAGREE, NotePlace::default(), || {
                    format!("the ports of {guid} take different lanes to {owner}; the format has one for each node: the first \
                         port's is used")
                });
            }
        }
    }
    Ok(notes)
}

fn sending_nodes(fabric: &Fabric) -> Vec<SendingNode> {
    let sender = |(node, facts): (NodeId, &fabdeck_fabric::Node)| {
        let switches = match facts.facts.kind {
            NodeKind::Switch => vec![node],
            _ => fabric
                .ports_of(node)
                .filter_map(|(port, _)| fabric.peer(port))
                .map(|peer| fabric.port(peer).node)
                .filter(|peer| fabric.node(*peer).is_switch())
                .collect(),
        };
        SendingNode { node, switches }
    };
    fabric.nodes().map(sender).filter(|sender| !sender.switches.is_empty()).collect()
}

/// All LIDs in use, with their nodes.
fn destinations(fabric: &Fabric) -> Vec<(Lid, NodeId)> {
    let mut ends = Vec::new();
    for (_, port) in fabric.ports() {
        let end = port.number == PortNum::MANAGEMENT || !fabric.node(port.node).is_switch();
        let Some(base) = port.facts.lid.filter(|_| end) else { continue };
        let lids = (0..u32::from(port.facts.lmc.lid_count())).map(|more| u32::from(base.value()) + more);
        ends.extend(lids.filter_map(Lid::new).map(|lid| (lid, port.node)));
    }
    ends.sort_unstable();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::PathLanes;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use proptest::prelude::*;

    #[test]
    fn a_line_for_each_node_and_lid() {
        let fabric = generate(&"kary,k=2,n=1".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let top = fabric.top_lid().unwrap();
        let mut routes = Routes::empty(fabric.switch_count(), Some(top));
        let lane = (0..=top.index()).map(|lid| (lid % 3) as u8).collect();
        routes.lanes = PathLanes::ByDestination { lanes: 3, lane };
        let mut bytes = Vec::new();
        assert!(write(&fabric, &routes, &mut bytes).unwrap().is_empty());
        let text = String::from_utf8(bytes).unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let lid: u32 = words[1].parse().unwrap();
            assert_eq!((words.len(), words[2].parse::<u32>().unwrap()), (3, lid % 3), "{line}");
            assert!(words[0].starts_with("0x") && words[0].len() == 18, "{line}");
        }
        let nodes = fabric.nodes().len();
        assert_eq!((text.lines().count(), line_count(&fabric)), (nodes * (nodes - 1), nodes * nodes));
    }

    /// A server whose adapter has both ports at one switch.
    #[test]
    fn ports_of_one_adapter_send_to_each_other() {
        use fabdeck_fabric::{FabricBuilder, NodeFacts};
        let mut builder = FabricBuilder::new();
        let mut node = |kind, guid, ports| {
            builder.add_node(NodeFacts::new(kind, Guid(guid), ports, String::new())).unwrap()
        };
        let (switch, host) = (node(NodeKind::Switch, 7, 4), node(NodeKind::ChannelAdapter, 9, 2));
        for (number, lid) in [(1, 3), (2, 4)] {
            builder.port(host, PortNum(number)).lid = Lid::new(lid);
            builder.connect((switch, PortNum(number)), (host, PortNum(number))).unwrap();
        }
        builder.port(switch, PortNum::MANAGEMENT).lid = Lid::new(1);
        let fabric = builder.finish();
        let routes = Routes::empty(1, fabric.top_lid());
        let mut bytes = Vec::new();
        write(&fabric, &routes, &mut bytes).unwrap();
        let file = read(Input::new("psl", &bytes)).unwrap();
        let PolicyLevels::ByPath(table) = file.levels else { panic!("{:?}", file.levels) };
        let own = |lid| table.level(Guid(9), Lid::new(lid).unwrap()).is_some();
        assert!(own(3) && own(4) && own(1), "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(table.apply_to(&fabric, true).unlisted, 0);
    }

    #[test]
    fn lines_that_are_no_paths_are_named() {
        let error = |text: &str| read(Input::new("p.psl", text.as_bytes())).unwrap_err();
        for line in [
            "0x0002c90000000201 17 16",
            "0x0002c90000000201 0 3",
            "0x0002c90000000201 17 3 4",
            "0x2c9 17 3",
            "0x0000000000000000 17 3",
        ] {
            let found = error(&format!("# paths\n0x0002c90000000201 16 3\n{line}\n"));
            assert!(found.code == "FD-2303" && found.to_string().contains('3'), "{line}: {found}");
        }
        assert_eq!((error("").code, error("# none\n").code), ("FD-2307", "FD-2307"));
    }

    #[test]
    fn of_two_levels_of_a_path_the_last_one_counts() {
        let text = "0x0002c90000000201 17 3\n0x0002c90000000201 17 3\n0x0002c90000000201 17 4\n";
        let file = read(Input::new("p.psl", text.as_bytes())).unwrap();
        let PolicyLevels::ByPath(table) = &file.levels else { panic!("{:?}", file.levels) };
        let level = table.level(Guid(0x0002_c900_0000_0201), Lid::new(17).unwrap()).unwrap();
        let codes: Vec<(&str, u64)> = file.notes.iter().map(|note| (note.code, note.count)).collect();
        assert_eq!((level.value(), table.count(), codes), (4, 1, vec![(CONFLICTING_ENTRIES, 1)]));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(0x[0-9a-f]{15,17}|[ -~\n]{0,40}| [0-9]{1,6}|\n){0,30}") {
            let _ = read(Input::new("x", text.as_bytes()));
        }
    }
}
