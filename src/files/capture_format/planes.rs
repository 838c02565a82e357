//! The record of planes. It replaces the record before; what does not fit into one record follows in further ones.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{PlaneReading, Planes};

/// Most nodes or ports of a record.
const MAX_ENTRIES: usize = 16_384;

/// Planes, or further nodes and ports of planes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PlaneRecord {
    /// Whether it adds nodes and ports to those of the record before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
    #[serde(flatten)]
    pub stated: Planes,
}

impl PlaneRecord {
    pub fn of(planes: &Planes) -> Vec<Self> {
        let head = |of: &PlaneReading| PlaneReading {
            contradicting: of.contradicting.clone(),
            answer: of.answer,
            ..PlaneReading::silent(of.plane)
        };
        let heads = planes.readings.iter().map(head).collect();
        let mut records =
            vec![Self { continued: false, stated: Planes { readings: heads, ..planes.without_readings() } }];
        let further = |reading: PlaneReading| Self {
            continued: true,
            stated: Planes { readings: vec![reading], ..planes.without_readings() },
        };
        for of in &planes.readings {
            let nodes: Vec<_> = of.nodes.iter().map(|(guid, node)| (*guid, node.clone())).collect();
            records.extend(nodes.chunks(MAX_ENTRIES).map(|nodes| {
                further(PlaneReading {
                    nodes: nodes.iter().cloned().collect(),
                    ..PlaneReading::silent(of.plane)
                })
            }));
            records.extend(of.ports.chunks(MAX_ENTRIES).map(|ports| {
                further(PlaneReading { ports: ports.to_vec(), ..PlaneReading::silent(of.plane) })
            }));
        }
        records
    }

    pub fn apply(self, known: &mut Planes) {
        if !self.continued {
            *known = self.stated;
            return;
        }
        for more in self.stated.readings {
            if let Some(of) = known.readings.iter_mut().find(|of| of.plane == more.plane) {
                of.nodes.extend(more.nodes);
                of.ports.extend(more.ports);
            }
        }
    }

    /// All GUIDs in it.
    pub fn guids(&self) -> Vec<Guid> {
        let mut guids = Vec::new();
        for of in &self.stated.readings {
            guids.extend(of.nodes.keys().chain(&of.contradicting));
            guids.extend(of.nodes.values().filter_map(|node| node.system));
            guids.extend(
                of.ports.iter().flat_map(|port| [Some(port.node), port.guid, Some(port.peer.0)]).flatten(),
            );
        }
        guids
    }

    /// The same with other GUIDs and without names.
    pub fn anonymize(mut self, guid: impl Fn(Guid) -> Guid) -> Self {
        for of in &mut self.stated.readings {
            let nodes = std::mem::take(&mut of.nodes).into_iter();
            of.nodes = nodes
                .map(|(node, mut about)| {
                    about.name.clear();
                    about.system = about.system.map(&guid);
                    (guid(node), about)
                })
                .collect();
            of.contradicting = of.contradicting.iter().map(|node| guid(*node)).collect();
            for port in &mut of.ports {
                port.node = guid(port.node);
                port.guid = port.guid.map(&guid);
                port.peer.0 = guid(port.peer.0);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::PortNum;
    use fabdeck_fabric::observe::{PlaneAnswer, PlaneNode, PlanePort};

    fn planes(ports: u64) -> Planes {
        let node = PlaneNode { switch: true, system: Some(Guid(7)), name: "leaf".to_owned() };
        let port = |at: u64| PlanePort {
            node: Guid(at),
            number: PortNum(1),
            guid: Some(Guid(at + 1)),
            peer: (Guid(at + 2), PortNum(3)),
        };
        let reading = PlaneReading {
            plane: 2,
            answer: PlaneAnswer::Partial,
            nodes: (1..=ports).map(|guid| (Guid(guid), node.clone())).collect(),
            ports: (1..=ports).map(port).collect(),
            contradicting: [Guid(3)].into(),
        };
        let main_answer = PlaneAnswer::Partial;
        Planes { main: 1, main_answer, readings: vec![reading, PlaneReading::silent(3)] }
    }

    #[test]
    fn many_ports_take_several_records_and_read_back() {
        for (ports, records) in [(2, 3), (40_000, 7)] {
            let planes = planes(ports);
            let written = PlaneRecord::of(&planes);
            assert_eq!(written.len(), records, "{ports}");
            let mut read = Planes { main: 4, readings: vec![PlaneReading::silent(9)], ..Planes::default() };
            for record in written {
                let text = serde_json::to_string(&record).unwrap();
                serde_json::from_str::<PlaneRecord>(&text).unwrap().apply(&mut read);
            }
            assert!(read == planes, "{ports}");
        }
    }

    #[test]
    fn no_name_and_no_guid_is_left_in_an_anonymous_record() {
        for record in PlaneRecord::of(&planes(2)) {
            let known = record.guids();
            let hidden = record.anonymize(|guid| Guid(guid.0 + 1_000));
            assert!(hidden.guids().iter().all(|guid| guid.0 > 1_000));
            assert_eq!(hidden.guids().len(), known.len());
            assert!(!serde_json::to_string(&hidden).unwrap().contains("leaf"));
        }
    }
}
