//! The record of multicast groups, with all their members. It replaces the record before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{MulticastGroup, MulticastGroups};

/// Most members of all groups of a record.
const MAX_MEMBERS: usize = 65_536;

/// Groups. Those of one reading may take several records.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Whether it adds groups to those of the record before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
    #[serde(flatten)]
    pub stated: MulticastGroups,
}

impl GroupRecord {
    pub fn of(stated: &MulticastGroups) -> Vec<Self> {
        let mut records = Vec::new();
        let (mut part, mut members) = (Vec::<MulticastGroup>::new(), 0);
        let mut close = |part: &mut Vec<MulticastGroup>| {
            let groups = std::mem::take(part);
            let continued = !records.is_empty();
            records.push(Self { continued, stated: MulticastGroups { groups, ..stated.clone_head() } });
        };
        for group in &stated.groups {
            if members + group.members.len() > MAX_MEMBERS && !part.is_empty() {
                close(&mut part);
                members = 0;
            }
            members += group.members.len();
            part.push(group.clone());
        }
        close(&mut part);
        records
    }

    pub fn apply(self, known: &mut MulticastGroups) {
        match self.continued {
            true => known.groups.extend(self.stated.groups),
            false => *known = self.stated,
        }
    }

    /// The same with other GUIDs. Multicast GIDs may contain addresses, so only their first six bytes stay, which tell
    /// their kind and partition.
    pub fn anonymize(mut self, guid: impl Fn(Guid) -> Guid) -> Self {
        for (number, group) in (0_u16..).zip(&mut self.stated.groups) {
            let [a, b, c, .., high, low] = group.mgid.segments();
            let broadcast = (high, low) == (0xFFFF, 0xFFFF);
            let (high, low) = if broadcast { (high, low) } else { (0, number) };
            group.mgid = core::net::Ipv6Addr::new(a, b, c, 0, 0, 0, high, low);
            let members = std::mem::take(&mut group.members).into_iter();
            group.members = members.map(|(port, state)| (guid(port), state)).collect::<BTreeMap<_, _>>();
        }
        self
    }
}
