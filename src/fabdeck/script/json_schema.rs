//! The JSON schema of what a command prints with `--json`.

use serde_json::{Map, Value, json};

use super::schema_parts::{closed, flag, list, nullable, number, text};
use crate::catalogue::field::Column;
use crate::catalogue::value::FieldKind;
use crate::operations::view_id::ViewId;

/// Keys of an object with the schemas of their values.
pub type SchemaProperties = Vec<(&'static str, Value)>;

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
    Answer { has_source: bool, properties: fn() -> SchemaProperties },
    /// One object with the rows of a view, after further keys.
    Rows { view: ViewId, properties: fn() -> SchemaProperties },
    /// A line for each event.
    Events,
}

impl JsonSchema {
    /// An object of a command that reads a source.
    pub const fn answer(id: &'static str, properties: fn() -> SchemaProperties) -> Self {
        Self { id, title: None, shape: SchemaShape::Answer { has_source: true, properties } }
    }

    /// The rows of a view; `properties` are the keys before them.
    pub const fn rows(view: ViewId, properties: fn() -> SchemaProperties) -> Self {
        Self { id: view.id(), title: Some(view.command()), shape: SchemaShape::Rows { view, properties } }
    }

    pub const fn events(id: &'static str) -> Self {
        Self { id, title: None, shape: SchemaShape::Events }
    }

    pub const fn without_source(mut self) -> Self {
        if let SchemaShape::Answer { properties, .. } = self.shape {
            self.shape = SchemaShape::Answer { has_source: false, properties };
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
            SchemaShape::Answer { has_source, properties } => {
                object(self.id, &title, has_source, properties())
            }
            SchemaShape::Rows { view, properties } => {
                let rows = list(row(&view.columns(), view.has_source_columns()));
                object(self.id, &title, true, properties().into_iter().chain([("rows", rows)]).collect())
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
        "properties": { "schema": { "const": format!("fabdeck.{id}/1") }, "time": text(), "event": text() },
        "required": ["schema", "event"],
    })
}

/// Schema of a whole answer. The object is open, because later versions may add keys.
fn object(id: &str, title: &str, has_source: bool, properties: Vec<(&str, Value)>) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), json!({ "const": format!("fabdeck.{id}/1") }));
    map.insert("source".into(), if has_source { text() } else { json!({ "type": "null" }) });
    map.insert("partial".into(), flag());
    map.insert("notes".into(), list(note()));
    let own = properties.into_iter().map(|(key, value)| (key.to_owned(), value));
    map.extend(own);
    let required: Vec<String> = map.keys().cloned().collect();
    if has_source {
        map.insert("time".into(), text());
        map.insert("assumed".into(), text());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": map,
        "required": required,
    })
}

/// Schema of a row; no key is required, because `--fields` may leave keys out.
fn row(columns: &[&Column], open_ended: bool) -> Value {
    let map: Map<String, Value> =
        columns.iter().map(|column| (column.id.to_string(), cell(column))).collect();
    let others = if open_ended { nullable(number()) } else { json!(false) };
    json!({ "type": "object", "properties": map, "additionalProperties": others })
}

fn cell(column: &Column) -> Value {
    let mut schema = match column.kind {
        FieldKind::Text => nullable(text()),
        FieldKind::Number => nullable(number()),
        FieldKind::Decimal => nullable(json!({ "type": "number" })),
        FieldKind::Flag => nullable(flag()),
        FieldKind::Guid => json!({ "type": ["string", "null"], "pattern": "^0x[0-9a-f]{16}$" }),
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

fn note() -> Value {
    let count = json!({ "type": "integer", "minimum": 1 });
    let keys =
        vec![("code", text()), ("place", text()), ("text", text()), ("count", count), ("partial", flag())];
    closed(keys)
}
