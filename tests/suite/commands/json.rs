//! Just enough of JSON Schema to hold what is printed against what is documented.

use std::collections::BTreeSet;

use serde_json::Value;

/// Every way in which a value is not what a schema says, by its place.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "$", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if schema == &Value::Bool(false) {
        found.push(format!("{at}: nothing may stand here"));
    }
    let Some(rules) = schema.as_object() else { return };
    for (rule, says) in rules {
        let holds = match rule.as_str() {
            "$schema" | "title" | "description" => true,
            "const" => value == says,
            "enum" => says.as_array().unwrap().contains(value),
            "type" => types(says).iter().any(|kind| is_a(value, kind)),
            "minimum" => value.is_null() || value.as_u64() >= says.as_u64(),
            "pattern" => {
                assert_eq!(says, "^0x[0-9a-f]{16}$", "the only pattern there is");
                value.as_str().is_none_or(is_guid)
            }
            "required" => {
                let keys: BTreeSet<&str> =
                    says.as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
                assert_eq!(
                    keys.len(),
                    says.as_array().unwrap().len(),
                    "{at}: a key stands there twice: {says}"
                );
                value.is_null()
                    || says.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(says, item, &format!("{at}[{place}]"), found);
                }
                true
            }
            "prefixItems" => {
                for (place, schema) in says.as_array().unwrap().iter().enumerate() {
                    let item = value.get(place).unwrap_or(&Value::Null);
                    check(schema, item, &format!("{at}[{place}]"), found);
                }
                true
            }
            "properties" => {
                for (key, item) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = says.get(key).or_else(|| rules.get("additionalProperties")) {
                        check(schema, item, &format!("{at}.{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => true,
            other => panic!("the rule '{other}' is not one of the subset"),
        };
        if !holds {
            found.push(format!("{at}: {value} against {rule} {says}"));
        }
    }
}

fn types(says: &Value) -> Vec<&str> {
    match says {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type '{other}' is not one of the subset"),
    }
}

fn is_guid(text: &str) -> bool {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.strip_prefix("0x").is_some_and(|digits| digits.len() == 16 && digits.bytes().all(digit))
}

#[test]
fn the_validator_finds_what_is_wrong() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "a": { "type": ["integer", "null"] }, "g": { "pattern": "^0x[0-9a-f]{16}$" } },
        "required": ["a"],
        "additionalProperties": false,
    });
    assert!(violations(&schema, &serde_json::json!({ "a": null, "g": "0x0000000000000001" })).is_empty());
    for wrong in [
        serde_json::json!({}),
        serde_json::json!({ "a": "1" }),
        serde_json::json!({ "a": 1, "b": 2 }),
        serde_json::json!({ "a": 1, "g": "0x1" }),
        serde_json::json!([]),
    ] {
        assert!(!violations(&schema, &wrong).is_empty(), "{wrong}");
    }
}
