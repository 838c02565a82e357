//! The configuration file: defaults for flags, under the names of the flags.

mod jobs;
mod rights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::argument_values::duration;
use super::terminal_info::Color;
use super::theme_choice::ThemeChoice;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::console::features::jobs::jobs_model::JobSettings;
use crate::script::config::jobs::{JOBS_HINT, jobs, line_of_rule};
use crate::script::config::rights::{RIGHTS_HINT, rights, rights_objection};
use fabdeck_change::Rights;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::{Guid, HostRules};
use fabdeck_files::read_text_within;
use fabdeck_mad::access::FabricIdentity;

/// Values of the configuration file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConfigFile {
    pub source: Option<String>,
    pub node_name_map: Option<PathBuf>,
    pub color: Option<Color>,
    pub mkey_file: Option<PathBuf>,
    /// Folder of changes.
    pub state_dir: Option<PathBuf>,
    /// Folder of the guards' sockets.
    pub socket_dir: Option<PathBuf>,
    /// Socket of the system log, which records the length of the audit trail.
    pub system_log: Option<PathBuf>,
    /// Requests to guards that other users may send.
    pub rights: Rights,
    /// Why the rights in the file are not used.
    pub rights_refused: Option<String>,
    pub theme: Option<String>,
    /// Themes by the beginnings of sources, so that an important fabric looks different.
    pub themes: BTreeMap<String, String>,
    pub ascii: bool,
    /// Number of data lanes that is assumed of adapters without a known number.
    pub supposed_lanes: Option<u8>,
    /// Keys of the console by the ids of actions.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Fabrics that may be written to.
    pub fabrics: Vec<FabricIdentity>,
    /// Thresholds of the verdicts of `hotspots`.
    pub hotspots: Thresholds,
    /// Period within which sweeps read every table again; zero means never.
    pub drift_period: Option<Duration>,
    /// Memory for the recording of a watch, in MiB.
    pub past_mib: Option<u64>,
    /// Interval of the console's sweeps, if it is not the default; zero disables the watch.
    pub watch: Option<Duration>,
    /// Source of the running jobs in the console.
    pub jobs: JobSettings,
    /// Rules from names of adapters to hosts.
    pub host_rules: HostRules,
}

const KEYS: &str = "source, node-name-map, color, mkey-file, state-dir, socket-dir, system-log, theme, ascii, supposed-lanes, [themes], [keys], [hotspots], [watch], [jobs], [rights], [[fabric]]";
/// Most bytes of a configuration.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

const FABRIC_KEYS: &str = "name, switches, subnet-prefix, subnet-managers";

impl ConfigFile {
    /// Reads the file. A file named by `--config` has to exist; the default file need not.
    pub fn load(asked: Option<&Path>, usual: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = asked.or(usual) else { return Ok(Self::default()) };
        match read_text_within(file, MAX_CONFIG_BYTES) {
            Ok(text) => Self::parse(&text, file).map(|config| config.without_foreign_rights(file)),
            Err(error) if is_absent(&error) && asked.is_none() => Ok(Self::default()),
            Err(error) => Err(config_failure(
                file,
                None,
                &format!("FD-7101: cannot be read: {error}"),
                "check --config and the permission to read the file",
            )),
        }
    }

    /// Drops rights that another user could have written. The rest of the file is used, because a guard has to start in
    /// any case.
    fn without_foreign_rights(self, file: &Path) -> Self {
        if self.rights == Rights::default() {
            return self;
        }
        match rights_objection(file) {
            Some(why) => Self { rights: Rights::default(), rights_refused: Some(why), ..self },
            None => self,
        }
    }

    fn parse(text: &str, file: &Path) -> Result<Self, Failure> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| line_of(text, span.start));
            config_failure(file, line, &format!("FD-7102: {}", error.message()), "correct the TOML")
        })?;
        let mut config = Self::default();
        for (key, value) in &table {
            let line = line_of_key(text, key);
            let result = config.set(key, value, text);
            result.map_err(|wrong| config_failure(file, wrong.line.or(line), &wrong.what, &wrong.hint))?;
        }
        Ok(config)
    }

    /// Sets a key; `text` is the whole file, for errors inside of a table.
    fn set(&mut self, key: &str, value: &toml::Value, text: &str) -> Result<(), ConfigError> {
        let hinted = |hint: &'static str| move |what: String| ConfigError::new(what, hint);
        match key {
            "fabric" => {
                self.fabrics = fabrics(value).map_err(|(what, hint)| ConfigError::new(what, hint))?;
            }
            "keys" => self.keys = keys(value).map_err(hinted(KEYS_HINT))?,
            "hotspots" => self.hotspots = thresholds(value).map_err(hinted(HOTSPOT_HINT))?,
            "watch" => watch(value, self).map_err(hinted(WATCH_HINT))?,
            "jobs" => {
                (self.jobs, self.host_rules) = jobs(value).map_err(|wrong| {
                    let line = wrong.rule.and_then(|rule| line_of_rule(text, rule));
                    ConfigError { line, ..ConfigError::new(wrong.what, JOBS_HINT) }
                })?;
            }
            "rights" => self.rights = rights(value).map_err(hinted(RIGHTS_HINT))?,
            "themes" => self.themes = themes(value).map_err(hinted(THEMES_HINT))?,
            "supposed-lanes" => self.supposed_lanes = Some(supposed_lanes(value)?),
            "ascii" => {
                let what = "FD-7109: 'ascii' is neither true nor false";
                self.ascii = value.as_bool().ok_or_else(|| ConfigError::new(what, "write ascii = true"))?;
            }
            _ => {
                let what = || format!("FD-7103: '{key}' is not a text");
                let word = value.as_str();
                let word = word.ok_or_else(|| ConfigError::new(what(), "put its value in double quotes"))?;
                self.set_text(key, word)?;
            }
        }
        Ok(())
    }

    /// Sets a key whose value is a text.
    fn set_text(&mut self, key: &str, word: &str) -> Result<(), ConfigError> {
        match key {
            "source" => self.source = Some(word.to_owned()),
            "node-name-map" => self.node_name_map = Some(word.into()),
            "theme" => self.theme = Some(word.to_owned()),
            "socket-dir" => self.socket_dir = Some(word.into()),
            "system-log" => self.system_log = Some(word.into()),
            "state-dir" => self.state_dir = Some(word.into()),
            "mkey-file" => self.mkey_file = Some(word.into()),
            "color" => {
                let what = || format!("FD-7104: '{word}' is not a colour mode");
                let color = Color::from_str(word, false);
                self.color =
                    Some(color.map_err(|_| ConfigError::new(what(), "write auto, always or never"))?);
            }
            _ => {
                let what = format!("FD-7105: '{key}' is not a key of the configuration");
                return Err(ConfigError::new(what, &format!("the keys are: {KEYS}")));
            }
        }
        Ok(())
    }
}

/// A mistake in the configuration, with a hint.
struct ConfigError {
    /// Line of the mistake, if it is not that of the key.
    line: Option<usize>,
    what: String,
    hint: String,
}

impl ConfigError {
    fn new(what: impl Into<String>, hint: &str) -> Self {
        Self { line: None, what: what.into(), hint: hint.to_owned() }
    }
}

fn supposed_lanes(value: &toml::Value) -> Result<u8, ConfigError> {
    let lanes = value.as_integer().and_then(|lanes| u8::try_from(lanes).ok());
    lanes.filter(|lanes| (1..=15).contains(lanes)).ok_or_else(|| {
        let what = "FD-7115: 'supposed-lanes' is not a whole number from 1 to 15";
        ConfigError::new(what, "write supposed-lanes = 4")
    })
}

impl ConfigFile {
    /// Chooses the theme of a source; a theme named by `--theme` has precedence.
    pub fn theme_choice(&self, asked: Option<&str>) -> ThemeChoice {
        let (tied, usual) = (self.themes.clone(), self.theme.clone());
        ThemeChoice { asked: asked.map(str::to_owned), tied, usual }
    }
}

const THEMES_HINT: &str = "[themes] has lines such as \"umad:mlx5_0\" = \"production\"";

fn themes(value: &toml::Value) -> Result<BTreeMap<String, String>, String> {
    let table = value.as_table().ok_or("FD-7110: 'themes' is not a table: write [themes]")?;
    let tie = |(source, theme): (&String, &toml::Value)| {
        let theme =
            theme.as_str().ok_or_else(|| format!("FD-7110: [themes] {source}: the value is not a text"))?;
        Ok((source.clone(), theme.to_owned()))
    };
    table.iter().map(tie).collect()
}

const HOTSPOT_HINT: &str =
    "[hotspots] has numbers of 0 or more: congestion, fair-share (up to 1), errors-per-hour, flaps-per-hour";

fn thresholds(value: &toml::Value) -> Result<Thresholds, String> {
    let table = value.as_table().ok_or("FD-7111: 'hotspots' is not a table: write [hotspots]")?;
    let mut thresholds = Thresholds::default();
    for (key, value) in table {
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        let most = if key == "fair-share" { 1.0 } else { f64::MAX };
        let number = number
            .filter(|number| (0.0..=most).contains(number))
            .ok_or_else(|| format!("FD-7111: [hotspots] {key}: the value is not a number in range"))?;
        match key.as_str() {
            "congestion" => thresholds.congestion = number,
            "fair-share" => thresholds.fair_share = number,
            "errors-per-hour" => thresholds.errors_per_hour = number,
            "flaps-per-hour" => thresholds.flaps_per_hour = number,
            _ => return Err(format!("FD-7111: [hotspots] {key}: there is no such key")),
        }
    }
    Ok(thresholds)
}

const WATCH_HINT: &str =
    "[watch] has interval = \"5s\" and drift_period = \"5m\" (\"0s\" turns either off), and past_mib = 64";

fn watch(value: &toml::Value, config: &mut ConfigFile) -> Result<(), String> {
    let table = value.as_table().ok_or("FD-7112: 'watch' is not a table: write [watch]")?;
    for (key, value) in table {
        let wanted = match key.as_str() {
            "interval" => &mut config.watch,
            "drift_period" => &mut config.drift_period,
            "past_mib" => {
                config.past_mib = Some(past_mib(value)?);
                continue;
            }
            _ => return Err(format!("FD-7112: [watch] {key}: there is no such key")),
        };
        let text =
            value.as_str().ok_or_else(|| format!("FD-7112: [watch] {key}: the value is not a text"))?;
        *wanted = Some(match text {
            "0" | "0s" => Duration::ZERO,
            text => duration(text).map_err(|why| format!("FD-7112: [watch] {key}: '{text}': {why}"))?,
        });
    }
    Ok(())
}

/// Reads the memory for the recording of a watch.
fn past_mib(value: &toml::Value) -> Result<u64, String> {
    const MAX_MIB: i64 = 4096;
    let number = value.as_integer().filter(|number| (0..=MAX_MIB).contains(number));
    let number = number.and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| {
        format!("FD-7112: [watch] past_mib: the value is not a whole number from 0 to {MAX_MIB}")
    })
}

const KEYS_HINT: &str = "[keys] has lines such as mark = [\"f\", \"x\"]; docs/keys.md has the actions";

/// Reads a key or a list of keys for each action.
fn keys(value: &toml::Value) -> Result<BTreeMap<String, Vec<String>>, String> {
    let table = value.as_table().ok_or("FD-7108: 'keys' is not a table: write [keys]")?;
    let list = |(action, value): (&String, &toml::Value)| {
        let wrong = || format!("FD-7108: [keys] {action}: the value is neither a key nor a list of keys");
        let keys = match value {
            toml::Value::String(key) => vec![key.clone()],
            toml::Value::Array(keys) => keys
                .iter()
                .map(|key| key.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(wrong)?,
            _ => return Err(wrong()),
        };
        Ok((action.clone(), keys))
    };
    table.iter().map(list).collect()
}

/// Reads entries as `sources --identity` prints them.
fn fabrics(value: &toml::Value) -> Result<Vec<FabricIdentity>, (String, &'static str)> {
    const HINT: &str = "'fabdeck sources --identity' prints such an entry";
    let entries = value
        .as_array()
        .ok_or(("FD-7106: 'fabric' is not a list of entries: write [[fabric]]".to_owned(), HINT))?;
    let entry = |(at, value): (usize, &toml::Value)| {
        let wrong = |what: String| (format!("FD-7107: entry {} of [[fabric]]: {what}", at + 1), HINT);
        let table = value.as_table().ok_or_else(|| wrong("the entry is not a table".to_owned()))?;
        identity(table).map_err(wrong)
    };
    entries.iter().enumerate().map(entry).collect()
}

fn identity(table: &toml::Table) -> Result<FabricIdentity, String> {
    let mut identity = FabricIdentity::default();
    for (key, value) in table {
        let text = || value.as_str().ok_or_else(|| format!("'{key}' is not a text"));
        match key.as_str() {
            "name" => identity.name = text()?.to_owned(),
            "switches" => identity.switches = guids(key, value)?,
            "subnet-managers" => identity.managers = guids(key, value)?,
            "subnet-prefix" => {
                let prefix =
                    Guid::from_hex(text()?).map_err(|_| format!("'{key}' is not a prefix of 16 digits"))?;
                identity.subnet_prefix = Some(prefix.0);
            }
            _ => {
                return Err(format!(
                    "there is no key '{key}'; the keys are: {FABRIC_KEYS} (keys of the file belong above the entry)"
                ));
            }
        }
    }
    match identity.name.is_empty() || identity.switches.is_empty() {
        true => Err("a name and the GUIDs of the switches are required".to_owned()),
        false => Ok(identity),
    }
}

fn guids(key: &str, value: &toml::Value) -> Result<Vec<Guid>, String> {
    let list = value.as_array().ok_or_else(|| format!("'{key}' is not a list of GUIDs"))?;
    let guid = |item: &toml::Value| {
        let text = item.as_str().ok_or_else(|| format!("'{key}' has an item that is not a text"))?;
        Guid::from_hex(text).map_err(|error| format!("'{key}': {error}"))
    };
    list.iter().map(guid).collect()
}

/// Whether the file does not exist, or its folder is no folder.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn config_failure(file: &Path, line: Option<usize>, what: &str, hint: &str) -> Failure {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    Failure::new(Exit::BadInput, format!("{}{line}: {what}; {hint}", file.display()))
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

/// Number of the first line that begins with a key; every known key is at the beginning of a line.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let begins = |line: &str| line.trim_start().trim_start_matches(['"', '\'', '[']).starts_with(key);
    text.lines().position(begins).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn parse(text: &str) -> Result<ConfigFile, String> {
        ConfigFile::parse(text, Path::new("c.toml")).map_err(|failure| {
            assert_eq!(failure.exit, Exit::BadInput);
            failure.message.unwrap()
        })
    }

    #[test]
    fn supposed_lanes_are_a_number_of_data_lanes() {
        assert_eq!(parse("supposed-lanes = 8").unwrap().supposed_lanes, Some(8));
        for lanes in ["0", "16", "\"4\"", "4.5"] {
            let refused = parse(&format!("supposed-lanes = {lanes}")).unwrap_err();
            assert!(refused.starts_with("c.toml:1: FD-7115"), "{refused}");
        }
    }

    #[test]
    fn themes_are_tied_to_sources() {
        let config = parse("theme = \"light\"\n[themes]\n\"umad\" = \"dark\"\n").unwrap();
        assert_eq!(config.theme_choice(None).of("umad"), Some("dark"));
        assert_eq!(config.theme_choice(None).of("sim:demo"), Some("light"));
        assert_eq!(config.theme_choice(Some("mono")).of("umad"), Some("mono"));
        assert!(parse("themes = 3").unwrap_err().contains("FD-7110"));
        assert!(parse("[themes]\numad = 3").unwrap_err().contains("FD-7110: [themes] umad"));
    }

    #[test]
    fn thresholds_are_numbers_in_range() {
        let config = parse("[hotspots]\ncongestion = 5_000\nfair-share = 0.25\n").unwrap();
        let expected = Thresholds { congestion: 5_000.0, fair_share: 0.25, ..Thresholds::default() };
        assert_eq!(config.hotspots, expected);
        for text in [
            "hotspots = 3",
            "[hotspots]\nfair-share = 1.5",
            "[hotspots]\ncongestion = -1",
            "[hotspots]\nheat = 1",
        ] {
            assert!(parse(text).unwrap_err().starts_with("c.toml:1: FD-7111"), "{text}");
        }
    }

    #[test]
    fn the_intervals_of_a_watch_are_times() {
        let both = |config: ConfigFile| (config.watch, config.drift_period);
        assert_eq!(both(parse("[watch]\n").unwrap()), (None, None));
        for key in ["interval", "drift_period"] {
            let watch = |text: &str| parse(&format!("[watch]\n{key} = {text}\n")).map(both);
            let of = |seconds| match key {
                "interval" => (Some(Duration::from_secs(seconds)), None),
                _ => (None, Some(Duration::from_secs(seconds))),
            };
            for (text, seconds) in [("\"2s\"", 2), ("\"5m\"", 300), ("\"0s\"", 0)] {
                assert_eq!(watch(text), Ok(of(seconds)), "{key}");
            }
            for text in ["5", "\"soon\"", "\"-1s\""] {
                assert!(watch(text).unwrap_err().starts_with("c.toml:1: FD-7112"), "{key} {text}");
            }
        }
        assert!(parse("watch = 3").unwrap_err().contains("FD-7112"));
        assert!(parse("[watch]\nevery = \"1s\"").unwrap_err().contains("FD-7112: [watch] every"));
    }

    #[test]
    fn keys_are_read_and_mistakes_have_a_line() {
        let config = parse("# mine\nsource = \"sim:demo\"\ncolor = \"never\"\n").unwrap();
        assert_eq!((config.source.as_deref(), config.color), (Some("sim:demo"), Some(Color::Never)));
        for (text, begins) in [
            ("\nsource = ", "c.toml:2: FD-7102"),
            ("source = 1", "c.toml:1: FD-7103"),
            ("\n\ncolor = \"blue\"", "c.toml:3: FD-7104"),
            ("fabric = 1", "c.toml:1: FD-7106"),
            ("\n[[fabric]]\nname = \"x\"", "c.toml:2: FD-7107"),
            ("[[fabric]]\nname = \"x\"\nswitches = [\"zz\"]", "c.toml:1: FD-7107"),
            ("[[fabric]]\nname = \"x\"\nswitch = []", "c.toml:1: FD-7107"),
            ("source = \"x\"\nsuorce = \"y\"", "c.toml:2: FD-7105"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with(begins), "{message}");
        }
    }

    #[test]
    fn fabrics_that_may_be_written_to_are_identified_by_their_switches() {
        let text = "[[fabric]]\nname = \"a\"\nswitches = [\"0x1\", \"0x2\"]\nsubnet-prefix = \"0xfe80000000000001\"\n\
                    subnet-managers = [\"0x9\"]\n[[fabric]]\nname = \"b\"\nswitches = [\"0x3\"]\n";
        let config = parse(text).unwrap();
        let [a, b] = config.fabrics.as_slice() else { panic!("{:?}", config.fabrics) };
        assert_eq!(
            (a.name.as_str(), a.switches.len(), a.managers.as_slice()),
            ("a", 2, [Guid(9)].as_slice())
        );
        assert_eq!((a.subnet_prefix, b.subnet_prefix), (Some(0xfe80_0000_0000_0001), None));
    }

    #[test]
    fn only_a_file_named_by_an_option_has_to_exist() {
        let absent = Path::new("/nonexistent/config.toml");
        assert_eq!(ConfigFile::load(None, Some(absent)), Ok(ConfigFile::default()));
        assert_eq!(ConfigFile::load(Some(absent), None).unwrap_err().exit, Exit::BadInput);
    }
}
