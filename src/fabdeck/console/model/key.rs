//! Keys as text: `q`, `G`, `ctrl-c`, `esc`, `shift-tab`, `f5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A key without its modifiers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyName {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Function(u8),
}

const NAMED_KEYS: &[(&str, KeyName)] = &[
    ("enter", KeyName::Enter),
    ("esc", KeyName::Esc),
    ("tab", KeyName::Tab),
    ("shift-tab", KeyName::BackTab),
    ("backspace", KeyName::Backspace),
    ("delete", KeyName::Delete),
    ("up", KeyName::Up),
    ("down", KeyName::Down),
    ("left", KeyName::Left),
    ("right", KeyName::Right),
    ("home", KeyName::Home),
    ("end", KeyName::End),
    ("pgup", KeyName::PageUp),
    ("pgdn", KeyName::PageDown),
    ("space", KeyName::Char(' ')),
];

/// A key with its modifiers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key {
    pub press: KeyName,
    pub ctrl: bool,
    pub alt: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "FD-6301: '{0}' is no key; write one character, or enter, esc, tab, shift-tab, space, up, pgdn, f5, with ctrl- \
         or alt- before it"
)]
pub struct KeyError(pub String);

impl Key {
    pub const fn plain(press: KeyName) -> Self {
        Self { press, ctrl: false, alt: false }
    }

    pub const fn ctrl(sign: char) -> Self {
        Self { press: KeyName::Char(sign), ctrl: true, alt: false }
    }

    /// The character that the key types into a line, if any.
    pub fn typed_char(self) -> Option<char> {
        match self.press {
            KeyName::Char(sign) if !self.ctrl && !self.alt => Some(sign),
            _ => None,
        }
    }

    /// Parses keys that are separated by spaces: `/ l e a f enter`. A word that is no key stands for its
    /// letters.
    pub fn parse_sequence(text: &str) -> Vec<Self> {
        let keys = |word: &str| match word.parse::<Self>() {
            Ok(key) => vec![key],
            Err(_) => word.chars().map(|sign| Self::plain(KeyName::Char(sign))).collect(),
        };
        text.split(' ').filter(|word| !word.is_empty()).flat_map(keys).collect()
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (mut ctrl, mut alt, mut rest) = (false, false, text);
        loop {
            // A modifier needs a key after it, which may be the minus sign itself.
            if let Some(behind) = rest.strip_prefix("ctrl-").filter(|behind| !behind.is_empty()) {
                (ctrl, rest) = (true, behind);
            } else if let Some(behind) = rest.strip_prefix("alt-").filter(|behind| !behind.is_empty()) {
                (alt, rest) = (true, behind);
            } else {
                break;
            }
        }
        let named = NAMED_KEYS.iter().find(|(name, _)| *name == rest).map(|(_, press)| *press);
        let function =
            || rest.strip_prefix('f').and_then(|n| n.parse().ok()).filter(|n| (1..=12).contains(n));
        let mut signs = rest.chars();
        let single = signs.next().filter(|sign| signs.next().is_none() && !sign.is_control());
        let press = named.or_else(|| single.map(KeyName::Char)).or_else(|| function().map(KeyName::Function));
        press.map(|press| Self { press, ctrl, alt }).ok_or_else(|| KeyError(text.to_owned()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("ctrl-")?;
        }
        if self.alt {
            f.write_str("alt-")?;
        }
        if let Some((name, _)) = NAMED_KEYS.iter().find(|(_, press)| *press == self.press) {
            return f.write_str(name);
        }
        match self.press {
            KeyName::Char(sign) => write!(f, "{sign}"),
            KeyName::Function(number) => write!(f, "f{number}"),
            _ => Ok(()),
        }
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for Key {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back() {
        for text in
            ["q", "G", "ctrl-c", "alt-x", "esc", "shift-tab", "space", "f12", "-", "ctrl--", "?", "{", "ü"]
        {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        for text in ["", "ctrl-", "f13", "f0", "qq", "\u{7}"] {
            assert!(text.parse::<Key>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn words_that_are_no_keys_are_typed() {
        let keys: Vec<String> = Key::parse_sequence("/ leaf enter").iter().map(Key::to_string).collect();
        assert_eq!(keys, ["/", "l", "e", "a", "f", "enter"]);
    }
}
