//! The JSON schema of what a command prints with `--json`.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::json::NoteObject;
use crate::catalogue::field::Column;
use crate::catalogue::json_type::{JsonType, ObjectSchema};
use crate::catalogue::value::FieldKind;
use crate::operations::view_id::ViewId;
use fabdeck_fabric::Guid;

/// A schema, from which one file of `docs/schemas` is made.
#[derive(Clone, Copy, Debug)]
pub struct JsonSchema {
    /// ID of `fabdeck.ID/1`.
    id: &'static str,
    /// The command line in the title, if it is not the name of the command.
    title: Option<&'static str>,
    shape: SchemaShape,
}

#[derive(Clone, Copy, Debug)]
enum SchemaShape {
    /// One object with these keys.
    Answer { has_source: bool, keys: fn() -> ObjectSchema },
    /// One object with the rows of a view, after further keys.
    Rows { view: ViewId, keys: fn() -> ObjectSchema },
    /// A line for each event.
    Events,
}

impl JsonSchema {
    /// An object of a command that reads a source.
    pub const fn answer<A: Answer>(id: &'static str) -> Self {
        Self { id, title: None, shape: SchemaShape::Answer { has_source: true, keys: A::keys } }
    }

    /// The rows of a view; the keys of `A` come before them.
    pub const fn rows<A: Answer>(view: ViewId) -> Self {
        Self { id: view.id(), title: Some(view.command()), shape: SchemaShape::Rows { view, keys: A::keys } }
    }

    pub const fn events(id: &'static str) -> Self {
        Self { id, title: None, shape: SchemaShape::Events }
    }

    pub const fn without_source(mut self) -> Self {
        if let SchemaShape::Answer { keys, .. } = self.shape {
            self.shape = SchemaShape::Answer { has_source: false, keys };
        }
        self
    }

    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// File name (`links.json`) and content of the schema of a command.
    pub fn file_of(&self, command: &str) -> (String, String) {
        self.file(&format!("fabdeck {}", self.title.unwrap_or(command)))
    }

    /// File name and content of the schema of what this command line prints.
    pub fn file(&self, command_line: &str) -> (String, String) {
        let title = format!("{command_line} --json");
        let schema = match self.shape {
            SchemaShape::Answer { has_source, keys } => object(self.id, &title, has_source, keys()),
            SchemaShape::Rows { view, keys } => {
                let mut keys = keys();
                let row = row(&view.columns(), view.has_source_columns());
                keys.require("rows", json!({ "type": "array", "items": row }));
                object(self.id, &title, true, keys)
            }
            SchemaShape::Events => event_line(self.id, &title),
        };
        // Formatting this kind of value cannot fail.
        (format!("{}.json", self.id), format!("{schema:#}\n"))
    }
}

/// Schema of an event, printed as one line; each kind of event has further keys.
fn event_line(id: &str, title: &str) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{title}, a line each"),
        "type": "object",
        "properties": { "schema": { "const": format!("fabdeck.{id}/1") }, "time": String::schema(), "event": String::schema() },
        "required": ["schema", "event"],
    })
}

/// Schema of a whole answer. The object is open, because later versions may add keys.
fn object(id: &str, title: &str, has_source: bool, own: ObjectSchema) -> Value {
    let mut keys = ObjectSchema::default();
    keys.require("schema", json!({ "const": format!("fabdeck.{id}/1") }));
    keys.require("source", if has_source { String::schema() } else { json!({ "type": "null" }) });
    keys.require("partial", bool::schema());
    keys.require("notes", Vec::<NoteObject<'_>>::schema());
    keys.extend(own);
    keys.required.sort();
    if has_source {
        keys.permit("time", String::schema());
        keys.permit("assumed", String::schema());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": keys.properties,
        "required": keys.required,
    })
}

/// Schema of a row; no key is required, because `--fields` may leave keys out.
fn row(columns: &[&Column], open_ended: bool) -> Value {
    let map: Map<String, Value> =
        columns.iter().map(|column| (column.id.to_string(), cell(column))).collect();
    let others = if open_ended { Option::<u64>::schema() } else { json!(false) };
    json!({ "type": "object", "properties": map, "additionalProperties": others })
}

fn cell(column: &Column) -> Value {
    let mut schema = match column.kind {
        FieldKind::Text => Option::<String>::schema(),
        FieldKind::Number => Option::<u64>::schema(),
        FieldKind::Decimal | FieldKind::Real => Option::<f64>::schema(),
        FieldKind::Flag => Option::<bool>::schema(),
        FieldKind::Guid => Option::<Guid>::schema(),
        kind => {
            let words = kind.words().into_iter().map(Value::from).chain([Value::Null]);
            json!({ "enum": words.collect::<Vec<_>>() })
        }
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), column.about.as_ref().into());
    }
    schema
}
