//! A view is described once: its fields, the text where it has no row, and the
//! orders that a screen offers.
//! Commands, screens, schemas and documentation take them from here.

use std::borrow::Cow;

use super::field::{Column, ColumnContent, Field, ListedPort, Listing};
use super::snapshot::Snapshot;
use super::value::Value;
use fabdeck_fabric::{Element, ElementId};

/// An order of all rows that a screen offers by name. It begins with the largest value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewOrder {
    pub title: &'static str,
    /// The id of the column.
    pub field: &'static str,
}

/// A view of rows of one type. `C` is what all rows share.
#[derive(Debug)]
pub struct View<R: 'static, C: 'static = Snapshot> {
    pub fields: &'static [Field<R, C>],
    /// The text to show when there is no row.
    pub when_empty: &'static str,
    pub orders: &'static [ViewOrder],
}

impl<R: Clone, C: Clone> View<R, C> {
    pub const fn new(fields: &'static [Field<R, C>], when_empty: &'static str) -> Self {
        Self { fields, when_empty, orders: &[] }
    }

    /// Sets the orders that a screen offers.
    pub const fn orders(mut self, orders: &'static [ViewOrder]) -> Self {
        self.orders = orders;
        self
    }

    pub fn columns(&self) -> Vec<&'static Column> {
        self.fields.iter().map(|field| &field.column).collect()
    }

    /// These rows in this context.
    pub fn rows<'l>(&self, context: &'l C, rows: impl Into<Cow<'l, [R]>>) -> Rows<'l, R, C> {
        self.with_context(Cow::Borrowed(context), rows.into())
    }

    /// These rows in a context that only this listing has.
    pub fn rows_in<'l>(&self, context: C, rows: impl Into<Cow<'l, [R]>>) -> Rows<'l, R, C> {
        self.with_context(Cow::Owned(context), rows.into())
    }

    fn with_context<'l>(&self, context: Cow<'l, C>, rows: Cow<'l, [R]>) -> Rows<'l, R, C> {
        let (fields, when_empty) = (self.fields, self.when_empty);
        Rows { fields, context, rows, when_empty }
    }
}

impl<R: Clone> View<R, ()> {
    /// These rows, whose values need nothing else.
    pub fn of<'l>(&self, rows: impl Into<Cow<'l, [R]>>) -> Rows<'l, R, ()> {
        self.rows_in((), rows)
    }
}

/// What all rows of a listing share.
pub trait RowContext: Clone {
    /// The port that a text names.
    fn find_port(&self, _text: &str) -> Option<ListedPort> {
        None
    }

    /// Whether two switches have one name.
    fn has_duplicate_switches(&self) -> bool {
        false
    }

    /// A shorter name of the node with this name that no other has; `None` where there is none.
    fn short_name(&self, _name: &str) -> Option<String> {
        None
    }
}

impl RowContext for () {}

impl RowContext for Snapshot {
    fn find_port(&self, text: &str) -> Option<ListedPort> {
        let plain = text.strip_prefix("link:").or(text.strip_prefix("port:")).unwrap_or(text);
        // Other texts are no port, and a long list of names is not searched for them.
        if !plain.ends_with(']') && !plain.contains('/') {
            return None;
        }
        match Element::find(self.fabric(), &self.names, &format!("port:{plain}")) {
            Ok(ElementId::Port(port)) => {
                let port = self.fabric().port(port);
                Some(ListedPort { node: self.name(port.node).to_owned(), number: port.number.value() })
            }
            _ => None,
        }
    }

    fn has_duplicate_switches(&self) -> bool {
        self.names.has_duplicate_switches()
    }

    fn short_name(&self, name: &str) -> Option<String> {
        let [node] = self.names.nodes_named(name) else { return None };
        Some(self.host_name(*node).into_owned()).filter(|short| short.len() < name.len())
    }
}

/// Rows of a view.
#[derive(Debug)]
pub struct Rows<'l, R: Clone + 'static, C: Clone + 'static = Snapshot> {
    fields: &'static [Field<R, C>],
    context: Cow<'l, C>,
    rows: Cow<'l, [R]>,
    when_empty: &'l str,
}

impl<'l, R: Clone, C: Clone> Rows<'l, R, C> {
    /// Replaces the text to show when there is no row.
    pub fn when_empty(self, when_empty: &'l str) -> Self {
        Self { when_empty, ..self }
    }
}

impl<R: Clone, C: RowContext> Listing for Rows<'_, R, C> {
    fn column_count(&self) -> usize {
        self.fields.len()
    }

    fn column(&self, at: usize) -> &Column {
        &self.fields[at].column
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        (self.fields[column].value)(&self.context, &self.rows[row])
    }

    fn short_cell(&self, row: usize, column: usize) -> Value<'_> {
        let value = self.cell(row, column);
        let short = match &value {
            Value::Text(name) if self.column(column).content == ColumnContent::NodeName => {
                self.context.short_name(name)
            }
            _ => None,
        };
        short.map_or(value, |name| Value::Text(name.into()))
    }

    fn find_port(&self, text: &str) -> Option<ListedPort> {
        self.context.find_port(text)
    }

    fn is_distinguishing(&self, column: usize) -> bool {
        self.fields[column].column.tells_apart && self.context.has_duplicate_switches()
    }

    fn empty_text(&self) -> &str {
        self.when_empty
    }
}
