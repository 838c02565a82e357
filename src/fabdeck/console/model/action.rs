//! An action of the console: its keys, its texts, when it is available, and its function.

use super::effect::Effect;
use super::key::Key;
use super::keymap::Keymap;
use super::state::SessionState;
use crate::catalogue::danger::Danger;
use crate::console::features::screens::ScreenId;

/// The screens on which the key of an action works. Its palette word works everywhere, and opens the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyScope {
    Everywhere,
    On(ScreenId),
}

impl std::fmt::Display for KeyScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Everywhere => f.write_str("every screen"),
            Self::On(screen) => write!(f, "the screen {}", screen.title().title),
        }
    }
}

/// Where else the key of an action works: in overlays, or also in the input line unless it types a character
/// there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OverlayScope {
    Nothing,
    Layers,
    Lines,
}

/// The sections of the actions, in the order of the help.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ActionSection {
    Navigation,
    Marks,
    Changes,
    Lanes,
    LinkService,
    Jobs,
    Paths,
    CommandLines,
    Watch,
    Time,
    /// Further actions of screens.
    Screens,
    Session,
}

/// Actions of a feature that belong to one section.
#[derive(Clone, Copy, Debug)]
pub struct ActionGroup {
    pub section: ActionSection,
    pub actions: &'static [Action],
}

/// The function of an action; its second parameter is the rest of the line.
pub type ActionFn = fn(&mut SessionState, &str) -> Vec<Effect>;

#[derive(Clone, Copy)]
pub struct Action {
    /// The word of the action in the palette and in the configuration.
    pub id: &'static str,
    /// Another word for it in the palette; empty where it has none.
    pub alias: &'static str,
    /// The description in one line, without a full stop.
    pub title: &'static str,
    /// The argument after the word; brackets mark optional parts.
    pub argument: &'static str,
    pub keys: &'static [&'static str],
    pub place: KeyScope,
    /// Screens whose help lists the action first, although it works everywhere.
    pub belongs: &'static [ScreenId],
    pub over: OverlayScope,
    pub danger: Danger,
    /// Whether the footer shows it.
    pub prominent: bool,
    /// The reason why the action cannot run now, as an error.
    pub ready: fn(&SessionState) -> Result<(), String>,
    /// The command line for what the action did. For an action that only shows something, the screen has the
    /// command line.
    pub line: Option<fn(&SessionState) -> Option<String>>,
    pub act: ActionFn,
}

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Action").field("id", &self.id).finish_non_exhaustive()
    }
}

pub(crate) const fn new(
    id: &'static str,
    keys: &'static [&'static str],
    title: &'static str,
    act: ActionFn,
) -> Action {
    Action {
        id,
        alias: "",
        title,
        argument: "",
        keys,
        place: KeyScope::Everywhere,
        belongs: &[],
        over: OverlayScope::Nothing,
        danger: Danger::None,
        prominent: false,
        ready: |_| Ok(()),
        line: None,
        act,
    }
}

impl Action {
    /// The key that screens show for the action.
    pub fn first_key(&self, keymap: &Keymap) -> Option<Key> {
        keymap.keys(self).first().copied()
    }

    pub(crate) const fn on_screen(mut self, screen: ScreenId) -> Self {
        self.place = KeyScope::On(screen);
        self
    }

    pub(crate) const fn belongs_to(mut self, screens: &'static [ScreenId]) -> Self {
        self.belongs = screens;
        self
    }

    pub(crate) const fn over_screens(mut self, over: OverlayScope) -> Self {
        self.over = over;
        self
    }

    pub(crate) const fn with_alias(mut self, alias: &'static str) -> Self {
        self.alias = alias;
        self
    }

    pub(crate) const fn with_argument(mut self, argument: &'static str) -> Self {
        self.argument = argument;
        self
    }

    pub(crate) const fn with_precondition(mut self, ready: fn(&SessionState) -> Result<(), String>) -> Self {
        self.ready = ready;
        self
    }

    pub(crate) const fn prominent(mut self) -> Self {
        self.prominent = true;
        self
    }

    pub(crate) const fn with_line(mut self, line: fn(&SessionState) -> Option<String>) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) const fn writes_fabric(mut self) -> Self {
        self.danger = Danger::WritesFabric;
        self
    }

    pub(crate) const fn writes_file(mut self) -> Self {
        self.danger = Danger::WritesFile;
        self
    }
}
