//! The JSON of answers: a type for each, which says what is written and is the source of its schema.

use std::io::{self, Write};

use serde::Serialize;

use super::json::{Object, ObjectHead};
use crate::catalogue::json_type::{JsonType, ObjectSchema};
use crate::catalogue::summary::FabricSummary;

/// What a command prints with `--json`, after the keys that every object begins with.
pub trait Answer {
    fn keys() -> ObjectSchema;
    fn write(self, object: &mut Object<'_>) -> io::Result<()>;
}

/// Writes an object: the first keys, then those of the answer.
pub fn write_object(out: &mut dyn Write, head: &ObjectHead<'_>, answer: impl Answer) -> io::Result<()> {
    let mut object = Object::begin(out, head)?;
    answer.write(&mut object)?;
    object.end()
}

/// An answer without keys of its own.
impl Answer for () {
    fn keys() -> ObjectSchema {
        ObjectSchema::default()
    }

    fn write(self, _object: &mut Object<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A field of an answer.
pub trait AnswerField {
    fn add_keys(key: &str, keys: &mut ObjectSchema);
    fn write(self, key: &str, object: &mut Object<'_>) -> io::Result<()>;
}

/// A value under a key, on one line.
impl<T: JsonType + Serialize> AnswerField for T {
    fn add_keys(key: &str, keys: &mut ObjectSchema) {
        keys.require(key, T::schema());
    }

    fn write(self, key: &str, object: &mut Object<'_>) -> io::Result<()> {
        object.field(key, &self)
    }
}

/// A list with one item a line, which is never in memory as a whole.
pub struct Lines<'a, T>(Box<dyn Iterator<Item = T> + 'a>);

impl<'a, T> Lines<'a, T> {
    pub fn of(items: impl IntoIterator<Item = T, IntoIter: 'a>) -> Self {
        Self(Box::new(items.into_iter()))
    }
}

impl<T: JsonType + Serialize> AnswerField for Lines<'_, T> {
    fn add_keys(key: &str, keys: &mut ObjectSchema) {
        keys.require(key, <[T]>::schema());
    }

    fn write(self, key: &str, object: &mut Object<'_>) -> io::Result<()> {
        object.list(key, self.0)
    }
}

/// A key that is left out if its value is unknown.
pub struct Optional<T>(pub Option<T>);

impl<T: JsonType + Serialize> AnswerField for Optional<T> {
    fn add_keys(key: &str, keys: &mut ObjectSchema) {
        keys.permit(key, T::schema());
    }

    fn write(self, key: &str, object: &mut Object<'_>) -> io::Result<()> {
        self.0.map_or(Ok(()), |value| object.field(key, &value))
    }
}

/// The keys of a value in alphabetical order, beside those of the answer.
pub struct SortedKeys<T>(pub T);

impl<T: JsonType + Serialize> AnswerField for SortedKeys<T> {
    fn add_keys(_key: &str, keys: &mut ObjectSchema) {
        keys.extend(T::keys());
    }

    fn write(self, _key: &str, object: &mut Object<'_>) -> io::Result<()> {
        object.fields(&self.0)
    }
}

/// The keys of another answer, beside those of this one.
pub struct Part<A>(pub A);

impl<A: Answer> AnswerField for Part<A> {
    fn add_keys(_key: &str, keys: &mut ObjectSchema) {
        keys.extend(A::keys());
    }

    fn write(self, _key: &str, object: &mut Object<'_>) -> io::Result<()> {
        self.0.write(object)
    }
}

/// The numbers of a fabric, beside the keys of the answer.
impl AnswerField for FabricSummary {
    fn add_keys(_key: &str, keys: &mut ObjectSchema) {
        Self::default().numbers().into_iter().for_each(|number| keys.require(number.key, number.schema));
    }

    fn write(self, _key: &str, object: &mut Object<'_>) -> io::Result<()> {
        self.numbers().iter().try_for_each(|number| object.field(number.key, &number.number))
    }
}

/// Declares structs and implements `Answer` for them: their fields are the keys, in this order.
macro_rules! json_answer {
    () => {};
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)?
    } $($rest:tt)*) => {
        $(#[$meta])*
        $vis struct $name $(<$life>)? { $($(#[$field_meta])* $field_vis $field: $type,)* }

        impl $(<$life>)? $crate::script::answer::Answer for $name $(<$life>)? {
            fn keys() -> $crate::catalogue::json_type::ObjectSchema {
                let mut keys = $crate::catalogue::json_type::ObjectSchema::default();
                $(<$type as $crate::script::answer::AnswerField>::add_keys(stringify!($field), &mut keys);)*
                keys
            }

            fn write(self, object: &mut $crate::script::json::Object<'_>) -> std::io::Result<()> {
                $($crate::script::answer::AnswerField::write(self.$field, stringify!($field), object)?;)*
                Ok(())
            }
        }

        $crate::script::answer::json_answer! { $($rest)* }
    };
}
pub(crate) use json_answer;
