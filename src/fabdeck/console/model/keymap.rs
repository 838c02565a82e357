//! The keys of each action, and the action of each key.

use std::collections::BTreeMap;

use super::action::{Action, KeyScope, OverlayScope};
use super::key::{Key, KeyError};
use crate::console::features::screens::ScreenId;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("FD-6302: [keys] {action}: {error}")]
    Key { action: String, error: KeyError },
    #[error("FD-6303: [keys]: there is no action '{0}'; 'docs/keys.md' and ? list them")]
    UnknownAction(String),
    #[error(
        "FD-6304: [keys]: '{key}' is bound to both {one} and {other}, which work on the same screen; give one of them another key"
    )]
    Twice { key: String, one: &'static str, other: &'static str },
    #[error("FD-6305: [keys] quit: no key would be left to leave with; name one, as in quit = [\"q\"]")]
    NoWayOut,
    #[error("FD-6306: [keys]: screens are named by word; '{0}' is now '{1}'")]
    ScreenNumber(String, &'static str),
}

/// The keys of each action, in the order of the actions.
#[derive(Clone, Debug)]
pub struct Keymap {
    pub(crate) bound: Vec<(&'static Action, Vec<Key>)>,
    /// The bindings of the configuration, in its own notation.
    pub(crate) own: BTreeMap<String, Vec<String>>,
}

impl Keymap {
    /// All actions, in the order of the help.
    pub fn actions(&self) -> impl Iterator<Item = &'static Action> {
        self.bound.iter().map(|(action, _)| *action)
    }

    /// The action of this word, or else the one that has it as its other word.
    pub fn find_action(&self, id: &str) -> Option<&'static Action> {
        let has_alias = |action: &&Action| !id.is_empty() && action.alias == id;
        self.actions().find(|action| action.id == id).or_else(|| self.actions().find(has_alias))
    }

    /// The action of a key on a screen; an action of the screen takes precedence over one of every screen.
    pub fn action(&self, key: Key, screen: ScreenId) -> Option<&'static Action> {
        let of = |place: KeyScope| {
            let mut bound = self.bound.iter().filter(|(action, _)| action.place == place);
            bound.find(|(_, keys)| keys.contains(&key)).map(|(action, _)| *action)
        };
        of(KeyScope::On(screen)).or_else(|| of(KeyScope::Everywhere))
    }

    /// The action of a key in an overlay, or in the input line.
    pub fn overlay_action(&self, key: Key, over: OverlayScope) -> Option<&'static Action> {
        let mut bound = self.bound.iter().filter(|(action, _)| action.over >= over);
        bound.find(|(_, keys)| keys.contains(&key)).map(|(action, _)| *action)
    }

    /// The scope in which a key works elsewhere.
    pub fn other_scope(&self, key: Key) -> Option<KeyScope> {
        self.bound.iter().find(|(_, keys)| keys.contains(&key)).map(|(action, _)| action.place)
    }

    pub fn overrides(&self) -> &BTreeMap<String, Vec<String>> {
        &self.own
    }

    pub fn keys(&self, action: &Action) -> &[Key] {
        let bound = self.bound.iter().find(|(other, _)| other.id == action.id);
        bound.map_or(&[], |(_, keys)| keys)
    }
}
