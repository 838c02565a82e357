//! Ids and words in JSON, as every tool of the trade prints them; what cannot be is refused when it is read.

use std::borrow::Cow;
use std::fmt::Display;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Guid, Lane, Lid, LinkSpeed, LinkWidth, PortNum, ServiceLevel, Sl2Vl};

/// A type that is written as text, and what reads it.
macro_rules! as_text {
    ($($name:ident, $read:expr;)+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                $read(&text).ok_or_else(|| invalid_value(&text, stringify!($name)))
            }
        }
    )+};
}

/// A type that is written as a number.
macro_rules! as_number {
    ($($name:ident;)+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u32(self.value().into())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = u32::deserialize(deserializer)?;
                $name::new(number).ok_or_else(|| invalid_value(number, stringify!($name)))
            }
        }
    )+};
}

as_text! {
    Guid, |text: &str| Guid::from_hex(text).ok();
    LinkWidth, LinkWidth::from_word;
    LinkSpeed, LinkSpeed::from_word;
    Sl2Vl, Sl2Vl::from_digits;
}

as_number! {
    Lane;
    Lid;
    PortNum;
    ServiceLevel;
}

fn invalid_value<E: Error>(what: impl Display, name: &str) -> E {
    E::custom(format_args!("'{what}' is no {name}"))
}
