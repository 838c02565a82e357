//! What ports state about their place on a device (HierarchyInfo), and the labels that follow from it.
//!
//! Which bits of a word are the selector and which the value is not public. The reading takes the low 16 bits as the
//! value, and trusts a device only if all of its answers pass a check: [`device_labels`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::wire_health::DeviceAnswer;
use crate::{Fabric, Guid, LabelOrigin, NodeKind, PortLabel, PortLabels, PortNum, guess_label};

/// The words of an answer.
pub const HIERARCHY_WORDS: usize = 13;

/// Levels of template 3 (devices up to NDR).
const SPLIT: usize = 0;
const PORT: usize = 1;
const CAGE: usize = 2;
const ASIC: usize = 3;
const SLOT: usize = 4;
/// Levels of template 4 (switches with XDR).
const XDR_IB_PORT: usize = 2;
const XDR_CAGE: usize = 3;
const XDR_PORT: usize = 4;
const XDR_SPLIT: usize = 5;
const XDR_PLANE: usize = 9;
const XDR_PLANES: usize = 10;
const XDR_AGGREGATED: usize = 11;
/// Levels of template 5 (XDR adapters).
const ADAPTER_PLANES: usize = 11;
const ADAPTER_AGGREGATED: usize = 12;

/// Most cages, ports in a cage, parts of a split port and chips of a device that are plausible.
const MAX_CAGE: u16 = 512;
const MAX_PART: u16 = 16;
/// Most planes of a port that are plausible.
const MAX_PLANES: u16 = 8;

/// An answer, unprocessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortHierarchy {
    /// The template that gives the levels their meaning.
    pub template: u64,
    /// The number of words in use.
    pub active_levels: u8,
    /// A word for each level: a selector with a value.
    pub words: [u32; HIERARCHY_WORDS],
}

impl PortHierarchy {
    /// The template of devices up to NDR.
    pub const TO_NDR: u64 = 3;
    /// The template of switches with XDR.
    pub const XDR_SWITCH: u64 = 4;
    /// The template of XDR adapters, whose labels are not read.
    pub const XDR_ADAPTER: u64 = 5;
    /// The template of port 0.
    pub const PORT_0: u64 = 6;

    /// The value of a level; `None` for a level that is not in use.
    fn level(&self, at: usize) -> Option<u16> {
        let word = *self.words.get(at).filter(|_| at < usize::from(self.active_levels))?;
        (word != 0).then_some(word as u16)
    }

    /// A level from 1 to a maximum; an error for a value beyond it.
    fn part(&self, at: usize, most: u16) -> Result<Option<u16>, ()> {
        match self.level(at) {
            None | Some(0) => Ok(None),
            Some(value) if value <= most => Ok(Some(value)),
            Some(_) => Err(()),
        }
    }

    /// The number of the aggregated port within its device, and the number of its planes.
    pub fn planes(&self) -> Option<(u16, u16)> {
        let (planes, port) = match self.template {
            Self::XDR_SWITCH => (XDR_PLANES, XDR_AGGREGATED),
            Self::XDR_ADAPTER => (ADAPTER_PLANES, ADAPTER_AGGREGATED),
            _ => return None,
        };
        let count = self.level(planes).filter(|count| (1..=MAX_PLANES).contains(count))?;
        Some((self.level(port)?, count))
    }

    /// The label by this answer alone: `Ok(None)` where its template has none, an error where it cannot be true.
    fn label(&self, kind: NodeKind, port: PortNum) -> Result<Option<String>, ()> {
        if usize::from(self.active_levels) > HIERARCHY_WORDS {
            return Err(());
        }
        match self.template {
            Self::TO_NDR if kind == NodeKind::Switch => {
                let parts = [(ASIC, MAX_PART), (CAGE, MAX_CAGE), (PORT, MAX_CAGE), (SPLIT, MAX_PART)];
                let parts = parts.map(|(at, most)| self.part(at, most));
                let parts: Vec<u16> =
                    parts.into_iter().collect::<Result<Vec<_>, ()>>()?.into_iter().flatten().collect();
                self.part(PORT, MAX_CAGE)?.ok_or(())?;
                Ok(Some(parts.iter().map(u16::to_string).collect::<Vec<_>>().join("/")))
            }
            Self::TO_NDR => {
                let port = self.part(PORT, MAX_PART)?.ok_or(())?;
                let cage = self.part(CAGE, MAX_CAGE)?.unwrap_or(0);
                let slot = self.level(SLOT).unwrap_or(0);
                Ok(Some(format!("Physical{slot}/{cage}/{port}")))
            }
            Self::XDR_SWITCH => {
                if self.level(XDR_IB_PORT) != Some(port.value().into()) {
                    return Err(());
                }
                // Ports between the chips of a device (FNM) have no cage.
                let Some(cage) = self.part(XDR_CAGE, MAX_CAGE)? else { return Ok(None) };
                let number = self.part(XDR_PORT, MAX_PART)?.ok_or(())?;
                let mut text = format!("sw{cage}p{number}");
                if let Some(split) = self.part(XDR_SPLIT, MAX_PART)? {
                    text.push_str(&format!("s{split}"));
                }
                if let Some(plane) = self.part(XDR_PLANE, MAX_PART)? {
                    text.push_str(&format!("pl{plane}"));
                }
                Ok(Some(text))
            }
            // The words of its types and the form of its device address are not public.
            Self::XDR_ADAPTER => Ok(None),
            Self::PORT_0 if port == PortNum::MANAGEMENT => Ok(None),
            _ => Err(()),
        }
    }
}

/// The answers of ports, by the node GUID and the port.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortHierarchies {
    /// The answers.
    pub ports: BTreeMap<(Guid, PortNum), DeviceAnswer<PortHierarchy>>,
}

impl PortHierarchies {
    /// The number of the aggregated port that a port belongs to, and the number of its planes.
    pub fn planes_of(&self, node: Guid, port: PortNum) -> Option<(u16, u16)> {
        self.ports.get(&(node, port))?.known()?.planes()
    }
}

/// The labels that devices state, and the devices whose answers fail the check. A device fails if an answer cannot be
/// true, if two of its ports have one label, or if a label contradicts the rule of its model.
pub fn device_labels(fabric: &Fabric, stated: &PortHierarchies) -> (PortLabels, BTreeSet<Guid>) {
    let mut found: BTreeMap<Guid, BTreeMap<PortNum, String>> = BTreeMap::new();
    let mut doubted = BTreeSet::new();
    for ((guid, port), answer) in &stated.ports {
        let Some(node) = fabric.node_by_guid(*guid).map(|node| &fabric.node(node).facts) else { continue };
        let label = match answer {
            DeviceAnswer::Known(hierarchy) => hierarchy.label(node.kind, *port),
            DeviceAnswer::Implausible => Err(()),
            _ => continue,
        };
        let contradicts = |label: &String| guess_label(node, *port).is_some_and(|guess| guess != *label);
        match label {
            Ok(Some(label)) if !contradicts(&label) => {
                let of_node = found.entry(*guid).or_default();
                if of_node.values().any(|known| *known == label) {
                    doubted.insert(*guid);
                }
                of_node.insert(*port, label);
            }
            Ok(None) => {}
            Ok(Some(_)) | Err(()) => {
                doubted.insert(*guid);
            }
        }
    }
    let mut labels = PortLabels::default();
    for (guid, of_node) in found.into_iter().filter(|(guid, _)| !doubted.contains(guid)) {
        for (port, text) in of_node {
            labels.add((guid, port), PortLabel { text, origin: LabelOrigin::Device });
        }
    }
    (labels, doubted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, NodeFacts};

    fn words(values: &[u32]) -> [u32; HIERARCHY_WORDS] {
        let mut words = [0; HIERARCHY_WORDS];
        for (word, value) in words.iter_mut().zip(values) {
            *word = 0x8000_0000 | value;
        }
        words
    }

    fn answer(template: u64, values: &[u32]) -> PortHierarchy {
        PortHierarchy { template, active_levels: values.len() as u8, words: words(values) }
    }

    #[test]
    fn templates_have_labels() {
        use NodeKind::{ChannelAdapter, Switch};
        for (kind, port, template, values, label) in [
            (Switch, 3, 3, &[0, 1, 2, 1][..], Ok(Some("1/2/1"))),
            (Switch, 3, 3, &[2, 1, 2, 1], Ok(Some("1/2/1/2"))),
            (Switch, 24, 3, &[2, 12], Ok(Some("12/2"))),
            (Switch, 24, 3, &[0, 24], Ok(Some("24"))),
            (Switch, 3, 3, &[0, 0, 2, 1], Err(())),
            (Switch, 3, 3, &[0, 1, 600, 1], Err(())),
            (ChannelAdapter, 1, 3, &[0, 1, 1, 0, 4], Ok(Some("Physical4/1/1"))),
            (Switch, 7, 4, &[1, 1, 7, 4, 1, 0], Ok(Some("sw4p1"))),
            (Switch, 7, 4, &[1, 1, 7, 4, 1, 2, 0, 0, 0, 3, 4], Ok(Some("sw4p1s2pl3"))),
            // A port between two chips of a device has no cage, and the device keeps its other labels.
            (Switch, 145, 4, &[2, 1, 145, 0, 0, 0], Ok(None)),
            // The answer is about another port.
            (Switch, 8, 4, &[1, 1, 7, 4, 1, 0], Err(())),
            (ChannelAdapter, 1, 5, &[1, 1, 1], Ok(None)),
            (Switch, 0, 6, &[], Ok(None)),
            (Switch, 1, 6, &[], Err(())),
            (Switch, 1, 0xFFFF, &[0, 1, 2, 1], Err(())),
        ] {
            let found = answer(template, values).label(kind, PortNum(port));
            assert_eq!(
                found.as_ref().map(Option::as_deref),
                label.as_ref().map(|label| *label),
                "{template} {values:?}"
            );
        }
        // A level behind the active ones is not in use.
        let short = PortHierarchy { active_levels: 2, ..answer(3, &[0, 5, 2, 1]) };
        assert_eq!(short.label(NodeKind::Switch, PortNum(5)), Ok(Some("5".to_owned())));
        let long = PortHierarchy { active_levels: 14, ..answer(3, &[0, 5, 2, 1]) };
        assert_eq!(long.label(NodeKind::Switch, PortNum(5)), Err(()));
    }

    #[test]
    fn one_wrong_answer_puts_all_labels_of_its_device_in_doubt() {
        let mut builder = FabricBuilder::new();
        for (guid, name) in [(1, "good"), (2, "equal"), (3, "wrong"), (4, "MF0;x:MQM9700/U1"), (5, "silent")]
        {
            let node = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 65, name)).unwrap();
            (1..=3).for_each(|port| _ = builder.port(node, PortNum(port)));
        }
        let fabric = builder.finish();
        let known = |cage: u32, port: u32| DeviceAnswer::Known(answer(3, &[0, port, cage, 1]));
        let mut stated = PortHierarchies::default();
        for (guid, port, said) in [
            (1, 1, known(1, 1)),
            (1, 2, known(1, 2)),
            (1, 3, DeviceAnswer::Silent),
            (2, 1, known(1, 1)),
            (2, 2, known(1, 1)),
            (3, 1, known(1, 1)),
            (3, 2, DeviceAnswer::Implausible),
            (4, 1, known(1, 1)),
            (4, 2, known(2, 2)),
            (5, 1, DeviceAnswer::Absent),
            (9, 1, known(1, 1)),
        ] {
            stated.ports.insert((Guid(guid), PortNum(port)), said);
        }
        let (labels, doubted) = device_labels(&fabric, &stated);
        assert_eq!(doubted, [Guid(2), Guid(3), Guid(4)].into());
        let found: Vec<_> =
            labels.ports.iter().map(|((guid, _), label)| (guid.0, label.text.as_str())).collect();
        assert_eq!(found, [(1, "1/1/1"), (1, "1/1/2")]);
    }
}
