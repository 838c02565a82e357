//! Prints a listing with the operator's filters, fields and order.

use super::answer::{Answer, Lines, json_answer, write_object};
use super::context::Context;
use super::json::{Object, ObjectHead};
use super::json_schema::JsonSchema;
use super::row_args::RowArgs;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::{Column, Field, Listing};
use crate::catalogue::json_type::{ObjectSchema, json_type};
use crate::catalogue::query::{Columns, Query, Selection};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::View;
use crate::operations::view_id::ViewId;
use fabdeck_fabric::observe::Notes;

/// Schema of `--fields help`, which every command with rows takes.
pub const FIELDS_SCHEMA: JsonSchema = JsonSchema::answer::<FieldsAnswer<'_>>("fields").without_source();

/// Value of `--fields` that asks for the list of fields.
pub const FIELDS_HELP: &str = "help";

impl Context<'_, '_> {
    pub fn query(&self, rows: &RowArgs) -> Query {
        Query {
            filters: self.globals.filter.clone(),
            fields: rows.fields.clone(),
            sort: rows.sort.clone(),
            top: rows.top,
            ..Query::default()
        }
    }

    /// Prints rows as a table, or as an object of this schema, in which the keys of `before` come before the rows.
    pub fn write_rows(
        &mut self,
        schema: &str,
        snapshot: &Snapshot,
        listing: &dyn Listing,
        query: &Query,
        before: impl Answer,
    ) -> Result<(), Failure> {
        let columns = if self.output.json { Columns::All } else { Columns::Shown };
        let selection = query.select(listing, columns)?;
        let conditions = query.filters.iter().flat_map(|filter| filter.split(',')).map(str::trim);
        self.operation().report_guessed_labels(snapshot, conditions);
        if self.output.json {
            let rows = SelectedRows { before, listing, selection: &selection };
            return self.write_answer(schema, snapshot, rows);
        }
        self.write_row_table(listing, selection, query)
    }

    /// Prints rows of a source that is no fabric.
    pub fn write_rows_of(
        &mut self,
        schema: &str,
        source: &str,
        listing: &dyn Listing,
        query: &Query,
        before: impl Answer,
    ) -> Result<(), Failure> {
        if self.output.json {
            let selection = query.select(listing, Columns::All)?;
            let (source, notes) = (Some(source), &Notes::new());
            let head = ObjectHead { schema, source, time: None, assumed: None, partial: false, notes };
            return Ok(write_object(
                self.output.out,
                &head,
                SelectedRows { before, listing, selection: &selection },
            )?);
        }
        self.write_row_table(listing, query.select(listing, Columns::Shown)?, query)
    }

    fn write_row_table(
        &mut self,
        listing: &dyn Listing,
        selection: Selection,
        query: &Query,
    ) -> Result<(), Failure> {
        if selection.rows.is_empty() {
            self.output.print_message(&empty_message(listing, &selection, query));
            return Ok(());
        }
        // Fields that the operator named are shown even if they have no values.
        Ok(self.output.write_table(listing, selection, query.fields.is_some())?)
    }

    /// Prints the fields of a view.
    pub fn write_fields(&mut self, view: ViewId) -> Result<(), Failure> {
        let described = view.columns();
        let fields = FIELDS.of(described.clone());
        let columns = if self.output.json { Columns::All } else { Columns::Shown };
        let selection = Query::default().select(&fields, columns)?;
        if self.output.json {
            let rows = selection.rows.iter().map(|row| FieldObject::new(described[*row]));
            return self.write_plain_answer("fields", FieldsAnswer { rows: Lines::of(rows) });
        }
        self.output.write_table(&fields, selection, false)?;
        if view.has_source_columns() {
            self.output.print_message("each counter of the source is a further field, under its own name");
        }
        Ok(())
    }
}

/// The selected rows of a listing, after the keys of another answer. Their schema is that of the view.
struct SelectedRows<'a, A> {
    before: A,
    listing: &'a dyn Listing,
    selection: &'a Selection,
}

impl<A: Answer> Answer for SelectedRows<'_, A> {
    fn keys() -> ObjectSchema {
        A::keys()
    }

    fn write(self, object: &mut Object<'_>) -> std::io::Result<()> {
        self.before.write(object)?;
        object.rows("rows", self.listing, self.selection)
    }
}

/// Characters that mean something only in a regular expression.
const PATTERN_SIGNS: &[char] = &['^', '$', '*', '\\', '|', '?', '+'];

fn empty_message(listing: &dyn Listing, selection: &Selection, query: &Query) -> String {
    if selection.of == 0 {
        return listing.empty_text().to_owned();
    }
    let patterns =
        |filter: &String| filter.split_once('~').is_some_and(|(_, text)| text.contains(PATTERN_SIGNS));
    let hint = if query.filters.iter().any(patterns) {
        "; ~ means 'contains' and takes characters like ^ and * literally"
    } else {
        ""
    };
    let rows = count_words(selection.of, "row", "rows");
    format!("no row matches the filter ({rows} without it){hint}")
}

type RowField = Field<&'static Column, ()>;

/// The fields of a view, with a row for each.
const FIELDS: View<&Column, ()> = View::new(FIELD_FIELDS, "there are no fields");

static FIELD_FIELDS: &[RowField] = &[
    RowField::new("id", "FIELD", FieldKind::Text, "", |(), field| field.id.as_ref().into()),
    RowField::new("title", "TITLE", FieldKind::Text, "", |(), field| field.title.as_ref().into()),
    RowField::new("kind", "KIND", FieldKind::Text, "", |(), field| field.kind.title().into()),
    RowField::new("unit", "UNIT", FieldKind::Text, "", |(), field| {
        Some(field.unit).filter(|unit| !unit.is_empty()).into()
    }),
    RowField::new("shown", "SHOWN", FieldKind::Flag, "", |(), field| field.shown.into()),
    RowField::new("about", "MEANING", FieldKind::Text, "", |(), field| field.about.as_ref().into())
        .sentence(),
];

json_type! {
    /// A field of a view in JSON.
    struct FieldObject<'a> {
        id: &'a str,
        title: &'a str,
        kind: &'a str,
        unit: Option<&'a str>,
        shown: bool,
        about: &'a str,
    }
}

impl FieldObject<'static> {
    fn new(column: &'static Column) -> Self {
        let unit = Some(column.unit).filter(|unit| !unit.is_empty());
        let Column { id, title, kind, shown, about, .. } = column;
        Self { id, title, kind: kind.title(), unit, shown: *shown, about }
    }
}

json_answer! {
    struct FieldsAnswer<'a> {
        rows: Lines<'a, FieldObject<'a>>,
    }
}
