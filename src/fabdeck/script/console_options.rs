//! Resolves the options of the console from flags and configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::option_refusals::refuse_unknown_engine;
use super::terminal_info::Color;
use crate::catalogue::failure::Failure;
use crate::console::features::views::console_view::ConsoleView;
use crate::console::features::watch::watch_state::WatchSettings;
use crate::console::model::console_options::ConsoleOptions;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::convert::is_path;
use crate::script::commands::overview::DEFAULT_SOURCE;
use fabdeck_files::capture::find_capture;
use fabdeck_live::{WriteAccessError, is_live};

/// Default interval between two sweeps of counters.
const DEFAULT_WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// Default memory for the recording of a watch, in MiB.
const DEFAULT_HISTORY_MIB: u64 = 64;

pub fn resolve_console_options(
    context: &Context<'_, '_>,
    messages: Vec<String>,
) -> Result<ConsoleOptions, Failure> {
    let (globals, config) = (context.globals, &context.config);
    refuse_unknown_engine(globals)?;
    let color = match globals.color.or(config.color) {
        Some(Color::Always) => Some(true),
        Some(Color::Never) => Some(false),
        Some(Color::Auto) | None => None,
    };
    let named = context.options.source.as_deref().unwrap_or(DEFAULT_SOURCE);
    // A folder that holds only a capture counts as that capture.
    let path = Some(Path::new(named)).filter(|_| is_path(named));
    let capture = path.and_then(find_capture).map(|capture| capture.display().to_string());
    let watch = config.watch.interval.unwrap_or(DEFAULT_WATCH_INTERVAL);
    let files = [
        ("--config", &globals.config),
        ("--node-name-map", &globals.node_name_map),
        ("--labels", &globals.labels),
        ("--cabling", &globals.cabling),
        ("--mkey-file", &globals.mkey_file),
    ];
    let with_file = |(option, file): (&'static str, &Option<PathBuf>)| {
        file.as_ref().map(|file| (option.to_owned(), file.display().to_string()))
    };
    let open = globals.open.as_deref().map(ConsoleView::parse).transpose();
    let open = open.map_err(Failure::usage)?;
    let at = globals.at.clone().map(|at| ("--at".to_owned(), at));
    Ok(ConsoleOptions {
        given: context.options.clone(),
        source: capture.unwrap_or_else(|| named.to_owned()),
        options: files.into_iter().filter_map(with_file).chain(at).collect(),
        writing: write_access(context, named),
        messages,
        theme: config.theme_choice(globals.theme.as_deref()),
        ascii: globals.ascii || config.ascii,
        slow_line: config.slow_line,
        color,
        keys: config.keys.clone(),
        watch: WatchSettings {
            past_bytes: config.watch.past_mib.unwrap_or(DEFAULT_HISTORY_MIB) << 20,
            interval_ms: u64::try_from(watch.as_millis()).unwrap_or(u64::MAX),
            thresholds: context.options.thresholds.clone(),
        },
        jobs: config.jobs.settings.clone(),
        mouse: config.mouse,
        partitions: globals.with_partitions,
        open,
        record_events: globals.record_events.clone(),
    })
}

fn write_access(context: &Context<'_, '_>, source: &str) -> WriteAccess {
    match () {
        () if context.outside.is_own_simulator(source) => WriteAccess::Own,
        () if source.starts_with("sim:") => WriteAccess::Simulated,
        () if !is_live(source) => {
            WriteAccess::Never(WriteAccessError::NotLive(source.to_owned()).to_string())
        }
        () if context.options.right.asked => WriteAccess::Asked,
        () => WriteAccess::NotAsked,
    }
}
