//! Options of a session: those of its operations, and what the console alone needs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::console::drawing::theme_choice::ThemeChoice;
use crate::console::features::jobs::jobs_model::JobSettings;
use crate::console::features::views::console_view::ConsoleView;
use crate::console::features::watch::watch_state::WatchSettings;
use crate::operations::changes::changer::WriteAccess;
use crate::operations::environment::OperationOptions;

#[derive(Clone, Debug)]
pub struct ConsoleOptions {
    pub given: OperationOptions,
    /// The source as the operator wrote it, or the default; a folder that holds only a capture is replaced by that
    /// capture.
    pub source: String,
    /// Options that name files, for command lines with the same effect. M_Keys appear as their file, never as keys.
    pub options: Vec<(String, String)>,
    /// Whether the session may write to its fabric.
    pub writing: WriteAccess,
    /// Messages from before the first screen.
    pub messages: Vec<String>,
    pub theme: ThemeChoice,
    pub ascii: bool,
    /// Whether the line to the terminal is slow; `None`: it is measured.
    pub slow_line: Option<bool>,
    /// Whether colours are on, if a flag or the configuration overrides the environment.
    pub color: Option<bool>,
    pub keys: BTreeMap<String, Vec<String>>,
    pub watch: WatchSettings,
    /// Source of the running jobs.
    pub jobs: JobSettings,
    /// Whether the console uses the mouse from the beginning.
    pub mouse: bool,
    /// Whether P_Key tables and multicast groups are read too.
    pub partitions: bool,
    /// The view to open.
    pub open: Option<ConsoleView>,
    /// File that receives the events of the session.
    pub record_events: Option<PathBuf>,
}
