//! The JSON of a value.

use std::io::{self, Write};

use super::value::Value;
use fabdeck_fabric::observe::escape_json;

/// Writes a value, with all characters escaped that a terminal would interpret.
pub fn write_json_value(line: &mut Vec<u8>, value: &Value<'_>) -> io::Result<()> {
    match value {
        Value::Missing => line.extend_from_slice(b"null"),
        Value::Number(number) | Value::AtLeast(number) => write!(line, "{number}")?,
        Value::Tenths(_) | Value::Real(_) => write!(line, "{value}")?,
        Value::Flag(flag) => line.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Guid(guid) => write!(line, "\"{guid}\"")?,
        Value::Word { word, .. } => write!(line, "\"{word}\"")?,
        Value::Text(text) => {
            line.write_all(escape_json(&serde_json::to_string(text.as_ref())?).as_bytes())?
        }
    }
    Ok(())
}
