//! The marks as rows.

use std::collections::BTreeMap;

use crate::catalogue::field::Field;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::ElementId;

/// A marked element with its name, and the pairs that this mark alone leaves without a path.
#[derive(Clone, Debug)]
pub struct MarkRow {
    pub what: ElementId,
    name: String,
    pairs: Option<u64>,
}

type RowField = Field<MarkRow, ()>;

pub const MARKS: View<MarkRow, ()> =
    View::new(MARK_FIELDS, "nothing is marked: f on any screen marks what the cursor is on");

static MARK_FIELDS: &[RowField] = &[
    RowField::new("element", "MARKED AS FAILED", FieldKind::Text, "the element", |(), mark| {
        Value::text(&mark.name)
    }),
    RowField::new(
        "pairs",
        "PAIRS IF ALONE",
        FieldKind::Number,
        "pairs that this mark alone leaves without a path, until rerouted",
        |(), mark| mark.pairs.into(),
    )
    .largest_first(),
];

/// Marks that are named before the others are counted.
const NAMED_MARKS: usize = 3;

/// The names of the marked elements: `spine-2, rack1-leaf[7] to spine-3[1]`.
pub(super) fn mark_names(known: &Model) -> String {
    let name = |mark| {
        let look = known.look.as_ref()?;
        Some(match mark {
            ElementId::Node(node) => look.host_name(node).into_owned(),
            ElementId::Port(port) => look.labelled_port_name(port),
            ElementId::Link(link) => {
                let ends = look.fabric().link(link);
                format!("{} to {}", look.labelled_port_name(ends.a), look.labelled_port_name(ends.b))
            }
        })
    };
    let names: Vec<String> = known.marks.iter().take(NAMED_MARKS).filter_map(name).collect();
    match known.marks.len().saturating_sub(NAMED_MARKS) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The marks in the order of the fabric.
pub fn mark_rows(known: &Model) -> Vec<MarkRow> {
    let elements = known.cost.iter().flat_map(|cost| &cost.lost.elements);
    let pairs: BTreeMap<ElementId, u64> = elements.map(|element| (element.what, element.pairs)).collect();
    let mark = |what| MarkRow {
        what,
        name: known.element(what).unwrap_or_default(),
        pairs: pairs.get(&what).copied(),
    };
    known.marks.iter().map(mark).collect()
}
