//! A second, independent parser of the tools' output, which uses none of fabdeck's readers.

use std::collections::BTreeMap;

/// GUID of a node and the number of a port.
pub type End = (u64, u64);

/// A switch or an adapter in ibnetdiscover's output.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub ports: u64,
    /// LID and LMC of a switch; an adapter has them for each port.
    pub lid: Option<(u64, u64)>,
}

/// One end of a cable in ibnetdiscover's output.
#[derive(Debug, PartialEq, Eq)]
pub struct Cable {
    pub peer: End,
    /// Width and speed in one word: `4xQDR`.
    pub rate: String,
    /// LID and LMC of an adapter's port.
    pub lid: Option<(u64, u64)>,
    pub port_guid: Option<u64>,
}

#[derive(Debug, Default)]
pub struct PrintedFabric {
    pub switches: BTreeMap<u64, Node>,
    pub hosts: BTreeMap<u64, Node>,
    pub ends: BTreeMap<End, Cable>,
}

impl PrintedFabric {
    pub fn of(text: &str) -> Self {
        let mut seen = Self::default();
        let mut node = 0;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("Switch\t").or_else(|| line.strip_prefix("Ca\t")) {
                node = identity(rest);
                let comment = rest.split('#').nth(1).unwrap();
                let heading = Node {
                    name: comment.split('"').nth(1).unwrap().to_owned(),
                    ports: rest.split(' ').next().unwrap().parse().unwrap(),
                    lid: number_after(comment, " lid ").zip(number_after(comment, " lmc ")),
                };
                let list = if line.starts_with('S') { &mut seen.switches } else { &mut seen.hosts };
                assert!(list.insert(node, heading).is_none(), "{line}");
            } else if let Some(rest) = line.strip_prefix('[') {
                let cable = cable(rest);
                assert!(seen.ends.insert((node, leading(rest)), cable).is_none(), "{line}");
            }
        }
        seen
    }
}

/// Parses `1](2c90300000001) \t"S-0002c90100000000"[1]\t\t# lid 55 lmc 0 "leaf0" lid 1 4xQDR`.
fn cable(rest: &str) -> Cable {
    let (front, comment) = rest.split_once('#').unwrap();
    let own = front.split('"').next().unwrap();
    let port_guid = own.split_once('(').map(|(_, guid)| hex(guid.split(')').next().unwrap()));
    let peer_port = leading(front.rsplit_once("\"[").unwrap().1);
    let before_name = comment.split('"').next().unwrap();
    Cable {
        peer: (identity(front), peer_port),
        rate: comment.split_whitespace().last().unwrap().to_owned(),
        lid: number_after(before_name, " lid ").zip(number_after(before_name, " lmc ")),
        port_guid,
    }
}

/// The GUID in the first quoted identity: `"S-0002c90100000000"`.
fn identity(text: &str) -> u64 {
    hex(&text.split('"').nth(1).unwrap()[2..])
}

pub fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn number_after(text: &str, word: &str) -> Option<u64> {
    text.split_once(word).map(|(_, rest)| leading(rest))
}

fn leading(text: &str) -> u64 {
    text.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Switch GUID -> group -> ports, from the tables of `dump_mfts`: one line for each group, an `x` for each port.
pub fn groups(text: &str) -> BTreeMap<u64, BTreeMap<u16, Vec<u8>>> {
    let mut tables = BTreeMap::<u64, BTreeMap<u16, Vec<u8>>>::new();
    let (mut switch, mut column) = (0, 0);
    for line in text.lines() {
        if line.starts_with("Multicast mlids") {
            switch = hex(line.split(" guid ").nth(1).unwrap().split(' ').next().unwrap());
            tables.entry(switch).or_default();
        } else if line.trim_start().starts_with("Ports:") {
            column = line.find("0 1").unwrap_or_else(|| line.rfind('0').unwrap());
        } else if line.starts_with("0x") {
            let group = hex(line.split_whitespace().next().unwrap()) as u16;
            let marks = line.char_indices().filter(|(at, sign)| *at >= column && *sign == 'x');
            let ports = marks.map(|(at, _)| ((at - column) / 2) as u8).collect();
            tables.entry(switch).or_default().insert(group, ports);
        }
    }
    tables
}

/// `NAME:.....VALUE` lines of perfquery, with CounterSelect and the like.
pub fn counters(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim_start_matches('.');
        let number = if value.starts_with("0x") { hex(value) } else { value.parse().ok()? };
        Some((name.to_owned(), number))
    };
    lines.filter_map(pair).collect()
}

/// The row of `smpquery sl2vl` for one pair of ports: the lanes of SL 0 to 15.
pub fn lanes(text: &str, from: u8, to: u8) -> Vec<u64> {
    let head = format!("ports: in {from:2}, out {to:2}: |");
    let row =
        text.lines().find_map(|line| line.strip_prefix(&head)).unwrap_or_else(|| panic!("{head}: {text}"));
    row.trim_end_matches('|').split('|').map(|lane| lane.trim().parse().unwrap()).collect()
}

/// The two tables of `smpquery vlarb` as `show lanes` prints them: `0:4 1:0`, low first.
pub fn arbitration(text: &str) -> Vec<String> {
    let mut tables = Vec::new();
    let cells = |line: &str| -> Vec<u64> {
        line.split('|').skip(1).map(str::trim).filter(|cell| !cell.is_empty()).map(hex).collect()
    };
    let (mut table, mut held) = (None::<Vec<String>>, Vec::new());
    for line in text.lines() {
        if line.contains("priority VL Arbitration Table") {
            tables.extend(table.replace(Vec::new()));
        } else if line.starts_with("VL ") {
            held = cells(line);
        } else if line.starts_with("WEIGHT:") {
            let entries = held.iter().zip(cells(line)).map(|(lane, weight)| format!("{lane}:{weight}"));
            table.get_or_insert_default().extend(entries);
        }
    }
    tables.extend(table);
    tables.iter().map(|entries| entries.join(" ")).collect()
}
