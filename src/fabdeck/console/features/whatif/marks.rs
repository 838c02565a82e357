//! The marks as rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::ElementId;

static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let column = |id: &'static str, title: &'static str, kind, about: &'static str| {
        Column::new(id.into(), title.into(), kind, about.into())
    };
    let amount =
        |id, title, about| Column { largest_first: true, ..column(id, title, FieldKind::Number, about) };
    vec![
        column("element", "MARKED AS FAILED", FieldKind::Text, "the element"),
        amount("pairs", "LOST ALONE", "pairs that this mark alone leaves without a path, until rerouted"),
    ]
});

/// The marks in the order of the fabric.
#[derive(Clone, Debug, Default)]
pub struct MarkRows {
    pub marks: Vec<(ElementId, String, Option<u64>)>,
}

impl MarkRows {
    pub fn new(known: &Model) -> Self {
        let elements = known.cost.iter().flat_map(|cost| &cost.lost.elements);
        let pairs: BTreeMap<ElementId, u64> = elements.map(|element| (element.what, element.pairs)).collect();
        let alone = |what: ElementId| pairs.get(&what).copied();
        let mark = |what| (what, known.element(what).unwrap_or_default(), alone(what));
        Self { marks: known.marks.iter().map(mark).collect() }
    }
}

impl Listing for MarkRows {
    fn column_count(&self) -> usize {
        COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.marks.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let (_, element, pairs) = &self.marks[row];
        match column {
            0 => Value::text(element),
            _ => (*pairs).into(),
        }
    }

    fn empty_text(&self) -> &str {
        "nothing is marked: f on any screen marks what the cursor is on"
    }
}
