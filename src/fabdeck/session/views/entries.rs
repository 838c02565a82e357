//! The forwarding table of one switch, entry by entry.

use crate::session::{Field, Kind, Look, Rows};
use fabdeck_fabric::{Lid, NodeId, Port, PortNum};

use super::tables::owned;

/// The forwarding entry of one switch for one LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub switch: NodeId,
    pub lid: Lid,
    pub egress: Option<PortNum>,
}

type Get = Field<Entry>;

pub static ENTRY_FIELDS: &[Get] = &[
    Get::new("lid", "LID", Kind::Number, "destination LID", |_, r| r.lid.into()),
    Get::new("port", "PORT", Kind::Number, "egress port; none where there is no path", |_, r| {
        r.egress.into()
    }),
    Get::new("destination", "DESTINATION", Kind::Text, "node that owns the LID", |l, r| {
        owner(l, r).map(|port| l.name(port.node)).into()
    }),
    Get::new("destination_port", "AT PORT", Kind::Number, "port that owns the LID", |l, r| {
        owner(l, r).map(|port| port.number).into()
    })
    .on_request(),
    Get::new("next", "NEXT", Kind::Text, "node behind the egress port", |l, r| {
        next(l, r).map(|p| l.name(p.node)).into()
    }),
    Get::new("next_port", "NEXT PORT", Kind::Number, "port at which the next node takes it in", |l, r| {
        next(l, r).map(|port| port.number).into()
    }),
];

/// The entries of a switch for every LID that its table routes or that a port of the fabric owns.
pub fn entries(look: &Look, switch: NodeId) -> Rows<'_, Entry> {
    let mut rows = Vec::new();
    if let Some(lft) = look.observation.tables.lft(switch) {
        let mut lids: Vec<Lid> = lft.routed().map(|(lid, _)| lid).chain(owned(look)).collect();
        lids.sort_unstable();
        lids.dedup();
        // LIDs of blocks that could not be read are unknown, so they have no row.
        lids.retain(|lid| look.observation.tables.tells(switch, *lid));
        rows.extend(lids.into_iter().map(|lid| Entry { switch, lid, egress: lft.get(lid) }));
    }
    Rows {
        look,
        fields: ENTRY_FIELDS,
        rows: rows.into(),
        when_empty: "the source has no forwarding table of this switch",
    }
}

fn owner(look: &Look, row: Entry) -> Option<&Port> {
    look.fabric().port_by_lid(row.lid).map(|port| look.fabric().port(port))
}

fn next(look: &Look, row: Entry) -> Option<&Port> {
    let fabric = look.fabric();
    let egress = fabric.port_of(row.switch, row.egress?)?;
    fabric.peer(egress).map(|peer| fabric.port(peer))
}
