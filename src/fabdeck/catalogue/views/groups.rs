//! Multicast groups, with a row for each member: those that the subnet manager states, and the ports that forwarding trees
//! lead to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::field::{Field, Tone};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{Rows, View};
use crate::catalogue::views::labels::{LABEL_ABOUT, label_value};
use fabdeck_fabric::observe::{JoinState, MulticastGroup, ports_in_tree};
use fabdeck_fabric::{Guid, PortId};

/// A group and one of its members; `None` where no member is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupMember {
    /// Its place in the list of groups.
    group: usize,
    port: Option<MemberPort>,
    state: Option<JoinState>,
    /// Whether the forwarding tree of its multicast LID leads to it.
    in_tree: Option<bool>,
}

/// A port of the fabric, or the GUID of one that the fabric does not have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum MemberPort {
    Known(PortId),
    Unknown(Guid),
}

type RowField = Field<GroupMember>;

pub const GROUPS: View<GroupMember> = View::new(
    GROUP_FIELDS,
    "the source has no multicast groups; a subnet manager states them, and recordings with --partitions keep them",
);

static GROUP_FIELDS: &[RowField] = &[
    RowField::new("mlid", "MLID", FieldKind::Text, "multicast LID", |l, row| {
        Value::Text(Cow::Owned(format!("{:#06x}", group(l, row).mlid)))
    })
    .identifier(),
    RowField::new(
        "group",
        "GROUP",
        FieldKind::Text,
        "use of the group by its multicast GID (IPoIB with its address, or made by the manager), else the GID",
        |l, row| group(l, row).name().unwrap_or_else(|| group(l, row).mgid.to_string()).into(),
    ),
    RowField::new("mgid", "MGID", FieldKind::Text, "multicast GID", |l, row| {
        group(l, row).mgid.to_string().into()
    })
    .on_request(),
    RowField::new(
        "pkey",
        "P_KEY",
        FieldKind::Text,
        "P_Key of its partition, without the bit of membership",
        |l, row| group(l, row).key.to_string().into(),
    )
    .identifier(),
    RowField::new("level", "SL", FieldKind::Number, "service level of its packets", |l, row| {
        u64::from(group(l, row).level).into()
    })
    .on_request(),
    RowField::new("node", "NODE", FieldKind::Text, "name of a member, or the GUID of its port", |l, row| {
        match row.port {
            Some(MemberPort::Known(id)) => l.name(l.fabric().port(id).node).into(),
            Some(MemberPort::Unknown(guid)) => guid.to_string().into(),
            None => Value::Missing,
        }
    })
    .node_name(),
    RowField::new("port", "PORT", FieldKind::Number, "its port", |l, row| match row.port {
        Some(MemberPort::Known(id)) => l.fabric().port(id).number.into(),
        _ => Value::Missing,
    })
    .identifier()
    .port_of("node"),
    RowField::new("label", "LABEL", FieldKind::Text, LABEL_ABOUT, |l, row| {
        row.port().map_or(Value::Missing, |port| label_value(l, port))
    })
    .when_known(),
    RowField::new(
        "state",
        "STATE",
        FieldKind::Text,
        "joined; full, non-member or send-only where that is known; or not stated, absent, did not answer",
        state_word,
    ),
    RowField::new(
        "tree",
        "TREE",
        FieldKind::Flag,
        "whether the forwarding tree of the multicast LID leads to it",
        |_, row| row.in_tree.into(),
    )
    .toned(&[("no", Tone::Warning)]),
];

impl GroupMember {
    /// Its port; `None` where the fabric does not have it, or no member is known.
    pub fn port(&self) -> Option<PortId> {
        match self.port {
            Some(MemberPort::Known(port)) => Some(port),
            _ => None,
        }
    }

    /// The port in words: its element, or its GUID.
    pub fn port_words(&self, look: &Snapshot) -> Option<String> {
        match self.port? {
            MemberPort::Known(port) => Some(look.port_name(port)),
            MemberPort::Unknown(guid) => Some(guid.to_string()),
        }
    }

    pub fn group<'l>(&self, look: &'l Snapshot) -> &'l MulticastGroup {
        &look.observation.groups.groups[self.group]
    }

    pub fn has_port(&self) -> bool {
        self.port.is_some()
    }

    pub fn is_of_group(&self, other: &Self) -> bool {
        self.group == other.group
    }

    pub fn in_tree(&self) -> Option<bool> {
        self.in_tree
    }
}

/// The members of all groups.
pub fn groups(look: &Snapshot) -> Rows<'_, GroupMember> {
    GROUPS.rows(look, group_rows(look))
}

pub fn group_rows(look: &Snapshot) -> Vec<GroupMember> {
    let all = &look.observation.groups.groups;
    let mut trees: BTreeMap<u16, Option<BTreeSet<PortId>>> = BTreeMap::new();
    let mut sharing: BTreeMap<u16, usize> = BTreeMap::new();
    all.iter().for_each(|group| *sharing.entry(group.mlid).or_default() += 1);
    let mut rows = Vec::new();
    for (at, group) in all.iter().enumerate() {
        let tree = trees
            .entry(group.mlid)
            .or_insert_with(|| ports_in_tree(look.fabric(), &look.observation.tables, group.mlid));
        let alone = sharing.get(&group.mlid) == Some(&1);
        rows.extend(members_of(look, at, tree.as_ref(), alone));
    }
    rows
}

/// The members of a group. Ports that only the tree has are members where no other group has that tree.
fn members_of(look: &Snapshot, at: usize, tree: Option<&BTreeSet<PortId>>, alone: bool) -> Vec<GroupMember> {
    let group = &look.observation.groups.groups[at];
    let mut members: BTreeMap<MemberPort, Option<JoinState>> = BTreeMap::new();
    for (guid, state) in &group.members {
        let port = look.fabric().port_by_guid(*guid).map_or(MemberPort::Unknown(*guid), MemberPort::Known);
        members.insert(port, Some(*state));
    }
    for port in tree.into_iter().flatten().filter(|_| alone) {
        members.entry(MemberPort::Known(*port)).or_insert(None);
    }
    let in_tree = |port: &MemberPort| match port {
        MemberPort::Known(id) => tree.map(|tree| tree.contains(id)),
        MemberPort::Unknown(_) => None,
    };
    let row = |(port, state): (&MemberPort, &Option<JoinState>)| GroupMember {
        group: at,
        port: Some(*port),
        state: *state,
        in_tree: in_tree(port),
    };
    match members.is_empty() {
        true => vec![GroupMember { group: at, port: None, state: None, in_tree: None }],
        false => members.iter().map(row).collect(),
    }
}

fn group<'l>(look: &'l Snapshot, row: &GroupMember) -> &'l MulticastGroup {
    row.group(look)
}

fn state_word(look: &Snapshot, row: &GroupMember) -> Value<'static> {
    let said = &look.observation.groups.members;
    match (row.state, row.port) {
        (Some(JoinState(0)), _) => "joined".into(),
        (Some(state), _) => state.to_string().into(),
        (None, Some(_)) => said.missing_word().unwrap_or("not stated").into(),
        (None, None) => said.missing_word().map_or(Value::Missing, Into::into),
    }
}
