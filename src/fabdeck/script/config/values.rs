//! Readers of values of the configuration. Each error gets the place of the innermost value that it is about.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::script::argument_values::duration;
use crate::script::terminal_info::Color;
use fabdeck_live::MadLibrary;

/// A value that is written as a table with known keys.
pub trait ConfigTable: Sized {
    fn read<'de, D: Deserializer<'de>>(keys: D) -> Result<Self, D::Error>;
}

/// Accepts tables alone, because serde would also read a table from a list of its values.
struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: ConfigTable> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(MapAccessDeserializer::new(map))
    }
}

pub fn table<'de, T: ConfigTable, D: Deserializer<'de>>(value: D) -> Result<T, D::Error> {
    value.deserialize_map(TableVisitor(PhantomData))
}

pub fn tables<'de, T: ConfigTable, D: Deserializer<'de>>(value: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(bound = "T: ConfigTable")]
    struct Item<T>(#[serde(deserialize_with = "table")] T);

    Ok(Vec::<Item<T>>::deserialize(value)?.into_iter().map(|Item(item)| item).collect())
}

pub fn parsed_list<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    value: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(bound = "T: FromStr<Err: Display>")]
    struct Item<T>(#[serde(deserialize_with = "parsed")] T);

    Ok(Vec::<Item<T>>::deserialize(value)?.into_iter().map(|Item(item)| item).collect())
}

pub fn parsed<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(value: D) -> Result<T, D::Error> {
    String::deserialize(value)?.parse().map_err(Error::custom)
}

/// Reads a key or a list of keys for each action.
pub fn key_lists<'de, D: Deserializer<'de>>(value: D) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "the value is neither a key nor a list of keys")]
    enum Keys {
        One(String),
        List(Vec<String>),
    }

    let keys = BTreeMap::<String, Keys>::deserialize(value)?.into_iter().map(|(action, keys)| match keys {
        Keys::One(key) => (action, vec![key]),
        Keys::List(keys) => (action, keys),
    });
    Ok(keys.collect())
}

pub fn mad_library<'de, D: Deserializer<'de>>(value: D) -> Result<MadLibrary, D::Error> {
    let word = String::deserialize(value)?;
    MadLibrary::of(&word).ok_or_else(|| Error::custom(format!("'{word}' is no library for adapters")))
}

pub fn color<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Color>, D::Error> {
    let word = String::deserialize(value)?;
    let color = Color::from_str(&word, false);
    color.map(Some).map_err(|_| Error::custom(format!("'{word}' is not a colour mode")))
}

pub fn whole_number<'de, const LEAST: u64, const MOST: u64, T: TryFrom<u64>, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    let number = u64::deserialize(value).ok().filter(|number| (LEAST..=MOST).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    let wrong = || Error::custom(format!("the value is not a whole number from {LEAST} to {MOST}"));
    number.map(Some).ok_or_else(wrong)
}

pub fn quantity<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    number_up_to(value, f64::MAX, "the value is not a number of 0 or more")
}

pub fn fraction<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    number_up_to(value, 1.0, "the value is not a number from 0 to 1")
}

fn number_up_to<'de, D: Deserializer<'de>>(value: D, most: f64, wrong: &str) -> Result<f64, D::Error> {
    let number = f64::deserialize(value).ok().filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| Error::custom(wrong))
}

pub fn interval<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(value)?;
    duration(&text).map(Some).map_err(|why| Error::custom(format!("'{text}': {why}")))
}

/// An interval, or zero where it turns something off.
pub fn interval_or_zero<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(value)?;
    match text.as_str() {
        "0" | "0s" => Ok(Some(Duration::ZERO)),
        _ => interval(text.into_deserializer()),
    }
}
