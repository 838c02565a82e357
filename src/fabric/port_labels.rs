//! Labels of ports, as they are printed beside the cages of a device, and places of nodes. Each label says where it
//! comes from: a label by the rule of a model is a guess, never a fact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Guid, NodeFacts, NodeKind, PortNum};

/// The sign behind a label that is a guess.
pub const GUESS_SIGN: char = '?';

/// Where a label comes from, the most trusted origin first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelOrigin {
    /// A sheet of the operator.
    Sheet,
    /// The device itself, by HierarchyInfo.
    Device,
    /// A file of a diagnostic tool.
    File,
    /// The rule of the model: a guess.
    Rule,
}

impl LabelOrigin {
    /// The word of the program for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sheet => "sheet",
            Self::Device => "device",
            Self::File => "file",
            Self::Rule => "guess",
        }
    }
}

/// The label of a port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortLabel {
    /// The label, as it is printed beside the port.
    pub text: String,
    /// Where it comes from.
    pub origin: LabelOrigin,
}

impl PortLabel {
    /// Whether the label follows from the rule of the model alone.
    pub fn is_guess(&self) -> bool {
        self.origin == LabelOrigin::Rule
    }

    /// The label for a screen: a guess ends with a question mark.
    pub fn shown(&self) -> String {
        match self.is_guess() {
            true => format!("{}{GUESS_SIGN}", self.text),
            false => self.text.clone(),
        }
    }
}

/// Where a node is. What is not known is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodePlace {
    /// The site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The room or hall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// The row of racks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<String>,
    /// The height unit in the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl NodePlace {
    fn parts(&self) -> [(&'static str, &Option<String>); 5] {
        [
            ("site", &self.site),
            ("room", &self.room),
            ("row", &self.row),
            ("rack", &self.rack),
            ("U", &self.unit),
        ]
    }

    /// Whether nothing is known of the place.
    pub fn is_empty(&self) -> bool {
        self.parts().iter().all(|(_, part)| part.is_none())
    }

    /// The place in words: `room 2, rack B7, U 31`. Empty if nothing is known.
    pub fn text(&self) -> String {
        let known = self.parts().into_iter().filter_map(|(word, part)| Some((word, part.as_ref()?)));
        known.map(|(word, part)| format!("{word} {part}")).collect::<Vec<_>>().join(", ")
    }

    /// Adds what is not known yet from another statement about the same node.
    pub fn fill(&mut self, other: &Self) {
        let own = [&mut self.site, &mut self.room, &mut self.row, &mut self.rack, &mut self.unit];
        for (own, (_, stated)) in own.into_iter().zip(other.parts()) {
            if own.is_none() {
                own.clone_from(stated);
            }
        }
    }
}

/// A line of a sheet of the operator: a device, and what the sheet states about one of its ports or about its place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SheetRow {
    /// The name or GUID of the device.
    pub device: String,
    /// The port number; `None` for a line about the device alone.
    pub port: Option<PortNum>,
    /// The label of the port.
    pub label: Option<String>,
    /// The place of the device.
    pub place: NodePlace,
    /// The sheet.
    pub file: String,
    /// The line in the sheet.
    pub line: u64,
}

/// Labels and places by GUID, and the lines of a sheet, whose names need a fabric to be understood.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortLabels {
    /// The labels, by the node GUID and the port.
    pub ports: BTreeMap<(Guid, PortNum), PortLabel>,
    /// The places of nodes.
    pub places: BTreeMap<Guid, NodePlace>,
    /// The lines of a sheet.
    pub sheet: Vec<SheetRow>,
}

impl PortLabels {
    /// Whether there is neither a label nor a place.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty() && self.places.is_empty() && self.sheet.is_empty()
    }

    /// Adds a label. The more trusted origin counts; of one origin the first statement. Returns a label of the same
    /// origin that contradicts the new one.
    pub fn add(&mut self, at: (Guid, PortNum), label: PortLabel) -> Option<&PortLabel> {
        let held = self.ports.entry(at).or_insert_with(|| label.clone());
        if label.origin < held.origin {
            *held = label;
            return None;
        }
        (held.origin == label.origin && held.text != label.text).then_some(held)
    }

    /// Adds all labels, places and lines of another list.
    pub fn extend(&mut self, other: Self) {
        for (at, label) in other.ports {
            self.add(at, label);
        }
        for (node, place) in other.places {
            self.places.entry(node).or_default().fill(&place);
        }
        self.sheet.extend(other.sheet);
    }
}

/// The label that the rule of the model gives a port; `None` for another model, or where the label is the port number.
///
/// - Quantum-2 (`MF0;<name>:MQM9700/U1`, 64 ports): `asic/cage/port`, two ports in each cage. With split ports (128):
///   `asic/cage/port/half`.
/// - Quantum (`MF0;<name>:MQM8700/U1`) with split ports (80): `port/half`.
pub fn guess_label(node: &NodeFacts, port: PortNum) -> Option<String> {
    if node.kind != NodeKind::Switch || port == PortNum::MANAGEMENT {
        return None;
    }
    let (_, system) = node.description.trim().rsplit_once(':')?;
    let (model, chip) = system.split_once('/')?;
    let asic: u8 = chip.strip_prefix('U')?.parse().ok()?;
    let number = u16::from(port.value());
    // The last port of such a switch leads to its aggregation node.
    let (is_split, ports) =
        match (model.starts_with("MQM9700"), model.starts_with("MQM8700"), node.port_count) {
            (true, _, 64 | 65) => (false, 64),
            (true, _, 128 | 129) => (true, 128),
            (_, true, 80 | 81) => (true, 80),
            _ => return None,
        };
    if number > ports {
        return None;
    }
    let (whole, half) = if is_split { (number.div_ceil(2), 2 - number % 2) } else { (number, 0) };
    let split = if is_split { format!("/{half}") } else { String::new() };
    Some(match model.starts_with("MQM8700") {
        true => format!("{whole}{split}"),
        false => format!("{asic}/{}/{}{split}", whole.div_ceil(2), 2 - whole % 2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(description: &str, ports: u8) -> NodeFacts {
        NodeFacts::new(NodeKind::Switch, Guid(1), ports, description)
    }

    #[test]
    fn the_rule_of_a_model_gives_a_guess_for_its_ports_alone() {
        let guess = |name: &str, ports, port| guess_label(&switch(name, ports), PortNum(port));
        for (name, ports, port, label) in [
            ("MF0;leaf3:MQM9700/U1", 65, 1, Some("1/1/1")),
            ("MF0;leaf3:MQM9700/U1", 64, 4, Some("1/2/2")),
            ("MF0;a:b:MQM9700/U2", 65, 63, Some("2/32/1")),
            ("MF0;leaf3:MQM9700/U1", 65, 65, None),
            ("MF0;leaf3:MQM9700/U1", 65, 0, None),
            ("MF0;leaf3:MQM9700/U1", 129, 1, Some("1/1/1/1")),
            ("MF0;leaf3:MQM9700/U1", 129, 8, Some("1/2/2/2")),
            ("MF0;leaf3:MQM9700/U1", 129, 128, Some("1/32/2/2")),
            ("MF0;leaf3:MQM9700/U1", 129, 129, None),
            ("MF0;leaf3:MQM8700/U1", 81, 24, Some("12/2")),
            ("MF0;leaf3:MQM8700/U1", 81, 81, None),
            // The label is the port number.
            ("MF0;leaf3:MQM8700/U1", 41, 7, None),
            ("MF0;leaf3:MQM9700/U1", 32, 7, None),
            ("MF0;leaf3:Q3400_RA/U1", 144, 7, None),
            ("leaf3", 65, 1, None),
            ("leaf3:MQM9700", 65, 1, None),
        ] {
            assert_eq!(guess(name, ports, port).as_deref(), label, "{name} {ports} {port}");
        }
        let host = NodeFacts::new(NodeKind::ChannelAdapter, Guid(1), 65, "MF0;leaf3:MQM9700/U1");
        assert_eq!(guess_label(&host, PortNum(1)), None);
    }

    #[test]
    fn the_more_trusted_origin_counts_and_then_the_first() {
        let mut labels = PortLabels::default();
        let at = (Guid(1), PortNum(3));
        let label = |text: &str, origin| PortLabel { text: text.into(), origin };
        assert_eq!(labels.add(at, label("file", LabelOrigin::File)), None);
        assert_eq!(labels.add(at, label("rule", LabelOrigin::Rule)), None);
        assert_eq!(labels.ports[&at].text, "file");
        assert_eq!(labels.add(at, label("sheet", LabelOrigin::Sheet)), None);
        let held = labels.add(at, label("other", LabelOrigin::Sheet)).map(|held| held.text.clone());
        assert_eq!((held.as_deref(), labels.ports[&at].shown()), (Some("sheet"), "sheet".to_owned()));
        assert_eq!(label("1/2/1", LabelOrigin::Rule).shown(), "1/2/1?");
    }

    #[test]
    fn a_place_is_in_words_and_filled_from_further_lines() {
        let mut place = NodePlace { rack: Some("B7".into()), ..NodePlace::default() };
        let other = NodePlace { rack: Some("C1".into()), unit: Some("31".into()), ..NodePlace::default() };
        place.fill(&other);
        assert_eq!((place.text().as_str(), NodePlace::default().is_empty()), ("rack B7, U 31", true));
    }
}
