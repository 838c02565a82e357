//! Writes a plan as `.topo` of ibutils, where its names permit it: a name is one word there, and stands for one device.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::plan::{CablingPlan, PlanCable, PlannedEnd};
use super::planned_rate::lane_gigabits;
use super::port_text::PortText;
use fabdeck_fabric::{Guid, LinkSpeed, NodeKind};

/// A written `.topo`, and the cables that it cannot express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopoText {
    pub text: String,
    pub cables: usize,
    /// The reason for each cable that is left out.
    pub left_out: Vec<String>,
}

/// A system of the file: its name, and the part of it that a port belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct TopoPort {
    system: String,
    part: Option<String>,
    number: u8,
}

impl TopoPort {
    /// `host4 mlx5_0` is the system `host4` with the part `mlx5_0`; other names with a blank are none.
    fn of(end: &PlannedEnd) -> Result<Self, String> {
        let PortText::Number(number) = end.port else {
            return Err(format!("{} has no number of a port", end.name()));
        };
        let words: Vec<&str> = system_name(&end.device).split(' ').collect();
        let is_word = |word: &&str| !word.is_empty() && !word.contains(['#', '\t', '"', ',', ';', '>']);
        if !words.iter().all(is_word) {
            return Err(format!("'{}' is no name for a .topo", end.device));
        }
        let (system, part) = match words[..] {
            [system] => (system, None),
            [system, part] if end.kind != Some(NodeKind::Switch) => (system, Some(part.to_owned())),
            _ => return Err(format!("'{}' has blanks, and a name in a .topo is one word", end.device)),
        };
        Ok(Self { system: system.to_owned(), part, number })
    }

    fn port(&self) -> String {
        match &self.part {
            Some(part) => format!("{part}/P{}", self.number),
            None => format!("P{}", self.number),
        }
    }
}

/// The type of a system by the ports of its nodes: `SW36`, `HCA1`.
fn system_types(cables: &[(&PlanCable, [TopoPort; 2])]) -> BTreeMap<String, String> {
    let mut most: BTreeMap<&str, (bool, u8, BTreeSet<&Option<String>>)> = BTreeMap::new();
    for (cable, ports) in cables {
        for (end, port) in cable.ends.iter().zip(ports) {
            let held = most.entry(&port.system).or_default();
            held.0 |= end.kind == Some(NodeKind::Switch);
            held.1 = held.1.max(port.number);
            held.2.insert(&port.part);
        }
    }
    let word = |(is_switch, ports, parts): (bool, u8, BTreeSet<&Option<String>>)| match is_switch {
        true => format!("SW{ports}"),
        false => format!("HCA{}", ports as usize * parts.len()),
    };
    most.into_iter().map(|(name, held)| (name.to_owned(), word(held))).collect()
}

/// The name of a system: `leaf3` of `MF0;leaf3:MQM9700/U1`, by which a plan finds it again.
fn system_name(device: &str) -> &str {
    let short = device.split_once(';').and_then(|(_, rest)| rest.rsplit_once(':'));
    short.map_or(device, |(name, _)| name)
}

/// What tells two devices with one name apart.
type DeviceKey = (Option<Guid>, Option<NodeKind>);

/// Names that several devices have.
fn shared_names(plan: &CablingPlan) -> BTreeSet<String> {
    let mut owners: BTreeMap<String, BTreeSet<DeviceKey>> = BTreeMap::new();
    for end in plan.cables.iter().flat_map(|cable| &cable.ends) {
        let name = system_name(&end.device).to_lowercase();
        owners.entry(name).or_default().insert((end.guid, end.kind));
    }
    owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(name, _)| name).collect()
}

fn arrow(cable: &PlanCable) -> String {
    // FDR10 has the lanes of QDR; the file knows 10 as one speed.
    let speed = cable.rate.speed.map(|speed| if speed == LinkSpeed::Fdr10 { LinkSpeed::Qdr } else { speed });
    match (cable.rate.width, speed) {
        (Some(width), Some(speed)) => format!("-{}-{}G->", width.word(), lane_gigabits(speed)),
        (Some(width), None) => format!("-{}->", width.word()),
        (None, Some(speed)) => format!("-{}G->", lane_gigabits(speed)),
        (None, None) => "->".to_owned(),
    }
}

/// Writes the cables, each once, under the system of its first end.
pub fn write_topo(plan: &CablingPlan) -> TopoText {
    let shared = shared_names(plan);
    let (mut cables, mut left_out) = (Vec::new(), Vec::new());
    for cable in &plan.cables {
        if let Some(end) =
            cable.ends.iter().find(|end| shared.contains(&system_name(&end.device).to_lowercase()))
        {
            left_out.push(format!("several devices are called '{}'", end.device));
            continue;
        }
        match (TopoPort::of(&cable.ends[0]), TopoPort::of(&cable.ends[1])) {
            (Ok(a), Ok(b)) => cables.push((cable, [a, b])),
            (Err(why), _) | (_, Err(why)) => left_out.push(why),
        }
    }
    let types = system_types(&cables);
    let type_of = |name: &str| types.get(name).map_or("SW", String::as_str);
    let mut systems: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cable, [a, b]) in &cables {
        let line =
            format!("   {} {} {} {} {}", a.port(), arrow(cable), type_of(&b.system), b.system, b.port());
        systems.entry(&a.system).or_default().push(line);
    }
    let mut text = String::new();
    for (name, lines) in systems {
        let _ = writeln!(text, "{} {name}\n{}\n", type_of(name), lines.join("\n"));
    }
    TopoText { text, cables: cables.len(), left_out }
}
