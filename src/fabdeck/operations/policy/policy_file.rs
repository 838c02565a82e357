//! The policy file of `watch --policy`. All mistakes are reported at once, each with its line, before anything runs.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::DeTable;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::study::toml_table::{TomlTable, TomlText};
use fabdeck_files::read_text_within;

/// Whether what is decided is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PolicyMode {
    /// It is reported, and nothing is done.
    #[default]
    Shadow,
    Apply,
}

/// From when on a link is bad.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BadLinkThresholds {
    /// How often it goes down within `flap_window_ms`.
    pub flaps: u64,
    pub flap_window_ms: i64,
    /// How often it goes down within a day of the ledger; 0: this does not count.
    pub flaps_a_day: u64,
    /// Errors of both ports within an hour.
    pub errors_an_hour: u64,
    /// Bit errors after error correction, of which one has this share of all bits.
    pub bit_error_rate: f64,
}

/// How many links are taken out, and when they are taken back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IsolationLimits {
    pub links_at_once: usize,
    pub links_an_hour: usize,
    /// Most paths of a channel without the link, as a multiple of the most paths of a channel before.
    pub busiest_channel: f64,
    /// Share of all links that may be in trouble together; one link always may.
    pub bad_together: f64,
    pub together_ms: i64,
    /// Time without newly lost pairs after which a change is confirmed.
    pub confirm_after_ms: i64,
    /// Time for which a link has to be good until it is taken back.
    pub good_for_ms: i64,
    /// Time until a link is tried again after a refusal or a rollback.
    pub retry_after_ms: i64,
}

/// Which driver writes the changes of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PolicyDriver {
    pub through_opensm: bool,
    pub opensm_conf: Option<PathBuf>,
    pub opensm_console: Option<SocketAddr>,
    pub beside_manager: bool,
}

/// What is done about nodes behind bad cables.
#[derive(Clone, PartialEq, Debug)]
pub struct NodePolicy {
    pub mode: PolicyMode,
    pub nodes_at_once: usize,
    pub good_for_ms: i64,
    pub every: Duration,
    pub timeout: Duration,
    pub sinfo: PathBuf,
    pub scontrol: PathBuf,
}

/// A policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    pub mode: PolicyMode,
    /// The fabrics for which `mode` counts: names of `[[fabric]]` of the configuration, or sources.
    pub fabrics: Vec<String>,
    pub thresholds: BadLinkThresholds,
    pub limits: IsolationLimits,
    pub driver: PolicyDriver,
    pub nodes: Option<NodePolicy>,
}

const DAY_MS: u64 = 86_400_000;
/// The window of a change exceeds the time of its observation by this, and is at most a day.
pub const WINDOW_MARGIN: Duration = Duration::from_secs(300);

impl Policy {
    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self, Failure> {
        let unread = |why: String| {
            let what =
                format!("FD-7380: the policy {} cannot be read: {why}; check its path", file.display());
            Failure::new(Exit::BadInput, what)
        };
        let text = read_text_within(file, MAX_POLICY_BYTES).map_err(|error| unread(error.to_string()))?;
        Self::parse(&text).map_err(|faults| {
            let lines = faults.into_iter().map(|fault| format!("{}:{fault}", file.display()));
            Failure::of_all(Exit::BadInput, lines)
        })
    }

    /// Reads a text; the faults begin with their lines.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = 1 + error.span().map_or(0, |span| text[..span.start].matches('\n').count());
            vec![format!("{line}: FD-7381: {}; correct the line", error.message())]
        })?;
        let faults = TomlText::new(text);
        let mut root = TomlTable::new(&faults, table.get_ref(), 1, "the policy");
        let policy = Self::of_table(&mut root);
        root.refuse_unknown_keys();
        let faults = faults.into_faults();
        match faults.is_empty() {
            true => Ok(policy),
            false => Err(faults.iter().map(ToString::to_string).collect()),
        }
    }

    fn of_table(root: &mut TomlTable<'_, '_>) -> Self {
        let fabrics: Vec<String> = root.texts("fabrics").into_iter().map(|text| text.value).collect();
        let thresholds = BadLinkThresholds {
            flaps: root.number("flaps", 3, 1..=1_000_000).into(),
            flap_window_ms: milliseconds(root, "flap_window", "1h", MINUTE..=DAY_MS),
            flaps_a_day: root.number("flaps_a_day", 0, 0..=1_000_000).into(),
            errors_an_hour: root.number("errors_an_hour", 10_000, 1..=u32::MAX).into(),
            bit_error_rate: root.parsed("bit_error_rate", 1e-8, |text| share(text, 1e-30..=1e-2)),
        };
        let limits = IsolationLimits {
            links_at_once: root.number("links_at_once", 1, 1..=100) as usize,
            links_an_hour: root.number("links_an_hour", 4, 1..=1000) as usize,
            busiest_channel: root.parsed("busiest_channel", 2.0, |text| share(text, 1.0..=100.0)),
            bad_together: root.parsed("bad_together", 0.01, percent),
            together_ms: milliseconds(root, "together", "10m", MINUTE..=DAY_MS),
            confirm_after_ms: milliseconds(root, "confirm_after", "10m", 1000..=DAY_MS - 600_000),
            good_for_ms: milliseconds(root, "good_for", "6h", 1000..=30 * DAY_MS),
            retry_after_ms: milliseconds(root, "retry_after", "1h", 1000..=30 * DAY_MS),
        };
        let mode = root.parsed("mode", PolicyMode::Shadow, |text| match text {
            "shadow" => Ok(PolicyMode::Shadow),
            "apply" => Ok(PolicyMode::Apply),
            _ => Err("write shadow or apply".to_owned()),
        });
        let through_opensm = root.parsed("via", false, |text| match text {
            "direct" => Ok(false),
            "opensm" => Ok(true),
            _ => Err("write direct or opensm".to_owned()),
        });
        let driver = PolicyDriver {
            through_opensm,
            opensm_conf: root.parsed("opensm_conf", None, |text| Ok(Some(text.into()))),
            opensm_console: root.parsed("opensm_console", None, |text| {
                text.parse()
                    .map(Some)
                    .map_err(|_| "write an address and a port, as 127.0.0.1:10000".to_owned())
            }),
            beside_manager: root.flag("beside_manager"),
        };
        let nodes = root.table("slurm").map(NodePolicy::of_table);
        Self { mode, fabrics, thresholds, limits, driver, nodes }
    }

    /// The window of a change by this policy.
    pub fn window(&self) -> Duration {
        let observed = Duration::from_millis(self.limits.confirm_after_ms.unsigned_abs());
        (observed + WINDOW_MARGIN).min(Duration::from_millis(DAY_MS))
    }

    /// Whether anything may be written, to a fabric or to Slurm.
    pub fn may_write(&self) -> bool {
        let nodes = self.nodes.as_ref().is_some_and(|nodes| nodes.mode == PolicyMode::Apply);
        self.mode == PolicyMode::Apply || nodes
    }
}

impl NodePolicy {
    fn of_table(mut table: TomlTable<'_, '_>) -> Self {
        let table_ref = &mut table;
        let mode = table_ref.parsed("mode", PolicyMode::Shadow, |text| match text {
            "dry-run" => Ok(PolicyMode::Shadow),
            "apply" => Ok(PolicyMode::Apply),
            _ => Err("write dry-run or apply".to_owned()),
        });
        let policy = Self {
            mode,
            nodes_at_once: table_ref.number("nodes_at_once", 4, 1..=1000) as usize,
            good_for_ms: milliseconds(table_ref, "good_for", "6h", 1000..=30 * DAY_MS),
            every: time(table_ref, "every", "1m", 100..=DAY_MS),
            timeout: time(table_ref, "timeout", "30s", 1000..=MINUTE * 10),
            sinfo: table_ref.parsed("sinfo", "sinfo".into(), |text| Ok(text.into())),
            scontrol: table_ref.parsed("scontrol", "scontrol".into(), |text| Ok(text.into())),
        };
        table.refuse_unknown_keys();
        policy
    }
}

/// A longer file is no policy.
const MAX_POLICY_BYTES: u64 = 1 << 20;
const MINUTE: u64 = 60_000;

/// The milliseconds of a time with its unit.
fn read_time(text: &str, fits: &RangeInclusive<u64>) -> Result<u64, String> {
    let units = [("ms", 1.0), ("s", 1e3), ("m", 6e4), ("h", 3.6e6), ("d", 8.64e7)];
    let read = |(unit, factor): &(&str, f64)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        (number >= 0.0).then_some((number * factor) as u64)
    };
    let words = |ms: &u64| match ms {
        ms if ms.is_multiple_of(86_400_000) => format!("{}d", ms / 86_400_000),
        ms if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        ms if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    };
    let found = units.iter().find_map(read).filter(|ms| fits.contains(ms));
    found.ok_or_else(|| {
        format!("write a time with its unit, from {} to {}", words(fits.start()), words(fits.end()))
    })
}

fn time(
    table: &mut TomlTable<'_, '_>,
    key: &'static str,
    usual: &str,
    fits: RangeInclusive<u64>,
) -> Duration {
    // The usual time is a constant of this file that fits.
    let usual = read_time(usual, &fits).unwrap_or(*fits.start());
    Duration::from_millis(table.parsed(key, usual, |text| read_time(text, &fits)))
}

fn milliseconds(
    table: &mut TomlTable<'_, '_>,
    key: &'static str,
    usual: &str,
    fits: RangeInclusive<u64>,
) -> i64 {
    i64::try_from(time(table, key, usual, fits).as_millis()).unwrap_or(i64::MAX)
}

fn share(text: &str, fits: RangeInclusive<f64>) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| fits.contains(number));
    number.ok_or_else(|| format!("write a number from {:e} to {:e}", fits.start(), fits.end()))
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let number = number.filter(|number| (0.0..=100.0).contains(number)).map(|number| number / 100.0);
    number.ok_or_else(|| "write a percentage, as \"1%\"".to_owned())
}
