//! Gives what files state about links, modules and sensors to the ports and nodes of a fabric.

use fabdeck_fabric::observe::{
    BitErrorCounts, DeviceAnswer, DeviceSensors, NotePlace, Notes, PortWire, WireHealth,
};
use fabdeck_fabric::{Fabric, Guid, Lid, NodeId, PortNum};

use super::content::{WireFile, WireOwner};

/// Values of a device that the fabric does not have.
const UNKNOWN_DEVICE: &str = "FN-441";
/// A file whose name does not say which port it is about.
const NO_OWNER: &str = "FN-447";

impl WireFile {
    /// Adds what the file states. What is known already stays.
    pub fn apply_to(&self, fabric: &Fabric, wire: &mut WireHealth, notes: &mut Notes) {
        for one in &self.ports {
            let found = match one.owner {
                WireOwner::Guid(guid) => one.port.and_then(|port| port_by_guid(fabric, guid, port)),
                WireOwner::FileName => port_by_file(fabric, &one.place.file),
            };
            match found {
                Some(at) => fill_port(wire.ports.entry(at).or_default(), &one.wire),
                None => note_missing(one.owner, &one.place, notes),
            }
        }
        for one in &self.devices {
            let found = match one.owner {
                WireOwner::Guid(guid) => node_by_guid(fabric, guid).map(|node| fabric.node(node).guid()),
                WireOwner::FileName => node_by_file(fabric, &one.place.file),
            };
            match found {
                Some(node) => fill_device(wire.devices.entry(node).or_default(), &one.sensors),
                None => note_missing(one.owner, &one.place, notes),
            }
        }
    }
}

/// Removes what belongs to no port or node of the fabric.
pub fn keep_known(fabric: &Fabric, source: &str, wire: &mut WireHealth, notes: &mut Notes) {
    let mut first = None;
    wire.ports.retain(|(node, port), _| {
        let known = fabric.node_by_guid(*node).and_then(|node| fabric.port_of(node, *port)).is_some();
        first = first.or((!known).then_some((*node, Some(*port))));
        known
    });
    wire.devices.retain(|node, _| {
        let known = fabric.node_by_guid(*node).is_some();
        first = first.or((!known).then_some((*node, None)));
        known
    });
    for (guid, columns) in std::mem::take(&mut wire.stated) {
        // Some versions name an aggregation node by the GUID of its port.
        let of_port = || fabric.port_by_guid(guid).map(|port| fabric.port(port).node);
        match fabric.node_by_guid(guid).or_else(of_port) {
            Some(node) => wire.stated.entry(fabric.node(node).guid()).or_default().fill(&columns),
            None => first = first.or(Some((guid, None))),
        }
    }
    if let Some((node, port)) = first {
        let port = port.map_or(String::new(), |port| format!(" port {port}"));
        notes.add(UNKNOWN_DEVICE, NotePlace::file(source), || {
            format!("{node}{port} is not in this fabric; what the file states about it is left out")
        });
    }
}

fn note_missing(owner: WireOwner, place: &NotePlace, notes: &mut Notes) {
    match owner {
        WireOwner::Guid(guid) => note_unknown_device(guid, place, notes),
        WireOwner::FileName => notes.add(NO_OWNER, place.clone(), || {
            "the file does not say which port it is about; name it after the port, such as NODE-PORT.json, \
             0xGUID-PORT.json or lid-LID-PORT.json"
                .to_owned()
        }),
    }
}

pub(super) fn note_unknown_device(guid: Guid, place: &NotePlace, notes: &mut Notes) {
    notes.add(UNKNOWN_DEVICE, place.clone(), || {
        format!("{guid} is not in this fabric; what the file states about it is left out")
    });
}

fn node_by_guid(fabric: &Fabric, guid: Guid) -> Option<NodeId> {
    fabric.node_by_guid(guid).or_else(|| fabric.port_by_guid(guid).map(|port| fabric.port(port).node))
}

/// The port of a node by its own GUID or that of the node.
pub(super) fn port_by_guid(fabric: &Fabric, guid: Guid, port: PortNum) -> Option<(Guid, PortNum)> {
    let own = fabric.port_by_guid(guid).map(|id| fabric.port(id)).filter(|own| own.number == port);
    let node = own.map(|own| own.node).or_else(|| node_by_guid(fabric, guid))?;
    fabric.port_of(node, port).map(|_| (fabric.node(node).guid(), port))
}

/// What the name of a file says: the node, and the words after it.
struct FileWords {
    words: Vec<String>,
}

impl FileWords {
    fn of(file: &str) -> Self {
        let name = file.rsplit(['/', '!']).next().unwrap_or_default();
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase();
        let words = stem.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let tool = |word: &&str| ["mlxlink", "mstlink", "ibswinfo"].contains(word);
        Self { words: words.filter(|word| !tool(word)).map(str::to_owned).collect() }
    }

    /// The node, and the words that do not belong to its name.
    fn find_node(&self, fabric: &Fabric) -> Option<(NodeId, Option<PortNum>, &[String])> {
        let (first, rest) = self.words.split_first()?;
        if first.len() >= 16
            && let Ok(guid) = Guid::from_hex(first)
        {
            let port = fabric.port_by_guid(guid).map(|port| fabric.port(port));
            let number = port.filter(|port| port.number != PortNum::MANAGEMENT).map(|port| port.number);
            return Some((node_by_guid(fabric, guid)?, number, rest));
        }
        if let Some(digits) = first.strip_prefix("lid") {
            let (digits, rest) = match (digits, rest) {
                ("", [digits, rest @ ..]) => (digits.as_str(), rest),
                (digits, rest) => (digits, rest),
            };
            let lid = digits.parse().ok().and_then(Lid::new);
            if let Some(port) = lid.and_then(|lid| fabric.port_by_lid(lid)).map(|port| fabric.port(port)) {
                let number = Some(port.number).filter(|number| *number != PortNum::MANAGEMENT);
                return Some((port.node, number, rest));
            }
        }
        self.find_by_name(fabric).map(|(node, rest)| (node, None, rest))
    }

    /// The node with the longest name that the file's name begins with; none if two nodes have it.
    fn find_by_name(&self, fabric: &Fabric) -> Option<(NodeId, &[String])> {
        let mut best: Option<(usize, NodeId)> = None;
        let mut shared = false;
        for (id, node) in fabric.nodes() {
            let name = node.facts.description.to_ascii_lowercase();
            let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
            let mut count = 0;
            let begins = words.all(|word| {
                count += 1;
                self.words.get(count - 1).is_some_and(|own| own == word)
            });
            if !begins || count == 0 {
                continue;
            }
            match best {
                Some((length, _)) if length > count => {}
                Some((length, _)) if length == count => shared = true,
                _ => (best, shared) = (Some((count, id)), false),
            }
        }
        let (count, id) = best.filter(|_| !shared)?;
        Some((id, &self.words[count..]))
    }
}

/// The port that words name: `12`, `p12`, `port12`, `port 12`. Without words it is the only port of an adapter.
fn port_in_words(fabric: &Fabric, node: NodeId, own: Option<PortNum>, words: &[String]) -> Option<PortNum> {
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !["p", "port"].contains(word)).collect();
    let facts = &fabric.node(node).facts;
    match words.as_slice() {
        [] if own.is_some() => own,
        [] if facts.port_count == 1 => Some(PortNum(1)),
        [word] => {
            let digits = word.strip_prefix("port").or_else(|| word.strip_prefix('p')).unwrap_or(word);
            digits.parse().ok().and_then(PortNum::new)
        }
        _ => None,
    }
}

fn port_by_file(fabric: &Fabric, file: &str) -> Option<(Guid, PortNum)> {
    let words = FileWords::of(file);
    let (node, own, rest) = words.find_node(fabric)?;
    let port = port_in_words(fabric, node, own, rest)?;
    fabric.port_of(node, port).map(|_| (fabric.node(node).guid(), port))
}

fn node_by_file(fabric: &Fabric, file: &str) -> Option<Guid> {
    let words = FileWords::of(file);
    words.find_node(fabric).map(|(node, ..)| fabric.node(node).guid())
}

fn fill<T: Clone>(held: &mut DeviceAnswer<T>, stated: &DeviceAnswer<T>) {
    if held.known().is_none() && !stated.is_not_asked() {
        held.clone_from(stated);
    }
}

/// Adds what is not known yet. Counts of bit errors say more than rates alone.
pub fn fill_port(held: &mut PortWire, stated: &PortWire) {
    let worth = |counts: &BitErrorCounts| (counts.bits > 0, counts.since_ms > 0);
    if let (Some(known), Some(other)) = (held.bit_errors.known(), stated.bit_errors.known())
        && worth(other) > worth(known)
    {
        held.bit_errors = DeviceAnswer::NotAsked;
    }
    fill(&mut held.bit_errors, &stated.bit_errors);
    fill(&mut held.errors, &stated.errors);
    fill(&mut held.discards, &stated.discards);
    fill(&mut held.fec, &stated.fec);
    fill(&mut held.fec_counts, &stated.fec_counts);
    fill(&mut held.module, &stated.module);
}

/// Adds what is not known yet.
pub fn fill_device(held: &mut DeviceSensors, stated: &DeviceSensors) {
    fill(&mut held.temperature, &stated.temperature);
    fill(&mut held.fan_list, &stated.fan_list);
    fill(&mut held.firmware, &stated.firmware);
    fill(&mut held.system, &stated.system);
    fill(&mut held.power_supplies, &stated.power_supplies);
    if held.fan_faults.is_empty() {
        held.fan_faults.clone_from(&stated.fan_faults);
    }
    for (number, speed) in &stated.fans {
        fill(held.fans.entry(*number).or_default(), speed);
    }
    for (number, sensor) in &stated.board {
        held.board.entry(*number).or_insert_with(|| sensor.clone());
    }
    for (number, limits) in &stated.fan_limits {
        held.fan_limits.entry(*number).or_insert(*limits);
    }
}

#[cfg(test)]
mod tests;
