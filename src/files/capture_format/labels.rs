//! The record of labels of ports and places of nodes: those that changed since the record before.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::{DeviceAnswer, Observation, PortHierarchies, PortHierarchy};
use fabdeck_fabric::{Guid, NodePlace, PortLabel, PortLabels, PortNum, SheetRow};

/// Most entries of a record.
const MAX_ENTRIES: usize = 512;

/// Labels, answers to HierarchyInfo, places, and lines of a sheet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LabelRecord {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<LabelEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sheet: Vec<SheetRow>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LabelEntry {
    pub node: Guid,
    pub port: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<PortLabel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<DeviceAnswer<PortHierarchy>>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlaceEntry {
    pub node: Guid,
    pub place: NodePlace,
}

impl LabelRecord {
    /// The records of what changed. Labels are added and replaced, never taken back.
    pub fn of_changes(before: &Observation, now: &Observation) -> Vec<Self> {
        let (old, new) = (&before.names.labels, &now.names.labels);
        let labels = new.ports.iter().filter(|(at, label)| old.ports.get(at) != Some(label));
        let labels = labels.map(|((node, port), label)| LabelEntry {
            node: *node,
            port: port.value(),
            label: Some(label.clone()),
            said: None,
        });
        let (asked, answered) = (&before.hierarchies.ports, &now.hierarchies.ports);
        let said = answered.iter().filter(|(at, said)| asked.get(at) != Some(said));
        let said = said.map(|((node, port), said)| LabelEntry {
            node: *node,
            port: port.value(),
            label: None,
            said: Some(*said),
        });
        let ports: Vec<LabelEntry> = labels.chain(said).collect();
        let places = new.places.iter().filter(|(node, place)| old.places.get(node) != Some(place));
        let places: Vec<PlaceEntry> =
            places.map(|(node, place)| PlaceEntry { node: *node, place: place.clone() }).collect();
        let sheet = new.sheet.get(old.sheet.len()..).unwrap_or_default();
        let ports = ports.chunks(MAX_ENTRIES).map(|some| Self { ports: some.to_vec(), ..Self::default() });
        let places = places.chunks(MAX_ENTRIES).map(|some| Self { places: some.to_vec(), ..Self::default() });
        let sheet = sheet.chunks(MAX_ENTRIES).map(|some| Self { sheet: some.to_vec(), ..Self::default() });
        ports.chain(places).chain(sheet).collect()
    }

    pub fn apply(self, labels: &mut PortLabels, hierarchies: &mut PortHierarchies) {
        for LabelEntry { node, port, label, said } in self.ports {
            let at = (node, PortNum(port));
            if let Some(label) = label {
                labels.ports.insert(at, label);
            }
            if let Some(said) = said {
                hierarchies.ports.insert(at, said);
            }
        }
        labels.places.extend(self.places.into_iter().map(|entry| (entry.node, entry.place)));
        labels.sheet.extend(self.sheet);
    }

    /// The same with other GUIDs. Places, lines of a sheet and labels with letters may name a site: they are left out.
    pub fn anonymize(mut self, guid: impl Fn(Guid) -> Guid) -> Self {
        self.places.clear();
        self.sheet.clear();
        let plain = |label: &PortLabel| label.text.bytes().all(|sign| sign.is_ascii_digit() || sign == b'/');
        for LabelEntry { node, label, said, .. } in &mut self.ports {
            *node = guid(*node);
            *label = label.take().filter(plain);
            if let Some(said) = said {
                said.map_device(&guid);
            }
        }
        self.ports.retain(|entry| entry.label.is_some() || entry.said.is_some());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::LabelOrigin;

    #[test]
    fn labels_are_restored_and_an_anonymous_record_names_no_site() {
        let mut now = Observation::default();
        let label = |text: &str| PortLabel { text: text.into(), origin: LabelOrigin::File };
        now.names.labels.ports =
            [((Guid(1), PortNum(3)), label("1/2/1")), ((Guid(2), PortNum(1)), label("B177D0F0/0/0/1"))]
                .into();
        now.names.labels.places =
            [(Guid(1), NodePlace { rack: Some("B7".into()), ..NodePlace::default() })].into();
        now.names.labels.sheet = vec![SheetRow { device: "leaf1".into(), ..SheetRow::default() }];
        let words = [7; 13];
        now.hierarchies.ports = [
            (
                (Guid(1), PortNum(3)),
                DeviceAnswer::Known(PortHierarchy { template: 3, active_levels: 4, words }),
            ),
            ((Guid(1), PortNum(4)), DeviceAnswer::Silent),
        ]
        .into();
        let (mut labels, mut hierarchies) = (PortLabels::default(), PortHierarchies::default());
        for record in LabelRecord::of_changes(&Observation::default(), &now) {
            let text = serde_json::to_string(&record).unwrap();
            let read: LabelRecord = serde_json::from_str(&text).unwrap();
            read.apply(&mut labels, &mut hierarchies);
        }
        assert_eq!((&labels, &hierarchies), (&now.names.labels, &now.hierarchies));
        assert!(LabelRecord::of_changes(&now, &now).is_empty());
        let other = |guid: Guid| Guid(guid.0 + 100);
        let records = LabelRecord::of_changes(&Observation::default(), &now);
        let kept: Vec<LabelEntry> = records
            .into_iter()
            .map(|record| record.anonymize(other))
            .flat_map(|record| {
                assert!(record.places.is_empty() && record.sheet.is_empty());
                record.ports
            })
            .collect();
        let ports: Vec<_> =
            kept.iter().map(|entry| (entry.node.0, entry.port, entry.label.is_some())).collect();
        assert_eq!(ports, [(101, 3, true), (101, 3, false), (101, 4, false)]);
    }
}
