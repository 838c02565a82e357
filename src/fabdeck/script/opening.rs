//! What the console opens with: the source and everything that flags and configuration say of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Failure;
use super::args::Color;
use super::changing::Given;
use super::context::Context;
use super::convert::names_a_path;
use super::overview::DEFAULT;
use super::theme_choice::ThemeChoice;
use crate::session::interactive::{JobSettings, WatchSettings, Writing};
use fabdeck_files::capture::capture_at;
use fabdeck_live::{Unwritable, is_live};
use fabdeck_routing::Engine;

/// From one sweep of counters to the next, where nobody says.
const WATCH: Duration = Duration::from_secs(5);

/// What is kept of a watch, where nobody says.
const PAST_MIB: u64 = 64;

#[derive(Clone, Debug)]
pub struct Opening {
    /// The source as the operator wrote it; of a folder with a capture and nothing else that capture.
    pub source: String,
    /// Whether anybody named it, or it is what opens where nobody does.
    pub named: bool,
    /// Options with their files, as far as a command line that does the same has to have them. Of keys it is the file.
    pub options: Vec<(String, String)>,
    pub given: Given,
    /// Whether the session may write to its fabric.
    pub writing: Writing,
    /// What happened before there was a screen to say it on.
    pub told: Vec<String>,
    pub theme: ThemeChoice,
    pub ascii: bool,
    /// Colours although the environment asks for none, or none although it has some.
    pub color: Option<bool>,
    pub keys: BTreeMap<String, Vec<String>>,
    pub watch: WatchSettings,
    /// Who knows which jobs run.
    pub jobs: JobSettings,
    /// Data lanes that adapters are supposed to have, where the configuration says so.
    pub supposed_lanes: Option<u8>,
    pub no_times: bool,
    /// Where to what happens is written.
    pub record_events: Option<PathBuf>,
    /// The engine whose tables are assumed where the source has none.
    pub assume: Option<&'static Engine>,
}

impl Opening {
    pub(super) fn of(context: &Context<'_, '_>) -> Result<Self, Failure> {
        let (globals, config) = (context.globals, &context.config);
        let color = match globals.color.or(config.color) {
            Some(Color::Always) => Some(true),
            Some(Color::Never) => Some(false),
            Some(Color::Auto) | None => None,
        };
        let assume = globals.assume.as_deref().map(super::whatif::engine_named).transpose()?;
        let named = context.source().unwrap_or(DEFAULT);
        // A folder with a capture and nothing else is that capture.
        let path = Some(Path::new(named)).filter(|_| names_a_path(named));
        let held = path.and_then(capture_at).map(|capture| capture.display().to_string());
        let source = held.unwrap_or_else(|| named.to_owned());
        let watch = config.watch.unwrap_or(WATCH);
        let theme = config.theme_choice(globals.theme.as_deref());
        let files = [
            ("--config", &globals.config),
            ("--node-name-map", &globals.node_name_map),
            ("--mkey-file", &globals.mkey_file),
        ];
        let given = |(option, file): (&'static str, &Option<PathBuf>)| {
            file.as_ref().map(|file| (option.to_owned(), file.display().to_string()))
        };
        let at = globals.at.clone().map(|at| ("--at".to_owned(), at));
        Ok(Self {
            named: context.source().is_some(),
            options: files.into_iter().filter_map(given).chain(at).collect(),
            source,
            given: context.given(),
            writing: writing(context, named),
            told: Vec::new(),
            theme,
            ascii: globals.ascii || config.ascii,
            color,
            keys: config.keys.clone(),
            watch: WatchSettings {
                past_bytes: config.past_mib.unwrap_or(PAST_MIB) << 20,
                interval_ms: u64::try_from(watch.as_millis()).unwrap_or(u64::MAX),
                thresholds: config.hotspots.clone(),
            },
            jobs: config.jobs.clone(),
            supposed_lanes: config.supposed_lanes,
            no_times: globals.no_times,
            record_events: globals.record_events.clone(),
            assume,
        })
    }
}

fn writing(context: &Context<'_, '_>, source: &str) -> Writing {
    match () {
        () if context.outside.is_own_simulator(source) => Writing::Own,
        () if source.starts_with("sim:") => Writing::Simulated,
        () if !is_live(source) => Writing::Never(Unwritable::NotLive(source.to_owned()).to_string()),
        () if context.globals.allow_write => Writing::Asked,
        () => Writing::NotAsked,
    }
}
