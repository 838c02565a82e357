//! The lanes of a plan's paths, as text in the file and as routes have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use super::surviving_fabric::SurvivingFabric;
use fabdeck_fabric::{Fabric, Lid, NodeId, PathLanes, PortNum, Routes, Tables};
use fabdeck_routing::Problem;
use fabdeck_routing::certificate::LaneMapping;

const ONE_LANE: &str = "one";
const BY_DESTINATION: &str = "destination";
const BY_PAIR: &str = "pair";
const BY_HOP: &str = "hop";

/// Number of service levels.
const LEVELS: u8 = 16;

/// Largest number of data lanes of a port.
const MAX_LANE: u8 = 15;

/// The lanes of the paths.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlanLanes {
    pub count: u8,
    /// `one`, `destination`, `pair` or `hop`.
    pub by: String,
    /// By destination: two hexadecimal digits for each LID, from 0 on. By pair: such a row for each switch of the plan,
    /// by GUID. By hop: the same with service levels, which the SL2VL tables of the plan map to lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pair: BTreeMap<String, String>,
}

impl PlanLanes {
    pub fn of(standing: &SurvivingFabric<'_>, routes: &Routes) -> Self {
        let count = routes.lane_count();
        match &routes.lanes {
            PathLanes::One => Self { count, by: ONE_LANE.into(), ..Self::default() },
            PathLanes::ByDestination { lane, .. } => {
                Self { count, by: BY_DESTINATION.into(), destination: Some(to_hex(lane)), ..Self::default() }
            }
            PathLanes::ByPair { lane, .. } | PathLanes::ByHop { level: lane, .. } => {
                let rows = lane.chunks(routes.stride().max(1)).zip(standing.fabric.switches());
                let rows = rows.filter(|(_, (id, _))| standing.contains(*id));
                let pair = rows.map(|(row, (_, node))| (node.guid().to_string(), to_hex(row))).collect();
                let by = if routes.lanes.is_by_hop() { BY_HOP } else { BY_PAIR };
                Self { count, by: by.into(), destination: None, pair }
            }
        }
    }

    /// What is wrong with the lanes, for a plan of this fabric.
    pub(super) fn fault(&self, print: &Fingerprint) -> Option<&'static str> {
        if !(1..=MAX_LANE).contains(&self.count) {
            return Some("their number is not 1 to 15");
        }
        let fits = match self.by.as_str() {
            ONE_LANE => self.count == 1 && self.destination.is_none() && self.pair.is_empty(),
            BY_DESTINATION => self.destination.is_some() && self.pair.is_empty(),
            BY_PAIR | BY_HOP => self.destination.is_none() && !self.pair.is_empty(),
            _ => return Some("'by' is not 'one', 'destination', 'pair' or 'hop'"),
        };
        if !fits {
            return Some("the rows do not fit 'by'");
        }
        let mut known = self.pair.keys().map(|guid| print.nodes.contains_key(&format!("switch {guid}")));
        if known.any(|known| !known) {
            return Some("a row is of a switch that the plan's fabric does not have");
        }
        let mut rows = self.destination.iter().chain(self.pair.values());
        let length = rows.clone().next().map(String::len);
        if rows.clone().any(|row| Some(row.len()) != length) {
            return Some("rows differ in length");
        }
        let end = if self.is_by_hop() { LEVELS } else { self.count };
        let most = 2 * (usize::from(Lid::MAX) + 1);
        let wrong = |row: &String| {
            row.len() > most || from_hex(row).is_none_or(|lanes| lanes.iter().any(|lane| *lane >= end))
        };
        rows.any(wrong)
            .then_some("a row has two hexadecimal digits for each LID, all below the number of lanes")
    }

    /// Whether lanes change on the way: the plan has service levels, and writes the SL2VL tables that map them.
    pub fn is_by_hop(&self) -> bool {
        self.by == BY_HOP
    }

    /// The lanes in rows of `stride` LIDs, as routes have them. `after`: the tables after the plan.
    pub(super) fn to_lanes(&self, fabric: &Fabric, stride: usize, after: &Tables) -> PathLanes {
        let row = |text: Option<&String>| {
            let mut lane = text.and_then(|text| from_hex(text)).unwrap_or_default();
            lane.resize(stride, 0);
            lane
        };
        match self.by.as_str() {
            BY_DESTINATION => {
                PathLanes::ByDestination { lanes: self.count, lane: row(self.destination.as_ref()) }
            }
            BY_PAIR | BY_HOP => {
                let of = |guid: fabdeck_fabric::Guid| row(self.pair.get(&guid.to_string()));
                let lane = fabric.switches().flat_map(|(_, node)| of(node.guid())).collect();
                match self.is_by_hop() {
                    false => PathLanes::ByPair { lanes: self.count, lane },
                    true => PathLanes::ByHop {
                        lanes: self.count,
                        level: lane,
                        tables: Arc::new(after.lane_tables()),
                    },
                }
            }
            _ => PathLanes::One,
        }
    }

    /// Switches of the plan that do not map each level to the lane with the same number, or that have a port without
    /// that lane. `None` if no switch has reported its tables. There is none where the plan writes the SL2VL tables.
    pub fn unmet_switches(&self, standing: &SurvivingFabric<'_>, tables: &Tables) -> Option<Vec<NodeId>> {
        if self.count == 1 || self.is_by_hop() {
            return Some(Vec::new());
        }
        let problem = Problem::new(standing.fabric, standing.faults);
        let mapping = LaneMapping::new(&problem, tables);
        let wrong = |switch: &u32| {
            let channels = &problem.graph.channels()[problem.graph.outgoing(*switch)];
            let ends = problem.graph.terminals_of(*switch).iter().map(|end| end.switch_port);
            let ports: Vec<PortNum> = channels.iter().map(|channel| channel.from_port).chain(ends).collect();
            let ways = ports.iter().flat_map(|from| ports.iter().map(move |to| (*from, *to)));
            let mut hops = ways
                .filter(|(from, to)| from != to)
                .flat_map(|(from, to)| (0..self.count).map(move |level| (from, to, level)));
            hops.any(|(from, to, level)| {
                let hop = mapping.hop(*switch, from, to, level);
                // A hop without a reported table is neither right nor wrong.
                !hop.has_lane || (hop.from_table && hop.lane != level)
            })
        };
        let held = problem.switches().filter(|switch| standing.contains(NodeId(*switch)));
        mapping.has_tables().then(|| held.filter(wrong).map(NodeId).collect())
    }

    /// The lanes in words: `4, by destination`.
    pub fn summary(&self) -> String {
        match self.by.as_str() {
            ONE_LANE => "1 for all paths".to_owned(),
            BY_HOP => format!("{}, by pair and changing on the way", self.count),
            by => format!("{}, by {by}", self.count),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Parses two hexadecimal digits a byte.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    rest.is_empty().then_some(())?;
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, Lane, ServiceLevel, Sl2Vl};
    use fabdeck_routing::{NoProgress, Request, find_engine};

    #[test]
    fn lanes_read_back_and_wrong_ones_are_found() {
        let fabric = generate(&"torus,dims=4x4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        let print = Fingerprint::of(&standing, &Tables::default());
        for (id, by) in [("minhop", ONE_LANE), ("nue", BY_DESTINATION), ("dfsssp", BY_PAIR)] {
            let request = Request { lanes: 4, ..Request::default() };
            let routes = (find_engine(id).unwrap().route)(&problem, &request, &NoProgress).unwrap().routes;
            let lanes = PlanLanes::of(&standing, &routes);
            assert_eq!((lanes.by.as_str(), lanes.fault(&print)), (by, None), "{id}");
            assert_eq!(lanes.to_lanes(&fabric, routes.stride(), &Tables::default()), routes.lanes, "{id}");
            let wrong = [
                PlanLanes { count: 0, ..lanes.clone() },
                PlanLanes { count: 16, ..lanes.clone() },
                PlanLanes { by: "moon".into(), ..lanes.clone() },
                PlanLanes { destination: Some("0".into()), ..lanes.clone() },
                PlanLanes { pair: [("0x00000000000000aa".into(), "00".into())].into(), ..lanes.clone() },
            ];
            assert!(wrong.iter().all(|lanes| lanes.fault(&print).is_some()), "{id}");
            if by != ONE_LANE {
                assert!(
                    PlanLanes { count: 1, ..lanes.clone() }.fault(&print).is_some(),
                    "{id}: lanes above their number"
                );
            }
        }
    }

    #[test]
    fn switches_that_put_levels_elsewhere_are_found() {
        let fabric = generate(&"torus,dims=4x4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        let two = PlanLanes { count: 2, by: BY_DESTINATION.into(), ..PlanLanes::default() };
        assert_eq!(two.unmet_switches(&standing, &Tables::default()), None);
        let mut own = Sl2Vl::default();
        own.set(ServiceLevel::new(1).unwrap(), Lane::new(1).unwrap());
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            let ports: Vec<PortNum> = fabric.ports_of(id).map(|(_, port)| port.number).collect();
            let all = ports.iter().flat_map(|from| ports.iter().map(|to| ((*from, *to), own)));
            tables.node_mut(id).sl2vl = all.collect();
        }
        assert_eq!(two.unmet_switches(&standing, &tables), Some(Vec::new()));
        let rows = &mut tables.node_mut(NodeId(5)).sl2vl;
        rows.values_mut().for_each(|row| *row = Sl2Vl::default());
        assert_eq!(two.unmet_switches(&standing, &tables), Some(vec![NodeId(5)]));
        assert_eq!(PlanLanes { count: 1, ..two }.unmet_switches(&standing, &tables), Some(Vec::new()));
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(from_hex("00fF10"), Some(vec![0, 255, 16]));
        assert_eq!(
            (from_hex(""), from_hex("0"), from_hex("0g"), from_hex("+1")),
            (Some(Vec::new()), None, None, None)
        );
    }
}
