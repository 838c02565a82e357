//! The keymap of a session: the keys of the table of actions, and those that the configuration binds instead.

use std::collections::BTreeMap;

use super::actions::{ACTIONS, action};
use crate::console::model::action::Action;
use crate::console::model::key::{Key, KeyError};
use crate::console::model::keymap::{Keymap, KeymapError};

impl Default for Keymap {
    fn default() -> Self {
        let keys = |action: &'static Action| {
            let keys = action.keys.iter().filter_map(|key| key.parse().ok());
            (action, keys.collect())
        };
        Self { bound: ACTIONS.iter().map(keys).collect(), own: BTreeMap::new() }
    }
}

impl Keymap {
    /// The default keys, except for actions that the configuration binds. An action without a key still has
    /// its palette word.
    pub fn with_overrides(own: &BTreeMap<String, Vec<String>>) -> Result<Self, KeymapError> {
        let mut map = Self { own: own.clone(), ..Self::default() };
        for (id, keys) in own {
            let action = action(id).ok_or_else(|| unknown_action(id))?;
            let keys: Result<Vec<Key>, KeyError> = keys.iter().map(|key| key.parse()).collect();
            let keys = keys.map_err(|error| KeymapError::Key { action: id.clone(), error })?;
            for (bound, held) in &mut map.bound {
                if bound.id == action.id {
                    held.clone_from(&keys);
                }
            }
        }
        map.check_duplicates()?;
        // `quit` needs a key: its palette word needs the key of the palette, which may be unbound too.
        if map.bound.iter().any(|(action, keys)| action.id == "quit" && keys.is_empty()) {
            return Err(KeymapError::NoWayOut);
        }
        Ok(map)
    }

    fn check_duplicates(&self) -> Result<(), KeymapError> {
        for (at, (one, keys)) in self.bound.iter().enumerate() {
            for (other, others) in &self.bound[at + 1..] {
                let both = keys.iter().find(|key| others.contains(key));
                if let Some(key) = both.filter(|_| one.place == other.place) {
                    return Err(KeymapError::Twice { key: key.to_string(), one: one.id, other: other.id });
                }
            }
        }
        Ok(())
    }
}

/// The words of screens that earlier versions bound by number, from `screen-1` on.
const NUMBERED_SCREENS: [&str; 9] = [
    "screen-map",
    "screen-links",
    "screen-whatif",
    "screen-paths",
    "screen-hotspots",
    "screen-lanes",
    "screen-jobs",
    "screen-changes",
    "screen-timeline",
];

fn unknown_action(id: &str) -> KeymapError {
    let number = id.strip_prefix("screen-").and_then(|number| number.parse::<usize>().ok());
    let word = number.and_then(|number| NUMBERED_SCREENS.get(number.checked_sub(1)?));
    match word {
        Some(word) => KeymapError::ScreenNumber(id.to_owned(), word),
        None => KeymapError::UnknownAction(id.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::features::screens::ScreenId;

    #[test]
    fn the_usual_keys_are_sound() {
        let map = Keymap::with_overrides(&BTreeMap::new()).unwrap();
        for action in ACTIONS.iter() {
            assert_eq!(map.keys(action).len(), action.keys.len(), "{}: a key that cannot be read", action.id);
        }
    }

    #[test]
    fn keys_can_be_bound_anew_and_mistakes_are_named() {
        let own = |id: &str, key: &str| BTreeMap::from([(id.to_owned(), vec![key.to_owned()])]);
        let map = Keymap::with_overrides(&own("quit", "f10")).unwrap();
        let pressed = |key: &str| map.action(key.parse().unwrap(), ScreenId::Map).map(|action| action.id);
        assert_eq!(pressed("f10"), Some("quit"));
        assert!(matches!(Keymap::with_overrides(&own("quti", "x")), Err(KeymapError::UnknownAction(_))));
        assert!(matches!(
            Keymap::with_overrides(&own("screen-3", "x")),
            Err(KeymapError::ScreenNumber(_, "screen-whatif"))
        ));
        for word in NUMBERED_SCREENS {
            assert!(action(word).is_some(), "{word}");
        }
        assert!(matches!(Keymap::with_overrides(&own("quit", "strg-x")), Err(KeymapError::Key { .. })));
        assert!(matches!(Keymap::with_overrides(&own("help", ":")), Err(KeymapError::Twice { .. })));
        let nothing = |id: &str| Keymap::with_overrides(&BTreeMap::from([(id.to_owned(), Vec::new())]));
        assert!(matches!(nothing("quit"), Err(KeymapError::NoWayOut)));
        assert!(nothing("copy-last").is_ok(), "other actions keep their words");
    }
}
