//! Chooses the theme of a fabric: from `--theme`, from its source, or the default.

use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThemeChoice {
    /// Value of `--theme`.
    pub asked: Option<String>,
    /// Entries of `[themes]` in the configuration.
    pub tied: BTreeMap<String, String>,
    pub usual: Option<String>,
}

impl ThemeChoice {
    /// Name of the theme; `None` leaves the choice to the terminal. The longest fitting name of a source wins.
    pub fn of(&self, source: &str) -> Option<&str> {
        let fits = self.tied.iter().filter(|(name, _)| matches_source(name, source));
        let longest = fits.max_by_key(|(name, _)| name.len()).map(|(_, theme)| theme);
        self.asked.as_ref().or(longest).or(self.usual.as_ref()).map(String::as_str)
    }
}

/// Whether a name in the configuration fits a source. An adapter is named by `umad:mlx5_0`, `umad:mlx5_0:1` or its
/// own name, and `mlx5_1` is not `mlx5_10`. Other sources are named by their beginning.
fn matches_source(name: &str, source: &str) -> bool {
    let Some(device) = source.strip_prefix("umad") else { return source.starts_with(name) };
    let part = |whole: &str, name: &str| {
        whole.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    part(source, name) || device.strip_prefix(':').is_some_and(|device| part(device, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_is_chosen_by_any_name_of_an_adapter() {
        let tied =
            [("umad", "a"), ("umad:mlx5_1", "b"), ("mlx5_2", "c"), ("mlx5_2:2", "d"), ("/data/prod", "e")];
        let tied = tied.map(|(name, theme)| (name.to_owned(), theme.to_owned())).into();
        let choice = ThemeChoice { tied, ..ThemeChoice::default() };
        for (source, theme) in [
            ("umad", Some("a")),
            ("umad:mlx5_1:1", Some("b")),
            ("umad:mlx5_1", Some("b")),
            ("umad:mlx5_10:1", Some("a")),
            ("umad:mlx5_2:1", Some("c")),
            ("umad:mlx5_2:2", Some("d")),
            ("/data/production", Some("e")),
            ("sim:demo", None),
        ] {
            assert_eq!(choice.of(source), theme, "{source}");
        }
        assert_eq!(ThemeChoice { asked: Some("x".to_owned()), ..choice }.of("umad"), Some("x"));
    }
}
