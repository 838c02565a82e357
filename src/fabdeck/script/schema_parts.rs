//! Parts of JSON schemas: types, lists, and objects with or without further keys.

use serde_json::{Map, Value, json};

pub(crate) fn closed(properties: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
    let map: Map<String, Value> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({ "type": "object", "properties": map, "required": required, "additionalProperties": false })
}

/// Schema of an object without unknown keys, of which numeric ones are optional.
pub(crate) fn closed_with_numbers(properties: Vec<(&str, Value)>, more: &[&str]) -> Value {
    let mut schema = closed(properties);
    if let Some(map) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        map.extend(more.iter().map(|key| ((*key).to_owned(), json!({ "type": "number" }))));
    }
    schema
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn flag() -> Value {
    json!({ "type": "boolean" })
}

pub(crate) fn guid() -> Value {
    json!({ "type": "string", "pattern": "^0x[0-9a-f]{16}$" })
}

pub(crate) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The same schema, or null.
pub(crate) fn nullable(mut schema: Value) -> Value {
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    }
    schema
}
