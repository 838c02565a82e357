//! The JSON schema of a type, from the declaration that serde writes the JSON by.
//!
//! `json_type!` declares structs and enums with serde's attributes, and implements `Serialize` and `JsonType`. For types of
//! other crates, `json_type_of!` names the fields or variants, and does not compile if it misses one. Fields after
//! a semicolon are left out where they have no value.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use fabdeck_fabric::{Guid, Lid, PortNum, ServiceLevel, Sl2Vl};

/// A type whose JSON has a schema.
pub trait JsonType {
    fn schema() -> Value;

    /// Schema of a value that is not null, for keys that are left out instead.
    fn known_schema() -> Value {
        Self::schema()
    }

    /// The keys of an object; none for any other type.
    fn keys() -> ObjectSchema {
        ObjectSchema::default()
    }
}

/// The keys of an object with the schemas of their values.
#[derive(Clone, Debug, Default)]
pub struct ObjectSchema {
    pub properties: Map<String, Value>,
    /// The keys that every object has, in the order of their declaration.
    pub required: Vec<String>,
}

impl ObjectSchema {
    pub fn require(&mut self, key: &str, schema: Value) {
        self.properties.insert(key.to_owned(), schema);
        self.required.push(key.to_owned());
    }

    /// Adds a key that an object may have.
    pub fn permit(&mut self, key: &str, schema: Value) {
        self.properties.insert(key.to_owned(), schema);
    }

    pub fn extend(&mut self, other: Self) {
        self.properties.extend(other.properties);
        self.required.extend(other.required);
    }

    /// Adds a field of a struct. `attributes` are those of its declaration, as text.
    pub fn add_field<T: JsonType>(&mut self, name: &str, attributes: &[&str]) {
        let has = |word| attributes.iter().any(|text| text.starts_with("serde") && text.contains(word));
        if has("flatten") {
            self.extend(T::keys());
        } else if has("skip_serializing_if") {
            self.permit(name, T::known_schema());
        } else if !has("skip") {
            self.require(name, T::schema());
        }
    }

    /// Schema of an object without further keys.
    pub fn closed(self) -> Value {
        let Self { properties, required } = self;
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })
    }
}

/// Declares structs and unit enums, with their `Serialize` and `JsonType`.
macro_rules! json_type {
    () => {};
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)?
    } $($rest:tt)*) => {
        #[derive(serde::Serialize)]
        $(#[$meta])*
        $vis struct $name $(<$life>)? { $($(#[$field_meta])* $field_vis $field: $type,)* }

        impl $(<$life>)? $crate::catalogue::json_type::JsonType for $name $(<$life>)? {
            fn schema() -> serde_json::Value {
                Self::keys().closed()
            }

            fn keys() -> $crate::catalogue::json_type::ObjectSchema {
                let mut keys = $crate::catalogue::json_type::ObjectSchema::default();
                $(keys.add_field::<$type>(stringify!($field), &[$(stringify!($field_meta)),*]);)*
                keys
            }
        }

        $crate::catalogue::json_type::json_type! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident),* $(,)?
    } $($rest:tt)*) => {
        #[derive(serde::Serialize)]
        $(#[$meta])*
        $vis enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $crate::catalogue::json_type::JsonType for $name {
            fn schema() -> serde_json::Value {
                $crate::catalogue::json_type::words_schema([$(Self::$variant),*])
            }
        }

        $crate::catalogue::json_type::json_type! { $($rest)* }
    };
}
pub(crate) use json_type;

/// Implements `JsonType` for structs and unit enums that other crates declare. `as` names the type of a text.
macro_rules! json_type_of {
    () => {};
    (struct $name:ident {
        $($field:ident $(as $type:ty)?),* $(,)? $(; $($left_out:ident),* $(,)?)?
    } $($rest:tt)*) => {
        impl $crate::catalogue::json_type::JsonType for $name {
            fn schema() -> serde_json::Value {
                Self::keys().closed()
            }

            fn keys() -> $crate::catalogue::json_type::ObjectSchema {
                use $crate::catalogue::json_type::schema_of_field;
                let _every_field = |Self { $($field: _,)* $($($left_out: _),*)? }: &Self| ();
                let mut keys = $crate::catalogue::json_type::ObjectSchema::default();
                $(
                    let [schema, ..] = [
                        $(<$type as $crate::catalogue::json_type::JsonType>::schema(),)?
                        schema_of_field(|value: &Self| &value.$field),
                    ];
                    keys.require(stringify!($field), schema);
                )*
                $($(
                    keys.permit(
                        stringify!($left_out),
                        $crate::catalogue::json_type::known_schema_of_field(|value: &Self| &value.$left_out),
                    );
                )*)?
                keys
            }
        }

        $crate::catalogue::json_type::json_type_of! { $($rest)* }
    };
    (enum $name:ident { $($variant:ident),* $(,)? } $($rest:tt)*) => {
        impl $crate::catalogue::json_type::JsonType for $name {
            fn schema() -> serde_json::Value {
                let _every_variant = |value: &Self| match value { $(Self::$variant)|* => () };
                $crate::catalogue::json_type::words_schema([$(Self::$variant),*])
            }
        }

        $crate::catalogue::json_type::json_type_of! { $($rest)* }
    };
}
pub(crate) use json_type_of;

/// Schema of the type of a field.
pub fn schema_of_field<T, F: JsonType>(_field: impl Fn(&T) -> &F) -> Value {
    F::schema()
}

/// Schema of the type of a field that is left out where it has no value.
pub fn known_schema_of_field<T, F: JsonType>(_field: impl Fn(&T) -> &F) -> Value {
    F::known_schema()
}

/// Schema of one of these words.
pub fn words_schema<T: Serialize>(words: impl IntoIterator<Item = T>) -> Value {
    let words: Vec<T> = words.into_iter().collect();
    json!({ "enum": words })
}

/// The same schema, or null.
fn nullable(mut schema: Value) -> Value {
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    } else if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    schema
}

/// A value whose objects have their keys in alphabetical order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sorted<T>(pub T);

impl<T: Serialize> Serialize for Sorted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_value(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Types whose JSON is that of the type inside.
macro_rules! same_as_inside {
    ($([$($parameter:tt)*] $name:ty;)+) => {$(
        impl<$($parameter)*> JsonType for $name {
            fn schema() -> Value {
                T::schema()
            }

            fn known_schema() -> Value {
                T::known_schema()
            }

            fn keys() -> ObjectSchema {
                T::keys()
            }
        }
    )+};
}

same_as_inside! {
    [T: JsonType + ?Sized] &T;
    [T: JsonType] Sorted<T>;
}

/// Types that are not made of others.
macro_rules! plain {
    ($($schema:tt: $($name:ty)+;)+) => {$($(
        impl JsonType for $name {
            fn schema() -> Value {
                json!($schema)
            }
        }
    )+)+};
}

plain! {
    { "type": "string" }: str String Sl2Vl;
    { "type": "boolean" }: bool;
    { "type": "integer", "minimum": 0 }: u8 u16 u32 u64 usize Lid PortNum ServiceLevel;
    { "type": "integer", "minimum": 1 }: NonZeroU64;
    { "type": "integer" }: i64;
    { "type": "number" }: f64;
    { "type": "string", "pattern": "^0x[0-9a-f]{16}$" }: Guid;
}

impl<T: JsonType> JsonType for Option<T> {
    fn schema() -> Value {
        nullable(T::schema())
    }

    fn known_schema() -> Value {
        T::schema()
    }
}

impl<T: JsonType> JsonType for [T] {
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl<T: JsonType> JsonType for Vec<T> {
    fn schema() -> Value {
        <[T]>::schema()
    }
}

/// A pair is a list of two items.
impl<A: JsonType, B: JsonType> JsonType for (A, B) {
    fn schema() -> Value {
        let (first, second) = (A::schema(), B::schema());
        // A list of equal items if both types have the same schema, otherwise one schema for each place.
        match first == second {
            true => json!({ "type": "array", "items": first }),
            false => json!({ "type": "array", "prefixItems": [first, second] }),
        }
    }
}

impl<T: JsonType> JsonType for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }
}
