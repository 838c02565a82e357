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
        "LOST ALONE",
        FieldKind::Number,
        "pairs that this mark alone leaves without a path, until rerouted",
        |(), mark| mark.pairs.into(),
    )
    .largest_first(),
];

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
