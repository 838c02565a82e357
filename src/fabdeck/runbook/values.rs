//! The values of steps by name, which guards are judged by.

use std::collections::BTreeMap;
use std::fmt;

use crate::catalogue::json_type::JsonType;

/// One value of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepValue {
    Number(f64),
    Flag(bool),
    /// The step tried to read the value, and it is unknown.
    Unknown,
    /// The value does not exist in a rehearsal.
    Unrehearsed,
}

impl StepValue {
    /// A count as a value; counts of a fabric are far below the limit of exact numbers.
    pub fn count(count: u64) -> Self {
        Self::Number(count as f64)
    }

    pub fn flag(flag: Option<bool>) -> Self {
        flag.map_or(Self::Unknown, Self::Flag)
    }
}

impl fmt::Display for StepValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if number.fract() == 0.0 => write!(f, "{number:.0}"),
            Self::Number(number) => write!(f, "{number:.3}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Unknown => f.write_str("not known"),
            Self::Unrehearsed => f.write_str("not rehearsed"),
        }
    }
}

impl JsonType for StepValue {
    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": ["number", "boolean", "null"] })
    }
}

impl serde::Serialize for StepValue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) if number.fract() == 0.0 && *number >= 0.0 && *number < 9e15 => {
                serializer.serialize_u64(*number as u64)
            }
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Unknown | Self::Unrehearsed => serializer.serialize_none(),
        }
    }
}

/// All values so far; a later value replaces an earlier one of the same name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values(BTreeMap<String, StepValue>);

impl Values {
    pub fn get(&self, name: &str) -> Option<StepValue> {
        self.0.get(name).copied()
    }

    pub fn set(&mut self, name: impl Into<String>, found: StepValue) {
        self.0.insert(name.into(), found);
    }

    /// Stores the values of a step under their names, and also behind the step's id if it has one.
    pub fn store(&mut self, given: &[(String, StepValue)], id: Option<&str>) {
        for (name, found) in given {
            if let Some(id) = id {
                self.set(format!("{id}.{name}"), *found);
            }
            self.set(name.clone(), *found);
        }
    }
}
