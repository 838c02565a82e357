//! Chooses themes and characters by what the terminal can show and by the configuration of each fabric.

use std::collections::BTreeMap;

use super::terminal_ground::TerminalGround;
use crate::console::drawing::color_depth::ColorDepth;
use crate::console::drawing::frame::Appearance;
use crate::console::drawing::symbols::Symbols;
use crate::console::drawing::theme::{BUILT_IN, Theme};
use crate::console::drawing::theme_choice::ThemeChoice;
use crate::console::model::console_options::ConsoleOptions;
use fabdeck_files::read_text_within;

/// Most bytes of a theme.
const MAX_THEME_BYTES: u64 = 1 << 20;

pub struct Themes {
    choice: ThemeChoice,
    own: BTreeMap<String, String>,
    depth: ColorDepth,
}

impl Themes {
    pub fn new(opening: &ConsoleOptions, no_color: bool) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let (colorterm, term) = (variable("COLORTERM"), variable("TERM"));
        let usual = ColorDepth::detect(false, colorterm.as_deref(), term.as_deref());
        let depth = match (opening.color, no_color) {
            (Some(false), _) | (None, true) => ColorDepth::Mono,
            // With `--color` an unknown terminal gets the sixteen colours that all terminals have.
            (Some(true), _) => usual.max(ColorDepth::Sixteen),
            (None, false) => usual,
        };
        Self { choice: opening.theme.clone(), own: read_own_themes(), depth }
    }

    pub fn appearance(&self, opening: &ConsoleOptions, utf8: bool) -> Result<Appearance, String> {
        let signs = if opening.ascii || !utf8 { Symbols::ASCII } else { Symbols::UNICODE };
        Ok(Appearance { theme: self.theme(None, &opening.source, TerminalGround::default())?, signs })
    }

    /// The names of all themes, each once.
    pub fn names(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|(name, _)| (*name).to_owned());
        let own = self.own.keys().filter(|name| BUILT_IN.iter().all(|(known, _)| known != name));
        built_in.chain(own.cloned()).collect()
    }

    /// Whether the theme of a source follows the ground of the terminal: nothing chose one, and the terminal has colours
    /// enough for both.
    pub fn follows_ground(&self, source: &str) -> bool {
        self.choice.of(source).is_none() && !matches!(self.depth, ColorDepth::Mono | ColorDepth::Sixteen)
    }

    /// Returns the theme that was chosen in the session, or that of a source, by any of its names.
    pub fn theme(&self, chosen: Option<&str>, source: &str, ground: TerminalGround) -> Result<Theme, String> {
        let fallback = match (self.depth, ground) {
            (ColorDepth::Mono, _) => "mono",
            (ColorDepth::Sixteen, _) => "sixteen",
            (_, TerminalGround::Light) => "light",
            (_, TerminalGround::Dark) => "dark",
        };
        let name = chosen.or(self.choice.of(source)).unwrap_or(fallback);
        Theme::load(name, &self.own, self.depth).map_err(|error| error.to_string())
    }
}

/// Reads the themes beside the configuration, by file name.
fn read_own_themes() -> BTreeMap<String, String> {
    let folders = directories::ProjectDirs::from("", "", "fabdeck");
    let folder = folders.map(|folders| folders.config_dir().join("themes"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let theme = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let name = path.file_stem()?.to_str()?.to_owned();
        path.extension().filter(|end| *end == "toml")?;
        Some((name, read_text_within(&path, MAX_THEME_BYTES).ok()?))
    };
    entries.filter_map(theme).collect()
}
