//! Themes: a style for every role. A role is what a thing means, never how it looks.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};

use super::color_depth::{ColorDepth, contrast};
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
    Strong "strong";
    Faint "faint";
    Grid "grid";
    Preview "preview";
    Dialog "dialog";
    Behind "behind";
    Load "load";
    Load0 "load.0";
    Load1 "load.1";
    Load2 "load.2";
    Load3 "load.3";
    Load4 "load.4";
    Wait "wait";
    Wait0 "wait.0";
    Wait1 "wait.1";
    Wait2 "wait.2";
    Wait3 "wait.3";
    Wait4 "wait.4";
    Errors "errors";
    Errors0 "errors.0";
    Errors1 "errors.1";
    Errors2 "errors.2";
    Errors3 "errors.3";
    Errors4 "errors.4";
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

/// A quantity that has a colour of its own on every screen, in a step for nothing and four steps above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    Load,
    Wait,
    Errors,
}

impl Quantity {
    /// The role of figures of this quantity.
    pub fn figure_role(self) -> Role {
        match self {
            Self::Load => Role::Load,
            Self::Wait => Role::Wait,
            Self::Errors => Role::Errors,
        }
    }

    /// The role of a figure that is written in whole numbers: zero is faint.
    pub fn value_role(self, value: f64) -> Role {
        if value < 0.5 { Role::Faint } else { self.figure_role() }
    }

    /// The role of a step: 0 is next to nothing, 4 the most.
    pub fn step_role(self, step: u8) -> Role {
        let steps = match self {
            Self::Load => [Role::Load0, Role::Load1, Role::Load2, Role::Load3, Role::Load4],
            Self::Wait => [Role::Wait0, Role::Wait1, Role::Wait2, Role::Wait3, Role::Wait4],
            Self::Errors => [Role::Errors0, Role::Errors1, Role::Errors2, Role::Errors3, Role::Errors4],
        };
        steps[usize::from(step.min(4))]
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
        let ThemeStyles { styles, sixteen, ground, word } = resolve(name, &text)?;
        let ground = ground.and_then(|ground| depth.color(ground));
        let style = |role: &Role| {
            let style = styles.get(role).copied().unwrap_or_default();
            let stated = sixteen.get(role).copied().unwrap_or_default();
            match depth {
                ColorDepth::Sixteen if stated.fg.is_some() || stated.bg.is_some() => {
                    let nearest = depth.style(style);
                    Style { fg: stated.fg.or(nearest.fg), bg: stated.bg.or(nearest.bg), ..nearest }
                }
                _ => depth.style_on(style, ground),
            }
        };
        Ok(Self { name: name.to_owned(), word, styles: Role::ALL.iter().map(style).collect(), ground })
    }

    /// Style of an empty cell.
    pub fn blank(&self) -> Style {
        Style { bg: self.ground, ..self.style(Role::Text) }
    }

    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// A cell painted in the colour of a role, with legible text on it. Without colours, only a `high` value is
    /// reversed.
    pub fn painted(&self, role: Role, high: bool) -> Style {
        let Some(ground) = self.style(role).fg else {
            let modifier = if high { Modifier::REVERSED } else { Modifier::empty() };
            return Style::new().add_modifier(modifier);
        };
        let legible = |color: &Color| contrast(*color, ground).unwrap_or_default();
        let text = if legible(&Color::Black) >= legible(&Color::White) { Color::Black } else { Color::White };
        Style::new().fg(text).bg(ground)
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

    /// Text is legible. Borders, the grid of charts and the lower steps of quantities are no text; hints are read by
    /// those who look for them.
    fn least_contrast(role: Role) -> f64 {
        match role {
            Role::Border => 1.7,
            Role::Grid | Role::Behind => 1.2,
            Role::Load0 | Role::Wait0 | Role::Errors0 => 1.05,
            Role::Load1 | Role::Wait1 | Role::Errors1 => 1.3,
            Role::Load2 | Role::Wait2 | Role::Errors2 => 2.0,
            Role::Faint => 2.8,
            _ => 4.5,
        }
    }

    /// Every role is legible: on the background of its theme, or on dark and light terminals if the theme paints
    /// none.
    #[test]
    fn every_role_of_every_theme_can_be_read() {
        for (name, _) in BUILT_IN {
            for depth in [ColorDepth::Sixteen, ColorDepth::TwoHundredFiftySix, ColorDepth::True] {
                let theme = Theme::built_in(name, depth).unwrap();
                for role in Role::ALL {
                    let style = theme.style(*role);
                    let least = least_contrast(*role);
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

    /// The steps of a quantity differ in every theme with colours; of the sixteen, two lower ones may share a colour.
    #[test]
    fn the_steps_of_a_quantity_differ() {
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "mono") {
            for depth in [ColorDepth::Sixteen, ColorDepth::TwoHundredFiftySix, ColorDepth::True] {
                let theme = Theme::built_in(name, depth).unwrap();
                for quantity in [Quantity::Load, Quantity::Wait, Quantity::Errors] {
                    let mut colors: Vec<Option<Color>> =
                        (1..5).map(|step| theme.style(quantity.step_role(step)).fg).collect();
                    colors.dedup();
                    let least = if depth == ColorDepth::Sixteen || *name == "sixteen" { 3 } else { 4 };
                    assert!(colors.len() >= least, "{name} {quantity:?} at {depth:?}: {colors:?}");
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
