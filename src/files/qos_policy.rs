//! OpenSM's `qos-policy.conf`, as far as it sets service levels by destination port: a group of ports, a level and a
//! rule for each lane except the first. OpenSM silently ignores a file that it cannot parse. So the writer parses its
//! own output before returning it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fabdeck_fabric::observe::{NotePlace, Notes, PolicyLevels};
use fabdeck_fabric::{Fabric, Guid, Lid, PathLanes, PortNum, Routes};

use super::FileError;
use super::content::PolicyFile;
use super::opensm::{parse_prefixed_hex, port_guid, printable_excerpt};
use super::text::Input;

pub const ID: &str = "qos-policy";

/// Lanes that depend on the source too.
const LANES_BY_PAIR: &str = "FD-2601";
/// Lanes that depend on the LID, not on the port.
const LANES_BY_LID: &str = "FD-2602";
/// A port with an unknown GUID.
const NO_GUID: &str = "FD-2603";
/// A line that cannot be parsed.
const BAD_LINE: &str = "FD-2604";

/// A policy whose rules leave the levels of paths undecided.
const UNDECIDED: &str = "FN-261";

/// The words that open a policy's sections.
const SECTION_WORDS: [&str; 4] = ["port-groups", "qos-levels", "qos-match-rules", "qos-ulps"];

/// GUIDs on a line; OpenSM accepts ten thousand characters.
const GUIDS_PER_LINE: usize = 8;

/// Service levels by the GUID of the destination port; other ports have level 0.
pub type LevelsByPort = BTreeMap<Guid, u8>;

/// Writes the policy for lanes that depend on the destination; lane and level have the same number.
pub fn write(fabric: &Fabric, routes: &Routes) -> Result<String, Box<FileError>> {
    let levels = compute_levels(fabric, routes)?;
    let used: BTreeSet<u8> = levels.values().copied().collect();
    let text = print(&levels, &used);
    match read(Input::new(ID, text.as_bytes())) {
        Ok(again) if again == levels => Ok(text),
        Ok(_) => {
            let what = "the written policy is different when it is read back";
            Err(FileError::new(BAD_LINE, NotePlace::file(ID), what, "report this, it is a bug"))
        }
        Err(error) => Err(error),
    }
}

fn compute_levels(fabric: &Fabric, routes: &Routes) -> Result<LevelsByPort, Box<FileError>> {
    let mut levels = LevelsByPort::new();
    let refused = |code, what: String, hint: &str| FileError::new(code, NotePlace::file(ID), what, hint);
    if matches!(routes.lanes, PathLanes::ByPair { .. }) {
        let what = "the lane of a path depends on its source too, and a policy of OpenSM would need a rule for each pair";
        return Err(refused(
            LANES_BY_PAIR,
            what.into(),
            "route with an engine whose lanes depend on the destination alone, such as nue",
        ));
    }
    if routes.lanes.is_by_hop() {
        let what = "the service level of a path depends on its source too, and its lane changes on the way: a policy of \
                    OpenSM has one level for each destination";
        let hint = "write the tables (slvl, psl, sl2vl), or let OpenSM route with its own torus-2QoS";
        return Err(refused(LANES_BY_PAIR, what.into(), hint));
    }
    for (_, port) in fabric.ports() {
        let end = port.number == PortNum::MANAGEMENT || !fabric.node(port.node).is_switch();
        let Some(base) = port.facts.lid.filter(|_| end) else { continue };
        let lids = (0..u32::from(port.facts.lmc.lid_count())).map(|more| u32::from(base.value()) + more);
        let lanes: BTreeSet<u8> = lids.filter_map(Lid::new).map(|lid| routes.lane(0, lid).value()).collect();
        let (Some(lane), 1) = (lanes.first(), lanes.len()) else {
            let what = format!(
                "the LIDs of one port, from {base} on, have different lanes, and a policy has one lane for each port"
            );
            return Err(refused(LANES_BY_LID, what, "route with one LID for each port (LMC 0)"));
        };
        if *lane == 0 {
            continue;
        }
        let Some(guid) = port_guid(fabric, port.node, port.number) else {
            let what = format!("the GUID of the port with LID {base} is unknown");
            return Err(refused(NO_GUID, what, "take the topology with a tool that prints port GUIDs"));
        };
        levels.insert(guid, *lane);
    }
    Ok(levels)
}

fn print(levels: &LevelsByPort, used: &BTreeSet<u8>) -> String {
    let mut text = String::from("# Service level by destination; the rest takes level 0.\nport-groups\n");
    // Writing to a String cannot fail.
    for level in used {
        let _ = writeln!(text, "    port-group\n        name: lane{level}");
        let guids: Vec<String> =
            levels.iter().filter(|(_, held)| *held == level).map(|(guid, _)| guid.to_string()).collect();
        for line in guids.chunks(GUIDS_PER_LINE) {
            let _ = writeln!(text, "        port-guid: {}", line.join(", "));
        }
        text += "    end-port-group\n";
    }
    text += "end-port-groups\nqos-levels\n    qos-level\n        name: DEFAULT\n        sl: 0\n    end-qos-level\n";
    for level in used {
        let _ = writeln!(
            text,
            "    qos-level\n        name: lane{level}\n        sl: {level}\n    end-qos-level"
        );
    }
    text += "end-qos-levels\nqos-match-rules\n";
    for level in used {
        let _ = writeln!(
            text,
            "    qos-match-rule\n        destination: lane{level}\n        qos-level-name: lane{level}\n    end-qos-match-rule"
        );
    }
    text + "end-qos-match-rules\n"
}

/// The state of the parser.
#[derive(Default)]
struct PolicyDraft {
    /// Names of the open sections, the innermost last.
    open: Vec<String>,
    groups: BTreeMap<String, BTreeSet<Guid>>,
    levels: BTreeMap<String, u8>,
    /// Destination and level; the first match counts.
    rules: Vec<(String, String)>,
    name: String,
    guids: BTreeSet<Guid>,
    level: Option<u8>,
    destination: String,
    level_name: String,
}

const SECTIONS: [(&str, &str); 3] =
    [("port-groups", "port-group"), ("qos-levels", "qos-level"), ("qos-match-rules", "qos-match-rule")];

/// Reads a policy whose rules depend only on the destination.
pub fn read(input: Input<'_>) -> Result<LevelsByPort, Box<FileError>> {
    let mut draft = PolicyDraft::default();
    let mut last = 0;
    for line in input.lines() {
        let line = line?;
        last = line.number;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        draft.read_line(text).ok_or_else(|| {
            let what =
                format!("'{}' is not allowed here in a policy by destination", printable_excerpt(text));
            FileError::new(
                BAD_LINE,
                input.line_place(line.number),
                what,
                "write groups, levels and rules only",
            )
        })?;
    }
    let wrong = |what: &str| {
        FileError::new(
            BAD_LINE,
            input.line_place(last.max(1)),
            what,
            "compare it with one that 'convert' wrote",
        )
    };
    if !draft.open.is_empty() {
        return Err(wrong("the file ends within a section"));
    }
    draft
        .finish()
        .ok_or_else(|| wrong("a rule names an unknown group or level, or no level is called DEFAULT"))
}

/// Whether the first line with content opens a section of a policy.
pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.find(|line| !line.is_empty()).is_some_and(|line| SECTION_WORDS.contains(&line))
}

/// Reads an operator's policy. Rules that depend on more than the destination leave the levels of paths undecided,
/// unless all levels in the file are 0.
pub fn read_policy(input: Input<'_>) -> Result<PolicyFile, Box<FileError>> {
    let mut notes = Notes::new();
    let error = match read(input) {
        Ok(levels) if !levels.is_empty() || has_rules(input) => {
            return Ok(PolicyFile { levels: PolicyLevels::ByDestination(levels), notes });
        }
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let named = match (collect_levels(input)?, &error) {
        (Some(named), _) => named,
        (None, Some(error)) => return Err(error.clone()),
        (None, None) => BTreeSet::new(),
    };
    if named.iter().all(|level| *level == 0) {
        return Ok(PolicyFile { levels: PolicyLevels::ByDestination(LevelsByPort::new()), notes });
    }
    let named: Vec<String> = named.iter().map(u8::to_string).collect();
    let place = error.as_ref().map_or_else(|| NotePlace::file(input.name), |error| error.place.clone());
    notes.add(UNDECIDED, place, || {
        let named = named.join(", ");
        let why = match error {
            Some(_) => "in rules that depend on more than the destination",
            None => "but has no rules (its end may be missing)",
        };
        format!("the policy uses service levels {named} {why}, so the levels of paths are not known")
    });
    Ok(PolicyFile { levels: PolicyLevels::Undecided, notes })
}

/// Whether the file has a section of rules. A policy that was cut before it defines levels without using them.
fn has_rules(input: Input<'_>) -> bool {
    input.lines().flatten().any(|line| line.text.trim() == "qos-match-rules")
}

/// All service levels that a policy names, whichever kinds of sections it has; `None` if a section has no end.
fn collect_levels(input: Input<'_>) -> Result<Option<BTreeSet<u8>>, Box<FileError>> {
    let (mut open, mut levels) = (Vec::new(), BTreeSet::new());
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        let level = |value: &str| value.trim().parse::<u8>().ok().filter(|level| *level < 16);
        if let Some(section) = text.strip_prefix("end-") {
            if open.pop().as_deref() != Some(section) {
                return Ok(None);
            }
        } else if let Some((key, value)) = text.rsplit_once(':') {
            // A line of `qos-ulps` ends with its level, for any traffic.
            if key.trim() == "sl" || open.last().is_some_and(|section| section == "qos-ulps") {
                levels.extend(level(value));
            }
        } else if !text.is_empty() {
            open.push(text.to_owned());
        }
    }
    Ok(open.is_empty().then_some(levels))
}

impl PolicyDraft {
    fn read_line(&mut self, text: &str) -> Option<()> {
        if let Some(section) = text.strip_prefix("end-") {
            return (self.open.pop()? == section).then(|| self.end_section(section))?;
        }
        if let Some((key, value)) = text.split_once(':') {
            return self.read_value(key.trim(), value.trim());
        }
        let fits = SECTIONS.iter().any(|(outer, inner)| match self.open.as_slice() {
            [] => text == *outer,
            [open] => open == outer && text == *inner,
            _ => false,
        });
        fits.then(|| self.open.push(text.to_owned()))
    }

    fn read_value(&mut self, key: &str, value: &str) -> Option<()> {
        match (self.open.last()?.as_str(), key) {
            ("port-group" | "qos-level", "name") => self.name = value.to_owned(),
            ("port-group", "port-guid") => {
                for word in value.split(',') {
                    self.guids.insert(Guid(parse_prefixed_hex(word.trim())?));
                }
            }
            ("qos-level", "sl") => self.level = Some(value.parse().ok().filter(|level| *level < 16)?),
            ("qos-match-rule", "destination") => self.destination = value.to_owned(),
            ("qos-match-rule", "qos-level-name") => self.level_name = value.to_owned(),
            _ => return None,
        }
        Some(())
    }

    fn end_section(&mut self, section: &str) -> Option<()> {
        let name = std::mem::take(&mut self.name);
        match section {
            "port-group" => drop(self.groups.insert(name, std::mem::take(&mut self.guids))),
            "qos-level" => drop(self.levels.insert(name, self.level.take()?)),
            "qos-match-rule" => {
                let rule = (std::mem::take(&mut self.destination), std::mem::take(&mut self.level_name));
                self.rules.push(rule);
            }
            _ => {}
        }
        Some(())
    }

    fn finish(self) -> Option<LevelsByPort> {
        self.levels.get("DEFAULT").filter(|level| **level == 0)?;
        let mut levels = LevelsByPort::new();
        for (destination, level) in &self.rules {
            let (group, level) = (self.groups.get(destination)?, self.levels.get(level)?);
            for guid in group {
                levels.entry(*guid).or_insert(*level);
            }
        }
        levels.retain(|_, level| *level > 0);
        Some(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use proptest::prelude::*;

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn routes(fabric: &Fabric, lane: impl Fn(usize) -> u8) -> Routes {
        let top = fabric.top_lid().unwrap();
        let mut routes = Routes::empty(fabric.switch_count(), Some(top));
        routes.lanes = PathLanes::ByDestination { lanes: 8, lane: (0..=top.index()).map(lane).collect() };
        routes
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(seed in 0u64..1000) {
            let fabric = fabric("kary,k=3,n=2");
            let routes = routes(&fabric, |lid| ((lid as u64 * 7 + seed) % 8) as u8);
            let levels = read(Input::new("x", write(&fabric, &routes).unwrap().as_bytes())).unwrap();
            for (_, port) in fabric.ports() {
                if let (Some(lid), Some(guid)) = (port.facts.lid, port.facts.guid) {
                    let lane = routes.lane(0, lid).value();
                    prop_assert_eq!(levels.get(&guid).copied().unwrap_or(0), lane);
                }
            }
        }

        #[test]
        fn nothing_makes_it_panic(text in "[ -~\n]{0,300}") {
            let _ = read(Input::new("x", text.as_bytes()));
        }
    }

    #[test]
    fn inexpressible_routes_are_refused() {
        let tree = fabric("kary,k=2,n=2");
        let mut by_pair = routes(&tree, |_| 0);
        let size = by_pair.stride() * tree.switch_count();
        by_pair.lanes = PathLanes::ByPair { lanes: 2, lane: vec![1; size] };
        assert_eq!(write(&tree, &by_pair).unwrap_err().code, LANES_BY_PAIR);
        let several = fabric("mport,m=4,n=2");
        if several.ports().any(|(_, port)| port.facts.lmc.lid_count() > 1) {
            assert_eq!(
                write(&several, &routes(&several, |lid| (lid % 2) as u8)).unwrap_err().code,
                LANES_BY_LID
            );
        }
        assert!(
            write(&tree, &Routes::empty(tree.switch_count(), tree.top_lid())).unwrap().contains("DEFAULT")
        );
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |text: &str| read(Input::new("p.conf", text.as_bytes())).unwrap_err().to_string();
        assert!(error("port-groups\n  port-group\n    port-guid: x\n").contains("3"));
        assert!(error("port-groups\n").contains("ends within a section"));
        assert!(error("port-groups\nend-qos-levels\n").contains("end-qos-levels"));
        assert!(error("qos-levels\nend-qos-levels\n").contains("DEFAULT"));
    }
}
