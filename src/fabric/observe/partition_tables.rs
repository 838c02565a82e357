//! The P_Key tables of ports, as ports answered. An absent table, a port that did not answer and an empty table are three
//! states.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::wire_health::DeviceAnswer;
use crate::{Fabric, Guid, PartitionKey, Partitions, Port, PortId, PortNum};

/// Whether a switch port drops packets whose P_Key its table lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionEnforcement {
    /// The switch has no table for its external ports.
    Cannot,
    /// It drops none.
    Off,
    /// It drops packets that come in.
    Inbound,
    /// It drops packets that go out.
    Outbound,
    /// It drops both.
    Both,
}

impl PartitionEnforcement {
    /// The state of a port by the bits of its PortInfo, at a switch that has tables for its external ports.
    pub fn from_bits(inbound: bool, outbound: bool) -> Self {
        match (inbound, outbound) {
            (false, false) => Self::Off,
            (true, false) => Self::Inbound,
            (false, true) => Self::Outbound,
            (true, true) => Self::Both,
        }
    }

    /// Whether packets are dropped in some direction.
    pub fn is_on(self) -> bool {
        !matches!(self, Self::Cannot | Self::Off)
    }
}

impl fmt::Display for PartitionEnforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cannot => "cannot",
            Self::Off => "off",
            Self::Inbound => "in",
            Self::Outbound => "out",
            Self::Both => "both",
        })
    }
}

/// The partitions of a port.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortPartitions {
    /// The P_Keys in use, in the order of the table, without empty entries.
    pub keys: DeviceAnswer<Vec<PartitionKey>>,
    /// Whether the port drops packets by its table; `None` at ports that send and receive packets themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforcement: Option<PartitionEnforcement>,
}

impl PortPartitions {
    /// The word for a port without a P_Key; `None` where it has some.
    pub fn missing_word(&self) -> Option<&'static str> {
        match self.keys.known() {
            Some(keys) if keys.is_empty() => Some("empty"),
            Some(_) => None,
            None => self.keys.missing_word(),
        }
    }
}

/// The partitions of ports, by node and port: port 0 of switches, the ports of other nodes, and external ports of switches
/// with what they enforce.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartitionTables {
    /// By the GUID of the node and the port.
    pub ports: BTreeMap<(Guid, PortNum), PortPartitions>,
}

impl PartitionTables {
    /// The partitions of a port.
    pub fn port(&self, fabric: &Fabric, port: PortId) -> Option<&PortPartitions> {
        let held = fabric.port(port);
        self.ports.get(&(fabric.node(held.node).guid(), held.number))
    }

    /// Whether a port drops the packets of a partition that it sends or receives at the switch port on its cable; `None`
    /// where that is not known.
    pub fn is_dropped_at_switch(&self, fabric: &Fabric, port: PortId, key: PartitionKey) -> Option<bool> {
        let at = self.port(fabric, fabric.peer(port)?)?;
        if !at.enforcement?.is_on() {
            return Some(false);
        }
        Some(!at.keys.known()?.iter().any(|listed| listed.number() == key.number()))
    }

    /// The partitions of ports whose packets the switch port on their cable drops, as far as that is known.
    pub fn dropped(&self, fabric: &Fabric) -> Vec<(PortId, PartitionKey)> {
        let of_port = |(id, _): (PortId, &Port)| {
            let keys = self.port(fabric, id).and_then(|said| said.keys.known()).into_iter().flatten();
            keys.filter(move |key| self.is_dropped_at_switch(fabric, id, **key) == Some(true))
                .map(move |key| (id, *key))
        };
        fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch()).flat_map(of_port).collect()
    }

    /// The members of partitions on a fabric, and the number of member ports whose table is not known. Those count as
    /// members of every partition, so that no pair with them is kept apart; a member whose packets its switch port drops
    /// is none. `None` where no table is known.
    pub fn members(&self, fabric: &Fabric) -> Option<(Partitions, u64)> {
        let mut by_key: BTreeMap<u16, BTreeMap<PortId, bool>> = BTreeMap::new();
        let (mut unknown, mut known) = (BTreeSet::new(), 0);
        let members = fabric
            .ports()
            .filter(|(_, port)| fabric.node(port.node).is_switch() == (port.number == PortNum::MANAGEMENT));
        for (id, _) in members {
            let Some(keys) = self.port(fabric, id).and_then(|said| said.keys.known()) else {
                unknown.insert(id);
                continue;
            };
            known += 1;
            for key in keys.iter().filter(|key| self.is_dropped_at_switch(fabric, id, **key) != Some(true)) {
                *by_key.entry(key.number()).or_default().entry(id).or_default() |= key.is_full();
            }
        }
        let count = unknown.iter().filter(|id| fabric.port(**id).facts.lid.is_some()).count() as u64;
        (known > 0).then(|| (Partitions::with_unknown(fabric.ports().len(), &by_key, &unknown), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_words_for_a_port_without_a_key() {
        let word = |keys| PortPartitions { keys, enforcement: None }.missing_word();
        assert_eq!(word(DeviceAnswer::Absent), Some("absent"));
        assert_eq!(word(DeviceAnswer::Silent), Some("did not answer"));
        assert_eq!(word(DeviceAnswer::Known(Vec::new())), Some("empty"));
        assert_eq!(word(DeviceAnswer::Known(vec![PartitionKey::new(0xFFFF)])), None);
    }

    #[test]
    fn enforcement_has_a_word_for_each_pair_of_bits() {
        let word = |inbound, outbound| PartitionEnforcement::from_bits(inbound, outbound).to_string();
        assert_eq!(
            [word(false, false), word(true, false), word(false, true), word(true, true)],
            ["off", "in", "out", "both"]
        );
        assert!(!PartitionEnforcement::Cannot.is_on() && PartitionEnforcement::Outbound.is_on());
    }
}
