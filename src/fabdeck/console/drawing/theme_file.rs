//! Reads the file of a theme: `inherits`, a palette of named colours, and roles.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use super::theme::{Role, theme_names};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("FD-7301: there is no theme '{0}'; there are {names}", names = theme_names())]
    Unknown(String),
    #[error("FD-7302: theme {theme}: {what}")]
    Malformed { theme: String, what: String },
    #[error(
        "FD-7303: theme {theme}: '{role}' under [roles] is not a role that fabdeck colours; the roles are those of themes/dark.toml"
    )]
    Role { theme: String, role: String },
    #[error(
        "FD-7304: theme {theme}: '{color}' is no colour; write #rrggbb, a name of the palette, or one of the sixteen"
    )]
    Color { theme: String, color: String },
    #[error("FD-7305: theme {0} inherits from itself")]
    Cycle(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    inherits: Option<String>,
    /// Background of the whole screen; `terminal` keeps that of the terminal.
    ground: Option<String>,
    word: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    roles: BTreeMap<String, RoleStyle>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum RoleStyle {
    Foreground(String),
    Full(StyleAttributes),
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StyleAttributes {
    fg: Option<String>,
    /// The colour on a terminal of sixteen colours, where the nearest one would not do.
    sixteen: Option<String>,
    bg: Option<String>,
    #[serde(rename = "sixteen-bg")]
    sixteen_bg: Option<String>,
    bold: bool,
    dim: bool,
    underlined: bool,
    reversed: bool,
}

/// The colours of a role on a terminal of sixteen colours; `None` takes the nearest ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct SixteenColors {
    pub fg: Option<Color>,
    pub bg: Option<Color>,
}

/// A theme merged with those that it inherits.
#[derive(Debug)]
pub struct ThemeStyles {
    pub styles: BTreeMap<Role, Style>,
    /// Colours of roles on a terminal of sixteen colours, where a theme states them.
    pub sixteen: BTreeMap<Role, SixteenColors>,
    pub ground: Option<Color>,
    /// Word in the header, so that no information depends on a colour alone.
    pub word: Option<String>,
}

/// Merges a theme with those that it inherits; the theme itself has precedence. `text` returns the text of a theme by
/// name.
pub fn resolve<'t>(name: &str, text: &dyn Fn(&str) -> Option<&'t str>) -> Result<ThemeStyles, ThemeError> {
    let mut chain: Vec<(String, ThemeFile)> = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(name) = next.take() {
        if chain.iter().any(|(seen, _)| *seen == name) {
            return Err(ThemeError::Cycle(name));
        }
        let text = text(&name).ok_or_else(|| ThemeError::Unknown(name.clone()))?;
        let malformed =
            |error: toml::de::Error| ThemeError::Malformed { theme: name.clone(), what: error.to_string() };
        let file: ThemeFile = toml::from_str(text).map_err(malformed)?;
        next.clone_from(&file.inherits);
        chain.push((name, file));
    }
    let (mut palette, mut roles) = (BTreeMap::new(), BTreeMap::new());
    for (theme, file) in chain.iter().rev() {
        palette.extend(file.palette.iter().map(|(name, color)| (name.as_str(), color.as_str())));
        for (word, look) in &file.roles {
            let role = Role::ALL.iter().find(|role| role.word() == word);
            let role = role.ok_or_else(|| ThemeError::Role { theme: theme.clone(), role: word.clone() })?;
            roles.insert(*role, (theme, look));
        }
    }
    let style = |(role, (theme, look)): (&Role, &(&String, &RoleStyle))| {
        Ok((*role, parse_style(look, theme, &palette)?))
    };
    let sixteen = roles.iter().map(|(role, (theme, look))| {
        let RoleStyle::Full(full) = look else { return Ok((*role, SixteenColors::default())) };
        let read =
            |name: &Option<String>| name.as_ref().map(|name| parse_color(name, theme, &palette)).transpose();
        Ok((*role, SixteenColors { fg: read(&full.sixteen)?, bg: read(&full.sixteen_bg)? }))
    });
    let sixteen = sixteen.collect::<Result<_, ThemeError>>()?;
    let word = chain.iter().find_map(|(_, file)| file.word.clone());
    let ground = chain.iter().find_map(|(theme, file)| Some((theme, file.ground.as_deref()?)));
    let ground = match ground {
        None | Some((_, TERMINAL)) => None,
        Some((theme, name)) => Some(parse_color(name, theme, &palette)?),
    };
    Ok(ThemeStyles { styles: roles.iter().map(style).collect::<Result<_, _>>()?, sixteen, ground, word })
}

/// The background of the terminal.
const TERMINAL: &str = "terminal";

fn parse_color(name: &str, theme: &str, palette: &BTreeMap<&str, &str>) -> Result<Color, ThemeError> {
    let color = palette.get(name).copied().unwrap_or(name);
    color.parse().map_err(|_| ThemeError::Color { theme: theme.to_owned(), color: color.to_owned() })
}

fn parse_style(look: &RoleStyle, theme: &str, palette: &BTreeMap<&str, &str>) -> Result<Style, ThemeError> {
    let full = match look {
        RoleStyle::Foreground(fg) => StyleAttributes { fg: Some(fg.clone()), ..StyleAttributes::default() },
        RoleStyle::Full(full) => full.clone(),
    };
    let read = |name: &Option<String>| -> Result<Option<Color>, ThemeError> {
        name.as_ref().map(|name| parse_color(name, theme, palette)).transpose()
    };
    let modifiers = [
        (full.bold, Modifier::BOLD),
        (full.dim, Modifier::DIM),
        (full.underlined, Modifier::UNDERLINED),
        (full.reversed, Modifier::REVERSED),
    ];
    let modifiers = modifiers.into_iter().filter(|(set, _)| *set).map(|(_, modifier)| modifier);
    Ok(Style {
        fg: read(&full.fg)?,
        bg: read(&full.bg)?,
        add_modifier: modifiers.collect(),
        ..Style::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static str) -> Result<ThemeStyles, ThemeError> {
        resolve("x", &|name| match name {
            "x" => Some(text),
            "base" => Some("[palette]\nfire = '#ff0000'\n[roles]\ndanger = 'fire'\ntext = 'white'"),
            "ring" => Some("inherits = 'x'"),
            _ => None,
        })
    }

    #[test]
    fn a_theme_inherits_and_mistakes_are_named() {
        let roles = of(
            "inherits = 'base'\n[palette]\nfire = '#00ff00'\n[roles]\ntext = { fg = 'gray', bold = true }",
        )
        .unwrap()
        .styles;
        assert_eq!(roles[&Role::Danger].fg, Some(Color::Rgb(0, 255, 0)));
        assert_eq!(roles[&Role::Text], Style::new().fg(Color::Gray).add_modifier(Modifier::BOLD));
        let ground = |text| of(text).unwrap().ground;
        assert_eq!(ground("inherits = 'base'\nground = 'fire'"), Some(Color::Rgb(255, 0, 0)));
        assert_eq!((ground("inherits = 'base'"), ground("ground = 'terminal'")), (None, None));
        let word = of("inherits = 'base'\nword = 'TEST'").unwrap().word;
        assert_eq!(word.as_deref(), Some("TEST"));
        let sixteen = of("[roles]\ntext = { fg = '#010203', sixteen = 'red' }").unwrap().sixteen;
        assert_eq!((sixteen[&Role::Text].fg, sixteen[&Role::Text].bg), (Some(Color::Red), None));
        assert!(matches!(of("inherits = 'ring'"), Err(ThemeError::Cycle(_))));
        assert!(matches!(of("inherits = 'nothing'"), Err(ThemeError::Unknown(_))));
        assert!(matches!(of("[roles]\nxyz = 'red'"), Err(ThemeError::Role { .. })));
        assert!(matches!(of("[roles]\ntext = 'reddish'"), Err(ThemeError::Color { .. })));
        assert!(matches!(of("[roles"), Err(ThemeError::Malformed { .. })));
        assert!(matches!(of("[roles]\ntext = { blink = true }"), Err(ThemeError::Malformed { .. })));
    }
}
