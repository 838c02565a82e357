//! Multicast groups and their members, as the subnet manager states them.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::wire_health::DeviceAnswer;
use crate::{Fabric, Guid, PartitionKey, PortId, Tables};

/// How a port is joined to a group: bits of a full member (1), a non-member (2) and a send-only member (4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JoinState(pub u8);

impl fmt::Display for JoinState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WORDS: [(u8, &str); 3] = [(1, "full"), (2, "non-member"), (4, "send-only")];
        let words = WORDS.iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, word)| *word);
        let words = words.collect::<Vec<_>>().join(", ");
        f.write_str(if words.is_empty() { "none" } else { &words })
    }
}

/// A multicast group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MulticastGroup {
    /// Its multicast GID.
    pub mgid: Ipv6Addr,
    /// Its multicast LID, which other groups may share.
    pub mlid: u16,
    /// The partition that its packets are in.
    pub key: PartitionKey,
    /// The service level of its packets.
    pub level: u8,
    /// The members that the manager stated, by the GUID of the port.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub members: BTreeMap<Guid, JoinState>,
}

impl MulticastGroup {
    /// The use of the group, where its multicast GID tells it.
    pub fn name(&self) -> Option<String> {
        let [flags_scope, signature, .., high, low] = self.mgid.segments();
        let segments = self.mgid.segments();
        let address = u32::from(high) << 16 | u32::from(low);
        match signature {
            // IP over InfiniBand (RFC 4391, section 4).
            0x401B if address == u32::MAX => Some("IPoIB broadcast".to_owned()),
            0x401B => {
                let group = Ipv4Addr::from_bits(0xE000_0000 | address & 0x0FFF_FFFF);
                Some(format!("IPoIB {group}"))
            }
            0x601B => {
                let [_, _, _, a, b, c, d, e] = segments;
                let group = Ipv6Addr::new(0xFF00 | flags_scope & 0xF, 0, 0, a, b, c, d, e);
                Some(format!("IPoIB {group}"))
            }
            // IBA 15.2.5.17: multicast GIDs that the manager makes. SHARP asks for such.
            0xA01B => Some("GID made by the manager, as for SHARP".to_owned()),
            _ => None,
        }
    }

    /// The P_Key in the multicast GID of a group of IP over InfiniBand.
    pub fn key_in_gid(&self) -> Option<PartitionKey> {
        let [_, signature, key, ..] = self.mgid.segments();
        matches!(signature, 0x401B | 0x601B).then(|| PartitionKey::new(key))
    }
}

/// The groups of a fabric.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MulticastGroups {
    /// Whether the manager stated groups, refused or did not answer.
    pub answer: DeviceAnswer<()>,
    /// Whether it stated members too.
    pub members: DeviceAnswer<()>,
    /// By multicast LID and GID.
    pub groups: Vec<MulticastGroup>,
}

impl MulticastGroups {
    /// The same answers without groups.
    pub fn clone_head(&self) -> Self {
        Self { answer: self.answer, members: self.members, groups: Vec::new() }
    }

    /// Whether the manager was never asked.
    pub fn is_not_asked(&self) -> bool {
        self.answer.is_not_asked()
    }
}

/// The ports of hosts and routers that multicast tables deliver a multicast LID to; `None` if no table is known.
pub fn ports_in_tree(fabric: &Fabric, tables: &Tables, mlid: u16) -> Option<BTreeSet<PortId>> {
    let mut known = false;
    let mut ports = BTreeSet::new();
    for (switch, held) in &tables.nodes {
        let Some(mft) = &held.mft else { continue };
        known = true;
        let exits = mft.groups.get(&mlid).into_iter().flatten();
        let peers = exits.filter_map(|number| fabric.peer(fabric.port_of(*switch, *number)?));
        ports.extend(peers.filter(|peer| !fabric.node(fabric.port(*peer).node).is_switch()));
    }
    known.then_some(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(mgid: &str) -> MulticastGroup {
        let key = PartitionKey::DEFAULT_FULL;
        MulticastGroup { mgid: mgid.parse().unwrap(), mlid: 0xC000, key, level: 0, members: BTreeMap::new() }
    }

    #[test]
    fn groups_are_named_by_their_multicast_gid() {
        for (mgid, name, key) in [
            ("ff12:401b:ffff::ffff:ffff", Some("IPoIB broadcast"), Some(0x7FFF)),
            ("ff12:401b:8010::ffff:ffff", Some("IPoIB broadcast"), Some(0x10)),
            ("ff12:401b:ffff::1", Some("IPoIB 224.0.0.1"), Some(0x7FFF)),
            ("ff12:401b:ffff::fff:fffa", Some("IPoIB 239.255.255.250"), Some(0x7FFF)),
            ("ff12:601b:ffff::1", Some("IPoIB ff02::1"), Some(0x7FFF)),
            ("ff12:601b:ffff::1:ff12:3456", Some("IPoIB ff02::1:ff12:3456"), Some(0x7FFF)),
            // As SHARP prints it: subnet prefix 0xff12a01bfe800000, interface 0x940000000000.
            ("ff12:a01b:fe80:0:0:9400::", Some("GID made by the manager, as for SHARP"), None),
            ("ff12:1234::1", None, None),
        ] {
            let group = group(mgid);
            assert_eq!(group.name().as_deref(), name, "{mgid}");
            assert_eq!(group.key_in_gid().map(PartitionKey::number), key, "{mgid}");
        }
    }

    #[test]
    fn join_states_have_words() {
        let words = |bits| JoinState(bits).to_string();
        assert_eq!(
            [words(0), words(1), words(2), words(4), words(5)],
            ["none", "full", "non-member", "send-only", "full, send-only"]
        );
    }
}
