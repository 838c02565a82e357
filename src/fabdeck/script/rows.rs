//! Prints a listing with the operator's filters, fields and order.

use serde_json::Value;

use super::context::Context;
use super::json::Object;
use super::json_schema::{JsonSchema, SchemaProperties};
use super::row_args::RowArgs;
use super::schema_parts::{closed, flag, list, nullable, text};
use crate::catalogue::failure::Failure;
use crate::catalogue::field::{Column, Field, Listing};
use crate::catalogue::query::{Columns, Query, Selection};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::View;
use crate::operations::view_id::ViewId;

/// Schema of `--fields help`, which every command with rows takes.
pub const FIELDS_SCHEMA: JsonSchema = JsonSchema::answer("fields", fields_schema).without_source();

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

    /// Prints rows as a table, or as an object of this schema to which `more` may add.
    pub fn write_rows(
        &mut self,
        schema: &str,
        snapshot: &Snapshot,
        listing: &dyn Listing,
        query: &Query,
        more: impl FnOnce(&mut Object<'_>) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let columns = if self.output.json { Columns::All } else { Columns::Shown };
        let selection = query.select(listing, columns)?;
        if self.output.json {
            let mut object = self.object(schema, snapshot)?;
            more(&mut object)?;
            object.rows("rows", listing, &selection)?;
            return Ok(object.end()?);
        }
        if selection.rows.is_empty() {
            self.output.print_message(&empty_message(listing, &selection, query));
            return Ok(());
        }
        // Fields that the operator named are shown even if they have no values.
        Ok(self.output.write_table(listing, selection, query.fields.is_some())?)
    }

    /// Prints the fields of a view.
    pub fn write_fields(&mut self, view: ViewId) -> Result<(), Failure> {
        let fields = FIELDS.of(view.columns());
        let columns = if self.output.json { Columns::All } else { Columns::Shown };
        let selection = Query::default().select(&fields, columns)?;
        if self.output.json {
            let mut object = self.object_without_snapshot("fields")?;
            object.rows("rows", &fields, &selection)?;
            return Ok(object.end()?);
        }
        self.output.write_table(&fields, selection, false)?;
        if view.has_source_columns() {
            self.output.print_message("each counter of the source is a further field, under its own name");
        }
        Ok(())
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
    RowField::new("about", "MEANING", FieldKind::Text, "", |(), field| field.about.as_ref().into()),
];

fn field() -> Value {
    let unit = nullable(text());
    let keys = vec![("id", text()), ("title", text()), ("kind", text()), ("unit", unit), ("shown", flag())];
    closed(keys.into_iter().chain([("about", text())]).collect())
}

fn fields_schema() -> SchemaProperties {
    vec![("rows", list(field()))]
}
