//! The configuration: defaults for flags, under the names of the flags.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::args::Color;
use super::{Exit, Failure};

/// What the file may set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    pub source: Option<String>,
    pub node_name_map: Option<PathBuf>,
    pub color: Option<Color>,
}

const KEYS: &str = "source, node-name-map, color";

impl Config {
    /// A file that was asked for has to be there; the one in the usual place need not.
    pub fn load(asked: Option<&Path>, usual: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = asked.or(usual) else { return Ok(Self::default()) };
        match std::fs::read_to_string(file) {
            Ok(text) => Self::parse(&text, file),
            Err(error) if is_absent(&error) && asked.is_none() => Ok(Self::default()),
            Err(error) => Err(bad(
                file,
                None,
                &format!("FD-7101: cannot be read: {error}"),
                "check --config and its rights",
            )),
        }
    }

    fn parse(text: &str, file: &Path) -> Result<Self, Failure> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| line_of(text, span.start));
            bad(file, line, &format!("FD-7102: {}", error.message()), "it has to be TOML")
        })?;
        let mut config = Self::default();
        for (key, value) in &table {
            let line = line_of_key(text, key);
            let word = value.as_str().ok_or_else(|| {
                bad(file, line, &format!("FD-7103: '{key}' is no text"), "put its value in double quotes")
            })?;
            match key.as_str() {
                "source" => config.source = Some(word.to_owned()),
                "node-name-map" => config.node_name_map = Some(word.into()),
                "color" => {
                    let color = Color::from_str(word, false).map_err(|_| {
                        bad(
                            file,
                            line,
                            &format!("FD-7104: '{word}' is no colour mode"),
                            "auto, always or never",
                        )
                    })?;
                    config.color = Some(color);
                }
                _ => {
                    let what = format!("FD-7105: '{key}' is no key of the configuration");
                    return Err(bad(file, line, &what, &format!("the keys are: {KEYS}")));
                }
            }
        }
        Ok(config)
    }
}

/// No such file, or no folder where its folder should be.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn bad(file: &Path, line: Option<usize>, what: &str, hint: &str) -> Failure {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    Failure::new(Exit::BadInput, format!("{}{line}: {what}; {hint}", file.display()))
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

/// The first line that begins with a key; every key that is known here stands at the beginning of a line.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let begins = |line: &str| line.trim_start().trim_start_matches(['"', '\'', '[']).starts_with(key);
    text.lines().position(begins).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("c.toml")).map_err(|failure| {
            assert_eq!(failure.exit, Exit::BadInput);
            failure.message.unwrap()
        })
    }

    #[test]
    fn keys_are_read_and_mistakes_have_a_line() {
        let config = parse("# mine\nsource = \"sim:demo\"\ncolor = \"never\"\n").unwrap();
        assert_eq!((config.source.as_deref(), config.color), (Some("sim:demo"), Some(Color::Never)));
        for (text, begins) in [
            ("\nsource = ", "c.toml:2: FD-7102"),
            ("source = 1", "c.toml:1: FD-7103"),
            ("\n\ncolor = \"blue\"", "c.toml:3: FD-7104"),
            ("source = \"x\"\nsuorce = \"y\"", "c.toml:2: FD-7105"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with(begins), "{message}");
        }
    }

    #[test]
    fn only_a_file_that_was_asked_for_has_to_exist() {
        let absent = Path::new("/nonexistent/config.toml");
        assert_eq!(Config::load(None, Some(absent)), Ok(Config::default()));
        assert_eq!(Config::load(Some(absent), None).unwrap_err().exit, Exit::BadInput);
    }
}
