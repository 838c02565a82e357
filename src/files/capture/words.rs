//! GUIDs in the records, as every tool of the trade prints them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fabric::Guid;

/// A GUID as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HexGuid(pub Guid);

impl Serialize for HexGuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HexGuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Guid::from_hex(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A word of a list of words, where there is one.
pub(super) fn word_of<T: Copy>(
    what: &str,
    word: Option<&str>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    word.map(|word| read(word).ok_or_else(|| format!("'{word}' is no {what}"))).transpose()
}
