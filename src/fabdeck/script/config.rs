//! The configuration file: defaults for flags, under the names of the flags.

mod jobs;
mod rights;
mod tables;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::terminal_info::Color;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::console::drawing::theme_choice::ThemeChoice;
use crate::script::config::jobs::JobConfig;
use crate::script::config::rights::rights_objection;
use crate::script::config::tables::WatchConfig;
use fabdeck_change::Rights;
use fabdeck_fabric::counters::{Thresholds, WireThresholds};
use fabdeck_files::read_text_within;
use fabdeck_live::MadLibrary;
use fabdeck_mad::access::FabricIdentity;

/// Values of the configuration file.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    pub source: Option<String>,
    pub node_name_map: Option<PathBuf>,
    /// Sheet of labels and places.
    pub labels: Option<PathBuf>,
    /// Plan of the cabling.
    pub cabling: Option<PathBuf>,
    #[serde(deserialize_with = "values::color")]
    pub color: Option<Color>,
    pub mkey_file: Option<PathBuf>,
    /// Which library reads the adapters of this machine.
    #[serde(deserialize_with = "values::mad_library")]
    pub mad_library: MadLibrary,
    /// Folder of changes.
    pub state_dir: Option<PathBuf>,
    /// Folder of the guards' sockets.
    pub socket_dir: Option<PathBuf>,
    /// Socket of the system log, which records the length of the audit trail.
    pub system_log: Option<PathBuf>,
    /// Requests to guards that other users may send.
    #[serde(deserialize_with = "values::table")]
    pub rights: Rights,
    /// Why the rights in the file are not used.
    #[serde(skip)]
    pub rights_refused: Option<String>,
    pub theme: Option<String>,
    /// Themes by the beginnings of sources, so that an important fabric looks different.
    pub themes: BTreeMap<String, String>,
    pub ascii: bool,
    /// Whether the console uses the mouse.
    pub mouse: bool,
    /// Whether the line to the terminal is slow; left out, it is measured.
    pub slow_line: Option<bool>,
    /// Number of data lanes that is assumed of adapters without a known number.
    #[serde(deserialize_with = "values::whole_number::<1, 15, _, _>")]
    pub supposed_lanes: Option<u8>,
    /// Keys of the console by the ids of actions.
    #[serde(deserialize_with = "values::key_lists")]
    pub keys: BTreeMap<String, Vec<String>>,
    /// Fabrics that may be written to.
    #[serde(rename = "fabric", deserialize_with = "values::tables")]
    pub fabrics: Vec<FabricIdentity>,
    /// Thresholds of the verdicts of `hotspots`.
    #[serde(deserialize_with = "values::table")]
    pub hotspots: Thresholds,
    /// Limits of the wire verdict.
    #[serde(deserialize_with = "values::table")]
    pub wire: WireThresholds,
    #[serde(deserialize_with = "values::table")]
    pub watch: WatchConfig,
    #[serde(deserialize_with = "values::table")]
    pub jobs: JobConfig,
}

const HOTSPOT_HINT: &str =
    "[hotspots] has numbers of 0 or more: congestion, fair-share (up to 1), errors-per-hour, flaps-per-hour";
const WIRE_HINT: &str = "[wire] has module-watch-c = 70, module-bad-c = 80 and sensor-bad-c = 100, and error rates as raw = { ndr = 1e-5 }; \
                         effective and symbol are written the same; the generations are edr, hdr and ndr";
const WATCH_HINT: &str = "[watch] has interval = \"5s\" and drift_period = \"5m\" (\"0s\" turns either off), past_mib = 64, and of the command watch \
     webhook = \"https://HOST/PATH\" and webhook_ca = \"FILE\"";
const JOBS_HINT: &str = "[jobs] has slurm = true, with squeue = \"PROGRAM\" if PATH has none, or file = \"LIST\"; \
                         interval = \"30s\"; and hosts = [{ adapter = \"rack*-{} HCA-*\", host = \"{}\" }]";
const RIGHTS_HINT: &str = "[rights] has lists such as confirm = [\"ada\", \"@operators\", \"1001\"]; the rights are list, \
                           confirm, extend, rollback; \"*\" means all users";
/// Most bytes of a configuration.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

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
        let line = |error: &toml::de::Error| error.span().map(|span| line_of(text, span.start));
        let table = DeTable::parse(text).map_err(|error| {
            let what = format!("FD-7102: {}", error.message());
            config_failure(file, line(&error), &what, "correct the TOML")
        })?;
        Self::deserialize(toml::Deserializer::from(table.clone())).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let (what, hint) = describe_mistake(table.get_ref(), offset, error.message());
            config_failure(file, line(&error), &what, hint)
        })
    }

    /// Chooses the theme of a source; a theme named by `--theme` has precedence.
    pub fn theme_choice(&self, asked: Option<&str>) -> ThemeChoice {
        let (tied, usual) = (self.themes.clone(), self.theme.clone());
        ThemeChoice { asked: asked.map(str::to_owned), tied, usual }
    }
}

/// The message about a wrong value or key, with its code and a hint.
fn describe_mistake(table: &DeTable<'_>, offset: usize, message: &str) -> (String, &'static str) {
    let path = path_at(table, offset).unwrap_or_default();
    if let Some(expected) = message.strip_prefix(&format!("unknown field `{path}`")) {
        let what = format!("FD-7105: '{path}' is not a key of the configuration{expected}");
        return (what, "correct its name, or leave it out");
    }
    let (code, hint) = match path.split(['.', '[']).next().unwrap_or_default() {
        "color" => ("FD-7104", "write auto, always or never"),
        "fabric" if path == "fabric" => {
            ("FD-7106", "write [[fabric]], as 'fabdeck sources --identity' prints it")
        }
        "fabric" => (
            "FD-7107",
            "'fabdeck sources --identity' prints such an entry; keys of the file belong above the entry",
        ),
        "keys" => ("FD-7108", "[keys] has lines such as mark = [\"f\", \"x\"]; docs/keys.md has the actions"),
        "ascii" => ("FD-7109", "write ascii = true"),
        "mad-library" => ("FD-7120", "write auto, libibumad or none"),
        "mouse" => ("FD-7117", "write mouse = true"),
        "themes" => ("FD-7110", "[themes] has lines such as \"umad:mlx5_0\" = \"production\""),
        "hotspots" => ("FD-7111", HOTSPOT_HINT),
        "wire" => ("FD-7119", WIRE_HINT),
        "watch" => ("FD-7112", WATCH_HINT),
        "jobs" if path.starts_with("jobs.hosts") => ("FD-7114", JOBS_HINT),
        "jobs" => ("FD-7113", JOBS_HINT),
        "supposed-lanes" => ("FD-7115", "write supposed-lanes = 4"),
        "rights" => ("FD-7116", RIGHTS_HINT),
        "slow-line" => ("FD-7118", "write slow-line = true; left out, the line is measured"),
        _ => ("FD-7103", "put its value in double quotes"),
    };
    (format!("{code}: '{path}': {}", message.replace(" field `", " key `")), hint)
}

/// The keys that lead to an offset of the file, such as `jobs.hosts[2].adapter`.
fn path_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        let within = match value.get_ref() {
            DeValue::Table(table) => path_at(table, offset).map(|rest| format!("{name}.{rest}")),
            DeValue::Array(items) => items.iter().zip(1..).find_map(|(item, number)| {
                let rest = item.get_ref().as_table().and_then(|table| path_at(table, offset));
                let rest = rest.map(|rest| format!(".{rest}"));
                let rest = rest.or_else(|| item.span().contains(&offset).then(String::new));
                rest.map(|rest| format!("{name}[{number}]{rest}"))
            }),
            _ => None,
        };
        let here = key.span().contains(&offset) || value.span().contains(&offset);
        within.or_else(|| here.then(|| name.to_string()))
    })
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use fabdeck_fabric::Guid;

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
        assert!(parse("[themes]\numad = 3").unwrap_err().starts_with("c.toml:2: FD-7110: 'themes.umad'"));
    }

    #[test]
    fn thresholds_are_numbers_in_range() {
        let config = parse("[hotspots]\ncongestion = 5_000\nfair-share = 0.25\n").unwrap();
        let expected = Thresholds { congestion: 5_000.0, fair_share: 0.25, ..Thresholds::default() };
        assert_eq!(config.hotspots, expected);
        for text in [
            "\nhotspots = 3",
            "\nhotspots = [1.0]",
            "[hotspots]\nfair-share = 1.5",
            "[hotspots]\ncongestion = -1",
            "[hotspots]\ncongestion = inf",
            "[hotspots]\nheat = 1",
        ] {
            assert!(parse(text).unwrap_err().starts_with("c.toml:2: FD-7111: 'hotspots"), "{text}");
        }
    }

    #[test]
    fn the_intervals_of_a_watch_are_times() {
        let both = |config: ConfigFile| (config.watch.interval, config.watch.drift_period);
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
                assert!(watch(text).unwrap_err().starts_with("c.toml:2: FD-7112"), "{key} {text}");
            }
        }
        assert!(parse("watch = 3").unwrap_err().contains("FD-7112"));
        assert!(
            parse("[watch]\nevery = \"1s\"").unwrap_err().starts_with("c.toml:2: FD-7112: 'watch.every'")
        );
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
            ("fabric = [1]", "c.toml:1: FD-7107: 'fabric[1]'"),
            ("[[fabric]]\nname = \"x\"\nswitches = [\"zz\"]", "c.toml:3: FD-7107: 'fabric[1].switches[1]'"),
            (
                "[[fabric]]\nname = \"x\"\nswitches = [\n\"0x1\",\n2]",
                "c.toml:5: FD-7107: 'fabric[1].switches[2]'",
            ),
            ("[[fabric]]\nname = \"x\"\nswitch = []", "c.toml:3: FD-7107: 'fabric[1].switch': unknown key"),
            (
                "[[fabric]]\nname = \"a\"\nswitches = [\"0x1\"]\n[[fabric]]\nswitches = []",
                "c.toml:4: FD-7107: 'fabric[2]'",
            ),
            ("[keys]\nmark = \"f\"\nplan = [1]", "c.toml:3: FD-7108: 'keys.plan'"),
            ("\nascii = 1", "c.toml:2: FD-7109: 'ascii'"),
            ("themes = []", "c.toml:1: FD-7110: 'themes'"),
            (
                "mad-library = \"libc\"",
                "c.toml:1: FD-7120: 'mad-library': 'libc' is no library for adapters; write",
            ),
            ("slow-line = \"yes\"", "c.toml:1: FD-7118: 'slow-line'"),
            ("watch.past_mib = 4097", "c.toml:1: FD-7112: 'watch.past_mib'"),
            ("[watch]\ninterval = \"1s\"\npast-mib = 1", "c.toml:3: FD-7112: 'watch.past-mib': unknown key"),
            ("watch = []", "c.toml:1: FD-7112: 'watch'"),
            (
                "ascii = true\n[rights]\nlist = [\"*\"]\nlists = []",
                "c.toml:4: FD-7116: 'rights.lists': unknown key",
            ),
            (
                "source = \"x\"\nsuorce = \"y\"",
                "c.toml:2: FD-7105: 'suorce' is not a key of the configuration",
            ),
            ("# source\n\"jobs.x\" = 1", "c.toml:2: FD-7105"),
            ("[source]\nx = 1", "c.toml:1: FD-7103"),
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
