//! Chooses themes and characters by what the terminal can show and what the configuration says of each fabric.

use std::collections::BTreeMap;

use crate::console::{Appearance, Depth, Signs, Theme};
use crate::script::{Opening, ThemeChoice};

pub struct Wardrobe {
    choice: ThemeChoice,
    own: BTreeMap<String, String>,
    depth: Depth,
}

impl Wardrobe {
    pub fn new(opening: &Opening, no_color: bool) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let (colorterm, term) = (variable("COLORTERM"), variable("TERM"));
        let usual = Depth::of(false, colorterm.as_deref(), term.as_deref());
        let depth = match (opening.color, no_color) {
            (Some(false), _) | (None, true) => Depth::Mono,
            // `--color` asks for colours: an unknown terminal gets the sixteen that all terminals have.
            (Some(true), _) => usual.max(Depth::Sixteen),
            (None, false) => usual,
        };
        Self { choice: opening.theme.clone(), own: own_themes(), depth }
    }

    pub fn appearance(&self, opening: &Opening, utf8: bool) -> Result<Appearance, String> {
        let signs = if opening.ascii || !utf8 { Signs::ASCII } else { Signs::UNICODE };
        Ok(Appearance { theme: self.theme(&opening.source)?, signs })
    }

    /// Returns the theme of a source, by any of its names.
    pub fn theme(&self, source: &str) -> Result<Theme, String> {
        let fallback = match self.depth {
            Depth::Mono => "mono",
            Depth::Sixteen => "sixteen",
            _ => "dark",
        };
        let name = self.choice.of(source).unwrap_or(fallback);
        Theme::with(name, &self.own, self.depth).map_err(|error| error.to_string())
    }
}

/// Reads the themes beside the configuration, by file name.
fn own_themes() -> BTreeMap<String, String> {
    let folders = directories::ProjectDirs::from("", "", "fabdeck");
    let folder = folders.map(|folders| folders.config_dir().join("themes"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let theme = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let name = path.file_stem()?.to_str()?.to_owned();
        path.extension().filter(|end| *end == "toml")?;
        Some((name, std::fs::read_to_string(&path).ok()?))
    };
    entries.filter_map(theme).collect()
}
