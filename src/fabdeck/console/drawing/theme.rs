//! Themes: a style for every role. A role is what a thing means, never how it looks.

use std::collections::BTreeMap;

use ratatui::style::{Color, Style};

use super::color_depth::ColorDepth;
use super::theme_file::{ThemeError, ThemeStyles, resolve};
use crate::catalogue::severity::Severity;

/// Each line is a role: its variant, and its word in theme files.
macro_rules! roles {
    ($($role:ident $word:literal;)+) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Role { $($role),+ }

        impl Role {
            pub const ALL: &[Self] = &[$(Self::$role),+];

            pub fn word(self) -> &'static str {
                match self { $(Self::$role => $word),+ }
            }
        }
    };
}

roles! {
    Text "text";
    Dim "dim";
    Header "header";
    HeaderLive "header.live";
    Screen "screen";
    ScreenOpen "screen.open";
    Crumb "crumb";
    Heading "heading";
    Cursor "cursor";
    Key "key";
    Prompt "prompt";
    Border "border";
    Label "label";
    Good "good";
    Warning "warning";
    Danger "danger";
    LinkDown "link.down";
    LinkDegraded "link.degraded";
    Marked "marked";
    Heat0 "heat.0";
    Heat1 "heat.1";
    Heat2 "heat.2";
    Heat3 "heat.3";
}

impl Role {
    /// Role of messages of this severity.
    pub fn from_severity(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Text,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Danger,
        }
    }
}

/// The themes of the program.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../../../themes/dark.toml")),
    ("light", include_str!("../../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../../themes/colour-blind.toml")),
    ("sixteen", include_str!("../../../../themes/sixteen.toml")),
    ("mono", include_str!("../../../../themes/mono.toml")),
    ("production", include_str!("../../../../themes/production.toml")),
];

/// Names of the built-in themes, separated by commas.
pub fn theme_names() -> String {
    BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Theme {
    pub name: String,
    /// Word in the header that says what the colours of the theme say.
    pub word: Option<String>,
    styles: Vec<Style>,
    ground: Option<Color>,
}

impl Theme {
    /// Returns a theme of the program, as far as the terminal can show it.
    pub fn built_in(name: &str, depth: ColorDepth) -> Result<Self, ThemeError> {
        Self::load(name, &BTreeMap::new(), depth)
    }

    /// Returns a theme by name; `own` holds the texts of the operator's themes, which come before the built-in ones.
    pub fn load(name: &str, own: &BTreeMap<String, String>, depth: ColorDepth) -> Result<Self, ThemeError> {
        let text = |name: &str| -> Option<&str> {
            let built_in = || BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
            own.get(name).map(String::as_str).or_else(built_in)
        };
        let ThemeStyles { styles, ground, word } = resolve(name, &text)?;
        let ground = ground.and_then(|ground| depth.color(ground));
        let style = |role: &Role| depth.style_on(styles.get(role).copied().unwrap_or_default(), ground);
        Ok(Self { name: name.to_owned(), word, styles: Role::ALL.iter().map(style).collect(), ground })
    }

    /// Style of an empty cell.
    pub fn blank(&self) -> Style {
        Style { bg: self.ground, ..self.style(Role::Text) }
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_theme_name_lists_all_themes() {
        let refused = Theme::built_in("purple", ColorDepth::True).unwrap_err().to_string();
        assert!(BUILT_IN.iter().all(|(name, _)| refused.contains(name)), "{refused}");
    }

    #[test]
    fn every_theme_has_every_role() {
        for (name, text) in BUILT_IN {
            for depth in
                [ColorDepth::Mono, ColorDepth::Sixteen, ColorDepth::TwoHundredFiftySix, ColorDepth::True]
            {
                Theme::built_in(name, depth).unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            assert!(text.starts_with('#'), "{name} begins with a comment on its purpose");
        }
    }

    /// Every role is legible: on the background of its theme, or on dark and light terminals if the theme paints
    /// none.
    #[test]
    fn every_role_of_every_theme_can_be_read() {
        use crate::console::drawing::color_depth::contrast;
        for (name, _) in BUILT_IN {
            for depth in [ColorDepth::Sixteen, ColorDepth::TwoHundredFiftySix, ColorDepth::True] {
                let theme = Theme::built_in(name, depth).unwrap();
                for role in Role::ALL {
                    let style = theme.style(*role);
                    // A border is no text, so its contrast may be lower.
                    let least = if *role == Role::Border { 1.8 } else { 4.5 };
                    let grounds = match style.bg.or(theme.ground) {
                        Some(ground) => vec![ground],
                        None => vec![Color::Black, Color::White],
                    };
                    for ground in grounds {
                        // A role without a colour has the terminal's colour, which fits only the terminal's
                        // background.
                        let Some(fg) = style.fg else {
                            assert_eq!(style.bg.or(theme.ground), None, "{name} {}", role.word());
                            continue;
                        };
                        let found = contrast(fg, ground).unwrap();
                        assert!(
                            found >= least,
                            "{name} {} at {depth:?}: {found:.1} on {ground}",
                            role.word()
                        );
                    }
                }
            }
        }
    }

    /// States that differ by colour also differ without colours.
    #[test]
    fn states_differ_without_colours() {
        for (name, _) in BUILT_IN {
            let theme = Theme::built_in(name, ColorDepth::Mono).unwrap();
            for role in
                [Role::Cursor, Role::Danger, Role::Marked, Role::LinkDown, Role::ScreenOpen, Role::Header]
            {
                assert_ne!(theme.style(role), theme.style(Role::Text), "{name}: {}", role.word());
            }
        }
    }
}
