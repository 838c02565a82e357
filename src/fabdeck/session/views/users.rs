//! The destinations whose paths cross a cable, with a row for each.

use crate::session::{Field, Kind, Look, Rows};
use fabdeck_fabric::{LinkId, Port, PortId};
use fabdeck_routing::analysis::{Paths, Use};

/// A destination, and the cable that its paths cross.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct User {
    pub link: LinkId,
    pub over: Use,
}

type Get = Field<User>;

pub static USER_FIELDS: &[Get] = &[
    Get::new("to", "TO", Kind::Text, "node that owns the LID", |l, r| {
        destination(l, r).map(|port| l.name(port.node)).into()
    }),
    Get::new("lid", "LID", Kind::Number, "destination LID", |_, r| r.over.lid.into()),
    Get::new("sources", "SOURCES", Kind::Number, "hosts that send to it over this cable", |_, r| {
        r.over.sources.into()
    })
    .largest_first(),
    Get::new("from", "OVER", Kind::Text, "the end at which its packets enter the cable", |l, r| {
        l.port_name(enters(l, r)).into()
    }),
];

/// The destinations whose paths cross a cable.
pub fn user_rows(look: &Look, paths: &Paths, link: LinkId) -> Vec<User> {
    paths.over(look.fabric(), link).into_iter().map(|over| User { link, over }).collect()
}

pub fn users<'l>(look: &'l Look, rows: &'l [User]) -> Rows<'l, User> {
    let when_empty =
        "no path between two switches crosses this cable; an adapter's own carries all of its paths";
    Rows { look, fields: USER_FIELDS, rows: rows.into(), when_empty }
}

fn destination(look: &Look, row: User) -> Option<&Port> {
    look.fabric().port_by_lid(row.over.lid).map(|port| look.fabric().port(port))
}

fn enters(look: &Look, row: User) -> PortId {
    let link = look.fabric().link(row.link);
    if row.over.back { link.b } else { link.a }
}
