//! The tables of nodes as records: forwarding tables, and tables of lanes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use fabdeck_fabric::{
    Arbitration, Fabric, Guid, Lane, Lft, Mft, NodeId, NodeTables, PortNum, Sl2Vl, Tables, VlWeight,
};

/// Forwarding tables. Nodes that are left out hold none, or did not change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Forwarding {
    /// Whether this record replaces all earlier ones.
    whole: bool,
    /// The only blocks that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    only: Option<BTreeSet<u16>>,
    nodes: BTreeMap<String, NodeForwarding>,
}

/// The forwarding tables of one node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct NodeForwarding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lft: Option<HexTable>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unread: BTreeSet<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mft: Option<BTreeMap<u16, Vec<u8>>>,
}

/// A linear forwarding table, written as the egress port of each LID from 0 on, in two hexadecimal digits; `ff` is no
/// path. The digits are made while they are written: those of a full subnet take 375 MB.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HexTable(pub(super) Lft);

/// SL2VL and arbitration tables.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LaneTables {
    whole: bool,
    nodes: BTreeMap<String, NodeLanes>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct NodeLanes {
    /// By in-port and out-port (`3-17`): the lane of each service level from 0 on, in one hexadecimal digit.
    sl2vl: BTreeMap<String, String>,
    arbitration: BTreeMap<u8, ArbitrationWeights>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct ArbitrationWeights {
    high_limit: u8,
    /// Lane and weight.
    high: Vec<(u8, u8)>,
    low: Vec<(u8, u8)>,
}

impl Forwarding {
    /// All tables, or those that changed since `before`, in records that fit into frames; empty if nothing changed.
    pub fn of(fabric: &Fabric, tables: &Tables, before: Option<&Tables>) -> Vec<Self> {
        let mut nodes = BTreeMap::new();
        for (id, held) in &tables.nodes {
            let known = before.and_then(|before| before.nodes.get(id));
            let same = known.is_some_and(|known| {
                (&known.lft, &known.unread, &known.mft) == (&held.lft, &held.unread, &held.mft)
            });
            if !same {
                nodes.insert(fabric.node_key(*id), NodeForwarding::of(held));
            }
        }
        let gone = before.is_some_and(|before| {
            before.only != tables.only || before.nodes.keys().any(|id| !tables.nodes.contains_key(id))
        });
        match before {
            Some(_) if gone => Self::of(fabric, tables, None),
            Some(_) if nodes.is_empty() => Vec::new(),
            _ => Self { whole: before.is_none(), only: tables.only.clone(), nodes }.split(),
        }
    }

    fn split(self) -> Vec<Self> {
        const MOST: usize = 8 << 20;
        let Self { whole, only, nodes } = self;
        let (mut all, mut size) = (vec![Self { whole, only: only.clone(), nodes: BTreeMap::new() }], 0);
        for (key, held) in nodes {
            let groups = held.mft.iter().flat_map(|groups| groups.values().map(|ports| 10 + 4 * ports.len()));
            let more = held.lft.as_ref().map_or(0, |lft| 2 * lft.0.bytes().len()) + groups.sum::<usize>();
            if size > 0 && size + more > MOST {
                all.push(Self { whole: false, only: only.clone(), nodes: BTreeMap::new() });
                size = 0;
            }
            size += more;
            if let Some(last) = all.last_mut() {
                last.nodes.insert(key, held);
            }
        }
        all
    }

    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Replaces the GUIDs that name nodes.
    pub fn anonymize(&mut self, guid: impl Fn(Guid) -> Guid) {
        self.nodes = rename_nodes(std::mem::take(&mut self.nodes), guid);
    }

    pub fn apply(self, fabric: &Fabric, tables: &mut Tables) -> Result<(), String> {
        if self.whole {
            tables.nodes.clear();
        }
        tables.only = self.only;
        for (key, held) in self.nodes {
            let node = fabric
                .node_by_key(&key)
                .ok_or_else(|| format!("tables of '{key}', which is no node of this fabric"))?;
            let entry = tables.node_mut(node);
            entry.lft = held.lft.map(|lft| lft.0);
            entry.unread = held.unread;
            let ports = |(group, ports): (u16, Vec<u8>)| (group, ports.into_iter().map(PortNum).collect());
            entry.mft = held.mft.map(|groups| Mft { groups: groups.into_iter().map(ports).collect() });
        }
        Ok(())
    }
}

impl NodeForwarding {
    fn of(held: &NodeTables) -> Self {
        let ports =
            |(group, ports): (&u16, &Vec<PortNum>)| (*group, ports.iter().map(|port| port.value()).collect());
        Self {
            lft: held.lft.clone().map(HexTable),
            unread: held.unread.clone(),
            mft: held.mft.as_ref().map(|mft| mft.groups.iter().map(ports).collect()),
        }
    }
}

impl LaneTables {
    /// All tables, or those that changed since `before`, in records that fit into frames; empty if nothing changed.
    pub fn of(fabric: &Fabric, tables: &Tables, before: Option<&Tables>) -> Vec<Self> {
        let mut nodes = BTreeMap::new();
        for (id, held) in &tables.nodes {
            let known = before.and_then(|before| before.nodes.get(id));
            let same = known.map_or(held.sl2vl.is_empty() && held.arbitration.is_empty(), |known| {
                (&known.sl2vl, &known.arbitration) == (&held.sl2vl, &held.arbitration)
            });
            if !same {
                nodes.insert(fabric.node_key(*id), NodeLanes::of(held));
            }
        }
        // Whole lanes follow whole tables, which have cleared everything.
        match before.is_some() && nodes.is_empty() {
            true => Vec::new(),
            false => Self { whole: before.is_none(), nodes }.split(),
        }
    }

    fn split(self) -> Vec<Self> {
        /// Most SL2VL rows of a record, of about 30 bytes each; the arbitration of a port counts as 20 rows.
        const MOST: usize = 400_000;
        const PORT: usize = 20;
        let (mut all, mut rows) = (vec![Self { whole: self.whole, nodes: BTreeMap::new() }], 0);
        for (key, held) in self.nodes {
            let more = held.sl2vl.len() + PORT * held.arbitration.len();
            if rows > 0 && rows + more > MOST {
                all.push(Self { whole: false, nodes: BTreeMap::new() });
                rows = 0;
            }
            rows += more;
            if let Some(last) = all.last_mut() {
                last.nodes.insert(key, held);
            }
        }
        all
    }

    /// Replaces the GUIDs that name switches.
    pub fn anonymize(&mut self, guid: impl Fn(Guid) -> Guid) {
        self.nodes = rename_nodes(std::mem::take(&mut self.nodes), guid);
    }

    /// `laned`: the nodes that hold lanes, so that clearing them costs no more than writing them did.
    pub fn apply(
        self,
        fabric: &Fabric,
        tables: &mut Tables,
        laned: &mut BTreeSet<NodeId>,
    ) -> Result<(), String> {
        if self.whole {
            for node in std::mem::take(laned) {
                if let Some(held) = tables.nodes.get_mut(&node) {
                    (held.sl2vl, held.arbitration) = Default::default();
                }
            }
        }
        for (key, held) in self.nodes {
            let node = fabric
                .node_by_key(&key)
                .ok_or_else(|| format!("lanes of '{key}', which is no node of this fabric"))?;
            laned.insert(node);
            let entry = tables.node_mut(node);
            entry.sl2vl =
                held.sl2vl.iter().map(|(ports, row)| parse_lanes(ports, row)).collect::<Result<_, _>>()?;
            let weights = |(port, weights): (u8, ArbitrationWeights)| {
                Ok::<_, String>((PortNum(port), weights.into_arbitration()?))
            };
            entry.arbitration = held.arbitration.into_iter().map(weights).collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

impl NodeLanes {
    fn of(held: &NodeTables) -> Self {
        let row =
            |((from, to), row): (&(PortNum, PortNum), &Sl2Vl)| (format!("{from}-{to}"), row.to_string());
        Self {
            sl2vl: held.sl2vl.iter().map(row).collect(),
            arbitration: held
                .arbitration
                .iter()
                .map(|(port, weights)| (port.value(), ArbitrationWeights::of(weights)))
                .collect(),
        }
    }
}

impl ArbitrationWeights {
    fn of(arbitration: &Arbitration) -> Self {
        let pairs = |all: &[VlWeight]| all.iter().map(|one| (one.lane.value(), one.weight)).collect();
        Self {
            high_limit: arbitration.high_limit,
            high: pairs(&arbitration.high),
            low: pairs(&arbitration.low),
        }
    }

    fn into_arbitration(self) -> Result<Arbitration, String> {
        let weight = |(lane, weight): (u8, u8)| {
            let lane = Lane::new(lane.into()).ok_or_else(|| format!("there is no lane {lane}"))?;
            Ok::<_, String>(VlWeight { lane, weight })
        };
        let weights = |all: Vec<(u8, u8)>| all.into_iter().map(weight).collect::<Result<_, _>>();
        Ok(Arbitration { high_limit: self.high_limit, high: weights(self.high)?, low: weights(self.low)? })
    }
}

/// Renames nodes to other GUIDs. A key that is no node's is left out.
pub(super) fn rename_nodes<T>(
    nodes: BTreeMap<String, T>,
    guid: impl Fn(Guid) -> Guid,
) -> BTreeMap<String, T> {
    let name = |key: &str| {
        let (kind, old) = key.split_once(' ')?;
        Some(format!("{kind} {}", guid(Guid::from_hex(old).ok()?)))
    };
    nodes.into_iter().filter_map(|(key, held)| Some((name(&key)?, held))).collect()
}

fn parse_lanes(ports: &str, row: &str) -> Result<((PortNum, PortNum), Sl2Vl), String> {
    let wrong = || format!("'{ports}': '{row}' is no row of lanes");
    let (from, to) = ports.split_once('-').ok_or_else(wrong)?;
    let port = |text: &str| text.parse::<u8>().map(PortNum).map_err(|_| wrong());
    Ok(((port(from)?, port(to)?), Sl2Vl::from_digits(row).ok_or_else(wrong)?))
}

impl fmt::Display for HexTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Digits go out in pieces, because each piece costs a call.
        let mut digits = [0; 2 * HEX_PIECE];
        for piece in self.0.bytes().chunks(HEX_PIECE) {
            for (pair, byte) in digits.chunks_exact_mut(2).zip(piece) {
                pair[0] = HEX_DIGITS[usize::from(byte >> 4)];
                pair[1] = HEX_DIGITS[usize::from(byte & 0xF)];
            }
            f.write_str(std::str::from_utf8(&digits[..2 * piece.len()]).map_err(|_| fmt::Error)?)?;
        }
        Ok(())
    }
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Bytes whose digits are written at once.
const HEX_PIECE: usize = 512;

impl Serialize for HexTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HexTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        from_hex(&text).map(|entries| Self(Lft::from_entries(entries))).map_err(de::Error::custom)
    }
}

fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || "a forwarding table that is not written in pairs of hexadecimal digits".to_owned();
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(wrong);
    let pair = |pair: &[u8]| {
        Ok(match pair {
            [high, low] => (digit(*high)? * 16 + digit(*low)?) as u8,
            _ => return Err(wrong()),
        })
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
