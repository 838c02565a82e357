//! Options of the console: its source, and the values of flags and configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::terminal_info::Color;
use super::theme_choice::ThemeChoice;
use crate::catalogue::failure::Failure;
use crate::console::features::jobs::jobs_model::JobSettings;
use crate::console::features::watch::watch_state::WatchSettings;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::convert::is_path;
use crate::operations::environment::OperationOptions;
use crate::script::commands::overview::DEFAULT_SOURCE;
use fabdeck_files::capture::find_capture;
use fabdeck_live::{WriteAccessError, is_live};
use fabdeck_routing::Engine;

/// Default interval between two sweeps of counters.
const DEFAULT_WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// Default memory for the recording of a watch, in MiB.
const DEFAULT_HISTORY_MIB: u64 = 64;

#[derive(Clone, Debug)]
pub struct ConsoleOptions {
    /// The source as the operator wrote it; a folder that holds only a capture is replaced by that capture.
    pub source: String,
    /// Whether the source was named, or is the default.
    pub named: bool,
    /// Options that name files, for command lines with the same effect. M_Keys appear as their file, never as keys.
    pub options: Vec<(String, String)>,
    pub given: OperationOptions,
    /// Whether the session may write to its fabric.
    pub writing: WriteAccess,
    /// Messages from before the first screen.
    pub messages: Vec<String>,
    pub theme: ThemeChoice,
    pub ascii: bool,
    /// Whether colours are on, if a flag or the configuration overrides the environment.
    pub color: Option<bool>,
    pub keys: BTreeMap<String, Vec<String>>,
    pub watch: WatchSettings,
    /// Source of the running jobs.
    pub jobs: JobSettings,
    /// Number of data lanes that is assumed of adapters, if configured.
    pub supposed_lanes: Option<u8>,
    pub no_times: bool,
    /// File that receives the events of the session.
    pub record_events: Option<PathBuf>,
    /// The engine whose tables are assumed if the source has none.
    pub assume: Option<&'static Engine>,
}

impl ConsoleOptions {
    pub(super) fn of(context: &Context<'_, '_>) -> Result<Self, Failure> {
        let (globals, config) = (context.globals, &context.config);
        let color = match globals.color.or(config.color) {
            Some(Color::Always) => Some(true),
            Some(Color::Never) => Some(false),
            Some(Color::Auto) | None => None,
        };
        let assume = globals
            .assume
            .as_deref()
            .map(crate::operations::preview::engine_names::engine_named)
            .transpose()?;
        let named = context.options.source.as_deref().unwrap_or(DEFAULT_SOURCE);
        // A folder that holds only a capture counts as that capture.
        let path = Some(Path::new(named)).filter(|_| is_path(named));
        let capture = path.and_then(find_capture).map(|capture| capture.display().to_string());
        let source = capture.unwrap_or_else(|| named.to_owned());
        let watch = config.watch.interval.unwrap_or(DEFAULT_WATCH_INTERVAL);
        let theme = config.theme_choice(globals.theme.as_deref());
        let files = [
            ("--config", &globals.config),
            ("--node-name-map", &globals.node_name_map),
            ("--mkey-file", &globals.mkey_file),
        ];
        let with_file = |(option, file): (&'static str, &Option<PathBuf>)| {
            file.as_ref().map(|file| (option.to_owned(), file.display().to_string()))
        };
        let at = globals.at.clone().map(|at| ("--at".to_owned(), at));
        Ok(Self {
            named: context.options.source.as_deref().is_some(),
            options: files.into_iter().filter_map(with_file).chain(at).collect(),
            source,
            given: context.options.clone(),
            writing: write_access(context, named),
            messages: Vec::new(),
            theme,
            ascii: globals.ascii || config.ascii,
            color,
            keys: config.keys.clone(),
            watch: WatchSettings {
                past_bytes: config.watch.past_mib.unwrap_or(DEFAULT_HISTORY_MIB) << 20,
                interval_ms: u64::try_from(watch.as_millis()).unwrap_or(u64::MAX),
                thresholds: config.hotspots.clone(),
            },
            jobs: config.jobs.settings.clone(),
            supposed_lanes: config.supposed_lanes,
            no_times: globals.no_times,
            record_events: globals.record_events.clone(),
            assume,
        })
    }
}

fn write_access(context: &Context<'_, '_>, source: &str) -> WriteAccess {
    match () {
        () if context.outside.is_own_simulator(source) => WriteAccess::Own,
        () if source.starts_with("sim:") => WriteAccess::Simulated,
        () if !is_live(source) => {
            WriteAccess::Never(WriteAccessError::NotLive(source.to_owned()).to_string())
        }
        () if context.globals.allow_write => WriteAccess::Asked,
        () => WriteAccess::NotAsked,
    }
}
